//! `softalign clean`

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail, ensure};
use candle_core::Device;

use super::console::Console;
use super::output_file::{Output, ensure_distinct_paths, is_standard_output};
use super::pair_files::pairs_or_standard_input;
use crate::cli::CleanArgs;
use crate::error::UsageError;
use crate::text::{LineError, LineNumbers, NoiseKind, Pair, PairFiles, ReadablePairs, TableWriter, is_csv};
use crate::translator::{NoiseFilter, Translator};

/// Number of line numbers per reason in the report.
const NAMED: usize = 3;
/// Reason of lines that cannot be read.
const UNREADABLE: &str = "unreadable";

/// Output files.
struct CleanOutputs {
    good: Option<Output>,
    /// Target sentences, if `good` receives only source sentences.
    targets: Option<Output>,
    rejected: Option<Output>,
}

/// Pair without its tag, and its features if it has any.
type GivenPair = (Pair, Option<String>);

pub fn run(args: &CleanArgs, device: &Device, console: &Console) -> Result<()> {
    let filter = NoiseFilter {
        limits: args.limits(),
        accepted: HashSet::from_iter(args.accept.iter().copied()),
        noisy: args.noisy,
    };
    filter.check()?;
    let files = pairs_or_standard_input(&args.pairs, args.model.as_deref())?;
    let outputs = CleanOutputs::open(args, &files)?;
    let written = [&args.output, &args.output_target, &args.rejected];
    let is_taken = written.into_iter().flatten().any(|path| is_standard_output(path));
    let report = (!is_taken).then(|| Output::open(Path::new("-"))).transpose()?;
    let ReadablePairs { pairs, numbers, errors, .. } = files.read_readable("--pairs", args.on_error, console)?;
    files.report_format(&pairs, &numbers, console);
    ensure!(!pairs.is_empty(), "{files}: no sentence pairs");
    // Features stay: they may be the only difference between a form and its lemma.
    let untagged: Vec<Pair> = pairs.iter().map(|pair| files.without_tag(pair)).collect();
    let model = args.model.as_deref().filter(|_| filter.suspicious_percent().is_some());
    let translator = model.map(|directory| Translator::load_on(directory, device)).transpose()?;
    let found = filter.apply(&pairs, &untagged, translator.as_ref(), console)?;
    let table = table(&found, &numbers, &errors);
    let given: Vec<GivenPair> = pairs.iter().map(|pair| files.as_given(pair)).collect();
    outputs.write(&given, &found, &numbers, &errors)?;
    let Some(mut report) = report else {
        table.lines().for_each(|line| console.note(line));
        return Ok(());
    };
    report.with(|out| write!(out, "{table}"))?;
    report.finish()
}

impl CleanOutputs {
    /// Opens the output files.
    fn open(args: &CleanArgs, files: &PairFiles) -> Result<Self> {
        let written =
            [("--output", &args.output), ("--output-target", &args.output_target), ("--rejected", &args.rejected)];
        ensure_distinct_paths(
            files.paths(),
            written.into_iter().filter_map(|(option, path)| Some((option, path.as_deref()?))),
        )?;
        if args.output_target.is_some() && files.layout().features.is_some() {
            bail!(UsageError(
                "--output-target and --features exclude each other: write pairs with features to --output".to_owned()
            ));
        }
        let sides = [&args.output, &args.output_target].into_iter().flatten();
        if let Some(path) = sides.filter(|_| args.output_target.is_some()).find(|path| is_csv(path)) {
            bail!(UsageError(format!(
                "{}: parallel files have lines, not CSV; choose another file name, or omit --output-target",
                path.display()
            )));
        }
        let open = |path: &Option<PathBuf>| {
            path.as_deref().map(Output::open).transpose().map(|output| output.map(Output::beside_others))
        };
        Ok(Self { good: open(&args.output)?, targets: open(&args.output_target)?, rejected: open(&args.rejected)? })
    }

