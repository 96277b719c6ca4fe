//! Training examples of each epoch.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use anyhow::Result;
use rayon::prelude::*;

use super::alignment_targets::AlignmentTargets;
use super::hallucination::Hallucination;
use crate::model::TokenLexicon;
use crate::random::SeededRng;
use crate::text::{
    EncodedCorpus, Example, GuideWeight, Pair, Resegmenter, UNKNOWN, Vocabulary, WordSplitting, word_spans,
};

/// Epochs whose segmentations the lexicon is learned from.
const LEXICON_EPOCHS: u64 = 3;

/// Data augmentation of each epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Augmentation {
    /// Probability of skipping a merge (BPE-dropout).
    pub bpe_dropout: Option<f64>,
    /// Share of pairs that are concatenated in twos.
    pub concat_pairs: Option<f64>,
    /// Share of pairs that are replaced by hallucinated ones.
    pub hallucination: Option<f64>,
}

/// Training pairs as ids, with alignment targets if attention is guided. Augmentation varies them between epochs.
pub struct EpochData {
    /// Examples without augmentation.
    whole: Vec<Example>,
    alignment_targets: Option<AlignmentTargets>,
    resegmentation: Option<Resegmentation>,
    concat_share: Option<f64>,
    hallucination: Option<Hallucination>,
    /// Expected occurrences of each pair in an epoch; none if each occurs once.
    weights: Option<Vec<f64>>,
    /// Maximum tokens per side.
    max_length: usize,
}

/// Role of a pair in concatenation.
#[derive(Clone, Copy, Debug, PartialEq)]
enum ConcatRole {
    None,
    /// First of two; holds the index of the other.
    First(usize),
    Second,
}

/// BPE-dropout of the training pairs.
struct Resegmentation {
    vocabularies: [Arc<Vocabulary>; 2],
    /// None for a side that does not use BPE.
    sides: [Option<Resegmenter>; 2],
    /// Pairs whose word boundaries change by normalization, so that their links do not fit.
    changed_words: HashSet<usize>,
    rate: f64,
}

impl EpochData {
    /// Returns the data of usable pairs with at most `max_length` tokens per side.
    ///
    /// # Errors
    /// Those of the vocabularies.
    pub fn new(
        corpus: EncodedCorpus,
        vocabularies: &[Arc<Vocabulary>; 2],
        alignment_targets: Option<AlignmentTargets>,
        augmentation: Augmentation,
        max_length: usize,
    ) -> Result<Self> {
        let EncodedCorpus { pairs, examples: mut whole, weights, .. } = corpus;
        let [source, target] = vocabularies;
        if let Some(alignment_targets) = &alignment_targets {
            whole.par_iter_mut().zip(&pairs).enumerate().try_for_each(|(index, (example, pair))| {
                let source = source.segment(&pair.source, alignment_targets.words())?;
                let target = target.segment(&pair.target, alignment_targets.words())?;
                example.guide = alignment_targets.guide(index, [&source.word_of_token, &target.word_of_token]);
                Ok::<_, anyhow::Error>(())
            })?;
        }
        let resegmentation = |rate| -> Result<_> {
            let source = source.resegmenter(pairs.iter().map(|pair| pair.source.as_str()))?;
            let target = target.resegmenter(pairs.iter().map(|pair| pair.target.as_str()))?;
            let changed_words = alignment_targets
                .iter()
                .flat_map(|alignment_targets| changed_words(&pairs, vocabularies, alignment_targets.words()))
                .collect();
            Ok(Resegmentation { vocabularies: vocabularies.clone(), sides: [source, target], changed_words, rate })
        };
        let resegmentation = augmentation.bpe_dropout.map(resegmentation).transpose()?;
        let concat_share = augmentation.concat_pairs;
        let hallucination = |share| Hallucination::new(share, &whole, [source, target]);
        let hallucination = augmentation.hallucination.map(hallucination);
        Ok(Self { whole, alignment_targets, resegmentation, concat_share, hallucination, weights, max_length })
    }

    /// Returns the token lexicon of the alignment targets, over the segmentations of a few epochs.
    pub fn lexicon(&self, vocabularies: [usize; 2], seed: u64) -> TokenLexicon {
        let epochs: Vec<_> = (0..if self.resegmentation.is_some() { LEXICON_EPOCHS } else { 0 })
            .map(|epoch| self.epoch(seed, epoch))
            .collect();
        TokenLexicon::from_guides(
            self.whole.iter().chain(epochs.iter().flat_map(|examples| examples.iter())),
            vocabularies,
        )
    }

