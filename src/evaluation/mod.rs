//! Evaluation: scores of translations against references, of links against gold alignments, and both by length.

mod by_length;
mod confidence;
mod evaluator;
mod gold;
mod report;
mod scores;

pub use by_length::{LengthScores, bleu_by_length};
pub use confidence::PerMetric;
pub use evaluator::{Evaluation, Evaluator, System, warn_of_truncated_scoring};
pub use gold::{UNKNOWN_SIZE, pair_sizes, read_gold, read_links};
pub use report::{SystemOrigin, SystemResult, SystemScores, report_json, write_report};
pub use scores::{CorpusScores, GoldScores};
