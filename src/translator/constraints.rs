//! Constraints on translations as text, and their conversion to tokens.

use std::borrow::Cow;
use std::sync::Arc;

use anyhow::{Result, ensure};

use super::markup::{PlacedPhrase, PlaceholderPlace};
use super::request::GivenTokens;
use super::terminology::{CoveredTerms, Terminology, is_known};
use super::{MAX_SENTENCE_TOKENS, Placeholders, Sentence};
use crate::search::{AvoidedPhrases, DecodingConstraints, MAX_REQUIRED_TOKENS, RequiredPhrase};
use crate::text::{
    KnownWords, LONGEST_LINE, Normalization, Segmentation, SortedPhrases, SurfaceForms, Tokenization, Vocabulary,
    WordSplitting,
};

/// Constraints on translations as text.
#[derive(Clone, Debug, Default)]
pub struct Constraints {
    /// Prefix of each translation; with white space at its end, whole words.
    pub prefix: Option<String>,
    /// Phrases that each translation contains.
    pub required: Vec<String>,
    /// Phrases that no translation contains.
    pub avoided: Vec<String>,
    /// Terms whose translations are required where a term occurs in the source.
    pub terms: Terminology,
    /// Placeholders of the sentences, where tags and placeholders are taken out of them. In the prefix and in required
    /// phrases, they stand for those of the sentence.
    pub placeholders: Option<Placeholders>,
}

impl Constraints {
    /// Returns the constraints with their target texts normalized.
    #[must_use]
    pub fn normalized(self, normalization: Normalization) -> Self {
        Self {
            prefix: self.prefix.map(|prefix| normalization.apply(&prefix).into_owned()),
            required: normalized(&self.required, normalization),
            avoided: normalized(&self.avoided, normalization),
            terms: self.terms.normalized(normalization),
            placeholders: self.placeholders,
        }
    }

    /// Returns an avoided phrase that the prefix, a required phrase or the translation of a term contains.
    pub fn contradiction(&self) -> Option<String> {
        let avoided = SortedPhrases::new(self.avoided.iter().map(|phrase| phrase.trim().to_owned()).collect());
        let mut required =
            self.required.iter().chain(&self.prefix).map(String::as_str).chain(self.terms.translations());
        required.find_map(|text| avoided.find_in(text).map(str::to_owned))
    }
}

fn normalized(texts: &[String], normalization: Normalization) -> Vec<String> {
    texts.iter().map(|text| normalization.apply(text).into_owned()).collect()
}

/// Constraints compiled to the tokens of a model.
#[derive(Clone)]
pub struct CompiledConstraints {
    prefix: Option<String>,
    required: Vec<RequiredPhrase>,
    /// Required phrases that contain placeholders.
    placed: Vec<PlacedPhrase>,
    avoided: Arc<AvoidedPhrases>,
    terms: Terminology,
    /// Translations that are not required, since the model has no tokens for them.
    pub skipped_terms: Vec<String>,
    placeholders: Option<Placeholders>,
}

impl CompiledConstraints {
    /// Compiles constraints. `known_words` may take the place of avoided ones.
    ///
    /// # Errors
    /// The vocabulary has no tokens for a required phrase, or there are too many tokens.
    pub fn new(constraints: Constraints, target: &Vocabulary, known_words: Option<Arc<KnownWords>>) -> Result<Self> {
        let placeholders = constraints.placeholders;
        let (mut required, mut placed) = (Vec::new(), Vec::new());
        for given in &constraints.required {
            let phrase = placed_phrase(given.trim(), placeholders.as_ref());
            // A placeholder alone needs no tokens.
            if phrase.places.is_empty() || !phrase.text.trim().is_empty() {
                let text = target.written_text(phrase.text.trim()).into_owned();
                let tokens = encode_known(&text, target)?;
                required.push(RequiredPhrase { tokens, text, term: Vec::new() });
            }
            placed.extend((!phrase.places.is_empty()).then_some(phrase));
        }
        let tokens: usize = required.iter().map(|phrase| phrase.tokens.len()).sum();
        ensure!(
            tokens <= MAX_REQUIRED_TOKENS,
            "--require: the phrases have {tokens} tokens in total; at most {MAX_REQUIRED_TOKENS} are allowed"
        );
        let avoided: Vec<String> =
            constraints.avoided.iter().map(|phrase| target.written_text(phrase.trim()).into_owned()).collect();
        let avoided = match &avoided[..] {
            [] => AvoidedPhrases::default(),
            _ => AvoidedPhrases::new(avoided, target.surface_forms(), known_words),
        };
        let CoveredTerms { terms, skipped: skipped_terms } = constraints.terms.covered_by(target)?;
        let avoided = Arc::new(avoided);
        Ok(Self { prefix: constraints.prefix, required, placed, avoided, terms, skipped_terms, placeholders })
    }

