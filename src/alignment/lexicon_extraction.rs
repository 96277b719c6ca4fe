//! Bilingual lexicon extraction from word alignments (relative frequencies of links, Koehn, Och & Marcu 2003).

use std::collections::{BTreeMap, HashMap};

use super::Link;

/// Accumulates counts of linked words over a corpus.
#[derive(Clone, Debug, Default)]
pub struct LexiconBuilder {
    links: HashMap<(String, String), LinkCount>,
    sources: HashMap<String, usize>,
    targets: HashMap<String, usize>,
}

#[derive(Clone, Copy, Debug)]
struct LinkCount {
    count: usize,
    /// Index and length in words of the shortest pair with this link.
    example: usize,
    length: usize,
}

/// A word and one of its translations.
#[derive(Clone, Debug, PartialEq)]
pub struct LexiconEntry {
    /// Source word.
    pub source: String,
    /// Target word.
    pub target: String,
    /// Number of links.
    pub count: usize,
    /// p(target | source): share of the source word's links.
    pub given_source: f64,
    /// p(source | target): share of the target word's links.
    pub given_target: f64,
    /// Index of the shortest pair with this link.
    pub example: usize,
}

impl LexiconBuilder {
    /// Adds the links of a pair; empty words are skipped.
    pub fn add(&mut self, pair: usize, source: &[String], target: &[String], links: &[Link]) {
        let length = source.len() + target.len();
        for link in links {
            let words = (source[link.source].clone(), target[link.target].clone());
            if words.0.is_empty() || words.1.is_empty() {
                continue;
            }
            *self.sources.entry(words.0.clone()).or_default() += 1;
            *self.targets.entry(words.1.clone()).or_default() += 1;
            let link_count = self.links.entry(words).or_insert(LinkCount { count: 0, example: pair, length });
            link_count.count += 1;
            if length < link_count.length {
                (link_count.example, link_count.length) = (pair, length);
            }
        }
    }

    /// Entries sorted by descending frequency of the source word, then of the translation.
    pub fn entries(&self) -> Vec<LexiconEntry> {
        let entry = |((source, target), link_count): (&(String, String), &LinkCount)| LexiconEntry {
            given_source: link_count.count as f64 / self.sources[source] as f64,
            given_target: link_count.count as f64 / self.targets[target] as f64,
            count: link_count.count,
            example: link_count.example,
            source: source.clone(),
            target: target.clone(),
        };
        let mut entries: Vec<LexiconEntry> = self.links.iter().map(entry).collect();
        let frequency: BTreeMap<&str, usize> =
            self.sources.iter().map(|(word, &count)| (word.as_str(), count)).collect();
        entries.sort_by(|a, b| {
            let words =
                frequency[b.source.as_str()].cmp(&frequency[a.source.as_str()]).then_with(|| a.source.cmp(&b.source));
            words.then(b.count.cmp(&a.count)).then_with(|| a.target.cmp(&b.target))
        });
        entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_sorts_entries() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let link = |source, target| Link { source, target };
        let mut lexicon = LexiconBuilder::default();
        lexicon.add(0, &words("the big house"), &words("das große haus"), &[link(0, 0), link(1, 1), link(2, 2)]);
        lexicon.add(1, &words("the house"), &words("das haus"), &[link(0, 0), link(1, 1)]);
        lexicon.add(2, &words("the cat"), &words("die katze"), &[link(0, 0), link(1, 1)]);
        let entries = lexicon.entries();
        let words: Vec<_> = entries.iter().map(|e| (e.source.as_str(), e.target.as_str(), e.count)).collect();
        let expected =
            [("the", "das", 2), ("the", "die", 1), ("house", "haus", 2), ("big", "große", 1), ("cat", "katze", 1)];
        assert_eq!(words, expected);
        assert!((entries[0].given_source - 2.0 / 3.0).abs() < 1e-12 && entries[0].given_target == 1.0);
        assert_eq!(entries[2].example, 1, "the shorter pair");
        assert!(LexiconBuilder::default().entries().is_empty());
    }
}
