//! What decides a training run, beside the data and the model's sizes.

use serde::{Deserialize, Serialize};

use super::{Augmentation, Retention, Schedule};
use crate::model::DropoutRates;
use crate::random::SeededRng;
use crate::text::{BatchSize, Example, bucketed};

/// The validation score by which the best model is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// BLEU of greedy translations.
    Bleu,
    /// chrF of greedy translations.
    Chrf,
    /// Share of greedy translations that equal the reference.
    ExactMatch,
    /// Perplexity of the references.
    Perplexity,
}

/// Settings of a training run, as config.json keeps them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrainingSettings {
    /// Decides initial parameters, the order of examples and dropout.
    pub seed: u64,
    /// Size of a batch.
    pub batch: BatchSize,
    /// Adam's step size after warm-up, before any decay.
    pub learning_rate: f64,
    /// Steps over which the learning rate rises from 0.
    pub warmup_steps: u64,
    /// What becomes of it then.
    #[serde(default)]
    pub schedule: Schedule,
    /// Factor on the learning rate after two validations in a row without improvement, where that is the schedule.
    pub decay: f64,
    /// ε of label smoothing.
    pub label_smoothing: f64,
    /// What the guide of a unit's attention counts beside the unit's prediction; none where attention is left to
    /// itself.
    #[serde(default)]
    pub guidance: Option<f64>,
    /// How much of the parameters' running average each step keeps; none where they are used as they are.
    #[serde(default)]
    pub average: Option<f64>,
    /// The share of merges that are left out where units are cut by byte-pair encoding; none where each word is cut in one
    /// way.
    #[serde(default)]
    pub bpe_dropout: Option<f64>,
    /// The share of pairs that are joined, two and two, so that longer ones are met; none where all stay as they are.
    #[serde(default, alias = "joined")]
    pub concat_pairs: Option<f64>,
    /// Dropout at each place.
    pub dropout: DropoutRates,
    /// Gradients of a larger global norm are scaled down to it.
    pub max_gradient_norm: f64,
    /// Passes over the training pairs after which training ends.
    pub max_epochs: u64,
    /// Minutes after which it ends if not before, over all runs.
    #[serde(default)]
    pub max_minutes: Option<f64>,
    /// Steps between validations; none means once an epoch.
    pub validate_every: Option<u64>,
    /// Validations in a row without improvement after which training ends; none where it goes on to the end that is
    /// planned.
    pub patience: Option<u64>,
    /// What chooses the best model.
    pub metric: Metric,
    /// Which validated models are kept beside the best one; none where no others are.
    #[serde(default)]
    pub keep: Option<Retention>,
    /// Whether attention on the sample sentences is kept at each validation.
    #[serde(default)]
    pub keep_attention: bool,
    /// Whether what the log says is written for TensorBoard too.
    #[serde(default)]
    pub tensorboard: bool,
}

impl TrainingSettings {
    /// How the pairs of an epoch differ from what they are.
    pub fn augmentation(&self) -> Augmentation {
        Augmentation { bpe_dropout: self.bpe_dropout, joined: self.concat_pairs }
    }

    /// The batches of an epoch: the same whenever they are asked for.
    pub fn batches(&self, examples: &[Example], epoch: u64) -> Vec<Vec<usize>> {
        let lengths: Vec<(usize, usize)> =
            examples.iter().map(|example| (example.source.len(), example.target.len())).collect();
        bucketed(&lengths, self.batch, &mut SeededRng::new(self.seed, "shuffle", epoch))
    }

    /// Whether attention is taught `links`, in words.
    pub fn teaching(&self, links: &str) -> String {
        match self.guidance {
            Some(weight) => format!("taught {links}, with weight {weight}"),
            None => "left to itself".to_owned(),
        }
    }
}
