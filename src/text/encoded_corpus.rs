//! Corpus of usable pairs, as text and as ids.

use anyhow::Result;

use super::{Example, Pair, Vocabulary};

/// Usable pairs with their ids, and counts of omitted pairs.
pub struct EncodedCorpus {
    /// Usable pairs.
    pub pairs: Vec<Pair>,
    /// Ids of each usable pair.
    pub examples: Vec<Example>,
    /// Occurrences of each usable pair per epoch; none if each occurs once.
    pub weights: Option<Vec<f64>>,
    /// Number of pairs omitted because a side is blank.
    pub empty: usize,
    /// Number of pairs omitted because a side has too many tokens.
    pub too_long: usize,
}

impl EncodedCorpus {
    /// Returns at most `max_pairs` of the pairs, evenly spaced.
    #[must_use]
    pub fn subsample(&self, max_pairs: usize) -> Self {
        let count = self.pairs.len().min(max_pairs);
        let indices = (0..count).map(|number| number * self.pairs.len() / count);
        Self {
            pairs: indices.clone().map(|index| self.pairs[index].clone()).collect(),
            examples: indices.clone().map(|index| self.examples[index].clone()).collect(),
            weights: self.weights.as_ref().map(|weights| indices.map(|index| weights[index]).collect()),
            empty: 0,
            too_long: 0,
        }
    }

    /// Number of target characters for each source character; none if a side has no known token. Words in characters have none
    /// either: their length varies more than that of sentences, and a model predicts it well.
    pub fn length_ratio(&self, source: &Vocabulary, target: &Vocabulary) -> Option<f64> {
        if target.tokenization().are_characters() {
            return None;
        }
        let mut characters = [0, 0];
        for example in &self.examples {
            characters[0] += source.surface_forms().characters(example.source.iter().copied());
            characters[1] += target.surface_forms().characters(example.target.iter().copied());
        }
        let [source, target] = characters.map(|count| count as f64);
        (source > 0.0 && target > 0.0).then_some(target / source)
    }

    /// Encodes pairs. Omits blank pairs and those with more than `max_length` tokens on a side.
    pub fn new(pairs: Vec<Pair>, source: &Vocabulary, target: &Vocabulary, max_length: usize) -> Result<Self> {
        let sources = source.encode_all(pairs.iter().map(|pair| pair.source.as_str()))?;
        let targets = target.encode_all(pairs.iter().map(|pair| pair.target.as_str()))?;
        let mut corpus = Self { pairs: Vec::new(), examples: Vec::new(), weights: None, empty: 0, too_long: 0 };
        for ((pair, source), target) in pairs.into_iter().zip(sources).zip(targets) {
            if pair.has_empty_side() {
                corpus.empty += 1;
            } else if source.len().max(target.len()) > max_length {
                corpus.too_long += 1;
            } else {
                corpus.pairs.push(pair);
                corpus.examples.push(Example::new(source, target));
            }
        }
        Ok(corpus)
    }
}
