//! Samples, curves and recorded attention of a training.

use crate::common::{QUICK, TestDir, json};
use serde_json::Value;

const BRIEF: [&str; 5] = ["--validate-every", "6", "--max-epochs", "2", "--keep-attention"];

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(json).collect()
}

#[test]
fn records_attention_at_each_validation() {
    let dir = TestDir::with_pairs();
    dir.train("out", &BRIEF).worked();
    let recorded = lines(&dir.text("out/attention.jsonl"));
    assert_eq!(recorded.iter().map(|line| line["step"].as_u64().unwrap()).collect::<Vec<_>>(), [6, 12, 18, 24]);
    let words = |line: &Value| -> Vec<[Value; 2]> {
        line["pairs"].as_array().unwrap().iter().map(|pair| [pair["source"].clone(), pair["target"].clone()]).collect()
    };
    for line in &recorded {
        assert_eq!((words(line).len(), words(line)), (5, words(&recorded[0])), "the same pairs each time");
        for row in line["pairs"].as_array().unwrap().iter().flat_map(|pair| pair["weights"].as_array().unwrap()) {
            let sum: u64 = row.as_array().unwrap().iter().map(|weight| weight.as_u64().unwrap()).sum();
            assert!((995..=1005).contains(&sum), "{row}");
        }
    }
    let page = dir.text("out/attention.html");
    assert!(page.contains(r#""steps":[6,12,18,24]"#), "{page}");
    assert!(dir.text("out/training.svg").contains("attention, %"));
}

#[test]
fn writes_only_curves_by_default() {
    let dir = TestDir::with_pairs();
    dir.train("out", &["--max-epochs", "1"]).worked();
    let names: Vec<String> = dir.contents().into_keys().collect();
    assert!(names.iter().any(|name| name == "out/training.svg"), "{names:?}");
    assert!(!names.iter().any(|name| name.contains("attention")), "{names:?}");
}

#[test]
fn resumed_run_writes_the_same_page() {
    let dir = TestDir::with_pairs();
    let plateau = ["--schedule", "plateau"];
    dir.train("whole", &[&BRIEF[..], &plateau].concat()).worked();
    dir.train("parts", &[&BRIEF[..2], &["--max-epochs", "1", "--keep-attention"], &plateau].concat()).worked();
    // Lines after the last checkpoint and damaged lines are dropped.
    let damaged = format!("{}{{\"step\":18,\"pairs\":[]}}\n{{\"step\":1", dir.text("parts/attention.jsonl"));
    dir.write("parts/attention.jsonl", damaged);
    dir.run(&["train", "--resume", "--out", "parts", "--max-epochs", "2", "--quiet"]).worked();
    for name in ["attention.jsonl", "attention.html", "training.svg"] {
        assert!(dir.read(&format!("whole/{name}")) == dir.read(&format!("parts/{name}")), "{name}");
    }
}

#[test]
fn samples_are_stable_and_shown_with_references() {
    let dir = TestDir::with_pairs();
    let options: Vec<&str> = QUICK.into_iter().filter(|option| *option != "--quiet").collect();
    let train = ["train", "--train", "pairs.tsv", "--out", "out", "--max-epochs", "2", "--verbose"];
    let outcome = dir.run(&[&train, &options[..]].concat());
    outcome.worked();
    let references: Vec<&str> = outcome.stderr.lines().filter(|line| line.starts_with("    = ")).collect();
    assert_eq!(references.len(), 4, "two per validation: {}", outcome.stderr);
    assert_eq!(references[..2], references[2..]);
    let log = lines(&dir.text("out/log.jsonl"));
    assert_eq!(references[0].trim_start_matches("    = "), log.last().unwrap()["samples"][0]["reference"]);
}

#[test]
fn does_not_record_fixed_attention() {
    let dir = TestDir::with_pairs();
    let fixed = dir.train("out", &["--attention", "mean", "--keep-attention"]);
    fixed.refused_with(2, &["--keep-attention", "--attention mean"]);
}

#[test]
fn records_attention_on_the_users_pairs() {
    let dir = TestDir::with_pairs();
    dir.write("mine.tsv", "the owl sleeps\tku dorma\nthe fox\tmi\n");
    let options = [&BRIEF[..4], &["--attention-pairs", "mine.tsv"]].concat();
    dir.train("whole", &options).worked();
    for line in lines(&dir.text("whole/attention.jsonl")) {
        let sources: Vec<String> = (0..2).map(|pair| line["pairs"][pair]["source"].to_string()).collect();
        assert_eq!(sources, [r#"["the","owl","sleeps"]"#, r#"["the","fox"]"#]);
        assert_eq!(line["pairs"].as_array().unwrap().len(), 2);
    }
    // A resumed training knows the pairs without the file.
    dir.train("parts", &[&options[..2], &["--max-epochs", "1", "--schedule", "plateau"], &options[4..]].concat())
        .worked();
    dir.write("mine.tsv", "");
    dir.run(&["train", "--resume", "--out", "parts", "--max-epochs", "2", "--quiet"]).worked();
    let last = lines(&dir.text("parts/attention.jsonl")).pop().unwrap();
    assert_eq!((&last["step"], &last["pairs"][1]["target"]), (&Value::from(24), &json(r#"["mi"]"#)));
}

#[test]
fn rejects_unusable_attention_pairs() {
    let dir = TestDir::with_pairs();
    dir.write("many.tsv", "the fox\tmi\n".repeat(21));
    dir.write("one-sided.tsv", "the fox\t\n");
    let train = |file: &str| dir.train("out", &["--attention-pairs", file]);
    train("many.tsv").refused_with(1, &["many.tsv: 21 pairs; --attention-pairs records at most 20"]);
    train("one-sided.tsv").refused_with(1, &["one-sided.tsv: no usable sentence pair"]);
    train("missing.tsv").refused_with(1, &["missing.tsv"]);
    let fixed = dir.train("out", &["--attention", "mean", "--attention-pairs", "many.tsv"]);
    fixed.refused_with(2, &["--keep-attention", "--attention mean"]);
    assert!(!dir.path("out").exists());
}
