//! `softalign align`: forced decoding of given pairs.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Result, bail};
use candle_core::Device;

use super::console::Console;
use super::formats::{item, renderer};
use super::gold::read_gold;
use super::input::{PairFiles, SHIPPED_TEST};
use super::linking::{check_links, linker, warn_if_linked_in_part};
use super::output::Output;
use super::reading::{refuse_reading, translator};
use super::usage::UsageError;
use crate::aligner;
use crate::alignment::{LinkedWords, Signs, suspicions};
use crate::cli::{AlignArgs, AlignmentFormat};
use crate::render::Item;
use crate::text::Pair;

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
    let translator = if args.links.links_from.attention() {
        Some(translator(&args.model, &args.reading, &args.links, device)?)
    } else {
        refuse_reading(&args.reading)?;
        None
    };
    let mut linker = linker(&args.links, &args.model, translator.as_ref(), args.subwords, &pairs, device, console)?;
    linker.translator = translator;
    let mut renderer = renderer(args.format, files.to_string(), &linker, &output, args.probs);
    let mut bar = console.bar("aligning", pairs.len());
    let mut words = LinkedWords::default();
    let mut signs = Vec::new();
    for (chunk, part) in pairs.chunks(CHUNK).enumerate() {
        for (index, linked) in linker.link(part, &mut |count| bar.advance(count))?.iter().enumerate() {
            let id = chunk * CHUNK + index;
            warn_if_linked_in_part(linked, id, console);
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
        let example = [source, target].map(|text| cell(text)).join("\t");
        writeln!(out, "{}\t{}\t{}\t{shares}\t{example}", cell(&entry.source), cell(&entry.target), entry.count)?;
    }
    Ok(())
}

/// Text as a table takes it: what some program or other takes for the end of a cell or of a line becomes a space.
fn cell(text: &str) -> String {
    text.replace(|character: char| character.is_control() || matches!(character, '\u{2028}' | '\u{2029}'), " ")
}

/// One line a pair, the most suspicious first.
fn write_suspicions(out: &mut dyn Write, pairs: &[Pair], signs: &[Signs]) -> std::io::Result<()> {
    let found = suspicions(signs);
    let mut order: Vec<usize> = (0..pairs.len()).collect();
    order.sort_by(|&a, &b| found[b].total_cmp(&found[a]).then(a.cmp(&b)));
    writeln!(out, "line\tsuspicion\tscore\tunlinked\tsource\ttarget")?;
    for pair in order {
        let Signs { score, unlinked, .. } = signs[pair];
        let texts = [&pairs[pair].source, &pairs[pair].target].map(|text| cell(text)).join("\t");
        writeln!(out, "{}\t{:.2}\t{score:.3}\t{unlinked:.2}\t{texts}", pair + 1, found[pair])?;
    }
    Ok(())
}
