//! Defaults chosen by preset and data.

use super::Preset;
use crate::text::CorpusStats;
use crate::training::Schedule;

/// Model dimensions with their learning rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sizes {
    pub embedding: usize,
    pub hidden: usize,
    pub attention: usize,
    pub learning_rate: f64,
}

const TINY: Sizes = Sizes { embedding: 64, hidden: 128, attention: 128, learning_rate: 2e-3 };
const SMALL: Sizes = Sizes { embedding: 128, hidden: 256, attention: 128, learning_rate: 2e-3 };
const MEDIUM: Sizes = Sizes { embedding: 192, hidden: 384, attention: 256, learning_rate: 1.5e-3 };
const LARGE: Sizes = Sizes { embedding: 256, hidden: 512, attention: 512, learning_rate: 1e-3 };
/// All sizes, ascending.
const ALL: [Sizes; 4] = [TINY, SMALL, MEDIUM, LARGE];

/// Maximum epochs relative to [`useful_epochs`]; the second is for data that dropout or augmentation vary between epochs.
const MAX_EPOCHS: f64 = 1.25;
const MAX_EPOCHS_VARIED: f64 = 3.0;

/// Share of hallucinated pairs for inflection.
const HALLUCINATION: f64 = 0.5;

/// Learning rate and epochs of a warm start relative to training from scratch: higher rates undo what was learned.
const WARM_START_RATE: f64 = 0.5;
const WARM_START_EPOCHS: f64 = 0.5;

/// Settings chosen from the data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct AutoConfig {
    pub sizes: Sizes,
    /// Maximum size of a BPE vocabulary.
    pub bpe_vocabulary: usize,
    pub batch_sentences: usize,
    pub schedule: Schedule,
    pub dropout: f64,
    pub bpe_dropout: f64,
    pub concat_pairs: f64,
    pub hallucination: f64,
    pub epochs: u64,
    /// Epochs beyond which the model overfits.
    max_epochs: u64,
    /// Index in [`ALL`] of the largest sizes that suit the data.
    largest: usize,
}

/// Regularization that suits the data.
struct Regularization {
    dropout: f64,
    bpe_dropout: f64,
    concat_pairs: f64,
}

impl Regularization {
    fn new(stats: &CorpusStats) -> Self {
        let default = Self { dropout: 0.3, bpe_dropout: 0.0, concat_pairs: 0.0 };
        match stats.pairs {
            // Forms of hallucinated words cannot be memorized, other single words soon are.
            _ if stats.has_inflected_words() => default,
            _ if stats.has_single_words() => Self { dropout: 0.5, ..default },
            // A small vocabulary is regular: little regularization is needed, but longer sentences are.
            _ if has_few_words(stats) => Self { dropout: 0.2, concat_pairs: 0.2, ..default },
            // Varied segmentations make up for few pairs.
            0..5_000 => Self { bpe_dropout: 0.1, ..default },
            _ => default,
        }
    }
}

impl AutoConfig {
    pub fn new(preset: Preset, stats: &CorpusStats) -> Self {
        let pairs = stats.pairs;
        let default = match pairs {
            0..=50_000 => 1,
            50_001..=150_000 => 2,
            _ => 3,
        };
        let largest = (default + 1).min(ALL.len() - 1);
        let (size, epoch_factor) = match preset {
            Preset::Tiny => (0, 1.0),
            Preset::Small => (1, 1.0),
            Preset::Medium => (2, 1.0),
            Preset::Large => (3, 1.0),
            Preset::Auto => (default, 1.0),
            Preset::Fast => (default.saturating_sub(1), 0.5),
            Preset::Best => (largest, 2.0),
        };
        let Regularization { dropout, bpe_dropout, concat_pairs } = Regularization::new(stats);
        let varied = stats.has_single_words() || bpe_dropout > 0.0 || concat_pairs > 0.0;
        let max_factor = if varied { MAX_EPOCHS_VARIED } else { MAX_EPOCHS };
        let [epochs, max_epochs] =
            [epoch_factor, max_factor].map(|factor| (factor * useful_epochs(stats)).round() as u64);
        Self {
            sizes: ALL[size],
            bpe_vocabulary: bpe_vocabulary(stats),
            // Small data needs many steps rather than smooth gradients.
            batch_sentences: if pairs < 10_000 { 32 } else { 64 },
            // A high rate held long suits sentences; an early decay suits single words.
            schedule: if stats.has_single_words() { Schedule::Cosine } else { Schedule::Hold },
            dropout,
            bpe_dropout,
            concat_pairs,
            hallucination: if stats.has_inflected_words() { HALLUCINATION } else { 0.0 },
            epochs: epochs.min(max_epochs),
            max_epochs,
            largest,
        }
    }

