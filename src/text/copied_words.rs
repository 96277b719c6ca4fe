//! Words that translations copy: numbers, and names that the training data lack.
//!
//! A model writes such a word well only if it has seen it. So a word of the training data that is copied in all its pairs stands in
//! for it (as the typed placeholders of Luong et al. 2015, "Addressing the Rare Word Problem in Neural Machine Translation",
//! section 3), and is put back in the translation.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{Pair, WordSplitting, are_capitals, word_spans};

/// Maximum number of stand-ins of a kind, and so of words in a sentence that are replaced by them.
const MAX_STAND_INS: usize = 8;
/// Least number of occurrences of a stand-in, and of a number that a model has learned.
const MIN_COUNT: usize = 3;
/// Minimum share of the occurrences of a stand-in that are copied.
const MIN_COPIED: f64 = 0.95;
/// Maximum occurrences of a rare word. Rare words tell whether new ones are copied.
const RARE: usize = 2;
/// Least number of rare words that tell it. With fewer, they are.
const MIN_RARE: usize = 5;
/// Maximum number of known numbers.
const MAX_KNOWN: usize = 1000;

/// Words of training pairs that stand in for words to copy.
///
/// ```
/// use softalign::text::{CopiedWords, Pair};
///
/// let pairs = ["Ann", "Bo"].map(|name| Pair::new(format!("I see {name} and 7 dogs."), format!("Je vois {name} et 7 chiens.")));
/// let pairs: Vec<&Pair> = pairs.iter().cycle().take(6).collect();
/// let copied = CopiedWords::new(&pairs);
/// assert_eq!((copied.names(), copied.numbers()), (&["Ann".into(), "Bo".into()][..], &["7".into()][..]));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopiedWords {
    /// Numbers that stand in for others.
    numbers: Vec<String>,
    /// Names that stand in for others.
    names: Vec<String>,
    /// Numbers that a model has learned to translate itself, not always by copying.
    known_numbers: BTreeSet<String>,
    /// True if numbers are copied.
    copies_numbers: bool,
    /// True if names are copied.
    copies_names: bool,
}

/// Occurrences of a word in the sources of pairs.
#[derive(Clone, Copy, Default)]
struct Occurrences {
    all: usize,
    /// Occurrences in pairs whose target contains the word.
    copied: usize,
}

/// Words of the sources of pairs.
#[derive(Default)]
struct Candidates<'t> {
    numbers: HashMap<&'t str, Occurrences>,
    /// Words with a capital, except the first of a text.
    names: HashMap<&'t str, Occurrences>,
    /// Number of occurrences of each other word, without the first of a text.
    lowercase: HashMap<&'t str, usize>,
}

impl CopiedWords {
    /// Collects stand-ins in the sources of pairs.
    pub fn new(pairs: &[&Pair]) -> Self {
        let mut candidates = Candidates::default();
        for pair in pairs {
            candidates.add(pair);
        }
        let Candidates { numbers, names, lowercase } = candidates;
        let known_numbers = frequent(&numbers, MAX_KNOWN).into_iter().map(str::to_owned).collect();
        let mut copied = Self { known_numbers, ..Self::default() };
        if are_copied(&numbers) {
            copied.copies_numbers = true;
            copied.numbers =
                stand_ins(&numbers, |number| number.chars().all(char::is_numeric) && !is_zero_or_one(number));
        }
        // In a language that capitalizes nouns, a capital does not tell a name.
        let rare_names = names.values().filter(|one| one.all <= RARE).count();
        let rare_others = lowercase.values().filter(|&&count| count <= RARE).count();
        if rare_names <= rare_others {
            copied.copies_names = true;
            copied.names = stand_ins(&names, |name| {
                name.chars().all(char::is_alphabetic) && !lowercase.contains_key(&*name.to_lowercase())
            });
        }
        copied
    }

    /// True if nothing is copied.
    pub fn is_empty(&self) -> bool {
        !self.copies_numbers && !self.copies_names
    }

    /// True if names that the training data lack are copied.
    pub fn copies_names(&self) -> bool {
        self.copies_names
    }

    /// Numbers that stand in for others, the most frequent first.
    pub fn numbers(&self) -> &[String] {
        &self.numbers
    }

    /// Names that stand in for others, the most frequent first.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// True for a number that is copied.
    pub fn copies_number(&self, number: &str) -> bool {
        self.copies_numbers && !self.known_numbers.contains(number) || self.is_stand_in(number)
    }

    /// True for a number that stands in for others, and for itself.
    pub fn is_stand_in(&self, number: &str) -> bool {
        self.numbers.iter().any(|one| one == number)
    }
}

impl<'t> Candidates<'t> {
    /// Adds the words of the source of a pair.
    fn add(&mut self, pair: &'t Pair) {
        let are_capitals = are_capitals(&pair.source);
        let mut is_first = true;
        for span in word_spans(&pair.source, WordSplitting::Terms) {
            let word = &pair.source[span];
            let numeral = numeral_end(word);
            if numeral > 0 {
                count(&mut self.numbers, &word[..numeral], &pair.target);
            } else if word.starts_with(char::is_uppercase) {
                if !is_first && !are_capitals {
                    count(&mut self.names, word, &pair.target);
                }
            } else {
                *self.lowercase.entry(word).or_default() += 1;
            }
            is_first &= !word.starts_with(char::is_alphanumeric);
        }
    }
}

