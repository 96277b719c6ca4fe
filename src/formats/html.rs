//! HTML pages: a single text, whose tags are those of the page.

use anyhow::Result;

use super::document::Document;
use super::file_format::FileFormat;
use super::text_document::check_count;

/// HTML.
pub(super) static HTML: FileFormat = FileFormat {
    name: "HTML",
    extensions: &["html", "htm", "xhtml"],
    document: Some(|input| Ok(Box::new(Page::new(input.into_text()?)))),
    ..FileFormat::UNKNOWN
};

/// Page, and the line end after it.
struct Page {
    page: String,
    end: &'static str,
}

impl Page {
    fn new(mut page: String) -> Self {
        let end = if page.ends_with('\n') { "\n" } else { "" };
        page.truncate(page.len() - end.len());
        Self { page, end }
    }
}

impl Document for Page {
    fn texts(&self) -> Vec<&str> {
        vec![&self.page]
    }

    fn lines(&self) -> Vec<usize> {
        vec![1]
    }

    fn with_translations(&self, translations: &[String]) -> Result<Vec<u8>> {
        check_count(1, translations)?;
        Ok(format!("{}{}", translations[0], self.end).into_bytes())
    }
}
