//! Arguments of word links and attention, and output formats.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use crate::alignment::Symmetrization;
use crate::render::{SvgSize, SvgStyle, SvgView};
use crate::text::WordSplitting;
use crate::translator::{LinkOptions, LinksFrom};

const FIGURES: &str = "Figures (--format svg)";

/// Settings of word links.
#[derive(Clone, Debug, Default, Args)]
pub struct LinkArgs {
    /// Source of word links; translate always includes attention.
    #[arg(long, value_enum, default_value_t = LinksFrom::Auto, help_heading = "Links")]
    pub links_from: LinksFrom,

    /// Model of the opposite direction; both models must support a link.
    #[arg(long, value_name = "DIR", help_heading = "Links")]
    pub reverse_model: Option<PathBuf>,

    /// Symmetrize the links of both directions, instead of thresholding their joint scores.
    #[arg(long, value_enum, value_name = "WAY", help_heading = "Links")]
    pub symmetrize: Option<Symmetrization>,

    /// Minimum score of a link [default: 0.15; 0.1 without attention; 0.35 with attention only; 0.4 with --symmetrize].
    #[arg(long, value_name = "W", help_heading = "Links")]
    pub threshold: Option<f32>,

    /// Word splitting [default: whitespace; single characters on a side with char units].
    #[arg(long, value_enum, help_heading = "Links")]
    pub words: Option<WordSplitting>,
}

impl LinkArgs {
    /// Returns these arguments as options of the library for linking words.
    pub fn options(&self) -> LinkOptions {
        LinkOptions {
            links_from: self.links_from,
            reverse_model: self.reverse_model.clone(),
            symmetrization: self.symmetrize,
            threshold: self.threshold,
            words: self.words,
            ..LinkOptions::default()
        }
    }
}

/// Settings of attention that differ from training.
#[derive(Clone, Copy, Debug, Args)]
pub struct AttentionArgs {
    /// Use hard attention: only the source token with the largest weight counts.
    #[arg(long, help_heading = "Attention")]
    pub hard_attention: bool,

    /// Softmax temperature of attention: below 1 sharper, above 1 flatter [default: as in training].
    #[arg(long, value_name = "T", allow_negative_numbers = true, help_heading = "Attention")]
    pub attention_temperature: Option<f64>,

    /// Show the weights of this head, counted from 1 [default: the mean of all heads].
    #[arg(long, value_name = "K", help_heading = "Attention")]
    pub head: Option<usize>,
}

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
        SvgStyle { view: self.view, numbers: self.numbers, size }
    }
}

fn parse_pixels(text: &str) -> Result<f64, String> {
    let pixels = text.parse().ok().filter(|pixels| (1.0..=10_000.0).contains(pixels));
    pixels.ok_or_else(|| "expected a number of pixels from 1 to 10000".to_owned())
}

/// Output formats of `softalign align`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AlignmentFormat {
    /// Heatmap for the terminal.
    Text,
    /// JSON array of objects with words, weights and links.
    Json,
    /// Links as s-t, 0-indexed, one pair per line; s-t:p with --probs.
    Pharaoh,
    /// NumPy archive with an array of weights for each pair.
    Npz,
    /// The objects of json, one per line.
    Jsonl,
    /// Table of word pairs that are linked or have a weight of at least 0.001.
    Tsv,
    /// Weights in the text format of Nematus.
    Nematus,
    /// Self-contained page to explore the alignments in a browser.
    Html,
    /// Stacked vector figures; see Figures.
    Svg,
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
}

impl AlignmentFormat {
    /// Returns the format that the extension of a file name stands for, if any.
    pub fn from_extension(path: &Path) -> Option<Self> {
        Some(match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "html" | "htm" => Self::Html,
            "json" => Self::Json,
            "jsonl" | "ndjson" => Self::Jsonl,
            "npz" => Self::Npz,
            "svg" => Self::Svg,
            "tsv" => Self::Tsv,
            _ => return None,
        })
    }
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
        })
    }
}
