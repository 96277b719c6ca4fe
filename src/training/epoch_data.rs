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
    EncodedCorpus, Example, GuideWeight, Pair, Resegmenter, Segmentation, UNKNOWN, Vocabulary, WordSplitting,
    word_spans,
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
                example.guide = alignment_targets.guide(index, [&source, &target]);
                Ok::<_, anyhow::Error>(())
            })?;
        }
        let resegmentation = match augmentation.bpe_dropout {
            Some(rate) => Some(Resegmentation::new(&pairs, vocabularies, alignment_targets.as_ref(), rate)?),
            None => None,
        };
        let concat_share = augmentation.concat_pairs;
        let hallucination = augmentation.hallucination.map(|share| Hallucination::new(share, &whole, [source, target]));
        Ok(Self { whole, alignment_targets, resegmentation, concat_share, hallucination, weights, max_length })
    }

    /// Returns the examples without augmentation.
    pub fn examples(&self) -> &[Example] {
        &self.whole
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
        let draw = EpochDraw { data: self, indices: self.weighted_indices(seed, epoch), seed, epoch };
        let roles = self.concat_roles(draw.indices.len(), seed, epoch);
        let examples = roles.par_iter().enumerate().flat_map_iter(|(position, role)| match *role {
            ConcatRole::None => vec![draw.example(position)],
            ConcatRole::First(second) => self.concatenated(draw.example(position), draw.example(second)),
            ConcatRole::Second => Vec::new(),
        });
        examples.collect::<Vec<_>>().into()
    }

    /// Returns the pairs of an epoch by index. A pair occurs as often as the integer part of its weight, and once more with
    /// the probability of the fractional part.
    fn weighted_indices(&self, seed: u64, epoch: u64) -> Vec<usize> {
        let Some(weights) = &self.weights else { return (0..self.whole.len()).collect() };
        let mut rng = SeededRng::new(seed, "weights", epoch);
        let mut indices = Vec::with_capacity(weights.len());
        for (index, &weight) in weights.iter().enumerate() {
            let times = weight as usize + usize::from(rng.uniform() < weight.fract());
            indices.extend(std::iter::repeat_n(index, times));
        }
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
        if self.fits(&both) { vec![both] } else { vec![first, second] }
    }

    /// True if a pair is not too long.
    fn fits(&self, example: &Example) -> bool {
        longer_side(example) <= self.max_length
    }

    /// Returns a pair, hallucinated or segmented with BPE-dropout if that is enabled and the result is not too long.
    fn segment(&self, index: usize, rng: &mut SeededRng) -> Example {
        let whole = &self.whole[index];
        let varied = match &self.hallucination {
            Some(hallucination) => {
                Some(hallucination.apply(whole, &self.whole, rng)).filter(|varied| self.fits(varied))
            }
            None => self.resegmented(index, rng),
        };
        varied.unwrap_or_else(|| whole.clone())
    }

    /// Returns a pair segmented with BPE-dropout, if that is enabled and the result is not too long.
    fn resegmented(&self, index: usize, rng: &mut SeededRng) -> Option<Example> {
        let resegmentation = self.resegmentation.as_ref()?;
        let mut example =
            resegmentation.segment(index, &self.whole[index], rng).filter(|example| self.fits(example))?;
        if let Some(alignment_targets) = &self.alignment_targets {
            let [source, target] = resegmentation.joined(&example, alignment_targets.words());
            example.guide = alignment_targets.guide(index, [&source, &target]);
        }
        Some(example)
    }
}

/// Pairs of an epoch, each with its own random numbers.
struct EpochDraw<'d> {
    data: &'d EpochData,
    /// Indices of the pairs in the data.
    indices: Vec<usize>,
    seed: u64,
    epoch: u64,
}

impl EpochDraw<'_> {
    /// Returns the pair at a position of the epoch.
    fn example(&self, position: usize) -> Example {
        let mut rng = SeededRng::new(self.seed, &format!("merges of epoch {}", self.epoch), position as u64);
        self.data.segment(self.indices[position], &mut rng)
    }
}

