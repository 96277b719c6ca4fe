//! Markdown (CommonMark, with tables, footnotes and the like): the texts of paragraphs, headings, items and cells.

use std::ops::Range;

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd};

use super::file_format::FileFormat;
use super::segment::{Code, Segment, SegmentBuilder, Syntax, end_indices};
use super::tagged_text::push_tagged;
use super::text_document::{TextDocument, text_document};

/// Markdown.
pub(super) static MARKDOWN: FileFormat = FileFormat {
    name: "Markdown",
    extensions: &["md", "markdown", "mkd"],
    document: Some(|input| text_document(input, |text| Ok(parse(text)))),
    ..FileFormat::UNKNOWN
};

/// Extensions of CommonMark whose marks would otherwise be text.
const EXTENSIONS: Options = Options::ENABLE_TABLES
    .union(Options::ENABLE_FOOTNOTES)
    .union(Options::ENABLE_STRIKETHROUGH)
    .union(Options::ENABLE_TASKLISTS)
    .union(Options::ENABLE_HEADING_ATTRIBUTES)
    .union(Options::ENABLE_YAML_STYLE_METADATA_BLOCKS)
    .union(Options::ENABLE_PLUSES_DELIMITED_METADATA_BLOCKS);

/// Syntax of texts.
struct MarkdownText {
    /// True in the cell of a table, where a bar ends the text.
    in_table: bool,
}

static IN_PARAGRAPH: MarkdownText = MarkdownText { in_table: false };
static IN_TABLE: MarkdownText = MarkdownText { in_table: true };

impl Syntax for MarkdownText {
    fn push_text(&self, output: &mut String, text: &str) {
        let line = output.rsplit('\n').next().unwrap_or_default();
        let begins_line = line.chars().all(|one| matches!(one, ' ' | '\t' | '>'));
        let marker = if begins_line { block_marker(text) } else { None };
        let mut previous = output.chars().next_back();
        for (at, character) in text.char_indices() {
            let next = text[at + character.len_utf8()..].chars().next();
            let is_special = match character {
                '\\' | '`' | '*' | '[' | ']' | '<' | '~' => true,
                // Within a word, it is no mark.
                '_' => ![previous, next].iter().all(|one| one.is_some_and(char::is_alphanumeric)),
                '&' => next.is_some_and(|one| one == '#' || one.is_ascii_alphabetic()),
                '!' => next.is_none() || next == Some('['),
                '|' => self.in_table,
                _ => marker == Some(at),
            };
            if is_special {
                output.push('\\');
            }
            output.push(character);
            previous = Some(character);
        }
    }

    fn may_begin_line(&self, text: &str) -> bool {
        text.starts_with(char::is_alphabetic)
    }
}

/// Byte position of a character that would make a list, a heading or a quotation of a text at the beginning of a line.
fn block_marker(text: &str) -> Option<usize> {
    let digits = text.len() - text.trim_start_matches(|one: char| one.is_ascii_digit()).len();
    let first = text[digits..].chars().next()?;
    let is_marker = if digits == 0 { "#>+-=:|".contains(first) } else { digits < 10 && ".)".contains(first) };
    is_marker.then_some(digits)
}

/// Event with its bytes in the document.
struct Inline<'t> {
    event: Event<'t>,
    range: Range<usize>,
}

/// Returns the texts of a document.
fn parse(text: &str) -> TextDocument {
    let mut segments = Vec::new();
    let mut inlines: Vec<Inline> = Vec::new();
    let (mut in_table, mut verbatim) = (false, false);
    for (event, range) in Parser::new_ext(text, EXTENSIONS).into_offset_iter() {
        if is_inline(&event) {
            if !verbatim {
                inlines.push(Inline { event, range });
            }
            continue;
        }
        segments_of(text, &std::mem::take(&mut inlines), in_table, &mut segments);
        match event {
            Event::Start(Tag::CodeBlock(_) | Tag::HtmlBlock | Tag::MetadataBlock(_)) => verbatim = true,
            Event::End(TagEnd::CodeBlock | TagEnd::HtmlBlock | TagEnd::MetadataBlock(_)) => verbatim = false,
            Event::Start(Tag::Table(_)) => in_table = true,
            Event::End(TagEnd::Table) => in_table = false,
            _ => {}
        }
    }
    segments_of(text, &inlines, in_table, &mut segments);
    TextDocument::new(text.to_owned(), segments)
}

