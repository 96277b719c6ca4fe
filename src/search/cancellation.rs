//! Cancellation of a search that runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Handle that cancels the search of sentences from another thread. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Cancellation(Arc<AtomicBool>);

impl Cancellation {
    /// Cancels the search, which ends before its next step.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// True once the search is cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
