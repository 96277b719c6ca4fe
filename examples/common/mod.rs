//! What all examples need: a command line, and sequences as tensors.
#![allow(dead_code, reason = "each example needs a part of this")]

use std::fmt::Display;

use candle_core::{Device::Cpu, Result, Tensor};
use clap::{Args, Parser};
use softalign::text::PaddedBatch;

/// What examples that learn are asked.
#[derive(Args)]
pub struct Run {
    /// Learn for a moment only
    #[arg(long)]
    pub quick: bool,
    /// What everything random is drawn by
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// The arguments, or the help that was asked for. To be called first.
pub fn arguments<A: Parser>() -> A {
    // SAFETY: no other thread runs yet, so nobody reads the environment meanwhile. Candle asks this variable at every
    // product, and the tensors of these examples are too small to be worth a second thread.
    unsafe { std::env::set_var("RAYON_NUM_THREADS", "1") };
    A::try_parse().unwrap_or_else(|error| if error.use_stderr() { refuse(error) } else { error.exit() })
}

/// One line on what is wrong with the command line, and exit code 2.
pub fn refuse(error: impl Display) -> ! {
    let message = error.to_string();
    let line = message.lines().next().unwrap_or_default();
    eprintln!("error: {}", line.trim_start_matches("error: "));
    std::process::exit(2)
}

/// Ids and mask, `[batch, length]` each; the mask is 1 on real positions and 0 on padding.
pub fn tensors(sequences: &PaddedBatch) -> Result<(Tensor, Tensor)> {
    let shape = (sequences.batch(), sequences.length);
    let real = |&length| (0..sequences.length).map(move |position| f32::from(position < length));
    let mask: Vec<f32> = sequences.lengths.iter().flat_map(real).collect();
    Ok((Tensor::from_slice(&sequences.ids, shape, &Cpu)?, Tensor::from_vec(mask, shape, &Cpu)?))
}
