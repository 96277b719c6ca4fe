//! Event files of a training, beside its log. `scripts/check_tensorboard.py` has TensorBoard itself read them.

mod common;

use common::ModelDir;

const FILES: [&str; 2] = ["out/events.out.tfevents.000001.softalign", "out/events.out.tfevents.000002.softalign"];

/// How many records a file has; each must be whole.
fn records(file: &[u8]) -> usize {
    let (mut place, mut records) = (0, 0);
    while place < file.len() {
        let length = u64::from_le_bytes(file[place..place + 8].try_into().unwrap()) as usize;
        place += 8 + 4 + length + 4;
        records += 1;
    }
    assert_eq!(place, file.len(), "the last record is cut short");
    records
}

#[test]
fn each_run_writes_what_it_logs() {
    let folder = ModelDir::with_pairs();
    folder.train("out", &["--max-epochs", "5", "--tensorboard"]).worked();
    let lines = || folder.text("out/log.jsonl").lines().count();
    let (first, logged) = (folder.read(FILES[0]), lines());
    assert!(records(&first) == 2 + logged && logged == 6, "{logged} reports");
    let times = |text: &str| first.windows(text.len()).filter(|window| *window == text.as_bytes()).count();
    assert_eq!((times("brain.Event:2"), times("training/loss"), times("validation/bleu")), (1, 1, 5));
    assert_eq!((times("attention/end"), times("training/step"), times("training/learning_rate")), (5, 0, 1));
    folder.run(&["train", "--out", "out", "--resume", "--max-epochs", "6", "-q"]).worked();
    assert!(folder.read(FILES[0]) == first, "a run that goes on has a file of its own");
    assert_eq!(records(&folder.read(FILES[1])), 2 + lines() - logged);
    let inspected = folder.run(&["inspect", "out"]);
    assert!(inspected.worked().contains("file            events.out.tfevents.000001.softalign"));
    let resume = ["train", "--out", "out", "--resume", "--tensorboard"];
    folder.run(&resume).refused_with(2, &["--tensorboard cannot change"]);
    folder.train("plain", &["--max-epochs", "5"]).worked();
    assert!(!folder.contents().keys().any(|name| name.contains("plain/events")));
}

#[test]
fn they_are_moved_and_cleared_away_with_their_model() {
    let folder = ModelDir::with_pairs();
    let train = ["train", "--train", "pairs.tsv", "--tensorboard", "--max-epochs", "1", "--preset", "tiny", "-q"];
    folder.run(&train).worked();
    let moved = folder.read("checkpoints/events.out.tfevents.000001.softalign");
    folder.write("checkpoints/events.out.tfevents.1700000000.host", "another program's");
    folder.run(&train).worked();
    assert!(folder.read("checkpoints/previous/events.out.tfevents.000001.softalign") == moved);
    let events: Vec<String> =
        folder.contents().into_keys().filter(|name| name.starts_with("checkpoints/events")).collect();
    let expected = ["000001.softalign", "1700000000.host"].map(|end| format!("checkpoints/events.out.tfevents.{end}"));
    assert_eq!(events, expected);
}

#[test]
fn a_file_that_cannot_be_begun_is_a_failure_before_training() {
    let folder = ModelDir::with_pairs();
    folder.train("out", &["--max-epochs", "1", "--tensorboard"]).worked();
    let last = format!("out/events.out.tfevents.{}.softalign", u64::MAX);
    folder.write(&last, "there is no number after this one");
    let go_on = ["train", "--out", "out", "--resume", "--max-epochs", "2", "-q"];
    folder.run(&go_on).refused_with(1, &[&last, "cannot write this file"]);
    std::fs::remove_file(folder.path(&last)).unwrap();
    folder.run(&go_on).worked();
}
