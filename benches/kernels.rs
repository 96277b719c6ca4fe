//! Single kernels on one thread, at the sizes of docs/results/speed.md: `cargo bench --bench kernels`.
//! `SOFTALIGN_SIMD=avx2` leaves newer instructions out.

#![expect(missing_docs, reason = "criterion's macro defines an undocumented public function")]

use candle_core::{Device, Tensor};
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use softalign::attention::cpu::pooling::{AttentionBackward, AttentionForward, RaggedKeyValues};
use softalign::attention::{PoolingWeights, ScoreName};
use softalign::kernels::Backend;
use softalign::kernels::cpu::cross_entropy::cross_entropy_forward_backward;
use softalign::kernels::cpu::gru::{GruStep, gru_backward, gru_forward};
use softalign::kernels::matrix::{MatrixView, PackedMatrix, Precision, WriteMode, multiply_packed};
use softalign::kernels::reference::adam::{AdamState, AdamStep};
use softalign::kernels::simd::{limit_simd_by_environment, tanh, vectorized};
use softalign::random::SeededRng;

/// Rows of a batch shard, source length, state and attention size, and target vocabulary.
const ROWS: usize = 32;
const LENGTH: usize = 14;
const SIZE: usize = 512;
const VOCABULARY: usize = 7900;

fn numbers(count: usize) -> Vec<f32> {
    let mut rng = SeededRng::new(1, "bench", count as u64);
    (0..count).map(|_| rng.normal() as f32).collect()
}

/// Rates are multiply-adds per second.
fn products(criterion: &mut Criterion) {
    limit_simd_by_environment().expect("a level");
    let mut group = criterion.benchmark_group("product");
    for (name, rows, depth, columns) in [
        ("decoder step, forward", ROWS, SIZE, 4 * SIZE),
        ("decoder step, backward", ROWS, 4 * SIZE, SIZE),
        ("logits", 256, 256, VOCABULARY),
        ("1024 × 512 × 1536", 1024, 512, 1536),
    ] {
        let (a, b, mut out) = (numbers(rows * depth), numbers(depth * columns), numbers(rows * columns));
        group.throughput(Throughput::Elements((rows * depth * columns) as u64));
        for (precision, suffix) in [(Precision::F32, ""), (Precision::Bf16, ", bf16")] {
            let packed = PackedMatrix::new(MatrixView::new(&b, depth, columns), precision);
            group.bench_function(format!("{name}{suffix}"), |bencher| {
                bencher.iter(|| {
                    multiply_packed(&mut out, columns, MatrixView::new(&a, rows, depth), &packed, WriteMode::Overwrite)
                });
            });
        }
        let tensor = |values: &[f32], shape| Tensor::from_slice(values, shape, &Device::Cpu).unwrap();
        let (a, b) = (tensor(&a, (rows, depth)), tensor(&b, (depth, columns)));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        group.bench_function(format!("{name}, candle"), |bencher| {
            pool.install(|| bencher.iter(|| a.matmul(&b).unwrap()));
        });
    }
    group.finish();
}

fn packing(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("packing");
    let weight = numbers(VOCABULARY * 256);
    let matrix = MatrixView::new(&weight, VOCABULARY, 256);
    group.throughput(Throughput::Elements(weight.len() as u64));
    for (precision, suffix) in [(Precision::F32, ""), (Precision::Bf16, ", bf16")] {
        let mut packing = |order, matrix| {
            let pack = || PackedMatrix::new(matrix, precision);
            group.bench_function(format!("by {order}{suffix}"), |bencher| bencher.iter(pack));
        };
        packing("rows", matrix);
        packing("columns", matrix.t());
    }
    group.finish();
}

/// Rates are state elements per second.
fn gru(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("gru");
    group.throughput(Throughput::Elements((ROWS * SIZE) as u64));
    let (state_gates, bias, state) = (numbers(ROWS * 3 * SIZE), numbers(3 * SIZE), numbers(ROWS * SIZE));
    let (mut candidate, mut next) = (numbers(ROWS * SIZE), numbers(ROWS * SIZE));
    let gates = || numbers(ROWS * 3 * SIZE);
    group.bench_function("forward", |bencher| {
        let run = |mut gates: Vec<f32>| {
            let step = GruStep { gates: &mut gates, candidate: &mut candidate };
            gru_forward(step, &state_gates, &bias, &state, &mut next);
        };
        bencher.iter_batched(gates, run, BatchSize::SmallInput);
    });
    let (mut d_next, mut d_state_gates) = (numbers(ROWS * SIZE), gates());
    group.bench_function("backward", |bencher| {
        let run = |mut gates: Vec<f32>| {
            let step = GruStep { gates: &mut gates, candidate: &mut candidate };
            gru_backward(step, &state, &mut d_next, &mut d_state_gates, SIZE);
        };
        bencher.iter_batched(gates, run, BatchSize::SmallInput);
    });
    group.finish();
}

