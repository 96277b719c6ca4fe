//! Training on several files, each with its weight and the tag of its sentences.

use crate::common::{self, PAIRS, QUICK, TestDir, json};
use serde_json::json;

/// A directory with [`PAIRS`], and the same sources translated into another artificial language.
fn two_languages() -> TestDir {
    let dir = TestDir::with_pairs();
    let other: String = PAIRS
        .iter()
        .map(|(source, target)| {
            let reversed: Vec<String> = target.split(' ').map(|word| word.chars().rev().collect()).collect();
            format!("{source}\t{}\n", reversed.join(" "))
        })
        .collect();
    dir.write("other.tsv", other);
    dir
}

fn train(dir: &TestDir, out: &str, arguments: &[&str]) -> common::Outcome {
    dir.run(&[&["train", "--out", out], &QUICK[..], arguments].concat())
}

#[test]
fn tags_let_one_model_serve_two_languages() {
    let dir = two_languages();
    let files = ["--train", "pairs.tsv", "other.tsv", "--valid", "pairs.tsv", "other.tsv"];
    let tags = ["--tag-source", "<2a>", "<2b>", "--max-epochs", "25", "--patience", "100"];
    train(&dir, "model", &[&files[..], &tags].concat()).worked();
    let translate = |arguments: &[&str], text: &str| {
        dir.run(&[&["translate", "--model", "model"], arguments, &[text]].concat()).worked().to_owned()
    };
    assert_eq!(translate(&[], "<2a> the red fox sleeps"), "rufo mi dorma .\n");
    assert_eq!(translate(&[], "<2b> the red fox sleeps"), "ofur im amrod .\n");
    assert_eq!(translate(&["--tag-source", "<2b>"], "the red fox sleeps"), "ofur im amrod .\n");
    for (pairs, tag) in [("pairs.tsv", "<2a>"), ("other.tsv", "<2b>")] {
        let arguments = ["evaluate", "--model", "model", "--pairs", pairs, "--tag-source", tag, "--json"];
        let scores = dir.run(&arguments).json();
        assert!(scores["exact_match"].as_f64().unwrap() > 80.0, "{pairs} {scores}");
        let arguments = ["score", "--model", "model", "--pairs", pairs, "--tag-source", tag];
        assert_eq!(dir.run(&arguments).worked().lines().count(), PAIRS.len());
    }
    // The tag is no part of the source text: it is neither copied nor matched by terms.
    let copied = translate(&["--tag-source", "<2b>", "--unknown", "copy", "--format", "jsonl"], "ЖЖЖ ЩЩЩ ЮЮЮ ФФФ");
    assert_eq!(
        (&json(&copied)["translation"], &json(&copied)["source_text"]),
        (&"ЖЖЖ ЩЩЩ ЮЮЮ ФФФ".into(), &"ЖЖЖ ЩЩЩ ЮЮЮ ФФФ".into())
    );
    dir.write("terms.tsv", "2b\talev\n");
    let with_terms = ["--tag-source", "<2b>", "--terms", "terms.tsv"];
    assert_eq!(translate(&with_terms, "the red fox sleeps"), "ofur im amrod .\n");
    let aligned = ["align", "--model", "model", "--pairs", "other.tsv", "--tag-source", "<2b>", "--format", "jsonl"];
    let aligned = dir.run(&aligned);
    let first = json(aligned.worked().lines().next().unwrap());
    assert_eq!(first["source_text"], PAIRS[0].0);
    let lexicon = ["align", "--model", "model", "--pairs", "other.tsv", "--tag-source", "<2b>", "--lexicon", "words"];
    dir.run(&lexicon).worked();
    let words = dir.text("words");
    assert!(words.contains("\tthe red fox ") && !words.contains("2b"), "{words}");
    let config = json(&dir.text("model/config.json"));
    assert_eq!(config["text"]["source_protected_tokens"], json!(["<2a>", "<2b>"]));
    assert_eq!(config["data"]["training_files"], json!(["pairs.tsv", "other.tsv"]));
    assert_eq!(config["data"]["sources"][1], json!({"weight": 1.0, "tag": "<2b>"}));
}

