//! Hard links between words, and the text in which they are written.
//!
//! A link is written `s-t`, both 0-indexed (the format of Pharaoh and Moses); in gold files `s?t` or `spt` is a link
//! that annotators hold possible but not certain (Och & Ney 2003, section 6), and some count words from 1.

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
    /// The link so many words further on either side; none before the first word.
    pub fn moved(self, source: isize, target: isize) -> Option<Self> {
        Some(Self { source: self.source.checked_add_signed(source)?, target: self.target.checked_add_signed(target)? })
    }

    /// Whether both its words are among so many source and target words.
    pub fn lies_within(self, [sources, targets]: [usize; 2]) -> bool {
        self.source < sources && self.target < targets
    }
}

/// The links of one sentence pair as an annotator sees them. `possible` includes every sure link.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gold {
    /// Links that must be there.
    pub sure: BTreeSet<Link>,
    /// Links that may be there.
    pub possible: BTreeSet<Link>,
}

impl Gold {
    /// The links of a file that gives the first word the number `first`, counted from 0. None if a link lies before
    /// the first word.
    pub fn counted_from(&self, first: usize) -> Option<Self> {
        let back = -isize::try_from(first).ok()?;
        let counted = |links: &BTreeSet<Link>| -> Option<BTreeSet<Link>> {
            links.iter().map(|link| link.moved(back, back)).collect()
        };
        Some(Self { sure: counted(&self.sure)?, possible: counted(&self.possible)? })
    }

    /// The first link with a word that is not among so many source and target words.
    pub fn link_beyond(&self, size: [usize; 2]) -> Option<Link> {
        self.possible.iter().copied().find(|link| !link.lies_within(size))
    }
}

/// Reads one line of a gold file: `s-t` for a sure link, `s?t` or `spt` for a possible one, separated by spaces.
///
/// # Errors
/// A sentence that names the first entry which is no link.
pub fn parse_gold_line(line: &str) -> Result<Gold, String> {
    let mut gold = Gold::default();
    for entry in line.split_whitespace() {
        let sure = entry.contains('-');
        let link = entry
            .split_once(if sure { &['-'][..] } else { &['?', 'p'] })
            .and_then(|(source, target)| Some(Link { source: source.parse().ok()?, target: target.parse().ok()? }))
            .ok_or_else(|| format!("\"{entry}\" is no link; write 3-4 for a sure link, 3?4 for a possible one"))?;
        gold.possible.insert(link);
        if sure {
            gold.sure.insert(link);
        }
    }
    Ok(gold)
}

/// How links are written: as Pharaoh has them, unless said otherwise; some programs want the target word first, or words
/// counted from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Notation {
    /// Whether the target word stands first.
    pub turned: bool,
    /// The number of a sentence's first word.
    pub base: usize,
}

impl Notation {
    /// One link.
    pub fn written(self, link: Link) -> String {
        let (first, second) = if self.turned { (link.target, link.source) } else { (link.source, link.target) };
        format!("{}-{}", first + self.base, second + self.base)
    }

    /// A line of links, in the order given.
    pub fn line(self, links: &[Link]) -> String {
        links.iter().map(|&link| self.written(link)).collect::<Vec<_>>().join(" ")
    }

    /// The links of a line: `s-t` or, with probabilities, which are not read, `s-t:p`.
    ///
    /// # Errors
    /// A sentence that names the first entry which is no link, or has a number below the base.
    pub fn read(self, line: &str) -> Result<Vec<Link>, String> {
        let read = |entry: &str| {
            let (link, _) = entry.split_once(':').unwrap_or((entry, ""));
            let (first, second) = link.split_once('-')?;
            // No line has so many words that adding a base to a number could overflow.
            let number = |text: &str| (text.parse::<u32>().ok()? as usize).checked_sub(self.base);
            let (first, second) = (number(first)?, number(second)?);
            Some(if self.turned {
                Link { source: second, target: first }
            } else {
                Link { source: first, target: second }
            })
        };
        let refused = |entry: &str| format!("\"{entry}\" is no link such as 3-4 of words counted from {}", self.base);
        line.split_whitespace().map(|entry| read(entry).ok_or_else(|| refused(entry))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_written_and_read_in_any_notation() {
        let link = Link { source: 3, target: 1 };
        for (notation, text) in [
            (Notation::default(), "3-1"),
            (Notation { turned: true, base: 0 }, "1-3"),
            (Notation { turned: false, base: 1 }, "4-2"),
            (Notation { turned: true, base: 1 }, "2-4"),
        ] {
            assert_eq!(notation.written(link), text);
            assert_eq!(notation.line(&[link, link]), format!("{text} {text}"));
            assert_eq!(notation.read(&format!(" {text}  {text}:0.25")), Ok(vec![link, link]));
        }
        let from_1 = Notation { turned: false, base: 1 };
        for broken in ["x", "1", "1-", "-1", "1-2-3", "0-1", "1?2", "1.5-2", "18446744073709551615-4"] {
            assert!(from_1.read(broken).unwrap_err().contains(broken), "{broken}");
        }
        assert_eq!(from_1.read(""), Ok(Vec::new()));
    }

    #[test]
    fn gold_lines_are_read() {
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
    fn gold_may_be_counted_from_1() {
        let gold = parse_gold_line("1-1 3?2").unwrap();
        assert_eq!(gold.counted_from(1), Some(parse_gold_line("0-0 2?1").unwrap()));
        assert_eq!(gold.counted_from(0), Some(gold.clone()));
        assert_eq!(parse_gold_line("1-1 2?0").unwrap().counted_from(1), None);
        assert_eq!(gold.link_beyond([4, 3]), None);
        assert_eq!(gold.link_beyond([4, 2]), Some(Link { source: 3, target: 2 }));
        assert_eq!(gold.link_beyond([3, 3]), Some(Link { source: 3, target: 2 }));
    }
}
