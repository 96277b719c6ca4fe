//! Output bias of a [`TokenLexicon`].

use candle_core::{Device, Result, Tensor};

use crate::model::TokenLexicon;
use crate::model::token_lexicon::EPSILON;
use crate::text::PaddedBatch;

/// ln(1 + l / ε): `[batch, T, V]` from weights `[batch, T, S]`, 0 on padding, and lexicon rows `[batch, S, V]`.
///
/// # Errors
/// The shapes do not match.
pub fn lexical_bias(alphas: &Tensor, rows: &Tensor) -> Result<Tensor> {
    bias(&alphas.contiguous()?.matmul(rows)?)
}

/// ln(1 + l / ε) of lexicon rows.
///
/// # Errors
/// The device is out of memory.
pub fn bias(rows: &Tensor) -> Result<Tensor> {
    rows.affine(1.0 / f64::from(EPSILON), 1.0)?.log()
}

/// Dense lexicon rows of a batch's source tokens, padding included: `[batch, S, V]`.
///
/// # Errors
/// The device is out of memory.
pub fn dense_rows(lexicon: &TokenLexicon, sources: &PaddedBatch, device: &Device) -> Result<Tensor> {
    let mut dense = vec![0.0f32; sources.ids.len() * lexicon.target_vocabulary];
    for (&source, values) in sources.ids.iter().zip(dense.chunks_exact_mut(lexicon.target_vocabulary)) {
        let (tokens, shares) = lexicon.row(source);
        tokens.iter().zip(shares).for_each(|(&token, &share)| values[token as usize] = share);
    }
    Tensor::from_vec(dense, (sources.batch(), sources.length, lexicon.target_vocabulary), device)
}
