//! `softalign translate`

use std::collections::VecDeque;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use anyhow::Result;
use candle_core::Device;

use super::console::{Bar, Console};
use super::document::TranslatedDocument;
use super::output_file::{Output, WrittenPath, ensure_distinct_paths, is_standard_output};
use super::pair_files::{ChunkedWork, process_chunks, refuse_columns_of_arguments};
use super::render_options::{check_figures, translation_format};
use super::repl::Repl;
use super::table_rows::{OpenedTable, OutputTable};
use super::translation_setup::TranslationSetup;
use super::translation_writer::TranslationWriter;
use super::unreadable::Unreadable;
use crate::cli::{ExplicitArgs, TranslateArgs, TranslationFormat};
use crate::error::usage_of;
use crate::render::AlignmentFormat;
use crate::text::{LineError, LineStream, TableRows, WordSplitting, count_lines, file_name, word_spans};
use crate::translator::{LineWarnings, LinkOptions, Markup, Sentence, Translator};

pub fn run(given: &ExplicitArgs<TranslateArgs>, device: &Device, console: &Console) -> Result<()> {
    let document = TranslatedDocument::open(&given.args)?;
    let args = &with_markup_of(document.as_ref(), &given.args);
    let (document, format) = match document {
        Some(document) if document.is_written(args, is_shown(args))? => (Some(document), None),
        document => (document, output_format(args)?),
    };
    check(given, format)?;
    let OpenedFiles { sentences, table, mut output } = OpenedFiles::open(args, document.as_ref(), format)?;
    let setup = TranslationSetup::new(args, device, console)?;
    let syntax = table.syntax_of_translations(output.path());
    table.write_header(&mut output)?;
    let results = TranslationWriter::new(args, format, &setup.translator, output, console)?.written_as(syntax);
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
        warnings: document
            .as_ref()
            .map_or_else(LineWarnings::default, |document| LineWarnings::new(&document.line_numbers())),
        document,
        lines: Vec::new(),
        count: 0,
        console,
    };
    let mut unreadable = Unreadable::new(args.on_error);
    process_chunks(&mut work, &mut unreadable)?;
    let LineTranslator { bar, setup, mut results, warnings, document, .. } = work;
    drop(bar);
    results.report(&warnings, console);
    if let Some(document) = document.filter(|_| format.is_none()) {
        results.write_document(&document.into_bytes()?)?;
    }
    results.finish()?;
    // The process ends: the system takes its memory back faster than piece by piece.
    std::mem::forget(setup);
    unreadable.finish(console)
}

/// Files that are open before the model is loaded.
struct OpenedFiles {
    sentences: Sentences,
    /// Table that the sentences are in.
    table: OutputTable,
    output: Output,
}

impl OpenedFiles {
    fn open(
        args: &TranslateArgs,
        document: Option<&TranslatedDocument>,
        format: Option<AlignmentFormat>,
    ) -> Result<Self> {
        let beside = [&args.dictionary, &args.constraints.terms].into_iter().filter_map(Option::as_deref);
        ensure_distinct_paths(Sentences::paths(args).chain(beside), [WrittenPath::new("--output", &args.output)])?;
        let output = Output::open(&args.output)?;
        if let Some(document) = document {
            let sentences = Sentences { parts: [SentenceSource::Given(document.texts())].into() };
            return Ok(Self { sentences, table: OutputTable::default(), output });
        }
        let input = Sentences::input(args).filter(|_| !is_interactive(args));
        let opened = input.map(|path| OutputTable::open(args, path)).transpose()?.flatten();
        let (table, rows) = match opened {
            Some(OpenedTable { table, rows }) => (table, Some(rows)),
            None => (OutputTable::default(), None),
        };
        let table = table.with_rows(format.is_none() && args.n_best == 1);
        Ok(Self { sentences: Sentences::open(args, rows)?, table, output })
    }
}

