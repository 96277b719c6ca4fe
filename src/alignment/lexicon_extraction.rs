//! Bilingual lexicon extraction from word alignments: relative frequencies of links (Koehn, Och & Marcu 2003), filtered
//! by an association measure.
//!
//! A frequent word without a counterpart is linked to whatever stands beside it: English *a* to Czech *na*, the
//! counterpart of *on*. Such links have low scores, and the words occur together hardly more often than by chance, or
//! only because a stronger translation does. An entry therefore needs
//!
//! ```text
//! b ≥ 0.5    and    b · (r + 1/√N) ≥ 0.05
//! ```
//!
//! with the mean score b of its links and the number N of pairs. r is the correlation of the pairs in which the words
//! occur (the coefficient φ), or the partial correlation given a word that is more strongly associated with either. 1/√N
//! is the standard error of r: in small corpora, links alone decide.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use super::{Link, LinkScores};
use crate::text::{NormalForm, strip_punctuation};

/// Minimum mean score of an entry's links.
const MIN_SCORE: f64 = 0.5;
/// Minimum association of an entry's words, weighted by the mean score.
const MIN_ASSOCIATION: f64 = 0.05;
/// Ends of tokens that end a sentence. A capital after one says nothing about the word.
const SENTENCE_ENDS: [char; 5] = ['.', '!', '?', ':', '…'];

/// Accumulates linked words over a corpus. Words are compared in lowercase NFC without outer punctuation.
#[derive(Clone, Debug, Default)]
pub struct LexiconBuilder {
    /// Number of pairs.
    pairs: usize,
    /// Source and target words.
    sides: [WordTable; 2],
    /// Links by ids of source and target word.
    links: HashMap<[usize; 2], LinkStats>,
}

/// Words of one side.
#[derive(Clone, Debug, Default)]
struct WordTable {
    ids: HashMap<String, usize>,
    words: Vec<WordStats>,
}

#[derive(Clone, Debug, Default)]
struct WordStats {
    /// Occurrences of each spelling inside sentences and at their beginnings.
    spellings: BTreeMap<String, [usize; 2]>,
    /// Number of links, where an unlinked occurrence counts as a link to NULL.
    links: usize,
    /// Indices of the pairs with this word, ascending.
    pairs: Vec<usize>,
}

#[derive(Clone, Copy, Debug)]
struct LinkStats {
    count: usize,
    /// Sum of the links' scores.
    score: f64,
    /// Index and length in words of the shortest pair with this link.
    example: usize,
    length: usize,
}

/// Linked words that may become an entry.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    /// Ids of the source and the target word.
    words: [usize; 2],
    /// Correlation of their occurrence.
    association: f64,
}

/// Partner of a word.
#[derive(Clone, Copy, Debug)]
struct Partner {
    /// Id of a word of the other side.
    word: usize,
    /// Correlation of both words' occurrence.
    association: f64,
}

/// Order of the entries of a lexicon.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum LexiconOrder {
    /// Most links first.
    #[default]
    Count,
    /// By source word, then most links first.
    Word,
}

/// A word and one of its translations, in their most frequent spellings.
#[derive(Clone, Debug, PartialEq)]
pub struct LexiconEntry {
    /// Source word.
    pub source: String,
    /// Target word.
    pub target: String,
    /// Number of links.
    pub count: usize,
    /// p(target | source): share of the source word's links; an unlinked occurrence counts as a link to NULL.
    pub given_source: f64,
    /// p(source | target): share of the target word's links; an unlinked occurrence counts as a link to NULL.
    pub given_target: f64,
    /// Index of the shortest pair with this link.
    pub example: usize,
}

