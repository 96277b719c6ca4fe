//! Links as curves between the words of both sides: source words above, target words below, each as its script runs.

use super::super::Item;
use super::drawing::{Drawing, MARGIN};
use super::lettering::{FONT_SIZE, Labels, width};

/// Between two words.
const GAP: usize = 16;
/// From the source words to the target words.
const BETWEEN: usize = 96;
/// Between a word and the curves that end at it.
const CLEAR: usize = 6;
/// The curves' colour.
const INK: &str = "#174073";

/// The words of one side in a row.
struct Row {
    labels: Labels,
    widths: Vec<usize>,
}

impl Row {
    fn of(words: &[String]) -> Self {
        Self { labels: Labels::of(words), widths: words.iter().map(|word| width(word)).collect() }
    }

    fn width(&self) -> usize {
        self.widths.iter().sum::<usize>() + GAP * self.widths.len().saturating_sub(1)
    }

    /// The middle of each word, where the row lies in the middle of a drawing.
    fn middles(&self, drawing_width: usize) -> Vec<usize> {
        let left = (drawing_width - self.width()) / 2;
        let mut used = 0;
        let mut middles = Vec::with_capacity(self.widths.len());
        for width in &self.widths {
            let middle = used + width / 2;
            middles.push(left + if self.labels.right_to_left { self.width() - middle } else { middle });
            used += width + GAP;
        }
        middles
    }

    /// Writes the words; those that nothing links are grey.
    fn write(&self, body: &mut String, middles: &[usize], y: usize, is_linked: impl Fn(usize) -> bool) {
        let direction = if self.labels.right_to_left { " direction=\"rtl\"" } else { "" };
        body.push_str(&format!("<g text-anchor=\"middle\"{direction}>\n"));
        for (index, (text, x)) in self.labels.texts.iter().zip(middles).enumerate() {
            let grey = if is_linked(index) { "" } else { " fill=\"#666\"" };
            body.push_str(&format!("<text x=\"{x}\" y=\"{y}\"{grey}>{text}</text>\n"));
        }
        body.push_str("</g>\n");
    }
}

/// Draws a pair's links, the thicker the more they are believed in.
pub fn links(item: &Item) -> Drawing {
    let (source, target) = (Row::of(item.alignment.source()), Row::of(item.alignment.target()));
    let width = source.width().max(target.width()) + 2 * MARGIN;
    let [above, below] = [source.middles(width), target.middles(width)];
    let (top, bottom) = (MARGIN + FONT_SIZE, MARGIN + FONT_SIZE + BETWEEN);
    let (from, to) = (top + CLEAR, bottom - FONT_SIZE - CLEAR / 2);
    let middle = usize::midpoint(from, to);
    let mut body = format!("<g fill=\"none\" stroke=\"{INK}\">\n");
    for link in item.links {
        let (start, end) = (above[link.source], below[link.target]);
        let thickness = 0.5 + 2.0 * item.beliefs.score(*link).clamp(0.0, 1.0);
        body.push_str(&format!(
            "<path d=\"M{start} {from}C{start} {middle} {end} {middle} {end} {to}\" stroke-width=\"{thickness:.2}\"/>\n"
        ));
    }
    body.push_str("</g>\n");
    source.write(&mut body, &above, top, |word| item.links.iter().any(|link| link.source == word));
    target.write(&mut body, &below, bottom, |word| item.links.iter().any(|link| link.target == word));
    Drawing { body, width, height: bottom + CLEAR + MARGIN }
}
