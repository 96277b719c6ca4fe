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

/// Words to copy, and the one that stands in for them.
#[derive(Clone, Debug, PartialEq, Eq)]
struct StandIn {
    /// Range of bytes of the words in the given text.
    range: Range<usize>,
    /// The words to copy.
    copied: String,
    /// Word of the training data.
    text: String,
}

/// Kind of a word to copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Number,
    Name,
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

/// What a model knows of the words of its sources.
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
            let is_copied = !copied.numbers().is_empty() && !copied.knows_number(&word[..numeral]);
            return is_copied.then_some(Item { kind: Kind::Number, range: 0..numeral });
        }
        if copied.names().is_empty() || !word.contains(char::is_alphabetic) {
            return None;
        }
        let name = name_end(word);
        let may_be_name = match place {
            _ if word.contains(char::is_numeric) => true,
            WordPlace::First => word.starts_with(char::is_uppercase) && !self.knows_beginning(&word[..name]),
            WordPlace::Within => word.starts_with(char::is_uppercase),
            WordPlace::Capitals => false,
        };
        let is_name =
            !self.vocabulary.knows_characters(word) || may_be_name && !self.knows(word) && !self.knows(&word[..name]);
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

    /// Returns the words to copy of a text in order, except those of terms.
    fn items(&self, text: &str, constraints: &CompiledConstraints) -> Vec<Item> {
        let spans = word_spans(text, WordSplitting::Terms);
        let words: Vec<String> = spans.iter().map(|span| text[span.clone()].to_owned()).collect();
        let are_capitals =
            are_capitals(text) || is_title(text) && words.iter().skip(1).any(|word| self.is_emphasized(word));
        let of_terms = constraints.words_of_terms(&words);
        let mut items = Vec::new();
        let mut is_first = true;
        for (index, (word, span)) in words.iter().zip(&spans).enumerate() {
            let place = match is_first {
                _ if are_capitals => WordPlace::Capitals,
                true => WordPlace::First,
                false => WordPlace::Within,
            };
            let item = self.item(word, place);
            is_first &= !word.starts_with(char::is_alphanumeric);
            if let Some(Item { kind, range }) = item.filter(|_| !of_terms.iter().any(|term| term.contains(&index))) {
                items.push(Item { kind, range: span.start + range.start..span.start + range.end });
            }
        }
        if are_foreign(&items, &words) {
            items.retain(|item| item.kind == Kind::Number);
        }
        joined_names(text, items)
    }
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

/// Joins names with only a space between them.
fn joined_names(text: &str, items: Vec<Item>) -> Vec<Item> {
    let mut joined: Vec<Item> = Vec::with_capacity(items.len());
    for item in items {
        match joined.last_mut() {
            Some(last)
                if [last.kind, item.kind] == [Kind::Name; 2]
                    && text[last.range.end..item.range.start].trim().is_empty() =>
            {
                last.range.end = item.range.end;
            }
            _ => joined.push(item),
        }
    }
    joined
}

impl StandIns {
    /// Finds the words to copy of a text, as far as there are stand-ins for them.
    pub fn new(text: &str, known: &KnownSources, constraints: &CompiledConstraints) -> Self {
        let copied = &known.text.copied;
        let items = known.items(text, constraints);
        if items.is_empty() {
            return Self::default();
        }
        let mut unused = [copied.numbers(), copied.names()].map(|words| {
            let unused = words.iter().filter(|word| find_copy(text, word).is_none());
            unused.cloned().collect::<Vec<_>>().into_iter()
        });
        let mut outside = String::new();
        let mut end = 0;
        let mut stand_ins = Vec::with_capacity(items.len());
        for Item { kind, range } in items {
            outside.push_str(&text[end..range.start]);
            end = range.end;
            if let Some(stand_in) = unused[kind as usize].next() {
                stand_ins.push(StandIn { copied: text[range.clone()].to_owned(), range, text: stand_in });
            }
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
            read.push_same(text, end..range.start);
            read.push(stand_in, &range);
            end = range.end;
        }
        read.push_same(text, end..text.len());
        read
    }

    /// Requires the stand-ins in a translation, where attention is on them in the source. `words` are the places of its words in the
    /// text with the words to copy.
    ///
    /// # Errors
    /// The vocabulary cannot encode them.
    pub fn require(
        &self,
        constraints: &mut DecodingConstraints,
        source: &Segmentation,
        words: &[Range<usize>],
        target: &Vocabulary,
    ) -> Result<()> {
        for StandIn { range, text, .. } in &self.stand_ins {
            let word = word_of_span(words, range);
            let start = source.word_of_token.partition_point(|&of_token| of_token < word);
            let end = source.word_of_token.partition_point(|&of_token| of_token <= word);
            if start < end {
                let term = vec![start..end];
                constraints.required.push(RequiredPhrase { text: text.clone(), tokens: target.encode(text)?, term });
            }
        }
        constraints.surface_forms = Arc::clone(target.surface_forms());
        Ok(())
    }

    /// Puts the copied words in the place of the stand-ins of a hypothesis: adds the text of each token that changes to the
    /// replacements.
    pub fn put_back(&self, hypothesis: &Hypothesis, target: &Vocabulary, replacements: &mut HashMap<usize, String>) {
        if self.is_empty() {
            return;
        }
        let mut texts: Vec<String> = Vec::with_capacity(hypothesis.tokens.len());
        for (index, &token) in hypothesis.tokens.iter().enumerate() {
            let replaced = replacements.get(&index).cloned();
            texts.push(replaced.unwrap_or_else(|| target.surface_forms().text(token).to_owned()));
        }
        let whole = texts.concat();
        let ends: Vec<usize> = texts
            .iter()
            .scan(0, |end, text| {
                *end += text.len();
                Some(*end)
            })
            .collect();
        let mut found: Vec<(Range<usize>, &str)> = Vec::new();
        for StandIn { text, copied, .. } in &self.stand_ins {
            found.extend(find_copy(&whole, text).map(|place| (place, copied.as_str())));
        }
        // From the last on, so that the places before it stay.
        found.sort_by_key(|(place, _)| std::cmp::Reverse(place.start));
        for (place, copied) in found {
            let first = ends.partition_point(|&end| end <= place.start);
            let last = ends.partition_point(|&end| end < place.end);
            let start = place.start - if first > 0 { ends[first - 1] } else { 0 };
            let mut joined = texts[first..=last].concat();
            joined.replace_range(start..start + place.len(), copied);
            for index in first..=last {
                texts[index] = if index == first { std::mem::take(&mut joined) } else { String::new() };
                replacements.insert(index, texts[index].clone());
            }
        }
    }
}
