//! `softalign translate`

use std::collections::VecDeque;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use candle_core::Device;

use super::console::{Bar, Console};
use super::output_file::{Output, ensure_distinct_paths};
use super::pair_files::{COLUMNS_OF_ARGUMENTS, ChunkedWork, process_chunks};
use super::render_options::{check_figures, translation_format};
use super::repl::Repl;
use super::table_rows::OutputTable;
use super::translation_setup::TranslationSetup;
use super::translation_writer::TranslationWriter;
use super::unreadable::Unreadable;
use crate::cli::{ExplicitArgs, TranslateArgs, TranslationFormat};
use crate::error::usage;
use crate::render::AlignmentFormat;
use crate::text::{LineError, LineStream, RowSyntax, TableRows, WordSplitting, count_lines, file_name, word_spans};
use crate::translator::{LineWarnings, LinkOptions, Markup, Sentence, Translator};

pub fn run(given: &ExplicitArgs<TranslateArgs>, device: &Device, console: &Console) -> Result<()> {
    let args = &given.args;
    let format = output_format(args)?;
    check(given, format)?;
    let (output, sentences, table) = open_files(args, format)?;
    let setup = TranslationSetup::new(args, device, console)?;
    let (table, results) = open_results(args, format, &setup, output, table, console)?;
    if is_interactive(args) {
        let results = results.shaded_by(setup.translator.translator());
        return Repl::new(args, setup, results, device, console).run();
    }
    let setup = TranslationSetup { form: setup.form.with_column(table.column()), ..setup };
    warn_of_arguments(args, setup.translator.translator(), console);
    let mut work = LineTranslator {
        args,
        bar: console.bar("translating", sentences.count()),
        setup,
        sentences,
        table,
        results,
        warnings: LineWarnings::default(),
        lines: Vec::new(),
        count: 0,
        console,
    };
    let mut unreadable = Unreadable::new(args.on_error);
    process_chunks(&mut work, &mut unreadable)?;
    let LineTranslator { bar, setup, results, warnings, .. } = work;
    drop(bar);
    results.report(&warnings, console);
    results.finish()?;
    // The process ends: the system takes its memory back faster than piece by piece.
    std::mem::forget(setup);
    unreadable.finish(console)
}

/// Opens the output, and the sentences with the table that they are in.
fn open_files(args: &TranslateArgs, format: Option<AlignmentFormat>) -> Result<(Output, Sentences, OutputTable)> {
    let beside = [&args.dictionary, &args.constraints.terms].into_iter().filter_map(Option::as_deref);
    ensure_distinct_paths(Sentences::paths(args).chain(beside), [("--output", &*args.output)])?;
    let output = Output::open(&args.output)?;
    let (sentences, table) = Sentences::open(args)?;
    Ok((output, sentences, table.with_rows(format.is_none() && args.n_best == 1)))
}

/// Writes the header of the table, and returns the table with the writer of the results.
fn open_results(
    args: &TranslateArgs,
    format: Option<AlignmentFormat>,
    setup: &TranslationSetup,
    mut output: Output,
    table: OutputTable,
    console: &Console,
) -> Result<(OutputTable, TranslationWriter)> {
    let syntax = RowSyntax::of_file(output.path());
    if let Some(header) = table.header(syntax) {
        output.with(|out| writeln!(out, "{header}"))?;
    }
    let results = TranslationWriter::new(args, format, &setup.translator, output, console)?;
    let results = results.written_as(table.syntax_of_translations(syntax));
    Ok((table, results))
}

/// Translation of lines as they are read.
struct LineTranslator<'a> {
    args: &'a TranslateArgs,
    setup: TranslationSetup,
    sentences: Sentences,
    table: OutputTable,
    results: TranslationWriter,
    warnings: LineWarnings,
    bar: Bar,
    /// Lines of the current chunk.
    lines: Vec<String>,
    /// Number of lines that were read.
    count: usize,
    console: &'a Console,
}

