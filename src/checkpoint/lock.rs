//! Lock of a model directory: one training at a time.
//!
//! The lock is an advisory lock of the system on a file that names the holder. It ends with the process, however that
//! ends; the text left behind by a killed process does not lock. File systems without locks cannot exclude a second
//! training; [`Lock::is_exclusive`] is false there. The lock belongs to the file, not the path: a directory that is
//! moved or removed takes the lock along, which [`Lock::ensure_held`] detects.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use super::atomic_file::{is_same_file, open_own_file};

pub(super) const NAME: &str = "training.lock";

/// Lock of a directory for one training, until dropped.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    is_exclusive: bool,
    /// Open lock file, which carries the lock.
    file: File,
}

/// Contents of the lock file.
#[derive(Debug, Serialize, Deserialize)]
struct Holder {
    process: u32,
    host: String,
    /// Nanoseconds since 1970.
    began: u64,
}

impl Lock {
    /// Locks an existing directory.
    ///
    /// # Errors
    /// Another process holds the lock, which the message names, or the directory is not writable.
    pub fn acquire(model_dir: &Path) -> Result<Self> {
        let path = model_dir.join(NAME);
        loop {
            let mut options = OpenOptions::new();
            options.read(true).write(true).create(true).truncate(false);
            let mut file = open_own_file(&mut options, &path).with_context(|| cannot_write_dir(model_dir))?;
            let is_exclusive = match file.try_lock() {
                Ok(()) => true,
                Err(TryLockError::WouldBlock) => bail!(refusal(model_dir, &mut file)),
                Err(TryLockError::Error(_)) => false,
            };
            let text = serde_json::to_string(&Holder::this_process())?;
            let written = file.set_len(0).and_then(|()| file.write_all(text.as_bytes()));
            written.with_context(|| cannot_write_dir(model_dir))?;
            // The previous holder may have removed the file in the meantime.
            if is_same_file(&file, &path) {
                return Ok(Self { path, is_exclusive, file });
            }
        }
    }

    /// Checks that the directory at the path is still the locked one. To be called before each write by path.
    ///
    /// # Errors
    /// The directory was moved or removed, or its lock file was.
    pub fn ensure_held(&self) -> Result<()> {
        if is_same_file(&self.file, &self.path) {
            return Ok(());
        }
        let model_dir = self.path.parent().unwrap_or(Path::new("."));
        bail!(
            "{}: this directory, or {NAME} in it, was moved, removed or replaced during training; training stopped and \
             wrote nothing more here; --resume continues from the last checkpoint where the directory is now",
            model_dir.display()
        )
    }

    /// Runs `work`, which writes by path, if the directory is still the locked one. If the directory disappears
    /// meanwhile, that is the error, not the failed write.
    ///
    /// # Errors
    /// The directory is no longer the locked one, or `work` fails.
    pub fn guard(&self, work: impl FnOnce() -> Result<()>) -> Result<()> {
        self.ensure_held()?;
        work().or_else(|error| self.ensure_held().and(Err(error)))
    }

    /// True if the file system supports locks, so that no second training can start.
    pub fn is_exclusive(&self) -> bool {
        self.is_exclusive
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Another training's lock file stays; one that cannot be removed does no harm.
        if is_same_file(&self.file, &self.path) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn refusal(model_dir: &Path, file: &mut File) -> String {
    let holder = describe_holder(file);
    format!("{}: {holder}; wait until it is done, stop it, or choose another directory with --out", model_dir.display())
}

/// Describes the training that has locked the directory, if any.
pub(super) fn holder(model_dir: &Path) -> Option<String> {
    let mut file = File::open(model_dir.join(NAME)).ok()?;
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)).then(|| describe_holder(&mut file))
}

/// Describes the holder of a locked file.
fn describe_holder(file: &mut File) -> String {
    let mut text = String::new();
    // On some systems, a locked file cannot be read.
    let read = file.seek(SeekFrom::Start(0)).and_then(|_| file.read_to_string(&mut text));
    let holder = read.ok().and_then(|_| serde_json::from_str(&text).ok());
    holder.as_ref().map_or_else(|| "another process is training here".to_owned(), Holder::describe)
}

impl Holder {
    fn this_process() -> Self {
        let began = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { process: std::process::id(), host: host(), began: began.as_nanos() as u64 }
    }

