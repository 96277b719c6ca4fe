//! Our own API: the options and the JSON of the command line.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::access::Caller;
use super::batching::{Translated, TranslationOptions};
use super::body::{JsonBody, Texts};
use super::error::ApiError;
use super::languages::LanguagePair;
use super::loaded_model::LoadedModel;
use super::request_sizes::check_sizes;
use super::state::{ServedModel, Server};
use crate::attention::InferenceOverrides;
use crate::error::usage;
use crate::render::{Json as JsonRenderer, JsonItem, Renderer};
use crate::reporter::Silent;
use crate::search::Cancellation;
use crate::text::Pair;
use crate::translator::{DecodeOptions, LinkOptions, Linker, LinksFrom, Markup, ScoredPair, Sentence};

/// Pairs of a request that are aligned or scored between two looks at whether the client is still there.
const PAIRS_AT_ONCE: usize = 64;

/// Request of translations. All other keys are options of `softalign translate`, with underscores.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TranslateRequest {
    /// One sentence, or several.
    text: Texts,
    /// Name of the model; by default the first.
    model: Option<String>,
    /// Tag before each sentence, as for `--tag-source`.
    tag_source: Option<String>,
    /// Treatment of sentences that are mostly unknown to the model.
    #[serde(default)]
    unknown: UnknownSentences,
    /// Replaces each `<unk>` by the source word aligned to it.
    #[serde(default)]
    replace_unknown: bool,
    /// Markup of the sentences.
    #[serde(default)]
    markup: Markup,
    /// Regular expression of placeholders, or `none`; by default known kinds.
    placeholders: Option<String>,
    #[serde(flatten)]
    decoding: DecodeOptions,
    #[serde(flatten)]
    attention: InferenceOverrides,
    #[serde(flatten)]
    links: LinkOptions,
}

/// Treatment of sentences that are mostly unknown to the model.
#[derive(Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum UnknownSentences {
    /// Translates them like others.
    #[default]
    Translate,
    /// Copies them.
    Copy,
}

/// Checks the options of links. The messages name no files of the server, and no options that it refuses.
///
/// # Errors
/// An option is invalid, or the model does not support it ([`crate::error::UsageError`]).
fn check_links(options: &LinkOptions, model: &LoadedModel) -> anyhow::Result<()> {
    let translator = &model.translator;
    match options.links_from {
        LinksFrom::Pairs => return usage("--links-from pairs trains an aligner, which only the command line does"),
        LinksFrom::Hmm if translator.aligner()?.is_none() => {
            return usage("--links-from hmm: this model has no statistical aligner; omit the option");
        }
        LinksFrom::Attention if translator.config().architecture.attention.is_fixed() => {
            return usage("--links-from attention: this model has no attention that links words; omit the option");
        }
        LinksFrom::Auto | LinksFrom::Attention | LinksFrom::Hmm => {}
    }
    options.check()
}

impl TranslateRequest {
    fn options(&self) -> Result<TranslationOptions, ApiError> {
        if !self.links.links_from.uses_attention() {
            return Err(ApiError::invalid("links_from must be auto or attention in translations"));
        }
        Ok(TranslationOptions {
            decoding: self.decoding.clone(),
            attention: self.attention,
            words: self.links.words,
            copies_unknown: self.unknown == UnknownSentences::Copy,
            replaces_unknown: self.replace_unknown,
            markup: self.markup,
            placeholders: self.placeholders.clone(),
        })
    }

    fn sentences(&self) -> Vec<Sentence> {
        let tag = self.tag_source.as_deref();
        self.text.as_slice().iter().map(|text| Sentence::tagged(tag, text)).collect()
    }
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
    server.check_translations(texts.len(), "n_best", request.decoding.n_best)?;
    check_sizes(&request.decoding, request.placeholders.as_deref(), request.tag_source.as_deref())?;
    let model = server.model(request.model.as_deref())?;
    check_links(&request.links, &model.current())?;
    let translated = model.translate(request.sentences(), request.options()?).await?;
    Ok(json(tokio::task::spawn_blocking(move || render(&translated, &request.links)).await??))
}

