//! Canonical decomposition of characters, and composition of texts in which tokens have byte ranges.

use std::ops::Range;

use unicode_normalization_alignments::char::canonical_combining_class;
use unicode_normalization_alignments::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// Returns the canonical decomposition (NFD) of a text: a Korean syllable becomes its letters.
pub fn decomposed(text: &str) -> String {
    text.nfd().map(|(character, _)| character).collect()
}

/// Composes a text (NFC), and moves byte ranges with it. Ranges in one composed character extend over all of it.
pub fn compose(text: &str, spans: &mut [Range<usize>]) -> String {
    let starts: Vec<usize> = text
        .char_indices()
        .filter(|&(start, character)| start == 0 || !may_compose(character))
        .map(|(start, _)| start)
        .collect();
    let (mut composed, mut composed_starts) = (String::new(), Vec::with_capacity(starts.len() + 1));
    for (index, &start) in starts.iter().enumerate() {
        let end = starts.get(index + 1).copied().unwrap_or(text.len());
        composed_starts.push(composed.len());
        composed.extend(text[start..end].nfc().map(|(character, _)| character));
    }
    composed_starts.push(composed.len());
    for span in spans {
        let first = starts.partition_point(|&start| start <= span.start).saturating_sub(1);
        let end = starts.partition_point(|&start| start < span.end);
        *span = composed_starts[first]..composed_starts[end.max(first)];
    }
    composed
}

/// True if a character may compose with one before it.
pub(super) fn may_compose(character: char) -> bool {
    canonical_combining_class(character) != 0 || is_nfc_quick(std::iter::once(character)) != IsNormalized::Yes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_of_a_syllable_share_its_range() {
        let text = decomposed("각 é가");
        let mut spans: Vec<Range<usize>> =
            text.char_indices().map(|(start, character)| start..start + character.len_utf8()).collect();
        spans.push(0..text.len());
        assert_eq!(compose(&text, &mut spans), "각 é가");
        assert_eq!(spans, [0..3, 0..3, 0..3, 3..4, 4..6, 4..6, 6..9, 6..9, 0..9]);
    }

    #[test]
    fn composes_as_nfc() {
        for text in ["", "\u{301}a", "a\u{302}\u{323}", "\u{1161}\u{11a8}", "\u{958}", "ab", "👩‍👩‍👧"] {
            let mut whole = [0..text.len(), 0..0];
            let composed = compose(&decomposed(text), &mut whole);
            assert_eq!(composed, text.nfc().map(|(character, _)| character).collect::<String>(), "{text:?}");
        }
    }
}
