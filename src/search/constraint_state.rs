//! Progress of hypotheses through their constraints.

use super::DecodingConstraints;
use crate::text::start_of_last_word;

/// Probability of a term below which the model's own word is better replaced.
const REPLACED_BELOW: f64 = 0.01;

/// Progress of a hypothesis through its constraints.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConstraintState {
    /// Tokens of the hypothesis.
    pub(super) length: usize,
    /// Bit set of the required phrases that it contains.
    pub(super) met: u64,
    /// Required phrase in progress.
    pub(super) partial: Option<PartialPhrase>,
    /// True if the next token may not continue the last word.
    pub(super) word_ended: bool,
    /// True if the model would have written the last word otherwise: one of its tokens was not the most probable one.
    pub(super) deviates: bool,
    /// Log penalty for beginning translations of terms while attention is off the terms: for each one the log of the
    /// attention on the term, at least ln 0.02.
    pub placement_penalty: f64,
    /// End of its text, in which phrases are found; empty if there are none.
    pub(super) text: String,
}

/// Required phrase in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PartialPhrase {
    /// Index of the phrase.
    phrase: usize,
    /// Number of its tokens produced.
    tokens: usize,
}

/// Token that advances an unmet phrase.
struct Continuation {
    /// Index of the phrase.
    phrase: usize,
    token: u32,
}

impl ConstraintState {
    fn is_met(&self, phrase: usize) -> bool {
        self.met & (1 << phrase) != 0
    }
}

impl DecodingConstraints {
    /// Required phrases that a hypothesis lacks, by index; terms come last.
    pub fn unmet_phrases(&self, state: &ConstraintState) -> impl Iterator<Item = usize> {
        (0..self.tracked_phrases().len()).filter(|&phrase| !state.is_met(phrase))
    }

    /// Number of required phrases other than terms that a hypothesis lacks.
    pub fn unmet_requirements(&self, state: &ConstraintState) -> usize {
        self.unmet_phrases(state).filter(|&phrase| !self.required[phrase].is_term()).count()
    }

    /// Log penalty of a complete hypothesis for the places of its terms, and for the terms that it lacks: ln 0.01 each.
    pub fn term_penalty(&self, state: &ConstraintState) -> f64 {
        let replaced = self.unmet_phrases(state).filter(|&phrase| self.required[phrase].is_term()).count();
        state.placement_penalty + replaced as f64 * REPLACED_BELOW.ln()
    }

    /// Bank of a hypothesis (Post & Vilar 2018): number of tokens of required phrases that it has produced.
    pub fn bank(&self, state: &ConstraintState) -> usize {
        let met = self.tracked_phrases().iter().enumerate().filter(|&(phrase, _)| state.is_met(phrase));
        let met_tokens: usize = met.map(|(_, phrase)| phrase.tokens.len()).sum();
        met_tokens + state.partial.map_or(0, |partial| partial.tokens)
    }

    /// Tokens that advance an unmet phrase, sorted.
    pub fn proposals(&self, state: &ConstraintState) -> Vec<u32> {
        if state.length < self.prefix.len() {
            return Vec::new();
        }
        let mut tokens: Vec<u32> = self.continuations(state).map(|continuation| continuation.token).collect();
        tokens.sort_unstable();
        tokens.dedup();
        tokens
    }

    /// Returns the state after one more token, which was predicted with these attention weights.
    pub(super) fn advance(&self, state: &ConstraintState, token: u32, attention: &[f32]) -> ConstraintState {
        let (length, text) = (state.length + 1, self.extended_text(state, token));
        let mut next = ConstraintState { length, text, partial: None, word_ended: false, deviates: false, ..*state };
        next.partial = self.continued(state, token);
        if next.partial.is_none()
            && let Some(phrase) = self.begun(state, token, attention)
        {
            next.placement_penalty += self.required[phrase].placement_penalty(attention);
            next.partial = Some(PartialPhrase { phrase, tokens: 1 });
        }
        if let Some(phrase) = self.completed(&next, token, attention) {
            next.partial = None;
            next.met |= 1 << phrase;
            next.word_ended = true;
        }
        next.word_ended |= next.length == self.prefix.len() && self.prefix_ends_word;
        next
    }

