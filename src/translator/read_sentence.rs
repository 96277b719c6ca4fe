//! Sentences as a model reads them: in the case that it knows, and with words that it knows in place of those to copy.

use std::borrow::Cow;
use std::ops::Range;

use anyhow::Result;

use super::letter_case::{CasedText, LetterCase};
use super::stand_ins::{KnownSources, StandIns};
use super::{PreparedTranslator, Sentence, Translation, segment_as_read};
use crate::checkpoint::Checkpoint;
use crate::search::DecodingConstraints;
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
        let is_named =
            |word: &Range<usize>| ranges.iter().any(|range| range.start < word.end && word.start < range.end);
        let alignment = translation.alignment.by_words();
        let places = locate_words(&translation.text, alignment.target());
        let mut named = Vec::new();
        for (row, place) in alignment.rows().zip(places) {
            let most = (0..row.len()).max_by(|one, other| row[*one].total_cmp(&row[*other]));
            if most.and_then(|word| spans.get(word)).is_some_and(is_named) {
                named.push(place);
            }
        }
        named
    }
}

impl PreparedTranslator {
    /// Reads a sentence in the case that the model knows, with words that it knows in place of those to copy, unless something has
    /// to be in its translation as it is given.
    pub(super) fn read<'s>(&self, given: &'s Sentence) -> Result<ReadSentence<'s>> {
        let Checkpoint { config, source, .. } = &*self.translator().checkpoint;
        if config.text.source_tokenization.are_characters() || self.constraints().hold_for_texts(given) {
            return Ok(ReadSentence::as_given(given));
        }
        let stand_ins = self.stand_ins(given)?;
        let mut read = (!stand_ins.is_empty()).then(|| stand_ins.put_in(&given.text, given.prefix_len));
        let mut sentence = Cow::Borrowed(given);
        if let Some(read) = &read {
            sentence = Cow::Owned(Sentence { text: read.as_str().to_owned(), ..given.clone() });
        }
        let mut case = LetterCase::Same;
        if let Some(cased) = CasedText::new(sentence.given(), source, &config.text.truecaser) {
            let text = sentence.with_text(&cased.text);
            if let Some(recased) = in_other_case(&sentence.text, &text.text, read.as_ref()) {
                case = cased.case;
                if let LetterCase::Words(ranges) = &mut case {
                    for range in ranges {
                        let of_text = given.prefix_len + range.start..given.prefix_len + range.end;
                        *range = read.as_ref().map_or(of_text.clone(), |read| read.other_range(of_text));
                    }
                }
                (read, sentence) = (Some(recased), Cow::Owned(text));
            }
        }
        Ok(ReadSentence { given, sentence, read, case, stand_ins })
    }

    /// Returns the words to copy of a sentence, if there are words to stand in for them.
    fn stand_ins(&self, given: &Sentence) -> Result<StandIns> {
        let Checkpoint { config, source, .. } = &*self.translator().checkpoint;
        if config.text.copied.is_empty() {
            return Ok(StandIns::default());
        }
        let words = self.translator().known_words(0)?;
        let known = KnownSources { text: &config.text, vocabulary: source, words: words.as_deref() };
        Ok(StandIns::new(given.given(), &known, self.constraints()))
    }

    /// Returns the constraints on the search for the translation of a sentence as it is read.
    pub(super) fn read_constraints(&self, read: &ReadSentence, source: &Segmentation) -> Result<DecodingConstraints> {
        let mut constraints = self.decoding_constraints(&read.sentence)?;
        let sources = read.stand_in_sources(source, self.translator().words[0]);
        read.stand_ins.require(&mut constraints, &sources, &self.translator().checkpoint.target)?;
        Ok(constraints)
    }
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
