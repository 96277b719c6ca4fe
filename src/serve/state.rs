//! State that handlers share: the models and the settings of the server.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use anyhow::Result;
use candle_core::Device;
use tokio::sync::oneshot;

use super::access::{Access, Caller};
use super::collect::PairCollection;
use super::cost::{Lane, WorkBudget};
use super::error::ApiError;
use super::file_store::FileStore;
use super::job::{CancelOnDrop, Job, WholeJob};
use super::languages::LanguagePair;
use super::loaded_model::LoadedModel;
use super::memory::RequestMemory;
use super::metrics::ServerMetrics;
use super::options::{AllowedOrigin, ModelSpec, RequestLimits, ServeOptions};
use super::scheduler::Scheduler;
use super::translation_job::{CollectedTranslations, TranslatedSlice, TranslationInput, TranslationJob};
use crate::error::{usage, usage_of};
use crate::search::Cancellation;
use crate::translator::PrecisionOption;

/// Maximum bytes of a request's body besides its texts.
const BODY_OVERHEAD: usize = 64 * 1024;
/// Maximum bytes of a character: in JSON as `\ud83d\ude00`, in a form as `%F0%9F%98%80`.
const BYTES_PER_CHARACTER: usize = 12;

/// Model that is served under a name.
pub struct ServedModel {
    name: String,
    directories: Vec<PathBuf>,
    device: Device,
    precision: PrecisionOption,
    current: RwLock<Arc<LoadedModel>>,
}

impl ServedModel {
    fn new(name: String, directories: Vec<PathBuf>, device: &Device, precision: PrecisionOption) -> Result<Self> {
        let current = RwLock::new(Arc::new(LoadedModel::load(&name, &directories, device, precision)?));
        Ok(Self { name, directories, device: device.clone(), precision, current })
    }

    /// Name of the model in requests.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Directories of the model or the ensemble.
    pub fn directories(&self) -> &[PathBuf] {
        &self.directories
    }

    /// Model as it was loaded last.
    pub fn current(&self) -> Arc<LoadedModel> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Loads the model anew. Requests that arrived before keep the former one.
    ///
    /// # Errors
    /// As [`LoadedModel::load`]; the former model stays.
    pub fn reload(&self) -> Result<()> {
        let loaded = LoadedModel::load(&self.name, &self.directories, &self.device, self.precision)?;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(loaded);
        Ok(())
    }
}

/// Direction of translation with the model for it.
#[derive(Clone)]
pub struct ServedPair {
    /// Model that translates in this direction.
    pub model: Arc<ServedModel>,
    /// Languages, and the tag that asks the model for them.
    pub pair: LanguagePair,
}

impl ServedPair {
    /// True if both are the same direction of the same model.
    pub fn is_like(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.model, &other.model) && self.pair == other.pair
    }
}

/// Name of a model or an ensemble with its directories.
struct NamedDirectories {
    name: String,
    directories: Vec<PathBuf>,
}

impl NamedDirectories {
    /// Groups directories by their names, in the order of the command line.
    fn group(models: &[ModelSpec]) -> Vec<Self> {
        let mut named: Vec<Self> = Vec::new();
        for ModelSpec { name, directory } in models {
            match named.iter_mut().find(|other| other.name == *name) {
                Some(ensemble) => ensemble.directories.push(directory.clone()),
                None => named.push(Self { name: name.clone(), directories: vec![directory.clone()] }),
            }
        }
        named
    }
}

/// Returns the number of lines of texts. An empty text counts as a line.
pub fn count_lines<'t>(texts: impl Iterator<Item = &'t String>) -> usize {
    texts.map(|text| text.lines().count().max(1)).sum()
}

/// State of the server, which all handlers share.
pub struct Server {
    models: Vec<Arc<ServedModel>>,
    allow_origin: Vec<AllowedOrigin>,
    limits: RequestLimits,
    access: Access,
    metrics: Arc<ServerMetrics>,
    scheduler: Arc<Scheduler>,
    memory: Arc<RequestMemory>,
    files: FileStore,
    collection: Option<Arc<PairCollection>>,
}

impl Server {
    /// Loads the models.
    ///
    /// # Errors
    /// A model or a file cannot be loaded, or pairs of several languages would be collected in one file.
    pub fn new(options: &ServeOptions, device: &Device) -> Result<Self> {
        let named = NamedDirectories::group(&options.models);
        if named.is_empty() {
            return usage("a server needs at least one model");
        }
        let metrics = Arc::new(ServerMetrics::new()?);
        let mut models = Vec::with_capacity(named.len());
        for NamedDirectories { name, directories } in named {
            models.push(Arc::new(ServedModel::new(name, directories, device, options.precision)?));
        }
        let memory = Arc::new(RequestMemory::new(options.limits.memory));
        let mut server = Self {
            models,
            allow_origin: options.allow_origin.clone(),
            limits: options.limits,
            access: Access::new(options.api_keys.as_deref(), options.limits.requests_per_minute)?,
            scheduler: Scheduler::start(Arc::clone(&metrics))?,
            files: FileStore::new(memory.files()),
            memory,
            metrics,
            collection: None,
        };
        let served = server.language_pairs();
        if options.collect.is_some() && served.iter().any(|one| !one.pair.has_same_languages(&served[0].pair)) {
            return usage_of(
                "collect",
                "writes pairs of one source and target language; serve models of others separately",
            );
        }
        // Last: a server that cannot start leaves no file.
        if let Some(path) = &options.collect {
            let directories: Vec<&Path> = options.models.iter().map(|model| &*model.directory).collect();
            let collection = PairCollection::open(path, &directories, options.api_keys.as_deref())?;
            server.collection = Some(Arc::new(collection));
        }
        Ok(server)
    }

