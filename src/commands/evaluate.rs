//! `softalign evaluate`

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use candle_core::Device;

use super::console::Console;
use super::evaluation_report::{SystemOrigin, SystemResult, show};
use super::labels::{HYPOTHESES, Labelled, MODELS};
use super::load_model::translator;
use super::output_file::{Output, ensure_distinct_paths, is_standard_output};
use super::pair_files::given_pairs;
use super::search::decode_options;
use crate::cli::EvaluateArgs;
use crate::error::UsageError;
use crate::evaluation::{Evaluator, LengthScores, System, bleu_by_length, read_gold, warn_of_truncated_scoring};
use crate::text::{
    LineNumbers, Pair, PairFiles, SHIPPED_GOLD, SHIPPED_TEST, WordSplitting, file_name, read_line_for_each,
};
use crate::translator::Linker;

/// System with its name in the results.
struct SystemOptions {
    name: String,
    place: SystemOrigin,
    system: System,
}

/// Checked input.
struct ReportInputs {
    files: PairFiles,
    gold: Option<PathBuf>,
    models: Vec<Labelled>,
    hypotheses: Vec<Labelled>,
}

/// Output files beside standard output.
struct ReportOutputs {
    figure: Option<Output>,
    save: Option<Output>,
}

pub fn run(args: &EvaluateArgs, device: &Device, console: &Console) -> Result<()> {
    let options = decode_options(&args.search, 1);
    options.request()?;
    args.links.options().check()?;
    let inputs = ReportInputs::new(args)?;
    let mut outputs = ReportOutputs::open(args, &inputs)?;
    let (pairs, numbers) = inputs.pairs(console)?;
    let mut evaluator = Evaluator::new(&pairs)
        .decode(&options)
        .by_length(args.by_length || args.figure.is_some())
        .search_threshold(args.search_threshold)
        .confidence(args.confidence)
        .untagged(pairs.iter().map(|pair| inputs.files.as_given(pair).0).collect())
        .line_numbers(numbers)
        .reporter(console);
    evaluator.check().with_context(|| inputs.files.to_string())?;
    // All systems are read before the first is evaluated, so that errors appear early.
    let candidates = inputs.candidates(args, &pairs, device, console)?;
    if let Some(path) = &inputs.gold {
        let words = common_words(&candidates)?;
        evaluator = evaluator.gold(read_gold(path, &pairs, words, usize::from(args.gold_base))?);
    }
    warn_of_unlike_references(&candidates, console);
    let compared = compare(&evaluator, candidates, args, outputs.save.as_mut(), console)?;
    // A failure of one output does not suppress the others.
    outputs.finish(&compared).and(show(&compared, args.json))
}

/// Evaluates all systems, and the significance of their differences from the first if requested.
fn compare(
    evaluator: &Evaluator,
    candidates: Vec<SystemOptions>,
    args: &EvaluateArgs,
    mut save: Option<&mut Output>,
    console: &Console,
) -> Result<Vec<SystemResult>> {
    let several = candidates.len() > 1;
    let mut compared: Vec<SystemResult> = Vec::with_capacity(candidates.len());
    for SystemOptions { name, place, system } in candidates {
        if several {
            console.note(&name);
        }
        let evaluation = evaluator.evaluate_system(&system)?;
        if let Some(save) = &mut save {
            save.with(|out| evaluation.translations.iter().try_for_each(|line| writeln!(out, "{line}")))?;
        }
        let mut one = SystemResult::new(name, place, evaluation);
        if let Some(first) = compared.first().filter(|_| args.compare) {
            one.significance = Some(one.evaluation.significance(&first.evaluation, args.search.seed));
        }
        compared.push(one);
    }
    Ok(compared)
}

impl ReportInputs {
    /// Checks the options and returns the input they name.
    fn new(args: &EvaluateArgs) -> Result<Self> {
        let (models, hypotheses) = match &args.hypotheses[..] {
            [] => (MODELS.parse(&args.model)?, Vec::new()),
            given => (Vec::new(), HYPOTHESES.parse(given)?),
        };
        let given = given_pairs(&args.pairs, models.first().map(|model| model.path.as_path()));
        let gold = match (&args.gold, &given) {
            (None, None) if args.hypotheses.is_empty() => Some(PathBuf::from(SHIPPED_GOLD)),
            (gold, _) => gold.clone(),
        };
        if args.search_threshold && gold.is_none() {
            bail!(UsageError("--search-threshold needs --gold".to_owned()));
        }
        let measured = if args.ensemble { 1 } else { models.len() + hypotheses.len() };
        if args.compare && measured < 2 {
            bail!(UsageError("--compare needs several systems: repeat --model or --hypotheses".to_owned()));
        }
        if args.save.is_some() && measured > 1 {
            bail!(UsageError("--save accepts only one model".to_owned()));
        }
        Ok(Self { files: given.unwrap_or_else(|| PairFiles::shipped(SHIPPED_TEST)), gold, models, hypotheses })
    }

