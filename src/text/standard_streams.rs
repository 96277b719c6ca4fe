//! Paths that name this process' standard streams.

use std::io::IsTerminal;
use std::path::Path;

use anyhow::Result;

use crate::error::usage;

/// True if a path is `-`, standard input or output; `./-` is a file.
pub fn is_standard(path: &Path) -> bool {
    path == Path::new("-")
}

/// True if a path can be read only once: standard input, a pipe or a device. It may not exist otherwise.
pub fn is_read_once(path: &Path) -> bool {
    let is_other = |found: std::fs::Metadata| !found.is_file() && !found.is_dir();
    is_standard(path) || std::fs::metadata(path).is_ok_and(is_other)
}

/// True if standard input is a pipe or a file, neither a terminal nor a device such as `/dev/null`.
pub fn standard_input_has_data() -> bool {
    let stdin = std::io::stdin();
    #[cfg(unix)]
    {
        use std::os::{fd::AsFd, unix::fs::FileTypeExt};
        let file = stdin.as_fd().try_clone_to_owned().map(std::fs::File::from);
        if !file.and_then(|file| file.metadata()).is_ok_and(|metadata| !metadata.file_type().is_char_device()) {
            return false;
        }
    }
    !stdin.is_terminal()
}

/// Returns the open descriptor that a path such as `/dev/stdout` or `/dev/fd/3` names. It may be a regular file that
/// others write to, which must not be replaced.
pub fn open_descriptor(path: &Path) -> Option<u32> {
    const MAX_LINKS: usize = 8;
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        let directory = path.parent()?;
        let real = std::fs::canonicalize(directory).unwrap_or_else(|_| directory.to_owned());
        let is_descriptor = real.starts_with("/proc") && real.ends_with("fd") || real == Path::new("/dev/fd");
        if is_descriptor {
            return path.file_name()?.to_str()?.parse().ok();
        }
        path = directory.join(std::fs::read_link(&path).ok()?);
    }
    None
}

/// Checks that standard input is named at most once, since it can be read only once.
///
/// # Errors
/// Standard input is named more than once ([`crate::error::UsageError`]).
pub fn check_read_once(read: &[&Path]) -> Result<()> {
    let named = read.iter().filter(|path| is_standard(path) || open_descriptor(path) == Some(0)).count();
    if named > 1 {
        return usage(format!("standard input is named {named} times but can be read only once"));
    }
    Ok(())
}
