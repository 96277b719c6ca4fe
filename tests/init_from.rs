//! `train --init-from`: a model's parameters to begin with, its units kept, extended or learnt anew.

mod common;

use common::{ModelDir, Outcome, QUICK, json, model_path, tsv};
use serde_json::Value;

/// Other sentences of the same languages, with two new words on each side; one of the old ones is not among them.
const OTHERS: [(&str, &str); 6] = [
    ("the blue fox sleeps", "blua mi dorma ."),
    ("the blue owl sings", "blua ku kanta ."),
    ("the red cat runs", "rufo sa kura ."),
    ("the old cat sings", "vela sa kanta ."),
    ("the blue owl runs", "blua ku kura ."),
    ("the red cat sleeps", "rufo sa dorma ."),
];
/// Hardly anything is learnt: what the model does is what it was begun with.
const STILL: [&str; 6] = ["--max-epochs", "1", "--learning-rate", "1e-9", "--ema-decay", "0"];
const LEARN: [&str; 8] = ["--dropout", "0", "--learning-rate", "0.005", "--batch-sentences", "1", "--max-epochs", "30"];

fn folder() -> ModelDir {
    let folder = ModelDir::with_model();
    folder.write("others.tsv", tsv(&OTHERS));
    folder
}

fn train_from(folder: &ModelDir, from: &str, out: &str, options: &[&str]) -> Outcome {
    let train = ["train", "--train", "others.tsv", "--out", out, "--init-from", from];
    folder.run(&[&train, options].concat())
}

fn translated(folder: &ModelDir, model: &str, sentence: &str) -> String {
    folder.run(&["translate", "--model", model, sentence]).worked().trim_end().to_owned()
}

fn config(folder: &ModelDir, out: &str) -> Value {
    json(&folder.text(&format!("{out}/config.json")))
}

#[test]
fn what_was_learnt_is_there_from_the_beginning() {
    let folder = folder();
    let before = folder.contents();
    for (vocabulary, kept, added, dropped) in [("keep", 13, 0, 0), ("extend", 13, 2, 0), ("new", 12, 2, 1)] {
        let done = train_from(&folder, "model", vocabulary, &[&STILL[..], &["--init-vocabulary", vocabulary]].concat());
        done.worked();
        let units = format!("{kept} kept, {added} added, {dropped} dropped");
        let note = format!("initialized from model; source units: {units}; target units: {units}\n");
        assert!(done.stderr.contains(&note), "{note}: {}", done.stderr);
        let inspected = folder.run(&["inspect", vocabulary]);
        assert!(inspected.worked().contains(&note.replace("initialized from ", "began from      ")), "{inspected:?}");
        for sentence in ["the red owl runs", "the old fox sings"] {
            assert_eq!(
                translated(&folder, vocabulary, sentence),
                translated(&folder, "model", sentence),
                "{vocabulary}"
            );
        }
        let [of_model, of_new] = ["model", vocabulary].map(|out| config(&folder, out)["architecture"].clone());
        assert_eq!(of_model["hidden_size"], of_new["hidden_size"]);
        assert_eq!(of_new["source_vocabulary"], kept + added);
    }
    let after = folder.contents();
    assert!(before.iter().all(|(name, bytes)| after.get(name) == Some(bytes)), "the model was changed");
}

#[test]
fn new_words_are_learnt_where_units_are_extended() {
    let folder = folder();
    train_from(&folder, "model", "extended", &[&LEARN[..], &["-q"]].concat()).worked();
    for (source, target) in OTHERS {
        assert_eq!(translated(&folder, "extended", source), target);
    }
}

