//! Parts of an SVG document.

use std::fmt::Display;
use std::io::{Result, Write};

use super::text_metrics::{FONT_SIZE, FONTS};

/// Margin around a drawing and between it and its labels.
pub const MARGIN: usize = 8;

/// Colors of a drawing.
#[derive(Clone, Copy)]
pub struct Palette {
    /// Color of text.
    pub text: &'static str,
    /// Color of text that matters less.
    pub muted: &'static str,
    /// Color of the curves of links.
    pub curve: &'static str,
    /// True if the background is white, so that white cells need not be drawn.
    pub white_background: bool,
}

impl Palette {
    /// Colors on paper.
    pub const PAPER: Self = Self { text: "black", muted: "#666", curve: "#174073", white_background: true };
    /// Colors on a page, light or dark, that sets the color of its text.
    pub const PAGE: Self = Self { text: "currentColor", muted: "#767676", curve: "#4a7fc1", white_background: false };
}

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
pub fn write_start<T: Display>(out: &mut dyn Write, size: [f64; 2], view_box: [T; 2], palette: Palette) -> Result<()> {
    let Palette { text, .. } = palette;
    let ([width, height], [right, bottom]) = (size.map(|side| (100.0 * side).round() / 100.0), view_box);
    writeln!(
        out,
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {right} {bottom}" font-family="{FONTS}" font-size="{FONT_SIZE}" fill="{text}">"#
    )
}
