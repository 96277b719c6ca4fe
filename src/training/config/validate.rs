//! Validation of user settings.

use std::time::Duration;

use anyhow::Result;

use super::TrainConfig;
use crate::error::usage;
use crate::model::{MAX_LAYERS, MAX_SIZE};
use crate::text::{SPECIALS, Tokenization};
use crate::training::Schedule;

const MAX_VOCABULARY: usize = 1_000_000;
const MAX_TEACHERS: usize = 20;
const MAX_GUIDED_ALIGNMENT: f64 = 1000.0;

impl TrainConfig {
    /// Checks all settings as far as they do not depend on the data.
    ///
    /// # Errors
    /// A [`crate::error::UsageError`] names the option.
    pub fn validate(&self) -> Result<()> {
        self.validate_text()?;
        self.validate_model()?;
        self.validate_training()?;
        self.validate_limits()
    }

    fn validate_text(&self) -> Result<()> {
        within("--vocabulary-size", self.vocabulary_size, SPECIALS.len() + 1, MAX_VOCABULARY)?;
        positive("--max-length", self.max_length)?;
        let side = |own: Option<Tokenization>| own.or(self.tokenization);
        match (side(self.source_tokenization), side(self.target_tokenization)) {
            (Some(source), Some(target)) => self.check_joint(source, target),
            _ => Ok(()),
        }
    }

    /// Checks that a joint vocabulary is possible.
    pub(super) fn check_joint(&self, source: Tokenization, target: Tokenization) -> Result<()> {
        if self.joint_vocabulary && source != target {
            return usage("--joint-vocabulary needs the same tokenization on both sides");
        }
        Ok(())
    }

    fn validate_model(&self) -> Result<()> {
        within("--hidden-size", self.hidden_size, 1, MAX_SIZE)?;
        if let Some(odd) = self.hidden_size.filter(|size| !size.is_multiple_of(2)) {
            return usage(format!("--hidden-size {odd} is odd; each encoder direction has half of it"));
        }
        within("--embedding-size", self.embedding_size, 1, MAX_SIZE)?;
        within("--attention-size", self.attention_size, 1, MAX_SIZE)?;
        within("--layers", self.layers, 1, MAX_LAYERS)
    }

    fn validate_training(&self) -> Result<()> {
        within("--teachers", self.teachers, 0, MAX_TEACHERS)?;
        positive("--batch-sentences", self.batch_sentences)?;
        positive("--batch-tokens", self.batch_tokens)?;
        if let Some(decay) = self.decay.filter(|decay| !(*decay > 0.0 && *decay <= 1.0)) {
            return usage(format!("--decay must be above 0 and at most 1, not {decay}"));
        }
        if self.decay.is_some() && self.schedule.is_some_and(|schedule| schedule != Schedule::Plateau) {
            return usage("--decay needs --schedule plateau: other schedules decay by a plan");
        }
        let score = self.attention.unwrap_or_default();
        if self.keep_attention && score.is_fixed() {
            let score = score.name();
            return usage(format!("--keep-attention needs learned attention: --attention {score} is fixed"));
        }
        above_zero("--learning-rate", self.learning_rate)?;
        share("--label-smoothing", self.label_smoothing)?;
        match self.guided_alignment {
            None | Some(0.0) => {}
            Some(_) if score.is_fixed() => {
                let score = score.name();
                return usage(format!(
                    "--guided-alignment and --guide need learned attention: --attention {score} is fixed"
                ));
            }
            // An infinite loss teaches nothing.
            Some(weight) if weight > MAX_GUIDED_ALIGNMENT => {
                return usage(format!(
                    "--guided-alignment must be above 0 and at most {MAX_GUIDED_ALIGNMENT}, not {weight:e}"
                ));
            }
            weight => above_zero("--guided-alignment", weight)?,
        }
        share("--ema-decay", self.ema_decay)?;
        share("--bpe-dropout", self.bpe_dropout)?;
        share("--concat-pairs", self.concat_pairs)?;
        share("--hallucination", self.hallucination)?;
        share("--dropout", self.dropout)?;
        above_zero("--max-gradient-norm", self.max_gradient_norm)
    }

    /// Checks the settings that a resumed run may change: when training ends and what it saves.
    ///
    /// # Errors
    /// A [`crate::error::UsageError`] names the option.
    pub fn validate_limits(&self) -> Result<()> {
        positive("--max-epochs", self.max_epochs)?;
        minutes("--max-minutes", self.max_minutes)?;
        minutes("--save-every", self.save_every)?;
        positive("--validate-every", self.validate_every)?;
        positive("--patience", self.patience)?;
        positive("--keep-best", self.keep_best)?;
        positive("--keep-last", self.keep_last)
    }
}

fn minutes(option: &str, value: Option<f64>) -> Result<()> {
    let Some(minutes) = value else { return Ok(()) };
    match Duration::try_from_secs_f64(minutes * 60.0) {
        Ok(time) if !time.is_zero() && minutes <= 1e6 => Ok(()),
        _ => usage(format!("{option} must be above 0 and at most a million, not {minutes:e}")),
    }
}

fn positive<T: PartialEq + Default>(option: &str, value: Option<T>) -> Result<()> {
    match value {
        Some(value) if value == T::default() => usage(format!("{option} must be at least 1")),
        _ => Ok(()),
    }
}

fn within(option: &str, value: Option<usize>, min: usize, max: usize) -> Result<()> {
    match value.filter(|value| !(min..=max).contains(value)) {
        Some(value) => usage(format!("{option} must be between {min} and {max}, not {value}")),
        None => Ok(()),
    }
}

fn above_zero(option: &str, value: Option<f64>) -> Result<()> {
    match value.filter(|value| !(value.is_finite() && *value > 0.0)) {
        Some(value) => usage(format!("{option} must be above 0, not {value}")),
        None => Ok(()),
    }
}

fn share(option: &str, value: Option<f64>) -> Result<()> {
    match value.filter(|value| !(0.0..1.0).contains(value)) {
        Some(value) => usage(format!("{option} must be at least 0 and below 1, not {value}")),
        None => Ok(()),
    }
}
