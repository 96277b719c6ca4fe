//! Cross-entropy loss and its derivative in one pass over each row of logits; loss in `reference/cross_entropy.rs`.
//!
//! ```text
//! dz_k = p_k − ε/V − (1 − ε) [k = y]
//! ```

use crate::kernels::simd::{LANES, exp, sum_of_lanes, sum_over, vectorized};

/// Training objective.
#[derive(Clone, Copy)]
pub struct Objective {
    /// ε of label smoothing.
    pub smoothing: f32,
    /// Factor on the derivatives.
    pub scale: f32,
}

/// Losses of a row of logits, or their sums over rows.
#[derive(Clone, Copy, Default)]
pub struct RowLoss {
    /// Loss with label smoothing.
    pub smoothed: f64,
    /// −log p of the target.
    pub negative_log_likelihood: f64,
}

/// Returns the losses, summed over the rows of `logits`, `[rows, V]`. Replaces the logits by the smoothed loss's derivatives
/// times `scale`.
pub fn cross_entropy_forward_backward(logits: &mut [f32], targets: &[u32], smoothing: f32, scale: f32) -> RowLoss {
    let size = logits.len() / targets.len().max(1);
    let mut sum = RowLoss::default();
    for (row, &target) in logits.chunks_exact_mut(size).zip(targets) {
        let logit = row[target as usize];
        let statistics = vectorized(
            #[inline(always)]
            || exp_in_place(row),
        );
        let loss = row_loss(logit, &statistics, size, smoothing);
        sum.smoothed += loss.smoothed;
        sum.negative_log_likelihood += loss.negative_log_likelihood;
        let (factor, uniform) = (scale / statistics.sum, scale * smoothing / size as f32);
        vectorized(
            #[inline(always)]
            || row.iter_mut().for_each(|z| *z = *z * factor - uniform),
        );
        row[target as usize] -= scale * (1.0 - smoothing);
    }
    sum
}

/// Returns the losses of each row of `logits`, `[rows, V]`.
pub fn cross_entropy_forward(logits: &[f32], targets: &[u32], smoothing: f32) -> Vec<RowLoss> {
    let size = logits.len() / targets.len().max(1);
    let rows = logits.chunks_exact(size).zip(targets);
    rows.map(|(row, &target)| row_loss(row[target as usize], &logit_stats(row), size, smoothing)).collect()
}

/// log Σ exp z of a row of logits.
pub fn log_sum_exp(row: &[f32]) -> f32 {
    logit_stats(row).log_sum()
}

/// Replaces a row of logits by its softmax.
pub fn softmax_in_place(row: &mut [f32]) {
    vectorized(
        #[inline(always)]
        || {
            let factor = 1.0 / exp_in_place(row).sum;
            row.iter_mut().for_each(|p| *p *= factor);
        },
    );
}

/// Adds the softmax of a row of logits to `sums`.
pub fn add_softmax(sums: &mut [f32], logits: &[f32]) {
    let log_sum = log_sum_exp(logits);
    vectorized(
        #[inline(always)]
        || sums.iter_mut().zip(logits).for_each(|(sum, &logit)| *sum += exp(logit - log_sum)),
    );
}

/// Reductions of a row that its losses need.
struct LogitStats {
    largest: f32,
    /// Σ exp(z − largest)
    sum: f32,
    /// Σ z
    total: f32,
}

impl LogitStats {
    fn log_sum(&self) -> f32 {
        self.largest + self.sum.ln()
    }
}

/// Losses of a row whose target has the logit `logit`.
fn row_loss(logit: f32, statistics: &LogitStats, size: usize, smoothing: f32) -> RowLoss {
    let log_sum = f64::from(statistics.log_sum());
    let log_probability = f64::from(logit) - log_sum;
    let mean = f64::from(statistics.total) / size as f64 - log_sum;
    let epsilon = f64::from(smoothing);
    let smoothed = -(1.0 - epsilon) * log_probability - epsilon * mean;
    RowLoss { smoothed, negative_log_likelihood: -log_probability }
}

