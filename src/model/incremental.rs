//! Step-by-step decoding on either backend.

use candle_core::Result;

use super::cpu::CpuIncrementalDecoder;
use super::reference::{ReferenceIncrementalDecoder, StepOutput};
use crate::attention::StepWeights;

/// Decoder states of any number of rows over a batch of sources.
pub enum IncrementalDecoder<'a> {
    /// On the CPU backend.
    Cpu(CpuIncrementalDecoder<'a>),
    /// On the reference backend.
    Reference(ReferenceIncrementalDecoder<'a>),
}

impl IncrementalDecoder<'_> {
    /// Makes new rows: row `i` extends the former row `parents[i]` by `units[i]`.
    ///
    /// # Errors
    /// The device is out of memory.
    pub fn step(&mut self, parents: &[usize], units: &[u32]) -> Result<StepOutput> {
        match self {
            Self::Cpu(decoder) => Ok(decoder.step(parents, units)),
            Self::Reference(decoder) => decoder.step(parents, units),
        }
    }

    /// As [`Self::step`], with attention weights of this origin. Also returns each head's weights,
    /// `[rows][heads][length]`.
    ///
    /// # Errors
    /// The device is out of memory.
    pub fn inspect_step(
        &mut self,
        parents: &[usize],
        units: &[u32],
        weights: StepWeights,
    ) -> Result<(StepOutput, Vec<Vec<Vec<f32>>>)> {
        match self {
            Self::Cpu(decoder) => Ok(decoder.inspect_step(parents, units, weights)),
            Self::Reference(decoder) => decoder.inspect_step(parents, units, weights),
        }
    }
}
