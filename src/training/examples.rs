//! What each epoch trains on.

use std::borrow::Cow;
use std::sync::Arc;

use anyhow::Result;
use rayon::prelude::*;

use super::guide::{Guides, WORDS};
use crate::model::UnitLexicon;
use crate::random::Stream;
use crate::text::{Corpus, Example, Recutting, UNKNOWN, Vocabulary};

/// Epochs whose cuts of words a lexicon is learnt from.
const CUTS: u64 = 3;

/// The training pairs as ids, with guides if attention is to have any: the same in each epoch, or cut anew with merges
/// left out.
pub struct Examples {
    /// As the vocabularies cut them.
    whole: Vec<Example>,
    guides: Option<Guides>,
    recut: Option<Recut>,
}

/// What pairs are cut anew by.
struct Recut {
    vocabularies: [Arc<Vocabulary>; 2],
    /// Of each side whose units are made by merging.
    sides: [Option<Recutting>; 2],
    rate: f64,
}

impl Examples {
    /// From usable pairs; `bpe_dropout` is the share of merges left out.
    ///
    /// # Errors
    /// The vocabularies' own.
    pub fn new(
        corpus: Corpus,
        vocabularies: &[Arc<Vocabulary>; 2],
        guides: Option<Guides>,
        bpe_dropout: Option<f64>,
    ) -> Result<Self> {
        let Corpus { pairs, examples: mut whole, .. } = corpus;
        let [source, target] = vocabularies;
        if let Some(guides) = &guides {
            whole.par_iter_mut().zip(&pairs).enumerate().try_for_each(|(index, (example, pair))| {
                let source = source.segment(&pair.source, WORDS)?;
                let target = target.segment(&pair.target, WORDS)?;
                example.guide = guides.guide(index, [&source.word_of_unit, &target.word_of_unit]);
                Ok::<_, anyhow::Error>(())
            })?;
        }
        let recut = |rate| -> Result<_> {
            let source = source.recutting(pairs.iter().map(|pair| pair.source.as_str()))?;
            let target = target.recutting(pairs.iter().map(|pair| pair.target.as_str()))?;
            Ok(Recut { vocabularies: vocabularies.clone(), sides: [source, target], rate })
        };
        Ok(Self { recut: bpe_dropout.map(recut).transpose()?, whole, guides })
    }

    /// The translations of units that the guides show, in all the cuts of a few epochs.
    pub fn lexicon(&self, vocabularies: [usize; 2], seed: u64) -> UnitLexicon {
        let epochs: Vec<_> =
            (0..if self.recut.is_some() { CUTS } else { 0 }).map(|epoch| self.of_epoch(seed, epoch)).collect();
        UnitLexicon::learn(self.whole.iter().chain(epochs.iter().flat_map(|examples| examples.iter())), vocabularies)
    }

    /// Those of one epoch: the same whenever they are asked for.
    pub fn of_epoch(&self, seed: u64, epoch: u64) -> Cow<'_, [Example]> {
        let Some(recut) = &self.recut else { return Cow::Borrowed(&self.whole) };
        let cut = |(index, whole): (usize, &Example)| {
            let mut stream = Stream::new(seed, &format!("merges of epoch {epoch}"), index as u64);
            let mut example = recut.cut(index, whole, &mut stream)?;
            if let Some(guides) = &self.guides {
                let [source, target] = recut.words(&example);
                example.guide = guides.guide(index, [&source, &target]);
            }
            Some(example)
        };
        let cut = |(index, whole)| cut((index, whole)).unwrap_or_else(|| whole.clone());
        self.whole.par_iter().enumerate().map(cut).collect::<Vec<_>>().into()
    }
}

impl Recut {
    /// A pair in other units, unless some of its own are unknown: what they stand for cannot be cut.
    fn cut(&self, index: usize, whole: &Example, stream: &mut Stream) -> Option<Example> {
        let sides = [&whole.source, &whole.target];
        if sides.into_iter().any(|units| units.contains(&UNKNOWN)) {
            return None;
        }
        let [source, target] = [0, 1].map(|side| match &self.sides[side] {
            Some(recutting) => recutting.cut(index, self.rate, stream),
            None => sides[side].clone(),
        });
        Some(Example::new(source, target))
    }

    /// The word of each source and target unit.
    fn words(&self, example: &Example) -> [Vec<usize>; 2] {
        let [source, target] = &self.vocabularies;
        [source.join(&example.source, WORDS), target.join(&example.target, WORDS)].map(|(_, units)| units.word_of_unit)
    }
}
