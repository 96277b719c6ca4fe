//! `softalign export`

use anyhow::{Context, Result};

use super::console::Console;
use super::output_file::Output;
use crate::cli::ExportArgs;
use crate::export::{ExportOptions, exported_page};

pub fn run(args: &ExportArgs, console: &Console) -> Result<()> {
    let about = args.about.as_ref().map(|path| {
        std::fs::read_to_string(path).with_context(|| format!("{}: cannot read this file as text", path.display()))
    });
    let (about, title) = (about.transpose()?, args.title.clone());
    let page = exported_page(&args.model, &ExportOptions { title, about, page: args.page, weights: args.weights })?;
    let size = format!("{:.1} MB", page.len() as f64 / 1e6);
    if args.dry_run {
        console.note(format!("{} would have {size}", args.output.display()));
        return Ok(());
    }
    let mut output = Output::open(&args.output)?;
    output.with(|out| out.write_all(page.as_bytes()))?;
    output.finish()?;
    console.note(format!("{size} written to {}; open it in a browser", args.output.display()));
    Ok(())
}
