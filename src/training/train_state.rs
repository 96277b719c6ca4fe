//! Progress of a training run.

use serde::{Deserialize, Serialize};

use super::{EpochData, TrainingSettings, ValidationScore};

/// Plausible maxima of values read from files.
const MAX_STEPS: u64 = 1 << 48;
const MAX_SECONDS: f64 = 1e11;

/// Progress of a training run. With the parameters and the optimizer's state it determines how training continues: each
/// step seeds its own random numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrainState {
    /// Epochs completed.
    pub epoch: u64,
    /// Completed batches of the current epoch.
    pub position: usize,
    /// Optimizer steps, including skipped ones.
    pub step: u64,
    /// Steps skipped because their loss or gradient was not finite.
    #[serde(default)]
    pub skipped: u64,
    /// Number of decays of the learning rate.
    pub decays: u32,
    /// Completed scheduled validations.
    pub validations: u64,
    /// Step of the last validation.
    #[serde(default)]
    pub validated_step: u64,
    /// Consecutive validations without improvement.
    #[serde(alias = "stale", alias = "evals_since_best")]
    pub validations_since_best: u64,
    /// Best validation score; higher is better.
    pub best_score: Option<f64>,
    /// Validation loss of the best model; none in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss_of_best: Option<f64>,
    /// Best score of the scheduled validations, without the additional one at the end of an interrupted run. None in older
    /// files.
    #[serde(default, alias = "best_due_score", skip_serializing_if = "Option::is_none")]
    pub best_scheduled_score: Option<f64>,
    /// Lowest validation loss.
    pub best_loss: Option<f64>,
    /// Step of the best score.
    pub best_step: u64,
    /// Share of the planned epochs and minutes after which training ends, if validations stopped improving early.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shortened_plan: Option<f64>,
    /// Seconds spent preparing, training and validating, over all runs.
    pub seconds: f64,
    /// Seconds spent on auxiliary models before.
    #[serde(default)]
    pub auxiliary_seconds: f64,
}

/// Checks a training time read from a file.
///
/// # Errors
/// It is negative or implausibly long.
pub fn check_seconds(seconds: f64) -> Result<(), String> {
    if (0.0..=MAX_SECONDS).contains(&seconds) {
        Ok(())
    } else {
        Err(format!("its training time of {seconds:e} seconds is out of range"))
    }
}

impl TrainState {
    /// Checks values read from a file.
    ///
    /// # Errors
    /// A description of the inconsistency.
    pub fn check(&self) -> Result<(), String> {
        // Each validation and each epoch takes at least one step.
        let counts =
            [self.epoch, self.position as u64, self.skipped, self.best_step, self.validations, self.validated_step];
        let within = self.step <= MAX_STEPS && counts.iter().all(|&count| count <= self.step);
        if !within || self.validations_since_best > self.validations || u64::from(self.decays) > self.validations {
            return Err("its counts of steps, epochs and validations are inconsistent".to_owned());
        }
        if self.shortened_plan.is_some_and(|share| !(share > 0.0 && share <= 1.0)) {
            return Err("its share of the planned training is out of range".to_owned());
        }
        check_seconds(self.seconds)?;
        if !(0.0..=self.seconds).contains(&self.auxiliary_seconds) {
            return Err(format!("its auxiliary models' {:e} seconds are out of range", self.auxiliary_seconds));
        }
        Ok(())
    }

    /// Checks that these examples have the current batch.
    ///
    /// # Errors
    /// The position is beyond the last batch of the epoch.
    pub fn check_position(&self, examples: &EpochData, settings: &TrainingSettings) -> Result<(), String> {
        if self.position == 0 {
            return Ok(());
        }
        let batches = settings.batches(&examples.epoch(settings.seed, self.epoch), self.epoch).len();
        let (position, epoch) = (self.position, self.epoch + 1);
        if position < batches {
            Ok(())
        } else {
            Err(format!("its position is batch {position} of epoch {epoch}, which has {batches} batches"))
        }
    }