/// True for what stands within a line.
fn is_inline(event: &Event) -> bool {
    match event {
        Event::Start(tag) => {
            matches!(tag, Tag::Emphasis | Tag::Strong | Tag::Strikethrough | Tag::Link { .. } | Tag::Image { .. })
        }
        Event::End(tag) => {
            matches!(tag, TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::Link | TagEnd::Image)
        }
        Event::Html(_) | Event::Rule | Event::TaskListMarker(_) => false,
        _ => true,
    }
}

/// Adds the segment of a run of inline events, and those of the descriptions of its images.
fn segments_of(text: &str, inlines: &[Inline], in_table: bool, segments: &mut Vec<Segment>) {
    let syntax = if in_table { &IN_TABLE } else { &IN_PARAGRAPH };
    let ends = end_indices(inlines, |inline| match inline.event {
        Event::Start(_) => Some(true),
        Event::End(_) => Some(false),
        _ => None,
    });
    let mut left: Vec<Range<usize>> = std::iter::once(0..inlines.len()).collect();
    while let Some(indices) = left.pop() {
        let (Some(first), Some(last)) = (inlines[indices.clone()].first(), inlines[indices.clone()].last()) else {
            continue;
        };
        let range = first.range.start..last.range.end;
        let mut run = Run {
            text,
            inlines,
            ends: &ends,
            links: Vec::new(),
            builder: SegmentBuilder::default(),
            images: Vec::new(),
        };
        run.read(indices);
        segments.extend(run.builder.finish(range, syntax));
        left.extend(run.images);
    }
}

/// Inline events that become a segment.
struct Run<'r, 't> {
    text: &'t str,
    inlines: &'r [Inline<'t>],
    /// Index of the end of each element that begins at an index.
    ends: &'r [usize],
    /// Kinds of the links that are open.
    links: Vec<LinkType>,
    builder: SegmentBuilder,
    /// Indices of the descriptions of images, which are texts of their own.
    images: Vec<Range<usize>>,
}

impl Run<'_, '_> {
    /// Reads the events with these indices.
    fn read(&mut self, indices: Range<usize>) {
        let mut index = indices.start;
        while index < indices.end {
            let Inline { event, range } = &self.inlines[index];
            match event {
                Event::Text(text) => self.builder.text(text),
                Event::SoftBreak => self.builder.line_break(Code::Literal(self.line_end(index))),
                Event::HardBreak => self.builder.sentence_end(Code::Literal(self.line_end(index))),
                Event::InlineHtml(html) if html.starts_with("<!") || html.starts_with("<?") => {
                    self.builder.hidden(Code::Part(range.clone()));
                }
                Event::InlineHtml(html) => push_tagged(&mut self.builder, html, str::to_owned),
                Event::Start(tag) if self.is_whole(index, tag) => {
                    self.builder.point(Code::Part(range.clone()));
                    let end = self.ends[index];
                    if matches!(tag, Tag::Image { .. }) {
                        self.images.push(index + 1..end);
                    }
                    index = end;
                }
                Event::Start(tag) => self.open(tag, range),
                Event::End(_) => {
                    let code = Code::Literal(self.closing(index));
                    self.builder.close(range.start.to_string(), code);
                }
                _ => self.builder.point(Code::Part(range.clone())),
            }
            index += 1;
        }
    }

    /// True for an element that is no part of the sentence: an image, an address, or a link without a text.
    fn is_whole(&self, index: usize, tag: &Tag) -> bool {
        let is_empty = self.ends[index] == index + 1;
        let is_address = matches!(tag, Tag::Link { link_type: LinkType::Autolink | LinkType::Email, .. });
        is_empty || is_address || matches!(tag, Tag::Image { .. })
    }

    /// Returns what stands for a line end: all from the text before to the text after it, such as the mark of a quotation.
    fn line_end(&self, index: usize) -> String {
        let start =
            index.checked_sub(1).map_or(self.inlines[index].range.start, |before| self.inlines[before].range.end);
        let end = self.inlines.get(index + 1).map_or(self.inlines[index].range.end, |after| after.range.start);
        let code = &self.text[start.min(end)..end];
        // The backslash before the next character belongs to that.
        let is_text = matches!(self.inlines.get(index + 1), Some(Inline { event: Event::Text(_), .. }));
        code.strip_suffix('\\').filter(|_| is_text).unwrap_or(code).to_owned()
    }

    /// Appends the start of an element.
    fn open(&mut self, tag: &Tag, range: &Range<usize>) {
        let length = match tag {
            Tag::Strong => 2,
            Tag::Strikethrough => self.tildes(range.start),
            _ => 1,
        };
        if let Tag::Link { link_type, .. } = tag {
            self.links.push(*link_type);
        }
        self.builder.open(range.start.to_string(), Code::Part(range.start..range.start + length));
    }

