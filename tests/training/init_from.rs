//! `train --init-from`: warm starts that keep, extend or relearn the base model's vocabularies.

use crate::common::{Outcome, QUICK, TestDir, json, model_path, tsv};
use serde_json::Value;

/// Other sentences of the same languages: two new words on each side, and one old word missing.
const OTHERS: [(&str, &str); 6] = [
    ("the blue fox sleeps", "blua mi dorma ."),
    ("the blue owl sings", "blua ku kanta ."),
    ("the red cat runs", "rufo sa kura ."),
    ("the old cat sings", "vela sa kanta ."),
    ("the blue owl runs", "blua ku kura ."),
    ("the red cat sleeps", "rufo sa dorma ."),
];
/// Training that leaves the parameters practically unchanged.
const FROZEN: [&str; 6] = ["--max-epochs", "1", "--learning-rate", "1e-9", "--ema-decay", "0"];
const LEARN: [&str; 8] = ["--dropout", "0", "--learning-rate", "0.005", "--batch-sentences", "1", "--max-epochs", "30"];

fn dir() -> TestDir {
    let dir = TestDir::with_model();
    dir.write("others.tsv", tsv(&OTHERS));
    dir
}

fn train_from(dir: &TestDir, from: &str, out: &str, options: &[&str]) -> Outcome {
    let train = ["train", "--train", "others.tsv", "--out", out, "--init-from", from];
    dir.run(&[&train, options].concat())
}

fn translated(dir: &TestDir, model: &str, sentence: &str) -> String {
    dir.run(&["translate", "--model", model, sentence]).worked().trim_end().to_owned()
}

fn config(dir: &TestDir, out: &str) -> Value {
    json(&dir.text(&format!("{out}/config.json")))
}

#[test]
fn warm_start_translates_like_the_base_model() {
    let dir = dir();
    let before = dir.contents();
    for (vocabulary, kept, added, dropped) in [("keep", 13, 0, 0), ("extend", 13, 2, 0), ("new", 12, 2, 1)] {
        let done = train_from(&dir, "model", vocabulary, &[&FROZEN[..], &["--init-vocabulary", vocabulary]].concat());
        done.worked();
        let tokens = format!("{kept} kept, {added} added, {dropped} dropped");
        let note = format!("initialized from model; source tokens: {tokens}; target tokens: {tokens}\n");
        assert!(done.stderr.contains(&note), "{note}: {}", done.stderr);
        let inspected = dir.run(&["inspect", vocabulary]);
        assert!(inspected.worked().contains(&note), "{inspected:?}");
        for sentence in ["the red owl runs", "the old fox sings"] {
            assert_eq!(translated(&dir, vocabulary, sentence), translated(&dir, "model", sentence), "{vocabulary}");
        }
        let [of_model, of_new] = ["model", vocabulary].map(|out| config(&dir, out)["architecture"].clone());
        assert_eq!(of_model["hidden_size"], of_new["hidden_size"]);
        assert_eq!(of_new["source_vocabulary"], kept + added);
    }
    let after = dir.contents();
    assert!(before.iter().all(|(name, bytes)| after.get(name) == Some(bytes)), "the model was changed");
}

#[test]
fn extended_vocabulary_learns_new_words() {
    let dir = dir();
    train_from(&dir, "model", "extended", &[&LEARN[..], &["-q"]].concat()).worked();
    for (source, target) in OTHERS {
        assert_eq!(translated(&dir, "extended", source), target);
    }
}

