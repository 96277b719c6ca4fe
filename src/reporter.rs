//! Messages and progress of long work, for whoever shows them.

/// Receives notes, warnings and progress. No method has to be implemented.
pub trait Reporter: Sync {
    /// Takes a line for the user's information.
    fn note(&self, _line: &str) {}

    /// Takes a line about something that may be wrong.
    fn warn(&self, _line: &str) {}

    /// Takes a warning that results are incomplete, which is shown even where other warnings are not.
    fn warn_incomplete(&self, line: &str) {
        self.warn(line);
    }

    /// Begins a stage of work over `total` items, if their number is known. The stage ends when the value is dropped.
    fn stage(&self, _name: &'static str, _total: Option<usize>) -> Box<dyn Stage + '_> {
        Box::new(Silent)
    }
}

/// Progress of one stage.
pub trait Stage: Send {
    /// Counts `count` more items as done.
    fn advance(&mut self, _count: usize) {}
}

/// A reporter that shows nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Reporter for Silent {}
impl Stage for Silent {}
