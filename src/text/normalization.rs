//! What is made of a text before it is cut into units or compared: one of Unicode's normal forms (UAX #15), and lower case.
//!
//! The rules are those that a tokenizer's file names, so Hugging Face's library makes the same of a text, by the same tables.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};
use tokenizers::normalizers::{Lowercase, NFC, NFKC, NormalizerWrapper};
use tokenizers::{NormalizedString, Normalizer};
use unicode_normalization_alignments::{IsNormalized, is_nfc, is_nfc_quick, is_nfd, is_nfkc_quick};

/// How characters are written that can be written in several ways.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NormalForm {
    /// As the text has them.
    #[default]
    None,
    /// Composed: `e` and an accent are `é`.
    Nfc,
    /// Composed, and those of compatibility as what they stand for: `ﬁ` is `fi`, `²` is `2`.
    Nfkc,
}

/// What is made of a text first. By default nothing: so it is for models that are older than this.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Normalization {
    /// The form of its characters.
    pub form: NormalForm,
    /// Whether capitals become small letters.
    pub lowercase: bool,
}

impl NormalForm {
    /// Its name in Unicode's standard.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Nfc => "NFC",
            Self::Nfkc => "NFKC",
        }
    }

    /// The form of a name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::None, Self::Nfc, Self::Nfkc].into_iter().find(|form| form.name() == name)
    }

    /// A text in this form.
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

    /// Whether a text is in this form, as far as a look at each character tells.
    fn is_plainly(self, text: &str) -> bool {
        text.is_ascii()
            || match self {
                Self::None => true,
                Self::Nfc => is_nfc_quick(text.chars()) == IsNormalized::Yes,
                Self::Nfkc => is_nfkc_quick(text.chars()) == IsNormalized::Yes,
            }
    }
}

impl Normalization {
    /// Text is left as it is.
    pub const NONE: Self = Self { form: NormalForm::None, lowercase: false };

    /// The rules as a tokenizer has them. Small letters may compose where capitals do not (`ẖ`), and what a letter of
    /// compatibility stands for may be a capital: so the form is made before and after.
    pub(super) fn rules(self) -> Vec<NormalizerWrapper> {
        let mut rules = Vec::from_iter(self.form.rule());
        if self.lowercase {
            rules.push(Lowercase.into());
            rules.extend(self.form.rule());
        }
        rules
    }

    /// What is made of a text.
    pub fn apply(self, text: &str) -> Cow<'_, str> {
        if !self.lowercase && self.form.is_plainly(text) {
            return Cow::Borrowed(text);
        }
        let mut normalised = NormalizedString::from(text);
        // None of these rules can fail; a text that one did not take stays as it is.
        if self.rules().iter().any(|rule| rule.normalize(&mut normalised).is_err()) || normalised.get() == text {
            return Cow::Borrowed(text);
        }
        Cow::Owned(normalised.get().to_owned())
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

/// In which forms texts are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NormalizationStats {
    /// All texts.
    pub texts: usize,
    /// Those that are not in NFC.
    pub not_composed: usize,
    /// Those that hold a character that can be taken apart.
    pub not_decomposed: usize,
}

impl NormalizationStats {
    /// Counts some texts.
    pub fn of<'t>(texts: impl Iterator<Item = &'t str>) -> Self {
        let mut forms = Self::default();
        for text in texts {
            forms.texts += 1;
            if !text.is_ascii() {
                forms.not_composed += usize::from(!is_nfc(text));
                forms.not_decomposed += usize::from(!is_nfd(text));
            }
        }
        forms
    }

    /// Whether the same character may be there in two forms.
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
    fn forms_are_unicodes_own() {
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
    fn lower_case_is_in_the_form_too() {
        for (text, lower) in [("ÉTÉ", "été"), ("E\u{301}", "é"), ("H\u{331}", "ẖ"), ("İ", "i\u{307}"), ("ABC", "abc")]
        {
            assert_eq!(NFC_LOWERCASE.apply(text), lower);
        }
        assert_eq!(NFKC_LOWERCASE.apply("ℌ"), "h");
        assert_eq!(Normalization { form: NormalForm::None, lowercase: true }.apply("E\u{301}"), "e\u{301}");
    }

    /// Whatever a text is written with, it becomes the same, once and for all.
    #[test]
    fn what_is_normal_stays_so() {
        let every = (0..=0x10_ffff).filter_map(char::from_u32);
        for character in every.filter(|character| !character.is_ascii()) {
            let text = String::from(character);
            let decomposed = NormalizedString::from(&*text).nfd().get().to_owned();
            for normalization in [NFC_LOWERCASE, NFKC_LOWERCASE] {
                for plain in [normalization, Normalization { lowercase: false, ..normalization }] {
                    let once = plain.apply(&text);
                    assert_eq!(plain.apply(&once), once, "{text:?}");
                    assert_eq!(plain.apply(&decomposed), once, "{text:?}");
                }
            }
        }
    }

    #[test]
    fn mixed_forms_are_counted() {
        let forms = |texts: &[&'static str]| NormalizationStats::of(texts.iter().copied());
        assert!(!forms(&["abc", "été", "ﬁ"]).are_mixed() && !forms(&["e\u{301}", "a"]).are_mixed());
        let mixed = forms(&["e\u{301}", "été", "a"]);
        assert!(mixed.are_mixed());
        assert_eq!(mixed, NormalizationStats { texts: 3, not_composed: 1, not_decomposed: 1 });
    }
}
