//! Cognate prior for rare words: a word that shares a prefix or suffix with a known word (an inflected form, a
//! compound) may have the same translations, and a word present on both sides may translate itself.

use std::borrow::Cow;

use super::pair_posteriors::PairPosteriors;
use super::translation_table::{TableEntry, TranslationTable};
use super::vocab::AlignerVocab;

/// Maximum count of a rare word.
const MAX_RARE_COUNT: u32 = 20;
/// Minimum probability of a translation that the prior uses.
const MIN_PROBABILITY: f32 = 0.03;
/// Weights of a cognate's translations and of identical words.
const COGNATE_WEIGHT: f32 = 0.1;
const IDENTICAL_WEIGHT: f32 = 0.3;

/// Likely translation of a word.
#[derive(Clone, Copy, Debug)]
pub struct LikelyTranslation {
    /// Id of the translation.
    word: u32,
    /// t(target | source), t(source | target).
    probabilities: [f32; 2],
}

/// Likely translations of each source word and of each target word.
#[derive(Clone, Debug)]
pub struct LikelyTranslations([Vec<Vec<LikelyTranslation>>; 2]);

impl LikelyTranslations {
    /// Collects the likely entries of a table over `words` source and target words.
    pub fn new(table: &TranslationTable, words: [usize; 2]) -> Self {
        let mut all = words.map(|words| vec![Vec::new(); words]);
        for TableEntry { source, target, probabilities } in table.likely(MIN_PROBABILITY) {
            all[0][source as usize].push(LikelyTranslation { word: target, probabilities });
            all[1][target as usize].push(LikelyTranslation { word: source, probabilities });
        }
        Self(all)
    }

    /// Raises the translation probabilities of a pair's rare words to those of their cognates. The pair is given as
    /// normalized words and as ids of `words`, whose training counts are `counts`.
    pub fn apply_cognate_prior(
        &self,
        pair: &mut PairPosteriors,
        texts: [&[Cow<str>]; 2],
        ids: [&[u32]; 2],
        words: &[AlignerVocab; 2],
        counts: &[Vec<u32>; 2],
    ) {
        let [rare_sources, rare_targets] = [0, 1].map(|side| are_rare(ids[side], &counts[side]));
        for (s, source) in texts[0].iter().enumerate() {
            for (t, target) in texts[1].iter().enumerate() {
                let are_identical = source.len() > 1 && source == target;
                if !(are_identical || rare_sources[s] || rare_targets[t]) {
                    continue;
                }
                let mut probabilities = if are_identical { [IDENTICAL_WEIGHT; 2] } else { [0.0; 2] };
                if rare_targets[t] {
                    raise_to_cognates(&mut probabilities, self.of_word(0, ids[0][s]), &words[1], target);
                }
                if rare_sources[s] {
                    raise_to_cognates(&mut probabilities, self.of_word(1, ids[1][t]), &words[0], source);
                }
                pair.raise(s, t, probabilities);
            }
        }
    }

    /// Likely translations of a word of the source (side 0) or the target (side 1); none for an unknown word.
    fn of_word(&self, side: usize, id: u32) -> &[LikelyTranslation] {
        self.0[side].get(id as usize).map_or(&[][..], Vec::as_slice)
    }
}

/// Returns for each word whether it is rare by its training count, given by id; unknown words are rare.
fn are_rare(ids: &[u32], counts: &[u32]) -> Vec<bool> {
    ids.iter().map(|&id| counts.get(id as usize).copied().unwrap_or(0) <= MAX_RARE_COUNT).collect()
}

/// Raises the translation probabilities of a word and `rare`, a rare word of the other side, to those of the word's
/// translations that are cognates of `rare`. The other side's words are `vocab`.
fn raise_to_cognates(
    probabilities: &mut [f32; 2],
    translations: &[LikelyTranslation],
    vocab: &AlignerVocab,
    rare: &str,
) {
    for known in translations {
        if are_cognates(&vocab.words()[known.word as usize], rare) {
            for (probability, known) in probabilities.iter_mut().zip(known.probabilities) {
                *probability = probability.max(COGNATE_WEIGHT * known);
            }
        }
    }
}

/// Returns true if two words share a prefix of most of the shorter one, or one is a suffix of the other.
fn are_cognates(a: &str, b: &str) -> bool {
    // Most pairs of words differ at both ends, so that their characters need not be counted.
    let [a_bytes, b_bytes] = [a, b].map(str::as_bytes);
    if a_bytes.first() != b_bytes.first() && a_bytes.last() != b_bytes.last() {
        return false;
    }
    let prefix = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let is_suffix = a.ends_with(b) || b.ends_with(a);
    if a == b || !(prefix >= 4 || is_suffix) {
        return false;
    }
    let shorter = a.chars().count().min(b.chars().count());
    shorter >= 4 && (is_suffix || prefix >= shorter * 7 / 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cognates_share_a_prefix_or_suffix() {
        for (a, b) in [("straße", "straßenfest"), ("spieler", "fußballspieler"), ("kleine", "kleinen")] {
            assert!(are_cognates(a, b) && are_cognates(b, a), "{a} {b}");
        }
        for (a, b) in [("der", "derselbe"), ("haus", "maus"), ("auto", "auto"), ("", "x"), ("grün", "grau")] {
            assert!(!are_cognates(a, b), "{a} {b}");
        }
    }
}
