//! `softalign average`: a model of the mean of several models' parameters.

mod common;

use common::{ModelDir, PAIRS, model_path};

fn translations(folder: &ModelDir, model: &str) -> String {
    let text: String = PAIRS.iter().map(|(source, _)| format!("{source}\n")).collect();
    folder.run_with_input(&["translate", "--model", model, "--format", "jsonl"], text).worked().to_owned()
}

#[test]
fn the_mean_of_equal_models_is_that_model() {
    let folder = ModelDir::with_model();
    let done = folder.run(&["average", "model", model_path(), "--out", "mean"]);
    assert_eq!((done.worked(), &*done.stderr), ("", "the mean of 2 models is in mean\n"));
    assert_eq!(folder.read("mean/model.safetensors"), folder.read("model/model.safetensors"));
    assert_eq!(translations(&folder, "mean"), translations(&folder, "model"));
    let inspected = folder.run(&["inspect", "mean"]);
    assert!(inspected.worked().contains(&format!("the mean of     model, {}", model_path())), "{inspected:?}");
    // Nothing of it is taken for a training that could go on, and nothing is lost.
    let resumed = folder.run(&["train", "--out", "mean", "--resume"]);
    assert!(resumed.code == Some(1) && folder.path("mean/model.safetensors").exists(), "{resumed:?}");
}

/// Settings, an aligner and a log without a model are what a run left that was killed early; they are not the mean's.
#[test]
fn what_a_run_left_is_cleared_away() {
    let folder = ModelDir::with_model();
    std::fs::create_dir(folder.path("mean")).unwrap();
    for name in ["config.json", "aligner.safetensors", "log.jsonl"] {
        std::fs::copy(folder.path("model").join(name), folder.path("mean").join(name)).unwrap();
    }
    folder.run(&["average", "model", "model", "--out", "mean"]).worked();
    assert!(!folder.path("mean/log.jsonl").exists());
    assert_eq!(translations(&folder, "mean"), translations(&folder, "model"));
}

#[test]
fn models_that_began_apart_are_told_of() {
    let folder = ModelDir::with_model();
    folder.train("other", &["--seed", "9", "--max-epochs", "1"]).worked();
    let done = folder.run(&["average", "model", "other", "--out", "mean"]);
    assert_eq!(done.worked(), "");
    assert!(done.stderr.starts_with("warning: model and other have little in common (cosine"), "{done:?}");
    assert_eq!(translations(&folder, "mean").lines().count(), PAIRS.len());
}

#[test]
fn what_has_no_mean_is_refused() {
    let folder = ModelDir::with_model();
    let wide = ["train", "--train", "pairs.tsv", "--out", "wide", "--units", "word", "--preset", "tiny", "--quiet"];
    folder.run(&[&wide[..], &["--max-epochs", "1"]].concat()).worked();
    folder.write("pairs.tsv", "the fox\tmi\nthe owl\tku\n");
    folder.train("few", &["--max-epochs", "1"]).worked();
    let before = folder.contents();
    for (arguments, code, parts) in [
        (&["model", "wide", "--out", "mean"][..], 1, &["wide", "other sizes"][..]),
        (&["model", "few", "--out", "mean"], 1, &["few", "other units"]),
        (&["model", "gone", "--out", "mean"], 1, &["gone", "no model here"]),
        (&["model", "wide", "--out", "few"], 1, &["few", "--out"]),
    ] {
        folder.run(&[&["average"], arguments].concat()).refused_with(code, parts);
    }
    assert_eq!(folder.run(&["average", "model", "--out", "mean"]).code, Some(2));
    assert_eq!(folder.run(&["average", "model", "model"]).code, Some(2));
    assert!(folder.contents() == before, "nothing was written");
}