    /// Returns the examples of an epoch, which are determined by seed and epoch.
    pub fn epoch(&self, seed: u64, epoch: u64) -> Cow<'_, [Example]> {
        let varies = self.resegmentation.is_some() || self.concat_share.is_some() || self.hallucination.is_some();
        if !varies && self.weights.is_none() {
            return Cow::Borrowed(&self.whole);
        }
        let indices = self.weighted_indices(seed, epoch);
        let roles = self.concat_roles(indices.len(), seed, epoch);
        let augment = |(position, role): (usize, &ConcatRole)| {
            let segment = |position: usize| {
                let mut rng = SeededRng::new(seed, &format!("merges of epoch {epoch}"), position as u64);
                self.segment(indices[position], &mut rng)
            };
            match *role {
                ConcatRole::None => vec![segment(position)],
                ConcatRole::First(second) => self.concatenated(segment(position), segment(second)),
                ConcatRole::Second => Vec::new(),
            }
        };
        roles.par_iter().enumerate().flat_map_iter(augment).collect::<Vec<_>>().into()
    }

    /// Returns the pairs of an epoch by index. A pair occurs as often as the integer part of its weight, and once more with
    /// the probability of the fractional part.
    fn weighted_indices(&self, seed: u64, epoch: u64) -> Vec<usize> {
        let Some(weights) = &self.weights else { return (0..self.whole.len()).collect() };
        let mut rng = SeededRng::new(seed, "weights", epoch);
        let mut times = |weight: f64| weight as usize + usize::from(rng.uniform() < weight.fract());
        let indices = weights.iter().enumerate().flat_map(|(index, &weight)| std::iter::repeat_n(index, times(weight)));
        let indices: Vec<usize> = indices.collect();
        // An epoch needs at least one pair.
        if indices.is_empty() { vec![0] } else { indices }
    }

    fn concat_roles(&self, pairs: usize, seed: u64, epoch: u64) -> Vec<ConcatRole> {
        let mut roles = vec![ConcatRole::None; pairs];
        let Some(share) = self.concat_share else { return roles };
        let mut rng = SeededRng::new(seed, "joints", epoch);
        let mut chosen: Vec<usize> = (0..pairs).filter(|_| rng.uniform() < share).collect();
        rng.shuffle(&mut chosen);
        for two in chosen.chunks_exact(2) {
            roles[two[0]] = ConcatRole::First(two[1]);
            roles[two[1]] = ConcatRole::Second;
        }
        roles
    }

    /// Concatenates two pairs, unless the result would be too long.
    fn concatenated(&self, first: Example, second: Example) -> Vec<Example> {
        let both = concat(&first, &second);
        let fits = both.source.len().max(both.target.len()) <= self.max_length;
        if fits { vec![both] } else { vec![first, second] }
    }

    /// Returns a pair, hallucinated or segmented with BPE-dropout if that is enabled and the result is not too long.
    fn segment(&self, index: usize, rng: &mut SeededRng) -> Example {
        let whole = &self.whole[index];
        let fits = |example: &Example| example.source.len().max(example.target.len()) <= self.max_length;
        if let Some(hallucination) = &self.hallucination {
            return Some(hallucination.apply(whole, &self.whole, rng)).filter(fits).unwrap_or_else(|| whole.clone());
        }
        let resegmented = self.resegmentation.as_ref().and_then(|resegmentation| {
            let mut example = resegmentation.segment(index, whole, rng).filter(fits)?;
            if let Some(alignment_targets) = &self.alignment_targets {
                let [source, target] = resegmentation.words(&example, alignment_targets.words());
                example.guide = alignment_targets.guide(index, [&source, &target]);
            }
            Some(example)
        });
        resegmented.unwrap_or_else(|| whole.clone())
    }
}

/// Concatenates two pairs. Tokens of words include the space before them, so none is added.
fn concat(first: &Example, second: &Example) -> Example {
    let (sources, targets) = (first.source.len() as u32, first.target.len() as u32);
    let shifted = |weight: &GuideWeight| GuideWeight {
        target: weight.target + targets,
        source: weight.source + sources,
        ..*weight
    };
    let before_end = first.guide.iter().copied().filter(|weight| weight.target < targets);
    Example {
        guide: before_end.chain(second.guide.iter().map(shifted)).collect(),
        ..Example::new([&first.source[..], &second.source].concat(), [&first.target[..], &second.target].concat())
    }
}

