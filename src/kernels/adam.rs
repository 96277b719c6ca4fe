//! Adam (Kingma & Ba 2015), one parameter at a time and in place.
//!
//! ```text
//! m ← β₁ m + (1 − β₁) g          v ← β₂ v + (1 − β₂) g²
//! θ ← θ − η (m / (1 − β₁ᵗ)) / (√(v / (1 − β₂ᵗ)) + ε)
//! ```
//!
//! A running average of the parameters themselves may follow, θ̄ ← d θ̄ + (1 − d) θ (Polyak & Juditsky 1992).

use candle_core::{DType, Result, Tensor, Var};
use rayon::prelude::*;

use super::simd::{dot, vectorised};
use super::values::with_values;

/// Decay of the first moment, of the second moment, and the guard against division by zero: the paper's values.
const BETA_1: f64 = 0.9;
const BETA_2: f64 = 0.999;
const EPSILON: f64 = 1e-8;

/// Numbers that one thread moves at a time.
const BLOCK: usize = 1 << 16;
/// Squares that are added in single precision.
const ROW: usize = 1 << 10;

/// Running averages of one parameter's gradient and of its square, shaped as the parameter.
#[derive(Clone, Debug)]
pub struct Moments {
    /// m
    pub first: Tensor,
    /// v
    pub second: Tensor,
}

/// One step of the optimiser.
#[derive(Clone, Copy, Debug)]
pub struct AdamStep {
    /// Its number t, from 1.
    pub number: u64,
    /// η
    pub rate: f64,
    /// Factor on the gradient, from clipping.
    pub scale: f64,
}

/// What one step multiplies with.
#[derive(Clone, Copy)]
struct Rates {
    /// Factor on the gradient, from clipping.
    gradient: f32,
    /// η / (1 − β₁ᵗ)
    step: f32,
    /// 1 / (1 − β₂ᵗ)
    square: f32,
}

impl Moments {
    /// Both averages at zero, as they are before the first step.
    pub fn zeros(parameter: &Tensor) -> Result<Self> {
        let zeros = || Tensor::zeros(parameter.shape(), parameter.dtype(), parameter.device());
        Ok(Self { first: zeros()?, second: zeros()? })
    }

    /// Takes a step, and moves the parameter.
    pub fn step(&mut self, parameter: &Tensor, gradient: &Tensor, step: AdamStep) -> Result<()> {
        if !parameter.device().is_cpu() {
            return self.plain_step(parameter, gradient, step);
        }
        let steps = step.number as f64;
        let rates = Rates {
            gradient: step.scale as f32,
            step: (step.rate / (1.0 - BETA_1.powf(steps))) as f32,
            square: (1.0 / (1.0 - BETA_2.powf(steps))) as f32,
        };
        // Lent, not copied; the gradient is only read.
        let gradient = gradient.contiguous()?;
        with_values(&gradient, |gradient| {
            with_values(parameter, |parameter| {
                with_values(&self.first, |first| {
                    with_values(&self.second, |second| {
                        let moments = first.par_chunks_mut(BLOCK).zip(second.par_chunks_mut(BLOCK));
                        let blocks = parameter.par_chunks_mut(BLOCK).zip(gradient.par_chunks(BLOCK)).zip(moments);
                        blocks.for_each(|((parameter, gradient), (first, second))| {
                            move_block(parameter, gradient, first, second, rates);
                        });
                        Ok(())
                    })
                })
            })
        })
    }

    /// The same by candle's operations.
    pub fn plain_step(&mut self, parameter: &Tensor, gradient: &Tensor, step: AdamStep) -> Result<()> {
        let steps = step.number as f64;
        let gradient = (gradient * step.scale)?;
        self.first = ((&self.first * BETA_1)? + (&gradient * (1.0 - BETA_1))?)?;
        self.second = ((&self.second * BETA_2)? + (gradient.sqr()? * (1.0 - BETA_2))?)?;
        let step = step.rate / (1.0 - BETA_1.powf(steps));
        let root = (&self.second / (1.0 - BETA_2.powf(steps)))?.sqrt()?;
        let moved = (parameter.detach() - ((&self.first * step)? / (root + EPSILON)?)?)?;
        Var::from_tensor(parameter)?.set(&moved)
    }
}

