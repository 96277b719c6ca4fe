//! Complete training steps and searches at the sizes of docs/results/speed.md: embedding 256, hidden 512, 7,900 tied tokens,
//! batches of 64 random pairs of the length of captions.
//!
//! `cargo bench --bench throughput` prints target tokens per second, useful arithmetic, and the rate of candle's matrix
//! product measured in the same run. One of `-- training`, `-- search`, `-- scores` (training with each kind of attention)
//! and `-- extremes` (training with parameters of extreme magnitude) selects a part. Rates are the best of several rounds
//! over the same batches, since other load only slows a machine down. `SOFTALIGN_SIMD=avx2` leaves newer instructions out.

use std::time::Instant;

use candle_core::{Device, Result, Tensor};
use softalign::attention::{AttentionConfig, ScoreName};
use softalign::kernels::simd::limit_simd_by_environment;
use softalign::model::{Architecture, DecoderKind, Dropout, DropoutRates, InitialState, RnnSearch, TrainingStep};
use softalign::parameters::{Gradients, Parameters};
use softalign::random::SeededRng;
use softalign::search::{BeamOptions, Source, search_all};
use softalign::text::{Batch, BatchSize, Example, bucketed};
use softalign::training::Optimizer;

const PAIRS: usize = 29_000;
const STEPS: usize = 8;
const ROUNDS: usize = 9;
const SENTENCES: usize = 256;
const REPETITIONS: usize = 3;
const EXTREME_PAIRS: usize = 16;
const LEARNING_RATE: f64 = 1e-4;

fn main() -> Result<()> {
    limit_simd_by_environment().expect("a level");
    let model = model(AttentionConfig::default())?;
    let examples = examples(13.0);
    let all = std::thread::available_parallelism().map_or(1, usize::from);
    let selected = |part: &str| {
        !["training", "search", "scores", "extremes"]
            .iter()
            .any(|other| *other != part && std::env::args().any(|a| a == *other))
    };
    if selected("training") {
        training(&model, &examples, all)?;
    }
    if selected("search") {
        search(&model, &examples, all)?;
    }
    if selected("scores") {
        scores(&examples, all)?;
    }
    if selected("extremes") {
        extremes(&examples, all)?;
    }
    Ok(())
}

/// Time of a step with zero, denormal, small and huge parameters relative to ordinary ones.
fn extremes(examples: &[Example], all: usize) -> Result<()> {
    let batch = Batch::new(examples, &(0..EXTREME_PAIRS).collect::<Vec<_>>());
    let mut ordinary = None;
    for factor in [1.0, 0.0, 1e-42, 1e-38, 1e-30, 1e-20, 1e-10, 1e6] {
        let model = model(AttentionConfig::default())?;
        let mut parameters = model.parameters().clone();
        for (_, tensor) in parameters.iter_mut() {
            *tensor = (&*tensor * factor)?.detach();
        }
        let model = model.with_parameters(parameters.with_grad()?)?;
        let mut gradients = Gradients::zeros(model.parameters())?;
        let mut optimizer = Optimizer::new(model.parameters(), 1.0, None)?;
        let mut best = f64::INFINITY;
        run_on(all, || {
            for _ in 0..REPETITIONS {
                let start = Instant::now();
                model.gradients(TrainingStep::new(&batch, 0.1, Dropout::none()), &mut gradients)?;
                optimizer.step(model.parameters(), &gradients, 0.0)?;
                best = best.min(start.elapsed().as_secs_f64());
            }
            Ok(())
        })?;
        let ratio = best / *ordinary.get_or_insert(best);
        println!("step, parameters × {factor:e}: {:.1} ms, × {ratio:.2} of the ordinary time", best * 1e3);
    }
    Ok(())
}

/// Training with each kind of attention, alternately, so that other load affects all alike.
fn scores(examples: &[Example], all: usize) -> Result<()> {
    let single = ScoreName::ALL.iter().map(|&score| AttentionConfig { score, ..AttentionConfig::default() });
    let heads = AttentionConfig { score: ScoreName::ScaledDot, heads: 4, ..AttentionConfig::default() };
    let models: Vec<RnnSearch> = single.chain([heads]).map(model).collect::<Result<_>>()?;
    let mut rates = vec![0.0f64; models.len()];
    for _ in 0..REPETITIONS {
        for (rate, model) in rates.iter_mut().zip(&models) {
            *rate = rate.max(training_rate(model, examples, all, LEARNING_RATE)?.0);
        }
    }
    for (rate, model) in rates.iter().zip(&models) {
        println!("training, {}: {rate:.0} target tokens/s", model.architecture().attention);
    }
    Ok(())
}

fn training(model: &RnnSearch, examples: &[Example], all: usize) -> Result<()> {
    let product = product_rate(all)?;
    println!("candle's 1024 × 512 × 1536 product: {:.1} GFLOP/s on {all} threads", product / 1e9);
    let mut rates = Vec::new();
    for threads in [1, all] {
        let (rate, useful) = training_rate(model, examples, threads, LEARNING_RATE)?;
        rates.push(rate);
        let share = 100.0 * useful / product;
        println!(
            "training, threads {threads}: {rate:.0} target tokens/s, {:.1} GFLOP/s useful, {share:.0} % of candle's product",
            useful / 1e9
        );
    }
    println!("speedup over 1 thread: × {:.2}", rates[1] / rates[0]);
    let long: f64 = training_rate(model, &self::examples(26.0), all, LEARNING_RATE)?.0;
    println!("pairs twice as long: {long:.0} target tokens/s, a pair costs × {:.2}", 2.0 * rates[1] / long);
    Ok(())
}

