//! Attention taught by links that the user gives.

mod common;

use common::{ModelDir, Outcome, PAIRS, QUICK, tsv};

/// Pairs, and links of them that nobody would learn from the text: every target word comes from the last source word.
fn folder() -> ModelDir {
    let folder = ModelDir::new();
    folder.write("pairs.tsv", tsv(&PAIRS));
    folder.write("guide", "3-0 3-1 3-2 3-3\n".repeat(PAIRS.len()));
    folder
}

fn train(folder: &ModelDir, out: &str, options: &[&str]) -> Outcome {
    let arguments = ["train", "--train", "pairs.tsv", "--valid", "pairs.tsv", "--out", out];
    folder.run(&[&arguments, &QUICK[..], options].concat())
}

const GUIDED: [&str; 3] = ["--guide", "guide", "--guided-alignment=1"];

#[test]
fn attention_goes_where_the_user_says() {
    let folder = folder();
    train(&folder, "model", &[&GUIDED[..], &["--max-epochs", "12"]].concat()).worked();
    let links = |model: &str| {
        let align =
            ["align", "--model", model, "--pairs", "pairs.tsv", "--links-from", "attention", "--format", "pharaoh"];
        folder.run(&align).worked().to_owned()
    };
    assert_eq!(links("model"), "3-0 3-1 3-2 3-3\n".repeat(PAIRS.len()));
    let said = folder.run(&["inspect", "model"]);
    assert!(said.worked().contains("attention taught the links of guide, with weight 1"), "{said:?}");
    // Without a weight the usual one counts, and units are found in the user's own words.
    train(&folder, "usual", &["--guide", "guide", "--max-epochs", "1"]).worked();
    assert!(folder.text("usual/config.json").contains("\"guidance\": 0.1"));
}

#[test]
fn a_guided_training_goes_on_as_if_it_had_not_stopped() {
    let folder = folder();
    train(&folder, "whole", &[&GUIDED[..], &["--max-epochs", "3"]].concat()).worked();
    train(&folder, "parts", &[&GUIDED[..], &["--max-epochs", "1", "--schedule", "plateau"]].concat()).worked();
    train(&folder, "plain", &[&GUIDED[..], &["--max-epochs", "3", "--schedule", "plateau"]].concat()).worked();
    let resume = ["train", "--out", "parts", "--resume", "--max-epochs", "3", "--quiet"];
    folder.run(&resume).worked();
    assert_eq!(folder.read("parts/model.safetensors"), folder.read("plain/model.safetensors"));
    // Other links, and none, are refused; the same ones elsewhere will do.
    std::fs::rename(folder.path("guide"), folder.path("moved")).unwrap();
    let longer = ["train", "--out", "parts", "--resume", "--max-epochs", "4", "--quiet"];
    folder.run(&longer).refused_with(1, &["guide: attention is taught by this file", "--guide"]);
    folder.write("other", "0-0\n".repeat(PAIRS.len()));
    folder.run(&[&longer[..], &["--guide", "other"]].concat()).refused_with(1, &["other: not the links"]);
    folder.run(&[&longer[..], &["--guide", "moved"]].concat()).worked();
}

#[test]
fn what_is_no_guide_is_refused_in_one_line() {
    let folder = folder();
    folder.write("short", "0-0\n");
    folder.write("beyond", "0-4\n".repeat(PAIRS.len()));
    folder.write("broken", "0-0\n0:0\n".repeat(PAIRS.len() / 2));
    let refused = |options: &[&str], code: i32, said: &str| {
        train(&folder, "model", options).refused_with(code, &[said]);
        assert!(!folder.path("model").exists(), "a folder was made for nothing");
    };
    refused(&["--guide", "short"], 1, "short: 1 lines for 12 training pairs");
    refused(&["--guide", "beyond"], 1, "beyond:1: link 0-4 points beyond");
    refused(&["--guide", "broken"], 1, "broken:2: \"0:0\" is not a link");
    refused(&["--guide", "none"], 1, "none");
    refused(&["--guide", "guide", "--guided-alignment=0"], 2, "--guide has no effect");
    refused(&["--guide", "guide", "--attention", "mean"], 2, "--guide need a score");
    refused(&["--guide", "guide", "--source-units", "char"], 2, "--guide need words");
}
