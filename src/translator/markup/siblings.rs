//! Places of markers with the same parent in a translation, by word links.

use std::ops::Range;

use super::markers::Marker;
use super::sentence_links::SentenceLinks;

/// Place of a marker among its siblings.
pub(super) struct Place {
    /// Target words that an element covers. It is empty for a point, which is at the gap before its start.
    pub range: Range<usize>,
    /// True on each side, before and after a point, if the word there is the one that touches it in the source.
    pub attached: [bool; 2],
}

/// Markers with the same parent, which are placed among its target words.
pub(super) struct Siblings<'p, 't> {
    links: &'p SentenceLinks<'t>,
    /// Source words of the parent.
    words: Range<usize>,
    /// Target words of the parent.
    target: Range<usize>,
    /// Source words of each marker; none of a point, which is before the first.
    children: Vec<Range<usize>>,
    /// Nearest linked word before each source position, with the gap after its last linked word.
    before: Vec<Option<LinkedNeighbor>>,
    /// Nearest linked word from each source position on, with the gap before its first linked word.
    after: Vec<Option<LinkedNeighbor>>,
    /// Index of the marker whose element covers each target word.
    covered: Vec<Option<usize>>,
}

/// Nearest source word on a side of a position that is linked to target words of the parent.
#[derive(Clone, Copy)]
struct LinkedNeighbor {
    /// The source word.
    word: usize,
    /// Gap beside its linked target words, on the side of the position.
    gap: usize,
}

/// Target words from the first to the last of consecutive ones that belong to an element.
struct Run {
    /// Index of the element among the markers.
    owner: usize,
    /// Number of the words that belong to the element; words between them may belong to none.
    count: usize,
    range: Range<usize>,
}

impl<'p, 't> Siblings<'p, 't> {
    /// Returns markers of a parent with these source words and target words.
    pub fn new(links: &'p SentenceLinks<'t>, markers: &[Marker], words: Range<usize>, target: Range<usize>) -> Self {
        let mut children = Vec::with_capacity(markers.len());
        // A word that two of them share belongs to the first.
        let mut first_free = words.start;
        for marker in markers {
            let range = match marker {
                Marker::Element(element) => links.words_in(&element.span, &words),
                Marker::Point(point) => {
                    let start = links.words_in(&(0..point.at), &words).end;
                    start..start
                }
            };
            let start = range.start.max(first_free);
            first_free = range.end.max(start);
            children.push(start..first_free);
        }
        let (mut before, mut after) = (vec![None], vec![None]);
        for word in words.clone() {
            let linked = links.linked_range(word, &target);
            let neighbor = linked.map(|linked| LinkedNeighbor { word, gap: linked.end });
            before.push(neighbor.or(before[before.len() - 1]));
        }
        for word in words.clone().rev() {
            let linked = links.linked_range(word, &target);
            let neighbor = linked.map(|linked| LinkedNeighbor { word, gap: linked.start });
            after.push(neighbor.or(after[after.len() - 1]));
        }
        after.reverse();
        let covered = vec![None; target.len()];
        Self { links, words, target, children, before, after, covered }
    }

    /// Returns the place of each marker.
    pub fn places(mut self, markers: &[Marker]) -> Vec<Place> {
        let mut ranges = self.linked_ranges(markers.len());
        for (index, range) in ranges.iter_mut().enumerate() {
            let covers_parent = !self.words.is_empty() && self.children[index] == self.words;
            if markers[index].is_element() && covers_parent && self.is_uncovered() {
                *range = Some(self.target.clone());
            }
            if let Some(range) = range {
                self.cover(index, range.clone());
            }
        }
        for (index, marker) in markers.iter().enumerate() {
            if marker.is_element()
                && ranges[index].is_none()
                && let Some(range) = self.unlinked_range(index)
            {
                self.cover(index, range.clone());
                ranges[index] = Some(range);
            }
        }
        let mut places = Vec::with_capacity(markers.len());
        for (index, range) in ranges.into_iter().enumerate() {
            places.push(match range {
                Some(range) => Place { range, attached: [false; 2] },
                None => self.gap(index, &markers[index]),
            });
        }
        places
    }

    /// Covers target words by the element of a marker.
    fn cover(&mut self, index: usize, range: Range<usize>) {
        let start = self.target.start;
        self.covered[range.start - start..range.end - start].fill(Some(index));
    }

    /// True if no element covers a target word.
    fn is_uncovered(&self) -> bool {
        self.covered.iter().all(Option::is_none)
    }

    /// Returns the range of target words of each of the markers that is an element with linked words: of its runs without a
    /// word of another element, the one with the most of its words.
    fn linked_ranges(&self, markers: usize) -> Vec<Option<Range<usize>>> {
        let mut runs: Vec<Run> = Vec::new();
        for (word, owner) in self.target.clone().zip(self.owners()) {
            let Some(owner) = owner else { continue };
            match runs.last_mut() {
                Some(run) if run.owner == owner => {
                    run.count += 1;
                    run.range.end = word + 1;
                }
                _ => runs.push(Run { owner, count: 1, range: word..word + 1 }),
            }
        }
        let mut best: Vec<Option<Run>> = (0..markers).map(|_| None).collect();
        for run in runs {
            let most = &mut best[run.owner];
            if most.as_ref().is_none_or(|most| run.count > most.count) {
                *most = Some(run);
            }
        }
        best.into_iter().map(|best| best.map(|run| run.range)).collect()
    }

