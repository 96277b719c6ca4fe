//! Renderers of alignments by their options.

use anyhow::{Result, bail};
use colorchoice::ColorChoice;

use super::output_file::Output;
use crate::alignment::LinkFormat;
use crate::cli::{AlignmentFormat, View};
use crate::error::UsageError;
use crate::render::{self, Heatmap, Html, Item, Json, Nematus, Npz, Pharaoh, Renderer, Svg, Tsv, UnitAlignment};
use crate::translator::{ForcedAlignment, LinkedPair, Linker};

/// Output options of alignments.
pub struct RenderOptions {
    pub format: AlignmentFormat,
    /// Title of the document.
    pub title: String,
    /// Kind of figure.
    pub view: View,
    /// True if links have scores.
    pub probabilities: bool,
    /// Notation of links.
    pub notation: LinkFormat,
    /// True if a sentence may have several translations.
    pub n_best: bool,
}

/// Returns the renderer that the options describe.
pub fn renderer(options: RenderOptions, linker: &Linker, output: &Output) -> Box<dyn Renderer> {
    let RenderOptions { format, title, view, probabilities, notation, n_best } = options;
    match format {
        AlignmentFormat::Text => Box::new(heatmap(output)),
        AlignmentFormat::Json => Box::new(Json::default()),
        AlignmentFormat::Jsonl => Box::new(Json::lines()),
        AlignmentFormat::Pharaoh => Box::new(Pharaoh { probabilities, numbered: n_best, link_format: notation }),
        AlignmentFormat::Npz => Box::new(Npz::default()),
        AlignmentFormat::Tsv if n_best => Box::new(Tsv::ranked()),
        AlignmentFormat::Tsv => Box::new(Tsv::default()),
        AlignmentFormat::Nematus => Box::new(Nematus),
        AlignmentFormat::Html => Box::new(Html::new(title, linker.min_link_score())),
        AlignmentFormat::Svg => Box::new(Svg::new(drawn(view))),
    }
}

/// Rejects --view for formats without figures.
pub fn check_view(view: View, format: Option<AlignmentFormat>) -> Result<()> {
    if view != View::Matrix && format != Some(AlignmentFormat::Svg) {
        bail!(UsageError("--view needs --format svg; html shows both views".to_owned()));
    }
    Ok(())
}

fn drawn(view: View) -> render::SvgView {
    match view {
        View::Matrix => render::SvgView::Matrix,
        View::Links => render::SvgView::Links,
    }
}

/// Returns a pair for renderers, with the alignment of units beside that of words if `with_units`.
pub fn item<'a>(id: usize, texts: [&'a str; 2], linked: &'a LinkedPair, with_units: bool) -> Item<'a> {
    let units = linked.aligned.as_ref().filter(|_| with_units).map(|aligned| {
        let [source_words, target_words] = aligned.words_of_units();
        UnitAlignment { alignment: aligned.by_units(), source_words, target_words }
    });
    Item {
        id,
        rank: None,
        texts,
        translation: None,
        alignment: &linked.alignment,
        link_scores: &linked.link_scores,
        links: &linked.links,
        score: linked.score,
        unknown: linked.aligned.as_ref().map(ForcedAlignment::unknown_share),
        gold: None,
        units,
    }
}

/// Returns a heatmap renderer for the output, with the terminal's width and color setting.
pub fn heatmap(output: &Output) -> Heatmap {
    let terminal = output.is_terminal();
    let size = if terminal { terminal_size::terminal_size() } else { None };
    let color = match ColorChoice::global() {
        ColorChoice::Always | ColorChoice::AlwaysAnsi => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
    };
    Heatmap::new(color, size.map(|(width, _)| usize::from(width.0)))
}
