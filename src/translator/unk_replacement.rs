//! Replacement of `<unk>` through the alignment (Luong, Sutskever, Le, Vinyals & Zaremba 2015, "Addressing the Rare Word
//! Problem in Neural Machine Translation").

use std::collections::HashMap;

use anyhow::Result;

use super::Sentence;
use super::request::GivenTokens;
use crate::search::Hypothesis;
use crate::text::{NormalForm, Pair, Segmentation, Tokenization, UNKNOWN, Vocabulary, WordSplitting};

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

    /// Returns the translation of a word, or else the word.
    fn translation(&self, word: &str) -> String {
        let key = NormalForm::Nfc.apply(word);
        let found = self.0.get(&*key).or_else(|| self.0.get(&key.to_lowercase()));
        found.map_or_else(|| word.to_owned(), String::clone)
    }

    /// Returns the replacement of each `<unk>` by its position: the translation of the source word with the most attention, or
    /// of the source code point. A run of `<unk>` is replaced once if the tokens of the target are subwords.
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
        let source = sentence.segment_given(source, words)?;
        let tokens = &hypothesis.tokens;
        let mut start = 0;
        while start < tokens.len() {
            let max_end = if target_tokenization == Tokenization::Bpe { tokens.len() } else { start + 1 };
            let end = (start..max_end).find(|&token| tokens[token] != UNKNOWN).unwrap_or(max_end);
            if start < end {
                let word = most_attended_word(&source, &hypothesis.attention[start..end]);
                replacements.insert(start, word.map(|word| self.translation(word)).unwrap_or_default());
                replacements.extend((start + 1..end).map(|token| (token, String::new())));
            }
            start = end.max(start + 1);
        }
        Ok(replacements)
    }
}

/// Returns the first of the source words with the most attention, summed over rows `[source tokens + 1]`; none without words.
fn most_attended_word<'s>(source: &'s GivenTokens, rows: &[Vec<f32>]) -> Option<&'s str> {
    let Segmentation { words, word_of_token, .. } = &source.segmentation;
    let mut attention = vec![0.0; words.len()];
    for row in rows {
        for (&word, weight) in word_of_token.iter().zip(row.iter().skip(source.tokens_before)) {
            attention[word] += weight;
        }
    }
    let most = (0..words.len()).max_by(|&a, &b| attention[a].total_cmp(&attention[b]).then(b.cmp(&a)))?;
    Some(&words[most])
}
