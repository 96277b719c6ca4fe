//! One step after another by candle's operations: what [`crate::model::fused::Decoding`] is on a CPU.

use candle_core::{Result, Tensor};

use crate::attention::Memory;
use crate::kernels::buffer::Buffer;
use crate::model::fused::Said;
use crate::model::{Dropout, RnnSearch, lexical_bias};
use crate::text::Padded;

/// Decoder states of any number of rows over a batch of sources, by candle's operations.
pub struct PlainDecoding<'a> {
    model: &'a RnnSearch,
    /// The memory of every sentence of the batch.
    memory: Memory,
    /// Every source.
    source: Padded,
    /// The sentence of each row.
    sentences: Vec<usize>,
    /// The memory of each row's sentence, as long as the rows' sentences stay the same.
    row_memory: Memory,
    /// The lexicon's rows for every sentence, `[sentences, length, V]`, where there is a lexicon.
    lexical: Option<Tensor>,
    /// The same for each row's sentence.
    row_lexical: Option<Tensor>,
    /// s_{t-1}: `[rows, n]`
    state: Tensor,
}

impl<'a> PlainDecoding<'a> {
    /// Encodes the sources.
    pub fn new(model: &'a RnnSearch, source: &Padded) -> Result<Self> {
        let memory = model.remember(source, &Dropout::none())?;
        let lexical = model.lexicon().map(|lexicon| lexicon.rows(source, model.device())).transpose()?;
        Ok(Self {
            model,
            state: model.decoder().initial_state(&memory)?,
            sentences: (0..source.batch()).collect(),
            source: source.clone(),
            row_memory: memory.clone(),
            memory,
            row_lexical: lexical.clone(),
            lexical,
        })
    }

    /// Makes `parents` the rows.
    fn select(&mut self, parents: &[usize]) -> Result<()> {
        let device = self.model.device();
        let rows: Vec<u32> = parents.iter().map(|&row| row as u32).collect();
        self.state = self.state.index_select(&Tensor::new(rows, device)?, 0)?;
        let sentences: Vec<usize> = parents.iter().map(|&row| self.sentences[row]).collect();
        if sentences != self.sentences {
            let rows: Vec<u32> = sentences.iter().map(|&sentence| sentence as u32).collect();
            let rows = Tensor::new(rows, device)?;
            self.row_memory = self.memory.select(&rows)?;
            self.row_lexical = self.lexical.as_ref().map(|lexical| lexical.index_select(&rows, 0)).transpose()?;
            self.sentences = sentences;
        }
        Ok(())
    }

    /// Makes new rows, each of which goes on from row `parents[i]` by taking in `units[i]`.
    pub fn advance(&mut self, parents: &[usize], units: &[u32]) -> Result<Said> {
        self.select(parents)?;
        let decoder = self.model.decoder();
        let embedded = decoder.embed(&Tensor::new(units, self.model.device())?)?;
        let step = decoder.step(&self.row_memory, &decoder.input_gates(&embedded)?, &self.state, None)?;
        let logits = decoder.logits(&step.state, &embedded, &step.attended.context, &Dropout::none())?;
        let logits = match &self.row_lexical {
            Some(rows) => (logits + lexical_bias(&step.attended.alphas.unsqueeze(1)?, rows)?.squeeze(1)?)?,
            None => logits,
        };
        self.state = step.state;
        let values = logits.flatten_all()?.to_vec1::<f32>()?;
        let mut logits = Buffer::any(values.len());
        logits.copy_from_slice(&values);
        let mut attention = step.attended.shown.to_vec2::<f32>()?;
        for (row, &sentence) in attention.iter_mut().zip(&self.sentences) {
            row.truncate(self.source.lengths[sentence]);
        }
        Ok(Said { logits, attention })
    }
}
