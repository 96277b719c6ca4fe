//! `/v1/steps`: a translation while it is searched for, and its trace.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::extract::State;
use axum::response::sse::{Event, Sse};
use futures_core::Stream;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;
use utoipa::ToSchema;

use super::access::Caller;
use super::body::JsonBody;
use super::cost::{Cost, Lane};
use super::error::{ApiError, ErrorBody};
use super::loaded_model::LoadedModel;
use super::memory::{UnreadBytes, UnreadGuard};
use super::request_sizes::check_sizes;
use super::state::Server;
use super::translation_job::prepare;
use crate::attention::InferenceOverrides;
use crate::error::usage;
use crate::render::{JsonItem, PairData};
use crate::search::{Cancellation, DecodingConstraints, Intervention};
use crate::translator::{
    DecodeOptions, Linker, PartialTranslation, Sentence, Trace, TraceOptions, TraceSide, TranslateOptions,
};

/// Maximum beam size: the whole beam is sent.
const MAX_BEAM: usize = 20;
/// Maximum tokens of a sentence. The answer grows with their square.
const MAX_TOKENS: usize = 200;
/// Weights below this are left out of the events of steps, in thousandths.
const MIN_WEIGHT: u16 = 10;
/// Maximum number of candidates per step.
const MAX_CANDIDATES: usize = 100;
/// Maximum attention weights of a translation of the greatest length.
const MAX_WEIGHTS: usize = 100_000;
/// Maximum of `length_factor`, which bounds the number of steps.
const MAX_LENGTH_FACTOR: f64 = 5.0;

/// Request of a translation with its steps. All other keys are options of beam search and attention of
/// `softalign translate`, with underscores.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct StepsRequest {
    /// Sentence to translate.
    text: String,
    /// Name of the model; by default the first.
    model: Option<String>,
    /// Tag before the sentence, as for `--tag-source`.
    tag_source: Option<String>,
    /// Ids of the tokens that the translation begins with, taken from a trace.
    #[serde(default)]
    prefix_tokens: Vec<u32>,
    /// Attention weights that replace the model's own in one step.
    intervention: Option<Intervention>,
    /// Number of most probable tokens per step.
    #[serde(default = "default_candidates")]
    candidates: usize,
    #[serde(flatten)]
    decoding: DecodeOptions,
    #[serde(flatten)]
    attention: InferenceOverrides,
}

fn default_candidates() -> usize {
    TraceOptions::default().candidates
}

/// Data of an event of a step: the best hypothesis so far.
#[derive(Serialize, ToSchema)]
struct StepEvent {
    /// Number of steps taken.
    step: usize,
    /// Source as the model reads it, in the first event.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<TraceSide>,
    /// Text of the hypothesis.
    text: String,
    /// Tokens and words of the hypothesis.
    target: TraceSide,
    /// Index of the first token that differs from the last event.
    first_changed: usize,
    /// Attention of the tokens from `first_changed` on: source token and weight in thousandths, of at least 10.
    attention: Vec<Vec<(usize, u16)>>,
}

impl From<PartialTranslation> for StepEvent {
    fn from(partial: PartialTranslation) -> Self {
        let PartialTranslation { step, source, text, target, first_changed, attention } = partial;
        let attention = attention.iter().map(|row| sparse_weights(row)).collect();
        Self { step, source, text, target, first_changed, attention }
    }
}

/// Returns the source tokens with the largest weights of a row of attention `[source]`, and the weights in thousandths.
fn sparse_weights(row: &[f32]) -> Vec<(usize, u16)> {
    let mut sparse = Vec::new();
    for (column, weight) in row.iter().enumerate() {
        let thousandths = (weight * 1000.0) as u16;
        if thousandths >= MIN_WEIGHT {
            sparse.push((column, thousandths));
        }
    }
    sparse
}

/// Data of the last event of a translation.
#[derive(Serialize, ToSchema)]
pub struct StepsResult<'a> {
    /// Translation as `/v1/translate` writes it.
    alignment: JsonItem<'a>,
    /// Translation as the page draws it, by words and by tokens.
    #[schema(value_type = Object)]
    drawing: PairData<'a>,
    /// Trace of the search.
    trace: &'a Trace,
}

impl StepsRequest {
    /// Refuses options whose events would be too large or too many.
    fn check(&self) -> Result<(), ApiError> {
        let DecodeOptions { beam, n_best, .. } = self.decoding;
        for (name, value, most) in
            [("beam", beam.max(n_best), MAX_BEAM), ("candidates", self.candidates, MAX_CANDIDATES)]
        {
            if value > most {
                return Err(ApiError::invalid(format!("{name} must be at most {most} here, not {value}")));
            }
        }
        if self.decoding.length_factor > MAX_LENGTH_FACTOR {
            return Err(ApiError::invalid(format!("length_factor must be at most {MAX_LENGTH_FACTOR} here")));
        }
        check_sizes(&self.decoding, None, self.tag_source.as_deref())
    }

    /// Queue for the longest sentence that has so many characters. Required phrases widen the beam.
    fn lane(&self) -> Result<Lane, ApiError> {
        let (constraints, request) = (DecodingConstraints::default(), self.decoding.request()?);
        let is_wide = !(self.decoding.require.is_empty() && self.decoding.terms.is_empty());
        let cost = Cost::of_search(self.text.chars().count(), &constraints, &request);
        Ok(if is_wide { Lane::Long } else { Lane::of_steps(cost.steps) })
    }

