//! `softalign completions` and `softalign man`.

use std::path::Path;

use anyhow::{Context, Result};

use super::output_file::Output;
use crate::cli::{Cli, CompletionsArgs, ManArgs};
use crate::error::UsageError;

pub fn completions(args: &CompletionsArgs) -> Result<()> {
    write(Path::new("-"), &args.script(Cli::definition()))
}

pub fn manual(args: &ManArgs) -> Result<()> {
    let Some(directory) = &args.out else {
        return write(Path::new("-"), &args.page(Cli::definition()).map_err(UsageError::new)?);
    };
    std::fs::create_dir_all(directory)
        .with_context(|| format!("{}: cannot create this directory", directory.display()))?;
    ManArgs::pages(Cli::definition()).iter().try_for_each(|(name, page)| write(&directory.join(name), page))
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut output = Output::open(path)?;
    output.with(|out| out.write_all(bytes))?;
    output.finish()
}
