//! Ownership of a model directory: existing models and foreign files stay untouched, leftovers of interrupted runs do not
//! block new ones, and two trainings cannot share a directory.

use crate::common::{self, PAIRS, QUICK, TestDir, json, tsv};
use serde_json::Value;

/// File, path, current name and former name of renamed keys.
const RENAMED: [(&str, &[&str], &str, &str); 9] = [
    ("config.json", &["text"], "normalization", "normalisation"),
    ("config.json", &["text"], "source_protected_tokens", "source_atoms"),
    ("config.json", &["text"], "target_protected_tokens", "target_atoms"),
    ("config.json", &["training"], "concat_pairs", "joined"),
    ("config.json", &["data"], "sources", "mixture"),
    ("config.json", &["training"], "guided_alignment", "guidance"),
    ("config.json", &["training"], "ema_decay", "average"),
    ("resume.json", &[], "validations_since_best", "evals_since_best"),
    ("resume.json", &[], "best_scheduled_score", "best_due_score"),
];

#[test]
fn loads_and_resumes_directories_with_earlier_keys() {
    let dir = TestDir::with_pairs();
    dir.write("tagged.tsv", tsv(&PAIRS).replace("rufo", "<x> rufo"));
    let train = ["train", "--train", "pairs.tsv", "tagged.tsv:2", "--tag-source", "<a>", "<b>"];
    let options = ["--protected-tokens", "<x>", "--concat-pairs", "0.5", "--max-epochs", "2"];
    for out in ["now", "earlier"] {
        dir.run(&[&train[..], &QUICK[..], &options[..], &["--out", out]].concat()).worked();
    }
    for (file, path, now, earlier) in RENAMED {
        let name = format!("earlier/{file}");
        let mut value = json(&dir.text(&name));
        let object = path.iter().fold(&mut value, |value, key| &mut value[key]).as_object_mut().unwrap();
        let renamed = object.remove(now).unwrap_or_else(|| panic!("{file} lacks {now}"));
        object.insert(earlier.to_owned(), renamed);
        dir.write(&name, Value::to_string(&value));
    }
    let run = |model: &str| {
        dir.run(&["translate", "--model", model, "<a> the red fox"]).worked();
        dir.run(&["train", "--out", model, "--resume", "--max-epochs", "4", "--quiet"]).worked();
        dir.read(&format!("{model}/model.safetensors"))
    };
    assert!(run("now") == run("earlier"));
}

#[test]
fn training_refuses_a_directory_that_holds_a_model() {
    let dir = TestDir::with_model();
    let before = dir.contents();
    dir.train("model", &[]).refused_with(1, &["model", "holds a model", "--resume"]);
    assert!(dir.contents() == before);
}

#[test]
fn training_refuses_a_directory_with_a_foreign_config() {
    let dir = TestDir::with_pairs();
    std::fs::create_dir(dir.path("out")).unwrap();
    for foreign in [&b"{\"of\": \"another program\"}"[..], b"\xff\xfe{", b"{\"format_version\": 999}"] {
        dir.write("out/config.json", foreign);
        dir.train("out", &["--max-epochs", "1"]).refused_with(1, &["out: holds files of another program", "--out"]);
        assert_eq!(dir.read("out/config.json"), foreign);
    }
}

#[test]
fn keeps_foreign_files_with_our_names() {
    let dir = TestDir::with_pairs();
    std::fs::create_dir(dir.path("out")).unwrap();
    for name in ["tokenizer.json", "log.jsonl", "training.svg"] {
        dir.write(&format!("out/{name}"), "another program's");
        let before = dir.contents();
        dir.train("out", &["--max-epochs", "1"]).refused_with(1, &["out: holds files of another program"]);
        assert!(dir.contents() == before, "{name}");
    }
}

#[test]
fn run_without_a_checkpoint_can_be_restarted() {
    let dir = TestDir::with_model();
    for name in ["model.safetensors", "resume.safetensors", "resume.json", "log.jsonl"] {
        std::fs::remove_file(dir.path("model").join(name)).unwrap();
    }
    let resume = ["train", "--out", "model", "--resume", "--quiet", "--max-epochs", "1"];
    dir.run(&resume).refused_with(1, &["model", "resume.safetensors"]);
    dir.train("model", &["--max-epochs", "1"]).worked();
    dir.run(&["translate", "--model", "model", "the red fox"]).worked();
}

