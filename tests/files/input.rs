//! Input of commands: standard input, positional files and sentences, separators, and names that other programs use.

use crate::common::{Outcome, PAIRS, QUICK, TestDir, model_path, tsv};

const SOURCE: &str = "the red fox sleeps";
const TARGET: &str = "rufo mi dorma .";
const LINKS: [&str; 5] = ["align", "--model", "model", "--format", "pharaoh"];

/// Directory with a model as `model`, pairs.tsv, and the pairs' sides as a.en and a.fr.
fn dir() -> TestDir {
    let dir = TestDir::with_model();
    let side = |pick: fn(&(&str, &str)) -> String| PAIRS.iter().map(|pair| pick(pair) + "\n").collect::<String>();
    dir.write("a.en", side(|pair| pair.0.to_owned()));
    dir.write("a.fr", side(|pair| pair.1.to_owned()));
    dir
}

fn links(dir: &TestDir, arguments: &[&str]) -> Outcome {
    dir.run(&[&LINKS, arguments].concat())
}

#[test]
fn commands_read_pairs_from_standard_input() {
    let dir = dir();
    let expected = links(&dir, &["--pairs", "pairs.tsv"]);
    let piped = dir.run_with_input(&LINKS, tsv(&PAIRS));
    assert_eq!((piped.worked(), piped.stderr.as_str()), (expected.worked(), ""));
    let one = dir.run_with_input(&["score", "--model", "model"], tsv(&PAIRS[..1]));
    assert_eq!(one.worked().lines().count(), 1);
    let cleaned = dir.run_with_input(&["clean", "-o", "-"], tsv(&PAIRS));
    assert_eq!(cleaned.worked(), tsv(&PAIRS));
    let evaluated = dir.run_with_input(&["evaluate", "--model", "model", "--json"], tsv(&PAIRS[..3]));
    assert_eq!(evaluated.json()["pairs"], 3);
    assert!(evaluated.stderr.contains("from standard input"), "{evaluated:?}");
    let train = [&["train", "--out", "piped", "--max-epochs", "1"], &QUICK[..]].concat();
    dir.run_with_input(&train, tsv(&PAIRS)).worked();
    assert!(dir.text("piped/config.json").contains("\"training_pairs\": 12"));
}

#[test]
fn empty_standard_input_is_an_error() {
    let dir = dir();
    for command in [&LINKS[..], &["score", "--model", "model"], &["clean"]] {
        let expected = ["standard input: no sentence pairs", "name a file"];
        dir.run(command).refused_with(1, &expected);
        dir.run_with_input(command, "").refused_with(1, &expected);
    }
    for command in [&["evaluate", "--model", "model", "-q"][..], &["train", "--out", "new", "-q"]] {
        dir.run_with_input(command, "").refused_with(1, &["standard input: no"]);
    }
    assert_eq!(dir.run_with_input(&[&LINKS[..], &["--pairs", "-"]].concat(), "").worked(), "", "an empty file is none");
}

#[test]
fn only_train_and_evaluate_default_to_shipped_data_and_say_so() {
    let dir = dir();
    std::fs::create_dir(dir.path("data")).unwrap();
    dir.write("data/train.tsv", tsv(&PAIRS));
    dir.write("data/validation.tsv", tsv(&PAIRS[..3]));
    dir.write("data/test.tsv", tsv(&PAIRS[..2]));
    dir.write("data/test.gold", "0-0\n0-0\n");
    let evaluated = dir.run(&["evaluate", "--model", "model"]);
    assert!(evaluated.worked().contains("AER") && evaluated.stderr.contains("data/test.tsv"), "{evaluated:?}");
    let train = ["train", "--preset", "tiny", "--max-epochs", "1", "--out", "new"];
    let trained = dir.run(&train);
    trained.worked();
    assert!(trained.stderr.contains("shipped corpus, data/train.tsv"), "{trained:?}");
    let valid = [&train[..5], &["--valid", "pairs.tsv", "--out", "other"]].concat();
    dir.run(&valid).refused_with(2, &["no training pairs"]);
}

