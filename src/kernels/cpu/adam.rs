//! Adam, the parameters' moving average and gradient norms in place on slices; equations in `reference/adam.rs`.

use candle_core::{Result, Tensor};
use rayon::prelude::*;

use crate::kernels::reference::adam::{AdamState, AdamStep, BETA_1, BETA_2, EPSILON};
use crate::kernels::simd::{dot, vectorized};
use crate::kernels::tensor_mut::with_slice_mut;

/// Numbers per rayon task.
const BLOCK: usize = 1 << 16;
/// Squares summed in single precision.
const ROW: usize = 1 << 10;

/// Factors of one step.
#[derive(Clone, Copy)]
struct Rates {
    /// Factor on the gradient, from clipping.
    gradient: f32,
    /// η / (1 − β₁ᵗ)
    step: f32,
    /// 1 / (1 − β₂ᵗ)
    square: f32,
}

/// Updates the moments and the parameter.
pub(in crate::kernels) fn adam_step(
    state: &mut AdamState,
    parameter: &Tensor,
    gradient: &Tensor,
    step: AdamStep,
) -> Result<()> {
    let steps = step.number as f64;
    let rates = Rates {
        gradient: step.scale as f32,
        step: (step.rate / (1.0 - BETA_1.powf(steps))) as f32,
        square: (1.0 / (1.0 - BETA_2.powf(steps))) as f32,
    };
    // Borrowed mutably like the others, but only read.
    let gradient = gradient.contiguous()?;
    with_slice_mut(&gradient, |gradient| {
        with_slice_mut(parameter, |parameter| {
            with_slice_mut(&state.first, |first| {
                with_slice_mut(&state.second, |second| {
                    let state = first.par_chunks_mut(BLOCK).zip(second.par_chunks_mut(BLOCK));
                    let blocks = parameter.par_chunks_mut(BLOCK).zip(gradient.par_chunks(BLOCK)).zip(state);
                    blocks.for_each(|((parameter, gradient), (first, second))| {
                        update_block(parameter, gradient, first, second, rates);
                    });
                    Ok(())
                })
            })
        })
    })
}

/// θ̄ ← d θ̄ + (1 − d) θ with d = `decay`.
pub(in crate::kernels) fn update_ema(average: &Tensor, parameter: &Tensor, decay: f64) -> Result<()> {
    let share = (1.0 - decay) as f32;
    with_slice_mut(average, |average| {
        with_slice_mut(parameter, |parameter| {
            average.par_chunks_mut(BLOCK).zip(parameter.par_chunks(BLOCK)).for_each(|(average, parameter)| {
                vectorized(
                    #[inline(always)]
                    || average.iter_mut().zip(parameter).for_each(|(a, p)| *a += share * (p - *a)),
                );
            });
            Ok(())
        })
    })
}

/// Σ g² in double precision, in an order that depends on the size alone.
pub(in crate::kernels) fn sum_of_squares(gradient: &Tensor) -> Result<f64> {
    let mut sum = 0.0;
    with_slice_mut(gradient, |values| {
        let blocks = values.par_chunks(BLOCK).map(|block| block.chunks(ROW).map(sum_of_squares_of_row).sum::<f64>());
        let blocks: Vec<f64> = blocks.collect();
        sum = blocks.iter().sum();
        Ok(())
    })?;
    Ok(sum)
}

fn sum_of_squares_of_row(row: &[f32]) -> f64 {
    vectorized(
        #[inline(always)]
        || f64::from(dot(row, row)),
    )
}

fn update_block(parameter: &mut [f32], gradient: &[f32], first: &mut [f32], second: &mut [f32], rates: Rates) {
    const BETAS: [f32; 4] = [BETA_1 as f32, (1.0 - BETA_1) as f32, BETA_2 as f32, (1.0 - BETA_2) as f32];
    vectorized(
        #[inline(always)]
        || {
            for (((p, g), m), v) in parameter.iter_mut().zip(gradient).zip(first).zip(second) {
                let g = g * rates.gradient;
                *m = BETAS[0] * *m + BETAS[1] * g;
                *v = BETAS[2] * *v + BETAS[3] * g * g;
                *p -= rates.step * *m / ((*v * rates.square).sqrt() + EPSILON as f32);
            }
        },
    );
}
