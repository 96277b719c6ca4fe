//! Tokenizations of BLEU.

use std::fmt::{self, Display};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use unicode_script::Script;

use super::tokenize_13a::tokenize_13a;
use super::tokenize_intl::tokenize_intl;
use super::tokenize_zh::tokenize_zh;
use super::whitespace::{is_space, words};
use crate::text::{WordSplitting, scripts_without_spaces, word_spans};

/// Maximum share of other scripts than Han, such as kana, in text that is tokenized as Chinese.
const MAX_OTHER_SCRIPTS: f64 = 0.1;

/// Tokenization of BLEU, by sacrebleu's name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum BleuTokenizer {
    /// That of published scores of languages with spaces: ASCII punctuation is split off.
    #[default]
    #[serde(rename = "13a")]
    #[cfg_attr(feature = "cli", value(name = "13a"))]
    V13a,
    /// Chinese: as 13a, and each Chinese character is a token.
    #[serde(rename = "zh")]
    Zh,
    /// Each character is a token.
    #[serde(rename = "char")]
    Char,
    /// International: Unicode's punctuation and symbols are split off.
    #[serde(rename = "intl")]
    Intl,
    /// Split at white space only.
    #[serde(rename = "none")]
    None,
}

impl BleuTokenizer {
    /// All tokenizations.
    pub const ALL: [Self; 5] = [Self::V13a, Self::Zh, Self::Char, Self::Intl, Self::None];

    /// Returns the tokenization that suits references: `zh` if most words are Chinese characters, `char` if they are characters
    /// of other scripts without spaces, else `13a`.
    pub fn for_references(references: &[impl AsRef<str>]) -> Self {
        let (mut all, mut unspaced, mut han) = (0, 0, 0);
        for reference in references {
            let scripts = scripts_without_spaces(reference.as_ref());
            all += word_spans(reference.as_ref(), WordSplitting::Script).len();
            unspaced += scripts.len();
            han += scripts.into_iter().filter(|script| *script == Script::Han).count();
        }
        if 2 * unspaced <= all {
            return Self::V13a;
        }
        let others = (unspaced - han) as f64;
        if others <= MAX_OTHER_SCRIPTS * unspaced as f64 { Self::Zh } else { Self::Char }
    }

    /// Returns sacrebleu's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::V13a => "13a",
            Self::Zh => "zh",
            Self::Char => "char",
            Self::Intl => "intl",
            Self::None => "none",
        }
    }

    /// Returns the tokens of a segment, separated by single spaces.
    pub fn tokenize(self, segment: &str) -> String {
        // A final line break would make a final dash look like hyphenation.
        let segment = segment.trim_end_matches(is_space);
        match self {
            Self::V13a => tokenize_13a(segment),
            Self::Zh => tokenize_zh(segment),
            Self::Char => separated(segment.chars().map(String::from)),
            Self::Intl => tokenize_intl(segment),
            Self::None => words(segment).join(" "),
        }
    }
}

/// Joins tokens by single spaces; those of white space are left out.
fn separated(tokens: impl Iterator<Item = String>) -> String {
    tokens.filter(|token| !token.chars().all(is_space)).collect::<Vec<_>>().join(" ")
}

impl Display for BleuTokenizer {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str(self.name())
    }
}

impl FromStr for BleuTokenizer {
    type Err = String;

    /// Parses sacrebleu's name.
    fn from_str(name: &str) -> Result<Self, String> {
        let names = Self::ALL.map(Self::name);
        Self::ALL
            .into_iter()
            .find(|tokenizer| tokenizer.name() == name)
            .ok_or_else(|| format!("tokenize must be one of {}, not \"{name}\"", names.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn follows_the_script_of_the_references() {
        use BleuTokenizer::{Char, V13a, Zh};
        for (references, tokenizer) in [
            (&["The fox sleeps.", "L'été, c'est chaud"][..], V13a),
            (&["我们昨天看了一本书。", "他不在家", "OK"], Zh),
            (&["猫が好きです。", "自分の事をしろ。"], Char),
            (&["ฉันรักคุณ", "ខ្ញុំស្រឡាញ់អ្នក", "ကျွန်တော်"], Char),
            (&["彼 は つら い 人生 を 送 っ た 。", "自分 の 事 を しろ 。"], V13a),
            (&["나는 고양이를 좋아한다.", "我"], V13a),
            (&["I love 日本 very much."], V13a),
            (&["", "123 !"], V13a),
            (&[], V13a),
        ] {
            assert_eq!(BleuTokenizer::for_references(references), tokenizer, "{references:?}");
        }
    }

    #[test]
    fn tokenizes_characters_and_nothing() {
        assert_eq!(BleuTokenizer::Char.tokenize(" 猫 cat\u{3000}"), "猫 c a t");
        assert_eq!(BleuTokenizer::None.tokenize(" a,  b.\n"), "a, b.");
    }

    #[test]
    fn has_sacrebleus_names() {
        for tokenizer in BleuTokenizer::ALL {
            assert_eq!(tokenizer.name().parse(), Ok(tokenizer));
            assert_eq!(serde_json::to_value(tokenizer).unwrap(), tokenizer.name());
        }
        let error = "ja-mecab".parse::<BleuTokenizer>().unwrap_err();
        assert_eq!(error, "tokenize must be one of 13a, zh, char, intl, none, not \"ja-mecab\"");
    }
}
