//! What a figure shows.

use super::super::svg::width;

/// The largest value that an axis can still end beyond.
const LARGEST: f64 = 1e300;

/// Lines over a common axis.
pub struct Figure {
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The lines, as the legend has them.
    pub series: Vec<Series>,
    /// What stands below the horizontal axis, if anything.
    pub counts: Option<Counts>,
}

/// What an axis shows.
pub struct Axis {
    /// Its name, with the unit.
    pub label: String,
    /// Whether only whole numbers make sense on it.
    pub whole: bool,
}

/// A line.
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// `[x, y]` in the order in which they are joined. Where one is negative, no number or beyond 1e300 the line is broken.
    pub points: Vec<[f64; 2]>,
}

/// How many things lie on each stretch of the horizontal axis.
pub struct Counts {
    /// What is counted.
    pub label: String,
    /// The stretches, from left to right.
    pub spans: Vec<Span>,
}

/// A stretch of the horizontal axis: whole numbers, first and last included.
pub struct Span {
    /// Its first number.
    pub from: usize,
    /// Its last number.
    pub to: usize,
    /// How many things lie there.
    pub count: usize,
}

impl Span {
    /// Where its bracket begins and ends: each number stands in the middle of its own place.
    pub fn ends(&self) -> [f64; 2] {
        [self.from as f64 - 0.5, self.to as f64 + 0.5]
    }
}

impl Figure {
    /// Every point that has a place.
    pub fn points(&self) -> impl Iterator<Item = [f64; 2]> {
        self.series.iter().flat_map(|series| &series.points).copied().filter(shown)
    }

    /// The stretches that are counted.
    pub fn spans(&self) -> &[Span] {
        self.counts.as_ref().map_or(&[], |counts| &counts.spans)
    }
}

/// Whether a point has a place in the figure.
pub fn shown(point: &[f64; 2]) -> bool {
    point.iter().all(|value| (0.0..=LARGEST).contains(value))
}

/// About how wide a text is.
pub fn text_width(text: &str) -> f64 {
    width(text) as f64
}
