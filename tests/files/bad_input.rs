//! Broken, unusual and enormous input: errors take one line; unusual but valid text is processed.

use clap::ValueHint;
use serde_json::Value;
use softalign::cli::Cli;

use crate::common::{INTERNAL, Outcome, PAIRS, TestDir, model_path, outcome, tsv};

/// Invalid files of pairs: label, bytes, and parts of the error message.
const BROKEN: [(&str, &[u8], &[&str]); 4] = [
    ("invalid UTF-8", b"the fox\tmi .\nthe \xff\tku .\n", &["broken.tsv:2", "UTF-8"]),
    ("half a character", b"the fox\tmi \xc3", &["broken.tsv:1", "UTF-8"]),
    ("no tab", b"the fox\tmi .\nthe owl\n", &["broken.tsv:2", "no tab"]),
    ("two tabs", b"a\tb\na\tb\na\tb\tc\n", &["broken.tsv:3", "3 columns"]),
];

/// Unusual but valid lines of text.
const UNUSUAL: [&str; 16] = [
    "the red fox sleeps",
    "",
    " \u{a0}\u{3000} ",
    "the\u{0}red\u{1}fox\u{7f}",
    "\u{1b}[31mred\u{1b}[0m fox",
    "e\u{301}e\u{301} a\u{300}\u{301}\u{302}\u{303}",
    "\u{301}",
    "👩‍👩‍👧 sings 🦊🏽",
    "השועל האדום ישן",
    "الثعلب \u{202e}الأحمر\u{202c} ينام",
    "the fox\u{2028}sleeps\u{2029}and\u{85}sings\u{b}\u{c}",
    "one \r return",
    "</s> <s> <pad> <unk> ||| 0-0 \"\\",
    "▁ \u{fffd} \u{feff} \u{10ffff}",
    "赤いキツネが眠る",
    "  spaces   everywhere  ",
];

const TRAIN: [&str; 10] =
    ["train", "--quiet", "--preset", "tiny", "--max-epochs", "1", "--train", "broken.tsv", "--out", "out"];

fn align(dir: &TestDir, pairs: &str, options: &[&str]) -> Outcome {
    dir.run(&[&["align", "--model", model_path(), "--pairs", pairs], options].concat())
}

fn evaluate(dir: &TestDir, pairs: &str, options: &[&str]) -> Outcome {
    dir.run(&[&["evaluate", "--model", model_path(), "--pairs", pairs], options].concat())
}

#[test]
fn every_command_refuses_broken_pairs_with_file_and_line() {
    let dir = TestDir::with_pairs();
    let validate = ["train", "--quiet", "--train", "pairs.tsv", "--valid", "broken.tsv", "--out", "out"];
    for (label, bytes, parts) in BROKEN {
        println!("{label}");
        dir.write("broken.tsv", bytes);
        dir.run(&TRAIN).refused_with(1, parts);
        dir.run(&validate).refused_with(1, parts);
        align(&dir, "broken.tsv", &["--output", "result.txt", "--on-error", "fail"]).refused_with(1, parts);
        evaluate(&dir, "broken.tsv", &[]).refused_with(1, parts);
    }
    assert!(!dir.path("result.txt").exists());
    assert!(!dir.contents().keys().any(|name| name.ends_with(".tmp")));
}

#[test]
fn names_unreadable_files() {
    let dir = TestDir::with_pairs();
    std::fs::create_dir(dir.path("broken.tsv")).unwrap();
    for (name, reason) in [("broken.tsv", "directory"), ("missing.tsv", "No such file")] {
        let train = ["train", "--quiet", "--out", "out", "--train"];
        dir.run(&[&train[..], &[name]].concat()).refused_with(1, &[name, reason]);
        dir.run(&[&train[..], &["pairs.tsv", "--valid", name]].concat()).refused_with(1, &[name, reason]);
        align(&dir, name, &[]).refused_with(1, &[name, reason]);
        evaluate(&dir, name, &[]).refused_with(1, &[name, reason]);
        evaluate(&dir, "pairs.tsv", &["--gold", name]).refused_with(1, &[name, reason]);
        let translate = ["translate", "--model", model_path(), "--input", name];
        dir.run(&translate).refused_with(1, &[name, reason]);
        let parallel = ["align", "--model", model_path(), "--source", "pairs.tsv", "--target", name];
        dir.run(&parallel).refused_with(1, &[name, reason]);
    }
}

