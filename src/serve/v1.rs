//! The API of softalign itself: the options and the JSON of the command line.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::access::Caller;
use super::answer::{Answer, AnswerChannel, AnswerWriter};
use super::body::{JsonBody, Texts};
use super::cost::{Cost, WorkBudget};
use super::error::ApiError;
use super::job::Job;
use super::languages::LanguagePair;
use super::loaded_model::LoadedModel;
use super::pair_job::{PairJob, PairSlice, PairWork};
use super::request_sizes::check_sizes;
use super::state::{ServedModel, Server};
use super::translation_job::{PreparedWork, TranslatedSlice, TranslationInput, TranslationJob, TranslationSink};
use crate::attention::InferenceOverrides;
use crate::error::usage_of;
use crate::formats::document_extensions;
use crate::render::{Item, Json as JsonRenderer, JsonItem, Renderer};
use crate::reporter::Silent;
use crate::text::Pair;
use crate::translator::{
    LinkOptions, Linker, LinksFrom, MAX_LINKED_WORDS, MAX_SENTENCE_TOKENS, ScoredPair, Sentence, TranslateOptions,
};

/// Names of the fields on which the cost of a translation depends.
const SEARCH_FIELDS: &str = "beam, n_best, mbr, length_factor or the words of require";
/// Maximum attention weights of a short text, whose attention is sent unless the request says otherwise.
const SHORT_ATTENTION: usize = 25_000;

/// Request of translations. All other keys are options of `softalign translate`, with underscores.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TranslateRequest {
    /// One sentence to translate, or several.
    text: Texts,
    /// Name of the model; by default the first.
    model: Option<String>,
    /// Tag before each sentence, as for `--tag-source`.
    tag_source: Option<String>,
    /// Sends the attention weights; by default only those of one short text.
    attention: Option<bool>,
    #[serde(flatten)]
    options: TranslateOptions,
}

/// Checks the options of links. The messages name no files of the server, and no options that it refuses.
///
/// # Errors
/// An option is invalid, or the model does not support it ([`crate::error::UsageError`]).
fn check_links(options: &LinkOptions, model: &LoadedModel) -> anyhow::Result<()> {
    let translator = &model.translator;
    match options.links_from {
        LinksFrom::Pairs => return usage_of("links-from", "pairs trains an aligner, which only the command line does"),
        LinksFrom::Hmm if translator.aligner()?.is_none() => {
            return usage_of("links-from", "hmm: this model has no statistical aligner; omit the option");
        }
        LinksFrom::Attention if translator.config().architecture.attention.is_fixed() => {
            return usage_of("links-from", "attention: this model has no attention that links words; omit the option");
        }
        LinksFrom::Auto | LinksFrom::Attention | LinksFrom::Hmm => {}
    }
    options.check()
}

/// Translates sentences, with their alignments. The answer is the JSON of `softalign translate --format json`.
#[utoipa::path(
    post,
    path = "/v1/translate",
    tag = "softalign",
    request_body = TranslateRequest,
    responses(
        (status = 200, description = "One object for each translation", body = Vec<JsonItem>),
        ApiError
    )
)]
pub async fn translate(
    State(server): State<Arc<Server>>,
    caller: Caller,
    JsonBody(request): JsonBody<TranslateRequest>,
) -> Result<Response, ApiError> {
    let texts = request.text.as_slice();
    server.admit(&caller, None, texts.iter())?;
    let TranslateRequest { tag_source, options, .. } = &request;
    check_sizes(&options.decoding, options.placeholders.as_deref(), tag_source.as_deref())?;
    let model = server.model(request.model.as_deref())?.current();
    check_links(&options.links, &model)?;
    let AnswerChannel { writer, answer } = AnswerChannel::new(server.memory());
    let cancellation = writer.cancellation().clone();
    let sink = Box::new(JsonTranslations {
        linker: Linker::default(),
        results: options.decoding.n_best,
        format: JsonFormat::new(request.attention),
        writer,
    });
    let texts = texts.iter().map(|text| Sentence::tagged(tag_source.as_deref(), text)).collect();
    let input = TranslationInput { model, texts, options: request.options, cost_fields: SEARCH_FIELDS };
    let job = TranslationJob::new(input, server.budget(), &cancellation, sink);
    respond(&server, Job::Translation(Box::new(job)), answer).await
}

