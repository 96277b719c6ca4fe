//! The whole model on a batch of sentence pairs: loss, gradients, forced decoding.

use std::sync::Arc;

use candle_core::{Device, Result};

use super::cpu::{self, ForcedOutput, PackedModel, PackingMode};
use super::reference::{ReferenceIncrementalDecoder, ReferenceModel};
use super::view::ModelView;
use super::{Architecture, BatchLoss, ForcedScores, MIN_SHORTLIST_VOCABULARY, TokenLexicon, TrainingStep};
use crate::kernels::Backend;
use crate::kernels::matrix::Precision;
use crate::parameters::{Gradients, Parameters};
use crate::text::{Batch, PaddedBatch};

/// RNNsearch over one set of parameters, on the backend for their device.
pub struct RnnSearch {
    architecture: Architecture,
    parameters: Parameters,
    lexicon: Option<Arc<TokenLexicon>>,
    /// Precision of training and forced decoding.
    precision: Precision,
    search_precision: Precision,
    backend: Backend,
    reference: ReferenceModel,
}

impl RnnSearch {
    /// Builds the model and chooses its backend by the parameters' device.
    ///
    /// # Errors
    /// A parameter that the architecture needs is missing.
    pub fn new(architecture: Architecture, parameters: Parameters) -> Result<Self> {
        let reference = ReferenceModel::new(&architecture, &parameters)?;
        let (backend, precision) = (parameters.backend(), Precision::F32);
        let search_precision = precision;
        Ok(Self { architecture, parameters, lexicon: None, precision, search_precision, backend, reference })
    }

