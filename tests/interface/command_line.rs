//! The interface for scripts: exit codes, streams, order of lines, JSON keys, and `--help`.

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use crate::common::{COMMANDS, INTERNAL, Outcome, PAIRS, TestDir, json, model_path, outcome, tsv};
use clap::{Arg, Parser};
use rayon::prelude::*;
use serde_json::Value;
use softalign::cli::Cli;

fn translate(input: &str, options: &[&str]) -> Outcome {
    TestDir::new().run_with_input(&[&["translate", "--model", model_path()], options].concat(), input)
}

/// Sentences of 1 to 23 words, including unknown ones.
fn mixed_sentences() -> Vec<String> {
    let words = ["the", "red", "fox", "sings", "owl", "zebra"];
    (1..24)
        .map(|length| (0..length).map(|word| words[(word * length + word) % 6]).collect::<Vec<_>>().join(" "))
        .collect()
}

#[test]
fn help_matches_the_snapshots() {
    let dir = TestDir::new();
    let snapshots = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots");
    for command in COMMANDS.into_iter().chain([""]) {
        let arguments: Vec<&str> = command.split_whitespace().chain(["--help"]).collect();
        let help = dir.run(&arguments);
        let path = snapshots.join(format!("help{}{command}.txt", if command.is_empty() { "" } else { "-" }));
        if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
            std::fs::create_dir_all(&snapshots).unwrap();
            std::fs::write(&path, help.worked()).unwrap();
        }
        let expected = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(help.worked(), expected, "{} (UPDATE_SNAPSHOTS=1 rewrites it)", path.display());
        assert!(command.is_empty() || expected.contains("Example"), "{command} has no example");
        let examples = expected.rsplit_once("Example").map_or("", |(_, examples)| examples);
        assert!(
            examples.lines().all(|line| line.chars().count() < 80),
            "{command}: an example is longer than a terminal line"
        );
        let last_heading = expected.lines().rfind(|line| line.ends_with(':') && !line.starts_with([' ', 'E']));
        assert_eq!(last_heading, Some("Global options:"), "{command}");
    }
}

#[test]
fn error_names_the_command_of_a_misplaced_option() {
    let dir = TestDir::new();
    for (arguments, owner) in [
        (&["translate", "--noisy", "a"][..], "'--noisy' is an option of 'softalign align'"),
        (&["train", "--beam", "3"], "'--beam' is an option of 'softalign translate' and 'softalign evaluate'"),
    ] {
        let outcome = dir.run(arguments);
        outcome.refused_with(2, &[owner]);
        assert!(!outcome.stderr.contains("as a value"), "{outcome:?}");
    }
}

#[test]
fn usage_errors_are_one_line() {
    let dir = TestDir::new();
    for (arguments, parts) in [
        (&["align", "--min-count", "2", "a", "b"][..], &["error: --min-count needs --lexicon <FILE>"][..]),
        (&["score", "--length-penalty", "2"], &["--length-penalty needs --input <FILE> and --rerank <FILE>"]),
        (&["train", "--out", "a", "--source", "b"], &["--source needs --target <FILE>"]),
        (&["symmetrize"], &["missing arguments: <FORWARD>, <BACKWARD>; see 'softalign symmetrize --help'"]),
        (&["average", "a"], &["2 values required by '<DIR> <DIR>...'"]),
        (&["translate", "--prefix", "a", "--prefixes"], &["'--prefix <TEXT>' cannot be used with '--prefixes'"]),
        (&["inspect", "a", "b"], &["'b'", "see 'softalign inspect --help'"]),
        (&["nothing"], &["'nothing'", "see 'softalign --help'"]),
        (&["translat"], &["'translat'", "'translate'"]),
        (&["translate", "--bean", "3"], &["'--bean' found; a similar argument exists: '--beam'"]),
        (&["train", "--lr", "3"], &["'--lr' is called '--learning-rate' here"]),
        (&["translate", "--beam", "x\n\ny"], &["'x\u{240a}\u{240a}y' for '--beam <K>'", "at least 0"]),
        (&["translate", "--format", "jsom"], &["'jsom'", "possible values: text, align", "'json'"]),
        (&["translate", "--beam"], &["a value is required for '--beam <K>'"]),
        (&["translate", "--quiet", "--quiet"], &["'--quiet' cannot be used multiple times"]),
    ] {
        dir.run(arguments).refused_with(2, parts);
    }
}