impl LexiconBuilder {
    /// Adds the links of a pair with their scores. `pair` exceeds the indices added before. Words without letters and
    /// digits are skipped.
    pub fn add(&mut self, pair: usize, sentences: [&[String]; 2], links: &[Link], scores: &LinkScores) {
        self.pairs += 1;
        let ids = [0, 1].map(|side| self.sides[side].add_sentence(pair, sentences[side]));
        let mut linked = sentences.map(|words| vec![0; words.len()]);
        let length = sentences.iter().map(|words| words.len()).sum();
        for &link in links {
            let (Some(source), Some(target)) = (ids[0][link.source], ids[1][link.target]) else { continue };
            linked[0][link.source] += 1;
            linked[1][link.target] += 1;
            let new = LinkStats { count: 0, score: 0.0, example: pair, length };
            let stats = self.links.entry([source, target]).or_insert(new);
            stats.count += 1;
            stats.score += f64::from(scores.score(link));
            if length < stats.length {
                (stats.example, stats.length) = (pair, length);
            }
        }
        for ((table, ids), linked) in self.sides.iter_mut().zip(ids).zip(linked) {
            for (id, links) in ids.into_iter().zip(linked) {
                if let Some(id) = id {
                    table.words[id].links += links.max(1);
                }
            }
        }
    }

    /// Returns the entries with at least `min_count` links, without those that are probably wrong.
    pub fn entries(&self, min_count: usize, order: LexiconOrder) -> Vec<LexiconEntry> {
        let candidates = self.candidates();
        let strongest = [0, 1].map(|side| strongest_partners(&candidates, side));
        let slack = 1.0 / (self.pairs.max(1) as f64).sqrt();
        let mut entries = Vec::new();
        for candidate in &candidates {
            let stats = &self.links[&candidate.words];
            let unexplained = [0, 1].map(|side| self.unexplained(candidate, side, &strongest[1 - side]));
            let association = unexplained[0].min(unexplained[1]) + slack;
            if stats.count >= min_count && stats.mean_score() * association >= MIN_ASSOCIATION {
                entries.push(self.entry(candidate.words));
            }
        }
        entries.sort_by_cached_key(|entry| {
            let word = (order == LexiconOrder::Word).then(|| entry.source.to_lowercase());
            (word, Reverse(entry.count), entry.source.clone(), entry.target.clone())
        });
        entries
    }

    /// Returns linked words that reach the minimum score, ordered by ids.
    fn candidates(&self) -> Vec<Candidate> {
        let mut candidates = Vec::new();
        for (&words, stats) in &self.links {
            if stats.mean_score() >= MIN_SCORE {
                let [source, target] = [0, 1].map(|side| &self.sides[side].words[words[side]].pairs);
                candidates.push(Candidate { words, association: self.correlation(source, target) });
            }
        }
        candidates.sort_unstable_by_key(|candidate| candidate.words);
        candidates
    }

    /// Returns the part of an association that the strongest partner of the other side's word, itself a word of `side`, does
    /// not explain.
    fn unexplained(&self, candidate: &Candidate, side: usize, strongest: &HashMap<usize, Partner>) -> f64 {
        let Candidate { words, association } = *candidate;
        let rival = strongest[&words[1 - side]];
        if rival.association <= association {
            return association;
        }
        let table = &self.sides[side].words;
        let between = self.correlation(&table[words[side]].pairs, &table[rival.word].pairs);
        partial_correlation(association, between, rival.association)
    }

    /// Correlation of the occurrence of two words, given the pairs with each. One more pair with neither of them makes
    /// it defined for words that occur in every pair.
    fn correlation(&self, a: &[usize], b: &[usize]) -> f64 {
        let all = self.pairs as f64 + 1.0;
        let both = common(a, b) as f64;
        let [a, b] = [a.len() as f64, b.len() as f64];
        (both * all - a * b) / (a * (all - a) * b * (all - b)).sqrt()
    }

    fn entry(&self, words: [usize; 2]) -> LexiconEntry {
        let LinkStats { count, example, .. } = self.links[&words];
        let [source, target] = [0, 1].map(|side| &self.sides[side].words[words[side]]);
        LexiconEntry {
            source: source.spelling(),
            target: target.spelling(),
            count,
            given_source: count as f64 / source.links as f64,
            given_target: count as f64 / target.links as f64,
            example,
        }
    }
}

