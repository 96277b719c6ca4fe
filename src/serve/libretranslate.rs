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
use super::detection::{Detection, detect};
use super::error::ApiError;
use super::languages::LanguagePair;
use super::loaded_model::LoadedModel;
use super::state::{ServedModel, Server};
use super::translation_job::TranslatedSlice;
use crate::search::Cancellation;
use crate::text::{Pair, language_name};
use crate::translator::{DecodeOptions, Markup, Sentence, TranslateOptions, Translation};

/// Source language that is to be detected.
const AUTO: &str = "auto";
/// Maximum number of alternatives.
const MAX_ALTERNATIVES: usize = 100;

/// Language with those that it is translated into.
#[derive(Serialize, ToSchema)]
pub struct Language {
    /// Code in ISO 639.
    code: String,
    /// English name.
    name: String,
    /// Codes of the languages that it is translated into.
    targets: Vec<String>,
}

/// Lists the languages.
#[utoipa::path(
    get,
    path = "/languages",
    tag = "LibreTranslate",
    responses((status = 200, description = "The languages", body = Vec<Language>))
)]
pub async fn languages(State(server): State<Arc<Server>>) -> Json<Vec<Language>> {
    let pairs = server.language_pairs();
    let mut codes: Vec<&str> = pairs.iter().flat_map(|(_, pair)| [&*pair.source, &*pair.target]).collect();
    codes.sort_unstable();
    codes.dedup();
    let language = |code: &str| {
        let targets = pairs.iter().filter(|(_, pair)| pair.source == code).map(|(_, pair)| pair.target.clone());
        Language { code: code.to_owned(), name: language_name(code).to_owned(), targets: targets.collect() }
    };
    Json(codes.into_iter().map(language).collect())
}

/// Request of translations in LibreTranslate's API.
#[derive(Deserialize, ToSchema)]
#[schema(as = LibreTranslateRequest)]
pub struct TextsToTranslate {
    /// Text, or list of texts. Each line is a sentence.
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
    /// Translation, or list of translations.
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

/// Translates texts.
#[utoipa::path(
    post,
    path = "/translate",
    tag = "LibreTranslate",
    request_body = TextsToTranslate,
    responses(
        (status = 200, description = "The translations", body = TranslatedTexts),
        ApiError
    )
)]
pub async fn translate(
    State(server): State<Arc<Server>>,
    caller: Caller,
    Fields(request): Fields<TextsToTranslate>,
) -> Result<Json<TranslatedTexts>, ApiError> {
    let TextsToTranslate { q, source, target, format, alternatives, api_key } = request;
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
    let choosing = Arc::clone(&server);
    let choose = move |_: &Cancellation| {
        let directions = Direction::of_texts(&choosing, q.as_slice(), &source, &target)?;
        Ok::<_, ApiError>((q, directions))
    };
    let lane = Lane::of_characters(if is_auto { characters } else { 0 });
    let (q, directions) = server.run(lane, choose).await??;
    let found = translate_all(&server, q.as_slice(), &directions, alternatives, markup).await?;
    let (texts, others): (Vec<String>, Vec<Vec<String>>) = found.into_iter().map(split_best).unzip();
    let detected = directions.into_iter().filter_map(|direction| direction.detected).collect();
    let is_list = matches!(q, Texts::Several(_));
    Ok(Json(TranslatedTexts {
        translated_text: as_given(texts, is_list).ok_or_else(ApiError::internal)?,
        alternatives: as_given(others, is_list).filter(|_| alternatives > 0),
        detected_language: as_given(detected, is_list).filter(|_| is_auto),
    }))
}

fn split_best(mut ranked: Vec<String>) -> (String, Vec<String>) {
    let others = ranked.split_off(1.min(ranked.len()));
    (ranked.pop().unwrap_or_default(), others)
}

/// Returns the answers as a list if the texts were one, or else the only one.
fn as_given<T>(mut answers: Vec<T>, is_list: bool) -> Option<OneOrList<T>> {
    if is_list { Some(OneOrList::List(answers)) } else { answers.pop().map(OneOrList::One) }
}

fn missing(name: &str) -> ApiError {
    ApiError::invalid(format!("Invalid request: missing {name} parameter"))
}

