//! Cognate prior for rare words: a word that shares a prefix or suffix with a known word (an inflected form, a
//! compound) may have the same translations, and a word present on both sides may translate itself.

use std::borrow::Cow;

use super::pair_posteriors::PairPosteriors;
use super::translation_table::TranslationTable;
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
        for (source, target, probabilities) in table.likely(MIN_PROBABILITY) {
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
        let rare = |side: usize| {
            let count = move |&id: &u32| counts[side].get(id as usize).copied().unwrap_or(0);
            ids[side].iter().map(move |id| count(id) <= MAX_RARE_COUNT).collect::<Vec<bool>>()
        };
        let [rare_sources, rare_targets] = [rare(0), rare(1)];
        for (s, source) in texts[0].iter().enumerate() {
            for (t, target) in texts[1].iter().enumerate() {
                let are_identical = source.len() > 1 && source == target;
                if !(are_identical || rare_sources[s] || rare_targets[t]) {
                    continue;
                }
                let mut probabilities = if are_identical { [IDENTICAL_WEIGHT; 2] } else { [0.0; 2] };
                let sides = [
                    (rare_targets[t], ids[0][s], &self.0[0], words[1].words(), target),
                    (rare_sources[s], ids[1][t], &self.0[1], words[0].words(), source),
                ];
                for (_, id, translations, words, rare) in sides.into_iter().filter(|side| side.0) {
                    let Some(translations) = translations.get(id as usize) else { continue };
                    let is_cognate = |known: &&LikelyTranslation| are_cognates(&words[known.word as usize], rare);
                    for known in translations.iter().filter(is_cognate) {
                        probabilities =
                            [0, 1].map(|side| probabilities[side].max(COGNATE_WEIGHT * known.probabilities[side]));
                    }
                }
                pair.raise(s, t, probabilities);
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
