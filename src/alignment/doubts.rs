//! Reasons to doubt a translation.

use serde::Serialize;

/// Reason to doubt a translation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub enum Doubt {
    /// The confidence is below that of most validation translations.
    Confidence,
    /// More source words are without attention than in most validation translations.
    Uncovered,
    /// The translation repeats tokens over and over.
    Repetition,
    /// More target words are unknown than in most validation translations.
    Nonwords,
}

impl Doubt {
    /// Returns the name of the reason in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Confidence => "confidence",
            Self::Uncovered => "uncovered",
            Self::Repetition => "repetition",
            Self::Nonwords => "nonwords",
        }
    }
}

/// Reasons to doubt a translation, none for most.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub struct Doubts {
    /// Reasons to doubt the translation, each once; absent if there is none.
    #[serde(rename = "doubts", skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<Doubt>,
    /// Indices of the source words that have no attention, if too many of them have none; else absent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub uncovered: Vec<usize>,
}

impl Doubts {
    /// Adds the reasons to doubt the translation of the next sentence, which follows so many source words.
    pub fn extend(&mut self, next: &Self, words_before: usize) {
        self.reasons.extend(&next.reasons);
        self.reasons.sort_unstable();
        self.reasons.dedup();
        self.uncovered.extend(next.uncovered.iter().map(|word| words_before + word));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubts_of_sentences_are_joined() {
        let mut doubts = Doubts { reasons: vec![Doubt::Repetition], uncovered: Vec::new() };
        let next = Doubts { reasons: vec![Doubt::Uncovered, Doubt::Repetition], uncovered: vec![0, 2] };
        doubts.extend(&next, 5);
        let expected = r#"{"doubts":["uncovered","repetition"],"uncovered":[5,7]}"#;
        assert_eq!(serde_json::to_string(&doubts).unwrap(), expected);
        assert_eq!(serde_json::to_string(&Doubts::default()).unwrap(), "{}");
        for doubt in [Doubt::Confidence, Doubt::Uncovered, Doubt::Repetition, Doubt::Nonwords] {
            assert_eq!(serde_json::to_value(doubt).unwrap(), doubt.name());
        }
    }
}
