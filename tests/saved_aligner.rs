//! A statistical aligner that is kept and used on other text; links written otherwise, and two directions made one.

mod common;

use common::{ModelDir, PAIRS, model_path, tsv};

fn folder_with_aligner() -> ModelDir {
    let folder = ModelDir::new();
    let pairs: Vec<(&str, &str)> = PAIRS.iter().cycle().take(120).copied().collect();
    folder.write("pairs.tsv", tsv(&pairs));
    folder.write("new.tsv", "the old fox sleeps\tvela mi dorma .\nsleeps the fox\tdorma mi\n\t\n");
    folder
}

const LEARN: [&str; 8] =
    ["align", "--pairs", "pairs.tsv", "--links-from", "pairs", "--save-aligner", "kept", "--format"];

#[test]
fn what_was_learnt_is_kept_and_links_other_text() {
    let folder = folder_with_aligner();
    let learnt = folder.run(&[&LEARN[..], &["pharaoh", "--quiet"]].concat());
    let again = folder.run(&["align", "--pairs", "pairs.tsv", "--aligner", "kept", "--format", "pharaoh"]);
    assert_eq!(again.worked(), learnt.worked(), "what is kept links as what was learnt");
    let new = folder.run(&["align", "--pairs", "new.tsv", "--aligner", "kept", "--format", "pharaoh", "--quiet"]);
    let lines: Vec<&str> = new.worked().lines().collect();
    assert!(lines.len() == 3 && lines[0].contains("2-2 3-3") && lines[2].is_empty(), "{new:?}");
    let by_model = folder.run(&["align", "--pairs", "new.tsv", "--aligner", model_path(), "--format", "pharaoh"]);
    assert_eq!(by_model.worked().lines().count(), 3, "a model's own will do");
}

#[test]
fn nothing_is_trained_over_a_kept_aligner() {
    let folder = folder_with_aligner();
    folder.run(&[&LEARN[..], &["pharaoh", "--quiet"]].concat()).worked();
    let before = folder.contents();
    folder.run(&["train", "--train", "pairs.tsv", "--out", "kept"]).refused_with(1, &["kept: holds an aligner"]);
    folder.run(&["average", model_path(), model_path(), "--out", "kept"]).refused_with(1, &["something here already"]);
    assert!(folder.contents() == before, "something was written");
}

#[test]
fn links_are_written_as_other_programs_want_them() {
    let folder = folder_with_aligner();
    let links = |options: &[&str]| {
        let arguments = ["align", "--pairs", "new.tsv", "--aligner", "kept", "--format", "pharaoh", "--quiet"];
        folder.run(&[&arguments, options].concat()).worked().to_owned()
    };
    folder.run(&[&LEARN[..], &["pharaoh", "--quiet"]].concat()).worked();
    let turned = |text: &str, base: usize| -> String {
        let turn = |link: &str| {
            let (source, target) = link.split_once('-').unwrap();
            let [source, target] = [source, target].map(|number| number.parse::<usize>().unwrap() + base);
            format!("{target}-{source}")
        };
        text.lines()
            .map(|line| line.split(' ').filter(|l| !l.is_empty()).map(turn).collect::<Vec<_>>().join(" ") + "\n")
            .collect()
    };
    assert_eq!(links(&["--reverse"]), turned(&links(&[]), 0));
    assert_eq!(links(&["--reverse", "--link-base", "1"]), turned(&links(&[]), 1));
    assert!(links(&["--probs", "--link-base", "1"]).starts_with("1-1:"));
}

#[test]
fn two_directions_become_one() {
    let folder = ModelDir::new();
    folder.write("forward", "0-0 1-1 2-2 4-4\n0-0:0.5\n\n");
    folder.write("backward", "0-0 1-1 1-2 3-3\n0-1\n\n");
    let links = |way: &str| folder.run(&["symmetrize", "forward", "backward", "--way", way]).worked().to_owned();
    assert_eq!(links("intersection"), "0-0 1-1\n\n\n");
    assert_eq!(links("union"), "0-0 1-1 1-2 2-2 3-3 4-4\n0-0 0-1\n\n");
    assert_eq!(links("grow-diag"), "0-0 1-1 1-2 2-2 3-3 4-4\n\n\n");
    assert_eq!(links("grow-diag-final-and"), "0-0 1-1 1-2 2-2 3-3 4-4\n0-0\n\n");
    assert_eq!(folder.run(&["symmetrize", "forward", "backward"]).worked(), links("grow-diag-final-and"));
    folder.write("turned", "0-0 1-1 2-1 3-3\n1-0\n\n");
    let turned = ["symmetrize", "forward", "turned", "--second-reversed", "--way", "union"];
    assert_eq!(folder.run(&turned).worked(), links("union"));
    folder.write("from 1", "1-1 2-2 3-3 5-5\n1-1\n\n");
    let one = ["symmetrize", "from 1", "./from 1", "--base", "1", "--way", "union", "--reverse"];
    assert_eq!(folder.run(&one).worked(), "0-0 1-1 2-2 4-4\n0-0\n\n");
}

#[test]
fn what_does_not_fit_is_refused_in_one_line() {
    let folder = folder_with_aligner();
    folder.write("links", "0-0\n");
    folder.write("other", "1\n0-0\n");
    std::fs::create_dir(folder.path("broken")).unwrap();
    folder.write("broken/aligner.safetensors", "nonsense");
    let refused = |arguments: &[&str], code: i32, said: &str| folder.run(arguments).refused_with(code, &[said]);
    refused(&["align", "--pairs", "new.tsv", "--aligner", "none"], 1, "none: no statistical aligner here");
    refused(&["align", "--pairs", "new.tsv", "--aligner", "broken"], 1, "aligner.safetensors: damaged");
    refused(&["align", "--pairs", "new.tsv", "--save-aligner", "x"], 2, "--links-from pairs");
    refused(&["align", "--pairs", "new.tsv", "--model", model_path(), "--reverse"], 2, "--format pharaoh");
    let over_model =
        ["align", "--pairs", "pairs.tsv", "--links-from", "pairs", "--save-aligner", model_path(), "--quiet"];
    refused(&over_model, 1, "here is a model");
    folder.write("more", "0-0\n0-0\n");
    refused(&["symmetrize", "more", "links"], 1, "more has 2");
    folder.write("links", "0-0\n\n");
    refused(&["symmetrize", "other", "links"], 1, "other:1: \"1\" is not a link");
    refused(&["symmetrize", "-", "-"], 2, "standard input");
    refused(&["symmetrize", "links", "other", "--output", "links"], 2, "read as well");
    refused(&["symmetrize", "links", "other", "--base", "1"], 1, "links:1");
}
