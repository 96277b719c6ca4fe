//! The file of corrected pairs, which `train` takes.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};

use super::error::ApiError;
use crate::render::table_cell;
use crate::text::Pair;

/// Maximum characters of a side of a pair.
const MAX_CHARACTERS: usize = 10_000;

/// File that pairs are appended to, one `source TAB target` per line.
#[derive(Clone)]
pub struct PairCollection {
    file: Arc<Mutex<File>>,
}

impl PairCollection {
    /// Opens or creates the file. A line that was cut off is ended.
    ///
    /// # Errors
    /// The file cannot be opened or written.
    pub fn open(path: &Path) -> Result<Self> {
        let open = || -> std::io::Result<File> {
            let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
            let length = file.seek(SeekFrom::End(0))?;
            let mut last = [b'\n'];
            if length > 0 {
                file.seek(SeekFrom::End(-1))?;
                file.read_exact(&mut last)?;
            }
            if last != [b'\n'] {
                file.write_all(b"\n")?;
            }
            Ok(file)
        };
        let file = open().with_context(|| format!("{}: cannot append pairs", path.display()))?;
        Ok(Self { file: Arc::new(Mutex::new(file)) })
    }

    /// Appends a pair and waits until it is on the disk. Line breaks and tabs become spaces.
    ///
    /// # Errors
    /// A side is empty or too long, or the file cannot be written; then it ends as before.
    pub async fn append(&self, pair: &Pair) -> Result<(), ApiError> {
        let line = format!("{}\t{}\n", cell(&pair.source)?, cell(&pair.target)?);
        let collection = self.clone();
        Ok(tokio::task::spawn_blocking(move || collection.write(&line)).await??)
    }

    fn write(&self, line: &str) -> Result<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let length = file.metadata()?.len();
        let written = file.write_all(line.as_bytes()).and_then(|()| file.sync_data());
        if written.is_err() {
            // Half a line would join the next one. If this fails too, there is nothing else to try.
            let _ = file.set_len(length);
        }
        // Clients need not know where the file is.
        written.context("the file of --collect: cannot append this pair")
    }
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
