//! What presets mean, and what the data decide where no option does.

use super::Preset;
use crate::text::CorpusStats;
use crate::training::Schedule;

/// Dimensions with a learning rate that suits them.
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
/// From the smallest.
const ALL: [Sizes; 4] = [TINY, SMALL, MEDIUM, LARGE];

/// How much of [`enough`] passes there must be time for, how many times that is planned at most, and the same where each pass
/// brings something new or little of it is kept.
const LEAST_WORTHWHILE: f64 = 0.75;
const MOST_WORTHWHILE: f64 = 1.25;
const MOST_OF_WHAT_CHANGES: f64 = 3.0;

/// The shares of the usual step size and of the usual passes for a model that has learnt from other pairs: larger steps
/// undo what it has learnt, and it learns soon what is new.
const SHARE_OF_RATE: f64 = 0.5;
const SHARE_OF_EPOCHS: f64 = 0.5;

/// The settings that follow from the data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct AutoConfig {
    pub sizes: Sizes,
    /// Most pieces of words in a vocabulary.
    pub pieces: usize,
    /// Pairs in a batch.
    pub sentences: usize,
    pub schedule: Schedule,
    pub dropout: f64,
    pub bpe_dropout: f64,
    /// The share of pairs that are joined.
    pub joined: f64,
    /// Passes over the pairs.
    pub epochs: u64,
    /// Passes after which they are learnt by heart, which no more time can mend.
    longest: u64,
    /// The place in [`ALL`] of the largest sizes that time is worth spending on.
    largest: usize,
}

impl AutoConfig {
    pub fn new(preset: Preset, profile: &CorpusStats) -> Self {
        let pairs = profile.pairs;
        let usual = match pairs {
            0..=50_000 => 1,
            50_001..=150_000 => 2,
            _ => 3,
        };
        let largest = (usual + 1).min(ALL.len() - 1);
        let (size, share_of_epochs) = match preset {
            Preset::Tiny => (0, 1.0),
            Preset::Small => (1, 1.0),
            Preset::Medium => (2, 1.0),
            Preset::Large => (3, 1.0),
            Preset::Auto => (usual, 1.0),
            Preset::Fast => (usual.saturating_sub(1), 0.5),
            Preset::Best => (largest, 2.0),
        };
        // A text that few words make up has rules rather than exceptions: less needs to be forgotten, and longer sentences are
        // those that it has none of.
        let (dropout, bpe_dropout, joined) = match pairs {
            // Few words are soon learnt by heart, and with them what is wrong for others.
            _ if profile.of_words() => (0.5, 0.0, 0.0),
            _ if has_few_words(profile) => (0.2, 0.0, 0.2),
            // Words in ever new cuts stand in for pairs that there are too few of.
            0..5_000 => (0.3, 0.1, 0.0),
            _ => (0.3, 0.0, 0.0),
        };
        let changing = profile.of_words() || bpe_dropout > 0.0 || joined > 0.0;
        let most = if changing { MOST_OF_WHAT_CHANGES } else { MOST_WORTHWHILE };
        let [usual_epochs, longest] = [share_of_epochs, most].map(|share| (share * enough(profile)).round() as u64);
        Self {
            sizes: ALL[size],
            pieces: pieces(profile),
            // Small data needs many steps more than smooth ones.
            sentences: if pairs < 10_000 { 32 } else { 64 },
            // Sentences gain by large steps for long; single words, soon learnt, by small ones.
            schedule: if profile.of_words() { Schedule::Cosine } else { Schedule::Hold },
            dropout,
            bpe_dropout,
            joined,
            epochs: usual_epochs.min(longest),
            longest,
            largest,
        }
    }

    /// The same with passes to fill whatever time there is.
    pub fn filling_time(self) -> Self {
        Self { epochs: self.longest, ..self }
    }

    /// The same for a model of this hidden size that has learnt from other pairs.
    pub fn for_base(self, hidden: usize) -> Self {
        let usual = ALL.iter().rfind(|sizes| sizes.hidden <= hidden).unwrap_or(&TINY).learning_rate;
        let epochs = (SHARE_OF_EPOCHS * self.epochs as f64).ceil() as u64;
        Self { epochs, sizes: Sizes { learning_rate: SHARE_OF_RATE * usual, ..self.sizes }, ..self }
    }

    /// The same with the largest sizes by which the pairs are seen often enough in a time; `seconds_of_epoch` says how long
    /// one takes.
    pub fn within<E>(
        self,
        profile: &CorpusStats,
        time: f64,
        mut seconds_of_epoch: impl FnMut(Self) -> Result<f64, E>,
    ) -> Result<Self, E> {
        let enough = enough(profile);
        for sizes in ALL[1..=self.largest].iter().rev() {
            let larger = Self { sizes: *sizes, ..self };
            if time / seconds_of_epoch(larger)? >= LEAST_WORTHWHILE * enough {
                return Ok(larger);
            }
        }
        Ok(Self { sizes: TINY, ..self })
    }
}

