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
use super::detection::{Detection, LanguageVocabulary, detect};
use super::error::ApiError;
use super::languages::LanguagePair;
use super::loaded_model::LoadedModel;
use super::state::{ServedModel, ServedPair, Server};
use super::translation_job::{TranslatedSlice, TranslationInput};
use crate::formats::document_extensions;
use crate::text::{Pair, language_name};
use crate::translator::{DecodeOptions, Markup, Sentence, TranslateOptions};

/// Source language that is to be detected.
const AUTO: &str = "auto";
/// Bytes of a document by which its language is detected.
const SAMPLE: usize = 2_000;
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

/// Texts of a request with the direction of each.
struct DirectedTexts {
    texts: Texts,
    directions: Vec<Direction>,
}

/// Direction of the translation of a text.
#[derive(Clone)]
struct Direction {
    /// Languages and model; none if the text is in the target language already.
    served: Option<ServedPair>,
    /// Detected language of the text, if it was to be detected and was.
    detected: Option<Detection>,
}

impl DirectedTexts {
    /// Chooses the direction of each text.
    ///
    /// # Errors
    /// A language is not known, or not translated into the target.
    fn new(server: &Server, texts: Texts, source: &str, target: &str) -> Result<Self, ApiError> {
        let served = server.language_pairs();
        for code in [source, target].into_iter().filter(|code| *code != AUTO) {
            if !served.iter().any(|one| one.pair.source == code || one.pair.target == code) {
                return Err(ApiError::invalid(format!("{code} is not supported; GET /languages lists the languages")));
            }
        }
        let languages = LanguageVocabularies::new(&served);
        let into_target: Vec<ServedPair> = served.into_iter().filter(|one| one.pair.target == target).collect();
        let mut directions = Vec::with_capacity(texts.as_slice().len());
        for text in texts.as_slice() {
            let found = if source == AUTO { languages.detect(text) } else { Vec::new() };
            let detected = found.into_iter().find(|found| {
                found.language == target || into_target.iter().any(|one| one.pair.source == found.language)
            });
            let code = detected.as_ref().map_or(source, |detected| &detected.language);
            let served = into_target.iter().find(|one| one.pair.source == code).cloned();
            if served.is_none() && code != target {
                return Err(not_available(code, target));
            }
            directions.push(Direction { served, detected });
        }
        Ok(Self { texts, directions })
    }
}

/// Direction of the translation of a document.
pub enum DocumentDirection {
    /// Codes of the languages, of which the source may be `auto`.
    Languages {
        /// Source language.
        source: String,
        /// Target language.
        target: String,
    },
    /// Model with the tag that it is asked by.
    Model(ServedPair),
}

impl DocumentDirection {
    /// Returns the direction of a model, of several that with the tag.
    pub fn of_model(model: &Arc<ServedModel>, tag: Option<String>) -> Self {
        let known = model.current().pairs.iter().find(|pair| pair.tag == tag).cloned();
        let pair =
            known.unwrap_or_else(|| LanguagePair { source: String::new(), target: "translated".to_owned(), tag });
        Self::Model(ServedPair { model: Arc::clone(model), pair })
    }

    /// Code of the target language, or another name for it.
    pub fn target(&self) -> &str {
        match self {
            Self::Languages { target, .. } | Self::Model(ServedPair { pair: LanguagePair { target, .. }, .. }) => {
                target
            }
        }
    }

    /// Chooses the direction of a text.
    ///
    /// # Errors
    /// As [`DirectedTexts::new`].
    fn choose(self, server: &Server, sample: String) -> Result<Direction, ApiError> {
        match self {
            Self::Model(served) => Ok(Direction { served: Some(served), detected: None }),
            Self::Languages { source, target } => {
                let DirectedTexts { mut directions, .. } =
                    DirectedTexts::new(server, Texts::One(sample), &source, &target)?;
                directions.pop().ok_or_else(ApiError::internal)
            }
        }
    }
}

/// Translates the texts of a document, which are HTML, in one direction. Returns the translation of each.
///
/// # Errors
/// As [`DirectedTexts::new`], the request costs too much, the model fails, or the server is busy or stopping.
pub async fn translate_document(
    server: &Arc<Server>,
    texts: Vec<String>,
    direction: DocumentDirection,
) -> Result<Vec<String>, ApiError> {
    let (choosing, sample) = (Arc::clone(server), sample_of(&texts));
    let chosen = server.run(Lane::of_characters(SAMPLE), move |_| direction.choose(&choosing, sample)).await??;
    let directed = DirectedTexts { directions: vec![chosen; texts.len()], texts: Texts::Several(texts) };
    let mut best = Vec::with_capacity(directed.directions.len());
    for ranked in translate_all(server, &directed, 0, Markup::Html).await? {
        best.push(ranked.into_iter().next().unwrap_or_default());
    }
    Ok(best)
}

/// Returns the beginning of texts of HTML, without their tags.
fn sample_of(texts: &[String]) -> String {
    let mut sample = String::new();
    for text in texts {
        for part in text.split('<') {
            sample.push_str(part.split_once('>').map_or(part, |(_, after)| after));
            sample.push(' ');
        }
        if sample.len() > SAMPLE {
            break;
        }
    }
    html_escape::decode_html_entities(&sample).into_owned()
}

/// Returns the error of languages between which no model translates.
fn not_available(source: &str, target: &str) -> ApiError {
    let [source_name, target_name] = [source, target].map(language_name);
    ApiError::invalid(format!(
        "{target_name} ({target}) is not available as a target language from {source_name} ({source})"
    ))
}