/// Has a job done and returns its answer.
async fn respond(server: &Server, job: Job, answer: Answer) -> Result<Response, ApiError> {
    server.scheduler().add(job)?;
    answer.response().await.map_err(|error| error.unwrap_or_else(|| server.scheduler().lost()))
}

/// JSON of an answer, written part by part.
struct JsonFormat {
    renderer: JsonRenderer,
    /// True if attention was asked for, or none if it depends on the size of the answer.
    attention: Option<bool>,
}

impl JsonFormat {
    fn new(attention: Option<bool>) -> Self {
        Self { renderer: JsonRenderer::default(), attention }
    }

    /// Decides whether attention is sent, from the cost of each text.
    ///
    /// # Errors
    /// Attention was asked for, but would be too large (413).
    fn begin(&mut self, costs: &[Cost], results: usize, budget: &WorkBudget, fields: &str) -> Result<(), ApiError> {
        let is_short = costs.len() == 1 && costs[0].results <= SHORT_ATTENTION * results;
        let is_sent = self.attention.unwrap_or(is_short);
        if is_sent {
            budget.check_attention(costs, fields)?;
        }
        self.renderer = JsonRenderer::default().with_attention(is_sent);
        Ok(())
    }
}

/// Translations that are linked and sent as JSON.
struct JsonTranslations {
    linker: Linker,
    results: usize,
    format: JsonFormat,
    writer: AnswerWriter,
}

impl JsonTranslations {
    fn render(&mut self, slice: &TranslatedSlice) -> anyhow::Result<Vec<u8>> {
        let mut out = Vec::new();
        for linked in self.linker.link_translations(&slice.translations, slice.sentences)? {
            let item = linked.item(false);
            self.format.renderer.item(&mut out, &Item { id: slice.first + item.id, ..item })?;
        }
        if slice.is_last {
            self.format.renderer.finish(&mut out)?;
        }
        Ok(out)
    }
}

impl TranslationSink for JsonTranslations {
    fn begin(&mut self, work: &PreparedWork) -> Result<(), ApiError> {
        self.linker = work.translator.linker(&Silent)?;
        self.format.begin(work.costs, self.results, work.budget, SEARCH_FIELDS)
    }

    fn take(&mut self, slice: TranslatedSlice) -> Result<(), ApiError> {
        let rendered = self.render(&slice)?;
        self.writer.send(rendered, slice.is_last);
        Ok(())
    }

    fn fail(&mut self, error: ApiError) {
        self.writer.fail(error);
    }

    fn is_ready(&self) -> bool {
        !self.writer.is_behind()
    }
}

/// Request of alignments. All other keys are options of `softalign align`, with underscores.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AlignRequest {
    /// Sentence pairs to align.
    pairs: Vec<Pair>,
    /// Name of the model; by default the first.
    model: Option<String>,
    /// Sends the attention weights; by default only those of one short pair.
    attention: Option<bool>,
    #[serde(flatten)]
    overrides: InferenceOverrides,
    #[serde(flatten)]
    links: LinkOptions,
}

/// Request of scores of sentence pairs.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ScoreRequest {
    /// Sentence pairs to score.
    pairs: Vec<Pair>,
    /// Name of the model; by default the first.
    model: Option<String>,
}

