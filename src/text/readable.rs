//! Text as a vocabulary can read it: characters that it does not know are replaced by those that look the same to a reader.
//!
//! The equivalents come from Unicode's own data: compatibility decompositions (UAX #15), confusable characters (UTS #39), decimal
//! digits, white space, and characters that are invisible. Characters that the vocabulary knows stay as they are.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use html_escape::NAMED_ENTITIES;
use unicode_normalization_alignments::UnicodeNormalization;
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};
use unicode_security::skeleton;
use unicode_segmentation::UnicodeSegmentation;

use super::mapped_text::MappedText;

/// Maximum length of a character reference that is read, in bytes.
const MAX_REFERENCE: usize = 12;

/// Characters that a vocabulary knows, with their equivalents.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KnownCharacters {
    known: HashSet<char>,
    /// Known sign other than a letter or digit by its skeleton: the prototypes of its confusable characters (UTS #39, section 4).
    signs: HashMap<String, char>,
}

/// Text as a vocabulary can read it, with the places of its characters in the given text.
#[derive(Debug)]
pub enum ReadableText<'t> {
    /// Part of the given text, from so many bytes on.
    Part {
        /// The text.
        text: &'t str,
        /// Place of its beginning.
        start: usize,
    },
    /// Text with other characters.
    Mapped(MappedText),
}

impl KnownCharacters {
    /// Returns the characters of a vocabulary's tokens, in which `space` stands for a space. Capitals of its letters are known, too,
    /// if it reads text in lower case.
    pub fn new<'t>(tokens: impl Iterator<Item = &'t str>, space: &str, lowercase: bool) -> Self {
        let mut known: HashSet<char> = tokens.flat_map(str::chars).collect();
        if space.chars().all(|mark| known.remove(&mark)) {
            known.insert(' ');
        }
        if lowercase {
            let capitals: Vec<char> = known.iter().flat_map(|letter| letter.to_uppercase()).collect();
            known.extend(capitals);
        }
        let mut signs = HashMap::new();
        let mut ordered: Vec<char> = known.iter().copied().filter(|&one| is_sign(one)).collect();
        // The sign of ASCII stands for the others.
        ordered.sort_unstable();
        for sign in ordered {
            signs.entry(skeleton(sign.encode_utf8(&mut [0; 4])).collect()).or_insert(sign);
        }
        Self { known, signs }
    }

    /// Returns a text as the vocabulary can read it: without white space at its ends and with one space between words. A
    /// character without an equivalent stays.
    pub fn readable<'t>(&self, given: &'t str) -> ReadableText<'t> {
        let text = given.trim();
        let start = given.len() - given.trim_start().len();
        if self.is_readable(text) {
            return ReadableText::Part { text, start };
        }
        let mut readable = MappedText::default();
        let mut space: Option<Range<usize>> = None;
        for ReadCharacter { place, character } in self.characters(text) {
            let place = start + place.start..start + place.end;
            if character.is_whitespace() && !(self.known.contains(&character) && character != ' ') {
                space = Some(space.map_or(place.start, |before| before.start)..place.end);
                continue;
            }
            let replaced = self.replaced(character);
            if replaced.is_empty() {
                continue;
            }
            if let Some(space) = space.take().filter(|_| !readable.as_str().is_empty()) {
                readable.push(" ", &space);
            }
            readable.push(&replaced, &place);
        }
        ReadableText::Mapped(readable)
    }

    /// Iterates over the characters of a text. An HTML character reference, as in `don&#39;t`, is one if `&` is unknown.
    fn characters(&self, text: &str) -> impl Iterator<Item = ReadCharacter> {
        let mut start = 0;
        std::iter::from_fn(move || {
            let first = text[start..].chars().next()?;
            let reference = if first == '&' && !self.has('&') { reference(&text[start..]) } else { None };
            let reference = reference.filter(|one| self.reads_reference(one.character));
            let read = reference.unwrap_or(ReadCharacter { place: 0..first.len_utf8(), character: first });
            let place = start..start + read.place.end;
            start = place.end;
            Some(ReadCharacter { place, ..read })
        })
    }

    /// True if references to a character are read as the character.
    fn reads_reference(&self, character: char) -> bool {
        character.is_whitespace() || self.are_in(&self.replaced(character))
    }

    /// Returns the names of the HTML character references that are read as their characters, with these: `quot` and `"`.
    pub fn named_references(&self) -> Vec<(&'static str, char)> {
        let mut references = Vec::new();
        for (name, text) in NAMED_ENTITIES.iter().filter(|_| !self.has('&')) {
            let Ok(name) = std::str::from_utf8(name) else { continue };
            let mut characters = text.chars();
            let (Some(character), None) = (characters.next(), characters.next()) else { continue };
            if name.len() + "&;".len() <= MAX_REFERENCE && self.reads_reference(character) {
                references.push((name, character));
            }
        }
        references
    }

    /// True for a known character.
    pub fn has(&self, character: char) -> bool {
        self.known.contains(&character)
    }

    /// True if all characters of a text, apart from white space, are known.
    pub fn are_in(&self, text: &str) -> bool {
        text.chars().all(|character| character.is_whitespace() || self.known.contains(&character))
    }

    /// Returns the ranges of bytes of a text in which signs stand that have no known equivalent, such as emoji, except within words and
    /// numbers.
    pub fn unknown_signs(&self, text: &str) -> Vec<Range<usize>> {
        let mut found: Vec<Range<usize>> = Vec::new();
        if self.are_in(text) {
            return found;
        }
        let read = self.characters(text).filter(|one| one.place.len() > one.character.len_utf8());
        let references: Vec<Range<usize>> = read.map(|one| one.place).collect();
        for (start, grapheme) in text.grapheme_indices(true) {
            let end = start + grapheme.len();
            let next = references.partition_point(|place| place.end <= start);
            let of_reference = references.get(next).is_some_and(|place| place.contains(&start));
            if of_reference || !grapheme.starts_with(|one| is_sign(one) && !self.are_in(&self.replaced(one))) {
                continue;
            }
            match found.last_mut() {
                Some(last) if last.end == start => last.end = end,
                _ => found.push(start..end),
            }
        }
        found.retain(|place| {
            let ends_word = text[..place.start].ends_with(char::is_alphanumeric);
            !(ends_word && text[place.end..].starts_with(char::is_alphanumeric))
        });
        found
    }

    /// Returns every character of Unicode that is read as something else, apart from white space, with what is read.
    pub fn replacements(&self) -> Vec<(char, String)> {
        let mut replacements = Vec::new();
        for character in ('\0'..=char::MAX).filter(|one| !one.is_whitespace()) {
            let replaced = self.replaced(character);
            if !replaced.chars().eq([character]) {
                replacements.push((character, replaced));
            }
        }
        replacements
    }

    /// True if nothing is to be replaced.
    fn is_readable(&self, text: &str) -> bool {
        let mut after_space = false;
        text.chars().all(|character| {
            let is_second_space = after_space && character == ' ';
            after_space = character == ' ';
            !is_second_space && self.known.contains(&character)
        })
    }

    /// Returns what is read in place of a character; nothing for an invisible one.
    pub(super) fn replaced(&self, character: char) -> String {
        if self.known.contains(&character) {
            return character.to_string();
        }
        if is_invisible(character) {
            return String::new();
        }
        if let Some(digit) = decimal_digit(character).filter(|digit| self.known.contains(digit)) {
            return digit.to_string();
        }
        let compatible: String = std::iter::once(character).nfkc().map(|(one, _)| one).collect();
        let compatible: String = compatible.chars().map(|one| self.known_sign(one).unwrap_or(one)).collect();
        if compatible.chars().all(|one| self.known.contains(&one)) { compatible } else { character.to_string() }
    }

    /// Returns the known sign that looks like an unknown one.
    fn known_sign(&self, sign: char) -> Option<char> {
        if self.known.contains(&sign) || !is_sign(sign) {
            return None;
        }
        self.signs.get(&skeleton(sign.encode_utf8(&mut [0; 4])).collect::<String>()).copied()
    }
}

