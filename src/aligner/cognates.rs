//! Words too rare to have been learnt, by their likeness to others: a rare word that begins or ends like a known one
//! (an inflected form, a compound) may translate what that one translates, and a word that stands on both sides
//! translates itself.

use super::lexicon::Lexicon;
use super::sentence::Sentence;
use super::words::{Id, Words};

/// A word seen more often than this speaks for itself.
const RARE: u32 = 20;
/// Translations less likely than this say nothing of a word's kin.
const LEAST: f32 = 0.03;
/// What the translation of a kin is worth, and of the word itself where both are spelt the same.
const OF_KIN: f32 = 0.1;
const OF_SAME: f32 = 0.3;

/// A likely translation of a word.
#[derive(Clone, Copy, Debug)]
pub struct Translation {
    /// The translation, by number.
    word: u32,
    /// t(target | source), t(source | target)
    shares: [f32; 2],
}

/// The likely translations of each source word and of each target word.
#[derive(Clone, Debug)]
pub struct Translations([Vec<Vec<Translation>>; 2]);

impl Translations {
    /// Collects those of a lexicon over so many source words and target words.
    pub fn of(lexicon: &Lexicon, words: [usize; 2]) -> Self {
        let mut all = words.map(|words| vec![Vec::new(); words]);
        for (source, target, shares) in lexicon.likely(LEAST) {
            all[0][source as usize].push(Translation { word: target, shares });
            all[1][target as usize].push(Translation { word: source, shares });
        }
        Self(all)
    }

    /// Raises what is believed of a pair's rare words to what their kin suggest. The pair is given as words in their
    /// normal form and as numbers of `words`, which were `seen` so often.
    pub fn ask_kin(
        &self,
        sentence: &mut Sentence,
        texts: [&[String]; 2],
        ids: [&[Id]; 2],
        words: &[Words; 2],
        seen: &[Vec<u32>; 2],
    ) {
        let rare = |side: usize| {
            let seen = move |&id: &Id| id.map_or(0, |id| seen[side][id as usize]);
            ids[side].iter().map(move |id| seen(id) <= RARE).collect::<Vec<bool>>()
        };
        let [rare_sources, rare_targets] = [rare(0), rare(1)];
        for (s, source) in texts[0].iter().enumerate() {
            for (t, target) in texts[1].iter().enumerate() {
                let mut shares = if source == target && source.len() > 1 { [OF_SAME; 2] } else { [0.0; 2] };
                let sides = [
                    (rare_targets[t], ids[0][s], &self.0[0], words[1].all(), target),
                    (rare_sources[s], ids[1][t], &self.0[1], words[0].all(), source),
                ];
                for (_, id, translations, words, rare) in sides.into_iter().filter(|side| side.0) {
                    let Some(id) = id else { continue };
                    let kin = |one: &&Translation| are_kin(&words[one.word as usize], rare);
                    for one in translations[id as usize].iter().filter(kin) {
                        shares = [0, 1].map(|way| shares[way].max(OF_KIN * one.shares[way]));
                    }
                }
                sentence.raise(s, t, shares);
            }
        }
    }
}

/// Whether two words begin alike for most of the shorter one, or one ends with the other.
fn are_kin(a: &str, b: &str) -> bool {
    let least = a.chars().count().min(b.chars().count());
    let alike = |pairs: &mut dyn Iterator<Item = (char, char)>| pairs.take_while(|(a, b)| a == b).count();
    let begin = alike(&mut a.chars().zip(b.chars()));
    let end = || alike(&mut a.chars().rev().zip(b.chars().rev()));
    a != b && least >= 4 && (begin >= 4.max(least * 7 / 10) || end() == least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kin_begin_or_end_alike() {
        for (a, b) in [("straße", "straßenfest"), ("spieler", "fußballspieler"), ("kleine", "kleinen")] {
            assert!(are_kin(a, b) && are_kin(b, a), "{a} {b}");
        }
        for (a, b) in [("der", "derselbe"), ("haus", "maus"), ("auto", "auto"), ("", "x"), ("grün", "grau")] {
            assert!(!are_kin(a, b), "{a} {b}");
        }
    }
}
