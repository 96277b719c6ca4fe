//! OpenNMT-py's API: `POST /translator/translate` and what its clients ask before.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::access::Caller;
use super::body::JsonBody;
use super::error::ApiError;
use super::state::{ServedModel, Server};
use super::translation_job::{TranslatedSlice, TranslationInput};
use crate::alignment::LinkFormat;
use crate::translator::{LinkedPair, Linker, Sentence, TranslateOptions};

/// Text of a request in OpenNMT-py's API.
#[derive(Deserialize, ToSchema)]
pub struct OpenNmtSource {
    /// Text; each of its lines is a sentence.
    src: String,
    /// Number of the model in the order of the command line, from 0, or its name; by default the first.
    id: Option<ModelId>,
}

/// Model of a request in OpenNMT-py's API.
#[derive(PartialEq, Eq, Deserialize, ToSchema)]
#[serde(untagged, expecting = "expected the number or the name of a model")]
enum ModelId {
    /// Number in the order of the command line, from 0.
    Number(u64),
    /// Name of the model.
    Name(String),
}

/// Translation of a text in OpenNMT-py's API.
#[derive(Serialize, ToSchema)]
pub struct OpenNmtTranslation {
    /// Text as it was sent.
    src: String,
    /// Translation of the text.
    tgt: String,
    /// Number of translations of each text.
    n_best: usize,
    /// Mean score of the lines of the text.
    pred_score: f64,
    /// Word links of each line of the text, as `s-t`.
    align: Vec<String>,
    /// Score of the best link of each target word of each line of the text, as `t-score`.
    align_score: Vec<String>,
}

/// Translates texts as OpenNMT-py's server does.
#[utoipa::path(
    post,
    path = "/translator/translate",
    tag = "OpenNMT-py",
    request_body = Vec<OpenNmtSource>,
    responses(
        (status = 200, description = "A list with the best translations of all texts", body = Vec<Vec<OpenNmtTranslation>>),
        ApiError
    )
)]
pub async fn translate(
    State(server): State<Arc<Server>>,
    caller: Caller,
    JsonBody(sources): JsonBody<Vec<OpenNmtSource>>,
) -> Result<Json<Vec<Vec<OpenNmtTranslation>>>, ApiError> {
    server.admit(&caller, None, sources.iter().map(|source| &source.src))?;
    let mut ids = sources.iter().map(|source| &source.id);
    let first = ids.next().and_then(Option::as_ref);
    if ids.any(|id| id.as_ref() != first) {
        return Err(ApiError::invalid("all texts of a request need the same model: give one id"));
    }
    let model = find(&server, first)?;
    let model = model.current();
    let linker = model.linker.clone();
    let lines = sources.iter().flat_map(|source| source.src.split('\n'));
    let input = TranslationInput {
        model,
        texts: lines.map(|line| Sentence::from(line.trim_end_matches('\r'))).collect(),
        options: TranslateOptions::default(),
        cost_fields: "the number of texts",
    };
    let linked = server.translate(input, move |slice: &TranslatedSlice| link(&linker, slice)).await?;
    let mut linked = linked.into_iter();
    let mut translations = Vec::with_capacity(sources.len());
    for source in sources {
        let count = source.src.split('\n').count();
        translations.push(OpenNmtTranslation::new(source, linked.by_ref().take(count).collect()));
    }
    Ok(Json(vec![translations]))
}

impl OpenNmtTranslation {
    /// Joins the translations of the lines of a text.
    fn new(source: OpenNmtSource, lines: Vec<LinkedLine>) -> Self {
        Self {
            src: source.src,
            tgt: lines.iter().map(|line| line.text.as_str()).collect::<Vec<_>>().join("\n"),
            n_best: 1,
            pred_score: lines.iter().map(|line| line.score).sum::<f64>() / lines.len().max(1) as f64,
            align: lines.iter().map(|line| line.links.clone()).collect(),
            align_score: lines.into_iter().map(|line| line.link_scores).collect(),
        }
    }
}

/// Translation of a line of a text, with its links.
struct LinkedLine {
    text: String,
    score: f64,
    links: String,
    link_scores: String,
}

/// Links the translations of lines.
fn link(linker: &Linker, slice: &TranslatedSlice) -> anyhow::Result<Vec<LinkedLine>> {
    let mut lines = Vec::with_capacity(slice.sentences.len());
    for one in linker.link_translations(&slice.translations, slice.sentences)? {
        lines.push(LinkedLine {
            text: one.translation.text.clone(),
            score: one.translation.score,
            links: LinkFormat::default().format_line(&one.linked.links),
            link_scores: best_scores(&one.linked),
        });
    }
    Ok(lines)
}

/// Returns the score of the best link of each target word, as `t-score`.
fn best_scores(linked: &LinkedPair) -> String {
    let [sources, targets] = [linked.alignment.source().len(), linked.alignment.target().len()];
    let mut scores = Vec::with_capacity(targets);
    for target in 0..targets {
        let best = (0..sources).map(|source| linked.link_scores.get(source, target)).fold(0.0, f32::max);
        scores.push(format!("{target}-{best:.5}"));
    }
    scores.join(" ")
}

/// Returns the model with a number or a name; by default the first.
fn find<'s>(server: &'s Server, id: Option<&ModelId>) -> Result<&'s Arc<ServedModel>, ApiError> {
    let number = match id {
        None => return server.model(None),
        Some(ModelId::Number(number)) => *number,
        // Some clients send numbers as texts.
        Some(ModelId::Name(name)) => match name.trim().parse() {
            Ok(number) if !server.model_names().contains(&name.as_str()) => number,
            _ => return server.model(Some(name)),
        },
    };
    let models = server.models();
    match usize::try_from(number).ok().and_then(|index| models.get(index)) {
        Some(model) => Ok(model),
        // The numbers of a configuration for OpenNMT-py are of no use here.
        None if models.len() == 1 => server.model(None),
        None => {
            let last = models.len() - 1;
            Err(ApiError::invalid(format!("there is no model {number}; they are counted from 0 to {last}")))
        }
    }
}

/// Model in the list of `GET /translator/models`.
#[derive(Serialize, ToSchema)]
pub struct OpenNmtModel {
    /// Number of the model in the order of the command line, from 0.
    model_id: usize,
    /// Name of the model.
    model: String,
    /// Always true: all models are loaded.
    loaded: bool,
}

/// Lists the models as OpenNMT-py's server does.
#[utoipa::path(
    get,
    path = "/translator/models",
    tag = "OpenNMT-py",
    responses((status = 200, description = "The models", body = Vec<OpenNmtModel>))
)]
pub async fn models(State(server): State<Arc<Server>>) -> Json<Vec<OpenNmtModel>> {
    let models = server.model_names().into_iter().enumerate();
    Json(models.map(|(model_id, model)| OpenNmtModel { model_id, model: model.to_owned(), loaded: true }).collect())
}
