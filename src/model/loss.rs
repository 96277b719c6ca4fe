//! What a batch of pairs says of a model.

/// Sums over a batch's target units, `</s>` included and padding not.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BatchLoss {
    /// The loss that training minimises, label smoothing included, in nats.
    pub smoothed: f64,
    /// −log p of the targets, in nats.
    pub negative_log_likelihood: f64,
    /// −Σ w log α over the looks of the guides, which training minimises beside the smoothed loss.
    pub guidance: f64,
    /// How many units were predicted.
    pub units: usize,
}

/// What forced decoding says of one pair.
pub struct ForcedPair {
    /// log p(target | source), `</s>` included.
    pub log_probability: f64,
    /// The same for the smoothed loss.
    pub smoothed: f64,
    /// α: one row for each target unit, `</s>` the last, with a weight for each source unit, `</s>` the last.
    pub weights: Vec<Vec<f32>>,
}

impl std::ops::AddAssign for BatchLoss {
    fn add_assign(&mut self, other: Self) {
        self.smoothed += other.smoothed;
        self.negative_log_likelihood += other.negative_log_likelihood;
        self.guidance += other.guidance;
        self.units += other.units;
    }
}
