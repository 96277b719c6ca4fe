//! Trace of a translation, sentence by sentence: predictions and attention of each step, and the tree of the beam.
//!
//! A sentence that is copied has no steps. A trace can be steered: a prefix of tokens forces the beginning, and an
//! [`Intervention`] replaces the attention weights of one step.

mod data;
mod joined;
mod recorder;

use std::ops::Range;

use anyhow::{Result, ensure};

use super::read_sentence::ReadSentence;
use super::{DecodeOptions, MAX_SENTENCE_TOKENS, MarkedUpTexts, PreparedTranslator, Sentence, Translator};
use crate::alignment::entropy;
use crate::error::{UsageError, usage};
use crate::model::RnnSearch;
use crate::search::{BeamOptions, DecodingConstraints, Intervention, Search, Source, TokenCandidate, inspect};
use crate::text::{BEGIN, END, PADDING, Segmentation, Vocabulary, WordSplitting};
use joined::{JoinedTrace, SentenceTrace};
use recorder::{BeamRecorder, BestSoFar, ProgressObserver, RecordedBeam, StepRecord};

pub use data::{BeamNode, PartialTranslation, Trace, TraceCandidate, TraceSentence, TraceSide, TraceStep, TraceToken};

/// Options of a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceOptions {
    /// Options of beam search.
    pub decode: DecodeOptions,
    /// Ids of the tokens that the translation begins with. `</s>` ends a sentence, after which the next one begins.
    pub prefix: Vec<u32>,
    /// Attention weights of one step, `[source + 1]` of the whole text. The part that belongs to the sentence of the step is scaled
    /// to a sum of 1. It is the sentence that the prefix leads to, so that a step of another one than the first needs a prefix.
    pub intervention: Option<Intervention>,
    /// Number of most probable next tokens recorded per step.
    pub candidates: usize,
}

impl Default for TraceOptions {
    fn default() -> Self {
        Self { decode: DecodeOptions::default(), prefix: Vec::new(), intervention: None, candidates: 10 }
    }
}

impl Translator {
    /// Translates a text by beam search, sentence by sentence, and returns the trace.
    ///
    /// ```no_run
    /// use softalign::Translator;
    /// use softalign::translator::TraceOptions;
    ///
    /// let trace = Translator::load("checkpoints")?.trace("They bought a hat.", &TraceOptions::default())?;
    /// for step in &trace.steps {
    ///     println!("{} {:.2} {:?}", step.token.spelling, step.log_probability.exp(), step.attention);
    /// }
    /// # Ok::<(), softalign::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Self::translate_with`]; the options have no beam; the prefix or the intervention does not fit.
    pub fn trace(&self, sentence: impl Into<Sentence>, options: &TraceOptions) -> crate::Result<Trace> {
        let trace = self.trace_observed(sentence, options, &mut |_| {})?;
        trace.ok_or_else(|| anyhow::anyhow!("the sentence was cancelled").into())
    }

    /// As [`Self::trace`]. `on_step` receives the translation so far after each step. There is no trace if the sentence
    /// was cancelled.
    ///
    /// # Errors
    /// As [`Self::trace`].
    pub fn trace_observed(
        &self,
        sentence: impl Into<Sentence>,
        options: &TraceOptions,
        on_step: &mut dyn FnMut(PartialTranslation),
    ) -> crate::Result<Option<Trace>> {
        let prepared = self.prepared_for_plain_text(options.decode.clone())?;
        Ok(prepared.trace(&sentence.into(), options, on_step)?)
    }
}

