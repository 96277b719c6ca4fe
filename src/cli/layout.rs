//! How files of sentence pairs are laid out.

use clap::Args;

use crate::text::Layout;

/// How files of sentence pairs are laid out, where not plainly.
#[derive(Clone, Debug, Args)]
pub struct LayoutArgs {
    /// Read files of pairs as CSV: cells may stand in quotes, between tabs, commas or semicolons.
    #[arg(long, help_heading = "Data")]
    pub csv: bool,

    /// Leave out the first line of files, which says what the columns are.
    #[arg(long, help_heading = "Data")]
    pub header: bool,

    /// The columns of sentence and translation, counted from 1, in files of pairs with other columns as well.
    #[arg(long, value_name = "S,T", value_parser = columns, help_heading = "Data")]
    pub columns: Option<[usize; 2]>,
}

impl LayoutArgs {
    /// The layout that the options tell of.
    pub fn layout(&self) -> Layout {
        Layout { csv: self.csv, header: self.header, columns: self.columns }
    }
}

fn columns(text: &str) -> Result<[usize; 2], String> {
    let numbers = text.split_once(',').map(|(source, target)| [source, target].map(|part| part.trim().parse().ok()));
    match numbers {
        Some([Some(source), Some(target)]) if source > 0 && target > 0 && source != target => Ok([source, target]),
        _ => Err("two different numbers are needed, such as 1,2".to_owned()),
    }
}
