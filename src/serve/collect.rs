//! The file of corrected pairs, which `train` takes.

use std::fs::{File, OpenOptions};
use std::io::{Read, Result as IoResult, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result, bail};

use super::error::ApiError;
use crate::checkpoint::ModelDir;
use crate::error::usage_of;
use crate::render::table_cell;
use crate::text::Pair;

/// Maximum characters of a side of a pair.
const MAX_CHARACTERS: usize = 10_000;
/// Maximum number of times that a pair is written while the file is being replaced.
const MAX_TRIES: usize = 10;

/// File that pairs are appended to, one `source TAB target` per line.
///
/// It is opened by its name for each pair, since editors and the rotation of logs replace files.
pub struct PairCollection {
    path: PathBuf,
    /// Files that the server reads, which no pair may be appended to.
    read: Vec<PathBuf>,
    writing: Mutex<()>,
}

/// File that was opened for a pair.
struct OpenedFile {
    file: File,
    /// Path of the file without links.
    real: PathBuf,
    /// True if the file did not exist before.
    is_new: bool,
}

impl OpenedFile {
    /// Opens or creates a file.
    fn new(path: &Path) -> IoResult<Self> {
        let is_new = std::fs::metadata(path).is_err();
        let file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
        Ok(Self { file, real: std::fs::canonicalize(path)?, is_new })
    }

    /// True if a path leads to this file, by its own name or by a link.
    fn is_at(&self, path: &Path) -> bool {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let found = std::fs::metadata(path).and_then(|named| Ok([named, self.file.metadata()?]));
            found.is_ok_and(|[named, open]| (named.dev(), named.ino()) == (open.dev(), open.ino()))
        }
        // There, hard links are not seen, and an open file cannot be replaced.
        #[cfg(not(unix))]
        {
            std::fs::canonicalize(path).is_ok_and(|real| real == self.real)
        }
    }

    /// Ends the last line if it was cut off, or if an editor left it without its end.
    fn end_last_line(&mut self) -> IoResult<()> {
        if self.file.seek(SeekFrom::End(0))? == 0 {
            return Ok(());
        }
        let mut last = [0];
        self.file.seek(SeekFrom::End(-1))?;
        self.file.read_exact(&mut last)?;
        if last == [b'\n'] { Ok(()) } else { self.file.write_all(b"\n") }
    }

    /// Appends a line and waits until it is on the disk. If this fails, the file ends as before.
    fn append(&mut self, line: &str) -> IoResult<()> {
        let length = self.file.metadata()?.len();
        let written = self.file.write_all(line.as_bytes()).and_then(|()| self.file.sync_data());
        if written.is_err() {
            // Half a line would join the next one. If this fails too, there is nothing else to try.
            let _ = self.file.set_len(length);
        } else if self.is_new {
            // Some systems cannot sync directories.
            let _ = self.real.parent().map(|parent| File::open(parent).and_then(|directory| directory.sync_all()));
        }
        written
    }
}

impl PairCollection {
    /// Opens or creates the file. A line that was cut off is ended.
    ///
    /// # Errors
    /// The file cannot be opened or written, or it is a file of a model directory or the one of the keys.
    pub fn open(path: &Path, models: &[&Path], keys: Option<&Path>) -> Result<Self> {
        let of_models = models.iter().flat_map(|directory| ModelDir::new(directory).file_paths());
        let read = of_models.chain(keys.map(Path::to_owned)).collect();
        let collection = Self { path: path.to_owned(), read, writing: Mutex::default() };
        let mut opened = OpenedFile::new(path).with_context(|| cannot_append(path))?;
        if collection.is_taken(&opened) {
            if opened.is_new {
                std::fs::remove_file(&opened.real)?;
            }
            let shown = path.display();
            return usage_of(
                "collect",
                format!("{shown}: this file belongs to a model or has keys; choose another one"),
            );
        }
        opened.end_last_line().with_context(|| cannot_append(path))?;
        Ok(collection)
    }

    /// Appends a pair and waits until it is on the disk. Line breaks and tabs become spaces.
    ///
    /// # Errors
    /// A side is empty or too long, or the file cannot be written; then it ends as before.
    pub async fn append(self: &Arc<Self>, pair: &Pair) -> Result<(), ApiError> {
        let line = format!("{}\t{}\n", cell(&pair.source)?, cell(&pair.target)?);
        let collection = Arc::clone(self);
        Ok(tokio::task::spawn_blocking(move || collection.write(&line)).await??)
    }

    fn write(&self, line: &str) -> Result<()> {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        for _ in 0..MAX_TRIES {
            // Clients need not know where the file is.
            let mut opened = OpenedFile::new(&self.path).context("cannot append this pair")?;
            if self.is_taken(&opened) {
                bail!("cannot append this pair: the file belongs to a model or has keys");
            }
            opened.end_last_line().and_then(|()| opened.append(line)).context("cannot append this pair")?;
            // If the file was replaced meanwhile, the pair is lost with the former one.
            if opened.is_at(&self.path) {
                return Ok(());
            }
        }
        bail!("cannot append this pair: the file is replaced again and again")
    }

    /// True for a file that the server reads, under any name, and for one of another model.
    fn is_taken(&self, opened: &OpenedFile) -> bool {
        self.read.iter().any(|path| opened.is_at(path)) || ModelDir::owns(&opened.real)
    }
}

fn cannot_append(path: &Path) -> String {
    format!("{}: cannot append pairs", path.display())
}

/// Returns a text as a cell of a table: control characters become spaces.
fn cell(text: &str) -> Result<String, ApiError> {
    let spaced = table_cell(text);
    let cell = spaced.trim();
    if cell.is_empty() {
        return Err(ApiError::invalid("a pair needs text on both sides"));
    }
    if cell.chars().count() > MAX_CHARACTERS {
        return Err(ApiError::too_large(format!("a side of a pair can have {MAX_CHARACTERS} characters")));
    }
    Ok(cell.to_owned())
}
