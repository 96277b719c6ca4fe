//! Axis scales.

use super::super::svg::width;

/// Maximum number of steps.
const MAX_STEPS: f64 = 6.0;
/// Axis ends whose labels are decimal; others have an exponent.
const READABLE: std::ops::Range<f64> = 1e-5..1e7;
/// Highest values up to this count as zero: they cannot be divided into steps.
const MIN_HIGHEST: f64 = 1e-300;
/// Range of a logarithmic axis below its highest value.
const MAX_RATIO: f64 = 1e6;

/// Kind of an axis' scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scale {
    /// From 0 to a round number.
    Linear,
    /// From 0 to a round number, of which only whole ones are labeled.
    Whole,
    /// From 0 to this number, of which only whole ones are labeled.
    WholeTo(f64),
    /// Logarithmic, between round numbers around the values.
    Logarithmic,
}

/// Ends of an axis and its ticks, in the order of their values.
pub struct AxisScale {
    start: f64,
    end: f64,
    ticks: Vec<f64>,
    is_logarithmic: bool,
}

impl AxisScale {
    /// Creates a scale of values between `lowest`, which matters to a logarithmic one only, and `highest`.
    pub fn new(scale: Scale, [lowest, highest]: [f64; 2]) -> Self {
        let highest = if highest > MIN_HIGHEST { highest } else { 1.0 };
        match scale {
            Scale::Linear => Self::linear(highest, 0.0),
            Scale::Whole => Self::linear(highest, 1.0),
            Scale::WholeTo(end) => {
                let Self { mut ticks, .. } = Self::linear(end.max(1.0), 1.0);
                ticks.retain(|&tick| tick <= end);
                Self { start: 0.0, end: end.max(1.0), ticks, is_logarithmic: false }
            }
            Scale::Logarithmic => Self::logarithmic(lowest.max(highest / MAX_RATIO).min(highest), highest),
        }
    }

    /// Returns the scale from 0 to a multiple of a round step of at least `min_step`.
    fn linear(highest: f64, min_step: f64) -> Self {
        let fitting = highest / MAX_STEPS;
        let magnitude = 10f64.powf(fitting.log10().floor());
        let round =
            [1.0, 2.0, 5.0].map(|digit| digit * magnitude).into_iter().find(|step| *step >= fitting * (1.0 - 1e-9));
        let step = round.unwrap_or(10.0 * magnitude).max(min_step);
        let steps = (highest / step - 1e-9).ceil().max(1.0) as usize;
        let ticks: Vec<f64> = (0..=steps).map(|tick| step * tick as f64).collect();
        Self { start: 0.0, end: step * steps as f64, ticks, is_logarithmic: false }
    }

    /// Returns the logarithmic scale between numbers that begin with 1, 2 or 5; over three decades, with 1.
    fn logarithmic(lowest: f64, highest: f64) -> Self {
        let digits: &[f64] = if highest / lowest > 1e3 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let decades = lowest.log10().floor() as i32..=highest.log10().ceil() as i32;
        let round: Vec<f64> =
            decades.flat_map(|decade| digits.iter().map(move |digit| digit * 10f64.powi(decade))).collect();
        let first = round.iter().rposition(|&value| value <= lowest * (1.0 + 1e-9)).unwrap_or(0);
        let last = round.iter().position(|&value| value >= highest * (1.0 - 1e-9)).unwrap_or(round.len() - 1);
        let ticks = round[first..=last.max(first + 1).min(round.len() - 1)].to_vec();
        Self { start: ticks[0], end: ticks[ticks.len() - 1], ticks, is_logarithmic: true }
    }

    /// Last value.
    pub fn end(&self) -> f64 {
        self.end
    }

    /// Position of a value as a share of the axis.
    pub fn share(&self, value: f64) -> f64 {
        if self.is_logarithmic {
            return (value / self.start).ln() / (self.end / self.start).ln();
        }
        value / self.end
    }

    /// True for values on the axis.
    pub fn contains(&self, value: f64) -> bool {
        value >= self.start
    }

    /// Ticks with their labels, which have as many decimals as they need.
    pub fn ticks(&self) -> impl Iterator<Item = (f64, String)> {
        let is_readable = READABLE.contains(&self.end);
        self.ticks.iter().map(move |&value| {
            let precise = if self.is_logarithmic { value } else { self.ticks[self.ticks.len().min(2) - 1] };
            let decimals = (-(precise.log10() + 1e-9).floor()).clamp(0.0, 9.0) as usize;
            (value, if is_readable { format!("{value:.decimals$}") } else { format!("{value:.1e}") })
        })
    }

    /// Width of the widest label.
    pub fn widest(&self) -> f64 {
        self.ticks().map(|(_, text)| text_width(&text)).fold(0.0, f64::max)
    }
}

/// Approximate width of a text.
pub fn text_width(text: &str) -> f64 {
    width(text) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: Scale, range: [f64; 2]) -> Vec<String> {
        AxisScale::new(scale, range).ticks().map(|(_, text)| text).collect()
    }

    fn scale(highest: f64, whole: bool) -> Vec<String> {
        labels(if whole { Scale::Whole } else { Scale::Linear }, [0.0, highest])
    }

    #[test]
    fn logarithmic_scales_end_at_round_numbers() {
        assert_eq!(labels(Scale::Logarithmic, [3.2, 480.0]), ["2", "5", "10", "20", "50", "100", "200", "500"]);
        assert_eq!(labels(Scale::Logarithmic, [0.002, 3.0]), ["0.001", "0.01", "0.1", "1", "10"]);
        assert_eq!(labels(Scale::Logarithmic, [1.0, 1.0]), ["1", "2"]);
        assert_eq!(labels(Scale::Logarithmic, [0.0, 10.0])[0], "0.00001");
        let scale = AxisScale::new(Scale::Logarithmic, [1.0, 100.0]);
        assert!((scale.share(10.0) - 0.5).abs() < 1e-12 && !scale.contains(0.5));
    }

    #[test]
    fn scale_to_a_number_has_no_tick_beyond() {
        assert_eq!(labels(Scale::WholeTo(2300.0), [0.0, 2250.0]), ["0", "500", "1000", "1500", "2000"]);
        assert_eq!(AxisScale::new(Scale::WholeTo(2300.0), [0.0, 2250.0]).end(), 2300.0);
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
