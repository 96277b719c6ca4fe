//! Trace of the translation of one sentence: predictions and attention of each step, and the tree of the beam.
//!
//! A trace can be steered: a prefix of tokens forces the beginning, and an [`Intervention`] replaces the attention weights of
//! one step.

mod recorder;

use anyhow::{Result, ensure};
use serde::Serialize;

use super::read_sentence::ReadSentence;
use super::{
    DecodeOptions, ForcedAlignment, MAX_SENTENCE_TOKENS, PreparedTranslator, Sentence, Translation, Translator,
};
use crate::alignment::entropy;
use crate::error::{UsageError, usage};
use crate::model::RnnSearch;
use crate::search::{DecodingConstraints, Intervention, Search, Source, TokenCandidate, inspect};
use crate::text::{BEGIN, END, PADDING, Segmentation, Vocabulary, WordSplitting};
use recorder::{BeamRecorder, BestSoFar, ProgressObserver, RecordedBeam, StepRecord};

/// Options of a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceOptions {
    /// Options of beam search.
    pub decode: DecodeOptions,
    /// Ids of the tokens that the translation begins with; `</s>` may be the last one.
    pub prefix: Vec<u32>,
    /// Attention weights of one step. Each row is scaled to a sum of 1.
    pub intervention: Option<Intervention>,
    /// Number of most probable next tokens recorded per step.
    pub candidates: usize,
}

impl Default for TraceOptions {
    fn default() -> Self {
        Self { decode: DecodeOptions::default(), prefix: Vec::new(), intervention: None, candidates: 10 }
    }
}

/// Trace of the translation of one sentence. Probabilities are logarithms in nats. Attention weights are those of all
/// source tokens and, last, of the source's `</s>`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub struct Trace {
    /// Source as the model reads it.
    pub source: TraceSide,
    /// Translation as the model writes it.
    pub target: TraceSide,
    /// Steps of the translation; the last one is `</s>` unless search stopped before.
    pub steps: Vec<TraceStep>,
    /// Tree of the beam: all hypotheses that were kept at some step. A node follows its parent.
    pub beam: Vec<BeamNode>,
    /// The translation, which is the one that [`Translator::translate_with`] returns first.
    #[serde(skip)]
    pub translation: Translation,
}

/// One side of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub struct TraceSide {
    /// Tokens as the vocabulary writes them.
    pub tokens: Vec<String>,
    /// Words of the text.
    pub words: Vec<String>,
    /// Index of the word of each token.
    pub word_of_token: Vec<usize>,
}

/// Token of the target vocabulary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub struct TraceToken {
    /// Id, for [`TraceOptions::prefix`].
    pub id: u32,
    /// Token as the vocabulary writes it.
    #[serde(rename = "token")]
    pub spelling: String,
    /// Text that it adds to the translation: a space at its beginning separates words.
    pub text: String,
}

/// One step of a translation.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub struct TraceStep {
    /// Token that the translation has at this step.
    #[serde(flatten)]
    pub token: TraceToken,
    /// log p of the token given those before it.
    pub log_probability: f64,
    /// Entropy of the distribution over the next token, in nats.
    pub entropy: f64,
    /// Most probable tokens at this step, best first.
    pub candidates: Vec<TraceCandidate>,
    /// Attention weights `[source + 1]`, mean over the heads and the models.
    pub attention: Vec<f32>,
    /// Attention weights of each head, model after model: `[heads][source + 1]`.
    pub heads: Vec<Vec<f32>>,
    /// Entropy of `attention`, in nats.
    pub attention_entropy: f64,
}

/// Candidate for the next token.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub struct TraceCandidate {
    /// Candidate for the token of this step.
    #[serde(flatten)]
    pub token: TraceToken,
    /// log p of the token given those before it.
    pub log_probability: f64,
}

/// Hypothesis that was kept in the beam, as the extension of another one.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub struct BeamNode {
    /// Index of the hypothesis that it extends; none for the first token.
    pub parent: Option<usize>,
    /// Index of the step at which it was kept.
    pub step: usize,
    /// Last token of the hypothesis.
    #[serde(flatten)]
    pub token: TraceToken,
    /// log p of all its tokens.
    pub log_probability: f64,
    /// Score by which it would be ranked if it were complete, without penalties for constraints.
    pub score: f64,
    /// True if it ends with `</s>`.
    pub ended: bool,
    /// True if nothing in the beam extends it any more.
    pub dropped: bool,
    /// True if the translation begins with it.
    pub best: bool,
}

/// Translation in progress: the first live hypothesis, which has the largest log-probability unless constraints rank others
/// first.
#[derive(Clone, Debug)]
pub struct PartialTranslation {
    /// Number of steps taken.
    pub step: usize,
    /// Source as the model reads it, in the first report.
    pub source: Option<TraceSide>,
    /// Text of the translation so far.
    pub text: String,
    /// Tokens and words of the translation so far.
    pub target: TraceSide,
    /// Index of the first token that differs from the last report.
    pub first_changed: usize,
    /// Attention weights of the tokens from `first_changed` on, `[tokens][source + 1]`.
    pub attention: Vec<Vec<f32>>,
}