#[test]
fn model_without_resumable_state_can_be_retrained() {
    let dir = TestDir::with_model();
    for name in ["resume.safetensors", "resume.json"] {
        std::fs::remove_file(dir.path("model").join(name)).unwrap();
    }
    let before = dir.contents();
    let trained = dir.train("model", &[]);
    trained.refused_with(1, &["model: holds a model", "resume.safetensors is missing", "another directory", "--out"]);
    assert!(!trained.stderr.contains("--resume"), "{}", trained.stderr);
    let resumed = dir.run(&["train", "--out", "model", "--resume", "--quiet"]);
    resumed.refused_with(1, &["model: no resumable training state", "resume.safetensors", "another model with --out"]);
    assert!(!resumed.stderr.contains("without --resume"), "{}", resumed.stderr);
    assert!(dir.contents() == before);
}

#[test]
fn resumed_run_writes_a_missing_best_model() {
    let dir = TestDir::with_pairs();
    let train = |out: &str, epochs| dir.train(out, &["--schedule", "plateau", "--max-epochs", epochs]);
    train("whole", "3").worked();
    train("parts", "1").worked();
    std::fs::remove_file(dir.path("parts/model.safetensors")).unwrap();
    dir.train("parts", &[]).refused_with(1, &["parts", "--resume"]);
    dir.run(&["train", "--out", "parts", "--resume", "--quiet", "--max-epochs", "1"]).worked();
    dir.run(&["translate", "--model", "parts", "the red fox"]).worked();
    dir.run(&["train", "--out", "parts", "--resume", "--quiet", "--max-epochs", "3"]).worked();
    assert!(dir.read("parts/model.safetensors") == dir.read("whole/model.safetensors"));
}

/// Runs the program with a limit on the size of files it writes.
#[cfg(target_os = "linux")]
fn run_with_file_size_limit(dir: &TestDir, bytes: usize, arguments: &[&str]) -> common::Outcome {
    let mut limited = std::process::Command::new("sh");
    let script = format!("trap '' XFSZ; ulimit -f {}; exec \"$@\"", bytes / 512);
    limited.args(["-c", &script, "sh", env!("CARGO_BIN_EXE_softalign"), "--threads", "1"]).args(arguments);
    limited.current_dir(dir.path(""));
    common::outcome(limited)
}

#[cfg(target_os = "linux")]
#[test]
fn recovers_from_a_full_disk_at_the_first_checkpoint() {
    let dir = TestDir::with_pairs();
    dir.train("complete", &["--max-epochs", "1"]).worked();
    // The limit admits the model but not the resumable state.
    let [model, resume] = ["model", "resume"].map(|name| dir.read(&format!("complete/{name}.safetensors")).len());
    assert!(resume > 2 * model);
    let train = ["train", "--train", "pairs.tsv", "--out", "out", "--max-epochs", "1"];
    let train = [&train[..], &QUICK].concat();
    run_with_file_size_limit(&dir, 2 * model, &train).refused_with(1, &["out/resume.safetensors", "cannot write"]);
    assert!(!dir.contents().keys().any(|name| name.contains(".tmp")), "{:?}", dir.contents().keys());
    dir.run(&train).worked();
    assert!(dir.read("out/model.safetensors") == dir.read("complete/model.safetensors"));
}

