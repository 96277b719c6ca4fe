//! `softalign align`: forced decoding of given pairs.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Result, bail};
use candle_core::Device;

use super::console::Console;
use super::formats::{item, renderer};
use super::gold::read_gold;
use super::input::{CHUNK, PairFiles, SHIPPED_TEST};
use super::linking::{check_links, linker, warn_if_linked_in_part};
use super::output::Output;
use super::reading::{refuse_reading, translator};
use super::usage::UsageError;
use crate::aligner;
use crate::alignment::{Gold, LinkedWords, Signs, suspicions};
use crate::cli::{AlignArgs, AlignmentFormat};
use crate::render::{Item, Renderer};
use crate::text::Pair;
use crate::translator::Linked;

pub fn run(args: &AlignArgs, device: &Device, console: &Console) -> Result<()> {
    check(args)?;
    let files = PairFiles::of(&args.pairs).unwrap_or_else(|| PairFiles::shipped(SHIPPED_TEST));
    let output = Output::open(&args.output)?;
    let lexicon = args.lexicon.as_deref().map(Output::open).transpose()?;
    let pairs = files.read("--pairs")?;
    let translator = if args.links.links_from.attention() {
        Some(translator(&args.model, &args.reading, &args.links, device)?)
    } else {
        refuse_reading(&args.reading)?;
        None
    };
    let mut linker = linker(&args.links, &args.model, translator.as_ref(), args.subwords, &pairs, device, console)?;
    linker.translator = translator;
    let read = |path: &PathBuf| read_gold(path, &pairs, linker.words, usize::from(args.gold_base));
    let gold = args.gold.as_ref().map(read).transpose()?;
    let mut dump = Dump {
        args,
        pairs: &pairs,
        gold,
        renderer: renderer(args.format, files.to_string(), &linker, &output, args.probs),
        output,
        lexicon: lexicon.map(|output| (output, LinkedWords::default())),
        signs: Vec::new(),
    };
    let mut bar = console.bar("aligning", pairs.len());
    for (chunk, part) in pairs.chunks(CHUNK).enumerate() {
        let linked = linker.link(part, &mut |count| bar.advance(count))?;
        for (id, linked) in (chunk * CHUNK..).zip(&linked) {
            warn_if_linked_in_part(linked, id, console);
            dump.add(id, linked)?;
        }
    }
    dump.finish()
}

/// Refuses options that do not go together.
fn check(args: &AlignArgs) -> Result<()> {
    check_links(&args.links, args.subwords)?;
    if args.probs && args.format != AlignmentFormat::Pharaoh {
        bail!(UsageError("--probs is for --format pharaoh; the other formats hold weights anyway".to_owned()));
    }
    if args.gold.is_some() && (args.format != AlignmentFormat::Html || args.subwords) {
        bail!(UsageError("--gold is shown by --format html, between words; evaluate --gold measures".to_owned()));
    }
    Ok(())
}

/// What is written of the pairs as they come, and what is collected of them to be written at the end.
struct Dump<'a> {
    args: &'a AlignArgs,
    pairs: &'a [Pair],
    gold: Option<Vec<Gold>>,
    renderer: Box<dyn Renderer>,
    output: Output,
    /// The word list, and where it goes, if one is asked for.
    lexicon: Option<(Output, LinkedWords)>,
    /// Each pair's signs, if the suspicious ones are asked for.
    signs: Vec<Signs>,
}

impl Dump<'_> {
    /// Adds the pair of number `id`.
    fn add(&mut self, id: usize, linked: &Linked) -> Result<()> {
        if let Some((_, words)) = &mut self.lexicon {
            let [source, target] = [linked.alignment.source(), linked.alignment.target()].map(listed);
            words.add(id, &source, &target, &linked.links);
        }
        if self.args.suspicious {
            self.signs.push(linked.signs());
            return Ok(());
        }
        let with_units = self.args.format == AlignmentFormat::Html && !self.args.subwords;
        let item = Item { gold: self.gold.as_ref().map(|gold| &gold[id]), ..item(id, linked, with_units) };
        self.output.with(|out| self.renderer.item(out, &item))
    }

    /// Writes what is left.
    fn finish(mut self) -> Result<()> {
        if self.args.suspicious {
            self.output.with(|out| write_suspicions(out, self.pairs, &self.signs))?;
        } else {
            self.output.with(|out| self.renderer.finish(out))?;
        }
        self.output.finish()?;
        if let Some((mut output, words)) = self.lexicon {
            output.with(|out| write_lexicon(out, self.pairs, &words))?;
            output.finish()?;
        }
        Ok(())
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