    /// Returns the same model with another architecture over the same parameters.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn with_architecture(&self, architecture: Architecture) -> Result<Self> {
        self.rebuilt(architecture, self.parameters.clone())
    }

    /// Returns the same model over other parameters.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn with_parameters(&self, parameters: Parameters) -> Result<Self> {
        self.rebuilt(self.architecture.clone(), parameters)
    }

    fn rebuilt(&self, architecture: Architecture, parameters: Parameters) -> Result<Self> {
        let Self { precision, search_precision, .. } = *self;
        let model = Self::new(architecture, parameters)?.with_lexicon(self.lexicon.clone());
        Ok(Self { precision, search_precision, ..model })
    }

    /// Returns the same model with another token lexicon, or none.
    pub fn with_lexicon(self, lexicon: Option<Arc<TokenLexicon>>) -> Self {
        Self { lexicon, ..self }
    }

    /// Returns the same model with another precision of products on the CPU in training and forced decoding. It is f32
    /// otherwise.
    pub fn with_precision(self, precision: Precision) -> Self {
        Self { precision, ..self }
    }

    /// Sets the precision of products on the CPU in training and forced decoding.
    pub fn set_precision(&mut self, precision: Precision) {
        self.precision = precision;
    }

    /// Returns the same model with another precision of products on the CPU in search. It is f32 otherwise.
    pub fn with_search_precision(self, search_precision: Precision) -> Self {
        Self { search_precision, ..self }
    }

    /// Lexicon that biases the output, if any.
    pub fn lexicon(&self) -> Option<&Arc<TokenLexicon>> {
        self.lexicon.as_ref()
    }

    /// Sizes and variants.
    pub fn architecture(&self) -> &Architecture {
        &self.architecture
    }

    /// Parameters that the model was built over.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Backend that computes the model.
    pub fn backend(&self) -> Backend {
        self.backend
    }

    /// Returns the device that holds the parameters.
    pub fn device(&self) -> &Device {
        self.reference.decoder.device()
    }

    fn view(&self) -> ModelView<'_> {
        let Self { architecture, parameters, lexicon, precision, .. } = self;
        ModelView { architecture, lexicon: lexicon.as_deref(), precision: *precision, parameters }
    }

    /// Packs the weights for search now, if the parameters keep them ([`Parameters::keeping_derived`]).
    ///
    /// # Errors
    /// A parameter is not a contiguous f32 tensor.
    pub fn pack(&self) -> Result<()> {
        if self.backend != Backend::Cpu {
            return Ok(());
        }
        Self::with_packed(&[self], PackingMode::Inference, |weights| {
            if self.architecture.target_vocabulary < MIN_SHORTLIST_VOCABULARY {
                weights[0].output();
            }
            Ok(())
        })
    }

    /// Packs the weights of several models for search on the CPU backend and passes them to `work`.
    ///
    /// # Errors
    /// A parameter is not a contiguous f32 tensor on the CPU, or `work` fails.
    pub fn with_packed<R>(
        models: &[&Self],
        mode: PackingMode,
        work: impl FnOnce(&[PackedModel]) -> Result<R>,
    ) -> Result<R> {
        let views: Vec<ModelView> =
            models.iter().map(|model| ModelView { precision: model.search_precision, ..model.view() }).collect();
        cpu::with_all_packed(&views, mode, work)
    }

    /// Returns an incremental decoder of the reference backend over a batch of sources.
    ///
    /// # Errors
    /// The device is out of memory.
    pub fn reference_decoder(&self, source: &PaddedBatch) -> Result<ReferenceIncrementalDecoder<'_>> {
        self.reference.incremental_decoder(self.view(), source)
    }

    /// Loss of a share of a batch; `gradients` becomes its part of the gradient of the batch's mean per target token, label
    /// smoothing and guided alignment included.
    ///
    /// # Errors
    /// On the reference backend, the parameters are no variables; see [`Parameters::with_grad`].
    pub fn gradients(&self, step: TrainingStep, gradients: &mut Gradients) -> Result<BatchLoss> {
        match self.backend {
            Backend::Cpu => cpu::gradients(self.view(), step, gradients),
            Backend::Reference => self.reference_gradients(step, gradients),
        }
    }

    /// [`Self::gradients`] by the reference backend, whatever the model's own: the oracle in tests.
    ///
    /// # Errors
    /// The parameters are no variables; see [`Parameters::with_grad`].
    pub fn reference_gradients(&self, step: TrainingStep, gradients: &mut Gradients) -> Result<BatchLoss> {
        self.reference.gradients(self.view(), step, gradients)
    }

    /// Scores each pair of a batch by forced decoding, without dropout.
    ///
    /// # Errors
    /// The device is out of memory.
    pub fn force_decode(&self, batch: &Batch, smoothing: f64) -> Result<Vec<ForcedScores>> {
        match self.backend {
            Backend::Cpu => cpu::force_decode(self.view(), batch, ForcedOutput::Scores(smoothing)),
            Backend::Reference => self.reference_force_decode(batch, smoothing),
        }
    }

    /// [`Self::force_decode`] by the reference backend, whatever the model's own: the oracle in tests.
    ///
    /// # Errors
    /// The device is out of memory.
    pub fn reference_force_decode(&self, batch: &Batch, smoothing: f64) -> Result<Vec<ForcedScores>> {
        self.reference.force_decode(self.view(), batch, smoothing, false)
    }

    /// Scores each pair of a batch by forced decoding, with the posterior distributions of the attended source tokens unless
    /// attention is hard, fixed or one head's.
    ///
    /// # Errors
    /// The device is out of memory.
    pub fn align(&self, batch: &Batch) -> Result<Vec<ForcedScores>> {
        match self.backend {
            Backend::Cpu => cpu::force_decode(self.view(), batch, ForcedOutput::ScoresAndPosteriors),
            Backend::Reference => self.reference_align(batch),
        }
    }

    /// [`Self::align`] without scores, which take time of their own.
    ///
    /// # Errors
    /// The device is out of memory.
    pub fn posteriors(&self, batch: &Batch) -> Result<Vec<ForcedScores>> {
        match self.backend {
            Backend::Cpu => cpu::force_decode(self.view(), batch, ForcedOutput::Posteriors),
            Backend::Reference => self.reference_align(batch),
        }
    }

    /// [`Self::align`] by the reference backend, whatever the model's own: the oracle in tests.
    ///
    /// # Errors
    /// The device is out of memory.
    pub fn reference_align(&self, batch: &Batch) -> Result<Vec<ForcedScores>> {
        self.reference.force_decode(self.view(), batch, 0.0, true)
    }
}
