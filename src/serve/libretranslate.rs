//! LibreTranslate's API, so that its clients work unchanged.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use super::access::Caller;
use super::body::{Fields, Texts};
use super::cost::Lane;
use super::detection::Detection;
use super::directions::{AUTO, DirectedTexts, LanguageVocabularies, translate_all};
use super::error::ApiError;
use super::languages::LanguagePair;
use super::state::Server;
use crate::formats::document_extensions;
use crate::text::{Pair, language_name};
use crate::translator::Markup;

/// Maximum number of alternatives.
const MAX_ALTERNATIVES: usize = 100;

/// Language in LibreTranslate's API, with those that it is translated into.
#[derive(Serialize, ToSchema)]
pub struct Language {
    /// Code of the language in ISO 639.
    code: String,
    /// English name of the language.
    name: String,
    /// Codes of the languages that the language is translated into.
    targets: Vec<String>,
}

/// Lists the languages as LibreTranslate does.
#[utoipa::path(
    get,
    path = "/languages",
    tag = "LibreTranslate",
    responses((status = 200, description = "The languages", body = Vec<Language>))
)]
pub async fn languages(State(server): State<Arc<Server>>) -> Json<Vec<Language>> {
    let pairs: Vec<LanguagePair> = server.language_pairs().into_iter().map(|served| served.pair).collect();
    let mut codes: Vec<&str> = pairs.iter().flat_map(|pair| [&*pair.source, &*pair.target]).collect();
    codes.sort_unstable();
    codes.dedup();
    let mut languages = Vec::with_capacity(codes.len());
    for code in codes {
        let from_code = pairs.iter().filter(|pair| pair.source == code);
        languages.push(Language {
            code: code.to_owned(),
            name: language_name(code).to_owned(),
            targets: from_code.map(|pair| pair.target.clone()).collect(),
        });
    }
    Json(languages)
}

/// Request of translations in LibreTranslate's API.
#[derive(Deserialize, ToSchema)]
#[schema(as = LibreTranslateRequest)]
pub struct TranslateRequest {
    /// Text to translate, or list of texts. Each line is a sentence.
    q: Option<Texts>,
    /// Code of the source language, or `auto`.
    source: Option<String>,
    /// Code of the target language.
    target: Option<String>,
    /// `text` or `html`.
    format: Option<String>,
    /// Number of other translations; in forms a text.
    #[serde(default, deserialize_with = "number_or_text")]
    alternatives: Option<usize>,
    /// Key, if the server needs one.
    api_key: Option<String>,
}

/// Reads a number, which forms and some clients write as a text; an empty one is none.
fn number_or_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<usize>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a whole number of at least 0")]
    enum NumberOrText {
        Number(usize),
        Text(String),
    }
    match Option::deserialize(deserializer)? {
        None => Ok(None),
        Some(NumberOrText::Number(number)) => Ok(Some(number)),
        Some(NumberOrText::Text(text)) if text.trim().is_empty() => Ok(None),
        Some(NumberOrText::Text(text)) => match text.trim().parse() {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(D::Error::custom("expected a whole number of at least 0")),
        },
    }
}

/// Translations in LibreTranslate's API.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = LibreTranslateAnswer)]
pub struct TranslatedTexts {
    /// Translation of the text, or list of translations.
    translated_text: OneOrList<String>,
    /// Other translations of each text, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    alternatives: Option<OneOrList<Vec<String>>>,
    /// Detected language of each text, if it was `auto`.
    #[serde(skip_serializing_if = "Option::is_none")]
    detected_language: Option<OneOrList<Detection>>,
}

/// Answer for a text, or for each text of a list.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
enum OneOrList<T> {
    One(T),
    List(Vec<T>),
}