    /// Translates, with an event for each step and one for the result.
    fn run(self, model: &LoadedModel, cancellation: &Cancellation, events: &Events) -> anyhow::Result<()> {
        let options = TranslateOptions::of_plain_text(self.decoding.clone());
        let translator = prepare(model, &TranslateOptions { attention: self.attention, ..options })?;
        let sentence = Sentence::tagged(self.tag_source.as_deref(), &self.text);
        let tokens = translator.translator().checkpoint().source.encode(&sentence.text)?.len();
        if tokens > MAX_TOKENS {
            return usage(format!("the steps of at most {MAX_TOKENS} tokens can be shown, not of {tokens}"));
        }
        let constraints = DecodingConstraints::default();
        let weights = Cost::of_search(tokens, &constraints, translator.request()).results / self.decoding.n_best;
        if weights > MAX_WEIGHTS {
            return usage("length_factor is too large for the steps of a text of this length");
        }
        let sentence = Sentence { cancellation: cancellation.clone(), ..sentence };
        let options = TraceOptions {
            decode: self.decoding,
            prefix: self.prefix_tokens,
            intervention: self.intervention,
            candidates: self.candidates,
        };
        let trace = translator.trace(&sentence, &options, &mut |partial| {
            events.send("step", &StepEvent::from(partial));
            if events.are_behind() {
                cancellation.cancel();
            }
        })?;
        let Some(trace) = trace else {
            return if events.are_behind() { usage("the steps were not read as they came") } else { Ok(()) };
        };
        let translations = vec![vec![trace.translation.clone()]];
        let linker = Linker { translator: Some(translator.translator().clone()), ..model.linker.clone() };
        for linked in linker.link_translations(&translations, &[sentence])? {
            let item = linked.item(true);
            let (alignment, drawing) = (JsonItem::from(&item), PairData::from(&item));
            events.send("result", &StepsResult { alignment, drawing, trace: &trace });
        }
        Ok(())
    }
}

/// Event that the client has not read yet.
struct UnreadEvent {
    event: Result<Event, ApiError>,
    _guard: UnreadGuard,
}

/// Sender of events to the client.
#[derive(Clone)]
struct Events {
    sender: UnboundedSender<UnreadEvent>,
    unread: UnreadBytes,
}

impl Events {
    /// Sends an event. A client that went away needs none.
    fn send(&self, name: &str, data: &impl Serialize) {
        let data = serde_json::to_string(data).map_err(|_| ApiError::internal());
        let bytes = data.as_ref().map_or(0, String::len);
        self.push(data.map(|data| Event::default().event(name).data(data)), bytes);
    }

    fn fail(&self, error: ApiError) {
        self.push(Err(error), 0);
    }

    fn push(&self, event: Result<Event, ApiError>, bytes: usize) {
        let _ = self.sender.send(UnreadEvent { event, _guard: self.unread.add(bytes) });
    }

    /// True if the client does not read the events as they come.
    fn are_behind(&self) -> bool {
        self.unread.are_too_many()
    }
}

/// Events of one translation. Dropping the stream ends the work.
pub struct EventStream {
    first: Option<Event>,
    events: UnboundedReceiver<UnreadEvent>,
    work: JoinHandle<()>,
}

impl Drop for EventStream {
    fn drop(&mut self) {
        self.work.abort();
    }
}

impl Stream for EventStream {
    type Item = Result<Event, axum::Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context) -> Poll<Option<Self::Item>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(Ok(first)));
        }
        self.events.poll_recv(context).map(|next| next.map(|unread| event_or_error(unread.event)))
    }
}

/// Returns an event, or the event of an error: once an answer has begun, its status is sent.
fn event_or_error(event: Result<Event, ApiError>) -> Result<Event, axum::Error> {
    event.or_else(|error| Event::default().event("error").json_data(ErrorBody::from(error)))
}

/// Translates a sentence and sends server-sent events: `step` with the best hypothesis after each step of the search, and last
/// `result` or `error`.
#[utoipa::path(
    post,
    path = "/v1/steps",
    tag = "softalign",
    request_body = StepsRequest,
    responses(
        (status = 200, description = "Events; the data of the last one is this object", body = StepsResult,
            content_type = "text/event-stream"),
        ApiError
    )
)]
pub async fn steps(
    State(server): State<Arc<Server>>,
    caller: Caller,
    JsonBody(request): JsonBody<StepsRequest>,
) -> Result<Sse<EventStream>, ApiError> {
    server.admit(&caller, None, std::iter::once(&request.text))?;
    request.check()?;
    let (sender, events) = unbounded_channel();
    let sender = Events { sender, unread: server.memory().answer() };
    let model = server.model(request.model.as_deref())?.current();
    let lane = request.lane()?;
    let work = tokio::spawn(async move {
        let of_steps = sender.clone();
        let done = server.run(lane, move |cancellation| request.run(&model, cancellation, &of_steps)).await;
        if let Err(error) = done.and_then(|traced| traced.map_err(ApiError::from)) {
            sender.fail(error);
        }
    });
    let mut stream = EventStream { first: None, events, work };
    stream.first = Some(stream.events.recv().await.map_or_else(|| Err(ApiError::stopping()), |first| first.event)?);
    Ok(Sse::new(stream))
}
