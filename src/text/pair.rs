//! A sentence pair.

/// A sentence and its translation, as the user wrote them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pair {
    /// The sentence to translate.
    pub source: String,
    /// Its translation.
    pub target: String,
}
