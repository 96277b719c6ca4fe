//! Links of the training pairs that the user gives to teach attention by.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Result, anyhow};

use crate::alignment::{Link, LinkFormat};
use crate::text::{Pair, WordSplitting, read_links_for_each, word_spans};

/// What is a word for such links: what stands between white space, as Pharaoh's format has it.
pub const USER_WORDS: WordSplitting = WordSplitting::Whitespace;

/// The links of pairs, by their texts.
pub struct UserAlignments(HashMap<Pair, Vec<Link>>);

impl UserAlignments {
    /// Reads a file that has a line for each pair. Of equal pairs the first one's links count.
    ///
    /// # Errors
    /// The file cannot be read, or has another number of lines, or an entry is no link of the pair's words.
    pub fn read(path: &Path, pairs: &[Pair]) -> Result<Self> {
        let lines = read_links_for_each(path, pairs.len(), "training pairs")?;
        let mut links = HashMap::with_capacity(pairs.len());
        for (number, (line, pair)) in (1..).zip(lines.iter().zip(pairs)) {
            let place = || format!("{}:{number}", path.display());
            let found = LinkFormat::default().parse_line(line).map_err(|reason| anyhow!("{}: {reason}", place()))?;
            let size = [&pair.source, &pair.target].map(|text| word_spans(text, USER_WORDS).len());
            if let Some(beyond) = found.iter().find(|link| !link.in_bounds(size)) {
                return Err(anyhow!(
                    "{}: link {} points beyond the pair's {} and {} words, which are counted from 0",
                    place(),
                    LinkFormat::default().format_link(*beyond),
                    size[0],
                    size[1]
                ));
            }
            links.entry(pair.clone()).or_insert(found);
        }
        Ok(Self(links))
    }

    /// Those of some of the pairs.
    pub fn of<'l>(&'l self, pairs: &'l [Pair]) -> impl Iterator<Item = &'l [Link]> {
        pairs.iter().map(|pair| self.0.get(pair).map_or(&[][..], Vec::as_slice))
    }

    /// Those of some of the pairs as text, a line each: what tells one file from another.
    pub fn text(&self, pairs: &[Pair]) -> String {
        self.of(pairs).map(|links| LinkFormat::default().format_line(links) + "\n").collect()
    }
}
