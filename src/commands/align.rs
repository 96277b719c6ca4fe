//! `softalign align`: forced decoding of given pairs.

use std::path::Path;
use std::sync::Mutex;

use anyhow::{Result, bail, ensure};
use candle_core::Device;

use super::UsageError;
use super::console::Console;
use super::input::{PairFiles, SHIPPED_TEST};
use super::output::Output;
use crate::aligner::{self, WordAligner};
use crate::checkpoint::Folder;
use crate::cli::{AlignArgs, AlignmentFormat, LinkArgs, LinksFrom};
use crate::render::{Heatmap, Html, Item, Json, Nematus, Npz, Pharaoh, Renderer, Svg, Tsv};
use crate::text::Pair;
use crate::translator::{Aligned, ENOUGH, LONGEST, Linker, MUCH_ATTENTION, Translator};

/// Pairs that are aligned before any is written: bounds memory, and leaves room for sorting by length.
const CHUNK: usize = 2000;

pub fn run(args: &AlignArgs, device: &Device, console: &Console) -> Result<()> {
    let given = &args.pairs;
    let files = PairFiles::given(given.pairs.as_deref(), given.source.as_deref(), given.target.as_deref())
        .unwrap_or_else(|| PairFiles::shipped(SHIPPED_TEST));
    check_links(&args.links, args.subwords)?;
    if args.probs && args.format != AlignmentFormat::Pharaoh {
        bail!(UsageError("--probs is for --format pharaoh; the other formats hold weights anyway".to_owned()));
    }
    let mut output = Output::open(&args.output)?;
    let pairs = files.read("--pairs")?;
    let linker = linker(&args.links, &args.model, args.subwords, &pairs, device, console)?;
    let start = linker.threshold.unwrap_or(if linker.statistical.is_some() { ENOUGH } else { MUCH_ATTENTION });
    let mut renderer: Box<dyn Renderer> = match args.format {
        AlignmentFormat::Text => Box::new(heatmap(&output)),
        AlignmentFormat::Json => Box::new(Json::default()),
        AlignmentFormat::Jsonl => Box::new(Json::lines()),
        AlignmentFormat::Pharaoh => Box::new(Pharaoh { probabilities: args.probs }),
        AlignmentFormat::Npz => Box::new(Npz::default()),
        AlignmentFormat::Tsv => Box::new(Tsv::default()),
        AlignmentFormat::Nematus => Box::new(Nematus),
        AlignmentFormat::Html => Box::new(Html::new(files.names().join(" and ")).starting_at(start)),
        AlignmentFormat::Svg => Box::new(Svg::default()),
    };
    let mut bar = console.bar("aligning", pairs.len());
    for (chunk, pairs) in pairs.chunks(CHUNK).enumerate() {
        for (index, linked) in linker.link(pairs, &mut |count| bar.advance(count))?.iter().enumerate() {
            let id = chunk * CHUNK + index;
            if let Some(aligned) = &linked.aligned {
                warn_if_cut(aligned, id, console);
            }
            let item = Item {
                id,
                rank: None,
                translation: None,
                alignment: &linked.alignment,
                beliefs: linked.beliefs.as_ref(),
                links: &linked.links,
                score: linked.score,
                gold: None,
                units: None,
            };
            output.with(|out| renderer.item(out, &item))?;
        }
    }
    output.with(|out| renderer.finish(out))?;
    output.finish()
}

/// Refuses options of links that do not go together.
pub fn check_links(args: &LinkArgs, subwords: bool) -> Result<()> {
    if let Some(threshold) = args.threshold {
        check_threshold(threshold)?;
    }
    let by_statistics = matches!(args.links_from, LinksFrom::Statistics | LinksFrom::Pairs);
    if by_statistics && (subwords || args.reverse_model.is_some()) {
        bail!(UsageError("--subwords and --reverse-model need attention: leave out --links-from".to_owned()));
    }
    if args.symmetrise.is_some() && args.links_from == LinksFrom::Attention && args.reverse_model.is_none() {
        bail!(UsageError("--symmetrise needs two directions: give --reverse-model as well".to_owned()));
    }
    Ok(())
}

/// What the options ask to be linked by. `pairs` are those that an aligner may be learnt from.
pub fn linker(
    args: &LinkArgs,
    model: &Path,
    by_units: bool,
    pairs: &[Pair],
    device: &Device,
    console: &Console,
) -> Result<Linker> {
    let translator = |path: &Path| Ok::<_, anyhow::Error>(Translator::load(path, device)?.with_words(args.words));
    let mut linker = Linker {
        reverse: args.reverse_model.as_deref().map(translator).transpose()?,
        symmetrisation: args.symmetrise,
        threshold: args.threshold,
        words: args.words,
        by_units,
        ..Linker::default()
    };
    match args.links_from {
        LinksFrom::Pairs => linker.statistical = Some(learn_aligner(pairs, console)),
        LinksFrom::Statistics => {
            linker.statistical = Folder::new(model).load_aligner()?;
            ensure!(
                linker.statistical.is_some(),
                "{}: no statistical aligner here (aligner.safetensors is missing); train the model anew, or learn from the \
                 pairs themselves by --links-from pairs",
                model.display()
            );
        }
        LinksFrom::Attention => linker.translator = Some(translator(model)?),
        LinksFrom::Auto => {
            linker.translator = Some(translator(model)?);
            if !by_units {
                linker.statistical = Folder::new(model).load_aligner()?;
            }
        }
    }
    Ok(linker)
}

/// Learns word alignments, with a bar.
pub fn learn_aligner(pairs: &[Pair], console: &Console) -> WordAligner {
    let bar = Mutex::new(console.bar("learning word alignments", aligner::PASSES * pairs.len()));
    aligner::learn(pairs, &|share| {
        if let Ok(mut bar) = bar.lock() {
            bar.advance(share);
        }
    })
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
