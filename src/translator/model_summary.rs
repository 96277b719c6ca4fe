//! Description of a model directory.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use candle_core::Device;
use serde::Serialize;
use serde_json::Value;

use crate::checkpoint::{Checkpoint, Config, ModelDir};
use crate::render::{SCHEMA, clock, escape_controls_by_line, readable};
use crate::reporter::counted;
use crate::text::{Tokenization, language_name};
use crate::training::Schedule;

/// A model directory described for people and programs.
pub struct ModelSummary {
    path: PathBuf,
    directory: ModelDir,
    checkpoint: Checkpoint,
    /// Number of token translations of the lexicon for the lexical bias, if there is one.
    lexicon_entries: Option<usize>,
}

impl ModelSummary {
    /// Reads a model directory. All parameters are loaded, so that damage is found.
    ///
    /// # Errors
    /// The directory holds no model, or a damaged one.
    pub fn load(path: &Path) -> Result<Self> {
        let directory = ModelDir::new(path);
        let (checkpoint, _) = directory.load_model(&Device::Cpu)?;
        let lexicon_entries = directory.load_lexicon(&checkpoint)?.map(|lexicon| lexicon.entry_count());
        Ok(Self { path: path.to_owned(), directory, checkpoint, lexicon_entries })
    }

    /// Writes the description as text, whose control characters are escaped, since directories of others may contain some.
    ///
    /// # Errors
    /// Writing fails.
    pub fn write(&self, out: &mut dyn Write) -> std::io::Result<()> {
        let mut text = Vec::new();
        describe_model(&mut text, &self.path, &self.checkpoint)?;
        if let Some(entries) = self.lexicon_entries {
            writeln!(text, "lexicon         {entries} token translations for the lexical bias")?;
        }
        describe_data(&mut text, &self.checkpoint)?;
        describe_training(&mut text, &self.checkpoint)?;
        describe_history(&mut text, &self.directory)?;
        for (name, size) in self.directory.sizes() {
            writeln!(text, "file            {name}, {:.1} kB", size as f64 / 1e3)?;
        }
        out.write_all(escape_controls_by_line(&String::from_utf8_lossy(&text)).as_bytes())
    }

    /// Returns the description as a JSON object.
    ///
    /// # Errors
    /// Serialization fails.
    pub fn json(&self) -> serde_json::Result<String> {
        let Validations { best, last } = Validations::read(&self.directory);
        serde_json::to_string(&Inspection {
            schema: SCHEMA,
            model: &self.path,
            parameters: self.checkpoint.config.architecture.parameter_count(),
            config: &self.checkpoint.config,
            best,
            last,
            files: self.directory.sizes().into_iter().collect(),
        })
    }
}

/// Description of a model as JSON.
#[derive(Serialize)]
struct Inspection<'a> {
    schema: u32,
    model: &'a Path,
    parameters: usize,
    /// Contents of config.json.
    config: &'a Config,
    /// Log entries of the best and the last validation.
    best: Option<Value>,
    last: Option<Value>,
    /// File sizes in bytes.
    files: BTreeMap<String, u64>,
}

/// Writes sizes and variants of the model, and its vocabularies.
fn describe_model(out: &mut dyn Write, path: &Path, checkpoint: &Checkpoint) -> std::io::Result<()> {
    let config = &checkpoint.config;
    let sizes = &config.architecture;
    writeln!(out, "model           {}", path.display())?;
    writeln!(out, "created by      softalign {}, format {}", config.program_version, config.format_version)?;
    writeln!(
        out,
        "sizes           embedding {}, hidden {}, attention {}, encoder layers {}: {:.2} million parameters",
        sizes.embedding_size,
        sizes.hidden_size,
        sizes.attention_size,
        sizes.layers,
        sizes.parameter_count() as f64 / 1e6
    )?;
    if !config.averaged.is_empty() {
        writeln!(out, "average of      {}", config.averaged.join(", "))?;
    }
    if let Some(origin) = &config.from {
        writeln!(out, "initialized from {origin}")?;
    }
    writeln!(out, "attention       {}; {} decoder", sizes.attention, sizes.decoder)?;
    writeln!(out, "normalization   {}", config.text.normalization)?;
    writeln!(out, "source          {} {}", sizes.source_vocabulary, token_kind(config.text.source_tokenization))?;
    writeln!(out, "target          {} {}", sizes.target_vocabulary, token_kind(config.text.target_tokenization))?;
    writeln!(
        out,
        "vocabulary      {}; output layer {}",
        if config.text.joint_vocabulary { "joint" } else { "one per side" },
        if sizes.tied_output { "tied to the target embeddings" } else { "not tied" }
    )
}

