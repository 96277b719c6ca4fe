//! `softalign symmetrize`

use std::path::Path;

use anyhow::{Result, anyhow, bail};

use super::output_file::{Output, WrittenPath, ensure_distinct_paths};
use super::pair_files::{ChunkedWork, process_chunks};
use super::unreadable::Unreadable;
use crate::alignment::{Link, LinkFormat};
use crate::cli::SymmetrizeArgs;
use crate::error::UsageError;
use crate::text::{OnError, Pair, PairFiles, PairStream, TableFormat, file_name};

pub fn run(args: &SymmetrizeArgs) -> Result<()> {
    let (forward, backward) = (args.forward.as_path(), args.backward.as_path());
    if forward == backward {
        bail!(UsageError::new(format!("{}: this file cannot be both directions", file_name(forward))));
    }
    ensure_distinct_paths([forward, backward], [WrittenPath::new("--output", &args.output)])?;
    let notations = [
        LinkFormat { target_first: false, base: args.base },
        LinkFormat { target_first: args.second_reversed, base: args.base },
    ];
    let files = PairFiles::parallel(forward, backward, &TableFormat::default());
    let output = Output::open(&args.output)?;
    // Parallel lines are read like sentence pairs.
    let lines = files.stream("the files of links")?;
    let mut work = SymmetrizedFiles { args, notations, lines, output };
    process_chunks(&mut work, &mut Unreadable::new(OnError::Fail))?;
    work.output.finish()
}

/// Links of both directions, line by line, and the output of the symmetrized ones.
struct SymmetrizedFiles<'a> {
    args: &'a SymmetrizeArgs,
    /// Notation of each file.
    notations: [LinkFormat; 2],
    lines: PairStream,
    output: Output,
}

impl ChunkedWork for SymmetrizedFiles<'_> {
    type Item = Pair;

    fn next_chunk(&mut self, most: usize) -> Result<Vec<Result<Pair>>> {
        self.lines.next_chunk(most)
    }

    fn process(&mut self, first: usize, chunk: &[Pair], _: &Unreadable) -> Result<()> {
        for (number, Pair { source, target }) in (first + 1..).zip(chunk) {
            let one = read(self.notations[0], source, &self.args.forward, number)?;
            let other = read(self.notations[1], target, &self.args.backward, number)?;
            let links = self.args.way.links(&one, &other);
            self.output.with(|out| writeln!(out, "{}", self.args.notation.format_line(&links)))?;
        }
        self.output.flush()
    }
}

fn read(notation: LinkFormat, line: &str, path: &Path, number: usize) -> Result<Vec<Link>> {
    notation.parse_line(line).map_err(|reason| anyhow!("{}:{number}: {reason}", file_name(path)))
}