#[test]
fn positional_arguments_are_a_file_or_a_pair_or_two_sides() {
    let dir = dir();
    let all = links(&dir, &["--pairs", "pairs.tsv"]);
    let one = dir.run_with_input(&LINKS, format!("{SOURCE}\t{TARGET}\n"));
    assert_eq!(links(&dir, &["pairs.tsv"]).worked(), all.worked());
    assert_eq!(links(&dir, &["a.en", "a.fr"]).worked(), all.worked());
    assert_eq!(links(&dir, &[SOURCE, TARGET]).worked(), one.worked());
    assert_eq!(links(&dir, &[&format!("{SOURCE} ||| {TARGET}")]).worked(), one.worked());
    dir.run(&["align", "--links-from", "pairs", SOURCE, TARGET]).worked();
    assert_eq!(dir.run(&["score", "--model", "model", "pairs.tsv"]).worked().lines().count(), PAIRS.len());
    assert!(dir.run(&["clean", "pairs.tsv"]).worked().contains("good"));
    assert_eq!(dir.run(&["evaluate", "--model", "model", "--json", "pairs.tsv"]).json()["pairs"], PAIRS.len());
    let html = dir.run(&["align", "--model", "model", "--format", "html", SOURCE, TARGET]);
    assert!(html.worked().contains("sentence pairs"));

    links(&dir, &["gone.tsv"]).refused_with(1, &["gone.tsv: cannot read this file"]);
    links(&dir, &["a.en", "gone.fr"]).refused_with(2, &["gone.fr: no such file"]);
    links(&dir, &["b.en", "b.fr"]).refused_with(2, &["b.en: no such file"]);
    links(&dir, &[SOURCE]).refused_with(2, &["translation is missing"]);
    links(&dir, &["pairs.tsv", "a.en"]).refused_with(2, &["only one file of pairs"]);
    links(&dir, &["the", "fox", "mi"]).refused_with(2, &["3 arguments", "quotes"]);
    assert_eq!(links(&dir, &["pairs.tsv", "--pairs", "pairs.tsv"]).code, Some(2));
}

#[test]
fn train_takes_positional_files() {
    let dir = dir();
    let train = [&["train", "pairs.tsv:2", "--out", "new", "--max-epochs", "1"], &QUICK[..]].concat();
    dir.run(&train).worked();
    assert!(dir.text("new/config.json").contains("\"pairs.tsv:2\""));
    dir.run(&["train", "--config", "new/config.json", "--out", "again", "-q"]).worked();
    assert_eq!(dir.read("again/model.safetensors"), dir.read("new/model.safetensors"));
    dir.write("c.json", "{\"train\": \"gone.tsv\", \"max-epochs\": 1, \"preset\": \"tiny\"}");
    dir.run(&["train", "--config", "c.json", "pairs.tsv", "-o", "mixed", "-q"]).worked();
    let recorded = dir.text("mixed/config.json");
    assert!(recorded.contains("\"pairs.tsv\"") && !recorded.contains("gone.tsv"), "{recorded}");
    dir.run(&["train", "a.en", "a.fr", "--out", "two", "-q"]).refused_with(1, &["a.en:1", "--source and --target"]);
}

#[test]
fn separators_of_other_aligners_are_read() {
    let dir = dir();
    let moses = |pairs: &[(&str, &str)]| -> String {
        pairs.iter().map(|(source, target)| format!("{source} ||| {target}\n")).collect()
    };
    dir.write("corpus.txt", moses(&PAIRS));
    assert_eq!(links(&dir, &["corpus.txt"]).worked(), links(&dir, &["pairs.tsv"]).worked());
    dir.run(&[&["train", "corpus.txt", "--out", "bars", "--max-epochs", "1"], &QUICK[..]].concat()).worked();
    dir.train("tabs", &["--max-epochs", "1"]).worked();
    assert_eq!(dir.read("bars/model.safetensors"), dir.read("tabs/model.safetensors"));
    dir.write("empty.txt", format!("{}|||\n ||| mi\n", moses(&PAIRS[..1])));
    assert_eq!(links(&dir, &["empty.txt"]).worked().lines().filter(|line| line.is_empty()).count(), 2);
    dir.write("three.txt", "0 ||| the fox ||| mi\n");
    assert_eq!(links(&dir, &["three.txt", "--columns", "2,3"]).worked().lines().count(), 1);
}

