//! Rules for the next token of a hypothesis with constraints.
//!
//! Some rules hold for every translation ([`TokenMask::allows`]). Others keep constraints from spoiling the words around
//! them ([`TokenMask::agrees_with_model`]); search drops these where no token would be left. Each rule is a method with an
//! example, which the tests repeat. In the examples, tokens that begin with a space begin a word.

use super::avoided_phrases::Replacements;
use super::{ConstraintState, DecodingConstraints, Distribution, LengthLimits};
use crate::text::{END, SurfaceForms, start_of_last_word};

/// Probability from which on the model itself wants a token.
const MIN_INTENDED: f32 = 0.1;

/// Mask of the next token of a hypothesis, for the constraints on it.
pub struct TokenMask<'a> {
    constraints: &'a DecodingConstraints,
    state: &'a ConstraintState,
    /// Next token of the prefix.
    forced: Option<u32>,
    /// Tokens that would repeat an n-gram, without proposals.
    repeated: Vec<u32>,
    /// Tokens that advance a required phrase, sorted.
    proposals: Vec<u32>,
    /// True if no required phrase but terms is missing.
    may_end: bool,
    /// Rests of avoided phrases that have begun.
    avoided_rests: Vec<&'a str>,
    /// Known words that the last word may become, if only known words may take the place of avoided ones.
    replacements: Option<Replacements<'a>>,
    next: Distribution<'a>,
    /// Most probable token; `None` within the prefix and without phrases.
    intended: Option<u32>,
}

impl DecodingConstraints {
    /// Returns the mask of the next token. `reversed` yields the tokens of the hypothesis, the last one first; no n-gram of
    /// `limits.no_repeat` tokens may repeat, except with tokens that advance a required phrase.
    pub fn token_mask<'a>(
        &'a self,
        state: &'a ConstraintState,
        reversed: impl Iterator<Item = u32>,
        next: Distribution<'a>,
        limits: &LengthLimits,
    ) -> TokenMask<'a> {
        let forced = self.prefix.get(state.length).copied();
        let is_free = forced.is_none() && !(self.required.is_empty() && self.avoided.is_empty());
        let intended = if is_free { next.best(1, &|_| true).first().map(|best| best.token) } else { None };
        let proposals = self.proposals(state);
        let mut repeated =
            limits.no_repeat.map_or_else(Vec::new, |n| repeated_tokens(&reversed.collect::<Vec<u32>>(), n));
        repeated.retain(|token| !proposals.contains(token));
        TokenMask {
            constraints: self,
            state,
            forced,
            repeated,
            proposals,
            may_end: self.unmet_requirements(state) == 0,
            avoided_rests: self.avoided.rests(&state.text, &self.surface_forms),
            replacements: self.avoided.replacements(&state.text[start_of_last_word(&state.text)..]),
            next,
            intended,
        }
    }
}