/// Options that need another to be accepted, by the name of their command.
const NEEDED: [(&str, &[&str]); 6] = [
    ("align", &["--pairs=pairs.tsv", "--model=model"]),
    ("clean", &["--pairs=pairs.tsv"]),
    ("evaluate", &["--pairs=pairs.tsv"]),
    ("score", &["--pairs=pairs.tsv", "--model=model"]),
    ("train", &["--train=pairs.tsv", "--out=out", "--preset=tiny", "--max-epochs=1"]),
    ("translate", &["--model=model"]),
];

#[test]
fn no_message_about_a_file_speaks_of_rust() {
    let dir = TestDir::with_model();
    std::fs::create_dir(dir.path("directory")).unwrap();
    let noise: Vec<u8> = (0..2000u32).map(|index| (index.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    dir.write("noise", noise);
    let definition = Cli::definition();
    let commands = definition.get_subcommands().filter(|command| command.get_name() != "serve");
    let mut tried = 0;
    for command in commands {
        let of_paths = command.get_arguments().filter(|option| option.get_value_hint() == ValueHint::AnyPath);
        for long in of_paths.filter_map(|option| option.get_long()) {
            for path in ["directory", "noise", "missing/file"] {
                let name = command.get_name();
                let needed = NEEDED.iter().find(|(command, _)| *command == name).map_or(&[][..], |(_, needed)| needed);
                let mut arguments = vec![name, "--quiet"];
                arguments.extend(needed.iter().filter(|one| !one.starts_with(&format!("--{long}="))));
                let option = format!("--{long}={path}");
                arguments.push(&option);
                let Outcome { stdout, stderr, .. } = dir.run(&arguments);
                let internal = INTERNAL.into_iter().find(|internal| stderr.contains(internal));
                assert_eq!(internal, None, "{arguments:?}: {stderr}{stdout}");
                tried += 1;
            }
        }
    }
    assert!(tried > 60, "{tried}");
}

/// Files whose messages need `Debug`, since they are about tensors and programs, or whose texts no user sees.
const WITH_DEBUG: [&str; 7] =
    ["kernels/cuda", "communicator", "model/cpu", "parameters", "serve/scheduler", "safetensors_io", "error.rs"];

#[test]
fn messages_are_written_without_debug_output() {
    let mut directories = vec![std::path::PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/src"))];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.display().to_string().replace('\\', "/");
            if path.is_dir() {
                directories.push(path);
            } else if name.ends_with(".rs")
                && !name.ends_with("tests.rs")
                && !WITH_DEBUG.iter().any(|part| name.contains(part))
            {
                let text = std::fs::read_to_string(&path).unwrap();
                let program = text.split("#[cfg(test)]").next().unwrap().split("#[cfg(all(test").next().unwrap();
                for (line, text) in (1..).zip(program.lines()).filter(|(_, text)| !text.trim_start().starts_with("//"))
                {
                    let is_debug = text.contains(":?}") || text.contains(":#}");
                    assert!(!is_debug, "{name}:{line}: write text between quotes, and errors by message_of: {text}");
                }
            }
        }
    }
}

#[test]
fn refuses_a_corpus_without_usable_pairs() {
    let dir = TestDir::new();
    for text in ["", "\u{feff}", "\tb\na\t\n \t \n"] {
        dir.write("broken.tsv", text);
        dir.run(&TRAIN).refused_with(1, &["broken.tsv", "no ", "pair"]);
    }
    dir.write("broken.tsv", "a b c d e\ta b c d e\n");
    let too_long = [&TRAIN[..], &["--max-length", "2", "--tokenization", "char"]].concat();
    dir.run(&too_long).refused_with(1, &["broken.tsv", "--max-length 2"]);
    dir.write("empty.tsv", "");
    evaluate(&dir, "empty.tsv", &[]).refused_with(1, &["empty.tsv", "no sentence pair"]);
    assert_eq!(align(&dir, "empty.tsv", &["--format", "pharaoh"]).worked(), "");
}

#[test]
fn failed_start_of_training_leaves_no_files() {
    let dir = TestDir::with_pairs();
    for (_, bytes, _) in BROKEN {
        dir.write("broken.tsv", bytes);
        dir.run(&TRAIN).refused(1);
        assert!(!dir.path("out").exists(), "{:?}", dir.contents().keys());
    }
}

#[test]
fn refuses_parallel_files_of_unequal_length_with_both_counts() {
    let dir = TestDir::new();
    dir.write("a.txt", "one\ntwo\nthree\n");
    dir.write("b.txt", "uno\ndue\n");
    let sides = ["--source", "a.txt", "--target", "b.txt"];
    for command in [
        &["train", "--quiet", "--out", "out"][..],
        &["align", "--model", model_path()],
        &["evaluate", "--model", model_path()],
    ] {
        dir.run(&[command, &sides].concat()).refused_with(1, &["a.txt", "b.txt", "3", "2"]);
    }
}

#[test]
fn refuses_standard_input_for_both_sides() {
    let dir = TestDir::new();
    let both = ["align", "--model", model_path(), "--source", "-", "--target", "-"];
    let outcome = dir.run_with_input(&both, "the fox\nthe owl\n");
    outcome.refused_with(2, &["standard input"]);
}

#[test]
fn refuses_input_that_is_not_utf_8_with_its_line() {
    let dir = TestDir::new();
    dir.write("text.txt", b"the fox\n\nthe \xe9 owl\n");
    let fail = ["translate", "--model", model_path(), "--on-error", "fail"];
    dir.run(&[&fail[..], &["--input", "text.txt", "--output", "out.txt"]].concat())
        .refused_with(1, &["text.txt:3", "UTF-8"]);
    assert_eq!(dir.contents().len(), 1);
    dir.run_with_input(&fail, b"\xff\nthe fox\n").refused_with(1, &["standard input:1", "UTF-8"]);
}

#[test]
fn trains_on_one_pair() {
    let dir = TestDir::new();
    dir.write("broken.tsv", "a b\tc d");
    for tokenization in ["bpe", "word", "char"] {
        dir.run(&[&TRAIN[..8], &["--out", tokenization, "--tokenization", tokenization]].concat()).worked();
        assert_eq!(
            dir.run(&["translate", "--model", tokenization, "a b"]).worked().lines().count(),
            1,
            "{tokenization}"
        );
    }
}

#[test]
fn skips_and_counts_pairs_with_an_empty_side() {
    let dir = TestDir::new();
    dir.write("broken.tsv", tsv(&PAIRS) + "alone\t\n\talone\n \t \n");
    let outcome = dir.run(&[&["train"], &TRAIN[2..]].concat());
    outcome.worked();
    assert!(outcome.stderr.contains("broken.tsv: left out 3 pairs with an empty side"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("12 training pairs"), "{}", outcome.stderr);
}

#[test]
fn unusual_text_gives_one_line_per_line() {
    let dir = TestDir::new();
    let text = UNUSUAL.join("\n") + "\n";
    let outcome = dir.run_with_input(&["translate", "--model", model_path()], &text);
    assert_eq!(outcome.worked().matches('\n').count(), UNUSUAL.len());
    let to_json = ["translate", "--model", model_path(), "--format", "json", "--words", "whitespace"];
    let json = dir.run_with_input(&to_json, &text);
    let items: Vec<Value> = serde_json::from_str(json.worked()).unwrap();
    assert_eq!(items.len(), UNUSUAL.len());
    for (item, text) in items.iter().zip(UNUSUAL) {
        let words: Vec<&str> = item["source"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert_eq!(words, text.split_whitespace().collect::<Vec<_>>(), "{text:?}");
    }
    dir.run_with_input(&["translate", "--model", model_path(), "--format", "align"], &text).worked();
}

#[test]
fn aligns_and_evaluates_unusual_text() {
    let dir = TestDir::new();
    let pairs: String = UNUSUAL.iter().flat_map(|a| UNUSUAL.map(|b| format!("{a}\t{b}\n"))).collect();
    dir.write("unusual.tsv", &pairs);
    let lines = align(&dir, "unusual.tsv", &["--format", "pharaoh"]);
    assert_eq!(lines.worked().matches('\n').count(), UNUSUAL.len() * UNUSUAL.len());
    let first_fifty = (1..=50).map(|number| number.to_string()).collect::<Vec<_>>().join(",");
    let figures = ["svg", "--tokens", "--only", &first_fifty];
    for options in [&["text"][..], &["json", "--tokens"], &["npz"], &["html"], &figures] {
        let mut command = dir.command(&["align", "--model", model_path(), "--pairs", "unusual.tsv", "--output", "out"]);
        command.arg("--format").args(options);
        outcome(command).worked();
    }
    let scores: Value = evaluate(&dir, "unusual.tsv", &["--json", "--beam", "1"]).json();
    assert_eq!(scores["pairs"], UNUSUAL.len() * UNUSUAL.len());
}

#[test]
fn trains_on_unusual_text() {
    let dir = TestDir::new();
    dir.write("broken.tsv", UNUSUAL.map(|text| format!("{text}\t{text}\n")).concat());
    for tokenization in ["bpe", "word", "char"] {
        dir.run(&[&TRAIN[..8], &["--out", tokenization, "--tokenization", tokenization]].concat()).worked();
        let text = UNUSUAL.join("\n");
        let outcome = dir.run_with_input(&["translate", "--model", tokenization, "--beam", "1"], text);
        assert_eq!(outcome.worked().matches('\n').count(), UNUSUAL.len(), "{tokenization}");
    }
}

#[test]
fn crlf_and_byte_order_mark_do_not_change_the_model() {
    let models = [tsv(&PAIRS), format!("\u{feff}{}", tsv(&PAIRS).replace('\n', "\r\n"))].map(|text| {
        let dir = TestDir::new();
        dir.write("broken.tsv", text);
        dir.run(&TRAIN).worked();
        dir.read("out/model.safetensors")
    });
    assert!(models[0] == models[1]);
}

#[test]
fn truncates_enormous_lines_and_names_them() {
    let dir = TestDir::new();
    let text = format!("the fox\n{}\n\nthe owl\n", "the red fox sleeps ".repeat(2500));
    dir.write("text.txt", &text);
    let outcome = dir.run(&["translate", "--model", model_path(), "--input", "text.txt"]);
    assert_eq!(outcome.worked().matches('\n').count(), 4);
    assert_eq!(outcome.stderr, "warning: line 2: longer than 500 tokens; only the beginning was read\n");
    let word = "owl".repeat(350_000);
    let outcome = dir.run_with_input(&["translate", "--model", model_path()], format!("fox\n{word}\nfox\n"));
    assert_eq!(outcome.worked().matches('\n').count(), 3);
}

#[test]
fn truncates_enormous_pairs_for_alignment_and_skips_them_in_training() {
    let dir = TestDir::new();
    let [long, word] = ["the fox ".repeat(5000), "a".repeat(1_000_000)];
    let text = format!("{}{long}\t{word}\n{word}\tmi\nfox\t{long}\n", tsv(&PAIRS));
    dir.write("broken.tsv", text);
    let lines = align(&dir, "broken.tsv", &["--format", "pharaoh"]);
    assert_eq!(lines.worked().lines().count(), PAIRS.len() + 3);
    assert!(lines.stderr.contains("lines 13 and 15:"), "{}", lines.stderr);
    for tokenization in ["word", "char"] {
        let outcome =
            dir.run(&[&["train"], &TRAIN[2..8], &["--tokenization", tokenization, "--out", tokenization]].concat());
        outcome.worked();
        assert!(outcome.stderr.contains("pairs longer than --max-length"), "{tokenization}: {}", outcome.stderr);
    }
}

#[test]
fn truncates_enormous_pairs_for_links_and_names_them() {
    let dir = TestDir::new();
    let sentence = |words: usize| -> String {
        (0..words).map(|word| format!("w{} ", word * word % 1009)).collect::<String>().trim_end().to_owned()
    };
    let [long, longest] = [1800, 10_000].map(sentence);
    dir.write("long.tsv", format!("{}{long}\t{long}\n{longest}\t{longest}\nfox\t{longest}\n", tsv(&PAIRS)));
    let mut limited = std::process::Command::new("sh");
    // Limits protect the machine if the program does not bound its work.
    limited.args(["-c", "ulimit -v 600000; ulimit -t 20; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_softalign")]);
    limited.args(["--threads", "1", "align", "--pairs", "long.tsv", "--links-from", "pairs", "--format", "pharaoh"]);
    limited.current_dir(dir.path(""));
    let outcome = outcome(limited);
    let lines: Vec<&str> = outcome.worked().lines().collect();
    assert_eq!(lines.len(), PAIRS.len() + 3);
    assert!(lines[PAIRS.len()].contains(" 1799-1799"), "a long pair is linked to its end");
    // A slow machine also shows progress.
    let messages: Vec<&str> = outcome.stderr.lines().filter(|line| !line.starts_with("aligning: ")).collect();
    assert_eq!(messages, ["warning: lines 14 and 15: longer than 2000 words; only the beginning was linked"]);
}

#[test]
fn prints_alignments_of_words_of_any_width() {
    let dir = TestDir::new();
    let word = "a".repeat(70_000);
    dir.write("wide.tsv", format!("the {word}\tmi {word}\n"));
    assert_eq!(align(&dir, "wide.tsv", &[]).worked().lines().count(), 3);
    let translate = ["translate", "--model", model_path(), "--format", "align"];
    assert!(dir.run_with_input(&translate, format!("the {word}\n")).worked().contains(&word));
}

/// Control characters that affect a terminal.
const CONTROLS: [char; 7] = ['\u{1b}', '\u{7}', '\u{9b}', '\u{7f}', '\u{202e}', '\u{2066}', '\u{200f}'];

#[test]
fn escapes_control_sequences_on_the_terminal() {
    let dir = TestDir::new();
    let hostile: String = CONTROLS.iter().flat_map(|character| ['x', *character, '[', '2', 'J']).collect();
    let pairs: String = (0..3).map(|pair| format!("{hostile} {pair}\t{hostile} {pair}\n")).collect();
    dir.write("broken.tsv", pairs);
    let assert_escaped = |text: &str| assert!(!text.contains(CONTROLS), "{text:?}");
    let out = format!("out{hostile}");
    let train = dir.run(&["train", "--preset", "tiny", "--max-epochs", "3", "--train", "broken.tsv", "--out", &out]);
    assert_escaped(train.worked());
    assert_escaped(&train.stderr);
    assert_escaped(dir.run(&["inspect", &out]).worked());
    assert_escaped(align(&dir, "broken.tsv", &[]).worked());
    assert_escaped(dir.run(&["translate", "--model", &format!("no{hostile}"), "a"]).refused(1));
    // Translations written to a pipe are not escaped.
    let copied = dir.run_with_input(&["translate", "--model", &out, "--replace-unknown"], format!("{hostile} 1\n"));
    assert_eq!(copied.worked().lines().count(), 1);
}

#[test]
fn refuses_mismatched_gold_files_with_file_and_line() {
    let dir = TestDir::new();
    dir.write("pairs.tsv", "the red fox\trufo mi\nthe owl\tku\n");
    for (gold, parts) in [
        ("1-0 2-1\n", &["pairs.gold", "1", "2 sentence pairs"][..]),
        ("0-0\n0-0\n0-0\n", &["pairs.gold", "3 lines", "2 sentence pairs"]),
        ("0-0\n0-0 2-0\n", &["pairs.gold:2", "2-0"]),
        ("0-0 1?2\n0-0\n", &["pairs.gold:1", "beyond"]),
        ("0-0\none-two\n", &["pairs.gold:2", "one-two", "3-4"]),
        ("0:0\n\n", &["pairs.gold:1", "0:0"]),
        ("0-99999999999999999999999\n\n", &["pairs.gold:1"]),
        ("1-1 3p2\n2-1\n", &["pairs.gold:1", "3-2", "--gold-base 1"]),
    ] {
        dir.write("pairs.gold", gold);
        evaluate(&dir, "pairs.tsv", &["--gold", "pairs.gold"]).refused_with(1, parts);
    }
    for (gold, parts) in [
        ("1-1 3-2\n2-1 1?0\n", &["pairs.gold:2", "numbered 0", "--gold-base 1"][..]),
        ("1-1\n1-1 3-1\n", &["pairs.gold:2", "3-1", "2 and 1 words", "from 1"]),
    ] {
        dir.write("pairs.gold", gold);
        evaluate(&dir, "pairs.tsv", &["--gold", "pairs.gold", "--gold-base", "1"]).refused_with(1, parts);
    }
}

#[test]
fn suggests_the_other_index_base_only_where_it_helps() {
    let dir = TestDir::new();
    dir.write("pairs.tsv", "the red fox\trufo mi\nthe owl\tku\n");
    for gold in ["1-1 4-2\n2-1\n", "1-1 3-2\n0-0\n"] {
        dir.write("pairs.gold", gold);
        let outcome = evaluate(&dir, "pairs.tsv", &["--gold", "pairs.gold"]);
        assert!(!outcome.refused(1).contains("--gold-base"), "{gold}: {outcome:?}");
    }
}

#[test]
fn failed_writes_lose_nothing() {
    let dir = TestDir::with_pairs();
    std::fs::create_dir(dir.path("directory")).unwrap();
    dir.write("kept.txt", "kept");
    let before = dir.contents();
    for output in ["pairs.tsv/out.txt", "missing/out.txt", "directory"] {
        let translate = ["translate", "--model", model_path(), "--output", output, "the fox"];
        dir.run(&translate).refused_with(1, &[output]);
        align(&dir, "pairs.tsv", &["--output", output]).refused_with(1, &[output]);
    }
    dir.run(&["translate", "--model", "missing", "--output", "kept.txt", "the fox"]).refused(1);
    align(&dir, "missing.tsv", &["--output", "kept.txt"]).refused(1);
    for out in ["pairs.tsv", "pairs.tsv/model"] {
        let train = ["train", "--quiet", "--train", "pairs.tsv", "--out", out];
        dir.run(&train).refused_with(1, &[out, "--out"]);
    }
    assert_eq!(dir.contents(), before);
}

/// Numbers out of range: command, option and the values it rejects.
const OUT_OF_RANGE: [(&[&str], &str, &[&str]); 24] = [
    (&TRAIN_TINY, "--hidden-size", &["63", "0"]),
    (&TRAIN_TINY, "--embedding-size", &["0"]),
    (&TRAIN_TINY, "--attention-size", &["0"]),
    (&TRAIN_TINY, "--layers", &["0"]),
    (&TRAIN_TINY, "--vocabulary-size", &["0", "4"]),
    (&TRAIN_TINY, "--batch-sentences", &["0"]),
    (&TRAIN_TINY, "--batch-tokens", &["0"]),
    (&TRAIN_TINY, "--max-length", &["0"]),
    (&TRAIN_TINY, "--dropout", &["1.5", "1", "-0.1"]),
    (&TRAIN_TINY, "--label-smoothing", &["nan"]),
    (&TRAIN_TINY, "--learning-rate", &["-1", "0", "nan", "inf"]),
    (&TRAIN_TINY, "--max-gradient-norm", &["0"]),
    (&TRAIN_TINY, "--decay", &["-1"]),
    (&TRAIN_TINY, "--guided-alignment", &["-1", "1001", "1e300", "inf"]),
    (&TRAIN_TINY, "--patience", &["0"]),
    (&TRAIN_TINY, "--validate-every", &["0"]),
    (&TRAIN_TINY, "--max-epochs", &["0"]),
    (&TRAIN_TINY, "--max-minutes", &["0", "-5", "nan", "1e300"]),
    (&TRAIN_TINY, "--save-every", &["0"]),
    (&TRANSLATE, "--length-penalty", &["-1", "nan"]),
    (&TRANSLATE, "--coverage-penalty", &["-1", "inf"]),
    (&TRANSLATE, "--brevity-penalty", &["-1", "nan", "1e301"]),
    (&TRANSLATE, "--length-factor", &["-1", "nan", "1e9"]),
    (&TRANSLATE, "--threshold", &["nan", "-1"]),
];
const TRAIN_TINY: [&str; 7] = ["train", "--train", "pairs.tsv", "--out", "out", "--preset", "tiny"];
const TRANSLATE: [&str; 4] = ["translate", "the fox", "--model", "model"];

#[test]
fn rejects_numbers_out_of_range_as_usage_errors() {
    let dir = TestDir::with_model();
    for (command, option, values) in OUT_OF_RANGE {
        for value in values {
            println!("{} {option}={value}", command[0]);
            dir.run(&[command, &[&format!("{option}={value}")]].concat()).refused_with(2, &[option]);
        }
    }
}

#[test]
fn rejects_numbers_before_creating_files() {
    let dir = TestDir::with_pairs();
    for option in ["--hidden-size=63", "--learning-rate=-1", "--dropout=2", "--layers=0", "--vocabulary-size=0"] {
        dir.run(&["train", "--quiet", "--train", "pairs.tsv", "--out", "out", option]).refused(2);
        assert!(!dir.path("out").exists(), "{option}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn refuses_sizes_beyond_any_memory() {
    let dir = TestDir::with_pairs();
    for option in [
        "--hidden-size=1000000",
        "--hidden-size=10000000000000000000",
        "--embedding-size=4000000000000000000",
        "--layers=1000000",
        "--vocabulary-size=18446744073709551615",
    ] {
        println!("{option}");
        // Limits protect the machine if the program does not refuse.
        let mut limited = std::process::Command::new("sh");
        limited.args(["-c", "ulimit -v 3000000; ulimit -t 5; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_softalign")]);
        limited.args(["--threads", "1", "train", "--quiet", "--train", "pairs.tsv", "--out", "out", option]);
        limited.current_dir(dir.path(""));
        let outcome = outcome(limited);
        outcome.refused_with(2, &[option.split('=').next().unwrap()]);
        assert!(!dir.path("out").exists(), "{option}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn reads_training_pairs_from_a_path_that_is_not_utf_8() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let dir = TestDir::with_pairs();
    let name = OsStr::from_bytes(b"p\xff.tsv");
    std::fs::copy(dir.path("pairs.tsv"), dir.path("").join(name)).unwrap();
    for (value, out) in [(&b"p\xff.tsv"[..], "plain"), (b"p\xff.tsv:2", "weighted")] {
        let train = ["train", "--preset", "tiny", "--max-epochs", "1", "--quiet", "--out", out, "--train"];
        let mut command = dir.command(&train);
        command.arg(OsStr::from_bytes(value));
        outcome(command).worked();
    }
    let mut command = dir.command(&["train", "--out", "none", "--train"]);
    command.arg(OsStr::from_bytes(b"q\xff.tsv:0.5"));
    outcome(command).refused_with(1, &["q\u{fffd}.tsv"]);
}

/// With any amount of memory, a command succeeds or prints one line of error.
#[cfg(target_os = "linux")]
#[test]
fn reports_exhausted_memory_in_one_line() {
    let dir = TestDir::with_model();
    let mut failed = 0;
    for kilobytes in (40_000..=110_000).step_by(10_000) {
        let mut command = std::process::Command::new("sh");
        let limited = format!("ulimit -v {kilobytes}; exec \"$0\" \"$@\"");
        command.args(["-c", &limited, env!("CARGO_BIN_EXE_softalign"), "translate", "--model", "model", "the red fox"]);
        command.args(["--threads", "2"]).current_dir(dir.path("")).env("LC_ALL", "C");
        let outcome = outcome(command);
        if outcome.code != Some(0) {
            outcome.refused(1);
            failed += 1;
        }
    }
    assert!(failed > 0, "memory was never exhausted");
}

#[test]
fn every_command_truncates_lines_beyond_the_limit() {
    let dir = TestDir::with_model();
    let long = "the red fox sleeps ".repeat(100_000);
    let (tsv, csv) = (format!("{}\t{long}\n", &long[..4000]), format!("\"{}\",\"{long}\"\n", &long[..4000]));
    dir.write("long.tsv", &tsv);
    dir.write("long.csv", &csv);
    dir.write("late.tsv", format!("a\tb\n{long}\tb\n"));
    dir.write("late.csv", format!("a,b\n\"{long}\",\"b\"\n"));
    dir.write("long.txt", format!("{long}\n"));
    dir.write("ab.tsv", "a b\tc d\n");
    let read = |arguments: &[&str], part: &str| {
        let found = dir.run(arguments);
        found.worked();
        assert!(found.stderr.contains(part), "{arguments:?}: {}", found.stderr);
    };
    let beginning = "line 1: longer than 500 tokens; only the beginning was read";
    read(&["score", "--model", "model", "--pairs", "long.csv", "--csv"], beginning);
    read(&["align", "--model", "model", "--pairs", "long.csv", "--csv", "--format", "pharaoh"], beginning);
    read(&["evaluate", "--model", "model", "--pairs", "long.tsv"], beginning);
    let measured = "line 1: longer than 20000 characters; only the beginning was scored";
    read(&["evaluate", "--pairs", "ab.tsv", "--hypotheses", "long.txt"], &format!("long.txt: {measured}"));
    let refused = |arguments: &[&str], part: &str| {
        let found = dir.run(&[arguments, &["--model", "model"]].concat());
        assert!(found.code == Some(1) && found.stderr.contains(part), "{arguments:?}: {found:?}");
    };
    for command in ["score", "align", "evaluate"] {
        let part = "late.tsv:2: no tab in the first 1,048,576 bytes of this line";
        refused(&[command, "--pairs", "late.tsv"], part);
    }
    let part = "late.csv:2: only one column in the first 1,048,576 bytes of this line";
    refused(&["score", "--pairs", "late.csv", "--csv"], part);
}
