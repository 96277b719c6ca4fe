//! `softalign train`

mod attention_watch;
mod data;
mod decisions;
mod display;
mod plan;
mod record;
mod user_guide;
mod warm_start;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};
use candle_core::Device;

use data::{Data, DataFiles};
use decisions::Decisions;
use display::TrainingDisplay;
use plan::TrainingPlan;
use user_guide::{GIVEN_WORDS, GivenLinks};
use warm_start::WarmStart;

use super::console::Console;
use super::formats::heatmap;
use super::linking::learn_aligner;
use super::numbers::clock;
use super::output::Output;
use super::signals::Signals;
use super::usage::UsageError;
use crate::aligner::WordAligner;
use crate::checkpoint::{Checkpoint, Config, Folder, Holds, Lock, TextSettings};
use crate::cli::{Given, TrainArgs};
use crate::model::{RnnSearch, UnitLexicon};
use crate::parameters::Parameters;
use crate::render::escape_controls;
use crate::search::BeamSettings;
use crate::text::{Corpus, Pair};
use crate::training::{
    Examples, Guides, Optimiser, Outset, Progress, StopReason, Trainer, TrainingSettings, ValidationSet,
};
use crate::translator::{Sentence, Translator};

/// Options that may go with --resume: where the model and the pairs lie, and when to end. All others are settled.
const WITH_RESUME: [&str; 13] = [
    "train",
    "guide",
    "source",
    "target",
    "valid",
    "valid-source",
    "valid-target",
    "out",
    "resume",
    "max-epochs",
    "max-minutes",
    "patience",
    "save-every",
];
/// Sentences shown with their alignments at the end.
const SHOWN: usize = 2;

/// Where a run begins.
struct Start {
    lock: Lock,
    checkpoint: Checkpoint,
    model: RnnSearch,
    optimiser: Optimiser,
    progress: Progress,
    examples: Examples,
    validation: Corpus,
}

/// Trains, or says with what settings it would. `command_line` is what config.json notes down.
pub fn run(given: &Given<TrainArgs>, command_line: &[String], device: &Device, console: &Console) -> Result<()> {
    let args = &given.args;
    let out = args.out.clone().unwrap_or_else(|| PathBuf::from("checkpoints"));
    let folder = Folder::new(&out);
    let save_every = plan::save_every(args)?;
    if args.show_config && !args.resume {
        return show_config(given, &out, device, console);
    }
    let (began, signals) = (Instant::now(), Signals::listen());
    let start = if args.resume {
        resume(given, &folder, device, console)?
    } else {
        begin(given, command_line, &folder, &signals, device, console)?
    };
    signals.begin_steps();
    let Start { lock, checkpoint, model, optimiser, progress, examples, validation: held_out } = start;
    let settings = &checkpoint.config.training;
    let validation = ValidationSet {
        pairs: &held_out.pairs,
        examples: &held_out.examples,
        source_vocabulary: &checkpoint.source,
        target_vocabulary: &checkpoint.target,
    };
    let (examples, validation) = (&examples, &validation);
    let mut trainer = Trainer::new(Outset { model, optimiser, progress, settings, examples, validation, began })?;
    let (reason, recorded) = {
        let step = trainer.progress().step;
        let mut display = TrainingDisplay::new(console, (&folder, &lock), &checkpoint, step, &signals)?;
        let reason = trainer.run(Duration::from_secs_f64(60.0 * save_every), &mut display)?;
        (reason, display.finish())
    };
    console.note(ending(reason, settings, trainer.progress(), &folder));
    signals.end_steps();
    if let Some(stopped) = signals.asked() {
        bail!(stopped);
    }
    show(&out, &held_out.pairs, device)?;
    drop(lock);
    recorded
}

/// Says as JSON all that is in force for a new training, as `--config` takes it.
fn show_config(given: &Given<TrainArgs>, out: &Path, device: &Device, console: &Console) -> Result<()> {
    let args = &given.args;
    let from = WarmStart::load(given, out, device)?;
    let plan = TrainingPlan::new(args, from.as_ref().map(WarmStart::config))?;
    let (decisions, ()) = Decisions::new((&plan, args), from.as_ref(), &[], device, console, || Ok(()))?;
    let mut options = decisions.options(args).config()?;
    options.insert("threads".to_owned(), rayon::current_num_threads().into());
    options.insert("device".to_owned(), if device.is_cuda() { "cuda" } else { "cpu" }.into());
    let mut output = Output::open(Path::new("-"))?;
    output.with(|out| Ok(writeln!(out, "{}", serde_json::to_string_pretty(&options)?)?))?;
    output.finish()
}

