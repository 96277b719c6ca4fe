//! The queue of a model and its worker threads, each of which translates what waits in one batch.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use anyhow::Result;
use tokio::sync::oneshot;

use super::error::ApiError;
use super::loaded_model::LoadedModel;
use super::metrics::ServerMetrics;
use crate::attention::InferenceOverrides;
use crate::error::UsageError;
use crate::search::Cancellation;
use crate::text::WordSplitting;
use crate::translator::{
    Constraints, DecodeOptions, Dictionary, Markup, MarkupOptions, Request, Sentence, Translation, Translator,
};

/// Worker threads of a model. While the longest sentences of one batch keep a last core busy, the next batch has the others.
const WORKERS: usize = 2;
/// Maximum sentences of a batch for each thread that computes.
const SENTENCES_PER_THREAD: usize = 64;
/// Maximum sentences and other work that wait for a model.
const MAX_WAITING: usize = 20_000;

/// Options of translation. Requests with equal ones can share a batch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TranslationOptions {
    /// Search, sampling and constraints.
    pub decoding: DecodeOptions,
    /// Attention settings that differ from training.
    pub attention: InferenceOverrides,
    /// Word splitting of both sides.
    pub words: Option<WordSplitting>,
    /// Copies sentences that are mostly unknown to the model.
    pub copies_unknown: bool,
    /// Replaces `<unk>` by the source word aligned to it.
    pub replaces_unknown: bool,
    /// Markup of the sentences.
    pub markup: Markup,
    /// Regular expression of placeholders, `none`, or by default known kinds.
    pub placeholders: Option<String>,
}

impl TranslationOptions {
    /// Checks that a model can translate with these options. Many constraints take time.
    ///
    /// # Errors
    /// An option is out of range, or the model does not support it or has no units for a constraint (a [`UsageError`]).
    pub fn check(&self, model: &LoadedModel) -> Result<()> {
        self.constrained(model).map(drop)
    }

    /// True if results depend on the position of a sentence in its request.
    fn is_sampled(&self) -> bool {
        self.decoding.sample || self.decoding.mbr.is_some()
    }

    fn translator(&self, model: &LoadedModel) -> Result<Translator> {
        model.translator.clone().with_words(self.words).with_attention(&self.attention)
    }

    /// Returns the translator with all options, and the search and the markup that they describe.
    ///
    /// # Errors
    /// As [`Self::check`].
    fn constrained(&self, model: &LoadedModel) -> Result<(Translator, Request, MarkupOptions)> {
        // On the command line, constraints may come from files. Here they are the client's.
        self.settle(model).map_err(|error| UsageError(format!("{error:#}")).into())
    }

    fn settle(&self, model: &LoadedModel) -> Result<(Translator, Request, MarkupOptions)> {
        let request = self.decoding.request()?;
        let mut translator = self
            .translator(model)?
            .with_unknown_copied(self.copies_unknown)
            .with_dictionary(self.replaces_unknown.then(Dictionary::default));
        let markup = translator.markup_options_with(self.markup, self.placeholders.as_deref())?;
        let constraints =
            Constraints { placeholders: Some(markup.placeholders.clone()), ..self.decoding.constraints() };
        let constraints = constraints.normalized(translator.config().text.normalization);
        if !constraints.is_empty() {
            let target_prefix = constraints.prefix.clone();
            translator = translator.with_constraints(constraints)?;
            translator.check_target_prefix(&Sentence { target_prefix, ..Sentence::default() })?;
        }
        Ok((translator, request, markup))
    }

    /// Translates sentences, of which the first has this position in its request.
    fn translate(&self, model: &LoadedModel, sentences: &[Sentence], first: usize) -> Result<Vec<Vec<Translation>>> {
        let (translator, request, markup) = self.constrained(model)?;
        translator.translate_batch_marked_up(sentences, &markup, &request.from_sentence(first), &mut |_| {})
    }
}

/// Translations with the model that made them.
pub struct Translated {
    /// Translations of each sentence, best first.
    pub translations: Vec<Vec<Translation>>,
    /// The sentences.
    pub sentences: Vec<Sentence>,
    /// The model.
    pub model: Arc<LoadedModel>,
    /// Its translator with the options of the request, without constraints.
    pub translator: Translator,
}

/// Cancels work when its client goes away, which drops this.
struct CancelOnDrop(Cancellation);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Sentences of one request.
struct TranslationJob {
    model: Arc<LoadedModel>,
    sentences: Vec<Sentence>,
    options: TranslationOptions,
    /// Translations of the first sentences.
    translations: Vec<Vec<Translation>>,
    cancellation: Cancellation,
    reply: oneshot::Sender<Result<Translated, ApiError>>,
}

