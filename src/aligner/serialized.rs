//! An aligner as plain tables, for storing.

use anyhow::{Context, Result, ensure};

use super::hmm::Jumps;
use super::lexicon::{Entries, Lexicon};
use super::word_aligner::WordAligner;
use super::words::Words;
use crate::text::NormalForm;

/// Entries less likely than this in both directions are not kept.
const LEAST: f32 = 1e-4;

/// All that an aligner has learnt, but for entries next to impossible.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tables {
    /// In which words are looked up.
    pub form: NormalForm,
    /// Source words and target words in their normal form.
    pub words: [Vec<String>; 2],
    /// Of each entry of the lexicon the source word and the target word, by number and in this order.
    pub entries: [Vec<u32>; 2],
    /// t(target word | source word) and t(source word | target word) of each entry.
    pub translations: [Vec<f32>; 2],
    /// p(target word | nothing) and p(source word | nothing).
    pub nothing: [Vec<f32>; 2],
    /// How often each source word and each target word was seen.
    pub seen: [Vec<u32>; 2],
    /// How likely jumps are, from the longest backwards: of the source's positions, and of the target's.
    pub jumps: [Vec<f64>; 2],
}

impl WordAligner {
    /// Its tables.
    pub fn tables(&self) -> Tables {
        let mut tables = Tables {
            form: self.form,
            words: self.words.each_ref().map(|words| words.all().to_vec()),
            nothing: self.nothing.clone(),
            seen: self.seen.clone(),
            jumps: self.jumps.each_ref().map(|jumps| jumps.values().to_vec()),
            ..Tables::default()
        };
        for (source, target, translations) in self.lexicon.likely(LEAST) {
            tables.entries[0].push(source);
            tables.entries[1].push(target);
            for (all, share) in tables.translations.iter_mut().zip(translations) {
                all.push(share);
            }
        }
        tables
    }

    /// From tables as [`Self::tables`] makes them.
    ///
    /// # Errors
    /// They do not fit together.
    pub fn from_tables(tables: Tables) -> Result<Self> {
        let Tables { form, words, entries, translations, nothing, seen, jumps } = tables;
        let counts = words.each_ref().map(Vec::len);
        let [sources, targets] = entries;
        ensure!(translations.iter().all(|shares| shares.len() == sources.len()), "entries without translations");
        ensure!(targets.len() == sources.len(), "entries of one side alone");
        let within = |ids: &[u32], count: usize| ids.iter().all(|&id| (id as usize) < count);
        ensure!(within(&sources, counts[0]) && within(&targets, counts[1]), "an entry of a word that is not there");
        ensure!(nothing[0].len() == counts[1] && nothing[1].len() == counts[0], "words without their shares");
        ensure!(seen.each_ref().map(Vec::len) == counts, "words without their number");
        let shares = translations.iter().chain(&nothing).flatten();
        ensure!(shares.clone().all(|share| (0.0..=1.0).contains(share)), "a share that is none");
        let keys: Vec<u64> = sources.iter().zip(&targets).map(|(&s, &t)| u64::from(s) << 32 | u64::from(t)).collect();
        ensure!(keys.is_sorted_by(|a, b| a < b), "entries out of order");
        let [forward, backward] = translations;
        let words = words.map(|all| {
            let mut words = Words::default();
            all.into_iter().for_each(|word| {
                words.add(word);
            });
            words
        });
        ensure!(words.each_ref().map(|words| words.all().len()) == counts, "a word that is there twice");
        let [first, second] = jumps.map(|jumps| Jumps::from_values(&jumps).context("jumps that are no shares"));
        let lexicon = Lexicon { entries: Entries::from_keys(&keys, counts[0]), forward, backward };
        Ok(Self::new(form, words, lexicon, nothing, [first?, second?], seen))
    }
}
