//! Paths that name this process' standard streams.

use std::io::{Error, IsTerminal};
use std::path::Path;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::error::usage;

/// Standard streams that were closed when the process began: a bit for each descriptor.
static CLOSED_AT_START: AtomicU8 = AtomicU8::new(0);

/// Remembers which standard streams are closed. Rust's runtime replaces these by `/dev/null`, so a program calls this before.
pub extern "C" fn remember_closed_streams() {
    #[cfg(unix)]
    for descriptor in [libc::STDIN_FILENO, libc::STDOUT_FILENO, libc::STDERR_FILENO] {
        // SAFETY: the call has no preconditions.
        if unsafe { libc::fcntl(descriptor, libc::F_GETFD) } == -1 {
            CLOSED_AT_START.fetch_or(1 << descriptor, Ordering::Relaxed);
        }
    }
}

/// Checks that standard output can be written. Rust's standard library discards what is written to a closed one.
///
/// # Errors
/// It is closed, or open only for reading.
pub fn check_standard_output() -> Result<(), Error> {
    #[cfg(unix)]
    check_open(libc::STDOUT_FILENO, libc::O_RDONLY, "it is closed, or not open for writing")?;
    Ok(())
}

/// Checks that standard input can be read. Rust's standard library takes a closed one for an empty one.
///
/// # Errors
/// It is closed, or open only for writing.
pub fn check_standard_input() -> Result<(), Error> {
    #[cfg(unix)]
    check_open(libc::STDIN_FILENO, libc::O_WRONLY, "it is closed, or not open for reading")?;
    Ok(())
}

#[cfg(unix)]
fn check_open(descriptor: i32, wrong_mode: i32, message: &str) -> Result<(), Error> {
    // SAFETY: the call has no preconditions.
    let flags = unsafe { libc::fcntl(descriptor, libc::F_GETFL) };
    let was_closed = CLOSED_AT_START.load(Ordering::Relaxed) & (1 << descriptor) != 0;
    if was_closed || flags == -1 || flags & libc::O_ACCMODE == wrong_mode {
        return Err(Error::other(message));
    }
    Ok(())
}

/// True if a path is `-`, standard input or output; `./-` is a file.
pub fn is_standard(path: &Path) -> bool {
    path == Path::new("-")
}

/// True if a path can be read only once: standard input, a pipe or a device. It may not exist otherwise.
pub fn is_read_once(path: &Path) -> bool {
    is_standard(path) || std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
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
pub fn check_read_once(read: &[&Path]) -> anyhow::Result<()> {
    let named = read.iter().filter(|path| is_standard(path) || open_descriptor(path) == Some(0)).count();
    if named > 1 {
        return usage(format!("standard input is named {named} times but can be read only once"));
    }
    Ok(())
}
