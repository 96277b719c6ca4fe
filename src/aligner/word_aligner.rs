//! What has been learnt, and what it makes of a pair.

use super::hmm::Jumps;
use super::kinship::Translations;
use super::lexicon::Lexicon;
use super::sentence::Sentence;
use super::words::{Id, Ids, Words, normalised};
use crate::text::NormalForm;

/// A word seen this often was seen with one pair, perhaps with the very one that is to be aligned, and then what it
/// learnt there would only be repeated: so nothing is taken as learnt.
const ONCE: u32 = 1;

/// What has been learnt.
#[derive(Clone, Debug)]
pub struct WordAligner {
    /// In which words are looked up.
    pub(super) form: NormalForm,
    /// Source words and target words.
    pub(super) words: [Words; 2],
    pub(super) lexicon: Lexicon,
    /// p(target word | nothing), p(source word | nothing)
    pub(super) nothing: [Vec<f32>; 2],
    /// Of the source's positions from one target word to the next, and the other way round.
    pub(super) jumps: [Jumps; 2],
    /// How often each source word and each target word was seen.
    pub(super) seen: [Vec<u32>; 2],
    translations: Translations,
}

/// Beliefs in the links of one pair.
#[derive(Clone, Debug, PartialEq)]
pub struct Posteriors {
    /// p(target word t comes from source word s), `[target × source]`: a row sums to 1 with the share of nothing.
    pub forward: Vec<f32>,
    /// p(source word s comes from target word t), `[target × source]`: a column sums to 1 with the share of nothing.
    pub backward: Vec<f32>,
    /// ln p(target | source)
    pub log_probability: f64,
}

impl Posteriors {
    /// No belief in any link of so many words.
    pub fn none(sources: usize, targets: usize) -> Self {
        let none = vec![0.0; sources * targets];
        Self { forward: none.clone(), backward: none, log_probability: 0.0 }
    }
}

impl WordAligner {
    /// From what was learnt; likely translations are collected from the lexicon.
    pub(super) fn new(
        form: NormalForm,
        words: [Words; 2],
        lexicon: Lexicon,
        nothing: [Vec<f32>; 2],
        jumps: [Jumps; 2],
        seen: [Vec<u32>; 2],
    ) -> Self {
        let translations = Translations::of(&lexicon, words.each_ref().map(|words| words.all().len()));
        Self { form, words, lexicon, nothing, jumps, seen, translations }
    }

    /// Beliefs in the links of a pair of sentences, given as words.
    pub fn posteriors(&self, source: &[String], target: &[String]) -> Posteriors {
        let normal =
            |words: &[String]| -> Vec<String> { words.iter().map(|word| normalised(word, self.form)).collect() };
        let texts = [source, target].map(normal);
        let [source, target] =
            [0, 1].map(|side| -> Ids { texts[side].iter().map(|word| self.id(side, word)).collect() });
        let mut found = Sentence::default();
        found.meet(&self.lexicon, &self.nothing, &source, &target);
        let (texts, ids) = ([&texts[0][..], &texts[1]], [&source[..], &target]);
        self.translations.ask_kin(&mut found, texts, ids, &self.words, &self.seen);
        let log_probability = found.believe(&self.jumps, None);
        let backward = |index: usize| found.by_target[index % source.len() * target.len() + index / source.len()];
        let backward = (0..found.by_source.len()).map(backward).collect();
        Posteriors { forward: found.by_source, backward, log_probability }
    }

    /// The number of a side's word, if enough was learnt of it.
    fn id(&self, side: usize, word: &str) -> Id {
        self.words[side].id(word).filter(|&id| self.seen[side][id as usize] > ONCE)
    }
}
