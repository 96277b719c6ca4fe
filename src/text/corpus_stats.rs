//! Corpus statistics that decide the defaults of training.

use std::collections::HashSet;

use super::composition::decomposed;
use super::word_spans::{are_short_enough, spaced_words, unspaced_characters};
use super::{CopiedWords, Pair, SentenceSplitter, Tokenization, Truecaser, WordSplitting, word_spans};

/// Minimum share of one-word lines on a side of single words.
const MIN_SINGLE_WORD_SHARE: f64 = 0.95;
/// Maximum mean length of single words, in characters. Longer ones are sentences or codes.
const MAX_MEAN_WORD: f64 = 20.0;
/// Maximum mean length of symbols such as phones, in characters.
const MAX_MEAN_SYMBOL: f64 = 2.0;
/// Maximum number of distinct symbols.
const MAX_SYMBOLS: usize = 256;
/// Maximum mean number of words of inflected forms, such as *gehst weg* and *gelmiş miydiniz*.
const MAX_MEAN_FORM: f64 = 3.0;

/// Kind of the lines of one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    /// Sentences, segmented into subwords.
    Sentences,
    /// Single words, or with features their forms, segmented into characters.
    Words,
    /// Space-separated symbols such as phones, each a token.
    Symbols,
}

impl LineKind {
    /// Returns the plural name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sentences => "sentences",
            Self::Words => "single words",
            Self::Symbols => "symbols such as phones",
        }
    }
}

/// Statistics of one side of a corpus.
#[derive(Clone, Debug, PartialEq)]
pub struct SideStats {
    /// Kind of the lines.
    pub kind: LineKind,
    /// Mean number of words per line, with each character of a script without spaces as a word.
    pub words: f64,
    /// Number of distinct words that spaces and punctuation separate.
    pub distinct_words: usize,
    /// True for single words whose characters consist of at most half as many letters and marks.
    pub decomposes: bool,
}

/// Statistics of a corpus.
#[derive(Clone, Debug, PartialEq)]
pub struct CorpusStats {
    /// Number of pairs without an empty side.
    pub pairs: usize,
    /// Number of distinct sources.
    pub distinct_sources: usize,
    /// True if features precede the sources.
    pub has_features: bool,
    /// Source and target.
    pub sides: [SideStats; 2],
    /// Splitter of text like the sources.
    pub splitter: SentenceSplitter,
    /// Usual case of the words of the sources.
    pub truecaser: Truecaser,
    /// Words that stand in for words to copy.
    pub copied: CopiedWords,
}

impl CorpusStats {
    /// Computes the statistics of usable pairs. With features, lines of few words are forms of one word.
    pub fn new(pairs: &[&Pair], has_features: bool) -> Self {
        let sources: HashSet<&str> = pairs.iter().map(|pair| pair.source.as_str()).collect();
        let splitter = SentenceSplitter::new(pairs.iter().map(|pair| pair.source.as_str()));
        Self {
            pairs: pairs.len(),
            distinct_sources: sources.len(),
            has_features,
            splitter,
            truecaser: Truecaser::new(pairs.iter().map(|pair| pair.source.as_str())),
            copied: CopiedWords::new(pairs),
            sides: [
                SideStats::new(pairs.iter().map(|pair| pair.source.as_str()), has_features),
                SideStats::new(pairs.iter().map(|pair| pair.target.as_str()), has_features),
            ],
        }
    }

    /// True if both sides are forms of single words, and features precede the sources.
    pub fn has_inflected_words(&self) -> bool {
        self.has_features && self.sides.iter().all(|side| side.kind == LineKind::Words)
    }

    /// True if the sources are single words and the targets their symbols, such as phones.
    pub fn has_pronunciations(&self) -> bool {
        [self.sides[0].kind, self.sides[1].kind] == [LineKind::Words, LineKind::Symbols]
    }

    /// True if a side has single words, as in pronunciation, inflection and transliteration.
    pub fn has_single_words(&self) -> bool {
        self.sides.iter().any(|side| side.kind == LineKind::Words)
    }
}

impl SideStats {
    /// Returns the default tokenization.
    pub fn tokenization(&self) -> Tokenization {
        match self.kind {
            LineKind::Sentences => Tokenization::Bpe,
            LineKind::Words if self.decomposes => Tokenization::Letter,
            LineKind::Words => Tokenization::Char,
            LineKind::Symbols => Tokenization::Word,
        }
    }

    fn new<'t>(lines: impl Iterator<Item = &'t str> + Clone, has_features: bool) -> Self {
        let (mut count, mut single, mut words, mut chunks) = (0, 0, 0, 0);
        let (mut characters, mut unspaced) = (0, 0);
        let (mut tokens, mut distinct) = (HashSet::new(), HashSet::new());
        for line in lines.clone() {
            let spans = word_spans(line, WordSplitting::Whitespace);
            count += 1;
            single += usize::from(spans.len() == 1);
            chunks += spans.len();
            words += word_spans(line, WordSplitting::Script).len();
            unspaced += unspaced_characters(line);
            for span in spans {
                characters += line[span.clone()].chars().count();
                tokens.insert(&line[span]);
            }
            distinct.extend(spaced_words(line));
        }
        let are_single =
            share(single, count) >= MIN_SINGLE_WORD_SHARE || has_features && share(chunks, count) <= MAX_MEAN_FORM;
        let are_short = share(characters, chunks) <= MAX_MEAN_WORD && are_short_enough(count, unspaced);
        let kind = if share(characters, chunks) <= MAX_MEAN_SYMBOL && tokens.len() <= MAX_SYMBOLS && chunks > count {
            LineKind::Symbols
        } else if are_single && are_short {
            LineKind::Words
        } else {
            LineKind::Sentences
        };
        let decomposes = kind == LineKind::Words && decompose_to_fewer(lines.flat_map(str::chars).collect());
        Self { kind, words: share(words, count), distinct_words: distinct.len(), decomposes }
    }
}

