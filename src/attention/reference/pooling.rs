//! Weights and pooled values from energies, for any score.
//!
//! ```text
//! weights    α = softmax_j(e_j / temperature)      0 on padding
//! pooled     c = Σ_j α_j v_j
//! ```

use candle_core::{D, Result, Tensor};
use candle_nn::ops::softmax;

use crate::attention::score_traits::Score;

/// Attention's results for each query.
#[derive(Clone, Debug)]
pub struct Pooled {
    /// Σ_j α_j v_j: `[batch, m, v]`
    pub values: Tensor,
    /// α: `[batch, m, length]`, each row with sum 1
    pub weights: Tensor,
}

/// Attention(q, K, V) = Σ_j α(q, k_j) v_j, with α the softmax of a score.
///
/// Queries are `[batch, m, d]`, keys `[batch, length, d]`, values `[batch, length, v]`. `mask`, `[batch, length]`, is 1
/// on real positions and 0 on padding; every row needs a 1. If all energies are equal, for example because no key
/// supports the query, the weights are uniform.
///
/// # Errors
/// The shapes do not match.
pub fn pool(
    score: &dyn Score,
    queries: &Tensor,
    keys: &Tensor,
    values: &Tensor,
    mask: Option<&Tensor>,
) -> Result<Pooled> {
    let (batch, m, _) = queries.dims3()?;
    if batch * m == 0 {
        let [values, weights] = [values.dim(2)?, keys.dim(1)?]
            .map(|size| Tensor::zeros((batch, m, size), queries.dtype(), queries.device()));
        return Ok(Pooled { values: values?, weights: weights? });
    }
    let mut energies = score.energies(queries, keys)?; // [batch, m, length]
    if let Some(mask) = mask {
        let real = mask.unsqueeze(1)?.broadcast_as(energies.shape())?.ne(0.0)?; // [batch, m, length]
        let padding = Tensor::full(f32::NEG_INFINITY, energies.shape(), energies.device())?;
        energies = real.where_cond(&energies, &padding)?;
    }
    let weights = softmax(&energies, D::Minus1)?; // [batch, m, length]
    Ok(Pooled { values: weights.matmul(&values.contiguous()?)?, weights })
}

#[cfg(test)]
mod tests {
    use candle_core::{DType, Device};

    use super::*;
    use crate::attention::Dot;

    #[test]
    fn no_query_gives_no_value() {
        let [queries, keys, values] =
            [(2, 0, 3), (2, 5, 3), (2, 5, 4)].map(|shape| Tensor::zeros(shape, DType::F32, &Device::Cpu).unwrap());
        let pooled = pool(&Dot, &queries, &keys, &values, None).unwrap();
        assert_eq!([pooled.values.dims(), pooled.weights.dims()], [&[2, 0, 4], &[2, 0, 5]]);
    }
}