impl TranslationJob {
    fn is_like(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.model, &other.model) && self.options == other.options && !self.options.is_sampled()
    }

    fn waiting(&self) -> usize {
        self.sentences.len() - self.translations.len()
    }

    /// Sends the translations, all of which are there.
    fn finish(self) {
        let Self { model, sentences, translations, cancellation, reply, options } = self;
        let result = if cancellation.is_cancelled() {
            Err(ApiError::stopping())
        } else {
            let translator = options.translator(&model).map_err(ApiError::from);
            translator.map(|translator| Translated { translations, sentences, model, translator })
        };
        // A client that went away needs no reply.
        let _ = reply.send(result);
    }
}

/// Other work, which sends its own reply.
struct OtherJob {
    cancellation: Cancellation,
    work: Box<dyn FnOnce() + Send>,
}

enum Job {
    Translation(Box<TranslationJob>),
    Other(OtherJob),
}

impl Job {
    fn cancellation(&self) -> &Cancellation {
        match self {
            Self::Translation(job) => &job.cancellation,
            Self::Other(job) => &job.cancellation,
        }
    }

    fn waiting(&self) -> usize {
        match self {
            Self::Translation(job) => job.waiting(),
            Self::Other(_) => 1,
        }
    }
}

/// Jobs of a model.
#[derive(Default)]
struct Jobs {
    waiting: VecDeque<Job>,
    /// Cancellations of the jobs that run.
    running: [Vec<Cancellation>; WORKERS],
    stopped: bool,
}

/// Queue of a model's work.
pub struct WorkQueue {
    model: String,
    metrics: Arc<ServerMetrics>,
    jobs: Mutex<Jobs>,
    arrived: Condvar,
}

impl WorkQueue {
    /// Starts the worker threads, which end with the program.
    ///
    /// # Errors
    /// The system has no thread left.
    pub fn start(name: &str, metrics: Arc<ServerMetrics>) -> std::io::Result<Arc<Self>> {
        let (jobs, arrived) = (Mutex::default(), Condvar::new());
        let queue = Arc::new(Self { model: name.to_owned(), metrics, jobs, arrived });
        for worker in 0..WORKERS {
            let queue = Arc::clone(&queue);
            std::thread::Builder::new().name(format!("model {name}")).spawn(move || queue.work(worker))?;
        }
        Ok(queue)
    }

    /// Translates sentences on a worker thread.
    ///
    /// # Errors
    /// The model fails, or the server is busy or stopping.
    pub async fn translate(
        &self,
        model: Arc<LoadedModel>,
        mut sentences: Vec<Sentence>,
        options: TranslationOptions,
    ) -> Result<Translated, ApiError> {
        let cancellation = Cancellation::default();
        sentences.iter_mut().for_each(|sentence| sentence.cancellation = cancellation.clone());
        let _guard = CancelOnDrop(cancellation.clone());
        let (reply, result) = oneshot::channel();
        let job = TranslationJob { model, sentences, options, translations: Vec::new(), cancellation, reply };
        self.add(Job::Translation(Box::new(job)))?;
        result.await.unwrap_or_else(|_| Err(self.lost()))
    }