    /// Returns the index of the element that each target word belongs to: the one with most of the source words linked to it.
    fn owners(&self) -> Vec<Option<usize>> {
        let mut child_of = vec![None; self.words.len()];
        for (index, child) in self.children.iter().enumerate() {
            for word in child.clone() {
                child_of[word - self.words.start] = Some(index);
            }
        }
        let mut linked: Vec<Vec<usize>> = vec![Vec::new(); self.target.len()];
        for (word, child) in self.words.clone().zip(child_of) {
            let Some(child) = child else { continue };
            for target in self.links.targets[word].iter().filter(|target| self.target.contains(target)) {
                linked[target - self.target.start].push(child);
            }
        }
        linked.iter().map(|children| most_frequent(children)).collect()
    }

    /// Returns the target words between the translations of the words around an element without links, if all are free.
    fn unlinked_range(&self, index: usize) -> Option<Range<usize>> {
        let child = &self.children[index];
        let range = match self.around(child) {
            [None, None] => self.proportional(child.start)..self.proportional(child.end),
            [before, after] => {
                let start = before.map_or(self.target.start, |found| found.gap);
                start..after.map_or(self.target.end, |found| found.gap)
            }
        };
        if range.start >= range.end || child.is_empty() {
            return None;
        }
        let covered = &self.covered[range.start - self.target.start..range.end - self.target.start];
        let is_linked = &self.links.is_linked[range.clone()];
        let is_free = covered.iter().zip(is_linked).all(|(covered, is_linked)| covered.is_none() && !is_linked);
        is_free.then_some(range)
    }

    /// Returns the nearest linked words before and after source words.
    fn around(&self, words: &Range<usize>) -> [Option<LinkedNeighbor>; 2] {
        [self.before[words.start - self.words.start], self.after[words.end - self.words.start]]
    }

    /// Returns the gap at the same share of the target as a position among the source words.
    fn proportional(&self, position: usize) -> usize {
        let length = self.words.len().max(1);
        self.target.start + ((position - self.words.start) * self.target.len() + length / 2) / length
    }

    /// Returns the gap of a point or of an element without target words.
    fn gap(&self, index: usize, marker: &Marker) -> Place {
        let child = &self.children[index];
        let (glued, visible) = match marker {
            Marker::Point(point) => (point.glued.map(|one| one.is_some()), point.visible),
            Marker::Element(_) => ([false; 2], false),
        };
        let [before, after] = self.around(child);
        let is_adjacent = [
            before.is_some_and(|found| found.word + 1 == child.start),
            after.is_some_and(|found| found.word == child.end),
        ];
        let [before, after] = [before, after].map(|found| found.map(|found| found.gap));
        let ends_clause = child.end < self.words.end && self.links.is_punctuation(child.end);
        let gap = match (before, after) {
            _ if child.start == self.words.start => self.target.start,
            _ if child.end == self.words.end => self.target.end,
            (Some(before), _) if is_adjacent[0] && (glued[0] || ends_clause) => before,
            (_, Some(after)) if is_adjacent[1] => after,
            (Some(before), _) if is_adjacent[0] => before,
            (_, Some(after)) if visible => after,
            (Some(before), _) => before,
            (None, Some(after)) => after,
            (None, None) => self.proportional(child.start),
        };
        let gap = self.outside_of_siblings(index, gap);
        let attached = [before, after].map(|found| found == Some(gap));
        Place { range: gap..gap, attached: [0, 1].map(|side| glued[side] && is_adjacent[side] && attached[side]) }
    }

    /// Moves a gap inside another element to its edge.
    fn outside_of_siblings(&self, index: usize, mut gap: usize) -> usize {
        while let Some(owner) = self.element_around(gap) {
            gap = if index < owner { gap - 1 } else { gap + 1 };
        }
        gap
    }

    /// Returns the index of the element that covers the words on both sides of a gap.
    fn element_around(&self, gap: usize) -> Option<usize> {
        let owner = self.element_at(gap.checked_sub(1)?)?;
        (self.element_at(gap) == Some(owner)).then_some(owner)
    }

    /// Returns the index of the element that covers a target word.
    fn element_at(&self, word: usize) -> Option<usize> {
        *self.covered.get(word.checked_sub(self.target.start)?)?
    }
}

/// Returns the most frequent one of increasing numbers, the first of those that are equally frequent.
fn most_frequent(numbers: &[usize]) -> Option<usize> {
    let groups = numbers.chunk_by(|one, other| one == other);
    groups.rev().max_by_key(|group| group.len()).map(|group| group[0])
}