#[test]
fn names_of_other_programs_are_known() {
    let dir = dir();
    let way = |name: &str| links(&dir, &["pairs.tsv", "--symmetrize", name]).worked().to_owned();
    for (short, name) in [("gdfa", "grow-diag-final-and"), ("gdf", "grow-diag-final"), ("intersect", "intersection")] {
        assert_eq!(way(short), way(name), "{short}");
    }
    links(&dir, &["pairs.tsv", "-o", "forward"]).worked();
    links(&dir, &["pairs.tsv", "--links-from", "attention", "--out", "backward"]).worked();
    dir.run(&["symmetrize", "forward", "backward", "--way", "gdfa", "-o", "both"]).worked();
    assert_eq!(dir.text("both").lines().count(), PAIRS.len());
    let config = dir.run(&["train", "pairs.tsv", "--attention", "bahdanau", "--show-config", "-q"]).json();
    assert_eq!(config["attention"], "additive");
}

#[test]
fn hints_replace_similar_names_that_mislead() {
    let dir = TestDir::new();
    for (arguments, hint) in [
        (&["train", "--lr", "0.1"][..], "'--learning-rate'"),
        (&["train", "--batch-size", "8"], "'--batch-sentences' or '--batch-tokens'"),
        (&["train", "--epochs", "3"], "'--max-epochs'"),
        (&["predict"], "'softalign translate'"),
    ] {
        let outcome = dir.run(arguments);
        assert_eq!(outcome.code, Some(2), "{outcome:?}");
        assert!(outcome.stderr.contains(hint) && !outcome.stderr.contains("similar"), "{outcome:?}");
    }
    // This build has no GPU support, but the name is understood.
    dir.run(&["inspect", "--device", "gpu", model_path()]).worked();
}

#[test]
fn workbooks_are_called_so() {
    let dir = TestDir::new();
    dir.write("pairs.xlsx", b"PK\x03\x04\x14\0\x06\0");
    let outcome = dir.run(&["clean", "pairs.xlsx"]);
    outcome.refused_with(1, &["pairs.xlsx: this is a workbook", "CSV (UTF-8)"]);
}

#[test]
fn translate_warns_of_text_that_names_a_file() {
    let dir = dir();
    let outcome = dir.run(&["translate", "--model", "model", "a.en"]);
    assert_eq!(outcome.worked().lines().count(), 1);
    assert!(outcome.stderr.contains("\"a.en\" is translated as text") && outcome.stderr.contains("--input a.en"));
}

#[test]
fn translate_adds_a_column_to_tables() {
    let dir = dir();
    let translate = ["translate", "--model", "model"];
    dir.write("words.csv", "id,English\n1,the red fox sleeps\n2,\"the old owl runs\"\n");
    let from_csv = dir.run(&[&translate[..], &["--input", "words.csv"]].concat());
    assert_eq!(
        from_csv.worked(),
        "id,English,translation\n1,the red fox sleeps,rufo mi dorma .\n2,the old owl runs,vela ku kura .\n"
    );
    assert_eq!(from_csv.stderr, "");
    let lines = "x\tthe red fox sleeps\n\ny\tthe old owl runs\n";
    let rows = "x\tthe red fox sleeps\trufo mi dorma .\n\ny\tthe old owl runs\tvela ku kura .\n";
    let by_number = dir.run_with_input(&[&translate[..], &["--columns", "2"]].concat(), lines);
    assert_eq!(by_number.worked(), rows);
    let by_name = dir.run_with_input(&[&translate[..], &["--columns", "en"]].concat(), format!("id\ten\n{lines}"));
    assert_eq!(by_name.worked(), format!("id\ten\ttranslation\n{rows}"));
    let json = dir.run_with_input(&[&translate[..], &["--columns", "2", "--format", "jsonl"]].concat(), lines);
    assert!(json.worked().contains("\"source_text\":\"the red fox sleeps\""), "{json:?}");
    let missing = dir.run_with_input(&[&translate[..], &["--columns", "fr"]].concat(), lines);
    missing.refused_with(1, &["standard input:1: no column is called \"fr\""]);
    assert_eq!(dir.run(&[&translate[..], &["--columns", "2", SOURCE]].concat()).code, Some(2));

    let whole = dir.run_with_input(&translate, lines);
    assert_eq!(whole.worked().lines().count(), 3);
    assert!(whole.stderr.contains("line 1 has tabs") && whole.stderr.contains("--columns 1"), "{whole:?}");
}