    /// Returns the prefix of the translation of a sentence. Its own one takes precedence.
    fn prefix(&self, sentence: &Sentence) -> PlacedPhrase {
        let given = sentence.target_prefix.as_ref().or(self.prefix.as_ref()).map_or("", String::as_str);
        placed_phrase(given.trim_start(), self.placeholders.as_ref())
    }

    /// Names of the placeholders that constraints place in the translation of a sentence.
    pub fn placed_names(&self, sentence: &Sentence) -> Vec<String> {
        let prefix = self.prefix(sentence);
        let places = self.placed.iter().chain([&prefix]).flat_map(|phrase| &phrase.places);
        places.map(|place| place.name.clone()).collect()
    }

    /// Places of placeholders in the translation of a sentence, where the prefix and required phrases have them.
    pub fn places(
        &self,
        sentence: &Sentence,
        translation: &str,
        surface_forms: &SurfaceForms,
    ) -> Vec<PlaceholderPlace> {
        let mut places = self.prefix(sentence).places;
        for phrase in &self.placed {
            let text = phrase.text.trim();
            // A phrase without words says nothing about the place.
            let span = surface_forms.spans_of_phrase(translation, text).next().filter(|_| !text.is_empty());
            let Some(span) = span else { continue };
            for place in &phrase.places {
                let place = PlaceholderPlace { at: span.start + place.at, ..place.clone() };
                if !places.contains(&place) {
                    places.push(place);
                }
            }
        }
        places
    }

    /// True if something has to be in the translation of a text: a prefix or a required phrase.
    pub fn hold_for_texts(&self, sentence: &Sentence) -> bool {
        !self.required.is_empty() || !self.placed.is_empty() || !self.prefix(sentence).text.trim().is_empty()
    }

    /// Tells which words of a text belong to terms.
    pub fn are_terms(&self, words: &[String]) -> Vec<bool> {
        let mut are_terms = vec![false; words.len()];
        for term in self.terms.find(words) {
            are_terms[term.words].fill(true);
        }
        are_terms
    }

    /// Checks a sentence's own target prefix.
    ///
    /// # Errors
    /// The vocabulary has no tokens for it, or it is too long.
    pub fn check_target_prefix(&self, sentence: &Sentence, target: &Vocabulary) -> Result<()> {
        match sentence.target_prefix {
            Some(_) => encode_prefix(&self.prefix(sentence).text, target).map(drop),
            None => Ok(()),
        }
    }

    /// True if a text contains an avoided phrase.
    pub fn has_avoided(&self, text: &str) -> bool {
        self.avoided.are_in(text)
    }

