//! Word links and their text formats.
//!
//! Links are written `s-t`, 0-indexed (Pharaoh, Moses). In gold files, `s?t` or `spt` is a possible as opposed to a
//! sure link (Och & Ney 2003, section 6), and some count words from 1.

use std::collections::BTreeSet;

/// A link from a source word to a target word, by position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Link {
    /// Position of the source word, from 0.
    pub source: usize,
    /// Position of the target word, from 0.
    pub target: usize,
}

impl Link {
    /// Moves the link by an offset on either side; `None` if it would precede the first word.
    pub fn moved(self, source: isize, target: isize) -> Option<Self> {
        Some(Self { source: self.source.checked_add_signed(source)?, target: self.target.checked_add_signed(target)? })
    }

    /// Returns true if both words exist in a pair of so many source and target words.
    pub fn in_bounds(self, [sources, targets]: [usize; 2]) -> bool {
        self.source < sources && self.target < targets
    }
}

/// Gold alignment of one sentence pair. `possible` includes all sure links.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gold {
    /// Sure links, S.
    pub sure: BTreeSet<Link>,
    /// Possible links, P ⊇ S.
    pub possible: BTreeSet<Link>,
}

impl Gold {
    /// Adds the links of another gold alignment of the same pair.
    pub fn extend(&mut self, other: Self) {
        self.sure.extend(other.sure);
        self.possible.extend(other.possible);
    }

    /// Converts links counted from `first` to 0-indexed ones; `None` if a link precedes the first word.
    pub fn to_zero_based(&self, first: usize) -> Option<Self> {
        let back = -isize::try_from(first).ok()?;
        let sure: Option<BTreeSet<Link>> = self.sure.iter().map(|link| link.moved(back, back)).collect();
        let possible: Option<BTreeSet<Link>> = self.possible.iter().map(|link| link.moved(back, back)).collect();
        Some(Self { sure: sure?, possible: possible? })
    }

    /// First link outside a pair of so many source and target words.
    pub fn out_of_bounds(&self, size: [usize; 2]) -> Option<Link> {
        self.possible.iter().copied().find(|link| !link.in_bounds(size))
    }
}

/// Parses one line of a gold file: `s-t` for a sure link, `s?t` or `spt` for a possible one, separated by whitespace.
///
/// # Errors
/// Names the first invalid entry.
pub fn parse_gold_line(line: &str) -> Result<Gold, String> {
    let mut gold = Gold::default();
    for entry in line.split_whitespace() {
        let sure = entry.contains('-');
        let link = entry
            .split_once(if sure { &['-'][..] } else { &['?', 'p'] })
            .and_then(|(source, target)| Some(Link { source: source.parse().ok()?, target: target.parse().ok()? }))
            .ok_or_else(|| format!("\"{entry}\" is not a link; expected 3-4 for a sure or 3?4 for a possible link"))?;
        gold.possible.insert(link);
        if sure {
            gold.sure.insert(link);
        }
    }
    Ok(gold)
}

/// Line of a gold file in the format of the NAACL 2003 shared task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NaaclLine {
    /// Index of the sentence, from 0.
    pub sentence: usize,
    /// The link, with words counted from 1; `None` if a word is 0: the other one has no counterpart.
    pub link: Option<Gold>,
}

/// Parses one line of a gold file in the format of the NAACL 2003 shared task (Mihalcea & Pedersen 2003): the number of the
/// sentence, of its source word and of its target word, all from 1, then optionally `S` (sure, the default) or `P` (possible)
/// and a confidence, which is ignored.
///
/// # Errors
/// Describes the line if it is not in this format.
pub fn parse_naacl_line(line: &str) -> Result<NaaclLine, String> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    NaaclLine::from_fields(&fields)
        .ok_or_else(|| format!("\"{}\" is not a link; expected: sentence source target, then S or P", line.trim()))
}

impl NaaclLine {
    fn from_fields(fields: &[&str]) -> Option<Self> {
        let [sentence, source, target, rest @ ..] = fields else { return None };
        let [sentence, source, target] = [sentence, source, target].map(|field| field.parse::<u32>().ok());
        let sure = match rest {
            [] => true,
            [mark] | [mark, _] if ["S", "P"].contains(mark) => *mark == "S",
            [confidence] if confidence.parse::<f64>().is_ok() => true,
            _ => return None,
        };
        let sentence = (sentence? as usize).checked_sub(1)?;
        let link = Link { source: source? as usize, target: target? as usize };
        let possible = BTreeSet::from([link]);
        let gold = Gold { sure: if sure { possible.clone() } else { BTreeSet::new() }, possible };
        Some(Self { sentence, link: (link.source.min(link.target) > 0).then_some(gold) })
    }
}

/// Returns true if a line of a gold file appears to be in the format that [`parse_naacl_line`] reads.
pub fn is_naacl_line(line: &str) -> bool {
    let fields: Vec<&str> = line.split_whitespace().collect();
    fields.len() > 2 && fields[..3].iter().all(|field| field.parse::<u32>().is_ok())
}

/// Text format of links; the default is Pharaoh's. Some programs write the target first or count words from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct LinkFormat {
    /// Write links as t-s instead of s-t.
    #[cfg_attr(feature = "cli", arg(long = "reverse"))]
    pub target_first: bool,

    /// Index of a sentence's first word in written links.
    #[cfg_attr(
        feature = "cli",
        arg(
            id = "link_base",
            long = "link-base",
            value_name = "0|1",
            default_value_t = 0,
            value_parser = clap::value_parser!(u8).range(0..=1)
        )
    )]
    pub base: u8,
}

