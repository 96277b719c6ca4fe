//! `evaluate --gold`: formats of gold alignments, and the warnings and scores derived from them.

use crate::common::{self, Outcome, TestDir, model_path};
use serde_json::Value;

/// Links of each pair by the model.
fn links_by_model(dir: &TestDir, options: &[&str]) -> Vec<Vec<(usize, usize)>> {
    links(dir, &[&["--model", model_path()], options].concat())
}

/// Links of each pair with these options.
fn links(dir: &TestDir, options: &[&str]) -> Vec<Vec<(usize, usize)>> {
    let align = ["align", "--pairs", "pairs.tsv", "--format", "pharaoh"];
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

/// Warnings, without that of pairs that the model was trained on.
fn other_warnings(outcome: &Outcome) -> Vec<&str> {
    outcome.stderr.lines().filter(|line| !line.contains("among the training pairs")).collect()
}

fn scores(outcome: &Outcome) -> Value {
    outcome.json()
}

#[test]
fn reads_gold_links_in_every_format() {
    let dir = TestDir::with_pairs();
    let links = links_by_model(&dir, &[]);
    let number = links.iter().map(Vec::len).sum::<usize>() as f64;
    dir.write("pairs.gold", format_gold(&links, |s, t| format!("{s}-{t}")));
    let from_0 = evaluate(&dir, &["--json"]);
    assert_eq!(other_warnings(&from_0), [""; 0]);
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
fn evaluates_links_without_a_model() {
    let dir = TestDir::with_pairs();
    let links = links(&dir, &["--links-from", "pairs"]);
    let text = format_gold(&links, |s, t| format!("{s}-{t}"));
    dir.write("own.links", text.replacen("0-", "3-", 1));
    dir.write("pairs.gold", &text);
    // Without its pairs, a file of links needs only the gold file.
    let alone = dir.run(&["evaluate", "--links", "own.links", "--gold", "pairs.gold", "--json"]).json();
    assert!((0.0..0.1).contains(&alone["aer"].as_f64().unwrap()) && alone["aer"] != 0.0, "{alone}");
    assert!(alone["pairs"] == 12 && alone.get("bleu").is_none(), "{alone}");
    let run =
        |options: &[&str]| dir.run(&[&["evaluate", "--pairs", "pairs.tsv", "--gold", "pairs.gold"], options].concat());
    assert_eq!(run(&["--links", "own.links", "--json"]).json(), alone);
    let aligner = run(&["--links-from", "pairs", "--json"]).json();
    assert!(aligner["aer"] == 0.0 && aligner.get("bleu").is_none(), "{aligner}");
    assert!(run(&["--links-from", "pairs", "--search-threshold"]).worked().contains("best threshold"));
    let both = run(&["--links", "a=own.links", "--links", "b=pairs.gold"]);
    assert!(both.worked().starts_with(&format!("{:20}a      b\n", "")), "{both:?}");

    dir.write("found", "mi\n".repeat(12));
    let [files, learned] = [&["--links", "own.links"][..], &["--links-from", "pairs"]]
        .map(|links| run(&[&["--hypotheses", "found", "--json"], links].concat()).json());
    assert!(files["aer"] == alone["aer"] && files["bleu"].is_number(), "{files}");
    assert!(learned["aer"] == 0.0 && learned["bleu"].is_number(), "{learned}");
    let with_model = run(&["--model", model_path(), "--links-from", "pairs", "--json"]).json();
    assert!(with_model["aer"] == 0.0 && with_model["perplexity"].is_number(), "{with_model}");
}

#[test]
fn refuses_links_that_cannot_be_evaluated() {
    let dir = TestDir::with_pairs();
    dir.write("pairs.gold", "0-0\n".repeat(12));
    dir.write("found", "mi\n".repeat(12));
    dir.write("short", "0-0\n");
    dir.write("beyond", "0-9\n".repeat(12));
    let run = |options: &[&str]| dir.run(&[&["evaluate", "--pairs", "pairs.tsv"], options].concat());
    let gold = ["--gold", "pairs.gold"];
    let refused =
        |options: &[&str], code: i32, parts: &[&str]| run(&[&gold, options].concat()).refused_with(code, parts);
    run(&["--links", "pairs.gold"]).refused_with(2, &["--links needs --gold"]);
    run(&["--links-from", "pairs"]).refused_with(2, &["--links-from pairs needs --gold"]);
    refused(&["--hypotheses", "found"], 2, &["--links", "--links-from pairs"]);
    refused(&["--links", "short"], 1, &["short: 1 lines for 12"]);
    refused(&["--links", "beyond"], 1, &["beyond:1: link 0-9", "4 and 4 words"]);
    refused(&["--links", "found"], 1, &["found:1: \"mi\" is not a link"]);
    refused(&["--links", "pairs.gold", "--beam", "2"], 2, &["--beam needs --model"]);
    refused(&["--links", "pairs.gold", "--threshold", "0.2"], 2, &["--threshold cannot be used with"]);
    refused(&["--links", "pairs.gold", "--by-length"], 2, &["--by-length needs translations"]);
    refused(&["--links", "pairs.gold", "--hypotheses", "found", "--hypotheses", "found"], 2, &["1 --links for 2"]);
}

#[test]
fn reads_gold_links_of_the_naacl_shared_task() {
    let dir = TestDir::with_pairs();
    let links = links_by_model(&dir, &[]);
    dir.write(
        "pairs.gold",
        format_gold(&links, |s, t| if t % 2 == 0 { format!("{s}-{t}") } else { format!("{s}?{t}") }),
    );
    let expected = evaluate(&dir, &["--json"]).json();
    let line = |pair: usize, s: usize, t: usize| {
        let mark = if t.is_multiple_of(2) { "S" } else { "P 0.5" };
        format!("{:04} {} {} {mark}\n", pair + 1, s + 1, t + 1)
    };
    let mut naacl = String::new();
    for (pair, links) in links.iter().enumerate() {
        links.iter().for_each(|&(s, t)| naacl += &line(pair, s, t));
    }
    dir.write("pairs.gold", &naacl);
    assert_eq!(evaluate(&dir, &["--json"]).json(), expected);
    dir.write("pairs.gold", format!("{naacl}13 1 1 S\n"));
    evaluate(&dir, &[]).refused_with(1, &["no sentence 13: there are 12"]);
    dir.write("pairs.gold", format!("{naacl}12 9 1 S\n"));
    evaluate(&dir, &[]).refused_with(1, &["pairs.gold: sentence 12: link 9-1", "counted from 1"]);
}

#[test]
fn warns_of_links_shifted_by_one_word() {
    let dir = TestDir::with_pairs();
    let shifted: Vec<Vec<(usize, usize)>> = links_by_model(&dir, &[])
        .into_iter()
        .map(|links| links.into_iter().filter(|&(_, t)| t < 3).map(|(s, t)| (s, t + 1)).collect())
        .collect();
    dir.write("pairs.gold", format_gold(&shifted, |s, t| format!("{s}-{t}")));
    let outcome = evaluate(&dir, &["--json"]);
    let scores = scores(&outcome);
    assert!(scores["aer"].as_f64().unwrap() > 0.1, "{scores}");
    let shift = common::json(r#"{"source":0,"target":1,"aer":0.0}"#);
    assert_eq!(scores["shift"], shift);
    let warnings = other_warnings(&outcome);
    assert_eq!(warnings.len(), 1, "{outcome:?}");
    assert!(warnings[0].starts_with("warning: links one target word later would have AER 0.000 instead of "));
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
        let own = links_by_model(&dir, &[&from[..], &["--threshold", "0.1"]].concat());
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