#[test]
fn resuming_keeps_corpus_weights() {
    let dir = two_languages();
    let files = ["--train", "pairs.tsv:2.5", "other.tsv:0.5", "--valid", "pairs.tsv", "--schedule", "plateau"];
    train(&dir, "whole", &[&files[..], &["--max-epochs", "4"]].concat()).worked();
    train(&dir, "parts", &[&files[..], &["--max-epochs", "2"]].concat()).worked();
    dir.run(&["train", "--out", "parts", "--resume", "--max-epochs", "4", "--quiet"]).worked();
    assert!(dir.read("whole/model.safetensors") == dir.read("parts/model.safetensors"));
    let steps = |name: &str| -> u64 {
        let progress = json(&dir.text(&format!("{name}/resume.json")));
        progress["step"].as_u64().unwrap()
    };
    // Batches of one: 12 pairs two or three times, 12 pairs every other epoch.
    assert!((4 * 24..4 * 48).contains(&steps("whole")) && steps("whole") == steps("parts"), "{}", steps("whole"));
    assert!((steps("whole") as f64 - 4.0 * 36.0).abs() < 24.0, "{}", steps("whole"));
    // Paths may change on resuming; weights may not.
    dir.write("moved.tsv", dir.read("pairs.tsv"));
    let moved = ["--train", "moved.tsv", "other.tsv", "--max-epochs", "5", "--quiet"];
    dir.run(&[&["train", "--out", "parts", "--resume"], &moved[..]].concat()).worked();
    let one = ["train", "--out", "parts", "--resume", "--train", "pairs.tsv", "--max-epochs", "6"];
    dir.run(&one).refused_with(1, &["training began with 2 files, not with 1"]);
    let other = ["train", "--out", "parts", "--resume", "--train", "pairs.tsv:3", "other.tsv", "--max-epochs", "6"];
    dir.run(&other).refused_with(2, &["pairs.tsv: training began with weight 2.5 for this file"]);
    // Weights of a file listed twice add up.
    let twice =
        ["--train", "pairs.tsv", "pairs.tsv:3", "--valid", "pairs.tsv", "--concat-pairs", "0", "--max-epochs", "2"];
    train(&dir, "twice", &twice).worked();
    assert_eq!(steps("twice"), 2 * 12 * 4);
    std::fs::remove_file(dir.path("other.tsv")).unwrap();
    dir.run(&["train", "--out", "parts", "--resume"]).refused_with(1, &["other.tsv", "--train"]);
}

/// Two validation files are either the sides of one corpus or two corpora, independently of the training files.
#[test]
fn resuming_keeps_validation_files() {
    let dir = two_languages();
    let sides = PAIRS.map(|(source, target)| [format!("{source}\n"), format!("{target}\n")]);
    dir.write("valid.en", sides.each_ref().map(|[source, _]| source.as_str()).concat());
    dir.write("valid.xx", sides.each_ref().map(|[_, target]| target.as_str()).concat());
    let mixed = ["--train", "pairs.tsv", "other.tsv", "--valid-source", "valid.en", "--valid-target", "valid.xx"];
    let two = ["--train", "pairs.tsv", "--valid", "pairs.tsv", "other.tsv"];
    let three = ["--train", "pairs.tsv", "--valid", "pairs.tsv", "other.tsv", "pairs.tsv"];
    for (name, files) in [("mixed", &mixed[..]), ("two", &two), ("three", &three)] {
        let whole = format!("{name}-whole");
        train(&dir, &whole, &[files, &["--schedule", "plateau", "--max-epochs", "2"]].concat()).worked();
        train(&dir, name, &[files, &["--schedule", "plateau", "--max-epochs", "1"]].concat()).worked();
        dir.run(&["train", "--out", name, "--resume", "--max-epochs", "2", "--quiet"]).worked();
        assert!(dir.read(&format!("{whole}/model.safetensors")) == dir.read(&format!("{name}/model.safetensors")));
        let scores = |name: &str| {
            let log = dir.text(&format!("{name}/log.jsonl"));
            let mut events = log.lines().map(json);
            let last = events.rfind(|event| event["event"] == "validation").unwrap();
            [last["epoch"].clone(), last["bleu"].clone(), last["loss"].clone()]
        };
        assert!(scores(&whole)[1].is_number() && scores(&whole) == scores(name), "{name}");
    }
    let tags = ["--tag-source", "<2a>", "<2b>"];
    let tagged = dir.run(&[&["train", "--out", "new"], &mixed[..], &tags].concat());
    tagged.refused_with(2, &["2 tags for 1 files of --valid-source"]);
}

#[test]
fn names_the_corpus_that_looks_like_a_spreadsheet() {
    let dir = two_languages();
    dir.write("named.tsv", format!("source\ttarget\n{}", dir.text("other.tsv")));
    let files = ["train", "--train", "pairs.tsv", "named.tsv", "--tag-source", "<formal>", "<plain>", "--out", "out"];
    let outcome = dir.run(&[&files[..], &["--preset", "tiny", "--max-epochs", "1"]].concat());
    let warned: Vec<&str> = outcome.stderr.lines().filter(|line| line.contains("header")).collect();
    assert!(warned.len() == 1 && warned[0].starts_with("warning: named.tsv: the first line looks like"), "{outcome:?}");
    let shipped = dir.run(&["train", "--valid", "pairs.tsv", "--columns", "1,2", "--out", "new"]);
    shipped.refused_with(2, &["no training pairs are named"]);
}