/// Returns a number as a share of another one, or as its multiple.
fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}

/// True if characters consist of at most half as many letters and marks, as Korean syllables do.
fn decompose_to_fewer(characters: HashSet<char>) -> bool {
    let letters: HashSet<char> = decomposed(&characters.iter().collect::<String>()).chars().collect();
    2 * letters.len() <= characters.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(pairs: &[(&str, &str)]) -> [LineKind; 2] {
        stats(pairs, false).sides.map(|side| side.kind)
    }

    fn stats(pairs: &[(&str, &str)], has_features: bool) -> CorpusStats {
        let pairs: Vec<Pair> = pairs
            .iter()
            .map(|(source, target)| Pair { source: (*source).to_owned(), target: (*target).to_owned() })
            .collect();
        let stats = CorpusStats::new(&pairs.iter().collect::<Vec<_>>(), has_features);
        assert_eq!(stats.pairs, pairs.len());
        stats
    }

    #[test]
    fn forms_of_a_word_may_have_several_words() {
        let forms = [("weggehen", "gehst weg"), ("çıngırağı çekmek", "çıngırağı çekecek miymişsiniz"), ("sein", "war")];
        assert_eq!(kinds(&forms), [LineKind::Sentences; 2]);
        assert_eq!(stats(&forms, true).sides.map(|side| side.kind), [LineKind::Words; 2]);
        let tagged = [("We went to the old house.", "Wir gingen zu dem alten Haus.")];
        assert_eq!(stats(&tagged, true).sides.map(|side| side.kind), [LineKind::Sentences; 2]);
    }

    #[test]
    fn detects_kind_of_each_side() {
        assert_eq!(kinds(&[("abandonner", "a b ɑ̃ d ɔ n e"), ("abby", "a b i")]), [LineKind::Words, LineKind::Symbols]);
        assert_eq!(kinds(&[("walk", "walked"), ("sing", "sang")]), [LineKind::Words, LineKind::Words]);
        assert_eq!(kinds(&[("I am ill.", "Je suis malade."), ("Go!", "Va !")]), [LineKind::Sentences; 2]);
        assert_eq!(kinds(&[("a", "b")]), [LineKind::Words, LineKind::Words]);
        // Sentences of a script without spaces, and ones segmented into short words.
        let chinese = "我们昨天在那个很大的图书馆里面看了一本非常有意思的书";
        assert_eq!(kinds(&[(chinese, "We read a very interesting book.")]), [LineKind::Sentences; 2]);
        let japanese =
            [("自分の事をしろ。", "show your own business."), ("彼はつらい人生を送った", "he lived a hard life.")];
        assert_eq!(kinds(&japanese), [LineKind::Sentences; 2]);
        assert_eq!(stats(&japanese, false).sides[0].words, 9.5);
        assert_eq!(
            kinds(&[("あいさつ", "a i s a ts ɯ"), ("とうきょう", "t o ː kʲ o ː")]),
            [LineKind::Words, LineKind::Symbols]
        );
        let many: Vec<String> = (0..300).map(|word| format!("{} 了", char::from_u32(0x4e00 + word).unwrap())).collect();
        let many: Vec<(&str, &str)> = many.iter().map(|line| (line.as_str(), "one of many words")).collect();
        assert_eq!(kinds(&many), [LineKind::Sentences; 2]);
        assert_eq!(kinds(&[]), [LineKind::Sentences; 2]);
    }

    #[test]
    fn syllables_are_decomposed_where_they_have_fewer_letters() {
        let syllables: Vec<String> = ('가'..='깋').map(String::from).collect();
        let korean: Vec<&str> = syllables.iter().map(String::as_str).collect();
        for (lines, tokenization) in [
            (&korean[..], Tokenization::Letter),
            (&["été", "forêt", "garçon", "noël"], Tokenization::Char),
            (&["가 나 다", "마 바 사"], Tokenization::Word),
        ] {
            assert_eq!(SideStats::new(lines.iter().copied(), false).tokenization(), tokenization);
        }
    }

    #[test]
    fn counts_distinct_sources_and_words() {
        let pair = Pair { source: "the cat".to_owned(), target: "le chat".to_owned() };
        let other = Pair { target: "un chat!".to_owned(), ..pair.clone() };
        let stats = CorpusStats::new(&[&pair, &other, &pair], false);
        assert_eq!((stats.pairs, stats.distinct_sources), (3, 1));
        assert_eq!((stats.sides[1].words, stats.sides[1].distinct_words), (2.0, 4));
    }
}