#[test]
fn next_run_replaces_leftovers_of_a_failed_run() {
    let dir = TestDir::with_pairs();
    let characters =
        ["train", "--train", "pairs.tsv", "--max-epochs", "1", "--quiet", "--preset", "tiny", "--tokenization", "char"];
    dir.run(&[&characters[..], &["--out", "fresh"]].concat()).worked();
    // Leftovers of a run killed before its first checkpoint, and of one killed while writing.
    dir.train("out", &["--max-epochs", "1", "--joint-vocabulary"]).worked();
    for name in ["model.safetensors", "resume.safetensors"] {
        std::fs::remove_file(dir.path("out").join(name)).unwrap();
    }
    for name in [".model.safetensors.4194305.tmp", ".log.jsonl.17.tmp", ".notes.txt.17.tmp", "notes.txt"] {
        dir.write(&format!("out/{name}"), "half");
    }
    std::fs::create_dir(dir.path("out/.previous-2.17.tmp")).unwrap();
    dir.write("out/.previous-2.17.tmp/model.safetensors", "half");
    dir.run(&[&characters[..], &["--out", "out"]].concat()).worked();
    let names = |out: &str| -> Vec<String> {
        let all = dir.contents().into_keys();
        all.filter_map(|name| name.strip_prefix(&format!("{out}/")).map(str::to_owned)).collect()
    };
    let left: Vec<String> = names("out").into_iter().filter(|name| !names("fresh").contains(name)).collect();
    assert_eq!(left, [".notes.txt.17.tmp", "notes.txt"], "foreign files stay");
    assert_eq!(dir.text("out/log.jsonl").lines().count(), dir.text("fresh/log.jsonl").lines().count());
}

#[test]
fn archives_a_model_as_a_whole() {
    let dir = TestDir::with_model();
    std::fs::rename(dir.path("model"), dir.path("checkpoints")).unwrap();
    let model = |below: &str| -> Vec<(String, Vec<u8>)> {
        let all = dir.contents().into_iter();
        let files = all.filter_map(|(name, bytes)| Some((name.strip_prefix(below)?.to_owned(), bytes)));
        files.filter(|(name, _)| !name.is_empty() && !name.contains('/')).collect()
    };
    let first = model("checkpoints/");
    // Leftover of a process killed while archiving.
    std::fs::create_dir(dir.path("checkpoints/.previous.4194305.tmp")).unwrap();
    dir.write("checkpoints/.previous.4194305.tmp/model.safetensors", &first[0].1);
    let arguments = ["train", "--train", "pairs.tsv", "--max-epochs", "1"];
    let train = || dir.run(&[&arguments[..], &QUICK].concat());
    train().worked();
    assert!(model("checkpoints/previous/") == first);
    let second = model("checkpoints/");
    train().worked();
    assert!(model("checkpoints/previous/") == first && model("checkpoints/previous-2/") == second);
    assert!(!dir.contents().keys().any(|name| name.contains(".tmp")), "{:?}", dir.contents().keys());
}

/// A training that runs until it is killed and holds the lock of its directory.
struct RunningTraining(std::process::Child);

