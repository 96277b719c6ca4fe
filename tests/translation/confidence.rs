//! Confidence in translations: calibrated by `train`, shown by `translate`, measured by `evaluate`.

use crate::common::{PAIRS, TestDir, json, tsv};
use serde_json::Value;

const SHIPPED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/checkpoints");

/// Translations of sentences as JSON objects.
fn translations(dir: &TestDir, options: &[&str], sentences: &str) -> Vec<Value> {
    let command = [&["translate", "--model", SHIPPED, "--format", "jsonl"], options].concat();
    dir.run_with_input(&command, sentences).worked().lines().map(json).collect()
}

#[test]
fn every_word_has_a_confidence_and_made_up_words_are_named() {
    let dir = TestDir::new();
    let found = translations(&dir, &["--n-best", "2"], "They bought a hat.\nThe patices snorkeled over zebras.\n\n");
    for one in &found[..4] {
        let words = one["target"].as_array().unwrap();
        let confidences: Vec<f64> =
            one["word_confidence"].as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect();
        assert!(confidences.len() == words.len() && confidences.iter().all(|one| (0.0..=1.0).contains(one)), "{one}");
    }
    let confidence = |one: &Value| one["confidence"].as_f64().unwrap();
    assert!(confidence(&found[0]) > 0.95 && found[0]["nonwords"].as_array().unwrap().is_empty(), "{}", found[0]);
    assert!(confidence(&found[2]) < 0.3 && !found[2]["nonwords"].as_array().unwrap().is_empty(), "{}", found[2]);
    assert!(confidence(&found[1]) < confidence(&found[0]), "the second translation is less probable");
    assert!(found[4].get("confidence").is_none(), "an empty translation has none: {}", found[4]);
    // A name from the source is not made up.
    let named = &translations(&dir, &[], "Zuleika bought a hat.\n")[0];
    if named["translation"].as_str().unwrap().contains("Zuleika") {
        assert!(named["nonwords"].as_array().unwrap().is_empty(), "{named}");
    }
    // Markup is put around the same words.
    let marked = &translations(&dir, &["--markup", "html"], "<p>They bought a <b>hat</b>.</p>\n")[0];
    assert_eq!(marked["word_confidence"].as_array().unwrap().len(), marked["target"].as_array().unwrap().len());
    for options in [&["--tokens"][..], &["--model", SHIPPED]] {
        assert!(translations(&dir, options, "They bought a hat.\n")[0].get("confidence").is_none(), "{options:?}");
    }
    let given = dir.run(&["align", "--model", SHIPPED, "--format", "jsonl", "They bought a hat.", "Zzz un chapeau."]);
    let given = json(given.worked());
    assert!(given["word_confidence"][0].as_f64() < given["word_confidence"][1].as_f64(), "{given}");
}

#[test]
fn training_calibrates_on_validation_pairs_that_it_was_not_trained_on() {
    let dir = TestDir::new();
    dir.write("pairs.tsv", tsv(&PAIRS).repeat(4));
    dir.write("valid.tsv", tsv(&PAIRS).repeat(6));
    let train = ["train", "--train", "pairs.tsv"];
    let sizes = ["--hidden-size", "32", "--embedding-size", "16", "--batch-sentences", "4"];
    let few_steps = [&["--max-epochs", "6", "--learning-rate", "0.01", "--warmup-steps", "1"][..], &sizes].concat();
    let calibration = |out: &str, options: &[&str]| {
        dir.run(&[&train[..], &few_steps, options, &["--out", out]].concat()).worked();
        json(&dir.text(&format!("{out}/config.json")))["confidence"].clone()
    };
    let found = calibration("model", &["--valid", "valid.tsv"]);
    let size = |of: &str| found[of]["weights"].as_array().unwrap().len();
    assert_eq!((size("sentence"), size("word")), (3, 3), "{found}");
    for limit in ["confidence", "coverage", "nonwords"] {
        assert!((0.0..=1.0).contains(&found["limits"][limit].as_f64().unwrap()), "{found}");
    }
    let evaluated = dir.run(&["evaluate", "--model", "model", "--pairs", "valid.tsv"]);
    assert!(evaluated.worked().lines().any(|line| line.starts_with("ECE, words ")), "{}", evaluated.stdout);
    let scores = dir.run(&["evaluate", "--model", "model", "--pairs", "valid.tsv", "--json"]).json();
    assert!(scores["expected_calibration_error"]["word"].as_f64().unwrap() < 0.15, "{scores}");
    // Too few words.
    assert_eq!(calibration("small", &[]), Value::Null);
    dir.run(&["average", "model", "model", "--out", "mean"]).worked();
    assert!(json(&dir.text("mean/config.json")).get("confidence").is_none());
}

#[test]
fn doubtful_translations_are_named() {
    let dir = TestDir::new();
    // German, of which the model knows the letters.
    let lines = "They bought a hat.\nDie Katze schnarcht unter dem Regal.\nShe sleeps.\n";
    let found = translations(&dir, &[], lines);
    assert!(found[0].get("doubts").is_none() && found[2].get("doubts").is_none(), "{found:?}");
    assert_eq!(found[1]["doubts"], serde_json::json!(["confidence", "nonwords"]), "{}", found[1]);
    let plain = dir.run_with_input(&["translate", "--model", SHIPPED], lines);
    assert_eq!(plain.worked().lines().count(), 3);
    let warning =
        "warning: 1 of 3 translations are doubtful, line 2: low confidence (1), words that may be made up (1);";
    assert!(plain.stderr.contains(warning), "{}", plain.stderr);
    let quiet = dir.run_with_input(&["translate", "--quiet", "--model", SHIPPED], lines);
    assert!(quiet.stderr.is_empty(), "{}", quiet.stderr);
    // A doubtful sentence makes its text doubtful.
    let text = "They bought a hat. Die Katze schnarcht unter dem Regal. She sleeps.\n";
    assert!(translations(&dir, &[], text)[0]["doubts"].as_array().is_some());
    let html = dir.run_with_input(&["translate", "--model", SHIPPED, "--format", "html"], lines);
    assert!(html.worked().contains(r#""doubts":["confidence","nonwords"]"#));
    // An ensemble has no limits.
    assert!(translations(&dir, &["--model", SHIPPED], lines)[1].get("doubts").is_none());
}
