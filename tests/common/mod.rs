//! The program as users run it: a fresh directory, a command line and its outcome.
#![allow(dead_code, reason = "each test program uses only some of these")]

pub mod tensors;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use serde_json::Value;
use tempfile::TempDir;

/// The program's commands.
pub const COMMANDS: [&str; 13] = [
    "train",
    "translate",
    "align",
    "evaluate",
    "score",
    "clean",
    "symmetrize",
    "average",
    "inspect",
    "serve",
    "export",
    "completions",
    "man",
];

/// Artificial parallel sentences, translated word for word except for the article.
pub const PAIRS: [(&str, &str); 12] = [
    ("the red fox sleeps", "rufo mi dorma ."),
    ("the red owl sleeps", "rufo ku dorma ."),
    ("the grey fox sleeps", "grisa mi dorma ."),
    ("the grey owl sleeps", "grisa ku dorma ."),
    ("the red fox sings", "rufo mi kanta ."),
    ("the red owl sings", "rufo ku kanta ."),
    ("the grey fox sings", "grisa mi kanta ."),
    ("the grey owl sings", "grisa ku kanta ."),
    ("the old fox runs", "vela mi kura ."),
    ("the old owl runs", "vela ku kura ."),
    ("the old fox sings", "vela mi kanta ."),
    ("the red owl runs", "rufo ku kura ."),
];

/// Options of a model that learns [`PAIRS`] within seconds.
pub const QUICK: [&str; 19] = [
    "--tokenization",
    "word",
    "--preset",
    "tiny",
    "--embedding-size",
    "32",
    "--hidden-size",
    "32",
    "--attention-size",
    "32",
    "--dropout",
    "0",
    "--learning-rate",
    "0.01",
    "--warmup-steps",
    "1",
    "--batch-sentences",
    "1",
    "--quiet",
];

/// Formats pairs as TSV.
pub fn tsv(pairs: &[(&str, &str)]) -> String {
    pairs.iter().map(|(source, target)| format!("{source}\t{target}\n")).collect()
}

/// Parses one JSON value.
#[track_caller]
pub fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Words of Rust, of its library and of clap, which say nothing to users.
pub const INTERNAL: [&str; 16] = [
    "panicked",
    "backtrace",
    "::",
    "Some(",
    "Err(",
    "os error",
    "Os {",
    "\\u{",
    "float literal",
    "invalid digit",
    "empty string",
    "too large to fit",
    "number too",
    "..=",
    "address syntax",
    "0e0",
];

/// Exit code and output of a command.
#[derive(Debug)]
pub struct Outcome {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Outcome {
    /// Asserts success and returns standard output.
    #[track_caller]
    pub fn worked(&self) -> &str {
        assert_eq!(self.code, Some(0), "{self:?}");
        &self.stdout
    }

    /// Asserts success and parses standard output as one JSON value.
    #[track_caller]
    pub fn json(&self) -> Value {
        json(self.worked())
    }

    /// Asserts failure with this code, empty standard output and a one-line error readable by users. Returns the line.
    #[track_caller]
    pub fn refused(&self, code: i32) -> &str {
        assert_eq!(self.code, Some(code), "{self:?}");
        assert_eq!(self.stdout, "", "a failed command prints no result");
        let message = self.stderr.strip_suffix('\n').unwrap_or(&self.stderr);
        assert!(message.starts_with("error: ") && !message.contains('\n'), "not one line of error: {message}");
        for internal in INTERNAL {
            assert!(!message.contains(internal), "internal term {internal:?}: {message}");
        }
        assert!(message.len() < 300, "too long for one line: {message}");
        message
    }

