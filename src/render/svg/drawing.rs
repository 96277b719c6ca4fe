//! Parts of an SVG document.

use std::fmt::Display;
use std::io::{Result, Write};

use super::text_metrics::{FONT_SIZE, FONTS};

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

/// Writes the start tag of a document of this size, `[width, height]`, that shows the coordinates of `view_box`.
pub fn write_start<T: Display>(out: &mut dyn Write, size: [f64; 2], view_box: [T; 2]) -> Result<()> {
    let ([width, height], [right, bottom]) = (size.map(|side| (100.0 * side).round() / 100.0), view_box);
    writeln!(
        out,
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {right} {bottom}" font-family="{FONTS}" font-size="{FONT_SIZE}" fill="black">"#
    )
}