fn count<'t>(words: &mut HashMap<&'t str, Occurrences>, word: &'t str, target: &str) {
    let occurrences = words.entry(word).or_default();
    occurrences.all += 1;
    occurrences.copied += usize::from(find_copy(target, word).is_some());
}

/// True if most of the rare words are copied, or if few words tell.
fn are_copied(words: &HashMap<&str, Occurrences>) -> bool {
    let rare: Vec<&Occurrences> = words.values().filter(|one| one.all <= RARE).collect();
    let copied = rare.iter().filter(|one| one.copied == one.all).count();
    rare.len() < MIN_RARE || copied * 2 >= rare.len()
}

/// Returns the stand-ins among words: suitable ones that are nearly always copied, the most frequent first.
fn stand_ins(words: &HashMap<&str, Occurrences>, is_suitable: impl Fn(&str) -> bool) -> Vec<String> {
    let mut suitable = words.clone();
    suitable.retain(|word, one| one.copied as f64 >= MIN_COPIED * one.all as f64 && is_suitable(word));
    frequent(&suitable, MAX_STAND_INS).into_iter().map(str::to_owned).collect()
}

/// Returns the words that are not rare, the most frequent first.
fn frequent<'t>(words: &HashMap<&'t str, Occurrences>, at_most: usize) -> Vec<&'t str> {
    let mut found: Vec<(&str, &Occurrences)> = words.iter().map(|(&word, one)| (word, one)).collect();
    found.retain(|(_, one)| one.all >= MIN_COUNT);
    found.sort_by_key(|&(word, one)| (std::cmp::Reverse(one.all), word));
    found.into_iter().map(|(word, _)| word).take(at_most).collect()
}

/// True for numbers that stand with other forms of words than most.
fn is_zero_or_one(number: &str) -> bool {
    number.trim_start_matches('0').is_empty() || number == "1"
}

/// Returns the length of the number at the beginning of a word: digits, with separators between them, as in `1,234.50`, `9:15` and
/// `924-6770`; 0 without a number.
pub fn numeral_end(word: &str) -> usize {
    let mut end = 0;
    let mut characters = word.char_indices().peekable();
    while let Some((start, character)) = characters.next() {
        let next_is_digit = characters.peek().is_some_and(|(_, next)| next.is_numeric());
        let is_separator = ".,:/-\u{2013}'\u{2019}\u{66b}\u{66c}".contains(character) && end > 0 && next_is_digit;
        if !(character.is_numeric() || is_separator) {
            break;
        }
        end = start + character.len_utf8();
    }
    end
}

/// Returns the first place of a word in a text as a word, or as the beginning of one with an ending, unless it is a number.
pub fn find_copy(text: &str, word: &str) -> Option<Range<usize>> {
    let is_number = word.ends_with(char::is_numeric);
    text.match_indices(word).map(|(start, found)| start..start + found.len()).find(|place| {
        let goes_on = is_number && text[place.end..].starts_with(char::is_numeric);
        !goes_on && !text[..place.start].ends_with(char::is_alphanumeric)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_numbers() {
        for (word, number) in [
            ("244890", "244890"),
            ("1,234.50", "1,234.50"),
            ("9:15", "9:15"),
            ("924-6770", "924-6770"),
            ("20-year-old", "20"),
            ("10th", "10"),
            ("3.", "3"),
            ("٣٤", "٣٤"),
            ("U2", ""),
            ("-", ""),
            ("", ""),
        ] {
            assert_eq!(&word[..numeral_end(word)], number);
        }
    }

    #[test]
    fn finds_copies() {
        for (text, word, found) in [
            ("der 12-jährige", "12", Some(4)),
            ("112 oder 120", "12", None),
            ("Annas Hund", "Anna", Some(0)),
            ("Johanna", "anna", None),
            ("", "8", None),
        ] {
            assert_eq!(find_copy(text, word).map(|place| place.start), found, "{word} in {text}");
        }
    }

    #[test]
    fn a_language_that_capitalizes_nouns_has_no_names() {
        let words = ["Hund", "Katze", "Haus", "Baum", "Berg", "Fluss"];
        let nouns = words.map(|noun| Pair::new(format!("Ein {noun} ist da mit Anna."), "An x is here with Anna."));
        assert!(!CopiedWords::new(&Vec::from_iter(&nouns)).copies_names());
        let others = words.map(|word| Pair::new(format!("A {} with Anna.", word.to_lowercase()), "Un x avec Anna."));
        assert_eq!(CopiedWords::new(&Vec::from_iter(&others)).names(), ["Anna"]);
    }

    #[test]
    fn numbers_that_are_written_in_another_way_are_no_stand_ins() {
        let pair = Pair::new("At 2 and 14 I saw 1 or 1,000.", "À 2 h et 14 h j'ai vu 1 ou 1 000.");
        let copied = CopiedWords::new(&[&pair; 4]);
        assert_eq!(copied.numbers(), ["14", "2"]);
        assert!(["1", "2", "14", "1,000"].iter().all(|number| copied.known_numbers.contains(*number)));
        assert!(CopiedWords::default().is_empty());
    }
}
