//! Cross-entropy of a mixture of predictions with label smoothing, and its derivatives; mixture in `reference/mixture.rs`.
//!
//! With the smoothed target q_k = ε/V + (1 − ε) [k = y]:
//!
//! ```text
//! g_k = −q_k / p_k        dα_j = Σ_k g_k softmax(z_j)_k        dz_jk = α_j softmax(z_j)_k (g_k − dα_j)
//! ```

use super::cross_entropy::{Objective, softmax_in_place};
use crate::kernels::simd::{add_scaled, sum_over, vectorized};

/// Least probability of the mixture, whose inverse is finite.
const MIN_PROBABILITY: f32 = 1e-30;

/// Replaces the logits of each component, `[components, V]`, by its probabilities, and writes those of the mixture, `[V]`.
pub fn mixture_forward(logits: &mut [f32], weights: &[f32], mixture: &mut [f32]) {
    mixture.fill(0.0);
    for (component, &weight) in logits.chunks_exact_mut(mixture.len()).zip(weights) {
        softmax_in_place(component);
        vectorized(
            #[inline(always)]
            || add_scaled(mixture, weight, component),
        );
    }
    vectorized(
        #[inline(always)]
        || mixture.iter_mut().for_each(|p| *p = p.max(MIN_PROBABILITY)),
    );
}

/// Smoothed loss and log-probability of the target, given the mixture's probabilities.
pub fn mixture_losses(mixture: &[f32], target: u32, smoothing: f32) -> (f64, f64) {
    let log_probability = f64::from(mixture[target as usize]).ln();
    let epsilon = f64::from(smoothing);
    let sum = if smoothing == 0.0 { 0.0 } else { mixture.iter().map(|&p| f64::from(p.ln())).sum::<f64>() };
    (-(1.0 - epsilon) * log_probability - epsilon * sum / mixture.len() as f64, log_probability)
}

/// Returns smoothed loss and log-probability of the target, and replaces the logits, `[components, V]`, by the derivatives with
/// respect to them. Writes those with respect to the weights. `mixture` is working memory of size V.
pub fn mixture_forward_backward(
    logits: &mut [f32],
    weights: &[f32],
    target: u32,
    objective: Objective,
    [mixture, d_weights]: [&mut [f32]; 2],
) -> (f64, f64) {
    let Objective { smoothing, scale } = objective;
    mixture_forward(logits, weights, mixture);
    let losses = mixture_losses(mixture, target, smoothing);
    let target = target as usize;
    let uniform = scale * smoothing / mixture.len() as f32;
    let at_target = -(uniform + scale * (1.0 - smoothing)) / mixture[target];
    let slopes = mixture;
    vectorized(
        #[inline(always)]
        || slopes.iter_mut().for_each(|p| *p = -uniform / *p),
    );
    slopes[target] = at_target;
    for ((component, &weight), d_weight) in logits.chunks_exact_mut(slopes.len()).zip(weights).zip(d_weights) {
        *d_weight = vectorized(
            #[inline(always)]
            || sum_over(component, slopes, |p, slope| p * slope),
        );
        let mean = *d_weight;
        vectorized(
            #[inline(always)]
            || component.iter_mut().zip(&*slopes).for_each(|(p, slope)| *p *= weight * (slope - mean)),
        );
    }
    losses
}

#[cfg(test)]
mod tests {
    use candle_core::{Device, Tensor, Var};

    use super::*;
    use crate::kernels::reference::mixture::log_mixture;
    use crate::random::SeededRng;

    fn variable(values: &[f32], shape: &[usize]) -> Var {
        Var::from_tensor(&Tensor::from_slice(values, shape, &Device::Cpu).unwrap()).unwrap()
    }

    fn are_near(a: &[f32], b: &[f32]) -> bool {
        a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-5 * (1.0 + b.abs()))
    }

    #[test]
    fn losses_and_derivatives_equal_reference() {
        let (components, vocabulary, target, scale) = (5, 37, 3u32, 0.25f32);
        let mut stream = SeededRng::new(1, "logits", 0);
        let logits: Vec<f32> = (0..components * vocabulary).map(|_| 3.0 * stream.normal() as f32).collect();
        let weights = [0.4f32, 0.0, 0.3, 0.1, 0.2];
        for smoothing in [0.0f32, 0.1] {
            let (z, alpha) = (variable(&logits, &[1, components, vocabulary]), variable(&weights, &[1, components]));
            let log = log_mixture(&z, &alpha).unwrap().flatten_all().unwrap();
            let chosen = log.get(target as usize).unwrap();
            let epsilon = f64::from(smoothing);
            let mean = (log.sum_all().unwrap() * (epsilon / vocabulary as f64)).unwrap();
            let loss = ((&chosen * (epsilon - 1.0)).unwrap() - mean).unwrap();
            let gradients = (&loss * f64::from(scale)).unwrap().backward().unwrap();
            let [expected_logits, expected_weights] = [&z, &alpha]
                .map(|variable| gradients.get(variable).unwrap().flatten_all().unwrap().to_vec1::<f32>().unwrap());
            let (mut d_logits, mut d_weights, mut scratch) = (logits.clone(), weights, vec![0.0; vocabulary]);
            let into = [&mut scratch[..], &mut d_weights];
            let found = mixture_forward_backward(&mut d_logits, &weights, target, Objective { smoothing, scale }, into);
            let expected = [&loss, &chosen].map(|tensor| f64::from(tensor.to_scalar::<f32>().unwrap()));
            assert!((found.0 - expected[0]).abs() < 1e-4 && (found.1 - expected[1]).abs() < 1e-4, "{found:?}");
            assert!(are_near(&d_logits, &expected_logits), "{d_logits:?} {expected_logits:?}");
            assert!(are_near(&d_weights, &expected_weights), "{d_weights:?} {expected_weights:?}");
        }
    }

    #[test]
    fn impossible_target_has_a_finite_loss() {
        let (mut logits, mut d_weights, mut scratch) = ([200.0, 0.0, 0.0, 200.0, 0.0, 0.0], [0.0; 2], [0.0; 3]);
        let objective = Objective { smoothing: 0.1, scale: 1.0 };
        let into = [&mut scratch[..], &mut d_weights];
        let (loss, _) = mixture_forward_backward(&mut logits, &[0.5, 0.5], 2, objective, into);
        assert!(loss.is_finite() && logits.iter().chain(&d_weights).all(|value| value.is_finite()), "{logits:?}");
    }
}
