//! Projection of the markers of a sentence onto its translation by word links (Hanneman & Dinu 2020, "How Should Markup Tags Be
//! Translated?").
//!
//! An element covers the words of the translation that are linked to its words, from the first to the last, but none that
//! belong to an element beside it. So elements stay nested and disjoint.

use std::ops::Range;

use super::document::Document;
use super::placed_phrase::PlaceholderPlace;
use super::sentence::{Element, MarkedSentence, Marker, PointMarker, is_closing, is_opening};
use crate::alignment::Link;
use crate::text::is_punctuation;

/// Translation of a sentence with its word links.
#[derive(Clone, Debug)]
pub struct LinkedText<'a> {
    /// Text of the translation.
    pub text: &'a str,
    /// Byte ranges of the words of the sentence, in order.
    pub source_words: Vec<Range<usize>>,
    /// Byte ranges of the words of the translation, in order.
    pub target_words: Vec<Range<usize>>,
    /// Links between the words.
    pub links: &'a [Link],
}

/// Translation of a sentence with what else its markers depend on.
#[derive(Clone, Copy)]
pub(super) struct ProjectedText<'a> {
    pub linked: &'a LinkedText<'a>,
    /// True if the sentence was too long, so that the translation or its links lack the end.
    pub is_cut: bool,
    /// Places of placeholders in the translation that constraints know.
    pub places: &'a [PlaceholderPlace],
}

/// Marker at a gap of the translation; gap `g` is before word `g`.
#[derive(Clone, Debug)]
struct Placed<'m> {
    gap: usize,
    kind: PlacedKind<'m>,
}

#[derive(Clone, Debug)]
enum PlacedKind<'m> {
    /// Start tag; the element may cover no word.
    Open {
        tag: &'m Range<usize>,
        empty: bool,
    },
    Close {
        tag: &'m Range<usize>,
    },
    Point {
        raw: &'m Range<usize>,
        point: &'m PointMarker,
        /// True if the word before and after it is the one that touches it in the source.
        attached: [bool; 2],
        /// True if constraints placed it, and say what it touches.
        is_fixed: bool,
    },
}

/// Writes the translation of a sentence with its markers into a document. Returns the number of places of placeholders that the
/// sentence lacks.
pub(super) fn project(sentence: &MarkedSentence, projected: ProjectedText, output: &mut Document) -> usize {
    let ProjectedText { linked: translation, is_cut, places } = projected;
    let projection = Projection::new(&sentence.text, translation, is_cut);
    let mut placed = Vec::new();
    let words = 0..translation.source_words.len();
    projection.place(&sentence.markers, words, 0..translation.target_words.len(), &mut placed);
    let lacking = move_to_places(&mut placed, places, &translation.target_words);
    restore_order(&mut placed);
    Writer { translation, output }.write(&placed);
    lacking
}

/// Moves placeholders to where constraints place them. Returns the number of places without a placeholder.
fn move_to_places(placed: &mut Vec<Placed>, places: &[PlaceholderPlace], words: &[Range<usize>]) -> usize {
    let mut fixed = Vec::new();
    for place in places {
        let Some(index) = placed.iter().position(|one| one.is_named(&place.name)) else { continue };
        let Placed { mut kind, .. } = placed.remove(index);
        if let PlacedKind::Point { attached, is_fixed, .. } = &mut kind {
            (*attached, *is_fixed) = (place.attached, true);
        }
        fixed.push(Placed { gap: words.partition_point(|word| word.start < place.at), kind });
    }
    let lacking = places.len() - fixed.len();
    for one in fixed {
        let index = placed.iter().position(|other| other.follows_fixed_at(one.gap)).unwrap_or(placed.len());
        placed.insert(index, one);
    }
    lacking
}

impl Placed<'_> {
    /// True for a placeholder of this name that constraints place.
    fn is_named(&self, name: &str) -> bool {
        matches!(&self.kind, PlacedKind::Point { point, .. } if point.placed.as_deref() == Some(name))
    }

    /// True if it stands after what constraints place at a gap.
    fn follows_fixed_at(&self, gap: usize) -> bool {
        let precedes = matches!(self.kind, PlacedKind::Close { .. } | PlacedKind::Point { is_fixed: true, .. });
        self.gap > gap || (self.gap == gap && !precedes)
    }
}

/// Gives points that programs fill in order their order in the source.
fn restore_order(placed: &mut [Placed]) {
    let ordered =
        |placed: &mut Placed| matches!(&placed.kind, PlacedKind::Point { point, is_fixed: false, .. } if point.ordered);
    let mut slots: Vec<usize> = (0..placed.len()).filter(|&index| ordered(&mut placed[index])).collect();
    let mut raws = Vec::with_capacity(slots.len());
    for &slot in &slots {
        if let PlacedKind::Point { raw, .. } = placed[slot].kind {
            raws.push(raw);
        }
    }
    raws.sort_by_key(|raw| raw.start);
    for (slot, next) in slots.drain(..).zip(raws) {
        if let PlacedKind::Point { raw, .. } = &mut placed[slot].kind {
            *raw = next;
        }
    }
}