#[test]
fn parses_negative_numbers_as_values() {
    let dir = TestDir::with_pairs();
    for (option, value, reason) in [
        ("--max-minutes", "-1", "--max-minutes"),
        ("--seed", "-3", "at least 0"),
        ("--layers", "-1", "at least 0"),
        ("--guided-alignment", "-0.5", "--guided-alignment"),
        ("--threads", "-2", "from 1 to 1024"),
    ] {
        let outcome = dir.run(&["train", "--train", "pairs.tsv", "--out", "out", option, value]);
        assert_eq!(outcome.code, Some(2), "{option}: {outcome:?}");
        assert!(outcome.stderr.contains(reason) && !outcome.stderr.contains("unexpected"), "{option}: {outcome:?}");
    }
    let guided = dir.train("guided", &["--guided-alignment", "0.5", "--max-epochs", "1"]);
    guided.worked();
    dir.train("default", &["--guided-alignment", "--max-epochs", "1"]).worked();
    assert_eq!(dir.read("guided/model.safetensors"), dir.read("default/model.safetensors"));
}

#[test]
fn model_can_be_set_in_the_environment() {
    let dir = TestDir::with_pairs();
    let run = |arguments: &[&str]| {
        let mut command = dir.command(arguments);
        outcome({
            command.env("SOFTALIGN_MODEL", model_path());
            command
        })
    };
    assert_eq!(run(&["translate", "the red fox sleeps"]).worked(), "rufo mi dorma .\n");
    assert!(run(&["inspect"]).worked().contains(model_path()));
    run(&["evaluate", "--pairs", "pairs.tsv"]).worked();
    run(&["translate", "--model", "nope", "a"]).refused_with(1, &["nope"]);
    // It is only a default: commands that need no model ignore it.
    run(&["inspect", model_path()]).worked();
    dir.write("found", "mi\n".repeat(PAIRS.len()));
    run(&["evaluate", "--pairs", "pairs.tsv", "--hypotheses", "found"]).worked();
    run(&["align", "--pairs", "pairs.tsv", "--aligner", model_path(), "--format", "pharaoh"]).worked();
    run(&["align", "--pairs", "pairs.tsv", "--links-from", "pairs", "--format", "pharaoh"]).worked();
    let mut empty = dir.command(&["translate", "--model", model_path(), "the red fox sleeps"]);
    empty.env("SOFTALIGN_MODEL", "");
    assert_eq!(outcome(empty).worked(), "rufo mi dorma .\n");
}

#[test]
fn inspect_json_covers_its_text_output() {
    let inspected = json(TestDir::new().run(&["inspect", model_path(), "--json"]).worked());
    assert_eq!((&inspected["schema"], &inspected["model"]), (&Value::from(1), &Value::from(model_path())));
    assert_eq!(inspected["config"]["architecture"]["hidden_size"], 32);
    assert_eq!(inspected["config"]["data"]["training_pairs"], PAIRS.len());
    assert_eq!((&inspected["best"]["best"], &inspected["last"]["epoch"]), (&Value::from(true), &Value::from(10)));
    assert!(
        inspected["parameters"].as_u64() > Some(1000) && inspected["files"]["model.safetensors"].as_u64() > Some(1000)
    );
}

#[test]
fn reports_word_and_phone_error_rates_for_single_words() {
    let dir = TestDir::with_pairs();
    dir.write("words.tsv", "fox\tmi x\nowl\tku x\n");
    let evaluate = |pairs: &str, options: &[&str]| {
        let base = ["evaluate", "--model", model_path(), "--pairs", pairs];
        dir.run(&[&base, options].concat()).worked().to_owned()
    };
    let scores = json(&evaluate("words.tsv", &["--json"]));
    assert_eq!(scores["wer"].as_f64(), scores["exact_match"].as_f64().map(|right| 100.0 - right));
    assert!(scores["per"].is_number(), "{scores}");
    for key in ["word_error_rate", "character_error_rate"] {
        assert!(scores.get(key).is_none(), "{key} would be a second name: {scores}");
    }
    let lines = evaluate("words.tsv", &[]);
    assert!(lines.contains("\nWER ") && lines.contains("\nPER "), "{lines}");
    assert!(!lines.contains("word errors") && !lines.contains("BLEU") && !lines.contains("TER"), "{lines}");
    assert!(json(&evaluate("pairs.tsv", &["--json"])).get("wer").is_none());
    assert!(evaluate("pairs.tsv", &[]).contains("word errors"));
}

