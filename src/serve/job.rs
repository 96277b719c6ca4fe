//! Jobs: the work of a request, done in slices between which other requests have their turn.

use anyhow::Result;

use super::cost::Lane;
use super::error::ApiError;
use super::translation_job::TranslationJob;
use crate::search::Cancellation;

/// Work of a request.
pub enum Job {
    /// Translation, which shares batches with others.
    Translation(Box<TranslationJob>),
    /// Work of its own, in slices.
    Sliced(Box<dyn SlicedJob>),
}

impl Job {
    /// Queue that the job belongs to.
    pub fn lane(&self) -> Lane {
        match self {
            Self::Translation(job) => job.lane(),
            Self::Sliced(job) => job.lane(),
        }
    }

    /// Cancellation of the job.
    pub fn cancellation(&self) -> &Cancellation {
        match self {
            Self::Translation(job) => job.cancellation(),
            Self::Sliced(job) => job.cancellation(),
        }
    }

    /// False while the client has to read its answer first.
    pub fn is_ready(&self) -> bool {
        match self {
            Self::Translation(job) => job.is_ready(),
            Self::Sliced(job) => job.is_ready(),
        }
    }
}

/// Work in slices of about equal cost.
pub trait SlicedJob: Send {
    /// Queue that the job belongs to.
    fn lane(&self) -> Lane;

    /// Cancellation of the job.
    fn cancellation(&self) -> &Cancellation;

    /// False while the client has to read its answer first.
    fn is_ready(&self) -> bool {
        true
    }

    /// Does a slice of the work. Returns true once all is done.
    ///
    /// # Errors
    /// The work fails.
    fn run_slice(&mut self) -> Result<bool, ApiError>;

    /// Tells the client that the work failed. A job that is dropped before it is done was stopped.
    fn fail(&mut self, error: ApiError);
}

type Work = Box<dyn FnOnce(&Cancellation) + Send>;

/// Work that cannot be divided.
pub struct WholeJob {
    lane: Lane,
    cancellation: Cancellation,
    work: Option<Work>,
}

impl WholeJob {
    /// Returns the job of a function that tells its client the outcome.
    pub fn boxed(lane: Lane, cancellation: Cancellation, work: impl FnOnce(&Cancellation) + Send + 'static) -> Job {
        Job::Sliced(Box::new(Self { lane, cancellation, work: Some(Box::new(work)) }))
    }
}

impl SlicedJob for WholeJob {
    fn lane(&self) -> Lane {
        self.lane
    }

    fn cancellation(&self) -> &Cancellation {
        &self.cancellation
    }

    fn run_slice(&mut self) -> Result<bool, ApiError> {
        if let Some(work) = self.work.take() {
            work(&self.cancellation);
        }
        Ok(true)
    }

    fn fail(&mut self, _: ApiError) {}
}

/// Guard that cancels work when it is dropped, as it is when the client goes away.
pub struct CancelOnDrop(pub Cancellation);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}
