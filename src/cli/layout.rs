//! How files of sentence pairs are laid out.

use clap::Args;
use serde::Serialize;

use crate::text::{Column, Layout};

/// How files of sentence pairs are laid out, where not plainly.
#[derive(Clone, Debug, Args, Serialize)]
pub struct LayoutArgs {
    /// Read files of pairs as CSV: cells may stand in quotes, between tabs, commas or semicolons.
    #[arg(long, help_heading = "Data")]
    pub csv: bool,

    /// Leave out the first line of files, which says what the columns are.
    #[arg(long, help_heading = "Data")]
    pub header: bool,

    /// The columns of sentence and translation in files of pairs with other columns as well: counted from 1, or as the
    /// first line calls them.
    #[arg(long, value_name = "S,T", value_parser = columns, help_heading = "Data")]
    pub columns: Option<[Column; 2]>,

    /// The column of features, such as V;PST;3;SG, each of which becomes a unit before the sentence or word; without
    /// --columns the first two are the pair. A model that was trained so expects them [there by default the column that it was
    /// trained with, in lines of sentences alone the second].
    #[arg(long, value_name = "F", value_parser = feature_column, help_heading = "Data")]
    pub features: Option<Column>,
}

impl LayoutArgs {
    /// Whether the options speak of more than features.
    pub fn describes_columns(&self) -> bool {
        self.csv || self.header || self.columns.is_some()
    }

    /// The layout that the options tell of.
    pub fn layout(&self) -> Layout {
        let (columns, features) = (self.columns.clone(), self.features.clone());
        let layout = Layout { csv: self.csv, header: self.header, columns, features };
        // Where columns have names there is a line that says them.
        Layout { header: self.header || layout.asks_for_names(), ..layout }
    }
}

fn column(text: &str) -> Option<Column> {
    match text.trim() {
        "" => None,
        text => match text.parse() {
            Ok(number) => (number > 0).then_some(Column::Number(number)),
            Err(_) => Some(Column::Name(text.to_owned())),
        },
    }
}

fn feature_column(text: &str) -> Result<Column, String> {
    column(text).ok_or_else(|| "a column is needed: a number from 1 on, or a name from the first line".to_owned())
}

fn columns(text: &str) -> Result<[Column; 2], String> {
    let both = text.split_once(',').filter(|(_, target)| !target.contains(','));
    match both.map(|(source, target)| [column(source), column(target)]) {
        Some([Some(source), Some(target)]) if source != target => Ok([source, target]),
        _ => {
            Err("two different columns are needed: numbers from 1 on, such as 1,2, or names from the first line"
                .to_owned())
        }
    }
}
