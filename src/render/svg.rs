//! SVG: for each sentence a heatmap fit for a paper, source words across, target words down.
//!
//! Shades go from white to a dark blue, and so from light to dark in print without colour; a dot marks each link. Columns
//! run as the source does, from left to right or from right to left, and the column of the source's end stands apart after
//! the last word. Several sentences stand below each other, each under its number.

use std::f64::consts::FRAC_1_SQRT_2;
use std::io::{Result, Write};

use unicode_width::UnicodeWidthStr;

use super::direction::runs_right_to_left;
use super::{Item, Renderer};
use crate::alignment::Alignment;

/// The name of the column for the source's end of sentence.
const END: &str = "</s>";
/// Fonts by name for what papers are set with, then those that cover other scripts.
pub(super) const FONTS: &str = "Helvetica, Arial, 'Liberation Sans', 'Noto Sans', 'DejaVu Sans', 'Noto Sans Arabic', \
    'Noto Sans Hebrew', 'Noto Sans Devanagari', 'Noto Sans CJK SC', sans-serif";
/// Height of letters.
pub(super) const FONT_SIZE: usize = 13;
/// Width of a letter that takes one column of a terminal, a little generous.
const LETTER: usize = 8;
/// Side of a cell.
const CELL: usize = 24;
/// Between the last source word's column and that of the source's end.
const END_GAP: usize = 8;
/// Around a heatmap, and between it and its labels.
const MARGIN: usize = 8;
/// Room for a sentence's number, and the space before the next one.
const HEADING: usize = 24;
/// The darkest shade: red, green, blue.
const DARK: [f64; 3] = [23.0, 64.0, 115.0];

/// Draws a heatmap for each sentence. Everything is kept until the end: a document names its size first.
#[derive(Default)]
pub struct Svg {
    figures: Vec<Figure>,
}

/// A heatmap that has been drawn.
struct Figure {
    /// The sentence's number, from 1.
    number: String,
    body: String,
    width: usize,
    height: usize,
}