    /// Returns the share of the time for this model that has passed: of a limit in seconds, without its auxiliary models' time.
    pub fn share_of_time(&self, limit: f64) -> f64 {
        let own = limit - self.auxiliary_seconds;
        if own > 0.0 { (self.seconds - self.auxiliary_seconds) / own } else { 1.0 }
    }

    /// Returns the best score of the scheduled validations, against which improvement is measured.
    pub fn best_scheduled(&self) -> Option<f64> {
        self.best_scheduled_score.or(self.best_score).filter(|_| self.validations > 0)
    }

    /// Returns the validation score of the best model. In older files, which lack its loss, the lowest loss stands in.
    pub fn best_validation_score(&self) -> Option<ValidationScore> {
        Some(ValidationScore { score: self.best_score?, loss: self.loss_of_best.or(self.best_loss)? })
    }

    /// Returns the number of epochs begun, including the current one.
    pub fn epochs_begun(&self) -> u64 {
        self.epoch + u64::from(self.position > 0)
    }

    /// Returns the number of steps that updated the parameters.
    pub fn applied_steps(&self) -> u64 {
        self.step - self.skipped
    }

    /// Returns the step of the last validation. In older files, which lack it, the current step stands in.
    pub fn last_validation(&self) -> u64 {
        if self.validated_step == 0 && self.validations > 0 { self.step } else { self.validated_step }
    }

    /// True if the current parameters were validated.
    pub fn is_validated(&self) -> bool {
        self.step > 0 && self.validated_step == self.step
    }

    /// True if the current parameters are the best so far.
    pub fn is_best(&self) -> bool {
        self.best_score.is_some() && self.best_step == self.step
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SeededRng;

    #[test]
    fn older_states_report_their_last_validation() {
        for (validations, validated_step, expected) in [(0, 0, 0), (2, 0, 9), (2, 6, 6)] {
            let state = TrainState { step: 9, validations, validated_step, ..TrainState::default() };
            assert_eq!(state.last_validation(), expected);
        }
    }

    #[test]
    fn states_of_earlier_versions_are_read() {
        let state = TrainState { validations_since_best: 2, best_scheduled_score: Some(1.5), ..TrainState::default() };
        let now = serde_json::to_string(&state).unwrap();
        let earlier = now.replace("validations_since_best", "evals_since_best");
        let earlier = earlier.replace("best_scheduled_score", "best_due_score");
        let oldest = earlier.replace("evals_since_best", "stale");
        for text in [now, earlier, oldest] {
            assert_eq!(serde_json::from_str::<TrainState>(&text).unwrap(), state, "{text}");
        }
    }

    /// The learning rate decays over the time that the auxiliary models have left.
    #[test]
    fn share_of_time_leaves_out_auxiliary_models() {
        // In the last two cases no time is left.
        for (seconds, auxiliary_seconds, share) in
            [(15.0, 0.0, 0.25), (40.0, 40.0, 0.0), (45.0, 40.0, 0.25), (60.0, 40.0, 1.0), (61.0, 60.0, 1.0)]
        {
            let state = TrainState { seconds, auxiliary_seconds, ..TrainState::default() };
            assert_eq!(state.share_of_time(60.0), share, "{seconds} {auxiliary_seconds}");
        }
    }

    /// A resumed run compares new scores with these: the last bit can decide which model is kept.
    #[test]
    fn json_round_trip_is_exact() {
        let mut rng = SeededRng::new(1, "losses", 0);
        for _ in 0..20_000 {
            let (score, loss) = (Some(100.0 * rng.uniform()), Some(10.0 * rng.uniform()));
            let progress = TrainState { best_score: score, best_loss: loss, ..TrainState::default() };
            let text = serde_json::to_string(&progress).unwrap();
            assert_eq!(serde_json::from_str::<TrainState>(&text).unwrap(), progress);
        }
    }
}
