//! The whole model on a batch of sentence pairs: loss, gradients, forced decoding.

use candle_core::{Device, Result, Tensor};

use super::fused::{self, ForcedPair, Purpose, Weights};
use super::{
    Annotations, Architecture, AttentionDecoder, BidirectionalEncoder, DecoderStep, Dropout, Gradients, Memory,
    Parameters, Place,
};
use crate::kernels::cross_entropy;
use crate::text::{BEGIN, Batch, Padded};

/// Encoder and decoder over one set of parameters.
pub struct RnnSearch {
    architecture: Architecture,
    parameters: Parameters,
    encoder: BidirectionalEncoder,
    decoder: AttentionDecoder,
}

/// Sums over a batch's target units, `</s>` included and padding not.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BatchLoss {
    /// The loss that training minimises, label smoothing included, in nats.
    pub smoothed: f64,
    /// −log p of the targets, in nats.
    pub negative_log_likelihood: f64,
    /// −Σ w log α over the looks of the guides, which training minimises beside the smoothed loss.
    pub guidance: f64,
    /// How many units were predicted.
    pub units: usize,
}

/// A batch's logits, and where each row of them belongs.
struct Forced {
    /// `[rows, V]`, one row for each target unit, step by step.
    logits: Tensor,
    /// `[rows]`: the units to be predicted.
    targets: Tensor,
    /// The sentence of each row.
    sentences: Vec<usize>,
    /// α: `[target length, batch, source length]`
    weights: Tensor,
}

impl RnnSearch {
    /// Builds the model over parameters that belong to the architecture.
    pub fn new(architecture: Architecture, parameters: Parameters) -> Result<Self> {
        let encoder = BidirectionalEncoder::new(&architecture, &parameters)?;
        let decoder = AttentionDecoder::new(&architecture, &parameters)?;
        Ok(Self { architecture, parameters, encoder, decoder })
    }

    /// The model's sizes.
    pub fn architecture(&self) -> &Architecture {
        &self.architecture
    }

    /// The parameters that the model was built over.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Where the parameters lie.
    pub fn device(&self) -> &Device {
        self.decoder.device()
    }

    /// The decoder, for search.
    pub fn decoder(&self) -> &AttentionDecoder {
        &self.decoder
    }

    /// Lends the parameters as slices, for the fused path's search.
    pub fn with_weights<R>(&self, purpose: Purpose, work: impl FnOnce(&Weights) -> Result<R>) -> Result<R> {
        fused::with_weights(&self.architecture, &self.parameters, purpose, work)
    }

    /// The encoder's annotations of a batch of sources.
    pub fn annotate(&self, source: &Padded, dropout: &Dropout) -> Result<Annotations> {
        self.encoder.annotate(source, dropout)
    }

    /// Annotations and keys of a batch of sources.
    pub fn remember(&self, source: &Padded, dropout: &Dropout) -> Result<Memory> {
        self.decoder.attention().remember(self.annotate(source, dropout)?)
    }

    /// Loss of a batch; `gradients` becomes the gradient of its mean for each target unit, smoothing and guidance
    /// included.
    pub fn gradients(
        &self,
        batch: &Batch,
        smoothing: f64,
        dropout: &Dropout,
        gradients: &mut Gradients,
    ) -> Result<BatchLoss> {
        if self.device().is_cpu() {
            fused::gradients(&self.architecture, &self.parameters, batch, smoothing, dropout, gradients)
        } else {
            self.plain_gradients(batch, smoothing, dropout, gradients)
        }
    }

    /// The same by candle's operations and automatic differentiation, for which the parameters must be tracked.
    pub fn plain_gradients(
        &self,
        batch: &Batch,
        smoothing: f64,
        dropout: &Dropout,
        gradients: &mut Gradients,
    ) -> Result<BatchLoss> {
        let forced = self.forced(batch, dropout)?;
        let (smoothed, likelihood) = cross_entropy::sums(&forced.logits, &forced.targets, smoothing)?;
        let units = batch.target.units();
        let guidance = guidance(&forced.weights, batch)?;
        let store = ((&smoothed + &guidance)? / units as f64)?.backward()?;
        for (name, parameter) in self.parameters.iter() {
            let gradient = match store.get(parameter) {
                Some(gradient) => gradient.contiguous()?,
                None => parameter.zeros_like()?,
            };
            gradients.set(name, gradient);
        }
        let scalar = |tensor: &Tensor| Ok::<_, candle_core::Error>(f64::from(tensor.to_scalar::<f32>()?));
        Ok(BatchLoss {
            smoothed: scalar(&smoothed)?,
            negative_log_likelihood: scalar(&likelihood)?,
            guidance: scalar(&guidance)?,
            units,
        })
    }

