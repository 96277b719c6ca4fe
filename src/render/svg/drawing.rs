//! Part of a figure.

/// Margin around a drawing and between it and its labels.
pub const MARGIN: usize = 8;

/// SVG elements and their size.
pub struct Drawing {
    /// SVG elements.
    pub body: String,
    /// Width with margins.
    pub width: usize,
    /// Height with margins.
    pub height: usize,
}
