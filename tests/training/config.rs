//! Options from a configuration file: valid contents, precedence, and reproduction of a training.

use std::collections::BTreeSet;

use crate::common::{PAIRS, QUICK, TestDir, json, model_path, outcome, tsv};
use clap::CommandFactory;
use serde_json::{Value, json};
use softalign::cli::Cli;
use softalign::kernels::matrix::bf16_instructions;

/// Options of `train` that do not affect the model, or that other options express.
const NOT_SHOWN: [&str; 6] = ["resume", "show-config", "config", "preset", "out", "verbose"];
/// Options shown only where set: they exclude each other, need another option or have no default.
const SHOWN_IF_SET: [&str; 26] = [
    "languages",
    "monolingual-target",
    "attention-pairs",
    "on-error",
    "protected-tokens",
    "features",
    "tag-source",
    "init-from",
    "init-vocabulary",
    "source",
    "target",
    "valid",
    "valid-source",
    "valid-target",
    "columns",
    "source-tokenization",
    "target-tokenization",
    "guide",
    "keep-best",
    "keep-last",
    "batch-tokens",
    "decay",
    "max-minutes",
    "patience",
    "validate-every",
    "vocabulary-size",
];

/// config.json without the invocation, and the recorded command line.
fn read_config(dir: &TestDir, out: &str) -> (Value, Vec<String>) {
    let mut config = json(&dir.text(&format!("{out}/config.json")));
    let begun = config.as_object_mut().unwrap().remove("begun").unwrap();
    (config, serde_json::from_value(begun["command_line"].clone()).unwrap())
}

#[test]
fn options_that_cannot_act_are_refused() {
    let dir = TestDir::with_pairs();
    for schedule in ["hold", "cosine"] {
        let refused = dir.train("out", &["--decay", "0.5", "--schedule", schedule]);
        refused.refused_with(2, &["--decay needs --schedule plateau"]);
    }
    dir.train("out", &["--bpe-dropout", "0.5"])
        .refused_with(2, &["--bpe-dropout needs subwords", "--tokenization bpe"]);
    let show = |options: &[&str]| dir.train("out", &[options, &["--show-config"]].concat()).json();
    assert_eq!(show(&["--bpe-dropout", "0", "--schedule", "hold"])["decay"], Value::Null);
    assert_eq!(show(&["--schedule", "plateau"])["decay"], 0.5);
    assert!(!dir.path("out").exists());
}

#[test]
fn shown_config_trains_the_same_model() {
    let spoken = "abby\ta b i\nabandonner\ta b ɑ̃ d ɔ n e\nabidjan\ta b i d ʒ ɑ̃\n";
    let quoted = "n;source;target\n".to_owned() + &PAIRS.map(|(a, b)| format!("1;\"{a}\";{b}\n")).concat();
    for (pairs, options) in [
        (tsv(&PAIRS).repeat(3), &["--dropout=0.2", "--guided-alignment", "--heads=2", "--keep-attention"][..]),
        (spoken.to_owned(), &["--metric=exact-match", "--schedule=plateau", "--batch-tokens=50", "--keep-best=2"]),
        (
            quoted,
            &[
                "--csv",
                "--columns=source,target",
                "--joint-vocabulary",
                "--attention=mean",
                "--no-tied-embeddings",
                "--keep-last=1",
            ],
        ),
    ] {
        let dir = TestDir::new();
        dir.write("pairs.tsv", pairs);
        let train =
            [&["train", "--train", "pairs.tsv", "--preset", "tiny", "--max-epochs", "2", "-q"], options].concat();
        let shown = dir.run(&[&train[..], &["--show-config"]].concat());
        assert_eq!((dir.contents().len(), &shown.stderr[..]), (1, ""), "--show-config writes files or notes");
        dir.write("c.json", shown.worked());
        dir.run(&[&train[..], &["--out", "plain"]].concat()).worked();
        dir.run(&["train", "--config", "c.json", "--out", "again", "-q"]).worked();
        let model = |out: &str| dir.read(&format!("{out}/model.safetensors"));
        assert!(model("plain") == model("again"), "{options:?}: another model");
        let ((plain, _), (again, begun)) = (read_config(&dir, "plain"), read_config(&dir, "again"));
        assert_eq!(plain, again, "{options:?}");
        assert!(
            !begun.iter().any(|part| part.contains("config")),
            "the recorded command line must not depend on the file: {begun:?}"
        );
    }
}

