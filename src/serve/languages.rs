//! Languages of models: codes in their names and tags, or those that they were trained on.

use crate::text::{Languages, split_language_code};

/// Direction of translation that a model has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LanguagePair {
    /// Code of the source language.
    pub source: String,
    /// Code of the target language.
    pub target: String,
    /// Tag before each sentence that asks a model of several languages for this one.
    pub tag: Option<String>,
}

impl LanguagePair {
    /// True if both have the same languages, with any tags.
    pub fn has_same_languages(&self, other: &Self) -> bool {
        self.source == other.source && self.target == other.target
    }
}

/// Returns the language pairs of a model: those of its name, such as `en-fr`, `pt-BR-de` or `en-fr:formal`; or the source
/// language in its name and the target languages of its tags; or else the languages that it was trained on, with tags too.
pub fn language_pairs<'t>(
    name: &str,
    trained: Option<&Languages>,
    tags: impl Iterator<Item = &'t str>,
) -> Vec<LanguagePair> {
    let of_name = split_language_code(name.split(':').next().unwrap_or_default());
    let tagged: Vec<(&str, &str)> = tags.filter_map(|tag| Some((tag, language_of_tag(tag)?))).collect();
    let (source, target) = match (of_name, trained) {
        (Some((source, target)), _) if is_code(target) => (source, Some(target)),
        (Some((source, "")), _) if !tagged.is_empty() => (source, None),
        (_, Some(trained)) => (&*trained.source, Some(&*trained.target)),
        (_, None) => return Vec::new(),
    };
    let mut pairs: Vec<LanguagePair> = Vec::new();
    for (tag, target) in tagged {
        pairs.push(LanguagePair { source: source.to_owned(), target: target.to_owned(), tag: Some(tag.to_owned()) });
    }
    pairs.dedup();
    if let Some(target) = target.filter(|_| pairs.is_empty()) {
        pairs.push(LanguagePair { source: source.to_owned(), target: target.to_owned(), tag: None });
    }
    pairs
}

/// Returns the target language that a tag such as `<2fr>` or `>>fr<<` names.
fn language_of_tag(tag: &str) -> Option<&str> {
    let letters = tag.trim_matches(|character: char| !character.is_alphanumeric());
    let code = ["2", "to_", "to-"].iter().find_map(|before| letters.strip_prefix(before)).unwrap_or(letters);
    is_code(code).then_some(code)
}

/// True if a text is the code of a language.
fn is_code(text: &str) -> bool {
    split_language_code(text).is_some_and(|(_, rest)| rest.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(name: &str, tags: &[&str]) -> Vec<String> {
        trained_pairs(name, None, tags)
    }

    fn trained_pairs(name: &str, trained: Option<&str>, tags: &[&str]) -> Vec<String> {
        let trained: Option<Languages> = trained.map(|codes| codes.parse().unwrap());
        language_pairs(name, trained.as_ref(), tags.iter().copied()).into_iter().map(shown).collect()
    }

    fn shown(LanguagePair { source, target, tag }: LanguagePair) -> String {
        format!("{source}>{target}{}", tag.map(|tag| format!(" {tag}")).unwrap_or_default())
    }

    #[test]
    fn names_tell_languages() {
        assert_eq!(pairs("en-fr", &[]), ["en>fr"]);
        assert_eq!(pairs("en-fr:mean", &[]), ["en>fr"]);
        assert_eq!(pairs("pt-BR-zh-Hant", &[]), ["pt-BR>zh-Hant"]);
        for name in ["", "en", "-", "en-", "additive", "my-model", "en-fr-de", "EN-FR", "e-f", "ünï"] {
            assert!(pairs(name, &[]).is_empty(), "{name}");
        }
    }

    #[test]
    fn names_win_over_the_languages_of_the_training() {
        assert_eq!(trained_pairs("my-model", Some("en-fr"), &[]), ["en>fr"]);
        assert_eq!(trained_pairs("abc", Some("en-fr"), &[]), ["en>fr"]);
        assert_eq!(trained_pairs("de-en", Some("en-fr"), &[]), ["de>en"]);
        assert_eq!(trained_pairs("many", Some("en-fr"), &["<2fr>", "<2de>"]), ["en>fr <2fr>", "en>de <2de>"]);
        assert_eq!(trained_pairs("many", Some("en-fr"), &["<noisy>"]), ["en>fr"]);
    }

    #[test]
    fn tags_of_languages_are_targets() {
        assert_eq!(pairs("en", &["<2fr>", ">>de<<", "<noisy>"]), ["en>fr <2fr>", "en>de >>de<<"]);
        assert_eq!(pairs("en-fr", &["<domain>"]), ["en>fr"]);
        assert!(pairs("many", &["<2fr>"]).is_empty());
    }
}
