//! What `train --resume` refuses: every option that clap knows, but for the few that may go with it.

mod common;

use clap::{Arg, ArgAction, CommandFactory, Parser};
use common::{Folder, Outcome};
use serde_json::Value;
use softalign::cli::Cli;

/// Options that may go with --resume, together where one needs the other.
const ALLOWED: [&[&str]; 10] = [
    &["--out=out"],
    &["--train=pairs.tsv"],
    &["--source=pairs.tsv", "--target=pairs.tsv"],
    &["--valid=pairs.tsv"],
    &["--valid-source=pairs.tsv", "--valid-target=pairs.tsv"],
    &["--guide=links"],
    &["--max-epochs=9"],
    &["--max-minutes=1"],
    &["--patience=9"],
    &["--save-every=1"],
];

/// `--name` with a value that clap takes, if the option has one.
fn given(argument: &Arg) -> String {
    let name = argument.get_long().unwrap();
    let choices = argument.get_possible_values();
    match (argument.get_action(), choices.first()) {
        (ArgAction::SetTrue, _) => format!("--{name}"),
        (_, Some(choice)) => format!("--{name}={}", choice.get_name()),
        (_, None) => {
            let values = ["1", "1,2"].map(|value| format!("--{name}={value}"));
            let taken = |option: &&String| Cli::try_parse_from(["softalign", "train", option]).is_ok();
            values.iter().find(taken).unwrap_or_else(|| panic!("--{name} takes none of {values:?}")).clone()
        }
    }
}

fn resume(folder: &Folder, options: &[&str]) -> Outcome {
    folder.run(&[&["train", "--resume"], options].concat())
}

#[test]
fn every_other_option_is_refused() {
    let folder = Folder::with_pairs();
    let command = Cli::command();
    let train = command.find_subcommand("train").unwrap();
    let name = |option: &str| option.trim_start_matches("--").split('=').next().unwrap().to_owned();
    let allowed: Vec<String> = ALLOWED.concat().into_iter().chain(["--resume"]).map(name).collect();
    let settled =
        train.get_arguments().filter(|argument| !allowed.iter().any(|name| argument.get_long() == Some(name)));
    let mut refused = Vec::new();
    for option in settled.map(given) {
        resume(&folder, &[&option]).refused_with(2, &[&format!("--{} cannot change with --resume", name(&option))]);
        refused.push(name(&option));
    }
    assert_eq!(refused.len() + allowed.len(), train.get_arguments().count(), "{refused:?} {allowed:?}");
    for known in ["units", "joint-vocabulary", "hidden-size", "guided-alignment", "seed"] {
        assert!(refused.iter().any(|name| name == known), "{known}: {refused:?}");
    }
    let several = resume(&folder, &["--seed", "3", "--untied", "--max-epochs", "4"]);
    several.refused_with(2, &["error: --untied, --seed cannot change"]);
}

#[test]
fn what_may_go_with_it_is_let_through() {
    let folder = Folder::with_pairs();
    for options in [&[&[][..]], &ALLOWED[..], &[&["--quiet", "--device=cpu"]]].concat() {
        // There is nothing to resume, which is found only after the options.
        resume(&folder, options).refused_with(1, &["nothing to go on with"]);
    }
}

/// A run may end between saving its last step and judging it.
#[test]
fn what_was_saved_at_the_end_is_judged_by_the_next_run() {
    let folder = Folder::with_pairs();
    let options = ["--validate-every", "1000", "--save-every", "0.00001", "--schedule", "plateau", "--max-epochs"];
    folder.train("whole", &[&options[..], &["2"]].concat()).worked();
    folder.train("cut", &[&options[..], &["1"]].concat()).worked();
    let log = folder.text("cut/log.jsonl");
    std::fs::remove_file(folder.path("cut/log.jsonl")).unwrap();
    // Where the log cannot be written there is no validation.
    std::fs::create_dir(folder.path("cut/log.jsonl")).unwrap();
    let go_on = ["train", "--resume", "--out", "cut", "--max-epochs", "2", "--save-every", "0.00001", "--quiet"];
    folder.run(&go_on).refused_with(1, &["log.jsonl: cannot write this file"]);
    std::fs::remove_dir(folder.path("cut/log.jsonl")).unwrap();
    folder.write("cut/log.jsonl", log);
    folder.run(&go_on).worked();
    assert!(folder.read("whole/model.safetensors") == folder.read("cut/model.safetensors"));
    let last_loss = |out: &str| {
        let log = folder.text(&format!("{out}/log.jsonl"));
        serde_json::from_str::<Value>(log.lines().last().unwrap()).unwrap()["loss"].clone()
    };
    assert_eq!(last_loss("whole"), last_loss("cut"));
}

