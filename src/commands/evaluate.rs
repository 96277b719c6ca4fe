//! `softalign evaluate`

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, ensure};
use candle_core::Device;
use serde::Serialize;

use super::align::{check_links, linker};
use super::console::Console;
use super::input::{PairFiles, SHIPPED_GOLD, SHIPPED_TEST};
use super::output::Output;
use super::translate::beam_settings;
use crate::alignment::{Agreement, AgreementCounts, Gold, parse_gold_line};
use crate::cli::EvaluateArgs;
use crate::metrics::{Scores, perplexity};
use crate::text::{Pair, read_lines};
use crate::translator::{Linked, Translator};

/// What is measured.
#[derive(Serialize)]
struct Evaluation {
    pairs: usize,
    #[serde(flatten)]
    scores: Scores,
    perplexity: f64,
    #[serde(flatten)]
    agreement: Option<Agreement>,
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
    let files = given.unwrap_or_else(|| PairFiles::shipped(SHIPPED_TEST));
    let pairs = files.read("--pairs")?;
    ensure!(!pairs.is_empty(), "{}: no sentence pair in it", files.names().join(" and "));
    let gold = gold_path.map(|path| read_gold(&path, &pairs)).transpose()?;
    let translator = Translator::load(&args.model, device)?;
    let linker = linker(&args.links, &args.model, false, &pairs, device, console)?;

    let sentences: Vec<String> = pairs.iter().map(|pair| pair.source.clone()).collect();
    let references: Vec<&str> = pairs.iter().map(|pair| pair.target.as_str()).collect();
    let mut bar = console.bar("translating", pairs.len());
    let translations = translator.translate(&sentences, &beam, &mut |count| bar.advance(count))?;
    drop(bar);
    let translations: Vec<&str> = translations.iter().map(|found| found[0].text.as_str()).collect();
    let mut bar = console.bar("aligning", pairs.len());
    let aligned = translator.align(&pairs, &mut |count| bar.advance(count))?;
    let linked = linker.link(&pairs, &mut |_| {})?;
    drop(bar);

    let log_probability: f64 = aligned.iter().map(|aligned| aligned.log_probability).sum();
    let units = aligned.iter().map(|aligned| aligned.length).sum();
    let evaluation = Evaluation {
        pairs: pairs.len(),
        scores: Scores::of(&translations, &references),
        perplexity: perplexity(-log_probability, units),
        agreement: gold.map(|gold| agreement(&linked, &gold)),
    };
    let mut output = Output::open(Path::new("-"))?;
    if args.json {
        output.with(|out| Ok(writeln!(out, "{}", serde_json::to_string(&evaluation)?)?))?;
    } else {
        output.with(|out| evaluation.print(out))?;
    }
    output.finish()
}

/// Reads a gold file that belongs to pairs: as many lines, and no link beyond their words.
fn read_gold(path: &Path, pairs: &[Pair]) -> Result<Vec<Gold>> {
    let lines = read_lines(path)?;
    ensure!(
        lines.len() == pairs.len(),
        "{}: {} lines for {} sentence pairs; a gold file has one line for each",
        path.display(),
        lines.len(),
        pairs.len()
    );
    let mut gold = Vec::with_capacity(lines.len());
    for (index, (line, pair)) in lines.iter().zip(pairs).enumerate() {
        let place = format!("{}:{}", path.display(), index + 1);
        let links = parse_gold_line(line).map_err(|reason| anyhow!("{place}: {reason}"))?;
        let [sources, targets] = [&pair.source, &pair.target].map(|text| text.split_whitespace().count());
        for link in &links.possible {
            ensure!(
                link.source < sources && link.target < targets,
                "{place}: link {}-{} points beyond the pair's {sources} and {targets} words; words are counted from 0",
                link.source,
                link.target
            );
        }
        gold.push(links);
    }
    Ok(gold)
}

fn agreement(linked: &[Linked], gold: &[Gold]) -> Agreement {
    let mut counts = AgreementCounts::default();
    for (linked, gold) in linked.iter().zip(gold) {
        counts.add(&linked.links, gold);
    }
    counts.agreement()
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
        if let Some(agreement) = &self.agreement {
            writeln!(out, "AER            {:>8.3}", agreement.aer)?;
            writeln!(out, "precision      {:>8.3}", agreement.precision)?;
            writeln!(out, "recall         {:>8.3}", agreement.recall)?;
            writeln!(out, "F1             {:>8.3}", agreement.f1)?;
        }
        Ok(())
    }
}