impl From<Segmentation> for TraceSide {
    fn from(Segmentation { tokens, words, word_of_token, .. }: Segmentation) -> Self {
        Self { tokens, words, word_of_token }
    }
}

impl Translator {
    /// Translates a sentence by beam search and returns the trace.
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
        let vocabulary = &translator.checkpoint.target;
        let read = self.read(sentence)?;
        let segmented = read.segment(&translator.checkpoint.source, translator.words[0])?;
        let constraints = self.traced_constraints(&read, &segmented, &options.prefix)?;
        let heads = translator.models.iter().map(|model| model.architecture().attention.distributions()).sum();
        let intervention = options.intervention.as_ref();
        let intervention = intervention.map(|one| checked(one, segmented.ids.len() + 1, heads)).transpose()?;
        let cancellation = sentence.cancellation.clone();
        let source = Source { tokens: segmented.ids.clone(), constraints, cancellation, seed_index: None };
        let models: Vec<&RnnSearch> = translator.models.iter().map(|model| &**model).collect();
        let mut reporter = ProgressReporter {
            vocabulary,
            words: translator.words[1],
            source: Some(segmented.clone().into()),
            on_step,
        };
        let mut recorder = BeamRecorder::new(options.candidates, settings.scoring, &mut reporter);
        let found = inspect(&models, &source, &settings, intervention.as_ref(), &mut recorder)?.swap_remove(0);
        let RecordedBeam { nodes, steps } = recorder.finish(&found);
        if sentence.cancellation.is_cancelled() {
            return Ok(None);
        }
        translator.check_scores(found.score.is_finite() && (source.tokens.is_empty() || !found.is_degenerate()))?;
        let translation = self.translation(&read, &segmented, &source.constraints, &found)?;
        let translation = read.in_given_case(translation, translator.words);
        let labels = TargetLabels { vocabulary };
        let ForcedAlignment { source, target, .. } = translation.alignment.clone();
        Ok(Some(Trace {
            source: source.into(),
            target: target.into(),
            steps: steps.into_iter().map(|step| labels.step(step)).collect(),
            beam: nodes.into_iter().map(|node| labels.node(node)).collect(),
            translation,
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

/// Reporter of a translation in progress, after each step.
struct ProgressReporter<'a> {
    /// Target vocabulary.
    vocabulary: &'a Vocabulary,
    /// Word splitting of the target.
    words: WordSplitting,
    /// The source, until the first report.
    source: Option<TraceSide>,
    on_step: &'a mut dyn FnMut(PartialTranslation),
}

impl ProgressObserver for ProgressReporter<'_> {
    fn on_progress(&mut self, BestSoFar { step, tokens, first_changed, attention }: BestSoFar) {
        let (text, target) = self.vocabulary.join(tokens, self.words);
        let source = self.source.take();
        (self.on_step)(PartialTranslation { step, source, text, target: target.into(), first_changed, attention });
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

/// Refuses a prefix that is too long, goes on after `</s>`, or has ids that are no tokens of the target vocabulary.
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
    ensure!(
        !prefix[..prefix.len() - 1].contains(&END),
        UsageError::new("the prefix goes on after the end of the sentence")
    );
    Ok(())
}

/// Checks an intervention, which has one row `[length]` or one for each of the heads, and scales its rows to a sum of 1.
fn checked(intervention: &Intervention, length: usize, heads: usize) -> Result<Intervention> {
    let Intervention { step, weights } = intervention;
    ensure!(
        weights.len() == 1 || weights.len() == heads,
        UsageError::new(format!(
            "the attention weights need 1 row or {heads}, one for each head, not {}",
            weights.len()
        ))
    );
    let mut scaled = Vec::with_capacity(weights.len());
    for row in weights {
        scaled.push(scaled_row(row, length)?);
    }
    Ok(Intervention { step: *step, weights: scaled })
}

/// Checks a row of attention weights `[length]` and scales it to a sum of 1.
fn scaled_row(row: &[f32], length: usize) -> Result<Vec<f32>> {
    ensure!(
        row.len() == length,
        UsageError::new(format!(
            "the attention weights need {length} numbers, one for each source token and the end of the source, not {}",
            row.len()
        ))
    );
    let sum: f64 = row.iter().map(|&weight| f64::from(weight)).sum();
    let is_valid = row.iter().all(|&weight| weight >= 0.0) && sum.is_finite() && sum > 0.0;
    ensure!(is_valid, UsageError::new("attention weights must be at least 0, and one of them above 0"));
    // Weights that are a distribution already stay as they are, to the last bit.
    if (sum - 1.0).abs() < 1e-6 {
        return Ok(row.to_vec());
    }
    Ok(row.iter().map(|&weight| (f64::from(weight) / sum) as f32).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks weights for two source positions.
    fn checked_weights(weights: &[&[f32]], heads: usize) -> Result<Vec<Vec<f32>>> {
        let weights = weights.iter().map(|row| row.to_vec()).collect();
        Ok(checked(&Intervention { step: 0, weights }, 2, heads)?.weights)
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
