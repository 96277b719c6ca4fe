//! `softalign symmetrize`

use std::path::Path;

use anyhow::{Result, anyhow, bail};

use super::output_file::{Output, ensure_distinct_paths};
use super::pair_files::for_each_chunk;
use super::unreadable::Unreadable;
use crate::alignment::{Link, LinkFormat};
use crate::cli::SymmetrizeArgs;
use crate::error::UsageError;
use crate::text::{OnError, Pair, PairFiles, TableFormat, file_name};

pub fn run(args: &SymmetrizeArgs) -> Result<()> {
    let (forward, backward) = (args.forward.as_path(), args.backward.as_path());
    if forward == backward {
        bail!(UsageError(format!("{}: this file cannot be both directions", file_name(forward))));
    }
    ensure_distinct_paths([forward, backward], [("--output", args.output.as_path())])?;
    let notations = [
        LinkFormat { target_first: false, base: args.base },
        LinkFormat { target_first: args.second_reversed, base: args.base },
    ];
    let files = PairFiles::parallel(forward, backward, &TableFormat::default());
    let mut output = Output::open(&args.output)?;
    // Parallel lines are read like sentence pairs.
    let mut lines = files.stream("the files of links")?;
    let symmetrize = |done: usize, part: Vec<Pair>, _: &Unreadable| {
        for (number, Pair { source, target }) in (done + 1..).zip(&part) {
            let one = read(notations[0], source, forward, number)?;
            let other = read(notations[1], target, backward, number)?;
            let links = args.way.links(&one, &other);
            output.with(|out| writeln!(out, "{}", args.notation.format_line(&links)))?;
        }
        output.flush()
    };
    for_each_chunk(&mut Unreadable::new(OnError::Fail), |most| lines.next_chunk(most), symmetrize)?;
    output.finish()
}

fn read(notation: LinkFormat, line: &str, path: &Path, number: usize) -> Result<Vec<Link>> {
    notation.parse_line(line).map_err(|reason| anyhow!("{}:{number}: {reason}", file_name(path)))
}
