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
/// How far the axis may go for the last bracket, as a multiple of the last point's place: a few enormous values do not
/// press everything else together, their bracket is left open.
const FAR: f64 = 1.25;
/// How far brackets may stand out beyond the axis, as a share of it: no step is added for half a word.
const OVERHANG: f64 = 0.035;

/// Blue, vermilion, green, purple, orange, light blue.
const COLOURS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];
/// One more than there are colours and markers, so that only the 43rd line looks like the first.
const DASHES: [&str; 7] = ["", "7 4", "2 3", "9 3 2 3", "14 4", "9 3 2 3 2 3", "2 7"];
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
    fn ends(&self) -> [f64; 2] {
        [self.from as f64 - 0.5, self.to as f64 + 0.5]
    }
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
        let last = figure.spans().last().map_or(0.0, |span| span.ends()[1]);
        let reach = last.min(FAR * rightmost) / (1.0 + OVERHANG);
        let x = Scale::up_to(rightmost.max(reach), figure.x.whole);
        let y = Scale::up_to(highest, figure.y.whole);
        let counted = figure.counts.as_ref().map_or(0.0, |counts| text_width(&counts.label));
        let left = MARGIN + (LINE + y.widest()).max(counted) + MARGIN;
        let legend = legend(&figure.series, left);
        let rows = legend.last().map_or(0, |(_, row)| row + 1);
        let ends = legend.iter().zip(&figure.series).map(|((start, _), series)| start + entry_width(series));
        let beyond = (x.widest() / 2.0).max(OVERHANG * PLOT[0]);
        let width = ends.fold(left + PLOT[0] + beyond, f64::max) + MARGIN;
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

    /// Brackets with their counts. Gives where all of it ends.
    fn counts(&self, body: &mut String) -> f64 {
        let top = self.bottom() + 2.0 * LINE + MARGIN;
        let Some(counts) = &self.figure.counts else { return top };
        let end = self.x.end() * (1.0 + OVERHANG);
        let mut path = String::new();
        // The middle of each bracket, and what stands there.
        let mut numbers: Vec<(f64, String)> = Vec::with_capacity(counts.spans.len());
        for span in counts.spans.iter().filter(|span| span.ends()[0] < end) {
            let open = span.ends()[1] > end;
            let [from, to] = span.ends().map(|x| self.place([x.clamp(0.0, end), 0.0])[0]);
            let [from, to] = [from + 2.0, if open { to } else { to - 2.0 }];
            path.push_str(&format!("M{} {top}v4H{}{}", short(from), short(to), if open { "" } else { "v-4" }));
            numbers.push((f64::midpoint(from, to), span.count.to_string()));
        }
        body.push_str(&format!("<path d=\"{path}\" fill=\"none\" stroke=\"#666\"/>\n"));
        let (text, left, label) = (top + LINE, self.left - MARGIN, escaped(&counts.label));
        body.push_str(&format!("<text x=\"{left}\" y=\"{text}\" text-anchor=\"end\">{label}</text>\n"));
        let rows = rows(&numbers);
        body.push_str("<g text-anchor=\"middle\">\n");
        for (index, (middle, number)) in numbers.iter().enumerate() {
            let y = text + (index % rows) as f64 * LINE;
            body.push_str(&format!("<text x=\"{}\" y=\"{y}\">{number}</text>\n", short(*middle)));
        }
        body.push_str("</g>\n");
        text + (rows - 1) as f64 * LINE
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

/// How many rows numbers around their middles have to take turns on so that none touches another.
fn rows(numbers: &[(f64, String)]) -> usize {
    let half = |(_, number): &(f64, String)| text_width(number) / 2.0;
    let apart = |rows: &usize| {
        let mut neighbours = numbers.iter().zip(numbers.iter().skip(*rows));
        neighbours.all(|(one, next)| one.0 + half(one) + MARGIN / 2.0 <= next.0 - half(next))
    };
    (1..numbers.len()).find(apart).unwrap_or(numbers.len().max(1))
}

/// About how wide a text is.
fn text_width(text: &str) -> f64 {
    width(text) as f64
}

/// A length with one decimal at most.
fn short(length: f64) -> f64 {
    (length * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(label: &str, whole: bool) -> Axis {
        Axis { label: label.to_owned(), whole }
    }

    fn series(name: &str, points: &[[f64; 2]]) -> Series {
        Series { name: name.to_owned(), points: points.to_vec() }
    }

    fn counts(spans: &[(usize, usize, usize)]) -> Option<Counts> {
        let spans = spans.iter().map(|&(from, to, count)| Span { from, to, count }).collect();
        Some(Counts { label: "pairs".to_owned(), spans })
    }

    fn drawn(series: Vec<Series>, counts: Option<Counts>) -> String {
        let figure = Figure { x: axis("words", true), y: axis("BLEU", false), series, counts };
        let mut out = Vec::new();
        figure.write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn scale(highest: f64, whole: bool) -> Vec<String> {
        Scale::up_to(highest, whole).ticks().map(|(_, text)| text).collect()
    }

    #[test]
    fn snapshot() {
        let lines = vec![
            series("four heads", &[[4.5, 90.0], [8.0, 72.5], [12.0, 50.0]]),
            series("\"a\" & <b>", &[[4.5, 80.0], [8.0, 60.0], [12.0, 20.0]]),
        ];
        let expected = r##"<svg xmlns="http://www.w3.org/2000/svg" width="565" height="392" viewBox="0 0 565 392" font-family="Helvetica, Arial, 'Liberation Sans', 'Noto Sans', 'DejaVu Sans', 'Noto Sans Arabic', 'Noto Sans Hebrew', 'Noto Sans Devanagari', 'Noto Sans CJK SC', sans-serif" font-size="13" fill="black">
<title>BLEU by words</title>
<path d="M60 260H540M60 204H540M60 148H540M60 92H540M60 36H540" fill="none" stroke="#ddd"/>
<path d="M60 36V316H540M60 316v5M220 316v5M380 316v5M540 316v5" fill="none" stroke="#666"/>
<g text-anchor="end">
<text x="52" y="320.3">0</text>
<text x="52" y="264.3">20</text>
<text x="52" y="208.3">40</text>
<text x="52" y="152.3">60</text>
<text x="52" y="96.3">80</text>
<text x="52" y="40.3">100</text>
</g>
<g text-anchor="middle">
<text x="60" y="336">0</text>
<text x="220" y="336">5</text>
<text x="380" y="336">10</text>
<text x="540" y="336">15</text>
<text x="300" y="356">words</text>
<text transform="translate(21 176) rotate(-90)">BLEU</text>
</g>
<path d="M142 364v4H234v-4M238 364v4H394v-4M398 364v4H554v-4" fill="none" stroke="#666"/>
<text x="52" y="384" text-anchor="end">pairs</text>
<g text-anchor="middle">
<text x="188" y="384">20</text>
<text x="316" y="384">134</text>
<text x="476" y="384">10</text>
</g>
<g>
<title>four heads</title>
<path d="M60 18H96M204 64L316 113L444 176" fill="none" stroke="#0072b2" stroke-width="2" stroke-linejoin="round"/>
<path d="M78 18m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0zM204 64m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0zM316 113m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0zM444 176m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z" fill="#0072b2" stroke="#0072b2" stroke-width="1.5"/>
<text x="104" y="22.3">four heads</text>
</g>
<g>
<title>&quot;a&quot; &amp; &lt;b&gt;</title>
<path d="M208 18H244M204 92L316 148L444 260" fill="none" stroke="#d55e00" stroke-width="2" stroke-linejoin="round" stroke-dasharray="7 4"/>
<path d="M226 18m-3.5-3.5h7v7h-7zM204 92m-3.5-3.5h7v7h-7zM316 148m-3.5-3.5h7v7h-7zM444 260m-3.5-3.5h7v7h-7z" fill="#d55e00" stroke="#d55e00" stroke-width="1.5"/>
<text x="252" y="22.3">&quot;a&quot; &amp; &lt;b&gt;</text>
</g>
</svg>
"##;
        assert_eq!(drawn(lines, counts(&[(3, 5, 20), (6, 10, 134), (11, 15, 10)])), expected);
    }

    #[test]
    fn axes_go_from_0_to_a_round_number_in_round_steps() {
        assert_eq!(scale(97.2, false), ["0", "20", "40", "60", "80", "100"]);
        assert_eq!(scale(100.0, false), ["0", "20", "40", "60", "80", "100"]);
        assert_eq!(scale(52.8, false), ["0", "10", "20", "30", "40", "50", "60"]);
        assert_eq!(scale(0.06, false), ["0.00", "0.01", "0.02", "0.03", "0.04", "0.05", "0.06"]);
        assert_eq!(scale(2.0, false), ["0.0", "0.5", "1.0", "1.5", "2.0"]);
        assert_eq!(scale(2.0, true), ["0", "1", "2"]);
        assert_eq!(scale(30.0, true), ["0", "5", "10", "15", "20", "25", "30"]);
        assert_eq!(scale(123_456.0, true), ["0", "50000", "100000", "150000"]);
        assert_eq!(scale(0.0, false).last().map(String::as_str), Some("1.0"));
    }

    #[test]
    fn a_curve_needs_no_counts() {
        let text = drawn(vec![series("loss", &[[0.0, 5.0], [1000.0, 2.5], [2000.0, 1.25]])], None);
        assert!(text.contains(">2000</text>") && !text.contains(">pairs<"), "{text}");
        // From the corner's height down to the axis' end.
        assert!(text.contains("M44 36L284 176L524 246\""), "{text}");
    }

    #[test]
    fn what_is_no_number_breaks_the_line() {
        let points = [[1.0, 10.0], [2.0, f64::INFINITY], [3.0, 10.0], [4.0, 5.0], [5.0, f64::NAN], [6.0, -1.0]];
        let text = drawn(vec![series("one", &points)], None);
        let line = text.split("<path d=\"").nth(3).unwrap().split('"').next().unwrap();
        assert_eq!(
            (line.matches('M').count(), line.matches('L').count()),
            (3, 1),
            "the legend's and two pieces: {line}"
        );
        for nothing in ["NaN", "inf"] {
            assert!(!text.contains(nothing), "{text}");
        }
    }

    #[test]
    fn one_point_and_none_make_a_figure() {
        let one = drawn(vec![series("one", &[[4.0, 0.0]])], counts(&[(4, 4, 12)]));
        assert!(one.contains("H96M444 316\"") && one.contains("<text x=\"444\" y=\"384\">12</text>"), "{one}");
        let none = drawn(vec![], counts(&[]));
        assert!(none.starts_with("<svg ") && none.ends_with("</svg>\n") && !none.contains("NaN"), "{none}");
    }

    #[test]
    fn no_two_lines_look_alike() {
        let looks = |index: usize| (index % COLOURS.len(), index % MARKERS.len(), index % DASHES.len());
        let all: std::collections::BTreeSet<_> = (0..42).map(looks).collect();
        assert_eq!(all.len(), 42);
    }

    #[test]
    fn names_take_rows_and_the_figure_widens_for_a_long_one() {
        let names = |names: &[&str]| legend(&names.iter().map(|name| series(name, &[])).collect::<Vec<_>>(), 10.0);
        assert_eq!(names(&["a", "b"]), [(10.0, 0), (10.0 + 52.0 + GAP, 0)]);
        let rows = |given: &[&str]| names(given).into_iter().map(|(_, row)| row).collect::<Vec<_>>();
        let long = "a name that is longer than the plot is wide, and that nobody will want to read to its end";
        assert_eq!(rows(&["a", long, "b"]), [0, 1, 2]);
        assert_eq!(rows(&[long, "b"]), [0, 1]);
        let width = |text: &str| text.split('"').nth(3).unwrap().parse::<usize>().unwrap();
        assert!(width(&drawn(vec![series(long, &[])], None)) > long.len() * 8);
        assert!(width(&drawn(vec![series("a", &[])], None)) < 600);
    }

    #[test]
    fn numbers_that_would_touch_take_turns_on_rows() {
        let numbers = |places: &[f64]| places.iter().map(|&place| (place, "100".to_owned())).collect::<Vec<_>>();
        assert_eq!(rows(&numbers(&[0.0, 28.0, 56.0])), 1);
        assert_eq!(rows(&numbers(&[0.0, 20.0, 40.0])), 2);
        assert_eq!(rows(&numbers(&[0.0, 10.0, 20.0, 30.0])), 3);
        assert_eq!(rows(&numbers(&[0.0, 1.0])), 2);
        assert_eq!(rows(&[]), 1);
    }

    #[test]
    fn the_bracket_of_a_few_enormous_values_is_left_open() {
        let lines = || vec![series("one", &[[5.0, 1.0], [40.0, 1.0]])];
        assert!(drawn(lines(), counts(&[(1, 10, 5), (11, 50, 5)])).matches("v-4").count() == 2);
        let text = drawn(lines(), counts(&[(1, 10, 5), (11, 900, 5)]));
        assert_eq!((text.matches("v4H").count(), text.matches("v-4").count()), (2, 1));
        assert!(text.contains(">50</text>") && !text.contains(">100</text>"), "{text}");
    }
}