#[test]
fn characters_and_pieces_of_words_are_extended_by_characters() {
    let folder = ModelDir::with_pairs();
    folder.write("others.tsv", "the Żuk sleeps\tŻ dorma .\nthe red fox ñ!\trufo mi ñ!\n");
    for (units, source, target) in [("bpe", 4, 3), ("char", 4, 3)] {
        let train = ["train", "--train", "pairs.tsv", "--out", units, "--preset", "tiny", "--units", units, "-q"];
        folder.run(&[&train[..], &["--max-epochs", "1"]].concat()).worked();
        let out = format!("{units}-extended");
        train_from(&folder, units, &out, &["--max-epochs", "1", "-q"]).worked();
        let units_of = config(&folder, &out)["from"]["units"].clone();
        // Ż, ñ and the exclamation mark; k is new to the source alone.
        assert_eq!([&units_of[0]["added"], &units_of[1]["added"]], [source, target], "{units}: {units_of}");
    }
    let joint = ["train", "--train", "pairs.tsv", "--out", "joint", "--preset", "tiny", "--joint-vocabulary", "-q"];
    folder.run(&[&joint[..], &["--max-epochs", "1", "--lowercase"]].concat()).worked();
    train_from(&folder, "joint", "joint-extended", &["--max-epochs", "1", "-q"]).worked();
    let extended = config(&folder, "joint-extended");
    assert_eq!(
        (&extended["text"]["joint_vocabulary"], &extended["text"]["normalization"]["lowercase"]),
        (&true.into(), &true.into())
    );
    let size = extended["architecture"]["source_vocabulary"].as_u64().unwrap();
    assert_eq!(size, config(&folder, "joint")["architecture"]["source_vocabulary"].as_u64().unwrap() + 3, "ż, ñ and !");
}

#[test]
fn a_run_that_was_stopped_needs_nothing_of_where_it_began() {
    let folder = folder();
    let options = ["--init-vocabulary", "new", "--schedule", "plateau", "--batch-sentences", "2", "-q"];
    train_from(&folder, "model", "whole", &[&options[..], &["--max-epochs", "4"]].concat()).worked();
    train_from(&folder, "model", "stopped", &[&options[..], &["--max-epochs", "2"]].concat()).worked();
    std::fs::remove_dir_all(folder.path("model")).unwrap();
    folder.run(&["train", "--out", "stopped", "--resume", "--max-epochs", "4", "-q"]).worked();
    let [whole, stopped] = ["whole", "stopped"].map(|run| folder.read(&format!("{run}/model.safetensors")));
    assert!(whole == stopped, "a run that was stopped learns something else");
    assert_eq!(config(&folder, "whole")["from"], config(&folder, "stopped")["from"]);
}

#[test]
fn a_lexicon_goes_along() {
    let folder = folder();
    let entries = |out: &str| {
        let inspected = folder.run(&["inspect", out]).worked().to_owned();
        let line = inspected.lines().find_map(|line| line.strip_prefix("lexicon"))?.to_owned();
        line.split_whitespace().next()?.parse::<usize>().ok()
    };
    folder.train("guided", &["--guided-alignment", "--max-epochs", "1"]).worked();
    let known = entries("guided").unwrap();
    train_from(&folder, "guided", "unguided", &[&STILL[..], &["-q"]].concat()).worked();
    assert_eq!(entries("unguided"), Some(known), "so few pairs teach no lexicon, and the old one stays");
    train_from(&folder, "guided", "both", &[&STILL[..], &["-q", "--guided-alignment"]].concat()).worked();
    assert!(entries("both").unwrap() > known, "new words are in it");
    train_from(&folder, "model", "none", &[&STILL[..], &["-q", "--guided-alignment"]].concat()).worked();
    assert_eq!(entries("none"), None, "the model has learnt without one");
}