impl ReadableText<'_> {
    /// The text to read.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Part { text, .. } => text,
            Self::Mapped(mapped) => mapped.as_str(),
        }
    }

    /// Returns the range of the given text that a range of the readable one comes from.
    pub fn given_range(&self, range: Range<usize>) -> Range<usize> {
        match self {
            Self::Part { start, .. } => start + range.start..start + range.end,
            Self::Mapped(mapped) => mapped.other_range(range),
        }
    }
}

/// Character with its range of bytes in a text.
struct ReadCharacter {
    place: Range<usize>,
    character: char,
}

/// Returns the HTML character reference at the beginning of a text, if it stands for one character.
fn reference(text: &str) -> Option<ReadCharacter> {
    let end = text.bytes().take(MAX_REFERENCE).position(|byte| byte == b';')? + 1;
    let decoded = html_escape::decode_html_entities(&text[..end]);
    let mut characters = decoded.chars();
    let character = characters.next().filter(|_| decoded != text[..end] && characters.next().is_none())?;
    Some(ReadCharacter { place: 0..end, character })
}

/// True for signs, which are neither letters, marks, digits, white space nor invisible. Modifier letters, such as the apostrophe
/// U+02BC, are signs here.
fn is_sign(character: char) -> bool {
    let is_modifier = character.general_category() == GeneralCategory::ModifierLetter;
    (is_modifier || !character.is_alphanumeric())
        && !character.is_whitespace()
        && !is_invisible(character)
        && !matches!(
            character.general_category(),
            GeneralCategory::NonspacingMark | GeneralCategory::SpacingMark | GeneralCategory::EnclosingMark
        )
}

