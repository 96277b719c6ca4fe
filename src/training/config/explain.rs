//! What a plan was made from, and what to hope for, in words.

use crate::text::{CorpusStats, LineKind};
use crate::training::{Schedule, TrainingSettings};

/// Below this many pairs of sentences hardly more is learnt than the sentences themselves; below that many only what is
/// like them.
const VERY_FEW: usize = 1000;
const FEW: usize = 10_000;

/// What the data are, on both sides.
pub(super) fn data(profile: &CorpusStats) -> String {
    let [source, target] = &profile.sides;
    let what = match (source.kind, target.kind) {
        (LineKind::Sentences, LineKind::Sentences) => {
            format!("sentences of {:.1} and {:.1} words in the mean", source.words, target.words)
        }
        (source, target) if source == target => source.name().to_owned(),
        (source, target) => format!("{} and {}", source.name(), target.name()),
    };
    let repeated = profile.pairs - profile.different_sources;
    let repeated = match 100 * repeated / profile.pairs.max(1) {
        0..=4 => String::new(),
        percent => format!("; {percent} % of the sources are there more than once"),
    };
    format!("{} pairs of {what}{repeated}", profile.pairs)
}

/// How long training takes, and what becomes of the step size.
pub(super) fn length(settings: &TrainingSettings) -> String {
    let limit = match settings.max_minutes {
        Some(minutes) => format!("{minutes} minutes, or {} epochs", settings.max_epochs),
        None => format!("{} epochs", settings.max_epochs),
    };
    match settings.schedule {
        Schedule::Plateau => format!("at most {limit}; training ends when validations bring nothing better"),
        Schedule::Hold | Schedule::Cosine => {
            format!("{limit}, towards the end of which the step size falls to nothing")
        }
    }
}

/// What so few data allow to hope for, if they are few.
pub(super) fn warning(profile: &CorpusStats) -> Option<String> {
    let few = match profile.pairs {
        _ if profile.of_words() => return None,
        0..VERY_FEW => "expect words and phrases that were seen often, and no translations of new sentences",
        VERY_FEW..FEW => "expect sentences much like these ones to come out, and of others parts",
        _ => return None,
    };
    Some(format!("{} pairs are few: {few}", profile.pairs))
}
