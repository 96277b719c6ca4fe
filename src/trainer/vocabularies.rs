//! Vocabularies of a new training, and what is measured before they are fixed.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::{Result, anyhow, bail, ensure};
use candle_core::Device;
use rayon::prelude::*;

use super::warm_start::{InitVocabulary, WarmStart};
use crate::error::UsageError;
use crate::text::{
    CorpusStats, EncodedCorpus, Normalization, Pair, ProtectedTokens, SPECIALS, Units, Vocabulary, features,
};
use crate::training::{EpochData, Observer, ResolvedConfig, seconds_of_epoch};

/// Pairs that suffice to measure training speed.
const REHEARSED: usize = 2000;

/// What is never cut: what the options name, tags, and features where there are some.
pub(super) fn protected_tokens(
    (named, tags): (&[String], &[String]),
    with_features: bool,
    pairs: &[&Pair],
    normalization: Normalization,
) -> Result<ProtectedTokens> {
    let checked = |option: &str, pieces: &[String]| {
        let pieces = pieces.iter().filter(|piece| !piece.is_empty()).cloned();
        let protected_tokens =
            ProtectedTokens::new(pieces).and_then(|protected_tokens| protected_tokens.normalised(normalization));
        protected_tokens.map_err(|reason| anyhow!(UsageError(format!("{option}: {reason}"))))
    };
    let named = [checked("--protected-tokens", named)?, checked("--tag-source", tags)?];
    let of_words = pairs.iter().filter(|_| with_features).flat_map(|pair| features(&pair.source));
    let of_words: BTreeSet<&str> = of_words.collect();
    ProtectedTokens::new(named.iter().flat_map(ProtectedTokens::iter).chain(of_words).map(str::to_owned))?
        .normalised(normalization)
}

/// What pairs are made of, as the model will read them, atoms aside.
pub(super) fn statistics(
    pairs: &[&Pair],
    normalization: Normalization,
    protected_tokens: &ProtectedTokens,
) -> CorpusStats {
    let without_atoms = |pair: Pair| {
        let [source, target] =
            [&pair.source, &pair.target].map(|text| protected_tokens.left_out(text).trim().to_owned());
        if protected_tokens.is_empty() { pair } else { Pair { source, target } }
    };
    let normal: Vec<Pair> = pairs.par_iter().map(|pair| without_atoms(pair.normalised(normalization))).collect();
    CorpusStats::new(&normal.iter().collect::<Vec<_>>())
}

/// Makes the best of the time given: tries a few steps with some of the pairs, varied as training varies them.
pub(super) fn fit_time(
    plan: &mut ResolvedConfig,
    training: &EncodedCorpus,
    vocabularies: &[Arc<Vocabulary>; 2],
    device: &Device,
) -> Result<()> {
    let (some, longest) = (training.pairs.len().min(REHEARSED), plan.text().max_length);
    plan.fit_time([vocabularies[0].size(), vocabularies[1].size()], |architecture, settings| {
        let examples = EpochData::new(training.some(some), vocabularies, None, settings.augmentation(), longest)?;
        let seconds = seconds_of_epoch(architecture, settings, &examples.of_epoch(settings.seed, 0), device)?;
        Ok(seconds * training.pairs.len() as f64 / some as f64)
    })
}

/// Learns the vocabularies of both sides, or takes those of the base model, extended if need be.
///
/// # Errors
/// A kept vocabulary lacks a protected token, or the observer asks to stop.
pub(super) fn vocabularies(
    plan: &ResolvedConfig,
    pairs: &[&Pair],
    protected_tokens: &ProtectedTokens,
    from: Option<&WarmStart>,
    observer: &dyn Observer,
) -> Result<[Arc<Vocabulary>; 2]> {
    let _stage = observer.stage("learning a vocabulary", None);
    let (text, most) = (plan.text(), plan.vocabulary_sizes());
    let units = [text.source_units, text.target_units];
    let make = |side: usize, texts: Vec<&str>| -> Result<Arc<Vocabulary>> {
        let texts = UnprotectedTexts::new(&texts, protected_tokens, text.normalization);
        let vocabulary = match from.map(|from| (from.vocabulary, from.vocabularies()[side])) {
            None | Some((InitVocabulary::New, _)) => Arc::new(texts.learn(units[side], most[side])?),
            Some((InitVocabulary::Retention, vocabulary)) => {
                let is_new = |atom: &&str| vocabulary.protected_tokens().iter().all(|known| known != *atom);
                if let Some(new) = texts.protected_tokens.iter().find(is_new) {
                    bail!(UsageError(format!(
                        "--init-vocabulary keep: the model has no unit for {new}; extend, the default, adds it"
                    )));
                }
                vocabulary.clone()
            }
            Some((InitVocabulary::Extend, vocabulary)) => Arc::new(texts.extend(vocabulary, most[side])?),
        };
        ensure_running(observer)?;
        Ok(vocabulary)
    };
    let sources: Vec<&str> = pairs.iter().map(|pair| pair.source.as_str()).collect();
    let targets: Vec<&str> = pairs.iter().map(|pair| pair.target.as_str()).collect();
    if text.joint_vocabulary {
        let joint = make(0, [sources, targets].concat())?;
        Ok([joint.clone(), joint])
    } else {
        Ok([make(0, sources)?, make(1, targets)?])
    }
}

/// The texts of a side as a vocabulary is learnt from them: without the atoms that stand in them.
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
        let rest = normal.par_iter().map(|text| Cow::Owned(protected_tokens.left_out(text).into_owned())).collect();
        Self { rest, protected_tokens, normalization }
    }

    fn learn(&self, units: Units, most: usize) -> Result<Vocabulary> {
        let most = most.saturating_sub(self.protected_tokens.units(units).len()).max(SPECIALS.len() + 1);
        let learnt = Vocabulary::train(self.texts(), units, self.normalization, most)?;
        if self.protected_tokens.is_empty() { Ok(learnt) } else { learnt.with_atoms(&self.protected_tokens) }
    }

    fn extend(&self, vocabulary: &Vocabulary, most: usize) -> Result<Vocabulary> {
        let all = vocabulary.protected_tokens().iter().chain(self.protected_tokens.iter());
        vocabulary.with_atoms(&ProtectedTokens::new(all.map(str::to_owned))?)?.extended(self.texts(), most)
    }

    fn texts(&self) -> impl Iterator<Item = &str> + Send {
        self.rest.iter().map(|text| &**text)
    }
}

/// Ends the preparation of a training between its stages if the observer asks for it.
pub(super) fn ensure_running(observer: &dyn Observer) -> Result<()> {
    ensure!(!observer.should_stop(), "interrupted before training began; nothing was changed");
    Ok(())
}
