//! The sentences that newcomers type first, translated by the shipped model.

use std::path::Path;

use crate::common::TestDir;

fn shipped(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

#[test]
fn shipped_model_translates_what_newcomers_type() {
    let model = concat!(env!("CARGO_MANIFEST_DIR"), "/checkpoints");
    // A model that `softalign train` left there knows as much as it had time for.
    if Path::new(model).join("resume.json").exists() {
        eprintln!("not tested: the model in {model} is not the shipped one");
        return;
    }
    let list = shipped("data/newcomers.tsv");
    let rows: Vec<Vec<&str>> = list.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(rows.len(), 50);
    let sources: String = rows.iter().map(|row| format!("{}\n", row[0])).collect();
    let outcome = TestDir::new().run_with_input(&["translate", "--model", model], &sources);
    let translations: Vec<&str> = outcome.worked().lines().collect();
    let wrong: Vec<(&str, &str)> = rows
        .iter()
        .zip(&translations)
        .filter(|(row, translation)| !row[1..].contains(translation))
        .map(|(row, translation)| (row[0], *translation))
        .collect();
    assert!(translations.len() == 50 && wrong.is_empty(), "{wrong:?}");
}

#[test]
fn newcomers_sentences_are_in_no_set() {
    let plain = |text: &str| text.to_lowercase().trim_end_matches(['.', '?', '!']).to_owned();
    let list = shipped("data/newcomers.tsv");
    let held_out: Vec<String> = list.lines().map(|line| plain(line.split('\t').next().unwrap())).collect();
    for set in ["train", "validation", "test", "challenge"] {
        for line in shipped(&format!("data/{set}.tsv")).lines() {
            let source = plain(line.split('\t').next().unwrap());
            assert!(!held_out.contains(&source), "{set}: {source}");
        }
    }
}