/// Returns the pairs whose word boundaries change by normalization: NFKC turns the symbol `™` into letters.
fn changed_words(pairs: &[Pair], vocabularies: &[Arc<Vocabulary>; 2], words: WordSplitting) -> Vec<usize> {
    let differs = |vocabulary: &Vocabulary, text: &str| {
        let normal = vocabulary.normalization().apply(text);
        word_spans(text, words).len() != word_spans(&normal, words).len()
    };
    let [source, target] = vocabularies;
    let differs = |&index: &usize| differs(source, &pairs[index].source) || differs(target, &pairs[index].target);
    (0..pairs.len()).into_par_iter().filter(differs).collect()
}

impl Resegmentation {
    /// Segments a pair anew. None if it has unknown tokens, whose text is lost, or changed words.
    fn segment(&self, index: usize, whole: &Example, rng: &mut SeededRng) -> Option<Example> {
        let sides = [&whole.source, &whole.target];
        if self.changed_words.contains(&index) || sides.into_iter().any(|tokens| tokens.contains(&UNKNOWN)) {
            return None;
        }
        let [source, target] = [0, 1].map(|side| match &self.sides[side] {
            Some(resegmenter) => resegmenter.cut(index, self.rate, rng),
            None => sides[side].clone(),
        });
        Some(Example::new(source, target))
    }

