//! Data parallelism: several processes, here threads, train the model that one process would.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Barrier, Mutex};

use candle_core::{Device, Result, Tensor};
use softalign::communicator::Communicator;
use softalign::model::{
    Architecture, BatchLoss, DecoderKind, Dropout, DropoutRates, InitialState, RnnSearch, TrainingStep,
};
use softalign::parameters::{Gradients, Parameters};
use softalign::random::SeededRng;
use softalign::text::{Batch, BatchShare, Example, GuideWeight};
use softalign::{ModelConfig, Pair, RunConfig, RunLimits, TrainConfig, Trainer};

use crate::common::{self, PAIRS, TestDir};
use crate::lexicon::lexicon;

/// Memory of threads that communicate.
struct Group {
    size: usize,
    barrier: Barrier,
    values: Mutex<Vec<Vec<f32>>>,
    bytes: Mutex<Vec<u8>>,
}

struct Thread<'g> {
    rank: usize,
    group: &'g Group,
}

impl Group {
    fn new(size: usize) -> Self {
        let values = Mutex::new(vec![Vec::new(); size]);
        Self { size, barrier: Barrier::new(size), values, bytes: Mutex::default() }
    }

    /// Calls `work` in as many threads as the group has, and returns their results.
    fn run<R: Send>(&self, work: impl Fn(&Thread) -> R + Sync) -> Vec<R> {
        std::thread::scope(|scope| {
            let work = &work;
            let spawn = |rank| scope.spawn(move || work(&Thread { rank, group: self }));
            let threads: Vec<_> = (0..self.size).map(spawn).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        })
    }
}

impl Communicator for Thread<'_> {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.group.size
    }

    fn all_reduce(&self, tensor: &Tensor) -> Result<()> {
        let mut values = tensor.to_vec1::<f32>()?;
        self.group.values.lock().unwrap()[self.rank].clone_from(&values);
        self.group.barrier.wait();
        values.fill(0.0);
        for others in &*self.group.values.lock().unwrap() {
            assert_eq!(others.len(), values.len(), "the threads communicate different things");
            values.iter_mut().zip(others).for_each(|(sum, value)| *sum += value);
        }
        self.group.barrier.wait();
        tensor.slice_set(&Tensor::from_vec(values, tensor.shape(), tensor.device())?, 0, 0)
    }

    fn broadcast(&self, bytes: &mut Vec<u8>) -> Result<()> {
        if self.rank == 0 {
            self.group.bytes.lock().unwrap().clone_from(bytes);
        }
        self.group.barrier.wait();
        bytes.clone_from(&self.group.bytes.lock().unwrap());
        self.group.barrier.wait();
        Ok(())
    }
}

fn random_model(attention: &str) -> RnnSearch {
    let architecture = Architecture {
        source_vocabulary: 25,
        target_vocabulary: 26,
        embedding_size: 17,
        hidden_size: 22,
        attention_size: 9,
        layers: 2,
        tied_output: false,
        initial_state: InitialState::BackwardFirst,
        lexicon: true,
        decoder: DecoderKind::Conditional,
        attention: serde_json::from_str(attention).unwrap(),
    };
    let parameters = Parameters::initialize(&architecture.parameter_spec(), 1, &Device::Cpu).unwrap();
    let model = RnnSearch::new(architecture, parameters.with_grad().unwrap()).unwrap();
    model.with_lexicon(Some(Arc::new(lexicon([25, 26]))))
}

/// Sentences of different lengths, with alignment targets.
fn batch(size: usize) -> Batch {
    let mut rng = SeededRng::new(1, "batch", 0);
    let mut tokens = |length: usize| -> Vec<u32> { (0..length).map(|_| 4 + rng.below(20) as u32).collect() };
    let example = |index: usize| {
        let guide = vec![GuideWeight { target: 0, source: index as u32 % 3, weight: 0.5 }];
        Example { guide, ..Example::new(tokens(2 + index % 5), tokens(1 + index * 3 % 7)) }
    };
    let examples: Vec<Example> = (0..size).map(example).collect();
    Batch::new(&examples, &(0..size).collect::<Vec<_>>())
}

type GradientFn = fn(&RnnSearch, TrainingStep, &mut Gradients) -> Result<BatchLoss>;

const BACKENDS: [GradientFn; 2] = [RnnSearch::gradients, RnnSearch::reference_gradients];