/// True for characters that show nothing: format and control characters, variation selectors and fillers.
fn is_invisible(character: char) -> bool {
    matches!(character.general_category(), GeneralCategory::Format | GeneralCategory::Control)
        || matches!(character, '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}')
        || matches!(character, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// Returns the ASCII digit of the same value. Unicode encodes the decimal digits of a script in a row, from zero on.
fn decimal_digit(character: char) -> Option<char> {
    let code = u32::from(character);
    let digits = (0..=code).rev().take_while(|code| {
        char::from_u32(*code).is_some_and(|one| one.general_category() == GeneralCategory::DecimalNumber)
    });
    char::from_digit((code - digits.last()?) % 10, 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(characters: &str) -> KnownCharacters {
        KnownCharacters::new(characters.split(' ').chain(["▁"]), "▁", false)
    }

    fn read(characters: &str, text: &str) -> String {
        known(characters).readable(text).as_str().to_owned()
    }

    const LATIN: &str = "abcdefghijklmnopqrstuvwxyz'\".,!?-()0123456789";

    #[test]
    fn unknown_variants_are_read_as_known_characters() {
        for (given, expected) in [
            ("she doesn\u{2019}t", "she doesn't"),
            ("she doesn\u{2bc}t", "she doesn't"),
            ("\u{201c}no\u{201d}", "\"no\""),
            ("well\u{2013}known \u{2010} a\u{2011}b", "well-known - a-b"),
            ("wait\u{2026}", "wait..."),
            ("\u{ff48}\u{ff45}\u{ff4c}\u{ff4c}\u{ff4f}\u{ff01}", "hello!"),
            ("\u{fb01}nd the o\u{fb03}ce", "find the office"),
            ("black\u{a0}hat\u{202f}a\u{3000}b\tc  d", "black hat a b c d"),
            ("\u{feff}she\u{200b} sl\u{ad}eeps\u{2060}\u{200e}", "she sleeps"),
            ("\u{661}\u{662}\u{6f3}\u{967}\u{1d7d8}\u{1d7ff}", "123109"),
            (" ends \u{a0}", "ends"),
            ("she doesn&#39;t&nbsp;say &quot;no&quot;", "she doesn't say \"no\""),
            ("a&b; &euro; &#x1f436; &;", "a&b; &euro; &#x1f436; &;"),
            ("\u{200b}", ""),
            ("\u{41f} \u{3a9} \u{4e2d} \u{1f436}", "\u{41f} \u{3a9} \u{4e2d} \u{1f436}"),
        ] {
            assert_eq!(read(LATIN, given), expected, "{given:?}");
        }
    }

    #[test]
    fn named_references_are_those_that_are_read() {
        let references = known(LATIN).named_references();
        for (name, character) in &references {
            let given = format!("a&{name};b");
            assert!(!read(LATIN, &given).contains('&'), "{given} is {character:?}");
        }
        let names: Vec<&str> = references.iter().map(|(name, _)| *name).collect();
        assert!(["quot", "nbsp", "rsquo", "hellip", "comma"].iter().all(|name| names.contains(name)), "{names:?}");
        assert!(!names.contains(&"euro"), "no such sign is known");
        assert!(known("a&").named_references().is_empty(), "& is a character of its own");
    }

    #[test]
    fn known_characters_stay() {
        let characters = format!("{LATIN}\u{2019}\u{a0}\u{200d}\u{661}");
        for text in ["doesn\u{2019}t", "a\u{a0}!", "a\u{200d}b", "\u{661}"] {
            assert_eq!(read(&characters, text), text);
        }
    }

    #[test]
    fn letters_of_other_scripts_are_not_confused() {
        assert_eq!(read(LATIN, "\u{430}"), "\u{430}", "a Cyrillic letter is no Latin one");
    }

    #[test]
    fn ranges_are_those_of_the_given_text() {
        let known = known(LATIN);
        for (given, part, expected) in [
            (" a b ", "b", "b"),
            ("a\u{2026}b", "...", "\u{2026}"),
            ("a  \u{a0}b", " ", "  \u{a0}"),
            ("x\u{feff}yz", "yz", "yz"),
            ("o\u{fb03}ce", "ffi", "\u{fb03}"),
        ] {
            let readable = known.readable(given);
            let start = readable.as_str().find(part).unwrap();
            assert_eq!(&given[readable.given_range(start..start + part.len())], expected, "{given:?}");
        }
        assert_eq!(known.readable("\u{200b}").given_range(0..0), 0..0);
    }
}
