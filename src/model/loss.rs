//! Losses of batches and scores of sentence pairs.

/// Sums over a batch's target tokens, `</s>` included and padding excluded.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BatchLoss {
    /// Label-smoothed cross-entropy, in nats.
    pub smoothed: f64,
    /// −log p of the targets, in nats.
    pub negative_log_likelihood: f64,
    /// Guided alignment loss, −Σ w log α over the given links.
    pub guidance: f64,
    /// Number of target tokens.
    pub tokens: usize,
}

/// Scores of one pair by forced decoding.
#[derive(Default)]
pub struct ForcedScores {
    /// log p(y_t | y_<t, source) of each target token, `</s>` last.
    pub log_probabilities: Vec<f64>,
    /// Label-smoothed cross-entropy, summed over the tokens.
    pub smoothed: f64,
    /// Reported α: one row per target token, `</s>` last, with one weight per source token, `</s>` last.
    pub weights: Vec<Vec<f32>>,
    /// Distribution over the source tokens of each target token, once that is known, in the shape of `weights`: always under exact
    /// hard attention, otherwise only if it was asked for. Empty where it is undefined.
    pub posteriors: Vec<Vec<f32>>,
}

impl ForcedScores {
    /// Rows of the alignment that training shows: posteriors under exact hard attention, otherwise α.
    pub fn alignment(&self) -> &[Vec<f32>] {
        if self.posteriors.is_empty() { &self.weights } else { &self.posteriors }
    }

    /// log p(target | source), `</s>` included.
    pub fn log_probability(&self) -> f64 {
        self.log_probabilities.iter().sum()
    }

    /// Scores of an ensemble: at each step the mean of the models' probabilities, attention and posteriors, if all have
    /// them; the mean of their smoothed losses.
    pub fn ensemble_mean(pairs: &[Self]) -> Self {
        let count = pairs.len() as f64;
        let tokens = pairs.first().map_or(0, |pair| pair.log_probabilities.len());
        let mut log_probabilities = Vec::with_capacity(tokens);
        for step in 0..tokens {
            let logs = pairs.iter().map(|pair| pair.log_probabilities[step]);
            let largest = logs.clone().fold(f64::NEG_INFINITY, f64::max);
            log_probabilities.push(largest + (logs.map(|log| (log - largest).exp()).sum::<f64>() / count).ln());
        }
        Self {
            log_probabilities,
            smoothed: pairs.iter().map(|pair| pair.smoothed).sum::<f64>() / count,
            weights: mean_rows(&pairs.iter().map(|pair| &pair.weights[..]).collect::<Vec<_>>()),
            posteriors: mean_rows(&pairs.iter().map(|pair| &pair.posteriors[..]).collect::<Vec<_>>()),
        }
    }
}

/// Mean of several models' distributions at each step; empty if a model has none.
fn mean_rows(models: &[&[Vec<f32>]]) -> Vec<Vec<f32>> {
    if models.iter().any(|rows| rows.is_empty()) {
        return Vec::new();
    }
    let mut mean = Vec::with_capacity(models[0].len());
    for (step, first) in models[0].iter().enumerate() {
        let sums = (0..first.len()).map(|position| models.iter().map(|rows| rows[step][position]).sum::<f32>());
        mean.push(sums.map(|sum| sum / models.len() as f32).collect());
    }
    mean
}

impl std::ops::AddAssign for BatchLoss {
    fn add_assign(&mut self, other: Self) {
        self.smoothed += other.smoothed;
        self.negative_log_likelihood += other.negative_log_likelihood;
        self.guidance += other.guidance;
        self.tokens += other.tokens;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ensemble_mean_averages_probabilities_and_attention_per_step() {
        let models = [([0.5f64, 0.1], [[1.0, 0.0], [0.5, 0.5]]), ([0.25, 0.9], [[0.0, 1.0], [0.0, 1.0]])];
        let pairs = models.map(|(probabilities, weights)| ForcedScores {
            log_probabilities: probabilities.map(f64::ln).to_vec(),
            smoothed: 1.0,
            weights: weights.map(|row| row.to_vec()).to_vec(),
            posteriors: Vec::new(),
        });
        let mean = ForcedScores::ensemble_mean(&pairs);
        assert!((mean.log_probability() - (0.375f64 * 0.5).ln()).abs() < 1e-12);
        assert_eq!(mean.weights, [[0.5, 0.5], [0.25, 0.75]]);
        let alone = ForcedScores::ensemble_mean(&pairs[..1]);
        assert_eq!(alone.log_probabilities, pairs[0].log_probabilities, "one model is unchanged");
    }
}