impl PreparedTranslator {
    /// Traces the translation of a sentence with these options, apart from those of decoding, which are the translator's.
    ///
    /// # Errors
    /// As [`Translator::trace`].
    pub(crate) fn trace(
        &self,
        sentence: &Sentence,
        options: &TraceOptions,
        on_step: &mut dyn FnMut(PartialTranslation),
    ) -> Result<Option<Trace>> {
        let Search::Beam(settings) = self.request().search else {
            return usage("--sample and --mbr have no beam, which a trace shows");
        };
        let translator = self.translator();
        let mut texts = MarkedUpTexts::new(self, vec![sentence.clone()]);
        let sentences = texts.sentences().to_vec();
        let read = sentences.iter().map(|sentence| self.read(sentence)).collect::<Result<Vec<ReadSentence>>>()?;
        let mut searched = Vec::with_capacity(read.len());
        let mut segmented = Vec::with_capacity(read.len());
        let mut copied = Vec::with_capacity(read.len());
        for (index, read) in read.iter().enumerate() {
            let source = read.segment(&translator.checkpoint.source, translator.words[0])?;
            let translation = self.copied(read, &source)?;
            segmented.push(translation.as_ref().map_or(source, |translation| translation.alignment.source.clone()));
            searched.extend(translation.is_none().then_some(index));
            copied.push(translation);
        }
        let mut joined = JoinedTrace::new(segmented.iter().map(|sentence| sentence.clone().into()));
        let heads = translator.models.iter().map(|model| model.architecture().attention.distributions()).sum();
        let lengths: Vec<usize> = segmented.iter().map(|sentence| sentence.ids.len()).collect();
        let steering = SentenceSteering::of_text(options, &lengths, &searched, heads)?;
        let mut translations = Vec::with_capacity(sentences.len());
        for (index, copied) in copied.into_iter().enumerate() {
            let recording = Recording { settings: &settings, candidates: options.candidates };
            let traced = match copied {
                Some(translation) => Some(SentenceTrace { steps: Vec::new(), beam: Vec::new(), translation }),
                None => {
                    self.trace_sentence(&read[index], &segmented[index], &steering[index], recording, &mut |partial| {
                        on_step(joined.partial(partial))
                    })?
                }
            };
            let Some(trace) = traced else { return Ok(None) };
            joined.add(&trace);
            translations.push(vec![trace.translation]);
        }
        let translation = texts.add(self, translations)?.swap_remove(0).swap_remove(0);
        Ok(Some(joined.finish(translation)))
    }

    /// Traces the translation of one sentence. There is no trace if it was cancelled.
    fn trace_sentence(
        &self,
        read: &ReadSentence,
        segmented: &Segmentation,
        steering: &SentenceSteering,
        Recording { settings, candidates }: Recording,
        on_step: &mut dyn FnMut(PartialTranslation),
    ) -> Result<Option<SentenceTrace>> {
        let translator = self.translator();
        let vocabulary = &translator.checkpoint.target;
        let sentence = &*read.sentence;
        let constraints = self.traced_constraints(read, segmented, &steering.prefix)?;
        let cancellation = sentence.cancellation.clone();
        let expected_length = self.expected_length(segmented);
        let tokens = segmented.ids.clone();
        let source = Source { tokens, constraints, expected_length, cancellation, seed_index: None };
        let models: Vec<&RnnSearch> = translator.models.iter().map(|model| &**model).collect();
        let mut reporter = ProgressReporter { vocabulary, words: translator.words[1], on_step };
        let mut recorder = BeamRecorder::new(candidates, settings.scoring, &source, &mut reporter);
        let found = inspect(&models, &source, settings, steering.intervention.as_ref(), &mut recorder)?.swap_remove(0);
        let RecordedBeam { nodes, steps } = recorder.finish(&found);
        if sentence.cancellation.is_cancelled() {
            return Ok(None);
        }
        translator.check_scores(found.score.is_finite() && (source.tokens.is_empty() || !found.is_degenerate()))?;
        let translation = self.translation(read, segmented, &source.constraints, &found)?;
        let labels = TargetLabels { vocabulary };
        Ok(Some(SentenceTrace {
            steps: steps.into_iter().map(|step| labels.step(step)).collect(),
            beam: nodes.into_iter().map(|node| labels.node(node)).collect(),
            translation: read.in_given_case(translation, translator.words),
        }))
    }

    /// Returns the constraints on the translation of a sentence, with the tokens of `prefix` at its beginning if there are any.
    fn traced_constraints(
        &self,
        read: &ReadSentence,
        source: &Segmentation,
        prefix: &[u32],
    ) -> Result<DecodingConstraints> {
        let mut constraints = self.read_constraints(read, source)?;
        if !prefix.is_empty() {
            check_prefix(prefix, &self.translator().checkpoint.target)?;
            ensure!(constraints.prefix.is_empty(), UsageError::new("give one prefix: tokens or --prefix"));
            constraints.prefix = prefix.to_vec();
        }
        Ok(constraints)
    }
}