#[test]
fn show_config_prints_every_resolved_setting() {
    let dir = TestDir::with_pairs();
    let shown = dir.run(&["train", "--train", "pairs.tsv", "--show-config"]);
    let shown = json(shown.worked());
    assert_eq!(
        (&shown["hidden-size"], &shown["metric"], &shown["tokenization"]),
        (&json!(256), &json!("bleu"), &json!("bpe"))
    );
    let mut cli = Cli::command();
    cli.build();
    let options = cli.find_subcommand("train").unwrap().get_arguments().filter_map(|argument| argument.get_long());
    let excluded = [&NOT_SHOWN[..], &SHOWN_IF_SET, &["help", "version", "quiet", "color"]].concat();
    let expected: BTreeSet<&str> = options.filter(|long| !excluded.contains(long)).chain(["vocabulary-size"]).collect();
    let names: BTreeSet<&str> = shown.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(names, expected);
    dir.run(&["train", "--resume", "--show-config"]).refused_with(2, &["--show-config cannot change with --resume"]);
}

/// `auto` depends on the processor.
#[test]
fn precision_is_recorded_and_kept_by_resume() {
    let dir = TestDir::with_pairs();
    let precision = |out: &str| read_config(&dir, out).0["training"]["precision"].clone();
    let model = |out: &str| dir.read(&format!("{out}/model.safetensors"));
    for (out, options) in [
        ("f32", &["--max-epochs=1", "--precision=f32"][..]),
        ("bf16", &["--max-epochs=1", "--precision=bf16"]),
        ("auto", &["--max-epochs=1", "--precision=auto"]),
        ("default", &["--max-epochs=1"]),
        ("longer", &["--max-epochs=2", "--precision=bf16"]),
    ] {
        dir.train(out, &[&["--schedule=plateau"], options].concat()).worked();
    }
    assert_eq!((precision("f32"), precision("bf16")), (json!("f32"), json!("bf16")));
    let auto = if bf16_instructions().is_some() { "bf16" } else { "f32" };
    for (out, expected) in [("auto", auto), ("default", auto)] {
        assert_eq!((precision(out), model(out)), (json!(expected), model(expected)));
    }
    assert!(model("f32") != model("bf16"), "nothing was rounded");
    dir.run(&["train", "--resume", "--out", "bf16", "--max-epochs", "2"]).worked();
    assert_eq!((precision("bf16"), model("bf16")), (json!("bf16"), model("longer")));
}

#[test]
fn command_line_overrides_the_config_file() {
    let dir = TestDir::with_pairs();
    dir.write(
        "c.json",
        json!({"train": "gone.tsv", "max_epochs": 1, "batch-tokens": 50, "seed": 7, "no-tied-embeddings": true})
            .to_string(),
    );
    let train = ["train", "--config", "c.json", "--source", "a", "--target", "b", "--show-config"];
    dir.write("a", "a fox\n");
    dir.write("b", "mi\n");
    let shown = dir.run(&[&train[..], &["--seed", "3", "--batch-sentences=4"]].concat());
    let shown = json(shown.worked());
    let value = |key: &str| shown[key].clone();
    assert_eq!((value("seed"), value("max-epochs"), value("no-tied-embeddings")), (json!(3), json!(1), json!(true)));
    assert_eq!((value("train"), value("source")), (Value::Null, json!("a")), "the command line replaces --train");
    assert_eq!((value("batch-tokens"), value("batch-sentences")), (Value::Null, json!(4)));
}