impl WordTable {
    /// Counts the words of a pair's sentence. Returns their ids; `None` for words without letters and digits.
    fn add_sentence(&mut self, pair: usize, words: &[String]) -> Vec<Option<usize>> {
        let mut ids = Vec::with_capacity(words.len());
        let mut begins = true;
        for word in words {
            let mut id = None;
            if word.chars().any(char::is_alphanumeric) {
                let spelling = strip_punctuation(&NormalForm::Nfc.apply(word)).to_owned();
                id = Some(self.add(pair, spelling, begins));
                begins = false;
            }
            ids.push(id);
            begins |= word.ends_with(SENTENCE_ENDS);
        }
        ids
    }

    fn add(&mut self, pair: usize, spelling: String, begins: bool) -> usize {
        let lower = NormalForm::Nfc.apply(&spelling.to_lowercase()).into_owned();
        let id = *self.ids.entry(lower).or_insert(self.words.len());
        if id == self.words.len() {
            self.words.push(WordStats::default());
        }
        let word = &mut self.words[id];
        word.spellings.entry(spelling).or_default()[usize::from(begins)] += 1;
        if word.pairs.last() != Some(&pair) {
            word.pairs.push(pair);
        }
        id
    }
}

impl WordStats {
    /// Most frequent spelling inside sentences; at their beginnings, if the word occurs nowhere else.
    fn spelling(&self) -> String {
        let most_frequent = self.spellings.iter().max_by_key(|(_, counts)| **counts);
        most_frequent.map_or_else(String::new, |(spelling, _)| spelling.clone())
    }
}

impl LinkStats {
    fn mean_score(&self) -> f64 {
        self.score / self.count as f64
    }
}

/// Returns the most strongly associated partner of each word of a side.
fn strongest_partners(candidates: &[Candidate], side: usize) -> HashMap<usize, Partner> {
    let mut strongest: HashMap<usize, Partner> = HashMap::new();
    for candidate in candidates {
        let partner = Partner { word: candidate.words[1 - side], association: candidate.association };
        let best = strongest.entry(candidate.words[side]).or_insert(partner);
        if partner.association > best.association {
            *best = partner;
        }
    }
    strongest
}

/// Correlation of x and y given z, from the correlations of x and y, x and z, and y and z; 0 if z determines x or y.
fn partial_correlation(xy: f64, xz: f64, yz: f64) -> f64 {
    let rest = (1.0 - xz * xz) * (1.0 - yz * yz);
    if rest > 1e-9 { (xy - xz * yz) / rest.sqrt() } else { 0.0 }
}