    /// Returns all input files except models.
    fn paths(&self) -> impl Iterator<Item = &Path> {
        let hypotheses = self.hypotheses.iter().map(|one| one.path.as_path());
        self.files.paths().into_iter().chain(self.gold.as_deref()).chain(hypotheses)
    }

    fn pairs(&self, console: &Console) -> Result<(Vec<Pair>, LineNumbers)> {
        let (pairs, numbers) = self.files.read_numbered("--pairs")?;
        console.warn_all(self.files.spreadsheet_warnings(&pairs));
        ensure!(!pairs.is_empty(), "{}: no sentence pairs", self.files);
        let references = pairs.iter().enumerate().map(|(place, pair)| (numbers.of(place), pair.target.as_str()));
        warn_of_truncated_scoring(&self.files.to_string(), references, console);
        Ok((pairs, numbers))
    }

    /// Loads models and reads hypotheses.
    fn candidates(
        &self,
        args: &EvaluateArgs,
        pairs: &[Pair],
        device: &Device,
        console: &Console,
    ) -> Result<Vec<SystemOptions>> {
        let mut candidates = Vec::new();
        let together = if args.ensemble { self.models.len() } else { 1 };
        for models in self.models.chunks(together.max(1)) {
            let folders: Vec<PathBuf> = models.iter().map(|model| model.path.clone()).collect();
            let translator = translator(&folders, &args.attention, args.links.words, device)?;
            let linker = Linker::with_options(&args.links.options(), Some(&translator), pairs, console)?;
            let Labelled { name, path } = models[0].clone();
            let system = System::Model(Box::new(translator), Box::new(linker));
            candidates.push(SystemOptions { name, place: SystemOrigin::ModelDir(path), system });
        }
        let pairs_of = format!("pairs of {}", self.files);
        for Labelled { name, path } in self.hypotheses.clone() {
            let lines = read_line_for_each(&path, pairs.len(), &pairs_of)?;
            let numbered = (1..).zip(lines.iter().map(String::as_str));
            warn_of_truncated_scoring(&file_name(&path), numbered, console);
            candidates.push(SystemOptions {
                name,
                place: SystemOrigin::Hypotheses(path),
                system: System::Hypotheses(lines),
            });
        }
        Ok(candidates)
    }
}

impl ReportOutputs {
    /// Opens the output files before long work starts.
    fn open(args: &EvaluateArgs, inputs: &ReportInputs) -> Result<Self> {
        if args.save.as_deref().is_some_and(is_standard_output) {
            bail!(UsageError("--save needs a file: scores go to standard output".to_owned()));
        }
        let written = [("--figure", &args.figure), ("--save", &args.save)];
        let written = written.into_iter().filter_map(|(option, path)| Some((option, path.as_deref()?)));
        ensure_distinct_paths(inputs.paths(), written)?;
        let figure = args.figure.as_deref().map(open_figure).transpose()?;
        Ok(Self { figure, save: args.save.as_deref().map(Output::open).transpose()? })
    }

    /// Completes both files; a failure of one does not suppress the other.
    fn finish(self, compared: &[SystemResult]) -> Result<()> {
        let saved = self.save.map_or(Ok(()), Output::finish);
        let drawn = self.figure.map_or(Ok(()), |figure| draw(figure, compared));
        saved.and(drawn)
    }
}

/// Warns if the systems normalize references differently.
fn warn_of_unlike_references(candidates: &[SystemOptions], console: &Console) {
    let Some(first) = candidates.first().map(|first| first.system.normalization()) else { return };
    if let Some(other) = candidates.iter().find(|other| other.system.normalization() != first) {
        console.warn(format!(
            "references are normalized as each model's text, {first} and {}: the scores are not comparable",
            other.system.normalization()
        ));
    }
}

/// Returns the word splitting that all models share, which a gold file requires.
fn common_words(candidates: &[SystemOptions]) -> Result<[WordSplitting; 2]> {
    let mut words = candidates.iter().filter_map(|candidate| match &candidate.system {
        System::Model(translator, _) => Some(translator.words()),
        System::Hypotheses(_) => None,
    });
    let first = words.next().unwrap_or_default();
    if words.any(|other| other != first) {
        let message = "only some of these models link characters: choose the same units for all with --words";
        bail!(UsageError(message.to_owned()));
    }
    Ok(first)
}

/// Opens the file of the figure.
fn open_figure(path: &Path) -> Result<Output> {
    if is_standard_output(path) {
        bail!(UsageError("--figure needs a file: scores go to standard output".to_owned()));
    }
    if let Some(extension) = path.extension().filter(|extension| !extension.eq_ignore_ascii_case("svg")) {
        let extension = extension.display();
        bail!(UsageError(format!("--figure writes SVG, not .{extension}: choose a file name ending in .svg")));
    }
    Output::open(path)
}

fn draw(mut output: Output, compared: &[SystemResult]) -> Result<()> {
    let mut systems: Vec<(&str, &[LengthScores])> = Vec::with_capacity(compared.len());
    for SystemResult { name, evaluation, .. } in compared {
        systems.push((name, evaluation.by_length.as_deref().unwrap_or_default()));
    }
    output.with(|out| bleu_by_length(&systems).write(out))?;
    output.finish()
}
