//! What translations have to keep to.

use std::path::PathBuf;

use clap::Args;

const HEADING: &str = "What translations keep to";

/// What translations have to keep to.
#[derive(Clone, Debug, Args)]
pub struct ConstraintArgs {
    /// What each translation begins with; with a space at the end, whole words.
    #[arg(long, value_name = "TEXT", help_heading = HEADING)]
    pub prefix: Option<String>,

    /// Each line is a sentence, a TAB, and what its translation begins with.
    #[arg(long, conflicts_with = "prefix", help_heading = HEADING)]
    pub prefixes: bool,

    /// A word or phrase that each translation contains, unless translations are drawn. May be given up to 64 times; a phrase
    /// has at most 256 characters, and all of them 256 units of the model.
    #[arg(long, value_name = "PHRASE", conflicts_with_all = ["sample", "mbr"], help_heading = HEADING)]
    pub require: Vec<String>,

    /// A word or phrase that no translation contains, of at most 256 characters. May be given several times.
    #[arg(long, value_name = "PHRASE", help_heading = HEADING)]
    pub avoid: Vec<String>,

    /// What terms are to be translated by, wherever they stand in a sentence: lines of term TAB translation. Of more than 64
    /// in a sentence, or of more than 256 units, the others are left out. A term and its translation have at most 256
    /// characters each.
    /// Not where translations are drawn.
    #[arg(long, value_name = "FILE.tsv", conflicts_with_all = ["sample", "mbr"], help_heading = HEADING)]
    pub terms: Option<PathBuf>,
}
