//! The kernels one by one, on one thread, at the sizes of the README's comparison: `cargo bench --bench kernels`.

#![expect(missing_docs, reason = "criterion's macro makes a public function without any")]

use candle_core::{Device, Tensor};
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use softalign::attention::ScoreName;
use softalign::attention::pooling::{AttentionStep, AttentionStepBack, Chosen, Sentences};
use softalign::kernels::adam::{AdamStep, Moments};
use softalign::kernels::cross_entropy::fused::forward_backward;
use softalign::kernels::gru::fused::{Step, backward, forward};
use softalign::kernels::matrix::{Matrix, Packed, Store, multiply_packed};
use softalign::kernels::simd::{tanh, vectorised};
use softalign::random::SeededRng;

/// Rows of a part of a batch, source length, sizes of state and attention, target vocabulary.
const ROWS: usize = 32;
const LENGTH: usize = 14;
const SIZE: usize = 512;
const VOCABULARY: usize = 7900;

fn numbers(count: usize) -> Vec<f32> {
    let mut stream = SeededRng::new(1, "bench", count as u64);
    (0..count).map(|_| stream.normal() as f32).collect()
}

/// Rates are multiply-adds a second.
fn products(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("product");
    for (name, rows, depth, columns) in [
        ("a step of the decoder", ROWS, SIZE, 4 * SIZE),
        ("a step back", ROWS, 4 * SIZE, SIZE),
        ("logits", 256, 256, VOCABULARY),
        ("1024 × 512 × 1536", 1024, 512, 1536),
    ] {
        let (a, b, mut out) = (numbers(rows * depth), numbers(depth * columns), numbers(rows * columns));
        let packed = Packed::new(Matrix::new(&b, depth, columns));
        group.throughput(Throughput::Elements((rows * depth * columns) as u64));
        group.bench_function(name, |bencher| {
            bencher.iter(|| multiply_packed(&mut out, columns, Matrix::new(&a, rows, depth), &packed, Store::Replace));
        });
        let tensor = |values: &[f32], shape| Tensor::from_slice(values, shape, &Device::Cpu).unwrap();
        let (a, b) = (tensor(&a, (rows, depth)), tensor(&b, (depth, columns)));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        group.bench_function(format!("{name}, by candle"), |bencher| {
            pool.install(|| bencher.iter(|| a.matmul(&b).unwrap()));
        });
    }
    group.finish();
}

fn packing(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("packing");
    let weight = numbers(VOCABULARY * 256);
    let matrix = Matrix::new(&weight, VOCABULARY, 256);
    group.throughput(Throughput::Elements(weight.len() as u64));
    group.bench_function("by rows", |bencher| bencher.iter(|| Packed::new(matrix)));
    group.bench_function("by columns", |bencher| bencher.iter(|| Packed::new(matrix.t())));
    group.finish();
}

/// Rates are numbers of the state a second.
fn gru(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("gru");
    group.throughput(Throughput::Elements((ROWS * SIZE) as u64));
    let (state_gates, bias, state) = (numbers(ROWS * 3 * SIZE), numbers(3 * SIZE), numbers(ROWS * SIZE));
    let (mut candidate, mut next) = (numbers(ROWS * SIZE), numbers(ROWS * SIZE));
    let gates = || numbers(ROWS * 3 * SIZE);
    group.bench_function("forward", |bencher| {
        let run = |mut gates: Vec<f32>| {
            let step = Step { gates: &mut gates, candidate: &mut candidate };
            forward(step, &state_gates, &bias, &state, &mut next);
        };
        bencher.iter_batched(gates, run, BatchSize::SmallInput);
    });
    let (mut d_next, mut d_state_gates) = (numbers(ROWS * SIZE), gates());
    group.bench_function("backward", |bencher| {
        let run = |mut gates: Vec<f32>| {
            let step = Step { gates: &mut gates, candidate: &mut candidate };
            backward(step, &state, &mut d_next, &mut d_state_gates, SIZE);
        };
        bencher.iter_batched(gates, run, BatchSize::SmallInput);
    });
    group.finish();
}

