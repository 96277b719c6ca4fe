//! Words that the model does not know, copied through the alignment (Luong, Sutskever, Le, Vinyals & Zaremba 2015,
//! "Addressing the Rare Word Problem in Neural Machine Translation").

use std::collections::HashMap;

use anyhow::Result;

use super::Sentence;
use crate::search::Hypothesis;
use crate::text::{NormalForm, Pair, UNKNOWN, Vocabulary, WordSplitting};

/// Translations of source words, by what these are in NFC; a word that has none is copied.
#[derive(Clone, Debug, Default)]
pub struct Dictionary(HashMap<String, String>);

impl Dictionary {
    /// From pairs of a word and its translation; of several the first.
    pub fn of(pairs: Vec<Pair>) -> Self {
        let mut words = HashMap::new();
        for Pair { source, target } in pairs {
            words.entry(NormalForm::Nfc.apply(source.trim()).into_owned()).or_insert_with(|| target.trim().to_owned());
        }
        Self(words)
    }

    fn translation(&self, word: &str) -> String {
        let normal = NormalForm::Nfc.apply(word);
        let found = self.0.get(&*normal).or_else(|| self.0.get(&normal.to_lowercase()));
        found.map_or_else(|| word.to_owned(), String::clone)
    }

    /// What to write for each unit that the model does not know: the source word that it looked at most, translated or
    /// copied; where units are less than words, once for a run of them.
    pub(super) fn replacements(
        &self,
        sentence: &Sentence,
        source: &Vocabulary,
        whole_words: bool,
        hypothesis: &Hypothesis,
    ) -> Result<HashMap<usize, String>> {
        let mut replacements = HashMap::new();
        if !hypothesis.units.contains(&UNKNOWN) {
            return Ok(replacements);
        }
        let (segmentation, before) = sentence.segment_given(source, WordSplitting::Punctuation)?;
        let unknown = |unit: usize| hypothesis.units.get(unit) == Some(&UNKNOWN);
        let mut start = 0;
        while start < hypothesis.units.len() {
            let run = if whole_words { start + 1 } else { hypothesis.units.len() };
            let end = (start..run).find(|&unit| !unknown(unit)).unwrap_or(run);
            let mut attention = vec![0.0; segmentation.words.len()];
            for row in &hypothesis.attention[start..end] {
                segmentation
                    .word_of_unit
                    .iter()
                    .zip(row.iter().skip(before))
                    .for_each(|(&word, weight)| attention[word] += weight);
            }
            let heaviest = (0..attention.len()).max_by(|&a, &b| attention[a].total_cmp(&attention[b]).then(b.cmp(&a)));
            for unit in start..end {
                let word = heaviest.filter(|_| unit == start).map(|word| self.translation(&segmentation.words[word]));
                replacements.insert(unit, word.unwrap_or_default());
            }
            start = end.max(start + 1);
        }
        Ok(replacements)
    }
}