    /// Returns the word of each source and target token.
    fn words(&self, example: &Example, words: WordSplitting) -> [Vec<usize>; 2] {
        let [source, target] = &self.vocabularies;
        [source.join(&example.source, words), target.join(&example.target, words)].map(|(_, tokens)| tokens.word_of_token)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aligner;
    use crate::text::{NormalForm, Normalization, Tokenization};

    const MAX_LENGTH: usize = 40;

    fn pairs() -> Vec<Pair> {
        let words = [("the", "la"), ("red", "rufo"), ("fox", "mi"), ("old", "vela"), ("owl", "ku"), ("sings", "kanta")];
        let pair = |number: usize| {
            let chosen = (0..=number % 4).map(|place| words[(number * (place + 1)) % words.len()]);
            let (source, target): (Vec<&str>, Vec<&str>) = chosen.unzip();
            Pair { source: source.join(" "), target: target.join(" ") }
        };
        (0..60).map(pair).collect()
    }

    fn examples(tokenization: Tokenization, augmentation: Augmentation) -> ([Arc<Vocabulary>; 2], EpochData) {
        let learn = |side: fn(&Pair) -> &str| {
            Arc::new(Vocabulary::train(pairs().iter().map(side), tokenization, Normalization::NONE, 60).unwrap())
        };
        let vocabularies = [learn(|pair| &pair.source), learn(|pair| &pair.target)];
        let corpus = EncodedCorpus::new(pairs(), &vocabularies[0], &vocabularies[1], MAX_LENGTH).unwrap();
        let alignment_targets =
            AlignmentTargets::new(&corpus.pairs, &aligner::train(&corpus.pairs, NormalForm::Nfc, &|_| {}), 1.0);
        let examples =
            EpochData::new(corpus, &vocabularies, Some(alignment_targets), augmentation, MAX_LENGTH).unwrap();
        (vocabularies, examples)
    }

    #[test]
    fn concatenated_pairs_decode_to_both_texts() {
        for (tokenization, bpe_dropout) in [(Tokenization::Bpe, None), (Tokenization::Bpe, Some(0.3)), (Tokenization::Word, None)] {
            let (vocabularies, examples) =
                examples(tokenization, Augmentation { bpe_dropout, concat_pairs: Some(0.5), ..Augmentation::default() });
            let all = pairs();
            let epoch = examples.epoch(1, 3);
            assert!(epoch == examples.epoch(1, 3) && epoch != examples.epoch(1, 4));
            let texts = |example: &Example| {
                [(0, &example.source), (1, &example.target)]
                    .map(|(side, ids): (usize, _)| vocabularies[side].decode(ids))
            };
            let mut left: Vec<[String; 2]> =
                all.iter().map(|pair| [pair.source.clone(), pair.target.clone()]).collect();
            let mut concatenated = 0;
            for example in epoch.iter() {
                let ends = example.guide.iter().filter(|weight| weight.target as usize == example.target.len());
                assert_eq!(ends.map(|weight| weight.source as usize).collect::<Vec<_>>(), [example.source.len()]);
                let decoded = texts(example);
                if let Some(index) = left.iter().position(|pair| *pair == decoded) {
                    left.remove(index);
                    continue;
                }
                concatenated += 1;
                let is_first = |pair: &&[String; 2]| {
                    let rest = [0, 1].map(|side: usize| decoded[side].strip_prefix(&format!("{} ", pair[side])));
                    matches!(rest, [Some(source), Some(target)] if all.iter().any(|pair| pair.source == source && pair.target == target))
                };
                assert!(left.iter().any(|pair| is_first(&pair)), "{decoded:?}");
            }
            assert!((8..23).contains(&concatenated) && epoch.len() == all.len() - concatenated, "{concatenated}");
        }
    }

    #[test]
    fn finds_pairs_whose_words_change_by_normalization() {
        let nfkc = Normalization { form: NormalForm::Nfkc, lowercase: false };
        let pair = |source: &str| Pair { source: source.to_owned(), target: "mi".to_owned() };
        let pairs = ["the fox", "the fox™", "the ﬁne fox", "the fox ¨"].map(pair);
        let vocabulary = || Vocabulary::train(pairs.iter().map(|pair| &*pair.source), Tokenization::Bpe, nfkc, 60).unwrap();
        let vocabularies = [Arc::new(vocabulary()), Arc::new(vocabulary())];
        assert_eq!(changed_words(&pairs, &vocabularies, WordSplitting::Punctuation), [1]);
        assert!(changed_words(&pairs, &vocabularies, WordSplitting::Whitespace).is_empty());
    }

    #[test]
    fn pairs_occur_in_proportion_to_their_weights() {
        let (_, mut examples) =
            examples(Tokenization::Bpe, Augmentation { bpe_dropout: Some(0.3), ..Augmentation::default() });
        let unweighted = examples.epoch(1, 0).into_owned();
        examples.weights = Some(vec![1.0; 60]);
        assert!(*examples.epoch(1, 0) == unweighted, "a weight of 1 changes nothing");
        examples.weights = Some((0..60).map(|index| if index < 30 { 2.5 } else { 0.1 }).collect());
        let counts: Vec<usize> = (0..40).map(|epoch| examples.epoch(1, epoch).len()).collect();
        let mean = counts.iter().sum::<usize>() as f64 / 40.0;
        assert!((mean - 78.0).abs() < 2.0 && counts.iter().any(|&count| count != counts[0]), "{mean}");
        assert!(examples.epoch(1, 3) == examples.epoch(1, 3));
        examples.weights = Some(vec![1e-9; 60]);
        assert_eq!(examples.epoch(1, 0).len(), 1);
    }

    #[test]
    fn alignment_targets_stay_within_their_pair() {
        let weight = |target, source| GuideWeight { target, source, weight: 1.0 };
        let first =
            Example { guide: vec![weight(0, 1), weight(1, 0), weight(2, 2)], ..Example::new(vec![5, 6], vec![7, 8]) };
        let second = Example { guide: vec![weight(0, 0), weight(1, 1)], ..Example::new(vec![9], vec![4]) };
        let both = concat(&first, &second);
        assert_eq!((&both.source[..], &both.target[..]), (&[5, 6, 9][..], &[7, 8, 4][..]));
        assert_eq!(both.guide, [weight(0, 1), weight(1, 0), weight(2, 2), weight(3, 3)]);
    }

    #[test]
    fn bpe_dropout_respects_the_maximum_length() {
        let (_, mut examples) =
            examples(Tokenization::Bpe, Augmentation { bpe_dropout: Some(0.9), ..Augmentation::default() });
        let length = |example: &Example| example.source.len().max(example.target.len());
        let longest = examples.whole.iter().map(length).max().unwrap();
        assert!(examples.epoch(1, 0).iter().any(|example| length(example) > longest));
        examples.max_length = longest;
        let epoch = examples.epoch(1, 0);
        assert!(epoch.iter().all(|example| length(example) <= longest));
        assert!(epoch.iter().zip(&examples.whole).any(|(resegmented, whole)| resegmented.source != whole.source));
    }

    #[test]
    fn concatenation_respects_the_maximum_length() {
        let (_, mut examples) =
            examples(Tokenization::Word, Augmentation { concat_pairs: Some(0.999), ..Augmentation::default() });
        examples.max_length = 4;
        let epoch = examples.epoch(1, 0);
        assert!(epoch.iter().all(|example| example.source.len().max(example.target.len()) <= 4));
        assert!(epoch.len() > examples.whole.len() / 2 && epoch.len() < examples.whole.len());
    }
}