/// Search, and what is recorded of it.
#[derive(Clone, Copy)]
struct Recording<'a> {
    settings: &'a BeamOptions,
    /// Number of most probable next tokens per step.
    candidates: usize,
}

/// Changes of the translation of a sentence.
#[derive(Clone, Default)]
struct SentenceSteering {
    /// Ids of the tokens that it begins with.
    prefix: Vec<u32>,
    /// Attention weights of one of its steps, `[its source + 1]`.
    intervention: Option<Intervention>,
}

impl SentenceSteering {
    /// Returns the changes of each sentence of a text, whose sources have so many tokens. Those with the indices `searched` have
    /// steps; the others are copied.
    fn of_text(options: &TraceOptions, lengths: &[usize], searched: &[usize], heads: usize) -> Result<Vec<Self>> {
        let mut sentences = vec![Self::default(); lengths.len()];
        for (part, prefix) in options.prefix.split_inclusive(|id| *id == END).enumerate() {
            let Some(&index) = searched.get(part) else {
                return usage("the prefix goes on after the end of the text");
            };
            sentences[index].prefix = prefix.to_vec();
        }
        if let Some(Intervention { step, weights }) = &options.intervention {
            let before = &options.prefix[..options.prefix.len().min(*step)];
            let ended = before.iter().filter(|id| **id == END).count();
            let Some(&index) = searched.get(ended).or(searched.last()) else {
                return usage("the text is copied, so that no step has attention to replace");
            };
            let first = lengths[..index].iter().sum();
            let own = first..first + lengths[index];
            let weights = checked(weights, own, lengths.iter().sum::<usize>() + 1, heads)?;
            let steps_before: usize = sentences[..index].iter().map(|sentence| sentence.prefix.len()).sum();
            sentences[index].intervention = Some(Intervention { step: step - steps_before, weights });
        }
        Ok(sentences)
    }
}

/// Reporter of a translation in progress, after each step.
struct ProgressReporter<'a> {
    /// Target vocabulary.
    vocabulary: &'a Vocabulary,
    /// Word splitting of the target.
    words: WordSplitting,
    on_step: &'a mut dyn FnMut(PartialTranslation),
}

impl ProgressObserver for ProgressReporter<'_> {
    fn on_progress(&mut self, BestSoFar { step, tokens, first_changed, attention }: BestSoFar) {
        let (text, target) = self.vocabulary.join(tokens, self.words);
        let (source, target) = (None, target.into());
        (self.on_step)(PartialTranslation { step, source, text, target, first_changed, attention });
    }
}

/// Labels of target tokens, and of the nodes and steps that have them.
struct TargetLabels<'a> {
    /// Target vocabulary.
    vocabulary: &'a Vocabulary,
}

impl TargetLabels<'_> {
    fn token(&self, id: u32) -> TraceToken {
        let spelling = self.vocabulary.written(&[id]).swap_remove(0);
        TraceToken { id, spelling, text: self.vocabulary.surface_forms().text(id).to_owned() }
    }

    fn node(&self, node: recorder::Node) -> BeamNode {
        let recorder::Node { parent, step, token, log_probability, score, dropped, best, .. } = node;
        let ended = token == END;
        BeamNode { parent, step, token: self.token(token), log_probability, score, ended, dropped, best }
    }

    fn step(&self, StepRecord { token, log_probability, prediction }: StepRecord) -> TraceStep {
        let mut candidates = Vec::with_capacity(prediction.candidates.len());
        for TokenCandidate { token, log_probability } in prediction.candidates {
            candidates.push(TraceCandidate { token: self.token(token), log_probability: f64::from(log_probability) });
        }
        TraceStep {
            token: self.token(token),
            log_probability,
            entropy: prediction.entropy,
            candidates,
            attention_entropy: entropy(&prediction.attention),
            attention: prediction.attention,
            heads: prediction.heads,
        }
    }
}

/// Refuses a prefix that is too long or has ids that are no tokens of the target vocabulary.
fn check_prefix(prefix: &[u32], target: &Vocabulary) -> Result<()> {
    ensure!(
        prefix.len() <= MAX_SENTENCE_TOKENS,
        UsageError::new(format!("the prefix has {} tokens; at most {MAX_SENTENCE_TOKENS} are allowed", prefix.len()))
    );
    for &id in prefix {
        if id as usize >= target.size() || [PADDING, BEGIN].contains(&id) {
            return usage(format!("the prefix has id {id}, which is no token of the target vocabulary"));
        }
    }
    Ok(())
}

