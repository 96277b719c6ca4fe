//! Posterior attention: the distribution over the source tokens once the target token is known (Shankar & Sarawagi 2019,
//! "Posterior Attention Models for Sequence to Sequence Learning", section 2).
//!
//! ```text
//! P(j | y_t) = α_tj p_tj(y_t) / Σ_k α_tk p_tk(y_t)        p_tj = softmax(E_out tanh(W_r [s_t ; E_y[y_{t-1}] ; h_j] + b_r) + b)
//! ```
//!
//! A model with soft attention predicts from the context c_t; here each annotation h_j in turn takes its place, projected like
//! c_t under several heads. α precedes the target token, but its posterior does not. The softmax is over the [`Candidates`] only,
//! and only the source tokens of the largest weights count; that is much faster and hardly changes the posteriors.

use candle_core::{Result, Tensor};

use super::lexical_bias::bias;
use super::output_layer::OutputLayer;
use super::row_dropout::RowDropout;
use crate::kernels::reference::mixture::component_posteriors;
use crate::model::candidates::{Candidates, keep_largest};
use crate::text::PaddedBatch;

/// Logit of tokens that are not candidates.
const EXCLUDED: f32 = -1e30;

/// Inputs of the output layer, one row per target token.
#[derive(Clone)]
pub struct OutputInputs {
    /// s: `[rows, n]`
    pub states: Tensor,
    /// E_y of the previous token: `[rows, e]`
    pub embedded: Tensor,
    /// α, mean over the heads: `[rows, S]`
    pub alphas: Tensor,
    /// Context of each source token of all sentences if it has all the weight: `[batch, S, n]`
    pub contexts: Tensor,
    /// Lexicon rows of all sentences' source tokens, if there is a lexicon: `[batch, S, V]`
    pub lexical: Option<Tensor>,
    /// Sentence of each row: `[rows]`
    pub sentences: Tensor,
    /// Token to predict in each row: `[rows]`
    pub targets: Tensor,
}

impl OutputInputs {
    /// Logits from each source token: `[rows, S, V]`.
    ///
    /// # Errors
    /// The device is out of memory.
    pub fn logits_by_position(&self, output: &OutputLayer, dropout: &RowDropout) -> Result<Tensor> {
        let contexts = self.contexts.index_select(&self.sentences, 0)?;
        let logits = output.logits_by_position(&self.states, &self.embedded, &contexts, dropout)?;
        match &self.lexical {
            Some(lexical) => logits + bias(&lexical.index_select(&self.sentences, 0)?)?,
            None => Ok(logits),
        }
    }

    /// Returns the inputs of a layer with some tokens only.
    fn restricted(&self, tokens: &Tensor, targets: Tensor) -> Result<Self> {
        let lexical = self.lexical.as_ref().map(|lexical| lexical.index_select(tokens, 2)).transpose()?;
        Ok(Self { lexical, targets, ..self.clone() })
    }
}

/// Posterior distributions over the source tokens: `[rows, S]`.
///
/// # Errors
/// The device is out of memory.
pub fn posterior_attention(output: &OutputLayer, inputs: &OutputInputs, target: &PaddedBatch) -> Result<Tensor> {
    let (vocabulary, device) = (output.vocabulary()?, inputs.states.device());
    let mut candidates: Vec<Candidates> = Vec::with_capacity(target.batch());
    for (sentence, &length) in target.lengths.iter().enumerate() {
        let tokens: Vec<u32> = (0..length).map(|step| target.id(sentence, step)).collect();
        candidates.push(Candidates::new(vocabulary, &tokens));
    }
    let all = Candidates::new(vocabulary, &candidates.iter().flat_map(Candidates::tokens).collect::<Vec<_>>());
    let mut mask: Vec<f32> = Vec::with_capacity(candidates.len() * all.len());
    for of_sentence in &candidates {
        mask.extend(all.tokens().map(|token| if of_sentence.find(token).is_some() { 0.0 } else { EXCLUDED }));
    }
    let mask = Tensor::from_vec(mask, (candidates.len(), 1, all.len()), device)?.index_select(&inputs.sentences, 0)?;
    let targets: Vec<u32> = inputs.targets.to_vec1()?;
    let targets: Vec<u32> = targets.into_iter().map(|token| all.find(token).unwrap_or_default() as u32).collect();
    let tokens = Tensor::new(all.tokens().collect::<Vec<_>>(), device)?;
    let inputs = inputs.restricted(&tokens, Tensor::new(targets, device)?)?;
    let logits = inputs.logits_by_position(&output.restricted(&tokens)?, &RowDropout::none())?;
    let mut alphas = inputs.alphas.to_vec2::<f32>()?;
    alphas.iter_mut().for_each(|alphas| keep_largest(alphas));
    component_posteriors(&logits.broadcast_add(&mask)?, &Tensor::new(alphas, device)?, &inputs.targets)
}
