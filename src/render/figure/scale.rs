//! Axis scales.

use super::line_chart::text_width;

/// Maximum number of steps.
const MAX_STEPS: f64 = 6.0;
/// Axis ends whose labels are decimal; others have an exponent.
const READABLE: std::ops::Range<f64> = 1e-5..1e7;
/// Highest values up to this count as zero: they cannot be divided into steps.
const MIN_HIGHEST: f64 = 1e-300;

/// Ticks of an axis: multiples of a round step from 0 to the end.
pub struct AxisScale {
    step: f64,
    steps: usize,
}

impl AxisScale {
    /// Creates a scale up to a multiple of the step that is at least `highest`.
    pub fn up_to(highest: f64, whole: bool) -> Self {
        let highest = if highest > MIN_HIGHEST { highest } else { 1.0 };
        let min_step = highest / MAX_STEPS;
        let magnitude = 10f64.powf(min_step.log10().floor());
        let round =
            [1.0, 2.0, 5.0].map(|digit| digit * magnitude).into_iter().find(|step| *step >= min_step * (1.0 - 1e-9));
        let step = round.unwrap_or(10.0 * magnitude).max(if whole { 1.0 } else { 0.0 });
        Self { step, steps: (highest / step - 1e-9).ceil().max(1.0) as usize }
    }

    /// Last tick.
    pub fn end(&self) -> f64 {
        self.step * self.steps as f64
    }

    /// Position of a value as a share of the axis.
    pub fn share(&self, value: f64) -> f64 {
        value / self.end()
    }

    /// Ticks with their labels, which have as many decimals as the step needs.
    pub fn ticks(&self) -> impl Iterator<Item = (f64, String)> {
        let decimals = (-self.step.log10().floor()).max(0.0) as usize;
        (0..=self.steps).map(move |tick| {
            let value = self.step * tick as f64;
            let is_readable = READABLE.contains(&self.end());
            (value, if is_readable { format!("{value:.decimals$}") } else { format!("{value:.1e}") })
        })
    }

    /// Width of the widest label.
    pub fn widest(&self) -> f64 {
        self.ticks().map(|(_, text)| text_width(&text)).fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(highest: f64, whole: bool) -> Vec<String> {
        AxisScale::up_to(highest, whole).ticks().map(|(_, text)| text).collect()
    }

    #[test]
    fn chooses_round_steps_from_0() {
        assert_eq!(scale(97.2, false), ["0", "20", "40", "60", "80", "100"]);
        assert_eq!(scale(100.0, false), ["0", "20", "40", "60", "80", "100"]);
        assert_eq!(scale(52.8, false), ["0", "10", "20", "30", "40", "50", "60"]);
        assert_eq!(scale(0.06, false), ["0.00", "0.01", "0.02", "0.03", "0.04", "0.05", "0.06"]);
        assert_eq!(scale(2.0, false), ["0.0", "0.5", "1.0", "1.5", "2.0"]);
        assert_eq!(scale(2.0, true), ["0", "1", "2"]);
        assert_eq!(scale(30.0, true), ["0", "5", "10", "15", "20", "25", "30"]);
        assert_eq!(scale(123_456.0, true), ["0", "50000", "100000", "150000"]);
        assert_eq!(scale(3e30, false), ["0.0e0", "5.0e29", "1.0e30", "1.5e30", "2.0e30", "2.5e30", "3.0e30"]);
        assert_eq!(scale(3e-9, false), ["0.0e0", "5.0e-10", "1.0e-9", "1.5e-9", "2.0e-9", "2.5e-9", "3.0e-9"]);
        assert_eq!(scale(0.0, false).last().map(String::as_str), Some("1.0"));
    }
}
