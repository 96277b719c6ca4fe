//! Stand-ins for words to copy: put in their place before translation, and replaced by them in the translation.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use anyhow::Result;

use super::constraints::CompiledConstraints;
use super::letter_case::is_title;
use crate::search::{DecodingConstraints, Hypothesis, RequiredPhrase};
use crate::text::{
    KnownWords, MappedText, Segmentation, TextSettings, Vocabulary, WordSplitting, are_capitals, find_copy,
    is_punctuation, numeral_end, word_of_span, word_spans,
};

/// Least number of names in a sentence that can be one in a foreign language.
const MIN_FOREIGN: usize = 3;
/// Maximum number of letters of an ending after an apostrophe, as in `Anna's`.
const MAX_ENDING: usize = 2;
/// Least number of letters that forms of a word share.
const MIN_STEM: usize = 3;

/// Words of a sentence to copy, with what stands in for them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct StandIns {
    stand_ins: Vec<StandIn>,
    /// True if nothing else is in the sentence, which is then its own translation.
    pub is_whole_sentence: bool,
}

/// Words to copy, and the one that stands in for them, or stands for itself.
#[derive(Clone, Debug, PartialEq, Eq)]
struct StandIn {
    /// Range of bytes of the words in the given text.
    range: Range<usize>,
    /// The words to copy.
    copied: String,
    /// Word of the training data; empty if there is none, so that the words are left out.
    text: String,
    /// True if no space is before the words.
    joins_before: bool,
    /// True if no space is after the words.
    joins_after: bool,
}

/// Kind of a word to copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Number,
    Name,
    /// Signs that the model does not know, such as emoji.
    Sign,
}

/// Words to copy.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Item {
    kind: Kind,
    range: Range<usize>,
}

/// Place of a word in a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WordPlace {
    First,
    Within,
    /// In a sentence whose words all begin with capitals.
    Capitals,
}

/// Knowledge of a model about the words of its sources.
pub(super) struct KnownSources<'m> {
    pub text: &'m TextSettings,
    pub vocabulary: &'m Vocabulary,
    /// Words of the training data, if they are known.
    pub words: Option<&'m KnownWords>,
}

impl KnownSources<'_> {
    /// Returns the kind of a word to copy with the range of bytes in it that is copied; none for other words.
    fn item(&self, word: &str, place: WordPlace) -> Option<Item> {
        let copied = &self.text.copied;
        let numeral = numeral_end(word);
        if numeral > 0 {
            return copied.copies_number(&word[..numeral]).then_some(Item { kind: Kind::Number, range: 0..numeral });
        }
        if !copied.copies_names() || !word.contains(char::is_alphabetic) {
            return None;
        }
        let name = name_end(word);
        let [word, stem] = [word, &word[..name]].map(|word| self.text.normalization.apply(word));
        let may_be_name = match place {
            _ if word.contains(char::is_numeric) => true,
            WordPlace::First => word.starts_with(char::is_uppercase) && !self.knows_beginning(&stem),
            WordPlace::Within => word.starts_with(char::is_uppercase),
            WordPlace::Capitals => false,
        };
        let is_name = self.vocabulary.knows_no_letter(&word) || may_be_name && !self.knows(&word) && !self.knows(&stem);
        is_name.then_some(Item { kind: Kind::Name, range: 0..name })
    }

    /// True for words of the training data. Without an aligner, those that are not usually capitalized are unknown.
    fn knows(&self, word: &str) -> bool {
        self.text.truecaser.has(word) || self.words.is_some_and(|words| words.has_word(word))
    }

    /// True for a capitalized word that usually is in lower case.
    fn is_emphasized(&self, word: &str) -> bool {
        word.starts_with(char::is_uppercase)
            && !self.text.truecaser.has(word)
            && self.words.is_some_and(|words| words.has_word(word))
    }

    /// True if a word of the training data begins with most of another one, which can be a form of it.
    fn knows_beginning(&self, word: &str) -> bool {
        let length = (word.chars().count() * 3).div_ceil(5).max(MIN_STEM);
        let beginning: String = word.to_lowercase().chars().take(length).collect();
        self.words.is_none_or(|words| !words.beginning_with(&beginning).is_empty())
    }

    /// Returns the words to copy of a text as the vocabulary reads it, in order, except those of terms.
    fn items(&self, text: &str, constraints: &CompiledConstraints) -> Vec<Item> {
        let spans = word_spans(text, WordSplitting::Terms);
        let words: Vec<String> = spans.iter().map(|span| text[span.clone()].to_owned()).collect();
        let are_capitals =
            are_capitals(text) || is_title(text) && words.iter().skip(1).any(|word| self.is_emphasized(word));
        let are_terms = constraints.are_terms(&words);
        let tokens = self.text.source_protected_tokens.iter();
        let found = tokens.flat_map(|token| text.match_indices(token).map(|(start, _)| start..start + token.len()));
        let protected: Vec<Range<usize>> = found.collect();
        let first = words.iter().position(|word| word.starts_with(char::is_alphanumeric));
        let mut items: Vec<Item> = Vec::new();
        let mut is_before_name = false;
        // From the last on, since a name tells of the word before it.
        for (index, (word, span)) in words.iter().zip(&spans).enumerate().rev() {
            let place = match first {
                _ if are_capitals => WordPlace::Capitals,
                Some(first) if index == first && !is_before_name => WordPlace::First,
                _ => WordPlace::Within,
            };
            let is_kept = are_terms[index] || overlaps(&protected, span);
            let item = if is_kept { None } else { self.item(word, place) };
            is_before_name = item.as_ref().is_some_and(|item| item.kind == Kind::Name);
            if let Some(Item { kind, range }) = item {
                items.push(Item { kind, range: span.start + range.start..span.start + range.end });
            }
        }
        items.reverse();
        if are_foreign(&items, &words) {
            items.retain(|item| item.kind == Kind::Number);
        }
        let mut signs = self.vocabulary.known_characters().unknown_signs(text);
        signs.retain(|sign| !overlaps(&protected, sign));
        joined(text, with_signs(items, signs))
    }
}

