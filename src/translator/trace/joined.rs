//! Traces of the sentences of a text, joined.

use super::data::{BeamNode, PartialTranslation, Trace, TraceSentence, TraceSide, TraceStep};
use crate::translator::Translation;

/// Trace of the translation of one sentence.
pub struct SentenceTrace {
    pub steps: Vec<TraceStep>,
    pub beam: Vec<BeamNode>,
    pub translation: Translation,
}

/// Traces of the sentences of a text so far.
pub struct JoinedTrace {
    /// Source of the whole text as the model reads it.
    read: TraceSide,
    /// Number of source tokens of the whole text.
    source_tokens: usize,
    source: TraceSide,
    target: TraceSide,
    /// Translations so far.
    text: String,
    steps: Vec<TraceStep>,
    beam: Vec<BeamNode>,
    sentences: Vec<TraceSentence>,
}

impl JoinedTrace {
    /// Returns the trace of a text before the first of its sentences, which the model reads so.
    pub fn new(sentences: impl Iterator<Item = TraceSide>) -> Self {
        let mut read = TraceSide::default();
        sentences.for_each(|sentence| read.extend(sentence));
        Self {
            source_tokens: read.tokens.len(),
            read,
            source: TraceSide::default(),
            target: TraceSide::default(),
            text: String::new(),
            steps: Vec::new(),
            beam: Vec::new(),
            sentences: Vec::new(),
        }
    }

    /// Returns the translation of the text so far, with that of the next sentence in progress. The first one has the source.
    pub fn partial(&mut self, next: PartialTranslation) -> PartialTranslation {
        let PartialTranslation { step, text, target: of_next, first_changed, attention, .. } = next;
        let (tokens, mut target) = (self.target.tokens.len(), self.target.clone());
        target.extend(of_next);
        let space = if self.text.is_empty() { "" } else { " " };
        PartialTranslation {
            step: self.steps.len() + step,
            source: (!self.read.tokens.is_empty()).then(|| std::mem::take(&mut self.read)),
            text: format!("{}{space}{text}", self.text),
            target,
            first_changed: tokens + first_changed,
            attention: attention.iter().map(|row| self.widened(row)).collect(),
        }
    }

    /// Adds the trace of the next sentence.
    pub fn add(&mut self, trace: &SentenceTrace) {
        let SentenceTrace { steps, beam, translation } = trace;
        let (first_step, first_node) = (self.steps.len(), self.beam.len());
        let last = self.beam.iter().rposition(|node| node.best);
        let before = last.map_or(0.0, |last| self.beam[last].log_probability);
        for node in beam {
            let parent = node.parent.map(|parent| first_node + parent).or(last);
            let log_probability = before + node.log_probability;
            self.beam.push(BeamNode { parent, step: first_step + node.step, log_probability, ..node.clone() });
        }
        for step in steps {
            let attention = self.widened(&step.attention);
            let heads = step.heads.iter().map(|row| self.widened(row)).collect();
            self.steps.push(TraceStep { attention, heads, ..step.clone() });
        }
        let [source, target] = [&self.source, &self.target].map(|side| side.tokens.len());
        self.source.extend(translation.alignment.source.clone().into());
        self.target.extend(translation.alignment.target.clone().into());
        self.sentences.push(TraceSentence {
            source: [source, self.source.tokens.len()],
            target: [target, self.target.tokens.len()],
            steps: [first_step, self.steps.len()],
        });
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        self.text.push_str(&translation.text);
    }

    /// Returns the trace with the translation of the text, once it has all sentences.
    pub fn finish(self, translation: Translation) -> Trace {
        let Self { source, target, steps, beam, sentences, .. } = self;
        Trace { source, target, steps, beam, sentences, translation }
    }

    /// Returns attention of the next sentence `[its source + 1]` as that of the text `[source + 1]`.
    fn widened(&self, row: &[f32]) -> Vec<f32> {
        let mut wide = vec![0.0; self.source_tokens + 1];
        if let Some((end, tokens)) = row.split_last() {
            wide[self.source.tokens.len()..][..tokens.len()].copy_from_slice(tokens);
            wide[self.source_tokens] = *end;
        }
        wide
    }
}