    fn write(
        self,
        pairs: &[GivenPair],
        found: &[Option<NoiseKind>],
        numbers: &LineNumbers,
        unreadable: &[LineError],
    ) -> Result<()> {
        if let Some(mut output) = self.good {
            let good = || pairs.iter().zip(found).filter(|(_, defect)| defect.is_none()).map(|(pair, _)| pair);
            match self.targets {
                Some(mut targets) => {
                    output.with(|out| good().try_for_each(|(pair, _)| writeln!(out, "{}", pair.source)))?;
                    targets.with(|out| good().try_for_each(|(pair, _)| writeln!(out, "{}", pair.target)))?;
                    targets.finish()?;
                }
                None => {
                    let mut table = TableWriter::new(output.path(), columns(pairs));
                    output.with(|out| good().try_for_each(|pair| table.row(out, &cells(pair))))?;
                }
            }
            output.finish()?;
        }
        if let Some(mut output) = self.rejected {
            let unreadable = unreadable.iter().map(|error| (error.line, UNREADABLE, vec![error.to_string()]));
            let noisy = (0..).zip(pairs.iter().zip(found)).filter_map(|(place, (pair, defect))| {
                Some((numbers.of(place), defect.as_ref()?.name(), cells(pair).into_iter().map(str::to_owned).collect()))
            });
            let mut rejected: Vec<(usize, &str, Vec<String>)> = noisy.chain(unreadable).collect();
            rejected.sort_by_key(|(line, ..)| *line);
            let mut table = TableWriter::new(output.path(), &["line", "reason", "source", "target"]);
            output.with(|out| {
                rejected.into_iter().try_for_each(|(line, reason, text)| {
                    let row: Vec<String> = [line.to_string(), reason.to_owned()].into_iter().chain(text).collect();
                    table.row(out, &row)
                })
            })?;
            output.finish()?;
        }
        Ok(())
    }
}

/// Returns the cells of a pair, with its features in the third column.
fn cells((Pair { source, target }, features): &GivenPair) -> Vec<&str> {
    [Some(source), Some(target), features.as_ref()].into_iter().flatten().map(String::as_str).collect()
}

/// Returns the names of the columns of pairs.
fn columns(pairs: &[GivenPair]) -> &'static [&'static str] {
    match pairs.first() {
        Some((_, Some(_))) => &["source", "target", "features"],
        _ => &["source", "target"],
    }
}

/// Returns the report: pairs per reason, with the first line numbers. Unreadable lines are not among the pairs.
fn table(found: &[Option<NoiseKind>], numbers: &LineNumbers, unreadable: &[LineError]) -> String {
    let all = found.len() + unreadable.len();
    let row = |name: &str, lines: &[usize]| {
        let named: Vec<String> = lines.iter().take(NAMED).map(usize::to_string).collect();
        let more = if lines.len() > NAMED { ", …" } else { "" };
        let share = 100.0 * lines.len() as f64 / all as f64;
        let line = format!("{name:<12} {:>8}  {share:>5.1} %  {}{more}", lines.len(), named.join(", "));
        format!("{}\n", line.trim_end())
    };
    let lines = |kind: Option<NoiseKind>| -> Vec<usize> {
        (0..found.len()).filter(|&place| found[place] == kind).map(|place| numbers.of(place)).collect()
    };
    let mut table = String::from("reason          pairs    share  lines\n");
    if !unreadable.is_empty() {
        table += &row(UNREADABLE, &unreadable.iter().map(|error| error.line).collect::<Vec<_>>());
    }
    for defect in NoiseKind::ALL {
        table += &row(defect.name(), &lines(Some(defect)));
    }
    let good = found.iter().filter(|defect| defect.is_none()).count();
    table + &format!("{:<12} {good:>8}  {:>5.1} %\n", "good", 100.0 * good as f64 / all as f64)
}