#[test]
fn extends_character_and_subword_vocabularies_by_characters() {
    let dir = TestDir::with_pairs();
    dir.write("others.tsv", "the Żuk sleeps\tŻ dorma .\nthe red fox ñ!\trufo mi ñ!\n");
    for (tokenization, source, target) in [("bpe", 4, 3), ("char", 4, 3)] {
        let train = [
            "train",
            "--train",
            "pairs.tsv",
            "--out",
            tokenization,
            "--preset",
            "tiny",
            "--tokenization",
            tokenization,
            "-q",
        ];
        dir.run(&[&train[..], &["--max-epochs", "1"]].concat()).worked();
        let out = format!("{tokenization}-extended");
        train_from(&dir, tokenization, &out, &["--max-epochs", "1", "-q"]).worked();
        let tokens_of = config(&dir, &out)["from"]["tokens"].clone();
        // Ż, ñ and the exclamation mark; k is new to the source only.
        assert_eq!([&tokens_of[0]["added"], &tokens_of[1]["added"]], [source, target], "{tokenization}: {tokens_of}");
    }
    let joint = ["train", "--train", "pairs.tsv", "--out", "joint", "--preset", "tiny", "--joint-vocabulary", "-q"];
    dir.run(&[&joint[..], &["--max-epochs", "1", "--lowercase"]].concat()).worked();
    train_from(&dir, "joint", "joint-extended", &["--max-epochs", "1", "-q"]).worked();
    let extended = config(&dir, "joint-extended");
    assert_eq!(
        (&extended["text"]["joint_vocabulary"], &extended["text"]["normalization"]["lowercase"]),
        (&true.into(), &true.into())
    );
    let size = extended["architecture"]["source_vocabulary"].as_u64().unwrap();
    assert_eq!(size, config(&dir, "joint")["architecture"]["source_vocabulary"].as_u64().unwrap() + 3, "ż, ñ and !");
}

#[test]
fn resuming_a_warm_start_does_not_need_the_base_model() {
    let dir = dir();
    let options = ["--init-vocabulary", "new", "--schedule", "plateau", "--batch-sentences", "2", "-q"];
    train_from(&dir, "model", "whole", &[&options[..], &["--max-epochs", "4"]].concat()).worked();
    train_from(&dir, "model", "stopped", &[&options[..], &["--max-epochs", "2"]].concat()).worked();
    std::fs::remove_dir_all(dir.path("model")).unwrap();
    dir.run(&["train", "--out", "stopped", "--resume", "--max-epochs", "4", "-q"]).worked();
    let [whole, stopped] = ["whole", "stopped"].map(|run| dir.read(&format!("{run}/model.safetensors")));
    assert!(whole == stopped, "the resumed run differs");
    assert_eq!(config(&dir, "whole")["from"], config(&dir, "stopped")["from"]);
}

#[test]
fn warm_start_keeps_the_lexicon() {
    let dir = dir();
    let entries = |out: &str| {
        let inspected = dir.run(&["inspect", out]).worked().to_owned();
        let line = inspected.lines().find_map(|line| line.strip_prefix("lexicon"))?.to_owned();
        line.split_whitespace().next()?.parse::<usize>().ok()
    };
    dir.train("guided", &["--guided-alignment", "--max-epochs", "1"]).worked();
    let known = entries("guided").unwrap();
    train_from(&dir, "guided", "unguided", &[&FROZEN[..], &["-q"]].concat()).worked();
    assert_eq!(entries("unguided"), Some(known), "unguided training keeps the base model's lexicon");
    train_from(&dir, "guided", "both", &[&FROZEN[..], &["-q", "--guided-alignment"]].concat()).worked();
    assert!(entries("both").unwrap() > known, "guided training adds new words to the lexicon");
    train_from(&dir, "model", "none", &[&FROZEN[..], &["-q", "--guided-alignment"]].concat()).worked();
    assert_eq!(entries("none"), None, "the base model has no lexicon");
}

