//! `softalign evaluate`

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use candle_core::Device;
use serde::Serialize;

use super::by_length::{self, ClassMeasures, Lengths, Measures};
use super::console::Console;
use super::gold::read_gold;
use super::input::{PairFiles, SHIPPED_GOLD, SHIPPED_TEST};
use super::linking::{check_links, linker};
use super::named_models::{NamedModel, named_models};
use super::numbers::readable;
use super::output::{Output, apart};
use super::reading::translator;
use super::search::beam_settings;
use super::usage::UsageError;
use crate::alignment::{Agreement, Gold, Shift, ShiftedCounts, Threshold, ThresholdSearch};
use crate::cli::EvaluateArgs;
use crate::metrics::Scores;
use crate::render::SCHEMA;
use crate::search::BeamSettings;
use crate::text::{Pair, Words, word_spans};
use crate::translator::{Linked, Linker, Translator};

/// What is measured.
#[derive(Serialize)]
struct Evaluation {
    schema: u32,
    #[serde(flatten)]
    measures: Measures,
    #[serde(flatten)]
    of_words: Option<WordErrors>,
    #[serde(flatten)]
    judgement: Option<Judgement>,
    #[serde(skip_serializing_if = "Option::is_none")]
    by_length: Option<Vec<ClassMeasures>>,
}

/// The errors of a model that turns single words into others or into their sounds, by the names that they have there.
#[derive(Serialize)]
struct WordErrors {
    /// Words that are not exactly right, in percent.
    wer: f64,
    /// Edits of symbols, such as phones, for each one of the references, in percent; where the references are single words
    /// too, symbols are characters.
    per: f64,
}

impl WordErrors {
    /// Those of pairs whose sources are single words; none where one is not.
    fn of(pairs: &[Pair], scores: &Scores) -> Option<Self> {
        let words = |text: &str| word_spans(text, Words::Whitespace).len();
        let single = pairs.iter().all(|pair| words(&pair.source) <= 1);
        let spelt = pairs.iter().any(|pair| words(&pair.target) > 1);
        let per = if spelt { scores.word_error_rate } else { scores.character_error_rate };
        single.then_some(Self { wer: 100.0 - scores.exact_match, per })
    }
}

/// What gold alignments say.
#[derive(Serialize)]
struct Judgement {
    #[serde(flatten)]
    agreement: Agreement,
    #[serde(skip_serializing_if = "Option::is_none")]
    shift: Option<Shift>,
    #[serde(flatten)]
    best: Option<Threshold>,
}

/// A model among several.
#[derive(Serialize)]
struct Compared {
    name: String,
    folder: PathBuf,
    #[serde(flatten)]
    evaluation: Evaluation,
}

/// Several models.
#[derive(Serialize)]
struct Comparison<'a> {
    models: &'a [Compared],
}

/// What every model is measured on, and how.
struct Exam {
    pairs: Vec<Pair>,
    gold: Option<Vec<Gold>>,
    lengths: Option<Lengths>,
    beam: BeamSettings,
    search_threshold: bool,
}

