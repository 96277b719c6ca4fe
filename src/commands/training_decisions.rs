//! What a new training begins with: all that options, pairs and a rehearsal decide before the first step.

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::{Result, anyhow, ensure};
use candle_core::Device;
use rayon::prelude::*;

use super::console::Console;
use super::training_data::{Data, DataFiles, warn_of_mixed_forms};
use super::training_plan::{SettledPlan, TrainingPlan, in_force};
use super::usage::UsageError;
use crate::checkpoint::{Beginning, Config, FORMAT_VERSION, TextSettings};
use crate::cli::TrainArgs;
use crate::text::{Atoms, Corpus, Normalisation, Pair, Profile, SPECIALS, Units, Vocabulary, features};
use crate::training::{Examples, seconds_of_epoch};

/// Pairs that are enough to find out how fast training is.
const REHEARSED: usize = 2000;

/// All that is decided.
pub struct Decisions {
    pub config: Config,
    /// Of source and target; a joint one is there twice.
    pub vocabularies: [Arc<Vocabulary>; 2],
    pub data: Data,
    /// What the plan was made from, in words.
    pub reasons: Vec<String>,
    /// Most units of a vocabulary, where they are as many on both sides.
    most_units: Option<usize>,
}

impl Decisions {
    /// Decides. `ready` is called when all options are known to be right, before the work that takes long.
    ///
    /// # Errors
    /// The pairs cannot be read or used, an option does not go with them, or that of `ready`.
    pub fn new<T>(
        (plan, args): (&TrainingPlan, &TrainArgs),
        command_line: &[String],
        device: &Device,
        console: &Console,
        ready: impl FnOnce() -> Result<T>,
    ) -> Result<(Self, T)> {
        let files = DataFiles::of_new_run(args)?;
        let pairs = files.read_training()?;
        let usable: Vec<&Pair> =
            pairs.all.iter().filter(|pair| !pair.source.trim().is_empty() && !pair.target.trim().is_empty()).collect();
        ensure!(!usable.is_empty(), "{}: no sentence pair in it", files.training_name());
        let atoms = atoms(args, &usable, plan.normalisation())?;
        let profile = profile(&usable, plan.normalisation(), &atoms);
        let mut plan = plan.settle(&profile)?;
        let is_ready = ready()?;
        warn_of_mixed_forms(&usable, plan.text().normalisation.form, &files.training_name(), console);
        let vocabularies = vocabularies(&plan, &usable, &atoms, console)?;
        let [source, target] = &vocabularies;
        let data = Data::new(pairs, &files, [source, target], plan.text().max_length, plan.seed(), console)?;
        fit_time(&mut plan, &data.training, &vocabularies, device)?;
        let config = Config {
            format_version: FORMAT_VERSION,
            program_version: env!("CARGO_PKG_VERSION").to_owned(),
            architecture: plan.architecture([source.size(), target.size()]),
            text: TextSettings {
                source_atoms: source.atoms().clone(),
                target_atoms: target.atoms().clone(),
                ..plan.text().clone()
            },
            training: plan.training_settings(&data.validation.pairs),
            data: data.summary.clone(),
            averaged: Vec::new(),
            begun: Some(Beginning { command_line: command_line.to_owned(), threads: rayon::current_num_threads() }),
        };
        let reasons = plan.reasons(&config.training);
        let [of_source, of_target] = plan.vocabulary_sizes();
        let most_units = (of_source == of_target).then_some(of_source);
        Ok((Self { config, vocabularies, data, reasons, most_units }, is_ready))
    }

    /// The options that would decide all of it, were they given beside those that were.
    pub fn options(&self, args: &TrainArgs) -> TrainArgs {
        in_force(args, &self.config, self.most_units)
    }
}

/// What is never cut: what the options name, tags, and features where there are some.
fn atoms(args: &TrainArgs, pairs: &[&Pair], normalisation: Normalisation) -> Result<Atoms> {
    let named = args.atoms.iter().chain(&args.tag_source).filter(|atom| !atom.is_empty());
    let named = Atoms::new(named.cloned()).map_err(|reason| anyhow!(UsageError(format!("--atoms: {reason}"))))?;
    let of_words = pairs.iter().filter(|_| args.layout.features.is_some()).flat_map(|pair| features(&pair.source));
    let of_words: BTreeSet<&str> = of_words.collect();
    Atoms::new(named.iter().chain(of_words).map(str::to_owned))?.normalised(normalisation)
}

/// What pairs are made of, as the model will read them, atoms aside.
fn profile(pairs: &[&Pair], normalisation: Normalisation, atoms: &Atoms) -> Profile {
    let without_atoms = |pair: Pair| {
        let [source, target] = [&pair.source, &pair.target].map(|text| atoms.left_out(text).trim().to_owned());
        if atoms.is_empty() { pair } else { Pair { source, target } }
    };
    let normal: Vec<Pair> = pairs.par_iter().map(|pair| without_atoms(pair.normalised(normalisation))).collect();
    Profile::new(&normal.iter().collect::<Vec<_>>())
}

/// Makes the best of the time given: tries a few steps with some of the pairs, varied as training varies them.
fn fit_time(
    plan: &mut SettledPlan,
    training: &Corpus,
    vocabularies: &[Arc<Vocabulary>; 2],
    device: &Device,
) -> Result<()> {
    let (some, longest) = (training.pairs.len().min(REHEARSED), plan.text().max_length);
    plan.fit_time([vocabularies[0].size(), vocabularies[1].size()], |architecture, settings| {
        let examples = Examples::new(training.some(some), vocabularies, None, settings.variation(), longest)?;
        let seconds = seconds_of_epoch(architecture, settings, &examples.of_epoch(settings.seed, 0), device)?;
        Ok(seconds * training.pairs.len() as f64 / some as f64)
    })
}

/// Learns the vocabularies of both sides.
fn vocabularies(plan: &SettledPlan, pairs: &[&Pair], atoms: &Atoms, console: &Console) -> Result<[Arc<Vocabulary>; 2]> {
    let _waiting = console.waiting("learning a vocabulary");
    let sources: Vec<&str> = pairs.iter().map(|pair| pair.source.as_str()).collect();
    let targets: Vec<&str> = pairs.iter().map(|pair| pair.target.as_str()).collect();
    let (text, [of_source, of_target]) = (plan.text(), plan.vocabulary_sizes());
    let learn = |texts: Vec<&str>, units: Units, most: usize| -> Result<Arc<Vocabulary>> {
        if atoms.is_empty() {
            return Ok(Arc::new(Vocabulary::train(texts.into_iter(), units, text.normalisation, most)?));
        }
        let normal: Vec<_> = texts.par_iter().map(|sentence| text.normalisation.apply(sentence)).collect();
        let atoms = atoms.within(&normal.iter().map(|text| &**text).collect::<Vec<_>>());
        let rest: Vec<_> = normal.par_iter().map(|text| atoms.left_out(text)).collect();
        let most = most.saturating_sub(2 * atoms.iter().count()).max(SPECIALS.len() + 1);
        let vocabulary = Vocabulary::train(rest.iter().map(|text| &**text), units, text.normalisation, most)?;
        Ok(Arc::new(vocabulary.with_atoms(&atoms)?))
    };
    if text.joint_vocabulary {
        let joint = learn([sources, targets].concat(), text.source_units, of_source)?;
        Ok([joint.clone(), joint])
    } else {
        Ok([learn(sources, text.source_units, of_source)?, learn(targets, text.target_units, of_target)?])
    }
}