/// Translates texts as LibreTranslate does.
#[utoipa::path(
    post,
    path = "/translate",
    tag = "LibreTranslate",
    request_body = TranslateRequest,
    responses(
        (status = 200, description = "The translations", body = TranslatedTexts),
        ApiError
    )
)]
pub async fn translate(
    State(server): State<Arc<Server>>,
    caller: Caller,
    Fields(request): Fields<TranslateRequest>,
) -> Result<Json<TranslatedTexts>, ApiError> {
    let TranslateRequest { q, source, target, format, alternatives, api_key } = request;
    let q = q.filter(|q| *q != Texts::One(String::new()) && !q.as_slice().is_empty()).ok_or_else(|| missing("q"))?;
    let [source, target] = [given(source, "source")?, given(target, "target")?];
    server.admit(&caller, api_key.as_deref(), q.as_slice().iter())?;
    let alternatives = alternatives.unwrap_or_default();
    if alternatives > MAX_ALTERNATIVES {
        return Err(ApiError::invalid(format!("alternatives must be at most {MAX_ALTERNATIVES}, not {alternatives}")));
    }
    let markup = match format.as_deref() {
        None | Some("" | "text") => Markup::None,
        Some("html") => Markup::Html,
        Some(other) => return Err(ApiError::invalid(format!("{other} format is not supported; send text or html"))),
    };
    let is_auto = source == AUTO;
    let characters = q.as_slice().iter().map(String::len).sum();
    let lane = Lane::of_characters(if is_auto { characters } else { 0 });
    let choosing = Arc::clone(&server);
    let directed = server.run(lane, move |_| DirectedTexts::new(&choosing, q, &source, &target)).await??;
    let (mut best, mut others) = (Vec::new(), Vec::new());
    for mut ranked in translate_all(&server, &directed, alternatives, markup).await? {
        others.push(ranked.split_off(1.min(ranked.len())));
        best.push(ranked.pop().unwrap_or_default());
    }
    let DirectedTexts { texts, directions } = directed;
    let detected = directions.into_iter().filter_map(|direction| direction.detected).collect();
    let is_list = matches!(texts, Texts::Several(_));
    Ok(Json(TranslatedTexts {
        translated_text: as_given(best, is_list).ok_or_else(ApiError::internal)?,
        alternatives: as_given(others, is_list).filter(|_| alternatives > 0),
        detected_language: as_given(detected, is_list).filter(|_| is_auto),
    }))
}

/// Returns the answers as a list if the texts were one, or else the only one.
fn as_given<T>(mut answers: Vec<T>, is_list: bool) -> Option<OneOrList<T>> {
    if is_list { Some(OneOrList::List(answers)) } else { answers.pop().map(OneOrList::One) }
}

/// Returns the error of a request without a field that it needs.
pub fn missing(name: &str) -> ApiError {
    ApiError::invalid(format!("Invalid request: missing {name} parameter"))
}

/// Returns the value of a field that a request needs.
pub fn given(value: Option<String>, name: &str) -> Result<String, ApiError> {
    value.filter(|value| !value.is_empty()).ok_or_else(|| missing(name))
}

/// Request of the language of a text in LibreTranslate's API.
#[derive(Deserialize, ToSchema)]
pub struct DetectRequest {
    /// Text whose language is to be detected.
    q: Option<String>,
    /// Key, if the server needs one.
    api_key: Option<String>,
}

/// Detects the language of a text by the share of tokens that each language's vocabulary knows.
#[utoipa::path(
    post,
    path = "/detect",
    tag = "LibreTranslate",
    request_body = DetectRequest,
    responses(
        (status = 200, description = "The languages, the most probable first", body = Vec<Detection>),
        ApiError
    )
)]
pub async fn detect_language(
    State(server): State<Arc<Server>>,
    caller: Caller,
    Fields(DetectRequest { q, api_key }): Fields<DetectRequest>,
) -> Result<Json<Vec<Detection>>, ApiError> {
    let q = given(q, "q")?;
    server.admit(&caller, api_key.as_deref(), std::iter::once(&q))?;
    let languages = LanguageVocabularies::new(&server.language_pairs());
    let lane = Lane::of_characters(q.len());
    let detected = server.run(lane, move |_| languages.detect(&q));
    Ok(Json(detected.await?))
}