#[test]
fn usage_errors_exit_with_2_and_point_to_help() {
    let dir = TestDir::new();
    for arguments in [
        &[][..],
        &["fly"],
        &["translate", "--sideways"],
        &["translate", "--beam", "none", "a"],
        &["translate", "--n-best", "many", "a"],
        &["translate", "--input", "a.txt", "some text"],
        &["train", "--source", "only.txt"],
        &["train", "--train", "a.tsv", "--source", "b", "--target", "c"],
        &["train", "--batch-sentences", "3", "--batch-tokens", "30"],
        &["align", "--format", "runes"],
        &["evaluate", "--gold", "a.gold", "--gold-base", "2"],
        &["evaluate", "--gold-base", "1"],
        &["evaluate", "--search-threshold", "--symmetrize", "union"],
        &["inspect", "one", "two"],
    ] {
        let outcome = dir.run(arguments);
        assert_eq!(outcome.code, Some(2), "{arguments:?}: {outcome:?}");
        assert_eq!(outcome.stdout, "");
        assert!(outcome.stderr.contains("--help"), "{arguments:?}: {}", outcome.stderr);
    }
    assert!(dir.contents().is_empty());
}

#[test]
fn help_and_version_go_to_standard_output() {
    let dir = TestDir::new();
    let version = dir.run(&["--version"]);
    let expected = format!("softalign {}\ncommit ", env!("CARGO_PKG_VERSION"));
    assert!(version.worked().starts_with(&expected) && version.stdout.contains("\ninstruction set "), "{version:?}");
    assert!(dir.run(&["help", "train"]).worked().contains("--resume"));
}

#[test]
fn writes_one_line_per_input_line_in_order() {
    let expected = "rufo mi dorma .\n\ngrisa ku kanta .\n\n\nvela mi kura .\n";
    let input = "the red fox sleeps\n\nthe grey owl sings\n   \n\nthe old fox runs\n";
    let dir = TestDir::new();
    assert_eq!(translate(input, &[]).worked(), expected);
    assert_eq!(translate(input.trim_end(), &[]).worked(), expected, "without a line feed at the end");
    assert_eq!(translate(&input.replace('\n', "\r\n"), &[]).worked(), expected, "with CRLF");
    assert_eq!(translate(&format!("\u{feff}{input}"), &[]).worked(), expected, "with a byte order mark");
    assert_eq!(translate(input, &["--input", "-", "--output", "-"]).worked(), expected);
    dir.write("input.txt", input);
    let files = ["translate", "--model", model_path(), "--input", "input.txt", "--output", "output.txt"];
    assert_eq!(dir.run(&files).worked(), "");
    assert_eq!(dir.text("output.txt"), expected);
    assert_eq!(dir.contents().len(), 2, "no other file is written");
    assert_eq!(dir.run(&["translate", "--model", model_path(), "the old fox runs", ""]).worked(), "vela mi kura .\n\n");
}

#[test]
fn empty_input_gives_empty_output() {
    assert_eq!(translate("", &[]).worked(), "");
    assert_eq!(translate("", &["--format", "json"]).worked(), "[]\n");
    assert_eq!(translate("", &["--n-best", "3"]).worked(), "");
}

#[test]
fn n_best_lines_are_numbered_and_best_first() {
    let text = translate("the red fox sleeps\n\nthe old owl runs\n", &["--n-best", "3", "--beam", "3"]);
    let lines: Vec<Vec<&str>> = text.worked().lines().map(|line| line.split(" ||| ").collect()).collect();
    assert!(lines.iter().all(|fields| fields.len() == 3), "{lines:?}");
    let numbers: Vec<&str> = lines.iter().map(|fields| fields[0]).collect();
    assert_eq!(numbers, ["0", "0", "0", "1", "2", "2", "2"]);
    assert_eq!((lines[0][1], lines[3][1], lines[4][1]), ("rufo mi dorma .", "", "vela ku kura ."));
    for (a, b) in lines.iter().zip(&lines[1..]).filter(|(a, b)| a[0] == b[0]) {
        assert!(a[2].parse::<f64>().unwrap() >= b[2].parse::<f64>().unwrap(), "{lines:?}");
    }
}