/// θ̄ ← d θ̄ + (1 − d) θ: lets the average of a parameter follow it, `decay` being d.
pub fn follow(average: &Tensor, parameter: &Tensor, decay: f64) -> Result<()> {
    if !parameter.device().is_cpu() {
        let followed = ((average * decay)? + (parameter.detach() * (1.0 - decay))?)?;
        return average.slice_set(&followed, 0, 0);
    }
    let share = (1.0 - decay) as f32;
    with_values(average, |average| {
        with_values(parameter, |parameter| {
            average.par_chunks_mut(BLOCK).zip(parameter.par_chunks(BLOCK)).for_each(|(average, parameter)| {
                vectorised(
                    #[inline(always)]
                    || average.iter_mut().zip(parameter).for_each(|(a, p)| *a += share * (p - *a)),
                );
            });
            Ok(())
        })
    })
}

/// Σ g² of a gradient, in double precision and in an order that depends on its size alone.
pub fn sum_of_squares(gradient: &Tensor) -> Result<f64> {
    if !gradient.device().is_cpu() {
        return gradient.sqr()?.sum_all()?.to_dtype(DType::F64)?.to_scalar();
    }
    let mut sum = 0.0;
    with_values(gradient, |values| {
        let square = |row: &[f32]| {
            vectorised(
                #[inline(always)]
                || f64::from(dot(row, row)),
            )
        };
        let blocks: Vec<f64> = values.par_chunks(BLOCK).map(|block| block.chunks(ROW).map(square).sum()).collect();
        sum = blocks.iter().sum();
        Ok(())
    })?;
    Ok(sum)
}

fn move_block(parameter: &mut [f32], gradient: &[f32], first: &mut [f32], second: &mut [f32], rates: Rates) {
    const BETAS: [f32; 4] = [BETA_1 as f32, (1.0 - BETA_1) as f32, BETA_2 as f32, (1.0 - BETA_2) as f32];
    vectorised(
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

#[cfg(test)]
mod tests {
    use candle_core::Device;

    use super::*;

    #[test]
    fn both_paths_move_alike() {
        let count = 2 * BLOCK + 5;
        let values = |shift: f32| {
            let values: Vec<f32> = (0..count).map(|i| (i as f32 * 0.01 + shift).sin()).collect();
            Tensor::from_vec(values, count, &Device::Cpu).unwrap()
        };
        let [fused, plain] = [(); 2].map(|()| Var::from_tensor(&values(0.0)).unwrap().into_inner());
        let mut moments = [Moments::zeros(&fused).unwrap(), Moments::zeros(&plain).unwrap()];
        for step in 1..5u64 {
            let gradient = values(step as f32);
            let step = AdamStep { number: step, rate: 0.01, scale: 0.7 };
            moments[0].step(&fused, &gradient, step).unwrap();
            moments[1].plain_step(&plain, &gradient, step).unwrap();
        }
        let pairs =
            [(&fused, &plain), (&moments[0].first, &moments[1].first), (&moments[0].second, &moments[1].second)];
        for (fused, plain) in pairs {
            let [fused, plain] = [fused, plain].map(|tensor| tensor.to_vec1::<f32>().unwrap());
            assert!(fused.iter().zip(&plain).all(|(a, b)| (a - b).abs() < 1e-6));
        }
    }

    #[test]
    fn an_average_follows_its_parameter() {
        let tensor = |value: f32| Tensor::full(value, BLOCK + 3, &Device::Cpu).unwrap();
        let average = tensor(1.0);
        follow(&average, &tensor(3.0), 0.75).unwrap();
        follow(&average, &tensor(3.5), 0.5).unwrap();
        assert!(average.to_vec1::<f32>().unwrap().iter().all(|&value| value == 2.5));
    }
}
