//! Where a training run stands.

use serde::{Deserialize, Serialize};

use super::{EpochData, TrainingSettings, ValidationScore};

/// More steps, and a longer time in seconds, than any training takes.
const MOST_STEPS: u64 = 1 << 48;
const LONGEST_TIME: f64 = 1e11;

/// Where training stands: with the parameters and the optimiser's moments, all that is needed to go on exactly. Random
/// numbers need no state, since each step draws from a stream of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrainState {
    /// Epochs completed.
    pub epoch: u64,
    /// Batches of the current epoch that are done.
    pub position: usize,
    /// Optimiser steps taken in all.
    pub step: u64,
    /// Steps of these that moved nothing, since their loss or gradient was no finite number.
    #[serde(default)]
    pub skipped: u64,
    /// How often the learning rate has decayed.
    pub decays: u32,
    /// Validations held.
    pub validations: u64,
    /// The step after which the last one was held: what was learnt since then is yet to be judged.
    #[serde(default)]
    pub validated_step: u64,
    /// Validations in a row without improvement.
    #[serde(alias = "stale")]
    pub evals_since_best: u64,
    /// The best validation score, more being better.
    pub best_score: Option<f64>,
    /// The validation loss of the model that had it. None where that is not noted down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss_of_best: Option<f64>,
    /// The best score of validations that were due; a run that ends in between validates once more, which its successor would
    /// not have done. None where that is not noted apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub best_due_score: Option<f64>,
    /// The lowest validation loss.
    pub best_loss: Option<f64>,
    /// The step after which the best score was reached.
    pub best_step: u64,
    /// Seconds spent preparing, training and validating, over all runs.
    pub seconds: f64,
}

impl TrainState {
    /// Says what cannot be of a progress that was read from a file, if anything.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub fn check(&self) -> Result<(), String> {
        // Each validation and each epoch takes a step at least, and all these numbers count.
        let counts =
            [self.epoch, self.position as u64, self.skipped, self.best_step, self.validations, self.validated_step];
        let within = self.step <= MOST_STEPS && counts.iter().all(|&count| count <= self.step);
        if !within || self.evals_since_best > self.validations || u64::from(self.decays) > self.validations {
            return Err("its numbers of steps, epochs and validations contradict each other".to_owned());
        }
        if !(0.0..=LONGEST_TIME).contains(&self.seconds) {
            return Err(format!("{:e} seconds cannot have been spent", self.seconds));
        }
        Ok(())
    }

    /// Says whether training these examples can go on from here.
    ///
    /// # Errors
    /// It stands beyond the last batch of its epoch.
    pub fn check_position(&self, examples: &EpochData, settings: &TrainingSettings) -> Result<(), String> {
        if self.position == 0 {
            return Ok(());
        }
        let batches = settings.batches(&examples.of_epoch(settings.seed, self.epoch), self.epoch).len();
        let (position, epoch) = (self.position, self.epoch + 1);
        if position < batches {
            Ok(())
        } else {
            Err(format!("it stands at batch {position} of epoch {epoch}, which has {batches}"))
        }
    }

    /// The best score of the validations that were due, by which it is told whether there is improvement.
    pub fn best_due(&self) -> Option<f64> {
        self.best_due_score.or(self.best_score).filter(|_| self.validations > 0)
    }

    /// What the best model was found to be; of runs of before, which did not note its loss, with the lowest of all.
    pub fn merit_of_best(&self) -> Option<ValidationScore> {
        Some(ValidationScore { score: self.best_score?, loss: self.loss_of_best.or(self.best_loss)? })
    }

    /// Epochs that were begun, the current one included.
    pub fn epochs_begun(&self) -> u64 {
        self.epoch + u64::from(self.position > 0)
    }

    /// Steps that moved the parameters.
    pub fn applied_steps(&self) -> u64 {
        self.step - self.skipped
    }

    /// The step of the last validation that was held; of runs of before, which did not note it down, the last one of all.
    pub fn last_validation(&self) -> u64 {
        if self.validated_step == 0 && self.validations > 0 { self.step } else { self.validated_step }
    }

    /// Whether the model as it stands was validated.
    pub fn is_validated(&self) -> bool {
        self.step > 0 && self.validated_step == self.step
    }

    /// Whether the model as it stands is the best of all so far.
    pub fn is_best(&self) -> bool {
        self.best_score.is_some() && self.best_step == self.step
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SeededRng;

    #[test]
    fn runs_of_before_keep_their_validations() {
        let of =
            |validations, validated_step| TrainState { step: 9, validations, validated_step, ..TrainState::default() };
        assert_eq!([of(0, 0), of(2, 0), of(2, 6)].map(|progress| progress.last_validation()), [0, 9, 6]);
    }

    /// A run that goes on compares new scores with these: the last bit can decide which model is kept.
    #[test]
    fn progress_comes_back_to_the_last_bit() {
        let mut stream = SeededRng::new(1, "losses", 0);
        for _ in 0..20_000 {
            let (score, loss) = (Some(100.0 * stream.uniform()), Some(10.0 * stream.uniform()));
            let progress = TrainState { best_score: score, best_loss: loss, ..TrainState::default() };
            let text = serde_json::to_string(&progress).unwrap();
            assert_eq!(serde_json::from_str::<TrainState>(&text).unwrap(), progress);
        }
    }
}
