//! Links as curves between source words above and target words below, each in its script's direction.

use super::super::Item;
use super::drawing::{Drawing, MARGIN, Palette};
use super::text_metrics::{FONT_SIZE, Labels, width};

/// Gap between words.
const GAP: usize = 16;
/// Distance between source and target words.
const SIDE_DISTANCE: usize = 96;
/// Gap between a word and its curves.
const CURVE_GAP: usize = 6;

/// Words of one side in a row.
struct WordRow {
    labels: Labels,
    widths: Vec<usize>,
}

impl WordRow {
    fn new(words: &[String]) -> Self {
        Self { labels: Labels::new(words), widths: words.iter().map(|word| width(word)).collect() }
    }

    fn width(&self) -> usize {
        self.widths.iter().sum::<usize>() + GAP * self.widths.len().saturating_sub(1)
    }

    /// Center of each word in a row centered in the drawing.
    fn centers(&self, drawing_width: usize) -> Vec<usize> {
        let left = (drawing_width - self.width()) / 2;
        let mut used = 0;
        let mut centers = Vec::with_capacity(self.widths.len());
        for width in &self.widths {
            let middle = used + width / 2;
            centers.push(left + if self.labels.right_to_left { self.width() - middle } else { middle });
            used += width + GAP;
        }
        centers
    }

    /// Writes the words; unlinked ones are `muted`.
    fn write(&self, body: &mut String, centers: &[usize], y: usize, muted: &str, is_linked: impl Fn(usize) -> bool) {
        let direction = if self.labels.right_to_left { " direction=\"rtl\"" } else { "" };
        body.push_str(&format!("<g text-anchor=\"middle\"{direction}>\n"));
        for (index, (text, x)) in self.labels.texts.iter().zip(centers).enumerate() {
            let fill = if is_linked(index) { String::new() } else { format!(" fill=\"{muted}\"") };
            body.push_str(&format!("<text x=\"{x}\" y=\"{y}\"{fill}>{text}</text>\n"));
        }
        body.push_str("</g>\n");
    }
}

/// Draws the links of a pair, with widths by link score.
pub fn links(item: &Item, palette: Palette) -> Drawing {
    let (source, target) = (WordRow::new(item.alignment.source()), WordRow::new(item.alignment.target()));
    let width = source.width().max(target.width()) + 2 * MARGIN;
    let [above, below] = [source.centers(width), target.centers(width)];
    let (top, bottom) = (MARGIN + FONT_SIZE, MARGIN + FONT_SIZE + SIDE_DISTANCE);
    let (from, to) = (top + CURVE_GAP, bottom - FONT_SIZE - CURVE_GAP / 2);
    let middle = usize::midpoint(from, to);
    let mut body = format!("<g fill=\"none\" stroke=\"{}\">\n", palette.curve);
    for link in item.links {
        let (start, end) = (above[link.source], below[link.target]);
        let thickness = 0.5 + 2.0 * item.link_scores.score(*link).clamp(0.0, 1.0);
        body.push_str(&format!(
            "<path d=\"M{start} {from}C{start} {middle} {end} {middle} {end} {to}\" stroke-width=\"{thickness:.2}\"/>\n"
        ));
    }
    body.push_str("</g>\n");
    source.write(&mut body, &above, top, palette.muted, |word| item.links.iter().any(|link| link.source == word));
    target.write(&mut body, &below, bottom, palette.muted, |word| item.links.iter().any(|link| link.target == word));
    Drawing { body, width, height: bottom + CURVE_GAP + MARGIN }
}
