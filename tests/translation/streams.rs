//! Streaming through pipes: output is flushed in order whenever the input pauses, and endless input is supported.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::common::{Outcome, PAIRS, TestDir, model_path, outcome};

/// Limit of any wait.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A command with piped input and output.
struct Piped {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Piped {
    fn start(dir: &TestDir, arguments: &[&str]) -> Self {
        let mut command = dir.command(&[arguments, &["--model", model_path(), "--quiet"]].concat());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output): (ChildStdin, ChildStdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines() {
                if sender.send(line.unwrap()).is_err() {
                    break;
                }
            }
        });
        Self { child, input: Some(input), lines }
    }

    fn write(&mut self, text: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(text.as_bytes()).unwrap();
        input.flush().unwrap();
    }

    fn read(&self) -> String {
        self.lines.recv_timeout(TIMEOUT).expect("a line of output while the input pauses")
    }

    fn finish(mut self) {
        drop(self.input.take());
        assert!(self.lines.recv_timeout(TIMEOUT).is_err(), "unexpected output");
        assert!(self.child.wait().unwrap().success());
    }
}

#[test]
fn flushes_when_input_pauses() {
    let dir = TestDir::new();
    let whole: Vec<String> = {
        let text: String = PAIRS.iter().map(|(source, _)| format!("{source}\n")).collect();
        let outcome = dir.run_with_input(&["translate", "--model", model_path()], text);
        outcome.worked().lines().map(str::to_owned).collect()
    };
    for arguments in [&["translate"][..], &["translate", "-"], &["translate", "--input", "-"]] {
        let mut piped = Piped::start(&dir, arguments);
        for ((source, _), expected) in PAIRS.iter().zip(&whole).take(3) {
            piped.write(&format!("{source}\n"));
            assert_eq!(&piped.read(), expected);
        }
        // Several lines at once, an empty one among them, and half a line.
        piped.write(&format!("{}\n\n{}\n{}", PAIRS[3].0, PAIRS[4].0, &PAIRS[5].0[..5]));
        assert_eq!([piped.read(), piped.read(), piped.read()], [&whole[3], "", &whole[4]].map(str::to_owned));
        piped.write(&format!("{}\n", &PAIRS[5].0[5..]));
        assert_eq!(&piped.read(), &whole[5]);
        piped.finish();
    }
}

#[test]
fn aligns_pairs_as_they_arrive() {
    let dir = TestDir::new();
    for format in ["pharaoh", "jsonl", "tsv"] {
        let mut piped = Piped::start(&dir, &["align", "--pairs", "-", "--format", format]);
        for (number, (source, target)) in PAIRS.iter().enumerate().take(3) {
            piped.write(&format!("{source}\t{target}\n"));
            let line = piped.read();
            match format {
                "jsonl" => assert!(line.contains(&format!("\"id\":{number},")), "{line}"),
                "tsv" => while piped.lines.recv_timeout(Duration::from_millis(300)).is_ok() {},
                _ => assert!(line.starts_with("0-0"), "{line}"),
            }
        }
        piped.finish();
    }
}

#[test]
fn endless_input_stops_with_its_reader() {
    let dir = TestDir::new();
    for arguments in
        [&["translate"][..], &["translate", "--format", "pharaoh"], &["align", "--pairs", "-", "--format", "pharaoh"]]
    {
        let mut command = dir.command(&[arguments, &["--model", model_path()]].concat());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let line =
            if arguments[0] == "align" { "the red fox sleeps\trufo mi dorma .\n" } else { "the red fox sleeps\n" };
        // Ends when the pipe is closed.
        let writer = std::thread::spawn(move || while input.write_all(line.repeat(100).as_bytes()).is_ok() {});
        let mut output = BufReader::new(child.stdout.take().unwrap());
        for _ in 0..3 {
            let mut line = String::new();
            assert!(output.read_line(&mut line).unwrap() > 1);
        }
        drop(output);
        child.wait().unwrap();
        writer.join().unwrap();
    }
}