#[test]
fn what_is_shown_trains_the_same_model() {
    let folder = folder();
    for vocabulary in ["extend", "new"] {
        let options = ["--init-vocabulary", vocabulary, "--max-epochs", "2", "-q"];
        let shown = train_from(&folder, "model", "nowhere", &[&options[..], &["--show-config"]].concat());
        let value = shown.json();
        assert_eq!(
            [&value["init-from"], &value["init-vocabulary"], &value["hidden-size"]],
            [&"model".into(), &vocabulary.into(), &Value::Null]
        );
        assert_eq!(value["learning-rate"], 0.001, "half of the usual one");
        folder.write("c.json", shown.worked());
        let plain = format!("plain-{vocabulary}");
        train_from(&folder, "model", &plain, &options).worked();
        let again = format!("again-{vocabulary}");
        folder.run(&["train", "--config", "c.json", "--out", &again, "-q"]).worked();
        let [plain, again] = [plain, again].map(|out| folder.read(&format!("{out}/model.safetensors")));
        assert!(plain == again, "{vocabulary}: another model");
    }
    assert!(!folder.path("nowhere").exists());
}

#[test]
fn any_model_will_do() {
    let folder = folder();
    folder.run(&["average", "model", model_path(), "--out", "mean"]).worked();
    folder.train("stopped", &["--max-minutes", "0.0000001"]).worked();
    for from in ["mean", "stopped"] {
        let done = train_from(&folder, from, &format!("from-{from}"), &["--max-minutes", "0.0000001"]);
        done.worked();
        assert!(done.stderr.contains("embedding 32, hidden 32"), "time must not choose sizes: {}", done.stderr);
    }
}

#[test]
fn what_contradicts_the_model_is_refused() {
    let folder = folder();
    let before = folder.contents();
    for (options, parts) in [
        (&QUICK[..6], &["--units, --preset, --embedding-size cannot go with --init-from"][..]),
        (&["--hard-attention"], &["--hard-attention cannot go with --init-from"]),
        (&["--joint-vocabulary", "--lowercase"], &["--lowercase, --joint-vocabulary cannot go with --init-from"]),
        (&["--vocabulary-size", "50"], &["--vocabulary-size cannot", "--init-vocabulary new"]),
        (&["--init-vocabulary", "new", "--layers", "2"], &["--layers cannot go with --init-from"]),
        (&["--resume"], &["--init-from cannot change with --resume"]),
        (&["--guided-alignment", "-1"], &["--guided-alignment"]),
    ] {
        train_from(&folder, "model", "out", options).refused_with(2, parts);
    }
    train_from(&folder, "model", "model", &[])
        .refused_with(2, &["model: --init-from and --out are the same directory"]);
    train_from(&folder, "model", "./model/", &[]).refused_with(2, &["same directory"]);
    let alone = folder.run(&["train", "--train", "others.tsv", "--init-vocabulary", "new", "--out", "out"]);
    alone.refused_with(2, &["--init-vocabulary needs --init-from"]);
    assert!(folder.contents() == before, "something was written");
    let sized = ["--init-vocabulary", "new", "--vocabulary-size", "8", "--max-length", "9", "--max-epochs", "1", "-q"];
    train_from(&folder, "model", "out", &sized).worked();
    assert_eq!(config(&folder, "out")["architecture"]["source_vocabulary"], 8);
}

#[test]
fn what_is_no_model_is_refused_in_a_line() {
    let folder = folder();
    std::fs::create_dir(folder.path("empty")).unwrap();
    for from in ["gone", "empty", "pairs.tsv"] {
        train_from(&folder, from, "out", &[]).refused_with(1, &[from, "no model here for --init-from"]);
    }
    let model = folder.read("model/model.safetensors");
    folder.write("model/model.safetensors", &model[..model.len() / 2]);
    train_from(&folder, "model", "out", &[]).refused_with(1, &["model/model.safetensors: damaged"]);
    folder.write("model/model.safetensors", model);
    let mut newer = config(&folder, "model");
    newer["format_version"] = 99.into();
    folder.write("model/config.json", newer.to_string());
    train_from(&folder, "model", "out", &[]).refused_with(1, &["model/config.json", "format version 99"]);
    assert!(!folder.path("out").exists());
}