/// Aligns the words of sentence pairs. The answer is the JSON of `softalign align --format json`.
#[utoipa::path(
    post,
    path = "/v1/align",
    tag = "softalign",
    request_body = AlignRequest,
    responses(
        (status = 200, description = "One object for each pair", body = Vec<JsonItem>),
        ApiError
    )
)]
pub async fn align(
    State(server): State<Arc<Server>>,
    caller: Caller,
    JsonBody(request): JsonBody<AlignRequest>,
) -> Result<Response, ApiError> {
    server.admit(&caller, None, sides(&request.pairs))?;
    let AlignRequest { pairs, model, attention, overrides, links } = request;
    let format = JsonFormat::new(attention);
    work_on_pairs(&server, model.as_deref(), pairs, AlignWork { overrides, links, linker: Linker::default(), format })
        .await
}

/// Does work on the pairs of a request and returns its answer.
async fn work_on_pairs(
    server: &Server,
    model: Option<&str>,
    pairs: Vec<Pair>,
    work: impl PairWork + 'static,
) -> Result<Response, ApiError> {
    let model = server.model(model)?.current();
    let AnswerChannel { writer, answer } = AnswerChannel::new(server.memory());
    let job = PairJob::new(model, pairs, work, server.budget(), writer);
    respond(server, Job::Sliced(Box::new(job)), answer).await
}

/// Alignment of the pairs of a request.
struct AlignWork {
    overrides: InferenceOverrides,
    links: LinkOptions,
    linker: Linker,
    format: JsonFormat,
}

impl PairWork for AlignWork {
    fn max_length(&self) -> usize {
        if self.links.links_from.uses_attention() { MAX_SENTENCE_TOKENS } else { MAX_LINKED_WORDS }
    }

    fn begin(&mut self, model: &LoadedModel, costs: &[Cost], budget: &WorkBudget) -> Result<(), ApiError> {
        check_links(&self.links, model)?;
        let translator = model.translator.with_overrides(&self.overrides, self.links.words)?;
        self.linker = Linker::with_options(&self.links, Some(&translator), &[], &Silent)?;
        self.format.begin(costs, 1, budget, "the number of pairs")
    }

    fn write(&mut self, _: &LoadedModel, slice: &PairSlice, out: &mut Vec<u8>) -> anyhow::Result<()> {
        let linked = self.linker.link(slice.pairs, &mut |_| {})?;
        for (id, (pair, linked)) in (slice.first..).zip(slice.pairs.iter().zip(linked)) {
            self.format.renderer.item(out, &linked.item(id, [&pair.source, &pair.target], false))?;
        }
        if slice.is_last {
            self.format.renderer.finish(out)?;
        }
        Ok(())
    }
}

/// Scores sentence pairs by forced decoding. The objects are those of `softalign score --json`.
#[utoipa::path(
    post,
    path = "/v1/score",
    tag = "softalign",
    request_body = ScoreRequest,
    responses(
        (status = 200, description = "One object for each pair", body = Vec<ScoredPair>),
        ApiError
    )
)]
pub async fn score(
    State(server): State<Arc<Server>>,
    caller: Caller,
    JsonBody(request): JsonBody<ScoreRequest>,
) -> Result<Response, ApiError> {
    server.admit(&caller, None, sides(&request.pairs))?;
    work_on_pairs(&server, request.model.as_deref(), request.pairs, ScoreWork).await
}

/// Scoring of the pairs of a request.
struct ScoreWork;

impl PairWork for ScoreWork {
    fn write(&mut self, model: &LoadedModel, slice: &PairSlice, out: &mut Vec<u8>) -> anyhow::Result<()> {
        if slice.first == 0 {
            out.push(b'[');
        }
        let scored = model.translator.score_batch(slice.pairs, &mut |_| {})?;
        for (id, (pair, scored)) in (slice.first..).zip(slice.pairs.iter().zip(scored)) {
            if id > 0 {
                out.extend_from_slice(b",\n");
            }
            out.extend_from_slice(scored.json(id, pair)?.as_bytes());
        }
        if slice.is_last {
            out.push(b']');
        }
        Ok(())
    }
}