    /// Returns the constraints on the translation of a sentence. Its own target prefix takes precedence.
    ///
    /// # Errors
    /// As [`Self::check_target_prefix`].
    pub fn constraints(&self, sentence: &Sentence, [source, target]: [&Vocabulary; 2]) -> Result<DecodingConstraints> {
        let PlacedPhrase { text: prefix, .. } = self.prefix(sentence);
        let mut required = self.required.clone();
        required.extend(self.required_terms(sentence, [source, target])?);
        let constraints = DecodingConstraints {
            prefix: encode_prefix(&prefix, target)?,
            // A character that consists of letters is given as a whole.
            prefix_ends_word: prefix.ends_with(char::is_whitespace) || target.tokenization() == Tokenization::Letter,
            avoided: Arc::clone(&self.avoided),
            ..DecodingConstraints::default()
        };
        if required.is_empty() && constraints.is_empty() {
            return Ok(constraints);
        }
        let surface_forms = Arc::clone(target.surface_forms());
        let required = without_subsumed(required, &surface_forms);
        Ok(DecodingConstraints { required, surface_forms, ..constraints }.within_tokens())
    }

    /// Returns the translations of the terms in a sentence as phrases, with the source tokens of each word of the term.
    fn required_terms(&self, sentence: &Sentence, [source, target]: [&Vocabulary; 2]) -> Result<Vec<RequiredPhrase>> {
        if self.terms.is_empty() {
            return Ok(Vec::new());
        }
        let GivenTokens { segmentation, tokens_before } = sentence.segment_given(source, WordSplitting::Terms)?;
        let Segmentation { words, word_of_token, .. } = segmentation.cut_to(MAX_SENTENCE_TOKENS);
        let mut required = Vec::new();
        for found in self.terms.find(&words) {
            let mut term = Vec::with_capacity(found.words.len());
            for word in found.words {
                let start = word_of_token.partition_point(|&of_token| of_token < word);
                let end = word_of_token.partition_point(|&of_token| of_token <= word);
                term.push(tokens_before + start..tokens_before + end);
            }
            let text = target.written_text(found.translation).into_owned();
            required.push(RequiredPhrase { tokens: target.encode(&text)?, text, term });
        }
        Ok(required)
    }
}

/// Removes duplicates and phrases that another phrase contains as whole words. Terms at other places are kept.
fn without_subsumed(phrases: Vec<RequiredPhrase>, surface_forms: &SurfaceForms) -> Vec<RequiredPhrase> {
    let mut kept = Vec::with_capacity(phrases.len());
    for (index, phrase) in phrases.iter().enumerate() {
        if !(0..phrases.len()).any(|other| is_subsumed(&phrases, index, other, surface_forms)) {
            kept.push(phrase.clone());
        }
    }
    kept
}

/// True if a phrase is a duplicate of another one, or contained in it as whole words.
fn is_subsumed(phrases: &[RequiredPhrase], index: usize, other: usize, surface_forms: &SurfaceForms) -> bool {
    let (tokens, longer) = (&phrases[index].tokens, &phrases[other].tokens);
    let matches = longer.windows(tokens.len()).enumerate().filter(|(_, window)| *window == &tokens[..]);
    let mut next_tokens = matches.map(|(start, _)| longer.get(start + tokens.len()));
    let is_whole = next_tokens.any(|token| token.is_none_or(|&token| !surface_forms.continues_word(token)));
    let takes_precedence = match [index, other].map(|phrase| phrases[phrase].is_term()) {
        [true, true] => false,
        // Of equal phrases, a term stays, since it has a place.
        [true, false] => longer.len() > tokens.len(),
        [false, true] => true,
        [false, false] => longer.len() > tokens.len() || other < index,
    };
    index != other && is_whole && takes_precedence
}

/// Takes placeholders out of a phrase, if there are any in the sentences.
fn placed_phrase(given: &str, placeholders: Option<&Placeholders>) -> PlacedPhrase {
    match placeholders {
        Some(placeholders) => PlacedPhrase::new(given, placeholders),
        None => PlacedPhrase { text: given.to_owned(), places: Vec::new() },
    }
}

