//! Protected tokens: pieces of text that are never split, such as language tags and features of a word to inflect.

use std::borrow::Cow;
use std::collections::BTreeSet;

use anyhow::{Result, ensure};
use serde::{Deserialize, Serialize};

use super::{Normalization, SPECIALS, Tokenization};

/// Brackets around a feature in a text.
const BRACKETS: [char; 2] = ['⟨', '⟩'];

/// Protected tokens, the longest first, so that none hides a longer one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct ProtectedTokens(Vec<String>);

impl ProtectedTokens {
    /// Sorts protected tokens and removes duplicates.
    ///
    /// # Errors
    /// One is empty, contains white space or `▁`, or is a special token.
    pub fn new(pieces: impl IntoIterator<Item = String>) -> Result<Self> {
        let mut pieces: Vec<String> = pieces.into_iter().collect();
        for piece in &pieces {
            let has_space = piece.chars().any(|character| character.is_whitespace() || character == '▁');
            ensure!(
                !piece.is_empty() && !has_space,
                "\"{piece}\" cannot be a protected token: it must be nonempty text without white space and ▁"
            );
            // Text must not turn into the end of a sentence, padding and so on.
            ensure!(
                !SPECIALS.contains(&piece.as_str()),
                "\"{piece}\" cannot be a protected token: {} are special tokens; choose another name",
                SPECIALS.join(", ")
            );
        }
        pieces.sort_by(|a, b| b.len().cmp(&a.len()).then(a.cmp(b)));
        pieces.dedup();
        Ok(Self(pieces))
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Iterates over the tokens, the longest first.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Returns the tokens that occur in any of the texts.
    #[must_use]
    pub fn within(&self, texts: &[&str]) -> Self {
        Self(self.0.iter().filter(|token| texts.iter().any(|text| text.contains(&***token))).cloned().collect())
    }

    /// Returns a text with each token replaced by a space.
    pub fn remove_from<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut left = Cow::Borrowed(text);
        for token in self.0.iter().filter(|token| text.contains(&***token)) {
            left = left.replace(&**token, " ").into();
        }
        left
    }

    /// Lists the features among the tokens, without brackets, or the first 20 of them.
    pub fn feature_list(&self) -> String {
        const MAX_LISTED: usize = 20;
        let whole_features = self.iter().filter(|token| features(token).map(str::len).sum::<usize>() == token.len());
        let names: BTreeSet<&str> = whole_features.map(inner).collect();
        let list = names.iter().take(MAX_LISTED).copied().collect::<Vec<_>>().join(", ");
        if names.len() > MAX_LISTED { list + ", …" } else { list }
    }

    /// Returns the features at the start of a text that are not among the tokens, without brackets.
    pub fn unknown_features<'t>(&self, text: &'t str, normalization: Normalization) -> Vec<&'t str> {
        let unknown = features(text).filter(|feature| !self.iter().any(|token| token == normalization.apply(feature)));
        unknown.map(inner).collect()
    }

    /// Returns the normalized tokens.
    ///
    /// # Errors
    /// A normalized token is not valid, as by [`Self::new`].
    pub fn normalized(&self, normalization: Normalization) -> Result<Self> {
        Self::new(self.iter().map(|token| normalization.apply(token).into_owned()))
    }

    /// Returns the regular expression that pre-tokenizes text, with the tokens as parts of their own.
    pub(super) fn pattern(&self, tokenization: Tokenization) -> String {
        if self.is_empty() {
            return tokenization.pattern().to_owned();
        }
        let tokens: Vec<String> = self.iter().map(|token| escape_regex(&tokenization.written(token))).collect();
        let space = if tokenization.are_characters() { "" } else { "▁?" };
        format!("{space}(?:{})|{}", tokens.join("|"), tokenization.pattern())
    }

    /// Returns the spellings of the tokens in a vocabulary: with and without a space before them, unless tokens are characters.
    pub fn spellings(&self, tokenization: Tokenization) -> Vec<String> {
        let spaces: &[&str] = if tokenization.are_characters() { &[""] } else { &["", "▁"] };
        let mut spellings = Vec::with_capacity(spaces.len() * self.0.len());
        for token in self.iter() {
            spellings.extend(spaces.iter().map(|space| format!("{space}{}", tokenization.written(token))));
        }
        spellings
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

/// Escapes the regular expression characters of a text.
fn escape_regex(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if "\\.+*?()|[]{}^$".contains(character) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

/// Returns a text after its features, `⟨V⟩⟨PST⟩⟨3⟩⟨SG⟩walk`; blank text stays alone.
pub fn with_features(features: &str, text: &str) -> String {
    if text.trim().is_empty() { text.to_owned() } else { features_before(features) + text }
}

/// Returns features in the form that precedes a text. Semicolons, commas, spaces and parentheses separate them (`V;PST;3;SG`,
/// `V;PST;NOM(3,SG)`), so that forms of the same person share its features.
pub fn features_before(features: &str) -> String {
    let [open, close] = BRACKETS;
    let parts = features.split(|separator: char| ";,()".contains(separator) || separator.is_whitespace());
    parts
        .filter(|feature| !feature.is_empty())
        .map(|feature| format!("{open}{}{close}", feature.replace('▁', "_")))
        .collect()
}

/// Iterates over the features at the start of a text, with their brackets.
pub fn features(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest.starts_with(BRACKETS[0]).then(|| rest.find(BRACKETS[1]))?? + BRACKETS[1].len_utf8();
        let (feature, after) = rest.split_at(end);
        rest = after;
        Some(feature)
    })
}

