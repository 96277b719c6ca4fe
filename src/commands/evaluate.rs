//! `softalign evaluate`

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use candle_core::Device;

use super::console::Console;
use super::labels::{HYPOTHESES, LINKS, Labelled, MODELS};
use super::load_model::translator;
use super::output_file::{Output, ensure_distinct_paths, is_standard_output};
use super::pair_files::{given_pairs, standard_input};
use crate::alignment::Link;
use crate::attention::InferenceOverrides;
use crate::cli::{EvaluateArgs, ExplicitArgs, OF_LINKS, OF_MODELS, OF_TRANSLATIONS};
use crate::error::{UsageError, usage};
use crate::evaluation::{
    Evaluation, Evaluator, GoldScores, LengthScores, System, SystemOrigin, SystemResult, SystemScores, UNKNOWN_SIZE,
    bleu_by_length, pair_sizes, read_gold, read_links, report_json, warn_of_truncated_scoring, write_report,
};
use crate::metrics::ErrorRates;
use crate::text::{
    Pair, PairFiles, ReadablePairs, RowSyntax, SHIPPED_GOLD, SHIPPED_TEST, TableWriter, WordSplitting, file_name,
    is_standard, read_row_for_each, standard_input_has_data,
};
use crate::translator::{DecodeOptions, LinkOptions, Linker, LinksFrom};

/// System with its name in the results: translations, links or both.
struct SystemOptions {
    name: String,
    origin: Option<SystemOrigin>,
    system: Option<System>,
    /// Links from a file.
    links: Option<Vec<Vec<Link>>>,
}

/// Checked input.
struct ReportInputs {
    /// Pairs; `None` if files of links are compared with a gold file alone.
    files: Option<PairFiles>,
    /// True if no pairs are named, so that the shipped test set is used.
    is_shipped: bool,
    gold: Option<PathBuf>,
    models: Vec<Labelled>,
    hypotheses: Vec<Labelled>,
    links: Vec<Labelled>,
    /// True if a statistical aligner links the pairs without a model.
    aligner_alone: bool,
}

/// Destinations of the results.
struct ReportOutputs {
    /// Standard output.
    report: Output,
    figure: Option<Output>,
    save: Option<Output>,
}

pub fn run(given: &ExplicitArgs<EvaluateArgs>, device: &Device, console: &Console) -> Result<()> {
    let args = &given.args;
    args.search.request()?;
    args.links.check()?;
    let inputs = ReportInputs::new(given, console)?;
    let mut outputs = ReportOutputs::open(args, &inputs)?;
    let Some(files) = &inputs.files else {
        return outputs.finish(&inputs.evaluate_link_files(args, console)?, args.json);
    };
    let readable = read_pairs(files, args, console)?;
    let pairs = &readable.pairs;
    if inputs.is_shipped {
        console.note(format!("no sentence pairs are named: evaluating on the shipped test set, {SHIPPED_TEST}"));
    }
    let mut evaluator = Evaluator::new(pairs)
        .decode(&args.search)
        .precision(args.precision)
        .by_length(args.by_length || args.figure.is_some())
        .search_threshold(args.search_threshold)
        .confidence(args.confidence)
        .untagged(pairs.iter().map(|pair| files.as_given(pair).0).collect())
        .line_numbers(readable.numbers.clone())
        .reporter(console);
    evaluator.check().with_context(|| files.to_string())?;
    // All systems are read before the first is evaluated, so that errors appear early.
    let mut candidates = inputs.candidates(args, files, &readable, device, console)?;
    if let Some(path) = &inputs.gold {
        let mut sizes = vec![UNKNOWN_SIZE; readable.total()];
        for (&index, size) in readable.indices.iter().zip(pair_sizes(pairs, common_words(&candidates, args)?)) {
            sizes[index] = size;
        }
        evaluator = evaluator.gold(readable.select(read_gold(path, &sizes, args.gold_base)?));
        for (candidate, links) in candidates.iter_mut().zip(&inputs.links) {
            candidate.links = Some(readable.select(read_links(&links.path, Some(&sizes))?));
        }
    }
    warn_of_unlike_references(&candidates, console);
    let aligner = inputs.aligner_alone.then(|| {
        let linker = Linker::with_options(&args.links, None, pairs, console)?;
        evaluator.evaluate_linker(&linker)
    });
    let compared = compare(&evaluator, candidates, aligner.transpose()?, args, console)?;
    if let (Some(save), [SystemResult { scores: SystemScores::Translations(evaluation), .. }]) =
        (&mut outputs.save, &compared[..])
    {
        save_translations(save, files, pairs, evaluation, console)?;
    }
    outputs.finish(&compared, args.json)
}

