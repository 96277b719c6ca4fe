//! Arguments for files of sentence pairs.

#[cfg(feature = "cli")]
use clap::ValueEnum;
#[cfg(feature = "cli")]
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde::Serialize;

#[cfg(feature = "cli")]
use super::OnError;
use super::{Column, TableFormat};

/// Layout of files of sentence pairs.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct LayoutArgs {
    /// Read files of pairs as CSV, as .csv files always are: cells may be quoted; tabs, commas or semicolons separate them; a
    /// recognized header is left out.
    #[cfg_attr(feature = "cli", arg(long, help_heading = "Data"))]
    pub csv: bool,

    /// Skip the first line of each file, which holds the column names.
    #[cfg_attr(feature = "cli", arg(long, help_heading = "Data"))]
    pub header: bool,

    /// Columns of source and target in files with more columns, as numbers from 1 or as names in the first line. Of several
    /// files, those with only two columns need not have them.
    #[cfg_attr(feature = "cli", arg(long, value_name = "S,T", value_parser = parse_columns, help_heading = "Data"))]
    pub columns: Option<SelectedColumns>,

    /// Column of features such as V;PST;3;SG, each of which becomes a token before the source text. Without --columns the
    /// first two columns are the pair. A model trained with features requires them [default: none; for a model trained with
    /// features, the column used in training, or the second column of input that has no target].
    #[cfg_attr(feature = "cli", arg(long, value_name = "F", value_parser = parse_feature_column, help_heading = "Data"))]
    pub features: Option<Column>,
}

/// Columns that `--columns` selects: source and target, or a source alone.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SelectedColumns(Vec<Column>);

impl SelectedColumns {
    /// Column of the source.
    pub fn source(&self) -> &Column {
        &self.0[0]
    }

    /// Returns the columns of source and target.
    fn pair(&self) -> Option<[Column; 2]> {
        self.0.clone().try_into().ok()
    }
}

impl From<[Column; 2]> for SelectedColumns {
    fn from(columns: [Column; 2]) -> Self {
        Self(columns.into())
    }
}

impl LayoutArgs {
    /// Returns true if an option other than `--features` is present.
    pub fn describes_columns(&self) -> bool {
        Self { features: None, ..self.clone() } != Self::default()
    }

    /// Returns the layout. Named columns imply a header.
    pub fn layout(&self) -> TableFormat {
        let (columns, features) = (self.columns.as_ref().and_then(SelectedColumns::pair), self.features.clone());
        let layout = TableFormat { csv: self.csv, header: self.header, columns, features };
        TableFormat { header: self.header || layout.has_named_columns(), ..layout }
    }
}

/// Returns the parser of `--on-error` where results have no lines of their own.
#[cfg(feature = "cli")]
pub fn fail_or_skip() -> impl TypedValueParser<Value = OnError> {
    let values = [OnError::Fail, OnError::Skip].into_iter().filter_map(|value| value.to_possible_value());
    PossibleValuesParser::new(values).map(|name| OnError::from_str(&name, false).unwrap_or_default())
}

/// Parses a column of sentences, or two columns as `--columns` of files of pairs.
///
/// # Errors
/// The text names neither.
#[cfg(feature = "cli")]
pub fn parse_source_column(text: &str) -> Result<SelectedColumns, String> {
    match parse_column(text).filter(|_| !text.contains(',')) {
        Some(source) => Ok(SelectedColumns(vec![source])),
        None => parse_columns(text),
    }
}

#[cfg(feature = "cli")]
fn parse_column(text: &str) -> Option<Column> {
    match text.trim() {
        "" => None,
        text => match text.parse() {
            Ok(number) => (number > 0).then_some(Column::Number(number)),
            Err(_) => Some(Column::Name(text.to_owned())),
        },
    }
}

#[cfg(feature = "cli")]
fn parse_feature_column(text: &str) -> Result<Column, String> {
    parse_column(text).ok_or_else(|| "expected a column number from 1, or a name in the first line".to_owned())
}

#[cfg(feature = "cli")]
fn parse_columns(text: &str) -> Result<SelectedColumns, String> {
    let both = text.split_once(',').filter(|(_, target)| !target.contains(','));
    match both.map(|(source, target)| [parse_column(source), parse_column(target)]) {
        Some([Some(source), Some(target)]) if source != target => Ok(SelectedColumns(vec![source, target])),
        _ => Err("expected two different columns: numbers from 1, such as 1,2, or names in the first line".to_owned()),
    }
}
