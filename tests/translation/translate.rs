//! `softalign translate`: sources of sentences, warnings, output, and the interactive mode.

use std::collections::BTreeSet;

use crate::common::{self, Outcome, TestDir, json, model_path};
use serde_json::Value;

fn translate(arguments: &[&str], input: &str) -> Outcome {
    TestDir::new().run_with_input(&[&["translate", "--model", model_path()], arguments].concat(), input)
}

#[test]
fn dash_among_the_sentences_reads_standard_input() {
    assert_eq!(translate(&["-"], "the red fox sleeps\n\n").worked(), "rufo mi dorma .\n\n");
    let both = translate(&["the old fox runs", "-"], "the red fox sleeps\n");
    assert_eq!(both.worked(), "vela mi kura .\nrufo mi dorma .\n");
}

#[test]
fn warns_of_a_sentence_without_quotes() {
    let unquoted = translate(&["the", "red", "fox", "sleeps"], "");
    assert_eq!(unquoted.worked().lines().count(), 4, "every argument is a sentence");
    assert!(unquoted.stderr.starts_with("warning: 4 words") && unquoted.stderr.contains("quotes"), "{unquoted:?}");
    for arguments in [&["the red fox sleeps", "the"][..], &["the"], &["the", ""]] {
        assert_eq!(translate(arguments, "").stderr, "", "{arguments:?}");
    }
}

#[test]
fn character_models_warn_of_sentences() {
    let dir = TestDir::new();
    dir.write("pairs.tsv", "fox\tf o ks\nowl\tau l\n");
    dir.train("out", &["--source-tokenization", "char", "--max-epochs", "1"]).worked();
    assert_eq!(dir.run(&["translate", "--model", "out", "fox", "owl"]).stderr, "");
}

#[test]
fn products_in_bf16_change_scores_a_little() {
    let line = |precision: &str| {
        json(translate(&["--precision", precision, "--format", "jsonl", "the red fox sleeps"], "").worked())
    };
    let [exact, rounded] = ["f32", "bf16"].map(line);
    let values = |line: &Value| (line["translation"].clone(), line["links"].clone());
    assert_eq!(values(&exact), values(&rounded));
    let [exact, rounded] = [exact, rounded].map(|line| line["score"].as_f64().unwrap());
    assert!(exact != rounded && (exact - rounded).abs() < 0.01, "{exact} {rounded}");
    assert_eq!(translate(&["--precision", "auto", "the red fox sleeps"], "").worked(), "rufo mi dorma .\n");
}

#[test]
fn n_best_translations_are_numbered() {
    let n_best = |format: &str| {
        let outcome = translate(&["--n-best", "2", "--format", format], "the red fox sings\n\nthe owl\n");
        outcome.worked().to_owned()
    };
    let links = n_best("pharaoh");
    let numbers: Vec<&str> = links.lines().map(|line| line.split_once(" ||| ").unwrap().0).collect();
    assert_eq!(numbers, ["0", "0", "1", "2", "2"], "{links}");
    let table = n_best("tsv");
    assert!(table.starts_with("sentence\trank\tsource\t"), "{table}");
    let mut ranks: Vec<&str> = table.lines().skip(1).map(|line| &line[..3]).collect();
    ranks.dedup();
    assert_eq!(ranks, ["0\t1", "0\t2", "2\t1", "2\t2"], "{table}");
    let alone = translate(&["--format", "pharaoh"], "the red fox sings\n");
    assert!(!alone.worked().contains('|'), "a single translation has no number: {alone:?}");
}

/// Different tokens may spell the same text, as hypotheses of the shipped model do for each of these lines.
#[test]
fn n_best_texts_are_distinct() {
    let shipped = concat!(env!("CARGO_MANIFEST_DIR"), "/checkpoints");
    let test = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/data/test.tsv")).unwrap();
    for line in [22, 32, 41] {
        let sentence = test.lines().nth(line).unwrap().split('\t').next().unwrap();
        let best = |count: &str, beam: &str| {
            let options = ["translate", "--model", shipped, "--n-best", count, "--beam", beam, sentence];
            let listed = TestDir::new().run(&options).worked().to_owned();
            listed.lines().map(|line| line.split(" ||| ").nth(1).unwrap().to_owned()).collect::<Vec<_>>()
        };
        let found = best("5", "5");
        let distinct: BTreeSet<&String> = found.iter().collect();
        assert_eq!(distinct.len(), found.len(), "{found:?}");
        assert_eq!(best("3", "5"), found[..3], "duplicates are replaced from the beam");
    }
}

#[test]
fn warns_once_of_lines_in_another_language() {
    let input = "the red fox sleeps\n日本語です\n\nПривет zebra\nthe zebra sleeps\n";
    let translated = translate(&[], input);
    assert_eq!(translated.worked().lines().count(), 5);
    assert!(translated.stderr.starts_with("warning: lines 2 and 4: mostly unknown"), "{translated:?}");
    assert!(translated.stderr.contains("--unknown copy") && translated.stderr.lines().count() == 1, "{translated:?}");
    let copied = translate(&["--unknown", "copy"], input);
    let lines: Vec<&str> = copied.worked().lines().collect();
    assert_eq!(lines[..4], ["rufo mi dorma .", "日本語です", "", "Привет zebra"]);
    let copied = translate(&["--unknown", "copy", "--format", "jsonl", "--n-best", "2"], input);
    let copied: Vec<Value> = copied.worked().lines().map(json).collect();
    let fourth: Vec<&Value> = copied.iter().filter(|item| item["id"] == 3).collect();
    assert_eq!((fourth.len(), &fourth[0]["unknown"]), (1, &Value::from(1.0)));
    assert_eq!(fourth[0]["attention"], serde_json::json!([[1.0, 0.0], [0.0, 1.0]]));
    let known = copied.iter().find(|item| item["id"] == 0).unwrap();
    assert_eq!(known["unknown"], Value::from(0.0));
}

