//! A sentence pair.

use serde::{Deserialize, Serialize};

use super::Normalization;

/// A sentence and its translation, as the user wrote them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub struct Pair {
    /// The sentence to translate.
    pub source: String,
    /// Its translation.
    pub target: String,
}

impl Pair {
    /// Returns a pair of these texts.
    pub fn new(source: impl Into<String>, target: impl Into<String>) -> Self {
        Self { source: source.into(), target: target.into() }
    }

    /// Returns the pair with a tag before its source, unless that is blank.
    #[must_use]
    pub fn tagged(self, tag: Option<&str>) -> Self {
        match tag {
            Some(tag) if !self.source.trim().is_empty() => Self { source: format!("{tag} {}", self.source), ..self },
            _ => self,
        }
    }

    /// True if a side is blank.
    pub fn has_empty_side(&self) -> bool {
        self.source.trim().is_empty() || self.target.trim().is_empty()
    }

    /// Returns the pair with both sides normalized.
    #[must_use]
    pub fn normalized(&self, normalization: Normalization) -> Self {
        let [source, target] = [&self.source, &self.target].map(|text| normalization.apply(text).into_owned());
        Self { source, target }
    }
}
