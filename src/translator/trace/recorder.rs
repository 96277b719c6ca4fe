//! Recorder of a search: the tree of the beam, and the predictions that live hypotheses go back to.

use crate::search::{
    Coverage, Distribution, Hypothesis, HypothesisScoring, KeptExtension, Predictions, SearchObserver, TokenCandidate,
};
use crate::text::END;

/// Prediction for a live hypothesis.
pub struct Prediction {
    /// Most probable next tokens, best first.
    pub candidates: Vec<TokenCandidate>,
    /// Entropy of the distribution over the next token, in nats.
    pub entropy: f64,
    /// Attention weights, mean over the heads and the models.
    pub attention: Vec<f32>,
    /// Attention weights of each head.
    pub heads: Vec<Vec<f32>>,
}

/// Hypothesis that entered the beam.
pub struct Node {
    /// Index of the hypothesis that it extends.
    pub parent: Option<usize>,
    /// Index of the step.
    pub step: usize,
    /// Last token.
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
    /// Token id.
    pub token: u32,
    /// log p of the token given those before it, in nats.
    pub log_probability: f64,
    /// Prediction that it was chosen from.
    pub prediction: Prediction,
}

/// Live hypothesis.
#[derive(Clone, Default)]
struct Live {
    /// Its node; none for the empty hypothesis.
    node: Option<usize>,
    coverage: Coverage,
}

/// Receiver of the best live hypothesis after each step: number of steps, tokens, index of the first token that changed, and
/// the attention of the tokens from there on.
pub type OnStep<'a> = &'a mut dyn FnMut(usize, &[u32], usize, Vec<Vec<f32>>);

/// Observer that records the tree of the beam. Predictions are dropped once no live or complete hypothesis goes back to
/// them, which bounds memory.
pub struct BeamRecorder<'a> {
    max_candidates: usize,
    scoring: HypothesisScoring,
    on_step: OnStep<'a>,
    nodes: Vec<Node>,
    /// Predictions with the number of nodes that use them.
    predictions: Vec<(usize, Option<Prediction>)>,
    /// Index of the prediction of the first row of this step.
    first_prediction: usize,
    live: Vec<Live>,
    next_live: Vec<Live>,
    step: usize,
    /// Best live hypothesis that was reported last, as nodes.
    reported: Vec<usize>,
}

impl<'a> BeamRecorder<'a> {
    /// Returns a recorder of so many candidates per step.
    pub fn new(max_candidates: usize, scoring: HypothesisScoring, on_step: OnStep<'a>) -> Self {
        Self {
            max_candidates,
            scoring,
            on_step,
            nodes: Vec::new(),
            predictions: Vec::new(),
            first_prediction: 0,
            live: vec![Live::default()],
            next_live: Vec::new(),
            step: 0,
            reported: Vec::new(),
        }
    }

    /// Returns the tree, and the steps of the best hypothesis.
    pub fn finish(mut self, best: &Hypothesis) -> (Vec<Node>, Vec<StepRecord>) {
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
            if let Some(prediction) = prediction.and_then(|prediction| self.predictions[prediction].1.take()) {
                steps.push(StepRecord { token, log_probability: log_probability - before, prediction });
            }
            before = log_probability;
        }
        (self.nodes, steps)
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
        let (uses, prediction) = &mut self.predictions[index];
        *uses -= 1;
        if *uses == 0 {
            *prediction = None;
        }
    }

    /// Nodes of a hypothesis, the first one first.
    fn path(&self, last: usize) -> Vec<usize> {
        let mut path: Vec<usize> = std::iter::successors(Some(last), |&index| self.nodes[index].parent).collect();
        path.reverse();
        path
    }

    fn report(&mut self) {
        let Some(last) = self.live.first().and_then(|live| live.node) else { return };
        let path = self.path(last);
        let is_same = |(a, b): &(&usize, &usize)| a == b;
        let first_changed = path.iter().zip(&self.reported).take_while(is_same).count();
        let tokens: Vec<u32> = path.iter().map(|&index| self.nodes[index].token).collect();
        let attention = |&index: &usize| {
            let prediction =
                self.nodes[index].prediction.and_then(|prediction| self.predictions[prediction].1.as_ref());
            prediction.map(|prediction| prediction.attention.clone()).unwrap_or_default()
        };
        let attention = path[first_changed..].iter().map(attention).collect();
        self.reported = path;
        (self.on_step)(self.step, &tokens, first_changed, attention);
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
            self.predictions.push((0, Some(prediction)));
        }
    }

    fn on_extension(&mut self, &KeptExtension { row, token, log_probability, goes_on }: &KeptExtension) {
        let prediction = self.first_prediction + row;
        let Live { node: parent, mut coverage } = self.live[row].clone();
        if let (_, Some(prediction)) = &self.predictions[prediction] {
            coverage.add(&prediction.attention);
        }
        let dropped = token != END && !goes_on;
        if !dropped {
            self.predictions[prediction].0 += 1;
            if let Some(parent) = parent {
                self.nodes[parent].children += 1;
            }
        }
        let score = self.scoring.score_covered(log_probability, &coverage);
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
            if prediction.0 == 0 {
                prediction.1 = None;
            }
        }
        let before = std::mem::replace(&mut self.live, std::mem::take(&mut self.next_live));
        before.into_iter().filter_map(|live| live.node).for_each(|node| self.release(node));
        self.step += 1;
        self.report();
    }
}
