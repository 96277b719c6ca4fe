//! Models that translate together.

mod common;

use common::{ModelDir, PAIRS, model_path};
use serde_json::Value;

/// The shared model, and another one of the same pairs that began elsewhere and learnt less.
fn two_models() -> ModelDir {
    let folder = ModelDir::with_pairs();
    let other = ["train", "--train", "pairs.tsv", "--out", "other", "--units", "word", "--preset", "tiny"];
    folder.run(&[&other[..], &["--seed", "7", "--max-epochs", "20", "--quiet"]].concat()).worked();
    folder
}

fn evaluated(folder: &ModelDir, options: &[&str]) -> Value {
    let outcome = folder.run(&[&["evaluate", "--pairs", "pairs.tsv", "--json", "--quiet"], options].concat());
    outcome.json()
}

#[test]
fn models_of_any_size_translate_together() {
    let folder = two_models();
    let together = folder.run(&["translate", "--model", model_path(), "--model", "other", PAIRS[0].0]);
    assert!(!together.worked().trim().is_empty());
    let perplexity = |options: &[&str]| evaluated(&folder, options)["perplexity"].as_f64().unwrap();
    let [first, second] = [model_path(), "other"].map(|model| perplexity(&["--model", model]));
    let both = perplexity(&["--ensemble", "--model", model_path(), "--model", "other"]);
    // The logarithm of a mean is at least the mean of the logarithms.
    assert!(both < (first * second).sqrt(), "{both} of {first} and {second}");
}

#[test]
fn a_model_with_itself_is_itself() {
    let folder = ModelDir::with_pairs();
    let twice = ["--model", model_path(), "--model", model_path()];
    let text = |format: &str, models: &[&str]| {
        let arguments = [&["translate", "--format", format, "--quiet", PAIRS[3].0, PAIRS[5].0], models].concat();
        folder.run(&arguments).worked().to_owned()
    };
    for format in ["text", "align", "pharaoh"] {
        assert_eq!(text(format, &twice), text(format, &twice[..2]), "{format}");
    }
    let align = |models: &[&str]| {
        folder.run(&[&["align", "--pairs", "pairs.tsv", "--quiet"], models].concat()).worked().to_owned()
    };
    assert_eq!(align(&twice), align(&twice[..2]));
    let scores = |options: &[&str]| {
        let mut scores = evaluated(&folder, options);
        let perplexity = scores.as_object_mut().unwrap().remove("perplexity").unwrap().as_f64().unwrap();
        (scores, perplexity)
    };
    let [one, both] = [scores(&twice[..2]), scores(&[&twice[..], &["--ensemble"]].concat())];
    assert_eq!(one.0, both.0);
    assert!((one.1 - both.1).abs() < 1e-5);
}

#[test]
fn models_of_other_units_are_refused() {
    let folder = ModelDir::with_pairs();
    let fewer: String = PAIRS[..6].iter().map(|(source, target)| format!("{source}\t{target}\n")).collect();
    folder.write("fewer.tsv", fewer);
    folder.run(&["train", "--train", "fewer.tsv", "--out", "fewer", "--max-epochs", "1", "--quiet"]).worked();
    for command in [
        &["translate", "a"][..],
        &["align", "--pairs", "pairs.tsv"],
        &["evaluate", "--ensemble", "--pairs", "pairs.tsv"],
    ] {
        let outcome = folder.run(&[command, &["--quiet", "--model", model_path(), "--model", "fewer"]].concat());
        outcome.refused_with(1, &["fewer: cuts text into other units than", "--seed"]);
    }
}