/// Writes the report.
fn show(mut output: Output, compared: &[SystemResult], json: bool) -> Result<()> {
    if json {
        let json = report_json(compared)?;
        output.with(|out| writeln!(out, "{json}"))?;
    } else {
        output.with(|out| write_report(out, compared))?;
    }
    output.finish()
}

/// Evaluates all systems, and the significance of their differences from the first if requested. Links of `aligner` are those
/// of every system.
fn compare(
    evaluator: &Evaluator,
    candidates: Vec<SystemOptions>,
    aligner: Option<GoldScores>,
    args: &EvaluateArgs,
    console: &Console,
) -> Result<Vec<SystemResult>> {
    let several = candidates.len() > 1;
    let mut compared: Vec<SystemResult> = Vec::with_capacity(candidates.len());
    for SystemOptions { name, origin, system, links } in candidates {
        if several {
            console.note(format!("evaluating {name}"));
        }
        let gold = links.map(|links| evaluator.evaluate_links(&links)).transpose()?.or(aligner);
        let scores = match (system, gold) {
            (None, Some(gold)) => SystemScores::Links { pairs: evaluator.pairs().len(), gold },
            (None, None) => continue,
            (Some(system), gold) => {
                let mut evaluation = evaluator.evaluate_system(&system)?;
                evaluation.gold = evaluation.gold.or(gold);
                SystemScores::Translations(Box::new(evaluation))
            }
        };
        let mut one = SystemResult::new(name, origin, scores);
        let baseline = compared.first().and_then(|first| first.scores.evaluation()).filter(|_| args.compare);
        one.significance =
            baseline.zip(one.scores.evaluation()).map(|(baseline, own)| own.significance(baseline, args.search.seed));
        compared.push(one);
    }
    Ok(compared)
}

/// Writes translations, one per line; for single words and words with features in the columns of the pairs.
fn save_translations(
    save: &mut Output,
    files: &PairFiles,
    pairs: &[Pair],
    evaluation: &Evaluation,
    console: &Console,
) -> Result<()> {
    let single_words = matches!(evaluation.scores.errors, ErrorRates::SingleWords { .. });
    let syntax = RowSyntax::of_file(save.path());
    if !single_words && files.layout().features.is_none() {
        let mut table = TableWriter::new(save.path(), &["translation"]);
        return match syntax {
            RowSyntax::Tabs => {
                save.with(|out| evaluation.translations.iter().try_for_each(|line| writeln!(out, "{line}")))
            }
            RowSyntax::Csv(_) => {
                save.with(|out| evaluation.translations.iter().try_for_each(|line| table.row(out, &[line])))
            }
        };
    }
    console.note("--save writes the columns of the pairs, with each translation as the target");
    if syntax != RowSyntax::Tabs {
        // Readers take no row of CSV for a header then.
        save.with(|out| writeln!(out, "{}", files.header(syntax)))?;
    }
    let mut rows =
        pairs.iter().zip(&evaluation.translations).map(|(pair, translation)| files.row(pair, translation, syntax));
    save.with(|out| rows.try_for_each(|row| writeln!(out, "{row}")))
}

fn read_pairs(files: &PairFiles, args: &EvaluateArgs, console: &Console) -> Result<ReadablePairs> {
    let readable = files.read_readable("--pairs", args.on_error, console)?;
    let ReadablePairs { pairs, numbers, .. } = &readable;
    files.report_format(pairs, numbers, console);
    ensure!(!pairs.is_empty(), "{files}: no sentence pairs");
    let references = pairs.iter().enumerate().map(|(place, pair)| (numbers.of(place), pair.target.as_str()));
    warn_of_truncated_scoring(&files.to_string(), references, console);
    Ok(readable)
}

impl ReportInputs {
    /// Checks the options and returns the input they name.
    fn new(given: &ExplicitArgs<EvaluateArgs>, console: &Console) -> Result<Self> {
        let args = &given.args;
        let is_given = |option: &str| given.names().contains(&option);
        let (hypotheses, links) = (HYPOTHESES.parse(&args.hypotheses)?, LINKS.parse(&args.link_files)?);
        let from_pairs = args.links.links_from == LinksFrom::Pairs;
        let without_model = !hypotheses.is_empty() || !links.is_empty() || (from_pairs && !is_given("model"));
        let models = if without_model { Vec::new() } else { MODELS.parse(&args.model)? };
        let model = models.first().map(|model| model.path.as_path());
        let mut pairs = given_pairs(&args.pairs, model)?;
        let needs_pairs = !hypotheses.is_empty() || links.is_empty() || args.gold.is_none();
        let named = hypotheses.iter().chain(&links).map(|one| &one.path).chain(&args.gold);
        if pairs.is_none()
            && needs_pairs
            && standard_input_has_data()
            && !named.into_iter().any(|path| is_standard(path))
        {
            console.note("reading sentence pairs from standard input");
            pairs = Some(standard_input(&args.pairs, model)?);
        }
        let inputs = Self {
            gold: match (&args.gold, &pairs) {
                (None, None) if hypotheses.is_empty() || !links.is_empty() || from_pairs => {
                    Some(PathBuf::from(SHIPPED_GOLD))
                }
                (gold, _) => gold.clone(),
            },
            is_shipped: pairs.is_none() && needs_pairs,
            files: pairs.or_else(|| needs_pairs.then(|| PairFiles::shipped(SHIPPED_TEST))),
            models,
            hypotheses,
            links,
            aligner_alone: without_model && from_pairs,
        };
        inputs.check(given)?;
        Ok(inputs)
    }