/// True if a range overlaps one of others.
fn overlaps(others: &[Range<usize>], range: &Range<usize>) -> bool {
    others.iter().any(|other| other.start < range.end && range.start < other.end)
}

/// Length of a name without an ending after an apostrophe.
fn name_end(word: &str) -> usize {
    let apostrophe = word.rfind(['\'', '\u{2019}']).filter(|&at| at > 0);
    apostrophe.filter(|&at| word[at..].chars().skip(1).count() <= MAX_ENDING).unwrap_or(word.len())
}

/// True if the names among the words to copy of a sentence are most of its words, as in another language.
fn are_foreign(items: &[Item], words: &[String]) -> bool {
    let names = items.iter().filter(|item| item.kind == Kind::Name).count();
    let all = words.iter().filter(|word| !is_punctuation(word)).count();
    names >= MIN_FOREIGN && names * 2 > all
}

/// Adds signs to words to copy: to the word that they touch, or between words.
fn with_signs(items: Vec<Item>, signs: Vec<Range<usize>>) -> Vec<Item> {
    let signs = signs.into_iter().map(|range| Item { kind: Kind::Sign, range });
    let mut all: Vec<Item> = items.into_iter().chain(signs).collect();
    all.sort_by_key(|item| item.range.start);
    let mut merged: Vec<Item> = Vec::with_capacity(all.len());
    for item in all {
        match merged.last_mut() {
            Some(last) if last.range.end >= item.range.start => {
                last.range.end = last.range.end.max(item.range.end);
                last.kind = if last.kind == Kind::Sign { item.kind } else { last.kind };
            }
            _ => merged.push(item),
        }
    }
    merged
}

/// Joins words to copy of a kind with only a space between them.
fn joined(text: &str, items: Vec<Item>) -> Vec<Item> {
    let mut joined: Vec<Item> = Vec::with_capacity(items.len());
    for item in items {
        match joined.last_mut() {
            Some(last) if last.kind == item.kind && text[last.range.end..item.range.start].trim().is_empty() => {
                last.range.end = item.range.end;
            }
            _ => joined.push(item),
        }
    }
    joined
}

