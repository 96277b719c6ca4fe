//! What a new training begins with: all that options, pairs and a rehearsal decide before the first step.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::{Result, anyhow, bail, ensure};
use candle_core::Device;
use rayon::prelude::*;

use super::super::console::Console;
use super::super::usage::UsageError;
use super::data::{Data, DataFiles, warn_of_mixed_forms};
use super::plan::{SettledPlan, TrainingPlan, in_force};
use super::warm_start::WarmStart;
use crate::checkpoint::{Beginning, Config, FORMAT_VERSION, TextSettings};
use crate::cli::{FromVocabulary, TrainArgs};
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
    /// Most units of a vocabulary, where vocabularies are learnt and these are as many on both sides.
    most_units: Option<usize>,
}

impl Decisions {
    /// Decides. `ready` is called when all options are known to be right, before the work that takes long; `check` between
    /// the stages of that work.
    ///
    /// # Errors
    /// The pairs cannot be read or used, an option does not go with them, or those of `ready` and `check`.
    pub fn new<T>(
        (plan, args): (&TrainingPlan, &TrainArgs),
        from: Option<&WarmStart>,
        command_line: &[String],
        device: &Device,
        console: &Console,
        ready: impl FnOnce() -> Result<T>,
        check: &dyn Fn() -> Result<()>,
    ) -> Result<(Self, T)> {
        let files = DataFiles::of_new_run(args)?;
        let pairs = files.read_training(console)?;
        let usable: Vec<&Pair> = pairs.all.iter().filter(|pair| !pair.has_empty_side()).collect();
        ensure!(!usable.is_empty(), "{}: no sentence pair in it", files.training_name());
        let atoms = atoms(args, &usable, plan.normalisation())?;
        let profile = profile(&usable, plan.normalisation(), &atoms);
        let mut plan = plan.settle(&profile)?;
        let is_ready = ready()?;
        warn_of_mixed_forms(&usable, plan.text().normalisation.form, &files.training_name(), console);
        check()?;
        let vocabularies = vocabularies(&plan, &usable, &atoms, from, console, check)?;
        let [source, target] = &vocabularies;
        let data = Data::new(pairs, &files, [source, target], plan.text().max_length, plan.seed(), console)?;
        check()?;
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
            from: from.map(|from| from.origin([source, target])),
            begun: Some(Beginning { command_line: command_line.to_owned(), threads: rayon::current_num_threads() }),
        };
        let reasons = plan.reasons(&config.training);
        let [of_source, of_target] = plan.vocabulary_sizes();
        let learnt = from.is_none_or(|from| from.vocabulary == FromVocabulary::New);
        let most_units = (learnt && of_source == of_target).then_some(of_source);
        Ok((Self { config, vocabularies, data, reasons, most_units }, is_ready))
    }

    /// The options that would decide all of it, were they given beside those that were.
    pub fn options(&self, args: &TrainArgs) -> TrainArgs {
        in_force(args, &self.config, self.most_units)
    }
}