#[test]
fn streamed_files_of_different_lengths_are_reported_with_both_counts() {
    let dir = TestDir::with_pairs();
    dir.write("a", "the red fox\n".repeat(5000));
    dir.write("b", "rufo mi\n".repeat(4990));
    let outcome =
        dir.run(&["align", "--source", "a", "--target", "b", "--model", model_path(), "--output", "links", "--quiet"]);
    outcome.refused_with(1, &["a has 5000 lines and b has 4990"]);
    assert!(!dir.path("links").exists());
}

/// Runs a command with redirections of a shell, such as `>&-`.
#[cfg(unix)]
fn redirected(dir: &TestDir, arguments: &[&str], redirections: &str) -> Outcome {
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &format!("\"$@\" {redirections}"), "sh", env!("CARGO_BIN_EXE_softalign")]);
    shell.args(arguments).current_dir(dir.path("")).stdin(Stdio::null());
    outcome(shell)
}

#[cfg(unix)]
#[test]
fn closed_standard_output_is_an_error() {
    let dir = TestDir::with_pairs();
    dir.write("links", "0-0\n");
    dir.write("backward", "0-0\n");
    dir.write("list", "0 ||| mi\n");
    let model = model_path();
    for arguments in [
        &["translate", "--model", model, "the fox"][..],
        &["align", "--model", model, "pairs.tsv"],
        &["score", "--model", model, "pairs.tsv"],
        &["score", "--model", model, "--input", "pairs.tsv", "--rerank", "list"],
        &["evaluate", "--model", model, "pairs.tsv"],
        &["clean", "pairs.tsv"],
        &["symmetrize", "links", "backward"],
        &["inspect", model],
        &["train", "pairs.tsv", "--out", "out"],
        &["train", "pairs.tsv", "--show-config"],
        &["completions", "bash"],
        &["man"],
        &["--help"],
        &["--version"],
        &["translate", "--help"],
    ] {
        for redirection in [">&-", "1</dev/null", ">&- <&-"] {
            let refused = redirected(&dir, arguments, redirection);
            refused.refused_with(1, &["standard output: cannot write", "closed, or not open for writing"]);
        }
        // Nothing can be told, but the exit code.
        assert_eq!(redirected(&dir, arguments, ">&- 2>&-").code, Some(1), "{arguments:?}");
    }
    assert!(!dir.path("out").exists());
    let quiet = ["translate", "--model", model, "--output", "out.txt", "the fox"];
    redirected(&dir, &quiet, ">&- 2>&- <&-").worked();
    assert_eq!(dir.text("out.txt").lines().count(), 1);
    let open = redirected(&dir, &["translate", "--model", model, "the fox"], "2>&- <&-");
    assert_eq!(open.worked(), dir.text("out.txt"));
    assert_eq!(redirected(&dir, &["translate", "--beam", "0", "--model", model, "the fox"], "2>&-").code, Some(2));
}

#[cfg(unix)]
#[test]
fn closed_standard_input_is_an_error_where_it_is_read() {
    let dir = TestDir::with_pairs();
    let model = model_path();
    for arguments in [
        &["translate", "--model", model][..],
        &["translate", "--model", model, "--input", "-"],
        &["align", "--model", model],
        &["score", "--model", model],
        &["clean", "-"],
        &["train", "-", "--out", "out"],
    ] {
        for redirection in ["<&-", "0>/dev/null"] {
            let refused = redirected(&dir, arguments, redirection);
            assert_eq!(refused.code, Some(1), "{arguments:?} {redirection} {refused:?}");
            assert!(refused.stderr.contains("closed, or not open for reading"), "{arguments:?} {refused:?}");
        }
    }
    assert_eq!(redirected(&dir, &["translate", "--model", model], "</dev/null").worked(), "");
}
