//! What handlers share: the models and the settings of the server.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use anyhow::{Context, Result};
use axum::http::StatusCode;
use candle_core::Device;

use super::batching::{Translated, TranslationOptions, WorkQueue};
use super::error::ApiError;
use super::loaded_model::LoadedModel;
use super::options::{ModelSpec, ServeOptions};
use crate::error::usage;
use crate::search::Cancellation;
use crate::translator::Sentence;

/// Maximum bytes of a request's body.
const BODY_LIMIT: usize = 1 << 20;

/// Model that is served under a name.
pub struct ServedModel {
    name: String,
    current: RwLock<Arc<LoadedModel>>,
    queue: Arc<WorkQueue>,
}

impl ServedModel {
    fn new(name: String, directories: &[PathBuf], device: &Device) -> Result<Self> {
        let current = RwLock::new(Arc::new(LoadedModel::load(directories, device)?));
        let queue = WorkQueue::start(&name).context("cannot start the thread of a model")?;
        Ok(Self { name, current, queue })
    }

    /// Name in requests.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Model as it was loaded last.
    pub fn current(&self) -> Arc<LoadedModel> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Translates sentences in one batch with those of other requests. Dropping the future cancels the work.
    ///
    /// # Errors
    /// An option is invalid, the model fails, or the server is busy or stopping.
    pub async fn translate(
        &self,
        sentences: Vec<Sentence>,
        options: TranslationOptions,
    ) -> Result<Translated, ApiError> {
        options.check()?;
        self.queue.translate(self.current(), sentences, options).await
    }

    /// Does other work on the model's thread. Dropping the future cancels the work.
    ///
    /// # Errors
    /// The work fails, or the server is busy or stopping.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&LoadedModel, &Cancellation) -> Result<T> + Send + 'static,
    ) -> Result<T, ApiError> {
        self.queue.run(self.current(), work).await
    }
}

/// State of the server.
pub struct Server {
    models: Vec<ServedModel>,
    address: SocketAddr,
}

impl Server {
    /// Loads the models.
    ///
    /// # Errors
    /// A model cannot be loaded.
    pub fn new(options: &ServeOptions, address: SocketAddr, device: &Device) -> Result<Self> {
        let mut named: Vec<(String, Vec<PathBuf>)> = Vec::new();
        for ModelSpec { name, directory } in &options.models {
            match named.iter_mut().find(|(other, _)| other == name) {
                Some((_, ensemble)) => ensemble.push(directory.clone()),
                None => named.push((name.clone(), vec![directory.clone()])),
            }
        }
        if named.is_empty() {
            return usage("a server needs at least one model");
        }
        let load = |(name, directories): (String, Vec<PathBuf>)| ServedModel::new(name, &directories, device);
        Ok(Self { models: named.into_iter().map(load).collect::<Result<_>>()?, address })
    }

    /// Models in the order of the command line.
    pub fn models(&self) -> &[ServedModel] {
        &self.models
    }

    /// Names of the models.
    pub fn model_names(&self) -> Vec<&str> {
        self.models.iter().map(ServedModel::name).collect()
    }

    /// Returns a model by its name, or the first one.
    ///
    /// # Errors
    /// No model has this name.
    pub fn model(&self, name: Option<&str>) -> Result<&ServedModel, ApiError> {
        let found = self.models.iter().find(|model| name.is_none_or(|name| name == model.name));
        found.ok_or_else(|| {
            let known = self.model_names().join(", ");
            ApiError::with_status(StatusCode::BAD_REQUEST, format!("there is no model of this name; there is: {known}"))
        })
    }

    /// Address that the server listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Maximum bytes of a request's body.
    pub fn body_limit(&self) -> usize {
        BODY_LIMIT
    }

    /// Cancels all work, running and waiting.
    pub fn cancel_all(&self) {
        self.models.iter().for_each(|model| model.queue.cancel_all());
    }
}
