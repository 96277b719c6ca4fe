//! From sentence pairs to translations and alignments: a tiny model memorizes thirty pairs.

use std::sync::LazyLock;

use crate::common::{Outcome, TestDir};
use serde_json::Value;

/// An artificial language with the verb first and the adjective after its noun.
fn artificial_pairs() -> Vec<(String, String)> {
    let colors = [("red", "rufo"), ("green", "verda"), ("old", "vela")];
    let animals = [("fox", "mi"), ("owl", "ku"), ("heron", "asalo"), ("snail", "toni"), ("mole", "be")];
    let verbs = [("sleeps", "dorma"), ("sings", "kanta")];
    let mut pairs = Vec::new();
    for (color, hue) in colors {
        for (animal, name) in animals {
            for (verb, deed) in verbs {
                pairs.push((format!("the {color} {animal} {verb} ."), format!("{deed} la {name} {hue} .")));
            }
        }
    }
    pairs
}

/// A directory with the pairs and the model trained on them.
fn trained() -> &'static TestDir {
    static TRAINED: LazyLock<TestDir> = LazyLock::new(|| {
        let dir = TestDir::lasting("trained");
        let pairs = artificial_pairs();
        let lines: String = pairs.iter().map(|(source, target)| format!("{source}\t{target}\n")).collect();
        dir.write("pairs.tsv", lines);
        let train = ["train", "--train", "pairs.tsv", "--valid", "pairs.tsv", "--out", "model", "--preset", "tiny"];
        let fast = ["--dropout", "0", "--learning-rate", "0.005", "--warmup-steps", "10", "--batch-sentences", "5"];
        let until = ["--tokenization", "word", "--max-epochs", "25", "--patience", "25", "--decay", "0.9", "--quiet"];
        dir.run(&[&train[..], &fast, &until].concat()).worked();
        dir
    });
    &TRAINED
}

fn align(options: &[&str]) -> Outcome {
    trained().run(&[&["align", "--model", "model", "--pairs", "pairs.tsv"], options].concat())
}

#[test]
fn reproduces_the_training_data() {
    let outcome = trained().run(&["evaluate", "--model", "model", "--pairs", "pairs.tsv", "--json"]);
    let scores = outcome.json();
    let score = |key: &str| scores[key].as_f64().unwrap();
    assert_eq!(scores["pairs"], 30);
    assert_eq!(score("exact_match"), 100.0, "{scores}");
    assert!((score("bleu") - 100.0).abs() < 1e-6 && (score("chrf") - 100.0).abs() < 1e-6, "{scores}");
    assert!(score("perplexity") < 2.0, "{scores}");
}

#[test]
fn greedy_and_beam_search_translate_line_by_line() {
    let (sources, targets): (Vec<String>, Vec<String>) = artificial_pairs().into_iter().unzip();
    for beam in ["1", "5"] {
        let arguments = ["translate", "--model", "model", "--beam", beam];
        let outcome = trained().run_with_input(&arguments, sources.join("\n"));
        assert_eq!(outcome.worked(), targets.join("\n") + "\n", "beam {beam}");
    }
}

#[test]
fn every_row_of_attention_sums_to_1() {
    for options in [&["--format", "json"][..], &["--format", "json", "--tokens"]] {
        let outcome = align(options);
        let items: Vec<Value> = serde_json::from_str(outcome.worked()).unwrap();
        assert_eq!(items.len(), 30);
        for item in items {
            let rows = item["attention"].as_array().unwrap();
            let ends = item["eos"].as_array().unwrap();
            assert_eq!((rows.len(), ends.len()), (5, 5), "{item}");
            for (row, end) in rows.iter().zip(ends) {
                let weights: Vec<f64> = row.as_array().unwrap().iter().map(|weight| weight.as_f64().unwrap()).collect();
                assert_eq!(weights.len(), 5);
                assert!(weights.iter().all(|weight| (0.0..=1.0).contains(weight)), "{item}");
                let sum = weights.iter().sum::<f64>() + end.as_f64().unwrap();
                assert!((sum - 1.0).abs() < 1e-5, "a row sums to {sum}: {item}");
            }
        }
    }
}

#[test]
fn pharaoh_links_stay_within_the_words_and_agree_with_json() {
    let (pharaoh, json) = (align(&["--format", "pharaoh"]), align(&["--format", "json"]));
    let items: Vec<Value> = serde_json::from_str(json.worked()).unwrap();
    let lines: Vec<&str> = pharaoh.worked().lines().collect();
    assert_eq!(lines.len(), 30);
    for (line, item) in lines.into_iter().zip(items) {
        let links: Vec<[usize; 2]> = line
            .split_whitespace()
            .map(|link| link.split_once('-').map(|(s, t)| [s.parse().unwrap(), t.parse().unwrap()]).unwrap())
            .collect();
        assert!(!links.is_empty() && links.iter().flatten().all(|&word| word < 5), "{line}");
        assert_eq!(serde_json::to_value(&links).unwrap(), item["links"]);
    }
}
