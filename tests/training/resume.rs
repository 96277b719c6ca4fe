//! `train --resume`: a resumed run equals an uninterrupted one, and options that could change it are refused.

use crate::common::tensors::Tensors;
use crate::common::{self, Outcome, PAIRS, QUICK, TestDir, json, tsv};
use clap::{Arg, ArgAction, CommandFactory, Parser};
use serde_json::Value;
use softalign::cli::Cli;

/// Options allowed with --resume, grouped where one requires the other.
const ALLOWED: [&[&str]; 12] = [
    &["--out=out"],
    &["--train=pairs.tsv"],
    &["--source=pairs.tsv", "--target=pairs.tsv"],
    &["--valid=pairs.tsv"],
    &["--valid-source=pairs.tsv", "--valid-target=pairs.tsv"],
    &["--monolingual-target=pairs.tsv"],
    &["--guide=links"],
    &["--max-epochs=9"],
    &["--max-minutes=1"],
    &["--patience=9"],
    &["--save-every=1"],
    &["--verbose"],
];

/// Returns `--name` or `--name=value` with a value clap accepts.
fn example(argument: &Arg) -> String {
    let name = argument.get_long().unwrap();
    let choices = argument.get_possible_values();
    match (argument.get_action(), choices.first()) {
        (ArgAction::SetTrue, _) => format!("--{name}"),
        (_, Some(choice)) => format!("--{name}={}", choice.get_name()),
        (_, None) => {
            let values = ["1", "1,2", "en-fr"].map(|value| format!("--{name}={value}"));
            let accepted = |option: &&String| Cli::try_parse_from(["softalign", "train", option]).is_ok();
            values.iter().find(accepted).unwrap_or_else(|| panic!("--{name} takes none of {values:?}")).clone()
        }
    }
}

fn resume(dir: &TestDir, options: &[&str]) -> Outcome {
    dir.run(&[&["train", "--resume"], options].concat())
}

#[test]
fn resume_refuses_every_other_option() {
    let dir = TestDir::with_pairs();
    let command = Cli::command();
    let train = command.find_subcommand("train").unwrap();
    let name = |option: &str| option.trim_start_matches("--").split('=').next().unwrap().to_owned();
    let allowed: Vec<String> = ALLOWED.concat().into_iter().chain(["--resume"]).map(name).collect();
    // Positional training files count as --train.
    let options = || train.get_arguments().filter(|argument| argument.get_long().is_some());
    let fixed = options().filter(|argument| !allowed.iter().any(|name| argument.get_long() == Some(name)));
    let mut refused = Vec::new();
    for option in fixed.map(example) {
        resume(&dir, &[&option]).refused_with(2, &[&format!("--{} cannot change with --resume", name(&option))]);
        refused.push(name(&option));
    }
    assert_eq!(refused.len() + allowed.len(), options().count(), "{refused:?} {allowed:?}");
    for known in ["tokenization", "joint-vocabulary", "hidden-size", "guided-alignment", "seed"] {
        assert!(refused.iter().any(|name| name == known), "{known}: {refused:?}");
    }
    let several = resume(&dir, &["--seed", "3", "--no-tied-embeddings", "--max-epochs", "4"]);
    several.refused_with(2, &["error: --no-tied-embeddings, --seed cannot change"]);
}

#[test]
fn resume_accepts_limits() {
    let dir = TestDir::with_pairs();
    for options in [&[&[][..]], &ALLOWED[..], &[&["--quiet", "--device=cpu"]]].concat() {
        // There is nothing to resume, which is detected only after the options are checked.
        resume(&dir, options).refused_with(1, &["no resumable training state"]);
    }
}

/// A run may end after saving its last step but before validating it.
#[test]
fn next_run_validates_the_final_checkpoint() {
    let dir = TestDir::with_pairs();
    let options = ["--validate-every", "1000", "--save-every", "0.00001", "--schedule", "plateau", "--max-epochs"];
    dir.train("whole", &[&options[..], &["2"]].concat()).worked();
    dir.train("cut", &[&options[..], &["1"]].concat()).worked();
    let log = dir.text("cut/log.jsonl");
    std::fs::remove_file(dir.path("cut/log.jsonl")).unwrap();
    // An unwritable log makes the run fail before it validates.
    std::fs::create_dir(dir.path("cut/log.jsonl")).unwrap();
    let resume = ["train", "--resume", "--out", "cut", "--max-epochs", "2", "--save-every", "0.00001", "--quiet"];
    dir.run(&resume).refused_with(1, &["log.jsonl: cannot write this file"]);
    std::fs::remove_dir(dir.path("cut/log.jsonl")).unwrap();
    dir.write("cut/log.jsonl", log);
    dir.run(&resume).worked();
    assert!(dir.read("whole/model.safetensors") == dir.read("cut/model.safetensors"));
    let last_loss = |out: &str| {
        let log = dir.text(&format!("{out}/log.jsonl"));
        json(log.lines().last().unwrap())["loss"].clone()
    };
    assert_eq!(last_loss("whole"), last_loss("cut"));
}

