//! Our own API: the options and the JSON of the command line.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use super::batching::{Translated, TranslationOptions};
use super::body::JsonBody;
use super::error::ApiError;
use super::state::Server;
use crate::render::{Json, Renderer};
use crate::translator::{DecodeOptions, Sentence};

/// One text or several.
#[derive(Deserialize)]
#[serde(untagged)]
pub enum Texts {
    /// One text.
    One(String),
    /// Several texts.
    Several(Vec<String>),
}

impl Texts {
    /// Returns the texts in order.
    pub fn into_vec(self) -> Vec<String> {
        match self {
            Self::One(text) => vec![text],
            Self::Several(texts) => texts,
        }
    }
}

/// Request of translations.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TranslateRequest {
    /// Sentences.
    text: Texts,
    /// Name of the model; by default the first.
    model: Option<String>,
    /// Options of decoding.
    #[serde(flatten)]
    decoding: DecodeOptions,
}

/// `POST /v1/translate`: the JSON of `softalign translate --format json`.
pub async fn translate(
    State(server): State<Arc<Server>>,
    JsonBody(request): JsonBody<TranslateRequest>,
) -> Result<Response, ApiError> {
    let sentences = request.text.into_vec().into_iter().map(Sentence::from).collect();
    let options = TranslationOptions { decoding: request.decoding, ..TranslationOptions::default() };
    let translated = server.model(request.model.as_deref())?.translate(sentences, options).await?;
    json(tokio::task::spawn_blocking(move || render(&translated)).await)
}

fn render(translated: &Translated) -> anyhow::Result<Vec<u8>> {
    let linked = translated.model.linker.link_translations(&translated.translations, &translated.sentences)?;
    let (mut renderer, mut out) = (Json::default(), Vec::new());
    for translation in &linked {
        renderer.item(&mut out, &translation.item(false))?;
    }
    renderer.finish(&mut out)?;
    Ok(out)
}

/// Returns the answer with JSON that was rendered on another thread.
fn json(rendered: Result<anyhow::Result<Vec<u8>>, tokio::task::JoinError>) -> Result<Response, ApiError> {
    let rendered = rendered.map_err(|_| ApiError::stopping())??;
    Ok(([(header::CONTENT_TYPE, "application/json")], rendered).into_response())
}
