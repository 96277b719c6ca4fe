//! Gold alignments, and links to compare with them, from files.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail, ensure};

use crate::alignment::{Gold, Link, LinkFormat, NaaclLine, is_naacl_line, parse_gold_line, parse_naacl_line};
use crate::text::{Pair, WordSplitting, ensure_line_for_each, read_link_lines, word_spans};

/// Name of the items that need one line each, for messages.
const PAIRS: &str = "sentence pairs";

/// Size of a pair that is not known.
pub const UNKNOWN_SIZE: [usize; 2] = [usize::MAX; 2];

/// Links of a gold file as they are written.
struct GoldFile {
    /// Gold alignment of each pair, with words counted from `base`.
    gold: Vec<Gold>,
    base: u8,
    /// True if each link has a line.
    naacl: bool,
}

/// Returns the numbers of source and target words of each pair.
pub fn pair_sizes(pairs: &[Pair], words: [WordSplitting; 2]) -> Vec<[usize; 2]> {
    let mut sizes = Vec::with_capacity(pairs.len());
    for Pair { source, target } in pairs {
        sizes.push([word_spans(source, words[0]).len(), word_spans(target, words[1]).len()]);
    }
    sizes
}

/// Reads the gold alignments of pairs with these numbers of source and target words: one line per pair, as by
/// [`parse_gold_line`], or one line per link, as by [`parse_naacl_line`]. `base` is the number of a sentence's first word, 0 or
/// 1, in files of the first kind.
///
/// # Errors
/// The file cannot be read, has another number of pairs, or has a link beyond a pair's words.
pub fn read_gold(path: &Path, sizes: &[[usize; 2]], base: u8) -> Result<Vec<Gold>> {
    let file = GoldFile::read(path, sizes.len(), base)?;
    let mut gold = Vec::with_capacity(sizes.len());
    for (index, (links, &size)) in file.gold.iter().zip(sizes).enumerate() {
        let Some(counted) = links.to_zero_based(file.base.into()) else {
            bail!("{}: a word is numbered 0, but --gold-base {base} counts words from {base}", file.place(path, index))
        };
        if let Some(link) = counted.out_of_bounds(size) {
            let hint = if file.base == 0 && all_fit(&file.gold, sizes, 1) {
                "; counted from 1, every link of the file fits: use --gold-base 1"
            } else {
                ""
            };
            bail!("{}: {}{hint}", file.place(path, index), beyond(link, size, file.base))
        }
        gold.push(counted);
    }
    Ok(gold)
}

/// Reads links that another program made, one line `s-t s-t …` per pair, counted from 0. `sizes` are the pairs' numbers of
/// source and target words, if known.
///
/// # Errors
/// The file cannot be read, has another number of lines, or has a link beyond a pair's words.
pub fn read_links(path: &Path, sizes: Option<&[[usize; 2]]>) -> Result<Vec<Vec<Link>>> {
    let lines = read_link_lines(path)?;
    if let Some(sizes) = sizes {
        ensure_line_for_each(path, lines.len(), sizes.len(), PAIRS)?;
    }
    let mut links = Vec::with_capacity(lines.len());
    for (index, line) in lines.iter().enumerate() {
        let size = sizes.map_or(UNKNOWN_SIZE, |sizes| sizes[index]);
        links.push(parse_links(line, size).with_context(|| line_place(path, index))?);
    }
    Ok(links)
}

/// Parses the links of a pair with these numbers of source and target words; duplicates are dropped.
fn parse_links(line: &str, size: [usize; 2]) -> Result<Vec<Link>> {
    let links = LinkFormat::default().parse_line(line).map_err(|reason| anyhow!(reason))?;
    if let Some(&link) = links.iter().find(|link| !link.in_bounds(size)) {
        bail!(beyond(link, size, 0));
    }
    Ok(links.into_iter().collect::<BTreeSet<Link>>().into_iter().collect())
}

/// Names a line of a file, given its index from 0.
fn line_place(path: &Path, index: usize) -> String {
    format!("{}:{}", path.display(), index + 1)
}

/// Message about a link, counted from 0, in a file that counts words from `base`.
fn beyond(link: Link, [sources, targets]: [usize; 2], base: u8) -> String {
    let written = LinkFormat { base, ..LinkFormat::default() }.format_link(link);
    format!("link {written} is beyond the pair's {sources} and {targets} words; words are counted from {base}")
}

/// Returns true if all links lie within their pairs when counted from `base`.
fn all_fit(written: &[Gold], sizes: &[[usize; 2]], base: u8) -> bool {
    written.iter().zip(sizes).all(|(links, &size)| {
        links.to_zero_based(base.into()).is_some_and(|counted| counted.out_of_bounds(size).is_none())
    })
}

