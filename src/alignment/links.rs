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

/// Writes links as `0-0 1-2 …`, in the order given.
pub fn pharaoh(links: &[Link]) -> String {
    let written: Vec<String> = links.iter().map(|link| format!("{}-{}", link.source, link.target)).collect();
    written.join(" ")
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

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn links_are_written_for_pharaoh() {
        assert_eq!(pharaoh(&[Link { source: 0, target: 1 }, Link { source: 10, target: 2 }]), "0-1 10-2");
        assert_eq!(pharaoh(&[]), "");
    }
}
