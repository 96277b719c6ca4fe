//! `clean`: reports noisy pairs of a corpus and writes the others.

use crate::common::{PAIRS, TestDir, model_path, tsv};

/// A directory with 60 clean pairs, and noisy ones in lines 61 to 68.
fn dir() -> TestDir {
    let dir = TestDir::new();
    let numbers = 0..60;
    let good = numbers.map(|number| {
        let (source, target) = PAIRS[number % PAIRS.len()];
        format!("{source} {number}\t{target} {number}\n")
    });
    let long = "word ".repeat(101);
    let bad = format!(
        "\ta\nb\t \n{long}\tx\nBerlin\tBerlin\nthe red fox sleeps 0\trufo mi dorma . 0\nлиса спит\tmi dorma\n\
         the fox\t{}\na b\t{}\n",
        "mi dorma kanta kura vela ".repeat(4),
        "ku kanta dorma mi vela ".repeat(9)
    );
    dir.write("pairs.tsv", good.collect::<String>() + &bad);
    dir
}

const REPORT: &str = "\
reason          pairs    share  lines
empty               2    2.9 %  61, 62
long                1    1.5 %  63
identical           1    1.5 %  64
duplicate           1    1.5 %  65
script              1    1.5 %  66
proportion          2    2.9 %  67, 68
suspicious          0    0.0 %
good               60   88.2 %
";

#[test]
fn counts_noise_without_writing_files() {
    let dir = dir();
    let before = dir.contents();
    assert_eq!(dir.run(&["clean", "--pairs", "pairs.tsv"]).worked(), REPORT);
    let accepted = dir.run(&["clean", "--pairs", "pairs.tsv", "--accept", "duplicate,script"]);
    assert!(accepted.worked().contains("good               62 "), "{accepted:?}");
    assert_eq!(dir.contents(), before);
}

#[test]
fn reports_line_numbers_of_the_file() {
    let dir = dir();
    dir.write("named.tsv", format!("source\ttarget\n{}", dir.text("pairs.tsv")));
    let report = dir.run(&["clean", "--pairs", "named.tsv", "--header"]);
    assert!(report.worked().contains("%  62, 63\n") && report.worked().contains("%  68, 69\n"), "{report:?}");
    let listed = dir.run(&[
        "align",
        "--pairs",
        "named.tsv",
        "--header",
        "--links-from",
        "pairs",
        "--noisy",
        "--format",
        "jsonl",
    ]);
    assert!(!listed.worked().contains("\"line\":1,") && listed.worked().contains("\"line\":69,"), "{listed:?}");
    let sides = ["--features", "3", "--output", "a", "--output-target", "b"];
    let refused = dir.run(&[&["clean", "--pairs", "pairs.tsv"], &sides[..]].concat());
    refused.refused_with(2, &["--output-target and --features exclude each other"]);
}

#[test]
fn writes_clean_and_noisy_pairs_separately() {
    let dir = dir();
    let all = dir.text("pairs.tsv");
    let lines: Vec<&str> = all.lines().collect();
    let clean = ["clean", "--pairs", "pairs.tsv", "--output", "clean.tsv", "--rejected", "rest.tsv"];
    assert_eq!(dir.run(&clean).worked(), REPORT);
    assert_eq!(dir.text("clean.tsv").lines().collect::<Vec<_>>(), lines[..60]);
    let rest = dir.text("rest.tsv");
    let rejected: Vec<Vec<&str>> = rest.lines().map(|line| line.splitn(3, '\t').collect()).collect();
    assert_eq!(rejected[3], ["64", "identical", "Berlin\tBerlin"]);
    assert_eq!(rejected.iter().map(|one| one[2]).collect::<Vec<_>>(), lines[60..]);
    // With the pairs on standard output, the report goes to standard error.
    let piped = dir.run(&["clean", "--pairs", "pairs.tsv", "--output", "-"]);
    assert_eq!(piped.worked(), dir.text("clean.tsv"));
    assert!(piped.stderr.contains("proportion          2") && piped.stderr.lines().count() == 9, "{piped:?}");
    // Cleaning a clean corpus changes nothing.
    let again = dir.run(&["clean", "--pairs", "clean.tsv", "--output", "again.tsv"]);
    assert!(again.worked().ends_with("good               60  100.0 %\n"));
    assert_eq!(dir.text("again.tsv"), dir.text("clean.tsv"));
}

