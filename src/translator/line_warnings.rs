//! Warnings about input lines, one message for each kind.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::{ForcedAlignment, LinkedPair, MAX_LINKED_WORDS, MAX_SENTENCE_TOKENS, Translation, Translator};
use crate::alignment::Doubt;
use crate::reporter::Reporter;
use crate::search::{MAX_REQUIRED_PHRASES, MAX_REQUIRED_TOKENS};
use crate::text::{LineNumbers, Pair, PairFiles};

/// Maximum number of line numbers in a message.
const MAX_NAMED: usize = 5;
/// Maximum number of unknown features in a message.
const MAX_FEATURES: usize = 20;

/// List of line numbers.
#[derive(Default)]
struct LineList {
    /// First line numbers of the list, counted from 1.
    named: Vec<usize>,
    /// Number of lines.
    count: usize,
    /// Last line that was added.
    last: Option<usize>,
}

impl LineList {
    /// Adds a line, once for several sentences of it.
    fn add(&mut self, line: usize) {
        if self.last.replace(line) == Some(line) {
            return;
        }
        self.count += 1;
        if self.named.len() < MAX_NAMED {
            self.named.push(line);
        }
    }
}

/// Displays `line 3`, `lines 3 and 7` or `lines 3, 7, 8, 9, 10 and 812 more`.
impl fmt::Display for LineList {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let mut parts: Vec<String> = self.named.iter().map(usize::to_string).collect();
        if self.count > parts.len() {
            parts.push(format!("{} more", self.count - parts.len()));
        }
        match parts.split_last() {
            Some((only, [])) => write!(formatter, "line {only}"),
            Some((last, others)) => write!(formatter, "lines {} and {last}", others.join(", ")),
            None => Ok(()),
        }
    }
}

/// Warns of the truncated lines of a file, if there are any.
pub fn warn_of_truncated_lines(file: &str, lines: impl Iterator<Item = usize>, reason: &str, reporter: &dyn Reporter) {
    let mut truncated = LineList::default();
    lines.for_each(|line| truncated.add(line));
    if truncated.count > 0 {
        reporter.warn_incomplete(&format!("{file}: {truncated}: {reason}"));
    }
}

/// Lines whose results are incomplete or unreliable.
#[derive(Default)]
pub struct LineWarnings {
    numbers: LineNumbers,
    truncated: LineList,
    links_truncated: LineList,
    unknown: LineList,
    in_target_language: LineList,
    /// Languages of the model.
    languages: String,
    unmet_constraints: LineList,
    doubtful: LineList,
    /// Number of translations with each reason for doubt.
    doubts: BTreeMap<Doubt, usize>,
    /// Number of doubtful translations.
    doubtful_translations: usize,
    /// Number of translations.
    translations: usize,
    unknown_features: LineList,
    /// Some of the unknown features.
    features: BTreeSet<String>,
    /// Features that the model knows.
    known_features: String,
}

impl LineWarnings {
    /// Returns an empty collection for inputs with these line numbers.
    pub fn new(numbers: &LineNumbers) -> Self {
        Self { numbers: numbers.clone(), ..Self::default() }
    }

    /// Adds the best translation of input `id`, counted from 0. The sentences of a document are on its lines.
    pub fn add_translation(&mut self, id: usize, translation: &Translation) {
        self.translations += 1;
        let mut reasons = BTreeSet::new();
        for sentence in translation.qualities() {
            // Unknown lines have a message of their own.
            let doubts = if sentence.is_mostly_unknown { Vec::new() } else { sentence.doubts };
            let line = self.numbers.of(id) + sentence.line;
            for (lines, has_reason) in [
                (&mut self.truncated, sentence.cut),
                (&mut self.unknown, sentence.is_mostly_unknown),
                (&mut self.unmet_constraints, sentence.unmet_constraints > 0),
                (&mut self.doubtful, !doubts.is_empty()),
            ] {
                if has_reason {
                    lines.add(line);
                }
            }
            reasons.extend(doubts);
        }
        self.doubtful_translations += usize::from(!reasons.is_empty());
        for doubt in reasons {
            *self.doubts.entry(doubt).or_default() += 1;
        }
    }

    /// Adds input `id` if its text seems to be in the target language.
    pub fn add_source(&mut self, id: usize, source: &str, translator: &Translator) {
        if translator.is_in_target_language(source) {
            self.in_target_language.add(self.numbers.of(id));
            self.languages = translator.described_languages();
        }
    }

    /// Adds the forced alignment of input `id`.
    pub fn add_aligned(&mut self, id: usize, aligned: &ForcedAlignment) {
        if aligned.cut {
            self.truncated.add(self.numbers.of(id));
        }
        if aligned.is_mostly_unknown() {
            self.unknown.add(self.numbers.of(id));
        }
    }

    /// Adds the truncated input `id`.
    pub fn add_truncated(&mut self, id: usize) {
        self.truncated.add(self.numbers.of(id));
    }

