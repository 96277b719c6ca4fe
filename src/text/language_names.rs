//! English names of languages.

use isolang::{Language, languages};

/// Common English names, where ISO 639 has others.
const COMMON_NAMES: [(&str, &str); 14] = [
    ("dv", "Dhivehi"),
    ("el", "Greek"),
    ("fy", "Frisian"),
    ("ht", "Haitian Creole"),
    ("km", "Khmer"),
    ("ky", "Kyrgyz"),
    ("ny", "Chichewa"),
    ("or", "Odia"),
    ("pa", "Punjabi"),
    ("ps", "Pashto"),
    ("si", "Sinhala"),
    ("st", "Sotho"),
    ("to", "Tongan"),
    ("ug", "Uyghur"),
];
/// Minimum letters of the name of a language without a code of two letters, in a header: shorter ones are words, too.
const MIN_NAME: usize = 5;

/// Returns the English name of a language, or its code.
pub fn language_name(code: &str) -> &str {
    let base = code.split('-').next().unwrap_or_default();
    if let Some((_, name)) = COMMON_NAMES.iter().find(|(other, _)| *other == base) {
        return name;
    }
    let language = if base.len() == 2 { Language::from_639_1(base) } else { Language::from_639_3(base) };
    match language {
        Some(language) if language != Language::Und => name(language),
        _ => code,
    }
}

/// Returns the name of a language in ISO 639 without the comment in brackets.
fn name(language: Language) -> &'static str {
    let name = language.to_name();
    name.split_once(" (").map_or(name, |(name, _)| name)
}

/// Returns the code of a language by its English name: that of two letters, if there is one.
pub(super) fn code_of_name(given: &str) -> Option<&'static str> {
    if let Some((code, _)) = COMMON_NAMES.iter().find(|(_, name)| name.eq_ignore_ascii_case(given)) {
        return Some(code);
    }
    let same: Vec<Language> = languages().filter(|language| name(*language).eq_ignore_ascii_case(given)).collect();
    same.iter().find_map(|language| language.to_639_1()).or_else(|| same.first().map(|language| language.to_639_3()))
}

/// True if a word, in lower case, belongs to the name of a language.
pub(super) fn is_language_name(word: &str) -> bool {
    COMMON_NAMES.iter().any(|(_, name)| has_part(name, word))
        || languages().any(|language| match language.to_639_1() {
            Some(_) => has_part(name(language), word),
            None => word.len() >= MIN_NAME && name(language).to_lowercase() == word,
        })
}

/// True if a word, in lower case, is one of the words of a name.
fn has_part(name: &str, word: &str) -> bool {
    name.split(' ').any(|part| part.to_lowercase() == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_codes() {
        for (code, name) in [("fr", "French"), ("zh-Hant", "Chinese"), ("el", "Greek"), ("bzd", "Bribri"), ("xx", "xx")]
        {
            assert_eq!(language_name(code), name);
        }
        for (name, code) in [("french", "fr"), ("Greek", "el"), ("Bribri", "bzd"), ("Swahili", "sw")] {
            assert_eq!(code_of_name(name), Some(code));
        }
        assert_eq!(code_of_name("source"), None);
    }

    #[test]
    fn words_of_a_header_are_names_of_languages() {
        assert!(["welsh", "gaelic", "bribri", "hawaiian"].into_iter().all(is_language_name));
        assert!(["fr", "", "the", "are", "men", "source"].into_iter().all(|word| !is_language_name(word)));
    }
}
