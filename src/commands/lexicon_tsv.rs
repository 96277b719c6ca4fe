//! What `align` makes of all pairs together: a bilingual word list, and the pairs that are probably bad translations.

use std::io::{Result, Write};

use serde::Serialize;

use crate::aligner;
use crate::alignment::{LexiconBuilder, NoiseFeatures, noise_scores, rank_by_noise};
use crate::cli::AlignmentFormat;
use crate::render::SCHEMA;
use crate::text::{LineNumbers, NormalForm, Pair};

/// Words as a word list has them: in NFC, without capitals and outer punctuation, and nothing of what is punctuation alone.
pub fn listed(words: &[String]) -> Vec<String> {
    let listed = |word: &String| {
        Some(aligner::normalize_word(word, NormalForm::Nfc)).filter(|word| word.chars().any(char::is_alphanumeric))
    };
    words.iter().map(|word| listed(word).unwrap_or_default()).collect()
}

/// One line a word and translation.
pub fn write_lexicon(out: &mut dyn Write, pairs: &[Pair], words: &LexiconBuilder) -> Result<()> {
    writeln!(out, "word\ttranslation\tcount\tp(translation|word)\tp(word|translation)\texample\texample_translation")?;
    for entry in words.entries() {
        let Pair { source, target } = &pairs[entry.example];
        let shares = format!("{:.4}\t{:.4}", entry.given_source, entry.given_target);
        let example = [source, target].map(|text| cell(text)).join("\t");
        writeln!(out, "{}\t{}\t{}\t{shares}\t{example}", cell(&entry.source), cell(&entry.target), entry.count)?;
    }
    Ok(())
}

/// Text as a table takes it: what some program or other takes for the end of a cell or of a line becomes a space.
fn cell(text: &str) -> String {
    text.replace(|character: char| character.is_control() || matches!(character, '\u{2028}' | '\u{2029}'), " ")
}

/// How a list of pairs is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ListFormat {
    TableScorer,
    Json,
    JsonLines,
}

impl ListFormat {
    /// The one that a format of alignments stands for, if it can be a list's.
    pub fn of(format: AlignmentFormat) -> Option<Self> {
        match format {
            AlignmentFormat::Text | AlignmentFormat::Tsv => Some(Self::TableScorer),
            AlignmentFormat::Json => Some(Self::Json),
            AlignmentFormat::Jsonl => Some(Self::JsonLines),
            _ => None,
        }
    }
}

/// A pair in the list.
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

/// All pairs, the most suspicious first, with their lines.
pub fn write_suspicions(
    out: &mut dyn Write,
    format: ListFormat,
    pairs: &[Pair],
    signs: &[NoiseFeatures],
    numbers: &LineNumbers,
) -> Result<()> {
    let found = noise_scores(signs);
    let suspicious = |index: usize| {
        let (Pair { source, target }, NoiseFeatures { score, unlinked, .. }) = (&pairs[index], signs[index]);
        NoisyPair { schema: SCHEMA, line: numbers.of(index), suspicion: found[index], score, unlinked, source, target }
    };
    let list: Vec<NoisyPair> = rank_by_noise(&found).into_iter().map(suspicious).collect();
    match format {
        ListFormat::TableScorer => write_table(out, &list),
        ListFormat::Json => Ok(writeln!(out, "{}", serde_json::to_string(&list)?)?),
        ListFormat::JsonLines => {
            list.iter().try_for_each(|pair| Ok(writeln!(out, "{}", serde_json::to_string(pair)?)?))
        }
    }
}

fn write_table(out: &mut dyn Write, list: &[NoisyPair]) -> Result<()> {
    writeln!(out, "line\tsuspicion\tscore\tunlinked\tsource\ttarget")?;
    for NoisyPair { line, suspicion, score, unlinked, source, target, .. } in list {
        writeln!(out, "{line}\t{suspicion:.2}\t{score:.3}\t{unlinked:.2}\t{}\t{}", cell(source), cell(target))?;
    }
    Ok(())
}
