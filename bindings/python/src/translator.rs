//! Models that translate, align, score and are evaluated.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, bail};
use pyo3::prelude::*;
use softalign::alignment::{Gold, Link};
use softalign::attention::InferenceOverrides;
use softalign::error::UsageError;
use softalign::evaluation::{
    Evaluator, System, SystemResult, SystemScores, pair_sizes, read_gold, report_json, write_report,
};
use softalign::reporter::Reporter;
use softalign::text::{TableFormat, features_before};
use softalign::translator::{
    LineWarnings, LinkOptions, Linker, ModelSummary, PreparedTranslator, Sentence, TranslateOptions, Translation,
    UnknownSentences,
};
use softalign::{DecodeOptions, Device, Pair, Translator};

use crate::aligner::{alignments, link};
use crate::alignment::{Alignment, LazyLinker};
use crate::arguments::{Options, Pairs};
use crate::call::{Caller, run};
use crate::error::{argument_error, exception};

/// Number of sentences or pairs that are translated or scored between two looks for an interruption.
const CHUNK: usize = 4096;

/// A translation: text, score, log-probability, number of unmet constraints, alignment, reasons for doubt, uncovered source words.
type Found = (String, f64, f64, usize, Alignment, Vec<&'static str>, Vec<usize>);

/// A scored pair: log-probability, number of tokens, words with their log-probabilities, that of the end.
type Scored = (f64, usize, Vec<(String, f64)>, f64);

/// A model or an ensemble, on which `softalign.Translator` stands.
#[pyclass(frozen)]
pub struct Model {
    translator: Translator,
    /// Linker with default options.
    linker: Arc<LazyLinker>,
}

/// Gold alignments: a file, or the sure links of each pair.
#[derive(FromPyObject)]
pub enum GoldLinks {
    File(PathBuf),
    Links(Vec<Vec<(usize, usize)>>),
}

impl GoldLinks {
    /// Returns the gold alignment of each pair; `base` is the number of a sentence's first word in a file.
    fn read(self, pairs: &[Pair], linker: &Linker, base: u8) -> Result<Vec<Gold>> {
        let links = match self {
            Self::File(path) => return read_gold(&path, &pair_sizes(pairs, linker.words), base),
            Self::Links(links) => links,
        };
        let gold = |links: Vec<(usize, usize)>| {
            let sure: BTreeSet<Link> = links.into_iter().map(|(source, target)| Link { source, target }).collect();
            Gold { possible: sure.clone(), sure }
        };
        let gold: Vec<Gold> = links.into_iter().map(gold).collect();
        for (index, (gold, size)) in gold.iter().zip(pair_sizes(pairs, linker.words)).enumerate() {
            if let Some(Link { source, target }) = gold.out_of_bounds(size) {
                bail!(UsageError::new(format!("gold: ({source}, {target}) is beyond the words of pair {index}")));
            }
        }
        Ok(gold)
    }
}

/// Everything that the keyword arguments of a translation describe.
struct TranslationSetup {
    translator: PreparedTranslator,
    linker: Arc<LazyLinker>,
    unknown: UnknownSentences,
    tag: Option<String>,
    features: Option<Vec<String>>,
}

#[pymethods]
impl Model {
    /// Loads a model, or an ensemble of several.
    #[new]
    fn new(py: Python, directories: Vec<PathBuf>) -> PyResult<Self> {
        let translator = run(py, None, |_| Translator::load_ensemble_on(&directories, &Device::Cpu))?;
        Ok(Self::from(translator))
    }

    /// Translates sentences. Returns the translations of each.
    fn translate(
        &self,
        py: Python,
        sentences: Vec<String>,
        first: usize,
        options: &str,
        listener: &Bound<PyAny>,
    ) -> PyResult<Vec<Vec<Found>>> {
        let setup = self.translation_setup(py, options)?;
        let sentences = setup.sentences(py, sentences)?;
        let found = run(py, Some(listener), |caller| setup.translate(sentences, first, caller))?;
        Ok(found)
    }

    /// Aligns pairs with the options of links.
    fn align(&self, py: Python, pairs: Pairs, options: &str, listener: &Bound<PyAny>) -> PyResult<Vec<Alignment>> {
        let pairs = pairs.read(py, &TableFormat::default())?;
        let mut options = Options::parse(py, options, "_")?;
        let reverse_model = options.take(py, "reverse_model")?;
        let overrides: InferenceOverrides = options.structure(py)?;
        let links = LinkOptions { reverse_model, ..options.structure(py)? };
        let linked = run(py, Some(listener), |caller| {
            let translator = self.overridden(&overrides, &links)?;
            let linker = Linker::with_options(&links, Some(&translator), &pairs, caller)?;
            link(&linker, &pairs, caller)
        })?;
        Ok(alignments(pairs, linked))
    }

    /// Scores pairs by forced decoding.
    fn score(&self, py: Python, pairs: Pairs, listener: &Bound<PyAny>) -> PyResult<Vec<Scored>> {
        let pairs = pairs.read(py, &TableFormat::default())?;
        run(py, Some(listener), |caller| {
            let mut stage = caller.stage("scoring", Some(pairs.len()));
            let mut scores = Vec::with_capacity(pairs.len());
            for chunk in pairs.chunks(CHUNK) {
                if caller.cancellation().is_cancelled() {
                    bail!("interrupted");
                }
                scores.extend(self.translator.score_batch(chunk, &mut |count| stage.advance(count))?);
            }
            drop(stage);
            let mut warnings = LineWarnings::default();
            let truncated = scores.iter().enumerate().filter(|(_, score)| score.cut);
            truncated.for_each(|(id, _)| warnings.add_truncated(id));
            warnings.report_truncated(caller);
            let mut scored = Vec::with_capacity(scores.len());
            for one in scores {
                let log_probability = one.log_probability();
                let words = one.words.into_iter().map(|word| (word.word, word.log_probability)).collect();
                scored.push((log_probability, one.tokens, words, one.end));
            }
            Ok(scored)
        })
    }

    /// Evaluates the model on pairs. Returns the report as JSON and as text, and the translations.
    fn evaluate(
        &self,
        py: Python,
        pairs: Pairs,
        gold: Option<GoldLinks>,
        options: &str,
        listener: &Bound<PyAny>,
    ) -> PyResult<(String, String, Vec<String>)> {
        let pairs = pairs.read(py, &TableFormat::default())?;
        let mut options = Options::parse(py, options, "_")?;
        let gold_base = options.take(py, "gold_base")?.unwrap_or(0);
        let flags = ["confidence", "by_length", "search_threshold"].map(|name| options.take(py, name));
        let [confidence, by_length, search_threshold] = flags;
        let tokenize = options.take(py, "tokenize")?;
        let reverse_model = options.take(py, "reverse_model")?;
        let precision = options.take(py, "precision")?.unwrap_or_default();
        let overrides: InferenceOverrides = options.structure(py)?;
        let links = LinkOptions { reverse_model, ..options.structure(py)? };
        let decoding: DecodeOptions = options.structure(py)?;
        let [confidence, by_length, search_threshold] =
            [confidence?, by_length?, search_threshold?].map(|flag| flag.unwrap_or(false));
        run(py, Some(listener), |caller| {
            let translator = self.overridden(&overrides, &links)?;
            let linker = Linker::with_options(&links, Some(&translator), &pairs, caller)?;
            let evaluator = Evaluator {
                gold: gold.map(|gold| gold.read(&pairs, &linker, gold_base)).transpose()?,
                by_length,
                search_threshold,
                confidence,
                tokenize,
                options: decoding,
                precision,
                reporter: caller,
                ..Evaluator::new(&pairs)
            };
            let system = System::Model(Box::new(translator), Box::new(linker));
            let evaluation = evaluator.evaluate_system(&system)?;
            let translations = evaluation.translations.clone();
            let scores = SystemScores::Translations(Box::new(evaluation));
            let result = [SystemResult::new(self.translator.path().display().to_string(), None, scores)];
            let mut text = Vec::new();
            write_report(&mut text, &result, false)?;
            Ok((report_json(&result)?, String::from_utf8(text)?, translations))
        })
    }

    /// Directory of the first model.
    #[getter]
    fn path(&self) -> PathBuf {
        self.translator.path().to_owned()
    }

    /// Description of the first model as JSON.
    fn summary(&self, py: Python) -> PyResult<String> {
        let describe = |_: &Caller| Ok(ModelSummary::load(self.translator.path())?.json()?);
        run(py, None, describe)
    }
}

impl From<Translator> for Model {
    fn from(translator: Translator) -> Self {
        let linker = Arc::new(LazyLinker::new(translator.clone(), LinkOptions::default()));
        Self { translator, linker }
    }
}

impl Model {
    /// Returns the translator with other attention and word splitting.
    pub fn overridden(&self, overrides: &InferenceOverrides, links: &LinkOptions) -> Result<Translator> {
        self.translator.with_overrides(overrides, links.words)
    }

    fn translation_setup(&self, py: Python, options: &str) -> PyResult<TranslationSetup> {
        let mut given = Options::parse(py, options, "_")?;
        let reverse_model: Option<PathBuf> = given.take(py, "reverse_model")?;
        let dictionary: Option<Vec<Pair>> = given.take(py, "dictionary")?;
        let precision = given.take(py, "precision")?.unwrap_or_default();
        let tag = given.take(py, "tag_source")?;
        let features = given.take(py, "features")?;
        let options: TranslateOptions = given.structure(py)?;
        let links = LinkOptions { reverse_model, ..options.links.clone() };
        let options = TranslateOptions { links, dictionary, precision, ..options };
        let translator = self.translator.prepare(&options).map_err(|error| exception(py, error.into_inner()))?;
        let is_default = options.links == LinkOptions::default() && options.attention == InferenceOverrides::default();
        let linker = if is_default {
            self.linker.clone()
        } else {
            let linker = LazyLinker::new(translator.translator().clone(), options.links);
            linker.get().map_err(|error| exception(py, error))?;
            Arc::new(linker)
        };
        Ok(TranslationSetup { translator, linker, unknown: options.unknown, tag, features })
    }
}

impl TranslationSetup {
    /// Returns sentences with their tag and features.
    fn sentences(&self, py: Python, texts: Vec<String>) -> PyResult<Vec<Sentence>> {
        let prefix = |features: &str| {
            let tag = self.tag.as_ref().map(|tag| format!("{tag} ")).unwrap_or_default();
            tag + &features_before(features)
        };
        let Some(features) = &self.features else {
            let prefix = prefix("");
            return Ok(texts.iter().map(|text| Sentence::after(&prefix, text)).collect());
        };
        if features.len() != texts.len() {
            let message =
                format!("features: {} for {} sentences; one for each is required", features.len(), texts.len());
            return Err(argument_error(py, message));
        }
        Ok(texts.iter().zip(features).map(|(text, features)| Sentence::after(&prefix(features), text)).collect())
    }

    /// Translates sentences, of which the first has the number `first` in its stream.
    fn translate(&self, mut sentences: Vec<Sentence>, first: usize, caller: &Caller) -> Result<Vec<Vec<Found>>> {
        for sentence in &mut sentences {
            sentence.cancellation = caller.cancellation().clone();
        }
        let mut stage = (sentences.len() > 1).then(|| caller.stage("translating", Some(sentences.len())));
        let mut advance = |count| {
            if let Some(stage) = &mut stage {
                stage.advance(count);
            }
        };
        let mut found = Vec::with_capacity(sentences.len());
        for chunk in sentences.chunks(CHUNK) {
            if caller.cancellation().is_cancelled() {
                bail!("interrupted");
            }
            found.extend(self.translator.translate(chunk, first + found.len(), &mut advance)?);
        }
        drop(stage);
        self.warn(first, &sentences, &found, caller);
        let found = sentences
            .iter()
            .zip(found)
            .map(|(sentence, found)| found.into_iter().map(|translation| self.found(sentence, translation)).collect());
        Ok(found.collect())
    }

    fn found(&self, sentence: &Sentence, translation: Translation) -> Found {
        let Translation { text, log_probability, score, unmet_constraints, doubts, alignment, without_markup, .. } =
            translation;
        let reasons = doubts.reasons.iter().map(|doubt| doubt.name()).collect();
        let texts = match without_markup {
            Some(Pair { source, target }) => [source, target],
            None => [sentence.given().to_owned(), text.clone()],
        };
        let alignment = Alignment::of_translation(texts, alignment, self.linker.clone());
        (text, score, log_probability, unmet_constraints, alignment, reasons, doubts.uncovered)
    }

    /// Warns of lines whose translations are incomplete or unreliable.
    fn warn(&self, first: usize, sentences: &[Sentence], found: &[Vec<Translation>], caller: &Caller) {
        let mut warnings = LineWarnings::default();
        for (id, (sentence, translations)) in (first..).zip(sentences.iter().zip(found)) {
            let Some(best) = translations.first() else { continue };
            warnings.add_translation(id, best);
            if self.features.is_some() {
                warnings.add_features(id, &sentence.text, self.translator.translator());
            }
        }
        warnings.report_truncated(caller);
        let consequence = match self.unknown {
            UnknownSentences::Copy => "copied unchanged",
            UnknownSentences::Translate => "the translation is unreliable",
        };
        warnings.report_unknown(consequence, caller);
        warnings.report_doubtful("the attribute doubts names the reasons", caller);
        warnings.report_unmet(caller);
        warnings.report_unknown_features(caller);
    }
}
