//! Arguments of constraints on translations.

use std::path::PathBuf;

use clap::Args;

const CONSTRAINTS: &str = "Constraints";

/// Constraints on translations.
#[derive(Clone, Debug, Args)]
pub struct ConstraintArgs {
    /// Start each translation with this text; a trailing space makes it end at a word boundary.
    #[arg(long, value_name = "TEXT", help_heading = CONSTRAINTS)]
    pub prefix: Option<String>,

    /// Read lines of sentence TAB prefix of its translation.
    #[arg(long, conflicts_with = "prefix", help_heading = CONSTRAINTS)]
    pub prefixes: bool,

    /// Require this word or phrase in each translation. Can be repeated, up to 64 times. A phrase may have at most 256
    /// characters, all of them together 256 tokens. Not available with sampling.
    #[arg(long, value_name = "PHRASE", conflicts_with_all = ["sample", "mbr"], help_heading = CONSTRAINTS)]
    pub require: Vec<String>,

    /// Forbid this word or phrase, of at most 256 characters, in translations. Can be repeated.
    #[arg(long, value_name = "PHRASE", help_heading = CONSTRAINTS)]
    pub avoid: Vec<String>,

    /// Glossary of required translations: lines of term TAB translation, each at most 256 characters long. At most 64 terms
    /// and 256 tokens apply to a sentence; further ones are ignored. Not available with sampling.
    #[arg(long, value_name = "FILE.tsv", conflicts_with_all = ["sample", "mbr"], help_heading = CONSTRAINTS)]
    pub terms: Option<PathBuf>,
}
