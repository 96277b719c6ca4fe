//! A corpus ready for training: the pairs that can be used, as text and as ids.

use anyhow::Result;

use super::{Example, Pair, Vocabulary};

/// Usable pairs with their ids, and counts of what was left out.
pub struct EncodedCorpus {
    /// The usable pairs.
    pub pairs: Vec<Pair>,
    /// Each usable pair's ids.
    pub examples: Vec<Example>,
    /// How often each usable pair comes in an epoch; none where all come once.
    pub weights: Option<Vec<f64>>,
    /// Pairs left out because a side is empty or white space alone.
    pub empty: usize,
    /// Pairs left out because a side has too many units.
    pub too_long: usize,
}

impl EncodedCorpus {
    /// Some of the pairs, `most` at most, spread evenly.
    #[must_use]
    pub fn some(&self, most: usize) -> Self {
        let count = self.pairs.len().min(most);
        let places = || (0..count).map(|number| number * self.pairs.len() / count);
        Self {
            pairs: places().map(|place| self.pairs[place].clone()).collect(),
            examples: places().map(|place| self.examples[place].clone()).collect(),
            weights: self.weights.as_ref().map(|weights| places().map(|place| weights[place]).collect()),
            empty: 0,
            too_long: 0,
        }
    }

    /// Turns pairs into ids. A side may have at most `longest` units.
    pub fn new(pairs: Vec<Pair>, source: &Vocabulary, target: &Vocabulary, longest: usize) -> Result<Self> {
        let sources = source.encode_all(pairs.iter().map(|pair| pair.source.as_str()))?;
        let targets = target.encode_all(pairs.iter().map(|pair| pair.target.as_str()))?;
        let mut corpus = Self { pairs: Vec::new(), examples: Vec::new(), weights: None, empty: 0, too_long: 0 };
        for ((pair, source), target) in pairs.into_iter().zip(sources).zip(targets) {
            if pair.source.trim().is_empty() || pair.target.trim().is_empty() {
                corpus.empty += 1;
            } else if source.len().max(target.len()) > longest {
                corpus.too_long += 1;
            } else {
                corpus.pairs.push(pair);
                corpus.examples.push(Example::new(source, target));
            }
        }
        Ok(corpus)
    }
}
