//! From the options of `train` and the data to settings.

mod by_data;
mod in_force;
mod options;
mod reasons;

use anyhow::{Result, anyhow, bail};

use self::by_data::ByData;
pub use self::in_force::in_force;
use self::in_force::of_model;
use self::options::{above_zero, keep, positive, share, within};
pub use self::options::{max_epochs, max_minutes, patience, save_every};
use super::super::usage::UsageError;
use crate::attention::{AttentionConfig, SelectionMode};
use crate::checkpoint::{Config, TextSettings};
use crate::cli::{Preset, TrainArgs};
use crate::model::{Architecture, DecoderKind, DropoutRates, InitialState, MAX_LAYERS, MAX_SIZE};
use crate::text::{Atoms, BatchSize, NormalForm, Normalisation, Pair, Profile, SPECIALS, Units};
use crate::training::{Keep, Metric, Schedule, TrainingSettings};

/// The seed where none is given.
const SEED: u64 = 1;
/// What a guide of attention counts where nothing is said, and pairs from which links can be learnt well enough for
/// that.
const GUIDANCE: f64 = 0.1;
const ENOUGH_FOR_LINKS: usize = 2000;
/// How much of the parameters' average each step keeps.
const AVERAGE: f64 = 0.999;
/// Most units that an option may ask for.
const MOST_UNITS: usize = 1_000_000;
/// Validations in a row without improvement after which training ends, where its end is not planned.
const PATIENCE: u64 = 6;
/// The same of a training that begins from a model: it has most of its way behind it.
const PATIENCE_FROM: u64 = 10;
/// Steps over which the step size rises, and where a model is begun from whose parameters are good already.
const WARMUP: u64 = 100;
const WARMUP_FROM: u64 = 30;

/// What the options settle, each of them checked. A number that is not there is for the data to decide.
pub struct TrainingPlan {
    preset: Preset,
    text: TextPlan,
    model: ModelPlan,
    run: RunPlan,
    /// The model that training begins from, if it does.
    from: Option<Architecture>,
}

/// What the options settle of how text becomes units.
struct TextPlan {
    normalisation: Normalisation,
    units: [Option<Units>; 2],
    joint_vocabulary: bool,
    vocabulary_size: Option<usize>,
    max_length: usize,
}

/// What the options settle of the model.
struct ModelPlan {
    embedding_size: Option<usize>,
    hidden_size: Option<usize>,
    attention_size: Option<usize>,
    layers: usize,
    tied_output: bool,
    initial_state: InitialState,
    decoder: DecoderKind,
    attention: AttentionConfig,
}

/// What the options settle of the training run.
struct RunPlan {
    seed: u64,
    batch: Option<BatchSize>,
    learning_rate: Option<f64>,
    warmup_steps: u64,
    schedule: Option<Schedule>,
    decay: f64,
    label_smoothing: f64,
    guidance: Guidance,
    dropout: Option<f64>,
    bpe_dropout: Option<f64>,
    joined: Option<f64>,
    average: Option<f64>,
    max_gradient_norm: f64,
    max_epochs: Option<u64>,
    max_minutes: Option<f64>,
    validate_every: Option<u64>,
    patience: Option<u64>,
    metric: Option<Metric>,
    keep: Option<Keep>,
    keep_attention: bool,
    tensorboard: bool,
}

/// What guides of attention count.
enum Guidance {
    /// [`GUIDANCE`], if there are pairs enough to learn links from.
    ByData,
    /// There are none.
    None,
    Weight(f64),
}

impl TrainingPlan {
    /// Checks every option, before any work is done. `from` is the model that training begins from, if it does; it decides
    /// all that is the model's.
    ///
    /// # Errors
    /// A [`UsageError`] that names the option.
    pub fn new(args: &TrainArgs, from: Option<&Config>) -> Result<Self> {
        let args = &from.map_or_else(|| args.clone(), |config| of_model(args, config));
        Ok(Self {
            from: from.map(|config| config.architecture.clone()),
            preset: args.preset.unwrap_or(Preset::Auto),
            text: TextPlan::new(args)?,
            model: ModelPlan::new(args)?,
            run: RunPlan::new(args)?,
        })
    }

    /// What is made of text first.
    pub fn normalisation(&self) -> Normalisation {
        self.text.normalisation
    }

