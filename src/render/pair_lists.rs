//! Lists over all aligned pairs: the bilingual lexicon and the noisy pairs.

use std::io::{Result, Write};

use serde::Serialize;

use super::{AlignmentFormat, SCHEMA, table_cell};
use crate::alignment::{LexiconEntry, NoiseFeatures, noise_scores, rank_by_noise};
use crate::text::{LineNumbers, Pair};

/// Writes the bilingual lexicon as TSV, one line per word and translation. `pairs` hold the examples.
///
/// # Errors
/// Writing fails.
pub fn write_lexicon(out: &mut dyn Write, pairs: &[Pair], entries: &[LexiconEntry]) -> Result<()> {
    writeln!(out, "word\ttranslation\tcount\tp(translation|word)\tp(word|translation)\texample\texample_translation")?;
    for entry in entries {
        let Pair { source, target } = &pairs[entry.example];
        let shares = format!("{:.4}\t{:.4}", entry.given_source, entry.given_target);
        let example = [source, target].map(|text| table_cell(text)).join("\t");
        writeln!(
            out,
            "{}\t{}\t{}\t{shares}\t{example}",
            table_cell(&entry.source),
            table_cell(&entry.target),
            entry.count
        )?;
    }
    Ok(())
}

/// Output format of the noisy pairs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ListFormat {
    /// TSV.
    Table,
    /// JSON array.
    Json,
    /// JSON Lines.
    JsonLines,
}

impl ListFormat {
    /// Returns the list format that corresponds to a format of alignments, if there is one.
    pub fn new(format: AlignmentFormat) -> Option<Self> {
        match format {
            AlignmentFormat::Text | AlignmentFormat::Tsv => Some(Self::Table),
            AlignmentFormat::Json => Some(Self::Json),
            AlignmentFormat::Jsonl => Some(Self::JsonLines),
            _ => None,
        }
    }
}

/// Noisy pair.
#[derive(Serialize)]
struct NoisyPair<'a> {
    schema: u32,
    line: usize,
    suspicion: f64,
    score: f64,
    unlinked: f64,
    source: &'a str,
    target: &'a str,
}

/// Writes all pairs with their line numbers and noise scores, the noisiest first.
///
/// # Errors
/// Writing fails.
pub fn write_noisy_pairs(
    out: &mut dyn Write,
    format: ListFormat,
    pairs: &[Pair],
    features: &[NoiseFeatures],
    numbers: &LineNumbers,
) -> Result<()> {
    let found = noise_scores(features);
    let noisy = |index: usize| {
        let (Pair { source, target }, NoiseFeatures { score, unlinked, .. }) = (&pairs[index], features[index]);
        NoisyPair { schema: SCHEMA, line: numbers.of(index), suspicion: found[index], score, unlinked, source, target }
    };
    let list: Vec<NoisyPair> = rank_by_noise(&found).into_iter().map(noisy).collect();
    match format {
        ListFormat::Table => write_table(out, &list),
        ListFormat::Json => Ok(writeln!(out, "{}", serde_json::to_string(&list)?)?),
        ListFormat::JsonLines => {
            list.iter().try_for_each(|pair| Ok(writeln!(out, "{}", serde_json::to_string(pair)?)?))
        }
    }
}

fn write_table(out: &mut dyn Write, list: &[NoisyPair]) -> Result<()> {
    writeln!(out, "line\tsuspicion\tscore\tunlinked\tsource\ttarget")?;
    for NoisyPair { line, suspicion, score, unlinked, source, target, .. } in list {
        writeln!(
            out,
            "{line}\t{suspicion:.2}\t{score:.3}\t{unlinked:.2}\t{}\t{}",
            table_cell(source),
            table_cell(target)
        )?;
    }
    Ok(())
}
