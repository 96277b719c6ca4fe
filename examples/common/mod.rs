//! The command line of the examples, and sequences as tensors.
#![allow(dead_code, reason = "each example uses only some of these")]

use std::fmt::Display;

use candle_core::{Device::Cpu, Result, Tensor};
use clap::{Args, Parser};
use softalign::text::PaddedBatch;

/// Options of examples that train.
#[derive(Args)]
pub struct Run {
    /// Train briefly
    #[arg(long)]
    pub quick: bool,
    /// Seed of all random numbers
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// Parses the command line, or prints help and exits. Must be called before any thread starts.
pub fn arguments<A: Parser>() -> A {
    // SAFETY: no other thread runs yet. Candle reads this variable at every product; the tensors of these examples are too
    // small to profit from more threads.
    unsafe { std::env::set_var("RAYON_NUM_THREADS", "1") };
    A::try_parse().unwrap_or_else(|error| if error.use_stderr() { refuse(error) } else { error.exit() })
}

/// Prints a one-line error and exits with code 2.
pub fn refuse(error: impl Display) -> ! {
    let message = error.to_string();
    let line = message.lines().next().unwrap_or_default();
    eprintln!("error: {}", line.trim_start_matches("error: "));
    std::process::exit(2)
}

/// Returns ids and mask, `[batch, length]` each; the mask is 1 on real positions and 0 on padding.
pub fn tensors(sequences: &PaddedBatch) -> Result<(Tensor, Tensor)> {
    let shape = (sequences.batch(), sequences.length);
    let real = |&length| (0..sequences.length).map(move |position| f32::from(position < length));
    let mask: Vec<f32> = sequences.lengths.iter().flat_map(real).collect();
    Ok((Tensor::from_slice(&sequences.ids, shape, &Cpu)?, Tensor::from_vec(mask, shape, &Cpu)?))
}
