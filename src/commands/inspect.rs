//! `softalign inspect`

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use candle_core::Device;
use serde::Serialize;
use serde_json::Value;

use super::output_file::Output;
use crate::checkpoint::{Checkpoint, Config, ModelDir};
use crate::cli::InspectArgs;
use crate::render::clock;
use crate::render::readable;
use crate::render::{SCHEMA, escape_controls_by_line};
use crate::reporter::counted;
use crate::text::Units;
use crate::training::Schedule;

pub fn run(args: &InspectArgs) -> Result<()> {
    let model = args.directory.as_deref().unwrap_or(&args.model);
    let directory = ModelDir::new(model);
    // Loading detects damaged parameters.
    let (checkpoint, _) = directory.load_model(&Device::Cpu)?;
    let lexicon = directory.load_lexicon(&checkpoint)?;
    if args.json {
        return show_json(model, &directory, &checkpoint);
    }
    let mut text = Vec::new();
    describe_model(&mut text, model, &checkpoint)?;
    if let Some(lexicon) = lexicon {
        writeln!(text, "lexicon         {} token translations for the lexical bias", lexicon.entry_count())?;
    }
    describe_training(&mut text, &checkpoint)?;
    describe_history(&mut text, &directory)?;
    for (name, size) in directory.sizes() {
        writeln!(text, "file            {name}, {:.1} kB", size as f64 / 1e3)?;
    }
    let mut output = Output::open(Path::new("-"))?;
    // Model directories of others may contain control characters.
    output.with(|out| out.write_all(escape_controls_by_line(&String::from_utf8_lossy(&text)).as_bytes()))?;
    output.finish()
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

fn show_json(path: &Path, directory: &ModelDir, checkpoint: &Checkpoint) -> Result<()> {
    let [best, last] = validations(directory);
    let inspection = Inspection {
        schema: SCHEMA,
        model: path,
        parameters: checkpoint.config.architecture.parameter_count(),
        config: &checkpoint.config,
        best,
        last,
        files: directory.sizes().into_iter().collect(),
    };
    let mut output = Output::open(Path::new("-"))?;
    output.with(|out| Ok(writeln!(out, "{}", serde_json::to_string(&inspection)?)?))?;
    output.finish()
}

fn describe_model(out: &mut dyn Write, path: &Path, checkpoint: &Checkpoint) -> std::io::Result<()> {
    let config = &checkpoint.config;
    let sizes = &config.architecture;
    let units = |units: Units| match units {
        Units::Bpe => "subwords (BPE)",
        Units::Word => "words",
        Units::Char => "characters",
    };
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
    writeln!(out, "source          {} {}", sizes.source_vocabulary, units(config.text.source_units))?;
    writeln!(out, "target          {} {}", sizes.target_vocabulary, units(config.text.target_units))?;
    writeln!(
        out,
        "vocabulary      {}; output layer {}",
        if config.text.joint_vocabulary { "joint" } else { "one per side" },
        if sizes.tied_output { "tied to the target embeddings" } else { "not tied" }
    )
}

fn describe_training(out: &mut dyn Write, checkpoint: &Checkpoint) -> std::io::Result<()> {
    let (data, settings) = (&checkpoint.config.data, &checkpoint.config.training);
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
    )?;
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
    let share = |share: Option<f64>| share.unwrap_or_default();
    writeln!(
        out,
        "                learning rate {schedule}; at most {}{minutes}",
        counted(settings.max_epochs as usize, "epoch")
    )?;
    writeln!(
        out,
        "                BPE dropout {}, concatenated pairs {}, EMA decay {}",
        share(settings.bpe_dropout),
        share(settings.concat_pairs),
        share(settings.average)
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
    for (what, line) in ["best", "last"].into_iter().zip(validations(directory)) {
        let Some(line) = line else { continue };
        let number = |key: &str| line[key].as_f64().unwrap_or(f64::NAN);
        let scores = match (line["wer"].as_f64(), line["per"].as_f64()) {
            (Some(wer), Some(per)) => format!("WER {wer:.2} %, PER {per:.2} %"),
            _ => {
                format!("BLEU {:.2}, chrF {:.2}, exact {:.1} %", number("bleu"), number("chrf"), number("exact_match"))
            }
        };
        writeln!(
            out,
            "{what}            epoch {}, step {}, after {}: {scores}, perplexity {}",
            line["epoch"],
            line["step"],
            clock(Duration::try_from_secs_f64(number("seconds")).unwrap_or_default()),
            readable(number("perplexity"), 2)
        )?;
    }
    Ok(())
}

/// Returns the log entries of the best and the last validation.
fn validations(directory: &ModelDir) -> [Option<Value>; 2] {
    let validations: Vec<Value> =
        directory.log().lines().into_iter().filter(|line| line["event"] == "validation").collect();
    let best = validations.iter().rev().find(|line| line["best"] == true).cloned();
    [best, validations.last().cloned()]
}