/// Links of a sentence pair.
struct Projection<'t> {
    sentence: &'t str,
    source_words: &'t [Range<usize>],
    /// Linked target words of each source word, in order.
    targets: Vec<Vec<usize>>,
    /// True for a linked target word.
    is_linked: Vec<bool>,
    /// True if the translation or its links lack the end of the sentence.
    is_cut: bool,
}

/// Place of a marker among its siblings.
struct Place {
    range: Range<usize>,
    attached: [bool; 2],
}

impl<'t> Projection<'t> {
    fn new(sentence: &'t str, translation: &'t LinkedText, is_cut: bool) -> Self {
        let LinkedText { source_words, target_words, links, .. } = translation;
        let mut targets = vec![Vec::new(); source_words.len()];
        let mut is_linked = vec![false; target_words.len()];
        for link in links.iter().filter(|link| link.in_bounds([source_words.len(), target_words.len()])) {
            targets[link.source].push(link.target);
            is_linked[link.target] = true;
        }
        targets.iter_mut().for_each(|targets| targets.sort_unstable());
        Self { sentence, source_words, targets, is_linked, is_cut }
    }

    /// Places markers among source words `words` at gaps of `target`, in the order of the translation.
    fn place<'m>(
        &self,
        markers: &'m [Marker],
        words: Range<usize>,
        target: Range<usize>,
        placed: &mut Vec<Placed<'m>>,
    ) {
        if markers.is_empty() {
            return;
        }
        let places = Siblings::new(self, markers, words.clone(), target).places(markers);
        let mut order: Vec<usize> = (0..markers.len()).collect();
        order.sort_by_key(|&index| (places[index].range.start, places[index].range.end));
        for index in order {
            let Place { range, attached } = &places[index];
            match &markers[index] {
                Marker::Point(point) => {
                    let kind = PlacedKind::Point { raw: &point.raw, point, attached: *attached, is_fixed: false };
                    placed.push(Placed { gap: range.start, kind });
                }
                // Its words were not translated, so that it would be empty.
                Marker::Element(element) if self.is_cut && range.is_empty() && !element.has_visible_points() => {
                    self.place(&element.inner, self.words_in(&element.span, &words), range.clone(), placed);
                }
                Marker::Element(Element { tags: [open, close], span, inner }) => {
                    let kind = PlacedKind::Open { tag: open, empty: range.is_empty() };
                    placed.push(Placed { gap: range.start, kind });
                    self.place(inner, self.words_in(span, &words), range.clone(), placed);
                    placed.push(Placed { gap: range.end, kind: PlacedKind::Close { tag: close } });
                }
            }
        }
    }

    /// Words of a parent that overlap a part of the sentence.
    fn words_in(&self, span: &Range<usize>, parent: &Range<usize>) -> Range<usize> {
        let words = &self.source_words[parent.clone()];
        let start = parent.start + words.partition_point(|word| word.end <= span.start);
        let end = parent.start + words.partition_point(|word| word.start < span.end);
        start..end.max(start)
    }

    fn is_punctuation(&self, word: usize) -> bool {
        is_punctuation(&self.sentence[self.source_words[word].clone()])
    }
}

/// Markers with the same parent.
struct Siblings<'p, 't> {
    projection: &'p Projection<'t>,
    /// Source words and target words of the parent.
    words: Range<usize>,
    target: Range<usize>,
    /// Source words of each marker; none of a point, which is before the first.
    children: Vec<Range<usize>>,
    /// Nearest linked word before each source position, with the gap after its last linked word.
    before: Vec<Option<(usize, usize)>>,
    /// Nearest linked word from each source position on, with the gap before its first linked word.
    after: Vec<Option<(usize, usize)>>,
    /// Marker whose element covers each target word.
    covered: Vec<Option<usize>>,
}

