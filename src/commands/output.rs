//! Standard output or a file, opened before the long work.

use std::fs::File;
use std::io::{BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::checkpoint::beside;

/// Where results go. A regular file appears under its name only once it is whole; if the work fails, what was there
/// stays.
pub struct Output {
    writer: Option<BufWriter<Box<dyn Write>>>,
    path: PathBuf,
    /// Where a regular file grows.
    temporary: Option<PathBuf>,
}

impl Output {
    /// Opens a path; `-` is standard output.
    ///
    /// # Errors
    /// The path, with the system's reason.
    pub fn open(path: &Path) -> Result<Self> {
        let mut temporary = None;
        // A link stays a link: it is the file behind it that is written.
        let path = &std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let writer: Box<dyn Write> = if path == Path::new("-") {
            Box::new(std::io::stdout().lock())
        } else {
            // A device or a pipe cannot be renamed onto; it is written to as it is.
            let special = std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file());
            let place = if special { path.clone() } else { beside(path) };
            let file = File::create(&place).with_context(|| format!("{}: cannot write here", path.display()))?;
            if let (false, Ok(former)) = (special, std::fs::metadata(path)) {
                file.set_permissions(former.permissions()).with_context(|| cannot_write(path))?;
            }
            temporary = (!special).then_some(place);
            Box::new(file)
        };
        Ok(Self { writer: Some(BufWriter::new(writer)), path: path.to_owned(), temporary })
    }

    /// Whether this is a terminal that somebody looks at.
    pub fn is_terminal(&self) -> bool {
        self.path == Path::new("-") && std::io::stdout().is_terminal()
    }

    /// Writes with a function that only knows `Write`.
    ///
    /// # Errors
    /// The path, with the system's reason.
    pub fn with(&mut self, write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<()> {
        let Some(writer) = &mut self.writer else { return Ok(()) };
        write(writer).with_context(|| cannot_write(&self.path))
    }

    /// Hands over what is still buffered and gives the file its name.
    ///
    /// # Errors
    /// The path, with the system's reason.
    pub fn finish(mut self) -> Result<()> {
        self.with(|out| out.flush())?;
        self.writer = None;
        if let Some(temporary) = self.temporary.take() {
            File::open(&temporary)
                .and_then(|file| file.sync_all())
                .and_then(|()| std::fs::rename(&temporary, &self.path))
                .with_context(|| cannot_write(&self.path))?;
        }
        Ok(())
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            // Unfinished: the reason is already on its way to the user.
            let _ = std::fs::remove_file(temporary);
        }
    }
}

fn cannot_write(path: &Path) -> String {
    match path.to_str() {
        Some("-") => "standard output: cannot write".to_owned(),
        _ => format!("{}: cannot write", path.display()),
    }
}