    /// Returns the end of the element whose end has this index.
    fn closing(&mut self, index: usize) -> String {
        let Inline { event, range } = &self.inlines[index];
        let length = match event {
            Event::End(TagEnd::Strong) => 2,
            Event::End(TagEnd::Strikethrough) => self.tildes(range.start),
            Event::End(TagEnd::Link) => return self.link_end(index),
            _ => 1,
        };
        self.text[range.end - length..range.end].to_owned()
    }

    /// Returns the end of a link. One by its text alone gets the text as its label, which must not be translated.
    fn link_end(&mut self, index: usize) -> String {
        let range = &self.inlines[index].range;
        let content = range.start + 1..self.inlines[index - 1].range.end;
        match self.links.pop() {
            Some(LinkType::Shortcut | LinkType::ShortcutUnknown | LinkType::Collapsed | LinkType::CollapsedUnknown) => {
                format!("][{}]", &self.text[content])
            }
            _ => self.text[content.end..range.end].to_owned(),
        }
    }

    /// Number of tildes at a position, at most two.
    fn tildes(&self, at: usize) -> usize {
        if self.text[at..].starts_with("~~") { 2 } else { 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::super::document::Document;
    use super::super::text_document::testing::check_round_trips;
    use super::*;

    const PAGE: &str = "---\ntitle: x y\n---\n# The *red* fox {#fox}\n\n> It sleeps & sings\n> in the [old house](a_b.html \"t\")\n> of `code_x`.\n\n\
        - one **two\n  three**\n- [ ] four ![an _old_ picture](p.png)\n\n1. five  \n   six\\\n   seven\n\n\
        | a b | c |\n|:----|---|\n| x *y* | `d` e |\n\n```rust\nlet x = 1;\n```\n\n<div>\nnot this\n</div>\n\n\
        See [fox] and [this one][] or [that][fox], <https://a.b/c>, <b>bold</b><br>\\*so\\* 1\\. a note[^1] ~~gone~~ a&nbsp;b \\_c\\_.\n\n\
        [fox]: http://x\n[this one]: http://y 'title'\n\n[^1]: The note\n    goes on.\n\nUnderlined\n=========\n\n***\n\n    code block\n";

    #[test]
    fn texts_are_those_of_blocks() {
        let expected = [
            "The <x0>red</x0> fox",
            "It sleeps &amp; sings in the <x0>old house</x0> of <x1/>.",
            "one <x0>two three</x0>",
            "four <x0/>",
            "an <x0>old</x0> picture",
            "five<br x0>six<br x1>seven",
            "a b",
            "c",
            "x <x0>y</x0>",
            "<x0/> e",
            "See <x0>fox</x0> and <x1>this one</x1> or <x2>that</x2>, <x3/>, <x4>bold</x4><br x5>*so* 1. a note<x6/> <x7>gone</x7> \
             a\u{a0}b _c_.",
            "The note goes on.",
            "Underlined",
        ];
        assert_eq!(parse(PAGE).texts(), expected);
    }

    #[test]
    fn translations_keep_the_marks() {
        let document = parse("> It *sleeps*\n> in [the house].\n\n[the house]: u\n");
        let translation = "Il <x0>dort</x0> dans <x1>la maison</x1>. 1 * 2".to_owned();
        let written = document.translated(&[translation]);
        assert_eq!(written, "> Il *dort*\n> dans [la maison][the house]. 1 \\* 2\n\n[the house]: u\n");
        let document = parse("a\n");
        for (text, expected) in
            [("# b", "\\# b\n"), ("1. b", "1\\. b\n"), ("- b", "\\- b\n"), ("snake_case", "snake_case\n")]
        {
            assert_eq!(document.translated(&[text.to_owned()]), expected);
        }
    }

    #[test]
    fn comes_back_as_it_was() {
        check_round_trips(PAGE, |_| true, parse);
        let pages =
            ["README.md", "docs/guide/translating.md", "docs/reference/formats.md", "docs/development/robustness.md"];
        for page in pages {
            let text = std::fs::read_to_string(format!("{}/{page}", env!("CARGO_MANIFEST_DIR"))).unwrap();
            let document = parse(&text);
            let own: Vec<String> = document.texts().into_iter().map(str::to_owned).collect();
            assert!(own.len() > 20 && document.translated(&own) == text, "{page}");
            assert_eq!(parse(&document.rewritten(&own)).texts(), own, "{page}");
        }
    }
}
