//! Lines that cannot be read: the lines around them get their results (`--on-error`).

use crate::common::{Outcome, PAIRS, QUICK, TestDir, json, model_path, tsv};
use serde_json::{Value, json};

/// Source sentences, one of them not UTF-8.
const SENTENCES: &[u8] = b"the red fox sleeps\nthe \xe9 owl\nthe old fox sings\n";

fn translate(dir: &TestDir, options: &[&str]) -> Outcome {
    dir.run_with_input(&[&["translate", "--model", model_path()], options].concat(), SENTENCES)
}

/// Translations of the sentences that can be read.
fn translations(dir: &TestDir) -> [String; 2] {
    let sentences = "the red fox sleeps\nthe old fox sings\n";
    let outcome = dir.run_with_input(&["translate", "--model", model_path()], sentences);
    let lines: Vec<String> = outcome.worked().lines().map(str::to_owned).collect();
    lines.try_into().unwrap()
}

/// Pairs with a line that is not UTF-8 and one without a tab.
fn write_pairs(dir: &TestDir) {
    let mut bytes = tsv(&PAIRS[..2]).into_bytes();
    bytes.extend(b"the \xe9 owl\tku\nthe owl\n");
    bytes.extend(tsv(&PAIRS[2..]).into_bytes());
    dir.write("broken.tsv", bytes);
}

/// Asserts that lines 3 and 4 of the pairs were warned of, and that the command failed after all results.
#[track_caller]
fn kept(outcome: &Outcome) -> Vec<&str> {
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    let messages: Vec<&str> = outcome.stderr.lines().collect();
    assert!(messages[0].starts_with("warning: broken.tsv:3: not UTF-8 from byte 5"), "{outcome:?}");
    assert!(messages[1].starts_with("warning: broken.tsv:4: no tab in this line"), "{outcome:?}");
    assert!(messages.last().unwrap().starts_with("error: 2 lines could not be read"), "{outcome:?}");
    outcome.stdout.lines().collect()
}

#[test]
fn stream_of_sentences_keeps_its_line_count() {
    let dir = TestDir::new();
    let [first, last] = translations(&dir);
    for options in [&[][..], &["--on-error", "keep", "--quiet"]] {
        let outcome = translate(&dir, options);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(1), &*format!("{first}\n\n{last}\n")));
        assert_eq!(
            outcome.stderr,
            "warning: standard input:2: not UTF-8 from byte 5 of this line on; convert the file to UTF-8\n\
             error: 1 line could not be read; its result is empty\n"
        );
    }
    dir.write("text.txt", SENTENCES);
    let outcome = translate(&dir, &["--input", "text.txt", "--output", "out.txt"]);
    assert_eq!((outcome.code, dir.text("out.txt")), (Some(1), format!("{first}\n\n{last}\n")));
}

#[test]
fn skipped_lines_have_no_output() {
    let dir = TestDir::new();
    let outcome = translate(&dir, &["--on-error", "skip"]);
    assert_eq!(outcome.worked(), translations(&dir).map(|line| line + "\n").concat());
    assert!(outcome.stderr.contains("warning: standard input:2: not UTF-8"), "{outcome:?}");
    assert!(outcome.stderr.ends_with("warning: 1 line could not be read; its result is left out\n"), "{outcome:?}");
}

#[test]
fn failing_command_answers_the_lines_before() {
    let dir = TestDir::new();
    let outcome = translate(&dir, &["--on-error", "fail"]);
    assert_eq!((outcome.code, outcome.stdout), (Some(1), format!("{}\n", translations(&dir)[0])));
    assert!(outcome.stderr.starts_with("error: standard input:2: not UTF-8"), "{}", outcome.stderr);
}

#[test]
fn json_carries_the_error() {
    let dir = TestDir::new();
    let error = "standard input:2: not UTF-8 from byte 5 of this line on; convert the file to UTF-8";
    let expected = json!({"schema": 1, "id": 1, "error": error});
    let lines = translate(&dir, &["--format", "jsonl"]);
    let objects: Vec<Value> = lines.stdout.lines().map(json).collect();
    assert_eq!((objects.len(), &objects[1], &objects[2]["id"]), (3, &expected, &json!(2)));
    let array = translate(&dir, &["--format", "json"]);
    assert_eq!((array.code, json(&array.stdout)), (Some(1), Value::from(objects.clone())));
    // Ids are those of the input lines.
    let skipped = translate(&dir, &["--format", "jsonl", "--on-error", "skip"]);
    let objects = [&objects[0], &objects[2]].map(ToString::to_string);
    assert_eq!(skipped.worked().lines().map(|line| json(line).to_string()).collect::<Vec<_>>(), objects);
}

