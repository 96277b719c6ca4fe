//! Tags and placeholders: taken out of a text before translation, and put back where the word links say.

mod assembly;
mod document;
mod events;
mod html;
mod linked_text;
mod marker_writer;
mod markers;
mod options;
mod placed_marker;
mod placed_phrase;
mod placeholders;
mod projection;
mod punctuation;
mod sentence;
mod sentence_ends;
mod sentence_links;
mod siblings;
#[cfg(test)]
mod tests;
mod translated_sentence;
mod translation;

use crate::error::{Result, usage};

use document::{Document, SourceDocument};
use linked_text::ProjectedText;
use markers::MarkedSentence;
use projection::project;
use sentence::{Piece, pieces, tokenized};
use sentence_ends::split_sentences;

pub use linked_text::LinkedText;
pub use options::{Markup, MarkupOptions};
pub(super) use placed_phrase::{PlacedPhrase, PlaceholderPlace};
pub use placeholders::Placeholders;
pub use translation::MarkedUpTexts;

/// Text without its tags and placeholders, which [`Self::render`] puts back.
///
/// [`PreparedTranslator::translate`](super::PreparedTranslator::translate) does all of it. These are its steps, with the
/// translations and links of another source:
///
/// ```
/// use softalign::alignment::Link;
/// use softalign::translator::{LinkedText, MarkedUp, MarkupOptions};
///
/// let text = MarkedUp::parse("<p>The <b>black</b> dog, {name} &amp; I.</p>", &MarkupOptions::html());
/// assert_eq!(text.sentences().collect::<Vec<_>>(), ["The black dog, & I."]);
///
/// let link = |source, target| Link { source, target };
/// let links = [link(0, 0), link(1, 2), link(2, 1), link(3, 3), link(4, 4), link(5, 5), link(6, 6)];
/// let translation = LinkedText {
///     text: "Le chien noir, & moi.",
///     source_words: vec![0..3, 4..9, 10..13, 13..14, 15..16, 17..18, 18..19],
///     target_words: vec![0..2, 3..8, 9..13, 13..14, 15..16, 17..20, 20..21],
///     links: &links,
/// };
/// assert_eq!(text.render(&[translation])?, "<p>Le chien <b>noir</b>, {name} &amp; moi.</p>");
/// # Ok::<(), softalign::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct MarkedUp {
    document: SourceDocument,
    pieces: Vec<Piece>,
}

impl MarkedUp {
    /// Takes tags and placeholders out of a text.
    ///
    /// In HTML, block elements and `<br>` end sentences. Comments, void elements, and elements that are not translated
    /// (`script`, `style`, `code`, `pre` and others; `translate="no"`; the class `notranslate`) stay as they are, byte for byte.
    /// So do attributes, and tags without a partner. A sentence without a letter stays as it is.
    pub fn parse(text: &str, options: &MarkupOptions) -> Self {
        let mut tokens = tokenized(text, options.markup);
        if let Some(splitter) = &options.splitter {
            tokens = split_sentences(text, tokens, options.markup, splitter);
        }
        Self { document: SourceDocument::new(text, &tokens, options.markup), pieces: pieces(text, &tokens, options) }
    }

    /// Iterates over the sentences to translate. There may be none.
    pub fn sentences(&self) -> impl Iterator<Item = &str> {
        self.marked_sentences().map(|sentence| sentence.text.as_str())
    }

    fn marked_sentences(&self) -> impl Iterator<Item = &MarkedSentence> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Sentence(sentence) => Some(sentence),
            Piece::Verbatim(_) | Piece::Moved(_) => None,
        })
    }

    /// True if the text is a single sentence from which nothing was taken out, and its translation needs no encoding.
    pub fn is_plain(&self) -> bool {
        self.document.markup() == Markup::None
            && matches!(&self.pieces[..], [Piece::Sentence(sentence)] if sentence.text == self.document.given())
    }

    /// Returns the translation with tags and placeholders: each of them once, nested as in the text. In HTML, `<`, `>` and `&`
    /// of the translations become character references, so that no element comes from them.
    ///
    /// # Errors
    /// There is not one translation for each sentence.
    pub fn render(&self, translations: &[LinkedText]) -> Result<String> {
        let sentences = self.sentences().count();
        if sentences != translations.len() {
            return Ok(usage(format!("{} translations for {sentences} sentences", translations.len()))?);
        }
        let mut projected = translations.iter().map(|linked| ProjectedText { linked, is_cut: false, places: &[] });
        Ok(self.write(&mut projected).text)
    }

    /// Writes the document with a translation of each sentence.
    fn write<'a>(&self, translations: &mut dyn Iterator<Item = ProjectedText<'a>>) -> Rendered {
        let mut output = Document::new(&self.document);
        let mut lacking = Vec::new();
        for piece in &self.pieces {
            match piece {
                Piece::Verbatim(range) => output.push_verbatim(range.clone()),
                Piece::Moved(range) => output.push_moved(range.clone()),
                Piece::Sentence(sentence) => {
                    if let Some(translation) = translations.next() {
                        lacking.push(project(sentence, translation, &mut output));
                    }
                }
            }
        }
        Rendered { text: output.into_text(), lacking }
    }

    /// Returns the number of line ends of the text before each sentence.
    fn lines(&self) -> Vec<usize> {
        let mut lines = Vec::new();
        let (mut line, mut position) = (0, 0);
        for sentence in self.marked_sentences() {
            line += self.document.given()[position..sentence.start].matches('\n').count();
            position = sentence.start;
            lines.push(line);
        }
        lines
    }
}

/// Translated document.
struct Rendered {
    /// Text with tags and placeholders.
    text: String,
    /// Number of placeholders that each sentence lacks although constraints place them.
    lacking: Vec<usize>,
}
