//! Translations in a terminal, with words that are probably wrong or made up set off.

use super::escape_controls;
use crate::alignment::QualityEstimate;

/// Confidence below which a word is dim.
const DOUBTFUL: f64 = 0.5;

/// Returns a translation with escaped control characters, in which words with a confidence below one half are dim and words
/// that may be made up are underlined. `words` are those of the estimate, in the order of the text.
pub fn shaded(text: &str, words: &[String], estimate: &QualityEstimate) -> String {
    let (mut shaded, mut rest) = (String::new(), text);
    for (index, (word, confidence)) in words.iter().zip(&estimate.word_confidence).enumerate() {
        let Some((before, after)) = rest.split_once(word.as_str()) else { break };
        let dim = if *confidence < DOUBTFUL { "\x1b[2m" } else { "" };
        let underlined = if estimate.nonwords.contains(&index) { "\x1b[4m" } else { "" };
        let end = if dim.is_empty() && underlined.is_empty() { "" } else { "\x1b[0m" };
        shaded += &format!("{}{dim}{underlined}{}{end}", escape_controls(before), escape_controls(word));
        rest = after;
    }
    shaded + &escape_controls(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubtful_words_are_dim_and_nonwords_underlined() {
        let words = ["le", "patice", "le"].map(str::to_owned);
        let estimate = QualityEstimate { confidence: 0.5, word_confidence: vec![0.9, 0.2, 0.4], nonwords: vec![1] };
        let expected = "le \x1b[2m\x1b[4mpatice\x1b[0m, \x1b[2mle\x1b[0m␊";
        assert_eq!(shaded("le patice, le\n", &words, &estimate), expected);
        assert_eq!(shaded("\x1b[2m", &[], &QualityEstimate { word_confidence: vec![], ..estimate }), "␛[2m");
    }
}
