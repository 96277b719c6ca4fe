//! Loss and derivative in one pass over each row of logits, on plain slices.
//!
//! ```text
//! dz_k = p_k − ε/V − (1 − ε) [k = y]
//! ```

use crate::kernels::simd::{exp, sum_over, vectorised};

/// Sums of both losses over rows of logits `[rows, V]`, which become their derivatives, times `scale`: the smoothed loss and
/// the negative log-likelihood.
pub fn forward_backward(logits: &mut [f32], targets: &[u32], smoothing: f32, scale: f32) -> (f64, f64) {
    let size = logits.len() / targets.len().max(1);
    let (mut smoothed, mut likelihood) = (0.0, 0.0);
    for (row, &target) in logits.chunks_exact_mut(size).zip(targets) {
        let (row_smoothed, log_probability, log_sum) = score(row, target, smoothing);
        smoothed += row_smoothed;
        likelihood -= log_probability;
        let even = smoothing / size as f32;
        vectorised(
            #[inline(always)]
            || row.iter_mut().for_each(|z| *z = scale * (exp(*z - log_sum) - even)),
        );
        row[target as usize] -= scale * (1.0 - smoothing);
    }
    (smoothed, likelihood)
}

/// For each row of logits the smoothed loss and the target's log-probability.
pub fn log_probabilities(logits: &[f32], targets: &[u32], smoothing: f32) -> Vec<(f64, f64)> {
    let rows = logits.chunks_exact(logits.len() / targets.len().max(1)).zip(targets);
    let scores = rows.map(|(row, &target)| score(row, target, smoothing));
    scores.map(|(smoothed, log_probability, _)| (smoothed, log_probability)).collect()
}

/// log Σ exp z of a row of logits.
pub fn log_sum_exp(row: &[f32]) -> f32 {
    let (largest, sum, _) = vectorised(
        #[inline(always)]
        || statistics(row),
    );
    largest + sum.ln()
}

/// Smoothed loss, log-probability and log Σ exp z of one row.
fn score(row: &[f32], target: u32, smoothing: f32) -> (f64, f64, f32) {
    let (largest, sum, total) = vectorised(
        #[inline(always)]
        || statistics(row),
    );
    let log_sum = largest + sum.ln();
    let log_probability = f64::from(row[target as usize]) - f64::from(log_sum);
    let mean = f64::from(total) / row.len() as f64 - f64::from(log_sum);
    let epsilon = f64::from(smoothing);
    (-(1.0 - epsilon) * log_probability - epsilon * mean, log_probability, log_sum)
}

/// The largest logit, Σ exp(z − largest) and Σ z.
#[inline(always)]
fn statistics(row: &[f32]) -> (f32, f32, f32) {
    let mut lanes = [f32::NEG_INFINITY; 16];
    let (chunks, rest) = row.as_chunks::<16>();
    for chunk in chunks {
        for lane in 0..16 {
            lanes[lane] = if chunk[lane] > lanes[lane] { chunk[lane] } else { lanes[lane] };
        }
    }
    let largest = lanes.iter().chain(rest).copied().fold(f32::NEG_INFINITY, f32::max);
    let sum = sum_over(row, row, |z, _| exp(z - largest));
    (largest, sum, sum_over(row, row, |z, _| z))
}