impl Renderer for Svg {
    fn item(&mut self, _out: &mut dyn Write, item: &Item) -> Result<()> {
        let number = match item.rank {
            Some(rank) if rank > 1 => format!("{}.{rank}", item.id + 1),
            _ => (item.id + 1).to_string(),
        };
        self.figures.push(Drawing::of(item.alignment).figure(number, item));
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn Write) -> Result<()> {
        let figures = std::mem::take(&mut self.figures);
        let heading = if figures.len() > 1 { HEADING } else { 0 };
        let width = figures.iter().map(|figure| figure.width).max().unwrap_or(2 * MARGIN);
        let height = figures.iter().map(|figure| figure.height + heading).sum::<usize>().max(2 * MARGIN);
        writeln!(
            out,
            r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="{FONTS}" font-size="{FONT_SIZE}" fill="black">"#
        )?;
        let mut top = 0;
        for Figure { number, body, height, .. } in &figures {
            if heading > 0 {
                writeln!(out, r#"<text x="{MARGIN}" y="{}" font-weight="bold">{number}</text>"#, top + heading - 6)?;
            }
            writeln!(out, r#"<g transform="translate(0 {})">"#, top + heading)?;
            writeln!(out, "{body}</g>")?;
            top += heading + height;
        }
        writeln!(out, "</svg>")
    }
}

/// Where things stand in one heatmap.
struct Drawing {
    source: Labels,
    target: Labels,
    /// Whether source words are written aslant, since they are wider than their columns.
    slanted: bool,
    /// The matrix' upper left corner.
    left: usize,
    top: usize,
}

/// The words of one side.
struct Labels {
    texts: Vec<String>,
    /// Whether they belong to a script that runs from right to left.
    right_to_left: bool,
}

impl Labels {
    fn of(words: &[String]) -> Self {
        Self { texts: words.iter().map(|word| escaped(word)).collect(), right_to_left: runs_right_to_left(words) }
    }
}

impl Drawing {
    fn of(alignment: &Alignment) -> Self {
        let widest = |words: &[String]| words.iter().map(|word| width(word)).max().unwrap_or(0);
        let widest_source = widest(alignment.source());
        let slanted = widest_source > CELL;
        Self {
            source: Labels::of(alignment.source()),
            target: Labels::of(alignment.target()),
            slanted,
            left: MARGIN + widest(alignment.target()) + MARGIN,
            top: MARGIN + if slanted { aslant(widest_source.max(width(END))) + FONT_SIZE } else { FONT_SIZE + MARGIN },
        }
    }

    /// The left edge of a source word's column, or that of the source's end.
    fn x(&self, column: usize) -> usize {
        let end = self.source.texts.len();
        let (place, after_gap) =
            if self.source.right_to_left { (end - column, column < end) } else { (column, column == end) };
        self.left + place * CELL + if after_gap { END_GAP } else { 0 }
    }

    fn y(&self, row: usize) -> usize {
        self.top + row * CELL
    }

    fn figure(&self, number: String, item: &Item) -> Figure {
        let (columns, rows) = (self.source.texts.len(), self.target.texts.len());
        let mut body = String::new();
        self.cells(&mut body, item.alignment);
        body.push_str(&self.grid());
        self.dots(&mut body, item);
        self.target_labels(&mut body);
        self.source_labels(&mut body);
        let words = item.alignment.source().iter().map(String::as_str).chain([END]);
        let reach = |(column, word): (usize, &str)| {
            let beyond = if self.slanted { CELL / 2 + aslant(width(word)) } else { CELL };
            self.x(column) + beyond
        };
        let labels_end = words.enumerate().map(reach).max().unwrap_or(0);
        let cells_end = self.left + (columns + 1) * CELL + END_GAP;
        Figure { number, body, width: labels_end.max(cells_end) + MARGIN, height: self.y(rows) + MARGIN }
    }

    /// Lines between all cells, as one path.
    fn grid(&self) -> String {
        let (columns, rows) = (self.source.texts.len(), self.target.texts.len());
        if rows == 0 {
            return String::new();
        }
        let mut path = String::new();
        for (first, last) in [(0, columns), (columns, columns + 1)].into_iter().filter(|(first, last)| first < last) {
            let left = self.x(first).min(self.x(last - 1));
            let right = left + (last - first) * CELL;
            for row in 0..=rows {
                path.push_str(&format!("M{left} {}H{right}", self.y(row)));
            }
            for column in 0..=last - first {
                path.push_str(&format!("M{} {}V{}", left + column * CELL, self.top, self.y(rows)));
            }
        }
        format!("<path d=\"{path}\" fill=\"none\" stroke=\"#ddd\"/>\n")
    }

    fn cells(&self, body: &mut String, alignment: &Alignment) {
        for (row, (weights, end)) in alignment.rows().zip(alignment.end_weights()).enumerate() {
            for (column, &weight) in weights.iter().chain([end]).enumerate() {
                let shade = shade(weight);
                if shade != "#ffffff" {
                    let (x, y) = (self.x(column), self.y(row));
                    body.push_str(&format!(
                        "<rect x=\"{x}\" y=\"{y}\" width=\"{CELL}\" height=\"{CELL}\" fill=\"{shade}\"/>\n"
                    ));
                }
            }
        }
    }

    /// The links, light on dark cells and dark on light ones.
    fn dots(&self, body: &mut String, item: &Item) {
        for link in item.links {
            let weight = item.alignment.row(link.target)[link.source];
            let ink = if weight > 0.5 { "white" } else { "black" };
            let (x, y) = (self.x(link.source) + CELL / 2, self.y(link.target) + CELL / 2);
            body.push_str(&format!("<circle cx=\"{x}\" cy=\"{y}\" r=\"3\" fill=\"{ink}\"/>\n"));
        }
    }

    fn target_labels(&self, body: &mut String) {
        if self.target.texts.is_empty() {
            return;
        }
        // An anchor's start is where reading begins.
        let attributes =
            if self.target.right_to_left { "direction=\"rtl\" text-anchor=\"start\"" } else { "text-anchor=\"end\"" };
        body.push_str(&format!("<g {attributes}>\n"));
        for (row, text) in self.target.texts.iter().enumerate() {
            let (x, y) = (self.left - MARGIN, self.y(row) + CELL / 2 + FONT_SIZE / 3);
            body.push_str(&format!("<text x=\"{x}\" y=\"{y}\">{text}</text>\n"));
        }
        body.push_str("</g>\n");
    }

    fn source_labels(&self, body: &mut String) {
        let anchor = match (self.slanted, self.source.right_to_left) {
            (false, _) => "middle",
            (true, false) => "start",
            (true, true) => "end",
        };
        let direction = if self.source.right_to_left { " direction=\"rtl\"" } else { "" };
        if !self.source.texts.is_empty() {
            body.push_str(&format!("<g text-anchor=\"{anchor}\"{direction}>\n"));
            for (column, text) in self.source.texts.iter().enumerate() {
                self.source_label(body, column, text);
            }
            body.push_str("</g>\n");
        }
        let anchor = if self.slanted { "start" } else { "middle" };
        body.push_str(&format!("<g text-anchor=\"{anchor}\" fill=\"#666\">\n"));
        self.source_label(body, self.source.texts.len(), &escaped(END));
        body.push_str("</g>\n");
    }

    fn source_label(&self, body: &mut String, column: usize, text: &str) {
        let (x, y) = (self.x(column) + CELL / 2, self.top - MARGIN);
        let place = if self.slanted {
            format!("transform=\"translate({} {y}) rotate(-45)\"", x + FONT_SIZE / 3)
        } else {
            format!("x=\"{x}\" y=\"{y}\"")
        };
        body.push_str(&format!("<text {place}>{text}</text>\n"));
    }
}

/// About how wide a word is.
pub(super) fn width(word: &str) -> usize {
    word.width() * LETTER
}

/// How far a label of this width reaches up, and to the right, when it is turned by 45 degrees.
fn aslant(width: usize) -> usize {
    ((width + FONT_SIZE) as f64 * FRAC_1_SQRT_2).ceil() as usize
}

/// A weight's colour, white where it is nothing or no number.
fn shade(weight: f32) -> String {
    let weight = f64::from(if weight > 0.0 { weight.min(1.0) } else { 0.0 });
    let [red, green, blue] = DARK.map(|dark| (255.0 + weight * (dark - 255.0)).round() as u8);
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// A word as XML holds it; characters that XML forbids, and control characters, are left out.
pub(super) fn escaped(word: &str) -> String {
    let mut text = String::with_capacity(word.len());
    for character in word.chars() {
        match character {
            '&' => text.push_str("&amp;"),
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            '"' => text.push_str("&quot;"),
            '\'' => text.push_str("&#39;"),
            '\u{fffe}' | '\u{ffff}' => {}
            _ if character.is_control() => {}
            _ => text.push(character),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::{Beliefs, samples};
    use super::*;

    fn render(words: [&[&str]; 2], rows: &[Vec<f32>]) -> String {
        let [source, target] = words.map(|side| side.iter().map(|&word| word.to_owned()).collect());
        let alignment = Alignment::from_rows(source, target, rows);
        let beliefs = Beliefs::of_attention(&alignment);
        let links = beliefs.links(0.4);
        let (mut svg, mut out) = (Svg::default(), Vec::new());
        svg.item(&mut out, &samples::item(0, &alignment, &beliefs, &links)).unwrap();
        svg.finish(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn snapshot() {
        let text = String::from_utf8(samples::render(&mut Svg::default())).unwrap();
        let expected = r##"<svg xmlns="http://www.w3.org/2000/svg" width="180" height="248" viewBox="0 0 180 248" font-family="Helvetica, Arial, 'Liberation Sans', 'Noto Sans', 'DejaVu Sans', 'Noto Sans Arabic', 'Noto Sans Hebrew', 'Noto Sans Devanagari', 'Noto Sans CJK SC', sans-serif" font-size="13" fill="black">
<text x="8" y="18" font-weight="bold">1</text>
<g transform="translate(0 24)">
<rect x="48" y="59" width="24" height="24" fill="#2e5381"/>
<rect x="72" y="59" width="24" height="24" fill="#f3f5f8"/>
<rect x="96" y="59" width="24" height="24" fill="#fafbfc"/>
<rect x="128" y="59" width="24" height="24" fill="#f8f9fb"/>
<rect x="72" y="83" width="24" height="24" fill="#c5cfdc"/>
<rect x="96" y="83" width="24" height="24" fill="#517096"/>
<rect x="48" y="107" width="24" height="24" fill="#fefefe"/>
<rect x="72" y="107" width="24" height="24" fill="#3b5d89"/>
<rect x="96" y="107" width="24" height="24" fill="#e8ecf1"/>
<rect x="128" y="107" width="24" height="24" fill="#f3f5f8"/>
<path d="M48 59H120M48 83H120M48 107H120M48 131H120M48 59V131M72 59V131M96 59V131M120 59V131M128 59H152M128 83H152M128 107H152M128 131H152M128 59V131M152 59V131" fill="none" stroke="#ddd"/>
<circle cx="60" cy="71" r="3" fill="white"/>
<circle cx="84" cy="119" r="3" fill="white"/>
<circle cx="108" cy="95" r="3" fill="white"/>
<g text-anchor="end">
<text x="40" y="75">le</text>
<text x="40" y="99">chat</text>
<text x="40" y="123">noir</text>
</g>
<g text-anchor="start">
<text transform="translate(64 51) rotate(-45)">the</text>
<text transform="translate(88 51) rotate(-45)">black</text>
<text transform="translate(112 51) rotate(-45)">&quot;cat&quot;</text>
</g>
<g text-anchor="start" fill="#666">
<text transform="translate(144 51) rotate(-45)">&lt;/s&gt;</text>
</g>
</g>
<text x="8" y="181" font-weight="bold">2</text>
<g transform="translate(0 187)">
<g text-anchor="start">
<text transform="translate(32 45) rotate(-45)">नमस्ते</text>
<text transform="translate(56 45) rotate(-45)">世界</text>
</g>
<g text-anchor="start" fill="#666">
<text transform="translate(88 45) rotate(-45)">&lt;/s&gt;</text>
</g>
</g>
</svg>
"##;
        assert_eq!(text, expected);
    }

    #[test]
    fn one_sentence_has_no_number() {
        assert!(!render([&["a"], &["b"]], &[vec![1.0, 0.0]]).contains("bold"));
    }

    #[test]
    fn short_words_stand_upright() {
        assert!(!render([&["a"], &["b"]], &[vec![1.0, 0.0]]).contains("rotate"));
        assert!(render([&["longer"], &["b"]], &[vec![1.0, 0.0]]).contains("rotate"));
    }

    #[test]
    fn no_word_becomes_markup() {
        let text = render([&["</text><script>", "a&b\u{1}\u{ffff}\u{202e}"], &["\"'"]], &[vec![0.5, 0.5, 0.0]]);
        for part in ["&lt;/text&gt;&lt;script&gt;<", ">a&amp;b\u{202e}<", ">&quot;&#39;<"] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn scripts_from_right_to_left_keep_their_anchors() {
        let text = render([&["שלום", "עולם."], &["1", "(مرحبا)", "hello"]], &vec![vec![0.5, 0.5, 0.0]; 3]);
        assert!(text.contains("<g direction=\"rtl\" text-anchor=\"start\">\n<text x=\"64\" "), "{text}");
        assert!(text.contains("<g text-anchor=\"end\" direction=\"rtl\">"), "{text}");
    }

    #[test]
    fn columns_run_as_the_source_does() {
        let places = |source: &[&str]| -> Vec<usize> {
            let text = render([source, &["c"]], &[vec![1.0, 0.75, 0.5]]);
            let cells = text.lines().filter_map(|line| line.strip_prefix("<rect x=\""));
            cells.map(|cell| cell.split('"').next().unwrap().parse().unwrap()).collect()
        };
        assert_eq!(places(&["a", "b"]), [24, 48, 80], "two words and, apart, the end");
        assert_eq!(places(&["א", "ב"]), [80, 56, 24]);
    }

    #[test]
    fn combining_marks_take_no_room() {
        let width = |word| {
            let text = render([&["a"], &[word]], &[vec![1.0, 0.0]]);
            text.split('"').nth(3).unwrap().to_owned()
        };
        assert_eq!(width("e\u{301}e\u{301}"), width("éé"));
    }

    #[test]
    fn shades_are_colours_whatever_the_weight() {
        assert_eq!([0.0, 0.5, 1.0, 2.0, f32::NAN].map(shade), ["#ffffff", "#8ba0b9", "#174073", "#174073", "#ffffff"]);
    }

    #[test]
    fn an_empty_document_is_a_document() {
        let mut out = Vec::new();
        Svg::default().finish(&mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.starts_with("<svg ") && text.contains("viewBox=\"0 0 16 16\"") && text.ends_with(">\n</svg>\n"));
    }
}
