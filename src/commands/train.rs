//! `softalign train`

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use candle_core::Device;

use super::align::{heatmap, learn_aligner};
use super::console::Console;
use super::input::{PairFiles, SHIPPED_TRAINING, SHIPPED_VALIDATION};
use super::output::Output;
use super::training_display::{TrainingDisplay, clock, stop_on_interrupt};
use super::{UsageError, training_plan};
use crate::aligner::WordAligner;
use crate::checkpoint::{Checkpoint, Config, DataSummary, FORMAT_VERSION, Folder, TextSettings, fingerprint};
use crate::cli::TrainArgs;
use crate::model::RnnSearch;
use crate::parameters::Parameters;
use crate::random::Stream;
use crate::search::BeamSettings;
use crate::text::{BatchSize, Corpus, Pair, Units, Vocabulary};
use crate::training::{Optimiser, Progress, StopReason, Trainer, TrainingSettings, ValidationSet, guide};
use crate::translator::Translator;

/// Validation pairs held out where none are given, at most.
const MOST_HELD_OUT: usize = 1000;
/// Sentences shown with their alignments at the end.
const SHOWN: usize = 2;

/// What a run trains on.
struct Data {
    training: Corpus,
    validation: Corpus,
    summary: DataSummary,
}

/// Where a run begins.
struct Start {
    checkpoint: Checkpoint,
    model: RnnSearch,
    optimiser: Optimiser,
    progress: Progress,
    data: Data,
}

pub fn run(args: &TrainArgs, device: &Device, console: &Console) -> Result<()> {
    let out = args.out.clone().unwrap_or_else(|| PathBuf::from("checkpoints"));
    let folder = Folder::new(&out);
    let time = args.max_minutes.map(minutes).transpose()?;
    let start =
        if args.resume { resume(args, &folder, device, console)? } else { begin(args, &folder, device, console)? };
    let Start { checkpoint, model, optimiser, progress, data } = start;
    let settings = &checkpoint.config.training;
    let validation = ValidationSet {
        pairs: &data.validation.pairs,
        examples: &data.validation.examples,
        source_vocabulary: &checkpoint.source,
        target_vocabulary: &checkpoint.target,
    };
    let mut trainer = Trainer::new(model, optimiser, progress, settings, &data.training.examples, &validation)?;
    let reason = {
        let mut display = TrainingDisplay::new(console, &folder, &checkpoint, stop_on_interrupt(), time);
        trainer.run(time, &mut display)?
    };
    console.note(ending(reason, settings, trainer.progress(), &out));
    show(&out, &data.validation.pairs, device)
}

fn minutes(minutes: f64) -> Result<Duration> {
    match Duration::try_from_secs_f64(minutes * 60.0) {
        Ok(time) if !time.is_zero() && minutes <= 1e6 => Ok(time),
        _ => bail!(UsageError(format!("--max-minutes must be above 0 and at most a million, not {minutes:e}"))),
    }
}

/// A new model.
fn begin(args: &TrainArgs, folder: &Folder, device: &Device, console: &Console) -> Result<Start> {
    let text = training_plan::check(args)?;
    if args.out.is_some() && folder.holds_model() {
        bail!(
            "{}: holds a model already; go on with it by --resume, choose another folder with --out, or remove it",
            folder.path().display()
        );
    }
    let (training_files, validation_files) = files(args);
    let pairs = training_files.read("--train")?;
    let usable = || pairs.iter().filter(|pair| !pair.source.trim().is_empty() && !pair.target.trim().is_empty());
    let count = usable().count();
    ensure!(count > 0, "{}: no sentence pair in it", training_files.names().join(" and "));
    folder.prepare()?;

    let waiting = console.waiting("learning a vocabulary");
    let (sources, targets) = (usable().map(|pair| pair.source.as_str()), usable().map(|pair| pair.target.as_str()));
    let size = |units| training_plan::vocabulary_size(args, units, count);
    let (source, target) = if text.joint_vocabulary {
        let both: Vec<&str> = sources.chain(targets).collect();
        let joint = Arc::new(Vocabulary::train(both.into_iter(), text.source_units, size(text.source_units)?)?);
        (joint.clone(), joint)
    } else {
        let source =
            Vocabulary::train(sources.collect::<Vec<_>>().into_iter(), text.source_units, size(text.source_units)?)?;
        let target =
            Vocabulary::train(targets.collect::<Vec<_>>().into_iter(), text.target_units, size(text.target_units)?)?;
        (Arc::new(source), Arc::new(target))
    };
    drop(waiting);
    let mut data = data(
        pairs,
        &training_files,
        validation_files.as_ref(),
        [&source, &target],
        text.max_length,
        args.seed.unwrap_or(training_plan::SEED),
        console,
    )?;
    let training = training_plan::training_settings(args, count, &text, &data.validation.pairs)?;
    let architecture = training_plan::architecture(args, count, [source.size(), target.size()])?;
    let config = Config {
        format_version: FORMAT_VERSION,
        program_version: env!("CARGO_PKG_VERSION").to_owned(),
        architecture: architecture.clone(),
        text,
        training,
        data: data.summary.clone(),
    };
    let checkpoint = Checkpoint::new(config, source, target)?;
    if folder.holds_model() {
        let aside = folder.set_aside()?;
        console.note(format!("the model in {} was moved to {}", folder.path().display(), aside.display()));
    }
    folder.begin(&checkpoint)?;
    describe(&checkpoint.config, &data, console);
    if let Some(aligner) = aligner_of_words(&checkpoint.config.text, &data.training.pairs, console) {
        folder.save_aligner(&aligner)?;
        follow(&mut data.training, Some(&aligner), &checkpoint)?;
    }
    let settings = &checkpoint.config.training;
    let parameters = Parameters::initialise(&architecture.plan(), settings.seed, device)?.tracked()?;
    Ok(Start {
        optimiser: Optimiser::new(&parameters, settings.max_gradient_norm)?,
        model: RnnSearch::new(architecture, parameters)?,
        progress: Progress::default(),
        data,
        checkpoint,
    })
}