/// Takes the folder, which is there, for this training alone.
fn take(folder: &Folder, console: &Console) -> Result<Lock> {
    let lock = folder.lock()?;
    if lock.guards() {
        folder.remove_unfinished();
    } else {
        console.warn(format!(
            "{}: this file system has no locks; see to it yourself that nobody else trains in this folder",
            folder.path().display()
        ));
    }
    Ok(lock)
}

/// Takes the folder for a new model, unless that would be the end of another one.
fn take_for_new(args: &TrainArgs, folder: &Folder, console: &Console) -> Result<Lock> {
    let lock = take(folder, console)?;
    let why = match folder.holds() {
        Holds::Nothing => return Ok(lock),
        Holds::Foreign => "holds files of another program or of a newer softalign that have names of ours",
        // Without --out the model will be moved aside.
        _ if args.out.is_none() => return Ok(lock),
        Holds::Training => "holds a model already; go on with it by --resume",
        Holds::Model => "holds a model already, whose training cannot go on (resume.safetensors is missing)",
        Holds::Aligner => "holds an aligner that --save-aligner has kept",
    };
    bail!("{}: {why}; choose another folder with --out, or remove what is there", folder.path().display())
}

/// A new model.
fn begin(
    given: &Given<TrainArgs>,
    command_line: &[String],
    folder: &Folder,
    signals: &Signals,
    device: &Device,
    console: &Console,
) -> Result<Start> {
    let args = &given.args;
    let from = WarmStart::load(given, folder.path(), device)?;
    let plan = TrainingPlan::new(args, from.as_ref().map(WarmStart::config))?;
    // A folder that is not there yet is made only when all else is known to be right.
    let there = folder.path().is_dir();
    let lock = there.then(|| take_for_new(args, folder, console)).transpose()?;
    let taken = || {
        folder.make()?;
        lock.map_or_else(|| take_for_new(args, folder, console), Ok)
    };
    let decided = Decisions::new((&plan, args), from.as_ref(), command_line, device, console, taken);
    if decided.is_err() && !there {
        // It was made for nothing; what is in it, if anything, keeps it.
        let _ = std::fs::remove_dir(folder.path());
    }
    let (decisions, lock) = decided?;
    // What is there stays there if nothing is to come of this.
    signals.check()?;
    lock.ensure_held()?;
    let Decisions { config, vocabularies: [source, target], data, reasons, .. } = decisions;
    let architecture = config.architecture.clone();
    let checkpoint = Checkpoint::new(config, source, target)?;
    if folder.holds() != Holds::Nothing {
        let aside = folder.set_aside()?;
        console.note(format!("the model in {} was moved to {}", folder.path().display(), aside.display()));
    }
    folder.clear()?;
    folder.begin(&checkpoint)?;
    reasons.into_iter().for_each(|line| console.note(line));
    describe(&checkpoint.config, console);
    if let Some(aligner) = aligner_of_words(&checkpoint.config.text, &data.training.pairs, console) {
        lock.ensure_held()?;
        folder.save_aligner(&checkpoint, &aligner)?;
    }
    let examples = examples(data.training, data.links.as_ref(), folder, &checkpoint)?;
    lock.ensure_held()?;
    if let Some(known) = lexicon(&checkpoint, &examples, from.as_ref()) {
        folder.save_lexicon(&checkpoint, &known)?;
    }
    let lexicon = folder.load_lexicon(&checkpoint)?;
    let settings = &checkpoint.config.training;
    let drawn = Parameters::initialise(&architecture.plan(), settings.seed, device)?;
    let parameters = match &from {
        Some(from) => from.parameters(&drawn, [&checkpoint.source, &checkpoint.target])?,
        None => drawn,
    };
    let parameters = parameters.tracked()?;
    Ok(Start {
        lock,
        optimiser: Optimiser::new(&parameters, settings.max_gradient_norm, settings.average)?,
        model: RnnSearch::new(architecture, parameters)?.with_lexicon(lexicon),
        progress: Progress::default(),
        examples,
        validation: data.validation,
        checkpoint,
    })
}

