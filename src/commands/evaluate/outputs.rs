//! Outputs of an evaluation: the report, the figure and the translations.

use std::path::Path;

use anyhow::Result;

use super::inputs::EvaluationInputs;
use crate::cli::EvaluateArgs;
use crate::commands::console::Console;
use crate::commands::output_file::{Output, WrittenPath, ensure_distinct_paths, is_standard_output};
use crate::error::usage_of;
use crate::evaluation::{
    Evaluation, LengthScores, SystemResult, SystemScores, bleu_by_length, report_json, write_report,
};
use crate::metrics::ErrorRates;
use crate::text::{Pair, PairFiles, RowSyntax, TableWriter};

/// Destinations of the results of an evaluation.
pub struct EvaluationOutputs {
    /// Report on standard output.
    report: Output,
    /// True if the report is JSON.
    json: bool,
    /// True if the report explains its numbers.
    explained: bool,
    /// Figure of BLEU by length.
    figure: Option<Output>,
    /// Translations of the only system.
    save: Option<Output>,
}

impl EvaluationOutputs {
    /// Opens the output files before long work starts.
    ///
    /// # Errors
    /// A path is not suitable ([`UsageError`](crate::error::UsageError)), or cannot be opened.
    pub fn open(args: &EvaluateArgs, inputs: &EvaluationInputs, console: &Console) -> Result<Self> {
        if args.save.as_deref().is_some_and(is_standard_output) {
            return usage_of("save", "needs a file: scores go to standard output");
        }
        let written = [
            WrittenPath::given("--figure", args.figure.as_deref()),
            WrittenPath::given("--save", args.save.as_deref()),
        ];
        ensure_distinct_paths(inputs.paths(), written.into_iter().flatten())?;
        let figure = args.figure.as_deref().map(open_figure).transpose()?;
        let save = args.save.as_deref().map(Output::open).transpose()?;
        Ok(Self {
            report: Output::open(Path::new("-"))?,
            json: args.json,
            explained: !console.is_quiet(),
            figure,
            save,
        })
    }

    /// Writes the translations of the only system, if requested.
    ///
    /// # Errors
    /// Writing fails.
    pub fn save_translations(
        &mut self,
        files: &PairFiles,
        pairs: &[Pair],
        results: &[SystemResult],
        console: &Console,
    ) -> Result<()> {
        match (&mut self.save, results) {
            (Some(save), [SystemResult { scores: SystemScores::Translations(evaluation), .. }]) => {
                write_translations(save, files, pairs, evaluation, console)
            }
            _ => Ok(()),
        }
    }

    /// Completes the files and writes the report; a failure of one does not suppress the others.
    ///
    /// # Errors
    /// Writing fails.
    pub fn finish(self, results: &[SystemResult]) -> Result<()> {
        let Self { mut report, json, explained, figure, save } = self;
        let saved = save.map_or(Ok(()), Output::finish);
        let drawn = figure.map_or(Ok(()), |figure| draw(figure, results));
        let written = if json {
            let json = report_json(results)?;
            report.with(|out| writeln!(out, "{json}"))
        } else {
            report.with(|out| write_report(out, results, explained))
        };
        saved.and(drawn).and(written.and_then(|()| report.finish()))
    }
}

/// Opens the file of the figure.
fn open_figure(path: &Path) -> Result<Output> {
    if is_standard_output(path) {
        return usage_of("figure", "needs a file: scores go to standard output");
    }
    if let Some(extension) = path.extension().filter(|extension| !extension.eq_ignore_ascii_case("svg")) {
        let extension = extension.display();
        return usage_of("figure", format!("writes SVG, not .{extension}: choose a file name ending in .svg"));
    }
    Output::open(path)
}

/// Writes translations, one per line; for single words and words with features in the columns of the pairs.
fn write_translations(
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

/// Draws BLEU by length, one line per system.
fn draw(mut output: Output, results: &[SystemResult]) -> Result<()> {
    let mut systems: Vec<(&str, &[LengthScores])> = Vec::with_capacity(results.len());
    for SystemResult { name, scores, .. } in results {
        let buckets = scores.evaluation().and_then(|evaluation| evaluation.by_length.as_deref());
        systems.push((name, buckets.unwrap_or_default()));
    }
    output.with(|out| bleu_by_length(&systems).write(out))?;
    output.finish()
}