#[test]
fn scores_hypotheses_of_tagged_sentences() {
    let dir = two_languages();
    let files = ["--train", "pairs.tsv", "other.tsv", "--tag-source", "<2a>", "<2b>", "--max-epochs", "2"];
    train(&dir, "model", &files).worked();
    dir.write("plain", "the red fox sleeps\n");
    dir.write("tagged", "<2b> the red fox sleeps\n");
    dir.write("found", "0 ||| ofur im amrod .\n0 ||| rufo mi dorma .\n");
    let rerank = |input: &str, options: &[&str]| {
        let arguments = ["score", "--model", "model", "--rerank", "found", "--input", input];
        dir.run(&[&arguments, options].concat())
    };
    let expected = rerank("tagged", &[]);
    assert_eq!(rerank("plain", &["--tag-source", "<2b>"]).worked(), expected.worked());
    assert_ne!(rerank("plain", &[]).worked(), expected.worked());
    assert_eq!(rerank("plain", &["--csv"]).code, Some(2));
}

#[test]
fn weight_of_one_changes_nothing() {
    let dir = two_languages();
    train(&dir, "plain", &["--train", "pairs.tsv", "--max-epochs", "2"]).worked();
    train(&dir, "weighted", &["--train", "pairs.tsv:1", "--max-epochs", "2"]).worked();
    assert!(dir.read("plain/model.safetensors") == dir.read("weighted/model.safetensors"));
    // An existing file whose name ends like a weight is a file without weight.
    dir.write("pairs:3", dir.read("pairs.tsv"));
    train(&dir, "named", &["--train", "pairs:3", "--max-epochs", "2"]).worked();
    assert!(dir.read("plain/model.safetensors") == dir.read("named/model.safetensors"));
}

#[test]
fn refuses_conflicting_corpus_options() {
    let dir = two_languages();
    let files = ["--train", "pairs.tsv", "other.tsv"];
    let refused = |arguments: &[&str], code: i32, parts: &[&str]| {
        dir.run(&[&["train", "--out", "new"], &files[..], arguments].concat()).refused_with(code, parts);
    };
    refused(&["--tag-source", "<2a>"], 2, &["--tag-source has 1 tags for 2 files of --train"]);
    refused(&["--tag-source", "<a>", "<b>", "--valid", "pairs.tsv"], 2, &["2 tags for 1 files of --valid"]);
    refused(&["--tag-source", "a b", "<b>"], 2, &["cannot be a protected token"]);
    // A tag would shift the word numbers of a link file.
    let tagged = ["--tag-source", "<a>"];
    for arguments in [
        &["train", "--out", "new", "--train", "pairs.tsv", "--guide", "links"][..],
        &["evaluate", "--pairs", "pairs.tsv", "--gold", "gold"],
        &["align", "--format", "html", "--pairs", "pairs.tsv", "--gold", "gold"],
    ] {
        let outcome = dir.run(&[arguments, &tagged].concat());
        assert!(outcome.code == Some(2) && outcome.stderr.contains("cannot be used with"), "{outcome:?}");
    }
    for weight in ["0", "-1", "101", "NaN"] {
        let outcome = dir.run(&["train", "--out", "new", "--train", &format!("pairs.tsv:{weight}")]);
        assert!(outcome.code == Some(2) && outcome.stderr.contains("weight must be above 0"), "{outcome:?}");
    }
    dir.run(&["train", "--out", "new", "--train", "gone.tsv:2"]).refused_with(1, &["gone.tsv", "cannot read"]);
    assert!(!dir.path("new/config.json").exists());
}

#[test]
fn warm_start_adds_a_language_by_its_tag() {
    let dir = two_languages();
    let first = ["--train", "pairs.tsv", "--tag-source", "<2a>", "--max-epochs", "20", "--patience", "100"];
    train(&dir, "first", &first).worked();
    let both =
        ["--train", "pairs.tsv", "other.tsv", "--tag-source", "<2a>", "<2b>", "--init-from", "first", "--out", "both"];
    let run = [
        "--batch-sentences",
        "1",
        "--learning-rate",
        "0.01",
        "--max-epochs",
        "20",
        "--patience",
        "100",
        "--dropout",
        "0",
    ];
    dir.run(&[&["train", "--valid", "pairs.tsv", "other.tsv"], &both[..], &run].concat()).worked();
    let config = json(&dir.text("both/config.json"));
    assert_eq!(config["text"]["source_protected_tokens"], json!(["<2a>", "<2b>"]));
    let text = dir.run(&["translate", "--model", "both", "<2a> the old fox runs", "<2b> the old fox runs"]);
    assert_eq!(text.worked(), "vela mi kura .\nalev im aruk .\n");
}