    /// Settles what is left to the data.
    ///
    /// # Errors
    /// A [`UsageError`] that names the option that does not go with them.
    pub fn settle<'p>(&'p self, profile: &'p Profile) -> Result<SettledPlan<'p>> {
        let text = self.text.settle(profile)?;
        let by_data = ByData::new(self.preset, profile);
        let by_data = if self.run.max_minutes.is_some() { by_data.filling_time() } else { by_data };
        let by_data = self.from.as_ref().map_or(by_data, |from| by_data.going_on(from.hidden_size));
        let settled = SettledPlan { plan: self, text, by_data, profile };
        if matches!(self.run.guidance, Guidance::Weight(_)) && settled.text.of_characters() {
            bail!(UsageError(
                "--guided-alignment and --guide need words: units of characters have no word alignments".to_owned()
            ));
        }
        if self.run.joined.is_some_and(|share| share > 0.0) && settled.text.of_characters() {
            bail!(UsageError("--join-pairs needs sentences: characters would run together".to_owned()));
        }
        let architecture = settled.architecture([0, 0]);
        let fits = architecture.attention.check(architecture.dimensions());
        fits.map_err(|reason| anyhow!(UsageError(format!("--{reason}"))))?;
        Ok(settled)
    }
}

/// All that is decided before training, by options and data.
pub struct SettledPlan<'p> {
    plan: &'p TrainingPlan,
    text: TextSettings,
    by_data: ByData,
    profile: &'p Profile,
}

impl SettledPlan<'_> {
    /// What decides everything random.
    pub fn seed(&self) -> u64 {
        self.plan.run.seed
    }

    /// How text becomes units.
    pub fn text(&self) -> &TextSettings {
        &self.text
    }

    /// What the data are, what follows from that for how long, and what so few of them allow to hope for.
    pub fn reasons(&self, settings: &TrainingSettings) -> Vec<String> {
        // How much was learnt before, these pairs do not say.
        let warning = reasons::warning(self.profile).filter(|_| self.plan.from.is_none());
        [Some(reasons::data(self.profile)), Some(reasons::length(settings)), warning].into_iter().flatten().collect()
    }

    /// Chooses the sizes that a time given makes best use of, unless they are settled. `seconds_of_epoch` says how long a
    /// pass over the pairs takes.
    ///
    /// # Errors
    /// Its own.
    pub fn fit_time(
        &mut self,
        vocabularies: [usize; 2],
        seconds_of_epoch: impl Fn(&Architecture, &TrainingSettings) -> Result<f64>,
    ) -> Result<()> {
        let plan = self.plan;
        let Some(minutes) = plan.run.max_minutes.filter(|_| plan.preset == Preset::Auto && plan.model.sizes_are_open())
        else {
            return Ok(());
        };
        let fitting = self.by_data.within(self.profile, 60.0 * minutes, |by_data| {
            let tried = Self { by_data, text: self.text.clone(), ..*self };
            seconds_of_epoch(&tried.architecture(vocabularies), &tried.training_settings(&[]))
        })?;
        self.by_data = fitting;
        Ok(())
    }

    /// Most units in the vocabularies of source and target; that of both sides is there twice.
    pub fn vocabulary_sizes(&self) -> [usize; 2] {
        let sides = if self.text.joint_vocabulary { 2 } else { 1 };
        [self.text.source_units, self.text.target_units].map(|units| {
            self.plan.text.vocabulary_size.unwrap_or(match units {
                Units::Bpe => sides * self.by_data.pieces,
                Units::Word => 30_000,
                Units::Char => 8000,
            })
        })
    }

    /// The model's sizes, over vocabularies of these sizes.
    pub fn architecture(&self, [source_vocabulary, target_vocabulary]: [usize; 2]) -> Architecture {
        let (sizes, model) = (self.by_data.sizes, &self.plan.model);
        Architecture {
            source_vocabulary,
            target_vocabulary,
            embedding_size: model.embedding_size.unwrap_or(sizes.embedding),
            hidden_size: model.hidden_size.unwrap_or(sizes.hidden),
            attention_size: model.attention_size.unwrap_or(sizes.attention),
            layers: model.layers,
            tied_output: model.tied_output,
            initial_state: model.initial_state,
            lexicon: self.plan.from.as_ref().map_or(self.guidance().is_some(), |from| from.lexicon),
            decoder: model.decoder,
            attention: model.attention.clone(),
        }
    }

    /// What guides of attention count. Where there are guides, the translations of units that they show weigh on the output
    /// too.
    fn guidance(&self) -> Option<f64> {
        match self.plan.run.guidance {
            Guidance::ByData if self.text.of_characters() || self.plan.model.attention.is_fixed() => None,
            Guidance::ByData => (self.profile.pairs >= ENOUGH_FOR_LINKS).then_some(GUIDANCE),
            Guidance::None => None,
            Guidance::Weight(weight) => Some(weight),
        }
    }

    /// The training settings, with these pairs to validate.
    pub fn training_settings(&self, validation: &[Pair]) -> TrainingSettings {
        let (run, by_data) = (&self.plan.run, &self.by_data);
        let merged = [self.text.source_units, self.text.target_units].contains(&Units::Bpe);
        let bpe_dropout = run.bpe_dropout.unwrap_or(if merged { by_data.bpe_dropout } else { 0.0 });
        let joined = run.joined.unwrap_or(if self.text.of_characters() { 0.0 } else { by_data.joined });
        TrainingSettings {
            seed: run.seed,
            batch: run.batch.unwrap_or(BatchSize::Sentences(by_data.sentences)),
            learning_rate: run.learning_rate.unwrap_or(by_data.sizes.learning_rate),
            warmup_steps: run.warmup_steps,
            schedule: run.schedule.unwrap_or(by_data.schedule),
            decay: run.decay,
            label_smoothing: run.label_smoothing,
            guidance: self.guidance(),
            average: run.average,
            dropout: dropout_rates(run.dropout.unwrap_or(by_data.dropout)),
            bpe_dropout: Some(bpe_dropout).filter(|rate| *rate > 0.0),
            joined: Some(joined).filter(|share| *share > 0.0),
            max_gradient_norm: run.max_gradient_norm,
            max_epochs: run.max_epochs.unwrap_or(by_data.epochs),
            max_minutes: run.max_minutes,
            validate_every: run.validate_every,
            patience: run.patience,
            metric: run.metric.unwrap_or_else(|| metric(&self.text, validation)),
            keep: run.keep,
            keep_attention: run.keep_attention,
            tensorboard: run.tensorboard,
        }
    }
}

