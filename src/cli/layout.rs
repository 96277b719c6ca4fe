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
}

impl LayoutArgs {
    /// The layout that the options tell of.
    pub fn layout(&self) -> Layout {
        let layout = Layout { csv: self.csv, header: self.header, columns: self.columns.clone() };
        // Where columns have names there is a line that says them.
        Layout { header: self.header || layout.asks_for_names(), ..layout }
    }
}

fn columns(text: &str) -> Result<[Column; 2], String> {
    let column = |part: &str| match part.trim() {
        "" => None,
        part => match part.parse() {
            Ok(number) => (number > 0).then_some(Column::Number(number)),
            Err(_) => Some(Column::Name(part.to_owned())),
        },
    };
    let both = text.split_once(',').filter(|(_, target)| !target.contains(','));
    match both.map(|(source, target)| [column(source), column(target)]) {
        Some([Some(source), Some(target)]) if source != target => Ok([source, target]),
        _ => {
            Err("two different columns are needed: numbers from 1 on, such as 1,2, or names from the first line"
                .to_owned())
        }
    }
}
