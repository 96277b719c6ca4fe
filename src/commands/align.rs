//! `softalign align`: forced decoding of given pairs.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::{Result, bail, ensure};
use candle_core::Device;

use super::UsageError;
use super::console::Console;
use super::gold::read_gold;
use super::input::{PairFiles, SHIPPED_TEST};
use super::output::Output;
use crate::aligner::{self, WordAligner};
use crate::alignment::{LinkedWords, Signs, suspicions};
use crate::checkpoint::Folder;
use crate::cli::{AlignArgs, AlignmentFormat, LinkArgs, LinksFrom};
use crate::render::{Heatmap, Html, Item, Json, Nematus, Npz, Pharaoh, Renderer, Svg, Tsv, Units};
use crate::text::Pair;
use crate::translator::{Aligned, LONGEST, Linked, Linker, Translator};

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
    let lexicon = args.lexicon.as_deref().map(Output::open).transpose()?;
    let pairs = files.read("--pairs")?;
    if args.gold.is_some() && (args.format != AlignmentFormat::Html || args.subwords) {
        bail!(UsageError("--gold is shown by --format html, between words; evaluate --gold measures".to_owned()));
    }
    let read = |path: &PathBuf| read_gold(path, &pairs, args.links.words, usize::from(args.gold_base));
    let gold = args.gold.as_ref().map(read).transpose()?;
    let mut linker = linker(&args.links, &args.model, args.subwords, &pairs, device, console)?;
    if linker.attention {
        linker.translator = Some(Translator::load(&args.model, device)?.with_words(args.links.words));
    }
    let mut renderer = renderer(args.format, files.names().join(" and "), &linker, &output, args.probs);
    let mut bar = console.bar("aligning", pairs.len());
    let mut words = LinkedWords::default();
    let mut signs = Vec::new();
    for (chunk, part) in pairs.chunks(CHUNK).enumerate() {
        for (index, linked) in linker.link(part, &mut |count| bar.advance(count))?.iter().enumerate() {
            let id = chunk * CHUNK + index;
            if let Some(aligned) = &linked.aligned {
                warn_if_cut(aligned, id, console);
            }
            if lexicon.is_some() {
                let [source, target] = [linked.alignment.source(), linked.alignment.target()].map(listed);
                words.add(id, &source, &target, &linked.links);
            }
            if args.suspicious {
                signs.push(linked.signs());
                continue;
            }
            let with_units = args.format == AlignmentFormat::Html && !args.subwords;
            let item = Item { gold: gold.as_ref().map(|gold| &gold[id]), ..item(id, linked, with_units) };
            output.with(|out| renderer.item(out, &item))?;
        }
    }
    if args.suspicious {
        output.with(|out| write_suspicions(out, &pairs, &signs))?;
    } else {
        output.with(|out| renderer.finish(out))?;
    }
    output.finish()?;
    match lexicon {
        Some(mut lexicon) => {
            lexicon.with(|out| write_lexicon(out, &pairs, &words))?;
            lexicon.finish()
        }
        None => Ok(()),
    }
}

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

/// Words as a word list has them: without capitals and outer punctuation, and nothing of what is punctuation alone.
fn listed(words: &[String]) -> Vec<String> {
    let listed = |word: &String| Some(aligner::normalised(word)).filter(|word| word.chars().any(char::is_alphanumeric));
    words.iter().map(|word| listed(word).unwrap_or_default()).collect()
}

/// One line a word and translation.
fn write_lexicon(out: &mut dyn Write, pairs: &[Pair], words: &LinkedWords) -> std::io::Result<()> {
    writeln!(out, "word\ttranslation\tcount\tp(translation|word)\tp(word|translation)\texample\texample_translation")?;
    for entry in words.entries() {
        let Pair { source, target } = &pairs[entry.example];
        let shares = format!("{:.4}\t{:.4}", entry.given_source, entry.given_target);
        let example = [source, target].map(|text| text.replace('\t', " ")).join("\t");
        writeln!(out, "{}\t{}\t{}\t{shares}\t{example}", entry.source, entry.target, entry.count)?;
    }
    Ok(())
}

/// One line a pair, the most suspicious first.
fn write_suspicions(out: &mut dyn Write, pairs: &[Pair], signs: &[Signs]) -> std::io::Result<()> {
    let found = suspicions(signs);
    let mut order: Vec<usize> = (0..pairs.len()).collect();
    order.sort_by(|&a, &b| found[b].total_cmp(&found[a]).then(a.cmp(&b)));
    writeln!(out, "line\tsuspicion\tscore\tunlinked\tsource\ttarget")?;
    for pair in order {
        let Signs { score, unlinked, .. } = signs[pair];
        let texts = [&pairs[pair].source, &pairs[pair].target].map(|text| text.replace('\t', " ")).join("\t");
        writeln!(out, "{}\t{:.2}\t{score:.3}\t{unlinked:.2}\t{texts}", pair + 1, found[pair])?;
    }
    Ok(())
}

/// Refuses options of links that do not go together.
pub fn check_links(args: &LinkArgs, subwords: bool) -> Result<()> {
    if let Some(threshold) = args.threshold {
        check_threshold(threshold)?;
    }
    if !args.links_from.attention() && (subwords || args.reverse_model.is_some()) {
        bail!(UsageError("--subwords and --reverse-model need attention: leave out --links-from".to_owned()));
    }
    if args.symmetrise.is_some() && args.links_from == LinksFrom::Attention && args.reverse_model.is_none() {
        bail!(UsageError("--symmetrise needs two directions: give --reverse-model as well".to_owned()));
    }
    Ok(())
}

/// What the options ask to be linked by, but for the model. `pairs` are those that an aligner may be learnt from.
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
        attention: args.links_from.attention(),
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
        LinksFrom::Attention => {}
        LinksFrom::Auto if by_units => {}
        LinksFrom::Auto => linker.statistical = Folder::new(model).load_aligner()?,
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
