//! SVG figures of attention matrices or links. Several sentences are stacked, each under its number.

mod drawing;
mod links;
mod matrix;
mod text_metrics;

use std::io::{Result, Write};

use super::{Item, Renderer};
use drawing::{Drawing, MARGIN};
pub(super) use drawing::{Palette, write_start};
pub(super) use text_metrics::{FONT_SIZE, escape_xml, width};

/// Height of a sentence's heading.
const HEADING: usize = 24;

/// Content of a sentence's figure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum SvgView {
    /// Heatmap of the weights, with a dot on each link.
    #[default]
    Matrix,
    /// Curves between linked words.
    Links,
}

/// Style of figures.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SvgStyle {
    /// Content.
    pub view: SvgView,
    /// Writes the weights in percent into the cells of a matrix.
    pub numbers: bool,
    /// Size that the document is scaled to; unscaled by default.
    pub size: Option<SvgSize>,
    /// Draws for a page, light or dark, whose text color the figure takes.
    pub for_page: bool,
}

/// Size of a document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SvgSize {
    /// Height of the font, in pixels.
    FontSize(f64),
    /// Width of the document, in pixels.
    Width(f64),
}

impl SvgStyle {
    fn palette(&self) -> Palette {
        if self.for_page { Palette::PAGE } else { Palette::PAPER }
    }

    /// Factor of the scaled size of a document of this width.
    fn scale(&self, width: usize) -> f64 {
        match self.size {
            None => 1.0,
            Some(SvgSize::FontSize(size)) => size / FONT_SIZE as f64,
            Some(SvgSize::Width(scaled)) => scaled / width as f64,
        }
    }
}

/// Renders a figure per sentence. Drawings are kept until the end, since a document starts with its size.
#[derive(Default)]
pub struct Svg {
    style: SvgStyle,
    figures: Vec<SentenceFigure>,
}

/// Drawing of a sentence.
struct SentenceFigure {
    /// Number of the sentence, from 1, and of its translation in an n-best list.
    number: String,
    drawing: Drawing,
}

impl Svg {
    /// Creates a renderer of figures in this style.
    pub fn new(style: SvgStyle) -> Self {
        Self { style, ..Self::default() }
    }
}

impl Renderer for Svg {
    fn item(&mut self, _out: &mut dyn Write, item: &Item) -> Result<()> {
        let number = match item.rank {
            Some(rank) if rank > 1 => format!("{}.{rank}", item.id + 1),
            _ => (item.id + 1).to_string(),
        };
        let palette = self.style.palette();
        let drawing = match self.style.view {
            SvgView::Matrix => matrix::matrix(item, self.style.numbers, palette),
            SvgView::Links => links::links(item, palette),
        };
        self.figures.push(SentenceFigure { number, drawing });
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn Write) -> Result<()> {
        let figures = std::mem::take(&mut self.figures);
        let heading = if figures.len() > 1 { HEADING } else { 0 };
        let scale = (self.style.view == SvgView::Matrix && !figures.is_empty()).then(matrix::scale);
        let drawings: Vec<&Drawing> = figures.iter().map(|figure| &figure.drawing).chain(&scale).collect();
        let width = drawings.iter().map(|drawing| drawing.width).max().unwrap_or(2 * MARGIN);
        let height = drawings.iter().map(|drawing| drawing.height).sum::<usize>() + heading * figures.len();
        let height = height.max(2 * MARGIN);
        let scale_factor = self.style.scale(width);
        let size = [width, height].map(|side| scale_factor * side as f64);
        write_start(out, size, [width, height], self.style.palette())?;
        let mut top = 0;
        for SentenceFigure { number, drawing } in &figures {
            if heading > 0 {
                writeln!(out, r#"<text x="{MARGIN}" y="{}" font-weight="bold">{number}</text>"#, top + heading - 6)?;
            }
            place(out, drawing, top + heading)?;
            top += heading + drawing.height;
        }
        if let Some(scale) = scale {
            place(out, &scale, top)?;
        }
        writeln!(out, "</svg>")
    }
}

fn place(out: &mut dyn Write, drawing: &Drawing, top: usize) -> Result<()> {
    writeln!(out, "<g transform=\"translate(0 {top})\">\n{}</g>", drawing.body)
}

#[cfg(test)]
mod tests {
    use super::super::LinkScores;
    use super::super::samples::{self, words};
    use super::*;
    use crate::alignment::Alignment;

