//! Documents that `softalign translate` reads and writes back in their format.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::output_file::is_standard_output;
use crate::cli::{TranslateArgs, TranslationFormat};
use crate::error::{usage, usage_of};
use crate::formats::{Document, OpenedDocument, has_format_name, open_document};
use crate::render::AlignmentFormat;
use crate::text::LineNumbers;
use crate::translator::Translation;

/// Document with the translations of its texts so far.
pub struct TranslatedDocument {
    /// Path of the file; `-` is standard input.
    path: PathBuf,
    document: Box<dyn Document>,
    /// Extensions of files in its format.
    extensions: &'static [&'static str],
    translations: Vec<String>,
}

impl TranslatedDocument {
    /// Opens the input as a document; none if it consists of lines, or of a table.
    ///
    /// # Errors
    /// The file cannot be read or is in a format that cannot be translated; or options contradict the document
    /// ([`UsageError`](crate::error::UsageError)).
    pub fn open(args: &TranslateArgs) -> Result<Option<Self>> {
        let standard = args.input_format.map(|_| Path::new("-"));
        let path = args.input.as_deref().or(standard).filter(|_| args.text.is_empty());
        let Some(path) = path.filter(|_| args.input_format.is_some() || !args.layout.describes_columns()) else {
            return Ok(None);
        };
        let Some(OpenedDocument { document, extensions }) = open_document(path, args.input_format)? else {
            return Ok(None);
        };
        Ok(Some(Self { path: path.to_owned(), document, extensions, translations: Vec::new() }))
    }

    /// Texts to translate, as HTML.
    pub fn texts(&self) -> Vec<String> {
        self.document.texts().into_iter().map(str::to_owned).collect()
    }

    /// Lines of the texts in the file.
    pub fn line_numbers(&self) -> LineNumbers {
        LineNumbers::new(self.document.lines())
    }

    /// True if the output is the translated document, rather than alignments in the format of its extension.
    ///
    /// # Errors
    /// The output has the name of another format, is a terminal that cannot show the document, or has several translations
    /// ([`UsageError`](crate::error::UsageError)).
    pub fn is_written(&self, args: &TranslateArgs, is_terminal: bool) -> Result<bool> {
        let output = &args.output;
        let is_same = self.has_name_of(output);
        let is_alignment = AlignmentFormat::from_extension(output).is_some() && !is_same;
        match args.format {
            Some(TranslationFormat::Text) => {}
            Some(_) => return Ok(false),
            None if is_alignment => return Ok(false),
            None => {}
        }
        if args.n_best > 1 {
            return usage_of(
                "n-best",
                "needs a --format such as json, since a document has one translation of each text",
            );
        }
        if is_alignment || (!is_same && !is_standard_output(output) && has_format_name(output)) {
            return usage(format!(
                "{}: a translated document has the format of its input; choose a name that ends as that does",
                output.display()
            ));
        }
        if is_terminal && self.document.is_binary() {
            return usage("this document is not for a terminal; choose a file with --output");
        }
        Ok(true)
    }

    /// True if a file with this name has the format of the document.
    fn has_name_of(&self, output: &Path) -> bool {
        let [given, written] = [&*self.path, output].map(|path| {
            path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase()).unwrap_or_default()
        });
        let is_usual = self.extensions.contains(&&*given);
        !written.is_empty() && (written == given || !is_usual && self.extensions.contains(&&*written))
    }

    /// Adds the translations of the next texts.
    pub fn add(&mut self, translations: &[Vec<Translation>]) {
        let best = translations.iter().filter_map(|found| found.first());
        self.translations.extend(best.map(|translation| translation.text.clone()));
    }

    /// Returns the file with its translations.
    ///
    /// # Errors
    /// The document cannot be written.
    pub fn into_bytes(self) -> Result<Vec<u8>> {
        self.document.with_translations(&self.translations)
    }
}
