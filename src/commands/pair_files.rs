//! Sentence pairs that the options name, processed in chunks.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::unreadable::{ReadableItems, Unreadable};
use crate::checkpoint::ModelDir;
use crate::cli::{LayoutArgs, PairArgs, joined_options, options_of};
use crate::error::usage;
use crate::text::{Column, FIRST_FEATURES_COLUMN, Pair, PairFiles, TableFormat, is_standard};

/// Largest chunk. It bounds memory, and sorting by length needs some sentences.
const MAX_CHUNK: usize = 2000;

/// Work on a stream of items.
pub trait ChunkedWork {
    /// Item that is read; the default is an empty one.
    type Item: Default;

    /// Reads at most `most` items; none at the end.
    ///
    /// # Errors
    /// The input cannot be read any further.
    fn next_chunk(&mut self, most: usize) -> Result<Vec<Result<Self::Item>>>;

    /// Processes a chunk whose first item has the index `first`, with an empty item in place of each unreadable one.
    ///
    /// # Errors
    /// The work fails.
    fn process(&mut self, first: usize, chunk: &[Self::Item], unreadable: &Unreadable) -> Result<()>;
}

/// Processes items in chunks: small ones first for a quick response, then doubling up to [`MAX_CHUNK`].
///
/// # Errors
/// Those of the work, and of items that end it; the items before them are processed.
pub fn process_chunks(work: &mut impl ChunkedWork, unreadable: &mut Unreadable) -> Result<()> {
    const FIRST_CHUNK: usize = 50;
    let (mut size, mut first) = (FIRST_CHUNK, 0);
    loop {
        let part = work.next_chunk(size)?;
        if part.is_empty() {
            return Ok(());
        }
        let count = part.len();
        let ReadableItems { items, error } = unreadable.replace(first, part);
        if !items.is_empty() {
            work.process(first, &items, unreadable)?;
        }
        if let Some(error) = error {
            return Err(error);
        }
        (size, first) = ((2 * size).min(MAX_CHUNK), first + count);
    }
}

/// Pairs as the command line names them.
enum NamedPairs {
    /// Both sides in one file.
    Table(PathBuf),
    /// One file per side.
    Parallel { source: PathBuf, target: PathBuf },
    /// A sentence and its translation.
    Text(Pair),
}

/// Returns the pairs that the arguments name, or those of standard input.
///
/// # Errors
/// The arguments are unclear, or nothing is named and standard input is a terminal ([`UsageError`](crate::error::UsageError)).
pub fn pairs_or_standard_input(args: &PairArgs, model: Option<&Path>) -> Result<PairFiles> {
    match given_pairs(args, model)? {
        Some(files) => Ok(files),
        None if std::io::stdin().is_terminal() => usage(
            "no sentence pairs: name a file of pairs, give a sentence and its translation, each in quotes, or pipe pairs to \
             standard input",
        ),
        None => standard_input(args, model),
    }
}

/// Returns the pairs of standard input, which must not be empty.
///
/// # Errors
/// As [`given_pairs`].
pub fn standard_input(args: &PairArgs, model: Option<&Path>) -> Result<PairFiles> {
    Ok(pair_files(NamedPairs::Table(PathBuf::from("-")), args, model)?.required())
}

/// Returns the pairs that the arguments name, if any.
///
/// # Errors
/// The arguments are unclear ([`UsageError`](crate::error::UsageError)).
pub fn given_pairs(args: &PairArgs, model: Option<&Path>) -> Result<Option<PairFiles>> {
    let named = match (&args.positional[..], &args.pairs, args.source.as_ref().zip(args.target.as_ref())) {
        ([], Some(path), _) => NamedPairs::Table(path.clone()),
        ([], None, Some((source, target))) => NamedPairs::Parallel { source: source.clone(), target: target.clone() },
        ([], None, None) => return Ok(None),
        ([path], ..) => named_by_one(path)?,
        ([source, target], ..) => named_by_two(source, target)?,
        (more, ..) => {
            return usage(format!(
                "{} arguments: expected a file of pairs, or a sentence and its translation, each in quotes",
                more.len()
            ));
        }
    };
    pair_files(named, args, model).map(Some)
}

