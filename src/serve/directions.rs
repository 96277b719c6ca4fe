//! Directions of translation: the languages of each text, and the model between them.

use std::sync::Arc;

use super::body::Texts;
use super::cost::Lane;
use super::detection::{Detection, LanguageVocabulary, detect};
use super::error::ApiError;
use super::languages::LanguagePair;
use super::loaded_model::LoadedModel;
use super::state::{ServedModel, ServedPair, Server};
use super::text_lines::TextLines;
use super::translation_job::{TranslatedSlice, TranslationInput};
use crate::text::language_name;
use crate::translator::{DecodeOptions, Markup, Sentence, TranslateOptions};

/// Source language that is to be detected.
pub const AUTO: &str = "auto";
/// Bytes of a document by which its language is detected.
const SAMPLE: usize = 2_000;

/// Texts of a request with the direction of each.
pub struct DirectedTexts {
    /// Texts.
    pub texts: Texts,
    /// Direction of each text.
    pub directions: Vec<Direction>,
}

/// Direction of the translation of a text.
#[derive(Clone)]
pub struct Direction {
    /// Languages and model; none if the text is in the target language already.
    pub served: Option<ServedPair>,
    /// Detected language of the text, if it was asked for and found.
    pub detected: Option<Detection>,
}

impl DirectedTexts {
    /// Chooses the direction of each text.
    ///
    /// # Errors
    /// A language is not known, or not translated into the target.
    pub fn new(server: &Server, texts: Texts, source: &str, target: &str) -> Result<Self, ApiError> {
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
pub struct LanguageVocabularies {
    pairs: Vec<LoadedPair>,
}

/// Direction of translation with its model as it was loaded.
struct LoadedPair {
    model: Arc<LoadedModel>,
    pair: LanguagePair,
}

impl LanguageVocabularies {
    pub fn new(served: &[ServedPair]) -> Self {
        let mut pairs = Vec::with_capacity(served.len());
        for ServedPair { model, pair } in served {
            pairs.push(LoadedPair { model: model.current(), pair: pair.clone() });
        }
        Self { pairs }
    }

    /// Returns the languages that a text may be in, the most probable first. Of equal ones, sources come first.
    pub fn detect(&self, text: &str) -> Vec<Detection> {
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
pub async fn translate_all(
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
