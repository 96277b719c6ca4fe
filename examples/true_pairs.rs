//! Classifying pairs of sequences: decomposable attention (Parikh, Täckström, Das & Uszkoreit 2016, "A Decomposable
//! Attention Model for Natural Language Inference") distinguishes translations from corrupted ones.
//!
//! ```text
//! attend       e_ij = g cos(a_i, b_j)                      embedded words a_1..a_S and b_1..b_T, each with its </s>
//!              β_i = Σ_j softmax_j(e_ij) b_j               the part of b aligned with a_i
//!              α_j = Σ_i softmax_i(e_ij) a_i               the part of a aligned with b_j
//! compare      v_i = G([a_i ; β_i ; a_i ∘ β_i])            G one layer, G' likewise for u_j
//! aggregate    p = softmax(H([Σ_i v_i ; Σ_j u_j]))         false or true; H two layers
//! ```
//!
//! In the paper, e_ij is a dot product after a layer, and G has two layers without ∘. With the cosine and ∘, the embeddings of
//! a word and its translation become parallel. False pairs are made from data/train.tsv: a French word is replaced by another
//! of the batch, or the sentence by one of similar length. Alignments are never given, but detecting a replacement requires
//! them.
//!
//! ```sh
//! cargo run --release --example true_pairs
//! ```

mod common;

use std::io::{IsTerminal, Write as _, stdout};
use std::path::Path;

use anyhow::Result;
use candle_core::{D, Device::Cpu, Tensor};
use clap::Parser;
use softalign::alignment::Alignment;
use softalign::attention::{Cosine, Pooled, pool};
use softalign::kernels::reference::cross_entropy::cross_entropy_sums;
use softalign::parameters::{Gradients, Init, Linear, ParameterSpec, Parameters};
use softalign::random::SeededRng;
use softalign::read_pairs;
use softalign::render::Heatmap;
use softalign::text::{BatchSize, ExampleLength, Normalization, PaddedBatch, Tokenization, Vocabulary, bucketed};
use softalign::training::Optimizer;

use Kind::{OtherSentence, True, WordReplaced};

const LANGUAGES: [&str; 2] = ["english", "french"];
/// Size of embeddings and layers.
const SIZE: usize = 32;
const BATCH: BatchSize = BatchSize::Sentences(32);
const HELD_OUT: usize = 1000;
const RATE: f64 = 3e-3;

/// Learns to distinguish true sentence pairs from false ones, and shows the learned alignment.
#[derive(Parser)]
struct Arguments {
    #[command(flatten)]
    run: common::Run,
}

/// Word ids of an English and a French sentence.
type Pair = [Vec<u32>; 2];

/// True pairs and the ways to corrupt them.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    True,
    WordReplaced,
    OtherSentence,
}

fn main() -> Result<()> {
    let common::Run { quick, seed } = common::arguments::<Arguments>().run;
    let mut pairs = read_pairs(Path::new(env!("CARGO_MANIFEST_DIR")).join("data/train.tsv"))?;
    SeededRng::new(seed, "pairs", 0).shuffle(&mut pairs);
    pairs.truncate(if quick { HELD_OUT + 6000 } else { pairs.len() });
    let (english, english_words) = encode(pairs.iter().map(|pair| pair.source.to_lowercase()).collect())?;
    let (french, french_words) = encode(pairs.iter().map(|pair| pair.target.to_lowercase()).collect())?;
    let pairs: Vec<Pair> = english.into_iter().zip(french).map(Pair::from).collect();
    let (held_out, training) = pairs.split_at(HELD_OUT);
    writeln!(stdout(), "{} training pairs, {HELD_OUT} held out", training.len())?;
    let words = [english_words, french_words];
    let sizes = words.each_ref().map(Vocabulary::size);
    let parameters = Parameters::initialize(&parameter_spec(sizes), seed, &Cpu)?.with_grad()?;
    train(&parameters, training, if quick { 2 } else { 12 }, seed)?;
    report(&parameters, held_out, seed)?;
    let short = held_out.iter().filter(|[english, french]| (6..9).contains(&english.len().max(french.len())));
    short.take(3).try_for_each(|pair| show(&parameters, pair, &words))
}

/// Encodes sentences by words; the vocabulary is trained on those not held out.
fn encode(texts: Vec<String>) -> Result<(Vec<Vec<u32>>, Vocabulary)> {
    let words =
        Vocabulary::train(texts[HELD_OUT..].iter().map(String::as_str), Tokenization::Word, Normalization::NONE, 5000)?;
    Ok((words.encode_all(texts.iter().map(String::as_str))?, words))
}

/// Batches of pairs of similar length.
fn batches<'a>(pairs: &'a [Pair], rng: &mut SeededRng) -> Vec<Vec<&'a Pair>> {
    let lengths: Vec<_> =
        pairs.iter().map(|[english, french]| ExampleLength { source: english.len(), target: french.len() }).collect();
    let batches = bucketed(&lengths, BATCH, rng).into_iter();
    batches.map(|batch| batch.into_iter().map(|index| &pairs[index]).collect()).collect()
}

/// Corrupts the pairs of a batch; `kind` maps rows to kinds.
fn corrupt(batch: &[&Pair], kind: impl Fn(usize) -> Kind, rng: &mut SeededRng) -> Vec<Pair> {
    let corrupted = |(row, [english, french]): (usize, &&Pair)| {
        let mut french = french.clone();
        match kind(row) {
            True => {}
            WordReplaced => {
                let others = batch.iter().flat_map(|[_, other]| other).filter(|word| !french.contains(word));
                let others: Vec<u32> = others.copied().collect();
                let index = rng.below(french.len());
                french[index] = others[rng.below(others.len())];
            }
            OtherSentence => french.clone_from(&batch[(row + 1) % batch.len()][1]),
        }
        [english.clone(), french]
    };
    batch.iter().enumerate().map(corrupted).collect()
}