    /// Does other work on a worker thread.
    ///
    /// # Errors
    /// The work fails, or the server is busy or stopping.
    pub async fn run<T: Send + 'static>(
        &self,
        model: Arc<LoadedModel>,
        work: impl FnOnce(&LoadedModel, &Cancellation) -> Result<T> + Send + 'static,
    ) -> Result<T, ApiError> {
        let cancellation = Cancellation::default();
        let _guard = CancelOnDrop(cancellation.clone());
        let (reply, result) = oneshot::channel();
        let cancelled = cancellation.clone();
        let work = move || {
            let done = work(&model, &cancelled);
            let _ = reply.send(if cancelled.is_cancelled() {
                Err(ApiError::stopping())
            } else {
                done.map_err(ApiError::from)
            });
        };
        self.add(Job::Other(OtherJob { cancellation, work: Box::new(work) }))?;
        result.await.unwrap_or_else(|_| Err(self.lost()))
    }

    /// Cancels all work and takes no more.
    pub fn cancel_all(&self) {
        let mut jobs = self.lock();
        jobs.stopped = true;
        jobs.running.iter().flatten().for_each(Cancellation::cancel);
        // Their replies are dropped, which their handlers see.
        jobs.waiting.clear();
    }

    /// Returns the error of a job that got no reply.
    fn lost(&self) -> ApiError {
        if self.lock().stopped { ApiError::stopping() } else { ApiError::internal() }
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
        if jobs.waiting.iter().map(Job::waiting).sum::<usize>() >= MAX_WAITING {
            return Err(ApiError::busy());
        }
        jobs.waiting.push_back(job);
        self.arrived.notify_one();
        Ok(())
    }

    fn work(&self, worker: usize) {
        loop {
            let batch = self.next_batch(worker);
            self.count(&batch);
            // A panic drops the replies of its batch only.
            let unfinished = catch_unwind(AssertUnwindSafe(|| batch.run())).unwrap_or_default();
            let mut jobs = self.lock();
            jobs.running[worker].clear();
            if !jobs.stopped {
                jobs.waiting.extend(unfinished.into_iter().map(|job| Job::Translation(Box::new(job))));
            }
        }
    }

    fn count(&self, batch: &WorkBatch) {
        if let WorkBatch::Translations(jobs) = batch {
            let part = part_size(jobs.len());
            self.metrics.add_batch(&self.model, jobs.iter().map(|job| job.waiting().min(part)).sum());
        }
    }

    /// Waits for work and takes what can run at once.
    fn next_batch(&self, worker: usize) -> WorkBatch {
        let mut jobs = self.lock();
        loop {
            let job = jobs.waiting.pop_front();
            let batch = match job {
                Some(job) if job.cancellation().is_cancelled() => continue,
                Some(Job::Other(job)) => WorkBatch::Other(job),
                Some(Job::Translation(first)) => WorkBatch::Translations(with_alike(*first, &mut jobs.waiting)),
                None => {
                    jobs = self.arrived.wait(jobs).unwrap_or_else(PoisonError::into_inner);
                    continue;
                }
            };
            jobs.running[worker] = batch.cancellations();
            return batch;
        }
    }
}

/// Takes the jobs that can share a batch with the first one out of those that wait.
fn with_alike(first: TranslationJob, waiting: &mut VecDeque<Job>) -> Vec<TranslationJob> {
    let mut alike = vec![first];
    for job in std::mem::take(waiting) {
        match job {
            Job::Translation(job) if alike.len() < max_sentences() && job.is_like(&alike[0]) => alike.push(*job),
            job => waiting.push_back(job),
        }
    }
    alike
}

fn max_sentences() -> usize {
    SENTENCES_PER_THREAD * rayon::current_num_threads()
}

/// Sentences of each of so many jobs that share a batch.
fn part_size(jobs: usize) -> usize {
    (max_sentences() / jobs.max(1)).max(1)
}

/// Work that runs at once.
enum WorkBatch {
    Translations(Vec<TranslationJob>),
    Other(OtherJob),
}

impl WorkBatch {
    fn cancellations(&self) -> Vec<Cancellation> {
        match self {
            Self::Translations(jobs) => jobs.iter().map(|job| job.cancellation.clone()).collect(),
            Self::Other(job) => vec![job.cancellation.clone()],
        }
    }

    /// Runs the work and returns the jobs that have sentences left.
    fn run(self) -> Vec<TranslationJob> {
        match self {
            Self::Translations(jobs) => translate_part(jobs),
            Self::Other(job) => {
                (job.work)();
                Vec::new()
            }
        }
    }
}

/// Translates an equal part of each job in one batch and returns the jobs that have sentences left.
fn translate_part(mut jobs: Vec<TranslationJob>) -> Vec<TranslationJob> {
    let part = part_size(jobs.len());
    let mut batch = Vec::new();
    for job in &jobs {
        batch.extend(job.sentences.iter().skip(job.translations.len()).take(part).cloned());
    }
    let first = jobs[0].translations.len();
    match jobs[0].options.translate(&jobs[0].model, &batch, first) {
        Ok(translations) => {
            let mut translations = translations.into_iter();
            for job in &mut jobs {
                let count = job.waiting().min(part);
                job.translations.extend(translations.by_ref().take(count));
            }
        }
        // The sentence of one client must not fail the others.
        Err(_) if jobs.len() > 1 => return jobs.into_iter().flat_map(|job| translate_part(vec![job])).collect(),
        Err(error) => {
            let error = ApiError::from(error);
            jobs.drain(..).for_each(|job| drop(job.reply.send(Err(error.clone()))));
        }
    }
    let (unfinished, finished): (Vec<_>, Vec<_>) = jobs.into_iter().partition(|job| job.waiting() > 0);
    finished.into_iter().for_each(TranslationJob::finish);
    unfinished
}
