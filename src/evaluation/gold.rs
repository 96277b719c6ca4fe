//! Gold alignments from a file.

use std::path::Path;

use anyhow::{Result, anyhow, bail};

use crate::alignment::{Gold, parse_gold_line};
use crate::text::{Pair, WordSplitting, read_links_for_each, word_spans};

/// Reads the gold alignments of pairs, one per line. `words` defines the words of source and target; `base` is the number
/// of a sentence's first word in the file, 0 or 1.
///
/// # Errors
/// The file cannot be read, has another number of lines, or has a link beyond a pair's words.
pub fn read_gold(path: &Path, pairs: &[Pair], words: [WordSplitting; 2], base: usize) -> Result<Vec<Gold>> {
    let lines = read_links_for_each(path, pairs.len(), "sentence pairs")?;
    let place = |index: usize| format!("{}:{}", path.display(), index + 1);
    let mut written = Vec::with_capacity(lines.len());
    for (index, line) in lines.iter().enumerate() {
        written.push(parse_gold_line(line).map_err(|reason| anyhow!("{}: {reason}", place(index)))?);
    }
    let size = |pair: &Pair| [word_spans(&pair.source, words[0]).len(), word_spans(&pair.target, words[1]).len()];
    let sizes: Vec<[usize; 2]> = pairs.iter().map(size).collect();
    let mut gold = Vec::with_capacity(lines.len());
    for (index, (links, &size)) in written.iter().zip(&sizes).enumerate() {
        let Some(counted) = links.to_zero_based(base) else {
            bail!("{}: a word is numbered 0, but --gold-base {base} counts words from {base}", place(index))
        };
        if let Some(link) = counted.out_of_bounds(size) {
            let hint = if base == 0 && all_fit(&written, &sizes, 1) {
                "; counted from 1, every link of the file fits: use --gold-base 1"
            } else {
                ""
            };
            let [sources, targets] = size;
            bail!(
                "{}: link {}-{} is beyond the pair's {sources} and {targets} words; words are counted from {base}{hint}",
                place(index),
                link.source + base,
                link.target + base
            )
        }
        gold.push(counted);
    }
    Ok(gold)
}

/// Returns true if all links lie within their pairs when counted from `base`.
fn all_fit(written: &[Gold], sizes: &[[usize; 2]], base: usize) -> bool {
    let fits =
        |links: &Gold, size| links.to_zero_based(base).is_some_and(|counted| counted.out_of_bounds(size).is_none());
    written.iter().zip(sizes).all(|(links, &size)| fits(links, size))
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
        let read = |base| read_gold(&path, &pairs, [WordSplitting::Whitespace; 2], base);
        let gold = read(1).unwrap();
        assert_eq!(gold[0].sure, [Link { source: 0, target: 0 }].into());
        assert_eq!(gold[0].possible.len(), 2);
        let error = read(0).unwrap_err().to_string();
        assert!(error.contains("test.gold:1: link 2-2 is beyond") && error.ends_with("use --gold-base 1"), "{error}");
    }
}
