//! Arguments of `softalign symmetrize`.

use std::path::PathBuf;

use clap::Args;

use crate::alignment::{LinkFormat, Symmetrization};

/// Arguments of `softalign symmetrize`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  softalign symmetrize forward.links backward.links > links.txt
  softalign symmetrize --way union --second-reversed en-fr.links fr-en.links")]
pub struct SymmetrizeArgs {
    /// Links of one direction, one sentence pair per line: s-t, or s-t:p, where p is ignored; - is standard input.
    #[arg(value_name = "FORWARD")]
    pub forward: PathBuf,

    /// Links of the other direction.
    #[arg(value_name = "BACKWARD")]
    pub backward: PathBuf,

    /// Symmetrization method. The grow-diag methods return the same links as Moses' symal; fast_align's atools visits links in
    /// another order and returns some others.
    #[arg(long, value_enum, default_value_t = Symmetrization::GrowDiagFinalAnd)]
    pub way: Symmetrization,

    /// Read links of the second file as t-s.
    #[arg(long)]
    pub second_reversed: bool,

    /// Index of a sentence's first word in both files.
    #[arg(long, value_name = "0|1", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=1))]
    pub base: u8,

    /// Output file; - is standard output.
    #[arg(long, short = 'o', alias = "out", value_name = "FILE", default_value = "-")]
    pub output: PathBuf,

    #[command(flatten)]
    pub(crate) notation: LinkFormat,
}
