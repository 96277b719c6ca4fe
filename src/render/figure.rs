//! A figure of lines, fit for a paper, as SVG: scores by length, curves of training.
//!
//! Both axes begin at 0 and end at a round number. Each line has its own colour, dashes and marker, so that lines are told
//! apart without colour as well; the colours are those of Okabe & Ito (2008), which people with any kind of colour vision
//! tell apart. A legend stands above the plot, and below the axis there may be brackets with counts.

use std::io::{Result, Write};

use super::svg::{FONT_SIZE, FONTS, escaped, width};

/// The plot's size.
const PLOT: [f64; 2] = [480.0, 280.0];
/// Around everything, and between parts.
const MARGIN: f64 = 8.0;
/// Height of letters.
const LETTERS: f64 = FONT_SIZE as f64;
/// From one line of text to the next.
const LINE: f64 = 20.0;
/// The piece of line beside a name in the legend.
const SAMPLE: f64 = 36.0;
/// Between two names of the legend.
const GAP: f64 = 24.0;
/// Most steps on an axis.
const MOST_STEPS: f64 = 6.0;
/// How far the axis may go for a bracket beyond the last point: the brackets of a few enormous values end at its end.
const FAR: f64 = 1.5;

/// Blue, vermilion, green, purple, orange, light blue.
const COLOURS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];
/// One fewer than there are colours and markers, so that only the 31st line looks like the first.
const DASHES: [&str; 5] = ["", "7 4", "2 3", "9 3 2 3", "14 4"];
/// Outlines drawn from a point: a disc, a square, a triangle, a diamond, a triangle on its head, a cross.
const MARKERS: [&str; 6] = [
    "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
    "m-3.5-3.5h7v7h-7z",
    "m0-4.5l4.5 8h-9z",
    "m0-5l5 5l-5 5l-5-5z",
    "m0 4.5l4.5-8h-9z",
    "m-4-4l8 8m0-8l-8 8",
];

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
    /// `[x, y]` in the order in which they are joined. Where one is negative or no finite number the line is broken.
    pub points: Vec<[f64; 2]>,
}

/// How many things lie on each stretch of the horizontal axis.
pub struct Counts {
    /// What is counted.
    pub label: String,
    /// The stretches, from left to right.
    pub spans: Vec<Span>,
}

/// A stretch of the horizontal axis.
pub struct Span {
    /// Where it begins.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
    /// How many things lie there.
    pub count: usize,
}

impl Figure {
    /// Writes the figure as one SVG document.
    ///
    /// # Errors
    /// The writer's own.
    pub fn write(&self, out: &mut dyn Write) -> Result<()> {
        Drawing::of(self).write(out)
    }

    fn points(&self) -> impl Iterator<Item = [f64; 2]> {
        self.series.iter().flat_map(|series| &series.points).copied().filter(shown)
    }

    fn spans(&self) -> &[Span] {
        self.counts.as_ref().map_or(&[], |counts| &counts.spans)
    }
}

/// Whether a point has a place in the figure.
fn shown(point: &[f64; 2]) -> bool {
    point.iter().all(|value| value.is_finite() && *value >= 0.0)
}

/// The numbers on an axis: 0, one step, two steps, up to its end.
struct Scale {
    step: f64,
    steps: usize,
}

impl Scale {
    /// Up to a round number that is not below the highest value.
    fn up_to(highest: f64, whole: bool) -> Self {
        let highest = if highest > 0.0 { highest } else { 1.0 };
        let least_step = highest / MOST_STEPS;
        let magnitude = 10f64.powf(least_step.log10().floor());
        let round =
            [1.0, 2.0, 5.0].map(|digit| digit * magnitude).into_iter().find(|step| *step >= least_step * (1.0 - 1e-9));
        let step = round.unwrap_or(10.0 * magnitude).max(if whole { 1.0 } else { 0.0 });
        Self { step, steps: (highest / step - 1e-9).ceil().max(1.0) as usize }
    }

    fn end(&self) -> f64 {
        self.step * self.steps as f64
    }

    /// Where a value lies between 0 and the end, as a share of the whole.
    fn share(&self, value: f64) -> f64 {
        value / self.end()
    }

    /// The numbers with how they are written, all with as many decimals as the step needs.
    fn ticks(&self) -> impl Iterator<Item = (f64, String)> {
        let decimals = (-self.step.log10().floor()).max(0.0) as usize;
        (0..=self.steps).map(move |tick| (self.step * tick as f64, format!("{:.decimals$}", self.step * tick as f64)))
    }

