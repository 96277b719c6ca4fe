//! Projection of the markers of a sentence onto its translation by word links (Hanneman & Dinu 2020, "How Should Markup Tags
//! Be Translated?").
//!
//! An element covers the words of the translation that are linked to its words, from the first to the last, but none that
//! belong to an element beside it. So elements stay nested and disjoint.

use std::ops::Range;

use super::document::Document;
use super::linked_text::ProjectedText;
use super::marker_writer::MarkerWriter;
use super::markers::{Element, MarkedSentence, Marker};
use super::placed_marker::{Placed, PlacedKind};
use super::placed_phrase::PlaceholderPlace;
use super::sentence_links::SentenceLinks;
use super::siblings::{Place, Siblings};

/// Writes the translation of a sentence with its markers into a document. Returns the number of places of placeholders that
/// the sentence lacks.
pub(super) fn project(sentence: &MarkedSentence, projected: ProjectedText, output: &mut Document) -> usize {
    let ProjectedText { linked: translation, is_cut, places } = projected;
    let projection = Projection { links: SentenceLinks::new(&sentence.text, translation), is_cut };
    let mut placed = Vec::new();
    let words = 0..translation.source_words.len();
    projection.place(&sentence.markers, words, 0..translation.target_words.len(), &mut placed);
    let lacking = move_to_places(&mut placed, places, &translation.target_words);
    restore_order(&mut placed);
    MarkerWriter { translation, output }.write(&placed);
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

/// Gives points that programs fill in order their order in the source.
fn restore_order(placed: &mut [Placed]) {
    let mut raws: Vec<&Range<usize>> = placed.iter().filter_map(Placed::ordered_raw).collect();
    raws.sort_by_key(|raw| raw.start);
    let points = placed.iter_mut().filter(|one| one.ordered_raw().is_some());
    for (point, next) in points.zip(raws) {
        if let PlacedKind::Point { raw, .. } = &mut point.kind {
            *raw = next;
        }
    }
}

/// Projection of the markers of a sentence.
struct Projection<'t> {
    links: SentenceLinks<'t>,
    /// True if the translation or its links lack the end of the sentence.
    is_cut: bool,
}

impl Projection<'_> {
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
        let places = Siblings::new(&self.links, markers, words.clone(), target).places(markers);
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
                    self.place(&element.inner, self.links.words_in(&element.span, &words), range.clone(), placed);
                }
                Marker::Element(Element { tags: [open, close], span, inner }) => {
                    let kind = PlacedKind::Open { tag: open, empty: range.is_empty() };
                    placed.push(Placed { gap: range.start, kind });
                    self.place(inner, self.links.words_in(span, &words), range.clone(), placed);
                    placed.push(Placed { gap: range.end, kind: PlacedKind::Close { tag: close } });
                }
            }
        }
    }
}
