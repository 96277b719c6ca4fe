//! Vocabularies and corpus statistics of a new training.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, anyhow, bail, ensure};
use rayon::prelude::*;

use super::run_context::RunContext;
use super::warm_start::{InitVocabulary, WarmStart};
use crate::error::UsageError;
use crate::model::Architecture;
use crate::text::{
    CorpusStats, EncodedCorpus, Normalization, Pair, ProtectedTokens, RareVariants, SPECIALS, Tokenization, Vocabulary,
    features,
};
use crate::training::{EpochData, Observer, ResolvedConfig, TrainingSettings, seconds_per_epoch};

/// Number of pairs for measuring the training speed.
const PROBE_PAIRS: usize = 2000;

/// Collects the protected tokens: those of the options, tags and features.
///
/// # Errors
/// A string cannot be a protected token.
pub(super) fn protected_tokens(
    named: &[String],
    tags: &[String],
    has_features: bool,
    pairs: &[&Pair],
    normalization: Normalization,
) -> Result<ProtectedTokens> {
    let named = tokens_of_option("protected-tokens", named, normalization)?;
    let tags = tokens_of_option("tag-source", tags, normalization)?;
    let features = pairs.iter().filter(|_| has_features).flat_map(|pair| features(&pair.source));
    let features: BTreeSet<&str> = features.collect();
    ProtectedTokens::new(named.iter().chain(tags.iter()).chain(features).map(str::to_owned))?.normalized(normalization)
}

/// Returns the protected tokens that an option names.
fn tokens_of_option(option: &str, tokens: &[String], normalization: Normalization) -> Result<ProtectedTokens> {
    let tokens = tokens.iter().filter(|token| !token.is_empty()).cloned();
    let tokens = ProtectedTokens::new(tokens).and_then(|tokens| tokens.normalized(normalization));
    tokens.map_err(|reason| anyhow!(UsageError::of(option, format!(": {reason}"))))
}

/// Computes the statistics of pairs after normalization, without protected tokens.
pub(super) fn statistics(
    pairs: &[&Pair],
    normalization: Normalization,
    protected_tokens: &ProtectedTokens,
    has_features: bool,
) -> CorpusStats {
    let normal: Vec<Pair> =
        pairs.par_iter().map(|pair| without_tokens(pair.normalized(normalization), protected_tokens)).collect();
    CorpusStats::new(&normal.iter().collect::<Vec<_>>(), has_features)
}

/// Returns a pair without protected tokens.
fn without_tokens(pair: Pair, protected_tokens: &ProtectedTokens) -> Pair {
    if protected_tokens.is_empty() {
        return pair;
    }
    let source = protected_tokens.remove_from(&pair.source).trim().to_owned();
    let target = protected_tokens.remove_from(&pair.target).trim().to_owned();
    Pair { source, target }
}

/// Chooses the model size for the time limit, of which some is spent, by a few steps on some of the pairs, with augmentation.
pub(super) fn fit_time(
    resolved: &mut ResolvedConfig,
    training: &EncodedCorpus,
    vocabularies: &[Arc<Vocabulary>; 2],
    spent: Duration,
    context: RunContext,
) -> Result<()> {
    let probe = EpochTime { training, vocabularies, max_length: resolved.text().max_length, context };
    resolved.fit_time([vocabularies[0].size(), vocabularies[1].size()], spent, |architecture, settings| {
        probe.seconds(architecture, settings)
    })
}

/// Estimates the seconds of a whole training.
pub(super) fn training_seconds(
    resolved: &ResolvedConfig,
    training: &EncodedCorpus,
    vocabularies: &[Arc<Vocabulary>; 2],
    context: RunContext,
) -> Result<f64> {
    let probe = EpochTime { training, vocabularies, max_length: resolved.text().max_length, context };
    let settings = resolved.training(&[]);
    let architecture = resolved.architecture([vocabularies[0].size(), vocabularies[1].size()]);
    Ok(probe.seconds(&architecture, &settings)? * settings.max_epochs as f64)
}

/// Estimate of the time of an epoch.
struct EpochTime<'a> {
    training: &'a EncodedCorpus,
    vocabularies: &'a [Arc<Vocabulary>; 2],
    /// Maximum number of tokens per side.
    max_length: usize,
    context: RunContext<'a>,
}

impl EpochTime<'_> {
    /// Estimates the seconds per epoch of a model over the vocabularies.
    fn seconds(&self, architecture: &Architecture, settings: &TrainingSettings) -> Result<f64> {
        let Self { training, vocabularies, max_length, context } = *self;
        let count = training.pairs.len().min(PROBE_PAIRS);
        let examples =
            EpochData::new(training.subsample(count), vocabularies, None, settings.augmentation(), max_length)?;
        let seconds = seconds_per_epoch(architecture, settings, &examples.epoch(settings.seed, 0), context.device)?;
        Ok(seconds / context.communicator.size() as f64 * training.pairs.len() as f64 / count as f64)
    }
}

/// Learner of the vocabularies of a new training. It may keep or extend those of the base model.
pub(super) struct VocabularyLearner<'a> {
    pub config: &'a ResolvedConfig,
    pub protected_tokens: &'a ProtectedTokens,
    /// Base model of a warm start.
    pub base: Option<&'a WarmStart>,
}

