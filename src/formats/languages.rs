//! Languages of the sides of a file.

use super::FormatError;

/// True if two codes stand for one language: they are equal, or one of them has a region or a script too, as `en` and `EN-us`.
pub(super) fn is_same(code: &str, other: &str) -> bool {
    let [code, other] = [code, other].map(|code| code.trim().to_ascii_lowercase().replace('_', "-"));
    let (short, long) = if code.len() <= other.len() { (&code, &other) } else { (&other, &code) };
    !short.is_empty() && long.strip_prefix(&**short).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

/// True if the sides that are asked for are those of a file in the other order.
///
/// # Errors
/// The file is in other languages.
pub(super) fn is_reversed(sides: Option<&[String; 2]>, of_file: [Option<&str>; 2]) -> Result<bool, FormatError> {
    let Some([source, target]) = sides else { return Ok(false) };
    let fits = [0, 1].map(|first| {
        let [one, other] = [of_file[first], of_file[1 - first]];
        one.is_none_or(|one| is_same(one, source)) && other.is_none_or(|other| is_same(other, target))
    });
    match fits {
        [true, _] => Ok(false),
        [false, true] => Ok(true),
        [false, false] => {
            let languages = of_file.map(|language| language.unwrap_or("another language"));
            let reason = format!("the file is in {} and {}, not {source} and {target}", languages[0], languages[1]);
            Err(FormatError::last(1, reason))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compares_codes_with_and_without_regions() {
        for (code, other) in [("en", "EN"), ("en", "en-US"), ("pt_BR", "pt-br"), ("EN-GB", "en")] {
            assert!(is_same(code, other), "{code} {other}");
        }
        for (code, other) in [("en", "enm"), ("en-US", "en-GB"), ("", "en"), ("fr", "en")] {
            assert!(!is_same(code, other), "{code} {other}");
        }
    }

    #[test]
    fn sides_may_be_asked_for_in_the_other_order() {
        let sides = ["fr", "en"].map(str::to_owned);
        assert_eq!(is_reversed(None, [Some("en"), Some("fr")]), Ok(false));
        assert_eq!(is_reversed(Some(&sides), [Some("en"), Some("fr-FR")]), Ok(true));
        assert_eq!(is_reversed(Some(&sides), [Some("fr"), None]), Ok(false));
        assert_eq!(is_reversed(Some(&sides), [None, None]), Ok(false));
        let error = is_reversed(Some(&sides), [Some("en"), Some("de")]).unwrap_err();
        assert_eq!(error.reason, "the file is in en and de, not fr and en");
    }
}
