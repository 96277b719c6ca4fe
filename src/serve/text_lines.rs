//! Lines of a text, with the sentences in them.

use crate::translator::Markup;

/// Lines of a text.
pub struct TextLines<'t> {
    lines: Vec<TextLine<'t>>,
}

/// Line of a text: a sentence, which may be empty, with the white space around it.
struct TextLine<'t> {
    before: &'t str,
    sentence: &'t str,
    /// White space after the sentence, with the line break.
    after: &'t str,
}

impl<'t> TextLine<'t> {
    fn new(line: &'t str) -> Self {
        let start = line.len() - line.trim_start().len();
        let end = line.trim_end().len().max(start);
        Self { before: &line[..start], sentence: &line[start..end], after: &line[end..] }
    }
}

impl<'t> TextLines<'t> {
    /// Splits a text into lines. A text with markup is one: its blocks are its sentences.
    pub fn new(text: &'t str, markup: Markup) -> Self {
        match markup {
            Markup::None => Self { lines: text.split_inclusive('\n').map(TextLine::new).collect() },
            Markup::Html => Self { lines: vec![TextLine::new(text)] },
        }
    }

    /// Iterates over the sentences that are not empty.
    pub fn sentences(&self) -> impl Iterator<Item = &'t str> {
        self.lines.iter().map(|line| line.sentence).filter(|sentence| !sentence.is_empty())
    }

    /// Returns the text with translations of its sentences: the best of each, then the second of each, and so on.
    pub fn join(&self, translations: &[Vec<String>]) -> Vec<String> {
        let ranks = translations.iter().map(Vec::len).max().unwrap_or(1);
        (0..ranks).map(|rank| self.join_rank(rank, translations)).collect()
    }

    /// Returns the text with the translation of this rank, from 0, in place of each sentence. A sentence with fewer
    /// translations has its last one.
    fn join_rank(&self, rank: usize, translations: &[Vec<String>]) -> String {
        let mut translations = translations.iter();
        let mut text = String::new();
        for &TextLine { before, sentence, after } in &self.lines {
            text += before;
            if !sentence.is_empty() {
                let ranked = translations.next();
                text += ranked.and_then(|ranked| ranked.get(rank).or(ranked.last())).map_or("", String::as_str);
            }
            text += after;
        }
        text
    }
}
