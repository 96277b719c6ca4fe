//! `softalign clean`

use std::collections::HashSet;
use std::path::Path;

use anyhow::{Result, bail, ensure};
use candle_core::Device;

use super::console::Console;
use super::output_file::{Output, WrittenPath, ensure_distinct_paths, is_standard_output};
use super::pair_files::pairs_or_standard_input;
use crate::cli::CleanArgs;
use crate::error::UsageError;
use crate::text::{LineError, LineNumbers, NoiseKind, Pair, PairFiles, ReadablePairs, TableWriter, is_csv};
use crate::translator::{NoiseFilter, Translator};

/// Number of line numbers per reason in the report.
const NAMED: usize = 3;
/// Reason of lines that cannot be read.
const UNREADABLE: &str = "unreadable";

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
    let defects = filter.apply(&pairs, &untagged, translator.as_ref(), console)?;
    let pairs = pairs.iter().map(|pair| GivenPair::new(pair, &files)).collect();
    let checked = CheckedPairs { pairs, defects, numbers, unreadable: errors };
    outputs.write(&checked)?;
    let Some(mut report) = report else {
        checked.report().lines().for_each(|line| console.note(line));
        return Ok(());
    };
    report.with(|out| write!(out, "{}", checked.report()))?;
    report.finish()
}

/// Pair as it is in its file: without its tag, with its features apart if it has any.
struct GivenPair {
    pair: Pair,
    features: Option<String>,
}

impl GivenPair {
    fn new(pair: &Pair, files: &PairFiles) -> Self {
        let (pair, features) = files.as_given(pair);
        Self { pair, features }
    }

    /// Returns the cells of the pair, with its features in the third column.
    fn cells(&self) -> Vec<&str> {
        let Self { pair: Pair { source, target }, features } = self;
        [Some(source), Some(target), features.as_ref()].into_iter().flatten().map(String::as_str).collect()
    }
}

/// Pairs of the input with their defects.
struct CheckedPairs {
    /// Pairs that can be read.
    pairs: Vec<GivenPair>,
    /// Reason to reject each of the pairs, if there is one.
    defects: Vec<Option<NoiseKind>>,
    /// Line numbers of the pairs.
    numbers: LineNumbers,
    /// Lines that cannot be read.
    unreadable: Vec<LineError>,
}

/// Line of the input that is rejected.
struct RejectedLine {
    /// Line number, from 1.
    number: usize,
    reason: &'static str,
    /// Cells of the pair, or the error of a line that cannot be read.
    cells: Vec<String>,
}

impl CheckedPairs {
    /// Iterates over the pairs without defects.
    fn good(&self) -> impl Iterator<Item = &GivenPair> {
        self.pairs.iter().zip(&self.defects).filter(|(_, defect)| defect.is_none()).map(|(pair, _)| pair)
    }

    /// Returns the names of the columns of the pairs.
    fn columns(&self) -> &'static [&'static str] {
        match self.pairs.first() {
            Some(GivenPair { features: Some(_), .. }) => &["source", "target", "features"],
            _ => &["source", "target"],
        }
    }

    /// Returns the rejected lines in the order of the input.
    fn rejected(&self) -> Vec<RejectedLine> {
        let mut rejected = Vec::new();
        for (place, (pair, defect)) in self.pairs.iter().zip(&self.defects).enumerate() {
            if let Some(defect) = defect {
                let cells = pair.cells().into_iter().map(str::to_owned).collect();
                rejected.push(RejectedLine { number: self.numbers.of(place), reason: defect.name(), cells });
            }
        }
        for error in &self.unreadable {
            rejected.push(RejectedLine { number: error.line, reason: UNREADABLE, cells: vec![error.to_string()] });
        }
        rejected.sort_by_key(|line| line.number);
        rejected
    }

    /// Returns the line numbers of the pairs with a defect.
    fn lines_with(&self, defect: NoiseKind) -> Vec<usize> {
        let places = (0..self.pairs.len()).filter(|&place| self.defects[place] == Some(defect));
        places.map(|place| self.numbers.of(place)).collect()
    }

    /// Returns the report: lines per reason, with the first line numbers.
    fn report(&self) -> String {
        let all = self.pairs.len() + self.unreadable.len();
        let mut report = String::from("reason          pairs    share  lines\n");
        if !self.unreadable.is_empty() {
            let lines: Vec<usize> = self.unreadable.iter().map(|error| error.line).collect();
            report += &report_row(UNREADABLE, &lines, all);
        }
        for defect in NoiseKind::ALL {
            report += &report_row(defect.name(), &self.lines_with(defect), all);
        }
        let good = self.good().count();
        report + &format!("{:<12} {good:>8}  {:>5.1} %\n", "good", 100.0 * good as f64 / all as f64)
    }
}

