//! Line charts as SVG for papers: scores by length, training curves.
//!
//! Axes start at 0 and end at a round number, unless their scale is another one. Lines differ in color, dashes and marker; the colors are those of Okabe &
//! Ito (2008), which are safe for color-blind readers. A legend is above the plot; brackets with counts may be below.

mod layout;
mod line_chart;
mod scale;

use std::io::{Result, Write};

pub use line_chart::{Axis, Bracket, BracketCounts, Figure, Mark, Series};
pub use scale::Scale;

use super::svg::{Palette, write_start};
use layout::FigureLayout;

impl Figure {
    /// Writes the figure as one SVG document.
    ///
    /// # Errors
    /// Propagates errors of the writer.
    pub fn write(&self, out: &mut dyn Write) -> Result<()> {
        write_stacked(std::slice::from_ref(self), out)
    }
}

/// Writes figures stacked in one SVG document, with aligned plots.
///
/// # Errors
/// Propagates errors of the writer.
pub fn write_stacked(figures: &[Figure], out: &mut dyn Write) -> Result<()> {
    let left = figures.iter().map(|figure| FigureLayout::new(figure, 0.0).left).fold(0.0, f64::max);
    let layouts: Vec<FigureLayout> = figures.iter().map(|figure| FigureLayout::new(figure, left)).collect();
    let width = layouts.iter().map(|layout| layout.width.ceil()).fold(0.0, f64::max);
    let bodies: Vec<(String, f64)> = layouts.iter().map(FigureLayout::body).collect();
    let height: f64 = bodies.iter().map(|(_, height)| height).sum();
    write_start(out, [width, height], [width, height], Palette::PAPER)?;
    let mut top = 0.0;
    for (body, height) in &bodies {
        if let [_] = figures {
            write!(out, "{body}")?;
        } else {
            writeln!(out, "<g transform=\"translate(0 {top})\">\n{body}</g>")?;
        }
        top += height;
    }
    writeln!(out, "</svg>")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(label: &str, whole: bool) -> Axis {
        Axis { label: label.to_owned(), scale: if whole { Scale::Whole } else { Scale::Linear } }
    }

    fn series(name: &str, points: &[[f64; 2]]) -> Series {
        Series { name: name.to_owned(), points: points.to_vec() }
    }

    fn counts(brackets: &[(usize, usize, usize)]) -> Option<BracketCounts> {
        let brackets = brackets.iter().map(|&(from, to, count)| Bracket { from, to, count }).collect();
        Some(BracketCounts { label: "pairs".to_owned(), brackets })
    }

    fn drawn(series: Vec<Series>, counts: Option<BracketCounts>) -> String {
        let figure = Figure { x: axis("words", true), y: axis("BLEU", false), series, counts, mark: None };
        let mut out = Vec::new();
        figure.write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
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
    fn draws_a_curve_without_counts() {
        let text = drawn(vec![series("loss", &[[0.0, 5.0], [1000.0, 2.5], [2000.0, 1.25]])], None);
        assert!(text.contains(">2000</text>") && !text.contains(">pairs<"), "{text}");
        // From the upper left corner to the end of the axis.
        assert!(text.contains("M44 36L284 176L524 246\""), "{text}");
    }

    #[test]
    fn breaks_lines_at_invalid_values() {
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

    /// Logs can be corrupt or malicious.
    #[test]
    fn survives_extreme_values() {
        for extreme in [5e-324, 1e-310, 1e-300, 1e300, f64::MAX] {
            for points in [vec![[1.0, extreme], [extreme, 1.0]], vec![[extreme, extreme]]] {
                let text = drawn(vec![series("one", &points)], None);
                let sound = text.len() < 20_000 && !text.contains("NaN") && !text.contains("inf");
                assert!(sound, "{points:?}: {text}");
            }
        }
    }

    #[test]
    fn draws_figures_of_one_point_and_of_none() {
        let one = drawn(vec![series("one", &[[4.0, 0.0]])], counts(&[(4, 4, 12)]));
        assert!(one.contains("H96M444 316\"") && one.contains("<text x=\"444\" y=\"384\">12</text>"), "{one}");
        let none = drawn(vec![], counts(&[]));
        assert!(none.starts_with("<svg ") && none.ends_with("</svg>\n") && !none.contains("NaN"), "{none}");
    }

    #[test]
    fn aligns_stacked_figures() {
        let figures = [("loss", 0.001), ("BLEU", 90.0)].map(|(label, highest)| Figure {
            x: axis("step", true),
            y: axis(label, false),
            series: vec![series("one", &[[0.0, highest], [10.0, 0.0]])],
            counts: None,
            mark: None,
        });
        let mut out = Vec::new();
        write_stacked(&figures, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let axes = text.split("<path d=\"").skip(1).filter(|path| path.contains('V'));
        let left_edges: Vec<&str> = axes.map(|path| path.split(' ').next().unwrap()).collect();
        assert_eq!((left_edges.len(), left_edges[0]), (2, left_edges[1]), "{text}");
        assert!(text.contains("<g transform=\"translate(0 0)\">\n<title>loss by step</title>"), "{text}");
    }

    #[test]
    fn limits_the_number_of_markers() {
        let points: Vec<[f64; 2]> = (0..1000).map(|step| [f64::from(step), 1.0]).collect();
        let text = drawn(vec![series("one", &points)], None);
        assert_eq!(text.matches("m-4 0a4").count(), 1 + 25, "the legend's and some of the line");
    }

    #[test]
    fn leaves_the_bracket_of_outliers_open() {
        let points = [[5.0, 1.0], [40.0, 1.0]];
        let text = drawn(vec![series("one", &points)], counts(&[(1, 10, 5), (11, 50, 5)]));
        assert_eq!(text.matches("v-4").count(), 2);
        let text = drawn(vec![series("one", &points)], counts(&[(1, 10, 5), (11, 900, 5)]));
        assert_eq!((text.matches("v4H").count(), text.matches("v-4").count()), (2, 1));
        assert!(text.contains(">50</text>") && !text.contains(">100</text>"), "{text}");
    }
}
