//! Where results go: files, links, pipes and devices.

mod common;

use std::process::Stdio;

use common::{ModelDir, Outcome, PAIRS, model_path, outcome};

#[test]
fn results_are_not_written_over_what_is_read_or_over_each_other() {
    let folder = ModelDir::with_pairs();
    folder.write("pairs.gold", "0-0\n".repeat(PAIRS.len()));
    let before = folder.contents();
    for arguments in [
        &["translate", "--input", "pairs.tsv", "--output", "./pairs.tsv"][..],
        &["translate", "--replace-unknown", "--dictionary", "pairs.tsv", "--output", "pairs.tsv", "the fox"],
        &["align", "--pairs", "pairs.tsv", "--output", "pairs.tsv"],
        &["align", "--pairs", "pairs.tsv", "--lexicon", "pairs.tsv"],
        &["align", "--pairs", "pairs.tsv", "--lexicon", "new.tsv", "--output", "new.tsv"],
        &["align", "--pairs", "pairs.tsv", "--lexicon", "-"],
        &["align", "--pairs", "pairs.tsv", "--format", "html", "--gold", "pairs.gold", "--output", "pairs.gold"],
        &["evaluate", "--pairs", "pairs.tsv", "--figure", "pairs.tsv"],
    ] {
        let outcome = folder.run(&[&arguments[..1], &["--model", model_path()], &arguments[1..]].concat());
        outcome.refused_with(2, &["name"]);
    }
    assert_eq!(folder.contents(), before);
    let to_nowhere = ["align", "--model", model_path(), "--pairs", "pairs.tsv", "--lexicon", "/dev/null"];
    if cfg!(unix) {
        folder.run(&[&to_nowhere[..], &["--output", "/dev/null"]].concat()).worked();
    }
}

#[cfg(unix)]
#[test]
fn writing_to_a_symbolic_link_writes_the_file_behind_it() {
    let folder = ModelDir::new();
    folder.write("real.txt", "old\n");
    std::os::unix::fs::symlink("real.txt", folder.path("link.txt")).unwrap();
    folder.run(&["translate", "--model", model_path(), "--output", "link.txt", "the red fox sleeps"]).worked();
    assert_eq!(folder.text("real.txt"), "rufo mi dorma .\n");
    assert!(folder.path("link.txt").is_symlink());
}

#[test]
fn a_dash_is_standard_output_even_where_a_file_has_that_name() {
    let folder = ModelDir::with_pairs();
    folder.write("-", "kept");
    let translate = ["translate", "--model", model_path(), "the red fox sleeps"];
    assert_eq!(folder.run(&translate).worked(), "rufo mi dorma .\n");
    assert_eq!(folder.run(&[&translate[..], &["--output", "-"]].concat()).worked(), "rufo mi dorma .\n");
    assert!(folder.run(&["inspect", model_path()]).worked().contains("pairs.tsv"));
    assert_eq!(folder.text("-"), "kept");
    assert_eq!(folder.run(&[&translate[..], &["--output", "./-"]].concat()).worked(), "");
    assert_eq!(folder.text("-"), "rufo mi dorma .\n");
}

#[cfg(unix)]
#[test]
fn what_is_open_already_is_added_to() {
    let folder = ModelDir::new();
    let run = |redirection: &str, output: &str| {
        folder.write("log", "kept\n");
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &format!("\"$@\" {redirection}"), "sh", env!("CARGO_BIN_EXE_softalign")]);
        shell.args(["translate", "--model", model_path(), "--output", output, "the red fox sleeps"]);
        shell.current_dir(folder.path(""));
        outcome(shell).worked();
        assert_eq!(folder.text("log"), "kept\nrufo mi dorma .\n", "{redirection} {output}");
    };
    for (redirection, output) in
        [(">> log", "/dev/stdout"), (">> log", "/proc/self/fd/1"), ("3>> log", "/dev/fd/3"), ("2>> log", "/dev/stderr")]
    {
        run(redirection, output);
    }
}

#[test]
fn what_a_killed_process_left_of_a_result_is_cleared_away() {
    let folder = ModelDir::new();
    for name in [".out.txt.4194305.tmp", ".other.txt.4194305.tmp"] {
        folder.write(name, "half");
    }
    folder.run(&["translate", "--model", model_path(), "--output", "out.txt", "the red fox sleeps"]).worked();
    assert_eq!(folder.contents().into_keys().collect::<Vec<_>>(), [".other.txt.4194305.tmp", "out.txt"]);
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let folder = ModelDir::new();
    folder.write("many.txt", "the red fox sleeps\n".repeat(20_000));
    folder.write("many.tsv", "the red fox\trufo mi .\n".repeat(20_000));
    for arguments in [
        &["translate", "--beam", "1", "--input", "many.txt", "--model", model_path()][..],
        &["align", "--format", "json", "--pairs", "many.tsv", "--model", model_path()],
        &["inspect", model_path()],
    ] {
        let mut child = folder.command(arguments).spawn().unwrap();
        drop(child.stdout.take());
        let outcome = Outcome::from(child.wait_with_output().unwrap());
        assert_eq!((outcome.code, outcome.stderr.contains("error")), (Some(0), false), "{arguments:?}: {outcome:?}");
    }
}

