//! Training of pairs in memory by the library.

use std::path::Path;

use candle_core::Device;

use super::api::{resume, train};
use super::monolingual_text::MonolingualText;
use super::outcome::TrainingOutcome;
use super::resumed_sources::ResumedSources;
use super::run_context::RunContext;
use super::sources::TrainingSources;
use super::spec::{GivenCommand, TrainingSpec};
use super::warm_start::{InitFrom, InitVocabulary};
use crate::communicator::{Communicator, SingleProcess};
use crate::error::Result;
use crate::reporter::Silent;
use crate::text::Pair;
use crate::training::{Observer, TrainConfig};
use crate::translator::Translator;

/// Trainer of models from sentence pairs.
///
/// ```no_run
/// use softalign::{TrainConfig, Trainer};
///
/// let pairs = softalign::read_pairs("pairs.tsv")?;
/// let translator = Trainer::new(TrainConfig::default()).fit(&pairs, "my-model")?;
/// println!("{}", translator.translate("Where is the station?")?.text);
/// # Ok::<(), softalign::Error>(())
/// ```
pub struct Trainer<'o> {
    config: TrainConfig,
    validation: Option<Vec<Pair>>,
    monolingual_target: MonolingualText,
    init_from: Option<InitFrom>,
    device: Device,
    communicator: &'o dyn Communicator,
    observer: &'o dyn Observer,
}

impl Trainer<'static> {
    /// Returns a trainer with these settings. The pairs determine unset ones.
    pub fn new(config: TrainConfig) -> Self {
        Self {
            config,
            validation: None,
            monolingual_target: MonolingualText::default(),
            init_from: None,
            device: Device::Cpu,
            communicator: &SingleProcess,
            observer: &Silent,
        }
    }
}

impl<'o> Trainer<'o> {
    /// Validates on these pairs instead of holding out a part of the training pairs.
    #[must_use]
    pub fn validate_on(self, pairs: &[Pair]) -> Self {
        Self { validation: Some(pairs.to_vec()), ..self }
    }

    /// Trains a reverse model first, which translates these target sentences. The model learns the pairs that result too
    /// (back-translation).
    #[must_use]
    pub fn monolingual_target(self, sentences: &[String]) -> Self {
        Self { monolingual_target: MonolingualText::in_memory(sentences), ..self }
    }

    /// Initializes the model from another one, extending its vocabularies for the new pairs.
    #[must_use]
    pub fn init_from(self, directory: impl AsRef<Path>) -> Self {
        self.init_from_with(directory, InitVocabulary::Extend)
    }

    /// Initializes the model from another one with the given treatment of its vocabularies.
    #[must_use]
    pub fn init_from_with(self, directory: impl AsRef<Path>, vocabulary: InitVocabulary) -> Self {
        Self { init_from: Some(InitFrom { path: directory.as_ref().to_owned(), vocabulary }), ..self }
    }

    /// Trains on this device instead of the CPU.
    #[must_use]
    pub fn device(self, device: Device) -> Self {
        Self { device, ..self }
    }

    /// Reports messages, progress and events to an observer, which can stop training.
    #[must_use]
    pub fn observer<'n>(self, observer: &'n dyn Observer) -> Trainer<'n>
    where
        'o: 'n,
    {
        Trainer { observer, ..self }
    }

    /// Trains one model by all processes of a communicator, each of which calls [`Self::fit`] with the same pairs and
    /// directory. The first one writes the files. If one fails, the others wait for it, so that it should end them.
    #[must_use]
    pub fn communicator<'n>(self, communicator: &'n dyn Communicator) -> Trainer<'n>
    where
        'o: 'n,
    {
        Trainer { communicator, ..self }
    }

    /// Trains on pairs, saves the model in a directory without another model, and returns it.
    ///
    /// # Errors
    /// A setting is out of range, the pairs are unusable, the directory holds another model, or training diverges.
    pub fn fit(&self, pairs: &[Pair], directory: impl AsRef<Path>) -> Result<Translator> {
        let spec = TrainingSpec {
            config: self.config.clone(),
            sources: self.sources(pairs),
            init_from: self.init_from.clone(),
            command: GivenCommand::default(),
            replace: false,
        };
        self.load(train(spec, directory.as_ref(), self.context())?, directory.as_ref())
    }

    /// Resumes the training of the model in a directory, on the same pairs. Only the limits of the settings apply.
    ///
    /// # Errors
    /// There is no resumable training state, or the pairs differ.
    pub fn resume(&self, pairs: &[Pair], directory: impl AsRef<Path>) -> Result<Translator> {
        let sources = ResumedSources::Resolved(self.sources(pairs));
        let outcome = resume(directory.as_ref(), &self.config.limits, &sources, self.context())?;
        self.load(outcome, directory.as_ref())
    }

    fn context(&self) -> RunContext<'_> {
        RunContext { device: &self.device, communicator: self.communicator, observer: self.observer }
    }

    fn sources(&self, pairs: &[Pair]) -> TrainingSources {
        let monolingual_target = self.monolingual_target.clone();
        TrainingSources { monolingual_target, ..TrainingSources::in_memory(pairs, self.validation.as_deref()) }
    }

    fn load(&self, outcome: TrainingOutcome, directory: &Path) -> Result<Translator> {
        // The first process may still be writing what the others read.
        self.communicator.wait_for_all().map_err(anyhow::Error::from)?;
        outcome.unrecorded?;
        Ok(Translator::load_on(directory, &self.device)?)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::reporter::Reporter;
    use crate::training::{ModelConfig, RunConfig, RunLimits};

    /// Observer that stops after a number of queries.
    struct StopAfter {
        queries: usize,
        count: AtomicUsize,
    }

    impl Reporter for StopAfter {}

    impl Observer for StopAfter {
        fn should_stop(&self) -> bool {
            self.count.fetch_add(1, Ordering::Relaxed) >= self.queries
        }
    }

    fn quick(seed: u64) -> Trainer<'static> {
        Trainer::new(TrainConfig {
            model: ModelConfig { hidden_size: Some(8), ..ModelConfig::default() },
            run: RunConfig { seed: Some(seed), ..RunConfig::default() },
            limits: RunLimits { max_epochs: Some(1), ..RunLimits::default() },
        })
    }

    fn pairs() -> Vec<Pair> {
        ["red fox", "red owl", "grey fox"].map(|source| Pair::new(source, source.to_uppercase())).into()
    }

    #[test]
    fn interrupted_preparation_leaves_no_files() {
        let parent = tempfile::tempdir().unwrap();
        let directory = parent.path().join("model");
        for queries in 0..4 {
            let observer = StopAfter { queries, count: AtomicUsize::new(0) };
            let message = quick(1).observer(&observer).fit(&pairs(), &directory).err().unwrap().to_string();
            assert!(message.contains("interrupted") && !directory.exists(), "{queries}: {message}");
        }
    }

    #[test]
    fn resumes_on_the_same_pairs_only() {
        let parent = tempfile::tempdir().unwrap();
        let directory = parent.path().join("model");
        quick(1).fit(&pairs(), &directory).unwrap();
        assert!(quick(1).fit(&pairs(), &directory).is_err(), "refuses to overwrite");
        let limits = RunLimits { max_epochs: Some(2), ..RunLimits::default() };
        let longer = Trainer::new(TrainConfig { limits, ..TrainConfig::default() });
        let message = longer.resume(&pairs()[1..], &directory).err().unwrap().to_string();
        assert!(message.contains("not the sentence pairs"), "{message}");
        assert_eq!(longer.resume(&pairs(), &directory).unwrap().translate("").unwrap().text, "");
    }
}