fn parameter_spec(words: [usize; 2]) -> ParameterSpec {
    let mut spec = ParameterSpec::default();
    for (language, words) in LANGUAGES.into_iter().zip(words) {
        spec.add(format!("{language}.embedding"), &[words, SIZE], Init::Normal(0.1));
        spec.linear(&format!("{language}.compare"), SIZE, 3 * SIZE);
    }
    spec.add("sharpness", &[1], Init::Constant(8.0));
    spec.linear("aggregate", SIZE, 2 * SIZE);
    spec.linear("truth", 2, SIZE);
    spec
}

/// Returns logits of false and true, `[batch, 2]`, and attention of French over English words, `[batch, T, S]`.
fn forward(parameters: &Parameters, pairs: &[&Pair]) -> Result<(Tensor, Tensor)> {
    let score = Cosine { sharpness: parameters.get("sharpness")? };
    let embed = |side: usize| -> Result<(Tensor, Tensor)> {
        let (ids, mask) = common::tensors(&PaddedBatch::new(pairs.iter().map(|pair| pair[side].as_slice())))?;
        let table = parameters.get(&format!("{}.embedding", LANGUAGES[side]))?;
        Ok((table.index_select(&ids.flatten_all()?, 0)?.reshape((pairs.len(), (), SIZE))?, mask))
    };
    let sides = [embed(0)?, embed(1)?];
    let compare = |side: usize| -> Result<(Tensor, Tensor)> {
        let ((these, mask), (those, their_mask)) = (&sides[side], &sides[1 - side]);
        let Pooled { values, weights } = pool(&score, these, those, those, Some(their_mask))?;
        let rows = Tensor::cat(&[these, &values, &(these * &values)?], 2)?.flatten_to(1)?;
        let compared = Linear::new(parameters, &format!("{}.compare", LANGUAGES[side]))?.forward(&rows)?.relu()?;
        Ok((compared.reshape(these.shape())?.broadcast_mul(&mask.unsqueeze(2)?)?.sum(1)?, weights))
    };
    let ((english, _), (french, weights)) = (compare(0)?, compare(1)?);
    let sums = Tensor::cat(&[english, french], 1)?;
    let aggregated = Linear::new(parameters, "aggregate")?.forward(&sums)?.relu()?;
    Ok((Linear::new(parameters, "truth")?.forward(&aggregated)?, weights))
}

/// Half of the training pairs are true; a quarter of the others have another sentence.
fn train(parameters: &Parameters, pairs: &[Pair], epochs: u64, seed: u64) -> Result<()> {
    let kind = |row| if row % 4 == 0 { OtherSentence } else { WordReplaced };
    let mut optimizer = Optimizer::new(parameters, 1.0, None)?;
    for epoch in 0..epochs {
        let mut rng = SeededRng::new(seed, "batches", epoch);
        for batch in batches(pairs, &mut rng) {
            let corrupted = corrupt(&batch, kind, &mut rng);
            let both: Vec<&Pair> = batch.iter().copied().chain(&corrupted).collect();
            let truth = Tensor::from_iter((0..both.len()).map(|row| u32::from(row < batch.len())), &Cpu)?;
            let (loss, _) = cross_entropy_sums(&forward(parameters, &both)?.0, &truth, 0.0)?;
            let gradients = Gradients::from_loss(&(loss / both.len() as f64)?, parameters)?;
            optimizer.step(parameters, &gradients, RATE * (1.0 - epoch as f64 / epochs as f64))?;
        }
    }
    Ok(())
}

/// Prints the accuracy on each kind, with every pair made into every kind.
fn report(parameters: &Parameters, pairs: &[Pair], seed: u64) -> Result<()> {
    writeln!(stdout(), "accuracy on held-out pairs by kind")?;
    for (kind, name) in [(True, "true"), (WordReplaced, "one word replaced"), (OtherSentence, "another sentence")] {
        let (mut correct, mut rng) = (0, SeededRng::new(seed, "held out", 0));
        for batch in batches(pairs, &mut rng) {
            let pairs = corrupt(&batch, |_| kind, &mut rng);
            let (logits, _) = forward(parameters, &pairs.iter().collect::<Vec<_>>())?;
            let answers = logits.argmax(D::Minus1)?.to_vec1::<u32>()?;
            correct += answers.iter().filter(|&&answer| (answer == 1) == (kind == True)).count();
        }
        writeln!(stdout(), "{name:20}{:5.1}%", 100.0 * correct as f64 / pairs.len() as f64)?;
    }
    Ok(())
}

/// Prints the attention of each French word over the English ones.
fn show(parameters: &Parameters, pair: &Pair, words: &[Vocabulary; 2]) -> Result<()> {
    let weights = forward(parameters, &[pair])?.1.squeeze(0)?.to_vec2()?;
    let [english, french] = [0, 1].map(|side| {
        let tokens = words[side].written(&pair[side]).into_iter();
        tokens.map(|token| token.trim_start_matches('▁').to_owned()).collect()
    });
    writeln!(stdout())?;
    let heatmap = Heatmap::new(stdout().is_terminal(), None);
    Ok(heatmap.matrix(&mut stdout(), &Alignment::from_rows(english, french, &weights))?)
}
