//! Placeholders of programs, addresses of pages and e-mail addresses in a text.

use std::ops::Range;
use std::sync::LazyLock;

use anyhow::{Result, anyhow};
use regex::{Regex, RegexBuilder};

use crate::error::UsageError;
use crate::text::{Normalization, ProtectedTokens};

/// Regular expression of an address that begins with one pattern and ends with another, or with a closing bracket.
macro_rules! address {
    ($start:expr, $last:expr) => {
        concat!(
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

/// Regular expression of an e-mail address, or of several that touch each other.
macro_rules! email {
    () => {
        r"\w[\w.+-]*(?:@[\w-]+(?:\.[\w-]+)+)+"
    };
}

/// Known kinds of placeholders, whatever stands beside them.
const KNOWN: [&str; 8] = [
    // Addresses, without the punctuation after them, but with brackets that are opened and closed in them. An e-mail address
    // that touches a page's reads as its scheme.
    address!(
        concat!("(?:https?|s?ftps?|", email!(), ")://"),
        r"[^\s<>()\[\]{}\x22'。，、！？：；「」（）«»“”„‘’‹›.,;:!?…]"
    ),
    address!(r"www\.[\w-]+\.", r"[\w/@]"),
    concat!(email!(), r"\b"),
    // {{x}}, {x}, ${x}, %{x}, {0:.2f}, {x, number}, {}.
    r"\{\{[^{}\n]*\}\}",
    r"[$#%]?\{\s*(?:\w[\w.-]*(?:\s*[,:!\[][^{}\n]*)?)?\s*\}",
    // %s, %1$s, %-5.2f, %ld, %(x)s. A space flag is none: it would make 50% of a placeholder.
    r"%(?:\d+\$|\(\w+\))?[-+#0']*(?:\d+|\*)?(?:\.(?:\d+|\*))?(?:hh?|ll?|[Lqjzt])?[diufFgGoxXeEaAcCspSn]",
    r"%(?:\d+\$)?@",
    r"%%",
];

/// Conversions of numbers, which a token may follow, as in `%dkm`.
const NUMBERS: [char; 7] = ['d', 'i', 'u', 'f', 'F', 'g', 'G'];
/// Maximum length of a token.
const MAX_TOKEN: usize = 3;

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
    /// Names of the placeholders whose places constraints know.
    placed: Vec<String>,
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
        Self { pattern: PlaceholderPattern::None, ..Self::default() }
    }

    /// Returns the placeholders that a regular expression matches, in the syntax of the regex crate.
    ///
    /// # Errors
    /// It is not a regular expression, or too large a one (a [`UsageError`]).
    pub fn matching(regex: &str) -> Result<Self> {
        let parsed = RegexBuilder::new(regex).size_limit(MAX_COMPILED).build().map_err(|error| {
            let message = error.to_string();
            let reason = message.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            anyhow!(UsageError::of("placeholders", format!("{regex}: {reason}")))
        })?;
        Ok(Self { pattern: PlaceholderPattern::Given(parsed), ..Self::default() })
    }

    /// Keeps these tokens in the text, since a model was trained to translate them.
    #[must_use]
    pub fn except(self, kept: &ProtectedTokens) -> Self {
        Self { kept: kept.clone(), ..self }
    }

    /// Keeps placeholders with these names apart from others, so that constraints can place them.
    #[must_use]
    pub(super) fn placing(self, placed: Vec<String>) -> Self {
        Self { placed, ..self }
    }

    /// Returns the name of a placeholder if constraints place it.
    pub(super) fn placed_name(&self, placeholder: &str) -> Option<String> {
        let name = if self.placed.is_empty() { None } else { Some(name(placeholder)) };
        name.filter(|name| self.placed.contains(name))
    }

    /// Byte ranges of the placeholders of a text, in order.
    pub(super) fn find(&self, text: &str) -> Vec<Range<usize>> {
        let mut found = match &self.pattern {
            PlaceholderPattern::Given(regex) => regex.find_iter(text).map(|found| found.range()).collect(),
            PlaceholderPattern::Known if may_have_known(text) => find_known(text),
            PlaceholderPattern::None | PlaceholderPattern::Known => Vec::new(),
        };
        found.retain(|range| !range.is_empty() && self.kept.iter().all(|token| token != &text[range.clone()]));
        found
    }
}

/// Byte ranges of the known placeholders of a text, in order.
fn find_known(text: &str) -> Vec<Range<usize>> {
    let matches = KNOWN_REGEX.iter().flat_map(|regex| regex.find_iter(text)).map(|found| found.range());
    let mut found: Vec<Range<usize>> = matches.filter(|range| !is_percent_sign(text, range)).collect();
    for index in 0..found.len() {
        let next = found.get(index + 1).map_or(text.len(), |next| next.start);
        let range = &mut found[index];
        if text[range.clone()].starts_with('%') && text[range.clone()].ends_with(NUMBERS) {
            range.end += token_length(&text[range.end..next], &text[next..]);
        }
    }
    found
}

/// True for what looks like a placeholder with flags, but is the percent sign of a number, as in `20%-ige` and `the top 1%'s`:
/// flags without a width mean little.
fn is_percent_sign(text: &str, found: &Range<usize>) -> bool {
    let after_sign = text[found.clone()].strip_prefix('%');
    let after_flags = after_sign.map(|rest| rest.trim_start_matches(['-', '+', '#', '\'']));
    text[..found.start].ends_with(char::is_numeric)
        && after_sign != after_flags
        && after_flags.is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_alphabetic()))
}

