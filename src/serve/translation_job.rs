//! Translation of the sentences of a request, in slices that requests with equal options share.

use std::sync::Arc;

use anyhow::Result;
use rayon::prelude::*;
use tokio::sync::oneshot;

use super::cost::{Cost, Lane, WorkBudget, slice_length};
use super::error::ApiError;
use super::loaded_model::LoadedModel;
use super::metrics::ServerMetrics;
use crate::error::{UsageError, message_of};
use crate::search::{Cancellation, DecodingConstraints};
use crate::translator::{DecodeOptions, MarkedUpTexts, PreparedTranslator, Sentence, TranslateOptions, Translation};

/// Checks that a model can translate with options. Many constraints take time.
///
/// # Errors
/// An option is out of range, or the model does not support it or has no tokens for a constraint (a [`UsageError`]).
pub fn prepare(model: &LoadedModel, options: &TranslateOptions) -> Result<PreparedTranslator> {
    let options = TranslateOptions { precision: model.translator.precision(), ..options.clone() };
    // On the command line, constraints may come from files. Here they are the client's.
    model.translator.prepared(&options).map_err(|error| match error.downcast::<UsageError>() {
        Ok(usage) => usage.into(),
        Err(other) => UsageError::new(message_of(&other)).into(),
    })
}

/// Number of bytes of constraints, which take time as those of texts do.
fn bytes_of_constraints(DecodeOptions { prefix, require, avoid, terms, .. }: &DecodeOptions) -> usize {
    let phrases = prefix.iter().chain(require).chain(avoid);
    let sides = terms.iter().flat_map(|term| [&term.source, &term.target]);
    phrases.chain(sides).map(String::len).sum()
}

/// Request whose sentences are ready to be translated.
pub struct PreparedWork<'a> {
    /// Translator with the options of the request.
    pub translator: &'a PreparedTranslator,
    /// Cost of each text, as if it were one sentence, which its answer is.
    pub costs: &'a [Cost],
    /// Budget of the request.
    pub budget: &'a WorkBudget,
}

/// Consecutive sentences of a request with their translations.
pub struct TranslatedSlice<'a> {
    /// Index of the first sentence in its request.
    pub first: usize,
    /// Consecutive sentences of the request.
    pub sentences: &'a [Sentence],
    /// Translations of each sentence, best first.
    pub translations: Vec<Vec<Translation>>,
    /// True if no sentence of the request follows.
    pub is_last: bool,
}

/// Receiver of the translations of a request, on a thread of the scheduler. When it is dropped before the last slice, the work
/// was stopped.
pub trait TranslationSink: Send {
    /// Checks a request, before the first slice.
    ///
    /// # Errors
    /// The request is refused.
    fn begin(&mut self, _work: &PreparedWork) -> Result<(), ApiError> {
        Ok(())
    }

    /// Takes the next slice. A request without sentences has an empty one.
    ///
    /// # Errors
    /// The model fails.
    fn take(&mut self, slice: TranslatedSlice) -> Result<(), ApiError>;

    /// Tells the client that its request failed.
    fn fail(&mut self, error: ApiError);

    /// False while the client has to read its answer first.
    fn is_ready(&self) -> bool {
        true
    }
}

/// Texts to translate, with the model and the options.
pub struct TranslationInput {
    /// Model that translates.
    pub model: Arc<LoadedModel>,
    /// Texts, which are sentences or have markup.
    pub texts: Vec<Sentence>,
    /// Options of the translations.
    pub options: TranslateOptions,
    /// Names of the fields of the request that its cost depends on, for messages.
    pub cost_fields: &'static str,
}

/// Translation of the texts of a request.
pub struct TranslationJob {
    /// Model, options, and the texts until they are prepared.
    input: TranslationInput,
    budget: WorkBudget,
    lane: Lane,
    prepared: Option<PreparedTexts>,
    cancellation: Cancellation,
    sink: Box<dyn TranslationSink>,
}

/// Texts that a model can translate with the options of their request.
struct PreparedTexts {
    translator: Arc<PreparedTranslator>,
    texts: MarkedUpTexts,
    /// Cost of each sentence of the texts.
    costs: Vec<Cost>,
    /// Number of translated sentences.
    done: usize,
    /// Number of complete texts.
    complete: usize,
}

impl PreparedTexts {
    /// Costs of the sentences of the next slice, which together cost at most `most` if they are several.
    fn next_costs(&self, most: Cost) -> &[Cost] {
        let costs = &self.costs[self.done..];
        &costs[..slice_length(costs, most)]
    }
}

