//! Error rates of sentences, and those of single words such as pronunciations and inflected forms.

use serde::Serialize;

use super::edit_distance::{EditStats, character_error_rate, error_rate, word_error_rate};
use super::whitespace::words;

/// Error rates in percent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ErrorRates {
    /// Error rates of sentences.
    Sentences {
        /// Word edits per reference word; may exceed 100.
        word_error_rate: f64,
        /// Character edits per reference character; may exceed 100.
        character_error_rate: f64,
    },
    /// Error rates of single words, such as grapheme-to-phoneme conversion or inflection.
    SingleWords {
        /// Word error rate: share of words with an error.
        wer: f64,
        /// Phone error rate: edits per reference symbol, see [`edited_symbols`]; may exceed 100.
        per: f64,
    },
}

impl ErrorRates {
    /// Returns the error rates of hypotheses. `single_words` is true if every source is a single word.
    pub fn compute(hypotheses: &[impl AsRef<str>], references: &[impl AsRef<str>], single_words: bool) -> Self {
        if single_words {
            return Self::SingleWords {
                wer: error_rate(hypotheses, references, EditStats::of_whole),
                per: error_rate(hypotheses, references, edited_symbols(references)),
            };
        }
        Self::Sentences {
            word_error_rate: word_error_rate(hypotheses, references),
            character_error_rate: character_error_rate(hypotheses, references),
        }
    }

    /// Returns the rate of words, and the rate of symbols or characters.
    pub fn values(self) -> [f64; 2] {
        match self {
            Self::Sentences { word_error_rate, character_error_rate } => [word_error_rate, character_error_rate],
            Self::SingleWords { wer, per } => [wer, per],
        }
    }
}

/// Returns the function that counts edits of the references' symbols: words, or characters if each reference is a single
/// word.
pub fn edited_symbols(references: &[impl AsRef<str>]) -> fn(&str, &str) -> EditStats {
    let spelled = references.iter().any(|reference| words(reference.as_ref()).len() > 1);
    if spelled { EditStats::of_words } else { EditStats::of_characters }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates(hypotheses: [&str; 2], references: [&str; 2]) -> [f64; 2] {
        let rates = ErrorRates::compute(&hypotheses, &references, true);
        assert!(matches!(rates, ErrorRates::SingleWords { .. }));
        rates.values()
    }

    #[test]
    fn symbols_are_phones_or_characters() {
        let [wer, per] = rates(["f o x", "o w"], ["f o x", "o w l"]);
        assert!((wer - 50.0).abs() < 1e-9 && (per - 100.0 / 6.0).abs() < 1e-9, "{wer} {per}");
        let [wer, per] = rates(["foxes", "owl"], ["foxes", "owls"]);
        assert!((wer - 50.0).abs() < 1e-9 && (per - 100.0 / 9.0).abs() < 1e-9, "{wer} {per}");
    }

    #[test]
    fn json_has_one_name_for_each_rate() {
        for (single_words, expected) in [(false, ["character_error_rate", "word_error_rate"]), (true, ["per", "wer"])] {
            let json = serde_json::to_value(ErrorRates::compute(&["a"], &["b"], single_words)).unwrap();
            let keys: Vec<&String> = json.as_object().unwrap().keys().collect();
            assert_eq!(keys, expected);
        }
    }
}