fn logit_stats(row: &[f32]) -> LogitStats {
    vectorized(
        #[inline(always)]
        || {
            let largest = largest(row);
            let sum = sum_over(row, row, |z, _| exp(z - largest));
            LogitStats { largest, sum, total: sum_over(row, row, |z, _| z) }
        },
    )
}

/// Returns the reductions of a row as [`logit_stats`] does, and replaces each logit z by exp(z − largest).
#[inline(always)]
fn exp_in_place(row: &mut [f32]) -> LogitStats {
    let largest = largest(row);
    let (mut sums, mut totals) = ([0.0f32; LANES], [0.0f32; LANES]);
    let mut replace = |lane: usize, z: &mut f32| {
        totals[lane] += *z;
        *z = exp(*z - largest);
        sums[lane] += *z;
    };
    let (chunks, rest) = row.as_chunks_mut::<LANES>();
    for chunk in chunks {
        for (lane, z) in chunk.iter_mut().enumerate() {
            replace(lane, z);
        }
    }
    for (lane, z) in rest.iter_mut().enumerate() {
        replace(lane, z);
    }
    LogitStats { largest, sum: sum_of_lanes(sums), total: sum_of_lanes(totals) }
}

#[inline(always)]
fn largest(row: &[f32]) -> f32 {
    let mut lanes = [f32::NEG_INFINITY; LANES];
    let (chunks, rest) = row.as_chunks::<LANES>();
    for chunk in chunks {
        for (largest, &z) in lanes.iter_mut().zip(chunk) {
            *largest = if z > *largest { z } else { *largest };
        }
    }
    lanes.iter().chain(rest).copied().fold(f32::NEG_INFINITY, f32::max)
}

#[cfg(test)]
mod tests {
    use candle_core::{Device, Tensor, Var};

    use super::*;
    use crate::kernels::reference::cross_entropy::cross_entropy_sums;
    use crate::random::SeededRng;

    #[test]
    fn cross_entropy_and_its_derivative_equal_reference() {
        let (targets, vocabulary, scale) = ([3u32, 0, 36], 37, 0.25);
        let mut stream = SeededRng::new(1, "logits", 0);
        let logits: Vec<f32> = (0..targets.len() * vocabulary).map(|_| 3.0 * stream.normal() as f32).collect();
        for smoothing in [0.0f32, 0.1] {
            let tensor = Tensor::from_slice(&logits, (targets.len(), vocabulary), &Device::Cpu).unwrap();
            let variable = Var::from_tensor(&tensor).unwrap();
            let ids = Tensor::new(&targets, &Device::Cpu).unwrap();
            let (smoothed, likelihood) = cross_entropy_sums(&variable, &ids, f64::from(smoothing)).unwrap();
            let sums = [&smoothed, &likelihood].map(|sum| f64::from(sum.to_scalar::<f32>().unwrap()));
            let rows = cross_entropy_forward(&logits, &targets, smoothing);
            let forward = RowLoss {
                smoothed: rows.iter().map(|row| row.smoothed).sum(),
                negative_log_likelihood: rows.iter().map(|row| row.negative_log_likelihood).sum(),
            };
            let mut d_logits = logits.clone();
            let both = cross_entropy_forward_backward(&mut d_logits, &targets, smoothing, scale);
            for found in [forward, both].map(|loss| [loss.smoothed, loss.negative_log_likelihood]) {
                assert!(found.iter().zip(sums).all(|(a, b)| (a - b).abs() < 1e-4), "{found:?} {sums:?}");
            }
            let gradients = (smoothed * f64::from(scale)).unwrap().backward().unwrap();
            let expected: Vec<f32> = gradients.get(&variable).unwrap().flatten_all().unwrap().to_vec1().unwrap();
            assert!(d_logits.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-5));
        }
    }
}
