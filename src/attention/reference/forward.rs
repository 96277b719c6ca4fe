//! Attention of the translator: projections, heads, mode.

use candle_core::{Result, Tensor};

use super::pooling::{Pooled, pool};
use crate::attention::config::{
    AttentionConfig, AttentionDims, KEY_WEIGHT, OUTPUT_WEIGHT, QUERY_WEIGHT, VALUE_WEIGHT, score_param_name,
};
use crate::attention::mode::{AttentionWeights, PoolingWeights, select_position};
use crate::attention::score_traits::{ScaledScore, Score};
use crate::attention::scores::HeadSlice;
use crate::parameters::Parameters;

/// Attention over one set of parameters.
pub struct Attention {
    settings: AttentionConfig,
    /// W_q, if used: `[d, n]`
    query: Option<Tensor>,
    /// W_k, if used: `[d, n]`
    key: Option<Tensor>,
    /// W_v, if used: `[n, n]`
    value: Option<Tensor>,
    /// W_o, if used: `[n, n]`
    output: Option<Tensor>,
    /// The score's own parameter, if it has one
    param: Option<Tensor>,
    inverse_temperature: f64,
    /// One per head.
    scores: Vec<ScaledScore<Box<dyn Score>>>,
}

/// Annotations with their keys and values, projected once per sentence.
#[derive(Clone, Debug)]
pub struct Memory {
    /// `[batch, length, n]`
    annotations: Tensor,
    /// `[batch, length, d]`
    keys: Tensor,
    /// `[batch, length, n]`
    values: Tensor,
    /// `[batch, length]`
    mask: Tensor,
}

/// Weights of soft additive attention with one head.
pub struct SoftAdditive<'a> {
    /// W_q: `[d, n]`
    pub query: &'a Tensor,
    /// v: `[1, d]`
    pub v: &'a Tensor,
    /// 1 / temperature
    pub inverse_temperature: f64,
}

/// Results of one step of attention.
#[derive(Clone, Debug)]
pub struct AttentionOutput {
    /// c: `[batch, n]`
    pub context: Tensor,
    /// α, mean over the heads, `[batch, length]`, whatever the mode. Guided alignment and the lexicon refer to it.
    pub alphas: Tensor,
    /// Reported weights, `[batch, length]`: those that pooled, mean over the heads or those of one head.
    pub reported: Tensor,
    /// Weights that pooled, `[batch, length]` for each head.
    pub heads: Vec<Tensor>,
}

impl Memory {
    /// Annotations `[batch, length, n]`.
    pub fn annotations(&self) -> &Tensor {
        &self.annotations
    }

    /// Keys `[batch, length, d]`.
    pub fn keys(&self) -> &Tensor {
        &self.keys
    }

    /// Values `[batch, length, n]`.
    pub fn values(&self) -> &Tensor {
        &self.values
    }

    /// Number of real positions of each sentence: `[batch]`, u32.
    ///
    /// # Errors
    /// The device is out of memory.
    pub fn lengths(&self) -> Result<Tensor> {
        self.mask.sum(1)?.to_dtype(candle_core::DType::U32)
    }

    /// Memory of the sentences `rows`, in that order, with repetitions.
    ///
    /// # Errors
    /// The device is out of memory.
    pub fn select(&self, rows: &Tensor) -> Result<Self> {
        Ok(Self {
            annotations: self.annotations.index_select(rows, 0)?,
            keys: self.keys.index_select(rows, 0)?,
            values: self.values.index_select(rows, 0)?,
            mask: self.mask.index_select(rows, 0)?,
        })
    }

    /// Mean annotation over real positions: `[batch, n]`.
    ///
    /// # Errors
    /// The device is out of memory.
    pub fn mean(&self) -> Result<Tensor> {
        let shares = self.mask.broadcast_div(&self.mask.sum_keepdim(1)?)?; // [batch, length]
        shares.unsqueeze(1)?.matmul(&self.annotations)?.squeeze(1)
    }

    /// Backward half of the annotation at the first position: `[batch, n/2]`.
    ///
    /// # Errors
    /// The device is out of memory.
    pub fn backward_first(&self) -> Result<Tensor> {
        let half = self.annotations.dim(2)? / 2;
        self.annotations.narrow(1, 0, 1)?.squeeze(1)?.narrow(1, half, half)?.contiguous()
    }
}

impl Attention {
    /// Selects the attention's parameters.
    ///
    /// # Errors
    /// One is missing.
    pub fn new(settings: &AttentionConfig, dimensions: AttentionDims, parameters: &Parameters) -> Result<Self> {
        let layout = settings.layout(dimensions);
        let param = layout.param.map(|param| parameters.get(&score_param_name(param))).transpose()?;
        let mut scores = Vec::with_capacity(layout.heads);
        for head in 0..layout.heads {
            let score = settings.score.reference(param.as_ref(), HeadSlice { head, heads: layout.heads })?;
            scores.push(ScaledScore { score, temperature: 1.0 / layout.inverse_temperature });
        }
        Ok(Self {
            settings: settings.clone(),
            query: layout.projects_queries.then(|| parameters.get(QUERY_WEIGHT)).transpose()?,
            key: layout.projects_keys.then(|| parameters.get(KEY_WEIGHT)).transpose()?,
            value: layout.projects_values.then(|| parameters.get(VALUE_WEIGHT)).transpose()?,
            output: layout.projects_values.then(|| parameters.get(OUTPUT_WEIGHT)).transpose()?,
            scores,
            param,
            inverse_temperature: layout.inverse_temperature,
        })
    }

