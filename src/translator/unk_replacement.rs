//! Replacement of `<unk>` through the alignment (Luong, Sutskever, Le, Vinyals & Zaremba 2015, "Addressing the Rare Word
//! Problem in Neural Machine Translation").

use std::collections::HashMap;

use anyhow::Result;

use super::Sentence;
use crate::search::Hypothesis;
use crate::text::{NormalForm, Pair, UNKNOWN, Tokenization, Vocabulary, WordSplitting};

/// Translations of source words, which are keyed in NFC. A word without a translation is copied.
#[derive(Clone, Debug, Default)]
pub struct Dictionary(HashMap<String, String>);

impl Dictionary {
    /// Returns the dictionary of pairs of a word and its translation. The first of equal words counts.
    pub fn from_pairs(pairs: Vec<Pair>) -> Self {
        let mut words = HashMap::new();
        for Pair { source, target } in pairs {
            words.entry(NormalForm::Nfc.apply(source.trim()).into_owned()).or_insert_with(|| target.trim().to_owned());
        }
        Self(words)
    }

    fn translation(&self, word: &str) -> String {
        let key = NormalForm::Nfc.apply(word);
        let found = self.0.get(&*key).or_else(|| self.0.get(&key.to_lowercase()));
        found.map_or_else(|| word.to_owned(), String::clone)
    }

    /// Returns the replacement of each `<unk>` by position: the translation of the source word with the most attention, or of
    /// the source code point. A run of `<unk>` is replaced once if the tokens of the target are subwords.
    pub(super) fn replacements(
        &self,
        sentence: &Sentence,
        source: &Vocabulary,
        target_tokenization: Tokenization,
        hypothesis: &Hypothesis,
    ) -> Result<HashMap<usize, String>> {
        let mut replacements = HashMap::new();
        if !hypothesis.tokens.contains(&UNKNOWN) {
            return Ok(replacements);
        }
        let has_characters = source.tokenization().are_characters();
        let words = if has_characters { WordSplitting::CodePoints } else { WordSplitting::Punctuation };
        let (segmentation, before) = sentence.segment_given(source, words)?;
        let unknown = |token: usize| hypothesis.tokens.get(token) == Some(&UNKNOWN);
        let mut start = 0;
        while start < hypothesis.tokens.len() {
            let max_end = if target_tokenization == Tokenization::Bpe { hypothesis.tokens.len() } else { start + 1 };
            let end = (start..max_end).find(|&token| !unknown(token)).unwrap_or(max_end);
            let mut attention = vec![0.0; segmentation.words.len()];
            for row in &hypothesis.attention[start..end] {
                segmentation
                    .word_of_token
                    .iter()
                    .zip(row.iter().skip(before))
                    .for_each(|(&word, weight)| attention[word] += weight);
            }
            let heaviest = (0..attention.len()).max_by(|&a, &b| attention[a].total_cmp(&attention[b]).then(b.cmp(&a)));
            for token in start..end {
                let word = heaviest.filter(|_| token == start).map(|word| self.translation(&segmentation.words[word]));
                replacements.insert(token, word.unwrap_or_default());
            }
            start = end.max(start + 1);
        }
        Ok(replacements)
    }
}
