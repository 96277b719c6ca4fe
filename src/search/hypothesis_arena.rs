//! The steps of all hypotheses of a sentence: each knows the step before it, so that beginnings are kept once.

use super::{ConstraintState, HypothesisScoring};

/// One step of a hypothesis.
pub struct HypothesisStep {
    /// The step before it.
    pub before: Option<usize>,
    /// The unit taken.
    pub unit: u32,
    /// log p of all units up to this one, in nats.
    pub log_probability: f64,
    /// What it counts that required phrases stand where attention was elsewhere, in nats.
    pub placement_penalty: f64,
    /// The attention behind it.
    pub attention: Vec<f32>,
    /// How far it is with what is demanded.
    pub progress: ConstraintState,
}

/// A translation that search has found.
#[derive(Clone, Debug)]
pub struct Hypothesis {
    /// Its units, without `</s>`.
    pub units: Vec<u32>,
    /// log p(units | source), in nats, `</s>` included if the hypothesis is finished.
    pub log_probability: f64,
    /// What hypotheses are ranked by.
    pub score: f64,
    /// One attention row for each unit, and one for `</s>` if the hypothesis is finished.
    pub attention: Vec<Vec<f32>>,
    /// Whether it ended by itself; if not, it ran into the length limit.
    pub finished: bool,
    /// How many of the phrases that it should contain it does not.
    pub unmet_constraints: usize,
}

impl Hypothesis {
    /// The translation of nothing: certain, and empty.
    pub fn empty() -> Self {
        let (units, attention) = (Vec::new(), Vec::new());
        Self { units, log_probability: 0.0, score: 0.0, attention, finished: true, unmet_constraints: 0 }
    }

    /// Whether the scorer had nothing to say, not even that nothing should be said: its numbers were none.
    pub fn is_degenerate(&self) -> bool {
        self.units.is_empty() && !self.finished
    }
}

/// Steps after which those that no hypothesis goes back to are forgotten for the first time.
const MANY: usize = 1 << 12;

/// The steps of all hypotheses of a sentence.
pub struct HypothesisArena {
    steps: Vec<HypothesisStep>,
    /// When as many steps are there, some are forgotten.
    most: usize,
}

impl Default for HypothesisArena {
    fn default() -> Self {
        Self { steps: Vec::new(), most: MANY }
    }
}

impl HypothesisArena {
    /// One in which nothing is ever forgotten by itself.
    #[cfg(test)]
    pub fn endless() -> Self {
        Self { most: usize::MAX, ..Self::default() }
    }

    /// How many steps there are.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Adds a step and gives its place.
    pub fn add(&mut self, step: HypothesisStep) -> usize {
        self.steps.push(step);
        self.steps.len() - 1
    }

    /// A step.
    pub fn step(&self, place: usize) -> &HypothesisStep {
        &self.steps[place]
    }

    /// The steps that lead to a last one, which comes first.
    pub fn back(&self, last: Option<usize>) -> impl Iterator<Item = &HypothesisStep> {
        std::iter::successors(last, |&place| self.steps[place].before).map(|place| &self.steps[place])
    }

    /// Whether there are so many steps that some should be forgotten.
    pub fn is_full(&self) -> bool {
        self.steps.len() >= self.most
    }

    /// Forgets the steps that none of the `last` ones goes back to, in a wide beam nearly all, and moves these to their new
    /// places.
    pub fn forget<'a>(&mut self, last: impl Iterator<Item = &'a mut usize>) {
        let mut kept = vec![false; self.steps.len()];
        let last: Vec<&mut usize> = last.collect();
        for place in &last {
            let mut next = Some(**place);
            while let Some(place) = next.filter(|&place| !std::mem::replace(&mut kept[place], true)) {
                next = self.steps[place].before;
            }
        }
        // What is before stands before.
        let mut places = vec![0; kept.len()];
        let mut steps: Vec<HypothesisStep> = Vec::new();
        for (place, step) in std::mem::take(&mut self.steps).into_iter().enumerate().filter(|&(place, _)| kept[place]) {
            places[place] = steps.len();
            steps.push(HypothesisStep { before: step.before.map(|before| places[before]), ..step });
        }
        last.into_iter().for_each(|place| *place = places[*place]);
        self.steps = steps;
        self.most = MANY.max(2 * self.steps.len());
    }

    /// The hypothesis that ends with a step; `finished` says whether that is `</s>`.
    pub fn hypothesis(
        &self,
        last: usize,
        finished: bool,
        unmet_constraints: usize,
        scoring: &HypothesisScoring,
    ) -> Hypothesis {
        let (mut units, mut attention): (Vec<u32>, Vec<Vec<f32>>) =
            self.back(Some(last)).map(|step| (step.unit, step.attention.clone())).unzip();
        units.reverse();
        attention.reverse();
        if finished {
            units.pop();
        }
        let score = self.score(last, scoring);
        Hypothesis {
            units,
            log_probability: self.steps[last].log_probability,
            score,
            attention,
            finished,
            unmet_constraints,
        }
    }

    /// What the hypothesis that ends with a step is ranked by.
    pub fn score(&self, last: usize, scoring: &HypothesisScoring) -> f64 {
        let HypothesisStep { log_probability, placement_penalty, .. } = self.steps[last];
        scoring.score(log_probability + placement_penalty, self.back(Some(last)).map(|step| &step.attention[..]))
    }
}
