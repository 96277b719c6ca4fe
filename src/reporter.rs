//! Messages and progress of long-running work.

/// Receiver of notes, warnings and progress. All methods have defaults that show nothing.
pub trait Reporter: Sync {
    /// Receives a note.
    fn note(&self, _line: &str) {}

    /// Receives a warning.
    fn warn(&self, _line: &str) {}

    /// Receives a warning that results are incomplete, which is shown even if other warnings are not.
    fn warn_incomplete(&self, line: &str) {
        self.warn(line);
    }

    /// Starts a stage of work over `total` items, if known. Dropping the returned value ends the stage.
    fn stage(&self, _name: &'static str, _total: Option<usize>) -> Box<dyn Stage + '_> {
        Box::new(Silent)
    }
}

/// Progress of one stage.
pub trait Stage: Send {
    /// Adds `count` finished items.
    fn advance(&mut self, _count: usize) {}
}

/// Returns a number with its noun, as in `1 pair` or `2 pairs`.
pub fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// A reporter that shows nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Reporter for Silent {}
impl Stage for Silent {}