pub fn run(args: &EvaluateArgs, device: &Device, console: &Console) -> Result<()> {
    let beam = beam_settings(&args.search)?;
    check_links(&args.links, false)?;
    let given = PairFiles::of(&args.pairs);
    let gold_path = match (&args.gold, &given) {
        (None, None) => Some(PathBuf::from(SHIPPED_GOLD)),
        (gold, _) => gold.clone(),
    };
    if args.search_threshold && gold_path.is_none() {
        bail!(UsageError("--search-threshold needs gold alignments: name them with --gold".to_owned()));
    }
    let models = named_models(&args.model)?;
    let files = given.unwrap_or_else(|| PairFiles::shipped(SHIPPED_TEST));
    let written = args.figure.as_deref().map(|path| ("--figure", path));
    apart(files.paths().into_iter().chain(gold_path.as_deref()), written)?;
    let figure = args.figure.as_deref().map(open_figure).transpose()?;
    let pairs = files.read("--pairs")?;
    files.warn_of_spreadsheet(&pairs, console);
    ensure!(!pairs.is_empty(), "{files}: no sentence pair in it");
    let by_length = args.by_length || figure.is_some();
    let lengths = by_length.then(|| Lengths::of(&pairs)).transpose().with_context(|| files.to_string())?;

    // All models are read before the first is measured: what is wrong with one of them is said at once.
    let mut ready = Vec::with_capacity(models.len());
    for models in models.chunks(if args.ensemble { models.len() } else { 1 }) {
        let folders: Vec<PathBuf> = models.iter().map(|model| model.folder.clone()).collect();
        let translator = translator(&folders, &args.reading, &args.links, device)?;
        let linker = linker(&args.links, &folders[0], Some(&translator), false, &pairs, device, console)?;
        ready.push((models[0].clone(), translator, linker));
    }
    let gold = match gold_path {
        Some(path) => Some(read_gold(&path, &pairs, common_words(&ready)?, args.gold_base.into())?),
        None => None,
    };
    let exam = Exam { pairs, gold, lengths, beam, search_threshold: args.search_threshold };
    let several = ready.len() > 1;
    let mut compared = Vec::with_capacity(ready.len());
    for (model, translator, linker) in ready {
        if several {
            console.note(&model.name);
        }
        let evaluation = exam.evaluate(&translator, &linker, console)?;
        ensure!(
            evaluation.measures.perplexity.is_finite(),
            "{}: the perplexity is beyond all numbers, since this model's parameters are too large; train it anew",
            model.folder.display()
        );
        if let Some(judgement) = &evaluation.judgement {
            warn_of_shift(judgement, console);
        }
        compared.push(Compared { name: model.name, folder: model.folder, evaluation });
    }
    // Each result is given even where the other one finds no place.
    let drawn = figure.map_or(Ok(()), |figure| draw(figure, &compared));
    drawn.and(show(&compared, args.json))
}

/// What counts as a word for every model, so that one gold file can be held against them all.
fn common_words(models: &[(NamedModel, Translator, Linker)]) -> Result<[Words; 2]> {
    let mut words = models.iter().map(|(_, translator, _)| translator.words());
    let first = words.next().unwrap_or_default();
    if words.any(|other| other != first) {
        let message = "some of these models are of characters, which are then what is linked: give --words as well";
        bail!(UsageError(message.to_owned()));
    }
    Ok(first)
}

/// The file that the figure goes to.
fn open_figure(path: &Path) -> Result<Output> {
    if path == Path::new("-") {
        bail!(UsageError("--figure needs a file: standard output has the scores".to_owned()));
    }
    if let Some(extension) = path.extension().filter(|extension| !extension.eq_ignore_ascii_case("svg")) {
        let extension = extension.display();
        bail!(UsageError(format!("--figure writes SVG, not .{extension}: name a file that ends in .svg")));
    }
    Output::open(path)
}

fn draw(mut output: Output, compared: &[Compared]) -> Result<()> {
    let mut models: Vec<(&str, &[ClassMeasures])> = Vec::with_capacity(compared.len());
    for model in compared {
        models.push((&model.name, model.evaluation.by_length.as_deref().unwrap_or_default()));
    }
    output.with(|out| by_length::figure(&models).write(out))?;
    output.finish()
}

fn show(compared: &[Compared], json: bool) -> Result<()> {
    let mut output = Output::open(Path::new("-"))?;
    match compared {
        [only] if json => output.with(|out| Ok(writeln!(out, "{}", serde_json::to_string(&only.evaluation)?)?))?,
        [only] => output.with(|out| only.evaluation.print(out))?,
        models if json => {
            output.with(|out| Ok(writeln!(out, "{}", serde_json::to_string(&Comparison { models })?)?))?;
        }
        models => output.with(|out| print_all(out, models))?,
    }
    output.finish()
}

/// A block for each model under its name.
fn print_all(out: &mut dyn Write, models: &[Compared]) -> std::io::Result<()> {
    for (index, model) in models.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{}", model.name)?;
        model.evaluation.print(out)?;
    }
    Ok(())
}

