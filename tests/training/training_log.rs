//! Reports of training in the log and on the terminal.

use std::collections::BTreeSet;
use std::path::Path;

use crate::common::{TestDir, json, model_path};
use serde_json::Value;

#[test]
fn log_has_one_object_per_line_with_the_documented_fields() {
    let log = std::fs::read_to_string(Path::new(model_path()).join("log.jsonl")).unwrap();
    let lines: Vec<Value> = log.lines().map(json).collect();
    let events = |event: &str| lines.iter().filter(|line| line["event"] == event).collect::<Vec<_>>();
    let (progress, validations) = (events("progress"), events("validation"));
    assert_eq!(progress.len() + validations.len(), lines.len());
    assert_eq!(validations.len(), 10, "one per epoch");
    assert!(!progress.is_empty());
    for (line, keys) in [
        (progress[0], &["epoch", "step", "loss", "learning_rate", "tokens_per_second", "seconds"][..]),
        (validations[0], &["epoch", "step", "loss", "perplexity", "bleu", "chrf", "exact_match", "seconds"]),
    ] {
        for key in keys {
            assert!(line[key].is_number(), "{key} is missing: {line}");
        }
    }
}

/// Returns the names in the first column of the tables under a heading of a page of docs/.
fn names_in_tables(page: &str, heading: &str) -> BTreeSet<String> {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(page)).unwrap();
    let (_, section) = text.split_once(&format!("\n## {heading}\n")).unwrap();
    let rows = section.split("\n## ").next().unwrap_or_default().lines();
    let first_cells = rows.filter_map(|row| row.strip_prefix("| ")?.split(" | ").next());
    first_cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).map(str::to_owned).collect()
}

#[test]
fn docs_explain_every_key_of_the_log() {
    let log_keys = names_in_tables("reference/model-directory.md", "Log");
    let attention_keys = names_in_tables("guide/attention.md", "Attention diagnostics");
    let log = std::fs::read_to_string(Path::new(model_path()).join("log.jsonl")).unwrap();
    for line in log.lines().map(json) {
        for (object, explained) in [(&line, &log_keys), (&line["attention"], &attention_keys)] {
            for (key, _) in object.as_object().into_iter().flatten() {
                assert!(explained.contains(key), "{key} is in no table of docs/");
            }
        }
    }
}

#[test]
fn every_validation_reports_attention_statistics() {
    let log = std::fs::read_to_string(Path::new(model_path()).join("log.jsonl")).unwrap();
    let lines: Vec<Value> = log.lines().map(json).collect();
    for line in lines.iter().filter(|line| line["event"] == "validation") {
        let attention = &line["attention"];
        let shares = ["normalized_entropy", "end", "punctuation", "punctuation_tokens", "coverage", "heaviest_column"];
        for key in shares {
            let share = attention[key].as_f64().unwrap_or_else(|| panic!("{key} is missing: {line}"));
            assert!((0.0..=1.000_001).contains(&share), "{key} is {share}");
        }
        // At most five columns: four words and `</s>`.
        assert!((0.0..=5.0f64.ln() + 1e-6).contains(&attention["entropy"].as_f64().unwrap()), "{line}");
        assert!((-1.0..=1.0).contains(&attention["diagonality"].as_f64().unwrap()), "{line}");
    }
    let entropy = |line: &Value| line["attention"]["entropy"].as_f64().unwrap();
    let validations: Vec<&Value> = lines.iter().filter(|line| line["event"] == "validation").collect();
    assert!(entropy(validations[9]) < entropy(validations[0]), "training sharpens attention");
}

#[test]
fn warns_once_of_flat_attention() {
    let dir = TestDir::with_pairs();
    let sizes = ["--embedding-size", "8", "--hidden-size", "8", "--attention-size", "8", "--batch-sentences", "1"];
    // The learning rate is too low to learn. Of six validations, the fourth is the first late enough for the warning.
    let untrained =
        ["--learning-rate", "0.000000001", "--validate-every", "150", "--max-epochs", "75", "--tokenization", "word"];
    let train = ["train", "--train", "pairs.tsv", "--out", "out", "--patience", "100", "--verbose"];
    let outcome = dir.run(&[&train[..], &sizes, &untrained].concat());
    outcome.worked();
    assert_eq!(outcome.stderr.matches("    attention: entropy ").count(), 6, "{outcome:?}");
    let warnings: Vec<&str> = outcome.stderr.lines().filter(|line| line.starts_with("warning: attention")).collect();
    assert_eq!(warnings.len(), 1, "{outcome:?}");
    assert!(warnings[0].contains("--guided-alignment"), "{outcome:?}");
    let before = outcome.stderr.split("warning: attention").next().unwrap();
    assert_eq!(before.matches("  perplexity ").count(), 4, "{outcome:?}");
    let log = dir.text("out/log.jsonl");
    assert_eq!(json(log.lines().last().unwrap())["attention"]["collapse"], "flat");
}

#[test]
fn training_notes_are_plain_lines_on_standard_error() {
    let dir = TestDir::with_pairs();
    let outcome = dir.run(&["train", "--train", "pairs.tsv", "--out", "out", "--preset", "tiny", "--max-epochs", "1"]);
    outcome.worked();
    assert!(outcome.stderr.contains("12 training pairs"), "{outcome:?}");
    assert!(!outcome.stderr.contains(['\r', '\u{1b}']), "terminal control characters: {outcome:?}");
    assert!(!outcome.stdout.contains('\u{1b}'), "colors: {outcome:?}");
}