#[test]
fn warns_of_the_first_lines_and_counts_all() {
    let dir = TestDir::new();
    let input = [SENTENCES, &b"\xff\n".repeat(200)].concat();
    let outcome = dir.run_with_input(&["translate", "--model", model_path()], input);
    assert_eq!((outcome.code, outcome.stdout.lines().count()), (Some(1), 203));
    let messages: Vec<&str> = outcome.stderr.lines().collect();
    assert_eq!(messages.len(), 6, "{messages:?}");
    assert!(messages[4].contains("standard input:7:") && messages[5].contains("201 lines"), "{messages:?}");
}

#[test]
fn aligned_and_scored_pairs_keep_their_line_count() {
    let dir = TestDir::with_pairs();
    write_pairs(&dir);
    let run = |command: &[&str], pairs: &str, options: &[&str]| {
        dir.run(&[command, &["--model", model_path(), "--pairs", pairs], options].concat())
    };
    for command in
        [&["align", "--format", "pharaoh"][..], &["align", "--format", "jsonl"], &["score"], &["score", "--json"]]
    {
        let complete = run(command, "pairs.tsv", &[]);
        let complete: Vec<&str> = complete.worked().lines().collect();
        let outcome = run(command, "broken.tsv", &[]);
        let lines = kept(&outcome);
        assert_eq!(lines.len(), PAIRS.len() + 2, "{command:?}");
        assert_eq!(lines[..2], complete[..2], "{command:?}");
        if command.contains(&"score") || command.contains(&"pharaoh") {
            let skipped = run(command, "broken.tsv", &["--on-error", "skip"]);
            assert_eq!(skipped.worked().lines().count(), PAIRS.len(), "{command:?}");
        }
        if lines[0].starts_with('{') {
            let [second, third] = [lines[2], lines[3]].map(json);
            assert_eq!((&second["id"], third["id"].as_u64()), (&json!(2), Some(3)));
            assert!(third["error"].as_str().unwrap().starts_with("broken.tsv:4: no tab"), "{third}");
        } else {
            assert_eq!((lines[2..4].concat(), &lines[4..]), (String::new(), &complete[2..]), "{command:?}");
        }
    }
}

#[test]
fn aligning_all_pairs_together_keeps_their_numbers() {
    let dir = TestDir::with_pairs();
    write_pairs(&dir);
    let align = ["align", "--pairs", "broken.tsv", "--format"];
    let run = |options: &[&str]| dir.run(&[&align, options].concat());
    let outcome = run(&["pharaoh", "--links-from", "pairs"]);
    assert_eq!(kept(&outcome).len(), PAIRS.len() + 2);
    let outcome = run(&["jsonl", "--only", "2,3,5", "--model", model_path()]);
    let ids: Vec<u64> = outcome.stdout.lines().map(|line| json(line)["id"].as_u64().unwrap()).collect();
    assert_eq!((outcome.code, ids), (Some(1), vec![1, 2, 4]));
    let listed = run(&["jsonl", "--noisy", "--on-error", "skip", "--model", model_path()]);
    let mut lines: Vec<u64> = listed.worked().lines().map(|line| json(line)["line"].as_u64().unwrap()).collect();
    lines.sort_unstable();
    assert_eq!(lines, (1..=PAIRS.len() as u64 + 2).filter(|line| ![3, 4].contains(line)).collect::<Vec<_>>());
    let refused = run(&["pharaoh", "--links-from", "pairs", "--on-error", "fail"]);
    refused.refused_with(1, &["broken.tsv:3: not UTF-8"]);
}

#[test]
fn unreadable_side_makes_the_pair_unreadable() {
    let dir = TestDir::new();
    dir.write("a", b"the red fox\nthe owl\nthe old fox\n");
    dir.write("b", b"rufo mi\nku \xff\nvela mi\n");
    let align = ["align", "--model", model_path(), "--source", "a", "--target", "b", "--format", "pharaoh"];
    let outcome = dir.run(&align);
    let lines: Vec<&str> = outcome.stdout.lines().collect();
    assert!(outcome.code == Some(1) && lines.len() == 3 && lines[1].is_empty() && !lines[2].is_empty(), "{outcome:?}");
    assert!(outcome.stderr.contains("warning: b:2: not UTF-8 from byte 4"), "{outcome:?}");
}

