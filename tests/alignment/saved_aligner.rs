//! Saved statistical aligners, formats of links, and symmetrization.

use crate::common::{PAIRS, TestDir, model_path, tsv};

fn dir_with_aligner() -> TestDir {
    let dir = TestDir::new();
    let pairs: Vec<(&str, &str)> = PAIRS.iter().cycle().take(120).copied().collect();
    dir.write("pairs.tsv", tsv(&pairs));
    dir.write("new.tsv", "the old fox sleeps\tvela mi dorma .\nsleeps the fox\tdorma mi\n\t\n");
    dir
}

const TRAIN_ALIGNER: [&str; 8] =
    ["align", "--pairs", "pairs.tsv", "--links-from", "pairs", "--save-aligner", "kept", "--format"];

#[test]
fn saved_aligner_links_other_text() {
    let dir = dir_with_aligner();
    let trained = dir.run(&[&TRAIN_ALIGNER[..], &["pharaoh", "--quiet"]].concat());
    let again = dir.run(&["align", "--pairs", "pairs.tsv", "--aligner", "kept", "--format", "pharaoh"]);
    assert_eq!(again.worked(), trained.worked(), "the saved aligner finds the same links");
    let new = dir.run(&["align", "--pairs", "new.tsv", "--aligner", "kept", "--format", "pharaoh", "--quiet"]);
    let lines: Vec<&str> = new.worked().lines().collect();
    assert!(lines.len() == 3 && lines[0].contains("2-2 3-3") && lines[2].is_empty(), "{new:?}");
    let by_model = dir.run(&["align", "--pairs", "new.tsv", "--aligner", model_path(), "--format", "pharaoh"]);
    assert_eq!(by_model.worked().lines().count(), 3, "a model's own aligner works too");
}

#[test]
fn refuses_to_train_over_a_saved_aligner() {
    let dir = dir_with_aligner();
    dir.run(&[&TRAIN_ALIGNER[..], &["pharaoh", "--quiet"]].concat()).worked();
    let before = dir.contents();
    dir.run(&["train", "--train", "pairs.tsv", "--out", "kept"]).refused_with(1, &["kept: holds an aligner"]);
    dir.run(&["average", model_path(), model_path(), "--out", "kept"]).refused_with(1, &["already holds model files"]);
    assert!(dir.contents() == before, "something was written");
}

#[test]
fn writes_reversed_and_one_based_links() {
    let dir = dir_with_aligner();
    let links = |options: &[&str]| {
        let arguments = ["align", "--pairs", "new.tsv", "--aligner", "kept", "--format", "pharaoh", "--quiet"];
        dir.run(&[&arguments, options].concat()).worked().to_owned()
    };
    dir.run(&[&TRAIN_ALIGNER[..], &["pharaoh", "--quiet"]].concat()).worked();
    let reversed = |text: &str, base: usize| -> String {
        let reverse = |link: &str| {
            let (source, target) = link.split_once('-').unwrap();
            let [source, target] = [source, target].map(|number| number.parse::<usize>().unwrap() + base);
            format!("{target}-{source}")
        };
        text.lines()
            .map(|line| line.split(' ').filter(|l| !l.is_empty()).map(reverse).collect::<Vec<_>>().join(" ") + "\n")
            .collect()
    };
    assert_eq!(links(&["--reverse"]), reversed(&links(&[]), 0));
    assert_eq!(links(&["--reverse", "--link-base", "1"]), reversed(&links(&[]), 1));
    assert!(links(&["--probs", "--link-base", "1"]).starts_with("1-1:"));
}

#[test]
fn symmetrizes_two_link_files() {
    let dir = TestDir::new();
    dir.write("forward", "0-0 1-1 2-2 4-4\n0-0:0.5\n\n");
    dir.write("backward", "0-0 1-1 1-2 3-3\n0-1\n\n");
    let links = |way: &str| dir.run(&["symmetrize", "forward", "backward", "--way", way]).worked().to_owned();
    assert_eq!(links("intersection"), "0-0 1-1\n\n\n");
    assert_eq!(links("union"), "0-0 1-1 1-2 2-2 3-3 4-4\n0-0 0-1\n\n");
    assert_eq!(links("grow-diag"), "0-0 1-1 1-2 2-2 3-3 4-4\n\n\n");
    assert_eq!(links("grow-diag-final-and"), "0-0 1-1 1-2 2-2 3-3 4-4\n0-0\n\n");
    assert_eq!(dir.run(&["symmetrize", "forward", "backward"]).worked(), links("grow-diag-final-and"));
    dir.write("reversed", "0-0 1-1 2-1 3-3\n1-0\n\n");
    let reversed = ["symmetrize", "forward", "reversed", "--second-reversed", "--way", "union"];
    assert_eq!(dir.run(&reversed).worked(), links("union"));
    dir.write("from 1", "1-1 2-2 3-3 5-5\n1-1\n\n");
    let one = ["symmetrize", "from 1", "./from 1", "--base", "1", "--way", "union", "--reverse"];
    assert_eq!(dir.run(&one).worked(), "0-0 1-1 2-2 4-4\n0-0\n\n");
}

#[test]
fn refuses_invalid_aligner_options() {
    let dir = dir_with_aligner();
    dir.write("links", "0-0\n");
    dir.write("other", "1\n0-0\n");
    std::fs::create_dir(dir.path("broken")).unwrap();
    dir.write("broken/aligner.safetensors", "nonsense");
    let refused = |arguments: &[&str], code: i32, part: &str| dir.run(arguments).refused_with(code, &[part]);
    refused(&["align", "--pairs", "new.tsv", "--aligner", "none"], 1, "none: no statistical aligner here");
    refused(&["align", "--pairs", "new.tsv", "--aligner", "broken"], 1, "aligner.safetensors: damaged");
    refused(
        &["align", "--pairs", "new.tsv", "--links-from", "pairs", "--prior", "none"],
        1,
        "none: no statistical aligner",
    );
    refused(&["align", "--pairs", "new.tsv", "--save-aligner", "x"], 2, "--links-from pairs");
    refused(&["align", "--pairs", "new.tsv", "--model", model_path(), "--reverse"], 2, "--format pharaoh");
    let over_model =
        ["align", "--pairs", "pairs.tsv", "--links-from", "pairs", "--save-aligner", model_path(), "--quiet"];
    refused(&over_model, 1, "holds a model");
    dir.write("more", "0-0\n0-0\n");
    refused(&["symmetrize", "more", "links"], 1, "more has 2");
    dir.write("links", "0-0\n\n");
    refused(&["symmetrize", "other", "links"], 1, "other:1: \"1\" is not a link");
    refused(&["symmetrize", "-", "-"], 2, "standard input");
    refused(&["symmetrize", "links", "other", "--output", "links"], 2, "also input");
    refused(&["symmetrize", "links", "other", "--base", "1"], 1, "links:1");
}
