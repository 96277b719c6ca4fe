//! What each score tells of itself.

use candle_core::{Result, Tensor};

use crate::attention::score_traits::{CpuScore, Score};
use crate::parameters::Init;

/// What a file of this folder tells of its score.
pub(in crate::attention) trait ScoreDef {
    /// What it needs beside queries and keys.
    const SPEC: ScoreSpec;
    /// Its fast form.
    type Cpu<'a>: CpuScore;

    /// The plain form for one of several heads.
    fn reference(param: Option<&Tensor>, head: HeadSlice) -> Result<Box<dyn Score>>;

    /// The fast form over the score's param numbers, those of all heads.
    fn cpu(param: &[f32]) -> Self::Cpu<'_>;
}

/// What a score needs.
#[derive(Clone, Copy)]
pub(in crate::attention) struct ScoreSpec {
    pub projections: Projections,
    /// Its param parameter.
    pub param: Option<ScoreParam>,
    /// What its energies are divided by, whatever the user's temperature, for vectors of so many numbers.
    pub temperature: fn(usize) -> f64,
    /// Parts of the values that are pooled by weights of their param, in each head.
    pub pools: usize,
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
    /// s and h themselves; W_q s and W_k h where there are several heads, which need pools of their param.
    IfMultiHead,
    /// s and h themselves.
    None,
}

/// A score's param parameter.
#[derive(Clone, Copy)]
pub(in crate::attention) struct ScoreParam {
    pub name: &'static str,
    /// Its shape, for queries of so many numbers and so many heads.
    pub shape: fn(usize, usize) -> Vec<usize>,
    pub init: Init,
}

/// One of several heads.
#[derive(Clone, Copy)]
pub(in crate::attention) struct HeadSlice {
    pub head: usize,
    pub heads: usize,
}

impl ScoreSpec {
    /// What the usual score needs: nothing of its param.
    pub const fn projections(projections: Projections) -> Self {
        Self { projections, param: None, temperature: |_| 1.0, pools: 1, fixed: false }
    }
}

impl HeadSlice {
    /// The head's share of a dimension that all heads divide among them.
    pub fn narrow(self, tensor: &Tensor, dimension: usize) -> Result<Tensor> {
        let width = tensor.dim(dimension)? / self.heads;
        tensor.narrow(dimension, self.head * width, width)
    }

    /// The head's share of numbers.
    pub fn slice(self, values: &[f32]) -> &[f32] {
        let width = values.len() / self.heads;
        &values[self.head * width..][..width]
    }
}

/// The parameter that a score asked for in its [`ScoreSpec`].
pub(super) fn required_param(parameter: Option<&Tensor>) -> Result<&Tensor> {
    match parameter {
        Some(parameter) => Ok(parameter),
        None => candle_core::bail!("a score lacks its param parameter"),
    }
}
