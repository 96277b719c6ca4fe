//! Effects of signals on training and translation.
#![cfg(unix)]

use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Once};
use std::time::{Duration, Instant};

use crate::common::{TestDir, json};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag::register_conditional_shutdown;

/// Limit of any wait.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Training that never ends and validates often.
const ENDLESS: [&str; 14] = [
    "train",
    "--train",
    "pairs.tsv",
    "--out",
    "out",
    "--preset",
    "tiny",
    "--patience",
    "1000000",
    "--max-epochs",
    "1000000",
    "--validate-every",
    "3",
    "--learning-rate=1e-9",
];

/// Starts a program with default signal handling, even if the tests run under `nohup` or in a shell's background: signals
/// with a handler here are reset to the default in children.
fn start(mut program: Command) -> Child {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(|| {
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            register_conditional_shutdown(signal, 128 + signal, Arc::new(AtomicBool::new(true))).unwrap();
        }
    });
    program.spawn().unwrap()
}

fn send(signal: &str, child: &Child) {
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
}

/// Waits until the process exits; panics after [`TIMEOUT`].
#[track_caller]
fn wait(mut child: Child) -> ExitStatus {
    let began = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if began.elapsed() > TIMEOUT {
            let _ = child.kill();
            panic!("the process is still running");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Sends a signal once standard error contains `marker`, and returns the exit code.
#[track_caller]
fn code_after(training: Command, signal: &str, marker: &str) -> Option<i32> {
    let mut child = start(training);
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let (mut seen, began) = (String::new(), Instant::now());
    while !seen.contains(marker) && began.elapsed() < TIMEOUT {
        assert!(stderr.read_line(&mut seen).unwrap() > 0, "ended early: {seen}");
    }
    send(signal, &child);
    std::thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
    wait(child).code()
}

#[test]
fn every_signal_saves_a_resumable_model() {
    for (signal, code) in [("-INT", 130), ("-TERM", 143), ("-HUP", 129)] {
        let dir = TestDir::with_pairs();
        let found = code_after(dir.command(&ENDLESS), signal, "  perplexity ");
        assert_eq!(found, Some(code), "{signal}");
        dir.run(&["inspect", "out"]).worked();
        let log = dir.text("out/log.jsonl");
        let last = json(log.lines().last().unwrap());
        let more = (last["epoch"].as_u64().unwrap() + 1).to_string();
        dir.run(&["train", "--out", "out", "--resume", "--quiet", "--max-epochs", &more]).worked();
    }
}

#[test]
fn stopping_during_preparation_changes_nothing() {
    let dir = TestDir::with_pairs();
    let many: String = (0..4000).map(|number| format!("the fox {number}\tku {number}\n")).collect();
    dir.write("pairs.tsv", many + "the fox 1\tku 1\n");
    let first =
        ["train", "--train", "pairs.tsv", "--out", "checkpoints", "--preset", "tiny", "--max-epochs", "1", "-q"];
    dir.run(&first).worked();
    let before = dir.contents();
    // With --max-minutes, preparation measures speed to choose model sizes, which takes a moment.
    let training = dir.command(&["train", "--train", "pairs.tsv", "--max-minutes", "600"]);
    let code = code_after(training, "-INT", "repeat another source");
    assert!(code == Some(130) && dir.contents() == before, "{code:?}");
}

#[test]
fn stopped_before_first_validation_can_resume() {
    let dir = TestDir::with_pairs();
    let rare = [&ENDLESS[..12], &["1000000000"]].concat();
    assert_eq!(code_after(dir.command(&rare), "-TERM", "attention is"), Some(143));
    dir.run(&["train", "--out", "out", "--resume", "--quiet", "--max-minutes", "0.001"]).worked();
}

#[test]
fn loading_reports_a_training_without_a_model_yet() {
    let dir = TestDir::with_pairs();
    let first =
        ["train", "--train", "pairs.tsv", "--out", "checkpoints", "--preset", "tiny", "--max-epochs", "1", "-q"];
    dir.run(&first).worked();
    // Training with default arguments archives the model as previous/.
    std::fs::create_dir(dir.path("data")).unwrap();
    std::fs::copy(dir.path("pairs.tsv"), dir.path("data/train.tsv")).unwrap();
    std::fs::copy(dir.path("pairs.tsv"), dir.path("data/validation.tsv")).unwrap();
    let options = ["train", "--preset", "tiny", "--max-epochs", "1000000", "--patience", "1000000"];
    let training = [&options[..], &["--validate-every", "1000000000"]].concat();
    let mut child = start(dir.command(&training));
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let (mut seen, began) = (String::new(), Instant::now());
    while !seen.contains("attention is") && began.elapsed() < TIMEOUT {
        assert!(stderr.read_line(&mut seen).unwrap() > 0, "ended early: {seen}");
    }
    std::thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
    let process = format!("process {}", child.id());
    let refused = dir.run(&["translate", "the red fox"]);
    send("-KILL", &child);
    wait(child);
    refused.refused_with(1, &["checkpoints: ", &process, "training here", "previous model is in checkpoints/previous"]);
    dir.run(&["translate", "the red fox"]).refused_with(1, &["model.safetensors", "cannot read"]);
}

#[test]
fn ignored_signals_stay_ignored() {
    let dir = TestDir::with_pairs();
    let mut training = Command::new("sh");
    let ignoring = "trap '' HUP; exec \"$0\" \"$@\"";
    training.args(["-c", ignoring, env!("CARGO_BIN_EXE_softalign")]).args(&ENDLESS[..10]);
    training.args(["200", "--validate-every", "100"]).current_dir(dir.path(""));
    training.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::piped());
    assert_eq!(code_after(training, "-HUP", "attention is"), Some(0), "SIGHUP ended the training");
}

#[test]
fn interrupted_results_leave_no_files() {
    let dir = TestDir::with_model();
    dir.write("endless.txt", "the red fox sleeps\n".repeat(200_000));
    dir.write("out.txt", "what was there\n");
    for (signal, number) in [("-INT", SIGINT), ("-TERM", SIGTERM), ("-HUP", SIGHUP)] {
        let arguments = ["translate", "--model", "model", "--input", "endless.txt", "--output", "out.txt"];
        let child = start(dir.command(&arguments));
        let unfinished = || dir.contents().keys().any(|name| name.ends_with(".tmp"));
        let began = Instant::now();
        while !unfinished() {
            assert!(began.elapsed() < TIMEOUT);
            std::thread::sleep(Duration::from_millis(5));
        }
        send(signal, &child);
        assert_eq!(wait(child).signal(), Some(number));
        assert!(!unfinished(), "{signal} leaves a file");
        assert_eq!(dir.text("out.txt"), "what was there\n");
    }
}
