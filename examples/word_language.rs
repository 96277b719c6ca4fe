//! Classifying sequences: attention pools the annotations of a word's letters to predict its language.
//!
//! ```text
//! annotations   h_j = [ →GRU(E[x_j]) ; ←GRU(E[x_j]) ]           letters x_1..x_S and </s>
//! energy        e_j = vᵀ tanh(q + W_k h_j + b_k)                one learned query q for all words
//! pooled        c = Σ_j α_j h_j            α = softmax_j(e)
//! language      p = softmax(W c + b)                            English or French
//! ```
//!
//! The words are those that occur on only one side of data/train.tsv; a fifth of them is held out. The weights show which
//! letters decide.
//!
//! ```sh
//! cargo run --release --example word_language
//! ```

mod common;

use std::collections::BTreeSet;
use std::io::{IsTerminal, Write as _, stdout};
use std::path::Path;

use anyhow::Result;
use candle_core::{Device::Cpu, Tensor};
use candle_nn::ops::softmax;
use clap::Parser;
use softalign::alignment::Alignment;
use softalign::attention::{Additive, Pooled, pool};
use softalign::kernels::reference::cross_entropy::cross_entropy_sums;
use softalign::parameters::{Gradients, Init, Linear, ParameterSpec, Parameters};
use softalign::random::SeededRng;
use softalign::read_pairs;
use softalign::render::Heatmap;
use softalign::text::{Normalization, PaddedBatch, Pair, Tokenization, Vocabulary};
use softalign::training::Optimizer;

const LANGUAGES: [&str; 2] = ["English", "French"];
const EMBEDDING: usize = 16;
/// Size of an annotation, both directions together.
const SIZE: usize = 64;
const BATCH: usize = 32;

/// Learns to distinguish English from French words, and shows which letters decide.
#[derive(Parser)]
struct Arguments {
    #[command(flatten)]
    run: common::Run,
}

/// A word with the ids of its letters and the index of its language.
struct Word {
    text: String,
    ids: Vec<u32>,
    language: usize,
}

/// Prediction for a word.
struct Prediction {
    /// One per language.
    probabilities: Vec<f32>,
    /// α over letters, `</s>` and padding.
    weights: Vec<f32>,
}

fn main() -> Result<()> {
    let common::Run { quick, seed } = common::arguments::<Arguments>().run;
    let mut words = words()?;
    // The time of a step grows with the square of the longest word's length.
    words.retain(|(text, _)| !quick || text.chars().count() < 9);
    SeededRng::new(seed, "words", 0).shuffle(&mut words);
    let held_out = words.len() / 5;
    let letters = Vocabulary::train(
        words[held_out..].iter().map(|(text, _)| text.as_str()),
        Tokenization::Char,
        Normalization::NONE,
        200,
    )?;
    let word = |(text, language): (String, usize)| Ok(Word { ids: letters.encode(&text)?, text, language });
    let words = words.into_iter().map(word).collect::<Result<Vec<_>>>()?;
    let (held_out, training) = words.split_at(held_out);
    writeln!(stdout(), "{} training words, {} held out", training.len(), held_out.len())?;
    let parameters = Parameters::initialize(&parameter_spec(letters.size()), seed, &Cpu)?.with_grad()?;
    train(&parameters, training, if quick { 2 } else { 12 }, seed)?;
    report(held_out, &predict(&parameters, held_out)?)
}

/// Words that occur in one language only, with its index.
fn words() -> Result<Vec<(String, usize)>> {
    let pairs = read_pairs(Path::new(env!("CARGO_MANIFEST_DIR")).join("data/train.tsv"))?;
    let words = |side: fn(&Pair) -> &str| -> BTreeSet<String> {
        let words = pairs.iter().flat_map(|pair| side(pair).split(|letter: char| !letter.is_alphabetic()));
        words.filter(|word| word.chars().count() > 1).map(str::to_lowercase).collect()
    };
    let (english, french) = (words(|pair| &pair.source), words(|pair| &pair.target));
    let exclusive = |these: &BTreeSet<String>, those: &BTreeSet<String>, language| -> Vec<_> {
        these.difference(those).map(|word| (word.clone(), language)).collect()
    };
    Ok([exclusive(&english, &french, 0), exclusive(&french, &english, 1)].concat())
}

fn parameter_spec(letters: usize) -> ParameterSpec {
    let mut spec = ParameterSpec::default();
    spec.add("embedding", &[letters, EMBEDDING], Init::Normal(0.3));
    for direction in ["forward", "backward"] {
        spec.gru(|part| format!("{direction}.{part}"), EMBEDDING, SIZE / 2);
    }
    spec.add("query", &[1, SIZE], Init::Normal(0.3));
    spec.linear("key", SIZE, SIZE);
    spec.add("energy", &[1, SIZE], Init::Glorot);
    spec.linear("language", LANGUAGES.len(), SIZE);
    spec
}