/// Learns word alignments, unless a side's units are characters: then its words are no words of a sentence.
fn aligner_of_words(text: &TextSettings, pairs: &[Pair], console: &Console) -> Option<WordAligner> {
    if [text.source_units, text.target_units].contains(&Units::Char) {
        return None;
    }
    Some(learn_aligner(pairs, console))
}

/// Gives the training pairs their guides, if attention is to have any.
fn follow(training: &mut Corpus, aligner: Option<&WordAligner>, checkpoint: &Checkpoint) -> Result<()> {
    match (checkpoint.config.training.guidance, aligner) {
        (Some(weight), Some(aligner)) => {
            let vocabularies = [&*checkpoint.source, &*checkpoint.target];
            guide(&mut training.examples, &training.pairs, aligner, vocabularies, weight as f32)
        }
        (Some(_), None) => {
            bail!(
                "aligner.safetensors is missing in the model's folder; training that attention is guided by cannot go on"
            )
        }
        (None, _) => Ok(()),
    }
}

/// A model that was trained before, where it stopped.
fn resume(args: &TrainArgs, folder: &Folder, device: &Device, console: &Console) -> Result<Start> {
    let settled = training_plan::settled(args);
    if !settled.is_empty() {
        bail!(UsageError(format!(
            "{} cannot change with --resume; only --max-epochs, --max-minutes and --patience can",
            settled.join(", ")
        )));
    }
    let path = folder.path().display();
    ensure!(
        folder.holds_resume(),
        "{path}: nothing to go on with (resume.safetensors is missing); train without --resume"
    );
    let mut checkpoint = folder.load()?;
    let (given, given_validation) = given_files(args);
    let summary = &checkpoint.config.data;
    let training_files = given
        .or_else(|| PairFiles::named(&summary.training_files))
        .with_context(|| format!("{path}: config.json does not name the training files; give them with --train"))?;
    let validation_files = given_validation.or_else(|| PairFiles::named(&summary.validation_files));
    let mut data = data(
        training_files.read("--train")?,
        &training_files,
        validation_files.as_ref(),
        [&checkpoint.source, &checkpoint.target],
        checkpoint.config.text.max_length,
        checkpoint.config.training.seed,
        console,
    )?;
    ensure!(
        data.summary.fingerprint == summary.fingerprint,
        "{}: not the sentence pairs that {path} was trained on; --resume needs the same, in the same order",
        training_files.names().join(" and ")
    );
    let settings = &mut checkpoint.config.training;
    settings.max_epochs = training_plan::positive("--max-epochs", args.max_epochs.unwrap_or(settings.max_epochs))?;
    settings.patience = training_plan::positive("--patience", args.patience.unwrap_or(settings.patience))?;
    let mut saved = folder.load_resume(&checkpoint, device)?;
    let architecture = checkpoint.config.architecture.clone();
    let parameters = Parameters::from_tensors(&architecture.plan(), saved.parameters)?.tracked()?;
    let norm = checkpoint.config.training.max_gradient_norm;
    let optimiser = Optimiser::restore(&parameters, norm, saved.progress.step, &mut saved.moments)
        .with_context(|| format!("{path}: resume.safetensors is damaged"))?;
    follow(&mut data.training, folder.load_aligner()?.as_ref(), &checkpoint)?;
    folder.begin(&checkpoint)?;
    folder.rewind_log(saved.progress.step)?;
    describe(&checkpoint.config, &data, console);
    console.note(format!("going on after epoch {}, step {}", saved.progress.epoch, saved.progress.step));
    Ok(Start {
        model: RnnSearch::new(architecture, parameters)?,
        optimiser,
        progress: saved.progress,
        data,
        checkpoint,
    })
}

/// The files that the options name.
fn given_files(args: &TrainArgs) -> (Option<PairFiles>, Option<PairFiles>) {
    (
        PairFiles::given(args.train.as_deref(), args.source.as_deref(), args.target.as_deref()),
        PairFiles::given(args.valid.as_deref(), args.valid_source.as_deref(), args.valid_target.as_deref()),
    )
}