/// Number of common elements of two ascending lists.
fn common(a: &[usize], b: &[usize]) -> usize {
    let (shorter, longer) = if a.len() < b.len() { (a, b) } else { (b, a) };
    shorter.iter().filter(|element| longer.binary_search(element).is_ok()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    /// Source, target, and links `(source, target, score)`.
    type LinkedWords<'a> = (&'a str, &'a str, &'a [(usize, usize, f32)]);

    /// Builds a lexicon from pairs of sentences.
    fn lexicon(pairs: &[LinkedWords]) -> LexiconBuilder {
        let mut lexicon = LexiconBuilder::default();
        for (index, (source, target, links)) in pairs.iter().enumerate() {
            let (source, target) = (words(source), words(target));
            let mut scores = vec![0.0; source.len() * target.len()];
            links.iter().for_each(|&(s, t, score)| scores[t * source.len() + s] = score);
            let scores = LinkScores::from_directions(source.len(), &scores, &scores);
            let links: Vec<Link> = links.iter().map(|&(source, target, _)| Link { source, target }).collect();
            lexicon.add(index, [&source, &target], &links, &scores);
        }
        lexicon
    }

    fn summary(entries: &[LexiconEntry]) -> Vec<(&str, &str, usize)> {
        entries.iter().map(|entry| (&*entry.source, &*entry.target, entry.count)).collect()
    }

    #[test]
    fn sorts_entries_by_count_or_by_word() {
        let lexicon = lexicon(&[
            ("the big house", "das große haus", &[(0, 0, 1.0), (1, 1, 1.0), (2, 2, 1.0)]),
            ("the house", "das haus", &[(0, 0, 1.0), (1, 1, 1.0)]),
            ("the cat", "die katze", &[(0, 0, 1.0), (1, 1, 1.0)]),
        ]);
        let entries = lexicon.entries(1, LexiconOrder::Count);
        let by_count =
            [("house", "haus", 2), ("the", "das", 2), ("big", "große", 1), ("cat", "katze", 1), ("the", "die", 1)];
        assert_eq!(summary(&entries), by_count);
        assert!((entries[1].given_source - 2.0 / 3.0).abs() < 1e-12 && entries[1].given_target == 1.0);
        assert_eq!(entries[0].example, 1, "the shorter pair");
        let by_word =
            [("big", "große", 1), ("cat", "katze", 1), ("house", "haus", 2), ("the", "das", 2), ("the", "die", 1)];
        assert_eq!(summary(&lexicon.entries(1, LexiconOrder::Word)), by_word);
        assert_eq!(summary(&lexicon.entries(2, LexiconOrder::Word)), [("house", "haus", 2), ("the", "das", 2)]);
        assert!(LexiconBuilder::default().entries(1, LexiconOrder::Count).is_empty());
    }

    #[test]
    fn unlinked_words_lower_the_probabilities() {
        let lexicon =
            lexicon(&[("a dog", "pes", &[(1, 0, 0.9)]), ("dog", "pes tu", &[(0, 0, 0.9)]), ("dog", "x", &[])]);
        let entries = lexicon.entries(1, LexiconOrder::Count);
        assert_eq!(summary(&entries), [("dog", "pes", 2)]);
        assert!((entries[0].given_source - 2.0 / 3.0).abs() < 1e-12 && entries[0].given_target == 1.0);
    }

    #[test]
    fn omits_uncertain_and_explained_entries() {
        // "na" belongs to "on"; "the" is linked to it when it stands beside.
        let mut pairs: Vec<LinkedWords> = Vec::new();
        for _ in 0..100 {
            pairs.push(("on the hill", "na kopci", &[(0, 0, 0.9), (1, 0, 0.6), (2, 1, 1.0)]));
            pairs.push(("on hills", "na kopcích", &[(0, 0, 0.9), (1, 1, 1.0)]));
            pairs.push(("the dog", "pes", &[(0, 0, 0.2), (1, 0, 1.0)]));
            pairs.push(("dogs", "psi", &[(0, 0, 1.0)]));
        }
        let entries = lexicon(&pairs).entries(1, LexiconOrder::Count);
        let expected = [
            ("on", "na", 200),
            ("dog", "pes", 100),
            ("dogs", "psi", 100),
            ("hill", "kopci", 100),
            ("hills", "kopcích", 100),
        ];
        assert_eq!(summary(&entries), expected);
    }

    #[test]
    fn keeps_words_that_occur_in_every_pair() {
        let pairs = [("the dog", "der hund", &[(0, 0, 1.0), (1, 1, 1.0)][..]); 1000];
        let entries = lexicon(&pairs).entries(1, LexiconOrder::Count);
        assert!(summary(&entries).contains(&("the", "der", 1000)), "{entries:?}");
    }

    #[test]
    fn spells_words_as_inside_sentences() {
        let links: &[(usize, usize, f32)] = &[(0, 0, 1.0), (1, 1, 1.0)];
        let lexicon = lexicon(&[
            ("Two (dogs).", "„Zwei Hunde.“", links),
            ("two DOGS", "zwei Hunde", links),
            ("Run! Dogs", "Lauf! Hunde", links),
        ]);
        let entries = lexicon.entries(1, LexiconOrder::Count);
        assert_eq!(summary(&entries), [("dogs", "Hunde", 3), ("two", "zwei", 2), ("Run", "Lauf", 1)]);
    }
}
