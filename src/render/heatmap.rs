//! Terminal heatmaps: target words down, source words across, weights in percent.
//!
//! Every cell shows its weight as a number and as a shade, so that color is optional. Matrices wider than the terminal are
//! split into panels. In every script, the first word is leftmost, above its own weights.

use std::io::{Result, Write};

use unicode_width::UnicodeWidthStr;

use super::bidi::bidi_isolate;
use super::{Item, Renderer, escape_controls};
use crate::alignment::Alignment;

/// Label of the column of the source's end of sentence.
const END: &str = "</s>";
/// Minimum column width: a shade, a space and three digits.
const CELL: usize = 5;

/// Renders attention matrices for the terminal.
pub struct Heatmap {
    /// Colors cells by ANSI escapes.
    color: bool,
    /// Columns of the terminal; `None` for unlimited lines.
    width: Option<usize>,
    begun: bool,
}

impl Renderer for Heatmap {
    fn item(&mut self, out: &mut dyn Write, item: &Item) -> Result<()> {
        if std::mem::replace(&mut self.begun, true) {
            writeln!(out)?;
        }
        if let Some(translation) = item.translation {
            writeln!(out, "{}", escape_controls(translation))?;
        }
        self.matrix(out, item.alignment)
    }
}

impl Heatmap {
    /// Creates a renderer for a terminal of `width` columns; `None` for unlimited lines.
    pub fn new(color: bool, width: Option<usize>) -> Self {
        Self { color, width, begun: false }
    }

    /// Writes one matrix.
    pub fn matrix(&self, out: &mut dyn Write, alignment: &Alignment) -> Result<()> {
        let rows = labels(alignment.target());
        let mut columns = labels(alignment.source());
        columns.push(END.to_owned());
        let margin = rows.iter().map(|word| word.width()).max().unwrap_or(0);
        let widths: Vec<usize> = columns.iter().map(|word| word.width().max(CELL)).collect();
        let mut first = 0;
        while first < columns.len() {
            let end = self.panel_end(margin, &widths, first);
            if first > 0 {
                writeln!(out)?;
            }
            write!(out, "{}", padded("", margin))?;
            for column in first..end {
                write!(out, "  {}", padded(&columns[column], widths[column]))?;
            }
            writeln!(out)?;
            for (target, word) in rows.iter().enumerate() {
                write!(out, "{}", padded(word, margin))?;
                for (column, &width) in widths.iter().enumerate().take(end).skip(first) {
                    let weight = alignment.row(target).get(column).unwrap_or(&alignment.end_weights()[target]);
                    write!(out, "  {}", self.cell(*weight, width))?;
                }
                writeln!(out)?;
            }
            first = end;
        }
        Ok(())
    }

    /// End of the panel that starts at column `first`; it has at least one column.
    fn panel_end(&self, margin: usize, widths: &[usize], first: usize) -> usize {
        let Some(available) = self.width else { return widths.len() };
        let mut used = margin;
        for (column, width) in widths.iter().enumerate().skip(first) {
            used += 2 + width;
            if used > available && column > first {
                return column;
            }
        }
        widths.len()
    }

    /// Formats one weight, right-aligned in its column.
    fn cell(&self, weight: f32, width: usize) -> String {
        let percent = (weight * 100.0).round() as usize;
        let shade = match percent {
            0 => return padded("·", width),
            1..=19 => ' ',
            20..=39 => '░',
            40..=59 => '▒',
            60..=79 => '▓',
            _ => '█',
        };
        let text = padded(&format!("{shade} {percent:>3}"), width);
        if !self.color {
            return text;
        }
        // Grays of the 256-color palette, dark to light, under readable text.
        let gray = 234 + percent.min(100) * 18 / 100;
        let ink = if percent < 50 { 255 } else { 16 };
        format!("\x1b[48;5;{gray}m\x1b[38;5;{ink}m{text}\x1b[0m")
    }
}

fn labels(words: &[String]) -> Vec<String> {
    words.iter().map(|word| bidi_isolate(escape_controls(word))).collect()
}

/// Right-aligns a word by its display width, which may exceed the limit of `{:>width$}`, 65,535.
fn padded(word: &str, width: usize) -> String {
    format!("{}{word}", " ".repeat(width.saturating_sub(word.width())))
}

#[cfg(test)]
mod tests {
    use super::super::samples::{self, words};
    use super::*;

    fn drawn(alignment: &Alignment) -> String {
        let mut out = Vec::new();
        Heatmap::new(false, None).matrix(&mut out, alignment).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn snapshot() {
        let text = String::from_utf8(samples::render(&mut Heatmap::new(false, None))).unwrap();
        let expected = "
        the  black  \"cat\"   </s>
  le  █  90      5      2      3
chat      ·  ░  25  ▓  75      ·
noir      ·  █  85     10      5

   नमस्ते   世界   </s>
";
        assert_eq!(text, expected[1..]);
    }

    #[test]
    fn keeps_right_to_left_words_above_their_weights() {
        let alignment = Alignment::from_rows(words("שלום עולם."), words("مرحبا x"), &vec![vec![0.75, 0.25, 0.0]; 2]);
        let expected = "
        \u{2068}שלום\u{2069}  \u{2068}עולם.\u{2069}   </s>
\u{2068}مرحبا\u{2069}  ▓  75  ░  25      ·
    x  ▓  75  ░  25      ·
";
        assert_eq!(drawn(&alignment), expected[1..]);
    }

    #[test]
    fn splits_wide_matrices_into_panels() {
        let text = String::from_utf8(samples::render(&mut Heatmap::new(false, Some(19)))).unwrap();
        assert!(text.starts_with("        the  black\n  le  █  90      5\n"), "{text}");
        assert!(text.lines().all(|line| line.width() <= 19), "{text}");
        let text = String::from_utf8(samples::render(&mut Heatmap::new(false, Some(1)))).unwrap();
        assert!(text.contains("\"cat\""));
    }

    #[test]
    fn color_changes_only_color() {
        let [plain, colored] =
            [false, true].map(|color| String::from_utf8(samples::render(&mut Heatmap::new(color, None))).unwrap());
        assert!(colored.contains("\x1b["), "{colored}");
        let mut without_color = String::new();
        for (index, part) in colored.split('\x1b').enumerate() {
            without_color.push_str(if index == 0 { part } else { part.split_once('m').unwrap().1 });
        }
        assert_eq!(without_color, plain);
    }

    #[test]
    fn accepts_words_of_any_width() {
        let [source, target] = ["a", "世"].map(|word| vec![word.repeat(70_000), "b".to_owned()]);
        let alignment = Alignment::from_rows(source, target, &vec![vec![0.5, 0.5, 0.0]; 2]);
        let widths: Vec<usize> = drawn(&alignment).lines().map(str::width).collect();
        assert_eq!(widths, [140_000 + 2 + 70_000 + 2 * 7; 3]);
    }

    #[test]
    fn escapes_control_characters() {
        let words = vec!["\u{1b}[2J\u{202e}".to_owned()];
        let alignment = Alignment::from_rows(words.clone(), words, &[vec![0.5, 0.5]]);
        let text = drawn(&alignment);
        assert_eq!(text.matches("␛[2J\u{fffd}").count(), 2, "{text}");
        assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text}");
    }
}