/// The translations of units that weigh on a new model's output: those that the examples' guides show, and those of the
/// model that training begins from, which decides whether there are any.
fn lexicon(checkpoint: &Checkpoint, examples: &Examples, from: Option<&WarmStart>) -> Option<UnitLexicon> {
    let Config { architecture, training, .. } = &checkpoint.config;
    let sizes = [architecture.source_vocabulary, architecture.target_vocabulary];
    let learn = architecture.lexicon && training.guidance.is_some();
    let learnt = learn.then(|| examples.lexicon(sizes, training.seed));
    match from {
        Some(from) => from.lexicon(learnt, [&checkpoint.source, &checkpoint.target]),
        None => learnt,
    }
}

/// Learns word alignments, unless a side's units are characters: then its words are no words of a sentence.
fn aligner_of_words(text: &TextSettings, pairs: &[Pair], console: &Console) -> Option<WordAligner> {
    (!text.of_characters()).then(|| learn_aligner(pairs, text.normalisation.form, console))
}

/// What is trained on, with guides if attention is to have any. It is the aligner as it is stored that guides, a new run as
/// well as one that goes on: what was learnt holds more than the file keeps, and would guide otherwise.
fn examples(
    training: Corpus,
    links: Option<&GivenLinks>,
    folder: &Folder,
    checkpoint: &Checkpoint,
) -> Result<Examples> {
    let settings = &checkpoint.config.training;
    let guided = |weight| -> Result<Guides> {
        if let Some(links) = links {
            return Ok(Guides::given(links.of(&training.pairs), GIVEN_WORDS, weight));
        }
        let aligner = folder.load_aligner(checkpoint)?.with_context(|| {
            format!(
                "{}: aligner.safetensors is missing, by which attention is guided; this training cannot go on: begin \
                 another one with --out",
                folder.path().display()
            )
        })?;
        Ok(Guides::new(&training.pairs, &aligner, weight))
    };
    let guides = settings.guidance.map(|weight| guided(weight as f32)).transpose()?;
    let vocabularies = [checkpoint.source.clone(), checkpoint.target.clone()];
    Examples::new(training, &vocabularies, guides, settings.variation(), checkpoint.config.text.max_length)
}

/// Refuses what was decided when the training to be resumed began.
fn refuse_what_is_settled(given: &[String]) -> Result<()> {
    let settled = given.iter().filter(|option| !WITH_RESUME.contains(&option.as_str()));
    let settled: Vec<String> = settled.map(|option| format!("--{option}")).collect();
    if !settled.is_empty() {
        bail!(UsageError(format!(
            "{} cannot change with --resume; only --max-epochs, --max-minutes, --patience and --save-every can",
            settled.join(", ")
        )));
    }
    Ok(())
}

/// A model that was trained before, where it stopped.
fn resume(given: &Given<TrainArgs>, folder: &Folder, device: &Device, console: &Console) -> Result<Start> {
    refuse_what_is_settled(&given.names)?;
    let args = &given.args;
    let (max_epochs, max_minutes) = (plan::max_epochs(args)?, plan::max_minutes(args)?);
    let patience = plan::patience(args)?;
    let path = folder.path().display();
    let nothing = "nothing to go on with (resume.safetensors is missing)";
    ensure!(folder.path().is_dir(), "{path}: {nothing}; train without --resume");
    let lock = take(folder, console)?;
    match folder.holds() {
        // Reading the settings of a foreign directory says what is wrong with them.
        Holds::Training | Holds::Foreign => {}
        Holds::Nothing => bail!("{path}: {nothing}; train without --resume"),
        Holds::Model | Holds::Aligner => {
            bail!("{path}: {nothing}; train another model into another folder with --out")
        }
    }
    let mut checkpoint = folder.load()?;
    let summary = &checkpoint.config.data;
    if args.guide.is_some() && summary.guide.is_none() {
        bail!(UsageError(format!("--guide cannot come with --resume: {path} was begun without it")));
    }
    let files = DataFiles::of_resumed_run(args, summary).with_context(|| path.to_string())?;
    let data = Data::new(
        files.read_training(console)?,
        &files,
        [&checkpoint.source, &checkpoint.target],
        checkpoint.config.text.max_length,
        checkpoint.config.training.seed,
        console,
    )?;
    ensure!(
        data.summary.fingerprint == summary.fingerprint,
        "{}: not the sentence pairs that {path} was trained on; --resume needs the same, in the same order",
        files.name()
    );
    ensure!(
        data.summary.guide.as_ref().map(|guide| &guide.fingerprint)
            == summary.guide.as_ref().map(|guide| &guide.fingerprint),
        "{}: not the links that {path} was taught by; --resume needs the same",
        files.guide.as_deref().unwrap_or(Path::new("--guide")).display()
    );
    let settings = &mut checkpoint.config.training;
    settings.max_epochs = max_epochs.unwrap_or(settings.max_epochs);
    settings.max_minutes = max_minutes.or(settings.max_minutes);
    settings.patience = patience.or(settings.patience);
    let mut saved = folder.load_resume(&checkpoint, device)?;
    let architecture = checkpoint.config.architecture.clone();
    let lexicon = folder.load_lexicon(&checkpoint)?;
    let damaged = || folder.name_of_resume();
    let examples = examples(data.training, data.links.as_ref(), folder, &checkpoint)?;
    let fits = saved.progress.check_position(&examples, &checkpoint.config.training);
    fits.map_err(|reason| anyhow!("{}: {reason}", damaged()))?;
    let parameters = Parameters::from_tensors(&architecture.plan(), saved.parameters).with_context(damaged)?;
    let parameters = parameters.tracked()?;
    let TrainingSettings { max_gradient_norm, average, .. } = checkpoint.config.training;
    let optimiser =
        Optimiser::restore(&parameters, max_gradient_norm, average, saved.progress.moves(), &mut saved.moments);
    let optimiser = optimiser.with_context(damaged)?;
    lock.ensure_held()?;
    folder.go_on(&checkpoint, &saved.progress, optimiser.average().unwrap_or(&parameters))?;
    describe(&checkpoint.config, console);
    console.note(format!("going on after epoch {}, step {}", saved.progress.epoch, saved.progress.step));
    Ok(Start {
        lock,
        model: RnnSearch::new(architecture, parameters)?.with_lexicon(lexicon),
        optimiser,
        progress: saved.progress,
        examples,
        validation: data.validation,
        checkpoint,
    })
}

