//! Pooling of one attention step on slices, forward and backward; forward equations in `reference/pooling.rs`.
//!
//! With dc the derivative with respect to the pooled values:
//!
//! ```text
//! dα_j = dc · v_j      de_j = α_j (dα_j − Σ_i α_i dα_i) / temperature      dv_j = α_j dc
//! ```

use crate::attention::mode::{PoolingWeights, select_position};
use crate::attention::score_traits::{CpuScore, HeadColumns, ScoreGrads};
use crate::kernels::buffer_pool::Buffer;
use crate::kernels::simd::{add_scaled, dot, exp, vectorized};

/// Weights below this become 0: products with them would be denormal, which is slow.
const MIN_WEIGHT: f32 = 1e-35;

/// Keys and values of several sentences, without padding.
#[derive(Clone, Copy)]
pub struct RaggedKeyValues<'a> {
    /// `[cells, d]`, heads side by side
    pub keys: &'a [f32],
    /// `[cells, v]`, heads side by side
    pub values: &'a [f32],
    /// d and v
    pub sizes: [usize; 2],
    /// Number of heads.
    pub heads: usize,
    /// First cell of each sentence, and the end of the last.
    pub starts: &'a [usize],
    /// Weights per row: length of the longest sentence.
    pub longest: usize,
    /// 1 / temperature
    pub inverse_temperature: f32,
}

/// Forward pass of one step of attention, for any number of rows.
pub struct AttentionForward<'a, R> {
    /// Keys and values.
    pub key_values: RaggedKeyValues<'a>,
    /// The sentence of each row.
    pub rows: R,
    /// `[rows, d]`
    pub queries: &'a [f32],
    /// Weights that pool.
    pub pooling_weights: PoolingWeights<'a>,
    /// α: `[rows × heads, longest]`, 0 on padding
    pub alphas: &'a mut [f32],
    /// One-hot weights of hard attention, shaped like `alphas`; else empty
    pub selected: &'a mut [f32],
    /// `[rows, v]`
    pub pooled: &'a mut [f32],
}

impl<R: Iterator<Item = usize>> AttentionForward<'_, R> {
    pub(in crate::attention) fn run<S: CpuScore>(self, score: S) {
        let Self { key_values, rows, queries, pooling_weights, alphas, selected, pooled } = self;
        let RaggedKeyValues { keys, values, sizes: [d, v], heads, starts, longest, inverse_temperature } = key_values;
        vectorized(
            #[inline(always)]
            || {
                for (row, sentence) in rows.enumerate() {
                    let cells = starts[sentence]..starts[sentence + 1];
                    for head in 0..heads {
                        let [key_columns, value_columns] = [d, v].map(|size| HeadColumns::new(head, heads, size));
                        let offset = (row * heads + head) * longest;
                        let (weights, padding) = alphas[offset..offset + longest].split_at_mut(cells.len());
                        padding.fill(0.0);
                        let query = key_columns.row(queries, row);
                        score.head(head, heads).energies_forward(query, key_columns.rows(keys, cells.clone()), weights);
                        softmax_in_place(weights, inverse_temperature);
                        let weights = match pooling_weights {
                            PoolingWeights::Soft => &*weights,
                            PoolingWeights::Given(given) => {
                                let given = &given[head * cells.len()..][..cells.len()];
                                // Hard attention keeps α apart from the weights that pool.
                                let pooling =
                                    if selected.is_empty() { weights } else { &mut selected[offset..][..cells.len()] };
                                pooling.copy_from_slice(given);
                                &*pooling
                            }
                            _ => {
                                let position = select_position(weights, pooling_weights, row * heads + head);
                                let selected = &mut selected[offset..offset + longest];
                                selected.fill(0.0);
                                selected[position] = 1.0;
                                &selected[..cells.len()]
                            }
                        };
                        let pooled = value_columns.row_mut(pooled, row);
                        pooled.fill(0.0);
                        for (&weight, value) in weights.iter().zip(value_columns.rows(values, cells.clone()).iter()) {
                            add_scaled(pooled, weight, value);
                        }
                    }
                }
            },
        );
    }
}

