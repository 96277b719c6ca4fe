//! One training at a time in a folder.
//!
//! The lock is the system's own, on a file that says who holds it. It goes with the process, however that ends: what a
//! killed one, or a machine that was switched off, has left behind is only text, and the next one takes it over. A
//! file system without locks cannot keep a second one out; [`Lock::guards`] says so. A lock follows its file, not the
//! path: a directory that is moved or removed takes the lock along, which [`Lock::ensure_held`] notices.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use super::atomic_file::{is_same_file, open_own_file};

/// The file's name.
const NAME: &str = "training.lock";

/// A folder held for one training, until this is dropped.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    guards: bool,
    /// The open file that carries the lock.
    file: File,
}

/// Who holds a folder, as its file says.
#[derive(Debug, Serialize, Deserialize)]
struct Holder {
    process: u32,
    host: String,
    /// Nanoseconds since 1970.
    began: u64,
}

impl Lock {
    /// Takes a folder that is there.
    ///
    /// # Errors
    /// Another process holds it, which is named; or the folder takes no file.
    pub fn take(model_dir: &Path) -> Result<Self> {
        let path = model_dir.join(NAME);
        let cannot = || takes_no_files(model_dir);
        loop {
            let mut options = OpenOptions::new();
            options.read(true).write(true).create(true).truncate(false);
            let mut file = open_own_file(&mut options, &path).with_context(cannot)?;
            let guards = match file.try_lock() {
                Ok(()) => true,
                Err(TryLockError::WouldBlock) => bail!(refusal(model_dir, &mut file)),
                Err(TryLockError::Error(_)) => false,
            };
            let text = serde_json::to_string(&Holder::this_process())?;
            file.set_len(0).and_then(|()| file.write_all(text.as_bytes())).with_context(cannot)?;
            // The process that held the lock before may have removed the file in the meantime.
            if is_same_file(&file, &path) {
                return Ok(Self { path, guards, file });
            }
        }
    }

    /// Checks that the directory at the path is still the locked one. Call this before each write by path.
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

    /// Runs work that writes by path, if the directory is still the locked one. Should the directory go away meanwhile, that
    /// is the error, and not the failed write.
    ///
    /// # Errors
    /// That of [`Self::ensure_held`], or the work's own.
    pub fn guard(&self, work: impl FnOnce() -> Result<()>) -> Result<()> {
        self.ensure_held()?;
        work().or_else(|error| self.ensure_held().and(Err(error)))
    }

    /// Whether the file system keeps a second training out.
    pub fn guards(&self) -> bool {
        self.guards
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Another training's lock file stays. So does one that cannot be removed, which does no harm.
        if is_same_file(&self.file, &self.path) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn refusal(model_dir: &Path, file: &mut File) -> String {
    let who = described(file);
    format!("{}: {who}; wait until it is done, stop it, or choose another folder with --out", model_dir.display())
}

/// Describes the training that holds a folder, if one does.
pub(super) fn holder(model_dir: &Path) -> Option<String> {
    let mut file = File::open(model_dir.join(NAME)).ok()?;
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)).then(|| described(&mut file))
}

/// Describes the holder by the file that is locked.
fn described(file: &mut File) -> String {
    let mut text = String::new();
    // Some systems do not let a locked file be read: then it stays unsaid who holds it.
    let read = file.seek(SeekFrom::Start(0)).and_then(|_| file.read_to_string(&mut text));
    let holder = read.ok().and_then(|_| serde_json::from_str(&text).ok());
    holder.as_ref().map_or_else(|| "another process has been training here".to_owned(), Holder::describe)
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

/// This machine's name, or this container's: process numbers mean nothing without it.
fn host() -> String {
    let named = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let named = named.or_else(|| std::env::var("COMPUTERNAME").ok()).or_else(|| std::env::var("HOSTNAME").ok());
    named
        .map(|name| name.trim().to_owned())
        .filter(|name| !name.is_empty())
        .unwrap_or_else(|| "this machine".to_owned())
}

/// What is said of a folder that takes no files.
pub(super) fn takes_no_files(model_dir: &Path) -> String {
    format!("{}: cannot write into this folder; choose another with --out", model_dir.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_held_once_and_let_go() {
        let model_dir = tempfile::tempdir().unwrap();
        let lock = Lock::take(model_dir.path()).unwrap();
        assert!(lock.guards(), "the file system of this machine's temporary files has locks");
        let refused = Lock::take(model_dir.path()).unwrap_err().to_string();
        assert!(refused.contains(&format!("process {} on ", std::process::id())), "{refused}");
        drop(lock);
        assert_eq!(std::fs::read_dir(model_dir.path()).unwrap().count(), 0);
        drop(Lock::take(model_dir.path()).unwrap());
    }

    #[test]
    fn what_a_killed_process_left_is_taken_over() {
        let model_dir = tempfile::tempdir().unwrap();
        for left in ["", "not this", "{\"process\":1,\"host\":\"elsewhere\",\"began\":0}", "\u{feff}\u{0}"] {
            std::fs::write(model_dir.path().join(NAME), left).unwrap();
            drop(Lock::take(model_dir.path()).unwrap());
        }
    }

    #[cfg(unix)]
    #[test]
    fn notices_that_the_directory_was_moved_removed_or_replaced() {
        let parent = tempfile::tempdir().unwrap();
        let [model_dir, moved] = ["m", "n"].map(|name| parent.path().join(name));
        std::fs::create_dir(&model_dir).unwrap();
        let first = Lock::take(&model_dir).unwrap();
        first.ensure_held().unwrap();
        std::fs::rename(&model_dir, &moved).unwrap();
        assert!(first.ensure_held().unwrap_err().to_string().contains("moved, removed or replaced"));
        std::fs::create_dir(&model_dir).unwrap();
        let second = Lock::take(&model_dir).unwrap();
        assert!(first.ensure_held().is_err() && second.ensure_held().is_ok());
        drop(first);
        second.ensure_held().unwrap();
        std::fs::rename(&moved, parent.path().join("o")).unwrap();
        drop(second);
        assert_eq!(std::fs::read_dir(&model_dir).unwrap().count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn refuses_a_lock_file_that_is_a_symbolic_link() {
        let parent = tempfile::tempdir().unwrap();
        let (outside, model_dir) = (parent.path().join("outside"), parent.path().join("m"));
        std::fs::create_dir(&model_dir).unwrap();
        std::fs::write(&outside, "untouched").unwrap();
        for target in [outside.as_path(), Path::new("missing")] {
            std::os::unix::fs::symlink(target, model_dir.join(NAME)).unwrap();
            let message = format!("{:#}", Lock::take(&model_dir).unwrap_err());
            assert!(message.contains("training.lock is a symbolic link"), "{message}");
            std::fs::remove_file(model_dir.join(NAME)).unwrap();
        }
        assert_eq!(std::fs::read_to_string(&outside).unwrap(), "untouched");
        assert_eq!(std::fs::read_dir(&model_dir).unwrap().count(), 0);
    }

    #[test]
    fn of_many_that_ask_at_once_one_at_a_time_is_let_in() {
        let model_dir = tempfile::tempdir().unwrap();
        let inside = std::sync::atomic::AtomicUsize::new(0);
        let ask = || {
            for _ in 0..200 {
                if let Ok(lock) = Lock::take(model_dir.path()) {
                    assert_eq!(inside.fetch_add(1, std::sync::atomic::Ordering::SeqCst), 0, "two at once");
                    std::thread::yield_now();
                    inside.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                    drop(lock);
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(ask);
            }
        });
    }
}
