//! Decoding constraints: a prefix, required and avoided phrases, and n-grams that may not repeat.
//!
//! Required phrases are the lexical constraints of Post & Vilar (2018), "Fast Lexically Constrained Decoding with Dynamic
//! Beam Allocation for Neural Machine Translation".

use std::ops::Range;
use std::sync::Arc;

use super::Distribution;
use super::avoided_phrases::{AvoidedPhrases, Replacements};
use crate::text::{END, SurfaceForms, start_of_last_word};

/// Maximum number of required phrases.
pub const MAX_REQUIRED_PHRASES: usize = 64;
/// Maximum number of tokens of required phrases. They widen the beam, so the time of a step grows with their square.
pub const MAX_REQUIRED_TOKENS: usize = 256;

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

/// Lower bound of the attention in [`ConstraintState::placement_penalty`].
const MIN_ATTENTION: f64 = 0.02;

/// Probability of a term below which the model's own word is better replaced.
const REPLACED_BELOW: f64 = 0.01;

/// Probability from which on the model itself wants a token; see [`TokenMask`].
const MIN_INTENDED: f32 = 0.1;

/// Progress of a hypothesis through its constraints.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConstraintState {
    /// Tokens of the hypothesis.
    length: usize,
    /// Bit set of the required phrases that it contains.
    met: u64,
    /// Required phrase in progress, with the number of its tokens produced.
    partial: Option<(usize, usize)>,
    /// True if the next token may not continue the last word.
    word_ended: bool,
    /// True if the model would have written the last word otherwise: one of its tokens was not the most probable one.
    deviates: bool,
    /// Log penalty for beginning translations of terms while attention is off the terms: for each one the log of the
    /// attention on the term, at least ln 0.02.
    pub placement_penalty: f64,
    /// End of its text, in which phrases are found; empty if there are none.
    text: String,
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

    /// Number of required phrases beyond the maximum.
    pub fn ignored_phrases(&self) -> usize {
        self.removed + self.required.len() - self.tracked_phrases().len()
    }

    /// Truncates the required phrases to [`MAX_REQUIRED_TOKENS`] tokens in total.
    #[must_use]
    pub fn within_tokens(mut self) -> Self {
        let mut tokens = 0;
        let fits = |phrase: &&RequiredPhrase| {
            tokens += phrase.tokens.len();
            tokens <= MAX_REQUIRED_TOKENS
        };
        let kept = self.required.iter().take_while(fits).count();
        self.removed += self.required.len() - kept;
        self.required.truncate(kept);
        self
    }

    /// Bank of a hypothesis (Post & Vilar 2018): number of tokens of required phrases that it has produced.
    pub fn bank(&self, state: &ConstraintState) -> usize {
        let met = self.tracked_phrases().iter().enumerate().filter(|&(phrase, _)| state.is_met(phrase));
        met.map(|(_, phrase)| phrase.tokens.len()).sum::<usize>() + state.partial.map_or(0, |(_, tokens)| tokens)
    }

    /// Tokens that advance an unmet phrase, sorted.
    pub fn proposals(&self, state: &ConstraintState) -> Vec<u32> {
        if state.length < self.prefix.len() {
            return Vec::new();
        }
        let mut tokens: Vec<u32> = self.continuations(state).map(|(_, token)| token).collect();
        tokens.sort_unstable();
        tokens.dedup();
        tokens
    }

    /// Returns the state after one more token, which was predicted with these attention weights.
    fn advance(&self, state: &ConstraintState, token: u32, attention: &[f32]) -> ConstraintState {
        let (length, text) = (state.length + 1, self.extended_text(state, token));
        let mut next = ConstraintState { length, text, partial: None, word_ended: false, deviates: false, ..*state };
        next.partial = self.continued(state, token).or_else(|| {
            let begun = self.begun(state, token, attention)?;
            next.placement_penalty += self.required[begun].placement_penalty(attention);
            Some((begun, 1))
        });
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

    /// Returns the phrase that ends with the last token: the one in progress, or one that stands there in other tokens,
    /// such as `hôtel` in `l'hôtel`.
    fn completed(&self, state: &ConstraintState, token: u32, attention: &[f32]) -> Option<usize> {
        if let Some((phrase, tokens)) = state.partial {
            return (tokens == self.required[phrase].tokens.len()).then_some(phrase);
        }
        let (text, added) = (&state.text, self.surface_forms.text(token).len());
        let stands_at_end = |&phrase: &usize| {
            added > 0 && self.surface_forms.contains_phrase(text, text.len() - 1, &self.required[phrase].text)
        };
        self.most_attended(self.unmet_phrases(state).filter(stands_at_end), attention)
    }

    /// Returns the phrase whose term has the most attention, the first one of equals.
    fn most_attended(&self, phrases: impl Iterator<Item = usize>, attention: &[f32]) -> Option<usize> {
        let on_term = |&phrase: &usize| self.required[phrase].attention_on_term(attention).sum::<f64>();
        phrases.min_by(|a, b| on_term(b).total_cmp(&on_term(a)))
    }

    /// Returns the phrase in progress one token later, or another unmet phrase that begins with the same tokens.
    fn continued(&self, state: &ConstraintState, token: u32) -> Option<(usize, usize)> {
        let (partial, tokens) = state.partial?;
        let phrases = self.continuations(state).filter(|&(_, next)| next == token).map(|(phrase, _)| phrase);
        let phrase = phrases.min_by_key(|&phrase| (phrase != partial, phrase))?;
        Some((phrase, tokens + 1))
    }

    /// Returns the unmet phrase that a token begins.
    fn begun(&self, state: &ConstraintState, token: u32, attention: &[f32]) -> Option<usize> {
        let begins = |&phrase: &usize| self.required[phrase].tokens[0] == token;
        self.most_attended(self.unmet_phrases(state).filter(begins), attention)
    }

    /// Returns the mask of the next token. `reversed` yields the tokens of the hypothesis, the last one first; no n-gram of
    /// `no_repeat` tokens may repeat, except with tokens that advance a required phrase.
    pub fn token_mask<'a>(
        &'a self,
        state: &'a ConstraintState,
        reversed: impl Iterator<Item = u32>,
        next: Distribution<'a>,
        no_repeat: Option<usize>,
    ) -> TokenMask<'a> {
        let forced = self.prefix.get(state.length).copied();
        let is_free = forced.is_none() && !(self.required.is_empty() && self.avoided.is_empty());
        let intended = if is_free { next.best(1, &|_| true).first().map(|best| best.token) } else { None };
        let proposals = self.proposals(state);
        let repeated = no_repeat.map_or_else(Vec::new, |n| repeated(&reversed.collect::<Vec<u32>>(), n));
        let last_word = &state.text[start_of_last_word(&state.text)..];
        TokenMask {
            constraints: self,
            state,
            forced,
            banned: repeated.into_iter().filter(|token| !proposals.contains(token)).collect(),
            begins_phrase: state.partial.is_none(),
            proposals,
            may_end: self.unmet_requirements(state) == 0,
            replacements: self.avoided.replacements(last_word),
            avoided_rests: self.avoided.rests(&state.text, &self.surface_forms),
            next,
            intended,
        }
    }

    /// Returns for each token of a hypothesis whether it belongs to the prefix or to a required phrase that the hypothesis contains.
    /// `unmet` are the phrases that it lacks, by index.
    pub fn constrained_tokens(&self, tokens: &[u32], unmet: &[usize]) -> Vec<bool> {
        let text = tokens.iter().map(|&token| self.surface_forms.text(token)).collect::<String>();
        let met = self.tracked_phrases().iter().enumerate().filter(|(phrase, _)| !unmet.contains(phrase));
        let spans: Vec<Range<usize>> =
            met.flat_map(|(_, phrase)| self.surface_forms.spans_of_phrase(&text, &phrase.text)).collect();
        let mut end = 0;
        let is_constrained = |(index, &token): (usize, &u32)| {
            let start = end;
            end += self.surface_forms.text(token).len();
            index < self.prefix.len() || spans.iter().any(|span| span.start < end && start < span.end)
        };
        tokens.iter().enumerate().map(is_constrained).collect()
    }

    fn tracked_phrases(&self) -> &[RequiredPhrase] {
        &self.required[..self.required.len().min(MAX_REQUIRED_PHRASES)]
    }

    /// Unmet phrases that extend the partial phrase, or all of them if there is none, each with its next token.
    fn continuations(&self, state: &ConstraintState) -> impl Iterator<Item = (usize, u32)> {
        let partial = state.partial.map_or(&[][..], |(phrase, tokens)| &self.required[phrase].tokens[..tokens]);
        self.unmet_phrases(state).filter_map(move |phrase| {
            let rest = self.required[phrase].tokens.strip_prefix(partial)?;
            Some((phrase, *rest.first()?))
        })
    }
}