    fn widest(&self) -> f64 {
        self.ticks().map(|(_, text)| text_width(&text)).fold(0.0, f64::max)
    }
}

/// Where things stand.
struct Drawing<'a> {
    figure: &'a Figure,
    x: Scale,
    y: Scale,
    /// Left end and row of each name in the legend.
    legend: Vec<(f64, usize)>,
    /// The plot's left and upper edge.
    left: f64,
    top: f64,
    width: f64,
}

impl<'a> Drawing<'a> {
    fn of(figure: &'a Figure) -> Self {
        let [rightmost, highest] =
            figure.points().fold([0.0f64; 2], |most, point| [most[0].max(point[0]), most[1].max(point[1])]);
        let last = figure.spans().last().map_or(0.0, |span| span.to);
        let x = Scale::up_to(rightmost.max(last.min(FAR * rightmost)), figure.x.whole);
        let y = Scale::up_to(highest, figure.y.whole);
        let counted = figure.counts.as_ref().map_or(0.0, |counts| text_width(&counts.label));
        let left = MARGIN + (LINE + y.widest()).max(counted) + MARGIN;
        let legend = legend(&figure.series, left);
        let rows = legend.last().map_or(0, |(_, row)| row + 1);
        let ends = legend.iter().zip(&figure.series).map(|((start, _), series)| start + entry_width(series));
        let width = ends.fold(left + PLOT[0] + x.widest() / 2.0, f64::max) + MARGIN;
        Self { figure, legend, left, top: MARGIN + rows as f64 * LINE + MARGIN, width, x, y }
    }

    fn bottom(&self) -> f64 {
        self.top + PLOT[1]
    }

    fn place(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        [self.left + PLOT[0] * self.x.share(x), self.bottom() - PLOT[1] * self.y.share(y)]
    }

    fn write(&self, out: &mut dyn Write) -> Result<()> {
        let mut body = String::new();
        self.grid(&mut body);
        self.labels(&mut body);
        let height = self.counts(&mut body) + MARGIN;
        for index in 0..self.figure.series.len() {
            self.line(&mut body, index);
        }
        let (width, height) = (self.width.ceil(), height.ceil());
        writeln!(
            out,
            r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="{FONTS}" font-size="{FONT_SIZE}" fill="black">"#
        )?;
        writeln!(out, "<title>{} by {}</title>", escaped(&self.figure.y.label), escaped(&self.figure.x.label))?;
        writeln!(out, "{body}</svg>")
    }

    /// Light lines across, the two axes, and marks at the numbers of the horizontal one.
    fn grid(&self, body: &mut String) {
        let (left, right) = (self.left, self.left + PLOT[0]);
        let across =
            self.y.ticks().skip(1).map(|(value, _)| format!("M{left} {}H{right}", short(self.place([0.0, value])[1])));
        body.push_str(&format!("<path d=\"{}\" fill=\"none\" stroke=\"#ddd\"/>\n", across.collect::<String>()));
        let marks =
            self.x.ticks().map(|(value, _)| format!("M{} {}v5", short(self.place([value, 0.0])[0]), self.bottom()));
        let axes = format!("M{left} {}V{}H{right}", self.top, self.bottom());
        body.push_str(&format!("<path d=\"{axes}{}\" fill=\"none\" stroke=\"#666\"/>\n", marks.collect::<String>()));
    }

    /// Numbers and names of the axes.
    fn labels(&self, body: &mut String) {
        body.push_str("<g text-anchor=\"end\">\n");
        for (value, text) in self.y.ticks() {
            let y = self.place([0.0, value])[1] + LETTERS / 3.0;
            body.push_str(&format!("<text x=\"{}\" y=\"{}\">{text}</text>\n", self.left - MARGIN, short(y)));
        }
        body.push_str("</g>\n<g text-anchor=\"middle\">\n");
        for (value, text) in self.x.ticks() {
            let x = short(self.place([value, 0.0])[0]);
            body.push_str(&format!("<text x=\"{x}\" y=\"{}\">{text}</text>\n", self.bottom() + LINE));
        }
        let (middle, name) = (self.left + PLOT[0] / 2.0, self.bottom() + 2.0 * LINE);
        body.push_str(&format!("<text x=\"{middle}\" y=\"{name}\">{}</text>\n", escaped(&self.figure.x.label)));
        let (x, y) = (MARGIN + LETTERS, self.top + PLOT[1] / 2.0);
        let label = escaped(&self.figure.y.label);
        body.push_str(&format!("<text transform=\"translate({x} {y}) rotate(-90)\">{label}</text>\n</g>\n"));
    }