/// A step of attention in every score, without projections. Rates are numbers of all keys a second.
fn attention(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("attention");
    group.throughput(Throughput::Elements((ROWS * LENGTH * SIZE) as u64));
    let (keys, annotations, own) = (numbers(ROWS * LENGTH * SIZE), numbers(ROWS * LENGTH * SIZE), numbers(SIZE));
    let starts: Vec<usize> = (0..=ROWS).map(|row| row * LENGTH).collect();
    let (queries, mut alphas, mut pooled) = (numbers(ROWS * SIZE), numbers(ROWS * LENGTH), numbers(ROWS * SIZE));
    let (mut d_keys, mut d_own, mut d_queries) = (numbers(keys.len()), numbers(SIZE), numbers(ROWS * SIZE));
    let mut d_energies = numbers(ROWS * LENGTH);
    let sentences = Sentences {
        keys: &keys,
        values: &annotations,
        sizes: [SIZE, SIZE],
        heads: 1,
        starts: &starts,
        longest: LENGTH,
        sharpness: 1.0,
    };
    for score in [ScoreName::Additive, ScoreName::Dot, ScoreName::Cosine, ScoreName::Mean] {
        group.bench_function(format!("forward, {score:?}"), |bencher| {
            bencher.iter(|| {
                let (alphas, pooled) = (&mut alphas, &mut pooled);
                let (chosen, choices, rows) = (Chosen::Soft, &mut [][..], 0..ROWS);
                score.attend(
                    &own,
                    AttentionStep { sentences, rows, queries: &queries, chosen, alphas, choices, pooled },
                );
            });
        });
        group.bench_function(format!("backward, {score:?}"), |bencher| {
            bencher.iter(|| {
                let (d_queries, d_keys, d_own) = (&mut d_queries, &mut d_keys, &mut d_own);
                let (alphas, d_pooled, d_energies) = (&alphas, &annotations[..ROWS * SIZE], &mut d_energies);
                let queries = &queries;
                let back =
                    AttentionStepBack { sentences, queries, alphas, d_pooled, d_energies, d_queries, d_keys, d_own };
                score.attend_back(&own, back);
            });
        });
    }
    group.finish();
}

/// Rates are numbers a second.
fn elementwise(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("elementwise");
    let mut values = numbers(1 << 16);
    group.throughput(Throughput::Elements(values.len() as u64));
    group.bench_function("tanh", |bencher| {
        bencher.iter(|| {
            vectorised(
                #[inline(always)]
                || values.iter_mut().for_each(|value| *value = tanh(*value)),
            );
        });
    });
    let targets = vec![7; ROWS];
    group.throughput(Throughput::Elements((ROWS * VOCABULARY) as u64));
    group.bench_function("cross-entropy and its derivative", |bencher| {
        let run = |mut logits: Vec<f32>| forward_backward(&mut logits, &targets, 0.1, 0.01);
        bencher.iter_batched(|| numbers(ROWS * VOCABULARY), run, BatchSize::LargeInput);
    });
    let tensor = || Tensor::from_vec(numbers(1 << 20), 1 << 20, &Device::Cpu).unwrap();
    let (parameter, gradient) = (tensor(), tensor());
    let mut moments = Moments::zeros(&parameter).unwrap();
    let mut step = 0;
    group.throughput(Throughput::Elements(1 << 20));
    group.bench_function("a step of Adam, all threads", |bencher| {
        bencher.iter(|| {
            step += 1;
            moments.step(&parameter, &gradient, AdamStep { number: step, rate: 1e-4, scale: 1.0 }).unwrap();
        });
    });
    group.finish();
}

criterion_group!(benches, products, packing, gru, attention, elementwise);
criterion_main!(benches);