/// What is never cut: what the options name, tags, and features where there are some.
fn atoms(args: &TrainArgs, pairs: &[&Pair], normalisation: Normalisation) -> Result<Atoms> {
    let named = |option: &str, pieces: &[String]| {
        let pieces = pieces.iter().filter(|piece| !piece.is_empty()).cloned();
        Atoms::new(pieces).map_err(|reason| anyhow!(UsageError(format!("{option}: {reason}"))))
    };
    let named = [named("--atoms", &args.atoms)?, named("--tag-source", &args.tag_source)?];
    let of_words = pairs.iter().filter(|_| args.layout.features.is_some()).flat_map(|pair| features(&pair.source));
    let of_words: BTreeSet<&str> = of_words.collect();
    Atoms::new(named.iter().flat_map(Atoms::iter).chain(of_words).map(str::to_owned))?.normalised(normalisation)
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

/// Learns the vocabularies of both sides, or takes those of the model that training begins from, extended if need be. Calls
/// `check` after each.
fn vocabularies(
    plan: &SettledPlan,
    pairs: &[&Pair],
    atoms: &Atoms,
    from: Option<&WarmStart>,
    console: &Console,
    check: &dyn Fn() -> Result<()>,
) -> Result<[Arc<Vocabulary>; 2]> {
    let _waiting = console.waiting("learning a vocabulary");
    let (text, most) = (plan.text(), plan.vocabulary_sizes());
    let units = [text.source_units, text.target_units];
    let make = |side: usize, texts: Vec<&str>| -> Result<Arc<Vocabulary>> {
        let texts = TextsBesideAtoms::new(&texts, atoms, text.normalisation);
        let vocabulary = match from.map(|from| (from.vocabulary, from.vocabularies()[side])) {
            None | Some((FromVocabulary::New, _)) => Arc::new(texts.learn(units[side], most[side])?),
            Some((FromVocabulary::Keep, vocabulary)) => {
                let is_new = |atom: &&str| vocabulary.atoms().iter().all(|known| known != *atom);
                if let Some(new) = texts.atoms.iter().find(is_new) {
                    bail!(UsageError(format!(
                        "--from-vocabulary keep: the model has no unit for {new}; extend, the default, adds it"
                    )));
                }
                vocabulary.clone()
            }
            Some((FromVocabulary::Extend, vocabulary)) => Arc::new(texts.extend(vocabulary, most[side])?),
        };
        check()?;
        Ok(vocabulary)
    };
    let sources: Vec<&str> = pairs.iter().map(|pair| pair.source.as_str()).collect();
    let targets: Vec<&str> = pairs.iter().map(|pair| pair.target.as_str()).collect();
    if text.joint_vocabulary {
        let joint = make(0, [sources, targets].concat())?;
        Ok([joint.clone(), joint])
    } else {
        Ok([make(0, sources)?, make(1, targets)?])
    }
}

/// The texts of a side as a vocabulary is learnt from them: without the atoms that stand in them.
struct TextsBesideAtoms<'t> {
    rest: Vec<Cow<'t, str>>,
    atoms: Atoms,
    normalisation: Normalisation,
}

impl<'t> TextsBesideAtoms<'t> {
    fn new(texts: &[&'t str], atoms: &Atoms, normalisation: Normalisation) -> Self {
        if atoms.is_empty() {
            let rest = texts.iter().map(|&text| Cow::Borrowed(text)).collect();
            return Self { rest, atoms: Atoms::default(), normalisation };
        }
        let normal: Vec<Cow<str>> = texts.par_iter().map(|text| normalisation.apply(text)).collect();
        let atoms = atoms.within(&normal.iter().map(|text| &**text).collect::<Vec<_>>());
        let rest = normal.par_iter().map(|text| Cow::Owned(atoms.left_out(text).into_owned())).collect();
        Self { rest, atoms, normalisation }
    }

    fn learn(&self, units: Units, most: usize) -> Result<Vocabulary> {
        let most = most.saturating_sub(self.atoms.units(units).len()).max(SPECIALS.len() + 1);
        let learnt = Vocabulary::train(self.texts(), units, self.normalisation, most)?;
        if self.atoms.is_empty() { Ok(learnt) } else { learnt.with_atoms(&self.atoms) }
    }

    fn extend(&self, vocabulary: &Vocabulary, most: usize) -> Result<Vocabulary> {
        let all = vocabulary.atoms().iter().chain(self.atoms.iter());
        vocabulary.with_atoms(&Atoms::new(all.map(str::to_owned))?)?.extended(self.texts(), most)
    }

    fn texts(&self) -> impl Iterator<Item = &str> + Send {
        self.rest.iter().map(|text| &**text)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn check_that_fails_ends_the_work_at_any_stage() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pairs.tsv");
        std::fs::write(&path, "the red fox\trufo mi\n".repeat(30)).unwrap();
        let args = TrainArgs::with_training_file(&path);
        let plan = TrainingPlan::new(&args, None).unwrap();
        let console = Console::new(true);
        let decide = |most: usize| {
            let calls = Cell::new(0);
            let check = || {
                calls.set(calls.get() + 1);
                ensure!(calls.get() <= most, "stop");
                Ok(())
            };
            let made = Decisions::new((&plan, &args), None, &[], &Device::Cpu, &console, || Ok(()), &check);
            (made.is_ok(), calls.get())
        };
        let (made, stages) = decide(usize::MAX);
        assert!(made && stages >= 4, "before, between and behind the two vocabularies: {stages}");
        (0..stages).for_each(|most| assert_eq!(decide(most), (false, most + 1)));
    }
}