impl StandIns {
    /// Finds the words to copy of a text.
    pub fn new(given: &str, known: &KnownSources, constraints: &CompiledConstraints) -> Self {
        let readable = known.vocabulary.readable(given);
        let text = readable.as_str();
        let items = known.items(text, constraints);
        if items.is_empty() {
            return Self::default();
        }
        let stored = &known.text.copied;
        let mut unused = [stored.numbers(), stored.names()].map(|words| {
            let unused = words.iter().filter(|word| find_copy(text, word).is_none());
            unused.cloned().collect::<Vec<_>>().into_iter()
        });
        let mut outside = String::new();
        let mut end = 0;
        let mut stand_ins = Vec::with_capacity(items.len());
        for Item { kind, range } in items {
            outside.push_str(&text[end..range.start]);
            end = range.end;
            let copied = text[range.clone()].to_owned();
            let stand_in = match kind {
                Kind::Sign => None,
                _ if stored.is_stand_in(&copied) => Some(copied.clone()),
                _ => unused[kind as usize].next(),
            };
            let joins_before = text[..range.start].ends_with(|before: char| !before.is_whitespace());
            let joins_after = text[range.end..].starts_with(|after: char| !after.is_whitespace() && !is_closing(after));
            let (range, text) = (readable.given_range(range), stand_in.unwrap_or_default());
            // Invisible characters join the parts of an emoji.
            let copied = match kind {
                Kind::Sign => given[range.clone()].to_owned(),
                Kind::Number | Kind::Name => known.text.normalization.apply(&copied).into_owned(),
            };
            stand_ins.push(StandIn { range, copied, text, joins_before, joins_after });
        }
        outside.push_str(&text[end..]);
        Self { stand_ins, is_whole_sentence: !outside.contains(char::is_alphanumeric) }
    }

    /// True if nothing is copied.
    pub fn is_empty(&self) -> bool {
        self.stand_ins.is_empty()
    }

    /// Returns a text with the stand-ins in place of the words to copy, which begin after so many bytes.
    pub fn put_in(&self, text: &str, offset: usize) -> MappedText {
        let mut read = MappedText::default();
        let mut end = 0;
        for StandIn { range, text: stand_in, .. } in &self.stand_ins {
            let range = offset + range.start..offset + range.end;
            let mut before = end.min(range.start)..range.start;
            // Punctuation after words that are left out stands after the word before them.
            if stand_in.is_empty() && text[range.end..].starts_with(is_closing) {
                before.end = before.start + text[before.clone()].trim_end().len();
            }
            read.push_same(text, before);
            read.push(stand_in, &range);
            end = range.end;
        }
        read.push_same(text, end..text.len());
        read
    }

    /// Returns the source tokens of each stand-in; none if they are cut off. `words` are the places of the words of the source in a text in which the one with
    /// the words to copy begins after so many bytes.
    pub fn sources(&self, source: &Segmentation, words: &[Range<usize>], offset: usize) -> Vec<Option<Range<usize>>> {
        let mut sources = Vec::with_capacity(self.stand_ins.len());
        for StandIn { range, .. } in &self.stand_ins {
            let word = word_of_span(words, &(offset + range.start..offset + range.end));
            let start = source.word_of_token.partition_point(|&of_token| of_token < word);
            let end = source.word_of_token.partition_point(|&of_token| of_token <= word);
            sources.push((!source.cut || start < end).then_some(start..end));
        }
        sources
    }

    /// Requires the stand-ins in a translation, where attention is on their source tokens.
    ///
    /// # Errors
    /// The vocabulary cannot encode them.
    pub fn require(
        &self,
        constraints: &mut DecodingConstraints,
        sources: &[Option<Range<usize>>],
        target: &Vocabulary,
    ) -> Result<()> {
        for (StandIn { text, copied, .. }, source) in self.stand_ins.iter().zip(sources) {
            // A model writes words that stand for themselves well enough.
            let Some(source) = source.clone().filter(|source| !source.is_empty()) else { continue };
            if text != copied && !text.is_empty() {
                let term = vec![source];
                constraints.required.push(RequiredPhrase { text: text.clone(), tokens: target.encode(text)?, term });
                constraints.surface_forms = Arc::clone(target.surface_forms());
            }
        }
        Ok(())
    }

    /// True for a word that stands in for others.
    pub fn include(&self, word: &str) -> bool {
        self.stand_ins.iter().any(|one| one.text == word)
    }

    /// Puts the copied words in the place of the stand-ins of a hypothesis, or where its attention is beside them if it lacks one.
    /// Adds the text of each token that changes to the replacements.
    pub fn put_back(
        &self,
        sources: &[Option<Range<usize>>],
        hypothesis: &Hypothesis,
        target: &Vocabulary,
        replacements: &mut HashMap<usize, String>,
    ) {
        if self.is_empty() || hypothesis.tokens.is_empty() {
            return;
        }
        let mut texts = TokenTexts::new(hypothesis, target, replacements);
        let mut found = Vec::with_capacity(self.stand_ins.len());
        let mut lacking = Vec::new();
        for (stand_in, source) in self.stand_ins.iter().zip(sources) {
            match find_copy(&texts.given, &stand_in.text).filter(|place| !place.is_empty()) {
                Some(place) => found.push(FoundStandIn { place, copied: &stand_in.copied }),
                None => lacking.extend(source.iter().map(|source| (stand_in, source))),
            }
        }
        // From the last on, so that the places before it stay.
        found.sort_by_key(|one| std::cmp::Reverse(one.place.start));
        for FoundStandIn { place, copied } in found {
            texts.replace(place, copied);
        }
        for (stand_in, source) in lacking {
            texts.insert(stand_in, source, &hypothesis.attention);
        }
        replacements.extend(texts.changed);
    }
}