impl VocabularyLearner<'_> {
    /// Returns the vocabularies of source and target, equal if joint.
    ///
    /// # Errors
    /// A kept vocabulary lacks a protected token, or the observer stops training.
    pub fn vocabularies(&self, pairs: &[&Pair], observer: &dyn Observer) -> Result<[Arc<Vocabulary>; 2]> {
        let _stage = observer.stage("learning a vocabulary", None);
        let sources: Vec<&str> = pairs.iter().map(|pair| pair.source.as_str()).collect();
        let targets: Vec<&str> = pairs.iter().map(|pair| pair.target.as_str()).collect();
        if self.config.text().joint_vocabulary {
            let joint = self.vocabulary_of_frequent(0, &[sources, targets].concat(), observer)?;
            return Ok([joint.clone(), joint]);
        }
        let source = self.vocabulary_of_frequent(0, &sources, observer)?;
        let target = self.vocabulary_of_frequent(1, &targets, observer)?;
        Ok([source, target])
    }

    /// Returns the vocabulary of a side, 0 for the source, without rare variants of frequent characters in sentences, so that it
    /// reads them as these.
    fn vocabulary_of_frequent(&self, side: usize, texts: &[&str], observer: &dyn Observer) -> Result<Arc<Vocabulary>> {
        let text = self.config.text();
        let is_subwords = [text.source_tokenization, text.target_tokenization][side] == Tokenization::Bpe;
        let rare = if is_subwords { RareVariants::new(texts.iter().copied()) } else { RareVariants::default() };
        let folded: Vec<Cow<str>> = texts.iter().map(|text| rare.fold(text)).collect();
        let learned = self.vocabulary(side, &folded.iter().map(|text| &**text).collect::<Vec<_>>())?;
        let known = learned.known_characters();
        for variant in rare.variants() {
            if !known.has(variant.character) {
                observer.note(&format!("{}: {variant}", ["sources", "targets"][side]));
            }
        }
        ensure_running(observer)?;
        Ok(learned)
    }

    /// Returns the vocabulary of a side, 0 for the source, from its texts.
    fn vocabulary(&self, side: usize, texts: &[&str]) -> Result<Arc<Vocabulary>> {
        let text = self.config.text();
        let tokenization = [text.source_tokenization, text.target_tokenization][side];
        let max_size = self.config.vocabulary_sizes()[side];
        let texts = UnprotectedTexts::new(texts, self.protected_tokens, text.normalization);
        let Some(base) = self.base else { return Ok(Arc::new(texts.learn(tokenization, max_size)?)) };
        let vocabulary = base.vocabularies()[side];
        match base.vocabulary {
            InitVocabulary::New => Ok(Arc::new(texts.learn(tokenization, max_size)?)),
            InitVocabulary::Extend => Ok(Arc::new(texts.extend(vocabulary, max_size)?)),
            InitVocabulary::Keep => {
                let known: BTreeSet<&str> = vocabulary.protected_tokens().iter().collect();
                if let Some(new) = texts.protected_tokens.iter().find(|token| !known.contains(token)) {
                    bail!(UsageError::of(
                        "init-vocabulary",
                        format!("keep: the model has no token for {new}; extend, the default, adds it")
                    ));
                }
                Ok(vocabulary.clone())
            }
        }
    }
}

/// Texts of a side without their protected tokens, from which a vocabulary is learned.
struct UnprotectedTexts<'t> {
    rest: Vec<Cow<'t, str>>,
    protected_tokens: ProtectedTokens,
    normalization: Normalization,
}

impl<'t> UnprotectedTexts<'t> {
    fn new(texts: &[&'t str], protected_tokens: &ProtectedTokens, normalization: Normalization) -> Self {
        if protected_tokens.is_empty() {
            let rest = texts.iter().map(|&text| Cow::Borrowed(text)).collect();
            return Self { rest, protected_tokens: ProtectedTokens::default(), normalization };
        }
        let normal: Vec<Cow<str>> = texts.par_iter().map(|text| normalization.apply(text)).collect();
        let protected_tokens = protected_tokens.within(&normal.iter().map(|text| &**text).collect::<Vec<_>>());
        let rest = normal.par_iter().map(|text| Cow::Owned(protected_tokens.remove_from(text).into_owned())).collect();
        Self { rest, protected_tokens, normalization }
    }

    fn learn(&self, tokenization: Tokenization, max_size: usize) -> Result<Vocabulary> {
        let max_size =
            max_size.saturating_sub(self.protected_tokens.spellings(tokenization).len()).max(SPECIALS.len() + 1);
        let learned = Vocabulary::train(self.texts(), tokenization, self.normalization, max_size)?;
        let protected_tokens = &self.protected_tokens;
        Ok(if protected_tokens.is_empty() { learned } else { learned.with_protected_tokens(protected_tokens) })
    }

    fn extend(&self, vocabulary: &Vocabulary, max_size: usize) -> Result<Vocabulary> {
        let all = vocabulary.protected_tokens().iter().chain(self.protected_tokens.iter());
        vocabulary
            .with_protected_tokens(&ProtectedTokens::new(all.map(str::to_owned))?)
            .extended(self.texts(), max_size)
    }

    fn texts(&self) -> impl Iterator<Item = &str> + Send {
        self.rest.iter().map(|text| &**text)
    }
}

/// Fails if the observer stops the preparation of a training.
pub(super) fn ensure_running(observer: &dyn Observer) -> Result<()> {
    ensure!(!observer.should_stop(), "interrupted before training began; nothing was changed");
    Ok(())
}