/// Returns the words at the end of a text that are only features among `known`, separated by spaces or as in `V;PST;3;SG`, and
/// the text before them. None if either is empty.
pub fn split_trailing_features<'t>(text: &'t str, known: &ProtectedTokens) -> Option<(&'t str, &'t str)> {
    let mut index = text.len();
    for (space, _) in text.char_indices().rev().filter(|(_, character)| character.is_whitespace()) {
        if !features(&features_before(&text[space..index])).all(|feature| known.iter().any(|token| token == feature)) {
            break;
        }
        index = space;
    }
    let (text, features) = (text[..index].trim(), text[index..].trim());
    (!text.is_empty() && !features.is_empty()).then_some((text, features))
}

/// Returns a text without the features at its start, and these as `V;PST;3;SG`.
pub fn without_features(text: &str) -> (&str, String) {
    let length: usize = features(text).map(str::len).sum();
    (&text[length..], features(text).map(inner).collect::<Vec<_>>().join(";"))
}

/// Returns a feature without its brackets.
fn inner(feature: &str) -> &str {
    feature.trim_matches(BRACKETS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn protected_tokens(pieces: &[&str]) -> ProtectedTokens {
        ProtectedTokens::new(pieces.iter().map(|&piece| piece.to_owned())).unwrap()
    }

    #[test]
    fn validates_and_sorts_tokens() {
        assert_eq!(protected_tokens(&["<a>", "<abc>", "<a>"]).iter().collect::<Vec<_>>(), ["<abc>", "<a>"]);
        for wrong in ["", "a b", "a▁", "\n", "<pad>", "<s>", "</s>", "<unk>"] {
            assert!(ProtectedTokens::new([wrong.to_owned()]).is_err(), "{wrong:?}");
            assert!(serde_json::from_value::<ProtectedTokens>(serde_json::json!([wrong])).is_err());
        }
        let some = protected_tokens(&["<2fr>", "<2de>"]).within(&["<2fr> a cat", "a dog"]);
        assert_eq!(some.iter().collect::<Vec<_>>(), ["<2fr>"]);
        assert_eq!(some.remove_from("<2fr> a <2fr>cat"), "  a  cat");
        assert_eq!(escape_regex("<a.b|$>é"), "<a\\.b\\|\\$>é");
    }

    #[test]
    fn features_precede_the_text() {
        let text = with_features("V;PST; 3,SG", "walk");
        assert_eq!(text, "⟨V⟩⟨PST⟩⟨3⟩⟨SG⟩walk");
        assert_eq!(features(&text).collect::<Vec<_>>(), ["⟨V⟩", "⟨PST⟩", "⟨3⟩", "⟨SG⟩"]);
        assert_eq!(without_features(&text), ("walk", "V;PST;3;SG".to_owned()));
        assert_eq!(without_features("walk ⟨V⟩"), ("walk ⟨V⟩", String::new()));
        assert_eq!(with_features("N;ABL(SG;PSS(3,SG))", "ev"), "⟨N⟩⟨ABL⟩⟨SG⟩⟨PSS⟩⟨3⟩⟨SG⟩ev");
        assert_eq!([with_features(" ", "walk"), with_features("V", " ")], ["walk", " "]);
        assert_eq!(features("walk ⟨V⟩").count() + features("⟨V").count() + features("").count(), 0);
    }

    #[test]
    fn finds_features_that_the_model_does_not_know_or_that_lack_their_tab() {
        let known = protected_tokens(&["⟨V⟩", "⟨PST⟩", "<2fr>"]);
        assert_eq!(known.feature_list(), "PST, V");
        assert_eq!(known.unknown_features("⟨V⟩⟨v⟩⟨FUT⟩walk", Normalization::default()), ["v", "FUT"]);
        for line in ["walk V;PST", "walk V PST", " walk V PST "] {
            let (text, features) = split_trailing_features(line, &known).unwrap();
            assert_eq!((text, features), ("walk", &line.trim()[5..]));
        }
        let long = "walk ".repeat(100_000);
        for line in ["walk", "walk ", "PST", "walk V;FUT", "", &long] {
            assert_eq!(split_trailing_features(line, &known), None, "{line:?}");
        }
    }
}