    fn render(words: [&[&str]; 2], rows: &[Vec<f32>]) -> String {
        let [source, target] = words.map(|side| side.iter().map(|&word| word.to_owned()).collect());
        let alignment = Alignment::from_rows(source, target, rows);
        let scores = LinkScores::from_attention(&alignment);
        let links = scores.links(0.4);
        let (mut svg, mut out) = (Svg::default(), Vec::new());
        svg.item(&mut out, &samples::item(0, &alignment, &scores, &links)).unwrap();
        svg.finish(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_drawing_for_a_page_takes_its_colors() {
        for view in [SvgView::Matrix, SvgView::Links] {
            let style = SvgStyle { view, for_page: true, ..SvgStyle::default() };
            let text = String::from_utf8(samples::render(&mut Svg::new(style))).unwrap();
            assert!(text.contains(r#"fill="currentColor""#) && !text.contains(r#"fill="black""#), "{text}");
            // White cells are drawn, since the page may be dark.
            assert_eq!(text.contains(r##"fill="#ffffff""##), view == SvgView::Matrix, "{text}");
        }
    }

    #[test]
    fn matches_snapshot() {
        let text = String::from_utf8(samples::render(&mut Svg::default())).unwrap();
        let expected = r##"<svg xmlns="http://www.w3.org/2000/svg" width="236" height="285" viewBox="0 0 236 285" font-family="Helvetica, Arial, 'Liberation Sans', 'Noto Sans', 'DejaVu Sans', 'Noto Sans Arabic', 'Noto Sans Hebrew', 'Noto Sans Devanagari', 'Noto Sans CJK SC', sans-serif" font-size="13" fill="black">
<text x="8" y="18" font-weight="bold">1</text>
<g transform="translate(0 24)">
<rect x="48" y="59" width="24" height="24" fill="#2e5381"/>
<rect x="72" y="59" width="24" height="24" fill="#f3f5f8"/>
<rect x="96" y="59" width="24" height="24" fill="#fafbfc"/>
<rect x="128" y="59" width="24" height="24" fill="#f8f9fb"/>
<rect x="72" y="83" width="24" height="24" fill="#c5cfdc"/>
<rect x="96" y="83" width="24" height="24" fill="#517096"/>
<rect x="48" y="107" width="24" height="24" fill="#fefefe"/>
<rect x="72" y="107" width="24" height="24" fill="#3b5d89"/>
<rect x="96" y="107" width="24" height="24" fill="#e8ecf1"/>
<rect x="128" y="107" width="24" height="24" fill="#f3f5f8"/>
<path d="M48 59H120M48 83H120M48 107H120M48 131H120M48 59V131M72 59V131M96 59V131M120 59V131M128 59H152M128 83H152M128 107H152M128 131H152M128 59V131M152 59V131" fill="none" stroke="#ddd"/>
<circle cx="60" cy="71" r="3" fill="white"/>
<circle cx="84" cy="119" r="3" fill="white"/>
<circle cx="108" cy="95" r="3" fill="white"/>
<g text-anchor="end">
<text x="40" y="75">le</text>
<text x="40" y="99">chat</text>
<text x="40" y="123">noir</text>
</g>
<g text-anchor="start">
<text transform="translate(64 51) rotate(-45)">the</text>
<text transform="translate(88 51) rotate(-45)">black</text>
<text transform="translate(112 51) rotate(-45)">&quot;cat&quot;</text>
</g>
<g text-anchor="start" fill="#666">
<text transform="translate(144 51) rotate(-45)">&lt;/s&gt;</text>
</g>
</g>
<text x="8" y="181" font-weight="bold">2</text>
<g transform="translate(0 187)">
<g text-anchor="start">
<text transform="translate(32 45) rotate(-45)">नमस्ते</text>
<text transform="translate(56 45) rotate(-45)">世界</text>
</g>
<g text-anchor="start" fill="#666">
<text transform="translate(88 45) rotate(-45)">&lt;/s&gt;</text>
</g>
</g>
<g transform="translate(0 248)">
<rect x="8" y="0" width="44" height="12" fill="#ffffff" stroke="#ddd"/>
<text x="30" y="29" text-anchor="middle">0</text>
<rect x="52" y="0" width="44" height="12" fill="#c5cfdc" stroke="#ddd"/>
<text x="74" y="29" text-anchor="middle">25</text>
<rect x="96" y="0" width="44" height="12" fill="#8ba0b9" stroke="#ddd"/>
<text x="118" y="29" text-anchor="middle">50</text>
<rect x="140" y="0" width="44" height="12" fill="#517096" stroke="#ddd"/>
<text x="162" y="29" text-anchor="middle">75</text>
<rect x="184" y="0" width="44" height="12" fill="#174073" stroke="#ddd"/>
<text x="206" y="29" text-anchor="middle">100 %</text>
</g>
</svg>
"##;
        assert_eq!(text, expected);
    }

    #[test]
    fn scales_the_document() {
        for (size, expected) in
            [(SvgSize::Width(360.0), "360\" height=\"434.75"), (SvgSize::FontSize(6.5), "118\" height=\"142.5")]
        {
            let mut svg = Svg::new(SvgStyle { size: Some(size), ..SvgStyle::default() });
            let text = String::from_utf8(samples::render(&mut svg)).unwrap();
            assert!(text.contains(&format!(" width=\"{expected}\" viewBox=\"0 0 236 285\"")), "{text}");
        }
    }

    #[test]
    fn writes_weights_in_percent() {
        let mut svg = Svg::new(SvgStyle { numbers: true, ..SvgStyle::default() });
        let text = String::from_utf8(samples::render(&mut svg)).unwrap();
        for part in ["fill=\"white\" font-weight=\"bold\">90</text>", "fill=\"black\">25</text>"] {
            assert!(text.contains(part) && !text.contains("<circle"), "{part}: {text}");
        }
    }

    #[test]
    fn omits_the_number_of_a_single_sentence() {
        assert!(!render([&["a"], &["b"]], &[vec![1.0, 0.0]]).contains("bold"));
    }

    #[test]
    fn rotates_only_long_words() {
        assert!(!render([&["a"], &["b"]], &[vec![1.0, 0.0]]).contains("rotate"));
        assert!(render([&["longer"], &["b"]], &[vec![1.0, 0.0]]).contains("rotate"));
    }

    #[test]
    fn escapes_markup_in_words() {
        let text = render([&["</text><script>", "a&b\u{1}\u{ffff}\u{202e}"], &["\"'"]], &[vec![0.5, 0.5, 0.0]]);
        for part in ["&lt;/text&gt;&lt;script&gt;<", ">a&amp;b\u{202e}<", ">&quot;&#39;<"] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn anchors_right_to_left_scripts() {
        let text = render([&["שלום", "עולם."], &["1", "(مرحبا)", "hello"]], &vec![vec![0.5, 0.5, 0.0]; 3]);
        assert!(text.contains("<g direction=\"rtl\" text-anchor=\"start\">\n<text x=\"64\" "), "{text}");
        assert!(text.contains("<g text-anchor=\"end\" direction=\"rtl\">"), "{text}");
    }

    #[test]
    fn orders_columns_by_the_source_direction() {
        // Two words and, apart, the end.
        for (source, expected) in [(["a", "b"], [24, 48, 80]), (["א", "ב"], [80, 56, 24])] {
            let text = render([&source, &["c"]], &[vec![1.0, 0.75, 0.5]]);
            let cells = text.lines().filter_map(|line| line.strip_prefix("<rect x=\""));
            // Cells come before the scale.
            let edges: Vec<usize> =
                cells.take(3).map(|cell| cell.split('"').next().unwrap().parse().unwrap()).collect();
            assert_eq!(edges, expected);
        }
    }

    #[test]
    fn ignores_combining_marks_in_widths() {
        let [decomposed, composed] = ["e\u{301}e\u{301}", "éé"].map(|word| {
            let text = render([&["a"], &[word]], &[vec![1.0, 0.0]]);
            text.split('"').nth(3).unwrap().to_owned()
        });
        assert_eq!(decomposed, composed);
    }

    #[test]
    fn draws_links_as_curves() {
        let mut svg = Svg::new(SvgStyle { view: SvgView::Links, ..SvgStyle::default() });
        let text = String::from_utf8(samples::render(&mut svg)).unwrap();
        assert_eq!(text.matches("<path ").count(), 3, "one for each link: {text}");
        assert!(text.contains("<text x=\"20\" y=\"21\">the</text>"), "{text}");
        assert!(text.contains(" fill=\"#666\">世界<") && !text.contains("<rect"), "{text}");
    }

    #[test]
    fn orders_words_by_each_side_direction() {
        let alignment = Alignment::from_rows(words("א ב"), words("a b"), &vec![vec![0.5, 0.5, 0.0]; 2]);
        let scores = LinkScores::from_attention(&alignment);
        let (mut svg, mut out) = (Svg::new(SvgStyle { view: SvgView::Links, ..SvgStyle::default() }), Vec::new());
        svg.item(&mut out, &samples::item(0, &alignment, &scores, &[])).unwrap();
        svg.finish(&mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let [alef, bet, a, b] = ["א", "ב", "a", "b"].map(|word| -> usize {
            let (before, _) = text.split_once(&format!(">{word}<")).unwrap();
            before.rsplit("x=\"").next().unwrap().split('"').next().unwrap().parse().unwrap()
        });
        assert!(alef > bet && a < b, "{text}");
    }

    #[test]
    fn writes_a_valid_document_without_items() {
        let mut out = Vec::new();
        Svg::default().finish(&mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.starts_with("<svg ") && text.contains("viewBox=\"0 0 16 16\"") && text.ends_with(">\n</svg>\n"));
    }
}
