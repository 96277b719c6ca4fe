//! Settings of a training run.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Augmentation, Retention, Schedule};
use crate::kernels::matrix::{Precision, bf16_instructions};
use crate::model::DropoutRates;
use crate::random::SeededRng;
use crate::text::{BatchSize, Example, ExampleLength, Pair, bucketed};

/// Share of a planned training after which all products are f32.
const BF16_SHARE: f64 = 0.8;

/// Validation metric that selects the best model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Metric {
    /// BLEU of greedy translations.
    Bleu,
    /// chrF of greedy translations.
    Chrf,
    /// Share of greedy translations that equal the reference.
    #[cfg_attr(feature = "cli", value(alias = "exact_match"))]
    ExactMatch,
    /// Word error rate of greedy translations: wrong words if every source is a single word, else word edits per reference
    /// word.
    Wer,
    /// Perplexity of the references.
    Perplexity,
}

/// Settings of a training run, as stored in config.json.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrainingSettings {
    /// Seed of the initial parameters, the order of examples and dropout.
    pub seed: u64,
    /// Batch size.
    pub batch: BatchSize,
    /// Learning rate of Adam after warmup, before decay.
    pub learning_rate: f64,
    /// Steps of linear warmup of the learning rate.
    pub warmup_steps: u64,
    /// Learning rate schedule after warmup.
    #[serde(default)]
    pub schedule: Schedule,
    /// Factor on the learning rate after two consecutive validations without improvement, with [`Schedule::Plateau`].
    pub decay: f64,
    /// ε of label smoothing.
    pub label_smoothing: f64,
    /// Weight of the guided alignment loss; none without guided alignment.
    #[serde(default)]
    pub guided_alignment: Option<f64>,
    /// Decay of the parameters' moving average; none without averaging.
    #[serde(default)]
    pub ema_decay: Option<f64>,
    /// BPE-dropout: probability of skipping a merge; none without it.
    #[serde(default)]
    pub bpe_dropout: Option<f64>,
    /// Share of pairs that are concatenated in twos, for longer training sentences; none without it.
    #[serde(default, alias = "joined")]
    pub concat_pairs: Option<f64>,
    /// Share of pairs that are replaced by hallucinated ones; none without them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hallucination: Option<f64>,
    /// Dropout rates.
    pub dropout: DropoutRates,
    /// Maximum global norm of the gradients; larger ones are clipped.
    pub max_gradient_norm: f64,
    /// Precision of products.
    #[serde(default)]
    pub precision: Precision,
    /// Maximum number of epochs.
    pub max_epochs: u64,
    /// Time limit in minutes, over all runs.
    #[serde(default)]
    pub max_minutes: Option<f64>,
    /// Steps between validations; none means once per epoch.
    pub validate_every: Option<u64>,
    /// Consecutive validations without improvement after which training stops; none means unlimited.
    pub patience: Option<u64>,
    /// Metric that selects the best model.
    pub metric: Metric,
    /// Number of best validated models that are kept beside the best one; none without them.
    #[serde(default)]
    pub keep_best: Option<usize>,
    /// Number of last validated models that are kept beside the best one; none without them.
    #[serde(default)]
    pub keep_last: Option<usize>,
    /// True to record attention on the sample sentences at each validation.
    #[serde(default)]
    pub keep_attention: bool,
    /// Pairs whose attention is recorded; if there are none, some validation pairs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attention_pairs: Vec<Pair>,
    /// True to write event files for TensorBoard.
    #[serde(default)]
    pub tensorboard: bool,
}

impl TrainingSettings {
    /// Returns the precision of products after a share of the training. A planned training ends in f32: its learning rate is
    /// small then, and so should rounding errors be.
    pub fn precision_after(&self, done: f64) -> Precision {
        match self.schedule {
            Schedule::Hold | Schedule::Cosine if done >= BF16_SHARE => Precision::F32,
            _ => self.precision,
        }
    }

    /// Describes the precision of products if it is not f32.
    pub fn describe_precision(&self) -> &'static str {
        match (self.precision, self.schedule) {
            (Precision::F32, _) => "",
            (Precision::Bf16, _) if bf16_instructions().is_none() => {
                "; products in bf16, slowly: this processor emulates it"
            }
            (Precision::Bf16, Schedule::Plateau) => "; products in bf16",
            (Precision::Bf16, Schedule::Hold | Schedule::Cosine) => "; products in bf16, in the last fifth in f32",
        }
    }

    /// Renames settings in JSON that earlier versions called otherwise.
    pub fn rename_earlier_keys(settings: &mut Map<String, Value>) {
        for (earlier, now) in [("guidance", "guided_alignment"), ("average", "ema_decay")] {
            if let Some(value) = settings.remove(earlier) {
                settings.insert(now.to_owned(), value);
            }
        }
        // One of {"best": 3}, {"last": 3} and null.
        if let Some(Value::Object(kept)) = settings.remove("keep") {
            settings.extend(kept.into_iter().map(|(criterion, number)| (format!("keep_{criterion}"), number)));
        }
    }

    /// Returns which validated models are kept beside the best one.
    pub fn retention(&self) -> Option<Retention> {
        self.keep_best.map(Retention::Best).or(self.keep_last.map(Retention::Last))
    }

    /// Returns the data augmentation.
    pub fn augmentation(&self) -> Augmentation {
        let Self { bpe_dropout, concat_pairs, hallucination, .. } = *self;
        Augmentation { bpe_dropout, concat_pairs, hallucination }
    }

    /// Returns the batches of an epoch as example indices, which are determined by the seed.
    pub fn batches(&self, examples: &[Example], epoch: u64) -> Vec<Vec<usize>> {
        let lengths: Vec<ExampleLength> = examples.iter().map(Example::length).collect();
        bucketed(&lengths, self.batch, &mut SeededRng::new(self.seed, "shuffle", epoch))
    }

    /// Describes guided alignment by `links`, as in "attention is …".
    pub fn describe_guidance(&self, links: &str) -> String {
        match self.guided_alignment {
            Some(weight) => format!("guided by {links}, with weight {weight}"),
            None => "not guided".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn renamed(mut settings: Value) -> Value {
        TrainingSettings::rename_earlier_keys(settings.as_object_mut().unwrap());
        settings
    }

    #[test]
    fn earlier_names_of_settings_are_read() {
        let earlier = json!({"seed": 2, "guidance": 0.1, "average": null, "keep": {"last": 3}});
        assert_eq!(renamed(earlier), json!({"seed": 2, "guided_alignment": 0.1, "ema_decay": null, "keep_last": 3}));
        assert_eq!(renamed(json!({"keep": {"best": 1}})), json!({"keep_best": 1}));
        assert_eq!(renamed(json!({"keep": null, "ema_decay": 0.9})), json!({"ema_decay": 0.9}));
    }
}