/// A step of attention without projections. Rates are key elements per second.
fn attention(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("attention");
    group.throughput(Throughput::Elements((ROWS * LENGTH * SIZE) as u64));
    let (keys, annotations, parameter) = (numbers(ROWS * LENGTH * SIZE), numbers(ROWS * LENGTH * SIZE), numbers(SIZE));
    let starts: Vec<usize> = (0..=ROWS).map(|row| row * LENGTH).collect();
    let (queries, mut alphas, mut pooled) = (numbers(ROWS * SIZE), numbers(ROWS * LENGTH), numbers(ROWS * SIZE));
    let (mut d_keys, mut d_param, mut d_queries) = (numbers(keys.len()), numbers(SIZE), numbers(ROWS * SIZE));
    let mut d_energies = numbers(ROWS * LENGTH);
    let key_values = RaggedKeyValues {
        keys: &keys,
        values: &annotations,
        sizes: [SIZE, SIZE],
        heads: 1,
        starts: &starts,
        longest: LENGTH,
        inverse_temperature: 1.0,
    };
    for score in [ScoreName::Additive, ScoreName::Dot, ScoreName::Cosine, ScoreName::Mean] {
        group.bench_function(format!("forward, {score:?}"), |bencher| {
            bencher.iter(|| {
                let (alphas, pooled) = (&mut alphas, &mut pooled);
                let (pooling_weights, selected, rows) = (PoolingWeights::Soft, &mut [][..], 0..ROWS);
                score.attention_forward(
                    &parameter,
                    AttentionForward { key_values, rows, queries: &queries, pooling_weights, alphas, selected, pooled },
                );
            });
        });
        group.bench_function(format!("backward, {score:?}"), |bencher| {
            bencher.iter(|| {
                let (d_queries, d_keys, d_param) = (&mut d_queries, &mut d_keys, &mut d_param);
                let (alphas, d_pooled, d_energies) = (&alphas, &annotations[..ROWS * SIZE], &mut d_energies);
                let queries = &queries;
                let pass =
                    AttentionBackward { key_values, queries, alphas, d_pooled, d_energies, d_queries, d_keys, d_param };
                score.attention_backward(&parameter, pass);
            });
        });
    }
    group.finish();
}

/// Rates are elements per second.
fn elementwise(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("elementwise");
    let mut values = numbers(1 << 16);
    group.throughput(Throughput::Elements(values.len() as u64));
    group.bench_function("tanh", |bencher| {
        bencher.iter(|| {
            vectorized(
                #[inline(always)]
                || values.iter_mut().for_each(|value| *value = tanh(*value)),
            );
        });
    });
    let targets = vec![7; ROWS];
    group.throughput(Throughput::Elements((ROWS * VOCABULARY) as u64));
    group.bench_function("cross-entropy, forward and backward", |bencher| {
        let run = |mut logits: Vec<f32>| cross_entropy_forward_backward(&mut logits, &targets, 0.1, 0.01);
        bencher.iter_batched(|| numbers(ROWS * VOCABULARY), run, BatchSize::LargeInput);
    });
    let tensor = || Tensor::from_vec(numbers(1 << 20), 1 << 20, &Device::Cpu).unwrap();
    let (parameter, gradient) = (tensor(), tensor());
    let mut moments = AdamState::zeros(&parameter).unwrap();
    let mut step = 0;
    group.throughput(Throughput::Elements(1 << 20));
    group.bench_function("Adam step, all threads", |bencher| {
        bencher.iter(|| {
            step += 1;
            let step = AdamStep { number: step, rate: 1e-4, scale: 1.0 };
            Backend::Cpu.adam_step(&mut moments, &parameter, &gradient, step).unwrap();
        });
    });
    group.finish();
}

criterion_group!(benches, products, packing, gru, attention, elementwise);
criterion_main!(benches);