    /// Forced decoding, pair by pair, without dropout.
    pub fn force(&self, batch: &Batch, smoothing: f64) -> Result<Vec<ForcedPair>> {
        if self.device().is_cpu() {
            fused::force(&self.architecture, &self.parameters, batch, smoothing)
        } else {
            self.plain_force(batch, smoothing)
        }
    }

    /// The same by candle's operations.
    pub fn plain_force(&self, batch: &Batch, smoothing: f64) -> Result<Vec<ForcedPair>> {
        let forced = self.forced(batch, &Dropout::none())?;
        let log_probabilities = candle_nn::ops::log_softmax(&forced.logits, 1)?;
        let chosen = log_probabilities.gather(&forced.targets.unsqueeze(1)?, 1)?.flatten_all()?.to_vec1::<f32>()?;
        let mean = log_probabilities.mean(1)?.to_vec1::<f32>()?;
        let weights = forced.weights.to_vec3::<f32>()?;
        let rows = |sentence: usize| {
            let row = |step: &Vec<Vec<f32>>| step[sentence][..batch.source.lengths[sentence]].to_vec();
            weights[..batch.target.lengths[sentence]].iter().map(row).collect()
        };
        let pair = |sentence| ForcedPair { log_probability: 0.0, smoothed: 0.0, weights: rows(sentence) };
        let mut pairs: Vec<ForcedPair> = (0..batch.target.batch()).map(pair).collect();
        for (&sentence, (&chosen, &mean)) in forced.sentences.iter().zip(chosen.iter().zip(&mean)) {
            pairs[sentence].log_probability += f64::from(chosen);
            pairs[sentence].smoothed -= (1.0 - smoothing) * f64::from(chosen) + smoothing * f64::from(mean);
        }
        Ok(pairs)
    }

    /// Logits of the given targets, step by step from the right words before each.
    fn forced(&self, batch: &Batch, dropout: &Dropout) -> Result<Forced> {
        let memory = self.remember(&batch.source, dropout)?;
        let target = &batch.target;
        let device = self.device();
        let (size, length) = (target.batch(), target.length);
        let previous: Vec<u32> = (0..length)
            .flat_map(|step| (0..size).map(move |row| if step == 0 { BEGIN } else { target.id(row, step - 1) }))
            .collect();
        let previous = Tensor::from_vec(previous, length * size, device)?;
        let embedded = dropout.apply(&self.decoder.embed(&previous)?, Place::Target)?;
        let gates = self.decoder.input_gates(&embedded)?;
        let gates = gates.reshape((length, size, gates.dim(1)?))?;

        let mut state = self.decoder.initial_state(&memory)?;
        let mut steps = Vec::with_capacity(length);
        for step in 0..length {
            let made = self.decoder.step(&memory, &gates.get(step)?, &state)?;
            state = made.state.clone();
            steps.push(made);
        }
        let all = |part: fn(&DecoderStep) -> &Tensor| Tensor::cat(&steps.iter().map(part).collect::<Vec<_>>(), 0);

        // The output layer runs once, over the rows that are no padding.
        let real = || {
            (0..length)
                .flat_map(|step| (0..size).filter(move |&row| step < target.lengths[row]).map(move |row| (step, row)))
        };
        let rows: Vec<u32> = real().map(|(step, row)| (step * size + row) as u32).collect();
        let rows = Tensor::new(rows, device)?;
        let pick = |tensor: Tensor| tensor.index_select(&rows, 0);
        let logits = self.decoder.logits(
            &pick(all(|step| &step.state)?)?,
            &pick(embedded)?,
            &pick(all(|step| &step.context)?)?,
            dropout,
        )?;
        Ok(Forced {
            logits,
            targets: Tensor::new(real().map(|(step, row)| target.id(row, step)).collect::<Vec<_>>(), device)?,
            sentences: real().map(|(_, row)| row).collect(),
            weights: Tensor::stack(&steps.iter().map(|step| &step.weights).collect::<Vec<_>>(), 0)?,
        })
    }
}

/// −Σ w log α over the looks of a batch's guides, for weights `[target length, batch, source length]`.
fn guidance(weights: &Tensor, batch: &Batch) -> Result<Tensor> {
    let (length, size, sources) = weights.dims3()?;
    let mut looks = vec![0f32; length * size * sources];
    for (row, guide) in batch.guides.iter().enumerate() {
        for look in guide {
            looks[(look.target as usize * size + row) * sources + look.source as usize] -= look.weight;
        }
    }
    let looks = Tensor::from_vec(looks, weights.shape(), weights.device())?;
    (weights.maximum(f64::from(fused::LEAST_WEIGHT))?.log()? * looks)?.sum_all()
}

impl std::ops::AddAssign for BatchLoss {
    fn add_assign(&mut self, other: Self) {
        self.smoothed += other.smoothed;
        self.negative_log_likelihood += other.negative_log_likelihood;
        self.guidance += other.guidance;
        self.units += other.units;
    }
}
