//! Recorder of a search: the tree of the beam, and the predictions that live hypotheses go back to.

use crate::search::{
    Coverage, Distribution, ExpectedLength, Hypothesis, HypothesisScoring, KeptExtension, Predictions, SearchObserver,
    Source, TokenCandidate,
};
use crate::text::END;

/// Prediction for a live hypothesis.
pub struct Prediction {
    /// Most probable next tokens, best first.
    pub candidates: Vec<TokenCandidate>,
    /// Entropy of the distribution over the next token, in nats.
    pub entropy: f64,
    /// Attention weights `[source + 1]`, mean over the heads and the models.
    pub attention: Vec<f32>,
    /// Attention weights of each head, model after model: `[heads][source + 1]`.
    pub heads: Vec<Vec<f32>>,
}

/// Hypothesis that entered the beam.
pub struct Node {
    /// Index of the hypothesis that it extends; none for a first token.
    pub parent: Option<usize>,
    /// Index of the step at which it entered the beam.
    pub step: usize,
    /// Id of its last token.
    pub token: u32,
    /// log p of all its tokens, in nats.
    pub log_probability: f64,
    /// Score as if it were complete.
    pub score: f64,
    /// True if nothing in the beam extends it any more.
    pub dropped: bool,
    /// True if the best hypothesis begins with it.
    pub best: bool,
    /// Number of extensions that are reachable from the beam.
    children: usize,
    /// Index of the prediction that its last token was chosen from; none once it is out of reach.
    prediction: Option<usize>,
}

/// Step of the best hypothesis.
pub struct StepRecord {
    /// Id of the token that was chosen.
    pub token: u32,
    /// log p of the token given those before it, in nats.
    pub log_probability: f64,
    /// Prediction that the token was chosen from.
    pub prediction: Prediction,
}

/// Live hypothesis of the beam.
#[derive(Clone, Default)]
struct Live {
    /// Node of its last token; none for the empty hypothesis.
    node: Option<usize>,
    /// Attention that the source tokens received from its tokens.
    coverage: Coverage,
}

/// Prediction with the number of nodes that use it.
struct CountedPrediction {
    /// Number of nodes whose last token was chosen from it, without those that were dropped.
    uses: usize,
    /// None once no node uses it.
    prediction: Option<Prediction>,
}

/// Beam of a finished search.
pub struct RecordedBeam {
    /// Tree of the hypotheses that entered the beam. A node follows its parent.
    pub nodes: Vec<Node>,
    /// Steps of the best hypothesis.
    pub steps: Vec<StepRecord>,
}

/// Best live hypothesis after a step.
pub struct BestSoFar<'t> {
    /// Number of steps taken.
    pub step: usize,
    /// Ids of its tokens.
    pub tokens: &'t [u32],
    /// Index of the first token that differs from the last report.
    pub first_changed: usize,
    /// Attention weights of the tokens from `first_changed` on, `[tokens][source + 1]`.
    pub attention: Vec<Vec<f32>>,
}

/// Receiver of the best live hypothesis after each step.
pub trait ProgressObserver {
    fn on_progress(&mut self, best: BestSoFar);
}

/// Observer that records the tree of the beam. Predictions are dropped once no live or complete hypothesis goes back to
/// them, which bounds memory.
pub struct BeamRecorder<'a> {
    max_candidates: usize,
    scoring: HypothesisScoring,
    expected_length: Option<&'a ExpectedLength>,
    observer: &'a mut dyn ProgressObserver,
    nodes: Vec<Node>,
    /// Predictions of all steps, in order: one for each live hypothesis.
    predictions: Vec<CountedPrediction>,
    /// Index of the prediction of the first row of this step.
    first_prediction: usize,
    /// Live hypotheses of this step, a row of the predictions each.
    live: Vec<Live>,
    /// Live hypotheses of the next step.
    next_live: Vec<Live>,
    /// Number of finished steps.
    step: usize,
    /// Nodes of the best live hypothesis that was reported last.
    reported: Vec<usize>,
}

impl<'a> BeamRecorder<'a> {
    /// Returns a recorder of so many candidates per step, with the scores of a search for the translation of a source.
    pub fn new(
        max_candidates: usize,
        scoring: HypothesisScoring,
        source: &'a Source,
        observer: &'a mut dyn ProgressObserver,
    ) -> Self {
        Self {
            max_candidates,
            scoring,
            expected_length: source.expected_length.as_ref(),
            observer,
            nodes: Vec::new(),
            predictions: Vec::new(),
            first_prediction: 0,
            live: vec![Live::default()],
            next_live: Vec::new(),
            step: 0,
            reported: Vec::new(),
        }
    }

