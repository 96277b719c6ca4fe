//! Translation edit rate (TER): word edits, where moving a run of words (a shift) counts as one (Snover et al. 2006).

use std::cmp::Reverse;
use std::collections::VecDeque;

use super::edit_distance::EditStats;
use super::sufficient_stats::{SufficientStats, corpus_stats};
use super::whitespace::words;

/// Maximum number of words of a shift.
const MAX_SHIFT_SIZE: usize = 10;
/// Maximum distance of a shift's positions in hypothesis and reference.
const MAX_SHIFT_DISTANCE: usize = 50;
/// Shift candidates evaluated per segment, approximately.
const MAX_SHIFT_CANDIDATES: usize = 1000;
/// Half width of the band around the diagonal to which the distance table is restricted.
const BEAM_WIDTH: usize = 25;

/// Corpus TER in percent of the reference words, case-insensitive; may exceed 100.
///
/// Snover et al. (2006), "A Study of Translation Edit Rate with Targeted Human Annotation". The search over shifts and its
/// tie-breaking follow Tercom, as sacrebleu 2.x does.
pub fn translation_edit_rate(hypotheses: &[impl AsRef<str>], references: &[impl AsRef<str>]) -> f64 {
    corpus_stats(hypotheses, references, TerStats::of_segment).score()
}

/// Sufficient statistics of [`translation_edit_rate`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TerStats(EditStats);

impl TerStats {
    /// Returns the statistics of one segment.
    pub fn of_segment(hypothesis: &str, reference: &str) -> Self {
        let [hypothesis, reference] = [hypothesis, reference].map(str::to_lowercase);
        let (hypothesis, reference) = (words(&hypothesis), words(&reference));
        Self(EditStats { edits: edits(hypothesis, &reference), reference_length: reference.len() })
    }
}

impl SufficientStats for TerStats {
    fn add(&mut self, other: &Self) {
        self.0.add(&other.0);
    }

    fn score(&self) -> f64 {
        self.0.score()
    }
}

/// Number of edits: greedy shifts as long as they help, plus the remaining edit distance.
fn edits(mut hypothesis: Vec<&str>, reference: &[&str]) -> usize {
    if reference.is_empty() {
        return hypothesis.len();
    }
    let (mut shifts, mut tried) = (0, 0);
    while let Some(shifted) = best_shift(&hypothesis, reference, &mut tried) {
        shifts += 1;
        hypothesis = shifted;
    }
    shifts + EditPath::between(&hypothesis, reference).length
}

/// Order of shifts: by edits saved, then the longest run, the earliest start and the earliest target.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    saved: isize,
    length: usize,
    from: Reverse<usize>,
    target: Reverse<usize>,
}

/// Run of equal words.
struct CommonRun {
    /// Start in the hypothesis.
    from: usize,
    /// Start in the reference.
    to: usize,
    /// Number of words.
    length: usize,
}

/// Applies the shift that saves most edits; `None` if none saves any or [`MAX_SHIFT_CANDIDATES`] were evaluated.
fn best_shift<'t>(hypothesis: &[&'t str], reference: &[&str], tried: &mut usize) -> Option<Vec<&'t str>> {
    let path = EditPath::between(hypothesis, reference);
    let alignment = PathAlignment::along(&path);
    let mut best: Option<(Rank, Vec<&str>)> = None;
    for CommonRun { from, to, length } in common_runs(hypothesis, reference) {
        // Shifts neither move correct words, nor replace correct words, nor overlap their own target.
        let has_errors = alignment.hypothesis_errors[from..from + length].contains(&true)
            && alignment.reference_errors[to..to + length].contains(&true);
        let within = from as isize..(from + length) as isize;
        if !has_errors || within.contains(&alignment.hypothesis_of_reference[to]) {
            continue;
        }
        let before = to.checked_sub(1).map_or(0, |before| alignment.after(before));
        let mut targets: Vec<usize> =
            std::iter::once(before).chain((to..to + length).map(|at| alignment.after(at))).collect();
        targets.dedup();
        for target in targets {
            let shifted = shifted(hypothesis, from, length, target);
            let saved = path.length as isize - EditPath::between(&shifted, reference).length as isize;
            *tried += 1;
            let rank = Rank { saved, length, from: Reverse(from), target: Reverse(target) };
            if best.as_ref().is_none_or(|(best, _)| rank > *best) {
                best = Some((rank, shifted));
            }
        }
        if *tried >= MAX_SHIFT_CANDIDATES {
            break;
        }
    }
    best.filter(|(rank, _)| rank.saved > 0 && *tried < MAX_SHIFT_CANDIDATES).map(|(_, shifted)| shifted)
}

/// Common runs of words, by start in the hypothesis, then in the reference, then by length.
fn common_runs<'a>(hypothesis: &'a [&str], reference: &'a [&str]) -> impl Iterator<Item = CommonRun> {
    let starts = (0..hypothesis.len()).flat_map(|from| (0..reference.len()).map(move |to| (from, to)));
    starts.filter(|(from, to)| from.abs_diff(*to) <= MAX_SHIFT_DISTANCE).flat_map(|(from, to)| {
        let equal = hypothesis[from..].iter().zip(&reference[to..]).take_while(|(word, other)| word == other).count();
        (1..=equal.min(MAX_SHIFT_SIZE)).map(move |length| CommonRun { from, to, length })
    })
}

/// Moves the run of `length` words at `from` before the word that was at `target`.
fn shifted<'t>(words: &[&'t str], from: usize, length: usize, target: usize) -> Vec<&'t str> {
    let (run, mut rest) = (&words[from..from + length], [&words[..from], &words[from + length..]].concat());
    // As in Tercom, a target within the run counts the remaining words.
    let place = if target > from + length { target - length } else { target.min(rest.len()) };
    rest.splice(place..place, run.iter().copied());
    rest
}

