//! Attention matrix: source words across, target words down.
//!
//! Shades go from white to dark blue, and hence from light to dark in grayscale print; dots mark links. Columns follow the
//! source's direction; the column of the source's end is set apart after the last word.

use super::super::Item;
use super::drawing::{Drawing, MARGIN, Palette};
use super::text_metrics::{FONT_SIZE, Labels, escape_xml, rotated_size, width};
use crate::alignment::Alignment;

/// Label of the column of the source's end of sentence.
const END: &str = "</s>";
/// Size of a cell.
const CELL: usize = 24;
/// Font size of numbers in cells.
const NUMBER_SIZE: usize = 10;
/// Gap before the column of the source's end.
const END_GAP: usize = 8;
/// RGB of the darkest shade.
const DARK: [f64; 3] = [23.0, 64.0, 115.0];

/// Draws the matrix of a pair, with the weights in percent if `numbers`.
pub fn matrix(item: &Item, numbers: bool, palette: Palette) -> Drawing {
    MatrixLayout::new(item.alignment).drawing(item, numbers, palette)
}

/// Legend of the shades.
pub fn scale() -> Drawing {
    const WEIGHTS: [(f32, &str); 5] = [(0.0, "0"), (0.25, "25"), (0.5, "50"), (0.75, "75"), (1.0, "100 %")];
    const WIDTH: usize = CELL + 20;
    let (height, text) = (CELL / 2, CELL / 2 + FONT_SIZE + 4);
    let mut body = String::new();
    for (place, (weight, name)) in WEIGHTS.into_iter().enumerate() {
        let (x, middle, shade) = (MARGIN + place * WIDTH, MARGIN + place * WIDTH + WIDTH / 2, shade(weight));
        body.push_str(&format!(
            "<rect x=\"{x}\" y=\"0\" width=\"{WIDTH}\" height=\"{height}\" fill=\"{shade}\" stroke=\"#ddd\"/>\n"
        ));
        body.push_str(&format!("<text x=\"{middle}\" y=\"{text}\" text-anchor=\"middle\">{name}</text>\n"));
    }
    Drawing { body, width: MARGIN + WEIGHTS.len() * WIDTH + MARGIN, height: text + MARGIN }
}

/// Layout of one matrix.
struct MatrixLayout {
    source: Labels,
    target: Labels,
    /// Rotates source labels, since they are wider than their columns.
    slanted: bool,
    /// Upper left corner of the matrix.
    left: usize,
    top: usize,
}

impl MatrixLayout {
    fn new(alignment: &Alignment) -> Self {
        let widest_source = widest(alignment.source());
        let slanted = widest_source > CELL;
        Self {
            source: Labels::new(alignment.source()),
            target: Labels::new(alignment.target()),
            slanted,
            left: MARGIN + widest(alignment.target()) + MARGIN,
            top: MARGIN
                + if slanted { rotated_size(widest_source.max(width(END))) + FONT_SIZE } else { FONT_SIZE + MARGIN },
        }
    }

    /// Left edge of a column, the last of which is the source's end.
    fn x(&self, column: usize) -> usize {
        let end = self.source.texts.len();
        let (place, after_gap) =
            if self.source.right_to_left { (end - column, column < end) } else { (column, column == end) };
        self.left + place * CELL + if after_gap { END_GAP } else { 0 }
    }

    fn y(&self, row: usize) -> usize {
        self.top + row * CELL
    }

    fn drawing(&self, item: &Item, numbers: bool, palette: Palette) -> Drawing {
        let (columns, rows) = (self.source.texts.len(), self.target.texts.len());
        let mut body = String::new();
        self.cells(&mut body, item.alignment, palette);
        body.push_str(&self.grid());
        if numbers {
            self.numbers(&mut body, item);
        } else {
            self.dots(&mut body, item);
        }
        self.target_labels(&mut body);
        self.source_labels(&mut body, palette);
        let mut right = self.left + (columns + 1) * CELL + END_GAP;
        for (column, word) in item.alignment.source().iter().map(String::as_str).chain([END]).enumerate() {
            let beyond = if self.slanted { CELL / 2 + rotated_size(width(word)) } else { CELL };
            right = right.max(self.x(column) + beyond);
        }
        Drawing { body, width: right + MARGIN, height: self.y(rows) + MARGIN }
    }

    /// Grid lines as one path.
    fn grid(&self) -> String {
        let (columns, rows) = (self.source.texts.len(), self.target.texts.len());
        if rows == 0 {
            return String::new();
        }
        let mut path = String::new();
        for (first, last) in [(0, columns), (columns, columns + 1)].into_iter().filter(|(first, last)| first < last) {
            let left = self.x(first).min(self.x(last - 1));
            let right = left + (last - first) * CELL;
            for row in 0..=rows {
                path.push_str(&format!("M{left} {}H{right}", self.y(row)));
            }
            for column in 0..=last - first {
                path.push_str(&format!("M{} {}V{}", left + column * CELL, self.top, self.y(rows)));
            }
        }
        format!("<path d=\"{path}\" fill=\"none\" stroke=\"#ddd\"/>\n")
    }