#[test]
fn every_command_reads_a_config_file() {
    let dir = TestDir::with_pairs();
    let config = json!({"model": model_path(), "format": "jsonl", "n_best": 2, "tokens": false, "input": "none",
        "threads": 1, "coverage-penalty": null});
    dir.write("c.json", config.to_string());
    let translate = |arguments: &[&str]| {
        let mut command = dir.command(arguments);
        command.env("SOFTALIGN_MODEL", "nope");
        outcome(command).worked().lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let lines = translate(&["translate", "--config=c.json", "the red fox sleeps"]);
    assert!(lines.len() == 2 && lines[0].contains("rufo mi dorma ."), "{lines:?}");
    // The option may precede the command; after -- it is text.
    assert_eq!(translate(&["--config", "c.json", "translate", "--n-best", "1", "--", "--config", "a"]).len(), 2);
    dir.write(
        "several.json",
        json!({"model": [model_path(), model_path()], "pairs": "pairs.tsv", "json": true}).to_string(),
    );
    let measured = dir.run(&["evaluate", "--config", "several.json"]);
    assert_eq!(json(measured.worked())["models"].as_array().unwrap().len(), 2);
    dir.write(
        "accept.json",
        json!({"pairs": "pairs.tsv", "accept": ["long", "script"], "columns": [1, 2]}).to_string(),
    );
    dir.run(&["clean", "--config", "accept.json"]).worked();
    dir.write("forward.links", "0-0\n");
    dir.write("backward.links", "0-1\n");
    dir.write("way.json", json!({"way": "union"}).to_string());
    assert_eq!(
        dir.run(&["symmetrize", "--config", "way.json", "forward.links", "backward.links"]).worked(),
        "0-0 0-1\n"
    );
}

/// Presets and base models override the sizes of a configuration file.
#[test]
fn preset_on_the_command_line_overrides_sizes_of_the_config() {
    let dir = TestDir::with_model();
    let shown = dir.run(&["train", "--train", "pairs.tsv", "--preset", "tiny", "--show-config"]);
    dir.write("settings.json", shown.worked());
    let preset = dir.run(&["train", "--config", "settings.json", "--preset", "medium", "--show-config"]);
    assert_eq!((&preset.json()["hidden-size"], &preset.json()["learning-rate"]), (&json!(384), &json!(0.0015)));
    let from = ["train", "--config", "settings.json", "--init-from", "model", "--show-config"];
    assert!(dir.run(&from).worked().contains("\"init-from\": \"model\""));
    // The base model does not determine the size of a new vocabulary.
    dir.write("open.json", json!({"vocabulary-size": 77}).to_string());
    let new = ["train", "--config", "open.json", "--init-from", "model", "--init-vocabulary", "new", "--show-config"];
    assert_eq!(dir.run(&[&new[..], &["--train", "pairs.tsv"]].concat()).json()["vocabulary-size"], 77);
    // Presets differ in these options only.
    let options = |preset: &str| {
        let shown = ["train", "--train", "pairs.tsv", "--preset", preset, "--show-config"];
        dir.run(&shown).json().as_object().unwrap().clone()
    };
    let auto = options("auto");
    for preset in ["fast", "best", "tiny", "large"] {
        let differing: Vec<String> = options(preset)
            .into_iter()
            .filter(|(key, value)| auto.get(key) != Some(value))
            .map(|(key, _)| key)
            .collect();
        let known = ["embedding-size", "hidden-size", "attention-size", "learning-rate", "max-epochs"];
        assert!(differing.iter().all(|key| known.contains(&key.as_str())), "{preset} {differing:?}");
    }
}

#[test]
fn config_of_a_model_trains_the_same_model() {
    let dir = TestDir::with_pairs();
    let more = ["--max-epochs", "2", "--guided-alignment", "--validate-every", "5"];
    dir.train("first", &more).worked();
    let config = ["train", "--config", "first/config.json", "-q"];
    dir.run(&[&config[..], &["--out", "again"]].concat()).worked();
    dir.run(&[&config[..], &["--out", "other", "--seed", "2"]].concat()).worked();
    let model = |out: &str| dir.read(&format!("{out}/model.safetensors"));
    assert!(model("first") == model("again") && model("first") != model("other"));
    let ((first, _), (again, begun)) = (read_config(&dir, "first"), read_config(&dir, "again"));
    assert_eq!(first, again);
    assert!(
        begun.contains(&"--out=again".to_owned()) && begun.contains(&"--guided-alignment=0.5".to_owned()),
        "{begun:?}"
    );
    // A model trained from a configuration reproduces the training in turn.
    dir.run(&["train", "--config", "again/config.json", "-q", "--out", "third"]).worked();
    assert!(model("first") == model("third"));
    let resume = ["train", "--config", "first/config.json", "--resume", "--out", "first", "--max-epochs", "3", "-q"];
    dir.run(&[&resume[..], &["--guided-alignment", "0.2", "--seed", "2"]].concat())
        .refused_with(2, &["--guided-alignment, --seed cannot change with --resume"]);
    dir.run(&resume).worked();
    assert_eq!(json(&dir.text("first/resume.json"))["epoch"], 3);
    dir.run(&["translate", "--config", "first/config.json", "a"]).refused_with(2, &["first/config.json", "of a model"]);
    let mut first = json(&dir.text("first/config.json"));
    for (begun, reason) in [
        (json!({"command_line": ["translate", "a"], "threads": 1}), "does not record the options"),
        (
            json!({"command_line": [], "options": {"sideways": true}, "threads": 1}),
            "is not an option of softalign train",
        ),
        (Value::Null, "does not record the options"),
    ] {
        first["begun"] = begun;
        dir.write("c.json", first.to_string());
        dir.run(&["train", "--config", "c.json"]).refused_with(2, &["c.json: ", reason]);
    }
    dir.write("c.json", "{\"format_version\": 99}");
    dir.run(&["train", "--config", "c.json"]).refused_with(2, &["c.json: ", "format version 99"]);
}

#[test]
fn skips_a_byte_order_mark_before_a_config() {
    let dir = TestDir::with_pairs();
    dir.write("c.json", "\u{feff}{\"beam\": 1}");
    dir.run(&["translate", "--model", model_path(), "--config", "c.json", "the red fox sleeps"]).worked();
}

#[test]
fn shortens_long_config_keys_in_errors() {
    let dir = TestDir::with_pairs();
    let key = "é".repeat(5_000_000);
    dir.write("c.json", format!("{{\"{key}\": 3}}"));
    let message = dir.run(&["train", "--config", "c.json"]);
    message.refused_with(2, &["c.json: \"ééé", "é…\" is not an option of softalign train"]);
}

#[test]
fn refuses_invalid_configs_in_one_line() {
    let dir = TestDir::with_pairs();
    for (text, reasons) in [
        (
            "{\"max_epoch\": 3}",
            &["\"max_epoch\" is not an option of softalign train", "did you mean \"max-epochs\"?"][..],
        ),
        ("{\"beam\": 3}", &["\"beam\" is not an option of softalign train"]),
        ("{\"help\": true}", &["\"help\" is not an option"]),
        ("{\"config\": \"c.json\"}", &["\"config\" is not allowed"]),
        ("{\"seed\": {\"is\": 3}}", &["\"seed\" needs a value, N, not an object"]),
        ("{\"columns\": [[1], 2]}", &["\"columns\" needs S,T or an array of such values, not an array"]),
        ("{\"out\": true}", &["\"out\" needs a value, DIR, not true"]),
        ("{\"train\": true}", &["\"train\" needs FILE.tsv[:WEIGHT] or an array of such values, not true"]),
        ("{\"no-tied-embeddings\": \"yes\"}", &["\"no-tied-embeddings\" needs true or false, not a string"]),
        ("{\"lowercase\": 1}", &["\"lowercase\" needs true or false, not a number"]),
        ("{\"seed\": [1, 2]}", &["\"seed\" needs a value, N, not an array"]),
        ("{\"out\": \"\\u001b[2J\"}", &["\"out\" contains a control character"]),
        ("{\"a\\u001b\": 3}", &["is not an option"]),
        ("[\"--seed\"]", &["an object of options"]),
        ("{\"seed\": 3", &["invalid JSON", "line 1"]),
        ("", &["invalid JSON"]),
    ] {
        dir.write("c.json", text);
        let message = dir.run(&["train", "--config", "c.json"]);
        message.refused_with(2, &[&["error: c.json: "], reasons].concat());
        assert!(!message.stderr.contains('\u{1b}'), "{message:?}");
    }
    let text = json!({"beam": 1, "model": model_path()}).to_string();
    dir.write("c.json", &text);
    let twice = dir.run(&["translate", "--config", "c.json", "--output", "./c.json", "the fox"]);
    twice.refused_with(2, &["c.json: this file is both --config and --output"]);
    assert_eq!(dir.text("c.json"), text);
    dir.run(&["train", "--config", "gone.json"]).refused_with(2, &["gone.json: cannot read this file"]);
    dir.write("binary.json", [0xff, 0xfe]);
    dir.run(&["train", "--config", "binary.json"]).refused_with(2, &["binary.json: cannot read this file"]);
    // Invalid values get clap's message, with the name of the file.
    for (text, reason) in [
        (json!({"seed": "x"}), "at least 0"),
        (json!({"max-epochs": 1.5}), "at least 0"),
        (json!({"batch-sentences": 3, "batch_tokens": 30}), "cannot be used with"),
        (json!({"metric": "blue"}), "bleu"),
    ] {
        dir.write("c.json", text.to_string());
        let outcome = dir.run(&["train", "--config", "c.json"]);
        outcome.refused_with(2, &[reason, "' is set in c.json"]);
    }
    dir.write("c.json", json!({"train": true}).to_string());
    dir.run(&["train", "--config", "c.json"]).refused_with(2, &["c.json", "\"train\" needs FILE.tsv"]);
    dir.write("c.json", json!({"no-tied-embeddings": "yes"}).to_string());
    dir.run(&["train", "--config", "c.json"]).refused_with(2, &["\"no-tied-embeddings\" needs true or false"]);
    dir.write("c.json", json!({"dropout": 2}).to_string());
    dir.run(&["train", "--config", "c.json"]).refused_with(2, &["--dropout must be"]);
    assert_eq!(dir.contents().len(), 3, "something was written");
}

#[test]
fn config_can_name_the_run_to_resume() {
    let dir = TestDir::with_pairs();
    dir.run(&[&["train", "--train", "pairs.tsv", "--out", "out", "--max-epochs", "1"], &QUICK[..]].concat()).worked();
    dir.write("c.json", json!({"out": "out", "resume": true, "max-epochs": 2, "quiet": true}).to_string());
    assert_eq!(dir.run(&["train", "--config", "c.json"]).stderr, "");
    assert_eq!(json(&dir.text("out/resume.json"))["epoch"], 2);
}