impl<'p, 't> Siblings<'p, 't> {
    fn new(projection: &'p Projection<'t>, markers: &[Marker], words: Range<usize>, target: Range<usize>) -> Self {
        // A word that two of them share belongs to the first.
        let mut first_free = words.start;
        let child = |marker: &Marker| {
            let range = match marker {
                Marker::Element(element) => projection.words_in(&element.span, &words),
                Marker::Point(point) => {
                    let start = projection.words_in(&(0..point.at), &words).end;
                    start..start
                }
            };
            let start = range.start.max(first_free);
            first_free = range.end.max(start);
            start..first_free
        };
        let children = markers.iter().map(child).collect();
        let linked = |word: usize| {
            let mut within = projection.targets[word].iter().filter(|word| target.contains(word));
            within.clone().next().copied().zip(within.next_back().copied())
        };
        let (mut before, mut after) = (vec![None], vec![None]);
        for word in words.clone() {
            before.push(linked(word).map(|(_, last)| (word, last + 1)).or(before[before.len() - 1]));
        }
        for word in words.clone().rev() {
            after.push(linked(word).map(|(first, _)| (word, first)).or(after[after.len() - 1]));
        }
        after.reverse();
        let covered = vec![None; target.len()];
        Self { projection, words, target, children, before, after, covered }
    }

    /// Returns the place of each marker.
    fn places(mut self, markers: &[Marker]) -> Vec<Place> {
        let is_element = |index: usize| matches!(markers[index], Marker::Element(_));
        let mut ranges = self.linked_ranges(markers);
        for (index, range) in ranges.iter_mut().enumerate() {
            if is_element(index) && !self.words.is_empty() && self.children[index] == self.words && self.is_uncovered()
            {
                *range = Some(self.target.clone());
            }
            if let Some(range) = range {
                self.cover(index, range.clone());
            }
        }
        for index in (0..markers.len()).filter(|&index| is_element(index)) {
            if ranges[index].is_none()
                && let Some(range) = self.unlinked_range(index)
            {
                self.cover(index, range.clone());
                ranges[index] = Some(range);
            }
        }
        let place = |(index, range): (usize, Option<Range<usize>>)| match range {
            Some(range) => Place { range, attached: [false; 2] },
            None => self.gap(index, &markers[index]),
        };
        ranges.into_iter().enumerate().map(place).collect()
    }

    fn cover(&mut self, index: usize, range: Range<usize>) {
        let start = self.target.start;
        self.covered[range.start - start..range.end - start].fill(Some(index));
    }

    fn is_uncovered(&self) -> bool {
        self.covered.iter().all(Option::is_none)
    }

    /// Returns the range of target words of each element that has linked words: of its runs without a word of another element,
    /// the one with the most of its words.
    fn linked_ranges(&self, markers: &[Marker]) -> Vec<Option<Range<usize>>> {
        let owners = self.owners();
        let mut best: Vec<Option<(usize, Range<usize>)>> = vec![None; markers.len()];
        let mut current: Option<(usize, usize, Range<usize>)> = None;
        let mut finish = |run: Option<(usize, usize, Range<usize>)>| {
            if let Some((owner, count, range)) = run
                && best[owner].as_ref().is_none_or(|(most, _)| count > *most)
            {
                best[owner] = Some((count, range));
            }
        };
        for (word, owner) in self.target.clone().zip(owners) {
            let Some(owner) = owner else { continue };
            match &mut current {
                Some((last, count, range)) if *last == owner => {
                    *count += 1;
                    range.end = word + 1;
                }
                _ => finish(current.replace((owner, 1, word..word + 1))),
            }
        }
        finish(current);
        best.into_iter().map(|best| best.map(|(_, range)| range)).collect()
    }

    /// Element that each target word belongs to: the one with most of the source words linked to it.
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
            for target in self.projection.targets[word].iter().filter(|target| self.target.contains(target)) {
                linked[target - self.target.start].push(child);
            }
        }
        // Children are in order, so that those of a target word are grouped.
        let owner = |children: Vec<usize>| {
            let groups = children.chunk_by(|one, other| one == other);
            groups.rev().max_by_key(|group| group.len()).map(|group| group[0])
        };
        linked.into_iter().map(owner).collect()
    }

    /// Returns the target words between the translations of the words around an element without links, if all are free.
    fn unlinked_range(&self, index: usize) -> Option<Range<usize>> {
        let child = &self.children[index];
        let range = match self.around(child) {
            [None, None] => self.proportional(child.start)..self.proportional(child.end),
            [before, after] => {
                let start = before.map_or(self.target.start, |(_, gap)| gap);
                start..after.map_or(self.target.end, |(_, gap)| gap)
            }
        };
        if range.start >= range.end || child.is_empty() {
            return None;
        }
        let covered = &self.covered[range.start - self.target.start..range.end - self.target.start];
        let is_linked = &self.projection.is_linked[range.clone()];
        let is_free = covered.iter().zip(is_linked).all(|(covered, is_linked)| covered.is_none() && !is_linked);
        is_free.then_some(range)
    }

    /// Nearest linked words before and after source words.
    fn around(&self, words: &Range<usize>) -> [Option<(usize, usize)>; 2] {
        [self.before[words.start - self.words.start], self.after[words.end - self.words.start]]
    }

    /// Gap at the same share of the target as a position among the source words.
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
        let is_adjacent =
            [before.is_some_and(|(word, _)| word + 1 == child.start), after.is_some_and(|(word, _)| word == child.end)];
        let [before, after] = [before, after].map(|found| found.map(|(_, gap)| gap));
        let ends_clause = child.end < self.words.end && self.projection.is_punctuation(child.end);
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
        let covered = |word: usize| self.covered.get(word.checked_sub(self.target.start)?).copied().flatten();
        let inside = |gap: usize| {
            let owner = covered(gap.checked_sub(1)?)?;
            (covered(gap) == Some(owner)).then_some(owner)
        };
        while let Some(owner) = inside(gap) {
            gap = if index < owner { gap - 1 } else { gap + 1 };
        }
        gap
    }
}