/// Iterates over both sides of each pair.
fn sides(pairs: &[Pair]) -> impl Iterator<Item = &String> + Clone {
    pairs.iter().flat_map(|pair| [&pair.source, &pair.target])
}

/// Description of the server.
#[derive(Serialize, ToSchema)]
pub struct ServerDescription {
    /// Version of softalign.
    version: &'static str,
    /// Models in the order of the command line.
    models: Vec<ModelDescription>,
    /// True if corrected pairs are collected by `/v1/pairs`.
    collects: bool,
    /// True if requests of work need a key.
    needs_key: bool,
    /// Maximum characters of a request.
    char_limit: usize,
    /// Maximum number of texts and lines of a request.
    batch_limit: usize,
    /// Extensions of the files that `/translate_file` translates.
    file_formats: Vec<String>,
}

/// Description of a model.
#[derive(Serialize, ToSchema)]
struct ModelDescription {
    /// Name of the model in requests.
    name: String,
    /// Attention mechanism of the model.
    attention: String,
    /// True if attention does not depend on the words, so that it has no temperature and cannot be hard.
    fixed: bool,
    /// Number of attention heads.
    heads: usize,
    /// Directions of translation, with the tag of the target language if the model needs one.
    pairs: Vec<PairDescription>,
}

/// Direction of translation of a model.
#[derive(Serialize, ToSchema)]
struct PairDescription {
    /// Code of the source language.
    source: String,
    /// Code of the target language.
    target: String,
    /// Value of `tag_source` for this direction.
    #[serde(skip_serializing_if = "Option::is_none")]
    tag_source: Option<String>,
}

impl ModelDescription {
    fn new(model: &ServedModel) -> Self {
        let current = model.current();
        let attention = &current.translator.config().architecture.attention;
        Self {
            name: model.name().to_owned(),
            attention: attention.to_string(),
            fixed: attention.is_fixed(),
            heads: attention.heads,
            pairs: current.pairs.iter().map(PairDescription::from).collect(),
        }
    }
}

impl From<&LanguagePair> for PairDescription {
    fn from(pair: &LanguagePair) -> Self {
        Self { source: pair.source.clone(), target: pair.target.clone(), tag_source: pair.tag.clone() }
    }
}

/// Describes the server and its models.
#[utoipa::path(
    get,
    path = "/v1/models",
    tag = "softalign",
    responses((status = 200, description = "Description of the server", body = ServerDescription))
)]
pub async fn models(State(server): State<Arc<Server>>) -> Json<ServerDescription> {
    Json(ServerDescription {
        version: env!("CARGO_PKG_VERSION"),
        models: server.models().iter().map(|model| ModelDescription::new(model)).collect(),
        collects: server.collection().is_some(),
        needs_key: server.access().needs_key(),
        char_limit: server.limits().characters,
        batch_limit: server.limits().texts,
        file_formats: document_extensions(),
    })
}

/// Confirmation that a pair was written.
#[derive(Serialize, ToSchema)]
pub struct PairSaved {
    /// Always true: the pair is on the disk.
    saved: bool,
}

/// Appends a corrected pair to the file of `--collect`, which `softalign train` takes.
#[utoipa::path(
    post,
    path = "/v1/pairs",
    tag = "softalign",
    request_body = Pair,
    responses(
        (status = 200, description = "The pair is on the disk", body = PairSaved),
        ApiError
    )
)]
pub async fn pairs(
    State(server): State<Arc<Server>>,
    caller: Caller,
    JsonBody(pair): JsonBody<Pair>,
) -> Result<Json<PairSaved>, ApiError> {
    server.access().admit(&caller, None)?;
    let Some(collection) = server.collection() else {
        return Err(ApiError::forbidden("this server does not collect pairs"));
    };
    collection.append(&pair).await?;
    Ok(Json(PairSaved { saved: true }))
}