impl GoldFile {
    fn read(path: &Path, pairs: usize, base: u8) -> Result<Self> {
        let lines = read_link_lines(path)?;
        if lines.iter().find(|line| !line.trim().is_empty()).is_some_and(|line| is_naacl_line(line)) {
            return Ok(Self { gold: read_naacl(path, &lines, pairs)?, base: 1, naacl: true });
        }
        ensure_line_for_each(path, lines.len(), pairs, PAIRS)?;
        let mut gold = Vec::with_capacity(lines.len());
        for (index, line) in lines.iter().enumerate() {
            gold.push(parse_gold_line(line).map_err(|reason| anyhow!("{}: {reason}", line_place(path, index)))?);
        }
        Ok(Self { gold, base, naacl: false })
    }

    /// Names the place of a pair in the file.
    fn place(&self, path: &Path, pair: usize) -> String {
        let (path, number) = (path.display(), pair + 1);
        if self.naacl { format!("{path}: sentence {number}") } else { format!("{path}:{number}") }
    }
}

/// Collects the links of each pair from lines of one link each.
fn read_naacl(path: &Path, lines: &[String], pairs: usize) -> Result<Vec<Gold>> {
    let mut gold = vec![Gold::default(); pairs];
    for (index, line) in lines.iter().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let NaaclLine { sentence, link } =
            parse_naacl_line(line).map_err(|reason| anyhow!("{}: {reason}", line_place(path, index)))?;
        ensure!(
            sentence < pairs,
            "{}: no sentence {}: there are {pairs}, counted from 1",
            line_place(path, index),
            sentence + 1
        );
        gold[sentence].extend(link.unwrap_or_default());
    }
    Ok(gold)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alignment::Link;

    #[test]
    fn reads_links_counted_from_one_and_hints_at_the_base() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("test.gold");
        std::fs::write(&path, "1-1 2?2\n\n").unwrap();
        let pairs = [Pair::new("a b", "x y"), Pair::new("a", "x")];
        let sizes = pair_sizes(&pairs, [WordSplitting::Whitespace; 2]);
        let gold = read_gold(&path, &sizes, 1).unwrap();
        assert_eq!(gold[0].sure, [Link { source: 0, target: 0 }].into());
        assert_eq!(gold[0].possible.len(), 2);
        let error = read_gold(&path, &sizes, 0).unwrap_err().to_string();
        assert!(error.contains("test.gold:1: link 2-2 is beyond") && error.ends_with("use --gold-base 1"), "{error}");
    }

    /// Reads the gold alignments of three pairs from a file `test.wa`.
    fn read_text(text: &str) -> Result<Vec<Gold>> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("test.wa");
        std::fs::write(&path, text).unwrap();
        read_gold(&path, &[[2, 2], [1, 1], [3, 3]], 0)
    }

    #[test]
    fn reads_one_link_per_line() {
        let gold = read_text("1 1 2 S\n0001 2 1 P 0.5\n3 3 3\n3 0 1\n").unwrap();
        let expected = ["0-1 1?0", "", "2-2"].map(|line| parse_gold_line(line).unwrap());
        assert_eq!(gold, expected);
        for (text, expected) in [
            (
                "1 1 1\n2 2 1\n",
                "test.wa: sentence 2: link 2-1 is beyond the pair's 1 and 1 words; words are counted from 1",
            ),
            ("1 1 1\n4 1 1\n", "test.wa:2: no sentence 4: there are 3, counted from 1"),
        ] {
            let message = read_text(text).unwrap_err().to_string();
            assert!(message.ends_with(expected), "{message}");
        }
        let message = read_text("1 1 1\n1 x 1\n").unwrap_err().to_string();
        assert!(message.contains("test.wa:2: \"1 x 1\" is not a link"), "{message}");
    }

    #[test]
    fn reads_distinct_links_within_their_pairs() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("links");
        std::fs::write(&path, "1-0 0-0 1-0\n\n").unwrap();
        let links = read_links(&path, Some(&[[2, 1], [1, 1]])).unwrap();
        assert_eq!(links, [vec![Link { source: 0, target: 0 }, Link { source: 1, target: 0 }], Vec::new()]);
        let error = read_links(&path, Some(&[[1, 1], [1, 1]])).unwrap_err();
        assert!(format!("{error:#}").contains("links:1: link 1-0 is beyond the pair's 1 and 1 words"), "{error:#}");
        assert!(read_links(&path, Some(&[[2, 1]])).unwrap_err().to_string().contains("2 lines for 1 sentence pairs"));
        assert_eq!(read_links(&path, None).unwrap(), links);
    }
}