#[test]
fn resumed_run_beyond_its_time_limit_takes_no_step() {
    let dir = TestDir::with_pairs();
    dir.train("out", &["--max-minutes", "0.0001"]).worked();
    let steps = || json(&dir.text("out/resume.json"))["step"].clone();
    let before = steps();
    let again = dir.run(&["train", "--resume", "--out", "out"]);
    assert!(again.stderr.contains("time limit reached"), "{}", again.stderr);
    assert_eq!(steps(), before);
}

#[test]
fn bpe_dropout_resumes_within_an_epoch() {
    let dir = TestDir::with_pairs();
    let options = ["train", "--train", "pairs.tsv", "--vocabulary-size", "40", "--batch-sentences", "2", "--quiet"];
    let options = [
        &options[..],
        &["--schedule", "plateau", "--preset", "tiny", "--guided-alignment=0.1", "--metric", "perplexity"],
    ]
    .concat();
    let run = |out: &str, more: &[&str]| dir.run(&[&options[..], &["--out", out], more].concat()).worked().to_owned();
    let resegmented = ["--bpe-dropout", "0.3", "--validate-every", "4"];
    run("whole", &[&resegmented[..], &["--max-epochs", "3"]].concat());
    run("stopped", &[&resegmented[..], &["--max-minutes", "0.0000001"]].concat());
    let resume = ["train", "--out", "stopped", "--resume", "--max-epochs", "3", "--max-minutes", "60", "--quiet"];
    dir.run(&resume).worked();
    let [whole, stopped] = ["whole", "stopped"].map(|run| dir.read(&format!("{run}/model.safetensors")));
    assert!(whole == stopped, "the resumed run differs");
    run("plain", &["--bpe-dropout", "0", "--max-epochs", "3", "--validate-every", "4"]);
    assert!(whole != dir.read("plain/model.safetensors"), "BPE dropout has no effect");
    for wrong in ["1", "-0.1", "nan"] {
        dir.train("wrong", &["--bpe-dropout", wrong]).refused_with(2, &["--bpe-dropout"]);
    }
}

#[test]
fn moving_average_resumes_exactly() {
    let dir = TestDir::with_pairs();
    let options = ["--ema-decay", "0.99", "--schedule", "plateau"];
    dir.train("whole", &[&options[..], &["--max-epochs", "4"]].concat()).worked();
    dir.train("stopped", &[&options[..], &["--max-epochs", "2"]].concat()).worked();
    dir.run(&["train", "--out", "stopped", "--resume", "--max-epochs", "4", "--quiet"]).worked();
    let [whole, stopped] = ["whole", "stopped"].map(|run| dir.read(&format!("{run}/model.safetensors")));
    assert!(whole == stopped, "the resumed run differs");
    let plain = dir.train("plain", &["--ema-decay", "0", "--max-epochs", "4", "--schedule", "plateau"]);
    plain.worked();
    assert!(whole != dir.read("plain/model.safetensors"), "the moving average has no effect");
    for wrong in ["1", "-0.1", "nan"] {
        dir.train("wrong", &["--ema-decay", wrong]).refused_with(2, &["--ema-decay"]);
    }
}

#[test]
fn resume_requires_a_resumable_state() {
    let dir = TestDir::with_pairs();
    let resume = ["train", "--quiet", "--resume", "--out", "missing"];
    dir.run(&resume).refused_with(1, &["missing", "resume.safetensors"]);
    assert!(!dir.path("missing").exists());
}

#[test]
fn refused_resume_changes_nothing() {
    let dir = TestDir::with_model();
    dir.write("other.tsv", tsv(&PAIRS[1..]));
    dir.write("broken.tsv", "no tab\n");
    let before = dir.contents();
    let resume = |options: &[&str]| {
        dir.run(&[&["train", "--quiet", "--out", "model", "--resume", "--max-epochs", "20"], options].concat())
    };
    resume(&["--train", "other.tsv"]).refused_with(1, &["other.tsv", "--resume"]);
    resume(&["--train", "broken.tsv"]).refused_with(1, &["broken.tsv:1"]);
    resume(&["--train", "missing.tsv"]).refused_with(1, &["missing.tsv"]);
    resume(&["--valid", "other.tsv"]).refused_with(1, &["--resume"]);
    for (option, value) in
        [("--hidden-size", "64"), ("--tokenization", "char"), ("--seed", "3"), ("--learning-rate", "1")]
    {
        resume(&[option, value]).refused_with(2, &[option, "--resume"]);
    }
    assert!(dir.contents() == before);
}

