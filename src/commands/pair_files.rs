//! Sentence pairs that the options name, processed in chunks.

use std::path::Path;

use anyhow::Result;

use super::unreadable::Unreadable;
use crate::checkpoint::ModelDir;
use crate::cli::PairArgs;
use crate::text::{Column, FIRST_FEATURES_COLUMN, PairFiles, TableFormat};

/// Largest chunk. It bounds memory, and sorting by length needs some sentences.
const MAX_CHUNK: usize = 2000;

/// Processes items in chunks: small ones first for a quick response, then doubling up to [`MAX_CHUNK`]. `next_chunk` returns at
/// most the requested number of items, none at the end; `work` receives the index of a chunk's first item, and an empty item in
/// place of each unreadable one.
///
/// # Errors
/// Those of the two functions, and of items that end the work; the items before them are processed.
pub fn for_each_chunk<T: Default>(
    unreadable: &mut Unreadable,
    mut next_chunk: impl FnMut(usize) -> Result<Vec<Result<T>>>,
    mut work: impl FnMut(usize, Vec<T>, &Unreadable) -> Result<()>,
) -> Result<()> {
    const FIRST_CHUNK: usize = 50;
    let (mut size, mut first) = (FIRST_CHUNK, 0);
    loop {
        let part = next_chunk(size)?;
        if part.is_empty() {
            return Ok(());
        }
        let count = part.len();
        let (part, error) = unreadable.replace(first, part);
        if !part.is_empty() {
            work(first, part, unreadable)?;
        }
        if let Some(error) = error {
            return Err(error);
        }
        (size, first) = ((2 * size).min(MAX_CHUNK), first + count);
    }
}

/// Returns the pairs that the options name, if any. Features of a model trained with them default to the column used in
/// training, or to the second column of a file of sources alone.
pub fn given_pairs(args: &PairArgs, model: Option<&Path>) -> Option<PairFiles> {
    let given = args.layout.layout();
    let recorded = || Some(ModelDir::new(model?).config()?.data.layout).filter(|layout| layout.features.is_some());
    let recorded = if given.features.is_none() { recorded() } else { None };
    let numbered = given.columns.is_some() && !given.has_named_columns();
    let layout = match recorded {
        // Numbered columns do not imply a header with names.
        Some(TableFormat { features: Some(Column::Name(_)), .. }) if numbered => given,
        Some(TableFormat { columns, features, .. }) if args.pairs.is_some() => {
            // A file of sources alone had features in the column of the targets.
            let sources_only = columns.is_none() && features == Some(Column::Number(FIRST_FEATURES_COLUMN));
            let features = if sources_only { Some(Column::Number(FIRST_FEATURES_COLUMN + 1)) } else { features };
            let layout = TableFormat { columns: given.columns.clone().or(columns), features, ..given };
            TableFormat { header: layout.header || layout.has_named_columns(), ..layout }
        }
        Some(_) => TableFormat { features: Some(Column::Number(FIRST_FEATURES_COLUMN)), ..given },
        None => given,
    };
    let files =
        PairFiles::from_options(args.pairs.as_deref(), args.source.as_deref(), args.target.as_deref(), &layout)?;
    Some(files.tagged(args.tag_source.clone()))
}