impl ChunkedWork for LineTranslator<'_> {
    type Item = Sentence;

    fn next_chunk(&mut self, most: usize) -> Result<Vec<Result<Sentence>>> {
        let results = self.setup.translator.request().search.results();
        let lines = self.sentences.next_chunk(most.div_ceil(results))?;
        let first = self.count + 1;
        self.count += lines.len();
        self.lines = lines.iter().map(|line| line.as_ref().map_or_else(|_| String::new(), String::clone)).collect();
        if first == 1 && !self.setup.form.has_cells() {
            warn_of_tabs(&self.lines, self.console);
        }
        Ok((first..).zip(lines).map(|(number, line)| self.read(number, &line?)).collect())
    }

    fn process(&mut self, first: usize, chunk: &[Sentence], unreadable: &Unreadable) -> Result<()> {
        let TranslationSetup { translator, form } = &self.setup;
        let mut translated = translator.translate(chunk, first, &mut |count| self.bar.advance(count))?;
        for (id, (sentence, translations)) in (first..).zip(chunk.iter().zip(&translated)) {
            self.warnings.add_translation(id, &translations[0]);
            if let Some(source) = form.with_features(sentence) {
                self.warnings.add_features(id, source, translator.translator());
            }
        }
        self.table.add_rows(&self.lines, &mut translated);
        let bar = self.bar.handle();
        bar.suspend(|| {
            unreadable.warn(self.console);
            self.results.write(first, chunk, &translated, unreadable)
        })
    }
}

impl LineTranslator<'_> {
    /// Parses a line, whose number counts from 1.
    fn read(&self, number: usize, line: &str) -> Result<Sentence> {
        let sentence = self.setup.form.read_for(&self.setup.translator, self.table.cells(line));
        sentence.map_err(|reason| LineError::new(place(self.args, number), number, &reason).into())
    }
}

/// Name of standard input.
const STANDARD_INPUT: &str = "-";

/// Stream of the sentences that the options name.
struct Sentences {
    parts: VecDeque<SentenceSource>,
}

enum SentenceSource {
    Given(Vec<String>),
    /// File to be opened later, since two readers of standard input would share its lines.
    File(PathBuf),
    Lines(LineStream),
}

impl Sentences {
    /// Returns the input files.
    fn paths(args: &TranslateArgs) -> impl Iterator<Item = &Path> {
        let input = args.input.as_deref().unwrap_or(Path::new(STANDARD_INPUT));
        let among_sentences = args.text.iter().map(Path::new).filter(|path| *path == Path::new(STANDARD_INPUT));
        Some(input).filter(|_| args.text.is_empty()).into_iter().chain(among_sentences)
    }

    /// Returns the sentences and the table that they are in.
    fn open(args: &TranslateArgs) -> Result<(Self, OutputTable)> {
        let input = Self::paths(args).next().filter(|_| args.text.is_empty());
        let table = input.filter(|_| !is_interactive(args)).map(|path| OutputTable::open(args, path)).transpose()?;
        let (source, table) = match table.flatten() {
            Some((table, TableRows::Lines(lines))) => (Some(SentenceSource::Lines(lines)), table),
            Some((table, TableRows::Csv(rows))) => (Some(SentenceSource::Given(rows)), table),
            None if args.options.markup == Markup::Html && input.is_some_and(is_html) => (
                input.map(read_document).transpose()?.map(|text| SentenceSource::Given(vec![text])),
                OutputTable::default(),
            ),
            None => (input.map(|path| SentenceSource::File(path.to_owned())), OutputTable::default()),
        };
        let mut parts = VecDeque::from_iter(source);
        for text in &args.text {
            match parts.back_mut() {
                _ if text == STANDARD_INPUT => parts.push_back(SentenceSource::File(PathBuf::from(STANDARD_INPUT))),
                Some(SentenceSource::Given(texts)) => texts.push(text.clone()),
                _ => parts.push_back(SentenceSource::Given(vec![text.clone()])),
            }
        }
        Ok((Self { parts }, table))
    }

    /// Returns the number of sentences if it is known before they are read.
    fn count(&self) -> Option<usize> {
        let count = |part: &SentenceSource| match part {
            SentenceSource::Given(texts) => Some(texts.len()),
            SentenceSource::File(path) => count_lines(path),
            SentenceSource::Lines(_) => None,
        };
        self.parts.iter().map(count).sum()
    }