    /// Returns the end of the text of a hypothesis after one more token.
    fn extended_text(&self, state: &ConstraintState, token: u32) -> String {
        let texts = self.required.iter().map(|phrase| &phrase.text).chain(self.avoided.iter());
        // Beside the longest phrase, the character before it is needed.
        let Some(max_bytes) = texts.map(|text| text.len() + char::MAX.len_utf8()).max() else { return String::new() };
        let start = state.text.floor_char_boundary(state.text.len().saturating_sub(max_bytes));
        let start = start.min(start_of_last_word(&state.text));
        format!("{}{}", &state.text[start..], self.surface_forms.text(token))
    }

    /// Returns the phrase in progress one token later, or another unmet phrase that begins with the same tokens.
    fn continued(&self, state: &ConstraintState, token: u32) -> Option<PartialPhrase> {
        let partial = state.partial?;
        let continuations = self.continuations(state).filter(|continuation| continuation.token == token);
        let phrases = continuations.map(|continuation| continuation.phrase);
        let phrase = phrases.min_by_key(|&phrase| (phrase != partial.phrase, phrase))?;
        Some(PartialPhrase { phrase, tokens: partial.tokens + 1 })
    }

    /// Returns the unmet phrase that a token begins.
    fn begun(&self, state: &ConstraintState, token: u32, attention: &[f32]) -> Option<usize> {
        let begun = self.unmet_phrases(state).filter(|&phrase| self.required[phrase].tokens[0] == token);
        self.most_attended(begun, attention)
    }

    /// Returns the phrase that ends with the last token: the one in progress, or one that stands there in other tokens,
    /// such as `hôtel` in `l'hôtel`.
    fn completed(&self, state: &ConstraintState, token: u32, attention: &[f32]) -> Option<usize> {
        if let Some(partial) = state.partial {
            return (partial.tokens == self.required[partial.phrase].tokens.len()).then_some(partial.phrase);
        }
        if self.surface_forms.text(token).is_empty() {
            return None;
        }
        let at_end = self.unmet_phrases(state).filter(|&phrase| {
            self.surface_forms.contains_phrase(&state.text, state.text.len() - 1, &self.required[phrase].text)
        });
        self.most_attended(at_end, attention)
    }

    /// Returns the phrase whose term has the most attention, the first one of equals.
    fn most_attended(&self, phrases: impl Iterator<Item = usize>, attention: &[f32]) -> Option<usize> {
        phrases.min_by(|&a, &b| {
            let [on_a, on_b] = [a, b].map(|phrase| self.required[phrase].attention_on_term(attention).sum::<f64>());
            on_b.total_cmp(&on_a)
        })
    }

    /// Unmet phrases that extend the partial phrase, or all of them if there is none, each with its next token.
    fn continuations(&self, state: &ConstraintState) -> impl Iterator<Item = Continuation> {
        let partial = state.partial.map_or(&[][..], |partial| &self.required[partial.phrase].tokens[..partial.tokens]);
        self.unmet_phrases(state).filter_map(move |phrase| {
            let rest = self.required[phrase].tokens.strip_prefix(partial)?;
            Some(Continuation { phrase, token: *rest.first()? })
        })
    }
}

#[cfg(test)]
pub(super) mod fixtures {
    use std::ops::Range;

    use super::super::RequiredPhrase;
    use super::*;

    /// Phrases without texts that are required anywhere.
    pub fn anywhere(phrases: &[&[u32]]) -> Vec<RequiredPhrase> {
        let tokens = phrases.iter().map(|tokens| tokens.to_vec());
        tokens.map(|tokens| RequiredPhrase { text: String::new(), tokens, term: Vec::new() }).collect()
    }

    /// Translation of a term of one word.
    pub fn term(tokens: &[u32], word: Range<usize>) -> RequiredPhrase {
        RequiredPhrase { text: String::new(), tokens: tokens.to_vec(), term: vec![word] }
    }