#[test]
fn refuses_a_reverse_model_without_links() {
    let dir = TestDir::new();
    let translate = ["translate", "--model", model_path(), "--reverse-model", "nope", "the red fox"];
    dir.run(&translate).refused_with(2, &["--reverse-model", "--format"]);
    dir.run(&[&translate[..], &["--format", "json"]].concat()).refused_with(1, &["nope"]);
}

#[test]
fn tables_have_one_line_per_entry_for_any_text() {
    let dir = TestDir::new();
    let breaks = "\r\u{b}\u{c}\u{1c}\u{85}\u{2028}";
    let pairs = PAIRS.map(|(source, target)| format!("{source}{breaks}x\t{target}{breaks}x{breaks}\n"));
    dir.write("pairs.tsv", pairs.concat());
    let arguments = ["align", "--model", model_path(), "--pairs", "pairs.tsv", "--noisy", "--lexicon", "words.tsv"];
    let table = dir.run(&arguments);
    // Line ends of Python's universal newlines and str.splitlines.
    let ends = ['\r', '\u{b}', '\u{c}', '\u{1c}', '\u{85}', '\u{2028}'];
    for (text, columns) in [(table.worked(), 6), (&dir.text("words.tsv"), 7)] {
        assert!(text.lines().all(|line| line.split('\t').count() == columns), "{text}");
        assert!(!text.contains(ends), "{text:?}");
    }
    assert_eq!(table.stdout.lines().count(), PAIRS.len() + 1);
}

#[cfg(target_os = "linux")]
#[test]
fn wide_beam_memory_is_bounded() {
    let dir = TestDir::new();
    let text = PAIRS.map(|(source, _)| format!("{source} and {source} and {source}\n")).concat().repeat(20);
    let run = |sentences: usize| {
        let mut limited = std::process::Command::new("sh");
        limited.args(["-c", "ulimit -v 400000; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_softalign"), "--threads", "1"]);
        limited.args(["translate", "--model", model_path(), "--beam", "1000", "--length-factor", "8"]);
        limited.current_dir(dir.path(""));
        let input: String = text.split_inclusive('\n').take(sentences).collect();
        dir.write("text.txt", input);
        limited.args(["--input", "text.txt"]);
        outcome(limited).worked().lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(run(100)[..3], run(3));
}

