//! What presets mean, and what the data decide where no option does.

use crate::cli::Preset;
use crate::text::Profile;

/// Dimensions with a learning rate that suits them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sizes {
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

/// The settings that follow from the data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ByData {
    pub sizes: Sizes,
    /// Pairs in a batch.
    pub sentences: usize,
    pub dropout: f64,
    pub bpe_dropout: f64,
    /// Passes over the pairs.
    pub epochs: u64,
    /// The place in [`ALL`] of the sizes that more time is worth spending on, at most.
    pub largest: usize,
}

/// Passes after which more bring little.
fn enough(pairs: usize) -> f64 {
    (4000.0 / (pairs.max(1) as f64).sqrt()).clamp(6.0, 100.0)
}

impl ByData {
    pub fn new(preset: Preset, profile: &Profile) -> Self {
        let pairs = profile.pairs;
        let usual = match pairs {
            _ if profile.of_words() => 0,
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
        Self {
            sizes: ALL[size],
            // Small data needs many steps more than smooth ones.
            sentences: if pairs < 10_000 { 32 } else { 64 },
            dropout: 0.3,
            bpe_dropout: 0.1,
            epochs: (enough(pairs) * share_of_epochs).round() as u64,
            largest,
        }
    }

    /// The same with the largest sizes by which the pairs are seen often enough in a time, and with passes to fill it;
    /// `seconds` says how long one takes.
    pub fn within<E>(
        self,
        profile: &Profile,
        time: f64,
        mut seconds: impl FnMut(Sizes) -> Result<f64, E>,
    ) -> Result<Self, E> {
        let enough = enough(profile.pairs);
        for sizes in ALL[1..=self.largest].iter().rev() {
            if time / seconds(*sizes)? >= enough {
                return Ok(Self { sizes: *sizes, epochs: (MOST_WORTHWHILE * enough).round() as u64, ..self });
            }
        }
        Ok(Self { sizes: TINY, epochs: (MOST_WORTHWHILE * enough).round() as u64, ..self })
    }
}

/// How much longer than enough training may be planned.
const MOST_WORTHWHILE: f64 = 3.0;

/// Most units in a vocabulary of pieces of words: small data cannot teach many rare ones.
pub fn pieces(pairs: usize) -> usize {
    (23.0 * (pairs as f64).sqrt()).clamp(500.0, 12_000.0) as usize
}