#[test]
fn unreadable_csv_record_is_named_by_its_line() {
    let dir = TestDir::new();
    dir.write("broken.csv", b"the fox,mi\n\"the\nowl \xff\",ku\nthe red fox,rufo mi\nonly one\n");
    let clean = dir.run(&["clean", "--pairs", "broken.csv", "--csv", "--on-error", "skip", "--output", "clean.tsv"]);
    assert!(clean.stderr.contains("broken.csv:3: not UTF-8 from byte 5"), "{clean:?}");
    assert_eq!((clean.code, dir.text("clean.tsv")), (Some(0), "the fox\tmi\nthe red fox\trufo mi\n".to_owned()));
    assert!(clean.stdout.contains("unreadable          2   50.0 %  3, 5\n"), "{clean:?}");
}

/// A file in another format is not an endless list of unreadable lines.
#[test]
fn wrong_format_of_the_first_pair_stops_the_command() {
    let dir = TestDir::new();
    dir.write("broken.tsv", "the fox,mi\nthe owl,ku\n");
    for command in ["align", "score"] {
        let run = |options: &[&str]| {
            dir.run(&[&[command, "--model", model_path(), "--pairs", "broken.tsv"], options].concat())
        };
        run(&[]).refused_with(1, &["broken.tsv:1: no tab in this line; it looks like CSV with commas: use --csv"]);
        assert_eq!(run(&["--on-error", "skip"]).worked().trim(), "");
    }
}

#[test]
fn training_and_cleaning_skip_lines_where_asked() {
    let dir = TestDir::with_pairs();
    write_pairs(&dir);
    let train = ["train", "--train", "broken.tsv", "--valid", "broken.tsv", "--max-epochs", "1"];
    let train = |out: &str, options: &[&str]| dir.run(&[&train, &QUICK[..18], &["--out", out], options].concat());
    train("model", &[]).refused_with(1, &["broken.tsv:3: not UTF-8"]);
    let outcome = train("model", &["--on-error", "skip"]);
    outcome.worked();
    let warning = "warning: broken.tsv:3: not UTF-8 from byte 5 of this line on; convert the file to UTF-8; this line and \
                   1 more are left out";
    assert_eq!(outcome.stderr.matches(warning).count(), 2, "{outcome:?}");
    let config = json(&dir.text("model/config.json"));
    assert_eq!((&config["data"]["training_pairs"], &config["data"]["on_error"]), (&json!(PAIRS.len()), &json!("skip")));
    dir.run(&["train", "--out", "model", "--resume", "--max-epochs", "2", "--quiet"]).worked();
    assert_eq!(train("other", &["--on-error", "keep"]).code, Some(2));
    assert_eq!(train("other", &["--on-error", "skip", "--guide", "links"]).code, Some(2));

    dir.run(&["clean", "--pairs", "broken.tsv"]).refused_with(1, &["broken.tsv:3: not UTF-8"]);
    let clean = dir.run(&["clean", "--pairs", "broken.tsv", "--on-error", "skip"]);
    assert!(clean.worked().contains("unreadable          2   14.3 %  3, 4\n"), "{clean:?}");
    assert!(clean.stderr.contains("broken.tsv:3: not UTF-8"), "{clean:?}");
    dir.run(&[
        "clean",
        "--pairs",
        "broken.tsv",
        "--on-error",
        "skip",
        "--accept",
        "duplicate",
        "--rejected",
        "rest.tsv",
    ])
    .worked();
    let rest = dir.text("rest.tsv");
    let rejected: Vec<Vec<&str>> = rest.lines().map(|line| line.splitn(3, '\t').collect()).collect();
    let [invalid, untabbed] = &rejected[..] else { panic!("{rest}") };
    assert_eq!((&invalid[..2], &untabbed[..2]), (&["3", "unreadable"][..], &["4", "unreadable"][..]));
    assert!(invalid[2].starts_with("broken.tsv:3: not UTF-8 from byte 5"), "{rest}");
    assert!(untabbed[2].starts_with("broken.tsv:4: no tab in this line"), "{rest}");
}

