//! Placeholders of programs, addresses of pages and e-mail addresses in a text.

use std::ops::Range;
use std::sync::LazyLock;

use anyhow::{Result, anyhow};
use regex::{Regex, RegexBuilder};

use crate::error::UsageError;
use crate::text::ProtectedTokens;

/// Regular expression of an address that begins with one pattern and ends with another, or with a closing bracket.
macro_rules! address {
    ($start:literal, $last:literal) => {
        concat!(
            r"\b",
            $start,
            r"(?:[^\s<>()\[\]{}\x22'。，、！？：；「」（）«»“”„‘’‹›]|",
            brackets!(),
            ")*(?:",
            $last,
            "|",
            brackets!(),
            ")"
        )
    };
}

/// Regular expression of brackets with text in them.
macro_rules! brackets {
    () => {
        r"\([^\s<>()\x22]*\)|\[[^\s<>\[\]\x22]*\]|\{\{[^\s<>{}\x22]*\}\}|\{[^\s<>{}\x22]*\}"
    };
}

/// Maximum size of a compiled regular expression, in bytes. The time that matching takes grows with it.
const MAX_COMPILED: usize = 2 << 20;

/// Known kinds of placeholders.
const KNOWN: [&str; 8] = [
    // Addresses, without the punctuation after them, but with brackets that are opened and closed in them.
    address!(r"(?:https?|ftps?)://", r"[^\s<>()\[\]{}\x22'。，、！？：；「」（）«»“”„‘’‹›.,;:!?…]"),
    address!(r"www\.[\w-]+\.", r"[\w/]"),
    r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b",
    // {{x}}, {x}, ${x}, %{x}, {0:.2f}, {x, number}, {}.
    r"\{\{[^{}\n]*\}\}",
    r"[$#%]?\{\s*(?:\w[\w.-]*(?:\s*[,:!\[][^{}\n]*)?)?\s*\}",
    // %s, %1$s, %-5.2f, %ld, %(x)s, and numbers with a unit, as in %dkm; not the percent sign of a number, as in 50%d.
    r"\B%(?:\d+\$|\(\w+\))?[-+#0']*(?:\d+|\*)?(?:\.(?:\d+|\*))?(?:hh?|ll?|[Lqjzt])?(?:[diufFgG][a-zA-Z]{0,3}|[oxXeEaAcCspSn])\b",
    r"\B%(?:\d+\$)?@",
    r"%%",
];

static KNOWN_REGEX: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(&KNOWN.join("|")).ok());

/// True if a known placeholder may be in a text. Compiling the regular expression takes longer than translating a sentence.
fn may_have_known(text: &str) -> bool {
    text.contains(['{', '%', '@']) || text.contains("://") || text.contains("www.")
}

/// Placeholders that programs fill in order, since they have neither a number nor a name.
static UNNUMBERED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^(?:%[-+#0'\d.*hlLqjzt]*(?:[diufFgG][a-zA-Z]{0,3}|[oxXeEaAcCspSn@])|\{(?::[^{}]*)?\})$").ok()
});

/// Pieces of a text that are taken out before translation and put back unchanged.
///
/// The default knows `{x}`, `{{x}}`, `${x}`, `%{x}`, `%s`, `%1$s`, `%(x)s`, `%%`, addresses of pages and e-mail addresses.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Placeholders {
    pattern: PlaceholderPattern,
    /// Tokens that stay in the text.
    kept: ProtectedTokens,
}

#[derive(Clone, Debug, Default)]
enum PlaceholderPattern {
    None,
    /// [`KNOWN`].
    #[default]
    Known,
    Given(Regex),
}

impl PartialEq for PlaceholderPattern {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Given(regex), Self::Given(other)) => regex.as_str() == other.as_str(),
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }
}

impl Placeholders {
    /// Returns a setting without placeholders.
    pub fn none() -> Self {
        Self { pattern: PlaceholderPattern::None, kept: ProtectedTokens::default() }
    }

    /// Returns the placeholders that a regular expression matches, in the syntax of the regex crate.
    ///
    /// # Errors
    /// It is not a regular expression, or too large a one (a [`UsageError`]).
    pub fn matching(regex: &str) -> Result<Self> {
        let parsed = RegexBuilder::new(regex).size_limit(MAX_COMPILED).build().map_err(|error| {
            let message = error.to_string();
            let reason = message.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            anyhow!(UsageError(format!("--placeholders {regex}: {reason}")))
        })?;
        Ok(Self { pattern: PlaceholderPattern::Given(parsed), kept: ProtectedTokens::default() })
    }