impl RequiredPhrase {
    /// True if it is the translation of a term.
    pub fn is_term(&self) -> bool {
        !self.term.is_empty()
    }

    /// Attention on each word of the term.
    pub fn attention_on_term(&self, attention: &[f32]) -> impl Iterator<Item = f64> {
        let on_word =
            |word: &Range<usize>| attention.get(word.clone()).unwrap_or_default().iter().copied().map(f64::from).sum();
        self.term.iter().map(on_word)
    }

    /// Log penalty for beginning the phrase with these attention weights.
    fn placement_penalty(&self, attention: &[f32]) -> f64 {
        let on_term: f64 = self.attention_on_term(attention).sum();
        if self.is_term() { on_term.clamp(MIN_ATTENTION, 1.0).ln() } else { 0.0 }
    }
}

impl ConstraintState {
    fn is_met(&self, phrase: usize) -> bool {
        self.met & (1 << phrase) != 0
    }
}

/// Tokens that would repeat an n-gram.
fn repeated(reversed: &[u32], n: usize) -> Vec<u32> {
    let Some(last) = reversed.get(..n.saturating_sub(1)) else { return Vec::new() };
    reversed.windows(n).filter(|tokens| &tokens[1..] == last).map(|tokens| tokens[0]).collect()
}

/// Mask of the next token.
///
/// An avoided word may be written as long as it can become a longer one, but it may not end. The word in its place should
/// be a word: if the model would have written it otherwise, which its most probable tokens say, it must be a known one. A
/// required phrase begins where a word ends. Where the model ends the translation without a required phrase, the
/// hypothesis gives way to others, except with a phrase in progress. A phrase that disagrees needs a probability of its
/// own.
pub struct TokenMask<'a> {
    constraints: &'a DecodingConstraints,
    state: &'a ConstraintState,
    /// Next token of the prefix.
    forced: Option<u32>,
    /// Tokens that would repeat an n-gram.
    banned: Vec<u32>,
    proposals: Vec<u32>,
    /// True if proposals begin phrases.
    begins_phrase: bool,
    may_end: bool,
    /// Rests of avoided phrases that have begun.
    avoided_rests: Vec<&'a str>,
    replacements: Option<Replacements<'a>>,
    next: Distribution<'a>,
    /// Most probable token.
    intended: Option<u32>,
}