/// Job with the number of sentences of its next slice.
struct Slice {
    job: TranslationJob,
    length: usize,
}

impl TranslationJob {
    /// Returns the job of translating texts, whose translations go to a sink.
    pub fn new(
        mut input: TranslationInput,
        budget: WorkBudget,
        cancellation: &Cancellation,
        sink: Box<dyn TranslationSink>,
    ) -> Self {
        for (index, sentence) in (0u64..).zip(&mut input.texts) {
            sentence.cancellation = cancellation.clone();
            // Samples do not depend on the slices.
            sentence.seed_index = Some(index);
        }
        let bytes_of_texts: usize = input.texts.iter().map(|sentence| sentence.text.len()).sum();
        let lane = Lane::of_characters(bytes_of_texts + bytes_of_constraints(&input.options.decoding));
        Self { input, budget, lane, prepared: None, cancellation: cancellation.clone(), sink }
    }

    /// Queue that the job belongs to.
    pub fn lane(&self) -> Lane {
        self.lane
    }

    /// Cancellation of the job.
    pub fn cancellation(&self) -> &Cancellation {
        &self.cancellation
    }

    /// False while the client has to read its answer first.
    pub fn is_ready(&self) -> bool {
        self.sink.is_ready()
    }

    /// True if the texts of both jobs can be translated together.
    pub fn is_like(&self, other: &Self) -> bool {
        // Samples depend on the order of the sentences that are translated together.
        let TranslationInput { model, options, .. } = &self.input;
        let is_same = Arc::ptr_eq(model, &other.input.model) && *options == other.input.options;
        is_same && !options.decoding.is_sampled()
    }

    /// Translates a slice of each of several jobs that are alike, together. Returns the jobs that are not done.
    pub fn run_slices(jobs: Vec<Self>, lane: Lane, metrics: &ServerMetrics) -> Vec<Self> {
        let mut unfinished = Vec::new();
        let mut ready = Vec::with_capacity(jobs.len());
        let mut translator = jobs.iter().find_map(|job| Some(Arc::clone(&job.prepared.as_ref()?.translator)));
        for mut job in jobs {
            match job.prepare(&mut translator) {
                Err(error) => job.sink.fail(error),
                Ok(()) if job.lane != lane => unfinished.push(job),
                Ok(()) => ready.push(job),
            }
        }
        let mut slices = Vec::with_capacity(ready.len());
        let mut sum = Cost::default();
        let jobs = ready.len();
        for job in ready {
            let Some(prepared) = &job.prepared else { continue };
            let costs = prepared.next_costs(job.budget.slice(lane, jobs));
            let length = costs.len();
            sum = sum.plus(Cost::sum(costs));
            if slices.is_empty() || sum.fits(job.budget.slice(lane, 1)) {
                slices.push(Slice { job, length });
            } else {
                unfinished.push(job);
            }
        }
        if let Some(translator) = translator.filter(|_| !slices.is_empty()) {
            unfinished.extend(translate_slices(slices, &translator, metrics));
        }
        unfinished
    }

    /// Checks the options and the cost of the work, before the first slice. Jobs that are alike share their translator.
    fn prepare(&mut self, shared: &mut Option<Arc<PreparedTranslator>>) -> Result<(), ApiError> {
        if self.prepared.is_some() {
            return Ok(());
        }
        let TranslationInput { model, texts, options, cost_fields } = &mut self.input;
        let translator = match shared {
            Some(translator) => Arc::clone(translator),
            None => Arc::clone(shared.insert(Arc::new(prepare(model, options)?))),
        };
        let texts = MarkedUpTexts::new(&translator, std::mem::take(texts));
        self.budget.check_count(texts.sentences().len(), options.decoding.n_best, cost_fields)?;
        let source = &translator.translator().checkpoint().source;
        let tokens = texts.sentences().par_iter().map(|sentence| Ok(source.encode(&sentence.text)?.len()));
        let tokens = tokens.collect::<Result<Vec<usize>>>()?;
        let mut costs = Vec::with_capacity(tokens.len());
        for (sentence, tokens) in texts.sentences().iter().zip(&tokens) {
            let constraints = translator.decoding_constraints(sentence)?;
            costs.push(Cost::of_search(*tokens, &constraints, translator.request()));
        }
        self.budget.check(&costs, cost_fields)?;
        let mut of_texts = Vec::with_capacity(texts.given().len());
        for range in texts.ranges() {
            let tokens = tokens[range.clone()].iter().sum();
            of_texts.push(Cost::of_search(tokens, &DecodingConstraints::default(), translator.request()));
        }
        self.sink.begin(&PreparedWork { translator: &translator, costs: &of_texts, budget: &self.budget })?;
        self.lane = Lane::of_steps(costs.iter().map(|cost| cost.steps).sum());
        self.prepared = Some(PreparedTexts { translator, texts, costs, done: 0, complete: 0 });
        Ok(())
    }