#[test]
fn shown_config_warm_starts_the_same_model() {
    let dir = dir();
    for vocabulary in ["extend", "new"] {
        let options = ["--init-vocabulary", vocabulary, "--max-epochs", "2", "-q"];
        let shown = train_from(&dir, "model", "nowhere", &[&options[..], &["--show-config"]].concat());
        let value = shown.json();
        assert_eq!(
            [&value["init-from"], &value["init-vocabulary"], &value["hidden-size"]],
            [&"model".into(), &vocabulary.into(), &Value::Null]
        );
        assert_eq!(value["learning-rate"], 0.001, "half the default");
        dir.write("c.json", shown.worked());
        let plain = format!("plain-{vocabulary}");
        train_from(&dir, "model", &plain, &options).worked();
        let again = format!("again-{vocabulary}");
        dir.run(&["train", "--config", "c.json", "--out", &again, "-q"]).worked();
        let [plain, again] = [plain, again].map(|out| dir.read(&format!("{out}/model.safetensors")));
        assert!(plain == again, "{vocabulary}: another model");
    }
    assert!(!dir.path("nowhere").exists());
}

#[test]
fn warm_starts_from_averaged_and_interrupted_models() {
    let dir = dir();
    dir.run(&["average", "model", model_path(), "--out", "mean"]).worked();
    dir.train("stopped", &["--max-minutes", "0.0000001"]).worked();
    for from in ["mean", "stopped"] {
        let done = train_from(&dir, from, &format!("from-{from}"), &["--max-minutes", "0.0000001"]);
        done.worked();
        assert!(
            done.stderr.contains("embedding 32, hidden 32"),
            "sizes must come from the base model: {}",
            done.stderr
        );
    }
}

#[test]
fn refuses_options_that_contradict_the_base_model() {
    let dir = dir();
    let before = dir.contents();
    for (options, parts) in [
        (&QUICK[..6], &["--tokenization, --preset, --embedding-size cannot go with --init-from"][..]),
        (&["--hard-attention"], &["--hard-attention cannot go with --init-from"]),
        (&["--joint-vocabulary", "--lowercase"], &["--lowercase, --joint-vocabulary cannot go with --init-from"]),
        (&["--vocabulary-size", "50"], &["--vocabulary-size cannot", "--init-vocabulary new"]),
        (&["--init-vocabulary", "new", "--layers", "2"], &["--layers cannot go with --init-from"]),
        (&["--resume"], &["--init-from cannot change with --resume"]),
        (&["--guided-alignment", "-1"], &["--guided-alignment"]),
    ] {
        train_from(&dir, "model", "out", options).refused_with(2, parts);
    }
    train_from(&dir, "model", "model", &[]).refused_with(2, &["model: --init-from and --out are the same directory"]);
    train_from(&dir, "model", "./model/", &[]).refused_with(2, &["same directory"]);
    let alone = dir.run(&["train", "--train", "others.tsv", "--init-vocabulary", "new", "--out", "out"]);
    alone.refused_with(2, &["--init-vocabulary needs --init-from"]);
    assert!(dir.contents() == before, "something was written");
    let sized = ["--init-vocabulary", "new", "--vocabulary-size", "8", "--max-length", "9", "--max-epochs", "1", "-q"];
    train_from(&dir, "model", "out", &sized).worked();
    assert_eq!(config(&dir, "out")["architecture"]["source_vocabulary"], 8);
}

#[test]
fn refuses_a_missing_or_damaged_base_model() {
    let dir = dir();
    std::fs::create_dir(dir.path("empty")).unwrap();
    for from in ["gone", "empty", "pairs.tsv"] {
        train_from(&dir, from, "out", &[]).refused_with(1, &[from, "no model here", "--init-from"]);
    }
    let model = dir.read("model/model.safetensors");
    dir.write("model/model.safetensors", &model[..model.len() / 2]);
    train_from(&dir, "model", "out", &[]).refused_with(1, &["model/model.safetensors: damaged"]);
    dir.write("model/model.safetensors", model);
    let mut newer = config(&dir, "model");
    newer["format_version"] = 99.into();
    dir.write("model/config.json", newer.to_string());
    train_from(&dir, "model", "out", &[]).refused_with(1, &["model/config.json", "format version 99"]);
    assert!(!dir.path("out").exists());
}
