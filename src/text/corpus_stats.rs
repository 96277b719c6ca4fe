//! What a corpus is made of, as far as that decides how to learn from it.

use std::collections::HashSet;

use super::{Pair, Units, WordSplitting, word_spans};

/// The share of a side's lines that must be alike for the side to be called so.
const NEARLY_ALL: f64 = 0.95;
/// A single word longer than this is rather a sentence of a script without spaces, in characters.
const LONG_WORD: f64 = 20.0;
/// Symbols, such as phones, are short and few: mean characters of one, and different ones.
const SHORT_SYMBOL: f64 = 2.0;
const MOST_SYMBOLS: usize = 256;

/// What the lines of a side are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    /// Sentences, to be cut into pieces of words.
    Sentences,
    /// Single words, to be cut into characters.
    WordSplitting,
    /// Symbols that stand apart, such as phones: each is a unit.
    Symbols,
}

impl LineKind {
    /// What such lines are best cut into.
    pub fn units(self) -> Units {
        match self {
            Self::Sentences => Units::Bpe,
            Self::WordSplitting => Units::Char,
            Self::Symbols => Units::Word,
        }
    }

    /// Its name for several.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sentences => "sentences",
            Self::WordSplitting => "single words",
            Self::Symbols => "symbols such as phones",
        }
    }
}

/// One side of a corpus.
#[derive(Clone, Debug, PartialEq)]
pub struct SideStats {
    /// What its lines are.
    pub kind: LineKind,
    /// Words of a line, in the mean.
    pub words: f64,
    /// Different words, punctuation apart.
    pub different_words: usize,
}

/// A corpus's size and kind.
#[derive(Clone, Debug, PartialEq)]
pub struct CorpusStats {
    /// Pairs of which no side is empty.
    pub pairs: usize,
    /// Different ones among their sources.
    pub different_sources: usize,
    /// Source and target.
    pub sides: [SideStats; 2],
}

impl CorpusStats {
    /// Looks at usable pairs.
    pub fn new(pairs: &[&Pair]) -> Self {
        let sources: HashSet<&str> = pairs.iter().map(|pair| pair.source.as_str()).collect();
        Self {
            pairs: pairs.len(),
            different_sources: sources.len(),
            sides: [
                SideStats::new(pairs.iter().map(|pair| pair.source.as_str())),
                SideStats::new(pairs.iter().map(|pair| pair.target.as_str())),
            ],
        }
    }

    /// Whether a side is of single words, as in pronunciation, inflection and transliteration.
    pub fn of_words(&self) -> bool {
        self.sides.iter().any(|side| side.kind == LineKind::WordSplitting)
    }
}

impl SideStats {
    fn new<'t>(lines: impl Iterator<Item = &'t str>) -> Self {
        let (mut count, mut single, mut words, mut characters) = (0, 0, 0, 0);
        let (mut symbols, mut different) = (HashSet::new(), HashSet::new());
        for line in lines {
            let spans = word_spans(line, WordSplitting::Whitespace);
            count += 1;
            single += usize::from(spans.len() == 1);
            words += spans.len();
            for span in spans {
                characters += line[span.clone()].chars().count();
                symbols.insert(&line[span]);
            }
            different.extend(word_spans(line, WordSplitting::Punctuation).into_iter().map(|span| &line[span]));
        }
        let share = |part: usize, whole: usize| part as f64 / whole.max(1) as f64;
        let kind = if share(characters, words) <= SHORT_SYMBOL && symbols.len() <= MOST_SYMBOLS && words > count {
            LineKind::Symbols
        } else if share(single, count) >= NEARLY_ALL && share(characters, words) <= LONG_WORD {
            LineKind::WordSplitting
        } else {
            LineKind::Sentences
        };
        Self { kind, words: share(words, count), different_words: different.len() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(pairs: &[(&str, &str)]) -> [LineKind; 2] {
        let pairs: Vec<Pair> = pairs
            .iter()
            .map(|(source, target)| Pair { source: (*source).to_owned(), target: (*target).to_owned() })
            .collect();
        let profile = CorpusStats::new(&pairs.iter().collect::<Vec<_>>());
        assert_eq!(profile.pairs, pairs.len());
        profile.sides.map(|side| side.kind)
    }

    #[test]
    fn kinds_are_told_apart() {
        assert_eq!(
            kinds(&[("abandonner", "a b ɑ̃ d ɔ n e"), ("abby", "a b i")]),
            [LineKind::WordSplitting, LineKind::Symbols]
        );
        assert_eq!(kinds(&[("walk", "walked"), ("sing", "sang")]), [LineKind::WordSplitting, LineKind::WordSplitting]);
        assert_eq!(kinds(&[("I am ill.", "Je suis malade."), ("Go!", "Va !")]), [LineKind::Sentences; 2]);
        assert_eq!(kinds(&[("a", "b")]), [LineKind::WordSplitting, LineKind::WordSplitting]);
        // Sentences of a script without spaces, and ones cut into words of a character or two.
        let chinese = "我们昨天在那个很大的图书馆里面看了一本非常有意思的书";
        assert_eq!(kinds(&[(chinese, "We read a very interesting book.")]), [LineKind::Sentences; 2]);
        let many: Vec<String> = (0..300).map(|word| format!("{} 了", char::from_u32(0x4e00 + word).unwrap())).collect();
        let many: Vec<(&str, &str)> = many.iter().map(|line| (line.as_str(), "one of many words")).collect();
        assert_eq!(kinds(&many), [LineKind::Sentences; 2]);
        assert_eq!(kinds(&[]), [LineKind::Sentences; 2]);
    }

    #[test]
    fn what_occurs_more_than_once_counts_once() {
        let pair = Pair { source: "the cat".to_owned(), target: "le chat".to_owned() };
        let other = Pair { target: "un chat!".to_owned(), ..pair.clone() };
        let profile = CorpusStats::new(&[&pair, &other, &pair]);
        assert_eq!((profile.pairs, profile.different_sources), (3, 1));
        assert_eq!((profile.sides[1].words, profile.sides[1].different_words), (2.0, 4));
    }
}
