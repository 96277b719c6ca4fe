//! Warnings about lines of the input, each kind collected into one message.

use std::fmt;

use super::{ForcedAlignment, LONGEST, LinkedPair, MOST_WORDS, Translation};
use crate::reporter::Reporter;
use crate::search::{MOST_REQUIRED, MOST_REQUIRED_UNITS};
use crate::text::LineNumbers;

/// Most lines that are named one by one.
const MAX_NAMED: usize = 5;

/// A list of lines by their numbers.
#[derive(Default)]
struct LineList {
    /// The first few, counted from 1.
    named: Vec<usize>,
    count: usize,
}

impl LineList {
    fn add(&mut self, line: usize) {
        self.count += 1;
        if self.named.len() < MAX_NAMED {
            self.named.push(line);
        }
    }
}

/// As in `line 3`, `lines 3 and 7`, `lines 3, 7, 8, 9, 10 and 812 more`.
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

/// Warns of a file's lines of which only the beginning was used, if there are any.
pub fn warn_of_truncated_lines(file: &str, lines: impl Iterator<Item = usize>, what: &str, reporter: &dyn Reporter) {
    let mut truncated = LineList::default();
    lines.for_each(|line| truncated.add(line));
    if truncated.count > 0 {
        reporter.warn_incomplete(&format!("{file}: {truncated}: {what}"));
    }
}

/// Lines whose results are incomplete, or not as their author would expect.
#[derive(Default)]
pub struct LineWarnings {
    numbers: LineNumbers,
    truncated: LineList,
    linked_in_part: LineList,
    unknown: LineList,
    unmet_constraints: LineList,
}

impl LineWarnings {
    /// Returns an empty collection for inputs that stand in these lines.
    pub fn new(numbers: &LineNumbers) -> Self {
        Self { numbers: numbers.clone(), ..Self::default() }
    }

    /// Adds the best translation of input `id`, counted from 0.
    pub fn add_translation(&mut self, id: usize, translation: &Translation) {
        self.add_aligned(id, &translation.alignment);
        if translation.unmet_constraints > 0 {
            self.unmet_constraints.add(self.numbers.of(id));
        }
    }

    /// Adds input `id` as a model read it.
    pub fn add_aligned(&mut self, id: usize, aligned: &ForcedAlignment) {
        if aligned.cut {
            self.truncated.add(self.numbers.of(id));
        }
        if aligned.is_mostly_unknown() {
            self.unknown.add(self.numbers.of(id));
        }
    }

    /// Adds input `id`, of which only the beginning was read.
    pub fn add_truncated(&mut self, id: usize) {
        self.truncated.add(self.numbers.of(id));
    }

    /// Adds a pair of which only the links are wanted.
    pub fn add_linked(&mut self, id: usize, linked: &LinkedPair) {
        match &linked.aligned {
            Some(aligned) if aligned.cut => self.truncated.add(self.numbers.of(id)),
            None if linked.cut => self.linked_in_part.add(self.numbers.of(id)),
            _ => {}
        }
    }

    /// Reports lines of which only the beginning was used.
    pub fn report_truncated(&self, reporter: &dyn Reporter) {
        for (lines, what) in [
            (&self.truncated, format!("longer than {LONGEST} units; only the beginning was read")),
            (&self.linked_in_part, format!("longer than {MOST_WORDS} words; only the beginning was linked")),
        ] {
            if lines.count > 0 {
                reporter.warn_incomplete(&format!("{lines}: {what}"));
            }
        }
    }

    /// Reports lines that are mostly unknown to the model, and the consequence.
    pub fn report_unknown(&self, consequence: &str, reporter: &dyn Reporter) {
        let lines = &self.unknown;
        if lines.count > 0 {
            reporter.warn(&format!("{lines}: mostly unknown to the model, as another language is; {consequence}"));
        }
    }

    /// Reports lines whose translations lack a required phrase.
    pub fn report_unmet(&self, reporter: &dyn Reporter) {
        if self.unmet_constraints.count > 0 {
            reporter.warn(&format!(
                "{}: no translation has all that it should contain; a wider --beam may find one, unless it is more than \
                 {MOST_REQUIRED} phrases or {MOST_REQUIRED_UNITS} units",
                self.unmet_constraints
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_a_few_lines_and_counts_the_others() {
        let said = |ids: &[usize]| {
            let mut lines = LineList::default();
            ids.iter().for_each(|&id| lines.add(id + 1));
            lines.to_string()
        };
        assert_eq!(said(&[2]), "line 3");
        assert_eq!(said(&[2, 6]), "lines 3 and 7");
        assert_eq!(said(&[0, 1, 2, 3, 4]), "lines 1, 2, 3, 4 and 5");
        assert_eq!(said(&[0, 1, 2, 3, 4, 5, 6]), "lines 1, 2, 3, 4, 5 and 2 more");
    }
}
