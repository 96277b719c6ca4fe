//! Options of a training run that are fixed once it has begun.

use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::ranges::{above_zero, positive, share, within};
use crate::attention::ScoreName;
use crate::error::{usage, usage_of, written_number};
use crate::kernels::matrix::Precision;
use crate::model::PrecisionOption;
use crate::text::{BatchSize, TextSettings};
use crate::training::{Metric, Schedule};

/// Default weight of guided alignment, with links of the user or enough pairs.
pub(super) const GUIDED_ALIGNMENT: f64 = 0.1;

const MAX_TEACHERS: usize = 20;
const MAX_GUIDED_ALIGNMENT: f64 = 1000.0;

/// Options of a training run that are fixed once it has begun.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct RunConfig {
    /// Maximum number of tokens per side; longer pairs are skipped [default: 128].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", help_heading = "Text"))]
    pub max_length: Option<usize>,

    /// Dropout rate of embeddings, annotations, states and readout [default: 0.3; 0.5 for single words without features; 0.2 for
    /// few distinct words].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "P", help_heading = "Training"))]
    pub dropout: Option<f64>,

    /// BPE-dropout: probability of skipping a merge, so that segmentations vary between epochs; bpe only [default: 0.1 below
    /// 5,000 pairs, else 0; 0 for few distinct words].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "P", allow_negative_numbers = true, help_heading = "Training"))]
    pub bpe_dropout: Option<f64>,

    /// Share of pairs to concatenate with another pair, chosen anew in each epoch, for longer training sentences [default: 0.2
    /// for few distinct words, else 0].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "P", allow_negative_numbers = true, help_heading = "Training"))]
    pub concat_pairs: Option<f64>,

    /// Share of pairs in which the beginning of the stem becomes that of another word, chosen anew in each epoch, so that forms
    /// of unknown words are learned; needs characters on both sides [default: 0.5 for words with features, else 0].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "P", allow_negative_numbers = true, help_heading = "Training"))]
    pub hallucination: Option<f64>,

    /// Number of teachers: further models with other seeds, whose translations of the training sentences the model learns too
    /// (sequence-level knowledge distillation). They are trained first, in the --out directory [default: 3, or 2, for 1,000 to 20,000
    /// pairs of sentences if --max-minutes suffices, else 0].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", help_heading = "Training"))]
    pub teachers: Option<usize>,

    /// Weight of the guided alignment loss, which trains attention on the links of the statistical aligner. 0 disables it and
    /// the lexicon made from the links. Without a number, the weight is 0.5 [default: 0.1 from 2,000 pairs, else 0].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "cli",
        arg(
            long,
            value_name = "WEIGHT",
            num_args = 0..=1,
            default_missing_value = "0.5",
            help_heading = "Training"
        )
    )]
    pub guided_alignment: Option<f64>,

    /// Label smoothing: probability mass spread over all tokens [default: 0.1].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "E", help_heading = "Training"))]
    pub label_smoothing: Option<f64>,

    /// Decay per step of the exponential moving average (EMA) of the parameters; 0 disables averaging [default: 0.999].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "D", allow_negative_numbers = true, help_heading = "Training"))]
    pub ema_decay: Option<f64>,

    /// Sentence pairs per batch [default: chosen from the data].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "N", conflicts_with = "batch_tokens", help_heading = "Training")
    )]
    pub batch_sentences: Option<usize>,

    /// Target tokens per batch, instead of --batch-sentences.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", help_heading = "Training"))]
    pub batch_tokens: Option<usize>,

    /// Learning rate of Adam [default: by preset; half of that with --init-from].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, group = super::Preset::GROUP, value_name = "R", help_heading = "Training"))]
    pub learning_rate: Option<f64>,

    /// Number of warmup steps of the learning rate [default: 100; 30 with --init-from].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", help_heading = "Training"))]
    pub warmup_steps: Option<u64>,

    /// Learning rate schedule after warmup [default: hold; cosine for single words; plateau with --decay].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_enum, help_heading = "Training"))]
    pub schedule: Option<Schedule>,

    /// Factor on the learning rate after two consecutive validations without improvement; only for --schedule plateau
    /// [default: 0.5].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "F", help_heading = "Training"))]
    pub decay: Option<f64>,

    /// Maximum global norm of the gradients; larger ones are clipped [default: 1].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "R", help_heading = "Training"))]
    pub max_gradient_norm: Option<f64>,

    /// Precision of matrix products on the CPU. All other arithmetic is f32, and so is the last fifth of the training, except
    /// with --schedule plateau [default: auto].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_enum, help_heading = "Training"))]
    pub precision: Option<PrecisionOption>,

    /// Number of steps between validations [default: one epoch].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", help_heading = "Training"))]
    pub validate_every: Option<u64>,

    /// Validation metric that selects the best model [default: bleu; chrf for short texts; exact-match for single words in
    /// characters].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_enum, help_heading = "Training"))]
    pub metric: Option<Metric>,

    /// Keep the models of the K best validations, each in a directory of its own in kept/ of the --out directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "K", conflicts_with = "keep_last", help_heading = "Training"))]
    pub keep_best: Option<usize>,

    /// Keep the models of the last K validations in the same way.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "K", help_heading = "Training"))]
    pub keep_last: Option<usize>,

    /// Record attention on a few validation pairs at each validation, and show it in attention.html.
    #[cfg_attr(feature = "cli", arg(long, help_heading = "Training"))]
    pub keep_attention: bool,

    /// Write event files for TensorBoard to the --out directory.
    #[cfg_attr(feature = "cli", arg(long, help_heading = "Training"))]
    pub tensorboard: bool,

    /// Seed of all random numbers [default: 1].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", help_heading = "Training"))]
    pub seed: Option<u64>,
}