#[test]
fn training_skips_monolingual_lines_where_asked() {
    let dir = TestDir::with_pairs();
    dir.write("mono.txt", b"grisa mi kura .\n\xe9\nvela ku dorma .\n\xff\n");
    let train = ["train", "pairs.tsv", "--monolingual-target", "mono.txt", "--hidden-size", "8", "--max-epochs", "1"];
    let train = |options: &[&str]| dir.run(&[&train[..], options].concat());
    train(&["--out", "out"]).refused_with(1, &["mono.txt:2: not UTF-8"]);
    let outcome = train(&["--out", "out", "--on-error", "skip"]);
    outcome.worked();
    let warning = "warning: mono.txt:2: not UTF-8 from byte 1 of this line on; convert the file to UTF-8; this line and 1 \
                   more are left out";
    assert_eq!(outcome.stderr.matches(warning).count(), 1, "{outcome:?}");
    assert_eq!(dir.text("out/auxiliary/back-translations.target"), "grisa mi kura .\nvela ku dorma .\n");
}

#[test]
fn gold_links_of_unreadable_pairs_do_not_matter() {
    let dir = TestDir::with_pairs();
    write_pairs(&dir);
    let gold: String = (0..PAIRS.len() + 2).map(|index| if index == 2 { "7-7\n" } else { "0-0\n" }).collect();
    dir.write("gold", gold);
    let arguments = ["align", "--model", model_path(), "broken.tsv", "--gold", "gold", "--format", "html"];
    let page = dir.run(&[&arguments[..], &["--on-error", "skip"]].concat());
    assert!(page.worked().contains("</html>") && page.stderr.contains("left out"));
}

/// Lines of other files belong to the same pairs as without the skipped ones.
#[test]
fn evaluation_skips_pairs_with_their_lines_in_other_files() {
    let dir = TestDir::with_pairs();
    write_pairs(&dir);
    let write = |name: &str, skipped: &str, line: &dyn Fn(usize) -> String| {
        let lines: Vec<String> = (0..PAIRS.len()).map(|index| line(index) + "\n").collect();
        dir.write(&format!("{name}.all"), lines.concat());
        dir.write(name, [&lines[..2].concat(), skipped, &lines[2..].concat()].concat());
    };
    write("system", "one\nother\n", &|index| PAIRS[(index + index % 2) % PAIRS.len()].1.to_owned());
    write("gold", "7-7\n\n", &|index| format!("0-{}", index % 2));
    write("links", "9-9\n\n", &|_| "0-0".to_owned());
    let evaluate = |pairs: &str, ending: &str, options: &[&str]| {
        let files = ["system", "gold", "links"].map(|name| format!("{name}{ending}"));
        let [system, gold, links] = files.each_ref();
        let arguments =
            ["evaluate", "--json", "--pairs", pairs, "--gold", gold, "--links", links, "--hypotheses", system];
        dir.run(&[&arguments, options].concat())
    };
    let scores = |outcome: &Outcome| {
        let mut scores = json(outcome.worked());
        for place in ["name", "hypotheses"] {
            scores.as_object_mut().unwrap().remove(place);
        }
        scores
    };
    evaluate("broken.tsv", "", &[]).refused_with(1, &["broken.tsv:3: not UTF-8 from byte 5"]);
    let skipped = evaluate("broken.tsv", "", &["--on-error", "skip"]);
    assert_eq!(scores(&skipped), scores(&evaluate("pairs.tsv", ".all", &[])));
    assert!(skipped.stderr.contains("this line and 1 more are left out"), "{skipped:?}");
    assert_eq!(evaluate("broken.tsv", "", &["--on-error", "keep"]).code, Some(2));
}

#[test]
fn reranking_skips_lines_where_asked() {
    let dir = TestDir::new();
    dir.write("sentences", b"the \xe9 owl\nthe red fox sings\n");
    dir.write("list", b"0 ||| ku\n1 ||| kanta kanta\n1 ||| \xff\n1 ||| rufo mi kanta .\nkanta\n");
    let rank = |options: &[&str]| {
        let arguments = ["score", "--model", model_path(), "--input", "sentences", "--rerank", "list"];
        dir.run(&[&arguments, options].concat())
    };
    for options in [&[][..], &["--on-error", "fail"]] {
        rank(options).refused_with(1, &["sentences:1: not UTF-8 from byte 5"]);
    }
    rank(&["--on-error", "keep"]).refused_with(2, &["--on-error keep", "--rerank"]);
    let skipped = rank(&["--on-error", "skip"]);
    let texts: Vec<&str> = skipped.worked().lines().map(|line| line.split(" ||| ").nth(1).unwrap()).collect();
    assert_eq!(texts, ["rufo mi kanta .", "kanta kanta"]);
    for part in ["sentences:1: not UTF-8", "list:3: not UTF-8", "list:5: \"kanta\" is not a sentence number", "3 lines"]
    {
        assert!(skipped.stderr.contains(part), "{skipped:?}");
    }
}
