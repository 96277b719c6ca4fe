//! What each epoch trains on.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use anyhow::Result;
use rayon::prelude::*;

use super::alignment_targets::AlignmentTargets;
use crate::model::UnitLexicon;
use crate::random::SeededRng;
use crate::text::{
    EncodedCorpus, Example, GuideWeight, Pair, Resegmenter, UNKNOWN, Vocabulary, WordSplitting, word_spans,
};

/// Epochs whose cuts of words a lexicon is learnt from.
const CUTS: u64 = 3;

/// How the pairs of an epoch differ from what they are.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Augmentation {
    /// The share of merges left out.
    pub bpe_dropout: Option<f64>,
    /// The share of pairs that are joined, two and two.
    pub joined: Option<f64>,
}

/// The training pairs as ids, with guides if attention is to have any: the same in each epoch, or varied.
pub struct EpochData {
    /// As the vocabularies cut them.
    whole: Vec<Example>,
    alignment_targets: Option<AlignmentTargets>,
    recut: Option<Resegmentation>,
    share_joined: Option<f64>,
    /// How often each pair comes in an epoch; none where all come once.
    weights: Option<Vec<f64>>,
    /// Most units of a side.
    longest: usize,
}

/// What a pair is joined to.
#[derive(Clone, Copy, Debug, PartialEq)]
enum ConcatRole {
    None,
    /// The one that comes after it.
    Second(usize),
    /// One that it comes after.
    First,
}

/// What pairs are cut anew by.
struct Resegmentation {
    vocabularies: [Arc<Vocabulary>; 2],
    /// Of each side whose units are made by merging.
    sides: [Option<Resegmenter>; 2],
    /// Pairs that have other words once they are normalised, which their links do not fit.
    other_words: HashSet<usize>,
    rate: f64,
}

impl EpochData {
    /// From usable pairs, of which none has more than `longest` units on a side.
    ///
    /// # Errors
    /// The vocabularies' own.
    pub fn new(
        corpus: EncodedCorpus,
        vocabularies: &[Arc<Vocabulary>; 2],
        alignment_targets: Option<AlignmentTargets>,
        augmentation: Augmentation,
        longest: usize,
    ) -> Result<Self> {
        let EncodedCorpus { pairs, examples: mut whole, weights, .. } = corpus;
        let [source, target] = vocabularies;
        if let Some(alignment_targets) = &alignment_targets {
            whole.par_iter_mut().zip(&pairs).enumerate().try_for_each(|(index, (example, pair))| {
                let source = source.segment(&pair.source, alignment_targets.words())?;
                let target = target.segment(&pair.target, alignment_targets.words())?;
                example.guide = alignment_targets.guide(index, [&source.word_of_unit, &target.word_of_unit]);
                Ok::<_, anyhow::Error>(())
            })?;
        }
        let recut = |rate| -> Result<_> {
            let source = source.recutting(pairs.iter().map(|pair| pair.source.as_str()))?;
            let target = target.recutting(pairs.iter().map(|pair| pair.target.as_str()))?;
            let other_words = alignment_targets
                .iter()
                .flat_map(|alignment_targets| other_words(&pairs, vocabularies, alignment_targets.words()))
                .collect();
            Ok(Resegmentation { vocabularies: vocabularies.clone(), sides: [source, target], other_words, rate })
        };
        let recut = augmentation.bpe_dropout.map(recut).transpose()?;
        Ok(Self { whole, alignment_targets, recut, share_joined: augmentation.joined, weights, longest })
    }

    /// The translations of units that the guides show, in all the cuts of a few epochs.
    pub fn lexicon(&self, vocabularies: [usize; 2], seed: u64) -> UnitLexicon {
        let epochs: Vec<_> =
            (0..if self.recut.is_some() { CUTS } else { 0 }).map(|epoch| self.of_epoch(seed, epoch)).collect();
        UnitLexicon::from_guides(
            self.whole.iter().chain(epochs.iter().flat_map(|examples| examples.iter())),
            vocabularies,
        )
    }

