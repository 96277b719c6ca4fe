//! Steps of all hypotheses of a sentence, stored as a tree so that hypotheses share prefixes.

use super::{ConstraintState, HypothesisScoring};

/// One step of a hypothesis.
pub struct HypothesisStep {
    /// Index of the previous step.
    pub parent: Option<usize>,
    /// Token id.
    pub token: u32,
    /// log p of the tokens up to this one, in nats.
    pub log_probability: f64,
    /// Attention weights, one for each source token and `</s>`.
    pub attention: Vec<f32>,
    /// Progress through the constraints.
    pub state: ConstraintState,
}

/// Hypothesis that search returns.
#[derive(Clone, Debug)]
pub struct Hypothesis {
    /// Token ids, without `</s>`.
    pub tokens: Vec<u32>,
    /// log p(tokens | source), in nats, with `</s>` if the hypothesis is finished.
    pub log_probability: f64,
    /// log p of each token given those before it, in nats, with `</s>` if the hypothesis is finished.
    pub token_log_probabilities: Vec<f64>,
    /// Score by which hypotheses are ranked.
    pub score: f64,
    /// Attention weights: a row for each token, and one for `</s>` if the hypothesis is finished.
    pub attention: Vec<Vec<f32>>,
    /// True if it ends with `</s>`; otherwise search stopped it.
    pub finished: bool,
    /// Required phrases that it lacks, by index.
    pub unmet_phrases: Vec<usize>,
}

impl Hypothesis {
    /// Returns the finished hypothesis without tokens, the translation of an empty source.
    pub fn empty() -> Self {
        Self {
            tokens: Vec::new(),
            log_probability: 0.0,
            token_log_probabilities: Vec::new(),
            score: 0.0,
            attention: Vec::new(),
            finished: true,
            unmet_phrases: Vec::new(),
        }
    }

    /// True if every score was NaN or −∞.
    pub fn is_degenerate(&self) -> bool {
        self.tokens.is_empty() && !self.finished
    }
}

/// Minimum number of steps before unreachable ones are pruned.
const MIN_PRUNED: usize = 1 << 12;

/// Steps of all hypotheses of a sentence. A hypothesis is the index of its last step.
pub struct HypothesisArena {
    steps: Vec<HypothesisStep>,
    /// Number of steps from which on the arena is full.
    capacity: usize,
}

impl Default for HypothesisArena {
    fn default() -> Self {
        Self { steps: Vec::new(), capacity: MIN_PRUNED }
    }
}

impl HypothesisArena {
    /// Returns an arena that is never full.
    #[cfg(test)]
    pub fn unbounded() -> Self {
        Self { capacity: usize::MAX, ..Self::default() }
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Adds a step and returns its index.
    pub fn push(&mut self, step: HypothesisStep) -> usize {
        self.steps.push(step);
        self.steps.len() - 1
    }

    /// Returns the step at an index.
    pub fn step(&self, index: usize) -> &HypothesisStep {
        &self.steps[index]
    }

    /// Steps of a hypothesis, the last one first.
    pub fn ancestors(&self, last: Option<usize>) -> impl Iterator<Item = &HypothesisStep> {
        std::iter::successors(last, |&index| self.steps[index].parent).map(|index| &self.steps[index])
    }

    /// True if the arena should be pruned.
    pub fn is_full(&self) -> bool {
        self.steps.len() >= self.capacity
    }

    /// Removes the steps that no hypothesis reaches, and updates the hypotheses to the new indices.
    pub fn prune<'a>(&mut self, hypotheses: impl Iterator<Item = &'a mut usize>) {
        let mut reached = vec![false; self.steps.len()];
        let hypotheses: Vec<&mut usize> = hypotheses.collect();
        for last in &hypotheses {
            let mut next = Some(**last);
            while let Some(index) = next.filter(|&index| !std::mem::replace(&mut reached[index], true)) {
                next = self.steps[index].parent;
            }
        }
        // Parents precede their children.
        let mut moved = vec![0; reached.len()];
        let mut steps: Vec<HypothesisStep> = Vec::new();
        for (index, step) in
            std::mem::take(&mut self.steps).into_iter().enumerate().filter(|&(index, _)| reached[index])
        {
            moved[index] = steps.len();
            steps.push(HypothesisStep { parent: step.parent.map(|parent| moved[parent]), ..step });
        }
        hypotheses.into_iter().for_each(|last| *last = moved[*last]);
        self.steps = steps;
        self.capacity = MIN_PRUNED.max(2 * self.steps.len());
    }

    /// Returns the hypothesis that ends with a step, which is `</s>` if it is finished.
    pub fn hypothesis(&self, last: usize, finished: bool, unmet_phrases: Vec<usize>, score: f64) -> Hypothesis {
        let mut steps: Vec<&HypothesisStep> = self.ancestors(Some(last)).collect();
        steps.reverse();
        let before = std::iter::once(0.0).chain(steps.iter().map(|step| step.log_probability));
        let token_log_probabilities = steps.iter().zip(before).map(|(step, before)| step.log_probability - before);
        let tokens = &steps[..steps.len() - usize::from(finished)];
        Hypothesis {
            tokens: tokens.iter().map(|step| step.token).collect(),
            log_probability: self.steps[last].log_probability,
            token_log_probabilities: token_log_probabilities.collect(),
            score,
            attention: steps.iter().map(|step| step.attention.clone()).collect(),
            finished,
            unmet_phrases,
        }
    }

    /// Returns the score of the hypothesis that ends with a step, with a penalty added to its log-probability.
    pub fn score(&self, last: usize, penalty: f64, scoring: &HypothesisScoring) -> f64 {
        scoring.score(
            self.steps[last].log_probability + penalty,
            self.ancestors(Some(last)).map(|step| &step.attention[..]),
        )
    }
}