impl TokenMask<'_> {
    /// True if the token may come next in any translation. Within a prefix, only the prefix decides.
    ///
    /// With `--prefix "le chat"`, only ` chat` may follow ` le`.
    pub fn allows(&self, token: u32) -> bool {
        match self.forced {
            Some(forced) => token == forced,
            None => {
                !self.ends_too_early(token)
                    && !self.repeats_n_gram(token)
                    && !self.extends_ended_word(token)
                    && !self.completes_avoided(token)
            }
        }
    }

    /// True if the token may come next in a sample, which cannot go back to the beginning of a word: it is allowed and leads
    /// to no avoided word.
    pub fn allows_in_sample(&self, token: u32) -> bool {
        self.allows(token) && !self.leads_to_avoided(token)
    }

    /// True if the token agrees with the model's most probable one: it leaves the words around a required phrase as the
    /// model wants them, or the model itself wants it too, and words stay known.
    pub fn agrees_with_model(&self, token: u32) -> bool {
        let Some(intended) = self.intended else { return true };
        let interferes = self.goes_on_after_end(token, intended) || self.splits_word(token, intended);
        (!interferes || self.is_probable(token)) && self.keeps_words_known(token)
    }

    /// Tokens that advance a required phrase, are allowed and agree with the model: candidates even if improbable.
    pub fn proposals(&self) -> impl Iterator<Item = u32> {
        self.proposals.iter().copied().filter(|&token| self.allows(token) && self.agrees_with_model(token))
    }

    /// Returns the state of the hypothesis with the token, which was predicted with these attention weights.
    pub fn advance(&self, token: u32, attention: &[f32]) -> ConstraintState {
        let deviates = self.deviates(token);
        ConstraintState { deviates, ..self.constraints.advance(self.state, token, attention) }
    }

    /// True if the token ends a translation that lacks a required phrase.
    ///
    /// With `--require chat`, `</s>` may not follow ` le`. It may follow ` le chat`.
    fn ends_too_early(&self, token: u32) -> bool {
        token == END && !self.may_end
    }

    /// True if the token repeats an n-gram without advancing a required phrase.
    ///
    /// With `--no-repeat 2`, ` chat` may not follow ` le chat le`.
    fn repeats_n_gram(&self, token: u32) -> bool {
        self.repeated.contains(&token)
    }

    /// True if the token would be glued to a whole word that the user gave: a required phrase, or the end of the prefix.
    ///
    /// With `--require chat`, `on` may not follow ` chat`, since ` chaton` is another word.
    fn extends_ended_word(&self, token: u32) -> bool {
        self.state.word_ended && self.continues_word(token)
    }

    /// True if an avoided phrase ends before the token, or within it. An avoided word may be written as long as it can
    /// become a longer one, but it may not end.
    ///
    /// With `--avoid chat`, ` chat` may follow ` le`, since it may become ` chaton`. After ` le chat`, only `on` and other
    /// tokens that continue the word may come.
    fn completes_avoided(&self, token: u32) -> bool {
        self.concerns_avoided(token) && {
            let text = self.text_with(token);
            let from = self.state.text.len().saturating_sub(1);
            let adds_nothing = self.forms().text(token).is_empty();
            self.constraints.avoided.iter().any(|phrase| {
                if adds_nothing {
                    self.forms().contains_phrase(&text, from, phrase)
                } else {
                    self.forms().contains_complete_phrase(&text, from, phrase)
                }
            })
        }
    }

    /// True if the token leads to an avoided word, which may yet become a longer one.
    ///
    /// With `--avoid chat`, ` chat` leads there.
    pub fn leads_to_avoided(&self, token: u32) -> bool {
        self.concerns_avoided(token) && !self.forms().text(token).is_empty() && {
            let text = self.text_with(token);
            self.constraints.avoided.iter().any(|phrase| self.forms().approaches_phrase(&text, phrase))
        }
    }

    /// True if the model ends the translation without a required phrase, unless the token continues a phrase in progress.
    /// So the hypothesis gives way to others that have the phrase.
    ///
    /// With `--require chaton`, after ` le`, where `</s>` is most probable, nothing agrees with the model. After ` chat`,
    /// `on` does.
    fn goes_on_after_end(&self, token: u32, intended: u32) -> bool {
        let is_over = intended == END && !self.may_end;
        is_over && !(self.state.partial.is_some() && self.proposals.contains(&token))
    }

    /// True if the token begins a required phrase with a new word where the model continues the last word.
    ///
    /// With `--require chat`, after ` mai`, where `son` is most probable, ` chat` does not agree with the model.
    fn splits_word(&self, token: u32, intended: u32) -> bool {
        let begins_phrase = self.state.partial.is_none() && self.proposals.contains(&token);
        begins_phrase && self.continues_word(intended) && !self.continues_word(token)
    }

    /// True if the model itself wants the token: its probability is at least 0.1.
    ///
    /// With `--require chat`, after ` mai`, where `son` is most probable and ` chat` has probability 0.2, ` chat` agrees
    /// with the model.
    fn is_probable(&self, token: u32) -> bool {
        self.next.candidate(token).log_probability >= MIN_INTENDED.ln()
    }

    /// True if the words that the token ends, continues and begins are known where the model would have written others.
    /// So a word takes the place of an avoided one, and not a nonword.
    ///
    /// With `--avoid chat`, after ` mai`, where `son` is most probable, only `son` keeps the words known: `maion` and `mai`
    /// are not words of the training data.
    fn keeps_words_known(&self, token: u32) -> bool {
        let Some(replacements) = &self.replacements else { return true };
        let deviates = self.deviates(token);
        if self.continues_word(token) {
            return !deviates || replacements.continue_with(token, self.forms().text(token));
        }
        let is_cut_short = deviates && self.intended.is_some_and(|intended| self.continues_word(intended));
        let ends_known = !(self.state.deviates || is_cut_short) || replacements.has_word();
        ends_known && (!deviates || replacements.begin_with(token))
    }

    /// True if the model would have written the last word otherwise, with this token. Tokens of required phrases, and the
    /// prefix, are given and not chosen.
    fn deviates(&self, token: u32) -> bool {
        self.state.deviates && self.continues_word(token)
            || self.intended.is_some_and(|intended| token != intended && !self.proposals.contains(&token))
    }

    /// True if the token may end, continue or begin an avoided phrase. Most tokens do not, which saves the search in the text.
    fn concerns_avoided(&self, token: u32) -> bool {
        let added = self.forms().text(token);
        self.forced.is_none()
            && (self.constraints.avoided.may_begin_within(token)
                || self.avoided_rests.iter().any(|rest| rest.starts_with(added) || added.starts_with(*rest)))
    }

    /// Returns the end of the text of the hypothesis with the token.
    fn text_with(&self, token: u32) -> String {
        format!("{}{}", self.state.text, self.forms().text(token))
    }

    fn continues_word(&self, token: u32) -> bool {
        self.forms().continues_word(token)
    }

    fn forms(&self) -> &SurfaceForms {
        &self.constraints.surface_forms
    }
}