    /// Rejects options that do not suit the systems.
    fn check(&self, given: &ExplicitArgs<EvaluateArgs>) -> Result<()> {
        let Self { files, gold, models, hypotheses, links, aligner_alone, .. } = self;
        let args = &given.args;
        let systems = if args.ensemble { 1 } else { models.len() + hypotheses.len() };
        let mut of_models =
            [given.names_in(OF_MODELS), given.names_of::<DecodeOptions>(), given.names_of::<InferenceOverrides>()]
                .concat();
        // Resampling needs the seed too.
        of_models.retain(|name| *name != "seed" || !(args.confidence || args.compare));
        if let Some(option) = of_models.first().filter(|_| models.is_empty()) {
            return usage(format!("--{option} needs --model; it cannot be used with translations or links alone"));
        }
        let mut of_links = [given.names_in(OF_LINKS), given.names_of::<LinkOptions>()].concat();
        // A gold file is compared with the words of the pairs.
        of_links.retain(|name| *name != "words" || gold.is_none() || files.is_none());
        if let Some(option) = of_links.first().filter(|_| models.is_empty() && !aligner_alone) {
            return usage(format!("--{option} cannot be used with --hypotheses or --links; use --links-from pairs"));
        }
        let of_translations = given.names_in(OF_TRANSLATIONS);
        if let Some(option) = of_translations.first().filter(|_| models.is_empty() && hypotheses.is_empty()) {
            return usage(format!("--{option} needs translations: add --model or --hypotheses"));
        }
        if !hypotheses.is_empty() && !links.is_empty() && hypotheses.len() != links.len() {
            let counts = format!("{} --links for {} --hypotheses", links.len(), hypotheses.len());
            return usage(format!("{counts}: give one file of links for each file of translations"));
        }
        let has_links = !models.is_empty() || !links.is_empty() || *aligner_alone;
        match gold {
            None if !links.is_empty() => return usage("--links needs --gold"),
            None if *aligner_alone => return usage("--links-from pairs needs --gold, or --model"),
            None if args.search_threshold => return usage("--search-threshold needs --gold"),
            Some(_) if !has_links => {
                return usage("--gold with --hypotheses needs links: add --links, or --links-from pairs");
            }
            _ => {}
        }
        if args.compare && systems < 2 {
            return usage("--compare needs several systems: repeat --model or --hypotheses");
        }
        if args.save.is_some() && systems > 1 {
            return usage("--save accepts only one model");
        }
        Ok(())
    }

    /// Returns all input files except models.
    fn paths(&self) -> impl Iterator<Item = &Path> {
        let labelled = self.hypotheses.iter().chain(&self.links).map(|one| one.path.as_path());
        self.files.iter().flat_map(PairFiles::paths).chain(self.gold.as_deref()).chain(labelled)
    }

    /// Evaluates files of links against the gold file, without the pairs.
    fn evaluate_link_files(&self, args: &EvaluateArgs, console: &Console) -> Result<Vec<SystemResult>> {
        let (mut files, mut sizes) = (Vec::new(), None);
        for Labelled { name, path } in &self.links {
            let links = read_links(path, sizes.as_deref())?;
            sizes.get_or_insert_with(|| vec![UNKNOWN_SIZE; links.len()]);
            files.push((name.clone(), SystemOrigin::Links(path.clone()), links));
        }
        let Some((path, sizes)) = self.gold.as_deref().zip(sizes) else { return Ok(Vec::new()) };
        let gold = read_gold(path, &sizes, args.gold_base)?;
        let result = |(name, origin, links): (String, SystemOrigin, Vec<Vec<Link>>)| {
            let scores = GoldScores::from_links(&links, &gold);
            console.warn_all(scores.shift_warning(false));
            SystemResult::new(name, Some(origin), SystemScores::Links { pairs: links.len(), gold: scores })
        };
        Ok(files.into_iter().map(result).collect())
    }