    /// Returns these settings with the maximum epochs, for training under a time limit.
    pub fn filling_time(self) -> Self {
        Self { epochs: self.max_epochs, ..self }
    }

    /// Returns these settings for a warm start from a model of this hidden size.
    pub fn for_base(self, hidden: usize) -> Self {
        let rate = ALL.iter().rfind(|sizes| sizes.hidden <= hidden).unwrap_or(&TINY).learning_rate;
        let epochs = (WARM_START_EPOCHS * self.epochs as f64).ceil() as u64;
        Self { epochs, sizes: Sizes { learning_rate: WARM_START_RATE * rate, ..self.sizes }, ..self }
    }

    /// Returns these settings with the largest sizes that allow enough epochs in a time in seconds, where
    /// `seconds_per_epoch` estimates the time of an epoch.
    pub fn within<E>(
        self,
        stats: &CorpusStats,
        time: f64,
        mut seconds_per_epoch: impl FnMut(Self) -> Result<f64, E>,
    ) -> Result<Self, E> {
        for sizes in ALL[1..=self.largest].iter().rev() {
            let larger = Self { sizes: *sizes, ..self };
            if time / seconds_per_epoch(larger)? >= larger.min_epochs(stats) {
                return Ok(larger);
            }
        }
        Ok(Self { sizes: TINY, ..self })
    }

    /// Returns the epochs from which on these sizes are at least as good as the next smaller ones in the same time. They are fewest
    /// for small models of sentences, for which tiny ones are soon too small.
    fn min_epochs(&self, stats: &CorpusStats) -> f64 {
        let factor = if self.sizes == SMALL && !stats.has_single_words() { 0.35 } else { 0.75 };
        factor * useful_epochs(stats)
    }
}

/// Returns the epochs after which more gain little. Single words, which have more dropout, take more; but most words occur in
/// several inflected forms.
fn useful_epochs(stats: &CorpusStats) -> f64 {
    let factor = if stats.has_inflected_words() {
        3000.0
    } else if stats.has_single_words() {
        6000.0
    } else {
        4000.0
    };
    (factor / (stats.pairs.max(1) as f64).sqrt()).clamp(6.0, 100.0)
}

/// Returns the number of subwords that can be learned from so many pairs.
fn learnable_subwords(pairs: usize) -> usize {
    (23.0 * (pairs as f64).sqrt()) as usize
}

/// Returns the number of distinct words on the side with more of them.
fn distinct_words(stats: &CorpusStats) -> usize {
    stats.sides.iter().map(|side| side.distinct_words).max().unwrap_or_default()
}

/// Returns the maximum BPE vocabulary of a side: rare subwords are not learned, and whole words share nothing.
fn bpe_vocabulary(stats: &CorpusStats) -> usize {
    learnable_subwords(stats.pairs).min(distinct_words(stats) / 2).clamp(500, 12_000)
}

