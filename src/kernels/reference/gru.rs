//! Gated recurrent unit (Cho et al. 2014), with the gates as PyTorch and cuDNN define them.
//!
//! ```text
//! reset        r = σ(x W_irᵀ + b_ir + h W_hrᵀ + b_hr)
//! update       z = σ(x W_izᵀ + b_iz + h W_hzᵀ + b_hz)
//! candidate    n = tanh(x W_inᵀ + b_in + r ∘ (h W_hnᵀ + b_hn))
//! state        h' = (1 − z) ∘ n + z ∘ h
//! ```
//!
//! The reset gate acts on the recurrent product, so that all three gates come from one product with `W_hh = [W_hr ;
//! W_hz ; W_hn]`. [`GruWeights::input_gates`] does not depend on the state and is one product for all steps.

use candle_core::{Result, Tensor};
use candle_nn::ops::sigmoid;

/// Weights of one cell with input size `i` and hidden size `h`, in PyTorch's layout, gates in the order r, z, n.
#[derive(Clone, Debug)]
pub struct GruWeights {
    /// `[3h, i]`
    pub weight_ih: Tensor,
    /// `[3h, h]`
    pub weight_hh: Tensor,
    /// `[3h]`
    pub bias_ih: Tensor,
    /// `[3h]`
    pub bias_hh: Tensor,
}

impl GruWeights {
    /// Inputs' share of the gates, for any number of steps at once: `[rows, i]` to `[rows, 3h]`.
    ///
    /// # Errors
    /// The shapes do not match.
    pub fn input_gates(&self, inputs: &Tensor) -> Result<Tensor> {
        inputs.matmul(&self.weight_ih.contiguous()?.t()?)?.broadcast_add(&self.bias_ih)
    }

    /// One step: inputs' share of the gates `[batch, 3h]` and h `[batch, h]` to h' `[batch, h]`.
    ///
    /// # Errors
    /// The shapes do not match.
    pub fn step(&self, input_gates: &Tensor, state: &Tensor) -> Result<Tensor> {
        let state_gates = state.matmul(&self.weight_hh.t()?)?.broadcast_add(&self.bias_hh)?; // [batch, 3h]
        let reset = sigmoid(&(gate(input_gates, 0)? + gate(&state_gates, 0)?)?)?; // [batch, h]
        let update = sigmoid(&(gate(input_gates, 1)? + gate(&state_gates, 1)?)?)?; // [batch, h]
        let candidate = (gate(input_gates, 2)? + (reset * gate(&state_gates, 2)?)?)?.tanh()?; // [batch, h]
        // (1 − z) ∘ n + z ∘ h = n + z ∘ (h − n)
        &candidate + (update * (state - &candidate)?)?
    }

    /// States of whole sequences from a zero state: inputs' share of the gates `[length, batch, 3h]` to `[length,
    /// batch, h]`.
    ///
    /// `mask` is `[length, batch, 1]`, 1 on real positions and 0 on padding. The state does not change on padding, so
    /// that with `backwards` each sequence starts at its own last real position.
    ///
    /// # Errors
    /// The shapes do not match.
    pub fn sequence(&self, gates: &Tensor, mask: &Tensor, backwards: bool) -> Result<Tensor> {
        #[cfg(feature = "cuda")]
        if gates.device().is_cuda() {
            return crate::kernels::cuda::gru_sequence(gates, &self.weight_hh, &self.bias_hh, mask, backwards);
        }
        let (length, batch, gate_size) = gates.dims3()?;
        let mut state = Tensor::zeros((batch, gate_size / 3), gates.dtype(), gates.device())?;
        let mut states = Vec::with_capacity(length);
        for step in 0..length {
            let position = if backwards { length - 1 - step } else { step };
            let next = self.step(&gates.get(position)?, &state)?;
            state = (&state + (next - &state)?.broadcast_mul(&mask.get(position)?)?)?;
            states.push(state.clone());
        }
        if backwards {
            states.reverse();
        }
        Tensor::stack(&states, 0)
    }
}

/// Returns one of the gates r, z, n, `[rows, h]`, of `gates`, `[rows, 3h]`.
fn gate(gates: &Tensor, index: usize) -> Result<Tensor> {
    let hidden = gates.dim(1)? / 3;
    gates.narrow(1, index * hidden, hidden)
}
