//! The threads that do the work of all requests, and the two queues in which it waits for them.
//!
//! A job is done in slices of about equal cost. After each slice it goes to the end of its queue, so that jobs take turns. Short
//! jobs have threads of their own, which the operating system runs beside those of the long ones.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::cost::Lane;
use super::error::ApiError;
use super::job::{Job, SlicedJob};
use super::metrics::ServerMetrics;
use super::translation_job::TranslationJob;
use crate::search::Cancellation;

/// Number of threads of a queue. While the longest sentences of one slice keep a last core busy, the next slice has the others.
const WORKERS: usize = 2;
/// Maximum number of jobs that share a slice.
const MAX_SHARED: usize = 128;
/// Maximum number of jobs that wait.
const MAX_WAITING: usize = 20_000;
/// Pause before jobs are looked at again whose clients have to read first.
const READING_PAUSE: Duration = Duration::from_millis(20);

/// Jobs of a queue.
#[derive(Default)]
struct Jobs {
    waiting: VecDeque<Job>,
    /// Cancellations of the jobs that run, for each thread.
    running: [Vec<Cancellation>; WORKERS],
    stopped: bool,
}

/// Queue of jobs with its threads.
struct Queue {
    jobs: Mutex<Jobs>,
    arrived: Condvar,
    /// Threads that compute for the threads of the queue.
    pool: ThreadPool,
}

/// Threads that do the work of all requests.
pub struct Scheduler {
    short: Queue,
    long: Queue,
    metrics: Arc<ServerMetrics>,
}

impl Scheduler {
    /// Starts the threads, which end with the program.
    ///
    /// # Errors
    /// The system has no thread left.
    pub fn start(metrics: Arc<ServerMetrics>) -> Result<Arc<Self>> {
        let scheduler = Self { short: Queue::new(Lane::Short)?, long: Queue::new(Lane::Long)?, metrics };
        let scheduler = Arc::new(scheduler);
        for lane in [Lane::Short, Lane::Long] {
            for worker in 0..WORKERS {
                let scheduler = Arc::clone(&scheduler);
                let thread = std::thread::Builder::new().name(format!("{lane:?} {worker}").to_lowercase());
                thread.spawn(move || scheduler.work(lane, worker)).context("cannot start a thread of the server")?;
            }
        }
        Ok(scheduler)
    }

    /// Adds a job to its queue.
    ///
    /// # Errors
    /// The server is busy or stopping.
    pub fn add(&self, job: Job) -> Result<(), ApiError> {
        self.queue(job.lane()).add(job)
    }

    /// Cancels all work and takes no more.
    pub fn cancel_all(&self) {
        for queue in [&self.short, &self.long] {
            let mut jobs = queue.lock();
            jobs.stopped = true;
            jobs.running.iter().flatten().for_each(Cancellation::cancel);
            // Their answers end, which their clients see.
            jobs.waiting.clear();
        }
    }

    /// Returns the error of a job that was dropped before its answer was complete.
    pub fn lost(&self) -> ApiError {
        if self.long.lock().stopped { ApiError::stopping() } else { ApiError::internal() }
    }

    fn queue(&self, lane: Lane) -> &Queue {
        match lane {
            Lane::Short => &self.short,
            Lane::Long => &self.long,
        }
    }

    fn work(&self, lane: Lane, worker: usize) {
        let queue = self.queue(lane);
        loop {
            let batch = queue.next_batch(worker);
            // A panic drops its own jobs only.
            let run = AssertUnwindSafe(|| queue.pool.install(|| batch.run(lane, &self.metrics)));
            let unfinished = catch_unwind(run).unwrap_or_default();
            queue.lock().running[worker].clear();
            for job in unfinished {
                self.queue(job.lane()).resume(job);
            }
        }
    }
}

impl Queue {
    fn new(lane: Lane) -> Result<Self> {
        let pool = ThreadPoolBuilder::new()
            .num_threads(rayon::current_num_threads())
            .thread_name(move |index| format!("{lane:?} pool {index}").to_lowercase())
            .build()
            .context("cannot start the threads of the server")?;
        Ok(Self { jobs: Mutex::default(), arrived: Condvar::new(), pool })
    }

    fn lock(&self) -> MutexGuard<'_, Jobs> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, job: Job) -> Result<(), ApiError> {
        let mut jobs = self.lock();
        if jobs.stopped {
            return Err(ApiError::stopping());
        }
        jobs.waiting.retain(|job| !job.cancellation().is_cancelled());
        if jobs.waiting.len() >= MAX_WAITING {
            return Err(ApiError::busy());
        }
        jobs.waiting.push_back(job);
        self.arrived.notify_one();
        Ok(())
    }

    /// Puts a job at the end of the queue.
    fn resume(&self, job: Job) {
        let mut jobs = self.lock();
        if !jobs.stopped {
            jobs.waiting.push_back(job);
            self.arrived.notify_one();
        }
    }

    /// Waits for jobs and takes what can run at once.
    fn next_batch(&self, worker: usize) -> WorkBatch {
        let mut jobs = self.lock();
        loop {
            jobs.waiting.retain(|job| !job.cancellation().is_cancelled());
            let ready = jobs.waiting.iter().position(Job::is_ready);
            if let Some(job) = ready.and_then(|position| jobs.waiting.remove(position)) {
                let batch = match job {
                    Job::Translation(first) => WorkBatch::Translations(with_alike(*first, &mut jobs.waiting)),
                    Job::Sliced(job) => WorkBatch::Sliced(job),
                };
                jobs.running[worker] = batch.cancellations();
                return batch;
            }
            jobs = if jobs.waiting.is_empty() {
                self.arrived.wait(jobs).unwrap_or_else(PoisonError::into_inner)
            } else {
                self.arrived.wait_timeout(jobs, READING_PAUSE).unwrap_or_else(PoisonError::into_inner).0
            };
        }
    }
}

/// Takes the jobs that can share a slice with the first one out of those that wait.
fn with_alike(first: TranslationJob, waiting: &mut VecDeque<Job>) -> Vec<TranslationJob> {
    let mut alike = vec![first];
    for job in std::mem::take(waiting) {
        match job {
            Job::Translation(job) if alike.len() < MAX_SHARED && job.is_ready() && job.is_like(&alike[0]) => {
                alike.push(*job);
            }
            job => waiting.push_back(job),
        }
    }
    alike
}

/// Work that runs at once.
enum WorkBatch {
    Translations(Vec<TranslationJob>),
    Sliced(Box<dyn SlicedJob>),
}

impl WorkBatch {
    fn cancellations(&self) -> Vec<Cancellation> {
        match self {
            Self::Translations(jobs) => jobs.iter().map(|job| job.cancellation().clone()).collect(),
            Self::Sliced(job) => vec![job.cancellation().clone()],
        }
    }

    /// Runs a slice of each job and returns the jobs that are not done.
    fn run(self, lane: Lane, metrics: &ServerMetrics) -> Vec<Job> {
        match self {
            Self::Translations(jobs) => {
                let unfinished = TranslationJob::run_slices(jobs, lane, metrics).into_iter();
                unfinished.map(|job| Job::Translation(Box::new(job))).collect()
            }
            Self::Sliced(mut job) => match job.run_slice() {
                Ok(true) => Vec::new(),
                Ok(false) => vec![Job::Sliced(job)],
                Err(error) => {
                    job.fail(error);
                    Vec::new()
                }
            },
        }
    }
}
