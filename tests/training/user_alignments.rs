//! Guided alignment with the user's own links (`--guide`).

use crate::common::{Outcome, PAIRS, QUICK, TestDir, tsv};

/// A directory with pairs and links that contradict the text: every target word is linked to the last source word.
fn dir() -> TestDir {
    let dir = TestDir::new();
    dir.write("pairs.tsv", tsv(&PAIRS));
    dir.write("guide", "3-0 3-1 3-2 3-3\n".repeat(PAIRS.len()));
    dir
}

fn train(dir: &TestDir, out: &str, options: &[&str]) -> Outcome {
    let arguments = ["train", "--train", "pairs.tsv", "--valid", "pairs.tsv", "--out", out];
    dir.run(&[&arguments, &QUICK[..], options].concat())
}

const GUIDED: [&str; 3] = ["--guide", "guide", "--guided-alignment=1"];

#[test]
fn user_alignments_guide_attention() {
    let dir = dir();
    train(&dir, "model", &[&GUIDED[..], &["--max-epochs", "12", "--precision", "f32"]].concat()).worked();
    let links = |model: &str| {
        let align =
            ["align", "--model", model, "--pairs", "pairs.tsv", "--links-from", "attention", "--format", "pharaoh"];
        dir.run(&align).worked().to_owned()
    };
    assert_eq!(links("model"), "3-0 3-1 3-2 3-3\n".repeat(PAIRS.len()));
    let inspected = dir.run(&["inspect", "model"]);
    assert!(inspected.worked().contains("attention guided by the links of guide, with weight 1"), "{inspected:?}");
    // The default weight, and links of words mapped to the model's tokens.
    train(&dir, "default", &["--guide", "guide", "--max-epochs", "1"]).worked();
    assert!(dir.text("default/config.json").contains("\"guided_alignment\": 0.1"));
}

#[test]
fn resumed_user_alignments_equal_an_uninterrupted_run() {
    let dir = dir();
    train(&dir, "whole", &[&GUIDED[..], &["--max-epochs", "3"]].concat()).worked();
    train(&dir, "parts", &[&GUIDED[..], &["--max-epochs", "1", "--schedule", "plateau"]].concat()).worked();
    train(&dir, "plain", &[&GUIDED[..], &["--max-epochs", "3", "--schedule", "plateau"]].concat()).worked();
    let resume = ["train", "--out", "parts", "--resume", "--max-epochs", "3", "--quiet"];
    dir.run(&resume).worked();
    assert_eq!(dir.read("parts/model.safetensors"), dir.read("plain/model.safetensors"));
    // Missing or different links are refused; the same links under another name are accepted.
    std::fs::rename(dir.path("guide"), dir.path("moved")).unwrap();
    let longer = ["train", "--out", "parts", "--resume", "--max-epochs", "4", "--quiet"];
    dir.run(&longer).refused_with(1, &["guide: file of links for guided alignment not found", "--guide"]);
    dir.write("other", "0-0\n".repeat(PAIRS.len()));
    dir.run(&[&longer[..], &["--guide", "other"]].concat()).refused_with(1, &["other: not the links"]);
    dir.run(&[&longer[..], &["--guide", "moved"]].concat()).worked();
}

#[test]
fn refuses_invalid_user_alignments() {
    let dir = dir();
    dir.write("short", "0-0\n");
    dir.write("beyond", "0-4\n".repeat(PAIRS.len()));
    dir.write("broken", "0-0\n0:0\n".repeat(PAIRS.len() / 2));
    let refused = |options: &[&str], code: i32, part: &str| {
        train(&dir, "model", options).refused_with(code, &[part]);
        assert!(!dir.path("model").exists(), "a directory was created");
    };
    refused(&["--guide", "short"], 1, "short: 1 lines for 12 training pairs");
    refused(&["--guide", "beyond"], 1, "beyond:1: link 0-4 points beyond");
    refused(&["--guide", "broken"], 1, "broken:2: \"0:0\" is not a link");
    refused(&["--guide", "none"], 1, "none");
    refused(&["--guide", "guide", "--guided-alignment=0"], 2, "--guide has no effect");
    refused(&["--guide", "guide", "--attention", "mean"], 2, "--guide need learned attention");
    refused(&["--guide", "guide", "--source-tokenization", "char"], 2, "--guide need words");
}
