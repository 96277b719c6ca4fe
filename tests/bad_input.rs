//! Broken, odd and enormous input: what is wrong is refused in one line, what is only odd goes through.

mod common;

use common::{ModelDir, Outcome, PAIRS, model_path, outcome, tsv};
use serde_json::Value;

/// Files of pairs that no command takes, with what the error must say.
const BROKEN: [(&str, &[u8], &[&str]); 4] = [
    ("invalid UTF-8", b"the fox\tmi .\nthe \xff\tku .\n", &["broken.tsv:2", "UTF-8"]),
    ("half a character", b"the fox\tmi \xc3", &["broken.tsv:1", "UTF-8"]),
    ("no tab", b"the fox\tmi .\nthe owl\n", &["broken.tsv:2", "no tab"]),
    ("two tabs", b"a\tb\na\tb\na\tb\tc\n", &["broken.tsv:3", "2 tabs"]),
];

/// Lines that are odd and yet text.
const ODD: [&str; 16] = [
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

fn align(folder: &ModelDir, pairs: &str, options: &[&str]) -> Outcome {
    folder.run(&[&["align", "--model", model_path(), "--pairs", pairs], options].concat())
}

fn evaluate(folder: &ModelDir, pairs: &str, options: &[&str]) -> Outcome {
    folder.run(&[&["evaluate", "--model", model_path(), "--pairs", pairs], options].concat())
}

#[test]
fn broken_pairs_are_refused_with_file_and_line_by_every_command() {
    let folder = ModelDir::with_pairs();
    let validate = ["train", "--quiet", "--train", "pairs.tsv", "--valid", "broken.tsv", "--out", "out"];
    for (what, bytes, parts) in BROKEN {
        println!("{what}");
        folder.write("broken.tsv", bytes);
        folder.run(&TRAIN).refused_with(1, parts);
        folder.run(&validate).refused_with(1, parts);
        align(&folder, "broken.tsv", &["--output", "result.txt"]).refused_with(1, parts);
        evaluate(&folder, "broken.tsv", &[]).refused_with(1, parts);
    }
    assert!(!folder.path("result.txt").exists());
    assert!(!folder.contents().keys().any(|name| name.ends_with(".tmp")));
}

#[test]
fn files_that_cannot_be_read_are_named() {
    let folder = ModelDir::with_pairs();
    std::fs::create_dir(folder.path("broken.tsv")).unwrap();
    for (name, reason) in [("broken.tsv", "directory"), ("missing.tsv", "No such file")] {
        let train = ["train", "--quiet", "--out", "out", "--train"];
        folder.run(&[&train[..], &[name]].concat()).refused_with(1, &[name, reason]);
        folder.run(&[&train[..], &["pairs.tsv", "--valid", name]].concat()).refused_with(1, &[name, reason]);
        align(&folder, name, &[]).refused_with(1, &[name, reason]);
        evaluate(&folder, name, &[]).refused_with(1, &[name, reason]);
        evaluate(&folder, "pairs.tsv", &["--gold", name]).refused_with(1, &[name, reason]);
        let translate = ["translate", "--model", model_path(), "--input", name];
        folder.run(&translate).refused_with(1, &[name, reason]);
        let parallel = ["align", "--model", model_path(), "--source", "pairs.tsv", "--target", name];
        folder.run(&parallel).refused_with(1, &[name, reason]);
    }
}

#[test]
fn a_corpus_without_a_usable_pair_is_refused() {
    let folder = ModelDir::new();
    for text in ["", "\u{feff}", "\tb\na\t\n \t \n"] {
        folder.write("broken.tsv", text);
        folder.run(&TRAIN).refused_with(1, &["broken.tsv", "no ", "pair"]);
    }
    folder.write("broken.tsv", "a b c d e\ta b c d e\n");
    let too_long = [&TRAIN[..], &["--max-length", "2", "--units", "char"]].concat();
    folder.run(&too_long).refused_with(1, &["broken.tsv", "--max-length 2"]);
    folder.write("empty.tsv", "");
    evaluate(&folder, "empty.tsv", &[]).refused_with(1, &["empty.tsv", "no sentence pair"]);
    assert_eq!(align(&folder, "empty.tsv", &["--format", "pharaoh"]).worked(), "");
}

#[test]
fn a_training_that_cannot_begin_leaves_no_trace() {
    let folder = ModelDir::with_pairs();
    for (_, bytes, _) in BROKEN {
        folder.write("broken.tsv", bytes);
        folder.run(&TRAIN).refused(1);
        assert!(!folder.path("out").exists(), "{:?}", folder.contents().keys());
    }
}

#[test]
fn parallel_files_of_unequal_length_are_refused_with_both_counts() {
    let folder = ModelDir::new();
    folder.write("a.txt", "one\ntwo\nthree\n");
    folder.write("b.txt", "uno\ndue\n");
    let sides = ["--source", "a.txt", "--target", "b.txt"];
    for command in [
        &["train", "--quiet", "--out", "out"][..],
        &["align", "--model", model_path()],
        &["evaluate", "--model", model_path()],
    ] {
        folder.run(&[command, &sides].concat()).refused_with(1, &["a.txt", "b.txt", "3", "2"]);
    }
}

#[test]
fn standard_input_cannot_be_both_sides() {
    let folder = ModelDir::new();
    let both = ["align", "--model", model_path(), "--source", "-", "--target", "-"];
    let outcome = folder.run_with_input(&both, "the fox\nthe owl\n");
    outcome.refused_with(2, &["standard input"]);
}

#[test]
fn text_to_translate_that_is_not_utf_8_is_refused_with_its_line() {
    let folder = ModelDir::new();
    folder.write("text.txt", b"the fox\n\nthe \xe9 owl\n");
    let arguments = ["translate", "--model", model_path(), "--input", "text.txt", "--output", "out.txt"];
    folder.run(&arguments).refused_with(1, &["text.txt:3", "UTF-8"]);
    assert_eq!(folder.contents().len(), 1);
    let piped = folder.run_with_input(&["translate", "--model", model_path()], b"the fox\n\xff\n");
    piped.refused_with(1, &["standard input:2", "UTF-8"]);
}

#[test]
fn one_pair_is_enough_to_train_on() {
    let folder = ModelDir::new();
    folder.write("broken.tsv", "a b\tc d");
    for units in ["bpe", "word", "char"] {
        folder.run(&[&TRAIN[..8], &["--out", units, "--units", units]].concat()).worked();
        assert_eq!(folder.run(&["translate", "--model", units, "a b"]).worked().lines().count(), 1, "{units}");
    }
}

#[test]
fn pairs_with_an_empty_side_are_left_out_and_counted() {
    let folder = ModelDir::new();
    folder.write("broken.tsv", tsv(&PAIRS) + "alone\t\n\talone\n \t \n");
    let outcome = folder.run(&[&["train"], &TRAIN[2..]].concat());
    outcome.worked();
    assert!(outcome.stderr.contains("broken.tsv: 3 pairs left out"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("12 training pairs"), "{}", outcome.stderr);
}

#[test]
fn odd_text_gives_a_line_for_each_line() {
    let folder = ModelDir::new();
    let text = ODD.join("\n") + "\n";
    let outcome = folder.run_with_input(&["translate", "--model", model_path()], &text);
    assert_eq!(outcome.worked().matches('\n').count(), ODD.len());
    let json = folder.run_with_input(&["translate", "--model", model_path(), "--format", "json"], &text);
    let items: Vec<Value> = serde_json::from_str(json.worked()).unwrap();
    assert_eq!(items.len(), ODD.len());
    for (item, text) in items.iter().zip(ODD) {
        let words: Vec<&str> = item["source"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert_eq!(words, text.split_whitespace().collect::<Vec<_>>(), "{text:?}");
    }
    folder.run_with_input(&["translate", "--model", model_path(), "--format", "align"], &text).worked();
}

#[test]
fn odd_text_can_be_aligned_and_evaluated() {
    let folder = ModelDir::new();
    let pairs: String = ODD.iter().flat_map(|a| ODD.map(|b| format!("{a}\t{b}\n"))).collect();
    folder.write("odd.tsv", &pairs);
    let lines = align(&folder, "odd.tsv", &["--format", "pharaoh"]);
    assert_eq!(lines.worked().matches('\n').count(), ODD.len() * ODD.len());
    for options in [&["text"][..], &["json", "--subwords"], &["npz"], &["html"], &["svg", "--subwords"]] {
        let mut command = folder.command(&["align", "--model", model_path(), "--pairs", "odd.tsv", "--output", "out"]);
        command.arg("--format").args(options);
        outcome(command).worked();
    }
    let scores: Value = evaluate(&folder, "odd.tsv", &["--json", "--beam", "1"]).json();
    assert_eq!(scores["pairs"], ODD.len() * ODD.len());
}

#[test]
fn odd_text_can_be_trained_on() {
    let folder = ModelDir::new();
    folder.write("broken.tsv", ODD.map(|text| format!("{text}\t{text}\n")).concat());
    for units in ["bpe", "word", "char"] {
        folder.run(&[&TRAIN[..8], &["--out", units, "--units", units]].concat()).worked();
        let text = ODD.join("\n");
        let outcome = folder.run_with_input(&["translate", "--model", units, "--beam", "1"], text);
        assert_eq!(outcome.worked().matches('\n').count(), ODD.len(), "{units}");
    }
}

#[test]
fn crlf_and_a_byte_order_mark_train_the_same_model() {
    let models = [tsv(&PAIRS), format!("\u{feff}{}", tsv(&PAIRS).replace('\n', "\r\n"))].map(|text| {
        let folder = ModelDir::new();
        folder.write("broken.tsv", text);
        folder.run(&TRAIN).worked();
        folder.read("out/model.safetensors")
    });
    assert!(models[0] == models[1]);
}

#[test]
fn enormous_lines_are_translated_in_part_with_a_warning_that_names_the_line() {
    let folder = ModelDir::new();
    let text = format!("the fox\n{}\n\nthe owl\n", "the red fox sleeps ".repeat(2500));
    folder.write("text.txt", &text);
    let outcome = folder.run(&["translate", "--model", model_path(), "--input", "text.txt"]);
    assert_eq!(outcome.worked().matches('\n').count(), 4);
    assert_eq!(outcome.stderr, "warning: line 2: longer than 500 units; only the beginning was read\n");
    let word = "owl".repeat(350_000);
    let outcome = folder.run_with_input(&["translate", "--model", model_path()], format!("fox\n{word}\nfox\n"));
    assert_eq!(outcome.worked().matches('\n').count(), 3);
}

#[test]
fn enormous_pairs_are_aligned_in_part_and_not_trained_on() {
    let folder = ModelDir::new();
    let [long, word] = ["the fox ".repeat(5000), "a".repeat(1_000_000)];
    let text = format!("{}{long}\t{word}\n{word}\tmi\nfox\t{long}\n", tsv(&PAIRS));
    folder.write("broken.tsv", text);
    let lines = align(&folder, "broken.tsv", &["--format", "pharaoh"]);
    assert_eq!(lines.worked().lines().count(), PAIRS.len() + 3);
    assert!(lines.stderr.contains("lines 13 and 15:"), "{}", lines.stderr);
    for units in ["word", "char"] {
        let outcome = folder.run(&[&["train"], &TRAIN[2..8], &["--units", units, "--out", units]].concat());
        outcome.worked();
        assert!(outcome.stderr.contains("too long"), "{units}: {}", outcome.stderr);
    }
}

#[test]
fn enormous_pairs_are_linked_in_part_with_a_warning_that_names_the_line() {
    let folder = ModelDir::new();
    let sentence = |words: usize| -> String {
        (0..words).map(|word| format!("w{} ", word * word % 1009)).collect::<String>().trim_end().to_owned()
    };
    let [long, longest] = [1800, 10_000].map(sentence);
    folder.write("long.tsv", format!("{}{long}\t{long}\n{longest}\t{longest}\nfox\t{longest}\n", tsv(&PAIRS)));
    let mut limited = std::process::Command::new("sh");
    // The shell's limits keep a program that does not bound its work from taking the whole machine.
    limited.args(["-c", "ulimit -v 600000; ulimit -t 20; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_softalign")]);
    limited.args(["--threads", "1", "align", "--pairs", "long.tsv", "--links-from", "pairs", "--format", "pharaoh"]);
    limited.current_dir(folder.path(""));
    let outcome = outcome(limited);
    let lines: Vec<&str> = outcome.worked().lines().collect();
    assert_eq!(lines.len(), PAIRS.len() + 3);
    assert!(lines[PAIRS.len()].contains(" 1799-1799"), "a long pair is linked to its end");
    let warning = "warning: lines 14 and 15: longer than 2000 words; only the beginning was linked\n";
    assert_eq!(outcome.stderr, warning);
}

#[test]
fn a_word_of_any_width_is_drawn() {
    let folder = ModelDir::new();
    let word = "a".repeat(70_000);
    folder.write("wide.tsv", format!("the {word}\tmi {word}\n"));
    assert_eq!(align(&folder, "wide.tsv", &[]).worked().lines().count(), 3);
    let translate = ["translate", "--model", model_path(), "--format", "align"];
    assert!(folder.run_with_input(&translate, format!("the {word}\n")).worked().contains(&word));
}

/// Characters that a terminal obeys, as they may stand in a text.
const OBEYED: [char; 7] = ['\u{1b}', '\u{7}', '\u{9b}', '\u{7f}', '\u{202e}', '\u{2066}', '\u{200f}'];

#[test]
fn nothing_that_a_terminal_obeys_is_shown_on_it() {
    let folder = ModelDir::new();
    let hostile: String = OBEYED.iter().flat_map(|character| ['x', *character, '[', '2', 'J']).collect();
    let pairs: String = (0..3).map(|pair| format!("{hostile} {pair}\t{hostile} {pair}\n")).collect();
    folder.write("broken.tsv", pairs);
    let none = |text: &str| assert!(!text.contains(OBEYED), "{text:?}");
    let out = format!("out{hostile}");
    let train = folder.run(&["train", "--preset", "tiny", "--max-epochs", "3", "--train", "broken.tsv", "--out", &out]);
    none(train.worked());
    none(&train.stderr);
    none(folder.run(&["inspect", &out]).worked());
    none(align(&folder, "broken.tsv", &[]).worked());
    none(folder.run(&["translate", "--model", &format!("no{hostile}"), "a"]).refused(1));
    // What is no terminal gets the text itself.
    let copied = folder.run_with_input(&["translate", "--model", &out, "--replace-unknown"], format!("{hostile} 1\n"));
    assert_eq!(copied.worked().lines().count(), 1);
}

#[test]
fn gold_files_that_do_not_fit_are_refused_with_file_and_line() {
    let folder = ModelDir::new();
    folder.write("pairs.tsv", "the red fox\trufo mi\nthe owl\tku\n");
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
        folder.write("pairs.gold", gold);
        evaluate(&folder, "pairs.tsv", &["--gold", "pairs.gold"]).refused_with(1, parts);
    }
    for (gold, parts) in [
        ("1-1 3-2\n2-1 1?0\n", &["pairs.gold:2", "numbered 0", "--gold-base 1"][..]),
        ("1-1\n1-1 3-1\n", &["pairs.gold:2", "3-1", "2 and 1 words", "from 1"]),
    ] {
        folder.write("pairs.gold", gold);
        evaluate(&folder, "pairs.tsv", &["--gold", "pairs.gold", "--gold-base", "1"]).refused_with(1, parts);
    }
}

#[test]
fn another_base_is_named_only_where_it_helps() {
    let folder = ModelDir::new();
    folder.write("pairs.tsv", "the red fox\trufo mi\nthe owl\tku\n");
    for gold in ["1-1 4-2\n2-1\n", "1-1 3-2\n0-0\n"] {
        folder.write("pairs.gold", gold);
        let outcome = evaluate(&folder, "pairs.tsv", &["--gold", "pairs.gold"]);
        assert!(!outcome.refused(1).contains("--gold-base"), "{gold}: {outcome:?}");
    }
}

#[test]
fn results_that_cannot_be_written_are_a_failure_that_loses_nothing() {
    let folder = ModelDir::with_pairs();
    std::fs::create_dir(folder.path("folder")).unwrap();
    folder.write("kept.txt", "kept");
    let before = folder.contents();
    for output in ["pairs.tsv/out.txt", "missing/out.txt", "folder"] {
        let translate = ["translate", "--model", model_path(), "--output", output, "the fox"];
        folder.run(&translate).refused_with(1, &[output]);
        align(&folder, "pairs.tsv", &["--output", output]).refused_with(1, &[output]);
    }
    folder.run(&["translate", "--model", "missing", "--output", "kept.txt", "the fox"]).refused(1);
    align(&folder, "missing.tsv", &["--output", "kept.txt"]).refused(1);
    for out in ["pairs.tsv", "pairs.tsv/model"] {
        let train = ["train", "--quiet", "--train", "pairs.tsv", "--out", out];
        folder.run(&train).refused_with(1, &[out, "--out"]);
    }
    assert_eq!(folder.contents(), before);
}

#[test]
fn numbers_that_make_no_sense_are_a_wrong_command_line() {
    let folder = ModelDir::with_pairs();
    for (option, value) in [
        ("--hidden-size", "63"),
        ("--hidden-size", "0"),
        ("--embedding-size", "0"),
        ("--attention-size", "0"),
        ("--layers", "0"),
        ("--vocabulary-size", "0"),
        ("--vocabulary-size", "4"),
        ("--batch-sentences", "0"),
        ("--batch-tokens", "0"),
        ("--max-length", "0"),
        ("--dropout", "1.5"),
        ("--dropout", "1"),
        ("--dropout", "-0.1"),
        ("--label-smoothing", "nan"),
        ("--learning-rate", "-1"),
        ("--learning-rate", "0"),
        ("--learning-rate", "nan"),
        ("--learning-rate", "inf"),
        ("--max-gradient-norm", "0"),
        ("--decay", "-1"),
        ("--patience", "0"),
        ("--validate-every", "0"),
        ("--max-epochs", "0"),
        ("--max-minutes", "0"),
        ("--max-minutes", "-5"),
        ("--max-minutes", "nan"),
        ("--max-minutes", "1e300"),
        ("--save-every", "0"),
    ] {
        println!("{option} {value}");
        let option = format!("{option}={value}");
        let train = ["train", "--quiet", "--train", "pairs.tsv", "--out", "out", "--preset", "tiny", &option];
        let outcome = folder.run(&train);
        outcome.refused_with(2, &[option.split('=').next().unwrap()]);
    }
    for (option, value) in [
        ("--length-penalty", "-1"),
        ("--length-penalty", "nan"),
        ("--coverage-penalty", "-1"),
        ("--coverage-penalty", "inf"),
        ("--length-factor", "-1"),
        ("--length-factor", "nan"),
        ("--length-factor", "1e9"),
        ("--threshold", "nan"),
        ("--threshold", "-1"),
    ] {
        println!("{option} {value}");
        let option = format!("{option}={value}");
        let outcome = folder.run(&["translate", "--model", model_path(), &option, "the fox"]);
        outcome.refused_with(2, &[option.split('=').next().unwrap()]);
    }
}

#[test]
fn a_wrong_number_is_found_before_anything_is_made() {
    let folder = ModelDir::with_pairs();
    for option in ["--hidden-size=63", "--learning-rate=-1", "--dropout=2", "--layers=0", "--vocabulary-size=0"] {
        folder.run(&["train", "--quiet", "--train", "pairs.tsv", "--out", "out", option]).refused(2);
        assert!(!folder.path("out").exists(), "{option}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn sizes_that_no_machine_can_hold_are_refused() {
    let folder = ModelDir::with_pairs();
    for option in [
        "--hidden-size=1000000",
        "--hidden-size=10000000000000000000",
        "--embedding-size=4000000000000000000",
        "--layers=1000000",
        "--vocabulary-size=18446744073709551615",
    ] {
        println!("{option}");
        // The shell's limits keep a program that does not refuse from taking the whole machine.
        let mut limited = std::process::Command::new("sh");
        limited.args(["-c", "ulimit -v 3000000; ulimit -t 5; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_softalign")]);
        limited.args(["--threads", "1", "train", "--quiet", "--train", "pairs.tsv", "--out", "out", option]);
        limited.current_dir(folder.path(""));
        let outcome = outcome(limited);
        outcome.refused_with(2, &[option.split('=').next().unwrap()]);
        assert!(!folder.path("out").exists(), "{option}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn reads_training_pairs_from_a_path_that_is_not_utf_8() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let folder = ModelDir::with_pairs();
    let name = OsStr::from_bytes(b"p\xff.tsv");
    std::fs::copy(folder.path("pairs.tsv"), folder.path("").join(name)).unwrap();
    for (value, out) in [(&b"p\xff.tsv"[..], "plain"), (b"p\xff.tsv:2", "weighted")] {
        let train = ["train", "--preset", "tiny", "--max-epochs", "1", "--quiet", "--out", out, "--train"];
        let mut command = folder.command(&train);
        command.arg(OsStr::from_bytes(value));
        outcome(command).worked();
    }
    let mut command = folder.command(&["train", "--out", "none", "--train"]);
    command.arg(OsStr::from_bytes(b"q\xff.tsv:0.5"));
    outcome(command).refused_with(1, &["q\u{fffd}.tsv"]);
}

/// Of each amount of memory either the result comes of it or one line.
#[cfg(target_os = "linux")]
#[test]
fn too_little_memory_is_one_line_of_error() {
    let folder = ModelDir::with_model();
    let mut failed = 0;
    for kilobytes in (40_000..=110_000).step_by(10_000) {
        let mut command = std::process::Command::new("sh");
        let limited = format!("ulimit -v {kilobytes}; exec \"$0\" \"$@\"");
        command.args(["-c", &limited, env!("CARGO_BIN_EXE_softalign"), "translate", "--model", "model", "the red fox"]);
        command.args(["--threads", "2"]).current_dir(folder.path("")).env("LC_ALL", "C");
        let outcome = outcome(command);
        if outcome.code != Some(0) {
            outcome.refused(1);
            failed += 1;
        }
    }
    assert!(failed > 0, "all amounts were enough");
}

#[test]
fn lines_beyond_the_cap_are_read_in_part_by_every_command() {
    let folder = ModelDir::with_model();
    let long = "the red fox sleeps ".repeat(100_000);
    let (tsv, csv) = (format!("{}\t{long}\n", &long[..4000]), format!("\"{}\",\"{long}\"\n", &long[..4000]));
    folder.write("long.tsv", &tsv);
    folder.write("long.csv", &csv);
    folder.write("late.tsv", format!("a\tb\n{long}\tb\n"));
    folder.write("late.csv", format!("a,b\n\"{long}\",\"b\"\n"));
    folder.write("long.txt", format!("{long}\n"));
    folder.write("ab.tsv", "a b\tc d\n");
    let read = |arguments: &[&str], part: &str| {
        let found = folder.run(arguments);
        found.worked();
        assert!(found.stderr.contains(part), "{arguments:?}: {}", found.stderr);
    };
    let beginning = "line 1: longer than 500 units; only the beginning was read";
    read(&["score", "--model", "model", "--pairs", "long.csv", "--csv"], beginning);
    read(&["align", "--model", "model", "--pairs", "long.csv", "--csv", "--format", "pharaoh"], beginning);
    read(&["evaluate", "--model", "model", "--pairs", "long.tsv"], beginning);
    let measured = "line 1: longer than 20000 characters; only the beginning was measured";
    read(&["evaluate", "--pairs", "ab.tsv", "--hypotheses", "long.txt"], &format!("long.txt: {measured}"));
    for command in ["score", "align", "evaluate"] {
        folder
            .run(&[command, "--model", "model", "--pairs", "late.tsv"])
            .refused_with(1, &["late.tsv:2: no tab in the first 1,048,576 bytes of this line"]);
    }
    let late = folder.run(&["score", "--model", "model", "--pairs", "late.csv", "--csv"]);
    late.refused_with(1, &["late.csv:2: only one column in the first 1,048,576 bytes of this line"]);
}