    /// Iterates over the sentences that are not translated yet.
    fn next_sentences(&self) -> impl Iterator<Item = &Sentence> {
        self.prepared.iter().flat_map(|prepared| &prepared.texts.sentences()[prepared.done..])
    }

    /// Gives the client the texts that are complete with the translations of the next slice. Returns the job if it is not done.
    fn take(mut self, translations: Vec<Vec<Translation>>) -> Option<Self> {
        if self.cancellation.is_cancelled() {
            self.sink.fail(ApiError::stopping());
            return None;
        }
        match self.send(translations) {
            Ok(true) => None,
            Ok(false) => Some(self),
            Err(error) => {
                self.sink.fail(error);
                None
            }
        }
    }

    /// Sends the texts that are complete with the translations of the next slice. Returns true once all are.
    fn send(&mut self, translations: Vec<Vec<Translation>>) -> Result<bool, ApiError> {
        let Some(prepared) = &mut self.prepared else { return Ok(true) };
        prepared.done += translations.len();
        let translations = prepared.texts.add(&prepared.translator, translations)?;
        let first = prepared.complete;
        prepared.complete += translations.len();
        let sentences = &prepared.texts.given()[first..prepared.complete];
        let is_last = prepared.complete == prepared.texts.given().len();
        if is_last || !sentences.is_empty() {
            self.sink.take(TranslatedSlice { first, sentences, translations, is_last })?;
        }
        Ok(is_last)
    }
}

/// Translates the next slice of each job in one batch and returns the jobs that are not done.
fn translate_slices(
    slices: Vec<Slice>,
    translator: &PreparedTranslator,
    metrics: &ServerMetrics,
) -> Vec<TranslationJob> {
    let mut batch = Vec::new();
    for Slice { job, length } in &slices {
        batch.extend(job.next_sentences().take(*length).cloned());
    }
    metrics.add_batch(&slices[0].job.input.model.name, batch.len());
    match translator.translate_batch(&batch, 0, &mut |_| {}) {
        Ok(translations) => {
            let mut translations = translations.into_iter();
            let mut translated = Vec::with_capacity(slices.len());
            for Slice { job, length } in slices {
                translated.push((job, translations.by_ref().take(length).collect()));
            }
            // Links are computed here.
            translated.into_par_iter().filter_map(|(job, translations)| job.take(translations)).collect()
        }
        // The sentence of one client must not fail the others.
        Err(_) if slices.len() > 1 => {
            slices.into_iter().flat_map(|slice| translate_slices(vec![slice], translator, metrics)).collect()
        }
        Err(error) => {
            let error = ApiError::from(error);
            for Slice { mut job, .. } in slices {
                job.sink.fail(error.clone());
            }
            Vec::new()
        }
    }
}

/// Values that were made of all sentences of a request, or its error.
type SentenceValues<T> = Result<Vec<T>, ApiError>;

/// Sink that makes a value of each sentence's translations and sends all of them together.
pub struct CollectedTranslations<T, F> {
    make: F,
    made: Vec<T>,
    reply: Option<oneshot::Sender<SentenceValues<T>>>,
}

impl<T: Send, F: FnMut(&TranslatedSlice) -> Result<Vec<T>> + Send> CollectedTranslations<T, F> {
    /// Returns a sink that sends its values to `reply`. `make` returns one for each sentence of a slice.
    pub fn new(make: F, reply: oneshot::Sender<SentenceValues<T>>) -> Self {
        Self { make, made: Vec::new(), reply: Some(reply) }
    }

    fn reply(&mut self, result: SentenceValues<T>) {
        if let Some(reply) = self.reply.take() {
            // A client that went away needs no reply.
            let _ = reply.send(result);
        }
    }
}

impl<T: Send, F: FnMut(&TranslatedSlice) -> Result<Vec<T>> + Send> TranslationSink for CollectedTranslations<T, F> {
    fn take(&mut self, slice: TranslatedSlice) -> Result<(), ApiError> {
        let made = (self.make)(&slice)?;
        self.made.extend(made);
        if slice.is_last {
            let made = std::mem::take(&mut self.made);
            self.reply(Ok(made));
        }
        Ok(())
    }

    fn fail(&mut self, error: ApiError) {
        self.reply(Err(error));
    }
}
