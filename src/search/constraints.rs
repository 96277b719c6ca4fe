//! Decoding constraints: a prefix, required and avoided phrases, and n-grams that may not repeat.
//!
//! Required phrases are the lexical constraints of Post & Vilar (2018), "Fast Lexically Constrained Decoding with Dynamic
//! Beam Allocation for Neural Machine Translation".

use std::ops::Range;
use std::sync::Arc;

use crate::text::{END, SurfaceForms};

/// Maximum number of required phrases.
pub const MAX_REQUIRED_PHRASES: usize = 64;
/// Maximum number of units of required phrases. They widen the beam, so the time of a step grows with their square.
pub const MAX_REQUIRED_UNITS: usize = 256;

/// Constraints on the translation of one sentence; by default none.
#[derive(Clone, Debug, Default)]
pub struct DecodingConstraints {
    /// Units of the prefix.
    pub prefix: Vec<u32>,
    /// True if the prefix ends with a whole word.
    pub prefix_ends_word: bool,
    /// Phrases that the translation contains; those beyond [`MAX_REQUIRED_PHRASES`] are ignored.
    pub required: Vec<RequiredPhrase>,
    /// Number of phrases that [`Self::within_units`] removed.
    pub removed: usize,
    /// Phrases that the translation does not contain as whole words.
    pub avoided: Arc<[AvoidedPhrase]>,
    /// Surface forms of the target units.
    pub surface_forms: Arc<SurfaceForms>,
}

/// Phrase that the translation contains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequiredPhrase {
    /// Units, at least one.
    pub units: Vec<u32>,
    /// Span of source units that it translates, if known: it should begin when attention is on them.
    pub source_span: Option<Range<usize>>,
}

/// Lower bound of the attention in [`DecodingConstraints::placement_penalty`].
const MIN_ATTENTION: f64 = 0.02;

/// Phrase that the translation does not contain.
#[derive(Clone, Debug)]
pub struct AvoidedPhrase {
    text: String,
    /// Units that can complete it.
    endings: Vec<u32>,
}

impl AvoidedPhrase {
    /// Returns the phrase with this text, which has no space around it.
    pub fn new(text: &str, surface_forms: &SurfaceForms) -> Self {
        Self { text: text.to_owned(), endings: surface_forms.final_units(text) }
    }
}

/// Progress of a hypothesis through its constraints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConstraintState {
    /// Units of the hypothesis.
    length: usize,
    /// Bit set of the required phrases that it contains.
    met: u64,
    /// Required phrase in progress, with the number of its units produced.
    partial: Option<(usize, usize)>,
    /// True if the next unit may not continue the last word.
    word_ended: bool,
}

impl DecodingConstraints {
    /// True if there are no constraints.
    pub fn is_empty(&self) -> bool {
        self.prefix.is_empty() && self.required.is_empty() && self.avoided.is_empty()
    }

    /// Maximum number of units by which the constraints lengthen a translation.
    pub fn max_extra_units(&self) -> usize {
        self.prefix.len() + self.required_units()
    }

    /// Number of units of all required phrases.
    pub fn required_units(&self) -> usize {
        self.tracked_phrases().iter().map(|phrase| phrase.units.len()).sum()
    }

    /// Number of required phrases that a hypothesis lacks.
    pub fn unmet_constraints(&self, state: &ConstraintState) -> usize {
        self.tracked_phrases().len() - state.met.count_ones() as usize
    }

    /// Number of required phrases beyond the maximum.
    pub fn ignored_phrases(&self) -> usize {
        self.removed + self.required.len() - self.tracked_phrases().len()
    }

    /// Truncates the required phrases to [`MAX_REQUIRED_UNITS`] units in total.
    #[must_use]
    pub fn within_units(mut self) -> Self {
        let mut units = 0;
        let fits = |phrase: &&RequiredPhrase| {
            units += phrase.units.len();
            units <= MAX_REQUIRED_UNITS
        };
        let kept = self.required.iter().take_while(fits).count();
        self.removed += self.required.len() - kept;
        self.required.truncate(kept);
        self
    }

    /// Bank of a hypothesis (Post & Vilar 2018): number of units of required phrases that it has produced.
    pub fn bank(&self, state: &ConstraintState) -> usize {
        let met = self.tracked_phrases().iter().enumerate().filter(|&(phrase, _)| state.is_met(phrase));
        met.map(|(_, phrase)| phrase.units.len()).sum::<usize>() + state.partial.map_or(0, |(_, units)| units)
    }