fn render(translated: &Translated, links: &LinkOptions) -> anyhow::Result<Vec<u8>> {
    let linker = Linker::with_options(links, Some(&translated.translator), &[], &Silent)?;
    let linked = linker.link_translations(&translated.translations, &translated.sentences)?;
    let (mut renderer, mut out) = (JsonRenderer::default(), Vec::new());
    for translation in &linked {
        renderer.item(&mut out, &translation.item(false))?;
    }
    renderer.finish(&mut out)?;
    Ok(out)
}

fn json(rendered: Vec<u8>) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], rendered).into_response()
}

/// Request of alignments. All other keys are options of `softalign align`, with underscores.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AlignRequest {
    /// Sentence pairs.
    pairs: Vec<Pair>,
    /// Name of the model; by default the first.
    model: Option<String>,
    #[serde(flatten)]
    attention: InferenceOverrides,
    #[serde(flatten)]
    links: LinkOptions,
}

/// Request of scores.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ScoreRequest {
    /// Sentence pairs.
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
    let model = server.model(request.model.as_deref())?;
    let AlignRequest { pairs, attention, links, .. } = request;
    let work = move |model: &LoadedModel, cancellation: &Cancellation| {
        check_links(&links, model)?;
        let translator = model.translator.clone().with_words(links.words).with_attention(&attention)?;
        let linker = Linker::with_options(&links, Some(&translator), &[], &Silent)?;
        let (mut renderer, mut out) = (JsonRenderer::default(), Vec::new());
        for (index, chunk) in pairs.chunks(PAIRS_AT_ONCE).enumerate().take_while(|_| !cancellation.is_cancelled()) {
            for (id, (pair, linked)) in
                (index * PAIRS_AT_ONCE..).zip(chunk.iter().zip(linker.link(chunk, &mut |_| {})?))
            {
                renderer.item(&mut out, &linked.item(id, [&pair.source, &pair.target], false))?;
            }
        }
        renderer.finish(&mut out)?;
        Ok(out)
    };
    Ok(json(model.run(work).await?))
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
    let model = server.model(request.model.as_deref())?;
    let work = move |model: &LoadedModel, cancellation: &Cancellation| {
        let mut objects = Vec::with_capacity(request.pairs.len());
        for chunk in request.pairs.chunks(PAIRS_AT_ONCE).take_while(|_| !cancellation.is_cancelled()) {
            for (pair, scored) in chunk.iter().zip(model.translator.score_batch(chunk, &mut |_| {})?) {
                objects.push(scored.json(objects.len(), pair)?);
            }
        }
        Ok(format!("[{}]", objects.join(",\n")).into_bytes())
    };
    Ok(json(model.run(work).await?))
}

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
}

/// Description of a model.
#[derive(Serialize, ToSchema)]
struct ModelDescription {
    /// Name in requests.
    name: String,
    /// Attention mechanism.
    attention: String,
    /// True if attention does not depend on the words, so that it has no temperature and cannot be hard.
    fixed: bool,
    /// Number of attention heads.
    heads: usize,
    /// Codes of its source and target languages, with the tag of the target if the model needs one.
    pairs: Vec<PairDescription>,
}

/// Direction of translation.
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

/// Describes the server and its models.
#[utoipa::path(
    get,
    path = "/v1/models",
    tag = "softalign",
    responses((status = 200, description = "Description of the server", body = ServerDescription))
)]
pub async fn models(State(server): State<Arc<Server>>) -> Json<ServerDescription> {
    let describe = |model: &Arc<ServedModel>| {
        let current = model.current();
        let attention = &current.translator.config().architecture.attention;
        let pair = |pair: &LanguagePair| PairDescription {
            source: pair.source.clone(),
            target: pair.target.clone(),
            tag_source: pair.tag.clone(),
        };
        ModelDescription {
            name: model.name().to_owned(),
            attention: attention.to_string(),
            fixed: attention.is_fixed(),
            heads: attention.heads,
            pairs: current.pairs.iter().map(pair).collect(),
        }
    };
    Json(ServerDescription {
        version: env!("CARGO_PKG_VERSION"),
        models: server.models().iter().map(describe).collect(),
        collects: server.collection().is_some(),
        needs_key: server.access().needs_key(),
        char_limit: server.limits().characters,
        batch_limit: server.limits().texts,
    })
}

/// Confirmation that a pair was written.
#[derive(Serialize, ToSchema)]
pub struct PairSaved {
    /// True: the pair is on the disk.
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
