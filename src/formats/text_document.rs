//! Documents that are one text, in which the translations of segments are put in place.

use std::ops::Range;

use anyhow::{Result, anyhow, ensure};

use super::document::Document;
use super::input::Input;
use super::line_breaks::placed_breaks;
use super::pair_reader::FormatError;
use super::segment::{Code, Segment};

/// Text with the segments in it.
pub(super) struct TextDocument {
    text: String,
    /// Segments by the start of their ranges. One may lie in a code of another.
    segments: Vec<Segment>,
}

impl TextDocument {
    /// Returns a document of a text with these segments.
    pub fn new(text: String, mut segments: Vec<Segment>) -> Self {
        segments.sort_by_key(|segment| segment.range.start);
        Self { text, segments }
    }

    /// Segments in their order.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Returns the text with these translations, one for each segment.
    pub fn translated(&self, translations: &[String]) -> String {
        self.write(Translations { texts: translations, keeps_unchanged: true })
    }

    /// Returns the text with these translations, even of segments that are their own translation.
    #[cfg(test)]
    pub fn rewritten(&self, translations: &[String]) -> String {
        self.write(Translations { texts: translations, keeps_unchanged: false })
    }

    fn write(&self, translations: Translations) -> String {
        let mut output = String::with_capacity(self.text.len());
        self.write_range(0..self.text.len(), 0, translations, &mut output);
        output
    }

    /// Appends a part of the text, in which the segments from this index on are translated.
    fn write_range(&self, range: Range<usize>, first: usize, translations: Translations, output: &mut String) {
        let mut position = range.start;
        for (index, segment) in self.segments.iter().enumerate().skip(first) {
            if segment.range.end > range.end {
                break;
            }
            if segment.range.start < position {
                continue;
            }
            output.push_str(&self.text[position..segment.range.start]);
            self.write_segment(index, translations, output);
            position = segment.range.end;
        }
        output.push_str(&self.text[position..range.end]);
    }

    fn write_segment(&self, index: usize, translations: Translations, output: &mut String) {
        let (segment, translation) = (&self.segments[index], &translations.texts[index]);
        if translations.keeps_unchanged && segment.in_place && *translation == segment.text {
            self.write_range(segment.range.clone(), index + 1, translations, output);
            return;
        }
        output.push_str(&segment.around[0]);
        let pieces = placed_breaks(segment.pieces(translation), segment);
        output.push_str(&segment.syntax.write(segment, &pieces, &|code| self.code(code, index, translations)));
        output.push_str(&segment.around[1]);
    }

    /// Returns a code of the segment with this index, in which other segments are translated.
    fn code(&self, code: &Code, index: usize, translations: Translations) -> String {
        let (before, part, after) = match code {
            Code::Literal(text) => return text.clone(),
            Code::Part(part) => ("", part, ""),
            Code::Framed { before, part, after } => (&**before, part, &**after),
        };
        let first = self.segments.partition_point(|segment| segment.range.start < part.start);
        let mut output = before.to_owned();
        self.write_range(part.clone(), first.max(index + 1), translations, &mut output);
        output.push_str(after);
        output
    }
}

/// Reads a document that is a text.
///
/// # Errors
/// The file cannot be read, or is not in the format.
pub(super) fn text_document(
    input: Input,
    parse: fn(&str) -> Result<TextDocument, FormatError>,
) -> Result<Box<dyn Document>> {
    let name = input.name().to_owned();
    let document = parse(&input.into_text()?).map_err(|error| anyhow!("{name}:{error}"))?;
    Ok(Box::new(document))
}

/// Translations of the segments of a document.
#[derive(Clone, Copy)]
struct Translations<'t> {
    texts: &'t [String],
    /// True if a segment that is its own translation stays as it is.
    keeps_unchanged: bool,
}

impl Document for TextDocument {
    fn texts(&self) -> Vec<&str> {
        self.segments.iter().map(|segment| &*segment.text).collect()
    }

    fn lines(&self) -> Vec<usize> {
        let (mut lines, mut line, mut position) = (Vec::with_capacity(self.segments.len()), 1, 0);
        for segment in &self.segments {
            // The text of a segment may stand before the place of its translation.
            let at = segment.at.max(position);
            line += self.text[position..at].matches('\n').count();
            position = at;
            lines.push(line);
        }
        lines
    }

    fn with_translations(&self, translations: &[String]) -> Result<Vec<u8>> {
        check_count(self.segments.len(), translations)?;
        Ok(self.translated(translations).into_bytes())
    }
}

