//! Rare variants of characters in a corpus, which a vocabulary need not know since it reads them as the frequent ones.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

use super::readable::KnownCharacters;

/// Maximum occurrences of a rare variant for each occurrence of the frequent one.
const MAX_SHARE: f64 = 0.1;

/// Apostrophes, quotes and white space of texts that are rare beside others that look the same, such as ’ in a corpus that has '.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RareVariants {
    variants: Vec<RareVariant>,
    /// Characters of the texts, without the rare variants.
    others: KnownCharacters,
}

/// Rare variant of a character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RareVariant {
    /// The rare character.
    pub character: char,
    /// Text that is read in place of the character.
    pub read_as: String,
    /// Number of occurrences.
    pub count: usize,
}

impl fmt::Display for RareVariant {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { character, read_as, count } = self;
        if !character.is_whitespace() {
            write!(formatter, "{character} ")?;
        }
        let times = if *count == 1 { "once" } else { &format!("{count} times") };
        let read_as = if read_as == " " { "a space" } else { read_as };
        write!(formatter, "(U+{:04X}, {times}) is read as {read_as}, which is more frequent", u32::from(*character))
    }
}

impl RareVariants {
    /// Finds the rare variants of texts.
    pub fn new<'t>(texts: impl Iterator<Item = &'t str>) -> Self {
        let mut counts: BTreeMap<char, usize> = BTreeMap::new();
        for character in texts.flat_map(str::chars) {
            *counts.entry(character).or_default() += 1;
        }
        let mut variants = Vec::new();
        for (&character, &count) in counts.iter().filter(|(character, _)| may_be_variant(**character)) {
            let others = known_without(&counts, &[character]);
            let read_as = if character.is_whitespace() { " ".to_owned() } else { others.replaced(character) };
            let frequent = read_as.chars().map(|one| counts.get(&one).copied().unwrap_or_default()).min();
            let is_other = !read_as.contains(character) && !read_as.contains(char::is_alphanumeric);
            if is_other && frequent.is_some_and(|frequent| count as f64 <= MAX_SHARE * frequent as f64) {
                variants.push(RareVariant { character, read_as, count });
            }
        }
        let characters: Vec<char> = variants.iter().map(|one| one.character).collect();
        let others = if variants.is_empty() { KnownCharacters::default() } else { known_without(&counts, &characters) };
        Self { variants, others }
    }

    /// The rare variants.
    pub fn variants(&self) -> &[RareVariant] {
        &self.variants
    }

    /// Returns a text with the frequent characters in place of the rare ones.
    pub fn fold<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.variants.iter().any(|one| text.contains(one.character)) {
            self.others.readable(text).as_str().to_owned().into()
        } else {
            text.into()
        }
    }
}

/// Returns the characters of a corpus without some of them.
fn known_without(counts: &BTreeMap<char, usize>, left_out: &[char]) -> KnownCharacters {
    let known: String = counts.keys().filter(|one| !left_out.contains(one)).collect();
    KnownCharacters::new(std::iter::once(known.as_str()), "", false)
}

/// True for punctuation other than dashes, which mean different things, for apostrophes that are letters, and for white space.
fn may_be_variant(character: char) -> bool {
    use GeneralCategory::{DashPunctuation, ModifierLetter, ModifierSymbol};
    let category = character.general_category();
    character.is_whitespace() && !matches!(character, ' ' | '\n' | '\t')
        || matches!(category, ModifierLetter | ModifierSymbol)
        || character.general_category_group() == GeneralCategoryGroup::Punctuation && category != DashPunctuation
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_variants_are_read_as_the_frequent_ones() {
        let mut texts = vec!["it's \"his\", isn't it? - no..."; 20];
        texts.extend(["it\u{2019}s", "\u{201c}his\u{201d}", "a\u{a0}b", "no\u{2026}", "no \u{2013} yes", "it\u{2bc}s"]);
        let rare = RareVariants::new(texts.iter().copied());
        let found: String = rare.variants().iter().map(|one| one.character).collect();
        assert_eq!(found, "\u{a0}\u{2bc}\u{2019}\u{201c}\u{201d}\u{2026}");
        for (text, folded) in [
            ("it\u{2019}s a\u{a0}b\u{2026}", "it's a b..."),
            ("\u{201c}his\u{201d} \u{2013}", "\"his\" \u{2013}"),
            ("as  it is", "as  it is"),
        ] {
            assert_eq!(rare.fold(text), folded);
        }
    }

    #[test]
    fn variants_that_are_not_rare_stay() {
        let texts = ["it's it's", "it\u{2019}s", "\u{201e}so\u{201c}"];
        assert_eq!(RareVariants::new(texts.into_iter()).variants(), []);
        assert_eq!(RareVariants::new(std::iter::empty()), RareVariants::default());
    }
}
