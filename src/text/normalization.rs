//! Normalization of text before segmentation and comparison: Unicode normal forms (UAX #15) and lowercasing.
//!
//! The rules are those of tokenizer files, so Hugging Face's tokenizers normalize text identically.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};
use tokenizers::normalizers::{Lowercase, NFC, NFKC, NormalizerWrapper};
use tokenizers::{NormalizedString, Normalizer};
use unicode_normalization_alignments::{IsNormalized, is_nfc, is_nfc_quick, is_nfd, is_nfkc_quick};

/// Unicode normal form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum NormalForm {
    /// Canonical composition: e with a combining accent becomes é.
    Nfc,
    /// Compatibility composition: also replaces the ligature ﬁ with fi and full-width with ordinary letters.
    Nfkc,
    /// No normalization: the same word in two forms is two words.
    #[default]
    None,
}

/// Normalization of text. The default, none, applies to models saved before this setting existed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Normalization {
    /// Normal form.
    pub form: NormalForm,
    /// True if text is lowercased.
    pub lowercase: bool,
}

impl Normalization {
    /// Returns a text in NFC and lowercase, by which words are compared.
    pub fn folded(text: &str) -> String {
        Self { form: NormalForm::Nfc, lowercase: true }.apply(text).into_owned()
    }
}

impl NormalForm {
    /// Returns the name in the Unicode standard.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Nfc => "NFC",
            Self::Nfkc => "NFKC",
        }
    }

    /// Returns the form with a name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::None, Self::Nfc, Self::Nfkc].into_iter().find(|form| form.name() == name)
    }

    /// Returns a text in this form.
    pub fn apply(self, text: &str) -> Cow<'_, str> {
        Normalization { form: self, lowercase: false }.apply(text)
    }

    fn rule(self) -> Option<NormalizerWrapper> {
        match self {
            Self::None => None,
            Self::Nfc => Some(NFC.into()),
            Self::Nfkc => Some(NFKC.into()),
        }
    }

    /// True if the quick check shows that a text is in this form.
    fn quick_check(self, text: &str) -> bool {
        text.is_ascii()
            || match self {
                Self::None => true,
                Self::Nfc => is_nfc_quick(text.chars()) == IsNormalized::Yes,
                Self::Nfkc => is_nfkc_quick(text.chars()) == IsNormalized::Yes,
            }
    }
}

impl Normalization {
    /// No normalization.
    pub const NONE: Self = Self { form: NormalForm::None, lowercase: false };

    /// Returns the rules of a tokenizer. The form is applied before and after lowercasing, since lowercase letters may
    /// compose where capitals do not (`ẖ`), and compatibility letters may stand for capitals.
    pub(super) fn rules(self) -> Vec<NormalizerWrapper> {
        let mut rules = Vec::from_iter(self.form.rule());
        if self.lowercase {
            rules.push(Lowercase.into());
            rules.extend(self.form.rule());
        }
        rules
    }

    /// Returns the normalized text.
    pub fn apply(self, text: &str) -> Cow<'_, str> {
        if !self.lowercase && self.form.quick_check(text) {
            return Cow::Borrowed(text);
        }
        let mut normalized = NormalizedString::from(text);
        // These rules cannot fail; after an error the text would stay unchanged.
        if self.rules().iter().any(|rule| rule.normalize(&mut normalized).is_err()) || normalized.get() == text {
            return Cow::Borrowed(text);
        }
        Cow::Owned(normalized.get().to_owned())
    }
}

impl fmt::Display for Normalization {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match (self.form, self.lowercase) {
            (form, false) => write!(formatter, "{}", form.name()),
            (NormalForm::None, true) => write!(formatter, "lower case"),
            (form, true) => write!(formatter, "{}, lower case", form.name()),
        }
    }
}

/// Counts of texts by normal form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NormalizationStats {
    /// Number of texts.
    pub texts: usize,
    /// Number of texts not in NFC.
    pub not_composed: usize,
    /// Number of texts not in NFD.
    pub not_decomposed: usize,
}

impl NormalizationStats {
    /// Counts texts.
    pub fn new<'t>(texts: impl Iterator<Item = &'t str>) -> Self {
        let mut stats = Self::default();
        for text in texts {
            stats.texts += 1;
            if !text.is_ascii() {
                stats.not_composed += usize::from(!is_nfc(text));
                stats.not_decomposed += usize::from(!is_nfd(text));
            }
        }
        stats
    }

    /// True if the same character may occur in two forms.
    pub fn are_mixed(self) -> bool {
        self.not_composed > 0 && self.not_decomposed > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NFC_LOWERCASE: Normalization = Normalization { form: NormalForm::Nfc, lowercase: true };
    const NFKC_LOWERCASE: Normalization = Normalization { form: NormalForm::Nfkc, lowercase: true };

    #[test]
    fn follows_unicode_normal_forms() {
        for (text, nfc, nfkc) in [
            ("cafe\u{301}", "café", "café"),
            ("\u{1100}\u{1161}\u{11a8}", "각", "각"),
            ("a\u{302}\u{323}", "ậ", "ậ"),
            ("ﬁne²", "ﬁne²", "fine2"),
            ("\u{958}", "\u{915}\u{93c}", "\u{915}\u{93c}"),
            ("", "", ""),
            ("\u{301}a \u{301}", "\u{301}a \u{301}", "\u{301}a \u{301}"),
        ] {
            assert_eq!((NormalForm::Nfc.apply(text), NormalForm::Nfkc.apply(text)), (nfc.into(), nfkc.into()));
            assert_eq!(NormalForm::None.apply(text), text);
        }
    }

    #[test]
    fn lowercase_text_is_in_normal_form() {
        for (text, lower) in [("ÉTÉ", "été"), ("E\u{301}", "é"), ("H\u{331}", "ẖ"), ("İ", "i\u{307}"), ("ABC", "abc")]
        {
            assert_eq!(NFC_LOWERCASE.apply(text), lower);
        }
        assert_eq!(NFKC_LOWERCASE.apply("ℌ"), "h");
        assert_eq!(Normalization { form: NormalForm::None, lowercase: true }.apply("E\u{301}"), "e\u{301}");
    }

    #[test]
    fn is_idempotent_and_ignores_decomposition() {
        let every = (0..=0x10_ffff).filter_map(char::from_u32);
        for character in every.filter(|character| !character.is_ascii()) {
            let text = String::from(character);
            let decomposed = NormalizedString::from(&*text).nfd().get().to_owned();
            for normalization in [NFC_LOWERCASE, NFKC_LOWERCASE] {
                for normalization in [normalization, Normalization { lowercase: false, ..normalization }] {
                    let once = normalization.apply(&text);
                    assert_eq!(normalization.apply(&once), once, "{text:?}");
                    assert_eq!(normalization.apply(&decomposed), once, "{text:?}");
                }
            }
        }
    }

    #[test]
    fn detects_mixed_forms() {
        for texts in [&["abc", "été", "ﬁ"][..], &["e\u{301}", "a"]] {
            assert!(!NormalizationStats::new(texts.iter().copied()).are_mixed(), "{texts:?}");
        }
        let mixed = NormalizationStats::new(["e\u{301}", "été", "a"].into_iter());
        assert!(mixed.are_mixed());
        assert_eq!(mixed, NormalizationStats { texts: 3, not_composed: 1, not_decomposed: 1 });
    }
}
