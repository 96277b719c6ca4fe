//! Translation edit rate: the edits that make a hypothesis its reference, where a run of words may move at the price of one.

use std::collections::VecDeque;

use super::counts::{Counts, segments, share};
use super::words::words;

/// Words of a run that moves, at most.
const LONGEST_SHIFT: usize = 10;
/// How far apart its places in hypothesis and reference may be.
const FARTHEST_SHIFT: usize = 50;
/// Shifts that are tried for a segment, about.
const MOST_TRIED: usize = 1000;
/// Cells of the table of distances on either side of its diagonal.
const BAND: usize = 25;

/// Corpus TER in percent of the references' words, case ignored; may exceed 100.
///
/// From Snover et al. (2006), "A Study of Translation Edit Rate with Targeted Human Annotation". Which shifts are tried, and
/// which of equally good ones is taken, follows the Tercom program as sacrebleu 2.x does.
pub fn translation_edit_rate(hypotheses: &[impl AsRef<str>], references: &[impl AsRef<str>]) -> f64 {
    let mut counts = EditCounts::default();
    segments(hypotheses, references).for_each(|(hypothesis, reference)| counts.add(&Counts::of(hypothesis, reference)));
    counts.score()
}

/// All that [`translation_edit_rate`] needs to know of a corpus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EditCounts {
    edits: usize,
    reference_length: usize,
}

impl Counts for EditCounts {
    fn of(hypothesis: &str, reference: &str) -> Self {
        let [hypothesis, reference] = [hypothesis, reference].map(str::to_lowercase);
        let (hypothesis, reference) = (words(&hypothesis), words(&reference));
        Self { edits: edits(hypothesis, &reference), reference_length: reference.len() }
    }

    fn add(&mut self, other: &Self) {
        self.edits += other.edits;
        self.reference_length += other.reference_length;
    }

    fn score(&self) -> f64 {
        if self.reference_length == 0 && self.edits > 0 {
            return 100.0;
        }
        100.0 * share(self.edits, self.reference_length)
    }
}

/// Shifts as long as they help, and the edits that are left then.
fn edits(mut hypothesis: Vec<&str>, reference: &[&str]) -> usize {
    if reference.is_empty() {
        return hypothesis.len();
    }
    let (mut shifts, mut tried) = (0, 0);
    while let Some(shifted) = best_shift(&hypothesis, reference, &mut tried) {
        shifts += 1;
        hypothesis = shifted;
    }
    shifts + Path::between(&hypothesis, reference).length
}

/// What shifts are compared by: the edits they save; among equals the longest run, from the earliest place, to the earliest.
type Rank = (isize, usize, isize, isize);

/// The hypothesis after the shift that saves most edits; none where none saves any, or enough have been tried.
fn best_shift<'t>(hypothesis: &[&'t str], reference: &[&str], tried: &mut usize) -> Option<Vec<&'t str>> {
    let path = Path::between(hypothesis, reference);
    let places = Places::along(&path);
    let mut best: Option<(Rank, Vec<&str>)> = None;
    for (from, to, length) in common_runs(hypothesis, reference) {
        // What is right already stays, and nothing moves to where it is, or to what is right.
        let wrong = places.wrong_words[from..from + length].contains(&true)
            && places.wrong_references[to..to + length].contains(&true);
        let within = from as isize..(from + length) as isize;
        if !wrong || within.contains(&places.word_of_reference[to]) {
            continue;
        }
        let before = to.checked_sub(1).map_or(0, |before| places.after(before));
        let mut targets: Vec<usize> =
            std::iter::once(before).chain((to..to + length).map(|at| places.after(at))).collect();
        targets.dedup();
        for target in targets {
            let shifted = shifted(hypothesis, from, length, target);
            let saved = path.length as isize - Path::between(&shifted, reference).length as isize;
            *tried += 1;
            let rank: Rank = (saved, length, -(from as isize), -(target as isize));
            if best.as_ref().is_none_or(|(best, _)| rank > *best) {
                best = Some((rank, shifted));
            }
        }
        if *tried >= MOST_TRIED {
            break;
        }
    }
    best.filter(|((saved, ..), _)| *saved > 0 && *tried < MOST_TRIED).map(|(_, shifted)| shifted)
}

/// Runs of words that both have: where they begin in each, and how long they are.
fn common_runs<'a>(hypothesis: &'a [&str], reference: &'a [&str]) -> impl Iterator<Item = (usize, usize, usize)> {
    let starts = (0..hypothesis.len()).flat_map(|from| (0..reference.len()).map(move |to| (from, to)));
    starts.filter(|(from, to)| from.abs_diff(*to) <= FARTHEST_SHIFT).flat_map(|(from, to)| {
        let equal = hypothesis[from..].iter().zip(&reference[to..]).take_while(|(word, other)| word == other).count();
        (1..=equal.min(LONGEST_SHIFT)).map(move |length| (from, to, length))
    })
}

/// The words with a run of them taken out and put in again before what was the word `target`.
fn shifted<'t>(words: &[&'t str], from: usize, length: usize, target: usize) -> Vec<&'t str> {
    let (run, mut rest) = (&words[from..from + length], [&words[..from], &words[from + length..]].concat());
    // Within the run itself, as Tercom has it, the target counts the words that are left.
    let place = if target > from + length { target - length } else { target.min(rest.len()) };
    rest.splice(place..place, run.iter().copied());
    rest
}