/// Backward pass of one step with one row per sentence. Derivatives with respect to the values are left to one product
/// over all steps.
pub struct AttentionBackward<'a> {
    /// Keys and values.
    pub key_values: RaggedKeyValues<'a>,
    /// `[rows, d]`
    pub queries: &'a [f32],
    /// α: `[rows × heads, longest]`
    pub alphas: &'a [f32],
    /// Derivative with respect to the pooled values: `[rows, v]`
    pub d_pooled: &'a [f32],
    /// `[rows × heads, longest]`; on entry the derivatives with respect to e / temperature from other losses, on return
    /// all derivatives with respect to e
    pub d_energies: &'a mut [f32],
    /// Derivative with respect to the queries, overwritten: `[rows, d]`
    pub d_queries: &'a mut [f32],
    /// Derivative with respect to the keys, accumulated: `[cells, d]`
    pub d_keys: &'a mut [f32],
    /// Derivative with respect to the score's own parameter, accumulated
    pub d_param: &'a mut [f32],
}

impl AttentionBackward<'_> {
    pub(in crate::attention) fn run<S: CpuScore>(self, score: S) {
        let Self { key_values, queries, alphas, d_pooled, d_energies, d_queries, d_keys, d_param } = self;
        let RaggedKeyValues { keys, values, sizes: [d, v], heads, starts, longest, inverse_temperature } = key_values;
        let param = d_param.len() / heads;
        let mut d_weights = Buffer::scratch(longest);
        vectorized(
            #[inline(always)]
            || {
                for (row, cells) in starts.windows(2).enumerate() {
                    let (cells, length) = (cells[0]..cells[1], cells[1] - cells[0]);
                    for head in 0..heads {
                        let [key_columns, value_columns] = [d, v].map(|size| HeadColumns::new(head, heads, size));
                        let offset = (row * heads + head) * longest;
                        let (weights, d_weights) = (&alphas[offset..][..length], &mut d_weights[..length]);
                        let (d_energies, d_pooled) =
                            (&mut d_energies[offset..][..length], value_columns.row(d_pooled, row));
                        for (d_weight, value) in
                            d_weights.iter_mut().zip(value_columns.rows(values, cells.clone()).iter())
                        {
                            *d_weight = dot(d_pooled, value);
                        }
                        let mean = dot(weights, d_weights);
                        for ((d_energy, d_weight), weight) in d_energies.iter_mut().zip(&*d_weights).zip(weights) {
                            *d_energy = (*d_energy + weight * (d_weight - mean)) * inverse_temperature;
                        }
                        let grads = ScoreGrads {
                            d_query: key_columns.row_mut(d_queries, row),
                            d_keys: key_columns.rows_mut(d_keys, cells.clone()),
                            d_param: &mut d_param[head * param..][..param],
                        };
                        let query = key_columns.row(queries, row);
                        score.head(head, heads).energies_backward(
                            query,
                            key_columns.rows(keys, cells.clone()),
                            d_energies,
                            grads,
                        );
                    }
                }
            },
        );
    }
}

/// Softmax of the energies times `inverse_temperature`, in place.
#[inline(always)]
fn softmax_in_place(energies: &mut [f32], inverse_temperature: f32) {
    let largest = energies.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut sum = 0.0;
    for energy in energies.iter_mut() {
        let share = exp((*energy - largest) * inverse_temperature);
        *energy = if share < MIN_WEIGHT { 0.0 } else { share };
        sum += *energy;
    }
    for energy in energies.iter_mut() {
        *energy /= sum;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn softmax_sums_to_one_for_any_energies() {
        for length in [1, 2, 500] {
            for scale in [0.0, 1.0, 1e4, 1e30] {
                for inverse_temperature in [1e-3, 1.0, 1e3] {
                    let mut weights: Vec<f32> =
                        (0..length).map(|position| ((position * 37 % 101) as f32 / 50.0 - 1.0) * scale).collect();
                    softmax_in_place(&mut weights, inverse_temperature);
                    let sum: f32 = weights.iter().sum();
                    assert!((sum - 1.0).abs() < 1e-5 && weights.iter().all(|&weight| weight >= 0.0), "{sum}");
                }
            }
        }
    }
}
