//! Writing a file so that nobody ever meets half of it.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Writes a file beside its place, syncs it and renames it. If anything fails, what was there stays as it was.
///
/// # Errors
/// The path, with the system's reason.
pub fn write_atomically(path: &Path, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let temporary = beside(path);
    let result: Result<()> = (|| {
        let mut file = BufWriter::new(File::create(&temporary)?);
        write(&mut file)?;
        let file = file.into_inner().map_err(std::io::IntoInnerError::into_error)?;
        file.sync_all()?;
        std::fs::rename(&temporary, path)?;
        Ok(())
    })();
    if result.is_err() {
        // It may never have come to be; the reason above is the one to report.
        let _ = std::fs::remove_file(&temporary);
    }
    result.with_context(|| format!("{}: cannot write this file", path.display()))
}

/// A name in the same folder that no other process uses.
pub fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.tmp", std::process::id()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        write_atomically(&path, |file| Ok(file.write_all(b"old")?)).unwrap();
        let failed = write_atomically(&path, |file| {
            file.write_all(b"new")?;
            anyhow::bail!("stopped")
        });
        let message = format!("{:#}", failed.unwrap_err());
        assert!(message.contains("file: cannot write this file: stopped"), "{message}");
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
