//! Arguments for files of sentence pairs.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::text::{Column, OnError, TableFormat};

/// Files of sentence pairs.
#[derive(Debug, Args)]
pub struct PairArgs {
    /// File of sentence pairs, one per line: source TAB target; - is standard input [default: data/test.tsv; data/train.tsv
    /// for clean].
    #[arg(long, value_name = "FILE.tsv", conflicts_with_all = ["source", "target"])]
    pub pairs: Option<PathBuf>,

    /// File of source sentences, one per line, with their translations in --target.
    #[arg(long, value_name = "FILE", requires = "target")]
    pub source: Option<PathBuf>,

    /// File of target sentences, one per line.
    #[arg(long, value_name = "FILE", requires = "source")]
    pub target: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) layout: LayoutArgs,

    /// Put this tag before each source sentence, as --tag-source of train does; it counts as the first word.
    #[arg(long, value_name = "TAG")]
    pub tag_source: Option<String>,
}

/// Layout of files of sentence pairs.
#[derive(Clone, Debug, Args, Serialize)]
pub struct LayoutArgs {
    /// Read files of pairs as CSV: cells may be quoted; tabs, commas or semicolons separate them.
    #[arg(long, help_heading = "Data")]
    pub csv: bool,

    /// Skip the first line of each file, which holds the column names.
    #[arg(long, help_heading = "Data")]
    pub header: bool,

    /// Columns of source and target in files with more columns, as numbers from 1 or as names in the first line.
    #[arg(long, value_name = "S,T", value_parser = parse_columns, help_heading = "Data")]
    pub columns: Option<[Column; 2]>,

    /// Column of features such as V;PST;3;SG, each of which becomes a token before the source text. Without --columns the
    /// first two columns are the pair. A model trained with features requires them [default: none; for a model trained with
    /// features, the column used in training, or the second column of input that has no target].
    #[arg(long, value_name = "F", value_parser = parse_feature_column, help_heading = "Data")]
    pub features: Option<Column>,
}

impl LayoutArgs {
    /// Returns true if an option other than `--features` is present.
    pub fn describes_columns(&self) -> bool {
        self.csv || self.header || self.columns.is_some()
    }

    /// Returns the layout. Named columns imply a header.
    pub fn layout(&self) -> TableFormat {
        let (columns, features) = (self.columns.clone(), self.features.clone());
        let layout = TableFormat { csv: self.csv, header: self.header, columns, features };
        TableFormat { header: self.header || layout.has_named_columns(), ..layout }
    }
}

/// Returns the parser of `--on-error` where results have no lines of their own.
pub(super) fn fail_or_skip() -> impl TypedValueParser<Value = OnError> {
    let values = [OnError::Fail, OnError::Skip].into_iter().filter_map(|value| value.to_possible_value());
    PossibleValuesParser::new(values).map(|name| OnError::from_str(&name, false).unwrap_or_default())
}

fn parse_column(text: &str) -> Option<Column> {
    match text.trim() {
        "" => None,
        text => match text.parse() {
            Ok(number) => (number > 0).then_some(Column::Number(number)),
            Err(_) => Some(Column::Name(text.to_owned())),
        },
    }
}

fn parse_feature_column(text: &str) -> Result<Column, String> {
    parse_column(text).ok_or_else(|| "expected a column number from 1, or a name in the first line".to_owned())
}

fn parse_columns(text: &str) -> Result<[Column; 2], String> {
    let both = text.split_once(',').filter(|(_, target)| !target.contains(','));
    match both.map(|(source, target)| [parse_column(source), parse_column(target)]) {
        Some([Some(source), Some(target)]) if source != target => Ok([source, target]),
        _ => Err("expected two different columns: numbers from 1, such as 1,2, or names in the first line".to_owned()),
    }
}