    fn describe(&self) -> String {
        let began = UNIX_EPOCH + Duration::from_nanos(self.began);
        let minutes = SystemTime::now().duration_since(began).unwrap_or_default().as_secs() / 60;
        format!("process {} on {} has been training here for {minutes} minutes", self.process, self.host)
    }
}

/// Name of this machine or container, without which a process id means nothing.
fn host() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let name = name.or_else(|| std::env::var("COMPUTERNAME").ok()).or_else(|| std::env::var("HOSTNAME").ok());
    name.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).unwrap_or_else(|| "this machine".to_owned())
}

pub(super) fn cannot_write_dir(model_dir: &Path) -> String {
    let what = if model_dir.is_file() { "is a file, not a directory" } else { "cannot write to this directory" };
    format!("{}: {what}; choose another with --out", model_dir.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excludes_a_second_holder_until_dropped() {
        let model_dir = tempfile::tempdir().unwrap();
        let lock = Lock::acquire(model_dir.path()).unwrap();
        assert!(lock.is_exclusive(), "the temporary directory supports locks");
        let refused = Lock::acquire(model_dir.path()).unwrap_err().to_string();
        assert!(refused.contains(&format!("process {} on ", std::process::id())), "{refused}");
        drop(lock);
        assert_eq!(std::fs::read_dir(model_dir.path()).unwrap().count(), 0);
        drop(Lock::acquire(model_dir.path()).unwrap());
    }

    #[test]
    fn takes_over_the_file_of_a_killed_process() {
        let model_dir = tempfile::tempdir().unwrap();
        for left in ["", "not this", "{\"process\":1,\"host\":\"elsewhere\",\"began\":0}", "\u{feff}\u{0}"] {
            std::fs::write(model_dir.path().join(NAME), left).unwrap();
            drop(Lock::acquire(model_dir.path()).unwrap());
        }
    }

    #[cfg(unix)]
    #[test]
    fn detects_a_moved_removed_or_replaced_directory() {
        let parent = tempfile::tempdir().unwrap();
        let [model_dir, moved] = ["m", "n"].map(|name| parent.path().join(name));
        std::fs::create_dir(&model_dir).unwrap();
        let first = Lock::acquire(&model_dir).unwrap();
        first.ensure_held().unwrap();
        std::fs::rename(&model_dir, &moved).unwrap();
        assert!(first.ensure_held().unwrap_err().to_string().contains("moved, removed or replaced"));
        std::fs::create_dir(&model_dir).unwrap();
        let second = Lock::acquire(&model_dir).unwrap();
        assert!(first.ensure_held().is_err() && second.ensure_held().is_ok());
        drop(first);
        second.ensure_held().unwrap();
        std::fs::rename(&moved, parent.path().join("o")).unwrap();
        drop(second);
        assert_eq!(std::fs::read_dir(&model_dir).unwrap().count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn rejects_a_symbolic_link_as_lock_file() {
        let parent = tempfile::tempdir().unwrap();
        let (outside, model_dir) = (parent.path().join("outside"), parent.path().join("m"));
        std::fs::create_dir(&model_dir).unwrap();
        std::fs::write(&outside, "untouched").unwrap();
        for target in [outside.as_path(), Path::new("missing")] {
            std::os::unix::fs::symlink(target, model_dir.join(NAME)).unwrap();
            let message = format!("{:#}", Lock::acquire(&model_dir).unwrap_err());
            assert!(message.contains("training.lock is a symbolic link"), "{message}");
            std::fs::remove_file(model_dir.join(NAME)).unwrap();
        }
        assert_eq!(std::fs::read_to_string(&outside).unwrap(), "untouched");
        assert_eq!(std::fs::read_dir(&model_dir).unwrap().count(), 0);
    }

    #[test]
    fn admits_one_of_many_threads_at_a_time() {
        let model_dir = tempfile::tempdir().unwrap();
        let inside = std::sync::atomic::AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        if let Ok(lock) = Lock::acquire(model_dir.path()) {
                            assert_eq!(inside.fetch_add(1, std::sync::atomic::Ordering::SeqCst), 0, "two holders");
                            std::thread::yield_now();
                            inside.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                            drop(lock);
                        }
                    }
                });
            }
        });
    }
}
