//! `softalign translate`

use std::io::{BufRead, IsTerminal};
use std::path::Path;

use anyhow::{Result, bail};
use candle_core::Device;

use super::console::Console;
use super::formats::{heatmap, item, renderer};
use super::input::CHUNK;
use super::linking::{check_links, linker, warn_if_cut};
use super::output::Output;
use super::reading::translator;
use super::search::beam_settings;
use super::usage::UsageError;
use crate::cli::{TranslateArgs, TranslationFormat};
use crate::render::{Heatmap, Item};
use crate::search::BeamSettings;
use crate::text::{Pair, read_lines, read_tsv};
use crate::translator::{Dictionary, Linked, Linker, Translation, Translator};

pub fn run(args: &TranslateArgs, device: &Device, console: &Console) -> Result<()> {
    let mut beam = beam_settings(&args.search)?;
    check(args)?;
    beam.best = usize::from(args.n_best);
    beam.beam = beam.beam.max(beam.best);
    let interactive = args.text.is_empty() && args.input.is_none() && std::io::stdin().is_terminal();
    let mut output = Output::open(&args.output)?;
    let dictionary = match &args.dictionary {
        Some(path) => Some(Dictionary::of(read_tsv(path)?)),
        None => args.replace_unknown.then(Dictionary::default),
    };
    let translator = translator(&args.model, &args.reading, &args.links, device)?.with_dictionary(dictionary);
    if interactive {
        return converse(&translator, &beam, &mut output, console);
    }
    let sentences = match &args.input {
        Some(path) => read_lines(path)?,
        None if args.text.is_empty() => read_lines(Path::new("-"))?,
        None => args.text.clone(),
    };
    let mut alignments = match args.format.of_alignments() {
        None => None,
        Some(format) => {
            let linker = linker(&args.links, &args.model, Some(&translator), args.subwords, &[], device, console)?;
            let renderer = renderer(format, "translations".to_owned(), &linker, &output, false);
            Some((linker, renderer))
        }
    };
    let mut bar = console.bar("translating", sentences.len());
    let size = CHUNK.div_ceil(beam.best);
    for (chunk, sentences) in sentences.chunks(size).enumerate() {
        let translated = translator.translate(sentences, &beam, &mut |count| bar.advance(count))?;
        for (index, translations) in translated.iter().enumerate() {
            warn_if_cut(&translations[0].alignment, chunk * size + index, console);
        }
        let first = chunk * size;
        let Some((linker, renderer)) = &mut alignments else {
            write_texts(&mut output, &translated, first, args.n_best)?;
            continue;
        };
        for written in written(&translated, sentences, first, linker)? {
            let units = args.format == TranslationFormat::Html && !args.subwords;
            let item = Item {
                rank: Some(written.rank),
                translation: Some(&written.translation.text),
                score: written.translation.score,
                ..item(written.id, &written.linked, units)
            };
            output.with(|out| renderer.item(out, &item))?;
        }
    }
    if let Some((_, mut renderer)) = alignments {
        output.with(|out| renderer.finish(out))?;
    }
    output.finish()
}

/// A translation with its links.
struct Written<'a> {
    id: usize,
    rank: usize,
    translation: &'a Translation,
    linked: Linked,
}

/// The translations of sentences, the first of which has number `first`, with their links.
fn written<'a>(
    translations: &'a [Vec<Translation>],
    sentences: &[String],
    first: usize,
    linker: &Linker,
) -> Result<Vec<Written<'a>>> {
    let all = || translations.iter().enumerate().flat_map(|(index, found)| found.iter().map(move |one| (index, one)));
    let pair =
        |(index, one): (usize, &Translation)| Pair { source: sentences[index].clone(), target: one.text.clone() };
    let pairs: Vec<Pair> = all().map(pair).collect();
    let linked = linker.link_read(all().map(|(_, one)| one.alignment.clone()).collect(), &pairs)?;
    let ranks = translations.iter().flat_map(|found| 1..=found.len());
    let written = all().zip(ranks).zip(linked);
    Ok(written
        .map(|(((index, translation), rank), linked)| Written { id: first + index, rank, translation, linked })
        .collect())
}

/// Refuses options that do not go together.
fn check(args: &TranslateArgs) -> Result<()> {
    check_links(&args.links, args.subwords)?;
    if !args.links.links_from.attention() {
        bail!(UsageError("--links-from must be auto or attention here: translations come from the model".to_owned()));
    }
    if args.links.reverse_model.is_some() && args.format.of_alignments().is_none() {
        bail!(UsageError("--reverse-model links words: give a --format that shows links, such as json".to_owned()));
    }
    Ok(())
}

/// Writes translations alone, a line each; where several of a sentence are asked for, with its number and their scores.
/// The first sentence has number `first`.
fn write_texts(output: &mut Output, translations: &[Vec<Translation>], first: usize, n_best: u16) -> Result<()> {
    for (id, found) in (first..).zip(translations) {
        for Translation { text, score, .. } in found {
            let text = output.shown(text).into_owned();
            output.with(|out| match n_best {
                1 => writeln!(out, "{text}"),
                _ => writeln!(out, "{id} ||| {text} ||| {score:.4}"),
            })?;
        }
    }
    Ok(())
}

/// Reads sentences from the terminal until its end.
fn converse(translator: &Translator, beam: &BeamSettings, output: &mut Output, console: &Console) -> Result<()> {
    console.note("A sentence gives its translation, :align the alignment of the last one, :quit or Ctrl-D ends.");
    let drawing: Heatmap = heatmap(output);
    let mut last: Option<Translation> = None;
    let mut lines = std::io::stdin().lock();
    loop {
        output.with(|out| {
            write!(out, "> ")?;
            out.flush()
        })?;
        let mut line = Vec::new();
        if lines.read_until(b'\n', &mut line)? == 0 {
            return output.with(|out| writeln!(out));
        }
        let Ok(line) = String::from_utf8(line) else {
            console.warn("this was not UTF-8; set the terminal to UTF-8");
            continue;
        };
        match (line.trim(), &last) {
            ("", _) => {}
            (":quit" | ":q", _) => return Ok(()),
            (":align" | ":a", Some(translation)) => {
                output.with(|out| drawing.matrix(out, &translation.alignment.by_words()))?;
            }
            (":align" | ":a", None) => console.note("nothing has been translated yet"),
            (sentence, _) => {
                let mut found = translator.translate(&[sentence.to_owned()], beam, &mut |_| {})?;
                let best = found.remove(0).remove(0);
                let text = output.shown(&best.text).into_owned();
                output.with(|out| writeln!(out, "{text}"))?;
                last = Some(best);
            }
        }
    }
}