    /// Brackets with their counts; where numbers would touch, they stand on several rows. Gives where all of it ends.
    fn counts(&self, body: &mut String) -> f64 {
        let top = self.bottom() + 2.0 * LINE + MARGIN;
        let Some(counts) = &self.figure.counts else { return top };
        let text = top + LINE;
        let mut path = String::new();
        let mut numbers = String::new();
        // Where the last number of each row ends.
        let mut rows: Vec<f64> = Vec::new();
        for span in counts.spans.iter().filter(|span| span.from < self.x.end()) {
            let [from, to] = [span.from, span.to.min(self.x.end())].map(|x| self.place([x, 0.0])[0]);
            let [from, to] = [from.max(self.left) + 2.0, to - 2.0];
            path.push_str(&format!("M{} {top}v4H{}v-4", short(from), short(to)));
            let (middle, number) = (f64::midpoint(from, to), span.count.to_string());
            let half = text_width(&number) / 2.0;
            let row = rows.iter().position(|end| *end < middle - half).unwrap_or(rows.len());
            rows.resize(rows.len().max(row + 1), 0.0);
            rows[row] = middle + half;
            let y = text + row as f64 * LINE;
            numbers.push_str(&format!("<text x=\"{}\" y=\"{y}\">{number}</text>\n", short(middle)));
        }
        body.push_str(&format!("<path d=\"{path}\" fill=\"none\" stroke=\"#666\"/>\n"));
        let label = escaped(&counts.label);
        body.push_str(&format!("<text x=\"{}\" y=\"{text}\" text-anchor=\"end\">{label}</text>\n", self.left - MARGIN));
        body.push_str(&format!("<g text-anchor=\"middle\">\n{numbers}</g>\n"));
        text + rows.len().saturating_sub(1) as f64 * LINE
    }

    /// One line with its markers, and its entry of the legend.
    fn line(&self, body: &mut String, index: usize) {
        let series = &self.figure.series[index];
        let (start, row) = self.legend[index];
        let (colour, marker) = (COLOURS[index % COLOURS.len()], MARKERS[index % MARKERS.len()]);
        let dashes = match DASHES[index % DASHES.len()] {
            "" => String::new(),
            lengths => format!(" stroke-dasharray=\"{lengths}\""),
        };
        let y = MARGIN + (row as f64 + 0.5) * LINE;
        let mut path = format!("M{} {}H{}", short(start), y, short(start + SAMPLE));
        let mut markers = format!("M{} {y}{marker}", short(start + SAMPLE / 2.0));
        let mut next = 'M';
        for point in &series.points {
            if !shown(point) {
                next = 'M';
                continue;
            }
            let [x, y] = self.place(*point).map(short);
            path.push_str(&format!("{next}{x} {y}"));
            markers.push_str(&format!("M{x} {y}{marker}"));
            next = 'L';
        }
        let name = escaped(&series.name);
        let text = (short(start + SAMPLE + MARGIN), short(y + LETTERS / 3.0));
        body.push_str(&format!("<g>\n<title>{name}</title>\n"));
        body.push_str(&format!(
            "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" stroke-linejoin=\"round\"{dashes}/>\n"
        ));
        body.push_str(&format!("<path d=\"{markers}\" fill=\"{colour}\" stroke=\"{colour}\" stroke-width=\"1.5\"/>\n"));
        body.push_str(&format!("<text x=\"{}\" y=\"{}\">{name}</text>\n</g>\n", text.0, text.1));
    }
}

/// Left end and row of each name: side by side as long as they fit above the plot.
fn legend(series: &[Series], left: f64) -> Vec<(f64, usize)> {
    let mut places = Vec::with_capacity(series.len());
    let (mut start, mut row) = (left, 0);
    for one in series {
        let width = entry_width(one);
        if start > left && start + width > left + PLOT[0] {
            (start, row) = (left, row + 1);
        }
        places.push((start, row));
        start += width + GAP;
    }
    places
}

fn entry_width(series: &Series) -> f64 {
    SAMPLE + MARGIN + text_width(&series.name)
}

/// About how wide a text is.
fn text_width(text: &str) -> f64 {
    width(text) as f64
}

/// A length with one decimal at most.
fn short(length: f64) -> f64 {
    (length * 10.0).round() / 10.0
}
