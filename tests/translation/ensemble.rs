//! Ensembles of models.

use crate::common::{PAIRS, TestDir, model_path};
use serde_json::Value;

/// A directory with `other`: a smaller model trained on the same pairs with another seed.
fn two_models() -> TestDir {
    let dir = TestDir::with_pairs();
    let other = ["train", "--train", "pairs.tsv", "--out", "other", "--tokenization", "word", "--preset", "tiny"];
    dir.run(&[&other[..], &["--seed", "7", "--max-epochs", "20", "--quiet"]].concat()).worked();
    dir
}

fn evaluated(dir: &TestDir, options: &[&str]) -> Value {
    let outcome = dir.run(&[&["evaluate", "--pairs", "pairs.tsv", "--json", "--quiet"], options].concat());
    outcome.json()
}

#[test]
fn ensembles_models_of_different_sizes() {
    let dir = two_models();
    let translated = dir.run(&["translate", "--model", model_path(), "--model", "other", PAIRS[0].0]);
    assert!(!translated.worked().trim().is_empty());
    let perplexity = |options: &[&str]| evaluated(&dir, options)["perplexity"].as_f64().unwrap();
    let [first, second] = [model_path(), "other"].map(|model| perplexity(&["--model", model]));
    let both = perplexity(&["--ensemble", "--model", model_path(), "--model", "other"]);
    // Jensen: the logarithm of a mean is at least the mean of the logarithms.
    assert!(both < (first * second).sqrt(), "{both} of {first} and {second}");
}

#[test]
fn aligns_by_models_with_and_without_posteriors() {
    let dir = TestDir::with_pairs();
    dir.train("exact", &["--max-epochs", "1", "--hard-attention", "exact"]).worked();
    dir.train("mean", &["--max-epochs", "1", "--attention", "mean"]).worked();
    for models in [["exact", "mean"], ["mean", "exact"]] {
        let found = evaluated(&dir, &["--ensemble", "--model", models[0], "--model", models[1]]);
        assert_eq!(found["pairs"], PAIRS.len(), "{models:?}");
    }
}

#[test]
fn ensemble_of_a_model_with_itself_changes_nothing() {
    let dir = TestDir::with_pairs();
    let twice = ["--model", model_path(), "--model", model_path()];
    let text = |format: &str, models: &[&str]| {
        let arguments = [&["translate", "--format", format, "--quiet", PAIRS[3].0, PAIRS[5].0], models].concat();
        dir.run(&arguments).worked().to_owned()
    };
    for format in ["text", "align", "pharaoh"] {
        assert_eq!(text(format, &twice), text(format, &twice[..2]), "{format}");
    }
    let align = |models: &[&str]| {
        dir.run(&[&["align", "--pairs", "pairs.tsv", "--quiet"], models].concat()).worked().to_owned()
    };
    assert_eq!(align(&twice), align(&twice[..2]));
    let scores = |options: &[&str]| {
        let mut scores = evaluated(&dir, options);
        let perplexity = scores.as_object_mut().unwrap().remove("perplexity").unwrap().as_f64().unwrap();
        (scores, perplexity)
    };
    let [one, both] = [scores(&twice[..2]), scores(&[&twice[..], &["--ensemble"]].concat())];
    assert_eq!(one.0, both.0);
    assert!((one.1 - both.1).abs() < 1e-5);
}

#[test]
fn refuses_ensembles_with_different_vocabularies() {
    let dir = TestDir::with_pairs();
    let fewer: String = PAIRS[..6].iter().map(|(source, target)| format!("{source}\t{target}\n")).collect();
    dir.write("fewer.tsv", fewer);
    dir.run(&["train", "--train", "fewer.tsv", "--out", "fewer", "--max-epochs", "1", "--quiet"]).worked();
    for command in [
        &["translate", "a"][..],
        &["align", "--pairs", "pairs.tsv"],
        &["evaluate", "--ensemble", "--pairs", "pairs.tsv"],
    ] {
        let outcome = dir.run(&[command, &["--quiet", "--model", model_path(), "--model", "fewer"]].concat());
        outcome.refused_with(1, &["fewer: the vocabularies differ from those of", "--seed"]);
    }
}