/// Translation of lines as they are read.
struct LineTranslator<'a> {
    args: &'a TranslateArgs,
    setup: TranslationSetup,
    sentences: Sentences,
    table: OutputTable,
    results: TranslationWriter,
    warnings: LineWarnings,
    /// Document that the sentences are in.
    document: Option<TranslatedDocument>,
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
        if first == 1 && !self.setup.form.has_cells() && self.document.is_none() {
            warn_of_tabs(&self.lines, self.console);
        }
        Ok((first..).zip(lines).map(|(number, line)| self.read(number, &line?)).collect())
    }

    fn process(&mut self, first: usize, chunk: &[Sentence], unreadable: &Unreadable) -> Result<()> {
        let mut translated = self.setup.translator.translate(chunk, first, &mut |count| self.bar.advance(count))?;
        for (id, (sentence, translations)) in (first..).zip(chunk.iter().zip(&translated)) {
            self.setup.warn(&mut self.warnings, id, sentence, &translations[0]);
        }
        self.table.add_rows(&self.lines, &mut translated);
        let bar = self.bar.handle();
        bar.suspend(|| {
            unreadable.warn(self.console);
            match &mut self.document {
                Some(document) if !self.results.has_alignments() => document.add(&translated),
                _ => self.results.write(first, chunk, &translated, unreadable)?,
            }
            Ok(())
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

/// Part of the sentences.
enum SentenceSource {
    Given(Vec<String>),
    /// File to be opened later, since two readers of standard input would share its lines.
    File(PathBuf),
    Lines(LineStream),
}

impl SentenceSource {
    /// Returns the number of sentences if it is known before they are read.
    fn count(&self) -> Option<usize> {
        match self {
            Self::Given(texts) => Some(texts.len()),
            Self::File(path) => count_lines(path),
            Self::Lines(_) => None,
        }
    }
}

impl Sentences {
    /// Returns the file of all sentences, unless they are among the arguments.
    fn input(args: &TranslateArgs) -> Option<&Path> {
        let input = args.input.as_deref().unwrap_or(Path::new(STANDARD_INPUT));
        args.text.is_empty().then_some(input)
    }

    /// Returns the input files.
    fn paths(args: &TranslateArgs) -> impl Iterator<Item = &Path> {
        let among_sentences = args.text.iter().map(Path::new).filter(|path| *path == Path::new(STANDARD_INPUT));
        Self::input(args).into_iter().chain(among_sentences)
    }

    /// Returns the sentences: the rows of a table, if there is one, or else those that the options name.
    fn open(args: &TranslateArgs, rows: Option<TableRows>) -> Result<Self> {
        let source = match (rows, Self::input(args)) {
            (Some(TableRows::Lines(lines)), _) => Some(SentenceSource::Lines(lines)),
            (Some(TableRows::Csv(rows)), _) => Some(SentenceSource::Given(rows)),
            (None, path) => path.map(|path| SentenceSource::File(path.to_owned())),
        };
        let mut parts = VecDeque::from_iter(source);
        for text in &args.text {
            match parts.back_mut() {
                _ if text == STANDARD_INPUT => parts.push_back(SentenceSource::File(PathBuf::from(STANDARD_INPUT))),
                Some(SentenceSource::Given(texts)) => texts.push(text.clone()),
                _ => parts.push_back(SentenceSource::Given(vec![text.clone()])),
            }
        }
        Ok(Self { parts })
    }

    /// Returns the number of sentences if it is known before they are read.
    fn count(&self) -> Option<usize> {
        self.parts.iter().map(SentenceSource::count).sum()
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

/// Returns the format of the output. With markup, a file named .html holds translated lines.
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

/// Returns the options with the markup of the texts of a document, if there is one.
fn with_markup_of(document: Option<&TranslatedDocument>, args: &TranslateArgs) -> TranslateArgs {
    let mut args = args.clone();
    if document.is_some() {
        args.options.markup = Markup::Html;
    }
    args
}

/// True if results appear in a terminal.
fn is_shown(args: &TranslateArgs) -> bool {
    is_standard_output(&args.output) && std::io::stdout().is_terminal()
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
            .warn(format!("\"{name}\" is translated as text; to translate the lines of this file, use --input {name}"));
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
    word_spans(text, WordSplitting::Script).len() == 1
}

/// Rejects options that exclude each other.
fn check(given: &ExplicitArgs<TranslateArgs>, format: Option<AlignmentFormat>) -> Result<()> {
    let args = &given.args;
    LinkOptions { by_tokens: args.tokens, ..args.options.links.clone() }.check()?;
    check_figures(args.figures.style(), format)?;
    let has_table = args.text.is_empty() || args.dictionary.is_some() || args.constraints.terms.is_some();
    if args.layout.describes_columns() && !has_table {
        return refuse_columns_of_arguments();
    }
    if given.names().contains(&"seed") && !args.options.decoding.is_sampled() {
        return usage_of("seed", "needs --sample or --mbr");
    }
    let mut of_links = given.names_of::<LinkOptions>();
    // Words in place of <unk> are those of --words.
    of_links.retain(|name| *name != "words");
    of_links.extend(args.tokens.then_some("tokens"));
    // An alignment can be saved from the prompt.
    if let Some(option) = of_links.first().filter(|_| format.is_none() && !is_interactive(args)) {
        return usage_of(option, "needs a --format with links, such as json");
    }
    Ok(())
}
