//! Paths that name this process' standard streams.

use std::path::Path;

use anyhow::Result;

use crate::error::usage;

/// True if a path means standard input or output: `-` does, whatever files there are; `./-` is a file.
pub fn is_standard(path: &Path) -> bool {
    path == Path::new("-")
}

/// Returns the descriptor under which this process has a path open already, as `/dev/stdout` and `/dev/fd/3` say. Behind
/// it may be a regular file that others have written to and that must not be replaced.
pub fn open_descriptor(path: &Path) -> Option<u32> {
    const LONGEST_CHAIN: usize = 8;
    let mut path = path.to_owned();
    for _ in 0..LONGEST_CHAIN {
        let folder = path.parent()?;
        let real = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
        let of_process = real.starts_with("/proc") && real.ends_with("fd") || real == Path::new("/dev/fd");
        if of_process {
            return path.file_name()?.to_str()?.parse().ok();
        }
        path = folder.join(std::fs::read_link(&path).ok()?);
    }
    None
}

/// Refuses standard input that is named more than once: its first reader leaves nothing to the others.
///
/// # Errors
/// A [`crate::error::UsageError`].
pub fn check_read_once(read: &[&Path]) -> Result<()> {
    let named = read.iter().filter(|path| is_standard(path) || open_descriptor(path) == Some(0)).count();
    if named > 1 {
        return usage(format!("standard input is named {named} times, and can be read once"));
    }
    Ok(())
}
