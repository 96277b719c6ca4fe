//! Noise scores: sentence pairs of a corpus that are probably not translations of each other.

/// Noise features of a sentence pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoiseFeatures {
    /// Mean log-probability of a target token, in nats.
    pub score: f64,
    /// Share of unlinked words on both sides.
    pub unlinked: f64,
    /// |ln ((target words + 1) / (source words + 1))|.
    pub length: f64,
}

impl NoiseFeatures {
    /// Computes the features from numbers of words and of linked words on both sides.
    pub fn new(score: f64, words: [usize; 2], linked: [usize; 2]) -> Self {
        let all = words[0] + words[1];
        let unlinked = if all == 0 { 1.0 } else { 1.0 - (linked[0] + linked[1]) as f64 / all as f64 };
        let length = ((words[1] + 1) as f64 / (words[0] + 1) as f64).ln().abs();
        Self { score, unlinked, length }
    }
}

/// Noise score of each pair: sum of the z-scores of its negative log-probability, unlinked words and length ratio.
pub fn noise_scores(features: &[NoiseFeatures]) -> Vec<f64> {
    let z_scores = [
        z_scores(features, |features| -features.score),
        z_scores(features, |features| features.unlinked),
        z_scores(features, |features| features.length),
    ];
    (0..features.len()).map(|pair| z_scores.iter().map(|values| values[pair]).sum()).collect()
}

/// Indices of pairs, the noisiest first.
pub fn rank_by_noise(scores: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    order
}

/// Standardizes a feature over the corpus. A feature that is the same for all pairs becomes 0.
fn z_scores(features: &[NoiseFeatures], feature: fn(&NoiseFeatures) -> f64) -> Vec<f64> {
    let first = features.first().map_or(0.0, feature);
    // Equal values differ by exactly 0, but their mean may be rounded.
    let values: Vec<f64> = features.iter().map(|features| feature(features) - first).collect();
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
    let deviation = if variance > 0.0 { variance.sqrt() } else { 1.0 };
    values.iter().map(|value| (value - mean) / deviation).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_the_outlier_first() {
        let usual = NoiseFeatures::new(-1.0, [5, 5], [5, 4]);
        let noisy = NoiseFeatures::new(-6.0, [5, 12], [1, 1]);
        let found = noise_scores(&[usual, noisy, usual, NoiseFeatures::new(-1.2, [4, 5], [4, 4])]);
        assert!(found[1] > 2.0 && found.iter().enumerate().all(|(pair, value)| pair == 1 || *value < 0.5), "{found:?}");
    }

    #[test]
    fn equal_pairs_have_scores_of_zero() {
        for count in 1..50 {
            let features = vec![NoiseFeatures::new(-0.7, [4, 5], [3, 4]); count];
            assert_eq!(noise_scores(&features), vec![0.0; count]);
        }
    }

    #[test]
    fn is_finite_for_few_pairs_and_empty_sides() {
        assert!(noise_scores(&[]).is_empty());
        assert_eq!(noise_scores(&[NoiseFeatures::new(-1.0, [0, 0], [0, 0])]), [0.0]);
        assert!((NoiseFeatures::new(0.0, [3, 1], [1, 1]).unlinked - 0.5).abs() < 1e-12);
    }
}
