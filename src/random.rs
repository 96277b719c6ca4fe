//! Seeded random number generators.
//!
//! Each consumer creates a generator for its own purpose and index (an epoch, a training step), so no generator state
//! has to be saved: a run resumed at step 700 draws the same numbers as an uninterrupted one.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{RngCore, SeedableRng};

/// Xoshiro256++ generator seeded by a seed, a purpose and an index.
pub struct SeededRng(Xoshiro256PlusPlus);

impl SeededRng {
    /// Creates the generator of one purpose ("shuffle", "dropout", a parameter's name) at one index.
    pub fn new(seed: u64, purpose: &str, index: u64) -> Self {
        // FNV-1a over all three; the generator's own seeding then spreads the bits.
        let mut hash = 0xcbf2_9ce4_8422_2325u64;
        for byte in seed.to_le_bytes().into_iter().chain(purpose.bytes()).chain(index.to_le_bytes()) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        Self(Xoshiro256PlusPlus::seed_from_u64(hash))
    }

    /// Returns 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Draws uniformly from `0.0..1.0`.
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Draws from the standard normal distribution (Box & Muller 1958).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Draws uniformly from `0..bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        // The high half of the product; its bias is below bound / 2^64.
        ((u128::from(self.bits()) * bound as u128) >> 64) as usize
    }

    /// Shuffles items (Fisher & Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

/// Counter-based generator: a stateless function of the position, so that the forward and the backward pass draw the
/// same numbers without storing them.
#[derive(Clone, Copy, Debug)]
pub struct CounterRng {
    keys: [u32; 2],
}

impl CounterRng {
    /// Creates the generator of one purpose at one index.
    pub fn new(seed: u64, purpose: &str, index: u64) -> Self {
        let bits = SeededRng::new(seed, purpose, index).bits();
        Self { keys: [bits as u32, (bits >> 32) as u32] }
    }

    /// Keys of the two rounds.
    #[cfg(feature = "cuda")]
    pub fn keys(self) -> [u32; 2] {
        self.keys
    }

    /// Returns 32 random bits for a position: two rounds of a multiply-xorshift hash, each keyed.
    #[inline(always)]
    pub fn bits(self, position: u32) -> u32 {
        let x = position ^ self.keys[0];
        let x = (x ^ (x >> 16)).wrapping_mul(0x7feb_352d) ^ self.keys[1];
        let x = (x ^ (x >> 15)).wrapping_mul(0x846c_a68b);
        x ^ (x >> 16)
    }

    /// Returns a uniform number in `0.0..1.0` for a position.
    pub fn uniform(self, position: u32) -> f32 {
        (self.bits(position) >> 8) as f32 / (1u32 << 24) as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depends_on_seed_purpose_and_index_alone() {
        let draw = |seed, purpose, index| SeededRng::new(seed, purpose, index).bits();
        assert_eq!(draw(1, "shuffle", 0), draw(1, "shuffle", 0));
        assert_ne!(draw(1, "shuffle", 0), draw(1, "shuffle", 1));
        assert_ne!(draw(1, "shuffle", 0), draw(1, "dropout", 0));
        assert_ne!(draw(1, "shuffle", 0), draw(2, "shuffle", 0));
    }

    #[test]
    fn normal_has_mean_zero_and_variance_one() {
        let mut rng = SeededRng::new(3, "test", 0);
        let draws: Vec<f64> = (0..20_000).map(|_| rng.normal()).collect();
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / draws.len() as f64;
        assert!(mean.abs() < 0.03 && (variance - 1.0).abs() < 0.05, "{mean} {variance}");
    }

    #[test]
    fn shuffle_permutes_all_items() {
        let mut items: Vec<usize> = (0..100).collect();
        SeededRng::new(1, "test", 0).shuffle(&mut items);
        assert_ne!(items, (0..100).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..100).collect::<Vec<_>>());
    }
}
