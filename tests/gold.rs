//! `evaluate` against gold alignments: how they may be written, and what is said beside the scores.

mod common;

use common::{ModelDir, Outcome, model_path};
use serde_json::Value;

/// The links that options make of the pairs, one list a pair.
fn links(folder: &ModelDir, options: &[&str]) -> Vec<Vec<(usize, usize)>> {
    let align = ["align", "--model", model_path(), "--pairs", "pairs.tsv", "--format", "pharaoh"];
    let outcome = folder.run(&[&align[..], options].concat());
    let link = |link: &str| link.split_once('-').map(|(s, t)| (s.parse().unwrap(), t.parse().unwrap())).unwrap();
    let links: Vec<Vec<(usize, usize)>> =
        outcome.worked().lines().map(|line| line.split_whitespace().map(link).collect()).collect();
    assert!(links.iter().all(|links| !links.is_empty()), "{links:?}");
    links
}

/// Links as a gold file has them, each written in a way of its own.
fn written(links: &[Vec<(usize, usize)>], write: impl Fn(usize, usize) -> String) -> String {
    let line = |links: &Vec<(usize, usize)>| links.iter().map(|&(s, t)| write(s, t)).collect::<Vec<_>>().join(" ");
    links.iter().map(|links| line(links) + "\n").collect()
}

fn evaluate(folder: &ModelDir, options: &[&str]) -> Outcome {
    let evaluate = ["evaluate", "--model", model_path(), "--pairs", "pairs.tsv", "--beam", "1"];
    folder.run(&[&evaluate[..], &["--gold", "pairs.gold"], options].concat())
}

fn scores(outcome: &Outcome) -> Value {
    outcome.json()
}

#[test]
fn links_may_be_written_and_counted_in_several_ways() {
    let folder = ModelDir::with_pairs();
    let links = links(&folder, &[]);
    let number = links.iter().map(Vec::len).sum::<usize>() as f64;
    folder.write("pairs.gold", written(&links, |s, t| format!("{s}-{t}")));
    let from_0 = evaluate(&folder, &["--json"]);
    assert_eq!(from_0.stderr, "");
    assert_eq!((&scores(&from_0)["aer"], &scores(&from_0)["f1"]), (&0.0.into(), &1.0.into()));
    folder.write("pairs.gold", written(&links, |s, t| format!("{}-{}", s + 1, t + 1)));
    assert_eq!(evaluate(&folder, &["--json", "--gold-base", "1"]).worked(), from_0.worked());

    // Links of even target words are possible, or not there at all.
    let sure = links.iter().flatten().filter(|link| link.1 % 2 == 1).count() as f64;
    for (mark, precision) in [("?", 1.0), ("p", 1.0), ("", sure / number)] {
        let write = |s: usize, t: usize| match (t % 2, mark) {
            (1, _) => format!("{s}-{t}"),
            (_, "") => String::new(),
            (_, mark) => format!("{s}{mark}{t}"),
        };
        folder.write("pairs.gold", written(&links, write));
        let scores = scores(&evaluate(&folder, &["--json"]));
        assert!((scores["precision"].as_f64().unwrap() - precision).abs() < 1e-12, "{mark}: {scores}");
        assert_eq!(scores["recall"], 1.0, "{mark}: {scores}");
    }
}

#[test]
fn links_that_lie_one_word_off_are_warned_of() {
    let folder = ModelDir::with_pairs();
    let late: Vec<Vec<(usize, usize)>> = links(&folder, &[])
        .into_iter()
        .map(|links| links.into_iter().filter(|&(_, t)| t < 3).map(|(s, t)| (s, t + 1)).collect())
        .collect();
    folder.write("pairs.gold", written(&late, |s, t| format!("{s}-{t}")));
    let outcome = evaluate(&folder, &["--json"]);
    let scores = scores(&outcome);
    assert!(scores["aer"].as_f64().unwrap() > 0.1, "{scores}");
    let shift = common::json(r#"{"source":0,"target":1,"aer":0.0}"#);
    assert_eq!(scores["shift"], shift);
    assert_eq!(outcome.stderr.lines().count(), 1, "{outcome:?}");
    assert!(outcome.stderr.starts_with("warning: links one target word later would have AER 0.000 instead of "));
    for advice in ["--gold-base", "--guided-alignment"] {
        assert!(outcome.stderr.contains(advice), "{advice}: {outcome:?}");
    }
    let words = evaluate(&folder, &[]);
    assert!(words.worked().contains("AER") && words.stderr == outcome.stderr, "{words:?}");
    assert_eq!(evaluate(&folder, &["--quiet"]).stderr, "");
}

#[test]
fn the_threshold_is_searched_only_when_asked() {
    let folder = ModelDir::with_pairs();
    for from in ["attention", "auto", "hmm"] {
        let from = ["--links-from", from];
        let own = links(&folder, &[&from[..], &["--threshold", "0.1"]].concat());
        folder.write("pairs.gold", written(&own, |s, t| format!("{s}-{t}")));
        let json = |options: &[&str]| scores(&evaluate(&folder, &[&["--json"], &from[..], options].concat()));
        let plain = json(&[]);
        for key in ["best_threshold", "best_threshold_aer"] {
            assert!(plain.get(key).is_none(), "{key}: {plain}");
        }
        let searched = json(&["--search-threshold"]);
        assert_eq!(searched["best_threshold_aer"], 0.0, "{from:?}: {searched}");
        assert!((0.05..=0.1).contains(&searched["best_threshold"].as_f64().unwrap()), "{searched}");
        assert_eq!(searched["aer"], plain["aer"], "the scores are those of --threshold all the same");
        assert_eq!(json(&["--threshold", &searched["best_threshold"].to_string()])["aer"], 0.0);
    }
    let words = evaluate(&folder, &["--search-threshold"]);
    assert!(words.worked().contains("\nbest threshold     0."), "{words:?}");

    let without = ["evaluate", "--model", model_path(), "--pairs", "pairs.tsv", "--search-threshold"];
    folder.run(&without).refused_with(2, &["--search-threshold", "--gold"]);
}

#[test]
fn gold_words_are_those_that_are_linked() {
    let folder = ModelDir::new();
    folder.write("pairs.tsv", "the red fox, sleeps\trufo mi, dorma.\n");
    folder.write("pairs.gold", "4-4\n");
    evaluate(&folder, &[]).refused_with(1, &["pairs.gold:1", "4-4", "4 and 3 words"]);
    evaluate(&folder, &["--words", "punctuation"]).worked();
}