fn search(model: &RnnSearch, examples: &[Example], all: usize) -> Result<()> {
    for beam in [1, 5] {
        let single = search_rate(model, &examples[..SENTENCES], beam, 1)?;
        let multi = search_rate(model, &examples[..SENTENCES], beam, all)?;
        println!(
            "search, beam {beam}: {single:.0} target tokens/s on 1 thread, {multi:.0} on {all}, × {:.2}",
            multi / single
        );
    }
    Ok(())
}

fn model(attention: AttentionConfig) -> Result<RnnSearch> {
    let architecture = Architecture {
        source_vocabulary: 7900,
        target_vocabulary: 7900,
        embedding_size: 256,
        hidden_size: 512,
        attention_size: 512,
        layers: 1,
        tied_output: true,
        initial_state: InitialState::Mean,
        lexicon: false,
        decoder: DecoderKind::default(),
        attention,
    };
    let parameters = Parameters::initialize(&architecture.parameter_spec(), 1, &Device::Cpu)?.with_grad()?;
    RnnSearch::new(architecture, parameters)
}

/// Random pairs around a length in tokens; targets have about the length of their sources.
fn examples(length: f64) -> Vec<Example> {
    let mut rng = SeededRng::new(1, "bench", 0);
    let mut sentence = |length: f64| -> Vec<u32> {
        (0..length.round().max(3.0) as usize).map(|_| 4 + (rng.uniform() * rng.uniform() * 7896.0) as u32).collect()
    };
    let mut noise = SeededRng::new(1, "bench lengths", 0);
    let mut pair = |_| {
        let common = length * (1.0 + 0.3 * noise.normal());
        Example::new(sentence(common), sentence(common + 0.15 * length * noise.normal()))
    };
    (0..PAIRS).map(&mut pair).collect()
}

/// Floating-point operations per second of candle's matrix product.
fn product_rate(threads: usize) -> Result<f64> {
    let a = Tensor::randn(0f32, 1.0, (1024, 512), &Device::Cpu)?;
    let b = Tensor::randn(0f32, 1.0, (512, 1536), &Device::Cpu)?;
    let mut best = f64::INFINITY;
    run_on(threads, || {
        for _ in 0..40 {
            let start = Instant::now();
            a.matmul(&b)?;
            best = best.min(start.elapsed().as_secs_f64());
        }
        Ok(2.0 * 1024.0 * 512.0 * 1536.0 / best)
    })
}

fn run_on<R: Send>(threads: usize, work: impl FnOnce() -> Result<R> + Send) -> Result<R> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(candle_core::Error::wrap)?;
    pool.install(work)
}

/// Target tokens and useful floating-point operations, both per second.
fn training_rate(model: &RnnSearch, examples: &[Example], threads: usize, learning_rate: f64) -> Result<(f64, f64)> {
    let rate = 0.3;
    let rates = DropoutRates { embeddings: rate, annotations: rate, states: rate, readout: rate };
    let lengths: Vec<_> = examples.iter().map(Example::length).collect();
    let batches = bucketed(&lengths, BatchSize::Sentences(64), &mut SeededRng::new(1, "shuffle", 0));
    let mut gradients = Gradients::zeros(model.parameters())?;
    let mut optimizer = Optimizer::new(model.parameters(), 1.0, None)?;
    let mut best = (0.0, 0.0);
    run_on(threads, || {
        for round in 0..ROUNDS {
            let (mut tokens, mut operations, mut seconds) = (0, 0.0, 0.0);
            for (step, indices) in batches.iter().enumerate().take(STEPS) {
                let start = Instant::now();
                let batch = Batch::new(examples, indices);
                let dropout = Dropout::new(rates, 1, step as u64);
                let loss = model.gradients(TrainingStep::new(&batch, 0.1, dropout), &mut gradients)?;
                optimizer.step(model.parameters(), &gradients, learning_rate)?;
                seconds += start.elapsed().as_secs_f64();
                tokens += loss.tokens;
                operations += useful_operations(model.architecture(), &batch);
            }
            // The first round allocates memory.
            if round > 0 && tokens as f64 / seconds > best.0 {
                best = (tokens as f64 / seconds, operations / seconds);
            }
        }
        Ok(best)
    })
}

/// Operations of a step's matrix products, without padding and elementwise work.
fn useful_operations(sizes: &Architecture, batch: &Batch) -> f64 {
    let [e, n, a, v] = [sizes.embedding_size, sizes.hidden_size, sizes.attention_size, sizes.target_vocabulary]
        .map(|size| size as f64);
    let h = n / 2.0;
    let source = 2.0 * 3.0 * h * (e + h) + a * n;
    let target = a * n + 3.0 * n * (e + n + n) + e * (n + e + n) + e * v;
    // A multiplication and an addition, one product forward and two backward.
    6.0 * (batch.source.tokens() as f64 * source + batch.target.tokens() as f64 * target)
}

fn search_rate(model: &RnnSearch, examples: &[Example], beam: usize, threads: usize) -> Result<f64> {
    let sources: Vec<Source> = examples.iter().map(|example| example.source.clone().into()).collect();
    let settings = BeamOptions { beam, ..BeamOptions::greedy() }.into();
    run_on(threads, || {
        let start = Instant::now();
        let found = search_all(&[model], &sources, &settings, &mut |_| {})?;
        let tokens: usize = found.iter().map(|hypotheses| hypotheses[0].tokens.len() + 1).sum();
        Ok(tokens as f64 / start.elapsed().as_secs_f64())
    })
}