/// Edit operation from hypothesis to reference.
#[derive(Clone, Copy, PartialEq)]
enum Edit {
    Match,
    Substitute,
    /// Deletes a hypothesis word.
    Delete,
    /// Inserts a reference word.
    Insert,
}

/// A shortest edit path within the band around the diagonal.
struct EditPath {
    length: usize,
    edits: VecDeque<Edit>,
}

impl EditPath {
    fn between(hypothesis: &[&str], reference: &[&str]) -> Self {
        let width = reference.len() + 1;
        let slope = if hypothesis.is_empty() { 1.0 } else { reference.len() as f64 / hypothesis.len() as f64 };
        let band = if (BEAM_WIDTH as f64) < slope / 2.0 {
            (slope / 2.0 + BEAM_WIDTH as f64).ceil() as usize
        } else {
            BEAM_WIDTH
        };
        let cells = (0..width).map(|cost| BandCell { cost, edit: Edit::Insert }).collect();
        let mut table = vec![BandRow { first: 0, cells }];
        for (i, word) in (1..).zip(hypothesis) {
            let diagonal = (i as f64 * slope).floor() as usize;
            let end = if i == hypothesis.len() { width } else { width.min(diagonal + band) };
            let above = &table[i - 1];
            let mut row = BandRow { first: diagonal.saturating_sub(band), cells: Vec::with_capacity(2 * band) };
            for j in row.first..end {
                let mut cell = BandCell { cost: above.cost(j) + 1, edit: Edit::Delete };
                if j > 0 {
                    let same = *word == reference[j - 1];
                    let edit = if same { Edit::Match } else { Edit::Substitute };
                    let across = BandCell { cost: above.cost(j - 1) + usize::from(!same), edit };
                    let before = BandCell { cost: row.cost(j - 1) + 1, edit: Edit::Insert };
                    // Ties: match or substitution, then deletion, then insertion.
                    cell = [across, cell, before].into_iter().min_by_key(|cell| cell.cost).unwrap_or(cell);
                }
                row.cells.push(cell);
            }
            table.push(row);
        }
        let (mut i, mut j) = (hypothesis.len(), reference.len());
        let mut edits = VecDeque::new();
        while i > 0 || j > 0 {
            let edit = table[i].cell(j).edit;
            edits.push_front(edit);
            i = i.saturating_sub(usize::from(edit != Edit::Insert));
            j = j.saturating_sub(usize::from(edit != Edit::Delete));
        }
        Self { length: table[hypothesis.len()].cost(reference.len()), edits }
    }
}

/// Cell of the distance table: distance of a hypothesis prefix and a reference prefix.
#[derive(Clone, Copy)]
struct BandCell {
    /// Number of edits.
    cost: usize,
    /// Last edit.
    edit: Edit,
}

/// Cells of one row of the distance table within the band.
struct BandRow {
    /// Column of the first cell.
    first: usize,
    cells: Vec<BandCell>,
}

impl BandRow {
    fn cell(&self, column: usize) -> BandCell {
        const OUTSIDE: BandCell = BandCell { cost: usize::MAX / 2, edit: Edit::Match };
        column.checked_sub(self.first).and_then(|place| self.cells.get(place)).copied().unwrap_or(OUTSIDE)
    }

    fn cost(&self, column: usize) -> usize {
        self.cell(column).cost
    }
}

/// Word correspondences and errors along an edit path.
#[derive(Default)]
struct PathAlignment {
    /// Hypothesis position at or before each reference word; −1 before the first.
    hypothesis_of_reference: Vec<isize>,
    hypothesis_errors: Vec<bool>,
    reference_errors: Vec<bool>,
}

impl PathAlignment {
    fn along(path: &EditPath) -> Self {
        let mut alignment = Self::default();
        for &edit in &path.edits {
            let wrong = edit != Edit::Match;
            if edit != Edit::Insert {
                alignment.hypothesis_errors.push(wrong);
            }
            if edit != Edit::Delete {
                alignment.reference_errors.push(wrong);
                alignment.hypothesis_of_reference.push(alignment.hypothesis_errors.len() as isize - 1);
            }
        }
        alignment
    }

    /// Hypothesis position after the word that corresponds to a reference word.
    fn after(&self, reference: usize) -> usize {
        (self.hypothesis_of_reference[reference] + 1) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edits_of(hypothesis: &str, reference: &str) -> usize {
        TerStats::of_segment(hypothesis, reference).0.edits
    }

    #[test]
    fn counts_edits_and_shifts_of_worked_examples() {
        assert_eq!(edits_of("a b c", "a b c"), 0);
        assert_eq!(edits_of("A b C", "a B c"), 0, "case is ignored");
        assert_eq!(edits_of("a b", "a x b c"), 2);
        assert_eq!(edits_of("c d a b", "a b c d"), 1, "a shift counts as one edit");
        assert_eq!(edits_of("x c d a b", "a b c d"), 2);
        assert_eq!(edits_of("", "a b"), 2);
        assert_eq!(edits_of("a b", ""), 2);
    }

    #[test]
    fn sums_edits_before_dividing() {
        let rate = translation_edit_rate(&["x", "a b c"], &["y", "a b c"]);
        assert!((rate - 25.0).abs() < 1e-9, "{rate}");
        assert!(translation_edit_rate(&[""], &[""]).abs() < 1e-9);
        assert!((translation_edit_rate(&["a"], &[""]) - 100.0).abs() < 1e-9);
    }

    #[test]
    fn handles_very_different_lengths() {
        let long = "a ".repeat(300);
        assert_eq!(edits_of("a", &long), 299);
        assert_eq!(edits_of(&long, "a"), 299);
    }
}
