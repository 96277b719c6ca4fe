//! Languages of models: codes in their names and tags.

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

/// Returns the language pairs of a model: those of its name, such as `en-fr`, `pt-BR-de` or `en-fr:formal`, or of the source
/// language in its name and the target languages of its tags.
pub fn language_pairs<'t>(name: &str, tags: impl Iterator<Item = &'t str>) -> Vec<LanguagePair> {
    let languages = name.split(':').next().unwrap_or_default();
    let Some((source, target)) = split_code(languages) else { return Vec::new() };
    let tagged = tags.filter_map(|tag| {
        let letters = tag.trim_matches(|character: char| !character.is_alphanumeric());
        let code = ["2", "to_", "to-"].iter().find_map(|before| letters.strip_prefix(before)).unwrap_or(letters);
        let (target, _) = split_code(code).filter(|(_, rest)| rest.is_empty())?;
        Some(LanguagePair { source: source.to_owned(), target: target.to_owned(), tag: Some(tag.to_owned()) })
    });
    let mut pairs: Vec<LanguagePair> = tagged.collect();
    pairs.dedup();
    if pairs.is_empty()
        && let Some((target, "")) = split_code(target)
    {
        pairs.push(LanguagePair { source: source.to_owned(), target: target.to_owned(), tag: None });
    }
    pairs
}

/// Splits a language code, with a script or a region, off the start of a text. Also returns what follows a hyphen.
fn split_code(text: &str) -> Option<(&str, &str)> {
    let parts: Vec<&str> = text.split('-').collect();
    let is_language = |part: &str| (2..=3).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_lowercase());
    let is_region = |part: &str| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_uppercase());
    let is_script = |part: &str| {
        part.len() == 4
            && part
                .bytes()
                .enumerate()
                .all(|(index, byte)| byte.is_ascii_alphabetic() && byte.is_ascii_uppercase() == (index == 0))
    };
    is_language(parts.first()?).then_some(())?;
    let has_variety = parts.get(1).is_some_and(|part| is_region(part) || is_script(part));
    let end = parts[..1 + usize::from(has_variety)].join("-").len();
    Some((&text[..end], text[end..].trim_start_matches('-')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(name: &str, tags: &[&str]) -> Vec<String> {
        let shown = |LanguagePair { source, target, tag }: LanguagePair| {
            format!("{source}>{target}{}", tag.map(|tag| format!(" {tag}")).unwrap_or_default())
        };
        language_pairs(name, tags.iter().copied()).into_iter().map(shown).collect()
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
    fn tags_of_languages_are_targets() {
        assert_eq!(pairs("en", &["<2fr>", ">>de<<", "<noisy>"]), ["en>fr <2fr>", "en>de >>de<<"]);
        assert_eq!(pairs("en-fr", &["<domain>"]), ["en>fr"]);
        assert!(pairs("many", &["<2fr>"]).is_empty());
    }
}
