//! `softalign translate`

use std::collections::VecDeque;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use candle_core::Device;

use super::console::Console;
use super::conversation::converse;
use super::formats::{Manner, check_view, item, renderer};
use super::input::portions;
use super::lines::OddLines;
use super::linking::{Stored, check_links, linker};
use super::output::{Output, apart};
use super::reading::translator;
use super::search::{check_constraints, constrained, of_two_columns, strategy};
use super::sentence_lines::SentenceLines;
use super::usage::UsageError;
use crate::alignment::Notation;
use crate::cli::{TranslateArgs, TranslationFormat, UnknownLines};
use crate::render::{Item, Renderer};
use crate::text::{LineStream, Pair, Units, Words, count_lines, read_laid_out, word_spans};
use crate::translator::{Dictionary, Linked, Linker, Sentence, Translation, Translator};

pub fn run(args: &TranslateArgs, device: &Device, console: &Console) -> Result<()> {
    let strategy = strategy(&args.search, args.n_best)?;
    check(args)?;
    let form = SentenceLines::of(&args.layout, args.tag_source.as_deref(), &args.model[0])?
        .with_prefixes(args.constraints.prefixes);
    let interactive = args.text.is_empty() && args.input.is_none() && std::io::stdin().is_terminal();
    let read = [&args.input, &args.dictionary, &args.constraints.terms].into_iter().filter_map(Option::as_deref);
    apart(read, [("--output", &*args.output)])?;
    let mut output = Output::open(&args.output)?;
    let dictionary = match &args.dictionary {
        Some(path) => Some(Dictionary::of(read_laid_out(path, &of_two_columns(&args.layout))?)),
        None => args.replace_unknown.then(Dictionary::default),
    };
    let translator = translator(&args.model, &args.reading, &args.links, device)?
        .with_dictionary(dictionary)
        .with_unknown_kept(args.unknown == UnknownLines::Keep);
    let translator = constrained(translator, &args.constraints, &args.layout, console)?;
    if interactive {
        return converse(&translator, &strategy, &form, &mut output, console);
    }
    let mut sentences = Sentences::of(args);
    warn_of_loose_words(args, &translator, console);
    let mut results = Results::new(args, &translator, output, device, console)?;
    let mut odd = OddLines::default();
    let mut bar = console.bar("translating", sentences.count());
    let mut first = 0;
    for portion in portions() {
        let lines = sentences.arrived(portion.div_ceil(strategy.search.results()))?;
        if lines.is_empty() {
            break;
        }
        let part: Vec<Sentence> = lines.into_iter().map(|line| form.read(line)).collect();
        for (number, sentence) in (first + 1..).zip(&part) {
            translator.check_beginning(sentence).with_context(|| place(args, number))?;
        }
        let strategy = strategy.from_sentence(first);
        let translated = translator.translate(&part, &strategy, &mut |count| bar.advance(count))?;
        for (id, translations) in (first..).zip(&translated) {
            odd.see_translation(id, &translations[0]);
        }
        bar.hidden_while(|| results.write(first, &part, &translated))?;
        first += part.len();
    }
    drop(bar);
    odd.tell_parts(console);
    odd.tell_unknown(args.unknown.consequence(), console);
    odd.tell_unmet(console);
    results.finish()
}

/// What is written of translations.
struct Results<'a> {
    args: &'a TranslateArgs,
    output: Output,
    /// What links words and what writes them, if alignments are asked for.
    alignments: Option<(Linker, Box<dyn Renderer>)>,
}

impl<'a> Results<'a> {
    fn new(
        args: &'a TranslateArgs,
        translator: &Translator,
        output: Output,
        device: &Device,
        console: &Console,
    ) -> Result<Self> {
        let Some(format) = args.format.of_alignments() else { return Ok(Self { args, output, alignments: None }) };
        let linker =
            linker(&args.links, Stored::With(&args.model[0]), Some(translator), args.subwords, &[], device, console)?;
        let title = "translations".to_owned();
        let manner = Manner {
            format,
            title,
            view: args.view,
            probabilities: false,
            notation: Notation::default(),
            n_best: args.n_best > 1,
        };
        let renderer = renderer(manner, &linker, &output);
        Ok(Self { args, output, alignments: Some((linker, renderer)) })
    }