#[test]
fn json_has_one_object_per_line() {
    let text = translate("the red fox sleeps\n\nthe old owl runs\n", &["--format", "json"]);
    let items = json(text.worked());
    let items = items.as_array().unwrap();
    assert_eq!(items.len(), 3);
    for (id, item) in items.iter().enumerate() {
        assert_eq!(item["id"], id);
        for key in ["translation", "source", "target", "attention", "eos", "links", "score"] {
            assert!(!item[key].is_null(), "{key} is missing: {item}");
        }
        assert_eq!(item["attention"].as_array().unwrap().len(), item["target"].as_array().unwrap().len());
    }
    assert_eq!(items[1]["source"], json("[]"));
    assert_eq!(items[2]["target"], json(r#"["vela", "ku", "kura", "."]"#));
}

#[test]
fn every_format_has_one_alignment_per_pair_in_order() {
    let dir = TestDir::new();
    dir.write("pairs.tsv", "the red fox\trufo mi\n\t\nthe owl\t\n\tku\nowl\tku\n");
    let align = |format: &str| dir.run(&["align", "--model", model_path(), "--pairs", "pairs.tsv", "--format", format]);
    let pharaoh = align("pharaoh");
    let lines: Vec<&str> = pharaoh.worked().lines().collect();
    assert_eq!(lines.len(), 5);
    assert_eq!(lines[1..4], ["", "", ""]);
    assert_eq!(json(align("json").worked()).as_array().unwrap().len(), 5);
    assert!(align("text").worked().contains("rufo"));
    assert_eq!(align("html").worked().matches("\n{\"id\":").count(), 5);
    assert_eq!(align("svg").worked().matches("\n<g transform=\"translate(0 ").count(), 5 + 1, "five pairs and a scale");
    let file = ["align", "--model", model_path(), "--pairs", "pairs.tsv", "--format", "npz", "--output", "weights.npz"];
    dir.run(&file).worked();
    let archive = zip::ZipArchive::new(std::fs::File::open(dir.path("weights.npz")).unwrap()).unwrap();
    let names: Vec<String> =
        (0..5).flat_map(|pair| ["", ".source", ".target"].map(|part| format!("{pair}{part}.npy"))).collect();
    assert_eq!(archive.file_names().map(|name| name.unwrap()).collect::<Vec<_>>(), names);
}

#[test]
fn all_input_forms_give_the_same_alignments() {
    let dir = TestDir::with_pairs();
    let side = |pick: fn(&(&str, &str)) -> String| PAIRS.iter().map(|pair| pick(pair) + "\n").collect::<String>();
    dir.write("source.txt", side(|pair| pair.0.to_owned()));
    dir.write("target.txt", side(|pair| pair.1.to_owned()));
    let align = ["align", "--model", model_path(), "--format", "json"];
    let tsv_file = dir.run(&[&align[..], &["--pairs", "pairs.tsv"]].concat());
    let parallel = dir.run(&[&align[..], &["--source", "source.txt", "--target", "target.txt"]].concat());
    let piped = dir.run_with_input(&[&align[..], &["--pairs", "-"]].concat(), tsv(&PAIRS));
    assert_eq!(tsv_file.worked(), parallel.worked());
    assert_eq!(tsv_file.worked(), piped.worked());
}

#[test]
fn translation_is_independent_of_its_batch() {
    let sentences = mixed_sentences();
    for options in [&["--beam", "1"][..], &["--beam", "4", "--n-best", "2"]] {
        let batched = translate(&(sentences.join("\n") + "\n"), options);
        let mut batched = batched.worked().lines().map(|line| line.split_once(" ||| ").map_or(line, |line| line.1));
        for sentence in &sentences {
            for alone in translate(sentence, options).worked().lines() {
                let alone = alone.split_once(" ||| ").map_or(alone, |line| line.1);
                let [alone, other] =
                    [alone, batched.next().unwrap()].map(|line| line.split(" ||| ").collect::<Vec<_>>());
                assert_eq!(alone[0], other[0], "{sentence}");
                if let (Some(alone), Some(other)) = (alone.get(1), other.get(1)) {
                    let [alone, other] = [alone, other].map(|score| score.parse::<f64>().unwrap());
                    assert!((alone - other).abs() < 2e-4, "{sentence}: {alone} and {other}");
                }
            }
        }
        assert_eq!(batched.next(), None);
    }
}

#[test]
fn quiet_leaves_standard_error_empty() {
    let dir = TestDir::with_pairs();
    dir.write("other.txt", "日本語です\n");
    dir.write("empty-sides.tsv", tsv(&PAIRS) + "only one side\t\n");
    let train =
        ["train", "--train", "empty-sides.tsv", "--out", "out", "--max-epochs", "1", "--quiet", "--preset", "tiny"];
    for arguments in [
        &train[..],
        &["-q", "translate", "--model", model_path(), "--input", "other.txt"],
        &["align", "--quiet", "--model", model_path(), "--pairs", "pairs.tsv"],
        &["evaluate", "--quiet", "--model", model_path(), "--pairs", "pairs.tsv"],
        &["inspect", "--quiet", model_path()],
    ] {
        let outcome = dir.run(arguments);
        outcome.worked();
        assert_eq!(outcome.stderr, "", "{arguments:?}");
    }
    let verbose = dir.run(&["translate", "--model", model_path(), "--input", "other.txt"]);
    assert!(verbose.stderr.contains("line 1"), "without --quiet there is a warning: {verbose:?}");
}

#[test]
fn evaluate_json_has_the_documented_keys() {
    let dir = TestDir::with_pairs();
    let evaluate = ["evaluate", "--model", model_path(), "--pairs", "pairs.tsv"];
    let plain = dir.run(&[&evaluate[..], &["--json"]].concat());
    let scores = json(plain.worked());
    assert_eq!(plain.stdout.lines().count(), 1);
    assert_eq!(scores["pairs"], PAIRS.len());
    for key in ["bleu", "chrf", "exact_match"] {
        let score = scores[key].as_f64().unwrap_or_else(|| panic!("{key}: {scores}"));
        assert!((0.0..=100.0).contains(&score), "{key} is {score}");
    }
    assert!(scores["perplexity"].as_f64().unwrap() >= 1.0);
    for key in ["aer", "precision", "recall"] {
        assert!(scores.get(key).is_none(), "{key} without gold: {scores}");
    }

    dir.write("pairs.gold", "1-0 2-1 3-2 0?3\n".repeat(PAIRS.len()));
    let with_gold = dir.run(&[&evaluate[..], &["--json", "--gold", "pairs.gold"]].concat());
    let scores = json(with_gold.worked());
    for key in ["aer", "precision", "recall"] {
        let score = scores[key].as_f64().unwrap_or_else(|| panic!("{key}: {scores}"));
        assert!((0.0..=1.0).contains(&score), "{key} is {score}");
    }
    let words = dir.run(&[&evaluate[..], &["--gold", "pairs.gold"]].concat());
    for score in ["BLEU", "chrF", "exact match", "perplexity", "AER"] {
        assert!(words.worked().contains(score), "{score} is not shown: {}", words.stdout);
    }
}

/// Splits a command line like a shell: quotes group words, `*` expands to two files, and `#`, `|`, `>`, `<` or `&` end the
/// command.
fn shell_words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let (mut quote, mut is_word) = (None, false);
    for character in line.chars() {
        match (quote, character) {
            (Some(open), _) if open == character => quote = None,
            (None, '"' | '\'') => (quote, is_word) = (Some(character), true),
            (None, '#' | '|' | '>' | '<' | '&') => break,
            (None, ' ') if is_word => {
                words.push(String::new());
                is_word = false;
            }
            (None, ' ') => {}
            _ => {
                words.last_mut().unwrap().push(character);
                is_word = true;
            }
        }
    }
    words.truncate(words.len() - usize::from(!is_word));
    words.into_iter().flat_map(|word| vec![word.clone(); 1 + usize::from(word.ends_with('*'))]).collect()
}

/// Returns the shell blocks of README.md and of all pages in docs/.
fn shell_blocks_of_docs() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = vec![root.join("README.md"), root.join("docs")];
    let mut blocks = String::new();
    while let Some(path) = paths.pop() {
        if path.is_dir() {
            paths.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|extension| extension == "md") {
            let page = std::fs::read_to_string(&path).unwrap();
            // Every second part is inside a fence.
            let fenced = page.split("```").skip(1).step_by(2);
            blocks.extend(fenced.filter(|block| block.starts_with("sh\n") || block.starts_with("console\n")));
        }
    }
    blocks
}

