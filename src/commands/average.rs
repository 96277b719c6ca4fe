//! `softalign average`

use anyhow::Result;
use candle_core::Device;

use super::console::Console;
use crate::checkpoint::average;
use crate::cli::AverageArgs;

pub fn run(args: &AverageArgs, device: &Device, console: &Console) -> Result<()> {
    average(&args.models, &args.out, device, console)?;
    console.note(format!("average of {} models written to {}", args.models.len(), args.out.display()));
    Ok(())
}
