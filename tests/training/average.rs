//! `softalign average`: averages the parameters of several models.

use crate::common::{PAIRS, TestDir, model_path};

fn translations(dir: &TestDir, model: &str) -> String {
    let text: String = PAIRS.iter().map(|(source, _)| format!("{source}\n")).collect();
    dir.run_with_input(&["translate", "--model", model, "--format", "jsonl"], text).worked().to_owned()
}

#[test]
fn average_of_equal_models_is_that_model() {
    let dir = TestDir::with_model();
    let done = dir.run(&["average", "model", model_path(), "--out", "mean"]);
    assert_eq!((done.worked(), &*done.stderr), ("", "average of 2 models written to mean\n"));
    assert_eq!(dir.read("mean/model.safetensors"), dir.read("model/model.safetensors"));
    assert_eq!(translations(&dir, "mean"), translations(&dir, "model"));
    let inspected = dir.run(&["inspect", "mean"]);
    assert!(inspected.worked().contains(&format!("average of      model, {}", model_path())), "{inspected:?}");
    // An average cannot be resumed, and trying leaves it intact.
    let resumed = dir.run(&["train", "--out", "mean", "--resume"]);
    assert!(resumed.code == Some(1) && dir.path("mean/model.safetensors").exists(), "{resumed:?}");
}

/// A directory without a model holds only leftovers of an interrupted run.
#[test]
fn removes_what_an_interrupted_average_left() {
    let dir = TestDir::with_model();
    std::fs::create_dir(dir.path("mean")).unwrap();
    for name in ["config.json", "aligner.safetensors", "log.jsonl"] {
        std::fs::copy(dir.path("model").join(name), dir.path("mean").join(name)).unwrap();
    }
    dir.run(&["average", "model", "model", "--out", "mean"]).worked();
    assert!(!dir.path("mean/log.jsonl").exists());
    assert_eq!(translations(&dir, "mean"), translations(&dir, "model"));
}

#[test]
fn warns_of_models_with_different_initializations() {
    let dir = TestDir::with_model();
    dir.train("other", &["--seed", "9", "--max-epochs", "1"]).worked();
    let done = dir.run(&["average", "model", "other", "--out", "mean"]);
    assert_eq!(done.worked(), "");
    assert!(done.stderr.starts_with("warning: model and other have dissimilar parameters (cosine"), "{done:?}");
    assert_eq!(translations(&dir, "mean").lines().count(), PAIRS.len());
}

#[test]
fn refuses_models_that_cannot_be_averaged() {
    let dir = TestDir::with_model();
    let wide =
        ["train", "--train", "pairs.tsv", "--out", "wide", "--tokenization", "word", "--preset", "tiny", "--quiet"];
    dir.run(&[&wide[..], &["--max-epochs", "1"]].concat()).worked();
    dir.write("pairs.tsv", "the fox\tmi\nthe owl\tku\n");
    dir.train("few", &["--max-epochs", "1"]).worked();
    let before = dir.contents();
    for (arguments, code, parts) in [
        (&["model", "wide", "--out", "mean"][..], 1, &["wide", "architectures differ"][..]),
        (&["model", "few", "--out", "mean"], 1, &["few", "vocabularies differ"]),
        (&["model", "gone", "--out", "mean"], 1, &["gone", "no model here"]),
        (&["model", "wide", "--out", "few"], 1, &["few", "--out"]),
    ] {
        dir.run(&[&["average"], arguments].concat()).refused_with(code, parts);
    }
    assert_eq!(dir.run(&["average", "model", "--out", "mean"]).code, Some(2));
    assert_eq!(dir.run(&["average", "model", "model"]).code, Some(2));
    assert!(dir.contents() == before, "files were changed");
}
