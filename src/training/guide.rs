//! Guides for attention from word alignments (Chen, Matusov, Khadivi & Peter 2016, "Guided Alignment Training for
//! Topic-Aware Neural Machine Translation").

use anyhow::Result;
use rayon::prelude::*;

use crate::aligner::WordAligner;
use crate::alignment::Beliefs;
use crate::text::{Example, Look, Pair, Vocabulary, Words};

/// Belief that makes a link. It is low because both directions have to agree.
const ENOUGH: f32 = 0.1;

/// Gives each example a guide. A target unit should look at the units of the source words that its own word is linked
/// to, as much at each word as the link is believed in; the target's end at the source's end. A unit whose word has no
/// link is left alone. `weight` is what a unit's guide counts beside its prediction.
///
/// # Errors
/// The vocabularies' own.
pub fn guide(
    examples: &mut [Example],
    pairs: &[Pair],
    aligner: &WordAligner,
    [source, target]: [&Vocabulary; 2],
    weight: f32,
) -> Result<()> {
    examples.par_iter_mut().zip(pairs).try_for_each(|(example, pair)| {
        let source = source.segment(&pair.source, Words::Punctuation)?;
        let target = target.segment(&pair.target, Words::Punctuation)?;
        let found = aligner.posteriors(&source.words, &target.words);
        let beliefs = Beliefs::of_both(source.words.len(), &found.forward, &found.backward);
        let mut guide = Vec::new();
        for (unit, &word) in target.word_of_unit.iter().enumerate() {
            let believed = source.word_of_unit.iter().map(|&s| beliefs.get(s, word)).enumerate();
            let looks: Vec<(usize, f32)> = believed.filter(|&(_, belief)| belief >= ENOUGH).collect();
            let sum: f32 = looks.iter().map(|(_, belief)| belief).sum();
            guide.extend(looks.into_iter().map(|(s, belief)| look(unit, s, weight * belief / sum)));
        }
        guide.push(look(target.ids.len(), source.ids.len(), weight));
        example.guide = guide;
        Ok(())
    })
}

fn look(target: usize, source: usize, weight: f32) -> Look {
    Look { target: target as u32, source: source as u32, weight }
}
