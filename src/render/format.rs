//! Choice of a format, and the renderer that it stands for.

use std::path::Path;

use super::{Heatmap, Html, Json, Nematus, Npz, Pharaoh, Renderer, Svg, SvgStyle, Tmx, Tsv};
use crate::alignment::LinkFormat;
use crate::text::Languages;

/// Output format of alignments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
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
    /// Translation memory of the pairs, without their links.
    Tmx,
}

/// Options of renderers; each format uses some of them.
pub struct RenderOptions {
    /// Title of a document.
    pub title: String,
    /// Style of figures.
    pub figures: SvgStyle,
    /// Writes the scores of links in Pharaoh's format.
    pub probabilities: bool,
    /// Notation of links in Pharaoh's format.
    pub notation: LinkFormat,
    /// True if a sentence may have several translations.
    pub n_best: bool,
    /// Minimum score of a link, where the page starts.
    pub min_link_score: f32,
    /// Renderer of text.
    pub heatmap: Heatmap,
    /// Languages of the pairs, if they are known.
    pub languages: Option<Languages>,
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
            "tmx" => Self::Tmx,
            "tsv" => Self::Tsv,
            _ => return None,
        })
    }

    /// Returns the renderer of this format.
    pub fn renderer(self, options: RenderOptions) -> Box<dyn Renderer> {
        let RenderOptions { title, figures, probabilities, notation, n_best, min_link_score, heatmap, languages } =
            options;
        match self {
            Self::Text => Box::new(heatmap),
            Self::Json => Box::new(Json::default()),
            Self::Jsonl => Box::new(Json::lines()),
            Self::Pharaoh => Box::new(Pharaoh { probabilities, numbered: n_best, link_format: notation }),
            Self::Npz => Box::new(Npz::default()),
            Self::Tsv if n_best => Box::new(Tsv::ranked()),
            Self::Tsv => Box::new(Tsv::default()),
            Self::Nematus => Box::new(Nematus),
            Self::Html => Box::new(Html::new(title, min_link_score)),
            Self::Svg => Box::new(Svg::new(figures)),
            Self::Tmx => Box::new(Tmx::new(languages)),
        }
    }
}
