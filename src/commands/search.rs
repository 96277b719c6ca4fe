//! From the options of the search to its settings.

use anyhow::{Result, bail};

use super::usage::UsageError;
use crate::cli::SearchArgs;
use crate::search::BeamSettings;

/// Refuses a length penalty that is none.
pub fn check_length_penalty(penalty: f64) -> Result<()> {
    if !(penalty.is_finite() && penalty >= 0.0) {
        bail!(UsageError(format!("--length-penalty must be at least 0, not {penalty}")));
    }
    Ok(())
}

/// Search settings by the options.
pub fn beam_settings(args: &SearchArgs) -> Result<BeamSettings> {
    check_length_penalty(args.length_penalty)?;
    if !(args.coverage_penalty.is_finite() && args.coverage_penalty >= 0.0) {
        bail!(UsageError(format!("--coverage-penalty must be at least 0, not {}", args.coverage_penalty)));
    }
    if !(args.length_factor >= 0.0 && args.length_factor <= 100.0) {
        bail!(UsageError(format!("--length-factor must be between 0 and 100, not {}", args.length_factor)));
    }
    Ok(BeamSettings {
        beam: usize::from(args.beam),
        length_penalty: args.length_penalty,
        length_factor: args.length_factor,
        coverage_penalty: args.coverage_penalty,
        best: 1,
        ..BeamSettings::default()
    })
}
