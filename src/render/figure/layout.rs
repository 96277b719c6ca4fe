//! Layout and drawing of a line chart.

use super::super::svg::{FONT_SIZE, escape_xml};
use super::line_chart::{Figure, is_drawable};
use super::scale::AxisScale;
use super::scale::text_width;

/// Size of the plot.
const PLOT: [f64; 2] = [480.0, 280.0];
/// Margin around the figure and between its parts.
const MARGIN: f64 = 8.0;
/// Font size.
const LETTER_HEIGHT: f64 = FONT_SIZE as f64;
/// Line height of text.
const LINE_HEIGHT: f64 = 20.0;
/// Length of a line sample in the legend.
const SAMPLE: f64 = 36.0;
/// Gap between legend entries.
const GAP: f64 = 24.0;
/// Maximum end of the axis relative to the last point. A bracket beyond is left open, so that a few outliers do not
/// compress the plot.
const MAX_EXTENT: f64 = 1.25;
/// Maximum overhang of brackets beyond the axis, relative to its length: half a word adds no tick.
const OVERHANG: f64 = 0.035;

/// Maximum number of markers on a line.
const MAX_MARKERS: usize = 25;

/// Blue, vermilion, green, purple, orange, light blue.
const COLORS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];
/// Dash patterns, one more than colors and markers: only the 43rd line looks like the first.
const DASHES: [&str; 7] = ["", "7 4", "2 3", "9 3 2 3", "14 4", "9 3 2 3 2 3", "2 7"];
/// Marker outlines relative to a point: disc, square, triangle, diamond, inverted triangle, cross.
const MARKERS: [&str; 6] = [
    "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
    "m-3.5-3.5h7v7h-7z",
    "m0-4.5l4.5 8h-9z",
    "m0-5l5 5l-5 5l-5-5z",
    "m0 4.5l4.5-8h-9z",
    "m-4-4l8 8m0-8l-8 8",
];

/// Positions of a figure's parts.
pub struct FigureLayout<'a> {
    figure: &'a Figure,
    x: AxisScale,
    y: AxisScale,
    legend: Vec<LegendEntry>,
    /// Left and upper edge of the plot.
    pub left: f64,
    top: f64,
    /// Total width.
    pub width: f64,
}

/// Position of a line's entry in the legend.
#[derive(Debug, PartialEq)]
struct LegendEntry {
    /// Left edge.
    left: f64,
    row: usize,
}

/// Count of a bracket.
struct CountLabel {
    /// Horizontal center.
    middle: f64,
    text: String,
}

impl CountLabel {
    fn half_width(&self) -> f64 {
        text_width(&self.text) / 2.0
    }
}

impl<'a> FigureLayout<'a> {
    /// Lays out a figure whose plot starts at `min_left` or further right, so that stacked plots can be aligned.
    pub fn new(figure: &'a Figure, min_left: f64) -> Self {
        let [rightmost, highest] =
            figure.points().fold([0.0f64; 2], |most, point| [most[0].max(point[0]), most[1].max(point[1])]);
        let lowest = figure.points().map(|point| point[1]).filter(|&y| y > 0.0).fold(highest, f64::min);
        let last = figure.brackets().last().map_or(0.0, |bracket| bracket.ends()[1]);
        let reach = last.min(MAX_EXTENT * rightmost) / (1.0 + OVERHANG);
        let x = AxisScale::new(figure.x.scale, [0.0, rightmost.max(reach)]);
        let y = AxisScale::new(figure.y.scale, [lowest, highest]);
        let label_width = figure.counts.as_ref().map_or(0.0, |counts| text_width(&counts.label));
        let left = min_left.max(MARGIN + (LINE_HEIGHT + y.widest()).max(label_width) + MARGIN);
        let legend = legend(figure, left);
        let rows = legend.last().map_or(0, |entry| entry.row + 1);
        let ends = legend.iter().zip(figure.names()).map(|(entry, name)| entry.left + entry_width(name));
        let beyond = (x.widest() / 2.0).max(OVERHANG * PLOT[0]);
        let width = ends.fold(left + PLOT[0] + beyond, f64::max) + MARGIN;
        Self { figure, legend, left, top: MARGIN + rows as f64 * LINE_HEIGHT + MARGIN, width, x, y }
    }

