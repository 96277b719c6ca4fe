//! Pooling of one attention step on slices, forward and backward; forward equations in
//! [`reference::pooling`](crate::attention::reference::pooling).
//!
//! With dc the derivative with respect to the pooled values:
//!
//! ```text
//! dα_j = dc · v_j      de_j = α_j (dα_j − Σ_i α_i dα_i) / temperature      dv_j = α_j dc
//! ```

use crate::attention::score_traits::{Columns, ScoreDerivatives, SentenceScore};
use crate::attention::selection::{Chosen, choose};
use crate::kernels::buffer::Buffer;
use crate::kernels::simd::{add_scaled, dot, exp, vectorised};

/// Weights below this become 0: a product with them would be too small for a normal number, which processors are slow
/// at.
const LEAST: f32 = 1e-35;

/// What the rows of a step look at, on plain slices: the sentences' positions, sentence by sentence.
#[derive(Clone, Copy)]
pub struct Sentences<'a> {
    /// `[cells, d]`, the heads side by side
    pub keys: &'a [f32],
    /// `[cells, v]`, the heads side by side
    pub values: &'a [f32],
    /// d and v
    pub sizes: [usize; 2],
    /// How many attentions there are side by side.
    pub heads: usize,
    /// Where each sentence's cells begin, and the end of the last.
    pub starts: &'a [usize],
    /// How many weights a row has: the longest sentence's length.
    pub longest: usize,
    /// 1 / temperature
    pub sharpness: f32,
}

/// One step of attention: what is asked, and what comes of it.
pub struct AttentionStep<'a, R> {
    /// What is looked at.
    pub sentences: Sentences<'a>,
    /// The sentence of each row.
    pub rows: R,
    /// `[rows, d]`
    pub queries: &'a [f32],
    /// Which weights pool.
    pub chosen: Chosen<'a>,
    /// α: `[rows × heads, longest]`, 0 on padding
    pub alphas: &'a mut [f32],
    /// The weights that pool where they are not α, shaped alike; else empty
    pub choices: &'a mut [f32],
    /// `[rows, v]`
    pub pooled: &'a mut [f32],
}

impl<R: Iterator<Item = usize>> AttentionStep<'_, R> {
    pub(in crate::attention) fn take<S: SentenceScore>(self, score: S) {
        let Self { sentences, rows, queries, chosen, alphas, choices, pooled } = self;
        let Sentences { keys, values, sizes: [d, v], heads, starts, longest, sharpness } = sentences;
        vectorised(
            #[inline(always)]
            || {
                for (row, sentence) in rows.enumerate() {
                    let cells = starts[sentence]..starts[sentence + 1];
                    for head in 0..heads {
                        let [of_keys, of_values] = [d, v].map(|size| Columns::of_head(head, heads, size));
                        let place = (row * heads + head) * longest;
                        let (weights, padding) = alphas[place..place + longest].split_at_mut(cells.len());
                        padding.fill(0.0);
                        let query = of_keys.row(queries, row);
                        score.head(head, heads).energies(query, of_keys.of(keys, cells.clone()), weights);
                        normalise(weights, sharpness);
                        let weights = match chosen {
                            Chosen::Soft => &*weights,
                            _ => {
                                let choice = choose(weights, chosen, row * heads + head);
                                let choices = &mut choices[place..place + longest];
                                choices.fill(0.0);
                                choices[choice] = 1.0;
                                &choices[..cells.len()]
                            }
                        };
                        let pooled = of_values.row_mut(pooled, row);
                        pooled.fill(0.0);
                        for (&weight, value) in weights.iter().zip(of_values.of(values, cells.clone()).iter()) {
                            add_scaled(pooled, weight, value);
                        }
                    }
                }
            },
        );
    }
}

/// The way back through a step with one row for each sentence. Derivatives by the values, which no step waits for, are
/// left to a product over all steps.
pub struct AttentionStepBack<'a> {
    /// What was looked at.
    pub sentences: Sentences<'a>,
    /// `[rows, d]`
    pub queries: &'a [f32],
    /// α: `[rows × heads, longest]`
    pub alphas: &'a [f32],
    /// By what was pooled: `[rows, v]`
    pub d_pooled: &'a [f32],
    /// By e / temperature, `[rows × heads, longest]`: those that come from elsewhere; afterwards all, by e
    pub d_energies: &'a mut [f32],
    /// Written: `[rows, d]`
    pub d_queries: &'a mut [f32],
    /// Added to: `[cells, d]`
    pub d_keys: &'a mut [f32],
    /// By the score's own parameters, added to.
    pub d_own: &'a mut [f32],
}

impl AttentionStepBack<'_> {
    pub(in crate::attention) fn take<S: SentenceScore>(self, score: S) {
        let Self { sentences, queries, alphas, d_pooled, d_energies, d_queries, d_keys, d_own } = self;
        let Sentences { keys, values, sizes: [d, v], heads, starts, longest, sharpness } = sentences;
        let own = d_own.len() / heads;
        let mut d_weights = Buffer::any(longest);
        vectorised(
            #[inline(always)]
            || {
                for (row, cells) in starts.windows(2).enumerate() {
                    let (cells, length) = (cells[0]..cells[1], cells[1] - cells[0]);
                    for head in 0..heads {
                        let [of_keys, of_values] = [d, v].map(|size| Columns::of_head(head, heads, size));
                        let place = (row * heads + head) * longest;
                        let (weights, d_weights) = (&alphas[place..][..length], &mut d_weights[..length]);
                        let (d_energies, d_pooled) = (&mut d_energies[place..][..length], of_values.row(d_pooled, row));
                        for (d_weight, value) in d_weights.iter_mut().zip(of_values.of(values, cells.clone()).iter()) {
                            *d_weight = dot(d_pooled, value);
                        }
                        let mean = dot(weights, d_weights);
                        for ((d_energy, d_weight), weight) in d_energies.iter_mut().zip(&*d_weights).zip(weights) {
                            *d_energy = (*d_energy + weight * (d_weight - mean)) * sharpness;
                        }
                        let d = ScoreDerivatives {
                            query: of_keys.row_mut(d_queries, row),
                            keys: of_keys.of_mut(d_keys, cells.clone()),
                            own: &mut d_own[head * own..][..own],
                        };
                        let query = of_keys.row(queries, row);
                        score.head(head, heads).backward(query, of_keys.of(keys, cells.clone()), d_energies, d);
                    }
                }
            },
        );
    }
}

/// Energies to weights that sum to 1, in place.
#[inline(always)]
fn normalise(energies: &mut [f32], sharpness: f32) {
    let largest = energies.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut sum = 0.0;
    for energy in energies.iter_mut() {
        let share = exp((*energy - largest) * sharpness);
        *energy = if share < LEAST { 0.0 } else { share };
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
    fn weights_sum_to_one_whatever_the_energies() {
        for length in [1, 2, 500] {
            for scale in [0.0, 1.0, 1e4, 1e30] {
                for sharpness in [1e-3, 1.0, 1e3] {
                    let mut weights: Vec<f32> =
                        (0..length).map(|position| ((position * 37 % 101) as f32 / 50.0 - 1.0) * scale).collect();
                    normalise(&mut weights, sharpness);
                    let sum: f32 = weights.iter().sum();
                    assert!((sum - 1.0).abs() < 1e-5 && weights.iter().all(|&weight| weight >= 0.0), "{sum}");
                }
            }
        }
    }
}