#[test]
fn warns_once_of_truncated_lines_even_if_quiet() {
    let input = format!("the fox\n{}", format!("{}\n", "the red fox sleeps ".repeat(200)).repeat(7));
    for options in [&["--beam", "1"][..], &["--beam", "1", "--quiet"]] {
        let outcome = translate(options, &input);
        assert_eq!(outcome.worked().lines().count(), 8);
        let expected = "warning: lines 2, 3, 4, 5, 6 and 2 more: longer than 500 tokens; only the beginning was read\n";
        assert_eq!(outcome.stderr, expected, "{options:?}");
    }
}

#[test]
fn json_has_the_original_text_and_a_schema_version() {
    let outcome = translate(&["--format", "jsonl"], "  the red\u{a0} fox  sleeps \n");
    let item = outcome.json();
    assert_eq!(item["source_text"], "  the red\u{a0} fox  sleeps ");
    assert_eq!(item["schema"], 1);
    assert!(item.get("target_text").is_none(), "the translation is the target: {item}");
}

/// Terminal output of the program when `typed` is entered.
#[cfg(target_os = "linux")]
fn run_in_terminal(options: &str, typed: &str) -> String {
    use std::io::Write;
    use std::process::{Command, Stdio};
    let program = format!("\"$PROGRAM\" --threads 1 translate --model \"$MODEL\" {options}");
    let mut child = Command::new("timeout")
        .args(["60", "script", "-qec", &program, "/dev/null"])
        .env("PROGRAM", env!("CARGO_BIN_EXE_softalign"))
        .env("MODEL", model_path())
        .env("TERM", "xterm")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(typed.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn repl_draws_colored_heatmaps() {
    let shown = run_in_terminal("--color always", "the red fox sleeps\n:align\n:q\n");
    assert!(shown.contains("\u{1b}[48;5;") && !shown.contains('\u{241b}'), "{shown}");
}

#[cfg(target_os = "linux")]
#[test]
fn repl_changes_options_and_saves_alignments() {
    let dir = TestDir::new();
    let figure = dir.path("figure.svg");
    let typed = format!(
        "the red fox sleeps\n:save {}\n:save figure.pdf\n:beam 0\n:beam 2\n:hard\n:temperature x\n:model nowhere\n\
         the red fox sleeps\n:align\n:q\n",
        figure.display()
    );
    let shown = run_in_terminal("--color never", &typed);
    for part in [
        "saved ",
        "figure.pdf: .pdf cannot be written",
        ":beam needs a number",
        "beam size 2",
        "hard attention",
        ":temperature needs a number",
        "nowhere: no model here",
        "100",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert_eq!(shown.matches("rufo mi dorma .").count(), 2, "{shown}");
    assert!(dir.text("figure.svg").starts_with("<svg "));
}

#[cfg(target_os = "linux")]
#[test]
fn repl_answers_sentences_and_commands() {
    let shown = run_in_terminal("", ":align\nthe red fox sleeps\n:align\n:helo\n:help\n:quit\n");
    for part in ["nothing has been translated", "rufo mi dorma .", "</s>", "unknown command :helo", "Ctrl-R"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    // Arrow up recalls previous input.
    let again = run_in_terminal("--quiet", "the old fox runs\n:nope\n\u{1b}[A\u{1b}[A\n:q\n");
    assert_eq!(again.matches("vela mi kura .").count(), 2, "{again}");
    // Options apply to interactive input.
    let several = run_in_terminal("--n-best 2", "the red fox sleeps\n:q\n");
    assert!(several.contains("0 ||| rufo mi dorma . ||| ") && several.matches(" ||| ").count() == 4, "{several}");
    let dir = TestDir::new();
    let path = dir.path("output.txt");
    run_in_terminal(&format!("--output {}", path.display()), "the red fox sleeps\nthe old fox runs\n:q\n");
    assert_eq!(dir.text("output.txt"), "rufo mi dorma .\nvela mi kura .\n");
    // Output of commands is not written to the file.
    run_in_terminal(
        &format!("--format jsonl --output {}", path.display()),
        "the red fox sleeps\n:align\nthe old fox runs\n:q\n",
    );
    assert_eq!(dir.text("output.txt").lines().map(|line| common::json(line)["id"].clone()).collect::<Vec<_>>(), [0, 1]);
    let truncated = run_in_terminal("--quiet", &format!("{}\n:q\n", "fox ".repeat(510)));
    assert!(truncated.contains("line 1: longer than 500 tokens"), "{truncated}");
}

#[test]
fn results_are_independent_of_threads_and_batch() {
    let dir = TestDir::with_pairs();
    let sentences: String = common::PAIRS.map(|(source, _)| format!("{source}\n")).concat().repeat(9);
    let with = |threads: &str, arguments: &[&str]| {
        let arguments = [arguments, &["--threads", threads, "--model", model_path(), "--format", "jsonl"]].concat();
        dir.run_with_input(&arguments, &sentences).worked().to_owned()
    };
    for arguments in [&["translate"][..], &["align", "--pairs", "pairs.tsv"]] {
        let alone = with("1", arguments);
        for threads in ["2", "3", "8"] {
            assert_eq!(with(threads, arguments), alone, "{arguments:?}: {threads} threads");
        }
    }
}
