//! Sentences of a text (UAX #29), with the abbreviations of a corpus.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use serde::{Deserialize, Serialize};
use unicode_segmentation::UnicodeSegmentation;

/// Least number of places at which a word must be an abbreviation.
const MIN_COUNT: usize = 2;
/// Minimum share of training texts with so many sentences or more, from which on a model has learned to translate them together.
const MIN_SHARE: f64 = 0.01;
/// Maximum number of abbreviations.
const MAX_ABBREVIATIONS: usize = 1000;

/// Splitter of texts into sentences.
///
/// ```
/// use softalign::text::SentenceSplitter;
///
/// let splitter = SentenceSplitter::new(["Dr. Ito sings.", "Is Dr. Ito here?"].into_iter());
/// let text = "Dr. Ito is here. She sings!  So do we.";
/// let sentences: Vec<&str> = splitter.sentences(text).into_iter().map(|range| &text[range]).collect();
/// assert_eq!(sentences, ["Dr. Ito is here.", "She sings!", "So do we."]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentenceSplitter {
    /// Words with a full stop that end no sentence.
    abbreviations: BTreeSet<String>,
    /// Number of sentences that a model has learned to translate together. Texts of as many stay whole.
    per_line: usize,
}

impl Default for SentenceSplitter {
    fn default() -> Self {
        Self { abbreviations: BTreeSet::new(), per_line: 1 }
    }
}

/// Occurrences of a word that has a full stop at its end.
#[derive(Default)]
struct Occurrences {
    /// Occurrences before a capital letter.
    before_capital: usize,
    /// Occurrences at the end of a text.
    at_end: usize,
    /// Occurrences without the full stop.
    without_stop: usize,
}

impl SentenceSplitter {
    /// Collects the abbreviations of training texts, most of which are one sentence: words with a full stop that stand before a
    /// capital letter more often than at the end of a text, or without the full stop. Counts how many sentences a text often has.
    pub fn new<'t>(texts: impl Iterator<Item = &'t str> + Clone) -> Self {
        let mut splitter = Self { abbreviations: abbreviations(texts.clone()), per_line: 1 };
        let mut counts: Vec<usize> = texts.map(|text| splitter.split(text).len()).collect();
        counts.sort_unstable_by(|one, other| other.cmp(one));
        let often = (counts.len() as f64 * MIN_SHARE) as usize;
        splitter.per_line = counts.get(often).copied().unwrap_or(1).max(1);
        splitter
    }

    /// True if each text is one sentence, without abbreviations.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Number of sentences that a model has learned to translate together.
    pub fn per_line(&self) -> usize {
        self.per_line
    }

    /// Returns the parts of a text to translate, without the white space between them: its sentences, or the whole text if it has
    /// no more of them than training texts often had; none of a blank text.
    pub fn sentences(&self, text: &str) -> Vec<Range<usize>> {
        let sentences = self.split(text);
        match &sentences[..] {
            [first, .., last] if sentences.len() <= self.per_line => {
                let whole = first.start..last.end;
                Vec::from([whole])
            }
            _ => sentences,
        }
    }

    /// Returns the sentences of a text. Line ends are white space.
    fn split(&self, text: &str) -> Vec<Range<usize>> {
        let spaced = without_line_ends(text);
        let mut sentences: Vec<Range<usize>> = Vec::new();
        let mut start = None;
        for (place, part) in spaced.split_sentence_bound_indices() {
            let end = place + part.trim_end().len();
            let first = *start.get_or_insert(place + part.len() - part.trim_start().len());
            let rest = &spaced[place + part.len()..];
            if first < end && (rest.trim().is_empty() || self.ends(&spaced[first..end], rest)) {
                sentences.push(first..end);
                start = None;
            }
        }
        sentences
    }

    /// True if a sentence ends here, before the rest of the text.
    fn ends(&self, sentence: &str, rest: &str) -> bool {
        let last = sentence.split_whitespace().next_back().unwrap_or_default();
        let has_letters = sentence.chars().any(char::is_alphabetic);
        let goes_on = rest.trim_start().chars().find(|one| one.is_alphanumeric()).is_some_and(char::is_lowercase);
        has_letters && !goes_on && !is_initial(last) && !self.abbreviations.contains(last)
    }
}

