//! Output formats of alignments and the style of figures.

use clap::{Args, ValueEnum};

use crate::render::{AlignmentFormat, SvgSize, SvgStyle, SvgView};

const FIGURES: &str = "Figures (--format svg)";

/// Style of the figures of --format svg.
#[derive(Clone, Debug, Args)]
pub struct FigureArgs {
    /// Kind of figure.
    #[arg(long, value_enum, default_value_t = SvgView::Matrix, help_heading = FIGURES)]
    pub view: SvgView,

    /// Write the weights in percent into the cells, in bold for links.
    #[arg(long, help_heading = FIGURES)]
    pub numbers: bool,

    /// Font size in pixels; the figure is scaled with it [default: 13].
    #[arg(long, value_name = "PX", value_parser = parse_pixels, conflicts_with = "width", help_heading = FIGURES)]
    pub font_size: Option<f64>,

    /// Width of the figure in pixels [default: as wide as needed].
    #[arg(long, value_name = "PX", value_parser = parse_pixels, help_heading = FIGURES)]
    pub width: Option<f64>,
}

impl FigureArgs {
    /// Returns the style of figures.
    pub fn style(&self) -> SvgStyle {
        let size = self.font_size.map(SvgSize::FontSize).or(self.width.map(SvgSize::Width));
        SvgStyle { view: self.view, numbers: self.numbers, size, for_page: false }
    }
}

fn parse_pixels(text: &str) -> Result<f64, String> {
    let pixels = text.parse().ok().filter(|pixels| (1.0..=10_000.0).contains(pixels));
    pixels.ok_or_else(|| "expected a number of pixels from 1 to 10000".to_owned())
}

/// Output formats of `softalign translate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TranslationFormat {
    /// Translations; with --n-best, lines of: number ||| translation ||| score.
    Text,
    /// Translations, each with a heatmap of its alignment.
    Align,
    /// JSON array of objects with translation, alignment and score.
    Json,
    /// The objects of json, one per line.
    Jsonl,
    /// Links as s-t, 0-indexed, one translation per line.
    Pharaoh,
    /// NumPy archive with an array of weights for each translation.
    Npz,
    /// Table of word pairs that are linked or have a weight of at least 0.001.
    Tsv,
    /// Self-contained page to explore the translations and alignments in a browser.
    Html,
    /// Vector figures, one for each translation; see Figures.
    Svg,
    /// Weights in the text format of Nematus.
    Nematus,
    /// Translation memory of the sentences and their translations, without tags and links.
    Tmx,
}

impl TranslationFormat {
    /// Returns the same format of alignments, or None for translations without alignments.
    pub fn alignment_format(self) -> Option<AlignmentFormat> {
        Some(match self {
            Self::Text => return None,
            Self::Align => AlignmentFormat::Text,
            Self::Json => AlignmentFormat::Json,
            Self::Jsonl => AlignmentFormat::Jsonl,
            Self::Pharaoh => AlignmentFormat::Pharaoh,
            Self::Npz => AlignmentFormat::Npz,
            Self::Tsv => AlignmentFormat::Tsv,
            Self::Html => AlignmentFormat::Html,
            Self::Svg => AlignmentFormat::Svg,
            Self::Nematus => AlignmentFormat::Nematus,
            Self::Tmx => AlignmentFormat::Tmx,
        })
    }
}