fn given(value: Option<String>, name: &str) -> Result<String, ApiError> {
    value.filter(|value| !value.is_empty()).ok_or_else(|| missing(name))
}

/// Language of a text, and the way into the target language.
struct Direction {
    /// Translation; none if the text is in the target language already.
    translation: Option<DirectTranslation>,
    detected: Option<Detection>,
}

/// Model that translates, with its languages.
struct DirectTranslation {
    model: Arc<ServedModel>,
    pair: LanguagePair,
}

impl Direction {
    /// Chooses the direction of each text.
    ///
    /// # Errors
    /// A language is not known, or not translated into the target.
    fn of_texts(server: &Server, texts: &[String], source: &str, target: &str) -> Result<Vec<Self>, ApiError> {
        let pairs = server.language_pairs();
        for code in [source, target].into_iter().filter(|code| *code != AUTO) {
            if !pairs.iter().any(|(_, pair)| pair.source == code || pair.target == code) {
                return Err(ApiError::invalid(format!("{code} is not supported; GET /languages lists the languages")));
            }
        }
        let languages = LanguageVocabularies::new(&pairs);
        let into_target: Vec<_> = pairs.into_iter().filter(|(_, pair)| pair.target == target).collect();
        let mut directions = Vec::with_capacity(texts.len());
        for text in texts {
            let detected = (source == AUTO).then(|| languages.detect(text)).into_iter().flatten().find(|found| {
                found.language == target || into_target.iter().any(|(_, pair)| pair.source == found.language)
            });
            let code = detected.as_ref().map_or(source, |detected| &detected.language);
            let found = into_target.iter().find(|(_, pair)| pair.source == code);
            if found.is_none() && code != target {
                let [target_name, name] = [language_name(target), language_name(code)];
                return Err(ApiError::invalid(format!(
                    "{target_name} ({target}) is not available as a target language from {name} ({code})"
                )));
            }
            let translation =
                found.map(|(model, pair)| DirectTranslation { model: Arc::clone(model), pair: pair.clone() });
            directions.push(Self { translation, detected });
        }
        Ok(directions)
    }
}

impl DirectTranslation {
    fn is_like(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.model, &other.model) && self.pair == other.pair
    }
}

/// Vocabularies of all languages, by which those of texts are detected.
struct LanguageVocabularies(Vec<(LanguagePair, Arc<LoadedModel>)>);

impl LanguageVocabularies {
    fn new(pairs: &[(&Arc<ServedModel>, LanguagePair)]) -> Self {
        Self(pairs.iter().map(|(model, pair)| (pair.clone(), model.current())).collect())
    }

    /// Returns the languages that a text may be in, the most probable first. Of equal ones, sources come first.
    fn detect(&self, text: &str) -> Vec<Detection> {
        let sources = self.0.iter().map(|(pair, model)| (&*pair.source, &*model.translator.checkpoint().source));
        let targets = self.0.iter().map(|(pair, model)| (&*pair.target, &*model.translator.checkpoint().target));
        detect(text, sources.chain(targets))
    }
}

/// Translates each text in its direction. Returns the best translation and the alternatives of each.
async fn translate_all(
    server: &Server,
    texts: &[String],
    directions: &[Direction],
    alternatives: usize,
    markup: Markup,
) -> Result<Vec<Vec<String>>, ApiError> {
    let mut found: Vec<Vec<String>> = texts.iter().map(|text| vec![text.clone()]).collect();
    let mut left: Vec<(usize, &DirectTranslation)> = Vec::new();
    left.extend(directions.iter().enumerate().filter_map(|(index, one)| Some((index, one.translation.as_ref()?))));
    while let Some(&(_, direct)) = left.first() {
        let (alike, others): (Vec<_>, Vec<_>) = left.into_iter().partition(|(_, other)| other.is_like(direct));
        left = others;
        let parts: Vec<TextLines> = alike.iter().map(|&(index, _)| TextLines::new(&texts[index], markup)).collect();
        let tag = direct.pair.tag.as_deref();
        let sentences =
            parts.iter().flat_map(|text| text.sentences().map(|line| Sentence::tagged(tag, line))).collect();
        let decoding = DecodeOptions::default().n_best(alternatives + 1);
        let options = TranslateOptions { decoding, markup, ..TranslateOptions::default() };
        let model = direct.model.current();
        let lines = server.translate(model, sentences, options, "alternatives", ranked_texts).await?;
        let mut lines = lines.into_iter();
        for ((index, _), part) in alike.into_iter().zip(&parts) {
            found[index] = part.join(&lines.by_ref().take(part.sentences().count()).collect::<Vec<_>>());
        }
    }
    Ok(found)
}

