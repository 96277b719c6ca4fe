//! Decoding constraints: a prefix, and required and avoided phrases.
//!
//! Required phrases are the lexical constraints of Post & Vilar (2018), "Fast Lexically Constrained Decoding with Dynamic
//! Beam Allocation for Neural Machine Translation".

use std::ops::Range;
use std::sync::Arc;

use super::avoided_phrases::AvoidedPhrases;
use crate::text::SurfaceForms;

/// Maximum number of required phrases.
pub const MAX_REQUIRED_PHRASES: usize = 64;
/// Maximum number of tokens of required phrases. They widen the beam, so the time of a step grows with their square.
pub const MAX_REQUIRED_TOKENS: usize = 256;

/// Lower bound of the attention in [`RequiredPhrase::placement_penalty`].
const MIN_ATTENTION: f64 = 0.02;

/// Constraints on the translation of one sentence; by default none.
#[derive(Clone, Debug, Default)]
pub struct DecodingConstraints {
    /// Tokens of the prefix.
    pub prefix: Vec<u32>,
    /// True if the prefix ends with a whole word.
    pub prefix_ends_word: bool,
    /// Phrases that the translation contains; those beyond [`MAX_REQUIRED_PHRASES`] are ignored.
    pub required: Vec<RequiredPhrase>,
    /// Number of phrases that [`Self::within_tokens`] removed.
    pub removed: usize,
    /// Phrases that the translation does not contain as whole words.
    pub avoided: Arc<AvoidedPhrases>,
    /// Surface forms of the target tokens.
    pub surface_forms: Arc<SurfaceForms>,
}

/// Phrase that the translation contains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequiredPhrase {
    /// Text without spaces around it.
    pub text: String,
    /// Tokens, at least one.
    pub tokens: Vec<u32>,
    /// Source tokens of each word of the term that it translates; empty if it is required without a term. It should begin
    /// when attention is on them. A hypothesis may lack it, so that it can replace the words that stand there.
    pub term: Vec<Range<usize>>,
}

impl DecodingConstraints {
    /// True if there are no constraints.
    pub fn is_empty(&self) -> bool {
        self.prefix.is_empty() && self.required.is_empty() && self.avoided.is_empty()
    }

    /// Maximum number of tokens by which the constraints lengthen a translation.
    pub fn max_extra_tokens(&self) -> usize {
        self.prefix.len() + self.required_tokens()
    }

    /// Number of tokens of all required phrases.
    pub fn required_tokens(&self) -> usize {
        self.tracked_phrases().iter().map(|phrase| phrase.tokens.len()).sum()
    }

    /// Number of required phrases beyond the maximum.
    pub fn ignored_phrases(&self) -> usize {
        self.removed + self.required.len() - self.tracked_phrases().len()
    }

    /// Truncates the required phrases to [`MAX_REQUIRED_TOKENS`] tokens in total.
    #[must_use]
    pub fn within_tokens(mut self) -> Self {
        let (mut kept, mut tokens) = (0, 0);
        for phrase in &self.required {
            tokens += phrase.tokens.len();
            if tokens > MAX_REQUIRED_TOKENS {
                break;
            }
            kept += 1;
        }
        self.removed += self.required.len() - kept;
        self.required.truncate(kept);
        self
    }

    /// Returns for each token of a hypothesis whether it belongs to the prefix or to a required phrase that the hypothesis
    /// contains. `unmet` are the phrases that it lacks, by index.
    pub fn constrained_tokens(&self, tokens: &[u32], unmet: &[usize]) -> Vec<bool> {
        let text = tokens.iter().map(|&token| self.surface_forms.text(token)).collect::<String>();
        let mut required_spans: Vec<Range<usize>> = Vec::new();
        for (index, phrase) in self.tracked_phrases().iter().enumerate() {
            if !unmet.contains(&index) {
                required_spans.extend(self.surface_forms.spans_of_phrase(&text, &phrase.text));
            }
        }
        let mut constrained = Vec::with_capacity(tokens.len());
        let mut end = 0;
        for (index, &token) in tokens.iter().enumerate() {
            let start = end;
            end += self.surface_forms.text(token).len();
            let is_required = required_spans.iter().any(|span| span.start < end && start < span.end);
            constrained.push(index < self.prefix.len() || is_required);
        }
        constrained
    }

    /// Required phrases within [`MAX_REQUIRED_PHRASES`].
    pub(super) fn tracked_phrases(&self) -> &[RequiredPhrase] {
        &self.required[..self.required.len().min(MAX_REQUIRED_PHRASES)]
    }
}

impl RequiredPhrase {
    /// True if it is the translation of a term.
    pub fn is_term(&self) -> bool {
        !self.term.is_empty()
    }

    /// Attention on each word of the term.
    pub fn attention_on_term(&self, attention: &[f32]) -> impl Iterator<Item = f64> {
        self.term.iter().map(|word| {
            let on_word = attention.get(word.clone()).unwrap_or_default();
            on_word.iter().copied().map(f64::from).sum::<f64>()
        })
    }

    /// Log penalty for beginning the phrase with these attention weights: the log of the attention on its term, at least
    /// ln 0.02; 0 without a term.
    pub(super) fn placement_penalty(&self, attention: &[f32]) -> f64 {
        let on_term: f64 = self.attention_on_term(attention).sum();
        if self.is_term() { on_term.clamp(MIN_ATTENTION, 1.0).ln() } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::PhraseBoundaries;

    fn phrase(text: &str, tokens: &[u32]) -> RequiredPhrase {
        RequiredPhrase { text: text.to_owned(), tokens: tokens.to_vec(), term: Vec::new() }
    }

    #[test]
    fn ignores_phrases_beyond_the_maximum_of_tokens() {
        let long = phrase("", &[5; MAX_REQUIRED_TOKENS / 2]);
        let required = vec![long.clone(), long, phrase("", &[6]), phrase("", &[7])];
        let constraints = DecodingConstraints { required, ..DecodingConstraints::default() }.within_tokens();
        assert_eq!((constraints.required_tokens(), constraints.ignored_phrases()), (MAX_REQUIRED_TOKENS, 2));
    }

    #[test]
    fn tokens_of_the_prefix_and_of_met_phrases_are_constrained() {
        let texts = ["", "", "", "", " a", " wh", "ite", " c", "at", "."];
        let surface_forms = Arc::new(SurfaceForms::new(texts.map(str::to_owned).to_vec(), PhraseBoundaries::Words));
        let required = vec![phrase("white", &[9]), phrase("cat", &[9])];
        let constraints =
            DecodingConstraints { prefix: vec![4], required, surface_forms, ..DecodingConstraints::default() };
        for (unmet, expected) in [(&[][..], &[0, 1, 2, 3, 4][..]), (&[0], &[0, 3, 4]), (&[0, 1], &[0])] {
            // a white cat. whites
            let constrained = constraints.constrained_tokens(&[4, 5, 6, 7, 8, 9, 5, 6, 8], unmet);
            let found: Vec<usize> = (0..constrained.len()).filter(|&token| constrained[token]).collect();
            assert_eq!(found, expected, "{unmet:?}");
        }
    }
}