    /// Those of one epoch: the same whenever they are asked for.
    pub fn of_epoch(&self, seed: u64, epoch: u64) -> Cow<'_, [Example]> {
        if self.recut.is_none() && self.share_joined.is_none() && self.weights.is_none() {
            return Cow::Borrowed(&self.whole);
        }
        let chosen = self.chosen(seed, epoch);
        let partners = self.partners(chosen.len(), seed, epoch);
        let vary = |(place, partner): (usize, &ConcatRole)| {
            let cut = |place: usize| {
                let mut stream = SeededRng::new(seed, &format!("merges of epoch {epoch}"), place as u64);
                self.cut(chosen[place], &mut stream)
            };
            match *partner {
                ConcatRole::None => vec![cut(place)],
                ConcatRole::Second(second) => self.joined(cut(place), cut(second)),
                ConcatRole::First => Vec::new(),
            }
        };
        partners.par_iter().enumerate().flat_map_iter(vary).collect::<Vec<_>>().into()
    }

    /// The pairs of an epoch, each as often as it comes: a weight's whole part, and once more by the chance of the rest.
    fn chosen(&self, seed: u64, epoch: u64) -> Vec<usize> {
        let Some(weights) = &self.weights else { return (0..self.whole.len()).collect() };
        let mut stream = SeededRng::new(seed, "weights", epoch);
        let mut times = |weight: f64| weight as usize + usize::from(stream.uniform() < weight.fract());
        let chosen = weights.iter().enumerate().flat_map(|(index, &weight)| std::iter::repeat_n(index, times(weight)));
        let chosen: Vec<usize> = chosen.collect();
        // An epoch of nothing would be none.
        if chosen.is_empty() { vec![0] } else { chosen }
    }

    /// What each of an epoch's pairs is joined to.
    fn partners(&self, pairs: usize, seed: u64, epoch: u64) -> Vec<ConcatRole> {
        let mut partners = vec![ConcatRole::None; pairs];
        let Some(share) = self.share_joined else { return partners };
        let mut stream = SeededRng::new(seed, "joints", epoch);
        let mut chosen: Vec<usize> = (0..partners.len()).filter(|_| stream.uniform() < share).collect();
        stream.shuffle(&mut chosen);
        for two in chosen.chunks_exact(2) {
            partners[two[0]] = ConcatRole::Second(two[1]);
            partners[two[1]] = ConcatRole::First;
        }
        partners
    }

    /// Two pairs as one, unless that would be too long.
    fn joined(&self, first: Example, second: Example) -> Vec<Example> {
        let joined = join(&first, &second);
        let fits = joined.source.len().max(joined.target.len()) <= self.longest;
        if fits { vec![joined] } else { vec![first, second] }
    }

    /// A pair, cut anew if pairs are, unless that would be too long.
    fn cut(&self, index: usize, stream: &mut SeededRng) -> Example {
        let whole = &self.whole[index];
        let recut = self.recut.as_ref().and_then(|recut| {
            let mut example = recut.cut(index, whole, stream)?;
            if example.source.len().max(example.target.len()) > self.longest {
                return None;
            }
            if let Some(alignment_targets) = &self.alignment_targets {
                let [source, target] = recut.words(&example, alignment_targets.words());
                example.guide = alignment_targets.guide(index, [&source, &target]);
            }
            Some(example)
        });
        recut.unwrap_or_else(|| whole.clone())
    }
}

/// Two pairs as one, which ends where the second one does. Pieces of words and words bring the space before them along.
fn join(first: &Example, second: &Example) -> Example {
    let (sources, targets) = (first.source.len() as u32, first.target.len() as u32);
    let moved =
        |look: &GuideWeight| GuideWeight { target: look.target + targets, source: look.source + sources, ..*look };
    let before_its_end = first.guide.iter().copied().filter(|look| look.target < targets);
    Example {
        guide: before_its_end.chain(second.guide.iter().map(moved)).collect(),
        ..Example::new([&first.source[..], &second.source].concat(), [&first.target[..], &second.target].concat())
    }
}

