//! One step after another without derivatives: the decoder as search needs it.

use super::decoder::first_state;
use super::decoder_loop::Steps;
use super::encoder::EncoderPass;
use super::lexical_bias::Bias;
use super::output_layer::readout;
use super::shard::Part;
use super::weights::Weights;
use crate::attention::cpu::{Memory, Trace};
use crate::kernels::buffer::Buffer;
use crate::kernels::cpu::embedding::gather;
use crate::kernels::matrix::Store;
use crate::model::Dropout;
use crate::model::reference::Said;
use crate::text::{Batch, Padded};

/// Decoder states of any number of rows over a batch of sources.
pub struct Decoding<'w> {
    weights: &'w Weights<'w>,
    memory: Memory,
    /// The source of each row, by its place in the memory.
    sentences: Vec<usize>,
    /// `[rows, n]`
    states: Buffer,
    /// The units of each source, by its place in the memory.
    sources: Vec<Vec<u32>>,
}

impl<'w> Decoding<'w> {
    /// Encodes sources; there is one row for each.
    pub fn new(weights: &'w Weights<'w>, source: &Padded) -> Self {
        let batch = Batch::of_sources(source);
        let part = Part::deal(&batch, 1).remove(0);
        let (_, annotations) = EncoderPass::forward(weights, &part, &Dropout::none());
        let mut places = vec![0; part.size()];
        part.rows.iter().zip(0..).for_each(|(&row, place)| places[row] = place);
        let mut states = Buffer::any(places.len() * weights.architecture.hidden_size);
        gather(&mut states, &first_state(weights, &part, &annotations), &places, weights.architecture.hidden_size);
        let memory = weights.attention.remember(annotations, part.source.row_starts());
        let sentences = places.into_iter().map(|place| place as usize).collect();
        let sources = (0..part.size()).map(|row| part.source_of(row).collect()).collect();
        Self { weights, memory, sentences, states, sources }
    }

    /// Makes new rows, each of which goes on from row `parents[i]` by taking in `units[i]`.
    pub fn advance(&mut self, parents: &[usize], units: &[u32]) -> Said {
        let Self { weights, .. } = *self;
        let (e, n, rows) = (weights.architecture.embedding_size, weights.architecture.hidden_size, parents.len());
        self.sentences = parents.iter().map(|&row| self.sentences[row]).collect();
        let parents: Vec<u32> = parents.iter().map(|&row| row as u32).collect();
        let mut embedded = Buffer::any(rows * e);
        gather(&mut embedded, weights.get("target_embedding.weight"), units, e);
        let gates = weights.gates_of_units(units, &embedded);
        let mut steps = Steps::new(weights, rows, embedded, gates, |state| gather(state, &self.states, &parents, n));
        let mut trace = Trace::new(&weights.attention, &self.memory, rows, 1);
        steps.take(&self.memory, &mut trace, 0, self.sentences.iter().copied(), None);
        let shown = |(row, &sentence): (usize, &usize)| {
            trace.shown(&weights.attention, 0, row, self.memory.cells(sentence).len())
        };
        let attention = self.sentences.iter().enumerate().map(shown).collect();
        let mut logits = self.logits(&steps);
        if let Some(lexicon) = weights.lexicon {
            self.translate(&mut Bias::new(lexicon), &trace, &mut logits);
        }
        self.states = steps.into_last();
        Said { logits, attention }
    }

    /// Adds what the units looked at are known to be translated by.
    fn translate(&self, bias: &mut Bias, trace: &Trace, logits: &mut [f32]) {
        let rows = logits.chunks_exact_mut(self.weights.architecture.target_vocabulary).enumerate();
        for ((row, logits), &sentence) in rows.zip(&self.sentences) {
            let source = &self.sources[sentence];
            let mut alphas = vec![0.0; source.len()];
            trace.mean_alphas(0, row, &mut alphas);
            bias.add(logits, &alphas, source.iter().copied());
        }
    }

    fn logits(&self, steps: &Steps) -> Buffer {
        let sizes = self.weights.architecture;
        let (width, vocabulary) = (sizes.embedding_size + 2 * sizes.hidden_size, sizes.target_vocabulary);
        let rows = self.sentences.len();
        let mut input = Buffer::any(rows * width);
        for (row, input) in input.chunks_exact_mut(width).enumerate() {
            steps.readout_input(0, row, input);
        }
        let mut logits = Buffer::any(rows * vocabulary);
        let bias = Store::Row(self.weights.get("output.bias"));
        self.weights.output.apply(&mut logits, vocabulary, &readout(self.weights, &input), bias);
        logits
    }
}