impl TextPlan {
    fn new(args: &TrainArgs) -> Result<Self> {
        let vocabulary_size =
            args.vocabulary_size.map(|size| within("--vocabulary-size", size, SPECIALS.len() + 1, MOST_UNITS));
        let units = [args.source_units, args.target_units].map(|side| side.or(args.units));
        let plan = Self {
            normalisation: Normalisation { form: args.normalise.unwrap_or(NormalForm::Nfc), lowercase: args.lowercase },
            units,
            joint_vocabulary: args.joint_vocabulary,
            vocabulary_size: vocabulary_size.transpose()?,
            max_length: positive("--max-length", args.max_length.unwrap_or(128))?,
        };
        if let [Some(source), Some(target)] = units {
            plan.check_joint(source, target)?;
        }
        Ok(plan)
    }

    fn check_joint(&self, source: Units, target: Units) -> Result<()> {
        if self.joint_vocabulary && source != target {
            bail!(UsageError("--joint-vocabulary needs the same units on both sides".to_owned()));
        }
        Ok(())
    }

    fn settle(&self, profile: &Profile) -> Result<TextSettings> {
        let [source_units, target_units] =
            [0, 1].map(|side| self.units[side].unwrap_or_else(|| profile.sides[side].kind.units()));
        self.check_joint(source_units, target_units)?;
        let Self { normalisation, joint_vocabulary, max_length, .. } = *self;
        // Which of them stand on a side is found when its vocabulary is learnt.
        let [source_atoms, target_atoms] = [Atoms::default(), Atoms::default()];
        Ok(TextSettings {
            normalisation,
            source_units,
            target_units,
            source_atoms,
            target_atoms,
            joint_vocabulary,
            max_length,
        })
    }
}

impl ModelPlan {
    fn sizes_are_open(&self) -> bool {
        self.embedding_size.is_none() && self.hidden_size.is_none() && self.attention_size.is_none()
    }

    fn new(args: &TrainArgs) -> Result<Self> {
        let size = |option, given: Option<usize>| given.map(|size| within(option, size, 1, MAX_SIZE)).transpose();
        let hidden_size = size("--hidden-size", args.hidden_size)?;
        if let Some(odd) = hidden_size.filter(|size| !size.is_multiple_of(2)) {
            bail!(UsageError(format!("--hidden-size {odd} is odd; each encoder direction has half of it")));
        }
        Ok(Self {
            embedding_size: size("--embedding-size", args.embedding_size)?,
            hidden_size,
            attention_size: size("--attention-size", args.attention_size)?,
            layers: within("--layers", args.layers.unwrap_or(1), 1, MAX_LAYERS)?,
            tied_output: !args.untied,
            initial_state: args.initial_state.unwrap_or(InitialState::Mean),
            decoder: args.decoder.unwrap_or(DecoderKind::Conditional),
            attention: AttentionConfig {
                score: args.attention.unwrap_or_default(),
                heads: args.heads.unwrap_or(1),
                temperature: args.attention_temperature.unwrap_or(1.0),
                choice: if args.hard_attention { SelectionMode::Sampled } else { SelectionMode::Soft },
                reported_head: None,
            },
        })
    }
}

