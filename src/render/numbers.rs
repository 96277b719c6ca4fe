//! Numbers as people read them.

use std::time::Duration;

/// From here on a number keeps to its magnitude.
const ENORMOUS: f64 = 1e6;

/// A number with so many decimals; one that has run away, as the loss of a training that diverges, with an exponent.
pub fn readable(value: f64, decimals: usize) -> String {
    if value.abs() < ENORMOUS { format!("{value:.decimals$}") } else { format!("{value:.1e}") }
}

/// A time span as minutes and seconds, or with hours.
pub fn clock(span: Duration) -> String {
    let seconds = span.as_secs();
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_number_is_longer_than_a_word() {
        let written = [0.0, 8.6117, 999_999.4, 1e6, 3.4e38, f64::INFINITY].map(|value| readable(value, 2));
        assert_eq!(written, ["0.00", "8.61", "999999.40", "1.0e6", "3.4e38", "inf"]);
        assert_eq!(readable(f64::NAN, 3), "NaN");
    }
}
