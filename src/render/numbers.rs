//! Human-readable numbers.

use std::time::Duration;

/// Numbers from this magnitude on have an exponent.
const MIN_EXPONENTIAL: f64 = 1e6;

/// Formats a number with fixed decimals, or with an exponent if it is large, such as a diverging loss.
pub fn readable(value: f64, decimals: usize) -> String {
    if value.abs() < MIN_EXPONENTIAL { format!("{value:.decimals$}") } else { format!("{value:.1e}") }
}

/// Formats a duration as `m:ss` or `h:mm:ss`.
pub fn clock(span: Duration) -> String {
    let seconds = span.as_secs();
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_large_numbers_with_an_exponent() {
        let written = [0.0, 8.6117, 999_999.4, 1e6, 3.4e38, f64::INFINITY].map(|value| readable(value, 2));
        assert_eq!(written, ["0.00", "8.61", "999999.40", "1.0e6", "3.4e38", "inf"]);
        assert_eq!(readable(f64::NAN, 3), "NaN");
    }
}
