//! Training killed at random moments, even while it writes files, and resumed until it completes leaves the same files as an
//! uninterrupted run.
//!
//! `KILLS=30 cargo test --release --test training crash_recovery` kills more often than the default.
#![cfg(unix)]

use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use crate::common::{PAIRS, TestDir, tsv};
use serde_json::Value;
use softalign::random::SeededRng;

/// Default number of kills per run.
const KILLS: u64 = 3;
/// Saves every step and validates often, so that kills hit writes.
const FREQUENT_WRITES: [&str; 10] = [
    "--validate-every",
    "7",
    "--save-every",
    "0.00001",
    "--preset",
    "tiny",
    "--batch-sentences",
    "2",
    "--max-epochs",
    "12",
];
/// Options of each run.
const RUNS: [&[&str]; 6] = [
    &["--tokenization=word", "--guided-alignment=0.3", "--dropout=0.3", "--keep-best=2", "--metric=perplexity"],
    &[
        "--guided-alignment=0.1",
        "--tokenization=bpe",
        "--vocabulary-size=40",
        "--bpe-dropout=0.3",
        "--concat-pairs=0.5",
        "--keep-last=2",
    ],
    &[
        "--tokenization=word",
        "--schedule=plateau",
        "--patience=3",
        "--learning-rate=0.01",
        "--dropout=0.2",
        "--keep-best=3",
    ],
    &["--tokenization=word", "--attention=scaled-dot", "--heads=4", "--hard-attention", "--keep-attention"],
    &["--tokenization=word", "--attention=cosine", "--decoder=bahdanau", "--layers=2"],
    &["--attention=mean", "--tokenization=char"],
];

fn kills() -> u64 {
    std::env::var("KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(KILLS)
}

fn command(dir: &TestDir, arguments: &[&str]) -> Command {
    let mut command = dir.command(&[arguments, &["--quiet"]].concat());
    command.stdout(std::process::Stdio::null());
    command
}

/// Validations of the log without times.
fn log(dir: &TestDir) -> Vec<Value> {
    let mut lines: Vec<Value> =
        dir.text("out/log.jsonl").lines().map(|line| serde_json::from_str(line).expect("whole lines")).collect();
    // Progress events sum over the steps of one process, so they differ.
    lines.retain(|line| line["event"] == "validation");
    for line in &mut lines {
        line.as_object_mut().unwrap().remove("seconds");
    }
    lines
}

#[test]
fn killed_and_resumed_runs_equal_uninterrupted_ones() {
    std::thread::scope(|scope| {
        for (number, options) in (0..).zip(RUNS) {
            scope.spawn(move || assert_kills_change_nothing(number, options));
        }
    });
}

fn assert_kills_change_nothing(number: u64, options: &[&str]) {
    let train = [&["train", "--train", "pairs.tsv", "--out", "out"], &FREQUENT_WRITES[..], options].concat();
    let dir = |name: &str| {
        let dir = TestDir::lasting(&format!("{name}-{number}"));
        dir.write("pairs.tsv", tsv(&PAIRS).repeat(2));
        dir
    };
    let (whole, killed) = (dir("whole"), dir("killed"));
    let start = std::time::Instant::now();
    assert!(command(&whole, &train).status().unwrap().success(), "{options:?}");
    let duration = start.elapsed();

    let mut rng = SeededRng::new(number, "kills", 0);
    let mut arguments = train.clone();
    for _ in 0..kills() {
        let mut child = command(&killed, &arguments).spawn().unwrap();
        sleep(Duration::from_secs_f64(duration.as_secs_f64() * rng.uniform() / kills() as f64 * 1.5));
        // It may have finished by now.
        let _ = child.kill();
        let _ = child.wait();
        if killed.path("out/resume.safetensors").exists() {
            arguments = vec!["train", "--out", "out", "--resume", "--save-every", "0.00001"];
        }
    }
    killed.run(&[&arguments[..], &["--quiet"]].concat()).worked();
    let reproducible = |name: &&String| {
        name.starts_with("out/kept/")
            || ["model.safetensors", "config.json", "attention.html"].iter().any(|end| name.ends_with(end))
    };
    let kept = options.iter().any(|option| option.starts_with("--keep-best=") || option.starts_with("--keep-last="));
    assert_eq!(whole.path("out/kept").exists(), kept);
    for name in whole.contents().keys().filter(reproducible).filter(|name| !name.ends_with('/')) {
        assert!(killed.path(name).exists(), "{options:?}: {name} is missing");
        assert!(whole.read(name) == killed.read(name), "{options:?}: {name}");
    }
    assert_eq!(log(&whole), log(&killed), "{options:?}");
    let names = |dir: &TestDir| dir.contents().into_keys().collect::<Vec<_>>();
    assert_eq!(names(&whole), names(&killed), "{options:?}: different files");
}
