//! Step-by-step decoding on either backend.

use candle_core::Result;

use super::Shortlist;
use super::cpu::CpuIncrementalDecoder;
use super::reference::{ReferenceIncrementalDecoder, StepOutput};
use crate::attention::AttentionWeights;

/// Decoder states of any number of rows over a batch of sources.
pub enum IncrementalDecoder<'a> {
    /// On the CPU backend.
    Cpu(CpuIncrementalDecoder<'a>),
    /// On the reference backend.
    Reference(ReferenceIncrementalDecoder<'a>),
}

impl IncrementalDecoder<'_> {
    /// Restricts each source to the tokens of a shortlist. Called before the first step.
    pub fn restrict(&mut self, shortlist: &Shortlist) {
        match self {
            Self::Cpu(decoder) => decoder.restrict(shortlist),
            Self::Reference(decoder) => decoder.restrict(shortlist),
        }
    }

    /// Makes new rows: row `i` extends the former row `parents[i]` by `tokens[i]`.
    ///
    /// # Errors
    /// The device is out of memory.
    pub fn step(&mut self, parents: &[usize], tokens: &[u32]) -> Result<StepOutput> {
        match self {
            Self::Cpu(decoder) => Ok(decoder.step(parents, tokens)),
            Self::Reference(decoder) => decoder.step(parents, tokens),
        }
    }

    /// As [`Self::step`]. Also returns each head's weights, `[rows][heads][length]`. `given` weights, `[heads × length]`,
    /// replace the model's own.
    ///
    /// # Errors
    /// The device is out of memory.
    pub fn inspect_step(
        &mut self,
        parents: &[usize],
        tokens: &[u32],
        given: Option<&[f32]>,
    ) -> Result<(StepOutput, Vec<Vec<Vec<f32>>>)> {
        let weights = given.map_or(AttentionWeights::Model, AttentionWeights::Given);
        match self {
            Self::Cpu(decoder) => Ok(decoder.inspect_step(parents, tokens, weights)),
            Self::Reference(decoder) => decoder.inspect_step(parents, tokens, weights),
        }
    }
}
