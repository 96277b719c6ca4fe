//! `softalign inspect`

use std::path::Path;

use anyhow::Result;

use super::output_file::Output;
use crate::cli::InspectArgs;
use crate::translator::ModelSummary;

pub fn run(args: &InspectArgs) -> Result<()> {
    let model = ModelSummary::load(args.directory.as_deref().unwrap_or(&args.model))?;
    let mut output = Output::open(Path::new("-"))?;
    if args.json {
        let json = model.json()?;
        output.with(|out| writeln!(out, "{json}"))?;
    } else {
        output.with(|out| model.write(out))?;
    }
    output.finish()
}
