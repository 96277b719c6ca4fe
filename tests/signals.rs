//! What signals do to a training.
#![cfg(unix)]

mod common;

use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Once};
use std::time::{Duration, Instant};

use common::{TestDir, json};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag::register_conditional_shutdown;

/// How long anything here may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A training without end, which validates often.
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

/// Starts a program for which no signal is ignored, though `nohup` or a shell's background have it so for the tests: what is
/// handled here comes as by default to those who are started from here.
fn start(mut program: Command) -> Child {
    static HANDLED: Once = Once::new();
    HANDLED.call_once(|| {
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            register_conditional_shutdown(signal, 128 + signal, Arc::new(AtomicBool::new(true))).unwrap();
        }
    });
    program.spawn().unwrap()
}

fn send(signal: &str, child: &Child) {
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
}

/// Waits for its end, which must come.
#[track_caller]
fn end(mut child: Child) -> ExitStatus {
    let began = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if began.elapsed() > PATIENCE {
            let _ = child.kill();
            panic!("it goes on");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Sends a signal when the training has said something, and gives its exit code.
#[track_caller]
fn code_after(training: Command, signal: &str, said: &str) -> Option<i32> {
    let mut child = start(training);
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let (mut seen, began) = (String::new(), Instant::now());
    while !seen.contains(said) && began.elapsed() < PATIENCE {
        assert!(stderr.read_line(&mut seen).unwrap() > 0, "ended early: {seen}");
    }
    send(signal, &child);
    std::thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
    end(child).code()
}

#[test]
fn every_signal_saves_a_resumable_model() {
    for (signal, code) in [("-INT", 130), ("-TERM", 143), ("-HUP", 129)] {
        let dir = TestDir::with_pairs();
        let found = code_after(dir.command(&ENDLESS), signal, "validation:");
        assert_eq!(found, Some(code), "{signal}");
        dir.run(&["inspect", "out"]).worked();
        let log = dir.text("out/log.jsonl");
        let last = json(log.lines().last().unwrap());
        let more = (last["epoch"].as_u64().unwrap() + 1).to_string();
        dir.run(&["train", "--out", "out", "--resume", "--quiet", "--max-epochs", &more]).worked();
    }
}

/// What is there stays until there is something to put in its place.
#[test]
fn stopping_during_preparation_changes_nothing() {
    let dir = TestDir::with_pairs();
    let many: String = (0..4000).map(|number| format!("the fox {number}\tku {number}\n")).collect();
    dir.write("pairs.tsv", many + "the fox 1\tku 1\n");
    let first =
        ["train", "--train", "pairs.tsv", "--out", "checkpoints", "--preset", "tiny", "--max-epochs", "1", "-q"];
    dir.run(&first).worked();
    let before = dir.contents();
    // Sizes are tried for the time given, which takes a moment.
    let training = dir.command(&["train", "--train", "pairs.tsv", "--max-minutes", "600"]);
    let code = code_after(training, "-INT", "repeat another one's source");
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
fn names_the_training_that_has_not_written_a_model_yet() {
    let dir = TestDir::with_pairs();
    let first =
        ["train", "--train", "pairs.tsv", "--out", "checkpoints", "--preset", "tiny", "--max-epochs", "1", "-q"];
    dir.run(&first).worked();
    // A plain training of the shipped pairs moves the model to previous/.
    std::fs::create_dir(dir.path("data")).unwrap();
    std::fs::copy(dir.path("pairs.tsv"), dir.path("data/train.tsv")).unwrap();
    std::fs::copy(dir.path("pairs.tsv"), dir.path("data/validation.tsv")).unwrap();
    let options = ["train", "--preset", "tiny", "--max-epochs", "1000000", "--patience", "1000000"];
    let training = [&options[..], &["--validate-every", "1000000000"]].concat();
    let mut child = start(dir.command(&training));
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let (mut seen, began) = (String::new(), Instant::now());
    while !seen.contains("attention is") && began.elapsed() < PATIENCE {
        assert!(stderr.read_line(&mut seen).unwrap() > 0, "ended early: {seen}");
    }
    std::thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
    let process = format!("process {}", child.id());
    let refused = dir.run(&["translate", "the red fox"]);
    send("-KILL", &child);
    end(child);
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
    assert_eq!(code_after(training, "-HUP", "attention is"), Some(0), "a hangup ended it");
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
            assert!(began.elapsed() < PATIENCE);
            std::thread::sleep(Duration::from_millis(5));
        }
        send(signal, &child);
        assert_eq!(end(child).signal(), Some(number));
        assert!(!unfinished(), "{signal} leaves a file");
        assert_eq!(dir.text("out.txt"), "what was there\n");
    }
}