    /// Waits for sentences and returns those available, at most `most`; none at the end.
    fn next_chunk(&mut self, most: usize) -> Result<Vec<Result<String>>> {
        while let Some(part) = self.parts.front_mut() {
            let sentences = match part {
                SentenceSource::Given(texts) => texts.drain(..most.min(texts.len())).map(Ok).collect(),
                SentenceSource::File(path) => {
                    *part = SentenceSource::Lines(LineStream::open(path)?);
                    continue;
                }
                SentenceSource::Lines(lines) => lines.next_chunk(most),
            };
            if !sentences.is_empty() {
                return Ok(sentences);
            }
            self.parts.pop_front();
        }
        Ok(Vec::new())
    }
}

/// Returns the format of the output. With markup, a file named .html holds the translated document.
fn output_format(args: &TranslateArgs) -> Result<Option<AlignmentFormat>> {
    let is_text = matches!(args.format, None | Some(TranslationFormat::Text));
    if args.options.markup == Markup::Html && is_text && is_html(&args.output) {
        return Ok(None);
    }
    translation_format(args.format, &args.output)
}

fn is_html(path: &Path) -> bool {
    AlignmentFormat::from_extension(path) == Some(AlignmentFormat::Html)
}

/// Reads an HTML document, without the line end after it.
fn read_document(path: &Path) -> Result<String> {
    let bytes = std::fs::read(path).with_context(|| format!("{}: cannot read this file", path.display()))?;
    let text = String::from_utf8(bytes).map_err(|_| anyhow!("{}: not UTF-8; convert the document", path.display()))?;
    Ok(text.strip_suffix('\n').map_or_else(|| text.clone(), str::to_owned))
}

/// Returns the location of a sentence, counted from 1, for messages.
fn place(args: &TranslateArgs, number: usize) -> String {
    match &args.input {
        Some(path) => format!("{}:{number}", file_name(path)),
        None if args.text.is_empty() => format!("standard input:{number}"),
        None => format!("sentence {number}"),
    }
}

/// True if sentences are typed at a prompt.
fn is_interactive(args: &TranslateArgs) -> bool {
    args.text.is_empty() && args.input.is_none() && std::io::stdin().is_terminal()
}

/// Warns of arguments that look like an unquoted sentence, unless the model translates single words, and of names of files.
fn warn_of_arguments(args: &TranslateArgs, translator: &Translator, console: &Console) {
    let of_sentences = !translator.config().text.source_tokenization.are_characters();
    if of_sentences && args.text.len() > 1 && args.text.iter().all(|text| is_word(text)) {
        let count = args.text.len();
        console.warn(format!("{count} words are translated one by one; put a sentence in quotes"));
    }
    for name in args.text.iter().filter(|text| Path::new(text).is_file()) {
        console
            .warn(format!("{name:?} is translated as text; to translate the lines of this file, use --input {name}"));
    }
}

/// Warns of lines with tabs that are translated as they are.
fn warn_of_tabs(lines: &[String], console: &Console) {
    if let Some(line) = lines.iter().position(|line| line.contains('\t')) {
        console.warn(format!(
            "line {} has tabs and is translated as a whole; --columns 1 translates the first of its columns",
            line + 1
        ));
    }
}

fn is_word(text: &str) -> bool {
    word_spans(text, WordSplitting::Whitespace).len() == 1
}

/// Rejects options that exclude each other.
fn check(given: &ExplicitArgs<TranslateArgs>, format: Option<AlignmentFormat>) -> Result<()> {
    let args = &given.args;
    LinkOptions { by_tokens: args.tokens, ..args.options.links.clone() }.check()?;
    check_figures(args.figures.style(), format)?;
    let has_table = args.text.is_empty() || args.dictionary.is_some() || args.constraints.terms.is_some();
    if args.layout.describes_columns() && !has_table {
        return usage(COLUMNS_OF_ARGUMENTS);
    }
    let mut of_links = given.names_of::<LinkOptions>();
    // Words in place of <unk> are those of --words.
    of_links.retain(|name| *name != "words");
    of_links.extend(args.tokens.then_some("tokens"));
    // An alignment can be saved from the prompt.
    if let Some(option) = of_links.first().filter(|_| format.is_none() && !is_interactive(args)) {
        return usage(format!("--{option} needs a --format with links, such as json"));
    }
    Ok(())
}