/// A run that goes on after its time takes no step more.
#[test]
fn a_run_whose_time_is_over_ends_at_once() {
    let folder = Folder::with_pairs();
    folder.train("out", &["--max-minutes", "0.0001"]).worked();
    let steps = || serde_json::from_str::<Value>(&folder.text("out/resume.json")).unwrap()["step"].clone();
    let before = steps();
    let again = folder.run(&["train", "--resume", "--out", "out"]);
    assert!(again.stderr.contains("the time is over"), "{}", again.stderr);
    assert_eq!(steps(), before);
}

#[test]
fn units_that_are_cut_anew_go_on_in_the_middle_of_an_epoch() {
    let folder = Folder::with_pairs();
    let options = ["train", "--train", "pairs.tsv", "--vocabulary-size", "40", "--batch-sentences", "2", "--quiet"];
    let options = [
        &options[..],
        &["--schedule", "plateau", "--preset", "tiny", "--guided-alignment=0.1", "--metric", "perplexity"],
    ]
    .concat();
    let run =
        |out: &str, more: &[&str]| folder.run(&[&options[..], &["--out", out], more].concat()).worked().to_owned();
    let cut_anew = ["--bpe-dropout", "0.3", "--validate-every", "4"];
    run("whole", &[&cut_anew[..], &["--max-epochs", "3"]].concat());
    run("stopped", &[&cut_anew[..], &["--max-minutes", "0.0000001"]].concat());
    let resume = ["train", "--out", "stopped", "--resume", "--max-epochs", "3", "--max-minutes", "60", "--quiet"];
    folder.run(&resume).worked();
    let [whole, stopped] = ["whole", "stopped"].map(|run| folder.read(&format!("{run}/model.safetensors")));
    assert!(whole == stopped, "a run that was stopped learns something else");
    run("plain", &["--bpe-dropout", "0", "--max-epochs", "3", "--validate-every", "4"]);
    assert!(whole != folder.read("plain/model.safetensors"), "nothing is cut anew");
    for wrong in ["1", "-0.1", "nan"] {
        folder.train("wrong", &["--bpe-dropout", wrong]).refused_with(2, &["--bpe-dropout"]);
    }
}

#[test]
fn an_average_goes_on_where_it_stopped() {
    let folder = Folder::with_pairs();
    let options = ["--average-decay", "0.99", "--schedule", "plateau"];
    folder.train("whole", &[&options[..], &["--max-epochs", "4"]].concat()).worked();
    folder.train("stopped", &[&options[..], &["--max-epochs", "2"]].concat()).worked();
    folder.run(&["train", "--out", "stopped", "--resume", "--max-epochs", "4", "--quiet"]).worked();
    let [whole, stopped] = ["whole", "stopped"].map(|run| folder.read(&format!("{run}/model.safetensors")));
    assert!(whole == stopped, "a run that was stopped keeps another model");
    let plain = folder.train("plain", &["--average-decay", "0", "--max-epochs", "4", "--schedule", "plateau"]);
    plain.worked();
    assert!(whole != folder.read("plain/model.safetensors"), "the average is the parameters themselves");
    for wrong in ["1", "-0.1", "nan"] {
        folder.train("wrong", &["--average-decay", wrong]).refused_with(2, &["--average-decay"]);
    }
}