/// Encodes a prefix, of which at most the longest line counts.
fn encode_prefix(prefix: &str, target: &Vocabulary) -> Result<Vec<u32>> {
    if prefix.trim().is_empty() {
        return Ok(Vec::new());
    }
    let prefix = &prefix.trim()[..prefix.trim().floor_char_boundary(LONGEST_LINE)];
    let length = target.encode(prefix)?.len();
    ensure!(
        length <= MAX_SENTENCE_TOKENS,
        "\"{}\": this prefix has {length} tokens; at most {MAX_SENTENCE_TOKENS} are allowed",
        shortened(prefix)
    );
    encode_known(prefix, target)
}

/// Encodes a text that the vocabulary must cover.
fn encode_known(text: &str, target: &Vocabulary) -> Result<Vec<u32>> {
    let tokens = target.encode(text)?;
    ensure!(
        is_known(&tokens),
        "\"{}\": the model has no tokens for this text; use words that occur in its training data",
        shortened(text)
    );
    Ok(tokens)
}

/// Shortens a text for messages.
fn shortened(text: &str) -> Cow<'_, str> {
    const MAX_CHARS: usize = 60;
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Pair, PhraseBoundaries};

    fn phrase(tokens: &[u32], is_term: bool) -> RequiredPhrase {
        let term = is_term.then_some(0..1).into_iter().collect();
        RequiredPhrase { text: String::new(), tokens: tokens.to_vec(), term }
    }

    #[test]
    fn equal_phrases_are_required_once() {
        let forms = ["", "", "", "", " a", " b"].map(str::to_owned).to_vec();
        let surface_forms = SurfaceForms::new(forms, PhraseBoundaries::Words);
        for (phrases, kept) in [
            (vec![phrase(&[4], false), phrase(&[4], true)], &[1][..]),
            (vec![phrase(&[4], false), phrase(&[4, 5], true)], &[1]),
            (vec![phrase(&[4, 5], false), phrase(&[4], true)], &[0]),
            (vec![phrase(&[4], false), phrase(&[4, 5], false), phrase(&[4, 5], true)], &[2]),
            (vec![phrase(&[4], false), phrase(&[4], true), phrase(&[4], true)], &[1, 2]),
            (vec![phrase(&[4], false), phrase(&[4], false), phrase(&[5], true)], &[0, 2]),
        ] {
            let expected: Vec<RequiredPhrase> = kept.iter().map(|&index| phrases[index].clone()).collect();
            assert_eq!(without_subsumed(phrases, &surface_forms), expected);
        }
    }

    fn constraints(prefix: Option<&str>, required: &[&str], avoided: &[&str]) -> Constraints {
        Constraints {
            prefix: prefix.map(str::to_owned),
            required: required.iter().map(|&text| text.to_owned()).collect(),
            avoided: avoided.iter().map(|&text| text.to_owned()).collect(),
            ..Constraints::default()
        }
    }

    #[test]
    fn finds_contradictions() {
        assert_eq!(constraints(None, &["a b"], &["x", "b "]).contradiction().as_deref(), Some("b"));
        assert_eq!(constraints(Some("é a"), &[], &["é"]).contradiction().as_deref(), Some("é"));
        assert_eq!(constraints(Some("ab"), &["ba c"], &["b", "x"]).contradiction(), None);
        let terms = Terminology::from_pairs(vec![Pair::new("a", "une robe")]);
        let with_terms = Constraints { terms, ..constraints(None, &[], &["robe"]) };
        assert_eq!(with_terms.contradiction().as_deref(), Some("robe"));
    }

    #[test]
    fn finds_contradictions_of_many_constraints_at_once() {
        const COUNT: usize = 20_000;
        let terms = (0..COUNT).map(|index| Pair::new(format!("s{index}"), format!("t{index}x"))).collect();
        let mut constraints = Constraints {
            avoided: (0..COUNT).map(|index| format!("q{index}z")).collect(),
            terms: Terminology::from_pairs(terms),
            ..Constraints::default()
        };
        assert_eq!(constraints.contradiction(), None);
        constraints.required.push("a q19999z".to_owned());
        assert_eq!(constraints.contradiction().as_deref(), Some("q19999z"));
    }
}