/// Tags affect neither lengths nor proportions.
#[test]
fn ignores_the_tag_when_filtering() {
    let dir = dir();
    let tagged = dir.run(&["clean", "--pairs", "pairs.tsv", "--tag-source", "<2la>"]);
    assert_eq!(tagged.worked(), REPORT);
}

#[test]
fn keeps_noise_kinds_that_are_allowed() {
    let dir = dir();
    let accepted = ["clean", "--pairs", "pairs.tsv", "--noisy", "10", "--accept", "suspicious"];
    assert_eq!(dir.run(&accepted).worked(), REPORT);
}

#[test]
fn parallel_files_stay_parallel() {
    let dir = TestDir::new();
    dir.write("en", "a\tb\n\nc d\n");
    dir.write("fr", "x y\nz\nu\tv w\n");
    let files = ["clean", "--source", "en", "--target", "fr", "--output", "clean.en"];
    dir.run(&[&files[..], &["--output-target", "clean.fr"]].concat()).worked();
    assert_eq!((dir.text("clean.en"), dir.text("clean.fr")), ("a\tb\nc d\n".into(), "x y\nu\tv w\n".into()));
    dir.run(&files).worked();
    assert_eq!(dir.text("clean.en"), "a b\tx y\nc d\tu v w\n", "tabs inside a sentence become spaces");
}

#[test]
fn ranks_mismatched_pairs_as_noisy() {
    let dir = TestDir::new();
    let mut pairs: Vec<(String, String)> = Vec::new();
    for number in 0..120 {
        let (source, target) = PAIRS[number % PAIRS.len()];
        let target = if number % 10 == 9 { PAIRS[(number + 5) % PAIRS.len()].1 } else { target };
        pairs.push((source.to_owned(), target.to_owned()));
    }
    let lines: Vec<(&str, &str)> = pairs.iter().map(|(source, target)| (source.as_str(), target.as_str())).collect();
    dir.write("pairs.tsv", tsv(&lines));
    let options = ["clean", "--pairs", "pairs.tsv", "--accept", "duplicate", "--rejected", "rest.tsv", "--noisy", "10"];
    // Twelve distinct sentences are too few to train an aligner, but the model detects the mismatches.
    for (model, least) in [(&[][..], 0), (&["--model", model_path()], 8)] {
        dir.run(&[&options, model].concat()).worked();
        let rest = dir.text("rest.tsv");
        let numbers: Vec<usize> = rest.lines().map(|line| line.split_once('\t').unwrap().0.parse().unwrap()).collect();
        let mismatched = numbers.iter().filter(|number| *number % 10 == 0).count();
        assert!(numbers.len() == 12 && mismatched >= least, "{model:?} {numbers:?}");
    }
}

#[test]
fn refuses_invalid_filter_options() {
    let dir = dir();
    let refused = |options: &[&str], code: i32, part: &str| {
        dir.run(&[&["clean", "--pairs", "pairs.tsv"], options].concat()).refused_with(code, &[part]);
    };
    refused(&["--output", "pairs.tsv"], 2, "also input");
    refused(&["--output", "x", "--rejected", "x"], 2, "both write to x");
    refused(&["--max-proportion", "0.5"], 2, "--max-proportion");
    refused(&["--noisy", "101"], 2, "--noisy");
    refused(&["--noisy", "1", "--model", "none"], 1, "none");
    dir.write("empty.tsv", "");
    dir.run(&["clean", "--pairs", "empty.tsv"]).refused_with(1, &["empty.tsv: no sentence pair"]);
}
