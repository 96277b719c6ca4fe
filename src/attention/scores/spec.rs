//! Specification of attention scores.

use candle_core::{Result, Tensor};

use crate::parameters::Init;

/// Specification of a score.
#[derive(Clone, Copy)]
pub(in crate::attention) struct ScoreSpec {
    pub projections: Projections,
    /// The score's own parameter, if any.
    pub param: Option<ScoreParam>,
    /// The score's own temperature for vectors of a given size, on top of the user's.
    pub temperature: fn(usize) -> f64,
    /// Slices of the values that each head pools with weights of their own.
    pub pools: usize,
    /// The weights do not depend on the query, so that there is nothing to train or report.
    pub fixed: bool,
}

/// Origin of queries and keys.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::attention) enum Projections {
    /// W_q s and W_k h, of the attention size.
    Both,
    /// s itself and W_k h, of the state size.
    Keys,
    /// s and h themselves with one head; W_q s and W_k h with several, which need slices of their own.
    IfMultiHead,
    /// s and h themselves.
    None,
}

/// A score's own parameter.
#[derive(Clone, Copy)]
pub(in crate::attention) struct ScoreParam {
    pub name: &'static str,
    /// Shape, given the size of queries and the number of heads.
    pub shape: fn(usize, usize) -> Vec<usize>,
    pub init: Init,
}

/// Head of attention, by its number.
#[derive(Clone, Copy)]
pub(in crate::attention) struct HeadSlice {
    pub head: usize,
    pub heads: usize,
}

impl ScoreSpec {
    /// Specification of a score of one pool that has no parameter.
    pub const fn projections(projections: Projections) -> Self {
        Self { projections, param: None, temperature: |_| 1.0, pools: 1, fixed: false }
    }
}

impl HeadSlice {
    /// The head's slice of a dimension that all heads share.
    pub fn narrow(self, tensor: &Tensor, dimension: usize) -> Result<Tensor> {
        let width = tensor.dim(dimension)? / self.heads;
        tensor.narrow(dimension, self.head * width, width)
    }

    /// The head's slice of `values`.
    pub fn slice(self, values: &[f32]) -> &[f32] {
        let width = values.len() / self.heads;
        &values[self.head * width..][..width]
    }
}

/// Returns the parameter that a score declares in its [`ScoreSpec`].
pub(super) fn required_param(parameter: Option<&Tensor>) -> Result<&Tensor> {
    match parameter {
        Some(parameter) => Ok(parameter),
        None => candle_core::bail!("a score lacks its own parameter"),
    }
}
