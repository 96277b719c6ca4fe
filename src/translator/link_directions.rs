//! Probabilities of the links of a pair in both directions.

use crate::alignment::{Alignment, Link, LinkScores, attention_directions, linked_sources};

/// Probabilities of the links of a pair in both directions.
pub(super) struct LinkDirections {
    /// Number of source words or tokens.
    sources: usize,
    /// Number of target words or tokens.
    targets: usize,
    /// p(target t is aligned to source s), `[target × source]`.
    forward: Vec<f32>,
    /// p(source s is aligned to target t), `[target × source]`.
    backward: Vec<f32>,
}

impl LinkDirections {
    /// Returns directions from both matrices, `[target × source]`.
    pub fn new([sources, targets]: [usize; 2], forward: Vec<f32>, backward: Vec<f32>) -> Self {
        Self { sources, targets, forward, backward }
    }

    /// Returns directions that link nothing.
    pub fn zeros(shape: [usize; 2]) -> Self {
        let zeros = vec![0.0; shape[0] * shape[1]];
        Self::new(shape, zeros.clone(), zeros)
    }

    /// Returns the directions of attention `[target × source]` and of the attention of a reverse model `[source × target]`.
    /// Without one, the backward direction is inferred from attention.
    pub fn of_attention(attention: &Alignment, reversed: Option<&Alignment>) -> Self {
        let shape = [attention.source().len(), attention.target().len()];
        let [forward, backward] = match reversed {
            Some(reversed) => [attention.weights().to_vec(), transposed(reversed.weights(), shape[1])],
            None => attention_directions(attention),
        };
        Self::new(shape, forward, backward)
    }

    /// Returns the mean of two, of equal shape.
    pub fn mean(&self, other: &Self) -> Self {
        Self { forward: mean(&self.forward, &other.forward), backward: mean(&self.backward, &other.backward), ..*self }
    }

    /// Scores of links from both directions.
    pub fn scores(&self) -> LinkScores {
        LinkScores::from_directions(self.sources, &self.forward, &self.backward)
    }

    /// Scores of links from the forward direction alone.
    pub fn forward_scores(&self) -> LinkScores {
        LinkScores::from_directions(self.sources, &self.forward, &self.forward)
    }

    /// Scores of links from the backward direction alone.
    pub fn backward_scores(&self) -> LinkScores {
        LinkScores::from_directions(self.sources, &self.backward, &self.backward)
    }

    /// Returns the links of each target word: its most probable source word, unless null is more probable, and all whose
    /// probability reaches the threshold.
    pub fn forward_links(&self, threshold: f32) -> Vec<Link> {
        links_of_rows(&self.forward, self.sources, threshold)
    }

    /// Returns the links of each source word, as [`Self::forward_links`] does.
    pub fn backward_links(&self, threshold: f32) -> Vec<Link> {
        let by_source = transposed(&self.backward, self.sources);
        let links = links_of_rows(&by_source, self.targets, threshold);
        links.into_iter().map(|link| Link { source: link.target, target: link.source }).collect()
    }
}

/// Links of each row of a matrix `[target × source]`; the rest of its probability is that of null.
fn links_of_rows(values: &[f32], columns: usize, threshold: f32) -> Vec<Link> {
    let mut links = Vec::new();
    for (target, row) in values.chunks_exact(columns.max(1)).enumerate() {
        let null = 1.0 - row.iter().sum::<f32>();
        links.extend(linked_sources(row, null, threshold).map(|source| Link { source, target }));
    }
    links
}

/// Returns the transpose of a matrix with so many columns.
fn transposed(values: &[f32], columns: usize) -> Vec<f32> {
    let rows = values.len() / columns.max(1);
    (0..values.len()).map(|cell| values[cell % rows * columns + cell / rows]).collect()
}

fn mean(one: &[f32], other: &[f32]) -> Vec<f32> {
    one.iter().zip(other).map(|(one, other)| (one + other) / 2.0).collect()
}
