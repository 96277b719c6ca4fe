//! `softalign align`: forced decoding of given pairs.

use anyhow::{Result, bail};
use candle_core::Device;

use super::UsageError;
use super::console::Console;
use super::input::{PairFiles, SHIPPED_TEST};
use super::output::Output;
use crate::cli::{AlignArgs, AlignmentFormat};
use crate::render::{Heatmap, Html, Item, Json, Npz, Pharaoh, Renderer, Svg};
use crate::translator::{Aligned, LONGEST, Translator};

/// Pairs that are aligned before any is written: bounds memory, and leaves room for sorting by length.
const CHUNK: usize = 2000;

pub fn run(args: &AlignArgs, device: &Device, console: &Console) -> Result<()> {
    let given = &args.pairs;
    let files = PairFiles::given(given.pairs.as_deref(), given.source.as_deref(), given.target.as_deref())
        .unwrap_or_else(|| PairFiles::shipped(SHIPPED_TEST));
    let threshold = check_threshold(args.threshold)?;
    let mut output = Output::open(&args.output)?;
    let translator = Translator::load(&args.model, device)?;
    let pairs = files.read("--pairs")?;
    let mut renderer: Box<dyn Renderer> = match args.format {
        AlignmentFormat::Text => Box::new(heatmap(&output)),
        AlignmentFormat::Json => Box::new(Json::default()),
        AlignmentFormat::Pharaoh => Box::new(Pharaoh),
        AlignmentFormat::Npz => Box::new(Npz::default()),
        AlignmentFormat::Html => Box::new(Html::new(files.names().join(" and ")).starting_at(threshold)),
        AlignmentFormat::Svg => Box::new(Svg::default()),
    };
    let mut bar = console.bar("aligning", pairs.len());
    for (chunk, pairs) in pairs.chunks(CHUNK).enumerate() {
        let aligned = translator.align(pairs, &mut |count| bar.advance(count))?;
        for (index, aligned) in aligned.iter().enumerate() {
            let id = chunk * CHUNK + index;
            warn_if_cut(aligned, id, console);
            let alignment = if args.subwords { aligned.by_units().clone() } else { aligned.by_words() };
            let links = alignment.links(threshold);
            let score = aligned.mean_log_probability();
            let item = Item {
                id,
                rank: None,
                translation: None,
                alignment: &alignment,
                links: &links,
                score,
                gold: None,
                units: None,
            };
            output.with(|out| renderer.item(out, &item))?;
        }
    }
    output.with(|out| renderer.finish(out))?;
    output.finish()
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

/// The links' threshold, if it can be one.
pub fn check_threshold(threshold: f32) -> Result<f32> {
    if !(0.0..=1.0).contains(&threshold) {
        bail!(UsageError(format!("--threshold must be between 0 and 1, not {threshold}")));
    }
    Ok(threshold)
}

/// Tells of a sentence that was read only in part.
pub fn warn_if_cut(aligned: &Aligned, id: usize, console: &Console) {
    if aligned.cut {
        console.warn(format!("line {}: longer than {LONGEST} units; only its beginning was read", id + 1));
    }
}
