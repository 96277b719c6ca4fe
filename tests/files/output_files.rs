//! Destinations of results: files, symbolic links, pipes and devices.

use std::process::Stdio;

use crate::common::{Outcome, PAIRS, TestDir, model_path, outcome};

#[test]
fn refuses_outputs_that_overwrite_inputs_or_each_other() {
    let dir = TestDir::with_pairs();
    dir.write("pairs.gold", "0-0\n".repeat(PAIRS.len()));
    std::fs::create_dir(dir.path("new")).unwrap();
    let before = dir.contents();
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
        let outcome = dir.run(&[&arguments[..1], &["--model", model_path()], &arguments[1..]].concat());
        outcome.refused_with(2, &["choose"]);
    }
    for option in ["--output", "--lexicon"] {
        let save = ["align", "pairs.tsv", "--links-from", "pairs", "--save-aligner", "new"];
        dir.run(&[&save[..], &[option, "new/aligner.safetensors"]].concat()).refused_with(2, &[option, "choose"]);
    }
    assert_eq!(dir.contents(), before);
    let to_null = ["align", "--model", model_path(), "--pairs", "pairs.tsv", "--lexicon", "/dev/null"];
    if cfg!(unix) {
        dir.run(&[&to_null[..], &["--output", "/dev/null"]].concat()).worked();
    }
}

#[cfg(unix)]
#[test]
fn writes_through_symbolic_links_of_results() {
    let dir = TestDir::new();
    dir.write("real.txt", "old\n");
    std::os::unix::fs::symlink("real.txt", dir.path("link.txt")).unwrap();
    dir.run(&["translate", "--model", model_path(), "--output", "link.txt", "the red fox sleeps"]).worked();
    assert_eq!(dir.text("real.txt"), "rufo mi dorma .\n");
    assert!(dir.path("link.txt").is_symlink());
    std::os::unix::fs::symlink("new.txt", dir.path("first.txt")).unwrap();
    std::os::unix::fs::symlink("first.txt", dir.path("second.txt")).unwrap();
    dir.run(&["translate", "--model", model_path(), "--output", "second.txt", "the red fox sleeps"]).worked();
    assert_eq!(dir.text("new.txt"), "rufo mi dorma .\n");
    assert!(dir.path("first.txt").is_symlink() && dir.path("second.txt").is_symlink());
}

#[test]
fn dash_means_standard_output() {
    let dir = TestDir::with_pairs();
    dir.write("-", "kept");
    let translate = ["translate", "--model", model_path(), "the red fox sleeps"];
    assert_eq!(dir.run(&translate).worked(), "rufo mi dorma .\n");
    assert_eq!(dir.run(&[&translate[..], &["--output", "-"]].concat()).worked(), "rufo mi dorma .\n");
    assert!(dir.run(&["inspect", model_path()]).worked().contains("pairs.tsv"));
    assert_eq!(dir.text("-"), "kept");
    assert_eq!(dir.run(&[&translate[..], &["--output", "./-"]].concat()).worked(), "");
    assert_eq!(dir.text("-"), "rufo mi dorma .\n");
}

#[cfg(unix)]
#[test]
fn output_to_an_open_descriptor_appends() {
    let dir = TestDir::new();
    let run = |redirection: &str, output: &str| {
        dir.write("log", "kept\n");
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &format!("\"$@\" {redirection}"), "sh", env!("CARGO_BIN_EXE_softalign")]);
        shell.args(["translate", "--model", model_path(), "--output", output, "the red fox sleeps"]);
        shell.current_dir(dir.path(""));
        outcome(shell).worked();
        assert_eq!(dir.text("log"), "kept\nrufo mi dorma .\n", "{redirection} {output}");
    };
    for (redirection, output) in
        [(">> log", "/dev/stdout"), (">> log", "/proc/self/fd/1"), ("3>> log", "/dev/fd/3"), ("2>> log", "/dev/stderr")]
    {
        run(redirection, output);
    }
}

#[test]
fn removes_partial_results_of_killed_processes() {
    let dir = TestDir::new();
    for name in [".out.txt.4194305.tmp", ".other.txt.4194305.tmp"] {
        dir.write(name, "half");
    }
    dir.run(&["translate", "--model", model_path(), "--output", "out.txt", "the red fox sleeps"]).worked();
    assert_eq!(dir.contents().into_keys().collect::<Vec<_>>(), [".other.txt.4194305.tmp", "out.txt"]);
}