    /// Keeps these tokens in the text, since a model was trained to translate them.
    #[must_use]
    pub fn except(self, kept: &ProtectedTokens) -> Self {
        Self { kept: kept.clone(), ..self }
    }

    /// Byte ranges of the placeholders of a text, in order.
    pub(super) fn find(&self, text: &str) -> Vec<Range<usize>> {
        let regex = match &self.pattern {
            PlaceholderPattern::Given(regex) => Some(regex),
            PlaceholderPattern::Known if may_have_known(text) => KNOWN_REGEX.as_ref(),
            PlaceholderPattern::None | PlaceholderPattern::Known => None,
        };
        let is_taken =
            |found: &regex::Match| !found.is_empty() && self.kept.iter().all(|token| token != found.as_str());
        regex.iter().flat_map(|regex| regex.find_iter(text)).filter(is_taken).map(|found| found.range()).collect()
    }
}

/// True for a placeholder whose meaning depends on its order among others.
pub(super) fn is_unnumbered(placeholder: &str) -> bool {
    UNNUMBERED.as_ref().is_some_and(|regex| regex.is_match(placeholder))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(placeholders: &Placeholders, text: &'static str) -> Vec<&'static str> {
        placeholders.find(text).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn finds_known_placeholders() {
        for text in [
            "{x}",
            "{{ user.name }}",
            "${x}",
            "%{count}",
            "{0}",
            "{}",
            "{0:.2f}",
            "{n, number}",
            "{items[0]}",
            "%s",
            "%1$s",
            "%-5.2f",
            "%ld",
            "%(name)s",
            "%@",
            "%2$@",
            "%%",
            "https://a.b/c?d=e&f#g",
            "http://[::1]:80/x",
            "www.example.org/x",
            "www.example.org/a_(b)",
            "https://example.org/{id}",
            "https://example.org/wiki/Paris_(Texas)",
            "https://example.org/{{user}}/[a]/x",
            "%dkm",
            "%.1fm",
            "a.b+c@example.co.uk",
            "ftp://x",
        ] {
            assert_eq!(found(&Placeholders::default(), text), [text]);
        }
        let text = "Hello {name}, see https://a.b/c. (or www.d.e/f), %d%% at a@b.c!";
        let expected = ["{name}", "https://a.b/c", "www.d.e/f", "%d", "%%", "a@b.c"];
        assert_eq!(found(&Placeholders::default(), text), expected);
        let text = "(as in https://a.b/users/{name}.) [https://a.b/c], https://a.b/d(e www.d.e/f).";
        let expected = ["https://a.b/users/{name}", "https://a.b/c", "https://a.b/d", "www.d.e/f"];
        assert_eq!(found(&Placeholders::default(), text), expected);
    }

    #[test]
    fn leaves_ordinary_text() {
        for text in [
            "50%",
            "50 % of",
            "100%sure",
            "%discount",
            "{one two}",
            "{",
            "}",
            "{{",
            "a@b",
            "$5",
            "%",
            "",
            "http://",
            "%y",
        ] {
            assert!(found(&Placeholders::default(), text).is_empty(), "{text}");
        }
        assert!(found(&Placeholders::none(), "{x} %s").is_empty());
    }

    #[test]
    fn keeps_tokens_of_the_model() {
        let tokens = ProtectedTokens::new(["{name}".to_owned()]).unwrap();
        assert_eq!(found(&Placeholders::default().except(&tokens), "{name} {x}"), ["{x}"]);
    }

    #[test]
    fn takes_a_regular_expression() {
        assert_eq!(found(&Placeholders::matching(r"\d*").unwrap(), "a12b3"), ["12", "3"]);
        let message = Placeholders::matching("(").unwrap_err().to_string();
        assert!(message.starts_with("--placeholders (: ") && !message.contains('\n'), "{message}");
        // Matched in a request of 200,000 characters, it would take seconds.
        let message = Placeholders::matching("(?:.{0,300}){9}z").unwrap_err().to_string();
        assert!(message.ends_with("size limit of 2097152 bytes."), "{message}");
    }

    #[test]
    fn knows_placeholders_that_are_filled_in_order() {
        assert!(["%s", "%d", "%dkm", "%.2f", "{}", "{:>5}", "%@"].into_iter().all(is_unnumbered));
        assert!(
            ["%1$s", "{0}", "{x}", "${x}", "%(x)s", "%%", "https://a.b"].into_iter().all(|one| !is_unnumbered(one))
        );
    }
}
