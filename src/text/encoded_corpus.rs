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
