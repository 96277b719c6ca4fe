//! Options of taking out tags and placeholders.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::placeholders::Placeholders;
use crate::text::SentenceSplitter;

/// Markup of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub enum Markup {
    /// None: `<` and `&` are characters like others.
    #[default]
    None,
    /// HTML tags and character references.
    Html,
}

/// Options of taking out tags and placeholders. By default, only known kinds of placeholders are taken out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MarkupOptions {
    /// Markup of the text.
    pub markup: Markup,
    /// Placeholders of the text.
    pub placeholders: Placeholders,
    /// Splitter of lines and of blocks of HTML into sentences; none if each is one sentence.
    pub splitter: Option<Arc<SentenceSplitter>>,
}

impl MarkupOptions {
    /// Returns the options of HTML with known kinds of placeholders.
    pub fn html() -> Self {
        Self { markup: Markup::Html, ..Self::default() }
    }
}
