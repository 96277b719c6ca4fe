//! Gold alignments from a file.

use std::path::Path;

use anyhow::{Result, anyhow, bail};

use crate::alignment::{Gold, Link, parse_gold_line};
use crate::text::{Pair, Words, read_links_for_each, word_spans};

/// Reads a gold file that belongs to pairs: as many lines, and no link beyond what `words` says are words of the source
/// and of the target. `base` is the number that the file gives a sentence's first word, 0 or 1.
pub fn read_gold(path: &Path, pairs: &[Pair], words: [Words; 2], base: usize) -> Result<Vec<Gold>> {
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
                "; counted from 1 every link of the file fits: give --gold-base 1"
            } else {
                ""
            };
            bail!("{}: {}{hint}", place(index), beyond(link, size, base))
        }
        gold.push(counted);
    }
    Ok(gold)
}

fn all_fit(written: &[Gold], sizes: &[[usize; 2]], base: usize) -> bool {
    let fits =
        |links: &Gold, size| links.to_zero_based(base).is_some_and(|counted| counted.out_of_bounds(size).is_none());
    written.iter().zip(sizes).all(|(links, &size)| fits(links, size))
}

/// Says which link is wrong, as the file writes it.
fn beyond(link: Link, [sources, targets]: [usize; 2], base: usize) -> String {
    format!(
        "link {}-{} points beyond the pair's {sources} and {targets} words; words are counted from {base}",
        link.source + base,
        link.target + base
    )
}