fn describe(config: &Config, console: &Console) {
    let sizes = &config.architecture;
    console.note(format!(
        "{} training pairs, {} validation pairs; {} source and {} target units",
        config.data.training_pairs, config.data.validation_pairs, sizes.source_vocabulary, sizes.target_vocabulary
    ));
    console.note(format!(
        "{:.2} million parameters: embedding {}, hidden {}, attention {} ({}); batches of {}",
        sizes.parameter_count() as f64 / 1e6,
        sizes.embedding_size,
        sizes.hidden_size,
        sizes.attention_size,
        sizes.attention,
        config.training.batch
    ));
    if let Some(origin) = &config.from {
        console.note(format!("begun from {origin}"));
    }
    if !sizes.attention.is_fixed() {
        console.note(format!("attention is {}", config.teaching()));
    }
}

fn ending(reason: StopReason, settings: &TrainingSettings, progress: &Progress, folder: &Folder) -> String {
    let why = match reason {
        StopReason::Epochs => format!("{} epochs are done", settings.max_epochs),
        StopReason::Time if progress.step <= 1 => {
            "the time is over, before training could begin; --resume with more --max-minutes goes on".to_owned()
        }
        StopReason::Time => "the time is over; --resume with more --max-minutes goes on".to_owned(),
        StopReason::Patience => format!("no improvement for {} validations", settings.patience.unwrap_or_default()),
        StopReason::Asked => "stopped as asked; --resume goes on from here".to_owned(),
    };
    let kept = match settings.keep {
        Some(keep) => format!(", {keep} in {}", folder.path_of_kept().display()),
        None => String::new(),
    };
    format!(
        "{why}: {} steps in {}; the best model, of step {}, is in {}{kept}",
        progress.step,
        clock(Duration::from_secs_f64(progress.seconds)),
        progress.best_step,
        folder.path().display()
    )
}

/// Translates a few validation sentences with the model that was kept, and shows their alignments.
fn show(out: &Path, pairs: &[Pair], device: &Device) -> Result<()> {
    let translator = Translator::load(out, device)?;
    let sentences: Vec<Sentence> = pairs.iter().take(SHOWN).map(|pair| Sentence::from(&pair.source)).collect();
    let translations = translator.translate(&sentences, &BeamSettings::default().into(), &mut |_| {})?;
    let mut output = Output::open(Path::new("-"))?;
    let heatmap = heatmap(&output);
    for (sentence, translations) in sentences.iter().zip(&translations) {
        output.with(|out| {
            writeln!(out, "\n{}\n{}\n", escape_controls(&sentence.text), escape_controls(&translations[0].text))?;
            heatmap.matrix(out, &translations[0].alignment.by_words())
        })?;
    }
    output.finish()
}