impl TokenMask<'_> {
    /// True if the token may come next.
    pub fn allows(&self, token: u32) -> bool {
        if let Some(forced) = self.forced {
            return token == forced;
        }
        (self.may_end || token != END)
            && !self.banned.contains(&token)
            && !(self.state.word_ended && self.continues_word(token))
            && !self.completes_avoided(token)
    }

    /// True if the token leads to an avoided word: the word may yet become a longer one.
    pub fn leads_to_avoided(&self, token: u32) -> bool {
        self.concerns_avoided(token) && {
            let (text, added) = self.extended_text(token);
            let approaches = |phrase: &String| self.forms().approaches_phrase(&text, phrase);
            !added.is_empty() && self.constraints.avoided.iter().any(approaches)
        }
    }

    /// Allowed tokens that advance a required phrase and agree with the model, which are candidates even if improbable.
    pub fn proposals(&self) -> impl Iterator<Item = u32> {
        self.proposals.iter().copied().filter(|&token| self.allows(token) && self.agrees_with_model(token))
    }

    /// True if an avoided phrase ends before the token, or within it.
    fn completes_avoided(&self, token: u32) -> bool {
        self.concerns_avoided(token) && {
            let (text, added) = self.extended_text(token);
            let from = self.state.text.len().saturating_sub(1);
            self.constraints.avoided.iter().any(|phrase| match added {
                "" => self.forms().contains_phrase(&text, from, phrase),
                _ => self.forms().contains_complete_phrase(&text, from, phrase),
            })
        }
    }

    /// True if the token may end, continue or begin an avoided phrase. Most tokens do not, which saves the search in the text.
    fn concerns_avoided(&self, token: u32) -> bool {
        let added = self.forms().text(token);
        let continues = |rest: &&str| rest.starts_with(added) || added.starts_with(*rest);
        self.forced.is_none()
            && (self.constraints.avoided.may_begin_within(token) || self.avoided_rests.iter().any(continues))
    }

    /// Returns the end of the text of the hypothesis with the token, and the text of the token.
    fn extended_text(&self, token: u32) -> (String, &str) {
        let added = self.forms().text(token);
        (format!("{}{added}", self.state.text), added)
    }

    fn forms(&self) -> &SurfaceForms {
        &self.constraints.surface_forms
    }

    fn continues_word(&self, token: u32) -> bool {
        self.forms().continues_word(token)
    }

    /// Returns the state of the hypothesis with the token, which was predicted with these attention weights.
    pub fn advance(&self, token: u32, attention: &[f32]) -> ConstraintState {
        let deviates = self.deviates(token);
        ConstraintState { deviates, ..self.constraints.advance(self.state, token, attention) }
    }

    /// True if the model would have written the last word otherwise, with this token. Tokens of required phrases, and the
    /// prefix, are given and not chosen.
    fn deviates(&self, token: u32) -> bool {
        let is_chosen = |intended| token != intended && !self.proposals.contains(&token);
        self.state.deviates && self.continues_word(token) || self.intended.is_some_and(is_chosen)
    }

    /// True if the words that the token ends, continues and begins are known where the model would have written others.
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

    /// True if the token agrees with the model's most probable one, or is probable itself, and words stay known.
    pub fn agrees_with_model(&self, token: u32) -> bool {
        let Some(intended) = self.intended else { return true };
        let begins_word = |token| !self.continues_word(token);
        let is_proposed = self.proposals.contains(&token);
        let agrees = if intended == END && !self.may_end {
            is_proposed && !self.begins_phrase
        } else {
            !is_proposed || !self.begins_phrase || begins_word(intended) || !begins_word(token)
        };
        let is_probable = || self.next.candidate(token).log_probability >= MIN_INTENDED.ln();
        (agrees || is_probable()) && self.keeps_words_known(token)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Predictions;
    use super::*;
    use crate::kernels::buffer_pool::Buffer;
    use crate::text::{KnownWords, PhraseBoundaries};

    fn anywhere(phrases: &[&[u32]]) -> Vec<RequiredPhrase> {
        let phrase = |tokens: &&[u32]| RequiredPhrase { text: String::new(), tokens: tokens.to_vec(), term: Vec::new() };
        phrases.iter().map(phrase).collect()
    }

    fn term(tokens: &[u32], word: Range<usize>) -> RequiredPhrase {
        RequiredPhrase { text: String::new(), tokens: tokens.to_vec(), term: vec![word] }
    }

    fn state_after(constraints: &DecodingConstraints, tokens: &[u32]) -> ConstraintState {
        tokens.iter().fold(ConstraintState::default(), |state, &token| constraints.advance(&state, token, &[]))
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
        let mask = constraints.token_mask(&state, tokens.iter().rev().copied(), predictions.row(0), no_repeat);
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
    fn ignores_phrases_beyond_the_maximum_of_tokens() {
        let long = vec![5; MAX_REQUIRED_TOKENS / 2];
        let constraints =
            DecodingConstraints { required: anywhere(&[&long, &long, &[6], &[7]]), ..DecodingConstraints::default() }
                .within_tokens();
        assert_eq!((constraints.required_tokens(), constraints.ignored_phrases()), (MAX_REQUIRED_TOKENS, 2));
    }

    #[test]
    fn tokens_of_the_prefix_and_of_met_phrases_are_constrained() {
        let texts = ["", "", "", "", " a", " wh", "ite", " c", "at", "."];
        let surface_forms = Arc::new(SurfaceForms::new(texts.map(str::to_owned).to_vec(), PhraseBoundaries::Words));
        let phrase = |text: &str| RequiredPhrase { text: text.to_owned(), tokens: vec![9], term: Vec::new() };
        let required = vec![phrase("white"), phrase("cat")];
        let constraints =
            DecodingConstraints { prefix: vec![4], required, surface_forms, ..DecodingConstraints::default() };
        // a white cat. whites
        let constrained = |unmet: &[usize]| -> Vec<usize> {
            let tokens = constraints.constrained_tokens(&[4, 5, 6, 7, 8, 9, 5, 6, 8], unmet);
            (0..tokens.len()).filter(|&token| tokens[token]).collect()
        };
        assert_eq!(constrained(&[]), [0, 1, 2, 3, 4]);
        assert_eq!(constrained(&[0]), [0, 3, 4]);
        assert_eq!(constrained(&[0, 1]), [0]);
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
    fn allows_the_end_only_when_requirements_are_met() {
        let mut constraints = DecodingConstraints { required: anywhere(&[&[5]]), ..DecodingConstraints::default() };
        let may_end = |constraints: &DecodingConstraints, tokens: &[u32]| {
            allowed(constraints, tokens, UNIFORM, None).contains(&END)
        };
        assert!(!may_end(&constraints, &[4]) && may_end(&constraints, &[4, 5]));
        constraints.required = vec![term(&[5], 0..1)];
        assert!(may_end(&constraints, &[4]), "a term can replace a word");
    }

    #[test]
    fn avoided_word_may_only_continue() {
        let surface_forms = surface_forms();
        let constraints = |required: &[&[u32]], avoided: &[&str]| DecodingConstraints {
            required: anywhere(required)
                .into_iter()
                .map(|phrase| RequiredPhrase { text: "bd".to_owned(), ..phrase })
                .collect(),
            avoided: avoid(avoided, None),
            surface_forms: Arc::clone(&surface_forms),
            ..DecodingConstraints::default()
        };
        let avoided = constraints(&[], &["b"]);
        assert_eq!(allowed(&avoided, &[4], UNIFORM, None), [2, 3, 4, 5, 6, 7]);
        assert_eq!(allowed(&avoided, &[4, 5], UNIFORM, None), [7], "the word must continue");
        assert_eq!(allowed(&avoided, &[4, 5, 7], UNIFORM, None), [2, 3, 4, 5, 6, 7]);
        let longer = constraints(&[&[5, 7]], &["b"]);
        assert_eq!(allowed(&longer, &[4, 5], UNIFORM, None), [7]);
        assert_eq!(allowed(&longer, &[4, 5, 7], UNIFORM, None), [2, 3, 4, 5, 6], "the phrase is complete");
        let phrase = constraints(&[], &["a b"]);
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
        let with_best = |best: usize| {
            let mut probabilities = [0.13; 8];
            probabilities[best] = 0.5;
            probabilities
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
            constraints.token_mask(state, std::iter::empty(), predictions.row(0), None).advance(token, &[])
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
        let proposals = |best: usize| -> Vec<u32> {
            let mut logits = [0.0; 8];
            logits[best] = 9.0;
            let predictions = Predictions::from_logits(Buffer::from_slice(&logits), vec![vec![1.0]]);
            let state = state_after(&constraints, &[4]);
            constraints.token_mask(&state, std::iter::empty(), predictions.row(0), None).proposals().collect()
        };
        assert_eq!((proposals(6), proposals(7)), (vec![5], vec![]));
    }

    #[test]
    fn required_phrase_does_not_follow_the_end() {
        let constraints = |required: &[&[u32]]| DecodingConstraints {
            required: anywhere(required)
                .into_iter()
                .map(|phrase| RequiredPhrase { text: "bd".to_owned(), ..phrase })
                .collect(),
            surface_forms: surface_forms(),
            ..DecodingConstraints::default()
        };
        let mut probabilities = [0.01; 8];
        probabilities[END as usize] = 0.78;
        probabilities[6] = 0.16;
        let missing = constraints(&[&[5, 7]]);
        assert_eq!(allowed(&missing, &[4], probabilities, None), [6], "the phrase may not begin");
        assert_eq!(allowed(&missing, &[4, 5], probabilities, None), [6, 7], "the phrase may go on");
        assert!(allowed(&missing, &[4, 5, 7], probabilities, None).contains(&END));
        probabilities[5] = 0.16;
        assert_eq!(allowed(&missing, &[4], probabilities, None), [5, 6], "the model itself wants the phrase");
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
        let unmet = |tokens: &[u32]| constraints.unmet_requirements(&state_after(&constraints, tokens));
        assert_eq!([unmet(&[4]), unmet(&[5]), unmet(&[6]), unmet(&[6, 7]), unmet(&[5, 7])], [0, 0, 1, 0, 0]);
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
        assert_eq!(repeated(&[5, 4, 6, 5, 4], 2), [6], "of 4 5 6 4 5, 6 came after 5");
        assert_eq!(repeated(&[5, 4, 6, 5, 4], 3), [6]);
        assert!(repeated(&[5, 4, 6, 5, 4], 4).is_empty());
        assert_eq!(repeated(&[5, 4], 1), [5, 4]);
        assert!(repeated(&[], 1).is_empty() && repeated(&[], 3).is_empty() && repeated(&[5], 3).is_empty());
    }
}