#[test]
fn gradients_of_shares_add_up_to_that_of_the_batch() {
    let rates = DropoutRates { embeddings: 0.2, annotations: 0.2, states: 0.2, readout: 0.2 };
    let attentions = ["{}", r#"{"choice": "exact"}"#, r#"{"choice": "sampled"}"#];
    for (attention, backend) in attentions.iter().flat_map(|attention| BACKENDS.map(|backend| (attention, backend))) {
        let model = random_model(attention);
        let gradients = |batch: &Batch, share: BatchShare| -> (BatchLoss, BTreeMap<String, Vec<f32>>) {
            // Values of an earlier step must not remain.
            let mut gradients = Gradients::zeros(model.parameters()).unwrap();
            let step = TrainingStep::new(batch, 0.1, Dropout::new(rates, 1, 5));
            model.gradients(step, &mut gradients).unwrap();
            let loss = backend(&model, step.of_share(share), &mut gradients).unwrap();
            let values =
                |(name, tensor): (&String, &Tensor)| (name.clone(), tensor.flatten_all().unwrap().to_vec1().unwrap());
            (loss, gradients.iter().map(values).collect())
        };
        for (size, count) in [(11, 2), (11, 4), (3, 5), (1, 2)] {
            let batch = batch(size);
            let (whole, expected) = gradients(&batch, BatchShare::WHOLE);
            let (mut loss, mut sums) = (BatchLoss::default(), BTreeMap::new());
            for index in 0..count {
                let (part, gradients) = gradients(&batch, BatchShare { index, count });
                loss += part;
                for (name, values) in gradients {
                    let sum = sums.entry(name).or_insert_with(|| vec![0.0; values.len()]);
                    sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
                }
            }
            assert_eq!(loss.tokens, whole.tokens);
            for (sum, whole) in [(loss.smoothed, whole.smoothed), (loss.guidance, whole.guidance)] {
                assert!((sum - whole).abs() < 1e-4 * whole, "{attention} {size} / {count}: {sum} {whole}");
            }
            for (name, expected) in &expected {
                let largest = expected.iter().fold(1e-3f32, |largest, value| largest.max(value.abs()));
                let error = sums[name].iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
                assert!(error < 1e-5 * largest, "{attention} {size} / {count}, {name}: {error} of {largest}");
            }
        }
    }
}

fn pairs() -> Vec<Pair> {
    PAIRS.iter().cycle().take(30).map(|(source, target)| Pair::new(*source, *target)).collect()
}

fn config() -> TrainConfig {
    TrainConfig {
        model: ModelConfig { hidden_size: Some(16), embedding_size: Some(16), ..ModelConfig::default() },
        run: RunConfig { batch_sentences: Some(5), ..RunConfig::default() },
        limits: RunLimits { max_epochs: Some(3), ..RunLimits::default() },
    }
}

/// Trains in so many threads. Returns the steps and losses of all validations.
fn train(processes: usize, config: &TrainConfig, directory: &Path) -> Vec<(u64, f64)> {
    Group::new(processes).run(|thread| {
        let trainer = Trainer::new(config.clone()).communicator(thread);
        let translator = trainer.fit(&pairs(), directory).unwrap();
        assert!(translator.translate("").unwrap().text.is_empty());
    });
    validations(directory)
}

fn validations(directory: &Path) -> Vec<(u64, f64)> {
    let log = std::fs::read_to_string(directory.join("log.jsonl")).unwrap();
    let records = log.lines().map(common::json).filter(|record| record["event"] == "validation");
    records.map(|record| (record["step"].as_u64().unwrap(), record["loss"].as_f64().unwrap())).collect()
}

#[test]
fn processes_train_the_model_of_one() {
    let work = TestDir::new();
    let expected = train(1, &config(), &work.path("one"));
    assert_eq!(expected.len(), 3);
    for processes in [2, 3, 7] {
        let found = train(processes, &config(), &work.path(&format!("many-{processes}")));
        assert_eq!(found.len(), expected.len());
        for ((step, loss), (expected_step, expected)) in found.into_iter().zip(&expected) {
            assert!(
                step == *expected_step && (loss - expected).abs() < 1e-4 * expected,
                "{processes}: {loss} {expected}"
            );
        }
    }
}

#[test]
fn the_same_processes_train_the_same_model() {
    let work = TestDir::new();
    let model = |name: &str| {
        train(3, &config(), &work.path(name));
        std::fs::read(work.path(name).join("model.safetensors")).unwrap()
    };
    assert_eq!(model("first"), model("second"));
}

#[test]
fn processes_resume_the_training_of_others() {
    let work = TestDir::new();
    let directory = work.path("model");
    let limits = RunLimits { max_epochs: Some(1), ..RunLimits::default() };
    train(2, &TrainConfig { limits, ..config() }, &directory);
    let resume = |thread: &Thread| Trainer::new(config()).communicator(thread).resume(&pairs(), &directory).unwrap();
    Group::new(3).run(|thread| drop(resume(thread)));
    let expected = train(1, &config(), &work.path("one"));
    // The learning rate of the first epoch was that of a shorter training.
    assert_eq!(validations(&directory).len(), expected.len());
    assert_eq!(validations(&directory)[2].0, expected[2].0);
}

#[test]
fn time_limit_and_patience_end_all_processes() {
    let work = TestDir::new();
    let limits = RunLimits { max_minutes: Some(0.01), ..RunLimits::default() };
    assert!(!train(2, &TrainConfig { limits, ..config() }, &work.path("limited")).is_empty());
    let mut patient = config();
    patient.limits = RunLimits { patience: Some(1), max_epochs: Some(200), ..RunLimits::default() };
    patient.run.learning_rate = Some(1e-9);
    assert!(train(2, &patient, &work.path("patient")).len() < 200);
}

#[test]
fn processes_need_the_mpi_feature() {
    if cfg!(feature = "mpi") {
        return;
    }
    let work = TestDir::new();
    work.write("pairs.tsv", common::tsv(&PAIRS));
    let started = work.command(&["train", "pairs.tsv"]).env("OMPI_COMM_WORLD_SIZE", "4").output().unwrap();
    let message = String::from_utf8(started.stderr).unwrap();
    assert_eq!(started.status.code(), Some(2));
    assert!(message.contains("4 processes") && message.contains("--features mpi"), "{message}");
}