    /// Units that advance an unmet phrase, sorted.
    pub fn proposals(&self, state: &ConstraintState) -> Vec<u32> {
        if state.length < self.prefix.len() {
            return Vec::new();
        }
        let mut units: Vec<u32> = self.continuations(state).map(|(_, unit)| unit).collect();
        units.sort_unstable();
        units.dedup();
        units
    }

    /// Returns the state after one more unit.
    pub fn advance(&self, state: &ConstraintState, unit: u32) -> ConstraintState {
        let mut next = ConstraintState { length: state.length + 1, partial: None, word_ended: false, ..*state };
        let continued = self.continuations(state).find(|&(_, next)| next == unit).map(|(phrase, _)| phrase);
        let begun = || self.unmet_phrases(state).find(|&phrase| self.required[phrase].units[0] == unit);
        let partial = match (continued, state.partial) {
            (Some(phrase), Some((_, units))) => Some((phrase, units + 1)),
            _ => begun().map(|phrase| (phrase, 1)),
        };
        match partial {
            Some((phrase, units)) if units == self.required[phrase].units.len() => {
                next.met |= 1 << phrase;
                next.word_ended = true;
            }
            partial => next.partial = partial,
        }
        next.word_ended |= next.length == self.prefix.len() && self.prefix_ends_word;
        next
    }

    /// Log penalty for starting a required phrase while attention is off its source span: the log of the attention on the
    /// span, at least ln 0.02. It is 0 if no phrase starts between `before` and `after`.
    pub fn placement_penalty(&self, before: &ConstraintState, after: &ConstraintState, attention: &[f32]) -> f64 {
        let begun = match after.partial {
            Some((phrase, 1)) => Some(phrase),
            None => self
                .unmet_phrases(before)
                .find(|&phrase| after.is_met(phrase) && self.required[phrase].units.len() == 1),
            Some(_) => None,
        };
        let span = begun.and_then(|phrase| attention.get(self.required[phrase].source_span.clone()?));
        span.map_or(0.0, |span| span.iter().map(|&alpha| f64::from(alpha)).sum::<f64>().clamp(MIN_ATTENTION, 1.0).ln())
    }

    /// Returns the mask of the next unit. `reversed` yields the units of the hypothesis, the last one first; no n-gram of
    /// `no_repeat` units may repeat, except with units that advance a required phrase.
    pub fn token_mask(
        &self,
        state: &ConstraintState,
        reversed: impl Iterator<Item = u32>,
        no_repeat: Option<usize>,
    ) -> TokenMask<'_> {
        let mut mask = TokenMask {
            forced: self.prefix.get(state.length).copied(),
            banned: Vec::new(),
            proposals: self.proposals(state),
            may_end: self.unmet_constraints(state) == 0,
            last_word: if state.word_ended { LastWord::Ended(&self.surface_forms) } else { LastWord::Free },
        };
        if mask.forced.is_none() && (no_repeat.is_some() || !self.avoided.is_empty()) {
            let reversed: Vec<u32> = reversed.collect();
            self.ban_avoided(&mut mask, state, &reversed);
            let repeated = no_repeat.map_or_else(Vec::new, |n| repeated(&reversed, n));
            mask.banned.extend(repeated.into_iter().filter(|unit| !mask.proposals.contains(unit)));
        }
        mask
    }

    fn tracked_phrases(&self) -> &[RequiredPhrase] {
        &self.required[..self.required.len().min(MAX_REQUIRED_PHRASES)]
    }

    fn unmet_phrases(&self, state: &ConstraintState) -> impl Iterator<Item = usize> {
        (0..self.tracked_phrases().len()).filter(|&phrase| !state.is_met(phrase))
    }

    /// Unmet phrases that extend the partial phrase, or all of them if there is none, each with its next unit.
    fn continuations(&self, state: &ConstraintState) -> impl Iterator<Item = (usize, u32)> {
        let partial = state.partial.map_or(&[][..], |(phrase, units)| &self.required[phrase].units[..units]);
        self.unmet_phrases(state).filter_map(move |phrase| {
            let rest = self.required[phrase].units.strip_prefix(partial)?;
            Some((phrase, *rest.first()?))
        })
    }

    /// Bans the units that complete an avoided phrase, unless it is the beginning of a required word, which then must
    /// continue.
    fn ban_avoided<'s>(&'s self, mask: &mut TokenMask<'s>, state: &ConstraintState, reversed: &[u32]) {
        let Some(max_bytes) = self.avoided.iter().map(|phrase| phrase.text.len()).max() else { return };
        let forms = &*self.surface_forms;
        let mut text = self.suffix_text(reversed, max_bytes);
        let length = text.len();
        let partial: Vec<(u32, String)> =
            self.continuations(state).map(|(phrase, unit)| (unit, self.partial_text(phrase, state))).collect();
        for phrase in self.avoided.iter() {
            if state.partial.is_some() && forms.contains_phrase(&text, length.saturating_sub(1), &phrase.text) {
                mask.last_word = LastWord::Incomplete(forms);
            }
            for &unit in &phrase.endings {
                text.push_str(forms.text(unit));
                let is_required = |(next, partial): &(u32, String)| {
                    let extended = format!("{partial}{}", forms.text(unit));
                    *next == unit && forms.contains_phrase(&extended, extended.len() - 1, &phrase.text)
                };
                if forms.contains_phrase(&text, length, &phrase.text) && !partial.iter().any(is_required) {
                    mask.banned.push(unit);
                }
                text.truncate(length);
            }
        }
    }

    /// Returns the end of a hypothesis' text: more than `max_bytes` bytes if there are so many.
    fn suffix_text(&self, reversed: &[u32], max_bytes: usize) -> String {
        let mut bytes = 0;
        let suffix = reversed.iter().take_while(|&&unit| {
            let is_short = bytes <= max_bytes;
            bytes += self.surface_forms.text(unit).len();
            is_short
        });
        let suffix: Vec<&str> = suffix.map(|&unit| self.surface_forms.text(unit)).collect();
        suffix.into_iter().rev().collect()
    }

    /// Returns the text of the produced part of a required phrase.
    fn partial_text(&self, phrase: usize, state: &ConstraintState) -> String {
        let units = state.partial.map_or(0, |(_, units)| units);
        self.required[phrase].units[..units].iter().map(|&unit| self.surface_forms.text(unit)).collect()
    }
}

