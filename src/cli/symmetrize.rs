//! The options of `symmetrize`.

use std::path::PathBuf;

use clap::Args;

use crate::alignment::{LinkFormat, Symmetrization};

/// `softalign symmetrize`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  softalign symmetrize forward.links backward.links > links.txt
  softalign symmetrize --way union --second-reversed en-fr.links fr-en.links")]
pub struct SymmetrizeArgs {
    /// Links of one direction, one sentence pair a line: s-t, or s-t:p, of which p is not read; - is standard input.
    #[arg(value_name = "FORWARD")]
    pub forward: PathBuf,

    /// Links of the other direction.
    #[arg(value_name = "BACKWARD")]
    pub backward: PathBuf,

    /// Which links of both are taken. The grow-diag ways give the links that Moses' symal gives; fast_align's atools tries
    /// links in another order, so that some of its links differ.
    #[arg(long, value_enum, default_value_t = Symmetrization::GrowDiagFinalAnd)]
    pub way: Symmetrization,

    /// The second file has t-s where the first has s-t.
    #[arg(long)]
    pub second_reversed: bool,

    /// The number of a sentence's first word in both files.
    #[arg(long, value_name = "0|1", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=1))]
    pub base: u8,

    /// Where the links go; - is standard output.
    #[arg(long, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,

    #[command(flatten)]
    pub(crate) notation: NotationArgs,
}

/// How links are written as text.
#[derive(Clone, Copy, Debug, Args)]
pub struct NotationArgs {
    /// Write links as t-s instead of s-t.
    #[arg(long)]
    pub reverse: bool,

    /// The number that links give a sentence's first word.
    #[arg(long, value_name = "0|1", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=1))]
    pub link_base: u8,
}

impl NotationArgs {
    /// The notation that the options tell of.
    pub fn notation(self) -> LinkFormat {
        LinkFormat { target_first: self.reverse, base: self.link_base.into() }
    }
}