#[test]
fn refuses_settings_edited_by_hand_and_names_them() {
    let edits = [
        ("seed", Value::from(3)),
        ("learning_rate", Value::from(0.5)),
        ("metric", Value::from("chrf")),
        ("label_smoothing", Value::from(0.3)),
        ("max_length", Value::from(64)),
    ];
    for (name, value) in edits {
        let dir = TestDir::with_model();
        let mut config = json(&dir.text("model/config.json"));
        let section = if name == "max_length" { "text" } else { "training" };
        assert!(config[section].get(name).is_some_and(|was| *was != value), "{name}");
        config[section][name] = value;
        dir.write("model/config.json", config.to_string());
        let before = dir.contents();
        let resume = ["train", "--quiet", "--out", "model", "--resume", "--max-epochs", "20"];
        dir.run(&resume).refused_with(1, &["model/config.json", name, "edited", "--out"]);
        assert!(dir.contents() == before);
    }
}

#[test]
fn resume_from_another_directory_names_the_missing_file() {
    let dir = TestDir::with_pairs();
    dir.write("valid.tsv", tsv(&PAIRS[..3]));
    dir.write("a.txt", PAIRS.map(|(source, _)| format!("{source}\n")).concat());
    dir.write("b.txt", PAIRS.map(|(_, target)| format!("{target}\n")).concat());
    dir.train("model", &["--max-epochs", "1", "--valid", "valid.tsv"]).worked();
    let sides = ["train", "--source", "a.txt", "--target", "b.txt", "--max-epochs", "1", "--out", "sides"];
    dir.run(&[&sides[..], &QUICK].concat()).worked();
    std::fs::create_dir(dir.path("elsewhere")).unwrap();
    let resume = |options: &[&str]| {
        let resume = ["train", "--resume", "--quiet", "--max-epochs", "2", "--out"];
        let mut command = dir.command(&[&resume[..], options].concat());
        command.current_dir(dir.path("elsewhere"));
        common::outcome(command)
    };
    resume(&["../model"]).refused_with(1, &["../model: pairs.tsv: ", "was not found", "--train"]);
    let training = ["../model", "--train", "../pairs.tsv"];
    resume(&training).refused_with(1, &["../model: valid.tsv: ", "was not found", "--valid"]);
    resume(&[&training[..], &["--valid", "../valid.tsv"]].concat()).worked();
    resume(&["../sides"]).refused_with(1, &["a.txt: ", "--source and --target"]);
}

#[test]
fn damaged_resume_file_is_named_and_kept() {
    let dir = TestDir::with_model();
    let good = dir.read("model/resume.safetensors");
    let other = dir.read("model/model.safetensors");
    for bytes in [&good[..good.len() / 2], &[], b"noise", &other] {
        dir.write("model/resume.safetensors", bytes);
        let before = dir.contents();
        let resume = ["train", "--quiet", "--out", "model", "--resume", "--max-epochs", "20"];
        dir.run(&resume).refused_with(1, &["model/resume.safetensors"]);
        assert!(dir.contents() == before);
    }
}

#[test]
fn resuming_a_finished_run_succeeds() {
    let dir = TestDir::with_model();
    let before = dir.read("model/model.safetensors");
    dir.run(&["train", "--quiet", "--out", "model", "--resume", "--max-epochs", "10"]).worked();
    assert!(dir.read("model/model.safetensors") == before);
}

#[test]
fn same_seed_gives_the_same_bytes() {
    let dir = TestDir::with_pairs();
    for (out, seed) in [("a", "7"), ("b", "7"), ("c", "8")] {
        dir.train(out, &["--max-epochs", "2", "--seed", seed]).worked();
    }
    let [a, b, c] = ["a", "b", "c"].map(|out| dir.read(&format!("{out}/model.safetensors")));
    assert!(a == b, "the same seed gives another model");
    assert!(a != c, "another seed gives the same model");
    assert_eq!(config_of(&dir, "a"), config_of(&dir, "b"));
    for name in ["source.tokenizer.json", "target.tokenizer.json"] {
        assert_eq!(dir.text(&format!("a/{name}")), dir.text(&format!("b/{name}")));
    }
}

/// config.json without the invocation, which names the directory.
fn config_of(dir: &TestDir, out: &str) -> Value {
    let mut config = json(&dir.text(&format!("{out}/config.json")));
    let begun = config.as_object_mut().unwrap().remove("begun").unwrap();
    assert!(begun["command_line"].as_array().unwrap().contains(&Value::from(out)), "{begun}");
    assert_eq!(begun["threads"], 1);
    config
}

