//! A statistical word aligner, learnt from sentence pairs alone in seconds.
//!
//! Two hidden Markov models, one for each direction, that are made to agree while they learn (Liang, Taskar & Klein
//! 2006, "Alignment by Agreement"): a link counts as much as both believe in it. First without an order of words (Brown
//! et al. 1993, Model 1) but for a leaning to the diagonal (Dyer, Chahuneau & Smith 2013), then with jumps.

mod hmm;
mod kinship;
mod learn;
mod lexicon;
mod tables;
mod words;

pub use learn::{PASSES, learn};
pub use tables::Tables;
pub use words::normalised;

use hmm::Jumps;
use kinship::Translations;
use learn::Sentence;
use lexicon::{Lexicon, Words};

/// p(word | a word never seen with it): what unknown words are left with.
const UNSEEN: f32 = 1e-7;

/// A word seen this often was seen with one pair, perhaps with the very one that is to be aligned, and then what it
/// learnt there would only be repeated: so nothing is taken as learnt.
const ONCE: u32 = 1;

/// A known word's number.
type Id = Option<u32>;
/// A sentence.
type Ids = Vec<Id>;

/// What has been learnt.
#[derive(Clone, Debug)]
pub struct WordAligner {
    source: Words,
    target: Words,
    lexicon: Lexicon,
    /// p(target word | nothing), p(source word | nothing)
    nothing: [Vec<f32>; 2],
    /// Of the source's positions from one target word to the next, and the other way round.
    jumps: [Jumps; 2],
    /// How often each source word and each target word was seen.
    seen: [Vec<u32>; 2],
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
    /// Beliefs in the links of a pair of sentences, given as words.
    pub fn posteriors(&self, source: &[String], target: &[String]) -> Posteriors {
        let texts = [source, target].map(|words| words.iter().map(|word| normalised(word)).collect::<Vec<String>>());
        let [source, target] = [(&self.source, 0), (&self.target, 1)].map(|(words, side)| -> Ids {
            let known = |word: &String| words.id(word).filter(|&id| self.seen[side][id as usize] > ONCE);
            texts[side].iter().map(known).collect()
        });
        let mut found = Sentence::default();
        found.meet(self, &self.entries(&source, &target), &source, &target);
        self.ask_kin(&mut found, [&texts[0], &texts[1]], [&source, &target]);
        let log_probability = found.believe(&self.jumps, None);
        let backward = |index: usize| found.by_target[index % source.len() * target.len() + index / source.len()];
        let backward = (0..found.by_source.len()).map(backward).collect();
        Posteriors { forward: found.by_source, backward, log_probability }
    }

    /// The lexicon's entries of all pairs of words, `[target, source]`.
    fn entries(&self, source: &[Id], target: &[Id]) -> Vec<Option<usize>> {
        let entry = |s: &Id, t: &Id| self.lexicon.entries.find((*s)?, (*t)?);
        target.iter().flat_map(|t| source.iter().map(move |s| entry(s, t))).collect()
    }
}