/// Returns the number of tokens of the longer side.
fn longer_side(example: &Example) -> usize {
    example.source.len().max(example.target.len())
}

/// Concatenates two pairs. Tokens of words include the space before them, so none is added.
fn concat(first: &Example, second: &Example) -> Example {
    let (sources, targets) = (first.source.len() as u32, first.target.len() as u32);
    let mut guide: Vec<GuideWeight> = first.guide.iter().copied().filter(|weight| weight.target < targets).collect();
    for &GuideWeight { source, target, weight } in &second.guide {
        guide.push(GuideWeight { source: source + sources, target: target + targets, weight });
    }
    Example {
        guide,
        ..Example::new([&first.source[..], &second.source].concat(), [&first.target[..], &second.target].concat())
    }
}

/// Returns the pairs whose word boundaries change by normalization: NFKC turns the symbol `™` into letters.
fn changed_words(pairs: &[Pair], vocabularies: &[Arc<Vocabulary>; 2], words: WordSplitting) -> Vec<usize> {
    let [source, target] = vocabularies;
    let indices = (0..pairs.len()).into_par_iter().filter(|&index| {
        let pair = &pairs[index];
        changes_words(source, &pair.source, words) || changes_words(target, &pair.target, words)
    });
    indices.collect()
}

/// True if the normalization of a vocabulary changes the number of words in a text.
fn changes_words(vocabulary: &Vocabulary, text: &str, words: WordSplitting) -> bool {
    let normal = vocabulary.normalization().apply(text);
    word_spans(text, words).len() != word_spans(&normal, words).len()
}

impl Resegmentation {
    /// Returns the BPE-dropout of pairs, which skips merges at a rate.
    fn new(
        pairs: &[Pair],
        vocabularies: &[Arc<Vocabulary>; 2],
        alignment_targets: Option<&AlignmentTargets>,
        rate: f64,
    ) -> Result<Self> {
        let [source, target] = vocabularies;
        let source = source.resegmenter(pairs.iter().map(|pair| pair.source.as_str()))?;
        let target = target.resegmenter(pairs.iter().map(|pair| pair.target.as_str()))?;
        let changed_words = match alignment_targets {
            Some(targets) => changed_words(pairs, vocabularies, targets.words()).into_iter().collect(),
            None => HashSet::new(),
        };
        Ok(Self { vocabularies: vocabularies.clone(), sides: [source, target], changed_words, rate })
    }

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

    /// Returns the tokens of the source and of the target with their words.
    fn joined(&self, example: &Example, words: WordSplitting) -> [Segmentation; 2] {
        let [source, target] = &self.vocabularies;
        [source.join(&example.source, words), target.join(&example.target, words)].map(|(_, tokens)| tokens)
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
        let mut pairs = Vec::new();
        for number in 0..60 {
            let chosen = (0..=number % 4).map(|place| words[(number * (place + 1)) % words.len()]);
            let (source, target): (Vec<&str>, Vec<&str>) = chosen.unzip();
            pairs.push(Pair::new(source.join(" "), target.join(" ")));
        }
        pairs
    }

    fn vocabulary(side: fn(&Pair) -> &str, tokenization: Tokenization) -> Arc<Vocabulary> {
        Arc::new(Vocabulary::train(pairs().iter().map(side), tokenization, Normalization::NONE, 60).unwrap())
    }

    fn examples(tokenization: Tokenization, augmentation: Augmentation) -> ([Arc<Vocabulary>; 2], EpochData) {
        let vocabularies =
            [vocabulary(|pair| &pair.source, tokenization), vocabulary(|pair| &pair.target, tokenization)];
        let corpus = EncodedCorpus::new(pairs(), &vocabularies[0], &vocabularies[1], MAX_LENGTH).unwrap();
        let alignment_targets =
            AlignmentTargets::new(&corpus.pairs, &aligner::train(&corpus.pairs, NormalForm::Nfc, &|_| {}), 1.0);
        let examples =
            EpochData::new(corpus, &vocabularies, Some(alignment_targets), augmentation, MAX_LENGTH).unwrap();
        (vocabularies, examples)
    }