    fn cells(&self, body: &mut String, alignment: &Alignment, palette: Palette) {
        for (row, (weights, end)) in alignment.rows().zip(alignment.end_weights()).enumerate() {
            for (column, &weight) in weights.iter().chain([end]).enumerate() {
                let shade = shade(weight);
                if shade != "#ffffff" || !palette.white_background {
                    let (x, y) = (self.x(column), self.y(row));
                    body.push_str(&format!(
                        "<rect x=\"{x}\" y=\"{y}\" width=\"{CELL}\" height=\"{CELL}\" fill=\"{shade}\"/>\n"
                    ));
                }
            }
        }
    }

    /// Dots of the links, light on dark cells and dark on light ones.
    fn dots(&self, body: &mut String, item: &Item) {
        for link in item.links {
            let weight = item.alignment.row(link.target)[link.source];
            let ink = ink(weight);
            let (x, y) = (self.x(link.source) + CELL / 2, self.y(link.target) + CELL / 2);
            body.push_str(&format!("<circle cx=\"{x}\" cy=\"{y}\" r=\"3\" fill=\"{ink}\"/>\n"));
        }
    }

    /// Weights of at least 0.5 % in percent, in bold where there is a link.
    fn numbers(&self, body: &mut String, item: &Item) {
        body.push_str(&format!("<g font-size=\"{NUMBER_SIZE}\" text-anchor=\"middle\">\n"));
        for (row, (weights, end)) in item.alignment.rows().zip(item.alignment.end_weights()).enumerate() {
            for (column, &weight) in weights.iter().chain([end]).enumerate() {
                let percent = (100.0 * weight).round();
                if percent >= 1.0 {
                    let (x, y) = (self.x(column) + CELL / 2, self.y(row) + CELL / 2 + NUMBER_SIZE / 3);
                    let linked = item.links.iter().any(|link| (link.source, link.target) == (column, row));
                    let bold = if linked { " font-weight=\"bold\"" } else { "" };
                    let ink = ink(weight);
                    body.push_str(&format!("<text x=\"{x}\" y=\"{y}\" fill=\"{ink}\"{bold}>{percent}</text>\n"));
                }
            }
        }
        body.push_str("</g>\n");
    }

    fn target_labels(&self, body: &mut String) {
        if self.target.texts.is_empty() {
            return;
        }
        // `start` is relative to the direction of the text.
        let attributes =
            if self.target.right_to_left { "direction=\"rtl\" text-anchor=\"start\"" } else { "text-anchor=\"end\"" };
        body.push_str(&format!("<g {attributes}>\n"));
        for (row, text) in self.target.texts.iter().enumerate() {
            let (x, y) = (self.left - MARGIN, self.y(row) + CELL / 2 + FONT_SIZE / 3);
            body.push_str(&format!("<text x=\"{x}\" y=\"{y}\">{text}</text>\n"));
        }
        body.push_str("</g>\n");
    }

    fn source_labels(&self, body: &mut String, palette: Palette) {
        let anchor = match (self.slanted, self.source.right_to_left) {
            (false, _) => "middle",
            (true, false) => "start",
            (true, true) => "end",
        };
        let direction = if self.source.right_to_left { " direction=\"rtl\"" } else { "" };
        if !self.source.texts.is_empty() {
            body.push_str(&format!("<g text-anchor=\"{anchor}\"{direction}>\n"));
            for (column, text) in self.source.texts.iter().enumerate() {
                self.source_label(body, column, text);
            }
            body.push_str("</g>\n");
        }
        let anchor = if self.slanted { "start" } else { "middle" };
        body.push_str(&format!("<g text-anchor=\"{anchor}\" fill=\"{}\">\n", palette.muted));
        self.source_label(body, self.source.texts.len(), &escape_xml(END));
        body.push_str("</g>\n");
    }

    fn source_label(&self, body: &mut String, column: usize, text: &str) {
        let (x, y) = (self.x(column) + CELL / 2, self.top - MARGIN);
        let place = if self.slanted {
            format!("transform=\"translate({} {y}) rotate(-45)\"", x + FONT_SIZE / 3)
        } else {
            format!("x=\"{x}\" y=\"{y}\"")
        };
        body.push_str(&format!("<text {place}>{text}</text>\n"));
    }
}

/// Width of the widest word.
fn widest(words: &[String]) -> usize {
    words.iter().map(|word| width(word)).max().unwrap_or(0)
}

/// Color of marks on a cell.
fn ink(weight: f32) -> &'static str {
    if weight > 0.5 { "white" } else { "black" }
}

/// Color of a weight; white for 0 and NaN.
fn shade(weight: f32) -> String {
    let weight = f64::from(if weight > 0.0 { weight.min(1.0) } else { 0.0 });
    let [red, green, blue] = DARK.map(|dark| (255.0 + weight * (dark - 255.0)).round() as u8);
    format!("#{red:02x}{green:02x}{blue:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_any_weight_to_a_color() {
        assert_eq!([0.0, 0.5, 1.0, 2.0, f32::NAN].map(shade), ["#ffffff", "#8ba0b9", "#174073", "#174073", "#ffffff"]);
    }
}
