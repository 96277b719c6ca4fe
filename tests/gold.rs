//! `evaluate --gold`: formats of gold alignments, and the warnings and scores derived from them.

mod common;

use common::{Outcome, TestDir, model_path};
use serde_json::Value;

/// Links of each pair with these options.
fn links(dir: &TestDir, options: &[&str]) -> Vec<Vec<(usize, usize)>> {
    let align = ["align", "--model", model_path(), "--pairs", "pairs.tsv", "--format", "pharaoh"];
    let outcome = dir.run(&[&align[..], options].concat());
    let link = |link: &str| link.split_once('-').map(|(s, t)| (s.parse().unwrap(), t.parse().unwrap())).unwrap();
    let links: Vec<Vec<(usize, usize)>> =
        outcome.worked().lines().map(|line| line.split_whitespace().map(link).collect()).collect();
    assert!(links.iter().all(|links| !links.is_empty()), "{links:?}");
    links
}

/// Formats links as a gold file.
fn format_gold(links: &[Vec<(usize, usize)>], write: impl Fn(usize, usize) -> String) -> String {
    let line = |links: &Vec<(usize, usize)>| links.iter().map(|&(s, t)| write(s, t)).collect::<Vec<_>>().join(" ");
    links.iter().map(|links| line(links) + "\n").collect()
}

fn evaluate(dir: &TestDir, options: &[&str]) -> Outcome {
    let evaluate = ["evaluate", "--model", model_path(), "--pairs", "pairs.tsv", "--beam", "1"];
    dir.run(&[&evaluate[..], &["--gold", "pairs.gold"], options].concat())
}

fn scores(outcome: &Outcome) -> Value {
    outcome.json()
}

#[test]
fn reads_gold_links_in_every_format() {
    let dir = TestDir::with_pairs();
    let links = links(&dir, &[]);
    let number = links.iter().map(Vec::len).sum::<usize>() as f64;
    dir.write("pairs.gold", format_gold(&links, |s, t| format!("{s}-{t}")));
    let from_0 = evaluate(&dir, &["--json"]);
    assert_eq!(from_0.stderr, "");
    assert_eq!((&scores(&from_0)["aer"], &scores(&from_0)["f1"]), (&0.0.into(), &1.0.into()));
    dir.write("pairs.gold", format_gold(&links, |s, t| format!("{}-{}", s + 1, t + 1)));
    assert_eq!(evaluate(&dir, &["--json", "--gold-base", "1"]).worked(), from_0.worked());

    // Links of even target words are possible or omitted.
    let sure = links.iter().flatten().filter(|link| link.1 % 2 == 1).count() as f64;
    for (mark, precision) in [("?", 1.0), ("p", 1.0), ("", sure / number)] {
        let write = |s: usize, t: usize| match (t % 2, mark) {
            (1, _) => format!("{s}-{t}"),
            (_, "") => String::new(),
            (_, mark) => format!("{s}{mark}{t}"),
        };
        dir.write("pairs.gold", format_gold(&links, write));
        let scores = scores(&evaluate(&dir, &["--json"]));
        assert!((scores["precision"].as_f64().unwrap() - precision).abs() < 1e-12, "{mark}: {scores}");
        assert_eq!(scores["recall"], 1.0, "{mark}: {scores}");
    }
}

#[test]
fn warns_of_links_shifted_by_one_word() {
    let dir = TestDir::with_pairs();
    let shifted: Vec<Vec<(usize, usize)>> = links(&dir, &[])
        .into_iter()
        .map(|links| links.into_iter().filter(|&(_, t)| t < 3).map(|(s, t)| (s, t + 1)).collect())
        .collect();
    dir.write("pairs.gold", format_gold(&shifted, |s, t| format!("{s}-{t}")));
    let outcome = evaluate(&dir, &["--json"]);
    let scores = scores(&outcome);
    assert!(scores["aer"].as_f64().unwrap() > 0.1, "{scores}");
    let shift = common::json(r#"{"source":0,"target":1,"aer":0.0}"#);
    assert_eq!(scores["shift"], shift);
    assert_eq!(outcome.stderr.lines().count(), 1, "{outcome:?}");
    assert!(outcome.stderr.starts_with("warning: links one target word later would have AER 0.000 instead of "));
    for advice in ["--gold-base", "--guided-alignment"] {
        assert!(outcome.stderr.contains(advice), "{advice}: {outcome:?}");
    }
    let words = evaluate(&dir, &[]);
    assert!(words.worked().contains("AER") && words.stderr == outcome.stderr, "{words:?}");
    assert_eq!(evaluate(&dir, &["--quiet"]).stderr, "");
}

#[test]
fn searches_the_threshold_only_on_request() {
    let dir = TestDir::with_pairs();
    for from in ["attention", "auto", "hmm"] {
        let from = ["--links-from", from];
        let own = links(&dir, &[&from[..], &["--threshold", "0.1"]].concat());
        dir.write("pairs.gold", format_gold(&own, |s, t| format!("{s}-{t}")));
        let json = |options: &[&str]| scores(&evaluate(&dir, &[&["--json"], &from[..], options].concat()));
        let plain = json(&[]);
        for key in ["best_threshold", "best_threshold_aer"] {
            assert!(plain.get(key).is_none(), "{key}: {plain}");
        }
        let searched = json(&["--search-threshold"]);
        assert_eq!(searched["best_threshold_aer"], 0.0, "{from:?}: {searched}");
        assert!((0.05..=0.1).contains(&searched["best_threshold"].as_f64().unwrap()), "{searched}");
        assert_eq!(searched["aer"], plain["aer"], "AER still uses --threshold");
        assert_eq!(json(&["--threshold", &searched["best_threshold"].to_string()])["aer"], 0.0);
    }
    let words = evaluate(&dir, &["--search-threshold"]);
    assert!(words.worked().contains("\nbest threshold     0."), "{words:?}");

    let without = ["evaluate", "--model", model_path(), "--pairs", "pairs.tsv", "--search-threshold"];
    dir.run(&without).refused_with(2, &["--search-threshold", "--gold"]);
}

#[test]
fn gold_indices_refer_to_the_linked_words() {
    let dir = TestDir::new();
    dir.write("pairs.tsv", "the red fox, sleeps\trufo mi, dorma.\n");
    dir.write("pairs.gold", "4-4\n");
    evaluate(&dir, &[]).refused_with(1, &["pairs.gold:1", "4-4", "4 and 3 words"]);
    evaluate(&dir, &["--words", "punctuation"]).worked();
}
