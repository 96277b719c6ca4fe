//! `softalign evaluate`

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail, ensure};
use candle_core::Device;
use serde::Serialize;

use super::console::Console;
use super::gold::read_gold;
use super::input::{PairFiles, SHIPPED_GOLD, SHIPPED_TEST};
use super::linking::{check_links, linker};
use super::output::Output;
use super::reading::translator;
use super::search::beam_settings;
use super::usage::UsageError;
use crate::alignment::{Agreement, Gold, Shift, ShiftedCounts, Threshold, ThresholdSearch};
use crate::cli::EvaluateArgs;
use crate::metrics::{Scores, perplexity};
use crate::translator::Linked;

/// What is measured.
#[derive(Serialize)]
struct Evaluation {
    pairs: usize,
    #[serde(flatten)]
    scores: Scores,
    perplexity: f64,
    #[serde(flatten)]
    judgement: Option<Judgement>,
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

pub fn run(args: &EvaluateArgs, device: &Device, console: &Console) -> Result<()> {
    let beam = beam_settings(&args.search)?;
    check_links(&args.links, false)?;
    let given = &args.pairs;
    let given = PairFiles::given(given.pairs.as_deref(), given.source.as_deref(), given.target.as_deref());
    let gold_path = match (&args.gold, &given) {
        (None, None) => Some(PathBuf::from(SHIPPED_GOLD)),
        (gold, _) => gold.clone(),
    };
    if args.search_threshold && gold_path.is_none() {
        bail!(UsageError("--search-threshold needs gold alignments: name them with --gold".to_owned()));
    }
    let files = given.unwrap_or_else(|| PairFiles::shipped(SHIPPED_TEST));
    let pairs = files.read("--pairs")?;
    ensure!(!pairs.is_empty(), "{files}: no sentence pair in it");
    let words = args.links.words;
    let gold = gold_path.map(|path| read_gold(&path, &pairs, words, args.gold_base.into())).transpose()?;
    let translator = translator(&args.model, &args.reading, &args.links, device)?;
    let linker = linker(&args.links, &args.model, Some(&translator), false, &pairs, device, console)?;

    let sentences: Vec<String> = pairs.iter().map(|pair| pair.source.clone()).collect();
    let references: Vec<&str> = pairs.iter().map(|pair| pair.target.as_str()).collect();
    let mut bar = console.bar("translating", pairs.len());
    let translations = translator.translate(&sentences, &beam, &mut |count| bar.advance(count))?;
    drop(bar);
    let translations: Vec<&str> = translations.iter().map(|found| found[0].text.as_str()).collect();
    let mut bar = console.bar("aligning", pairs.len());
    let aligned = translator.align(&pairs, &mut |count| bar.advance(count))?;
    drop(bar);

    let log_probability: f64 = aligned.iter().map(|aligned| aligned.log_probability).sum();
    let units = aligned.iter().map(|aligned| aligned.length).sum();
    let perplexity = perplexity(-log_probability, units);
    ensure!(
        perplexity.is_finite(),
        "{}: the perplexity is beyond all numbers, since this model's parameters are too large; train it anew",
        args.model.display()
    );
    let linked =
        if linker.attention { linker.link_read(aligned, &pairs)? } else { linker.link(&pairs, &mut |_| {})? };
    let judgement = gold.map(|gold| judge(&linked, &gold, args.search_threshold));
    if let Some(judgement) = &judgement {
        warn_of_shift(judgement, console);
    }
    let evaluation =
        Evaluation { pairs: pairs.len(), scores: Scores::of(&translations, &references), perplexity, judgement };
    show(&evaluation, args.json)
}

fn show(evaluation: &Evaluation, json: bool) -> Result<()> {
    let mut output = Output::open(Path::new("-"))?;
    if json {
        output.with(|out| Ok(writeln!(out, "{}", serde_json::to_string(evaluation)?)?))?;
    } else {
        output.with(|out| evaluation.print(out))?;
    }
    output.finish()
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
        let scores = &self.scores;
        writeln!(out, "pairs          {:>8}", self.pairs)?;
        writeln!(out, "BLEU           {:>8.2}", scores.bleu)?;
        writeln!(out, "chrF           {:>8.2}", scores.chrf)?;
        writeln!(out, "exact match    {:>8.2} %", scores.exact_match)?;
        writeln!(out, "word errors    {:>8.2} %", scores.word_error_rate)?;
        writeln!(out, "char errors    {:>8.2} %", scores.character_error_rate)?;
        writeln!(out, "perplexity     {:>8.2}", self.perplexity)?;
        if let Some(Judgement { agreement, best, .. }) = &self.judgement {
            writeln!(out, "AER            {:>8.3}", agreement.aer)?;
            writeln!(out, "precision      {:>8.3}", agreement.precision)?;
            writeln!(out, "recall         {:>8.3}", agreement.recall)?;
            writeln!(out, "F1             {:>8.3}", agreement.f1)?;
            if let Some(best) = best {
                writeln!(out, "best threshold {:>8.2} (AER {:.3})", best.threshold, best.aer)?;
            }
        }
        Ok(())
    }
}
