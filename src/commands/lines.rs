//! Lines of the input that something is to be said of, all at once.

use std::fmt;

use super::console::Console;
use crate::search::{MOST_REQUIRED, MOST_REQUIRED_UNITS};
use crate::text::LineNumbers;
use crate::translator::{Aligned, LONGEST, LinkedPair, MOST_WORDS, Translation};

/// Lines that are named one by one.
const NAMED: usize = 5;

/// Lines by their numbers.
#[derive(Default)]
struct Lines {
    /// The first few, counted from 1.
    named: Vec<usize>,
    count: usize,
}

impl Lines {
    fn add(&mut self, line: usize) {
        self.count += 1;
        if self.named.len() < NAMED {
            self.named.push(line);
        }
    }
}

/// As in `line 3`, `lines 3 and 7`, `lines 3, 7, 8, 9, 10 and 812 more`.
impl fmt::Display for Lines {
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

/// Warns of lines of a file of which only the beginning was used, if there are any.
pub fn warn_of_parts(file: &str, lines: impl Iterator<Item = usize>, what: &str, console: &Console) {
    let mut cut = Lines::default();
    lines.for_each(|line| cut.add(line));
    if cut.count > 0 {
        console.warn_even_if_quiet(format!("{file}: {cut}: {what}"));
    }
}

/// Lines that came through in part, or not as their author would think.
#[derive(Default)]
pub struct OddLines {
    /// The lines of those that are seen.
    numbers: LineNumbers,
    read_in_part: Lines,
    linked_in_part: Lines,
    unknown: Lines,
    unmet: Lines,
}

impl OddLines {
    /// Of what stands in these lines.
    pub fn of(numbers: &LineNumbers) -> Self {
        Self { numbers: numbers.clone(), ..Self::default() }
    }

    /// Takes in the best translation of the one of number `id`, from 0.
    pub fn see_translation(&mut self, id: usize, translation: &Translation) {
        self.see(id, &translation.alignment);
        if translation.unmet > 0 {
            self.unmet.add(self.numbers.of(id));
        }
    }

    /// Takes in the one of number `id`, from 0, as a model read it.
    pub fn see(&mut self, id: usize, aligned: &Aligned) {
        if aligned.cut {
            self.read_in_part.add(self.numbers.of(id));
        }
        if aligned.is_mostly_unknown() {
            self.unknown.add(self.numbers.of(id));
        }
    }

    /// Takes in one of which only the beginning was read.
    pub fn see_cut(&mut self, id: usize) {
        self.read_in_part.add(self.numbers.of(id));
    }

    /// Takes in a pair of which only the links are wanted.
    pub fn see_linked(&mut self, id: usize, linked: &LinkedPair) {
        match &linked.aligned {
            Some(aligned) if aligned.cut => self.read_in_part.add(self.numbers.of(id)),
            None if linked.cut => self.linked_in_part.add(self.numbers.of(id)),
            _ => {}
        }
    }

    /// Tells of those that came through in part. What the results lack is said in any case.
    pub fn tell_parts(&self, console: &Console) {
        for (lines, what) in [
            (&self.read_in_part, format!("longer than {LONGEST} units; only the beginning was read")),
            (&self.linked_in_part, format!("longer than {MOST_WORDS} words; only the beginning was linked")),
        ] {
            if lines.count > 0 {
                console.warn_even_if_quiet(format!("{lines}: {what}"));
            }
        }
    }

    /// Tells of those that are mostly unknown to the model, and what became of them.
    pub fn tell_unknown(&self, consequence: &str, console: &Console) {
        let lines = &self.unknown;
        if lines.count > 0 {
            console.warn(format!("{lines}: mostly unknown to the model, as another language is; {consequence}"));
        }
    }

    /// Tells which translations lack what was asked of them.
    pub fn tell_unmet(&self, console: &Console) {
        if self.unmet.count > 0 {
            console.warn(format!(
                "{}: no translation has all that it should contain; a wider --beam may find one, unless it is more than \
                 {MOST_REQUIRED} phrases or {MOST_REQUIRED_UNITS} units",
                self.unmet
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_lines_are_named_and_the_others_counted() {
        let said = |ids: &[usize]| {
            let mut lines = Lines::default();
            ids.iter().for_each(|&id| lines.add(id + 1));
            lines.to_string()
        };
        assert_eq!(said(&[2]), "line 3");
        assert_eq!(said(&[2, 6]), "lines 3 and 7");
        assert_eq!(said(&[0, 1, 2, 3, 4]), "lines 1, 2, 3, 4 and 5");
        assert_eq!(said(&[0, 1, 2, 3, 4, 5, 6]), "lines 1, 2, 3, 4, 5 and 2 more");
    }
}
