//! The numbers that options give, each within its bounds.

use std::time::Duration;

use anyhow::{Result, bail};

use super::super::super::usage::UsageError;
use crate::cli::TrainArgs;
use crate::training::Keep;

/// Minutes that a kill may cost at most, where nothing is said.
pub const SAVE_EVERY: f64 = 5.0;

/// Passes over the pairs after which training ends, where an option says.
///
/// # Errors
/// It is 0.
pub fn max_epochs(args: &TrainArgs) -> Result<Option<u64>> {
    args.max_epochs.map(|epochs| positive("--max-epochs", epochs)).transpose()
}

/// Minutes after which training ends, where an option says.
///
/// # Errors
/// Nothing can be done in that time, or it is too long to be meant.
pub fn max_minutes(args: &TrainArgs) -> Result<Option<f64>> {
    args.max_minutes.map(|time| minutes("--max-minutes", time)).transpose()
}

/// Minutes that a kill may cost at most.
///
/// # Errors
/// Nothing can be done in that time, or it is too long to be meant.
pub fn save_every(args: &TrainArgs) -> Result<f64> {
    minutes("--save-every", args.save_every.unwrap_or(SAVE_EVERY))
}

fn minutes(option: &str, minutes: f64) -> Result<f64> {
    match Duration::try_from_secs_f64(minutes * 60.0) {
        Ok(time) if !time.is_zero() && minutes <= 1e6 => Ok(minutes),
        _ => bail!(UsageError(format!("{option} must be above 0 and at most a million, not {minutes:e}"))),
    }
}

/// Validations in a row without improvement after which training ends, where an option says.
///
/// # Errors
/// It is 0.
pub fn patience(args: &TrainArgs) -> Result<Option<u64>> {
    args.patience.map(|validations| positive("--patience", validations)).transpose()
}

/// Which validated models are kept beside the best one, where an option says.
///
/// # Errors
/// There are 0 of them.
pub fn keep(args: &TrainArgs) -> Result<Option<Keep>> {
    let best = args.keep.map(|most| positive("--keep", most).map(Keep::Best));
    let last = args.keep_last.map(|most| positive("--keep-last", most).map(Keep::Last));
    best.or(last).transpose()
}

/// A number that is not 0.
pub fn positive<T: PartialEq + Default>(option: &str, value: T) -> Result<T> {
    if value == T::default() {
        bail!(UsageError(format!("{option} must be at least 1")));
    }
    Ok(value)
}

pub fn within(option: &str, value: usize, least: usize, most: usize) -> Result<usize> {
    if !(least..=most).contains(&value) {
        bail!(UsageError(format!("{option} must be between {least} and {most}, not {value}")));
    }
    Ok(value)
}

pub fn above_zero(option: &str, value: f64) -> Result<f64> {
    if !(value.is_finite() && value > 0.0) {
        bail!(UsageError(format!("{option} must be above 0, not {value}")));
    }
    Ok(value)
}

pub fn share(option: &str, value: f64) -> Result<f64> {
    if !(0.0..1.0).contains(&value) {
        bail!(UsageError(format!("{option} must be at least 0 and below 1, not {value}")));
    }
    Ok(value)
}