/// True if every word is frequent enough to be learned as a whole, so that varied segmentations do not help.
fn has_few_words(stats: &CorpusStats) -> bool {
    !stats.has_single_words() && 2 * distinct_words(stats) <= 3 * learnable_subwords(stats.pairs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{CopiedWords, LineKind, SentenceSplitter, SideStats, Truecaser};

    fn stats(pairs: usize, kinds: [LineKind; 2], distinct_words: usize) -> CorpusStats {
        let sides = kinds.map(|kind| SideStats { kind, words: 10.0, distinct_words, decomposes: false });
        CorpusStats {
            pairs,
            distinct_sources: pairs,
            has_features: false,
            sides,
            splitter: SentenceSplitter::default(),
            truecaser: Truecaser::default(),
            copied: CopiedWords::default(),
        }
    }

    #[test]
    fn chooses_settings_by_corpus() {
        let captions = AutoConfig::new(Preset::Auto, &stats(29_000, [LineKind::Sentences; 2], 18_000));
        assert_eq!(
            (captions.sizes, captions.bpe_vocabulary, captions.dropout, captions.bpe_dropout),
            (SMALL, 3916, 0.3, 0.0)
        );
        let fewer = AutoConfig::new(Preset::Auto, &stats(2000, [LineKind::Sentences; 2], 3000));
        assert_eq!(fewer.bpe_dropout, 0.1);
        let grammar = AutoConfig::new(Preset::Auto, &stats(24_000, [LineKind::Sentences; 2], 3000));
        assert_eq!((grammar.bpe_vocabulary, grammar.dropout, grammar.bpe_dropout), (1500, 0.2, 0.0));
        assert_eq!(grammar.concat_pairs, 0.2);
        let speech = AutoConfig::new(Preset::Auto, &stats(3600, [LineKind::Words, LineKind::Symbols], 40));
        assert_eq!((speech.sizes, speech.dropout, speech.epochs), (SMALL, 0.5, 100));
        assert_eq!(
            [captions, grammar, speech].map(|auto| auto.schedule),
            [Schedule::Hold, Schedule::Hold, Schedule::Cosine]
        );
        let few = AutoConfig::new(Preset::Auto, &stats(1, [LineKind::Sentences; 2], 3));
        assert_eq!((few.bpe_vocabulary, few.epochs), (500, 100));
    }

    #[test]
    fn limits_epochs_against_overfitting() {
        for (pairs, distinct_words, epochs) in [
            (29_000, 18_000, [29, 29]),
            // BPE-dropout and concatenation vary the epochs.
            (2000, 3000, [179, 268]),
            (24_000, 3000, [52, 77]),
        ] {
            let best = AutoConfig::new(Preset::Best, &stats(pairs, [LineKind::Sentences; 2], distinct_words));
            assert_eq!([best.epochs, best.filling_time().epochs], epochs, "{pairs} pairs");
        }
    }

    #[test]
    fn warm_start_lowers_learning_rate_and_epochs() {
        let auto = AutoConfig::new(Preset::Auto, &stats(2000, [LineKind::Sentences; 2], 3000));
        let rates = [32, 128, 300, 384, 4000].map(|hidden| auto.for_base(hidden).sizes.learning_rate);
        assert_eq!(rates.map(|rate| rate / WARM_START_RATE), [2e-3, 2e-3, 2e-3, 1.5e-3, 1e-3]);
        assert_eq!((auto.epochs, auto.for_base(128).epochs), (89, 45));
    }

    /// Time of an epoch that grows with the square of the hidden size.
    fn seconds_per_epoch(tried: AutoConfig) -> Result<f64, ()> {
        Ok(30.0 * (tried.sizes.hidden as f64 / 256.0).powi(2))
    }

    #[test]
    fn larger_models_need_time_for_enough_epochs() {
        let stats = stats(29_000, [LineKind::Sentences; 2], 18_000);
        let auto = AutoConfig::new(Preset::Auto, &stats);
        for (minutes, sizes) in
            [(1.0, TINY), (4.0, TINY), (5.0, SMALL), (15.0, SMALL), (60.0, MEDIUM), (1000.0, MEDIUM)]
        {
            let chosen = auto.within(&stats, 60.0 * minutes, seconds_per_epoch).unwrap();
            assert_eq!(chosen.sizes, sizes, "{minutes} minutes");
        }
        let words = self::stats(29_000, [LineKind::Words; 2], 18_000);
        assert_eq!(auto.within(&words, 60.0 * 12.0, seconds_per_epoch).unwrap().sizes, TINY);
        assert_eq!((auto.epochs, auto.filling_time().epochs), (23, 29));
        assert_eq!(auto.within(&stats, 60.0, |_| Err("no device")), Err("no device"));
    }
}