    /// Loads models and reads hypotheses. Files of links are read later.
    fn candidates(
        &self,
        args: &EvaluateArgs,
        files: &PairFiles,
        readable: &ReadablePairs,
        device: &Device,
        console: &Console,
    ) -> Result<Vec<SystemOptions>> {
        let mut candidates = Vec::new();
        let together = if args.ensemble { self.models.len() } else { 1 };
        for models in self.models.chunks(together.max(1)) {
            let folders: Vec<PathBuf> = models.iter().map(|model| model.path.clone()).collect();
            let translator = translator(&folders, &args.attention, args.links.words, device)?;
            let linker = Linker::with_options(&args.links, Some(&translator), &readable.pairs, console)?;
            let Labelled { name, path } = models[0].clone();
            let system = System::Model(Box::new(translator), Box::new(linker));
            candidates.push(SystemOptions::new(name, Some(SystemOrigin::ModelDir(path)), Some(system)));
        }
        for Labelled { name, path } in self.hypotheses.clone() {
            let system = System::Hypotheses(read_hypotheses(&path, files, readable, console)?);
            candidates.push(SystemOptions::new(name, Some(SystemOrigin::Hypotheses(path)), Some(system)));
        }
        if candidates.is_empty() {
            let origin = |links: &Labelled| Some(SystemOrigin::Links(links.path.clone()));
            candidates
                .extend(self.links.iter().map(|links| SystemOptions::new(links.name.clone(), origin(links), None)));
        }
        if candidates.is_empty() {
            candidates.push(SystemOptions::new("pairs".to_owned(), None, None));
        }
        Ok(candidates)
    }
}

impl SystemOptions {
    fn new(name: String, origin: Option<SystemOrigin>, system: Option<System>) -> Self {
        Self { name, origin, system, links: None }
    }
}

/// Reads translations, one per line, or in the columns of the pairs as `--save` writes them.
fn read_hypotheses(path: &Path, files: &PairFiles, readable: &ReadablePairs, console: &Console) -> Result<Vec<String>> {
    let lines = readable.select(read_row_for_each(path, readable.total(), &format!("pairs of {files}"))?);
    let lines = match files.targets_of_rows(&readable.pairs, &lines) {
        Some(targets) => targets.into_iter().map(str::to_owned).collect(),
        None => lines,
    };
    if let Some(index) = lines.iter().position(|line| line.contains('\t')) {
        console.warn(format!(
            "{}:{}: the tab is read as part of the translation, because the other columns are not those of {files}",
            file_name(path),
            readable.indices[index] + 1
        ));
    }
    let texts = readable.indices.iter().map(|index| index + 1).zip(lines.iter().map(String::as_str));
    warn_of_truncated_scoring(&file_name(path), texts, console);
    Ok(lines)
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
        let save = args.save.as_deref().map(Output::open).transpose()?;
        Ok(Self { report: Output::open(Path::new("-"))?, figure, save })
    }

    /// Completes the files and writes the report; a failure of one does not suppress the others.
    fn finish(self, compared: &[SystemResult], json: bool) -> Result<()> {
        let saved = self.save.map_or(Ok(()), Output::finish);
        let drawn = self.figure.map_or(Ok(()), |figure| draw(figure, compared));
        saved.and(drawn).and(show(self.report, compared, json))
    }
}

/// Warns if the systems normalize references differently.
fn warn_of_unlike_references(candidates: &[SystemOptions], console: &Console) {
    let mut normalizations = candidates.iter().filter_map(|one| Some(one.system.as_ref()?.normalization()));
    let Some(first) = normalizations.next() else { return };
    if let Some(other) = normalizations.find(|&other| other != first) {
        console.warn(format!(
            "references are normalized as each model's text, {first} and {other}: the scores are not comparable"
        ));
    }
}

/// Returns the word splitting that all models share, which a gold file requires.
fn common_words(candidates: &[SystemOptions], args: &EvaluateArgs) -> Result<[WordSplitting; 2]> {
    let mut words = candidates.iter().filter_map(|candidate| match &candidate.system {
        Some(System::Model(translator, _)) => Some(translator.words()),
        _ => None,
    });
    let first = words.next().unwrap_or([args.links.words.unwrap_or_default(); 2]);
    if words.any(|other| other != first) {
        return usage("only some of these models link characters: choose the same for all with --words");
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
    for SystemResult { name, scores, .. } in compared {
        let buckets = scores.evaluation().and_then(|evaluation| evaluation.by_length.as_deref());
        systems.push((name, buckets.unwrap_or_default()));
    }
    output.with(|out| bleu_by_length(&systems).write(out))?;
    output.finish()
}
