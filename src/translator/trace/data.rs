//! Trace of a translation: the data.

use serde::Serialize;

use crate::text::Segmentation;
use crate::translator::Translation;

/// Trace of the translation of a text. Probabilities are logarithms in nats. Attention weights are those of all source tokens
/// and, last, of the source's `</s>`. The steps of one sentence follow those of another.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub struct Trace {
    /// Source as the model reads it.
    pub source: TraceSide,
    /// Translation as the model writes it.
    pub target: TraceSide,
    /// Steps of the translation; the last one of each sentence is `</s>` unless search stopped before.
    pub steps: Vec<TraceStep>,
    /// Tree of the beam: all hypotheses that were kept at some step. A node follows its parent, and the first nodes of a sentence
    /// follow the best hypothesis for the sentence before.
    pub beam: Vec<BeamNode>,
    /// Sentences of the text.
    pub sentences: Vec<TraceSentence>,
    /// The translation, which is the one that [`Translator::translate_with`](crate::Translator::translate_with) returns first.
    #[serde(skip)]
    pub translation: Translation,
}

/// Sentence in a trace, as ranges from an index to the one after the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub struct TraceSentence {
    /// Tokens of the source.
    pub source: [usize; 2],
    /// Tokens of the translation.
    pub target: [usize; 2],
    /// Steps, which have one more for `</s>`.
    pub steps: [usize; 2],
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
    /// Id, for [`TraceOptions::prefix`](super::TraceOptions::prefix).
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

impl TraceSide {
    /// Appends the tokens and words of the next sentence.
    pub(super) fn extend(&mut self, next: Self) {
        let words = self.words.len();
        self.tokens.extend(next.tokens);
        self.words.extend(next.words);
        self.word_of_token.extend(next.word_of_token.iter().map(|word| words + word));
    }
}
