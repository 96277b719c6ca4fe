//! Evaluation: scores of translations against references, of links against gold alignments, and both by length.

mod by_length;
mod confidence;
mod evaluator;
mod gold;
mod report;
mod scores;
mod system_result;

pub use by_length::{LengthScores, bleu_by_length};
pub use confidence::PerMetric;
pub use evaluator::{Evaluation, Evaluator, System, warn_of_truncated_scoring};
pub use gold::{UNKNOWN_SIZE, pair_sizes, read_gold, read_links};
pub use report::write_report;
pub use scores::{CorpusScores, GoldScores};
pub use system_result::{SystemOrigin, SystemResult, SystemScores, report_json};