/// Writer of a translation with markers.
struct Writer<'w, 's> {
    translation: &'w LinkedText<'w>,
    output: &'w mut Document<'s>,
}

/// Text at a gap while its markers are written.
struct Gap<'t> {
    /// Text between the words, white space as a rule, and whether it is written.
    space: &'t str,
    is_written: bool,
    /// Characters of the translation on both sides.
    sides: [Option<char>; 2],
    /// Last point, if nothing separates it from what follows, and whether it is attached to it.
    pending: Option<(&'t PointMarker, bool)>,
}

impl Writer<'_, '_> {
    /// Writes the translation with markers in the order of their gaps.
    fn write(mut self, mut placed: &[Placed]) {
        let words = &self.translation.target_words;
        let text = self.translation.text;
        let mut position = 0;
        for number in 0..=words.len() {
            let next = words.get(number).map_or(text.len(), |word| word.start);
            let here = placed.iter().take_while(|placed| placed.gap <= number).count();
            let (now, later) = placed.split_at(here);
            placed = later;
            let sides = [text[..position].chars().next_back(), text[next..].chars().next()];
            let mut gap = Gap { space: &text[position..next], is_written: false, sides, pending: None };
            now.iter().for_each(|placed| self.marker(&placed.kind, &mut gap));
            self.finish_gap(&mut gap);
            position = next;
            if let Some(word) = words.get(number) {
                self.output.push_text(&text[word.clone()]);
                position = word.end;
            }
        }
    }

    fn marker<'m>(&mut self, kind: &PlacedKind<'m>, gap: &mut Gap<'m>) {
        match kind {
            PlacedKind::Close { tag } | PlacedKind::Open { tag, empty: true } => self.output.push_moved((*tag).clone()),
            PlacedKind::Open { tag, empty: false } => {
                self.finish_gap(gap);
                self.output.push_moved((*tag).clone());
            }
            PlacedKind::Point { raw, point, attached, is_fixed } => {
                let is_word = |one: Option<char>| one.is_some_and(char::is_alphanumeric);
                let touches = |side: usize| {
                    attached[side] && (*is_fixed || is_word(point.glued[side]) == is_word(gap.sides[side]))
                };
                let attached = [touches(0), touches(1)];
                self.separate_before(point, attached[0], gap);
                self.output.push_moved((*raw).clone());
                // The white space between two words that both touch the point is dropped.
                gap.is_written |= attached == [true; 2] && point.visible;
                gap.pending = Some((*point, attached[1]));
            }
        }
    }

    /// Writes the white space before a point.
    fn separate_before(&mut self, point: &PointMarker, is_attached: bool, gap: &mut Gap) {
        if let Some((before, _)) = gap.pending.take()
            && before.visible
            && point.visible
            && (before.touches_text(1) || point.touches_text(0))
        {
            self.output.push_text(" ");
            return;
        }
        let Some(left) = gap.sides[0].filter(|_| !is_attached) else { return };
        if !gap.is_written && !gap.space.is_empty() {
            self.output.push_text(gap.space);
            gap.is_written = true;
        } else if point.needs_space(0) && !is_opening(left) {
            self.output.push_text(" ");
        }
    }

    /// Writes the white space before a word or a start tag.
    fn finish_gap(&mut self, gap: &mut Gap) {
        let pending = gap.pending.take();
        if !gap.is_written && !gap.space.is_empty() {
            self.output.push_text(gap.space);
            gap.is_written = true;
            return;
        }
        let (Some((point, false)), Some(right)) = (pending, gap.sides[1]) else { return };
        if point.needs_space(1) && !(gap.space.is_empty() && is_closing(right)) {
            self.output.push_text(" ");
        }
    }
}

impl PointMarker {
    /// True if text, not another point, is beside it in the source.
    fn touches_text(&self, side: usize) -> bool {
        self.spaced[side] || self.glued[side].is_some()
    }

    /// True if white space separates it from the text on one side, unless that is punctuation.
    fn needs_space(&self, side: usize) -> bool {
        self.visible || self.spaced[side]
    }
}
