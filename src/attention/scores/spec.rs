//! What each score tells of itself.

use candle_core::{Result, Tensor};

use crate::attention::score_traits::{Score, SentenceScore};
use crate::parameters::Start;

/// What a file of this folder tells of its score.
pub(in crate::attention) trait Family {
    /// What it needs beside queries and keys.
    const NEEDS: Needs;
    /// Its fast form.
    type Sentence<'a>: SentenceScore;

    /// The plain form for one of several heads.
    fn plain(own: Option<&Tensor>, head: Part) -> Result<Box<dyn Score>>;

    /// The fast form over the score's own numbers, those of all heads.
    fn sentence(own: &[f32]) -> Self::Sentence<'_>;
}

/// What a score needs.
#[derive(Clone, Copy)]
pub(in crate::attention) struct Needs {
    pub projections: Projections,
    /// Its own parameter.
    pub own: Option<Own>,
    /// What its energies are divided by, whatever the user's temperature, for vectors of so many numbers.
    pub temperature: fn(usize) -> f64,
    /// Parts of the values that are pooled by weights of their own, in each head.
    pub parts: usize,
    /// Whether it looks at the same places whatever is asked, so that there is nothing to learn or to show.
    pub fixed: bool,
}

/// Where queries and keys come from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::attention) enum Projections {
    /// W_q s and W_k h, of the attention's size.
    Both,
    /// s itself and W_k h, of the state's size.
    Keys,
    /// s and h themselves; W_q s and W_k h where there are several heads, which need parts of their own.
    Heads,
    /// s and h themselves.
    None,
}

/// A score's own parameter.
#[derive(Clone, Copy)]
pub(in crate::attention) struct Own {
    pub name: &'static str,
    /// Its shape, for queries of so many numbers and so many heads.
    pub shape: fn(usize, usize) -> Vec<usize>,
    pub start: Start,
}

/// One of several heads.
#[derive(Clone, Copy)]
pub(in crate::attention) struct Part {
    pub head: usize,
    pub heads: usize,
}

impl Needs {
    /// What the usual score needs: nothing of its own.
    pub const fn projections(projections: Projections) -> Self {
        Self { projections, own: None, temperature: |_| 1.0, parts: 1, fixed: false }
    }
}

impl Part {
    /// The head's share of a dimension that all heads divide among them.
    pub fn of(self, tensor: &Tensor, dimension: usize) -> Result<Tensor> {
        let width = tensor.dim(dimension)? / self.heads;
        tensor.narrow(dimension, self.head * width, width)
    }

    /// The head's share of numbers.
    pub fn of_slice(self, values: &[f32]) -> &[f32] {
        let width = values.len() / self.heads;
        &values[self.head * width..][..width]
    }
}

/// The parameter that a score asked for in its [`Needs`].
pub(super) fn own(parameter: Option<&Tensor>) -> Result<&Tensor> {
    match parameter {
        Some(parameter) => Ok(parameter),
        None => candle_core::bail!("a score lacks its own parameter"),
    }
}