    fn bottom(&self) -> f64 {
        self.top + PLOT[1]
    }

    /// Position of a data point.
    fn position(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        [self.left + PLOT[0] * self.x.share(x), self.bottom() - PLOT[1] * self.y.share(y)]
    }

    /// Draws the figure as SVG elements; returns them with their height.
    pub fn body(&self) -> (String, f64) {
        let mut body =
            format!("<title>{} by {}</title>\n", escape_xml(&self.figure.y.label), escape_xml(&self.figure.x.label));
        self.grid(&mut body);
        self.labels(&mut body);
        let height = self.counts(&mut body) + MARGIN;
        self.mark(&mut body);
        for index in 0..self.figure.series.len() {
            self.line(&mut body, index);
        }
        (body, height.ceil())
    }

    /// Draws grid lines, both axes and the ticks of the horizontal one.
    fn grid(&self, body: &mut String) {
        let (left, right) = (self.left, self.left + PLOT[0]);
        let across = self
            .y
            .ticks()
            .skip(1)
            .map(|(value, _)| format!("M{left} {}H{right}", short(self.position([0.0, value])[1])));
        body.push_str(&format!("<path d=\"{}\" fill=\"none\" stroke=\"#ddd\"/>\n", across.collect::<String>()));
        let marks =
            self.x.ticks().map(|(value, _)| format!("M{} {}v5", short(self.position([value, 0.0])[0]), self.bottom()));
        let axes = format!("M{left} {}V{}H{right}", self.top, self.bottom());
        body.push_str(&format!("<path d=\"{axes}{}\" fill=\"none\" stroke=\"#666\"/>\n", marks.collect::<String>()));
    }

    /// Draws tick labels and names of the axes.
    fn labels(&self, body: &mut String) {
        body.push_str("<g text-anchor=\"end\">\n");
        for (value, text) in self.y.ticks() {
            let y = self.position([0.0, value])[1] + LETTER_HEIGHT / 3.0;
            body.push_str(&format!("<text x=\"{}\" y=\"{}\">{text}</text>\n", self.left - MARGIN, short(y)));
        }
        body.push_str("</g>\n<g text-anchor=\"middle\">\n");
        for (value, text) in self.x.ticks() {
            let x = short(self.position([value, 0.0])[0]);
            body.push_str(&format!("<text x=\"{x}\" y=\"{}\">{text}</text>\n", self.bottom() + LINE_HEIGHT));
        }
        let (middle, name) = (self.left + PLOT[0] / 2.0, self.bottom() + 2.0 * LINE_HEIGHT);
        body.push_str(&format!("<text x=\"{middle}\" y=\"{name}\">{}</text>\n", escape_xml(&self.figure.x.label)));
        let (x, y) = (MARGIN + LETTER_HEIGHT, self.top + PLOT[1] / 2.0);
        let label = escape_xml(&self.figure.y.label);
        body.push_str(&format!("<text transform=\"translate({x} {y}) rotate(-90)\">{label}</text>\n</g>\n"));
    }

