//! Log probabilities of given translations, and reranking of n-best lists.

use crate::common::{TestDir, json, model_path, tsv};

const PAIRS: [(&str, &str); 3] =
    [("the red fox sings", "rufo mi kanta ."), ("the red fox sings", "kanta kanta"), ("", "")];

fn numbers(text: &str) -> Vec<f64> {
    text.lines().map(|line| line.parse().unwrap()).collect()
}

#[test]
fn correct_target_scores_higher_and_words_sum_to_it() {
    let dir = TestDir::new();
    dir.write("pairs.tsv", tsv(&PAIRS));
    let score =
        |options: &[&str]| dir.run(&[&["score", "--model", model_path(), "--pairs", "pairs.tsv"], options].concat());
    let totals = numbers(score(&[]).worked());
    assert!(totals.len() == 3 && totals[0] > -1.0 && totals[1] < -3.0, "{totals:?}");
    for (line, total) in score(&["--words"]).worked().lines().zip(&totals) {
        let mut cells = line.split('\t');
        assert_eq!(cells.next().unwrap().parse::<f64>().unwrap(), *total);
        let sum: f64 = cells.map(|cell| cell.rsplit_once(' ').unwrap().1.parse::<f64>().unwrap()).sum();
        assert!((sum - total).abs() < 1e-3, "{line}");
    }
    assert!(score(&["--words"]).worked().starts_with(&format!("{:.4}\trufo -", totals[0])));
    let objects = score(&["--json"]);
    for ((line, total), (id, (source, target))) in objects.worked().lines().zip(&totals).zip(PAIRS.iter().enumerate()) {
        let pair = json(line);
        assert!(pair["id"] == id && pair["source_text"] == *source && pair["target_text"] == *target, "{pair}");
        assert!((pair["log_probability"].as_f64().unwrap() - total).abs() < 1e-4);
        let tokens = pair["words"].as_array().unwrap().len() + 1;
        assert_eq!(pair["tokens"], tokens);
        let perplexity = (-total / tokens as f64).exp();
        assert!((pair["perplexity"].as_f64().unwrap() / perplexity - 1.0).abs() < 1e-3);
    }
    // `score` agrees with the score of `translate`.
    let sums = ["--length-penalty=0", "--coverage-penalty=0", "--brevity-penalty=0", "--format", "jsonl"];
    let found = dir.run(&[&["translate", "--model", model_path()], &sums[..], &["the old owl sleeps"]].concat());
    let found = found.json();
    dir.write("found.tsv", format!("the old owl sleeps\t{}\n", found["translation"].as_str().unwrap()));
    let again = dir.run(&["score", "--model", model_path(), "--pairs", "found.tsv"]);
    assert!((numbers(again.worked())[0] - found["score"].as_f64().unwrap()).abs() < 1e-3, "{found}");
}

#[test]
fn scores_with_an_ensemble() {
    let dir = TestDir::new();
    dir.write("pairs.tsv", tsv(&PAIRS));
    let one = dir.run(&["score", "--model", model_path(), "--pairs", "pairs.tsv"]);
    let two = dir.run(&["score", "--model", model_path(), "--model", model_path(), "--pairs", "pairs.tsv"]);
    assert!(numbers(one.worked()).iter().zip(numbers(two.worked())).all(|(one, two)| (one - two).abs() < 2e-4));
}

#[test]
fn reranks_an_n_best_list() {
    let dir = TestDir::new();
    dir.write("sentences", "the red fox sings\nthe grey owl sleeps\n");
    dir.write(
        "list",
        "1 ||| grisa ||| LM= -2 ||| -1\n0 ||| kanta kanta ||| LM= -1 ||| -2\n0 ||| rufo mi kanta . ||| LM= -9 ||| -3\n",
    );
    let rank = |options: &[&str]| {
        let arguments = ["score", "--model", model_path(), "--input", "sentences", "--rerank", "list"];
        dir.run(&[&arguments, options].concat())
    };
    let ranked = rank(&[]);
    let lines: Vec<Vec<&str>> = ranked.worked().lines().map(|line| line.split(" ||| ").collect()).collect();
    let texts: Vec<[&str; 2]> = lines.iter().map(|fields| [fields[0], fields[1]]).collect();
    assert_eq!(texts, [["0", "rufo mi kanta ."], ["0", "kanta kanta"], ["1", "grisa"]]);
    let (feature, score) = (lines[0][2], lines[0][3].parse::<f64>().unwrap());
    let sum: f64 = feature.strip_prefix("LM= -9 softalign= ").unwrap().parse().unwrap();
    assert!((sum / 5f64.powf(0.8) - score).abs() < 1e-3, "{lines:?}");
    let sums = rank(&["--length-penalty", "0"]);
    let first = sums.worked().lines().next().unwrap();
    assert!((first.rsplit(' ').next().unwrap().parse::<f64>().unwrap() - sum).abs() < 1e-3, "{first}");
    // A list written by `translate`.
    let n_best = dir.run(&["translate", "--model", model_path(), "--input", "sentences", "--n-best", "3"]);
    dir.write("list", n_best.worked());
    assert_eq!(rank(&[]).worked().lines().count(), 6);
}

#[test]
fn n_best_lists_exclude_pairs() {
    let dir = TestDir::new();
    dir.write("sentences", "a\n");
    dir.write("list", "0 ||| a\n");
    let rerank = ["score", "--model", model_path(), "--input", "sentences", "--rerank", "list"];
    for pairs in [
        &["list"][..],
        &["--pairs", "list"],
        &["--source", "list", "--target", "list"],
        &["--csv"],
        &["--header"],
        &["--columns", "1,2"],
        &["--words"],
        &["--json"],
    ] {
        dir.run(&[&rerank, pairs].concat()).refused_with(2, &["--rerank", "cannot be used with"]);
    }
    assert_eq!(dir.run(&[&rerank[..], &["--tag-source", "<2x>"]].concat()).worked().lines().count(), 1);
}

#[test]
fn refuses_input_that_cannot_be_scored() {
    let dir = TestDir::new();
    dir.write("sentences", "a\n");
    let rank = |list: &str| {
        dir.write("list", list);
        dir.run(&["score", "--model", model_path(), "--input", "sentences", "--rerank", "list"])
    };
    rank("1 ||| a\n").refused_with(1, &["list:1: no sentence 1"]);
    rank("0 ||| a\na ||| b\n").refused_with(1, &["list:2: \"a\" is not a sentence number"]);
    rank("0 a\n").refused_with(1, &["list:1"]);
    assert_eq!(rank("").worked(), "");
    for pairs in [&["--pairs", "list"][..], &[]] {
        let without_list = ["score", "--model", model_path(), "--input", "sentences"];
        dir.run(&[&without_list, pairs].concat()).refused_with(2, &["--input needs --rerank"]);
    }
    dir.run(&["score", "--model", model_path(), "--input", "-", "--rerank", "-"]).refused_with(2, &["cannot be both"]);
    dir.run(&["score", "--model", model_path(), "--input", "sentences", "--rerank", "list", "--output", "list"])
        .refused_with(2, &["list", "also input"]);
    dir.run(&["score", "--model", model_path(), "--input", "sentences", "--rerank", "list", "--length-penalty", "-1"])
        .refused_with(2, &["--length-penalty"]);
}
