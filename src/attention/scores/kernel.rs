//! Nadaraya–Watson kernels (both 1964) as scores: with energies ln K the softmax is kernel regression.
//!
//! ```text
//! u_j = ‖q − k_j‖ w            w = 1 / width, which may be learned
//! e_j = ln K(u_j)              α_j = K(u_j) / Σ_i K(u_i)
//! ```
//!
//! If no key supports a query, all energies are equal and the result is the mean of the values.

use candle_core::{D, Result, Tensor};

use crate::attention::score_traits::Score;

/// Energy of a key outside the kernel's support: the logarithm of 0, to a softmax.
const NO_SUPPORT: f64 = -1e30;

/// Kernel function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelShape {
    /// exp(−½ u²)
    Gaussian,
    /// 1 for u ≤ 1, else 0
    Boxcar,
    /// max(0, 1 − u²) (Epanechnikov 1969)
    Epanechnikov,
    /// 1 everywhere
    Constant,
}

/// Kernel score in candle's operations.
pub struct Kernel {
    /// Kernel function.
    pub shape: KernelShape,
    /// w = 1 / width, `[1]`
    pub inverse_width: Tensor,
}

impl Score for Kernel {
    fn energies(&self, queries: &Tensor, keys: &Tensor) -> Result<Tensor> {
        let differences = queries.unsqueeze(2)?.broadcast_sub(&keys.unsqueeze(1)?)?; // [batch, m, length, d]
        // [batch, m, length]
        let squares = differences.sqr()?.sum(D::Minus1)?.broadcast_mul(&self.inverse_width.sqr()?)?;
        match self.shape {
            KernelShape::Gaussian => squares * -0.5,
            KernelShape::Boxcar => {
                let inside = squares.le(1.0)?.to_dtype(squares.dtype())?;
                (1.0 - inside)? * NO_SUPPORT
            }
            KernelShape::Epanechnikov => {
                let inside = squares.lt(1.0)?;
                // Guards the logarithm, which has no derivative outside.
                let within = inside.where_cond(&squares, &squares.zeros_like()?)?;
                inside.where_cond(&(1.0 - within)?.log()?, &(squares.zeros_like()? + NO_SUPPORT)?)
            }
            KernelShape::Constant => squares.zeros_like(),
        }
    }
}

#[cfg(test)]
mod tests {
    use candle_core::{DType, Device, Var};

    use super::*;
    use crate::attention::pool;

    const ALL: [KernelShape; 4] =
        [KernelShape::Gaussian, KernelShape::Boxcar, KernelShape::Epanechnikov, KernelShape::Constant];
    const KEYS: [f64; 4] = [0.0, 0.5, 1.0, 2.0];

    /// Points on a line: `[1, count, 1]`.
    fn line(points: &[f64]) -> Tensor {
        Tensor::from_slice(points, (1, points.len(), 1), &Device::Cpu).unwrap()
    }

    fn kernel(shape: KernelShape, width: f64) -> Kernel {
        Kernel { shape, inverse_width: Tensor::new(&[1.0 / width], &Device::Cpu).unwrap() }
    }

    /// Weights of one query over keys on a line.
    fn weights(score: &Kernel, query: f64, keys: &[f64]) -> Vec<f64> {
        pool(score, &line(&[query]), &line(keys), &line(keys), None)
            .unwrap()
            .weights
            .flatten_all()
            .unwrap()
            .to_vec1()
            .unwrap()
    }