#[test]
fn closed_pipe_is_no_failure() {
    let dir = TestDir::new();
    dir.write("many.txt", "the red fox sleeps\n".repeat(20_000));
    dir.write("many.tsv", "the red fox\trufo mi .\n".repeat(20_000));
    for arguments in [
        &["translate", "--beam", "1", "--input", "many.txt", "--model", model_path()][..],
        &["align", "--format", "json", "--pairs", "many.tsv", "--model", model_path()],
        &["inspect", model_path()],
    ] {
        let mut child = dir.command(arguments).spawn().unwrap();
        drop(child.stdout.take());
        let outcome = Outcome::from(child.wait_with_output().unwrap());
        assert_eq!((outcome.code, outcome.stderr.contains("error")), (Some(0), false), "{arguments:?}: {outcome:?}");
    }
}

#[test]
fn closed_pipe_keeps_other_outputs() {
    let dir = TestDir::new();
    dir.write("many.tsv", "the red fox\trufo mi .\n".repeat(20_000));
    let run = |arguments: &[&str], whole: &str| {
        let mut child = dir.command(&[arguments, &["--pairs", "many.tsv", "--quiet"]].concat()).spawn().unwrap();
        drop(child.stdout.take());
        let outcome = Outcome::from(child.wait_with_output().unwrap());
        assert_eq!((outcome.code, &*outcome.stderr), (Some(0), ""), "{arguments:?}");
        dir.text(whole)
    };
    let align = ["align", "--links-from", "pairs", "--format", "pharaoh", "--lexicon", "words.tsv"];
    assert!(run(&align, "words.tsv").contains("\t20000\t"));
    let clean = ["clean", "--output", "-", "--rejected", "rest.tsv"];
    assert_eq!(run(&clean, "rest.tsv").lines().count(), 19_999);
    let clean = ["clean", "--output", "good.tsv", "--rejected", "-"];
    assert_eq!(run(&clean, "good.tsv").lines().count(), 1);
}

#[test]
fn refuses_to_overwrite_files_of_a_model() {
    let dir = TestDir::with_model();
    let before = dir.contents();
    for arguments in [
        &["translate", "--model", "model", "--output", "model/config.json", "the fox"][..],
        &["align", "--model", "model", "--pairs", "pairs.tsv", "--output", "model/source.tokenizer.json"],
        &["evaluate", "--model", "model", "--pairs", "pairs.tsv", "--save", "model/log.jsonl"],
    ] {
        dir.run(arguments).refused_with(2, &["part of a model"]);
    }
    assert!(dir.contents() == before);
    dir.run(&["translate", "--model", "model", "--output", "model/translation.txt", "the fox"]).worked();
}

#[test]
fn refuses_reading_standard_input_twice() {
    let dir = TestDir::with_pairs();
    for arguments in [
        &["translate", "--model", model_path(), "--terms", "-"][..],
        &["translate", "--model", model_path(), "-", "-"],
        &["translate", "--model", model_path(), "--input", "-", "--dictionary", "-", "--replace-unknown"],
        &["evaluate", "--model", model_path(), "--pairs", "-", "--gold", "-"],
        #[cfg(unix)]
        &["evaluate", "--model", model_path(), "--pairs", "-", "--gold", "/dev/stdin"],
        &["train", "--train", "-", "--valid", "-", "--out", "new"],
    ] {
        dir.run_with_input(arguments, "a\tb\n").refused_with(2, &["standard input", "once"]);
    }
}

#[cfg(unix)]
#[test]
fn recognizes_other_names_of_standard_output() {
    let dir = TestDir::with_pairs();
    let cleaned = dir.run(&["clean", "--pairs", "pairs.tsv", "--output", "/dev/stdout"]);
    assert_eq!(cleaned.worked(), dir.text("pairs.tsv"));
    assert!(cleaned.stderr.contains("reason"), "{cleaned:?}");
    let save = ["evaluate", "--model", model_path(), "--pairs", "pairs.tsv", "--save", "/dev/stdout"];
    dir.run(&save).refused_with(2, &["--save needs a file"]);
    let figure =
        ["evaluate", "--model", model_path(), "--pairs", "pairs.tsv", "--by-length", "--figure", "/dev/stdout"];
    dir.run(&figure).refused_with(2, &["--figure needs a file"]);
}

#[cfg(target_os = "linux")]
#[test]
fn full_disk_is_a_failure() {
    let dir = TestDir::new();
    dir.write("pairs.tsv", "the red owl\trufo ku .\n");
    for arguments in [
        &["translate", "--model", model_path(), "the red fox sleeps"][..],
        &["align", "--model", model_path(), "--pairs", "pairs.tsv"],
        &["evaluate", "--model", model_path(), "--pairs", "pairs.tsv"],
        &["inspect", model_path()],
    ] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let mut command = dir.command(arguments);
        command.stdout(Stdio::from(full));
        outcome(command).refused_with(1, &["standard output", "No space"]);
    }
    let to_file = ["translate", "--model", model_path(), "--output", "/dev/full", "the red fox sleeps"];
    dir.run(&to_file).refused_with(1, &["/dev/full", "No space"]);
}
