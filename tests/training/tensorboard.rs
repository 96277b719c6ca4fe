//! TensorBoard event files of a training. `scripts/check_tensorboard.py` reads them with TensorBoard itself.

use crate::common::TestDir;

const FILES: [&str; 2] = ["out/events.out.tfevents.000001.softalign", "out/events.out.tfevents.000002.softalign"];

/// Returns the number of records of an event file; each must be complete.
fn records(file: &[u8]) -> usize {
    let (mut offset, mut records) = (0, 0);
    while offset < file.len() {
        let length = u64::from_le_bytes(file[offset..offset + 8].try_into().unwrap()) as usize;
        offset += 8 + 4 + length + 4;
        records += 1;
    }
    assert_eq!(offset, file.len(), "the last record is truncated");
    records
}

#[test]
fn writes_tensorboard_events_per_run() {
    let dir = TestDir::with_pairs();
    dir.train("out", &["--max-epochs", "5", "--tensorboard"]).worked();
    let lines = || dir.text("out/log.jsonl").lines().count();
    let (first, logged) = (dir.read(FILES[0]), lines());
    assert!(records(&first) == 2 + logged && logged == 6, "{logged} reports");
    let times = |text: &str| first.windows(text.len()).filter(|window| *window == text.as_bytes()).count();
    assert_eq!((times("brain.Event:2"), times("training/loss"), times("validation/bleu")), (1, 1, 5));
    assert_eq!((times("attention/end"), times("training/step"), times("training/learning_rate")), (5, 0, 1));
    dir.run(&["train", "--out", "out", "--resume", "--max-epochs", "6", "-q"]).worked();
    assert!(dir.read(FILES[0]) == first, "a resumed run writes a new file");
    assert_eq!(records(&dir.read(FILES[1])), 2 + lines() - logged);
    let inspected = dir.run(&["inspect", "out"]);
    assert!(inspected.worked().contains("file            events.out.tfevents.000001.softalign"));
    dir.train("plain", &["--max-epochs", "5"]).worked();
    let resume = ["train", "--out", "plain", "--resume", "--tensorboard"];
    dir.run(&resume).refused_with(2, &["--tensorboard cannot change"]);
    assert!(!dir.contents().keys().any(|name| name.contains("plain/events")));
}

#[test]
fn archives_and_removes_events_with_their_model() {
    let dir = TestDir::with_pairs();
    let train = ["train", "--train", "pairs.tsv", "--tensorboard", "--max-epochs", "1", "--preset", "tiny", "-q"];
    dir.run(&train).worked();
    let archived = dir.read("checkpoints/events.out.tfevents.000001.softalign");
    dir.write("checkpoints/events.out.tfevents.1700000000.host", "another program's");
    dir.run(&train).worked();
    assert!(dir.read("checkpoints/previous/events.out.tfevents.000001.softalign") == archived);
    let events: Vec<String> =
        dir.contents().into_keys().filter(|name| name.starts_with("checkpoints/events")).collect();
    let expected = ["000001.softalign", "1700000000.host"].map(|end| format!("checkpoints/events.out.tfevents.{end}"));
    assert_eq!(events, expected);
}

#[test]
fn unwritable_events_fail_before_training() {
    let dir = TestDir::with_pairs();
    dir.train("out", &["--max-epochs", "1", "--tensorboard"]).worked();
    let last = format!("out/events.out.tfevents.{}.softalign", u64::MAX);
    dir.write(&last, "there is no number after this one");
    let resume = ["train", "--out", "out", "--resume", "--max-epochs", "2", "-q"];
    dir.run(&resume).refused_with(1, &[&last, "cannot write this file"]);
    std::fs::remove_file(dir.path(&last)).unwrap();
    dir.run(&resume).worked();
}