    /// Adds the translations of sentences, the first of which has number `first`, and hands them over.
    fn write(&mut self, first: usize, sentences: &[Sentence], translations: &[Vec<Translation>]) -> Result<()> {
        let Some((linker, renderer)) = &mut self.alignments else {
            write_texts(&mut self.output, translations, first, self.args.n_best)?;
            return self.output.flush();
        };
        for written in written(translations, sentences, first, linker)? {
            let texts = [&*sentences[written.id - first].text, &*written.translation.text];
            let units = self.args.format == TranslationFormat::Html && !self.args.subwords;
            let item = Item {
                rank: Some(written.rank),
                translation: Some(&written.translation.text),
                score: written.translation.score,
                ..item(written.id, texts, &written.linked, units)
            };
            self.output.with(|out| renderer.item(out, &item))?;
        }
        self.output.flush()
    }

    fn finish(mut self) -> Result<()> {
        if let Some((_, mut renderer)) = self.alignments {
            self.output.with(|out| renderer.finish(out))?;
        }
        self.output.finish()
    }
}

/// The sentences that the options name, as they arrive; `-` is standard input.
struct Sentences {
    parts: VecDeque<Part>,
}

enum Part {
    Given(Vec<String>),
    /// A file that is yet to be opened: two readers of standard input would share its lines.
    File(PathBuf),
    Lines(LineStream),
}

impl Sentences {
    fn of(args: &TranslateArgs) -> Self {
        let standard_input = Path::new("-");
        let mut parts = VecDeque::new();
        if args.text.is_empty() {
            parts.push_back(Part::File(args.input.clone().unwrap_or_else(|| standard_input.to_owned())));
        }
        for text in &args.text {
            match parts.back_mut() {
                _ if Path::new(text) == standard_input => parts.push_back(Part::File(standard_input.to_owned())),
                Some(Part::Given(texts)) => texts.push(text.clone()),
                _ => parts.push_back(Part::Given(vec![text.clone()])),
            }
        }
        Self { parts }
    }

    /// How many there are, if that can be known before they are read.
    fn count(&self) -> Option<usize> {
        let count = |part: &Part| match part {
            Part::Given(texts) => Some(texts.len()),
            Part::File(path) => count_lines(path),
            Part::Lines(_) => None,
        };
        self.parts.iter().map(count).sum()
    }

    /// Waits for sentences and takes those that have come, `most` at most; none at the end.
    fn arrived(&mut self, most: usize) -> Result<Vec<String>> {
        while let Some(part) = self.parts.front_mut() {
            let sentences = match part {
                Part::Given(texts) => texts.drain(..most.min(texts.len())).collect(),
                Part::File(path) => {
                    *part = Part::Lines(LineStream::open(path)?);
                    continue;
                }
                Part::Lines(lines) => lines.arrived(most)?,
            };
            if !sentences.is_empty() {
                return Ok(sentences);
            }
            self.parts.pop_front();
        }
        Ok(Vec::new())
    }
}

/// Where a sentence stands, by its number from 1, for messages.
fn place(args: &TranslateArgs, number: usize) -> String {
    match &args.input {
        Some(path) => format!("{}:{number}", path.display()),
        None => format!("sentence {number}"),
    }
}

/// Tells of what looks like a sentence without its quotes, unless single words are what this model is for.
fn warn_of_loose_words(args: &TranslateArgs, translator: &Translator, console: &Console) {
    let of_sentences = translator.config().text.source_units != Units::Char;
    if of_sentences && args.text.len() > 1 && args.text.iter().all(|text| is_word(text)) {
        let count = args.text.len();
        console.warn(format!("{count} words are translated one by one; put a sentence in quotes to have it as one"));
    }
}

fn is_word(text: &str) -> bool {
    word_spans(text, Words::Whitespace).len() == 1
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
    sentences: &[Sentence],
    first: usize,
    linker: &Linker,
) -> Result<Vec<Written<'a>>> {
    let all = || translations.iter().enumerate().flat_map(|(index, found)| found.iter().map(move |one| (index, one)));
    let pair =
        |(index, one): (usize, &Translation)| Pair { source: sentences[index].text.clone(), target: one.text.clone() };
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
    check_view(args.view, args.format.of_alignments())?;
    check_constraints(&args.constraints)?;
    if args.layout.describes_columns() && args.dictionary.is_none() && args.constraints.terms.is_none() {
        bail!(UsageError(
            "--csv, --header and --columns are for --dictionary and --terms here: sentences are whole lines".to_owned()
        ));
    }
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