/// Checks attention weights of a step, which have one row `[length]` or one for each of the heads. Returns the part of the
/// sentence whose source tokens are `own`, and the source's end, scaled to a sum of 1.
fn checked(weights: &[Vec<f32>], own: Range<usize>, length: usize, heads: usize) -> Result<Vec<Vec<f32>>> {
    ensure!(
        weights.len() == 1 || weights.len() == heads,
        UsageError::new(format!(
            "the attention weights need 1 row or {heads}, one for each head, not {}",
            weights.len()
        ))
    );
    let mut scaled = Vec::with_capacity(weights.len());
    for row in weights {
        ensure!(
            row.len() == length,
            UsageError::new(format!(
                "the attention weights need {length} numbers, one for each source token and the end of the source, not {}",
                row.len()
            ))
        );
        scaled.push(scaled_row([&row[own.clone()], &row[length - 1..]].concat())?);
    }
    Ok(scaled)
}

/// Checks a row of attention weights and scales it to a sum of 1.
fn scaled_row(row: Vec<f32>) -> Result<Vec<f32>> {
    let sum: f64 = row.iter().map(|&weight| f64::from(weight)).sum();
    let is_valid = row.iter().all(|&weight| weight >= 0.0) && sum.is_finite() && sum > 0.0;
    ensure!(
        is_valid,
        UsageError::new("attention weights must be at least 0, and one of them above 0 in the sentence of the step")
    );
    // Weights that are a distribution already stay as they are, to the last bit.
    if (sum - 1.0).abs() < 1e-6 {
        return Ok(row);
    }
    Ok(row.iter().map(|&weight| (f64::from(weight) / sum) as f32).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks weights for two source positions.
    fn checked_weights(weights: &[&[f32]], heads: usize) -> Result<Vec<Vec<f32>>> {
        let weights: Vec<Vec<f32>> = weights.iter().map(|row| row.to_vec()).collect();
        checked(&weights, 0..1, 2, heads)
    }

    #[test]
    fn sentences_have_their_own_prefix_and_attention() {
        let options = TraceOptions {
            prefix: vec![7, END, 8, 9],
            intervention: Some(Intervention { step: 3, weights: vec![vec![0.5, 0.25, 0.0, 0.25]] }),
            ..TraceOptions::default()
        };
        let [one, two] = &SentenceSteering::of_text(&options, &[1, 2], &[0, 1], 1).unwrap()[..] else { panic!() };
        assert_eq!((&one.prefix[..], &one.intervention), (&[7, END][..], &None));
        assert_eq!(two.prefix, [8, 9]);
        assert_eq!(two.intervention, Some(Intervention { step: 1, weights: vec![vec![0.5, 0.0, 0.5]] }));
        assert!(SentenceSteering::of_text(&options, &[3], &[0], 1).is_err(), "the prefix has two sentences");
        let last = SentenceSteering::of_text(&options, &[1, 1, 1], &[0, 2], 1).unwrap().swap_remove(2);
        assert_eq!(last.prefix, [8, 9], "the sentence in the middle is copied");
        assert!(SentenceSteering::of_text(&options, &[3], &[], 1).is_err(), "all is copied");
    }

    #[test]
    fn weights_are_scaled_or_kept() {
        assert_eq!(checked_weights(&[&[1.0, 3.0]], 4).unwrap(), [[0.25, 0.75]]);
        assert_eq!(checked_weights(&[&[0.3, 0.7]], 1).unwrap(), [[0.3, 0.7]]);
        assert_eq!(checked_weights(&[&[0.0, 1.0], &[2.0, 0.0]], 2).unwrap(), [[0.0, 1.0], [1.0, 0.0]]);
        let rejected: [(&[&[f32]], usize); 7] = [
            (&[], 1),
            (&[&[1.0]], 1),
            (&[&[0.0, 0.0]], 1),
            (&[&[-1.0, 2.0]], 1),
            (&[&[f32::NAN, 1.0]], 1),
            (&[&[f32::INFINITY, 1.0]], 1),
            (&[&[1.0, 0.0], &[1.0, 0.0]], 3),
        ];
        for (weights, heads) in rejected {
            assert!(checked_weights(weights, heads).is_err(), "{weights:?}");
        }
    }
}
