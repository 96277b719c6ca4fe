//! Width of a kernel, learned from points.

use anyhow::ensure;
use candle_core::{DType, Device::Cpu, Tensor};

use super::Optimizer;
use crate::attention::{Kernel, KernelShape, pool};
use crate::error::UsageError;
use crate::parameters::{Gradients, Init, ParameterSpec, Parameters};

/// Learning rate of Adam.
const LEARNING_RATE: f64 = 0.1;

/// Learns the width of a kernel for Nadaraya–Watson regression (1964) on keys x_j and values y_j, by gradient descent on
/// leave-one-out errors: with each point among its own keys, the narrowest kernel would win. The width starts at 1, and stays
/// there for kernels whose derivative is zero.
///
/// # Errors
/// There are fewer than two points, or the numbers of keys and values differ.
pub fn learn_kernel_width(shape: KernelShape, keys: &[f32], values: &[f32], steps: usize) -> anyhow::Result<f32> {
    let [points, given] = [keys.len(), values.len()];
    ensure!(points == given, UsageError::new(format!("{points} keys for {given} values; one for each is required")));
    ensure!(points > 1, UsageError::new("a width is learned from at least two points"));
    let mut spec = ParameterSpec::default();
    spec.add("inverse_width", &[1], Init::Constant(1.0));
    let parameters = Parameters::initialize(&spec, 0, &Cpu)?.with_grad()?;
    let score = Kernel { shape, inverse_width: parameters.get("inverse_width")? };
    let mut optimizer = Optimizer::new(&parameters, f64::INFINITY, None)?;
    for _ in 0..steps {
        let gradients = Gradients::from_loss(&leave_one_out_error(&score, keys, values)?, &parameters)?;
        optimizer.step(&parameters, &gradients, LEARNING_RATE)?;
    }
    Ok(1.0 / score.inverse_width.to_vec1::<f32>()?[0].abs())
}

/// Mean squared error of each point predicted from all others; row j of the batch masks point j.
fn leave_one_out_error(score: &Kernel, keys: &[f32], values: &[f32]) -> candle_core::Result<Tensor> {
    let points = keys.len();
    let (x, y) = (Tensor::from_slice(keys, (points, 1, 1), &Cpu)?, Tensor::from_slice(values, (points, 1, 1), &Cpu)?);
    let others = (1.0 - Tensor::eye(points, DType::F32, &Cpu)?)?;
    let pooled = pool(score, &x, &repeated(&x)?, &repeated(&y)?, Some(&others))?;
    (pooled.values - y)?.sqr()?.mean_all()
}

/// Repeats all points, `[points, 1, 1]`, for each of them: `[points, points, 1]`.
fn repeated(points: &Tensor) -> candle_core::Result<Tensor> {
    let count = points.dim(0)?;
    points.reshape((1, count, 1))?.broadcast_as((count, count, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points that alternate around a sine, so that neither the narrowest kernel nor the widest fits best.
    fn points() -> [Vec<f32>; 2] {
        let x: Vec<f32> = (0..40).map(|index| index as f32 / 10.0).collect();
        let deviations = [0.3, -0.3].into_iter().cycle();
        [x.clone(), x.iter().zip(deviations).map(|(x, deviation)| (2.0 * x).sin() + deviation).collect()]
    }

    /// Leave-one-out error of a Gaussian kernel of this width.
    fn error(width: f32, [x, y]: &[Vec<f32>; 2]) -> f32 {
        let inverse_width = Tensor::new(&[1.0 / width], &Cpu).unwrap();
        let score = Kernel { shape: KernelShape::Gaussian, inverse_width };
        leave_one_out_error(&score, x, y).unwrap().to_scalar::<f32>().unwrap()
    }

    #[test]
    fn learned_width_lowers_the_leave_one_out_error() {
        let points = points();
        let width = learn_kernel_width(KernelShape::Gaussian, &points[0], &points[1], 300).unwrap();
        assert!(width < 0.5, "{width}");
        let least = error(width, &points);
        assert!([0.8, 1.25].into_iter().all(|factor| least <= error(factor * width, &points)), "{width} is a minimum");
    }

    #[test]
    fn keeps_a_width_without_derivative() {
        let [x, y] = points();
        assert_eq!(learn_kernel_width(KernelShape::Boxcar, &x, &y, 3).unwrap(), 1.0);
    }

    #[test]
    fn names_points_that_cannot_be_used() {
        for (keys, values) in [(&[1.0][..], &[1.0][..]), (&[1.0, 2.0], &[1.0])] {
            assert!(learn_kernel_width(KernelShape::Gaussian, keys, values, 1).is_err());
        }
    }
}
