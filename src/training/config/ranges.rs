//! Ranges of options. Each check fails with a [`UsageError`](crate::error::UsageError) that names the option.

use std::time::Duration;

use anyhow::Result;

use crate::error::{usage_of, written_number};

/// Checks that a number of minutes, if given, is above 0 and at most a million.
pub(super) fn minutes(option: &str, value: Option<f64>) -> Result<()> {
    let Some(minutes) = value else { return Ok(()) };
    match Duration::try_from_secs_f64(minutes * 60.0) {
        Ok(time) if !time.is_zero() && minutes <= 1e6 => Ok(()),
        _ => usage_of(option, format!("must be above 0 and at most a million, not {}", written_number(minutes))),
    }
}

/// Checks that a number, if given, is at least 1.
pub(super) fn positive<T: PartialEq + Default>(option: &str, value: Option<T>) -> Result<()> {
    match value {
        Some(value) if value == T::default() => usage_of(option, "must be at least 1"),
        _ => Ok(()),
    }
}

/// Checks that a number, if given, lies between two bounds, both included.
pub(super) fn within(option: &str, value: Option<usize>, min: usize, max: usize) -> Result<()> {
    match value.filter(|value| !(min..=max).contains(value)) {
        Some(value) => usage_of(option, format!("must be between {min} and {max}, not {value}")),
        None => Ok(()),
    }
}

/// Checks that a number, if given, is finite and above 0.
pub(super) fn above_zero(option: &str, value: Option<f64>) -> Result<()> {
    match value.filter(|value| !(value.is_finite() && *value > 0.0)) {
        Some(value) => usage_of(option, format!("must be above 0, not {value}")),
        None => Ok(()),
    }
}

/// Checks that a share, if given, is at least 0 and below 1.
pub(super) fn share(option: &str, value: Option<f64>) -> Result<()> {
    match value.filter(|value| !(0.0..1.0).contains(value)) {
        Some(value) => usage_of(option, format!("must be at least 0 and below 1, not {value}")),
        None => Ok(()),
    }
}