    /// Returns what was recorded. `best` is the best hypothesis of the search.
    pub fn finish(mut self, best: &Hypothesis) -> RecordedBeam {
        let tokens = best.tokens.iter().copied().chain(best.finished.then_some(END));
        let mut path: Vec<usize> = Vec::new();
        for token in tokens {
            let parent = path.last().copied();
            let from = parent.map_or(0, |parent| parent + 1);
            let child = self.nodes[from..].iter().position(|node| node.parent == parent && node.token == token);
            let Some(child) = child else { break };
            path.push(from + child);
        }
        let mut before = 0.0;
        let mut steps = Vec::with_capacity(path.len());
        for &index in &path {
            let Node { token, log_probability, prediction, ref mut best, ref mut dropped, .. } = self.nodes[index];
            (*best, *dropped) = (true, false);
            if let Some(prediction) = prediction.and_then(|prediction| self.predictions[prediction].prediction.take()) {
                steps.push(StepRecord { token, log_probability: log_probability - before, prediction });
            }
            before = log_probability;
        }
        RecordedBeam { nodes: self.nodes, steps }
    }

    /// Unless a node has extensions, marks it as dropped, with all that only it goes back to.
    fn release(&mut self, last: usize) {
        let mut next = Some(last);
        while let Some(index) = next.filter(|&index| self.nodes[index].children == 0) {
            let node = &mut self.nodes[index];
            node.dropped = true;
            if let Some(prediction) = node.prediction.take() {
                self.release_prediction(prediction);
            }
            next = self.nodes[index].parent;
            if let Some(parent) = next {
                self.nodes[parent].children -= 1;
            }
        }
    }

    fn release_prediction(&mut self, index: usize) {
        let counted = &mut self.predictions[index];
        counted.uses -= 1;
        if counted.uses == 0 {
            counted.prediction = None;
        }
    }

    /// Returns the prediction that the last token of a node was chosen from, unless it is out of reach.
    fn prediction(&self, node: usize) -> Option<&Prediction> {
        self.predictions[self.nodes[node].prediction?].prediction.as_ref()
    }

    /// Nodes of a hypothesis, the last one first.
    fn ancestors(&self, last: Option<usize>) -> impl Iterator<Item = usize> {
        std::iter::successors(last, |&index| self.nodes[index].parent)
    }

    /// Nodes of a hypothesis, the first one first.
    fn path(&self, last: usize) -> Vec<usize> {
        let mut path: Vec<usize> = self.ancestors(Some(last)).collect();
        path.reverse();
        path
    }

    /// Reports the best live hypothesis.
    fn report(&mut self) {
        let Some(last) = self.live.first().and_then(|live| live.node) else { return };
        let path = self.path(last);
        let first_changed = path.iter().zip(&self.reported).take_while(|(node, reported)| node == reported).count();
        let tokens: Vec<u32> = path.iter().map(|&index| self.nodes[index].token).collect();
        let mut attention = Vec::with_capacity(path.len() - first_changed);
        for &node in &path[first_changed..] {
            attention.push(self.prediction(node).map(|prediction| prediction.attention.clone()).unwrap_or_default());
        }
        self.reported = path;
        self.observer.on_progress(BestSoFar { step: self.step, tokens: &tokens, first_changed, attention });
    }
}

impl Prediction {
    fn new(next: Distribution, max_candidates: usize, attention: &[f32], heads: Option<&Vec<Vec<f32>>>) -> Self {
        Self {
            candidates: next.best(max_candidates, &|_| true),
            entropy: next.entropy(),
            attention: attention.to_vec(),
            heads: heads.cloned().unwrap_or_default(),
        }
    }
}

impl SearchObserver for BeamRecorder<'_> {
    fn on_predictions(&mut self, predictions: &Predictions) {
        self.first_prediction = self.predictions.len();
        for (row, attention) in predictions.attention.iter().enumerate() {
            let heads = predictions.heads.get(row);
            let prediction = Prediction::new(predictions.row(row), self.max_candidates, attention, heads);
            self.predictions.push(CountedPrediction { uses: 0, prediction: Some(prediction) });
        }
    }

    fn on_extension(&mut self, &KeptExtension { row, token, log_probability, goes_on }: &KeptExtension) {
        let prediction = self.first_prediction + row;
        let Live { node: parent, mut coverage } = self.live[row].clone();
        if let Some(prediction) = &self.predictions[prediction].prediction {
            coverage.add(&prediction.attention);
        }
        let dropped = token != END && !goes_on;
        if !dropped {
            self.predictions[prediction].uses += 1;
            if let Some(parent) = parent {
                self.nodes[parent].children += 1;
            }
        }
        let mut score = self.scoring.score_covered(log_probability, &coverage);
        if token == END {
            let tokens = self.ancestors(parent).map(|node| self.nodes[node].token);
            score -= self.scoring.brevity(tokens, self.expected_length);
        }
        if goes_on {
            self.next_live.push(Live { node: Some(self.nodes.len()), coverage });
        }
        self.nodes.push(Node {
            parent,
            step: self.step,
            token,
            log_probability,
            score,
            dropped,
            best: false,
            children: 0,
            prediction: (!dropped).then_some(prediction),
        });
    }

    fn on_step(&mut self) {
        for prediction in &mut self.predictions[self.first_prediction..] {
            if prediction.uses == 0 {
                prediction.prediction = None;
            }
        }
        let before = std::mem::replace(&mut self.live, std::mem::take(&mut self.next_live));
        before.into_iter().filter_map(|live| live.node).for_each(|node| self.release(node));
        self.step += 1;
        self.report();
    }
}
