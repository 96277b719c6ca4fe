//! The formats of alignments, as the options name them.

use super::output::Output;
use crate::cli::AlignmentFormat;
use crate::render::{Heatmap, Html, Item, Json, Nematus, Npz, Pharaoh, Renderer, Svg, Tsv, Units};
use crate::translator::{Linked, Linker};

/// A format under a title.
pub fn renderer(
    format: AlignmentFormat,
    title: String,
    linker: &Linker,
    output: &Output,
    probabilities: bool,
) -> Box<dyn Renderer> {
    match format {
        AlignmentFormat::Text => Box::new(heatmap(output)),
        AlignmentFormat::Json => Box::new(Json::default()),
        AlignmentFormat::Jsonl => Box::new(Json::lines()),
        AlignmentFormat::Pharaoh => Box::new(Pharaoh { probabilities }),
        AlignmentFormat::Npz => Box::new(Npz::default()),
        AlignmentFormat::Tsv => Box::new(Tsv::default()),
        AlignmentFormat::Nematus => Box::new(Nematus),
        AlignmentFormat::Html => Box::new(Html::new(title, linker.least_belief())),
        AlignmentFormat::Svg => Box::new(Svg::default()),
    }
}

/// A pair as formats show it; with the model's own units beside the words if asked.
pub fn item(id: usize, linked: &Linked, with_units: bool) -> Item<'_> {
    let units = linked.aligned.as_ref().filter(|_| with_units).map(|aligned| {
        let [source_words, target_words] = aligned.words_of_units();
        Units { alignment: aligned.by_units(), source_words, target_words }
    });
    Item {
        id,
        rank: None,
        translation: None,
        alignment: &linked.alignment,
        beliefs: &linked.beliefs,
        links: &linked.links,
        score: linked.score,
        gold: None,
        units,
    }
}

/// A heatmap as fits the place where it goes.
pub fn heatmap(output: &Output) -> Heatmap {
    let terminal = output.is_terminal();
    let size = if terminal { terminal_size::terminal_size() } else { None };
    Heatmap {
        color: terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
        width: size.map(|(width, _)| usize::from(width.0)),
    }
}