impl Exam {
    /// Measures a model.
    fn evaluate(&self, translator: &Translator, linker: &Linker, console: &Console) -> Result<Evaluation> {
        let pairs = &self.pairs;
        let sentences: Vec<String> = pairs.iter().map(|pair| pair.source.clone()).collect();
        let mut bar = console.bar("translating", pairs.len());
        let translations = translator.translate(&sentences, &self.beam, &mut |count| bar.advance(count))?;
        drop(bar);
        let mut bar = console.bar("aligning", pairs.len());
        let aligned = translator.align(pairs, &mut |count| bar.advance(count))?;
        drop(bar);
        let likelihoods: Vec<(f64, usize)> =
            aligned.iter().map(|aligned| (aligned.log_probability, aligned.length)).collect();
        let linked =
            if linker.attention { linker.link_read(aligned, pairs)? } else { linker.link(pairs, &mut |_| {})? };
        let gold = self.gold.as_deref();
        let outcome = |index: usize| by_length::Outcome {
            translation: &translations[index][0].text,
            reference: &pairs[index].target,
            log_probability: likelihoods[index].0,
            units: likelihoods[index].1,
            links: gold.map(|gold| (&linked[index].links[..], &gold[index])),
        };
        let outcomes: Vec<by_length::Outcome> = (0..pairs.len()).map(outcome).collect();
        let measures = Measures::of(&outcomes);
        Ok(Evaluation {
            schema: SCHEMA,
            of_words: WordErrors::of(pairs, &measures.scores),
            measures,
            judgement: gold.map(|gold| judge(&linked, gold, self.search_threshold)),
            by_length: self.lengths.as_ref().map(|lengths| lengths.measures(&outcomes)),
        })
    }
}

/// Holds links against those of the gold file.
fn judge(linked: &[Linked], gold: &[Gold], search: bool) -> Judgement {
    let mut counts = ShiftedCounts::default();
    let mut thresholds = ThresholdSearch::default();
    for (linked, gold) in linked.iter().zip(gold) {
        let size = [linked.alignment.source().len(), linked.alignment.target().len()];
        counts.add(&linked.links, size, gold);
        if search {
            thresholds.add(|threshold| linked.links_from(threshold), gold);
        }
    }
    Judgement {
        agreement: counts.unshifted().agreement(),
        shift: counts.much_better(),
        best: if search { thresholds.best() } else { None },
    }
}

/// Tells that links a word further would fit much better, and what can be the matter.
fn warn_of_shift(judgement: &Judgement, console: &Console) {
    let Some(shift) = judgement.shift else { return };
    let word = |side, step: isize| match step {
        0 => None,
        ..0 => Some(format!("one {side} word earlier")),
        1.. => Some(format!("one {side} word later")),
    };
    let both = shift.source != 0 && shift.target != 0;
    let steps: Vec<String> =
        [word("source", shift.source), word("target", shift.target)].into_iter().flatten().collect();
    console.warn(format!(
        "links {} would have AER {:.3} instead of {:.3}; {}",
        steps.join(" and "),
        shift.aer,
        judgement.agreement.aer,
        if both {
            "does the gold file count words from another number? See --gold-base"
        } else {
            "attention may have settled one word off: train longer or with --guided-alignment; or see --gold-base"
        }
    ));
}

impl Evaluation {
    fn print(&self, out: &mut dyn Write) -> std::io::Result<()> {
        let Measures { pairs, scores, perplexity } = &self.measures;
        writeln!(out, "pairs          {pairs:>8}")?;
        writeln!(out, "BLEU           {:>8.2}", scores.bleu)?;
        writeln!(out, "chrF           {:>8.2}", scores.chrf)?;
        writeln!(out, "exact match    {:>8.2} %", scores.exact_match)?;
        match &self.of_words {
            Some(WordErrors { wer, per }) => {
                writeln!(out, "WER            {wer:>8.2} %")?;
                writeln!(out, "PER            {per:>8.2} %")?;
            }
            None => {
                writeln!(out, "word errors    {:>8.2} %", scores.word_error_rate)?;
                writeln!(out, "char errors    {:>8.2} %", scores.character_error_rate)?;
            }
        }
        writeln!(out, "perplexity     {:>8}", readable(*perplexity, 2))?;
        if let Some(Judgement { agreement, best, .. }) = &self.judgement {
            writeln!(out, "AER            {:>8.3}", agreement.aer)?;
            writeln!(out, "precision      {:>8.3}", agreement.precision)?;
            writeln!(out, "recall         {:>8.3}", agreement.recall)?;
            writeln!(out, "F1             {:>8.3}", agreement.f1)?;
            if let Some(best) = best {
                writeln!(out, "best threshold {:>8.2} (AER {:.3})", best.threshold, best.aer)?;
            }
        }
        if let Some(classes) = &self.by_length {
            writeln!(out)?;
            by_length::print(out, classes)?;
        }
        Ok(())
    }
}
