//! Documents that are translated and written back.

use anyhow::Result;

/// Document whose texts are translated.
pub trait Document: Send {
    /// Texts to translate, in their order, as HTML: `<`, `>` and `&` are character references, and tags stand for what is not
    /// translated. A translation has the same tags.
    fn texts(&self) -> Vec<&str>;

    /// Lines of the file on which the texts begin, from 1; in a package such as .docx, numbers of the texts.
    fn lines(&self) -> Vec<usize>;

    /// Returns the file with these translations of its texts. A text that is its own translation stays as it is, byte for byte,
    /// if the document has no separate place for its translation.
    ///
    /// # Errors
    /// There is not one translation for each text, or the document cannot be written.
    fn with_translations(&self, translations: &[String]) -> Result<Vec<u8>>;

    /// True if the file is not text, so that it is no use in a terminal.
    fn is_binary(&self) -> bool {
        false
    }
}
