//! Candidates of posterior attention: the tokens among which it normalizes a prediction, and the source tokens that it considers.

/// Number of tokens at the beginning of the vocabulary that are always candidates. They are the letters and the most frequent
/// subwords.
const FREQUENT: usize = 256;
/// Maximum source tokens that a target token may come from, so that time is not quadratic in the length.
const ATTENDED: usize = 64;

/// Tokens of one target and the frequent ones, without repetition.
#[derive(Clone, Debug)]
pub struct Candidates {
    /// Number of the first tokens of the vocabulary, which are all candidates.
    frequent: usize,
    /// Other candidates, in increasing order.
    others: Vec<u32>,
}

impl Candidates {
    /// Candidates for a target of a vocabulary of this size.
    pub fn new(vocabulary: usize, targets: &[u32]) -> Self {
        let frequent = vocabulary.min(FREQUENT);
        let mut others: Vec<u32> = targets.iter().copied().filter(|&token| token as usize >= frequent).collect();
        others.sort_unstable();
        others.dedup();
        Self { frequent, others }
    }

    /// Number of candidates.
    pub fn len(&self) -> usize {
        self.frequent + self.others.len()
    }

    /// Iterates over the candidates in increasing order.
    pub fn tokens(&self) -> impl Iterator<Item = u32> {
        (0..self.frequent as u32).chain(self.others.iter().copied())
    }

    /// Index of a token, if it is a candidate.
    pub fn find(&self, token: u32) -> Option<usize> {
        if (token as usize) < self.frequent {
            return Some(token as usize);
        }
        self.others.binary_search(&token).ok().map(|index| self.frequent + index)
    }
}

/// Zeroes all weights but the largest ones.
pub fn keep_largest(weights: &mut [f32]) {
    if weights.len() <= ATTENDED {
        return;
    }
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by(|&one, &other| weights[other].total_cmp(&weights[one]));
    order[ATTENDED..].iter().for_each(|&index| weights[index] = 0.0);
}
