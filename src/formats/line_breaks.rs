//! Line ends within a text: a translation is broken into as many lines, where the text was.

use super::segment::{LineBreak, Piece, Segment, Syntax};

/// Space at which a line may end.
struct Candidate {
    /// Number of characters of the translation before it.
    characters: usize,
    /// Index of the text, and byte position of the space in it.
    piece: usize,
    byte: usize,
}

/// Puts the breaks of a segment at the spaces of its translation whose places are most like those in the text. A break without a
/// space for it is left out.
pub(super) fn placed_breaks(pieces: Vec<Piece>, segment: &Segment) -> Vec<Piece> {
    let Segment { breaks, characters, syntax, .. } = segment;
    if breaks.is_empty() {
        return pieces;
    }
    let (candidates, total) = candidates(&pieces, *syntax);
    let mut chosen: Vec<(&Candidate, usize)> = Vec::new();
    let mut next = 0;
    for (number, LineBreak { at, .. }) in breaks.iter().enumerate() {
        let wanted = at * total / characters.max(&1);
        let left = &candidates[next..];
        let after = left.partition_point(|one| one.characters < wanted);
        let nearest = [after.saturating_sub(1), after];
        let found = nearest.into_iter().filter(|&index| index < left.len());
        let Some(index) = found.min_by_key(|&index| left[index].characters.abs_diff(wanted)) else { break };
        chosen.push((&left[index], number));
        next += index + 1;
    }
    let mut chosen = chosen.into_iter().peekable();
    let mut broken = Vec::with_capacity(pieces.len() + 2 * breaks.len());
    for (index, piece) in pieces.into_iter().enumerate() {
        let Piece::Text(text) = piece else {
            broken.push(piece);
            continue;
        };
        let mut start = 0;
        while let Some((at, number)) = chosen.next_if(|(at, _)| at.piece == index) {
            push_text(&mut broken, &text[start..at.byte]);
            broken.push(Piece::Break(number));
            start = at.byte + 1;
        }
        push_text(&mut broken, &text[start..]);
    }
    broken
}

fn push_text(pieces: &mut Vec<Piece>, text: &str) {
    if !text.is_empty() {
        pieces.push(Piece::Text(text.to_owned()));
    }
}

/// Returns the spaces between words at which a line may end, and the number of characters of the translation.
fn candidates(pieces: &[Piece], syntax: &dyn Syntax) -> (Vec<Candidate>, usize) {
    let mut found = Vec::new();
    let mut characters = 0;
    for (piece, text) in pieces.iter().enumerate() {
        let Piece::Text(text) = text else { continue };
        for (byte, character) in text.char_indices() {
            let rest = &text[byte + character.len_utf8()..];
            let is_between = characters > 0 && (piece + 1 < pieces.len() || !rest.is_empty());
            if character == ' ' && is_between && !rest.starts_with(' ') && syntax.may_begin_line(rest) {
                found.push(Candidate { characters, piece, byte });
            }
            characters += 1;
        }
    }
    (found, characters)
}

#[cfg(test)]
mod tests {
    use super::super::segment::{Code, SegmentBuilder};
    use super::*;

    struct NoDashes;

    impl Syntax for NoDashes {
        fn push_text(&self, output: &mut String, text: &str) {
            output.push_str(text);
        }

        fn may_begin_line(&self, text: &str) -> bool {
            !text.starts_with('-')
        }
    }

    fn broken(text: &str, translation: &str) -> String {
        let mut builder = SegmentBuilder::default();
        for (index, line) in text.lines().enumerate() {
            if index > 0 {
                builder.line_break(Code::literal("\n"));
            }
            builder.text(line);
        }
        let segment = builder.finish(0..text.len(), &NoDashes).unwrap();
        let broken = placed_breaks(segment.pieces(translation), &segment);
        broken.into_iter().map(|piece| if let Piece::Text(text) = piece { text } else { "\n".to_owned() }).collect()
    }

    #[test]
    fn lines_are_as_long_as_they_were() {
        assert_eq!(broken("aaaa bb\ncc dddd", "aaaa bb cc dddd"), "aaaa bb\ncc dddd");
        assert_eq!(broken("aaaa\nbb cc\ndddd", "aaaa bb cc dddd"), "aaaa\nbb cc\ndddd");
        assert_eq!(broken("aa\nbb", "one two three four"), "one two\nthree four");
        assert_eq!(broken("aa\nbb", "one"), "one");
        assert_eq!(broken("aa\nbb\ncc", "one two"), "one\ntwo");
        assert_eq!(broken("aa\nbb", "one - two"), "one -\ntwo", "no line begins a list");
        assert_eq!(broken("aa\nbb", " one "), " one ");
    }
}
