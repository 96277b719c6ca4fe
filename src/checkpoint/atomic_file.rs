//! Writing a file so that nobody ever meets half of it, and clearing away what is left where a process was killed.
//!
//! A file grows as `.NAME.NUMBER.tmp` beside its place, the number being that of the process, or the next that is free. It
//! is locked meanwhile, since a process' number alone does not say whether it still writes: after a restart, or in another
//! container, it is another's.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufWriter, ErrorKind, Result as IoResult, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result};

/// What a name ends with until the file is whole.
const UNFINISHED: &str = ".tmp";

/// The files of this process that are not whole yet.
static GROWING: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A file that grows beside its place and is given its name in the end. Dropped before, it leaves nothing.
pub struct PendingFile {
    file: File,
    temporary: PathBuf,
    place: PathBuf,
}

impl PendingFile {
    /// Begins a file.
    ///
    /// # Errors
    /// The system's own.
    pub fn create(place: &Path) -> IoResult<Self> {
        for number in std::process::id().. {
            let temporary = beside(place, number);
            let file = match OpenOptions::new().write(true).create_new(true).open(&temporary) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                opened => opened?,
            };
            growing(|names| names.push(temporary.clone()));
            let growing = Self { file, temporary, place: place.to_owned() };
            // Until it is locked, somebody who clears away may have taken it for abandoned. Where there are no locks,
            // nothing is ever cleared away.
            let is_taken = matches!(growing.file.try_lock(), Err(TryLockError::WouldBlock));
            if !is_taken && growing.temporary.exists() {
                return Ok(growing);
            }
        }
        Err(ErrorKind::AlreadyExists.into())
    }

    /// The file itself.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Gives it its name.
    ///
    /// # Errors
    /// The system's own; what had the name before keeps it.
    pub fn finish(self) -> IoResult<()> {
        self.file.sync_all()?;
        std::fs::rename(&self.temporary, &self.place)?;
        sync_folder(folder_of(&self.place));
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
        // A finished one has this name no longer, and of an unfinished one the reason is on its way to the user.
        let _ = std::fs::remove_file(&self.temporary);
        growing(|names| names.retain(|name| *name != self.temporary));
    }
}

fn growing(change: impl FnOnce(&mut Vec<PathBuf>)) {
    change(&mut GROWING.lock().unwrap_or_else(PoisonError::into_inner));
}

/// Removes all that this process has begun to write and not finished, before it ends.
pub fn remove_growing() {
    growing(|names| names.drain(..).for_each(|name| drop(std::fs::remove_file(name))));
}

/// Opens a file of a model directory for writing. A symbolic link in its place is refused: the directory may come from
/// somebody else, and nothing outside it is written.
///
/// # Errors
/// The system's own, or the link.
pub(super) fn open_own_file(options: &mut OpenOptions, path: &Path) -> IoResult<File> {
    ensure_no_symlink(path)?;
    // Between the check and the call a link may appear.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, libc::O_NOFOLLOW);
    options.open(path)
}

/// Refuses a symbolic link, wherever it leads.
///
/// # Errors
/// The link's name.
pub(super) fn ensure_no_symlink(path: &Path) -> IoResult<()> {
    if std::fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink()) {
        let name = path.file_name().unwrap_or_default().display();
        return Err(std::io::Error::other(format!("{name} is a symbolic link, which is not followed; remove it")));
    }
    Ok(())
}

/// True if an open file is the one that has this path. Without device and inode numbers, an existing path counts: there
/// an open file cannot be moved or removed.
pub(super) fn is_same_file(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let identity = |found: std::fs::Metadata| (found.dev(), found.ino());
        let [open, named] = [file.metadata(), std::fs::symlink_metadata(path)].map(|found| found.ok().map(identity));
        open.is_some() && open == named
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        path.exists()
    }
}

