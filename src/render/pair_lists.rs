//! Lists over all aligned pairs: the bilingual lexicon and the noisy pairs.

use std::io::{Result, Write};
use std::path::Path;

use serde::Serialize;

use super::{AlignmentFormat, SCHEMA, table_cell};
use crate::alignment::{LexiconEntry, NoiseFeatures, noise_scores, rank_by_noise};
use crate::text::{LineNumbers, Pair, TableWriter};

/// Writes the bilingual lexicon as a table in the syntax of its file, a row per word and translation. `pairs` hold the examples.
///
/// # Errors
/// Writing fails.
pub fn write_lexicon(out: &mut dyn Write, file: &Path, pairs: &[Pair], entries: &[LexiconEntry]) -> Result<()> {
    let mut table = TableWriter::new(file, &LEXICON_COLUMNS).with_header();
    table.begin(out)?;
    for entry in entries {
        let Pair { source, target } = &pairs[entry.example];
        let [word, translation, source, target] =
            [&entry.source, &entry.target, source, target].map(|text| table_cell(text));
        let shares = [entry.given_source, entry.given_target].map(|share| format!("{share:.4}"));
        let [of_translation, of_word] = shares;
        let count = entry.count.to_string();
        table.row(out, &[word, translation, count, of_translation, of_word, source, target])?;
    }
    Ok(())
}

const LEXICON_COLUMNS: [&str; 7] =
    ["word", "translation", "count", "p(translation|word)", "p(word|translation)", "example", "example_translation"];

/// Output format of the noisy pairs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ListFormat {
    /// Table in the syntax of its file.
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
    file: &Path,
    format: ListFormat,
    pairs: &[Pair],
    features: &[NoiseFeatures],
    numbers: &LineNumbers,
) -> Result<()> {
    let found = noise_scores(features);
    let mut list = Vec::with_capacity(pairs.len());
    for index in rank_by_noise(&found) {
        list.push(NoisyPair {
            schema: SCHEMA,
            line: numbers.of(index),
            suspicion: found[index],
            score: features[index].score,
            unlinked: features[index].unlinked,
            source: &pairs[index].source,
            target: &pairs[index].target,
        });
    }
    match format {
        ListFormat::Table => write_table(out, file, &list),
        ListFormat::Json => Ok(writeln!(out, "{}", serde_json::to_string(&list)?)?),
        ListFormat::JsonLines => {
            list.iter().try_for_each(|pair| Ok(writeln!(out, "{}", serde_json::to_string(pair)?)?))
        }
    }
}

fn write_table(out: &mut dyn Write, file: &Path, list: &[NoisyPair]) -> Result<()> {
    let columns = &["line", "suspicion", "score", "unlinked", "source", "target"];
    let mut table = TableWriter::new(file, columns).with_header();
    table.begin(out)?;
    for NoisyPair { line, suspicion, score, unlinked, source, target, .. } in list {
        let numbers = [line.to_string(), format!("{suspicion:.2}"), format!("{score:.3}"), format!("{unlinked:.2}")];
        let row: Vec<String> = numbers.into_iter().chain([source, target].map(|text| table_cell(text))).collect();
        table.row(out, &row)?;
    }
    Ok(())
}