impl RunConfig {
    /// Returns the seed of all random numbers.
    pub fn seed(&self) -> u64 {
        self.seed.unwrap_or(1)
    }

    /// Returns the precision of products on a CPU or GPU.
    ///
    /// # Errors
    /// bf16 is required on a GPU.
    pub fn precision_on(&self, is_cpu: bool) -> Result<Precision> {
        self.precision.unwrap_or(PrecisionOption::Auto).resolve(is_cpu).or_else(usage)
    }

    /// Sets the default weight of guided alignment for links of the user.
    ///
    /// # Errors
    /// The weight is 0, so that the links would have no effect.
    pub fn with_user_links(mut self) -> Result<Self> {
        if self.guided_alignment == Some(0.0) {
            return usage_of("guide", "has no effect with --guided-alignment 0");
        }
        self.guided_alignment.get_or_insert(GUIDED_ALIGNMENT);
        Ok(self)
    }

    /// Returns the batch size, if it is given.
    pub(super) fn batch(&self) -> Option<BatchSize> {
        let sentences = self.batch_sentences.map(BatchSize::Sentences);
        sentences.or(self.batch_tokens.map(BatchSize::Tokens))
    }

    /// Returns the schedule, if it is given or `--decay` implies it.
    pub(super) fn schedule(&self) -> Option<Schedule> {
        self.schedule.or(self.decay.map(|_| Schedule::Plateau))
    }

    /// Checks the options as far as they do not depend on the data. `attention` is the model's score.
    ///
    /// # Errors
    /// A [`crate::error::UsageError`] names the option.
    pub(super) fn validate(&self, attention: ScoreName) -> Result<()> {
        positive("max-length", self.max_length)?;
        within("teachers", self.teachers, 0, MAX_TEACHERS)?;
        positive("batch-sentences", self.batch_sentences)?;
        positive("batch-tokens", self.batch_tokens)?;
        if let Some(decay) = self.decay.filter(|decay| !(*decay > 0.0 && *decay <= 1.0)) {
            return usage_of("decay", format!("must be above 0 and at most 1, not {decay}"));
        }
        if self.decay.is_some() && self.schedule.is_some_and(|schedule| schedule != Schedule::Plateau) {
            return usage_of("decay", "needs --schedule plateau: other schedules decay by a plan");
        }
        if self.keep_attention && attention.is_fixed() {
            let score = attention.name();
            return usage_of("keep-attention", format!("needs learned attention: --attention {score} is fixed"));
        }
        above_zero("learning-rate", self.learning_rate)?;
        share("label-smoothing", self.label_smoothing)?;
        self.validate_guided_alignment(attention)?;
        share("ema-decay", self.ema_decay)?;
        share("bpe-dropout", self.bpe_dropout)?;
        share("concat-pairs", self.concat_pairs)?;
        share("hallucination", self.hallucination)?;
        share("dropout", self.dropout)?;
        above_zero("max-gradient-norm", self.max_gradient_norm)?;
        positive("validate-every", self.validate_every)?;
        positive("keep-best", self.keep_best)?;
        positive("keep-last", self.keep_last)
    }

    /// Checks that the options suit the tokens of the text.
    ///
    /// # Errors
    /// A [`crate::error::UsageError`] names the option.
    pub(super) fn validate_with(&self, text: &TextSettings) -> Result<()> {
        if is_above_zero(self.guided_alignment) && text.has_character_tokens() {
            return usage("--guided-alignment and --guide need words: characters have no word alignments");
        }
        if is_above_zero(self.bpe_dropout) && !text.has_subwords() {
            return usage_of("bpe-dropout", "needs subwords on a side (--tokenization bpe)");
        }
        if is_above_zero(self.concat_pairs) && text.has_character_tokens() {
            return usage_of("concat-pairs", "needs sentences: characters would run together");
        }
        if is_above_zero(self.hallucination) && !text.are_both_characters() {
            return usage_of("hallucination", "needs characters as tokens on both sides");
        }
        Ok(())
    }

    fn validate_guided_alignment(&self, attention: ScoreName) -> Result<()> {
        let Some(weight) = self.guided_alignment.filter(|weight| *weight != 0.0) else { return Ok(()) };
        if attention.is_fixed() {
            let score = attention.name();
            return usage(format!(
                "--guided-alignment and --guide need learned attention: --attention {score} is fixed"
            ));
        }
        // An infinite loss teaches nothing.
        if weight > MAX_GUIDED_ALIGNMENT {
            return usage_of(
                "guided-alignment",
                format!("must be above 0 and at most {MAX_GUIDED_ALIGNMENT}, not {}", written_number(weight)),
            );
        }
        above_zero("guided-alignment", Some(weight))
    }
}

fn is_above_zero(value: Option<f64>) -> bool {
    value.is_some_and(|value| value > 0.0)
}
