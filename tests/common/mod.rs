//! The program as a user meets it: a fresh folder, a command line, and what came of it.
#![allow(dead_code, reason = "each test program needs a part of this")]

pub mod tensors;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use serde_json::Value;
use tempfile::TempDir;

/// The program's commands.
pub const COMMANDS: [&str; 11] = [
    "train",
    "translate",
    "align",
    "evaluate",
    "score",
    "clean",
    "symmetrize",
    "average",
    "inspect",
    "completions",
    "man",
];

/// Two invented languages: sentences of four words, translated word for word but for the article.
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

/// A model that a few seconds suffice for, and that learns [`PAIRS`].
pub const QUICK: [&str; 19] = [
    "--units",
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

/// Pairs as a TSV file has them.
pub fn tsv(pairs: &[(&str, &str)]) -> String {
    pairs.iter().map(|(source, target)| format!("{source}\t{target}\n")).collect()
}

/// One value of JSON.
#[track_caller]
pub fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// What became of a command.
#[derive(Debug)]
pub struct Outcome {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Outcome {
    /// The command worked; gives its standard output.
    #[track_caller]
    pub fn worked(&self) -> &str {
        assert_eq!(self.code, Some(0), "{self:?}");
        &self.stdout
    }

    /// The command worked, and its standard output is one value of JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        json(self.worked())
    }

    /// The command failed with this code, wrote no result, and said why in one line that a user can read.
    #[track_caller]
    pub fn refused(&self, code: i32) -> &str {
        assert_eq!(self.code, Some(code), "{self:?}");
        assert_eq!(self.stdout, "", "a failed command has no result");
        let message = self.stderr.strip_suffix('\n').unwrap_or(&self.stderr);
        assert!(message.starts_with("error: ") && !message.contains('\n'), "not one line of error: {message}");
        for internal in ["panicked", "backtrace", "::", "Some(", "Err("] {
            assert!(!message.contains(internal), "{internal:?} is no word for users: {message}");
        }
        assert!(message.len() < 300, "too long for one line: {message}");
        message
    }

    /// The command failed with this code, wrote no result, and said why in one line that holds each of these.
    #[track_caller]
    pub fn refused_with(&self, code: i32, parts: &[&str]) {
        let message = self.refused(code);
        for part in parts {
            assert!(message.contains(part), "{part:?} is not said: {message}");
        }
    }
}

/// A fresh folder in which commands run.
pub struct TestDir {
    path: PathBuf,
    /// Removes the folder in the end, if it should not last.
    _temporary: Option<TempDir>,
}

impl TestDir {
    pub fn new() -> Self {
        let temporary = tempfile::tempdir().unwrap();
        Self { path: temporary.path().to_owned(), _temporary: Some(temporary) }
    }

    /// An empty one for all tests of a program, which stays in the build folder until the next run.
    pub fn lasting(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{name}", env!("CARGO_CRATE_NAME")));
        if path.exists() {
            std::fs::remove_dir_all(&path).unwrap();
        }
        std::fs::create_dir_all(&path).unwrap();
        Self { path, _temporary: None }
    }

    /// One that holds [`PAIRS`] as pairs.tsv.
    pub fn with_pairs() -> Self {
        let dir = Self::new();
        dir.write("pairs.tsv", tsv(&PAIRS));
        dir
    }

    /// One that holds a copy of the trained model as `model`.
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

    /// All files below, by path, with their bytes; folders by their path and a slash.
    pub fn contents(&self) -> BTreeMap<String, Vec<u8>> {
        contents(&self.path)
    }

    /// A command that will run here, with no terminal, one thread and nothing on standard input.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_softalign"));
        command.args(["--threads", "1"]).args(arguments).current_dir(&self.path);
        // Backtraces are switched on, since a user's shell may do so: none may show.
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
        // A command may fail before it has read everything.
        let writer = std::thread::spawn(move || stdin.write_all(&input).is_ok());
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        Outcome::from(output)
    }

    /// Runs [`QUICK`] training on pairs.tsv into `out`, with more options.
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

/// Runs a command to its end.
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

/// A model that knows [`PAIRS`], trained once for each test program.
pub fn model() -> &'static Path {
    static MODEL: LazyLock<PathBuf> = LazyLock::new(|| {
        let dir = TestDir::lasting("model");
        dir.write("pairs.tsv", tsv(&PAIRS));
        dir.train("model", &["--max-epochs", "10", "--patience", "100"]).worked();
        dir.path("model")
    });
    &MODEL
}

/// The trained model's path, for a command line.
pub fn model_path() -> &'static str {
    model().to_str().unwrap()
}