/// Returns the abbreviations of texts: words that hardly occur without their full stop.
fn abbreviations<'t>(texts: impl Iterator<Item = &'t str> + Clone) -> BTreeSet<String> {
    let mut counts: HashMap<&str, Occurrences> = HashMap::new();
    for text in texts.clone() {
        let mut words = text.split_whitespace().peekable();
        while let Some(word) = words.next() {
            if !word.ends_with('.') {
                continue;
            }
            match words.peek() {
                None => counts.entry(word).or_default().at_end += 1,
                Some(next) if next.starts_with(char::is_uppercase) => {
                    counts.entry(word).or_default().before_capital += 1;
                }
                Some(_) => {}
            }
        }
    }
    counts.retain(|_, count| count.before_capital >= MIN_COUNT && count.before_capital > count.at_end);
    for word in texts.flat_map(|text| text.split(|one: char| !one.is_alphanumeric() && one != '.')) {
        if let Some(count) = counts.get_mut(&*format!("{word}.")) {
            count.without_stop += 1;
        }
    }
    counts.retain(|_, count| count.before_capital > count.without_stop);
    let mut found: Vec<(&str, Occurrences)> = counts.into_iter().collect();
    found.sort_by_key(|(word, count)| (std::cmp::Reverse(count.before_capital), *word));
    found.truncate(MAX_ABBREVIATIONS);
    found.into_iter().map(|(word, _)| word.to_owned()).collect()
}

/// True for a single letter with a full stop.
fn is_initial(word: &str) -> bool {
    let mut characters = word.strip_suffix('.').unwrap_or_default().chars();
    characters.next().is_some_and(char::is_alphabetic) && characters.next().is_none()
}

/// Replaces line ends, at which UAX #29 ends sentences, by as many bytes of spaces.
fn without_line_ends(text: &str) -> String {
    let mut spaced = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => {
                spaced.extend(std::iter::repeat_n(' ', character.len_utf8()));
            }
            other => spaced.push(other),
        }
    }
    spaced
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentences<'t>(splitter: &SentenceSplitter, text: &'t str) -> Vec<&'t str> {
        splitter.sentences(text).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn splits_at_the_ends_of_sentences() {
        let splitter = SentenceSplitter::default();
        for (text, expected) in [
            ("She sleeps. He sings.", &["She sleeps.", "He sings."][..]),
            (" One!  Two?\nThree ", &["One!", "Two?", "Three"]),
            ("She\nsleeps. He\r\nsings.", &["She\nsleeps.", "He\r\nsings."]),
            ("It costs 3.50 euros. Too much.", &["It costs 3.50 euros.", "Too much."]),
            ("1. Do this. 2. Do that.", &["1. Do this.", "2. Do that."]),
            ("J. Smith came. He left.", &["J. Smith came.", "He left."]),
            ("\u{201c}Stop!\u{201d} he said. He left.", &["\u{201c}Stop!\u{201d} he said.", "He left."]),
            ("今日は。元気ですか？はい", &["今日は。", "元気ですか？", "はい"]),
            ("वह सोती है। वह गाता है।", &["वह सोती है।", "वह गाता है।"]),
            ("هل تنام؟ نعم.", &["هل تنام؟", "نعم."]),
            ("One line", &["One line"]),
            ("...", &["..."]),
            (" \n", &[]),
            ("", &[]),
        ] {
            assert_eq!(sentences(&splitter, text), expected, "{text:?}");
        }
    }

    #[test]
    fn keeps_the_abbreviations_of_a_corpus_together() {
        let corpus = ["Mr. Ito sings.", "He saw Mr. Ito.", "She saw a hat.", "My hat. The hat.", "Your hat. The end."];
        let splitter = SentenceSplitter { per_line: 1, ..SentenceSplitter::new(corpus.into_iter()) };
        assert_eq!(splitter.abbreviations, BTreeSet::from(["Mr.".to_owned()]));
        assert_eq!(sentences(&splitter, "He saw a hat. Mr. Ito came."), ["He saw a hat.", "Mr. Ito came."]);
    }

    #[test]
    fn names_at_the_ends_of_sentences_are_no_abbreviations() {
        let corpus = ["Hello, Luca. How are you?", "Hello, Luca. Come in.", "Luca sings.", "I see Luca, too."];
        assert!(SentenceSplitter::new(corpus.into_iter()).abbreviations.is_empty());
    }

    #[test]
    fn texts_stay_whole_if_a_model_has_learned_as_many_sentences() {
        let mut corpus = vec!["She sleeps."; 300];
        corpus.extend(["He sings. She sleeps."; 4]);
        let splitter = SentenceSplitter::new(corpus.iter().copied());
        assert_eq!(sentences(&splitter, " He sings.  She sleeps. "), ["He sings.  She sleeps."]);
        assert_eq!(sentences(&splitter, "One. Two. Three."), ["One.", "Two.", "Three."]);
        assert_eq!(SentenceSplitter::new(corpus[..301].iter().copied()).per_line(), 1);
        let stored = serde_json::to_string(&splitter).unwrap();
        assert_eq!(serde_json::from_str::<SentenceSplitter>(&stored).unwrap(), splitter);
    }
}