impl RunPlan {
    fn new(args: &TrainArgs) -> Result<Self> {
        let batch = match (args.batch_sentences, args.batch_tokens) {
            (Some(sentences), _) => Some(BatchSize::Sentences(positive("--batch-sentences", sentences)?)),
            (None, Some(tokens)) => Some(BatchSize::Tokens(positive("--batch-tokens", tokens)?)),
            (None, None) => None,
        };
        let decay = args.decay.unwrap_or(0.5);
        if !(decay > 0.0 && decay <= 1.0) {
            bail!(UsageError(format!("--decay must be above 0 and at most 1, not {decay}")));
        }
        let score = args.attention.unwrap_or_default();
        if args.keep_attention && score.is_fixed() {
            bail!(UsageError(format!(
                "--keep-attention needs a score: with --attention {} there is nothing to see",
                score.name()
            )));
        }
        let schedule = args.schedule.or(args.decay.map(|_| Schedule::Plateau));
        let begun = args.from.is_some();
        let shares = |option, given: Option<f64>| given.map(|value| share(option, value)).transpose();
        Ok(Self {
            seed: args.seed.unwrap_or(SEED),
            batch,
            learning_rate: args.learning_rate.map(|rate| above_zero("--learning-rate", rate)).transpose()?,
            warmup_steps: args.warmup_steps.unwrap_or(if begun { WARMUP_FROM } else { WARMUP }),
            schedule,
            decay,
            label_smoothing: share("--label-smoothing", args.label_smoothing.unwrap_or(0.1))?,
            guidance: Guidance::new(args)?,
            average: shares("--average-decay", args.average_decay)?.or(Some(AVERAGE)).filter(|decay| *decay > 0.0),
            bpe_dropout: shares("--bpe-dropout", args.bpe_dropout)?,
            joined: shares("--join-pairs", args.join_pairs)?,
            dropout: shares("--dropout", args.dropout)?,
            max_gradient_norm: above_zero("--max-gradient-norm", args.max_gradient_norm.unwrap_or(1.0))?,
            max_epochs: max_epochs(args)?,
            max_minutes: max_minutes(args)?,
            validate_every: args.validate_every.map(|steps| positive("--validate-every", steps)).transpose()?,
            patience: patience(args)?.or(match schedule {
                Some(Schedule::Plateau) => Some(PATIENCE),
                // A step size that is planned brings most at its end, after a while that brought little.
                Some(Schedule::Hold | Schedule::Cosine) | None => begun.then_some(PATIENCE_FROM),
            }),
            metric: args.metric,
            keep: keep(args)?,
            keep_attention: args.keep_attention,
            tensorboard: args.tensorboard,
        })
    }
}

impl Guidance {
    /// By the weight given. What is fixed learns nothing.
    fn new(args: &TrainArgs) -> Result<Self> {
        let score = args.attention.unwrap_or_default();
        let weight = args.guided_alignment.or(args.guide.as_ref().map(|_| GUIDANCE));
        if args.guide.is_some() && weight == Some(0.0) {
            bail!(UsageError("--guide teaches nothing with --guided-alignment 0".to_owned()));
        }
        Ok(match weight {
            None => Self::ByData,
            Some(0.0) => Self::None,
            Some(_) if score.is_fixed() => {
                let score = score.name();
                bail!(UsageError(format!(
                    "--guided-alignment and --guide need a score: with --attention {score} there is nothing to teach"
                )))
            }
            Some(weight) => Self::Weight(above_zero("--guided-alignment", weight)?),
        })
    }
}

/// The score that suits the data: BLEU counts runs of four words, so it says nothing of shorter texts.
fn metric(text: &TextSettings, validation: &[Pair]) -> Metric {
    let short = validation.iter().filter(|pair| pair.target.split_whitespace().count() < 4).count();
    if text.of_characters() {
        Metric::ExactMatch
    } else if 2 * short > validation.len() {
        Metric::Chrf
    } else {
        Metric::Bleu
    }
}

fn dropout_rates(rate: f64) -> DropoutRates {
    DropoutRates { embeddings: rate, annotations: rate, states: rate, readout: rate }
}