/// Length of the token at the start of a text: 0 if there is none. `next` is what follows the text.
fn token_length(text: &str, next: &str) -> usize {
    let rest = text.trim_start_matches(|one: char| one.is_ascii_alphabetic());
    let length = text.len() - rest.len();
    let continues = rest.chars().chain(next.chars()).next().is_some_and(|one| one.is_alphanumeric() || one == '_');
    if length > MAX_TOKEN || continues { 0 } else { length }
}

/// Returns what two writings of a placeholder have in common: its text in NFC and lowercase, as models read theirs.
pub(super) fn name(placeholder: &str) -> String {
    Normalization::folded(placeholder)
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

    /// Each known kind, next to each other one and to characters of all sorts.
    #[test]
    fn finds_placeholders_whatever_stands_beside_them() {
        const KINDS: [&str; 23] = [
            "{x}",
            "{{x}}",
            "${x}",
            "%{x}",
            "{}",
            "{0:.2f}",
            "{n, number}",
            "%s",
            "%d",
            "%i",
            "%1$s",
            "%(a)s",
            "%(b)d",
            "%-5.2f",
            "%ld",
            "%@",
            "%2$@",
            "%%",
            "https://a.b/c",
            "http://a.b",
            "ftp://x",
            "www.a.org",
            "a.b@c.org",
        ];
        let others =
            ["", " ", "a", "v", "Z", "é", "7", "50", "_", "-", ".", ",", "(", "\"", "/", "第", "页", "한", "😀"];
        let neighbors: Vec<&str> = others.into_iter().chain(KINDS).collect();
        for kind in KINDS {
            for before in &neighbors {
                for after in &neighbors {
                    let text = format!("{before}{kind}{after}");
                    let place = before.len()..before.len() + kind.len();
                    let mut covered = place.start;
                    for range in Placeholders::default().find(&text) {
                        if range.start <= covered && covered < range.end {
                            covered = range.end;
                        }
                    }
                    assert!(covered >= place.end, "{text}: {:?}", Placeholders::default().find(&text));
                }
            }
        }
        for (text, expected) in [
            ("%dx%d", &["%dx", "%d"][..]),
            ("v%s or %s_%s", &["%s", "%s", "%s"]),
            ("第%d页 50%d", &["%d", "%d"]),
            ("%(a)s%(b)s%%%s", &["%(a)s", "%(b)s", "%%", "%s"]),
        ] {
            assert_eq!(found(&Placeholders::default(), text), expected);
        }
    }

    #[test]
    fn leaves_ordinary_text() {
        for text in [
            "50%",
            "50 %",
            "50 % of",
            "50% of",
            "eine 20%-ige",
            "the top 1%'s",
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