    /// Draws brackets with their counts; returns their lower edge.
    fn counts(&self, body: &mut String) -> f64 {
        let top = self.bottom() + 2.0 * LINE_HEIGHT + MARGIN;
        let Some(counts) = &self.figure.counts else { return top };
        let end = self.x.end() * (1.0 + OVERHANG);
        let mut path = String::new();
        let mut labels = Vec::with_capacity(counts.brackets.len());
        for bracket in counts.brackets.iter().filter(|bracket| bracket.ends()[0] < end) {
            let open = bracket.ends()[1] > end;
            let [from, to] = bracket.ends().map(|x| self.position([x.clamp(0.0, end), 0.0])[0]);
            let [from, to] = [from + 2.0, if open { to } else { to - 2.0 }];
            path.push_str(&format!("M{} {top}v4H{}{}", short(from), short(to), if open { "" } else { "v-4" }));
            labels.push(CountLabel { middle: f64::midpoint(from, to), text: bracket.count.to_string() });
        }
        body.push_str(&format!("<path d=\"{path}\" fill=\"none\" stroke=\"#666\"/>\n"));
        let (text, left, label) = (top + LINE_HEIGHT, self.left - MARGIN, escape_xml(&counts.label));
        body.push_str(&format!("<text x=\"{left}\" y=\"{text}\" text-anchor=\"end\">{label}</text>\n"));
        let rows = rows(&labels);
        body.push_str("<g text-anchor=\"middle\">\n");
        for (index, CountLabel { middle, text: count }) in labels.iter().enumerate() {
            let y = text + (index % rows) as f64 * LINE_HEIGHT;
            body.push_str(&format!("<text x=\"{}\" y=\"{y}\">{count}</text>\n", short(*middle)));
        }
        body.push_str("</g>\n");
        text + (rows - 1) as f64 * LINE_HEIGHT
    }

    /// Draws the marked value with its legend entry.
    fn mark(&self, body: &mut String) {
        let (Some(mark), Some(LegendEntry { left, row })) = (&self.figure.mark, self.legend.last()) else { return };
        let x = short(self.position([mark.x, 0.0])[0]);
        let (middle, y) = (short(left + SAMPLE / 2.0), MARGIN + *row as f64 * LINE_HEIGHT);
        let path = format!("M{middle} {y}v{LINE_HEIGHT}M{x} {}V{}", self.top, self.bottom());
        body.push_str(&format!("<path d=\"{path}\" fill=\"none\" stroke=\"#666\" stroke-dasharray=\"4 3\"/>\n"));
        let [text_x, text_y] = [left + SAMPLE + MARGIN, y + LINE_HEIGHT / 2.0 + LETTER_HEIGHT / 3.0].map(short);
        body.push_str(&format!("<text x=\"{text_x}\" y=\"{text_y}\">{}</text>\n", escape_xml(&mark.name)));
    }

    /// Draws one line with its markers and its legend entry.
    fn line(&self, body: &mut String, index: usize) {
        let series = &self.figure.series[index];
        let LegendEntry { left, row } = self.legend[index];
        let (color, marker) = (COLORS[index % COLORS.len()], MARKERS[index % MARKERS.len()]);
        let dashes = match DASHES[index % DASHES.len()] {
            "" => String::new(),
            lengths => format!(" stroke-dasharray=\"{lengths}\""),
        };
        let y = MARGIN + (row as f64 + 0.5) * LINE_HEIGHT;
        let mut path = format!("M{} {}H{}", short(left), y, short(left + SAMPLE));
        let mut markers = format!("M{} {y}{marker}", short(left + SAMPLE / 2.0));
        let mut next = 'M';
        let between_markers = series.points.len().div_ceil(MAX_MARKERS).max(1);
        for (number, point) in series.points.iter().enumerate() {
            if !is_drawable(point) || !self.y.contains(point[1]) {
                next = 'M';
                continue;
            }
            let [x, y] = self.position(*point).map(short);
            path.push_str(&format!("{next}{x} {y}"));
            if number.is_multiple_of(between_markers) {
                markers.push_str(&format!("M{x} {y}{marker}"));
            }
            next = 'L';
        }
        let name = escape_xml(&series.name);
        let [text_x, text_y] = [left + SAMPLE + MARGIN, y + LETTER_HEIGHT / 3.0].map(short);
        body.push_str(&format!("<g>\n<title>{name}</title>\n"));
        body.push_str(&format!(
            "<path d=\"{path}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"2\" stroke-linejoin=\"round\"{dashes}/>\n"
        ));
        body.push_str(&format!("<path d=\"{markers}\" fill=\"{color}\" stroke=\"{color}\" stroke-width=\"1.5\"/>\n"));
        body.push_str(&format!("<text x=\"{text_x}\" y=\"{text_y}\">{name}</text>\n</g>\n"));
    }
}

