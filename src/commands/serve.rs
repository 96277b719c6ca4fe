//! `softalign serve`

use anyhow::Result;
use candle_core::Device;

use super::console::Console;
use crate::cli::ServeArgs;

pub fn run(args: &ServeArgs, device: &Device, console: &Console) -> Result<()> {
    crate::serve::run(&args.options(), device, console)
}
