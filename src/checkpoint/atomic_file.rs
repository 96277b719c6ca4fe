//! Atomic file writes, and cleanup after killed processes.
//!
//! A pending file is written as `.NAME.NUMBER.tmp` in the same directory, where the number is the process id or the
//! next free one. It is locked meanwhile: a process id alone does not tell if the writer still runs, since ids are
//! reused after a restart and in other containers.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufWriter, ErrorKind, Result as IoResult, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result};

const TEMPORARY_SUFFIX: &str = ".tmp";

/// Temporary files of this process.
static PENDING: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// File that is written under a temporary name and renamed by [`Self::finish`]. Dropping it earlier removes it.
pub struct PendingFile {
    file: File,
    temporary: PathBuf,
    path: PathBuf,
}

impl PendingFile {
    /// Creates the temporary file for `path`.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn create(path: &Path) -> IoResult<Self> {
        for number in std::process::id().. {
            let temporary = temporary_path(path, number);
            let file = match OpenOptions::new().write(true).create_new(true).open(&temporary) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                opened => opened?,
            };
            with_pending(|paths| paths.push(temporary.clone()));
            let pending = Self { file, temporary, path: path.to_owned() };
            // Before the lock, another process may have removed the file as abandoned. Without file locks, none does.
            let is_taken = matches!(pending.file.try_lock(), Err(TryLockError::WouldBlock));
            if !is_taken && pending.temporary.exists() {
                return Ok(pending);
            }
        }
        Err(ErrorKind::AlreadyExists.into())
    }

    /// The open temporary file.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Syncs the file and renames it.
    ///
    /// # Errors
    /// Either fails; a previous file of this name stays.
    pub fn finish(self) -> IoResult<()> {
        self.file.sync_all()?;
        std::fs::rename(&self.temporary, &self.path)?;
        sync_dir(parent_dir(&self.path));
        Ok(())
    }
}

impl Write for PendingFile {
    fn write(&mut self, bytes: &[u8]) -> IoResult<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> IoResult<()> {
        self.file.flush()
    }
}

impl Drop for PendingFile {
    fn drop(&mut self) {
        // Fails after the rename. Before, the reason of the drop is already reported.
        let _ = std::fs::remove_file(&self.temporary);
        with_pending(|paths| paths.retain(|path| *path != self.temporary));
    }
}

fn with_pending(change: impl FnOnce(&mut Vec<PathBuf>)) {
    change(&mut PENDING.lock().unwrap_or_else(PoisonError::into_inner));
}

/// Removes all temporary files of this process, before it exits.
pub fn remove_pending() {
    with_pending(|paths| paths.drain(..).for_each(|path| drop(std::fs::remove_file(path))));
}

/// Opens a file of a model directory for writing. A symbolic link is refused: the directory may come from somebody
/// else, and nothing outside it may be written.
///
/// # Errors
/// The file is a symbolic link or cannot be opened.
pub fn open_own_file(options: &mut OpenOptions, path: &Path) -> IoResult<File> {
    ensure_no_symlink(path)?;
    // A link may appear after the check.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, libc::O_NOFOLLOW);
    options.open(path)
}

/// Fails if `path` is a symbolic link.
pub(super) fn ensure_no_symlink(path: &Path) -> IoResult<()> {
    if std::fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink()) {
        let name = path.file_name().unwrap_or_default().display();
        return Err(std::io::Error::other(format!("{name} is a symbolic link, which is not followed; remove it")));
    }
    Ok(())
}

/// True if `path` is the open `file`. On systems without inode numbers, true if the path exists: there, an open file
/// cannot be moved or removed.
pub(super) fn is_same_file(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let [open, named] = [file.metadata(), std::fs::symlink_metadata(path)];
        open.is_ok_and(|open| named.is_ok_and(|named| (open.dev(), open.ino()) == (named.dev(), named.ino())))
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        path.exists()
    }
}

pub(super) fn parent_dir(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."))
}

/// Syncs the entries of a directory. Some systems cannot, but the files in it are complete in any case.
fn sync_dir(dir: &Path) {
    let _ = File::open(dir).and_then(|dir| dir.sync_all());
}