/// Lays out the legend of a plot with this left edge: entries are side by side as long as they fit above the plot.
fn legend(figure: &Figure, left: f64) -> Vec<LegendEntry> {
    let mut entries = Vec::new();
    let (mut start, mut row) = (left, 0);
    for name in figure.names() {
        let width = entry_width(name);
        if start > left && start + width > left + PLOT[0] {
            (start, row) = (left, row + 1);
        }
        entries.push(LegendEntry { left: start, row });
        start += width + GAP;
    }
    entries
}

fn entry_width(name: &str) -> f64 {
    SAMPLE + MARGIN + text_width(name)
}

/// Number of rows over which centered labels must alternate so that none overlap.
fn rows(labels: &[CountLabel]) -> usize {
    for rows in 1..labels.len() {
        let mut neighbors = labels.iter().zip(labels.iter().skip(rows));
        if neighbors.all(|(one, next)| one.middle + one.half_width() + MARGIN / 2.0 <= next.middle - next.half_width())
        {
            return rows;
        }
    }
    labels.len().max(1)
}

/// Rounds a length to one decimal.
fn short(length: f64) -> f64 {
    (length * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::super::line_chart::{Axis, Mark, Series};
    use super::super::scale::Scale;
    use super::*;

    fn figure(names: &[&str]) -> Figure {
        let [x, y] = [Scale::Linear; 2].map(|scale| Axis { label: String::new(), scale });
        let series = names.iter().map(|name| Series { name: (*name).to_owned(), points: Vec::new() }).collect();
        Figure { x, y, series, counts: None, mark: None }
    }

    #[test]
    fn distinguishes_42_lines() {
        let looks: std::collections::BTreeSet<[usize; 3]> =
            (0..42).map(|line| [line % COLORS.len(), line % MARKERS.len(), line % DASHES.len()]).collect();
        assert_eq!(looks.len(), 42);
    }

    fn legend_of(names: &[&str]) -> Vec<LegendEntry> {
        legend(&figure(names), 10.0)
    }

    fn width_with(name: &str) -> f64 {
        FigureLayout::new(&figure(&[name]), 0.0).width
    }

    #[test]
    fn names_the_marked_value_in_the_legend() {
        let mut figure = figure(&["loss"]);
        figure.x.scale = Scale::WholeTo(2300.0);
        figure.series[0].points = vec![[100.0, 5.0], [2250.0, 1.0]];
        figure.mark = Some(Mark { x: 2300.0, name: "kept".to_owned() });
        let (body, _) = FigureLayout::new(&figure, 0.0).body();
        // At the right end of the plot.
        assert!(body.contains(">kept</text>") && body.contains("M524 36V316"), "{body}");
    }

    #[test]
    fn wraps_the_legend_and_widens_for_long_names() {
        let expected = [LegendEntry { left: 10.0, row: 0 }, LegendEntry { left: 10.0 + 52.0 + GAP, row: 0 }];
        assert_eq!(legend_of(&["a", "b"]), expected);
        let long = "a name that is longer than the plot is wide, and that nobody will want to read to its end";
        for (names, expected) in [(&["a", long, "b"][..], &[0, 1, 2][..]), (&[long, "b"], &[0, 1])] {
            let rows: Vec<usize> = legend_of(names).iter().map(|entry| entry.row).collect();
            assert_eq!(rows, expected);
        }
        assert!(width_with(long) > long.len() as f64 * 8.0);
        assert!(width_with("a") < 600.0);
    }

    #[test]
    fn alternates_rows_of_overlapping_labels() {
        for (middles, expected) in [
            (&[0.0, 28.0, 56.0][..], 1),
            (&[0.0, 20.0, 40.0], 2),
            (&[0.0, 10.0, 20.0, 30.0], 3),
            (&[0.0, 1.0], 2),
            (&[], 1),
        ] {
            let labels: Vec<CountLabel> =
                middles.iter().map(|&middle| CountLabel { middle, text: "100".to_owned() }).collect();
            assert_eq!(rows(&labels), expected, "{middles:?}");
        }
    }
}