/// Returns the texts of the translations of each sentence.
fn ranked_texts(slice: &TranslatedSlice) -> anyhow::Result<Vec<Vec<String>>> {
    let texts = |ranked: &Vec<Translation>| ranked.iter().map(|one| one.text.clone()).collect();
    Ok(slice.translations.iter().map(texts).collect())
}

/// Lines of a text, with the white space around each sentence.
struct TextLines<'t> {
    /// White space before the sentence, the sentence, and white space after it with the line break.
    lines: Vec<[&'t str; 3]>,
}

impl<'t> TextLines<'t> {
    /// Splits a text into lines. A text with markup is one: its blocks are its sentences.
    fn new(text: &'t str, markup: Markup) -> Self {
        let parts = |line: &'t str| {
            let start = line.len() - line.trim_start().len();
            let end = line.trim_end().len().max(start);
            [&line[..start], &line[start..end], &line[end..]]
        };
        match markup {
            Markup::None => Self { lines: text.split_inclusive('\n').map(parts).collect() },
            Markup::Html => Self { lines: vec![parts(text)] },
        }
    }

    fn sentences(&self) -> impl Iterator<Item = &'t str> {
        self.lines.iter().map(|[_, sentence, _]| *sentence).filter(|sentence| !sentence.is_empty())
    }

    /// Returns the text with translations of its sentences: the best of each, then the second of each, and so on. A sentence
    /// with fewer translations repeats its last one.
    fn join(&self, translations: &[Vec<String>]) -> Vec<String> {
        let ranks = translations.iter().map(Vec::len).max().unwrap_or(1);
        let joined = |rank: usize| {
            let mut translations = translations.iter();
            let translate = |[before, sentence, after]: &[&str; 3]| {
                let ranked = if sentence.is_empty() { None } else { translations.next() };
                let text = ranked.and_then(|ranked| ranked.get(rank).or(ranked.last())).map_or("", String::as_str);
                format!("{before}{text}{after}")
            };
            self.lines.iter().map(translate).collect()
        };
        (0..ranks).map(joined).collect()
    }
}

/// Request of a text's language.
#[derive(Deserialize, ToSchema)]
pub struct DetectRequest {
    /// Text.
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
    /// False: files are not translated.
    files_translation: bool,
    /// Extensions of files that are translated.
    supported_files_format: Vec<String>,
    /// Languages at the start.
    language: FrontendLanguages,
}

/// Languages of LibreTranslate's page at the start.
#[derive(Serialize, ToSchema)]
struct FrontendLanguages {
    source: NamedLanguage,
    target: NamedLanguage,
}

/// Language with its name.
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
    let target = server.language_pairs().first().map(|(_, pair)| pair.target.clone()).unwrap_or_default();
    let needs_key = server.access().needs_key();
    Json(FrontendSettings {
        char_limit: server.limits().characters,
        frontend_timeout: 500,
        api_keys: needs_key,
        key_required: needs_key,
        suggestions: server.collection().is_some(),
        files_translation: false,
        supported_files_format: Vec::new(),
        language: FrontendLanguages {
            source: NamedLanguage { code: AUTO.to_owned(), name: "Auto Detect".to_owned() },
            target: NamedLanguage::new(&target),
        },
    })
}

/// Corrected translation in LibreTranslate's API.
#[derive(Deserialize, ToSchema)]
pub struct Suggestion {
    /// Text.
    q: Option<String>,
    /// Its corrected translation.
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
    /// True: the pair is on the disk.
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
    if !server.language_pairs().iter().any(|(_, pair)| [&*pair.source, &*pair.target] == languages) {
        return Err(ApiError::invalid("no model translates between these languages; GET /languages lists them"));
    }
    collection.append(&pair).await?;
    Ok(Json(SuggestionSaved { success: true }))
}

/// Refuses files.
pub async fn translate_file() -> ApiError {
    ApiError::forbidden("Files translation are disabled on this server: send their text to /translate")
}