fn folder_of(place: &Path) -> &Path {
    place.parent().filter(|model_dir| !model_dir.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."))
}

/// Makes the names in a folder last. Not every system can; what has them is whole in any case.
fn sync_folder(model_dir: &Path) {
    let _ = File::open(model_dir).and_then(|model_dir| model_dir.sync_all());
}

/// Fills a folder beside its place and renames it. If anything fails, nothing is left of it.
///
/// # Errors
/// The system's own, or those of `fill`.
pub(super) fn make_whole(place: &Path, fill: impl FnOnce(&Path) -> IoResult<()>) -> IoResult<()> {
    let unfinished = beside(place, std::process::id());
    let made = std::fs::create_dir(&unfinished).and_then(|()| fill(&unfinished)).and_then(|()| {
        sync_folder(&unfinished);
        std::fs::rename(&unfinished, place)
    });
    match &made {
        Ok(()) => sync_folder(folder_of(place)),
        // It may never have come to be; the reason is the one to report.
        Err(_) => drop(std::fs::remove_dir_all(&unfinished)),
    }
    made
}

/// Writes a file beside its place, syncs it and renames it. If anything fails, what was there stays as it was.
///
/// # Errors
/// The path, with the system's reason.
pub fn write_atomically(path: &Path, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let result: Result<()> = (|| {
        let mut file = BufWriter::new(PendingFile::create(path)?);
        write(&mut file)?;
        Ok(file.into_inner().map_err(std::io::IntoInnerError::into_error)?.finish()?)
    })();
    result.with_context(|| cannot_write(path))
}

/// What is said of a file that cannot be read.
pub(super) fn cannot_read(path: &Path) -> String {
    format!("{}: cannot read this file", path.display())
}

/// What is said of a file that cannot be written.
pub(super) fn cannot_write(path: &Path) -> String {
    format!("{}: cannot write this file", path.display())
}

/// The name in the same folder of what is to become this.
fn beside(path: &Path, number: u32) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{number}{UNFINISHED}"))
}

/// Whether a file of this name was to become one that is `wanted`.
pub(super) fn is_unfinished(name: &OsStr, wanted: impl Fn(&str) -> bool) -> bool {
    let parts = name.to_str().and_then(|name| name.strip_prefix('.')?.strip_suffix(UNFINISHED)?.rsplit_once('.'));
    parts.is_some_and(|(name, number)| {
        wanted(name) && !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit())
    })
}

/// Removes what was to become this file where the process that wrote it is no more.
pub fn remove_abandoned(place: &Path) {
    let wanted = |name: &str| place.file_name() == Some(OsStr::new(name));
    // What cannot be listed or removed does no harm where it is.
    for entry in std::fs::read_dir(folder_of(place)).into_iter().flatten().flatten() {
        if is_unfinished(&entry.file_name(), wanted) {
            let _ = remove_if_abandoned(&entry.path());
        }
    }
}

/// Removes a file unless somebody holds its lock, which is held here until it is gone.
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

    fn names(model_dir: &Path) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(model_dir)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_failed_write_leaves_the_old_file() {
        let model_dir = tempfile::tempdir().unwrap();
        let path = model_dir.path().join("file");
        write_atomically(&path, |file| Ok(file.write_all(b"old")?)).unwrap();
        let failed = write_atomically(&path, |file| {
            file.write_all(b"new")?;
            anyhow::bail!("stopped")
        });
        let message = format!("{:#}", failed.unwrap_err());
        assert!(message.contains("file: cannot write this file: stopped"), "{message}");
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        assert_eq!(names(model_dir.path()), ["file"]);
    }

    #[test]
    fn what_others_left_is_removed_and_what_they_write_is_not() {
        let model_dir = tempfile::tempdir().unwrap();
        let place = model_dir.path().join("a.txt");
        let kept = [".a.txt.12.bak", ".a.txt.tmp", ".a.txt.x1.tmp", ".b.txt.12.tmp", "a.txt.12.tmp"];
        for name in kept.iter().chain(&[".a.txt.12.tmp", ".a.txt.999999999.tmp"]) {
            std::fs::write(model_dir.path().join(name), b"half").unwrap();
        }
        let [first, second] = [(); 2].map(|()| PendingFile::create(&place).unwrap());
        remove_abandoned(&place);
        let mut expected: Vec<String> = kept.map(str::to_owned).to_vec();
        expected.extend([0, 1].map(|more| format!(".a.txt.{}.tmp", std::process::id() + more)));
        expected.sort();
        assert_eq!(names(model_dir.path()), expected);
        first.finish().unwrap();
        second.finish().unwrap();
        assert!(place.exists());
    }
}
