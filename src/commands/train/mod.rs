//! `softalign train`

mod reporter;
mod samples;

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use candle_core::Device;
use indicatif::ProgressBar;
use serde_json::Value;

use reporter::{TrainingDisplay, progress_bar};
use samples::show_samples;

use super::console::Console;
use super::output_file::Output;
use super::processes::Processes;
use super::signals::Signals;
use crate::cli::{ExplicitArgs, TrainArgs, joined_options_of};
use crate::error::{usage, usage_of};
use crate::text::{SHIPPED_TRAINING, is_standard, standard_input_has_data};
use crate::trainer::{
    GivenCommand, InitFrom, ResumedSources, RunContext, SourceOptions, TrainingOutcome, TrainingSources, TrainingSpec,
    recorded_options, resume, train,
};
use crate::training::RunLimits;

/// Maximum length of a command to type, in characters, such that it fits into a line of a terminal.
const MAX_COMMAND: usize = 76;

/// Trains a model, or prints the resolved settings. `command_line` is recorded in config.json.
pub fn run(
    given: &ExplicitArgs<TrainArgs>,
    command_line: &[String],
    device: &Device,
    processes: &Processes,
    console: &Console,
) -> Result<()> {
    let args = &with_training_files(&given.args, console)?;
    let out = args.out.clone().unwrap_or_else(|| PathBuf::from("checkpoints"));
    if args.show_config && !args.resume {
        return if processes.is_first() { show_config(args, &out, device, console) } else { Ok(()) };
    }
    let translations = (!console.is_quiet()).then(|| Output::open(Path::new("-"))).transpose()?;
    let bar = progress_bar(console);
    let signals = Signals::listen(announcer(bar.clone(), processes.is_first()));
    let announcement = is_without_pairs(args)
        .then(|| format!("no sentence pairs are named: training on the shipped corpus, {SHIPPED_TRAINING}"));
    let display = TrainingDisplay::new(console, &signals, bar, args.verbose).announcing(announcement);
    let context = RunContext { device, communicator: processes.communicator(), observer: &display };
    let finished = begin_or_resume(given, args, command_line, &out, context);
    // Before the first step, a signal ends the preparation with an error.
    let asked = signals.asked().filter(|_| !display.has_begun());
    drop(display);
    let finished = finished.map_err(|error| asked.map_or(error, anyhow::Error::from))?;
    console.note(&finished.summary);
    signals.end_steps();
    if let Some(stopped) = signals.asked() {
        bail!(stopped);
    }
    if let Some(output) = translations {
        console.note("validation sentences, translated by the model:");
        show_samples(output, &out, &finished.validation, device)?;
        console.note("");
        describe_model(&finished, args.out.as_deref(), console);
    }
    finished.unrecorded
}

/// Says how good the model is, what would help, and what to type next.
fn describe_model(finished: &TrainingOutcome, out: Option<&Path>, console: &Console) {
    match &finished.quality {
        Some(quality) => quality.lines().into_iter().for_each(|line| console.note(line)),
        None => console.note(
            "how good the model is on other text is unknown, since too few pairs were held out; softalign evaluate measures it \
             on other pairs",
        ),
    }
    let model = out.map(|out| format!(" --model {}", quoted(&out.display().to_string()))).unwrap_or_default();
    let translate = format!("softalign translate{model}");
    let sources = finished.validation.iter().map(|pair| &*pair.source);
    let typable = sources.filter(|source| !source.contains(char::is_control) && !source.starts_with('-'));
    let commands = typable.map(|source| format!("{translate} {}", quoted(source)));
    let fitting = commands.filter(|command| command.chars().count() <= MAX_COMMAND);
    let translate = fitting.max_by_key(|command| command.chars().count()).unwrap_or_else(|| translate.clone());
    console.note(format!("next:\n    {translate}\n    softalign serve{model}"));
}

