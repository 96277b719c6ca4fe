//! Gold alignments from a file.

use std::path::Path;

use anyhow::{Result, anyhow, bail, ensure};

use crate::alignment::{Gold, Link, parse_gold_line};
use crate::text::{Pair, read_lines};

/// Reads a gold file that belongs to pairs: as many lines, and no link beyond their words. `base` is the number that the
/// file gives a sentence's first word, 0 or 1.
pub fn read_gold(path: &Path, pairs: &[Pair], base: usize) -> Result<Vec<Gold>> {
    let lines = read_lines(path)?;
    ensure!(
        lines.len() == pairs.len(),
        "{}: {} lines for {} sentence pairs; a gold file has one line for each",
        path.display(),
        lines.len(),
        pairs.len()
    );
    let place = |index: usize| format!("{}:{}", path.display(), index + 1);
    let mut written = Vec::with_capacity(lines.len());
    for (index, line) in lines.iter().enumerate() {
        written.push(parse_gold_line(line).map_err(|reason| anyhow!("{}: {reason}", place(index)))?);
    }
    let mut gold = Vec::with_capacity(lines.len());
    for (index, (links, pair)) in written.iter().zip(pairs).enumerate() {
        let Some(counted) = links.counted_from(base) else {
            bail!("{}: a word is numbered 0, but --gold-base {base} counts words from {base}", place(index))
        };
        if let Some(link) = counted.link_beyond(words(&pair.source), words(&pair.target)) {
            let hint = if base == 0 && all_fit(&written, pairs, 1) {
                "; counted from 1 every link of the file fits: give --gold-base 1"
            } else {
                ""
            };
            bail!("{}: {}{hint}", place(index), beyond(link, pair, base))
        }
        gold.push(counted);
    }
    Ok(gold)
}

fn words(text: &str) -> usize {
    text.split_whitespace().count()
}

fn all_fit(written: &[Gold], pairs: &[Pair], base: usize) -> bool {
    written.iter().zip(pairs).all(|(links, pair)| {
        let counted = links.counted_from(base);
        counted.is_some_and(|counted| counted.link_beyond(words(&pair.source), words(&pair.target)).is_none())
    })
}

/// Says which link is wrong, as the file writes it.
fn beyond(link: Link, pair: &Pair, base: usize) -> String {
    format!(
        "link {}-{} points beyond the pair's {} and {} words; words are counted from {base}",
        link.source + base,
        link.target + base,
        words(&pair.source),
        words(&pair.target)
    )
}