/// Passes over the pairs after which more bring little; where much is dropped, it takes longer.
fn enough(profile: &CorpusStats) -> f64 {
    let passes = if profile.of_words() { 6000.0 } else { 4000.0 };
    (passes / (profile.pairs.max(1) as f64).sqrt()).clamp(6.0, 100.0)
}

/// Pieces of words that so many pairs can teach.
fn teachable(pairs: usize) -> usize {
    (23.0 * (pairs as f64).sqrt()) as usize
}

/// The different words of the side that has more of them.
fn different_words(profile: &CorpusStats) -> usize {
    profile.sides.iter().map(|side| side.different_words).max().unwrap_or_default()
}

/// Most pieces for a side: rare ones cannot be taught, and where each word is a piece they have nothing in common.
fn pieces(profile: &CorpusStats) -> usize {
    teachable(profile.pairs).min(different_words(profile) / 2).clamp(500, 12_000)
}

/// Whether every word is met often enough to be learnt as a whole, as in texts about little: then cutting words in other ways
/// teaches nothing of use.
fn has_few_words(profile: &CorpusStats) -> bool {
    !profile.of_words() && 2 * different_words(profile) <= 3 * teachable(profile.pairs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{LineKind, SideStats};

    fn profile(pairs: usize, kinds: [LineKind; 2], different_words: usize) -> CorpusStats {
        let side = |kind| SideStats { kind, words: 10.0, different_words };
        CorpusStats { pairs, different_sources: pairs, sides: kinds.map(side) }
    }

    #[test]
    fn captions_have_rare_words_and_a_small_grammar_has_none() {
        let captions = AutoConfig::new(Preset::Auto, &profile(29_000, [LineKind::Sentences; 2], 18_000));
        assert_eq!((captions.sizes, captions.pieces, captions.dropout, captions.bpe_dropout), (SMALL, 3916, 0.3, 0.0));
        let fewer = AutoConfig::new(Preset::Auto, &profile(2000, [LineKind::Sentences; 2], 3000));
        assert_eq!(fewer.bpe_dropout, 0.1);
        let grammar = AutoConfig::new(Preset::Auto, &profile(24_000, [LineKind::Sentences; 2], 3000));
        assert_eq!((grammar.pieces, grammar.dropout, grammar.bpe_dropout, grammar.joined), (1500, 0.2, 0.0, 0.2));
        let speech = AutoConfig::new(Preset::Auto, &profile(3600, [LineKind::WordSplitting, LineKind::Symbols], 40));
        assert_eq!((speech.sizes, speech.dropout, speech.epochs), (SMALL, 0.5, 100));
        assert_eq!(
            [captions, grammar, speech].map(|plan| plan.schedule),
            [Schedule::Hold, Schedule::Hold, Schedule::Cosine]
        );
        let few = AutoConfig::new(Preset::Auto, &profile(1, [LineKind::Sentences; 2], 3));
        assert_eq!((few.pieces, few.epochs), (500, 100));
    }

    #[test]
    fn passes_that_teach_by_heart_are_not_planned() {
        let most = |pairs, different_words| {
            let profile = profile(pairs, [LineKind::Sentences; 2], different_words);
            let best = AutoConfig::new(Preset::Best, &profile);
            (best.epochs, best.filling_time().epochs)
        };
        assert_eq!(most(29_000, 18_000), (29, 29));
        // Words are cut anew in each pass, and pairs joined anew.
        assert_eq!(most(2000, 3000), (179, 268));
        assert_eq!(most(24_000, 3000), (52, 77));
    }

    #[test]
    fn a_model_that_goes_on_takes_smaller_steps_and_fewer() {
        let auto = AutoConfig::new(Preset::Auto, &profile(2000, [LineKind::Sentences; 2], 3000));
        let rate = |hidden: usize| auto.for_base(hidden).sizes.learning_rate / SHARE_OF_RATE;
        assert_eq!([32, 128, 300, 384, 4000].map(rate), [2e-3, 2e-3, 2e-3, 1.5e-3, 1e-3]);
        assert_eq!((auto.epochs, auto.for_base(128).epochs), (89, 45));
    }

    #[test]
    fn time_buys_size_as_long_as_the_pairs_are_seen_often_enough() {
        let profile = profile(29_000, [LineKind::Sentences; 2], 18_000);
        let auto = AutoConfig::new(Preset::Auto, &profile);
        // Seconds of a pass grow with the square of the hidden size.
        let seconds = |tried: AutoConfig| Ok::<_, ()>(30.0 * (tried.sizes.hidden as f64 / 256.0).powi(2));
        let sizes = |minutes: f64| auto.within(&profile, 60.0 * minutes, seconds).unwrap().sizes;
        assert_eq!([1.0, 5.0, 15.0, 60.0, 1000.0].map(sizes), [TINY, TINY, SMALL, MEDIUM, MEDIUM]);
        assert_eq!((auto.epochs, auto.filling_time().epochs), (23, 29));
        assert_eq!(auto.within(&profile, 60.0, |_| Err("no device")), Err("no device"));
    }
}
