//! Byte-pair encoding with merges left out by chance, so that a word is met in many cuts (Provilkov, Emelianenko & Voita
//! 2020, "BPE-Dropout: Simple and Effective Subword Regularization").
//!
//! In each round the first of all merges that fit is made, as always, but each place where one fits is passed over with
//! the probability `rate`. A word is done when no place is left, or all were passed over. A word of more than
//! [`LONGEST_WORD`] characters keeps its units, since the rounds take quadratic time.

use std::collections::HashMap;

use super::LONGEST_WORD;
use crate::random::SeededRng;

/// The merges of a vocabulary: pairs of units that become one, the first to be made first.
#[derive(Debug, Default)]
pub struct Merges {
    /// For each pair its rank and the unit that it becomes.
    by_pair: HashMap<[u32; 2], (u32, u32)>,
    /// What each merged unit is made of.
    parts: HashMap<u32, [u32; 2]>,
}

impl Merges {
    /// From pairs with the units that they become, in the order in which they are made.
    pub fn new(merges: impl Iterator<Item = ([u32; 2], u32)>) -> Self {
        let mut all = Self::default();
        for (rank, (pair, whole)) in (0..).zip(merges) {
            all.by_pair.insert(pair, (rank, whole));
            // Where two pairs spell the same unit, the first one makes it.
            all.parts.entry(whole).or_insert(pair);
        }
        all
    }

    /// Takes a unit apart into those that no merge makes.
    fn spell(&self, unit: u32, spelled: &mut Vec<u32>) {
        match self.parts.get(&unit) {
            Some(parts) => parts.iter().for_each(|&part| self.spell(part, spelled)),
            None => spelled.push(unit),
        }
    }

    /// Merges the units of one word, passing over a place with probability `rate`.
    fn merge(&self, word: &mut Vec<u32>, rate: f64, stream: &mut SeededRng) {
        loop {
            let fitting = word.windows(2).enumerate().filter_map(|(place, pair)| {
                let &(rank, whole) = self.by_pair.get(&[pair[0], pair[1]])?;
                (stream.uniform() >= rate).then_some((rank, place, whole))
            });
            let Some((_, place, whole)) = fitting.min() else { return };
            word[place] = whole;
            word.remove(place + 1);
        }
    }
}

/// Texts that can be cut anew: each is a row of words, of which equal ones are kept once.
pub struct Resegmenter {
    merges: Merges,
    /// Each word in units that no merge makes, or in its own if it is too long for that.
    words: Vec<Vec<u32>>,
    /// Each text's words.
    texts: Vec<Vec<u32>>,
}

impl Resegmenter {
    /// Texts given as words in units.
    pub fn new(merges: Merges, texts: impl Iterator<Item = Vec<Vec<u32>>>) -> Self {
        let (mut words, mut known) = (Vec::new(), HashMap::new());
        let mut number = |word: Vec<u32>| -> u32 {
            *known.entry(word).or_insert_with_key(|word| {
                let mut spelled = Vec::new();
                word.iter().for_each(|&unit| merges.spell(unit, &mut spelled));
                words.push(if spelled.len() > LONGEST_WORD { word.clone() } else { spelled });
                words.len() as u32 - 1
            })
        };
        let texts = texts.map(|text| text.into_iter().map(&mut number).collect()).collect();
        Self { merges, words, texts }
    }

    /// One of the texts in units.
    pub fn cut(&self, text: usize, rate: f64, stream: &mut SeededRng) -> Vec<u32> {
        let mut units = Vec::new();
        for &word in &self.texts[text] {
            let mut word = self.words[word as usize].clone();
            self.merges.merge(&mut word, rate, stream);
            units.append(&mut word);
        }
        units
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ab, then abc, then cd, over the units a to d as 0 to 3.
    fn merges() -> Merges {
        Merges::new([([0, 1], 4), ([4, 2], 5), ([2, 3], 6)].into_iter())
    }

    fn cuts(word: &[u32], rate: f64) -> Vec<Vec<u32>> {
        let recutting = Resegmenter::new(merges(), [vec![word.to_vec()]].into_iter());
        (0..200).map(|index| recutting.cut(0, rate, &mut SeededRng::new(1, "cuts", index))).collect()
    }

    #[test]
    fn without_dropout_a_word_is_cut_as_before() {
        assert!(cuts(&[5, 3], 0.0).iter().all(|cut| cut == &[5, 3]), "ab and abc come before cd");
        assert!(cuts(&[0, 1, 2, 3], 0.0).iter().all(|cut| cut == &[5, 3]));
    }

    #[test]
    fn with_dropout_every_cut_is_met_and_spells_the_same() {
        let mut found = cuts(&[5, 3], 0.3);
        for cut in &found {
            let mut spelled = Vec::new();
            cut.iter().for_each(|&unit| merges().spell(unit, &mut spelled));
            assert_eq!(spelled, [0, 1, 2, 3]);
        }
        found.sort();
        found.dedup();
        assert_eq!(found, [&[0, 1, 2, 3][..], &[0, 1, 6], &[4, 2, 3], &[4, 6], &[5, 3]]);
    }

    #[test]
    fn word_beyond_the_longest_keeps_its_units() {
        let [kept, cut] = [LONGEST_WORD / 3 + 1, LONGEST_WORD / 3].map(|repeated| vec![5; repeated]);
        assert!(cuts(&kept, 0.5).iter().all(|units| *units == kept));
        assert!(cuts(&cut, 0.5).iter().any(|units| *units != cut));
    }

    #[test]
    fn nothing_is_cut_into_nothing() {
        let recutting = Resegmenter::new(merges(), [Vec::new(), vec![vec![9]]].into_iter());
        assert!(recutting.cut(0, 0.5, &mut SeededRng::new(1, "cuts", 0)).is_empty());
        assert_eq!(recutting.cut(1, 0.5, &mut SeededRng::new(1, "cuts", 0)), [9], "a unit that no merge knows stays");
    }
}