/// Returns what the tokens of a vocabulary are.
fn token_kind(tokenization: Tokenization) -> &'static str {
    match tokenization {
        Tokenization::Bpe => "subwords (BPE)",
        Tokenization::Word => "words",
        Tokenization::Char => "characters",
        Tokenization::Letter => "characters decomposed into letters",
    }
}

/// Writes what the model was trained on.
fn describe_data(out: &mut dyn Write, checkpoint: &Checkpoint) -> std::io::Result<()> {
    let data = &checkpoint.config.data;
    if let Some(languages) = &data.languages {
        let names = [&languages.source, &languages.target].map(|code| language_name(code)).join(" to ");
        writeln!(out, "languages       {names} ({languages})")?;
    }
    let files = data.training_files.join(" and ");
    writeln!(
        out,
        "trained on      {files}: {}, sha256 {}",
        counted(data.training_pairs, "pair"),
        data.fingerprint.chars().take(12).collect::<String>()
    )?;
    writeln!(
        out,
        "validated on    {}: {}",
        match data.validation_files.join(" and ") {
            files if !files.is_empty() => files,
            _ if data.validated_on_training => "the training pairs".to_owned(),
            _ => "held-out pairs".to_owned(),
        },
        counted(data.validation_pairs, "pair")
    )
}

/// Writes the settings of training, and the command that began it.
fn describe_training(out: &mut dyn Write, checkpoint: &Checkpoint) -> std::io::Result<()> {
    let settings = &checkpoint.config.training;
    writeln!(
        out,
        "settings        batches of {}, learning rate {}, dropout {}, label smoothing {}, seed {}",
        settings.batch, settings.learning_rate, settings.dropout.embeddings, settings.label_smoothing, settings.seed
    )?;
    writeln!(out, "                attention {}", checkpoint.config.describe_guidance())?;
    let schedule = match settings.schedule {
        Schedule::Hold => "decays in the last two fifths",
        Schedule::Cosine => "decays along a cosine",
        Schedule::Plateau => "decays when validations stop improving",
    };
    let minutes = settings.max_minutes.map(|minutes| format!(" or {minutes} minutes")).unwrap_or_default();
    writeln!(
        out,
        "                learning rate {schedule}; at most {}{minutes}",
        counted(settings.max_epochs as usize, "epoch")
    )?;
    writeln!(
        out,
        "                BPE dropout {}, concatenated pairs {}, hallucination {}, EMA decay {}",
        settings.bpe_dropout.unwrap_or_default(),
        settings.concat_pairs.unwrap_or_default(),
        settings.hallucination.unwrap_or_default(),
        settings.ema_decay.unwrap_or_default()
    )?;
    let Some(begun) = &checkpoint.config.begun else { return Ok(()) };
    writeln!(
        out,
        "command         softalign {} (on {})",
        begun.command_line.join(" "),
        counted(begun.threads, "thread")
    )
}

/// Writes the best and the last validation.
fn describe_history(out: &mut dyn Write, directory: &ModelDir) -> std::io::Result<()> {
    let Validations { best, last } = Validations::read(directory);
    for (what, line) in [("best", best), ("last", last)] {
        let Some(line) = line else { continue };
        let scores = match (line["wer"].as_f64(), line["per"].as_f64()) {
            (Some(wer), Some(per)) => format!("WER {wer:.2} %, PER {per:.2} %"),
            _ => format!(
                "BLEU {:.2}, chrF {:.2}, exact {:.1} %",
                number(&line, "bleu"),
                number(&line, "chrf"),
                number(&line, "exact_match")
            ),
        };
        writeln!(
            out,
            "{what}            epoch {}, step {}, after {}: {scores}, perplexity {}",
            line["epoch"],
            line["step"],
            clock(Duration::try_from_secs_f64(number(&line, "seconds")).unwrap_or_default()),
            readable(number(&line, "perplexity"), 2)
        )?;
    }
    Ok(())
}

/// Returns a number of a log entry, or NaN if it has none of this name.
fn number(line: &Value, key: &str) -> f64 {
    line[key].as_f64().unwrap_or(f64::NAN)
}

/// Log entries of validations.
struct Validations {
    /// Last one that was the best so far.
    best: Option<Value>,
    last: Option<Value>,
}

impl Validations {
    /// Reads them from the log of a model directory.
    fn read(directory: &ModelDir) -> Self {
        let all: Vec<Value> =
            directory.log().lines().into_iter().filter(|line| line["event"] == "validation").collect();
        let best = all.iter().rev().find(|line| line["best"] == true).cloned();
        Self { best, last: all.last().cloned() }
    }
}
