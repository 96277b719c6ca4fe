//! A bilingual word list from links.

use std::collections::{BTreeMap, HashMap};

use super::Link;

/// Counts of linked words over a corpus.
#[derive(Clone, Debug, Default)]
pub struct LinkedWords {
    links: HashMap<(String, String), Seen>,
    sources: HashMap<String, usize>,
    targets: HashMap<String, usize>,
}

#[derive(Clone, Copy, Debug)]
struct Seen {
    count: usize,
    /// The shortest pair that holds the link, by number, and its length in words.
    example: usize,
    length: usize,
}

/// A word and one of its translations.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The source word.
    pub source: String,
    /// The target word.
    pub target: String,
    /// How often they are linked.
    pub count: usize,
    /// The share of the source word's links.
    pub given_source: f64,
    /// The share of the target word's links.
    pub given_target: f64,
    /// The number of a short pair that holds the link.
    pub example: usize,
}

impl LinkedWords {
    /// Adds the links of a pair; empty words are passed over.
    pub fn add(&mut self, pair: usize, source: &[String], target: &[String], links: &[Link]) {
        let length = source.len() + target.len();
        for link in links {
            let words = (source[link.source].clone(), target[link.target].clone());
            if words.0.is_empty() || words.1.is_empty() {
                continue;
            }
            *self.sources.entry(words.0.clone()).or_default() += 1;
            *self.targets.entry(words.1.clone()).or_default() += 1;
            let seen = self.links.entry(words).or_insert(Seen { count: 0, example: pair, length });
            seen.count += 1;
            if length < seen.length {
                (seen.example, seen.length) = (pair, length);
            }
        }
    }

    /// All entries: frequent source words first, each with its translations, the likeliest first.
    pub fn entries(&self) -> Vec<Entry> {
        let entry = |((source, target), seen): (&(String, String), &Seen)| Entry {
            given_source: seen.count as f64 / self.sources[source] as f64,
            given_target: seen.count as f64 / self.targets[target] as f64,
            count: seen.count,
            example: seen.example,
            source: source.clone(),
            target: target.clone(),
        };
        let mut entries: Vec<Entry> = self.links.iter().map(entry).collect();
        let place: BTreeMap<&str, usize> = self.sources.iter().map(|(word, &count)| (word.as_str(), count)).collect();
        entries.sort_by(|a, b| {
            let words = place[b.source.as_str()].cmp(&place[a.source.as_str()]).then_with(|| a.source.cmp(&b.source));
            words.then(b.count.cmp(&a.count)).then_with(|| a.target.cmp(&b.target))
        });
        entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_counted_and_sorted() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let link = |source, target| Link { source, target };
        let mut list = LinkedWords::default();
        list.add(0, &words("the big house"), &words("das große haus"), &[link(0, 0), link(1, 1), link(2, 2)]);
        list.add(1, &words("the house"), &words("das haus"), &[link(0, 0), link(1, 1)]);
        list.add(2, &words("the cat"), &words("die katze"), &[link(0, 0), link(1, 1)]);
        let entries = list.entries();
        let words: Vec<_> = entries.iter().map(|e| (e.source.as_str(), e.target.as_str(), e.count)).collect();
        let expected =
            [("the", "das", 2), ("the", "die", 1), ("house", "haus", 2), ("big", "große", 1), ("cat", "katze", 1)];
        assert_eq!(words, expected);
        assert!((entries[0].given_source - 2.0 / 3.0).abs() < 1e-12 && entries[0].given_target == 1.0);
        assert_eq!(entries[2].example, 1, "the shorter pair");
        assert!(LinkedWords::default().entries().is_empty());
    }
}