/// Whoever looks only at the beginning of one result wants the other one whole.
#[test]
fn a_closed_pipe_ends_no_result_beside_it() {
    let folder = ModelDir::new();
    folder.write("many.tsv", "the red fox\trufo mi .\n".repeat(20_000));
    let run = |arguments: &[&str], whole: &str| {
        let mut child = folder.command(&[arguments, &["--pairs", "many.tsv", "--quiet"]].concat()).spawn().unwrap();
        drop(child.stdout.take());
        let outcome = Outcome::from(child.wait_with_output().unwrap());
        assert_eq!((outcome.code, &*outcome.stderr), (Some(0), ""), "{arguments:?}");
        folder.text(whole)
    };
    let align = ["align", "--links-from", "pairs", "--format", "pharaoh", "--lexicon", "words.tsv"];
    assert!(run(&align, "words.tsv").contains("\t20000\t"));
    let clean = ["clean", "--output", "-", "--rejected", "rest.tsv"];
    assert_eq!(run(&clean, "rest.tsv").lines().count(), 19_999);
    let clean = ["clean", "--output", "good.tsv", "--rejected", "-"];
    assert_eq!(run(&clean, "good.tsv").lines().count(), 1);
}

#[test]
fn a_part_of_a_model_is_not_written_over() {
    let folder = ModelDir::with_model();
    let before = folder.contents();
    for arguments in [
        &["translate", "--model", "model", "--output", "model/config.json", "the fox"][..],
        &["align", "--model", "model", "--pairs", "pairs.tsv", "--output", "model/source.tokenizer.json"],
        &["evaluate", "--model", "model", "--pairs", "pairs.tsv", "--save", "model/log.jsonl"],
    ] {
        folder.run(arguments).refused_with(2, &["part of a model"]);
    }
    assert!(folder.contents() == before);
    folder.run(&["translate", "--model", "model", "--output", "model/said.txt", "the fox"]).worked();
}

#[test]
fn standard_input_is_read_once() {
    let folder = ModelDir::with_pairs();
    for arguments in [
        &["translate", "--model", model_path(), "--terms", "-"][..],
        &["translate", "--model", model_path(), "-", "-"],
        &["translate", "--model", model_path(), "--input", "-", "--dictionary", "-", "--replace-unknown"],
        &["evaluate", "--model", model_path(), "--pairs", "-", "--gold", "-"],
        #[cfg(unix)]
        &["evaluate", "--model", model_path(), "--pairs", "-", "--gold", "/dev/stdin"],
        &["train", "--train", "-", "--valid", "-", "--out", "new"],
    ] {
        folder.run_with_input(arguments, "a\tb\n").refused_with(2, &["standard input", "once"]);
    }
}

#[cfg(unix)]
#[test]
fn standard_output_is_known_by_its_other_names() {
    let folder = ModelDir::with_pairs();
    let cleaned = folder.run(&["clean", "--pairs", "pairs.tsv", "--output", "/dev/stdout"]);
    assert_eq!(cleaned.worked(), folder.text("pairs.tsv"));
    assert!(cleaned.stderr.contains("reason"), "{cleaned:?}");
    let save = ["evaluate", "--model", model_path(), "--pairs", "pairs.tsv", "--save", "/dev/stdout"];
    folder.run(&save).refused_with(2, &["--save needs a file"]);
    let figure =
        ["evaluate", "--model", model_path(), "--pairs", "pairs.tsv", "--by-length", "--figure", "/dev/stdout"];
    folder.run(&figure).refused_with(2, &["--figure needs a file"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_a_failure() {
    let folder = ModelDir::with_pairs();
    for arguments in [
        &["translate", "--model", model_path(), "the red fox sleeps"][..],
        &["align", "--model", model_path(), "--pairs", "pairs.tsv"],
        &["evaluate", "--model", model_path(), "--pairs", "pairs.tsv"],
        &["inspect", model_path()],
    ] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let mut command = folder.command(arguments);
        command.stdout(Stdio::from(full));
        outcome(command).refused_with(1, &["standard output", "No space"]);
    }
    let to_file = ["translate", "--model", model_path(), "--output", "/dev/full", "the red fox sleeps"];
    folder.run(&to_file).refused_with(1, &["/dev/full", "No space"]);
}