/// Quotes a text for the shell, if it needs to.
fn quoted(text: &str) -> String {
    let is_plain = text.chars().all(|character| character.is_alphanumeric() || "-_./".contains(character));
    if is_plain && !text.is_empty() { text.to_owned() } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// Returns the receiver of what is to be said about signals. Only the first process says it, above its progress bar.
fn announcer(bar: ProgressBar, is_first: bool) -> impl Fn(&str) {
    move |line: &str| {
        if is_first {
            bar.suspend(|| Console::new(false).say(line));
        }
    }
}

fn begin_or_resume(
    given: &ExplicitArgs<TrainArgs>,
    args: &TrainArgs,
    command_line: &[String],
    out: &Path,
    context: RunContext,
) -> Result<TrainingOutcome> {
    if args.resume {
        reject_changed_options(given, out)?;
        return resume(out, &args.config.limits, &ResumedSources::Options(args.sources()), context);
    }
    train(spec(args, command_line)?, out, context)
}

/// Returns the arguments with positional files as those of `--train`. Without any, standard input is read if it has data.
///
/// # Errors
/// Other data are named, but no training pairs ([`UsageError`](crate::error::UsageError)).
fn with_training_files(given: &TrainArgs, console: &Console) -> Result<TrainArgs> {
    let mut args = given.clone();
    args.sources.train.append(&mut args.positional);
    if !is_without_pairs(&args) {
        return Ok(args);
    }
    let SourceOptions { valid, valid_source, valid_target, .. } = &given.sources;
    let single = [valid_source, valid_target, &given.attention.guide].into_iter().flatten();
    let others: Vec<&PathBuf> = single.chain(valid).collect();
    if standard_input_has_data() && !others.iter().any(|path| is_standard(path)) {
        console.note("reading sentence pairs from standard input");
        args.sources.train = vec![PathBuf::from("-").into()];
    } else if !others.is_empty() {
        return usage(
            "no training pairs are named: give their file, as in softalign train pairs.tsv --valid valid.tsv",
        );
    }
    Ok(args)
}

/// True if a new training has no named pairs.
fn is_without_pairs(args: &TrainArgs) -> bool {
    args.sources.train.is_empty() && args.sources.source.is_none() && !args.resume
}

/// Returns the training that the options describe. Options with paths that are not Unicode are not recorded.
fn spec(args: &TrainArgs, command_line: &[String]) -> Result<TrainingSpec> {
    let init_from = match (&args.init_from, args.init_vocabulary) {
        (Some(path), vocabulary) => Some(InitFrom { path: path.clone(), vocabulary: vocabulary.unwrap_or_default() }),
        (None, Some(_)) => return usage_of("init-vocabulary", "needs --init-from"),
        (None, None) => None,
    };
    let mut options = args.to_json().unwrap_or_default();
    options.retain(|_, value| *value != Value::Bool(false));
    Ok(TrainingSpec {
        config: args.config.clone(),
        sources: TrainingSources::of_new_run(&args.sources())?,
        init_from,
        command: GivenCommand { command_line: command_line.to_owned(), options },
        replace: args.out.is_none(),
    })
}

/// Prints the resolved settings as JSON, in the format of `--config`.
fn show_config(args: &TrainArgs, out: &Path, device: &Device, console: &Console) -> Result<()> {
    let mut output = Output::open(Path::new("-"))?;
    let config = spec(args, &[])?.resolved_options(out, RunContext::new(device, console))?;
    let mut options = TrainArgs { config, ..args.with_shipped_files() }.to_json()?;
    options.insert("threads".to_owned(), rayon::current_num_threads().into());
    options.insert("device".to_owned(), if device.is_cuda() { "cuda" } else { "cpu" }.into());
    output.with(|out| Ok(writeln!(out, "{}", serde_json::to_string_pretty(&options)?)?))?;
    output.finish()
}

/// Rejects options that cannot change, unless the training in `out` began with the same values.
fn reject_changed_options(given: &ExplicitArgs<TrainArgs>, out: &Path) -> Result<()> {
    let (options, recorded) = (given.args.to_json().unwrap_or_default(), recorded_options(out));
    let changeable = [given.names_in(SourceOptions::CHANGEABLE), given.names_of::<RunLimits>()].concat();
    let mut changed = given.names();
    changed.retain(|name| !changeable.contains(name));
    changed.retain(|name| options.get(*name).is_none_or(|value| recorded.get(*name) != Some(value)));
    if changed.is_empty() {
        return Ok(());
    }
    let limits = joined_options_of::<RunLimits>();
    usage(format!("--{} cannot change with --resume; only {limits} can", changed.join(", --")))
}
