//! Sentences as a model reads them: in the case that it knows, and with words that it knows in place of those to copy.

use std::borrow::Cow;
use std::ops::Range;

use anyhow::Result;

use super::constraints::CompiledConstraints;
use super::letter_case::{CasedText, LetterCase};
use super::stand_ins::{KnownSources, StandIns};
use super::{Sentence, Translation, Translator, segment_as_read};
use crate::checkpoint::Checkpoint;
use crate::text::{MappedText, Segmentation, Vocabulary, WordSplitting, locate_words, word_spans};

/// Sentence as a model reads it.
pub(super) struct ReadSentence<'s> {
    /// Sentence as it is given.
    pub given: &'s Sentence,
    /// Sentence as it is read.
    pub sentence: Cow<'s, Sentence>,
    /// Text as it is read, with its places in the given one; none if it is read as it is.
    read: Option<MappedText>,
    /// Case of the translation.
    case: LetterCase,
    /// Words to copy, with the words that are read in their place.
    pub stand_ins: StandIns,
}

impl<'s> ReadSentence<'s> {
    /// Reads a sentence in the case that the model knows, with words that it knows in place of those to copy, unless something has
    /// to be in its translation as it is given.
    ///
    /// # Errors
    /// The model's aligner is damaged.
    pub fn new(given: &'s Sentence, translator: &Translator, constraints: &CompiledConstraints) -> Result<Self> {
        let Checkpoint { config, source, .. } = &*translator.checkpoint;
        if config.text.source_tokenization.are_characters() || constraints.hold_for_texts(given) {
            return Ok(Self::as_given(given));
        }
        let mut own = Self { stand_ins: stand_ins(given, translator, constraints)?, ..Self::as_given(given) };
        if !own.stand_ins.is_empty() {
            let read = own.stand_ins.put_in(&given.text, given.prefix_len);
            own.sentence = Cow::Owned(Sentence { text: read.as_str().to_owned(), ..given.clone() });
            own.read = Some(read);
        }
        if let Some(cased) = CasedText::new(own.sentence.given(), source, &config.text.truecaser) {
            own.read_in_case(cased);
        }
        Ok(own)
    }

    /// Reads the sentence in another case, unless its words are others then.
    fn read_in_case(&mut self, cased: CasedText) {
        let text = self.sentence.with_text(&cased.text);
        let Some(recased) = in_other_case(&self.sentence.text, &text.text, self.read.as_ref()) else { return };
        self.case = cased.case;
        if let LetterCase::Words(ranges) = &mut self.case {
            for range in ranges {
                let of_text = self.given.prefix_len + range.start..self.given.prefix_len + range.end;
                *range = self.read.as_ref().map_or(of_text.clone(), |read| read.other_range(of_text));
            }
        }
        (self.read, self.sentence) = (Some(recased), Cow::Owned(text));
    }

    /// Returns a sentence that is read as it is.
    fn as_given(given: &'s Sentence) -> Self {
        let (read, stand_ins) = (None, StandIns::default());
        Self { given, sentence: Cow::Borrowed(given), read, case: LetterCase::Same, stand_ins }
    }

    /// Segments the sentence as it is read, with the words of the given one.
    pub fn segment(&self, vocabulary: &Vocabulary, words: WordSplitting) -> Result<Segmentation> {
        segment_as_read(vocabulary, &self.given.text, self.read.as_ref(), words)
    }

    /// Returns the source tokens of each word that is read in place of others.
    pub fn stand_in_sources(&self, source: &Segmentation, words: WordSplitting) -> Vec<Option<Range<usize>>> {
        if self.stand_ins.is_empty() {
            return Vec::new();
        }
        let offset = self.given.prefix_len;
        self.stand_ins.sources(source, &word_spans(&self.given.text, words), offset)
    }

    /// Gives a translation the case of the given text.
    pub fn in_given_case(&self, mut translation: Translation, splitting: [WordSplitting; 2]) -> Translation {
        if self.case != LetterCase::Same {
            let of_words = self.translations_of_words(&translation, splitting[0]);
            translation.text = self.case.apply(&translation.text, &of_words);
            translation.alignment.set_target_words(words(&translation.text, splitting[1]));
        }
        translation
    }
}

impl ReadSentence<'_> {
    /// Returns the bytes of the target words with the most attention on the words that [`LetterCase::Words`] names.
    fn translations_of_words(&self, translation: &Translation, splitting: WordSplitting) -> Vec<Range<usize>> {
        let LetterCase::Words(ranges) = &self.case else { return Vec::new() };
        let spans = word_spans(&self.given.text, splitting);
        let alignment = translation.alignment.by_words();
        let places = locate_words(&translation.text, alignment.target());
        let mut named = Vec::new();
        for (row, place) in alignment.rows().zip(places) {
            let most = (0..row.len()).max_by(|one, other| row[*one].total_cmp(&row[*other]));
            let Some(word) = most.and_then(|word| spans.get(word)) else { continue };
            if ranges.iter().any(|range| range.start < word.end && word.start < range.end) {
                named.push(place);
            }
        }
        named
    }
}

/// Returns the words to copy of a sentence, if the model's translations copy any.
fn stand_ins(given: &Sentence, translator: &Translator, constraints: &CompiledConstraints) -> Result<StandIns> {
    let Checkpoint { config, source, .. } = &*translator.checkpoint;
    if config.text.copied.is_empty() {
        return Ok(StandIns::default());
    }
    let words = translator.known_words(0)?;
    let known = KnownSources { text: &config.text, vocabulary: source, words: words.as_deref() };
    Ok(StandIns::new(given.given(), &known, constraints))
}

/// Returns the places of a text in another case, whose words are those of the text as it is read so far; none if they differ.
fn in_other_case(text: &str, cased: &str, read: Option<&MappedText>) -> Option<MappedText> {
    let [spans, cased_spans] = [text, cased].map(|text| word_spans(text, WordSplitting::Terms));
    if spans.len() != cased_spans.len() {
        return None;
    }
    let mut mapped = MappedText::default();
    let (mut end, mut cased_end) = (0, 0);
    for (span, cased_span) in spans.into_iter().zip(cased_spans) {
        for (range, cased_range) in [(end..span.start, cased_end..cased_span.start), (span.clone(), cased_span.clone())]
        {
            mapped.push(&cased[cased_range], &read.map_or(range.clone(), |read| read.other_range(range)));
        }
        (end, cased_end) = (span.end, cased_span.end);
    }
    let rest = end..text.len();
    mapped.push(&cased[cased_end..], &read.map_or(rest.clone(), |read| read.other_range(rest)));
    Some(mapped)
}

fn words(text: &str, splitting: WordSplitting) -> Vec<String> {
    word_spans(text, splitting).into_iter().map(|span| text[span].to_owned()).collect()
}