/// Creates a directory under a temporary name, fills it and renames it. If a step fails, it is removed.
///
/// # Errors
/// A step fails.
pub(super) fn create_dir_atomically(path: &Path, fill: impl FnOnce(&Path) -> IoResult<()>) -> IoResult<()> {
    let temporary = temporary_path(path, std::process::id());
    let created = std::fs::create_dir(&temporary).and_then(|()| fill(&temporary)).and_then(|()| {
        sync_dir(&temporary);
        std::fs::rename(&temporary, path)
    });
    match &created {
        Ok(()) => sync_dir(parent_dir(path)),
        // The first error is the one to report.
        Err(_) => drop(std::fs::remove_dir_all(&temporary)),
    }
    created
}

/// Writes a file under a temporary name, syncs and renames it. If a step fails, a previous file of this name stays.
///
/// # Errors
/// A step fails; the message begins with the path.
pub fn write_atomically(path: &Path, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    write_pending(path, write).with_context(|| cannot_write(path))
}

fn write_pending(path: &Path, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let mut file = BufWriter::new(PendingFile::create(path)?);
    write(&mut file)?;
    Ok(file.into_inner().map_err(std::io::IntoInnerError::into_error)?.finish()?)
}

pub(super) fn cannot_read(path: &Path) -> String {
    format!("{}: cannot read this file", path.display())
}

pub(super) fn cannot_write(path: &Path) -> String {
    format!("{}: cannot write this file", path.display())
}

fn temporary_path(path: &Path, number: u32) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{number}{TEMPORARY_SUFFIX}"))
}

/// True for the temporary name of a file whose name satisfies `is_final`.
pub(super) fn is_temporary(name: &OsStr, is_final: impl Fn(&str) -> bool) -> bool {
    let parts = name.to_str().and_then(|name| name.strip_prefix('.')?.strip_suffix(TEMPORARY_SUFFIX)?.rsplit_once('.'));
    parts.is_some_and(|(name, number)| {
        is_final(name) && !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit())
    })
}

/// Removes the temporary files for `path` whose writers no longer run.
pub fn remove_abandoned(path: &Path) {
    // Leftovers that cannot be listed or removed do no harm.
    for entry in std::fs::read_dir(parent_dir(path)).into_iter().flatten().flatten() {
        if is_temporary(&entry.file_name(), |name| path.file_name() == Some(OsStr::new(name))) {
            let _ = remove_if_abandoned(&entry.path());
        }
    }
}

/// Removes a file unless another process holds its lock.
fn remove_if_abandoned(path: &Path) -> IoResult<()> {
    if !std::fs::symlink_metadata(path)?.is_file() {
        return Ok(());
    }
    let file = open_own_file(OpenOptions::new().write(true), path)?;
    file.try_lock()?;
    std::fs::remove_file(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn failed_write_keeps_the_old_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        write_atomically(&path, |file| Ok(file.write_all(b"old")?)).unwrap();
        let failed = write_atomically(&path, |file| {
            file.write_all(b"new")?;
            anyhow::bail!("stopped")
        });
        let message = format!("{:#}", failed.unwrap_err());
        assert!(message.contains("file: cannot write this file: stopped"), "{message}");
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        assert_eq!(names(dir.path()), ["file"]);
    }

    #[test]
    fn removes_abandoned_but_not_pending_files() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.txt");
        let kept = [".a.txt.12.bak", ".a.txt.tmp", ".a.txt.x1.tmp", ".b.txt.12.tmp", "a.txt.12.tmp"];
        for name in kept.iter().chain(&[".a.txt.12.tmp", ".a.txt.999999999.tmp"]) {
            std::fs::write(dir.path().join(name), b"half").unwrap();
        }
        let [first, second] = [(); 2].map(|()| PendingFile::create(&path).unwrap());
        remove_abandoned(&path);
        let mut expected: Vec<String> = kept.map(str::to_owned).to_vec();
        expected.extend([0, 1].map(|more| format!(".a.txt.{}.tmp", std::process::id() + more)));
        expected.sort();
        assert_eq!(names(dir.path()), expected);
        first.finish().unwrap();
        second.finish().unwrap();
        assert!(path.exists());
    }
}