/// Stand-in in the text of a hypothesis.
struct FoundStandIn<'s> {
    place: Range<usize>,
    copied: &'s str,
}

/// Returns the target token with the most attention on a source token.
fn most_attentive(source: usize, attention: &[Vec<f32>]) -> Option<usize> {
    let weights = attention.iter().map(|row| row.get(source).copied().unwrap_or_default());
    weights.enumerate().max_by(|(_, one), (_, other)| one.total_cmp(other)).map(|(target, _)| target)
}

/// True for punctuation that touches the word before it.
fn is_closing(sign: char) -> bool {
    ".,;:!?)]}\u{2026}".contains(sign)
}

/// Texts of the tokens of a hypothesis.
struct TokenTexts {
    /// Text before anything is replaced.
    given: String,
    texts: Vec<String>,
    /// End of each token in the given text.
    ends: Vec<usize>,
    /// Texts of the tokens that changed.
    changed: HashMap<usize, String>,
}

impl TokenTexts {
    fn new(hypothesis: &Hypothesis, target: &Vocabulary, replacements: &HashMap<usize, String>) -> Self {
        let mut own = Self { given: String::new(), texts: Vec::new(), ends: Vec::new(), changed: HashMap::new() };
        for (index, &token) in hypothesis.tokens.iter().enumerate() {
            let text = replacements.get(&index).map_or_else(|| target.surface_forms().text(token), String::as_str);
            own.texts.push(text.to_owned());
            own.given.push_str(text);
            own.ends.push(own.given.len());
        }
        own
    }

    fn set(&mut self, token: usize, text: String) {
        self.texts[token].clone_from(&text);
        self.changed.insert(token, text);
    }

    /// Replaces a range of the given text by a text. All that is after it may have changed.
    fn replace(&mut self, place: Range<usize>, text: &str) {
        let first = self.ends.partition_point(|&end| end <= place.start);
        let last = self.ends.partition_point(|&end| end < place.end);
        let start = place.start - if first > 0 { self.ends[first - 1] } else { 0 };
        let mut joined = self.texts[first..=last].concat();
        joined.replace_range(start..start + place.len(), text);
        self.set(first, joined);
        for token in first + 1..=last {
            self.set(token, String::new());
        }
    }

    /// Inserts words that a hypothesis lacks beside the translation of the word that they touch, or else of the word before them.
    /// `source` are their tokens, or those of the word that they are part of.
    fn insert(&mut self, stand_in: &StandIn, source: &Range<usize>, attention: &[Vec<f32>]) {
        let copied = &stand_in.copied;
        // Of the word that it touches, the first token is that of letters, the last one can be that of punctuation.
        let is_within = stand_in.joins_before && !source.is_empty();
        let before = if is_within { Some(source.start) } else { source.start.checked_sub(1) };
        let before = before.and_then(|before| most_attentive(before, attention));
        let after = most_attentive(source.start, attention).filter(|_| stand_in.joins_after && !stand_in.joins_before);
        if let Some(after) = after {
            let first = self.first_of_word(after);
            let spaces = self.texts[first].len() - self.texts[first].trim_start().len();
            let mut text = self.texts[first].clone();
            text.insert_str(spaces, copied);
            self.set(first, text);
        } else if let Some(before) = before {
            let last = self.last_of_word(before);
            let space = if stand_in.joins_before { "" } else { " " };
            self.set(last, format!("{}{space}{copied}", self.texts[last]));
        } else {
            let space = if self.texts[0].starts_with(' ') { "" } else { " " };
            self.set(0, format!(" {copied}{space}{}", self.texts[0]));
        }
    }

    /// First token of the word that a token is part of.
    fn first_of_word(&self, token: usize) -> usize {
        let token = token.min(self.texts.len() - 1);
        (1..=token).rev().find(|&token| !self.texts[token].starts_with(char::is_alphanumeric)).unwrap_or_default()
    }

    /// Last token of the word that a token is part of.
    fn last_of_word(&self, token: usize) -> usize {
        let token = token.min(self.texts.len() - 1);
        let rest = &self.texts[token + 1..];
        token + rest.iter().take_while(|text| text.starts_with(char::is_alphanumeric)).count()
    }
}
