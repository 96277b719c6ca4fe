//! Standard output or a file, opened before the long work.

use std::borrow::Cow;
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::checkpoint::{ModelDir, PendingFile, remove_abandoned};
use crate::error::UsageError;
use crate::render::escape_controls;
use crate::text::{check_read_once, is_standard, open_descriptor};

/// What a path may lead to.
enum Sink {
    /// Standard output, a device, a pipe: written to as it is.
    Direct(Box<dyn Write>),
    /// A regular file, which appears under its name only once it is whole; if the work fails, what was there stays.
    File(PendingFile),
}

/// Where results go.
pub struct Output {
    writer: BufWriter<Sink>,
    path: PathBuf,
    /// Whether other results are written beside it.
    has_others: bool,
    /// Whether it is known that nobody reads it any more.
    unread: bool,
}

impl Output {
    /// Opens a path; `-` is standard output.
    ///
    /// # Errors
    /// The path, with the system's reason.
    pub fn open(path: &Path) -> Result<Self> {
        let path = standard_or(path);
        let sink = Sink::open(path).with_context(|| format!("{}: cannot write here", path.display()))?;
        Ok(Self { writer: BufWriter::new(sink), path: path.to_owned(), has_others: false, unread: false })
    }

    /// Says that other results are made beside this one: should nobody read it any more, they are wanted all the same.
    #[must_use]
    pub fn beside_others(self) -> Self {
        Self { has_others: true, ..self }
    }

    /// Whether this is a terminal that somebody looks at.
    pub fn is_terminal(&self) -> bool {
        is_standard(&self.path) && std::io::stdout().is_terminal()
    }

    /// Text as it may go there: exactly as it is, but on a terminal with nothing in it that would be obeyed.
    pub fn shown<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.is_terminal() { Cow::Owned(escape_controls(text)) } else { Cow::Borrowed(text) }
    }

    /// Writes with a function that only knows `Write`.
    ///
    /// # Errors
    /// The path, with the system's reason.
    pub fn with(&mut self, write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<()> {
        if self.unread {
            return Ok(());
        }
        let written = write(&mut self.writer);
        self.unread = self.is_unread(&written);
        if self.unread { Ok(()) } else { written.with_context(|| cannot_write(&self.path)) }
    }

    /// Whether this is no failure, but the end of a pipe beside which there is more to do.
    fn is_unread(&self, written: &std::io::Result<()>) -> bool {
        self.has_others && written.as_ref().is_err_and(|error| error.kind() == ErrorKind::BrokenPipe)
    }

    /// Hands over what is still buffered, for whoever waits at the other end.
    ///
    /// # Errors
    /// The path, with the system's reason.
    pub fn flush(&mut self) -> Result<()> {
        self.with(|out| out.flush())
    }

    /// Hands over what is still buffered and gives the file its name.
    ///
    /// # Errors
    /// The path, with the system's reason.
    pub fn finish(mut self) -> Result<()> {
        self.flush()?;
        if self.unread {
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
            return Ok(Self::Direct(Box::new(std::io::stdout().lock())));
        }
        if open_descriptor(path).is_some() {
            // Whoever opened it meant to add to it.
            return Ok(Self::Direct(Box::new(OpenOptions::new().append(true).open(path)?)));
        }
        // A link stays a link: it is the file behind it that is written.
        let path = &std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let former = std::fs::metadata(path).ok();
        if former.as_ref().is_some_and(|former| !former.is_file()) {
            // It cannot be renamed onto.
            return Ok(Self::Direct(Box::new(File::create(path)?)));
        }
        remove_abandoned(path);
        let growing = PendingFile::create(path)?;
        if let Some(former) = former {
            growing.file().set_permissions(former.permissions())?;
        }
        Ok(Self::File(growing))
    }

    fn finish(self) -> std::io::Result<()> {
        match self {
            Self::Direct(mut out) => out.flush(),
            Self::File(growing) => growing.finish(),
        }
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            Self::Direct(out) => out.write(bytes),
            Self::File(growing) => growing.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match self {
            Self::Direct(out) => out.flush(),
            Self::File(growing) => growing.flush(),
        }
    }
}

/// Refuses to read standard input twice, and to write results, given with the options that name their places, over each
/// other, over what they are made from, or over a part of a model.
///
/// # Errors
/// A [`UsageError`] that names the place.
pub fn apart<'a>(
    read: impl IntoIterator<Item = &'a Path>,
    written: impl IntoIterator<Item = (&'a str, &'a Path)>,
) -> Result<()> {
    let read: Vec<&Path> = read.into_iter().collect();
    check_read_once(&read)?;
    let read: Vec<PathBuf> = read.into_iter().filter(|path| !is_standard(path)).filter_map(place).collect();
    let mut taken: Vec<(&str, PathBuf)> = Vec::new();
    for (option, path) in written {
        let Some(place) = place(standard_or(path)) else { continue };
        let shown = if is_standard(&place) { "standard output".to_owned() } else { path.display().to_string() };
        if read.contains(&place) {
            bail!(UsageError(format!("{option} {shown}: this file is read as well; name another one to write to")));
        }
        if place.parent().zip(place.file_name()).is_some_and(|(folder, name)| ModelDir::new(folder).is_part(name)) {
            bail!(UsageError(format!("{option} {shown}: this file is part of a model; name another one to write to")));
        }
        if let Some((other, _)) = taken.iter().find(|(_, taken)| *taken == place) {
            bail!(UsageError(format!("{other} and {option} both write to {shown}; name a place for each")));
        }
        taken.push((option, place));
    }
    Ok(())
}

/// What a path leads to, whether it is there yet or not; none if it is no file, such as `/dev/null`, which takes all.
fn place(path: &Path) -> Option<PathBuf> {
    if is_standard(path) {
        return Some(path.to_owned());
    }
    let Ok(real) = std::fs::canonicalize(path) else {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
        return Some(std::fs::canonicalize(folder).ok()?.join(path.file_name()?));
    };
    real.is_file().then_some(real)
}

/// Whether what is written to a path comes out of this process' standard output, by whatever name.
pub fn is_standard_output(path: &Path) -> bool {
    is_standard(standard_or(path))
}

/// The path, or `-` where it is another name of standard output.
fn standard_or(path: &Path) -> &Path {
    if open_descriptor(path) == Some(1) { Path::new("-") } else { path }
}

fn cannot_write(path: &Path) -> String {
    if is_standard(path) {
        "standard output: cannot write".to_owned()
    } else {
        format!("{}: cannot write", path.display())
    }
}
