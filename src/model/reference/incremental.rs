//! Step-by-step decoding of many rows, without derivatives.

use std::sync::Arc;

use candle_core::{Result, Tensor};

use super::ReferenceModel;
use super::lexical_bias::{bias, dense_rows, lexical_bias};
use super::row_dropout::RowDropout;
use crate::attention::{AttentionWeights, Memory};
use crate::kernels::buffer_pool::Buffer;
use crate::kernels::reference::mixture::log_mixture;
use crate::model::Shortlist;
use crate::model::shortlist::{log_unlisted, unlisted_sample};
use crate::model::view::ModelView;
use crate::text::{PADDING, PaddedBatch};

/// Decoder states of any number of rows over a batch of sources.
pub struct ReferenceIncrementalDecoder<'a> {
    model: &'a ReferenceModel,
    /// True under exact hard attention.
    is_exact: bool,
    /// Memory of every sentence of the batch.
    memory: Memory,
    /// All sources.
    source: PaddedBatch,
    /// Sentence of each row.
    sentences: Vec<usize>,
    /// Memory of each row's sentence; recomputed only if the rows' sentences change.
    row_memory: Memory,
    /// Lexicon rows of every sentence, `[sentences, length, V]`, if there is a lexicon.
    lexical: Option<Tensor>,
    /// Lexicon rows of each row's sentence.
    row_lexical: Option<Tensor>,
    /// s_{t-1}: `[rows, n]`
    state: Tensor,
    /// Tokens of each sentence, if they are restricted.
    shortlist: Option<Shortlist>,
}

/// Predictions for the rows of one step.
pub struct StepOutput {
    /// Logits of each row: V, or one for each of its tokens.
    pub logits: Buffer,
    /// Tokens of each row in increasing order, none where all tokens have a logit; empty if no row is restricted.
    pub tokens: Vec<Option<Arc<[u32]>>>,
    /// Reported α of each row, one weight per token of its source.
    pub attention: Vec<Vec<f32>>,
}

impl ReferenceModel {
    /// Encodes sources and returns a decoder with one row for each.
    pub fn incremental_decoder(
        &self,
        view: ModelView,
        source: &PaddedBatch,
    ) -> Result<ReferenceIncrementalDecoder<'_>> {
        let memory = self.project_memory(source, &RowDropout::none())?;
        let lexical = view.lexicon.map(|lexicon| dense_rows(lexicon, source, self.decoder.device())).transpose()?;
        Ok(ReferenceIncrementalDecoder {
            model: self,
            is_exact: view.architecture.attention.is_exact(),
            state: self.decoder.initial_state(&memory)?,
            sentences: (0..source.batch()).collect(),
            source: source.clone(),
            row_memory: memory.clone(),
            memory,
            row_lexical: lexical.clone(),
            lexical,
            shortlist: None,
        })
    }
}

impl ReferenceIncrementalDecoder<'_> {
    /// Restricts each source to the tokens of a shortlist. Called before the first step.
    pub fn restrict(&mut self, shortlist: &Shortlist) {
        self.shortlist = Some(shortlist.clone());
    }

    /// Makes the former rows `parents` the current rows.
    fn select(&mut self, parents: &[usize]) -> Result<()> {
        let device = self.model.decoder.device();
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

    /// Makes new rows: row `i` extends the former row `parents[i]` by `tokens[i]`.
    ///
    /// # Errors
    /// The device is out of memory.
    pub fn step(&mut self, parents: &[usize], tokens: &[u32]) -> Result<StepOutput> {
        Ok(self.forward_step(parents, tokens, AttentionWeights::Model)?.0)
    }

    /// As [`Self::step`], with attention weights of this origin. Also returns each head's weights,
    /// `[rows][heads][length]`.
    ///
    /// # Errors
    /// The device is out of memory.
    pub fn inspect_step(
        &mut self,
        parents: &[usize],
        tokens: &[u32],
        attention_weights: AttentionWeights,
    ) -> Result<(StepOutput, Vec<Vec<Vec<f32>>>)> {
        let (output, heads) = self.forward_step(parents, tokens, attention_weights)?;
        let mut rows = vec![Vec::new(); output.attention.len()];
        for head in &heads {
            for ((row, mut alphas), reported) in rows.iter_mut().zip(head.to_vec2()?).zip(&output.attention) {
                alphas.truncate(reported.len());
                row.push(alphas);
            }
        }
        Ok((output, rows))
    }

    /// Returns the output and the weights of each head, `[rows, length]`.
    fn forward_step(
        &mut self,
        parents: &[usize],
        tokens: &[u32],
        attention_weights: AttentionWeights,
    ) -> Result<(StepOutput, Vec<Tensor>)> {
        self.select(parents)?;
        let decoder = &self.model.decoder;
        let embedded = decoder.embed(tokens)?;
        let step = decoder.step(&self.row_memory, &embedded, &self.state, attention_weights)?;
        let mut unlisted = Vec::new();
        let logits = if self.is_exact {
            let annotations = self.row_memory.annotations();
            let logits = decoder.output.logits_by_position(&step.state, &embedded, annotations, &RowDropout::none())?;
            let logits = match &self.row_lexical {
                Some(rows) => (logits + bias(rows)?)?,
                None => logits,
            };
            log_mixture(&logits, &step.attention.alphas)?
        } else {
            let logits = decoder.output.logits(&step.state, &embedded, &step.attention.context, &RowDropout::none())?;
            if self.shortlist.is_some() {
                unlisted = logits.to_vec2()?.iter().map(|row| log_mean_unlisted(row)).collect();
            }
            match &self.row_lexical {
                Some(rows) => (logits + lexical_bias(&step.attention.alphas.unsqueeze(1)?, rows)?.squeeze(1)?)?,
                None => logits,
            }
        };
        self.state = step.state;
        let (logits, tokens) = self.selected(logits.to_vec2()?, &unlisted);
        let mut attention = step.attention.reported.to_vec2::<f32>()?;
        for (row, &sentence) in attention.iter_mut().zip(&self.sentences) {
            row.truncate(self.source.lengths[sentence]);
        }
        Ok((StepOutput { logits, tokens, attention }, step.attention.heads))
    }

    /// Selects the logits of the shortlist, if there is one, from those of all tokens; padding stands for the others. Also
    /// returns the tokens of each row.
    fn selected(&self, rows: Vec<Vec<f32>>, unlisted: &[f32]) -> (Buffer, Vec<Option<Arc<[u32]>>>) {
        let Some(shortlist) = &self.shortlist else { return (Buffer::from_slice(&rows.concat()), Vec::new()) };
        let tokens: Vec<_> = self.sentences.iter().map(|&sentence| shortlist.tokens(sentence).cloned()).collect();
        let mut logits = Vec::new();
        for ((row, tokens), mean) in rows.iter().zip(&tokens).zip(unlisted) {
            let Some(tokens) = tokens else {
                logits.extend_from_slice(row);
                continue;
            };
            let others = mean + log_unlisted(row.len(), tokens.len());
            logits.extend(tokens.iter().map(|&token| if token == PADDING { others } else { row[token as usize] }));
        }
        (Buffer::from_slice(&logits), tokens)
    }
}

/// m + v/2 of the logits of the tokens that are not frequent; see `cpu/unlisted.rs`.
fn log_mean_unlisted(logits: &[f32]) -> f32 {
    let tokens = unlisted_sample(logits.len());
    let count = tokens.len() as f32;
    let mean = tokens.clone().map(|token| logits[token]).sum::<f32>() / count;
    let variance = tokens.map(|token| (logits[token] - mean).powi(2)).sum::<f32>() / count;
    mean + variance / 2.0
}