    /// Adds the links of input `id`.
    pub fn add_linked(&mut self, id: usize, linked: &LinkedPair) {
        match &linked.aligned {
            Some(aligned) if aligned.cut => self.truncated.add(self.numbers.of(id)),
            None if linked.cut => self.links_truncated.add(self.numbers.of(id)),
            _ => {}
        }
    }

    /// Adds input `id`, whose source begins with features, if the model does not know some of them.
    pub fn add_features(&mut self, id: usize, source: &str, translator: &Translator) {
        let text = &translator.config().text;
        let known = &text.source_protected_tokens;
        let unknown = known.unknown_features(source, text.normalization);
        if !unknown.is_empty() {
            self.unknown_features.add(self.numbers.of(id));
            let room = MAX_FEATURES.saturating_sub(self.features.len());
            self.features.extend(unknown.into_iter().take(room).map(str::to_owned));
            self.known_features = known.feature_list();
        }
    }

    /// Adds the pair `id` as [`Self::add_features`] does, if its files have features.
    pub fn add_pair(&mut self, id: usize, pair: &Pair, files: &PairFiles, translator: &Translator) {
        if files.layout().features.is_some() {
            self.add_features(id, &files.without_tag(pair).source, translator);
        }
    }

    /// Reports lines with features that the model does not know.
    pub fn report_unknown_features(&self, reporter: &dyn Reporter) {
        if self.unknown_features.count > 0 {
            let unknown = Vec::from_iter(self.features.iter().map(String::as_str)).join(", ");
            let known = if self.known_features.is_empty() { "none" } else { &self.known_features };
            let lines = &self.unknown_features;
            reporter.warn(&format!("{lines}: features unknown to the model ({unknown}); it knows {known}"));
        }
    }

    /// Reports truncated lines.
    pub fn report_truncated(&self, reporter: &dyn Reporter) {
        for (lines, reason) in [
            (&self.truncated, format!("longer than {MAX_SENTENCE_TOKENS} tokens; only the beginning was read")),
            (&self.links_truncated, format!("longer than {MAX_LINKED_WORDS} words; only the beginning was linked")),
        ] {
            if lines.count > 0 {
                reporter.warn_incomplete(&format!("{lines}: {reason}"));
            }
        }
    }

    /// Reports lines that are mostly unknown to the model, and the consequence.
    pub fn report_unknown(&self, consequence: &str, reporter: &dyn Reporter) {
        let lines = &self.unknown;
        if lines.count > 0 {
            reporter
                .warn(&format!("{lines}: mostly unknown to the model, for example in another language; {consequence}"));
        }
    }

    /// Reports lines that seem to be in the target language.
    pub fn report_in_target_language(&self, reporter: &dyn Reporter) {
        let Self { in_target_language: lines, languages, .. } = self;
        if lines.count > 0 {
            reporter
                .warn(&format!("{lines}: in the target language already, it seems; the model translates {languages}"));
        }
    }

    /// Reports doubtful translations, with the number of those that have each reason, and the advice where to see them.
    pub fn report_doubtful(&self, advice: &str, reporter: &dyn Reporter) {
        let Self { doubtful, doubtful_translations: count, translations: total, .. } = self;
        if *count == 0 {
            return;
        }
        let mut reasons = Vec::with_capacity(self.doubts.len());
        for (doubt, count) in &self.doubts {
            let reason = match doubt {
                Doubt::Confidence => "low confidence",
                Doubt::Uncovered => "source words left out",
                Doubt::Repetition => "repetition",
                Doubt::Nonwords => "words that may be made up",
            };
            reasons.push(if *total == 1 { reason.to_owned() } else { format!("{reason} ({count})") });
        }
        let translations = match total {
            1 => "the translation is doubtful".to_owned(),
            _ => format!("{count} of {total} translations are doubtful, {doubtful}"),
        };
        reporter.warn(&format!("{translations}: {}; compare with the source; {advice}", reasons.join(", ")));
    }

    /// Reports lines whose translations lack a required phrase.
    pub fn report_unmet(&self, reporter: &dyn Reporter) {
        if self.unmet_constraints.count > 0 {
            reporter.warn(&format!(
                "{}: no translation contains all required phrases; try a wider --beam, with at most \
                 {MAX_REQUIRED_PHRASES} phrases and {MAX_REQUIRED_TOKENS} tokens",
                self.unmet_constraints
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_some_lines_and_counts_the_others() {
        for (numbers, expected) in [
            (&[3][..], "line 3"),
            (&[3, 7], "lines 3 and 7"),
            (&[1, 2, 3, 4, 5], "lines 1, 2, 3, 4 and 5"),
            // Several sentences of a line.
            (&[3, 3, 3, 7, 7], "lines 3 and 7"),
            (&[1, 2, 3, 4, 5, 6, 7], "lines 1, 2, 3, 4, 5 and 2 more"),
        ] {
            let mut lines = LineList::default();
            numbers.iter().for_each(|&number| lines.add(number));
            assert_eq!(lines.to_string(), expected);
        }
    }
}