    /// Returns the weights if this is soft additive attention with one head and without projected values.
    pub fn soft_additive(&self) -> Option<SoftAdditive<'_>> {
        let is_plain = self.scores.len() == 1 && !self.settings.is_hard() && self.output.is_none();
        match (&self.query, &self.param) {
            (Some(query), Some(v)) if is_plain && self.settings.score == crate::attention::ScoreName::Additive => {
                Some(SoftAdditive { query, v, inverse_temperature: self.inverse_temperature })
            }
            _ => None,
        }
    }

    /// Projects annotations `[batch, length, n]` to keys and values; `mask`, `[batch, length]`, is 1 on real positions.
    ///
    /// # Errors
    /// The shapes do not match.
    pub fn project_memory(&self, annotations: Tensor, mask: Tensor) -> Result<Memory> {
        let keys = project(&annotations, self.key.as_ref())?;
        let values = project(&annotations, self.value.as_ref())?;
        Ok(Memory { annotations, keys, values, mask })
    }

    /// Context of each position if it has all the weight: `[batch, length, n]`.
    ///
    /// # Errors
    /// The shapes do not match.
    pub fn contexts_of_tokens(&self, memory: &Memory) -> Result<Tensor> {
        project(&memory.values, self.output.as_ref())
    }

    /// Attends for queries' states `[batch, n]`.
    ///
    /// # Errors
    /// The shapes do not match.
    pub fn attend(&self, memory: &Memory, state: &Tensor, given: AttentionWeights) -> Result<AttentionOutput> {
        // [batch, d]
        let query = match &self.query {
            Some(weight) => state.matmul(&weight.t()?)?,
            None => state.clone(),
        };
        let (mut alphas, mut pooling, mut contexts) = (Vec::new(), Vec::new(), Vec::new());
        for (head, score) in self.scores.iter().enumerate() {
            let slice = HeadSlice { head, heads: self.scores.len() };
            let queries = slice.narrow(&query, 1)?.unsqueeze(1)?; // [batch, 1, d / heads]
            let keys = slice.narrow(&memory.keys, 2)?.contiguous()?; // [batch, length, d / heads]
            let values = slice.narrow(&memory.values, 2)?.contiguous()?; // [batch, length, n / heads]
            // [batch, 1, n / heads] and [batch, 1, length]
            let Pooled { values: pooled, mut weights } = pool(score, &queries, &keys, &values, Some(&memory.mask))?;
            match self.settings.mode.pooling_weights(given) {
                PoolingWeights::Soft => contexts.push(pooled.squeeze(1)?),
                PoolingWeights::Given(given) => {
                    let given = given_rows(&weights, given, head)?;
                    contexts.push(given.matmul(&values)?.squeeze(1)?);
                    if self.settings.is_hard() {
                        pooling.push(given.squeeze(1)?);
                    } else {
                        weights = given;
                    }
                }
                pooling_weights => {
                    let selected = one_hot(&weights, pooling_weights, slice)?; // [batch, 1, length]
                    // Straight-through estimator: the value of the selection, the gradient of the weights.
                    let through = (&selected + (&weights - weights.detach())?)?;
                    contexts.push(through.matmul(&values)?.squeeze(1)?);
                    pooling.push(selected.squeeze(1)?);
                }
            }
            alphas.push(weights.squeeze(1)?);
        }
        let context = Tensor::cat(&contexts, 1)?; // [batch, n]
        let context = match &self.output {
            Some(weight) => context.matmul(&weight.t()?)?,
            None => context,
        };
        // [batch, length], and as many for each head
        let (alphas, heads) = (mean(&alphas)?, if pooling.is_empty() { alphas } else { pooling });
        let reported = match self.settings.reported_head {
            Some(head) => heads[head].clone(),
            None => mean(&heads)?,
        };
        Ok(AttentionOutput { context, alphas, reported, heads })
    }
}

/// x Wᵀ of `[batch, length, n]`, or x without a W.
fn project(x: &Tensor, weight: Option<&Tensor>) -> Result<Tensor> {
    let Some(weight) = weight else { return Ok(x.clone()) };
    let (batch, length, size) = x.dims3()?;
    x.reshape((batch * length, size))?.matmul(&weight.t()?)?.reshape((batch, length, weight.dim(0)?))
}

/// Mean over the heads of weights `[batch, length]`.
fn mean(heads: &[Tensor]) -> Result<Tensor> {
    Tensor::stack(heads, 0)?.mean(0)
}

/// One head's part of given weights `[heads × length]`, for every row of weights `[batch, 1, length]`.
fn given_rows(weights: &Tensor, given: &[f32], head: usize) -> Result<Tensor> {
    let length = weights.dim(2)?;
    let row = Tensor::from_slice(&given[head * length..][..length], (1, 1, length), weights.device())?;
    row.broadcast_as(weights.shape())?.contiguous()
}

/// One-hot rows at the selected positions of weights `[batch, 1, length]`.
fn one_hot(weights: &Tensor, pooling_weights: PoolingWeights, slice: HeadSlice) -> Result<Tensor> {
    let rows = weights.squeeze(1)?.to_vec2::<f32>()?;
    let mut selected = vec![0f32; weights.elem_count()];
    for (row, weights) in rows.iter().enumerate() {
        let position = select_position(weights, pooling_weights, row * slice.heads + slice.head);
        selected[row * weights.len() + position] = 1.0;
    }
    Tensor::from_vec(selected, weights.shape(), weights.device())
}