/// Checks that there is a translation for each of so many texts.
///
/// # Errors
/// There are more or fewer.
pub(super) fn check_count(texts: usize, translations: &[String]) -> Result<()> {
    ensure!(texts == translations.len(), "{} translations for {texts} texts", translations.len());
    Ok(())
}

#[cfg(test)]
pub(super) mod testing {
    use html_escape::encode_text_to_string;

    use super::*;
    use crate::random::SeededRng;

    /// Words that any syntax could mistake for something else, with two spaces between them.
    const WORDS: &str = "word  Été  日本  a_b  _x_  *  *y*  **  `c`  [l]  [l](u)  ]  !  <  <b>  </i>  &  &amp;  &lt;  #  -  - z  \
        1.  2)  +  >  |  ~  ~~  \\  \\n  \"q\"  '  {x}  -->  $m$  https://a.b/c_d  =  100 %  <!-- c -->";

    /// Returns a translation of a text: each of its tags, with random words between them.
    fn invented(random: &mut SeededRng, text: &str, is_word: fn(&str) -> bool) -> String {
        let words: Vec<&str> = WORDS.split("  ").filter(|word| is_word(word)).collect();
        let mut translation = String::new();
        push_words(random, &words, &mut translation);
        let mut rest = text;
        while let Some(start) = rest.find('<') {
            let end = start + rest[start..].find('>').unwrap_or(rest.len() - start - 1) + 1;
            let tag = &rest[start..end];
            let [before, after] = match tag {
                _ if tag.starts_with("</") => ["", " "],
                _ if tag.starts_with("<br") => ["", ""],
                _ if tag.ends_with("/>") || tag.starts_with("<!") => [" ", " "],
                _ => [" ", ""],
            };
            translation.push_str(&format!("{before}{tag}{after}"));
            push_words(random, &words, &mut translation);
            rest = &rest[end..];
        }
        translation
    }

    /// Appends words between two letters, so that no white space is at their edges.
    fn push_words(random: &mut SeededRng, words: &[&str], output: &mut String) {
        output.push('v');
        for _ in 0..random.below(4) {
            output.push_str(if random.below(4) == 0 { "" } else { " " });
            encode_text_to_string(words[random.below(words.len())], output);
        }
        output.push_str(if random.below(4) == 0 { "v" } else { " v" });
    }

    /// Checks that a document comes back byte for byte if its texts are their own translations, and that invented translations are
    /// read again as they were written. `is_word` leaves out words that the format cannot write as text.
    #[track_caller]
    pub fn check_round_trips(text: &str, is_word: fn(&str) -> bool, parse: fn(&str) -> TextDocument) {
        let document = parse(text);
        let own: Vec<String> = document.texts().into_iter().map(str::to_owned).collect();
        assert_eq!(document.translated(&own), text);
        let again = parse(&document.rewritten(&own));
        assert_eq!(again.texts(), own, "{}", document.rewritten(&own));
        for index in 0..200 {
            let random = &mut SeededRng::new(31, "invented", index);
            let invented: Vec<String> = own.iter().map(|text| invented(random, text, is_word)).collect();
            let written = document.translated(&invented);
            assert_eq!(parse(&written).texts(), invented, "{text}\nbecame\n{written}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::plain_text::PlainText;
    use super::super::segment::SegmentBuilder;
    use super::*;

    /// Document whose first segment has a code with the second one in it.
    fn nested() -> TextDocument {
        let text = "(one [note {two}] three)\n(four)";
        let mut outer = SegmentBuilder::default();
        outer.text("one ");
        outer.point(Code::Part(5..17));
        outer.text(" three");
        let mut inner = SegmentBuilder::default();
        inner.text("two");
        let mut last = SegmentBuilder::default();
        last.text("four");
        let segments =
            [inner.finish(12..15, &PlainText), last.finish(26..30, &PlainText), outer.finish(1..23, &PlainText)];
        TextDocument::new(text.to_owned(), segments.into_iter().flatten().collect())
    }

    #[test]
    fn segments_lie_in_codes_of_others() {
        let document = nested();
        assert_eq!(document.texts(), ["one <x0/> three", "two", "four"]);
        assert_eq!(document.lines(), [1, 1, 2]);
        let translate = |texts: [&str; 3]| document.translated(&texts.map(str::to_owned));
        assert_eq!(translate(["one <x0/> three", "two", "four"]), "(one [note {two}] three)\n(four)");
        assert_eq!(translate(["<x0/> drei eins", "zwei", "vier"]), "([note {zwei}] drei eins)\n(vier)");
        assert_eq!(translate(["one <x0/> three", "zwei", "four"]), "(one [note {zwei}] three)\n(four)");
        assert!(document.with_translations(&["a".to_owned()]).is_err());
    }
}