/// One edit on the way from hypothesis to reference.
#[derive(Clone, Copy, PartialEq)]
enum Edit {
    Keep,
    Substitute,
    /// Of a word of the hypothesis.
    Delete,
    /// Of a word of the reference.
    Insert,
}

/// A shortest way from hypothesis to reference, near the diagonal.
struct Path {
    length: usize,
    edits: VecDeque<Edit>,
}

impl Path {
    fn between(hypothesis: &[&str], reference: &[&str]) -> Self {
        let width = reference.len() + 1;
        let slope = if hypothesis.is_empty() { 1.0 } else { reference.len() as f64 / hypothesis.len() as f64 };
        let band = if (BAND as f64) < slope / 2.0 { (slope / 2.0 + BAND as f64).ceil() as usize } else { BAND };
        let mut table = vec![Row { first: 0, cells: (0..width).map(|place| (place, Edit::Insert)).collect() }];
        for (i, word) in (1..).zip(hypothesis) {
            let diagonal = (i as f64 * slope).floor() as usize;
            let end = if i == hypothesis.len() { width } else { width.min(diagonal + band) };
            let above = &table[i - 1];
            let mut row = Row { first: diagonal.saturating_sub(band), cells: Vec::with_capacity(2 * band) };
            for j in row.first..end {
                let mut cell = (above.cost(j) + 1, Edit::Delete);
                if j > 0 {
                    let same = *word == reference[j - 1];
                    let edit = if same { Edit::Keep } else { Edit::Substitute };
                    let across = (above.cost(j - 1) + usize::from(!same), edit);
                    let before = (row.cost(j - 1) + 1, Edit::Insert);
                    // Of equals the first of these three.
                    cell = [across, cell, before].into_iter().min_by_key(|(cost, _)| *cost).unwrap_or(cell);
                }
                row.cells.push(cell);
            }
            table.push(row);
        }
        let (mut i, mut j) = (hypothesis.len(), reference.len());
        let mut edits = VecDeque::new();
        while i > 0 || j > 0 {
            let edit = table[i].cell(j).1;
            edits.push_front(edit);
            i = i.saturating_sub(usize::from(edit != Edit::Insert));
            j = j.saturating_sub(usize::from(edit != Edit::Delete));
        }
        Self { length: table[hypothesis.len()].cost(reference.len()), edits }
    }
}

/// The cells of a row of the table of distances that lie near the diagonal: costs, and the last edits.
struct Row {
    /// The first one's column.
    first: usize,
    cells: Vec<(usize, Edit)>,
}

impl Row {
    fn cell(&self, column: usize) -> (usize, Edit) {
        /// What no path goes through.
        const FAR: (usize, Edit) = (usize::MAX / 2, Edit::Keep);
        column.checked_sub(self.first).and_then(|place| self.cells.get(place)).copied().unwrap_or(FAR)
    }

    fn cost(&self, column: usize) -> usize {
        self.cell(column).0
    }
}

/// What belongs to what along a path, and what is wrong there.
#[derive(Default)]
struct Places {
    /// The word of the hypothesis at or before each word of the reference; −1 before the first.
    word_of_reference: Vec<isize>,
    wrong_words: Vec<bool>,
    wrong_references: Vec<bool>,
}

impl Places {
    fn along(path: &Path) -> Self {
        let mut places = Self::default();
        for &edit in &path.edits {
            let wrong = edit != Edit::Keep;
            if edit != Edit::Insert {
                places.wrong_words.push(wrong);
            }
            if edit != Edit::Delete {
                places.wrong_references.push(wrong);
                places.word_of_reference.push(places.wrong_words.len() as isize - 1);
            }
        }
        places
    }

    /// The place in the hypothesis after what belongs to a word of the reference.
    fn after(&self, reference: usize) -> usize {
        (self.word_of_reference[reference] + 1) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edits_of(hypothesis: &str, reference: &str) -> usize {
        EditCounts::of(hypothesis, reference).edits
    }

    #[test]
    fn edits_by_hand() {
        assert_eq!(edits_of("a b c", "a b c"), 0);
        assert_eq!(edits_of("A b C", "a B c"), 0, "case does not count");
        assert_eq!(edits_of("a b", "a x b c"), 2);
        assert_eq!(edits_of("c d a b", "a b c d"), 1, "a run moves at the price of one");
        assert_eq!(edits_of("x c d a b", "a b c d"), 2);
        assert_eq!(edits_of("", "a b"), 2);
        assert_eq!(edits_of("a b", ""), 2);
    }

    #[test]
    fn corpora_are_summed_before_they_are_divided() {
        let rate = translation_edit_rate(&["x", "a b c"], &["y", "a b c"]);
        assert!((rate - 25.0).abs() < 1e-9, "{rate}");
        assert!(translation_edit_rate(&[""], &[""]).abs() < 1e-9);
        assert!((translation_edit_rate(&["a"], &[""]) - 100.0).abs() < 1e-9);
    }

    #[test]
    fn very_unlike_lengths_find_their_way() {
        let long = "a ".repeat(300);
        assert_eq!(edits_of("a", &long), 299);
        assert_eq!(edits_of(&long, "a"), 299);
    }
}