impl RunningTraining {
    fn start(dir: &TestDir, out: &str) -> Self {
        let arguments = ["train", "--train", "pairs.tsv", "--max-epochs", "1000000", "--patience", "1000000"];
        let child = dir.command(&[&arguments[..], &QUICK, &["--out", out]].concat()).spawn().unwrap();
        let training = Self(child);
        let locked = || std::fs::read_to_string(dir.path(out).join("training.lock")).is_ok_and(|text| !text.is_empty());
        for _ in 0..600 {
            if locked() && dir.path(out).join("model.safetensors").exists() {
                return training;
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        panic!("the training does not start");
    }

    /// Waits until the training ends; returns the exit code and standard error.
    #[cfg(unix)]
    fn wait(&mut self) -> (Option<i32>, String) {
        for _ in 0..600 {
            if let Some(status) = self.0.try_wait().unwrap() {
                let mut text = String::new();
                std::io::Read::read_to_string(self.0.stderr.as_mut().unwrap(), &mut text).unwrap();
                return (status.code(), text);
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        panic!("the training does not end");
    }

    fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for RunningTraining {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn refuses_two_trainings_in_one_directory() {
    let dir = TestDir::with_pairs();
    let mut running = RunningTraining::start(&dir, "checkpoints");
    let process = format!("process {} on ", running.0.id());
    let parts = ["checkpoints: ", &process, "--out"];
    let train = [&["train", "--train", "pairs.tsv", "--max-epochs", "1"][..], &QUICK].concat();
    // Without --out, training would archive the files of the first one.
    dir.run(&train).refused_with(1, &parts);
    dir.run(&[&train[..], &["--out", "checkpoints"]].concat()).refused_with(1, &parts);
    let resume = ["train", "--resume", "--out", "checkpoints", "--quiet", "--max-epochs", "1"];
    dir.run(&resume).refused_with(1, &parts);
    dir.run(&["translate", "the red fox"]).worked();
    assert!(!dir.path("checkpoints/previous").exists());
    running.kill();
    assert!(dir.path("checkpoints/training.lock").exists(), "a killed process leaves its lock");
    dir.run(&resume).worked();
    assert!(!dir.path("checkpoints/training.lock").exists());
}

#[cfg(unix)]
#[test]
fn stops_when_its_directory_is_moved_or_another_training_takes_the_path() {
    let dir = TestDir::with_pairs();
    let mut first = RunningTraining::start(&dir, "m");
    std::fs::rename(dir.path("m"), dir.path("moved")).unwrap();
    dir.train("m", &["--max-epochs", "2", "--seed", "7"]).worked();
    dir.train("alone", &["--max-epochs", "2", "--seed", "7"]).worked();
    let (code, stderr) = first.wait();
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.contains("error: m: this directory") && stderr.contains("moved, removed or replaced"), "{stderr}");
    for name in ["model.safetensors", "target.tokenizer.json"] {
        assert!(dir.read(&format!("m/{name}")) == dir.read(&format!("alone/{name}")), "{name}");
    }
    assert_eq!(dir.text("m/log.jsonl").lines().count(), dir.text("alone/log.jsonl").lines().count());
    dir.run(&["translate", "--model", "moved", "the red fox"]).worked();
}

#[cfg(unix)]
#[test]
fn stops_when_its_directory_is_removed() {
    let dir = TestDir::with_pairs();
    let mut training = RunningTraining::start(&dir, "m");
    std::fs::remove_file(dir.path("m/training.lock")).unwrap();
    let (code, stderr) = training.wait();
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.contains("error: m: "), "{stderr}");
}

#[cfg(unix)]
#[test]
fn does_not_write_through_symbolic_links_in_a_model_directory() {
    use std::os::unix::fs::symlink;
    let dir = TestDir::with_model();
    std::fs::create_dir_all(dir.path("outside/.step-3.1.tmp")).unwrap();
    dir.write("file", "outside");
    let resume = ["train", "--out", "model", "--resume", "--quiet", "--max-epochs", "11"];
    let log = dir.read("model/log.jsonl");
    for (name, target) in [("training.lock", "../file"), ("kept", "../outside")] {
        std::fs::create_dir_all(dir.path("new")).unwrap();
        for out in ["model", "new"] {
            symlink(target, dir.path(out).join(name)).unwrap();
        }
        dir.run(&resume).refused_with(1, &["model", name, "is a symbolic link"]);
        dir.train("new", &["--max-epochs", "1", "--keep-best", "1"]).refused_with(1, &["new"]);
        for out in ["model", "new"] {
            std::fs::remove_file(dir.path(out).join(name)).unwrap();
        }
        assert_eq!(dir.text("file"), "outside");
        assert!(dir.path("outside/.step-3.1.tmp").exists(), "{name}");
    }
    // The log is rewritten and replaces the link.
    dir.write("file", &log);
    std::fs::remove_file(dir.path("model/log.jsonl")).unwrap();
    symlink("../file", dir.path("model/log.jsonl")).unwrap();
    dir.run(&resume).worked();
    assert!(dir.read("file") == log && dir.text("model/log.jsonl").len() > log.len());
}

#[test]
fn does_not_archive_another_programs_model() {
    let dir = TestDir::with_pairs();
    std::fs::create_dir(dir.path("checkpoints")).unwrap();
    for name in ["config.json", "tokenizer.json", "model.safetensors", "generation_config.json"] {
        dir.write(&format!("checkpoints/{name}"), "{\"architectures\": [\"MarianMTModel\"]}");
    }
    let before = dir.contents();
    for options in [&[][..], &["--out", "checkpoints"]] {
        let train = [&["train", "--train", "pairs.tsv", "--max-epochs", "1"][..], &QUICK, options].concat();
        dir.run(&train).refused_with(1, &["checkpoints: holds files of another program", "--out"]);
        assert!(dir.contents() == before);
    }
}