    /// State of the hypothesis with these tokens.
    pub fn state_after(constraints: &DecodingConstraints, tokens: &[u32]) -> ConstraintState {
        tokens.iter().fold(ConstraintState::default(), |state, &token| constraints.advance(&state, token, &[]))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::RequiredPhrase;
    use super::fixtures::{anywhere, state_after, term};
    use super::*;
    use crate::text::{PhraseBoundaries, SurfaceForms};

    #[test]
    fn tracks_complete_and_partial_phrases() {
        let constraints = DecodingConstraints {
            required: anywhere(&[&[5, 6, 7], &[5, 6, 8], &[9]]),
            ..DecodingConstraints::default()
        };
        let state = |tokens: &[u32]| {
            let state = state_after(&constraints, tokens);
            (constraints.bank(&state), constraints.unmet_requirements(&state), constraints.proposals(&state))
        };
        assert_eq!(state(&[]), (0, 3, vec![5, 9]));
        assert_eq!(state(&[4]), (0, 3, vec![5, 9]));
        assert_eq!(state(&[5]), (1, 3, vec![6]));
        assert_eq!(state(&[5, 6]), (2, 3, vec![7, 8]));
        assert_eq!(state(&[5, 6, 8]), (3, 2, vec![5, 9]));
        assert_eq!(state(&[5, 6, 8, 5, 6]), (5, 2, vec![7]));
        assert_eq!(state(&[5, 6, 4]), (0, 3, vec![5, 9]), "an interrupted phrase starts over");
        assert_eq!(state(&[5, 6, 9]), (1, 2, vec![5]));
        assert_eq!(state(&[5, 5, 6]), (2, 3, vec![7, 8]));
        assert_eq!(state(&[9, 9, 5, 6, 7, 5, 6, 8]), (7, 0, vec![]));
    }

    #[test]
    fn placement_penalty_is_the_log_attention_on_the_term() {
        let mut required = vec![term(&[5, 6], 1..3), term(&[7], 0..1), term(&[7], 3..4)];
        required.extend(anywhere(&[&[8]]));
        let constraints = DecodingConstraints { required, ..DecodingConstraints::default() };
        let after = |tokens: &[u32], token: u32| {
            constraints.advance(&state_after(&constraints, tokens), token, &[0.001, 0.2, 0.3, 0.5])
        };
        let placement_penalty = |tokens: &[u32], token: u32| {
            after(tokens, token).placement_penalty - state_after(&constraints, tokens).placement_penalty
        };
        assert!((placement_penalty(&[], 5) - 0.5f64.ln()).abs() < 1e-6);
        assert!((placement_penalty(&[7, 7], 5) - 0.5f64.ln()).abs() < 1e-6);
        for (tokens, token) in [(&[5][..], 6), (&[], 4), (&[], 8), (&[5], 4)] {
            assert_eq!(placement_penalty(tokens, token), 0.0, "{tokens:?} {token}");
        }
        let unmet: Vec<usize> = constraints.unmet_phrases(&after(&[], 7)).collect();
        assert_eq!(unmet, [0, 1, 3], "of equal terms the one with the most attention is met");
        let state = after(&[], 7);
        assert!((constraints.term_penalty(&state) - (0.5f64 * 0.01 * 0.01).ln()).abs() < 1e-6);
    }

    #[test]
    fn required_word_is_found_in_other_tokens() {
        let forms = ["", "", "", "", " l'été", " été", " l'", "été"];
        let required = vec![RequiredPhrase { text: "été".to_owned(), tokens: vec![5], term: Vec::new() }];
        let constraints = DecodingConstraints {
            required,
            surface_forms: Arc::new(SurfaceForms::new(forms.map(str::to_owned).to_vec(), PhraseBoundaries::Words)),
            ..DecodingConstraints::default()
        };
        for (tokens, unmet) in [(&[4][..], 0), (&[5], 0), (&[6], 1), (&[6, 7], 0), (&[5, 7], 0)] {
            assert_eq!(constraints.unmet_requirements(&state_after(&constraints, tokens)), unmet, "{tokens:?}");
        }
    }
}
