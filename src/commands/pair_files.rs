//! Sentence pairs by a command's options, and work on them in portions.

use std::path::Path;

use anyhow::Result;

use crate::checkpoint::ModelDir;
use crate::cli::PairArgs;
use crate::text::{BEHIND, Column, PairFiles, TableFormat};

/// Pairs or sentences that are worked on at a time, at most, so that memory is bounded and there is room for sorting by
/// length.
const PORTION: usize = 2000;

/// Works on pairs or sentences, some at a time, before what is made of them is written: the first few soon, for whoever
/// waits, then twice as many each time up to a [`PORTION`]. `next_chunk` gives as many as it is told, or fewer, and none at the
/// end; `work` is told how many there were before.
///
/// # Errors
/// Those of either.
pub fn for_each_chunk<T>(
    mut next_chunk: impl FnMut(usize) -> Result<Vec<T>>,
    mut work: impl FnMut(usize, Vec<T>) -> Result<()>,
) -> Result<()> {
    const FIRST: usize = 50;
    let (mut portion, mut first) = (FIRST, 0);
    loop {
        let part = next_chunk(portion)?;
        if part.is_empty() {
            return Ok(());
        }
        let count = part.len();
        work(first, part)?;
        (portion, first) = ((2 * portion).min(PORTION), first + count);
    }
}

/// The pairs that the options name, if they do. Where the model was trained with features and the options do not say where
/// they are, they are where they were, or, in a file of sources alone, behind these.
pub fn given_pairs(args: &PairArgs, model: Option<&Path>) -> Option<PairFiles> {
    let given = args.layout.layout();
    let remembered = || ModelDir::new(model?).layout().filter(|layout| layout.features.is_some());
    let remembered = if given.features.is_none() { remembered() } else { None };
    let counted = given.columns.is_some() && !given.asks_for_names();
    let layout = match remembered {
        // Where columns are counted there may be no line that names them.
        Some(TableFormat { features: Some(Column::Name(_)), .. }) if counted => given,
        Some(TableFormat { columns, features, .. }) if args.pairs.is_some() => {
            // In a file of sources alone they stood where one of pairs has the targets.
            let beside = columns.is_none() && features == Some(Column::Number(BEHIND));
            let features = if beside { Some(Column::Number(BEHIND + 1)) } else { features };
            let layout = TableFormat { columns: given.columns.clone().or(columns), features, ..given };
            TableFormat { header: layout.header || layout.asks_for_names(), ..layout }
        }
        Some(_) => TableFormat { features: Some(Column::Number(BEHIND)), ..given },
        None => given,
    };
    let files = PairFiles::given(args.pairs.as_deref(), args.source.as_deref(), args.target.as_deref(), &layout)?;
    Some(files.tagged(args.tag_source.clone()))
}