/// Settings of LibreTranslate's page.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FrontendSettings {
    /// Maximum characters of a request.
    char_limit: usize,
    /// Pause after typing before a translation, in milliseconds.
    frontend_timeout: u32,
    /// True if there are keys.
    api_keys: bool,
    /// True if a key is needed.
    key_required: bool,
    /// True if corrected translations are collected.
    suggestions: bool,
    /// Always true: files are translated.
    files_translation: bool,
    /// Extensions of files that are translated.
    supported_files_format: Vec<String>,
    /// Languages that are chosen at the start.
    language: FrontendLanguages,
}

/// Languages that LibreTranslate's page chooses at the start.
#[derive(Serialize, ToSchema)]
struct FrontendLanguages {
    source: NamedLanguage,
    target: NamedLanguage,
}

/// Language of LibreTranslate's page with its name.
#[derive(Serialize, ToSchema)]
struct NamedLanguage {
    code: String,
    name: String,
}

impl NamedLanguage {
    fn new(code: &str) -> Self {
        Self { code: code.to_owned(), name: language_name(code).to_owned() }
    }
}

/// Describes the server for LibreTranslate's page.
#[utoipa::path(
    get,
    path = "/frontend/settings",
    tag = "LibreTranslate",
    responses((status = 200, description = "The settings", body = FrontendSettings))
)]
pub async fn frontend_settings(State(server): State<Arc<Server>>) -> Json<FrontendSettings> {
    let target = server.language_pairs().first().map(|served| served.pair.target.clone()).unwrap_or_default();
    let needs_key = server.access().needs_key();
    Json(FrontendSettings {
        char_limit: server.limits().characters,
        frontend_timeout: 500,
        api_keys: needs_key,
        key_required: needs_key,
        suggestions: server.collection().is_some(),
        files_translation: true,
        supported_files_format: document_extensions(),
        language: FrontendLanguages {
            source: NamedLanguage { code: AUTO.to_owned(), name: "Auto Detect".to_owned() },
            target: NamedLanguage::new(&target),
        },
    })
}

/// Corrected translation in LibreTranslate's API.
#[derive(Deserialize, ToSchema)]
pub struct Suggestion {
    /// Text that was translated.
    q: Option<String>,
    /// Corrected translation of the text.
    s: Option<String>,
    /// Code of the source language.
    source: Option<String>,
    /// Code of the target language.
    target: Option<String>,
    /// Key, if the server needs one.
    api_key: Option<String>,
}

/// Confirmation of a corrected translation.
#[derive(Serialize, ToSchema)]
pub struct SuggestionSaved {
    /// Always true: the pair is on the disk.
    success: bool,
}

/// Appends a corrected translation to the file of `--collect`.
#[utoipa::path(
    post,
    path = "/suggest",
    tag = "LibreTranslate",
    request_body = Suggestion,
    responses(
        (status = 200, description = "The pair is on the disk", body = SuggestionSaved),
        ApiError
    )
)]
pub async fn suggest(
    State(server): State<Arc<Server>>,
    caller: Caller,
    Fields(suggestion): Fields<Suggestion>,
) -> Result<Json<SuggestionSaved>, ApiError> {
    let Suggestion { q, s, source, target, api_key } = suggestion;
    server.access().admit(&caller, api_key.as_deref())?;
    let Some(collection) = server.collection() else {
        return Err(ApiError::forbidden("Suggestions are disabled on this server"));
    };
    let pair = Pair { source: given(q, "q")?, target: given(s, "s")? };
    let languages = [given(source, "source")?, given(target, "target")?];
    if !server.language_pairs().iter().any(|one| [&*one.pair.source, &*one.pair.target] == languages) {
        return Err(ApiError::invalid("no model translates between these languages; GET /languages lists them"));
    }
    collection.append(&pair).await?;
    Ok(Json(SuggestionSaved { success: true }))
}