impl ConstraintState {
    fn is_met(&self, phrase: usize) -> bool {
        self.met & (1 << phrase) != 0
    }
}

/// Units that would repeat an n-gram.
fn repeated(reversed: &[u32], n: usize) -> Vec<u32> {
    let Some(last) = reversed.get(..n.saturating_sub(1)) else { return Vec::new() };
    reversed.windows(n).filter(|units| &units[1..] == last).map(|units| units[0]).collect()
}

/// Mask of the next unit.
pub struct TokenMask<'a> {
    /// Next unit of the prefix.
    forced: Option<u32>,
    banned: Vec<u32>,
    proposals: Vec<u32>,
    may_end: bool,
    last_word: LastWord<'a>,
}

/// State of the last word.
enum LastWord<'a> {
    /// It may continue or end.
    Free,
    /// It may not continue.
    Ended(&'a SurfaceForms),
    /// It must continue, since it is an avoided word so far.
    Incomplete(&'a SurfaceForms),
}

impl LastWord<'_> {
    fn allows(&self, unit: u32) -> bool {
        match self {
            Self::Free => true,
            Self::Ended(forms) => !forms.continues_word(unit),
            Self::Incomplete(forms) => forms.continues_word(unit),
        }
    }
}

impl TokenMask<'_> {
    /// True if the unit may come next.
    pub fn allows(&self, unit: u32) -> bool {
        match self.forced {
            Some(forced) => unit == forced,
            None => (self.may_end || unit != END) && !self.banned.contains(&unit) && self.last_word.allows(unit),
        }
    }

    /// Allowed units that advance a required phrase, which are candidates even if improbable.
    pub fn proposals(&self) -> impl Iterator<Item = u32> {
        self.proposals.iter().copied().filter(|&unit| self.allows(unit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn anywhere(phrases: &[&[u32]]) -> Vec<RequiredPhrase> {
        phrases.iter().map(|units| RequiredPhrase { units: units.to_vec(), source_span: None }).collect()
    }

    fn state_after(constraints: &DecodingConstraints, units: &[u32]) -> ConstraintState {
        units.iter().fold(ConstraintState::default(), |state, &unit| constraints.advance(&state, unit))
    }

    #[test]
    fn tracks_complete_and_partial_phrases() {
        let constraints = DecodingConstraints {
            required: anywhere(&[&[5, 6, 7], &[5, 6, 8], &[9]]),
            ..DecodingConstraints::default()
        };
        let state = |units: &[u32]| {
            let state = state_after(&constraints, units);
            (constraints.bank(&state), constraints.unmet_constraints(&state), constraints.proposals(&state))
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
    fn ignores_phrases_beyond_the_maximum_of_units() {
        let long = vec![5; MAX_REQUIRED_UNITS / 2];
        let constraints =
            DecodingConstraints { required: anywhere(&[&long, &long, &[6], &[7]]), ..DecodingConstraints::default() }
                .within_units();
        assert_eq!((constraints.required_units(), constraints.ignored_phrases()), (MAX_REQUIRED_UNITS, 2));
    }

    #[test]
    fn placement_penalty_is_the_log_attention_on_the_source_span() {
        let required = vec![
            RequiredPhrase { units: vec![5, 6], source_span: Some(1..3) },
            RequiredPhrase { units: vec![7], source_span: Some(0..1) },
            RequiredPhrase { units: vec![8], source_span: None },
        ];
        let constraints = DecodingConstraints { required, ..DecodingConstraints::default() };
        let placement_penalty = |units: &[u32], unit: u32| {
            let before = state_after(&constraints, units);
            constraints.placement_penalty(&before, &constraints.advance(&before, unit), &[0.001, 0.2, 0.3, 0.5])
        };
        assert!((placement_penalty(&[], 5) - 0.5f64.ln()).abs() < 1e-6);
        assert!((placement_penalty(&[5, 6], 7) - 0.02f64.ln()).abs() < 1e-6);
        for (units, unit) in [(&[5][..], 6), (&[], 4), (&[], 8), (&[5, 6], 5), (&[5], 4)] {
            assert_eq!(placement_penalty(units, unit), 0.0, "{units:?} {unit}");
        }
    }

    #[test]
    fn allows_the_end_only_when_constraints_are_met() {
        let constraints = DecodingConstraints { required: anywhere(&[&[5]]), ..DecodingConstraints::default() };
        let mask = |units: &[u32]| {
            constraints.token_mask(&state_after(&constraints, units), units.iter().rev().copied(), None)
        };
        assert!(!mask(&[4]).allows(END) && mask(&[4, 5]).allows(END));
    }

    #[test]
    fn required_word_may_begin_with_an_avoided_one() {
        let surface_forms =
            Arc::new(SurfaceForms::new(["", "", "", "", " a", " b", " c", "d"].map(str::to_owned).to_vec(), true));
        let constraints = |required: &[&[u32]], avoided: &[&str]| DecodingConstraints {
            required: anywhere(required),
            avoided: avoided.iter().map(|text| AvoidedPhrase::new(text, &surface_forms)).collect(),
            surface_forms: Arc::clone(&surface_forms),
            ..DecodingConstraints::default()
        };
        let allowed = |constraints: &DecodingConstraints, units: &[u32]| -> Vec<u32> {
            let mask = constraints.token_mask(&state_after(constraints, units), units.iter().rev().copied(), None);
            (2..8).filter(|&unit| mask.allows(unit)).collect()
        };
        let longer = constraints(&[&[5, 7]], &["b"]);
        assert_eq!(allowed(&longer, &[4]), [3, 4, 5, 6, 7]);
        assert_eq!(allowed(&longer, &[4, 5]), [7], "the word must continue");
        assert_eq!(allowed(&longer, &[4, 5, 7]), [2, 3, 4, 6], "the phrase is complete");
        let beside = constraints(&[&[5]], &["a b"]);
        assert_eq!(allowed(&beside, &[4]), [3, 4, 6, 7]);
        assert_eq!(allowed(&beside, &[6]), [3, 4, 5, 6, 7]);
    }

    #[test]
    fn prefix_forces_its_units() {
        let constraints =
            DecodingConstraints { prefix: vec![5, 5], required: anywhere(&[&[6]]), ..DecodingConstraints::default() };
        let allowed = |units: &[u32]| -> Vec<u32> {
            let mask = constraints.token_mask(&state_after(&constraints, units), units.iter().rev().copied(), Some(1));
            assert!(mask.proposals().all(|unit| mask.allows(unit)));
            (2..8).filter(|&unit| mask.allows(unit)).collect()
        };
        assert_eq!(allowed(&[]), [5]);
        assert_eq!(allowed(&[5]), [5]);
        assert_eq!(allowed(&[5, 5]), [3, 4, 6, 7]);
        assert_eq!(allowed(&[5, 5, 6]), [2, 3, 4, 7]);
    }

    #[test]
    fn finds_units_that_repeat_an_n_gram() {
        assert_eq!(repeated(&[5, 4, 6, 5, 4], 2), [6], "of 4 5 6 4 5, 6 came after 5");
        assert_eq!(repeated(&[5, 4, 6, 5, 4], 3), [6]);
        assert!(repeated(&[5, 4, 6, 5, 4], 4).is_empty());
        assert_eq!(repeated(&[5, 4], 1), [5, 4]);
        assert!(repeated(&[], 1).is_empty() && repeated(&[], 3).is_empty() && repeated(&[5], 3).is_empty());
    }
}
