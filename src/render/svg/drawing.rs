//! A part of a figure.

/// Around a drawing, and between it and its labels.
pub const MARGIN: usize = 8;

/// What has been drawn, with the room that it takes from its upper left corner on.
pub struct Drawing {
    /// SVG elements.
    pub body: String,
    /// Its margin included.
    pub width: usize,
    /// Its margin included.
    pub height: usize,
}