/// `scripts/check_docs.py` also runs the commands of the documentation.
#[test]
fn commands_in_docs_and_help_parse() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |name: &str| std::fs::read_to_string(root.join(name)).unwrap();
    let mut shown = shell_blocks_of_docs();
    COMMANDS.iter().for_each(|command| shown += &read(&format!("tests/snapshots/help-{command}.txt")));
    let shown = shown.replace("\\\n", " ").replace("cargo run --release -- ", "softalign ");
    let is_command = |index: usize| {
        let before = shown[..index].rsplit('\n').next().unwrap_or_default();
        before.trim().is_empty() || before.ends_with("$ ") || before.ends_with("| ") && !before.starts_with('|')
    };
    let commands = shown.match_indices("softalign ").filter(|(index, _)| is_command(*index));
    let lines: Vec<&str> = commands.map(|(index, _)| shown[index..].lines().next().unwrap_or_default()).collect();
    assert!(lines.len() >= 80, "{} commands", lines.len());
    for line in lines {
        let parsed = Cli::try_parse_from(shell_words(line));
        let is_wrong = parsed.is_err_and(|error| error.use_stderr());
        assert!(!is_wrong, "{line}");
    }
}

#[test]
fn inspect_describes_a_model() {
    let dir = TestDir::new();
    let outcome = dir.run(&["inspect", model_path()]);
    for part in ["embedding 32, hidden 32, attention 32", "words", "pairs.tsv", "12 pairs", "BLEU", "model.safetensors"]
    {
        assert!(outcome.worked().contains(part), "{part}: {}", outcome.stdout);
    }
}