impl LinkFormat {
    /// Formats one link.
    pub fn format_link(self, link: Link) -> String {
        let (first, second) = if self.target_first { (link.target, link.source) } else { (link.source, link.target) };
        let base = usize::from(self.base);
        format!("{}-{}", first + base, second + base)
    }

    /// Formats a line of links, in the order given.
    pub fn format_line(self, links: &[Link]) -> String {
        links.iter().map(|&link| self.format_link(link)).collect::<Vec<_>>().join(" ")
    }

    /// Parses a line of links, `s-t` or `s-t:p` with a probability, which is ignored.
    ///
    /// # Errors
    /// Names the first entry that is not a link or has an index below the base.
    pub fn parse_line(self, line: &str) -> Result<Vec<Link>, String> {
        let links = line.split_whitespace().map(|entry| {
            self.parse_link(entry)
                .ok_or_else(|| format!("\"{entry}\" is not a link such as 3-4 of words counted from {}", self.base))
        });
        links.collect()
    }

    fn parse_link(self, entry: &str) -> Option<Link> {
        let (link, _) = entry.split_once(':').unwrap_or((entry, ""));
        let (first, second) = link.split_once('-')?;
        let (first, second) = (self.parse_position(first)?, self.parse_position(second)?);
        Some(if self.target_first {
            Link { source: second, target: first }
        } else {
            Link { source: first, target: second }
        })
    }

    /// Parses a word's number; `None` if it is below the base.
    fn parse_position(self, number: &str) -> Option<usize> {
        // Parsed as u32, so that adding a base cannot overflow.
        (number.parse::<u32>().ok()? as usize).checked_sub(self.base.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_and_parses_links_in_any_format() {
        let link = Link { source: 3, target: 1 };
        for (format, text) in [
            (LinkFormat::default(), "3-1"),
            (LinkFormat { target_first: true, base: 0 }, "1-3"),
            (LinkFormat { target_first: false, base: 1 }, "4-2"),
            (LinkFormat { target_first: true, base: 1 }, "2-4"),
        ] {
            assert_eq!(format.format_link(link), text);
            assert_eq!(format.format_line(&[link, link]), format!("{text} {text}"));
            assert_eq!(format.parse_line(&format!(" {text}  {text}:0.25")), Ok(vec![link, link]));
        }
        let from_1 = LinkFormat { target_first: false, base: 1 };
        for broken in ["x", "1", "1-", "-1", "1-2-3", "0-1", "1?2", "1.5-2", "18446744073709551615-4"] {
            assert!(from_1.parse_line(broken).unwrap_err().contains(broken), "{broken}");
        }
        assert_eq!(from_1.parse_line(""), Ok(Vec::new()));
    }

    #[test]
    fn parses_gold_lines() {
        let gold = parse_gold_line("0-0 2?1  12-3 4p5").unwrap();
        assert_eq!(gold.sure.len(), 2);
        assert_eq!(gold.possible.len(), 4);
        assert!(gold.possible.contains(&Link { source: 4, target: 5 }));
        assert_eq!(parse_gold_line("").unwrap(), Gold::default());
        for broken in ["x", "1", "1-", "-1", "1-2-3", "1?-2", "a?b", "1.5-2", "1p", "p2", "1pp2", "1?2p3"] {
            let message = parse_gold_line(&format!("0-0 {broken}")).unwrap_err();
            assert!(message.contains(broken), "{message}");
        }
    }

    #[test]
    fn parses_naacl_lines() {
        for (line, gold) in [
            ("1 3 2 S", "3-2"),
            ("0001 3 2", "3-2"),
            (" 1 3 2 P 0.5 ", "3?2"),
            ("1 3 2 0.5", "3-2"),
            ("1\t3\t2\tS\t1", "3-2"),
        ] {
            let expected = NaaclLine { sentence: 0, link: Some(parse_gold_line(gold).unwrap()) };
            assert_eq!(parse_naacl_line(line), Ok(expected), "{line}");
            assert!(is_naacl_line(line));
        }
        let unlinked = NaaclLine { sentence: 17, link: None };
        assert_eq!(parse_naacl_line("18 0 3 P"), Ok(unlinked), "the word is linked to nothing");
        for broken in ["", "1 2", "0 1 1", "1 1 1 X", "1 1 -1 S", "1 1 1 S 1 1", "a b c"] {
            assert!(parse_naacl_line(broken).unwrap_err().contains(broken), "{broken}");
        }
        assert!(!is_naacl_line("0-0 1-1 2-2") && !is_naacl_line("1 2") && !is_naacl_line("1p1 2p2 3p3"));
    }

    #[test]
    fn converts_gold_links_counted_from_1() {
        let gold = parse_gold_line("1-1 3?2").unwrap();
        assert_eq!(gold.to_zero_based(1), Some(parse_gold_line("0-0 2?1").unwrap()));
        assert_eq!(gold.to_zero_based(0), Some(gold.clone()));
        assert_eq!(parse_gold_line("1-1 2?0").unwrap().to_zero_based(1), None);
        assert_eq!(gold.out_of_bounds([4, 3]), None);
        assert_eq!(gold.out_of_bounds([4, 2]), Some(Link { source: 3, target: 2 }));
        assert_eq!(gold.out_of_bounds([3, 3]), Some(Link { source: 3, target: 2 }));
    }
}