    /// Asserts failure as [`Self::refused`] does, with an error line that contains every part.
    #[track_caller]
    pub fn refused_with(&self, code: i32, parts: &[&str]) {
        let message = self.refused(code);
        for part in parts {
            assert!(message.contains(part), "{part:?} is missing: {message}");
        }
    }
}

/// A fresh working directory for commands.
pub struct TestDir {
    path: PathBuf,
    /// Removes a temporary directory when dropped.
    _temporary: Option<TempDir>,
}

impl TestDir {
    pub fn new() -> Self {
        let temporary = tempfile::tempdir().unwrap();
        Self { path: temporary.path().to_owned(), _temporary: Some(temporary) }
    }

    /// Creates an empty directory shared by all tests of a program; it stays in the build directory until the next run.
    pub fn lasting(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{name}", env!("CARGO_CRATE_NAME")));
        if path.exists() {
            std::fs::remove_dir_all(&path).unwrap();
        }
        std::fs::create_dir_all(&path).unwrap();
        Self { path, _temporary: None }
    }

    /// Creates a directory with [`PAIRS`] as pairs.tsv.
    pub fn with_pairs() -> Self {
        let dir = Self::new();
        dir.write("pairs.tsv", tsv(&PAIRS));
        dir
    }

    /// Creates a directory with pairs.tsv and a copy of the trained model as `model`.
    pub fn with_model() -> Self {
        let dir = Self::with_pairs();
        std::fs::create_dir(dir.path("model")).unwrap();
        for (name, bytes) in contents(model()) {
            dir.write(&format!("model/{name}"), bytes);
        }
        dir
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).unwrap()
    }

    /// Bytes of all files in the tree by path; directories have a trailing slash.
    pub fn contents(&self) -> BTreeMap<String, Vec<u8>> {
        contents(&self.path)
    }

    /// A command with this working directory, no terminal, one thread and empty standard input.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_softalign"));
        command.args(["--threads", "1"]).args(arguments).current_dir(&self.path);
        // A user's shell may enable backtraces; none must be printed.
        command.env("COLUMNS", "100").env("RUST_BACKTRACE", "1").env_remove("NO_COLOR").env_remove("SOFTALIGN_MODEL");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Outcome {
        outcome(self.command(arguments))
    }

    /// Runs with text on standard input.
    pub fn run_with_input(&self, arguments: &[&str], input: impl AsRef<[u8]>) -> Outcome {
        let mut command = self.command(arguments);
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.as_ref().to_vec();
        // A command may fail before it reads all input.
        let writer = std::thread::spawn(move || stdin.write_all(&input).is_ok());
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        Outcome::from(output)
    }

    /// Trains on pairs.tsv with [`QUICK`] and more options, writing to `out`.
    pub fn train(&self, out: &str, options: &[&str]) -> Outcome {
        let arguments = ["train", "--train", "pairs.tsv", "--out", out];
        self.run(&[&arguments, &QUICK[..], options].concat())
    }
}

impl From<std::process::Output> for Outcome {
    fn from(output: std::process::Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
        Self { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

/// Runs a command until it exits.
pub fn outcome(mut command: Command) -> Outcome {
    Outcome::from(command.output().unwrap())
}

fn contents(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if entry.file_type().unwrap().is_dir() {
            let below = contents(&entry.path()).into_iter().map(|(path, bytes)| (format!("{name}/{path}"), bytes));
            found.extend(below);
            found.insert(format!("{name}/"), Vec::new());
        } else {
            found.insert(name, std::fs::read(entry.path()).unwrap());
        }
    }
    found
}

/// Directory of a model that has learned [`PAIRS`], trained once per test program.
pub fn model() -> &'static Path {
    static MODEL: LazyLock<PathBuf> = LazyLock::new(|| {
        let dir = TestDir::lasting("model");
        dir.write("pairs.tsv", tsv(&PAIRS));
        dir.train("model", &["--max-epochs", "10", "--patience", "100"]).worked();
        dir.path("model")
    });
    &MODEL
}

/// The trained model's path as a command-line argument.
pub fn model_path() -> &'static str {
    model().to_str().unwrap()
}