/// The pairs that have other words once they are normalised, as where `™`, a mark of its own, becomes letters.
fn other_words(pairs: &[Pair], vocabularies: &[Arc<Vocabulary>; 2], words: WordSplitting) -> Vec<usize> {
    let differs = |vocabulary: &Vocabulary, text: &str| {
        let normal = vocabulary.normalization().apply(text);
        word_spans(text, words).len() != word_spans(&normal, words).len()
    };
    let [source, target] = vocabularies;
    let differs = |&index: &usize| differs(source, &pairs[index].source) || differs(target, &pairs[index].target);
    (0..pairs.len()).into_par_iter().filter(differs).collect()
}

impl Resegmentation {
    /// A pair in other units, unless some of its own are unknown: what they stand for cannot be cut.
    fn cut(&self, index: usize, whole: &Example, stream: &mut SeededRng) -> Option<Example> {
        let sides = [&whole.source, &whole.target];
        if self.other_words.contains(&index) || sides.into_iter().any(|units| units.contains(&UNKNOWN)) {
            return None;
        }
        let [source, target] = [0, 1].map(|side| match &self.sides[side] {
            Some(recutting) => recutting.cut(index, self.rate, stream),
            None => sides[side].clone(),
        });
        Some(Example::new(source, target))
    }

    /// The word of each source and target unit.
    fn words(&self, example: &Example, words: WordSplitting) -> [Vec<usize>; 2] {
        let [source, target] = &self.vocabularies;
        [source.join(&example.source, words), target.join(&example.target, words)].map(|(_, units)| units.word_of_unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aligner;
    use crate::text::{NormalForm, Normalization, Units};

    const LONGEST: usize = 40;

    fn pairs() -> Vec<Pair> {
        let words = [("the", "la"), ("red", "rufo"), ("fox", "mi"), ("old", "vela"), ("owl", "ku"), ("sings", "kanta")];
        let pair = |number: usize| {
            let chosen = (0..=number % 4).map(|place| words[(number * (place + 1)) % words.len()]);
            let (source, target): (Vec<&str>, Vec<&str>) = chosen.unzip();
            Pair { source: source.join(" "), target: target.join(" ") }
        };
        (0..60).map(pair).collect()
    }

    fn examples(units: Units, augmentation: Augmentation) -> ([Arc<Vocabulary>; 2], EpochData) {
        let learn = |side: fn(&Pair) -> &str| {
            Arc::new(Vocabulary::train(pairs().iter().map(side), units, Normalization::NONE, 60).unwrap())
        };
        let vocabularies = [learn(|pair| &pair.source), learn(|pair| &pair.target)];
        let corpus = EncodedCorpus::new(pairs(), &vocabularies[0], &vocabularies[1], LONGEST).unwrap();
        let alignment_targets =
            AlignmentTargets::new(&corpus.pairs, &aligner::train(&corpus.pairs, NormalForm::Nfc, &|_| {}), 1.0);
        let examples = EpochData::new(corpus, &vocabularies, Some(alignment_targets), augmentation, LONGEST).unwrap();
        (vocabularies, examples)
    }

    #[test]
    fn joined_pairs_read_as_both_do() {
        for (units, bpe_dropout) in [(Units::Bpe, None), (Units::Bpe, Some(0.3)), (Units::Word, None)] {
            let (vocabularies, examples) = examples(units, Augmentation { bpe_dropout, joined: Some(0.5) });
            let all = pairs();
            let epoch = examples.of_epoch(1, 3);
            assert!(epoch == examples.of_epoch(1, 3) && epoch != examples.of_epoch(1, 4));
            let texts = |example: &Example| {
                [(0, &example.source), (1, &example.target)]
                    .map(|(side, ids): (usize, _)| vocabularies[side].decode(ids))
            };
            let mut left: Vec<[String; 2]> =
                all.iter().map(|pair| [pair.source.clone(), pair.target.clone()]).collect();
            let mut joints = 0;
            for example in epoch.iter() {
                let ends = example.guide.iter().filter(|look| look.target as usize == example.target.len());
                assert_eq!(ends.map(|look| look.source as usize).collect::<Vec<_>>(), [example.source.len()]);
                let read = texts(example);
                if let Some(place) = left.iter().position(|pair| *pair == read) {
                    left.remove(place);
                    continue;
                }
                joints += 1;
                let begins = |pair: &&[String; 2]| {
                    let rest = [0, 1].map(|side: usize| read[side].strip_prefix(&format!("{} ", pair[side])));
                    matches!(rest, [Some(source), Some(target)] if all.iter().any(|pair| pair.source == source && pair.target == target))
                };
                assert!(left.iter().any(|pair| begins(&pair)), "{read:?}");
            }
            assert!((8..23).contains(&joints) && epoch.len() == all.len() - joints, "{joints}");
        }
    }

    #[test]
    fn links_of_other_words_are_left_where_they_are() {
        let nfkc = Normalization { form: NormalForm::Nfkc, lowercase: false };
        let pair = |source: &str| Pair { source: source.to_owned(), target: "mi".to_owned() };
        let pairs = ["the fox", "the fox™", "the ﬁne fox", "the fox ¨"].map(pair);
        let vocabulary = || Vocabulary::train(pairs.iter().map(|pair| &*pair.source), Units::Bpe, nfkc, 60).unwrap();
        let vocabularies = [Arc::new(vocabulary()), Arc::new(vocabulary())];
        assert_eq!(other_words(&pairs, &vocabularies, WordSplitting::Punctuation), [1]);
        assert!(other_words(&pairs, &vocabularies, WordSplitting::Whitespace).is_empty());
    }

    #[test]
    fn pairs_come_as_often_as_they_weigh() {
        let (_, mut examples) = examples(Units::Bpe, Augmentation { bpe_dropout: Some(0.3), joined: None });
        let unweighted = examples.of_epoch(1, 0).into_owned();
        examples.weights = Some(vec![1.0; 60]);
        assert!(*examples.of_epoch(1, 0) == unweighted, "a weight of 1 changes nothing");
        examples.weights = Some((0..60).map(|index| if index < 30 { 2.5 } else { 0.1 }).collect());
        let counts: Vec<usize> = (0..40).map(|epoch| examples.of_epoch(1, epoch).len()).collect();
        let mean = counts.iter().sum::<usize>() as f64 / 40.0;
        assert!((mean - 78.0).abs() < 2.0 && counts.iter().any(|&count| count != counts[0]), "{mean}");
        assert!(examples.of_epoch(1, 3) == examples.of_epoch(1, 3));
        examples.weights = Some(vec![1e-9; 60]);
        assert_eq!(examples.of_epoch(1, 0).len(), 1);
    }

    #[test]
    fn guides_do_not_cross_a_joint() {
        let look = |target, source| GuideWeight { target, source, weight: 1.0 };
        let first = Example { guide: vec![look(0, 1), look(1, 0), look(2, 2)], ..Example::new(vec![5, 6], vec![7, 8]) };
        let second = Example { guide: vec![look(0, 0), look(1, 1)], ..Example::new(vec![9], vec![4]) };
        let joined = join(&first, &second);
        assert_eq!((&joined.source[..], &joined.target[..]), (&[5, 6, 9][..], &[7, 8, 4][..]));
        assert_eq!(joined.guide, [look(0, 1), look(1, 0), look(2, 2), look(3, 3)]);
    }

    #[test]
    fn dropout_makes_no_pair_longer_than_the_longest() {
        let (_, mut examples) = examples(Units::Bpe, Augmentation { bpe_dropout: Some(0.9), joined: None });
        let length = |example: &Example| example.source.len().max(example.target.len());
        let longest = examples.whole.iter().map(length).max().unwrap();
        assert!(examples.of_epoch(1, 0).iter().any(|example| length(example) > longest));
        examples.longest = longest;
        let epoch = examples.of_epoch(1, 0);
        assert!(epoch.iter().all(|example| length(example) <= longest));
        assert!(epoch.iter().zip(&examples.whole).any(|(cut, whole)| cut.source != whole.source));
    }

    #[test]
    fn what_would_be_too_long_is_not_joined() {
        let (_, mut examples) = examples(Units::Word, Augmentation { bpe_dropout: None, joined: Some(0.999) });
        examples.longest = 4;
        let epoch = examples.of_epoch(1, 0);
        assert!(epoch.iter().all(|example| example.source.len().max(example.target.len()) <= 4));
        assert!(epoch.len() > examples.whole.len() / 2 && epoch.len() < examples.whole.len());
    }
}