    /// Models in the order of the command line.
    pub fn models(&self) -> &[Arc<ServedModel>] {
        &self.models
    }

    /// Names of the models.
    pub fn model_names(&self) -> Vec<&str> {
        self.models.iter().map(|model| model.name()).collect()
    }

    /// Returns a model by its name, or the first one.
    ///
    /// # Errors
    /// No model has this name.
    pub fn model(&self, name: Option<&str>) -> Result<&Arc<ServedModel>, ApiError> {
        let found = self.models.iter().find(|model| name.is_none_or(|name| name == model.name));
        found.ok_or_else(|| {
            let known = self.model_names().join(", ");
            ApiError::invalid(format!("there is no model of this name; there is: {known}"))
        })
    }

    /// Returns the directions of translation with their models; of several models for the same languages, the first one.
    pub fn language_pairs(&self) -> Vec<ServedPair> {
        let mut found: Vec<ServedPair> = Vec::new();
        for model in &self.models {
            for pair in &model.current().pairs {
                if !found.iter().any(|other| other.pair.has_same_languages(pair)) {
                    found.push(ServedPair { model: Arc::clone(model), pair: pair.clone() });
                }
            }
        }
        found
    }

    /// Origins of other pages that may use the server.
    pub fn allowed_origins(&self) -> &[AllowedOrigin] {
        &self.allow_origin
    }

    /// Limits of requests.
    pub fn limits(&self) -> RequestLimits {
        self.limits
    }

    /// Decision about who may have work done.
    pub fn access(&self) -> &Access {
        &self.access
    }

    /// Admits a request of work on texts.
    ///
    /// # Errors
    /// As [`Access::admit`], or the texts are beyond the limits (413).
    pub fn admit<'t>(
        &self,
        caller: &Caller,
        key: Option<&str>,
        texts: impl Iterator<Item = &'t String> + Clone,
    ) -> Result<(), ApiError> {
        self.access.admit(caller, key)?;
        let most = self.limits.texts;
        let lines = count_lines(texts.clone());
        if lines > most {
            return Err(ApiError::too_large(format!("a request can have {most} texts and lines, not {lines}")));
        }
        self.check_characters(texts.map(String::as_str))
    }

    /// Refuses texts with too many characters.
    ///
    /// # Errors
    /// There are more than a request may have (413).
    pub fn check_characters<'t>(&self, texts: impl Iterator<Item = &'t str>) -> Result<(), ApiError> {
        let most = self.limits.characters;
        let count: usize = texts.map(|text| text.chars().count()).sum();
        if count > most {
            return Err(ApiError::too_large(format!("a request can have {most} characters, not {count}")));
        }
        Ok(())
    }

    /// Threads that do the work.
    pub fn scheduler(&self) -> &Scheduler {
        &self.scheduler
    }

    /// Memory of the requests.
    pub fn memory(&self) -> &Arc<RequestMemory> {
        &self.memory
    }

    /// Translated files that can be downloaded.
    pub fn files(&self) -> &FileStore {
        &self.files
    }

    /// Translates sentences and makes a value of the translations of each. Dropping the future cancels the work.
    ///
    /// # Errors
    /// An option is invalid, the request costs too much, the model fails, or the server is busy or stopping.
    pub async fn translate<T: Send + 'static>(
        &self,
        input: TranslationInput,
        make: impl FnMut(&TranslatedSlice) -> Result<Vec<T>> + Send + 'static,
    ) -> Result<Vec<T>, ApiError> {
        let cancellation = Cancellation::default();
        let _guard = CancelOnDrop(cancellation.clone());
        let (reply, result) = oneshot::channel();
        let sink = Box::new(CollectedTranslations::new(make, reply));
        let job = TranslationJob::new(input, self.budget(), &cancellation, sink);
        self.scheduler.add(Job::Translation(Box::new(job)))?;
        result.await.unwrap_or_else(|_| Err(self.scheduler.lost()))
    }

    /// Does work that cannot be divided. Dropping the future cancels it.
    ///
    /// # Errors
    /// The server is busy or stopping.
    pub async fn run<T: Send + 'static>(
        &self,
        lane: Lane,
        work: impl FnOnce(&Cancellation) -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        let cancellation = Cancellation::default();
        let _guard = CancelOnDrop(cancellation.clone());
        let (reply, result) = oneshot::channel();
        self.scheduler.add(WholeJob::boxed(lane, cancellation, move |cancellation| {
            // A client that went away needs no reply.
            let _ = reply.send(work(cancellation));
        }))?;
        result.await.map_err(|_| self.scheduler.lost())
    }

    /// Budget of the work of a request.
    pub fn budget(&self) -> WorkBudget {
        WorkBudget::new(&self.limits, self.memory.slice())
    }

    /// Metrics of the server.
    pub fn metrics(&self) -> &Arc<ServerMetrics> {
        &self.metrics
    }

    /// File of corrected pairs, if they are collected.
    pub fn collection(&self) -> Option<&Arc<PairCollection>> {
        self.collection.as_ref()
    }

    /// Maximum bytes of a request's body.
    pub fn body_limit(&self) -> usize {
        let texts = self.limits.characters.saturating_mul(BYTES_PER_CHARACTER).saturating_add(BODY_OVERHEAD);
        texts.min(self.memory.body())
    }
}