    /// True if a text is that of a pair followed by that of one of the others.
    fn begins_with(text: &[String; 2], pair: &Pair, others: &[Pair]) -> bool {
        let source = text[0].strip_prefix(&format!("{} ", pair.source));
        let target = text[1].strip_prefix(&format!("{} ", pair.target));
        others.iter().any(|other| source == Some(&*other.source) && target == Some(&*other.target))
    }

    #[test]
    fn concatenated_pairs_decode_to_both_texts() {
        for (tokenization, bpe_dropout) in
            [(Tokenization::Bpe, None), (Tokenization::Bpe, Some(0.3)), (Tokenization::Word, None)]
        {
            let augmentation = Augmentation { bpe_dropout, concat_pairs: Some(0.5), ..Augmentation::default() };
            let ([source, target], examples) = examples(tokenization, augmentation);
            let all = pairs();
            let epoch = examples.epoch(1, 3);
            assert!(epoch == examples.epoch(1, 3) && epoch != examples.epoch(1, 4));
            let mut left = all.clone();
            let mut concatenated = 0;
            for example in epoch.iter() {
                let ends = example.guide.iter().filter(|weight| weight.target as usize == example.target.len());
                assert_eq!(ends.map(|weight| weight.source as usize).collect::<Vec<_>>(), [example.source.len()]);
                let decoded = [source.decode(&example.source), target.decode(&example.target)];
                let unchanged = left.iter().position(|pair| pair.source == decoded[0] && pair.target == decoded[1]);
                if let Some(index) = unchanged {
                    left.remove(index);
                    continue;
                }
                concatenated += 1;
                assert!(left.iter().any(|pair| begins_with(&decoded, pair, &all)), "{decoded:?}");
            }
            assert!((8..23).contains(&concatenated) && epoch.len() == all.len() - concatenated, "{concatenated}");
        }
    }

    #[test]
    fn finds_pairs_whose_words_change_by_normalization() {
        let nfkc = Normalization { form: NormalForm::Nfkc, lowercase: false };
        let pairs = ["the fox", "the fox™", "the ﬁne fox", "the fox ¨"].map(|source| Pair::new(source, "mi"));
        let texts = pairs.iter().map(|pair| &*pair.source);
        let vocabulary = Arc::new(Vocabulary::train(texts, Tokenization::Bpe, nfkc, 60).unwrap());
        let vocabularies = [vocabulary.clone(), vocabulary];
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

    fn weight(target: u32, source: u32) -> GuideWeight {
        GuideWeight { target, source, weight: 1.0 }
    }

    #[test]
    fn alignment_targets_stay_within_their_pair() {
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
        let longest = examples.whole.iter().map(longer_side).max().unwrap();
        assert!(examples.epoch(1, 0).iter().any(|example| longer_side(example) > longest));
        examples.max_length = longest;
        let epoch = examples.epoch(1, 0);
        assert!(epoch.iter().all(|example| longer_side(example) <= longest));
        assert!(epoch.iter().zip(&examples.whole).any(|(resegmented, whole)| resegmented.source != whole.source));
    }

    #[test]
    fn concatenation_respects_the_maximum_length() {
        let (_, mut examples) =
            examples(Tokenization::Word, Augmentation { concat_pairs: Some(0.999), ..Augmentation::default() });
        examples.max_length = 4;
        let epoch = examples.epoch(1, 0);
        assert!(epoch.iter().all(|example| longer_side(example) <= 4));
        assert!(epoch.len() > examples.whole.len() / 2 && epoch.len() < examples.whole.len());
    }
}
