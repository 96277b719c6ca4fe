//! Output to standard output or a file, opened before long work starts.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::checkpoint::{ModelDir, PendingFile, remove_abandoned};
use crate::error::UsageError;
use crate::render::escape_controls;
use crate::text::{check_read_once, check_standard_output, is_standard, open_descriptor};

/// Destination of output.
enum Sink {
    /// Standard output, a device or a pipe.
    Direct(Box<dyn Write>),
    /// Regular file, renamed into place when complete; if the work fails, the former file stays.
    File(PendingFile),
}

/// Buffered output of results.
pub struct Output {
    writer: BufWriter<Sink>,
    path: PathBuf,
    /// True if other output is written too.
    has_others: bool,
    /// True once the reading end of the pipe is closed.
    closed: bool,
}

impl Output {
    /// Opens a path for writing; `-` is standard output.
    ///
    /// # Errors
    /// The path cannot be opened.
    pub fn open(path: &Path) -> Result<Self> {
        let path = standard_or(path);
        let sink = Sink::open(path).with_context(|| cannot_write(path))?;
        Ok(Self { writer: BufWriter::new(sink), path: path.to_owned(), has_others: false, closed: false })
    }

    /// Makes a closed pipe no error, because other output is still wanted.
    #[must_use]
    pub fn beside_others(self) -> Self {
        Self { has_others: true, ..self }
    }

    /// Path, which decides the format; `-` is standard output.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns true if this is a terminal.
    pub fn is_terminal(&self) -> bool {
        is_standard(&self.path) && std::io::stdout().is_terminal()
    }

    /// Returns the text, with control characters escaped in a terminal.
    pub fn shown<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.is_terminal() { Cow::Owned(escape_controls(text)) } else { Cow::Borrowed(text) }
    }

    /// Writes with a function of `Write`.
    ///
    /// # Errors
    /// Writing fails.
    pub fn with(&mut self, write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<()> {
        if self.closed {
            return Ok(());
        }
        let written = write(&mut self.writer);
        self.closed = self.is_closed_pipe(&written);
        if self.closed { Ok(()) } else { written.with_context(|| cannot_write(&self.path)) }
    }

    /// Returns true for a closed pipe that is no error.
    fn is_closed_pipe(&self, written: &std::io::Result<()>) -> bool {
        self.has_others && written.as_ref().is_err_and(|error| error.kind() == ErrorKind::BrokenPipe)
    }

    /// Flushes the buffer.
    ///
    /// # Errors
    /// Writing fails.
    pub fn flush(&mut self) -> Result<()> {
        self.with(|out| out.flush())
    }

    /// Flushes the buffer and renames a file into place.
    ///
    /// # Errors
    /// Writing or renaming fails.
    pub fn finish(mut self) -> Result<()> {
        self.flush()?;
        if self.closed {
            return Ok(());
        }
        let Self { writer, path, .. } = self;
        let sink = writer.into_inner().map_err(std::io::IntoInnerError::into_error);
        sink.and_then(Sink::finish).with_context(|| cannot_write(&path))
    }
}

impl Sink {
    fn open(path: &Path) -> std::io::Result<Self> {
        if is_standard(path) {
            check_standard_output()?;
            return Ok(Self::Direct(Box::new(std::io::stdout().lock())));
        }
        if open_descriptor(path).is_some() {
            // The shell has opened it already, perhaps for appending.
            return Ok(Self::Direct(Box::new(OpenOptions::new().append(true).open(path)?)));
        }
        // A symbolic link stays one; its target is written.
        let path = &std::fs::canonicalize(path).unwrap_or_else(|_| linked_path(path));
        let former = std::fs::metadata(path).ok();
        if former.as_ref().is_some_and(|former| !former.is_file()) {
            // Devices and pipes cannot be replaced by renaming.
            return Ok(Self::Direct(Box::new(File::create(path)?)));
        }
        remove_abandoned(path);
        let pending = PendingFile::create(path)?;
        if let Some(former) = former {
            pending.file().set_permissions(former.permissions())?;
        }
        Ok(Self::File(pending))
    }

    fn finish(self) -> std::io::Result<()> {
        match self {
            Self::Direct(mut out) => out.flush(),
            Self::File(pending) => pending.finish(),
        }
    }
}

/// Returns where symbolic links lead to that end at a missing file.
fn linked_path(path: &Path) -> PathBuf {
    const MAX_LINKS: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        let Ok(target) = std::fs::read_link(&path) else { break };
        path = path.parent().map_or_else(|| target.clone(), |parent| parent.join(&target));
    }
    path
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            Self::Direct(out) => out.write(bytes),
            Self::File(pending) => pending.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match self {
            Self::Direct(out) => out.flush(),
            Self::File(pending) => pending.flush(),
        }
    }
}

/// Path that is written to, with the option that names it.
pub struct WrittenPath<'a> {
    option: &'a str,
    path: &'a Path,
}

impl<'a> WrittenPath<'a> {
    /// Returns the path of an option that always has one.
    pub fn new(option: &'a str, path: &'a Path) -> Self {
        Self { option, path }
    }

    /// Returns the path of an option, if it is given.
    pub fn given(option: &'a str, path: Option<&'a Path>) -> Option<Self> {
        path.map(|path| Self { option, path })
    }
}

/// Checks that standard input is read once, and that no output overwrites another output, an input or a file of a model.
///
/// # Errors
/// A [`UsageError`] that names the path.
pub fn ensure_distinct_paths<'a>(
    read: impl IntoIterator<Item = &'a Path>,
    written: impl IntoIterator<Item = WrittenPath<'a>>,
) -> Result<()> {
    let read: Vec<&Path> = read.into_iter().collect();
    check_read_once(&read)?;
    let read: Vec<PathBuf> = read.into_iter().filter(|path| !is_standard(path)).filter_map(resolved).collect();
    let mut options_of_places: HashMap<PathBuf, &str> = HashMap::new();
    for WrittenPath { option, path } in written {
        let Some(place) = resolved(standard_or(path)) else { continue };
        let shown = if is_standard(&place) { "standard output".to_owned() } else { path.display().to_string() };
        if read.contains(&place) {
            bail!(UsageError::new(format!("{option} {shown}: this file is also input; choose another output file")));
        }
        if ModelDir::owns(&place) {
            bail!(UsageError::new(format!(
                "{option} {shown}: this file is part of a model; choose another output file"
            )));
        }
        if let Some(other) = options_of_places.insert(place, option) {
            bail!(UsageError::new(format!("{other} and {option} both write to {shown}; choose different files")));
        }
    }
    Ok(())
}

/// Returns the canonical path of an existing or future file, or None for other destinations such as `/dev/null`.
fn resolved(path: &Path) -> Option<PathBuf> {
    if is_standard(path) {
        return Some(path.to_owned());
    }
    let Ok(real) = std::fs::canonicalize(path) else {
        let directory =
            path.parent().filter(|directory| !directory.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
        return Some(std::fs::canonicalize(directory).ok()?.join(path.file_name()?));
    };
    real.is_file().then_some(real)
}

/// Returns true if a path is standard output, under any of its names.
pub fn is_standard_output(path: &Path) -> bool {
    is_standard(standard_or(path))
}

/// Returns `-` for every name of standard output, other paths unchanged.
fn standard_or(path: &Path) -> &Path {
    if open_descriptor(path) == Some(1) { Path::new("-") } else { path }
}

fn cannot_write(path: &Path) -> String {
    if is_standard(path) {
        "standard output: cannot write".to_owned()
    } else {
        format!("{}: cannot write here", path.display())
    }
}
