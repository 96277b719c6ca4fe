//! Links of the training pairs given by the user for guided alignment.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Result, anyhow};

use crate::alignment::{Link, LinkFormat};
use crate::text::{Pair, WordSplitting, read_links_for_each, word_spans};

/// Word splitting of user links: the default, which is at white space where spaces separate words, as in the Pharaoh format.
pub const USER_WORDS: WordSplitting = WordSplitting::Script;

/// Links by pair.
pub struct UserAlignments(HashMap<Pair, Vec<Link>>);

impl UserAlignments {
    /// Reads a file with one line per pair. The first of equal pairs determines their links.
    ///
    /// # Errors
    /// The file cannot be read, has another number of lines, or has an invalid link.
    pub fn read(path: &Path, pairs: &[Pair]) -> Result<Self> {
        let lines = read_links_for_each(path, pairs.len(), "training pairs")?;
        let mut links = HashMap::with_capacity(pairs.len());
        for (number, (line, pair)) in (1..).zip(lines.iter().zip(pairs)) {
            let found = parse_links(line, pair);
            let found = found.map_err(|reason| anyhow!("{}:{number}: {reason}", path.display()))?;
            links.entry(pair.clone()).or_insert(found);
        }
        Ok(Self(links))
    }

    /// Returns the links of each of these pairs.
    pub fn for_pairs<'l>(&'l self, pairs: &'l [Pair]) -> impl Iterator<Item = &'l [Link]> {
        pairs.iter().map(|pair| self.0.get(pair).map_or(&[][..], Vec::as_slice))
    }

    /// Returns the links of these pairs as text for the fingerprint, one line per pair.
    pub fn text(&self, pairs: &[Pair]) -> String {
        self.for_pairs(pairs).map(|links| LinkFormat::default().format_line(links) + "\n").collect()
    }
}

/// Parses the links of a pair.
///
/// # Errors
/// A link is invalid, or points beyond the words of the pair.
fn parse_links(line: &str, pair: &Pair) -> Result<Vec<Link>, String> {
    let format = LinkFormat::default();
    let links = format.parse_line(line)?;
    let size = [&pair.source, &pair.target].map(|text| word_spans(text, USER_WORDS).len());
    match links.iter().find(|link| !link.in_bounds(size)) {
        Some(beyond) => Err(format!(
            "link {} points beyond the pair's {} and {} words; words are counted from 0",
            format.format_link(*beyond),
            size[0],
            size[1]
        )),
        None => Ok(links),
    }
}
