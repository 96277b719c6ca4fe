//! Writing of translations with the markers of their sentences.

use super::document::Document;
use super::linked_text::LinkedText;
use super::markers::PointMarker;
use super::placed_marker::{Placed, PlacedKind};
use super::punctuation::{is_closing, is_opening};

/// Writer of a translation with markers.
pub(super) struct MarkerWriter<'w, 's> {
    pub translation: &'w LinkedText<'w>,
    /// Document that receives it.
    pub output: &'w mut Document<'s>,
}

/// Text at a gap while its markers are written.
struct Gap<'t> {
    /// Text between the words, white space as a rule.
    space: &'t str,
    /// True once the text between the words is written.
    is_written: bool,
    /// Characters of the translation before and after the gap.
    sides: [Option<char>; 2],
    /// Last point, if nothing separates it from what follows.
    pending: Option<PendingPoint<'t>>,
}

/// Point that was written last.
struct PendingPoint<'t> {
    point: &'t PointMarker,
    /// True if it touches the word after it.
    is_attached: bool,
}

impl MarkerWriter<'_, '_> {
    /// Writes the translation with markers in the order of their gaps.
    pub fn write(mut self, mut placed: &[Placed]) {
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

    /// Writes a marker at a gap.
    fn marker<'m>(&mut self, kind: &PlacedKind<'m>, gap: &mut Gap<'m>) {
        match *kind {
            PlacedKind::Close { tag } | PlacedKind::Open { tag, empty: true } => self.output.push_moved(tag.clone()),
            PlacedKind::Open { tag, empty: false } => {
                self.finish_gap(gap);
                self.output.push_moved(tag.clone());
            }
            PlacedKind::Point { raw, point, attached, is_fixed } => {
                let attached = [0, 1].map(|side| {
                    attached[side] && (is_fixed || is_of_word(point.glued[side]) == is_of_word(gap.sides[side]))
                });
                self.separate_before(point, attached[0], gap);
                self.output.push_moved(raw.clone());
                // The white space between two words that both touch the point is dropped.
                gap.is_written |= attached == [true; 2] && point.visible;
                gap.pending = Some(PendingPoint { point, is_attached: attached[1] });
            }
        }
    }

    /// Writes the white space before a point.
    fn separate_before(&mut self, point: &PointMarker, is_attached: bool, gap: &mut Gap) {
        if let Some(PendingPoint { point: before, .. }) = gap.pending.take()
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
        let (Some(PendingPoint { point, is_attached: false }), Some(right)) = (pending, gap.sides[1]) else { return };
        if point.needs_space(1) && !(gap.space.is_empty() && is_closing(right)) {
            self.output.push_text(" ");
        }
    }
}

/// True for a character of a word.
fn is_of_word(one: Option<char>) -> bool {
    one.is_some_and(char::is_alphanumeric)
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
