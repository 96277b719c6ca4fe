//! Plain arrays of an aligner, for storage.

use anyhow::{Context, Result, ensure};

use super::hmm::{JumpDistribution, JumpModel};
use super::translation_table::{TranslationTable, WordPairs};
use super::vocab::AlignerVocab;
use super::word_aligner::WordAligner;
use crate::text::NormalForm;

/// Minimum probability, in either direction, of a stored entry.
const MIN_PROBABILITY: f32 = 1e-4;

/// Parameters of an aligner, without entries of negligible probability.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SerializedAligner {
    /// Normal form in which words are looked up.
    pub form: NormalForm,
    /// Normalized source and target words by id.
    pub words: [Vec<String>; 2],
    /// Source and target word ids of each table entry, sorted.
    pub entries: [Vec<u32>; 2],
    /// t(target | source) and t(source | target) by entry.
    pub translations: [Vec<f32>; 2],
    /// p(target word | NULL) and p(source word | NULL).
    pub null: [Vec<f32>; 2],
    /// Training counts of source and target words.
    pub counts: [Vec<u32>; 2],
    /// Jump distributions by length, from −L to L: over source positions and over target positions.
    pub jumps: [Vec<f64>; 2],
}

impl WordAligner {
    /// Returns the aligner's parameters as plain arrays.
    pub fn to_serialized(&self) -> SerializedAligner {
        let mut arrays = SerializedAligner {
            form: self.form,
            words: self.words.each_ref().map(|words| words.words().to_vec()),
            null: self.null.clone(),
            counts: self.counts.clone(),
            jumps: self.jumps.each_ref().map(|jumps| jumps.distribution().values().to_vec()),
            ..SerializedAligner::default()
        };
        for entry in self.table.likely(MIN_PROBABILITY) {
            arrays.entries[0].push(entry.source);
            arrays.entries[1].push(entry.target);
            for (all, probability) in arrays.translations.iter_mut().zip(entry.probabilities) {
                all.push(probability);
            }
        }
        arrays
    }

    /// Restores an aligner from the arrays of [`Self::to_serialized`].
    ///
    /// # Errors
    /// The arrays are inconsistent.
    pub fn from_serialized(arrays: SerializedAligner) -> Result<Self> {
        let SerializedAligner { form, words, entries, translations, null, counts, jumps } = arrays;
        let sizes = words.each_ref().map(Vec::len);
        let [sources, targets] = entries;
        ensure!(translations.iter().all(|values| values.len() == sources.len()), "entries without probabilities");
        ensure!(targets.len() == sources.len(), "source and target entries differ in number");
        let mut source_and_target_ids = sources.iter().zip(&targets);
        ensure!(
            source_and_target_ids.all(|(&s, &t)| (s as usize) < sizes[0] && (t as usize) < sizes[1]),
            "an entry has an unknown word id"
        );
        ensure!(null[0].len() == sizes[1] && null[1].len() == sizes[0], "words without NULL probabilities");
        ensure!(counts.each_ref().map(Vec::len) == sizes, "counts and words differ in number");
        let mut values = translations.iter().chain(&null).flatten();
        ensure!(values.all(|value| (0.0..=1.0).contains(value)), "a probability is outside 0..=1");
        let keys: Vec<u64> = sources.iter().zip(&targets).map(|(&s, &t)| u64::from(s) << 32 | u64::from(t)).collect();
        ensure!(keys.is_sorted_by(|a, b| a < b), "entries are not sorted");
        let [forward, backward] = translations;
        let words = words.map(|all| {
            let mut words = AlignerVocab::default();
            all.into_iter().for_each(|word| {
                words.add(word);
            });
            words
        });
        ensure!(words.each_ref().map(|words| words.words().len()) == sizes, "a word occurs twice");
        let [first, second] = jumps.map(|jumps| JumpDistribution::from_values(&jumps).context("invalid jumps"));
        let table = TranslationTable {
            pairs: WordPairs::from_keys(&keys, sizes[0]),
            forward,
            backward,
            absent: Default::default(),
        };
        Ok(Self::new(form, words, table, null, [first?, second?].map(JumpModel::new), counts))
    }
}