/// Interprets a single argument: a file, or a pair as in a line of a file.
fn named_by_one(argument: &Path) -> Result<NamedPairs> {
    let text = argument.to_string_lossy();
    if exists(argument) || looks_like_path(&text) {
        return Ok(NamedPairs::Table(argument.to_owned()));
    }
    match text.split_once('\t').or_else(|| text.split_once(" ||| ")) {
        Some((source, target)) => Ok(NamedPairs::Text(Pair::new(source, target))),
        None => usage(format!("\"{text}\" is not a file; if it is a sentence, its translation is missing")),
    }
}

/// Interprets two arguments: parallel files, or a sentence and its translation.
fn named_by_two(source: &Path, target: &Path) -> Result<NamedPairs> {
    match [source, target].map(exists) {
        [true, true] if is_table(source) || is_table(target) => {
            usage("two files are read as source and target sentences; name only one file of pairs")
        }
        [true, true] => Ok(NamedPairs::Parallel { source: source.to_owned(), target: target.to_owned() }),
        [false, false] if ![source, target].iter().any(|path| looks_like_path(&path.to_string_lossy())) => {
            Ok(NamedPairs::Text(Pair::new(source.to_string_lossy(), target.to_string_lossy())))
        }
        [exists, _] => usage(format!(
            "{}: no such file; expected a file of pairs, two parallel files, or a sentence and its translation",
            if exists { target } else { source }.display()
        )),
    }
}

fn exists(path: &Path) -> bool {
    is_standard(path) || path.exists()
}

/// True if a file has pairs by its name.
fn is_table(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "tsv" || extension == "csv")
}

/// True if a word has a slash or ends like the name of a file.
fn looks_like_path(text: &str) -> bool {
    let extension = Path::new(text).extension().map(|extension| extension.as_encoded_bytes());
    let is_file_name = extension.is_some_and(|extension| {
        (1..=4).contains(&extension.len())
            && extension.iter().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    });
    !text.contains(char::is_whitespace) && (is_file_name || text.contains('/'))
}

/// Returns the files in the format that the options give. Features of a model trained with them default to the column used
/// in training, or to the second column of a file of sources alone. In a sentence among the arguments, they follow a tab.
///
/// # Errors
/// A sentence among the arguments lacks features, or options describe columns that it does not have.
fn pair_files(named: NamedPairs, args: &PairArgs, model: Option<&Path>) -> Result<PairFiles> {
    let given = args.layout.layout();
    let recorded = if given.features.is_none() { model.and_then(layout_with_features) } else { None };
    let numbered = given.columns.is_some() && !given.has_named_columns();
    let layout = match recorded {
        // Numbered columns do not imply a header with names.
        Some(TableFormat { features: Some(Column::Name(_)), .. }) if numbered => given,
        Some(TableFormat { columns, features, .. }) if matches!(named, NamedPairs::Table(_)) => {
            // A file of sources alone had features in the column of the targets.
            let sources_only = columns.is_none() && features == Some(Column::Number(FIRST_FEATURES_COLUMN));
            let features = if sources_only { Some(Column::Number(FIRST_FEATURES_COLUMN + 1)) } else { features };
            let layout = TableFormat { columns: given.columns.clone().or(columns), features, ..given };
            TableFormat { header: layout.header || layout.has_named_columns(), ..layout }
        }
        Some(_) => TableFormat { features: Some(Column::Number(FIRST_FEATURES_COLUMN)), ..given },
        None => given,
    };
    let files = match named {
        NamedPairs::Table(path) => PairFiles::tsv(&path, &layout),
        NamedPairs::Parallel { source, target } => PairFiles::parallel(&source, &target, &layout),
        NamedPairs::Text(_) if args.layout.describes_columns() => return refuse_columns_of_arguments(),
        NamedPairs::Text(pair) => {
            let pair = Pair { source: layout.source(pair.source)?, ..pair };
            PairFiles::in_memory(&[pair]).with_layout(&layout)
        }
    };
    Ok(files.tagged(args.tag_source.clone()))
}

/// Returns the layout of the files that a model was trained on, if they have features.
fn layout_with_features(model: &Path) -> Option<TableFormat> {
    Some(ModelDir::new(model).config()?.data.layout).filter(|layout| layout.features.is_some())
}

/// Fails since options describe the columns of files, but sentences are among the arguments. Only features can follow those.
pub fn refuse_columns_of_arguments<T>() -> Result<T> {
    let mut options = options_of::<LayoutArgs>();
    options.retain(|option| option != "features");
    usage(format!("{} describe files, not sentences among the arguments", joined_options(&options)))
}
