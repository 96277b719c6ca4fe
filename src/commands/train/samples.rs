//! Translations shown after a training.

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use candle_core::Device;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::super::output_file::Output;
use super::super::render_options::has_colors;
use crate::render::{Heatmap, escape_controls};
use crate::text::Pair;
use crate::translator::{DecodeOptions, Translation, Translator};

/// Number of pairs whose translations are shown.
const SHOWN: usize = 2;
/// Width of lines where there is no terminal, in columns.
const WIDTH: usize = 80;
/// Width of the names before texts, in columns.
const NAMES: usize = 13;
/// Maximum number of lines of a text.
const MAX_LINES: usize = 3;
/// Number of characters beyond which a word may consist of repeated ones.
const LONG_WORD: usize = 30;
/// Maximum number of words, or of characters, of a repeated phrase.
const MAX_PERIOD: usize = 4;
/// Number of repetitions in a row from which a phrase is cut, and number of those that are shown.
const DEGENERATE: usize = 4;
const KEPT: usize = 2;

/// Shows the translations of the first pairs between their sources and references, and one heatmap if it fits.
pub fn show_samples(mut output: Output, model: &Path, pairs: &[Pair], device: &Device) -> Result<()> {
    let pairs = &pairs[..pairs.len().min(SHOWN)];
    let sources: Vec<&str> = pairs.iter().map(|pair| &*pair.source).collect();
    let found = Translator::load_on(model, device)?.translate_with(&sources, &DecodeOptions::default())?;
    let translations: Vec<&Translation> = found.iter().map(|translations| &translations[0]).collect();
    let size = if output.is_terminal() { terminal_size::terminal_size() } else { None };
    let width = size.map_or(WIDTH, |(width, _)| usize::from(width.0));
    let color = has_colors(output.is_terminal());
    output.with(|out| {
        for (pair, translation) in pairs.iter().zip(&translations) {
            writeln!(out)?;
            write_text(out, "source", &pair.source, width)?;
            write_text(out, "reference", &pair.target, width)?;
            write_text(out, "translation", &translation.text, width)?;
        }
        if let Some(narrow) = translations.iter().find(|translation| heatmap_width(translation) <= width) {
            writeln!(out)?;
            Heatmap::new(color, None).matrix(out, &narrow.alignment.by_words())?;
        }
        Ok(())
    })?;
    output.finish()
}

/// Writes a text beside its name, wrapped between words.
fn write_text(out: &mut dyn Write, name: &str, text: &str, width: usize) -> std::io::Result<()> {
    let lines = wrapped(&escape_controls(&without_repetition(text)), width.saturating_sub(NAMES).max(NAMES));
    for (number, line) in lines.iter().enumerate() {
        writeln!(out, "{:NAMES$}{line}", if number == 0 { name } else { "" })?;
    }
    Ok(())
}

/// Wraps a text between words into at most [`MAX_LINES`] lines of this width, at least one; a cut text ends with `…`. Longer
/// words are split.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let (mut lines, mut line) = (Vec::new(), String::new());
    for word in text.split_whitespace() {
        if !line.is_empty() && line.width() + 1 + word.width() > width {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        for character in word.chars() {
            if !line.is_empty() && line.width() + character.width().unwrap_or_default() > width {
                lines.push(std::mem::take(&mut line));
            }
            line.push(character);
        }
    }
    lines.push(line);
    if lines.len() > MAX_LINES {
        lines.truncate(MAX_LINES);
        lines[MAX_LINES - 1].pop();
        lines[MAX_LINES - 1].push('…');
    }
    lines
}

/// Replaces the rest of words that are repeated many times in a row by `…`, and that of characters in long words.
fn without_repetition(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut shown = Vec::new();
    for word in without_repeated(&words) {
        let characters: Vec<&str> = word.graphemes(true).collect();
        shown.push(if characters.len() > LONG_WORD { without_repeated(&characters).concat() } else { word.to_owned() });
    }
    shown.join(" ")
}

/// Replaces the rest of phrases that are repeated many times in a row by `…`.
fn without_repeated<'t>(items: &[&'t str]) -> Vec<&'t str> {
    let (mut kept, mut next) = (Vec::new(), 0);
    while next < items.len() {
        let repeated = (1..=MAX_PERIOD).map(|period| (period, repetitions(&items[next..], period)));
        match repeated.into_iter().find(|(_, count)| *count >= DEGENERATE) {
            Some((period, count)) => {
                kept.extend(&items[next..next + KEPT * period]);
                kept.push("…");
                next += count * period;
            }
            None => {
                kept.push(items[next]);
                next += 1;
            }
        }
    }
    kept
}

/// Returns how often the first `period` items follow each other in a row.
fn repetitions(items: &[&str], period: usize) -> usize {
    items.chunks_exact(period).take_while(|chunk| Some(*chunk) == items.get(..period)).count()
}

/// Returns the number of columns of the heatmap of a translation.
fn heatmap_width(translation: &Translation) -> usize {
    translation.to_string().lines().map(UnicodeWidthStr::width).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_degenerate_repetition() {
        for (text, expected) in [
            ("a man in a hat .", "a man in a hat ."),
            ("very very very good", "very very very good"),
            ("no no no no no no .", "no no … ."),
            ("x in the in the in the in the sun", "x in the in the … sun"),
            (format!("so{}", ",".repeat(60)).as_str(), "so,,…"),
            ("", ""),
        ] {
            assert_eq!(without_repetition(text), expected);
        }
    }

    #[test]
    fn wraps_texts_into_few_lines() {
        assert_eq!(wrapped("two dogs run on grass", 9), ["two dogs", "run on", "grass"]);
        assert_eq!(wrapped("a b c d e f g h", 3), ["a b", "c d", "e …"]);
        assert_eq!(wrapped("世界世界世界", 5), ["世界", "世界", "世界"]);
        assert_eq!(wrapped("", 5), [""]);
    }
}