/// Vocabularies of all languages, by which those of texts are detected.
struct LanguageVocabularies {
    pairs: Vec<LoadedPair>,
}

/// Direction of translation with its model as it was loaded.
struct LoadedPair {
    model: Arc<LoadedModel>,
    pair: LanguagePair,
}

impl LanguageVocabularies {
    fn new(served: &[ServedPair]) -> Self {
        let mut pairs = Vec::with_capacity(served.len());
        for ServedPair { model, pair } in served {
            pairs.push(LoadedPair { model: model.current(), pair: pair.clone() });
        }
        Self { pairs }
    }

    /// Returns the languages that a text may be in, the most probable first. Of equal ones, sources come first.
    fn detect(&self, text: &str) -> Vec<Detection> {
        let sources = self.pairs.iter().map(LoadedPair::source);
        detect(text, sources.chain(self.pairs.iter().map(LoadedPair::target)))
    }
}

impl LoadedPair {
    fn source(&self) -> LanguageVocabulary<'_> {
        LanguageVocabulary { language: &self.pair.source, vocabulary: &self.model.translator.checkpoint().source }
    }

    fn target(&self) -> LanguageVocabulary<'_> {
        LanguageVocabulary { language: &self.pair.target, vocabulary: &self.model.translator.checkpoint().target }
    }
}

/// Text that is not translated yet.
struct PendingText<'t> {
    /// Index of the text in its request.
    index: usize,
    served: &'t ServedPair,
    lines: TextLines<'t>,
}

/// Translates each text in its direction. Returns the best translation and the alternatives of each.
async fn translate_all(
    server: &Server,
    directed: &DirectedTexts,
    alternatives: usize,
    markup: Markup,
) -> Result<Vec<Vec<String>>, ApiError> {
    let texts = directed.texts.as_slice();
    let mut found: Vec<Vec<String>> = texts.iter().map(|text| vec![text.clone()]).collect();
    let mut left = Vec::with_capacity(texts.len());
    for (index, (text, direction)) in texts.iter().zip(&directed.directions).enumerate() {
        if let Some(served) = &direction.served {
            left.push(PendingText { index, served, lines: TextLines::new(text, markup) });
        }
    }
    while let Some(served) = left.first().map(|text| text.served) {
        let (alike, others): (Vec<PendingText>, Vec<PendingText>) =
            left.into_iter().partition(|text| text.served.is_like(served));
        left = others;
        let tag = served.pair.tag.as_deref();
        let lines = alike.iter().flat_map(|text| text.lines.sentences());
        let decoding = DecodeOptions::default().n_best(alternatives + 1);
        let input = TranslationInput {
            model: served.model.current(),
            texts: lines.map(|line| Sentence::tagged(tag, line)).collect(),
            options: TranslateOptions { decoding, markup, ..TranslateOptions::default() },
            cost_fields: "alternatives",
        };
        let mut ranked = server.translate(input, ranked_texts).await?.into_iter();
        for PendingText { index, lines, .. } in alike {
            let of_lines: Vec<Vec<String>> = ranked.by_ref().take(lines.sentences().count()).collect();
            found[index] = lines.join(&of_lines);
        }
    }
    Ok(found)
}

/// Returns the texts of the translations of each sentence, best first.
fn ranked_texts(slice: &TranslatedSlice) -> anyhow::Result<Vec<Vec<String>>> {
    let mut texts = Vec::with_capacity(slice.translations.len());
    for ranked in &slice.translations {
        texts.push(ranked.iter().map(|translation| translation.text.clone()).collect());
    }
    Ok(texts)
}

/// Lines of a text.
struct TextLines<'t> {
    lines: Vec<TextLine<'t>>,
}

/// Line of a text: a sentence, which may be empty, with the white space around it.
struct TextLine<'t> {
    before: &'t str,
    sentence: &'t str,
    /// White space after the sentence, with the line break.
    after: &'t str,
}

impl<'t> TextLine<'t> {
    fn new(line: &'t str) -> Self {
        let start = line.len() - line.trim_start().len();
        let end = line.trim_end().len().max(start);
        Self { before: &line[..start], sentence: &line[start..end], after: &line[end..] }
    }
}

impl<'t> TextLines<'t> {
    /// Splits a text into lines. A text with markup is one: its blocks are its sentences.
    fn new(text: &'t str, markup: Markup) -> Self {
        match markup {
            Markup::None => Self { lines: text.split_inclusive('\n').map(TextLine::new).collect() },
            Markup::Html => Self { lines: vec![TextLine::new(text)] },
        }
    }

    /// Iterates over the sentences that are not empty.
    fn sentences(&self) -> impl Iterator<Item = &'t str> {
        self.lines.iter().map(|line| line.sentence).filter(|sentence| !sentence.is_empty())
    }

    /// Returns the text with translations of its sentences: the best of each, then the second of each, and so on.
    fn join(&self, translations: &[Vec<String>]) -> Vec<String> {
        let ranks = translations.iter().map(Vec::len).max().unwrap_or(1);
        (0..ranks).map(|rank| self.join_rank(rank, translations)).collect()
    }

    /// Returns the text with the translation of this rank, from 0, in place of each sentence. A sentence with fewer
    /// translations has its last one.
    fn join_rank(&self, rank: usize, translations: &[Vec<String>]) -> String {
        let mut translations = translations.iter();
        let mut text = String::new();
        for &TextLine { before, sentence, after } in &self.lines {
            text += before;
            if !sentence.is_empty() {
                let ranked = translations.next();
                text += ranked.and_then(|ranked| ranked.get(rank).or(ranked.last())).map_or("", String::as_str);
            }
            text += after;
        }
        text
    }
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