#[test]
fn train_defaults_to_shipped_data_and_keeps_the_previous_model() {
    let dir = TestDir::new();
    std::fs::create_dir(dir.path("data")).unwrap();
    dir.write("data/train.tsv", tsv(&PAIRS));
    dir.write("data/validation.tsv", tsv(&PAIRS[..3]));
    dir.write("data/test.tsv", tsv(&PAIRS[..2]));
    dir.write("data/test.gold", "0-0\n0-0\n");
    let train = |seed| dir.run(&["train", "--preset", "tiny", "--max-epochs", "1", "--quiet", "--seed", seed]);
    train("1").worked();
    let first = dir.read("checkpoints/model.safetensors");
    dir.write("data/validation.tsv", "broken\n");
    train("2").refused_with(1, &["data/validation.tsv:1"]);
    assert_eq!(dir.read("checkpoints/model.safetensors"), first, "a refused run archives nothing");
    dir.write("data/validation.tsv", tsv(&PAIRS[..3]));
    train("2").worked();
    assert_eq!(dir.read("checkpoints/previous/model.safetensors"), first);
    assert_ne!(dir.read("checkpoints/model.safetensors"), first);
    dir.run(&["translate", "the red fox sleeps"]).worked();
    assert!(dir.run(&["evaluate"]).worked().contains("AER"));
    dir.run(&["inspect"]).worked();
    dir.run(&["inspect", "checkpoints/previous"]).worked();
}

#[test]
fn errors_without_shipped_files_name_the_option() {
    let dir = TestDir::new();
    dir.run(&["train", "--out", "out"]).refused_with(1, &["data/train.tsv", "--train"]);
    dir.run(&["evaluate", "--model", model_path()]).refused_with(1, &["data/test.tsv", "--pairs"]);
    dir.run(&["translate", "hello"]).refused_with(1, &["checkpoints", "train --train PAIRS.tsv", "--model"]);
    dir.run(&["inspect"]).refused_with(1, &["checkpoints", "config.json"]);
    assert!(dir.contents().is_empty(), "{:?}", dir.contents().keys());
}

#[test]
fn translates_text_that_looks_like_an_option() {
    let dir = TestDir::new();
    assert_eq!(dir.run(&["translate", "--model", model_path(), "--", "--fox"]).worked().lines().count(), 1);
}

#[test]
fn waits_for_slow_input() {
    let dir = TestDir::new();
    let mut child = dir.command(&["translate", "--model", model_path()]).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"the red fox sl").unwrap();
    std::thread::sleep(Duration::from_millis(50));
    stdin.write_all(b"eeps\n").unwrap();
    drop(stdin);
    assert_eq!(Outcome::from(child.wait_with_output().unwrap()).worked(), "rufo mi dorma .\n");
}

#[test]
fn errors_of_values_are_in_words() {
    const VALUES: [&str; 4] = ["5m", "-7", "", "99999999999999999999999"];
    let definition = Cli::definition();
    let mut lines = Vec::new();
    for command in definition.get_subcommands() {
        let with_value = command.get_arguments().filter(|option| option.get_action().takes_values());
        for long in with_value.filter_map(Arg::get_long) {
            lines.extend(VALUES.map(|value| [command.get_name().to_owned(), format!("--{long}={value}")]));
        }
    }
    assert!(lines.len() > 500, "{}", lines.len());
    lines.par_iter().for_each(|[command, option]| {
        let error = Cli::parse_args(["softalign", command, option].map(OsString::from).into()).err();
        let message = error.map(|error| error.to_string()).unwrap_or_default();
        let internal = INTERNAL.into_iter().find(|internal| message.contains(internal));
        assert!(internal.is_none() && message.trim_end().lines().count() < 2, "{command} {option}: {message}");
    });
}