/// The files of a new run: those given, or the shipped corpus.
fn files(args: &TrainArgs) -> (PairFiles, Option<PairFiles>) {
    match given_files(args) {
        (Some(training), validation) => (training, validation),
        (None, validation) => {
            let shipped = || PairFiles::shipped(SHIPPED_VALIDATION);
            (PairFiles::shipped(SHIPPED_TRAINING), Some(validation.unwrap_or_else(shipped)))
        }
    }
}

/// Turns pairs into ids and counts what cannot be used. Without validation files a part of the pairs is held out; of a
/// handful of pairs none can be spared, so they validate themselves.
fn data(
    mut pairs: Vec<Pair>,
    training_files: &PairFiles,
    validation_files: Option<&PairFiles>,
    [source, target]: [&Vocabulary; 2],
    longest: usize,
    seed: u64,
    console: &Console,
) -> Result<Data> {
    let validation = match validation_files {
        Some(files) => files.read("--valid")?,
        None if pairs.len() < 20 => pairs.clone(),
        None => {
            Stream::new(seed, "held out", 0).shuffle(&mut pairs);
            pairs.split_off(pairs.len() - (pairs.len() / 20).min(MOST_HELD_OUT))
        }
    };
    let use_pairs = |pairs: Vec<Pair>, names: String| -> Result<Corpus> {
        let waiting = console.waiting("cutting sentences into units");
        let corpus = Corpus::new(pairs, source, target, longest)?;
        drop(waiting);
        for (count, reason) in [(corpus.empty, "have an empty side"), (corpus.too_long, "are too long")] {
            if count > 0 {
                console.note(format!("{names}: {count} pairs left out because they {reason}"));
            }
        }
        ensure!(
            !corpus.pairs.is_empty(),
            "{names}: no usable sentence pair ({} with an empty side, {} longer than --max-length {longest} units)",
            corpus.empty,
            corpus.too_long
        );
        Ok(corpus)
    };
    let training = use_pairs(pairs, training_files.names().join(" and "))?;
    let held_out = || "validation pairs held out".to_owned();
    let validation =
        use_pairs(validation, validation_files.map_or_else(held_out, |files| files.names().join(" and ")))?;
    let summary = DataSummary {
        training_files: training_files.names(),
        validation_files: validation_files.map(PairFiles::names).unwrap_or_default(),
        training_pairs: training.pairs.len(),
        validation_pairs: validation.pairs.len(),
        fingerprint: fingerprint(training.pairs.iter().chain(&validation.pairs)),
    };
    Ok(Data { training, validation, summary })
}

fn describe(config: &Config, data: &Data, console: &Console) {
    let sizes = &config.architecture;
    console.note(format!(
        "{} training pairs, {} validation pairs; {} source and {} target units",
        data.training.pairs.len(),
        data.validation.pairs.len(),
        sizes.source_vocabulary,
        sizes.target_vocabulary
    ));
    let batch = match config.training.batch {
        BatchSize::Sentences(most) => format!("{most} pairs"),
        BatchSize::Tokens(most) => format!("{most} target units"),
    };
    console.note(format!(
        "{:.2} million parameters: embedding {}, hidden {}, attention {}; batches of {batch}",
        sizes.parameter_count() as f64 / 1e6,
        sizes.embedding_size,
        sizes.hidden_size,
        sizes.attention_size
    ));
}

fn ending(reason: StopReason, settings: &TrainingSettings, progress: &Progress, out: &Path) -> String {
    let why = match reason {
        StopReason::Epochs => format!("{} epochs are done", settings.max_epochs),
        StopReason::Time => "the time is over".to_owned(),
        StopReason::Patience => format!("no improvement for {} validations", settings.patience),
        StopReason::Asked => "stopped as asked; --resume goes on from here".to_owned(),
    };
    format!(
        "{why}: {} steps in {}; the best model, of step {}, is in {}",
        progress.step,
        clock(Duration::from_secs_f64(progress.seconds)),
        progress.best_step,
        out.display()
    )
}

/// Translates a few validation sentences with the model that was kept, and shows their alignments.
fn show(out: &Path, pairs: &[Pair], device: &Device) -> Result<()> {
    let translator = Translator::load(out, device)?;
    let sentences: Vec<String> = pairs.iter().take(SHOWN).map(|pair| pair.source.clone()).collect();
    let translations = translator.translate(&sentences, &BeamSettings::default(), &mut |_| {})?;
    let mut output = Output::open(Path::new("-"))?;
    let heatmap = heatmap(&output);
    for (sentence, translations) in sentences.iter().zip(&translations) {
        output.with(|out| {
            writeln!(out, "\n{sentence}\n{}\n", translations[0].text)?;
            heatmap.matrix(out, &translations[0].alignment.by_words())
        })?;
    }
    output.finish()
}