#[test]
fn two_epochs_resumed_for_two_equal_four() {
    let dir = TestDir::with_pairs();
    // With dropout, the resumed run must draw the same random numbers.
    let settings = ["train", "--train", "pairs.tsv", "--quiet", "--preset", "tiny", "--dropout", "0.2"];
    // The default schedule depends on the number of epochs; plateau does not.
    let settings =
        [&settings[..], &["--batch-sentences", "2", "--hidden-size", "32", "--schedule", "plateau"]].concat();
    let state = |out: &str| Tensors::read(&dir.read(&format!("{out}/resume.safetensors"))).without_metadata();
    dir.run(&[&settings[..], &["--out", "whole", "--max-epochs", "4"]].concat()).worked();
    dir.run(&[&settings[..], &["--out", "parts", "--max-epochs", "2"]].concat()).worked();
    assert!(state("parts") != state("whole"), "two epochs equal four");
    dir.run(&["train", "--out", "parts", "--resume", "--quiet", "--max-epochs", "4"]).worked();
    assert!(dir.read("parts/model.safetensors") == dir.read("whole/model.safetensors"));
    assert_eq!(config_of(&dir, "parts"), config_of(&dir, "whole"));
    assert!(state("parts") == state("whole"), "parameters or moments differ");
    // The expected score is corrected by all validations, also those before.
    let [parts, whole] = ["parts", "whole"].map(|out| {
        let header = Tensors::read(&dir.read(&format!("{out}/resume.safetensors"))).header;
        json(header["__metadata__"]["best_validations"].as_str().unwrap())
    });
    assert_eq!(whole.as_array().unwrap().len(), 4);
    assert_eq!(parts, whole);
    let [parts, whole] = ["parts", "whole"].map(|out| dir.text(&format!("{out}/log.jsonl")).lines().count());
    assert_eq!(parts, whole);
}

#[test]
fn resumes_within_an_epoch_exactly() {
    let dir = TestDir::with_pairs();
    let settings = ["--max-epochs", "3", "--schedule", "plateau"];
    dir.train("whole", &settings).worked();
    // The time limit ends the run after its first step.
    dir.train("parts", &[&settings[..], &["--max-minutes", "0.0000001"]].concat()).worked();
    let progress = json(&dir.text("parts/resume.json"));
    assert_eq!((&progress["step"], &progress["epoch"]), (&Value::from(1), &Value::from(0)));
    dir.run(&["train", "--out", "parts", "--resume", "--quiet", "--max-minutes", "60"]).worked();
    let [parts, whole] =
        ["parts", "whole"].map(|out| Tensors::read(&dir.read(&format!("{out}/resume.safetensors"))).without_metadata());
    assert!(parts == whole, "parameters or moments differ");
}

/// The first lines of the shipped corpus.
fn shipped_pairs(count: usize) -> String {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/data/train.tsv")).unwrap();
    text.split_inclusive('\n').take(count).collect()
}

#[test]
fn resumed_run_keeps_guided_alignment() {
    let dir = TestDir::new();
    // Enough pairs to enable guided alignment by default.
    dir.write("pairs.tsv", shipped_pairs(2200));
    let settings = ["train", "--train", "pairs.tsv", "--quiet", "--preset", "tiny", "--tokenization", "word"];
    let sizes = ["--hidden-size", "16", "--embedding-size", "16", "--attention-size", "16", "--batch-sentences", "256"];
    let train = |out: &str, options: &[&str]| {
        dir.run(&[&settings[..], &sizes, &["--schedule", "plateau", "--out", out], options].concat()).worked();
    };
    let state = |out: &str| Tensors::read(&dir.read(&format!("{out}/resume.safetensors"))).without_metadata();
    train("whole", &["--max-epochs", "2"]);
    assert!(dir.text("whole/config.json").contains("\"guided_alignment\": 0.1"));
    train("epochs", &["--max-epochs", "1"]);
    // The time limit ends the run after its first step.
    train("middle", &["--max-epochs", "2", "--max-minutes", "0.0000001"]);
    for out in ["epochs", "middle"] {
        dir.run(&["train", "--out", out, "--resume", "--quiet", "--max-epochs", "2", "--max-minutes", "60"]).worked();
        assert!(state(out) == state("whole"), "{out}: parameters or moments differ");
    }
}

#[test]
fn refuses_to_resume_guided_training_without_its_aligner() {
    let dir = TestDir::with_pairs();
    dir.train("out", &["--max-epochs", "1", "--guided-alignment=0.5"]).worked();
    std::fs::remove_file(dir.path("out/aligner.safetensors")).unwrap();
    let before = dir.contents();
    let resume = dir.run(&["train", "--out", "out", "--resume", "--quiet", "--max-epochs", "2"]);
    resume.refused_with(1, &["out: aligner.safetensors is missing", "--out"]);
    assert!(dir.contents() == before);
}
