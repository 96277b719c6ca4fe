//! Content of a line chart.

use super::scale::Scale;

/// Largest value that is drawn.
const MAX_VALUE: f64 = 1e300;

/// Line chart.
pub struct Figure {
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// Lines in the order of the legend.
    pub series: Vec<Series>,
    /// Counts below the horizontal axis.
    pub counts: Option<BracketCounts>,
    /// Marked value of the horizontal axis.
    pub mark: Option<Mark>,
}

/// Axis of a figure.
pub struct Axis {
    /// Name with its unit.
    pub label: String,
    /// Kind of its scale.
    pub scale: Scale,
}

/// Vertical line at a value of the horizontal axis.
pub struct Mark {
    /// Value of the horizontal axis.
    pub x: f64,
    /// Name in the legend.
    pub name: String,
}

/// Line of a figure.
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// `[x, y]` in drawing order. Points with negative, NaN or values above 1e300 break the line.
    pub points: Vec<[f64; 2]>,
}

/// Counts by interval of the horizontal axis.
pub struct BracketCounts {
    /// Label of the counts.
    pub label: String,
    /// Intervals from left to right.
    pub brackets: Vec<Bracket>,
}

/// Interval of whole numbers on the horizontal axis, both ends included.
pub struct Bracket {
    /// First number.
    pub from: usize,
    /// Last number.
    pub to: usize,
    /// Count of the interval.
    pub count: usize,
}

impl Bracket {
    /// Ends of the bracket; each number is the center of an interval of length 1.
    pub fn ends(&self) -> [f64; 2] {
        [self.from as f64 - 0.5, self.to as f64 + 0.5]
    }
}

impl Figure {
    /// Drawable points of all lines.
    pub fn points(&self) -> impl Iterator<Item = [f64; 2]> {
        self.series.iter().flat_map(|series| &series.points).copied().filter(is_drawable)
    }

    /// Names in the legend.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.series.iter().map(|series| &*series.name).chain(self.mark.as_ref().map(|mark| &*mark.name))
    }

    /// Brackets of the counts.
    pub fn brackets(&self) -> &[Bracket] {
        self.counts.as_ref().map_or(&[], |counts| &counts.brackets)
    }
}

/// Returns true if a point can be drawn.
pub fn is_drawable(point: &[f64; 2]) -> bool {
    point.iter().all(|value| (0.0..=MAX_VALUE).contains(value))
}
