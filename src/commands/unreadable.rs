//! Input lines that cannot be read, treated as `--on-error` says.

use std::collections::BTreeMap;

use anyhow::{Error, Result, ensure};

use super::console::Console;
use crate::reporter::Reporter;
use crate::text::{LineError, OnError};

/// Number of unreadable lines that get a warning of their own.
const MAX_WARNINGS: usize = 5;

/// Items of a chunk before the first error that ends the work.
pub struct ReadableItems<T> {
    /// The items, empty ones in place of the unreadable ones.
    pub items: Vec<T>,
    /// Error that ends the work, if there is one.
    pub error: Option<Error>,
}

/// Unreadable items among those of a command.
pub struct Unreadable {
    on_error: OnError,
    /// Number of them so far.
    count: usize,
    /// Error messages of the current chunk by the index of the item.
    messages: BTreeMap<usize, String>,
}

impl Unreadable {
    pub fn new(on_error: OnError) -> Self {
        Self { on_error, count: 0, messages: BTreeMap::new() }
    }

    /// Replaces the unreadable items of a chunk, the first of which has index `first`, by empty ones.
    pub fn replace<T: Default>(&mut self, first: usize, items: Vec<Result<T>>) -> ReadableItems<T> {
        self.messages.clear();
        let mut replaced = Vec::with_capacity(items.len());
        for (id, item) in (first..).zip(items) {
            match item {
                Ok(item) => replaced.push(item),
                Err(error) if self.ends_work(id, &error) => {
                    return ReadableItems { items: replaced, error: Some(error) };
                }
                Err(error) => {
                    self.count += 1;
                    self.messages.insert(id, error.to_string());
                    replaced.push(T::default());
                }
            }
        }
        ReadableItems { items: replaced, error: None }
    }

    /// If the first item of all has a wrong format, so have the others, most likely.
    fn ends_work(&self, id: usize, error: &Error) -> bool {
        match self.on_error {
            OnError::Fail => true,
            OnError::Skip => !error.is::<LineError>(),
            OnError::Keep => {
                error.downcast_ref::<LineError>().is_none_or(|line| id == 0 && line.lossy_text().is_none())
            }
        }
    }

    /// Returns the error message of an item of the current chunk, if it is unreadable.
    pub fn message(&self, id: usize) -> Option<&str> {
        self.messages.get(&id).map(String::as_str)
    }

    /// True if an item of the current chunk has no results.
    pub fn is_skipped(&self, id: usize) -> bool {
        self.on_error == OnError::Skip && self.messages.contains_key(&id)
    }

    /// Warns of the first unreadable items, as far as they are in the current chunk.
    pub fn warn(&self, console: &Console) {
        let warned = self.count - self.messages.len();
        let left = MAX_WARNINGS.saturating_sub(warned);
        self.messages.values().take(left).for_each(|message| console.warn_incomplete(message));
    }

    /// Reports the number of unreadable lines after all results are written.
    ///
    /// # Errors
    /// There are any, and they have empty results.
    pub fn finish(self, console: &Console) -> Result<()> {
        let results = match self.count {
            0 => return Ok(()),
            1 => "1 line could not be read; its result is".to_owned(),
            count => format!("{count} lines could not be read; their results are"),
        };
        ensure!(self.on_error != OnError::Keep, "{results} empty");
        console.warn_incomplete(&format!("{results} left out"));
        Ok(())
    }
}