/// Tokens that would repeat an n-gram of a hypothesis, whose tokens are given in reverse.
fn repeated_tokens(reversed: &[u32], n: usize) -> Vec<u32> {
    let Some(last) = reversed.get(..n.saturating_sub(1)) else { return Vec::new() };
    reversed.windows(n).filter(|tokens| &tokens[1..] == last).map(|tokens| tokens[0]).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::constraint_state::fixtures::{anywhere, state_after, term};
    use super::super::{AvoidedPhrases, Predictions, RequiredPhrase};
    use super::*;
    use crate::kernels::buffer_pool::Buffer;
    use crate::text::{KnownWords, PhraseBoundaries};

    /// Tokens of the examples of the rules, by id.
    const EXAMPLE_TOKENS: [&str; 10] = ["<pad>", "<s>", "</s>", "<unk>", " le", " chat", "on", " mai", "son", "."];

    fn example_ids(tokens: &[&str]) -> Vec<u32> {
        tokens.iter().map(|token| EXAMPLE_TOKENS.iter().position(|known| known == token).unwrap() as u32).collect()
    }

    fn example_forms() -> Arc<SurfaceForms> {
        let mut texts = EXAMPLE_TOKENS.map(str::to_owned);
        texts[..4].iter_mut().for_each(String::clear);
        Arc::new(SurfaceForms::new(texts.to_vec(), PhraseBoundaries::Words))
    }

    fn example_prefix(tokens: &[&str], prefix_ends_word: bool) -> DecodingConstraints {
        let (prefix, surface_forms) = (example_ids(tokens), example_forms());
        DecodingConstraints { prefix, prefix_ends_word, surface_forms, ..DecodingConstraints::default() }
    }

    fn example_required(tokens: &[&str]) -> DecodingConstraints {
        let text = tokens.concat().trim_start().to_owned();
        let required = vec![RequiredPhrase { text, tokens: example_ids(tokens), term: Vec::new() }];
        DecodingConstraints { required, surface_forms: example_forms(), ..DecodingConstraints::default() }
    }

    fn example_avoided(known_words: Option<&[&str]>) -> DecodingConstraints {
        let known_words = known_words.map(|words| Arc::new(KnownWords::from_texts(words.iter().copied())));
        let avoided = Arc::new(AvoidedPhrases::new(vec!["chat".to_owned()], &example_forms(), known_words));
        DecodingConstraints { avoided, surface_forms: example_forms(), ..DecodingConstraints::default() }
    }

    /// Logits of the examples: probability 0.6 for the first of the likely tokens, 0.2 for others of them, 0.02 for the rest.
    fn example_predictions(likely: &[&str]) -> Predictions {
        let mut probabilities = [0.02f32; EXAMPLE_TOKENS.len()];
        for (rank, token) in example_ids(likely).into_iter().enumerate() {
            probabilities[token as usize] = if rank == 0 { 0.6 } else { 0.2 };
        }
        Predictions::from_logits(Buffer::from_slice(&probabilities.map(f32::ln)), vec![vec![1.0]])
    }

    #[test]
    fn rules_hold_in_their_examples() {
        let prefix = example_prefix(&[" le", " chat"], false);
        let whole_words = example_prefix(&[" le", " chat"], true);
        let chat = example_required(&[" chat"]);
        let chaton = example_required(&[" chat", "on"]);
        let no_chat = example_avoided(None);
        let known = example_avoided(Some(&["le", "chat", "chaton", "maison"]));
        let free = DecodingConstraints { surface_forms: example_forms(), ..DecodingConstraints::default() };
        let all = ["</s>", " le", " chat", "on", " mai", "son", "."];
        // Constraints, n-grams, hypothesis, likely tokens; tokens that are not allowed, others that disagree with the model.
        for (constraints, no_repeat, after, likely, refused, disagreeing) in [
            // The prefix, and extends_ended_word
            (&prefix, None, &[" le"][..], &[" mai"][..], &["</s>", " le", "on", " mai", "son", "."][..], &[][..]),
            (&prefix, None, &[" le", " chat"], &[" mai"], &[], &[]),
            (&whole_words, None, &[" le", " chat"], &[" mai"], &["on", "son"], &[]),
            // ends_too_early and extends_ended_word
            (&chat, None, &[" le"], &[" mai"], &["</s>"], &[]),
            (&chat, None, &[" le", " chat"], &["."], &["on", "son"], &[]),
            // splits_word and is_probable
            (&chat, None, &[" mai"], &["son"], &["</s>"], &[" chat"]),
            (&chat, None, &[" mai"], &["son", " chat"], &["</s>"], &[]),
            // goes_on_after_end
            (&chaton, None, &[" le"], &["</s>"], &["</s>"], &[" le", " chat", "on", " mai", "son", "."]),
            (&chaton, None, &[" le"], &["</s>", " mai"], &["</s>"], &[" le", " chat", "on", "son", "."]),
            (&chaton, None, &[" le", " chat"], &["</s>"], &["</s>"], &[" le", " chat", " mai", "son", "."]),
            // repeats_n_gram
            (&free, Some(2), &[" le", " chat", " le"], &["."], &[" chat"], &[]),
            // completes_avoided
            (&no_chat, None, &[" le"], &[" mai"], &[], &[]),
            (&no_chat, None, &[" le", " chat"], &["on"], &["</s>", " le", " chat", " mai", "."], &[]),
            (&no_chat, None, &[" mai"], &["son"], &[], &[]),
            // keeps_words_known
            (&known, None, &[" mai"], &["son"], &[], &["</s>", " le", " chat", "on", " mai", "."]),
        ] {
            let tokens = example_ids(after);
            let state = state_after(constraints, &tokens);
            let predictions = example_predictions(likely);
            let limits = LengthLimits { no_repeat, ..LengthLimits::default() };
            let mask = constraints.token_mask(&state, tokens.into_iter().rev(), predictions.row(0), &limits);
            let ids = example_ids(&all).into_iter();
            let (allowed, not_allowed): (Vec<u32>, Vec<u32>) = ids.partition(|&token| mask.allows(token));
            assert_eq!(not_allowed, example_ids(refused), "{after:?} {likely:?}");
            let disagree: Vec<u32> = allowed.into_iter().filter(|&token| !mask.agrees_with_model(token)).collect();
            assert_eq!(disagree, example_ids(disagreeing), "{after:?} {likely:?}");
            let leads: Vec<u32> = (2..10).filter(|&token| mask.leads_to_avoided(token)).collect();
            let expected = if constraints.avoided.is_empty() { vec![] } else { example_ids(&[" chat"]) };
            assert_eq!(leads, expected, "{after:?} {likely:?}");
        }
    }

    /// Tokens from 2 to 7 that may come next, if the model gives them these probabilities.
    fn allowed(
        constraints: &DecodingConstraints,
        tokens: &[u32],
        probabilities: [f32; 8],
        no_repeat: Option<usize>,
    ) -> Vec<u32> {
        let logits = probabilities.map(f32::ln);
        let predictions = Predictions::from_logits(Buffer::from_slice(&logits), vec![vec![1.0]]);
        let state = state_after(constraints, tokens);
        let limits = LengthLimits { no_repeat, ..LengthLimits::default() };
        let mask = constraints.token_mask(&state, tokens.iter().rev().copied(), predictions.row(0), &limits);
        assert!(mask.proposals().all(|token| mask.allows(token)));
        (2..8).filter(|&token| mask.allows(token) && mask.agrees_with_model(token)).collect()
    }

    const UNIFORM: [f32; 8] = [0.125; 8];

    #[test]
    fn letters_do_not_extend_the_last_character_of_a_phrase() {
        // 가 may be followed by n, but 각 is another character.
        let letters = ["", "", "", "", "\u{1100}", "\u{1161}", "\u{11a8}", "n"].map(str::to_owned).to_vec();
        let surface_forms = Arc::new(SurfaceForms::new(letters, PhraseBoundaries::Characters));
        let phrase = RequiredPhrase { text: "\u{1100}\u{1161}".to_owned(), tokens: vec![4, 5], term: Vec::new() };
        let required = DecodingConstraints {
            required: vec![phrase],
            surface_forms: Arc::clone(&surface_forms),
            ..DecodingConstraints::default()
        };
        assert_eq!(allowed(&required, &[4, 5], UNIFORM, None), [2, 3, 4, 7]);
        let avoided = AvoidedPhrases::new(vec!["\u{1100}\u{1161}".to_owned()], &surface_forms, None);
        let avoided =
            DecodingConstraints { avoided: Arc::new(avoided), surface_forms, ..DecodingConstraints::default() };
        assert_eq!(allowed(&avoided, &[4], UNIFORM, None), [2, 3, 4, 5, 6, 7]);
        assert_eq!(allowed(&avoided, &[4, 5], UNIFORM, None), [5, 6]);
        assert_eq!(allowed(&avoided, &[4, 5, 6], UNIFORM, None), [2, 3, 4, 5, 6, 7]);
    }

    fn surface_forms() -> Arc<SurfaceForms> {
        Arc::new(SurfaceForms::new(
            ["", "", "", "", " a", " b", " c", "d"].map(str::to_owned).to_vec(),
            PhraseBoundaries::Words,
        ))
    }

    fn avoid(phrases: &[&str], known_words: Option<&[&str]>) -> Arc<AvoidedPhrases> {
        let phrases = phrases.iter().map(|&phrase| phrase.to_owned()).collect();
        let known_words = known_words.map(|words| Arc::new(KnownWords::from_texts(words.iter().copied())));
        Arc::new(AvoidedPhrases::new(phrases, &surface_forms(), known_words))
    }

    /// Constraints that require the text `bd`, in these tokens.
    fn requiring_bd(required: &[&[u32]]) -> DecodingConstraints {
        let mut required = anywhere(required);
        required.iter_mut().for_each(|phrase| phrase.text = "bd".to_owned());
        DecodingConstraints { required, surface_forms: surface_forms(), ..DecodingConstraints::default() }
    }

    /// Probabilities of which one is 0.5, the others 0.13.
    fn with_best(best: usize) -> [f32; 8] {
        let mut probabilities = [0.13; 8];
        probabilities[best] = 0.5;
        probabilities
    }

    #[test]
    fn allows_the_end_only_when_requirements_are_met() {
        let mut constraints = DecodingConstraints { required: anywhere(&[&[5]]), ..DecodingConstraints::default() };
        assert!(!allowed(&constraints, &[4], UNIFORM, None).contains(&END));
        assert!(allowed(&constraints, &[4, 5], UNIFORM, None).contains(&END));
        constraints.required = vec![term(&[5], 0..1)];
        assert!(allowed(&constraints, &[4], UNIFORM, None).contains(&END), "a term can replace a word");
    }

    #[test]
    fn avoided_word_may_only_continue() {
        let avoided = DecodingConstraints { avoided: avoid(&["b"], None), ..requiring_bd(&[]) };
        assert_eq!(allowed(&avoided, &[4], UNIFORM, None), [2, 3, 4, 5, 6, 7]);
        assert_eq!(allowed(&avoided, &[4, 5], UNIFORM, None), [7], "the word must continue");
        assert_eq!(allowed(&avoided, &[4, 5, 7], UNIFORM, None), [2, 3, 4, 5, 6, 7]);
        let longer = DecodingConstraints { avoided: avoid(&["b"], None), ..requiring_bd(&[&[5, 7]]) };
        assert_eq!(allowed(&longer, &[4, 5], UNIFORM, None), [7]);
        assert_eq!(allowed(&longer, &[4, 5, 7], UNIFORM, None), [2, 3, 4, 5, 6], "the phrase is complete");
        let phrase = DecodingConstraints { avoided: avoid(&["a b"], None), ..requiring_bd(&[]) };
        assert_eq!(allowed(&phrase, &[4, 5], UNIFORM, None), [7]);
        assert_eq!(allowed(&phrase, &[6, 5], UNIFORM, None), [2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn known_word_takes_the_place_of_an_avoided_one() {
        let constraints = DecodingConstraints {
            avoided: avoid(&["b"], Some(&["a", "b", "bd"])),
            surface_forms: surface_forms(),
            ..DecodingConstraints::default()
        };
        assert_eq!(allowed(&constraints, &[4], with_best(5), None), [2, 3, 4, 5], "c and ad are unknown");
        assert_eq!(allowed(&constraints, &[4], with_best(7), None), [2, 3, 4, 5, 7], "the model itself writes ad");
        assert_eq!(allowed(&constraints, &[6], with_best(7), None), [7], "the model would not end c");
        assert_eq!(allowed(&constraints, &[6], with_best(2), None), [2, 3, 4, 5]);
        assert_eq!(allowed(&constraints, &[4, 5], with_best(6), None), [7], "b may become bd");
    }

    #[test]
    fn word_deviates_until_the_next_one_begins() {
        let constraints = DecodingConstraints {
            avoided: avoid(&["b"], None),
            surface_forms: surface_forms(),
            ..DecodingConstraints::default()
        };
        let after = |state: &ConstraintState, best: usize, token: u32| {
            let mut logits = [0.0; 8];
            logits[best] = 1.0;
            let predictions = Predictions::from_logits(Buffer::from_slice(&logits), vec![vec![1.0]]);
            constraints
                .token_mask(state, std::iter::empty(), predictions.row(0), &LengthLimits::default())
                .advance(token, &[])
        };
        let other = after(&ConstraintState::default(), 5, 6);
        let [same, next] = [after(&other, 7, 7), after(&other, 4, 4)];
        assert_eq!([&other, &same, &next, &after(&next, 6, 7)].map(|state| state.deviates), [true, true, false, true]);
    }

    #[test]
    fn required_phrase_does_not_interrupt_a_word() {
        let required = vec![RequiredPhrase { text: "b".to_owned(), tokens: vec![5], term: Vec::new() }];
        let constraints =
            DecodingConstraints { required, surface_forms: surface_forms(), ..DecodingConstraints::default() };
        for (best, expected) in [(6, &[5][..]), (7, &[])] {
            let mut logits = [0.0; 8];
            logits[best] = 9.0;
            let predictions = Predictions::from_logits(Buffer::from_slice(&logits), vec![vec![1.0]]);
            let state = state_after(&constraints, &[4]);
            let mask = constraints.token_mask(&state, std::iter::empty(), predictions.row(0), &LengthLimits::default());
            assert_eq!(mask.proposals().collect::<Vec<_>>(), expected, "{best}");
        }
    }

    #[test]
    fn required_phrase_does_not_follow_the_end() {
        let mut probabilities = [0.01; 8];
        probabilities[END as usize] = 0.78;
        probabilities[6] = 0.16;
        let missing = requiring_bd(&[&[5, 7]]);
        assert_eq!(allowed(&missing, &[4], probabilities, None), [6], "the phrase may not begin");
        assert_eq!(allowed(&missing, &[4, 5], probabilities, None), [6, 7], "the phrase may go on");
        assert!(allowed(&missing, &[4, 5, 7], probabilities, None).contains(&END));
        probabilities[5] = 0.16;
        assert_eq!(allowed(&missing, &[4], probabilities, None), [5, 6], "the model itself wants the phrase");
    }

    #[test]
    fn prefix_forces_its_tokens() {
        let constraints =
            DecodingConstraints { prefix: vec![5, 5], required: anywhere(&[&[6]]), ..DecodingConstraints::default() };
        let allowed = |tokens: &[u32]| allowed(&constraints, tokens, UNIFORM, Some(1));
        assert_eq!(allowed(&[]), [5]);
        assert_eq!(allowed(&[5]), [5]);
        assert_eq!(allowed(&[5, 5]), [3, 4, 6, 7]);
        assert_eq!(allowed(&[5, 5, 6]), [2, 3, 4, 7]);
    }

    #[test]
    fn finds_tokens_that_repeat_an_n_gram() {
        assert_eq!(repeated_tokens(&[5, 4, 6, 5, 4], 2), [6], "of 4 5 6 4 5, 6 came after 5");
        assert_eq!(repeated_tokens(&[5, 4, 6, 5, 4], 3), [6]);
        assert!(repeated_tokens(&[5, 4, 6, 5, 4], 4).is_empty());
        assert_eq!(repeated_tokens(&[5, 4], 1), [5, 4]);
        for (reversed, n) in [(&[][..], 1), (&[], 3), (&[5], 3)] {
            assert!(repeated_tokens(reversed, n).is_empty(), "{reversed:?} {n}");
        }
    }
}
