//! Explanation of the chosen configuration to the user.

use crate::reporter::counted;
use crate::text::{CorpusStats, LineKind};
use crate::training::{Schedule, TrainingSettings};

/// Numbers of pairs below which a model hardly generalizes at all, or only to similar sentences.
const VERY_FEW: usize = 1000;
const FEW: usize = 10_000;

/// Describes the training pairs.
pub(super) fn data(stats: &CorpusStats) -> String {
    let [source, target] = &stats.sides;
    let kind = match (source.kind, target.kind) {
        (LineKind::Sentences, LineKind::Sentences) => {
            format!("sentences of {:.1} and {:.1} words on average", source.words, target.words)
        }
        (source, target) if source == target => source.name().to_owned(),
        (source, target) => format!("{} and {}", source.name(), target.name()),
    };
    let repeated = stats.pairs - stats.distinct_sources;
    let repeated = match 100 * repeated / stats.pairs.max(1) {
        0..=4 => String::new(),
        percent => format!("; {percent} % of the sources are repeated"),
    };
    let several = match stats.splitter.per_line() {
        1 => String::new(),
        count => format!("; some lines of {count} sentences"),
    };
    format!("{} of {kind}{repeated}{several}", counted(stats.pairs, "pair"))
}

/// Describes the length of training and the learning rate schedule.
pub(super) fn length(settings: &TrainingSettings) -> String {
    let epochs = counted(settings.max_epochs as usize, "epoch");
    let limit = match settings.max_minutes {
        Some(minutes) => format!("{minutes} minutes, or {epochs}"),
        None => epochs,
    };
    match settings.schedule {
        Schedule::Plateau => format!("at most {limit}; training ends when validation stops improving"),
        Schedule::Hold | Schedule::Cosine => {
            format!("{limit}, toward the end of which the learning rate decays to 0")
        }
    }
}

/// Warns of few pairs.
pub(super) fn warning(stats: &CorpusStats) -> Option<String> {
    let expectation = match stats.pairs {
        _ if stats.has_single_words() => return None,
        0..VERY_FEW => "expect frequent words and phrases to be translated, but not new sentences",
        VERY_FEW..FEW => "expect good translations only of sentences much like these",
        _ => return None,
    };
    Some(format!("few pairs ({}): {expectation}", stats.pairs))
}
