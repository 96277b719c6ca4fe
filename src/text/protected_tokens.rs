//! Atoms: pieces of text that are one unit wherever they stand and that no other units spell, such as a tag that names a
//! language, or a feature of a word that is to be inflected.

use std::borrow::Cow;

use anyhow::{Result, ensure};
use serde::{Deserialize, Serialize};

use super::{Normalization, SPECIALS, Units};

/// What a feature stands between in a text.
const FEATURE: [char; 2] = ['⟨', '⟩'];

/// Pieces of text that are units of their own: the longest first, so that none hides a longer one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct ProtectedTokens(Vec<String>);

impl ProtectedTokens {
    /// From pieces of text, in any order and any number of times.
    ///
    /// # Errors
    /// One is empty, holds white space or the mark that stands for it, or is a special unit.
    pub fn new(pieces: impl IntoIterator<Item = String>) -> Result<Self> {
        let mut pieces: Vec<String> = pieces.into_iter().collect();
        for piece in &pieces {
            let held = piece.chars().any(|character| character.is_whitespace() || character == '▁');
            ensure!(
                !piece.is_empty() && !held,
                "{piece:?} is no atom: it must be a piece of text without white space and ▁"
            );
            // The text would become the unit that ends a sentence, fills up a batch and so on.
            ensure!(
                !SPECIALS.contains(&piece.as_str()),
                "{piece:?} is no atom: {} are the model's special units; choose another name",
                SPECIALS.join(", ")
            );
        }
        pieces.sort_by(|a, b| b.len().cmp(&a.len()).then(a.cmp(b)));
        pieces.dedup();
        Ok(Self(pieces))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The pieces, the longest first.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Those that stand in some of the texts.
    #[must_use]
    pub fn within(&self, texts: &[&str]) -> Self {
        Self(self.0.iter().filter(|atom| texts.iter().any(|text| text.contains(&***atom))).cloned().collect())
    }

    /// What a text is without them.
    pub fn left_out<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut left = Cow::Borrowed(text);
        for atom in self.0.iter().filter(|atom| text.contains(&***atom)) {
            left = left.replace(&**atom, " ").into();
        }
        left
    }

    /// What normalisation makes of them.
    ///
    /// # Errors
    /// One is no atom any more.
    pub fn normalised(&self, normalization: Normalization) -> Result<Self> {
        Self::new(self.iter().map(|atom| normalization.apply(atom).into_owned()))
    }

    /// How text falls apart before units are looked up, with atoms as parts of their own.
    pub(super) fn pattern(&self, units: Units) -> String {
        if self.is_empty() {
            return units.pattern().to_owned();
        }
        let protected_tokens: Vec<String> = self.iter().map(escaped).collect();
        let space = if units == Units::Char { "" } else { "▁?" };
        format!("{space}(?:{})|{}", protected_tokens.join("|"), units.pattern())
    }

    /// The units that atoms are, with the space before them where units have it.
    pub fn units(&self, units: Units) -> Vec<String> {
        let spaces: &[&str] = if units == Units::Char { &[""] } else { &["", "▁"] };
        self.iter().flat_map(|atom| spaces.iter().map(move |space| format!("{space}{atom}"))).collect()
    }
}

impl TryFrom<Vec<String>> for ProtectedTokens {
    type Error = String;

    fn try_from(pieces: Vec<String>) -> Result<Self, String> {
        Self::new(pieces).map_err(|reason| reason.to_string())
    }
}

impl From<ProtectedTokens> for Vec<String> {
    fn from(protected_tokens: ProtectedTokens) -> Self {
        protected_tokens.0
    }
}

/// A piece of text as a regular expression that means itself.
fn escaped(text: &str) -> String {
    let means_more = |character: &char| "\\.+*?()|[]{}^$".contains(*character);
    text.chars()
        .flat_map(|character| Some('\\').filter(|_| means_more(&character)).into_iter().chain([character]))
        .collect()
}

/// A text, if there is any, after its features: `⟨V⟩⟨PST⟩⟨3⟩⟨SG⟩walk`.
pub fn with_features(features: &str, text: &str) -> String {
    if text.trim().is_empty() { text.to_owned() } else { features_before(features) + text }
}

/// Features, which are given as `V;PST;3;SG`, or between commas or spaces, as they stand before a text.
pub fn features_before(features: &str) -> String {
    let [open, close] = FEATURE;
    let all = features.split(|mark: char| mark == ';' || mark == ',' || mark.is_whitespace());
    all.filter(|feature| !feature.is_empty())
        .map(|feature| format!("{open}{}{close}", feature.replace('▁', "_")))
        .collect()
}

/// The features that a text begins with, each with what it stands between.
pub fn features(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest.starts_with(FEATURE[0]).then(|| rest.find(FEATURE[1]))?? + FEATURE[1].len_utf8();
        let (feature, after) = rest.split_at(end);
        rest = after;
        Some(feature)
    })
}

/// A text without the features that it begins with, and these as `V;PST;3;SG`.
pub fn without_features(text: &str) -> (&str, String) {
    let plain = |feature: &str| feature.trim_matches(FEATURE).to_owned();
    let length: usize = features(text).map(str::len).sum();
    (&text[length..], features(text).map(plain).collect::<Vec<_>>().join(";"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn protected_tokens(pieces: &[&str]) -> ProtectedTokens {
        ProtectedTokens::new(pieces.iter().map(|&piece| piece.to_owned())).unwrap()
    }

    #[test]
    fn pieces_are_checked_and_ordered() {
        assert_eq!(protected_tokens(&["<a>", "<abc>", "<a>"]).iter().collect::<Vec<_>>(), ["<abc>", "<a>"]);
        for wrong in ["", "a b", "a▁", "\n", "<pad>", "<s>", "</s>", "<unk>"] {
            assert!(ProtectedTokens::new([wrong.to_owned()]).is_err(), "{wrong:?}");
            assert!(serde_json::from_value::<ProtectedTokens>(serde_json::json!([wrong])).is_err());
        }
        let some = protected_tokens(&["<2fr>", "<2de>"]).within(&["<2fr> a cat", "a dog"]);
        assert_eq!(some.iter().collect::<Vec<_>>(), ["<2fr>"]);
        assert_eq!(some.left_out("<2fr> a <2fr>cat"), "  a  cat");
        assert_eq!(escaped("<a.b|$>é"), "<a\\.b\\|\\$>é");
    }

    #[test]
    fn features_stand_before_the_text() {
        let text = with_features("V;PST; 3,SG", "walk");
        assert_eq!(text, "⟨V⟩⟨PST⟩⟨3⟩⟨SG⟩walk");
        assert_eq!(features(&text).collect::<Vec<_>>(), ["⟨V⟩", "⟨PST⟩", "⟨3⟩", "⟨SG⟩"]);
        assert_eq!(without_features(&text), ("walk", "V;PST;3;SG".to_owned()));
        assert_eq!(without_features("walk ⟨V⟩"), ("walk ⟨V⟩", String::new()));
        assert_eq!([with_features(" ", "walk"), with_features("V", " ")], ["walk", " "]);
        assert_eq!(features("walk ⟨V⟩").count() + features("⟨V").count() + features("").count(), 0);
    }
}
