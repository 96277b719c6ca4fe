//! HTML pages: a single text, whose tags are those of the page.

use anyhow::Result;

use super::document::Document;
use super::file_format::FileFormat;
use super::input::Input;
use super::text_document::check_count;

/// HTML.
pub(super) struct Html;

impl FileFormat for Html {
    fn name(&self) -> &'static str {
        "HTML"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["html", "htm", "xhtml"]
    }

    fn document(&self, input: Input) -> Result<Option<Box<dyn Document>>> {
        let mut page = input.into_text()?;
        let end = if page.ends_with('\n') { "\n" } else { "" };
        page.truncate(page.len() - end.len());
        Ok(Some(Box::new(Page { page, end })))
    }
}

/// Page, and the line end after it.
struct Page {
    page: String,
    end: &'static str,
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
