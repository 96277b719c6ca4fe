//! `softalign clean`: what is wrong with a corpus' pairs, and those with which nothing is.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail, ensure};
use candle_core::Device;

use super::console::Console;
use super::linking::{Stored, linker};
use super::output::{Output, apart, is_standard_output};
use super::pairs::{PORTION, given_pairs};
use crate::alignment::{NoiseFeatures, noise_scores, rank_by_noise};
use crate::cli::{CleanArgs, LinkArgs};
use crate::error::UsageError;
use crate::text::{Defect, LineNumbers, NormalForm, Pair, defects};
use crate::text::{PairFiles, SHIPPED_TRAINING};
use crate::translator::learn_aligner;
use crate::translator::{LinkedPair, Linker, Translator};

/// Lines that the table names, for somebody who wants to look.
const NAMED: usize = 3;

pub fn run(args: &CleanArgs, device: &Device, console: &Console) -> Result<()> {
    check(args)?;
    let files = given_pairs(&args.pairs, args.model.as_deref()).unwrap_or_else(|| PairFiles::shipped(SHIPPED_TRAINING));
    let written =
        [("--output", &args.output), ("--output-target", &args.output_target), ("--rejected", &args.rejected)];
    apart(files.paths(), written.into_iter().filter_map(|(option, path)| Some((option, path.as_deref()?))))?;
    if args.output_target.is_some() && files.layout().features.is_some() {
        bail!(UsageError(
            "--output-target leaves no place for --features: write pairs and features to --output".to_owned()
        ));
    }
    let open = |path: &Option<PathBuf>| {
        path.as_deref().map(Output::open).transpose().map(|output| output.map(Output::beside_others))
    };
    let (output, targets, rejected) = (open(&args.output)?, open(&args.output_target)?, open(&args.rejected)?);
    let (pairs, numbers) = files.read_numbered("--pairs")?;
    console.warn_all(files.spreadsheet_warnings(&pairs));
    ensure!(!pairs.is_empty(), "{files}: no sentence pair in it");
    let accepted = HashSet::from_iter(args.accept.iter().copied());
    // A tag is no word of a sentence, while features may be all that tells a form from its lemma.
    let untagged: Vec<Pair> = pairs.iter().map(|pair| files.without_tag(pair)).collect();
    let mut found = defects(&untagged, args.limits(), &accepted);
    if let Some(percent) = args.noisy.filter(|_| !accepted.contains(&Defect::Suspicious)) {
        mark_suspicious(&mut found, &pairs, percent, args.model.as_deref(), device, console)?;
    }
    let table = table(&found, &numbers);
    let at_standard_output =
        [&args.output, &args.output_target, &args.rejected].into_iter().flatten().any(|path| is_standard_output(path));
    let given: Vec<(Pair, Option<String>)> = pairs.iter().map(|pair| files.as_given(pair)).collect();
    let numbered = || (0..).map(|place| numbers.of(place)).zip(&given).zip(&found);
    if let Some(mut output) = output {
        let good = || numbered().filter(|(_, defect)| defect.is_none()).map(|((_, pair), _)| pair);
        match targets {
            Some(mut targets) => {
                output.with(|out| good().try_for_each(|(pair, _)| writeln!(out, "{}", pair.source)))?;
                targets.with(|out| good().try_for_each(|(pair, _)| writeln!(out, "{}", pair.target)))?;
                targets.finish()?;
            }
            None => output.with(|out| good().try_for_each(|pair| writeln!(out, "{}", as_line(pair))))?,
        }
        output.finish()?;
    }
    if let Some(mut rejected) = rejected {
        let mut bad = numbered().filter_map(|((number, pair), defect)| Some((number, pair, defect.as_ref()?)));
        rejected.with(|out| {
            bad.try_for_each(|(number, pair, defect)| writeln!(out, "{number}\t{}\t{}", defect.name(), as_line(pair)))
        })?;
        rejected.finish()?;
    }
    if at_standard_output {
        table.lines().for_each(|line| console.note(line));
        return Ok(());
    }
    let mut report = Output::open(Path::new("-"))?;
    report.with(|out| write!(out, "{table}"))?;
    report.finish()
}

fn check(args: &CleanArgs) -> Result<()> {
    if !(args.max_proportion >= 1.0 && args.max_proportion.is_finite()) {
        bail!(UsageError(format!("--max-proportion must be at least 1, not {}", args.max_proportion)));
    }
    if let Some(percent) = args.noisy.filter(|percent| !(0.0..=100.0).contains(percent)) {
        bail!(UsageError(format!("--noisy must be between 0 and 100, not {percent}")));
    }
    Ok(())
}

/// A pair as a line of a TSV file, with its features, if it has such, in the third column; a tab within a sentence, which files
/// of one side may have, becomes a space.
fn as_line((Pair { source, target }, features): &(Pair, Option<String>)) -> String {
    let cells = [Some(source), Some(target), features.as_ref()].into_iter().flatten();
    cells.map(|text| text.replace('\t', " ")).collect::<Vec<_>>().join("\t")
}

/// Marks so many percent of the pairs with which nothing is wrong so far.
fn mark_suspicious(
    found: &mut [Option<Defect>],
    pairs: &[Pair],
    percent: f64,
    model: Option<&Path>,
    device: &Device,
    console: &Console,
) -> Result<()> {
    let places: Vec<usize> = (0..pairs.len()).filter(|&place| found[place].is_none()).collect();
    let good: Vec<Pair> = places.iter().map(|&place| pairs[place].clone()).collect();
    let linker = match model {
        Some(folder) => {
            let translator = Translator::load_on(folder, device)?;
            let links = LinkArgs::default();
            let linker = linker(&links, Stored::With(folder), Some(&translator), false, &good, device, console)?;
            Linker { translator: Some(translator), ..linker }
        }
        None => Linker { statistical: Some(learn_aligner(&good, NormalForm::Nfc, console)), ..Linker::default() },
    };
    let mut bar = console.bar("linking", good.len());
    let mut signs: Vec<NoiseFeatures> = Vec::with_capacity(good.len());
    for part in good.chunks(PORTION) {
        signs.extend(linker.link(part, &mut |count| bar.advance(count))?.iter().map(LinkedPair::signs));
    }
    drop(bar);
    let count = (percent / 100.0 * good.len() as f64).round() as usize;
    rank_by_noise(&noise_scores(&signs))[..count]
        .iter()
        .for_each(|&place| found[places[place]] = Some(Defect::Suspicious));
    Ok(())
}

/// How many pairs have which defect, and where the first few of them are.
fn table(found: &[Option<Defect>], numbers: &LineNumbers) -> String {
    let share = |count: usize| format!("{:>5.1} %", 100.0 * count as f64 / found.len() as f64);
    let mut table = String::from("reason          pairs    share  lines\n");
    let mut bad = 0;
    for defect in Defect::ALL {
        let places = (0..found.len()).filter(|&place| found[place] == Some(defect));
        let lines: Vec<usize> = places.map(|place| numbers.of(place)).collect();
        bad += lines.len();
        let named: Vec<String> = lines.iter().take(NAMED).map(usize::to_string).collect();
        let more = if lines.len() > NAMED { ", …" } else { "" };
        let line =
            format!("{:<12} {:>8}  {}  {}{more}", defect.name(), lines.len(), share(lines.len()), named.join(", "));
        table += &format!("{}\n", line.trim_end());
    }
    table + &format!("{:<12} {:>8}  {}\n", "good", found.len() - bad, share(found.len() - bad))
}