/// Returns the row of the report for a reason: the lines, their share of all, and the numbers of the first ones.
fn report_row(reason: &str, lines: &[usize], all: usize) -> String {
    let named: Vec<String> = lines.iter().take(NAMED).map(usize::to_string).collect();
    let more = if lines.len() > NAMED { ", …" } else { "" };
    let share = 100.0 * lines.len() as f64 / all as f64;
    let row = format!("{reason:<12} {:>8}  {share:>5.1} %  {}{more}", lines.len(), named.join(", "));
    format!("{}\n", row.trim_end())
}

/// Output files.
struct CleanOutputs {
    good: Option<Output>,
    /// Target sentences, if `good` receives only source sentences.
    targets: Option<Output>,
    rejected: Option<Output>,
}

impl CleanOutputs {
    /// Opens the output files.
    fn open(args: &CleanArgs, files: &PairFiles) -> Result<Self> {
        let CleanArgs { output, output_target, rejected, .. } = args;
        let written = [
            WrittenPath::given("--output", output.as_deref()),
            WrittenPath::given("--output-target", output_target.as_deref()),
            WrittenPath::given("--rejected", rejected.as_deref()),
        ];
        ensure_distinct_paths(files.paths(), written.into_iter().flatten())?;
        if output_target.is_some() && files.layout().features.is_some() {
            bail!(UsageError::new(
                "--output-target and --features exclude each other: write pairs with features to --output".to_owned()
            ));
        }
        let mut sides = [output, output_target].into_iter().flatten();
        if let Some(path) = sides.find(|path| output_target.is_some() && is_csv(path)) {
            bail!(UsageError::new(format!(
                "{}: parallel files have lines, not CSV; choose another file name, or omit --output-target",
                path.display()
            )));
        }
        Ok(Self {
            good: open_beside_others(output.as_deref())?,
            targets: open_beside_others(output_target.as_deref())?,
            rejected: open_beside_others(rejected.as_deref())?,
        })
    }

    fn write(self, checked: &CheckedPairs) -> Result<()> {
        if let Some(good) = self.good {
            write_good(good, self.targets, checked)?;
        }
        self.rejected.map_or(Ok(()), |rejected| write_rejected(rejected, &checked.rejected()))
    }
}

fn open_beside_others(path: Option<&Path>) -> Result<Option<Output>> {
    let output = path.map(Output::open).transpose()?;
    Ok(output.map(Output::beside_others))
}

/// Writes the pairs without defects: to one file, or the target sentences to another one.
fn write_good(mut output: Output, targets: Option<Output>, checked: &CheckedPairs) -> Result<()> {
    match targets {
        Some(mut targets) => {
            output.with(|out| checked.good().try_for_each(|one| writeln!(out, "{}", one.pair.source)))?;
            targets.with(|out| checked.good().try_for_each(|one| writeln!(out, "{}", one.pair.target)))?;
            targets.finish()?;
        }
        None => {
            let mut table = TableWriter::new(output.path(), checked.columns());
            output.with(|out| checked.good().try_for_each(|one| table.row(out, &one.cells())))?;
        }
    }
    output.finish()
}

fn write_rejected(mut output: Output, rejected: &[RejectedLine]) -> Result<()> {
    let mut table = TableWriter::new(output.path(), &["line", "reason", "source", "target"]);
    for RejectedLine { number, reason, cells } in rejected {
        let mut row = vec![number.to_string(), (*reason).to_owned()];
        row.extend_from_slice(cells);
        output.with(|out| table.row(out, &row))?;
    }
    output.finish()
}