    #[track_caller]
    fn assert_near(found: &[f64], expected: &[f64]) {
        let is_near = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-5);
        assert!(found.len() == expected.len() && is_near, "{found:?}, not {expected:?}");
    }

    #[test]
    fn weights_are_normalized_kernel_values() {
        for (shape, width, kernels) in [
            (KernelShape::Gaussian, 1.0, [1.0, 0.882_497, 0.606_531, 0.135_335]),
            (KernelShape::Gaussian, 0.5, [1.0, 0.606_531, 0.135_335, 0.000_335]),
            (KernelShape::Boxcar, 1.0, [1.0, 1.0, 1.0, 0.0]),
            (KernelShape::Boxcar, 0.5, [1.0, 1.0, 0.0, 0.0]),
            (KernelShape::Epanechnikov, 1.0, [1.0, 0.75, 0.0, 0.0]),
            (KernelShape::Epanechnikov, 2.0, [1.0, 0.9375, 0.75, 0.0]),
            (KernelShape::Constant, 1.0, [1.0; 4]),
            (KernelShape::Constant, 0.1, [1.0; 4]),
        ] {
            let sum: f64 = kernels.iter().sum();
            let shares = kernels.map(|kernel| kernel / sum);
            // Distances have no sign.
            assert_near(&weights(&kernel(shape, width), 0.0, &KEYS), &shares);
            assert_near(&weights(&kernel(shape, width), 0.0, &KEYS.map(|key| -key)), &shares);
            assert_near(&weights(&kernel(shape, -width), 7.0, &KEYS.map(|key| key + 7.0)), &shares);
        }
    }

    #[test]
    fn distance_is_euclidean() {
        let keys = Tensor::new(&[[[0f64, 0.0], [3.0, 4.0], [6.0, 8.0]]], &Device::Cpu).unwrap();
        let query = keys.narrow(1, 0, 1).unwrap();
        let pooled = pool(&kernel(KernelShape::Epanechnikov, 8.0), &query, &keys, &keys, None).unwrap();
        // 1 and 39/64 of their sum.
        assert_near(&pooled.weights.flatten_all().unwrap().to_vec1().unwrap(), &[64.0 / 103.0, 39.0 / 103.0, 0.0]);
        assert_near(&pooled.values.flatten_all().unwrap().to_vec1().unwrap(), &[117.0 / 103.0, 156.0 / 103.0]);
    }

    #[test]
    fn query_without_support_gets_the_mean_of_the_values() {
        let [queries, keys, values] = [&[10.0, 0.0][..], &[0.0, 1.0, 2.0], &[3.0, 5.0, 40.0]]
            .map(|points| line(points).to_dtype(DType::F32).unwrap());
        let mask = Tensor::new(&[[1f32, 1.0, 0.0]], &Device::Cpu).unwrap();
        for shape in [KernelShape::Boxcar, KernelShape::Epanechnikov] {
            let score = Kernel { shape, inverse_width: Tensor::new(&[2f32], &Device::Cpu).unwrap() };
            for (mask, expected) in [(None, [16.0, 3.0]), (Some(&mask), [4.0, 3.0])] {
                let pooled = pool(&score, &queries, &keys, &values, mask).unwrap().values.flatten_all().unwrap();
                assert_near(&pooled.to_dtype(DType::F64).unwrap().to_vec1().unwrap(), &expected);
            }
        }
        // A Gaussian has unbounded support: the nearest key takes all the weight.
        assert_near(&weights(&kernel(KernelShape::Gaussian, 0.01), 10.0, &KEYS), &[0.0, 0.0, 0.0, 1.0]);
    }

    /// Kernel regression of some queries, and the derivatives with respect to its results.
    struct Regression {
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        d_results: Tensor,
    }

    impl Regression {
        fn loss(&self, shape: KernelShape, inverse_width: &Tensor) -> Tensor {
            let score = Kernel { shape, inverse_width: inverse_width.clone() };
            let pooled = pool(&score, &self.queries, &self.keys, &self.values, None).unwrap();
            (pooled.values * &self.d_results).unwrap().sum_all().unwrap()
        }

        fn loss_at(&self, shape: KernelShape, inverse_width: f64) -> f64 {
            self.loss(shape, &Tensor::new(&[inverse_width], &Device::Cpu).unwrap()).to_scalar().unwrap()
        }
    }

    #[test]
    fn derivative_of_the_width_matches_finite_differences() {
        let regression = Regression {
            keys: line(&[-1.3, -0.4, 0.0, 0.2, 0.7, 1.9]),
            values: line(&[2.0, -1.0, 0.5, 3.0, 1.0, -2.0]),
            // One query is on a key, and one is outside the support of the narrow kernels.
            queries: line(&[0.0, 0.45, 1.2, 30.0]),
            d_results: line(&[1.0, -2.0, 0.7, 0.3]),
        };
        for shape in ALL {
            for w in [0.3, 0.9, 1.7] {
                let variable = Var::new(&[w], &Device::Cpu).unwrap();
                let store = regression.loss(shape, &variable).backward().unwrap();
                let found = store.get(&variable).map_or(0.0, |gradient| gradient.to_vec1().unwrap()[0]);
                let step = 1e-5;
                let difference = regression.loss_at(shape, w + step) - regression.loss_at(shape, w - step);
                let expected = difference / (2.0 * step);
                assert!((found - expected).abs() < 1e-4, "{shape:?} {w}: {found}, not {expected}");
                let learns = matches!(shape, KernelShape::Gaussian | KernelShape::Epanechnikov);
                assert_eq!(learns, found.abs() > 1e-3, "{shape:?} {w}: {found}");
            }
        }
    }
}