/// Returns annotations `[batch, length, SIZE]` of letters `[batch, length]`.
fn annotate(parameters: &Parameters, letters: &Tensor, mask: &Tensor) -> Result<Tensor> {
    let (batch, length) = letters.dims2()?;
    let (letters, mask) = (letters.t()?.flatten_all()?, mask.t()?.unsqueeze(2)?);
    let embedded = parameters.get("embedding")?.index_select(&letters, 0)?;
    let run = |direction: &str| {
        let cell = parameters.gru(|part| format!("{direction}.{part}"))?;
        let gates = cell.input_gates(&embedded)?.reshape((length, batch, 3 * SIZE / 2))?;
        cell.sequence(&gates, &mask, direction == "backward")
    };
    Ok(Tensor::cat(&[run("forward")?, run("backward")?], 2)?.transpose(0, 1)?.contiguous()?)
}

/// Returns logits `[batch, languages]` and weights `[batch, length]`.
fn forward(parameters: &Parameters, words: &[&Word]) -> Result<(Tensor, Tensor)> {
    let (letters, mask) = common::tensors(&PaddedBatch::new(words.iter().map(|word| word.ids.as_slice())))?;
    let values = annotate(parameters, &letters, &mask)?;
    let keys = Linear::new(parameters, "key")?.forward(&values.flatten_to(1)?)?.reshape(values.shape())?;
    let queries = parameters.get("query")?.broadcast_as((words.len(), 1, SIZE))?;
    let score = Additive { v: parameters.get("energy")? };
    let Pooled { values: pooled, weights } = pool(&score, &queries, &keys, &values, Some(&mask))?;
    Ok((Linear::new(parameters, "language")?.forward(&pooled.squeeze(1)?)?, weights.squeeze(1)?))
}

fn train(parameters: &Parameters, words: &[Word], epochs: u64, seed: u64) -> Result<()> {
    let mut optimizer = Optimizer::new(parameters, 1.0, None)?;
    let mut order: Vec<&Word> = words.iter().collect();
    for epoch in 0..epochs {
        SeededRng::new(seed, "order", epoch).shuffle(&mut order);
        for batch in order.chunks(BATCH) {
            let languages = Tensor::from_iter(batch.iter().map(|word| word.language as u32), &Cpu)?;
            let (loss, _) = cross_entropy_sums(&forward(parameters, batch)?.0, &languages, 0.0)?;
            let gradients = Gradients::from_loss(&(loss / batch.len() as f64)?, parameters)?;
            optimizer.step(parameters, &gradients, 5e-3)?;
        }
    }
    Ok(())
}

fn predict(parameters: &Parameters, words: &[Word]) -> Result<Vec<Prediction>> {
    let (logits, weights) = forward(parameters, &words.iter().collect::<Vec<_>>())?;
    let predictions = softmax(&logits, 1)?.to_vec2()?.into_iter().zip(weights.to_vec2()?);
    Ok(predictions.map(|(probabilities, weights)| Prediction { probabilities, weights }).collect())
}

/// Prints the accuracy, and the weights of some words.
fn report(words: &[Word], predictions: &[Prediction]) -> Result<()> {
    let is_correct = |(word, prediction): &(&Word, &Prediction)| prediction.probabilities[word.language] > 0.5;
    let correct = words.iter().zip(predictions).filter(is_correct).count();
    let french = words.iter().filter(|word| word.language == 1).count();
    let percent = |count: usize| 100.0 * count as f64 / words.len() as f64;
    writeln!(
        stdout(),
        "accuracy on held-out words: {:.1}% (always French: {:.1}%)",
        percent(correct),
        percent(french)
    )?;
    let heatmap = Heatmap::new(stdout().is_terminal(), None);
    for (language, name) in LANGUAGES.iter().enumerate() {
        writeln!(stdout(), "\n{name} words: predicted language, and the weights of the letters in percent")?;
        let shown = |(word, _): &(&Word, &Prediction)| word.language == language && (5..9).contains(&word.ids.len());
        for (word, Prediction { probabilities, weights }) in words.iter().zip(predictions).filter(shown).take(5) {
            let predicted = usize::from(probabilities[1] > 0.5);
            let label = format!("{:7} {:3.0}%", LANGUAGES[predicted], 100.0 * probabilities[predicted]);
            let letters = word.text.chars().map(String::from).collect();
            let weights = weights[..=word.ids.len()].to_vec();
            heatmap.matrix(&mut stdout(), &Alignment::from_rows(letters, vec![label], &[weights]))?;
        }
    }
    Ok(())
}
