//! The trained aligner and its link posteriors.

use std::borrow::Cow;
use std::cell::RefCell;

use super::cognates::LikelyTranslations;
use super::hmm::JumpModel;
use super::pair_posteriors::PairPosteriors;
use super::translation_table::TranslationTable;
use super::vocab::{AlignerVocab, UNKNOWN, normalize_word};
use crate::text::NormalForm;

thread_local! {
    /// Buffers for the pairs of a thread, since allocation would take most of the time.
    static BUFFERS: RefCell<PairPosteriors> = RefCell::default();
}

/// Words with this count are treated as unknown: their only pair may be the one to be aligned, and training links would
/// merely be repeated.
const SINGLETON: u32 = 1;

/// Statistical word aligner of both directions.
#[derive(Clone, Debug)]
pub struct WordAligner {
    /// Normal form in which words are looked up.
    pub(super) form: NormalForm,
    /// Source and target vocabulary.
    pub(super) words: [AlignerVocab; 2],
    pub(super) table: TranslationTable,
    /// p(target word | NULL), p(source word | NULL).
    pub(super) null: [Vec<f32>; 2],
    /// Jumps over source positions and over target positions.
    pub(super) jumps: [JumpModel; 2],
    /// Training counts of source and target words.
    pub(super) counts: [Vec<u32>; 2],
    translations: LikelyTranslations,
}

/// Link posteriors of one pair.
#[derive(Clone, Debug, PartialEq)]
pub struct Posteriors {
    /// p(target word t is aligned to source word s), `[target × source]`: a row sums to 1 − p(NULL).
    pub forward: Vec<f32>,
    /// p(source word s is aligned to target word t), `[target × source]`: a column sums to 1 − p(NULL).
    pub backward: Vec<f32>,
    /// ln p(target | source).
    pub log_probability: f64,
}

impl Posteriors {
    /// All-zero posteriors.
    pub fn zeros(sources: usize, targets: usize) -> Self {
        let zeros = vec![0.0; sources * targets];
        Self { forward: zeros.clone(), backward: zeros, log_probability: 0.0 }
    }
}

impl WordAligner {
    /// Assembles an aligner; likely translations are collected from the table.
    pub(super) fn new(
        form: NormalForm,
        words: [AlignerVocab; 2],
        table: TranslationTable,
        null: [Vec<f32>; 2],
        jumps: [JumpModel; 2],
        counts: [Vec<u32>; 2],
    ) -> Self {
        let translations = LikelyTranslations::new(&table, words.each_ref().map(|words| words.words().len()));
        Self { form, words, table, null, jumps, counts, translations }
    }

    /// Computes the link posteriors of a sentence pair.
    pub fn posteriors(&self, source: &[String], target: &[String]) -> Posteriors {
        let texts = [source, target]
            .map(|words| words.iter().map(|word| normalize_word(word, self.form)).collect::<Vec<Cow<str>>>());
        let [source, target] =
            [0, 1].map(|side| -> Vec<u32> { texts[side].iter().map(|word| self.id(side, word)).collect() });
        BUFFERS.with_borrow_mut(|pair| {
            pair.load_pair(&self.table, &self.null, [&source, &target]);
            let (texts, ids) = ([&texts[0][..], &texts[1]], [&source[..], &target]);
            self.translations.apply_cognate_prior(pair, texts, ids, &self.words, &self.counts);
            let log_probability = pair.hmm_posteriors(&self.jumps, None);
            let mut posteriors = Posteriors { log_probability, ..Posteriors::zeros(source.len(), target.len()) };
            let Posteriors { forward, backward, .. } = &mut posteriors;
            for (t, row) in forward.chunks_exact_mut(source.len().max(1)).enumerate() {
                row.copy_from_slice(pair.by_source.values(t));
            }
            for s in 0..source.len() {
                let column = backward.iter_mut().skip(s).step_by(source.len());
                column.zip(pair.by_target.values(s)).for_each(|(to, from)| *to = *from);
            }
            posteriors
        })
    }

    /// Iterates over the words of the sources (side 0) or targets (side 1) of the training pairs, in lower case.
    pub fn words(&self, side: usize) -> impl Iterator<Item = &str> {
        self.words[side].words().iter().map(String::as_str)
    }

    /// True if a word of the source (side 0) or the target (side 1) is in the training pairs.
    pub fn knows(&self, side: usize, word: &str) -> bool {
        self.words[side].id(&normalize_word(word, self.form)).is_some()
    }

    /// Id of a side's word; [`UNKNOWN`] for a singleton too.
    fn id(&self, side: usize, word: &str) -> u32 {
        self.words[side].id(word).filter(|&id| self.counts[side][id as usize] > SINGLETON).unwrap_or(UNKNOWN)
    }
}
