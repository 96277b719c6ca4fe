//! Every file of a folder belongs to one run: what is there is not touched, what a run left is no dead end, and two do not
//! share one.

mod common;

use common::{ModelDir, QUICK};

#[test]
fn training_does_not_touch_a_folder_that_holds_a_model() {
    let folder = ModelDir::with_model();
    let before = folder.contents();
    folder.train("model", &[]).refused_with(1, &["model", "holds a model", "--resume"]);
    assert!(folder.contents() == before);
}

#[test]
fn training_keeps_out_of_a_folder_with_a_foreign_config() {
    let folder = ModelDir::with_pairs();
    std::fs::create_dir(folder.path("out")).unwrap();
    for foreign in [&b"{\"of\": \"another program\"}"[..], b"\xff\xfe{", b"{\"format_version\": 999}"] {
        folder.write("out/config.json", foreign);
        folder.train("out", &["--max-epochs", "1"]).refused_with(1, &["out: holds files of another program", "--out"]);
        assert_eq!(folder.read("out/config.json"), foreign);
    }
}

#[test]
fn files_of_others_with_names_of_ours_stay() {
    let folder = ModelDir::with_pairs();
    std::fs::create_dir(folder.path("out")).unwrap();
    for name in ["tokenizer.json", "log.jsonl", "training.svg"] {
        folder.write(&format!("out/{name}"), "another program's");
        let before = folder.contents();
        folder.train("out", &["--max-epochs", "1"]).refused_with(1, &["out: holds files of another program"]);
        assert!(folder.contents() == before, "{name}");
    }
}

#[test]
fn a_run_that_ended_before_its_first_checkpoint_can_be_begun_again() {
    let folder = ModelDir::with_model();
    for name in ["model.safetensors", "resume.safetensors", "resume.json", "log.jsonl"] {
        std::fs::remove_file(folder.path("model").join(name)).unwrap();
    }
    let resume = ["train", "--out", "model", "--resume", "--quiet", "--max-epochs", "1"];
    folder.run(&resume).refused_with(1, &["model", "resume.safetensors"]);
    folder.train("model", &["--max-epochs", "1"]).worked();
    folder.run(&["translate", "--model", "model", "the red fox"]).worked();
}

#[test]
fn a_model_whose_training_cannot_go_on_is_no_dead_end() {
    let folder = ModelDir::with_model();
    for name in ["resume.safetensors", "resume.json"] {
        std::fs::remove_file(folder.path("model").join(name)).unwrap();
    }
    let before = folder.contents();
    let trained = folder.train("model", &[]);
    trained.refused_with(1, &["model: holds a model", "resume.safetensors is missing", "another directory", "--out"]);
    assert!(!trained.stderr.contains("--resume"), "{}", trained.stderr);
    let resumed = folder.run(&["train", "--out", "model", "--resume", "--quiet"]);
    resumed.refused_with(1, &["model: no resumable training state", "resume.safetensors", "another model with --out"]);
    assert!(!resumed.stderr.contains("without --resume"), "{}", resumed.stderr);
    assert!(folder.contents() == before);
}

#[test]
fn a_best_model_that_was_not_written_any_more_is_written_by_the_resumed_run() {
    let folder = ModelDir::with_pairs();
    let train = |out: &str, epochs| folder.train(out, &["--schedule", "plateau", "--max-epochs", epochs]);
    train("whole", "3").worked();
    train("parts", "1").worked();
    std::fs::remove_file(folder.path("parts/model.safetensors")).unwrap();
    folder.train("parts", &[]).refused_with(1, &["parts", "--resume"]);
    folder.run(&["train", "--out", "parts", "--resume", "--quiet", "--max-epochs", "1"]).worked();
    folder.run(&["translate", "--model", "parts", "the red fox"]).worked();
    folder.run(&["train", "--out", "parts", "--resume", "--quiet", "--max-epochs", "3"]).worked();
    assert!(folder.read("parts/model.safetensors") == folder.read("whole/model.safetensors"));
}

/// A command line under the shell's limit of a file's size, so that a larger one cannot be written to its end.
#[cfg(target_os = "linux")]
fn with_files_up_to(folder: &ModelDir, bytes: usize, arguments: &[&str]) -> common::Outcome {
    let mut limited = std::process::Command::new("sh");
    let script = format!("trap '' XFSZ; ulimit -f {}; exec \"$@\"", bytes / 512);
    limited.args(["-c", &script, "sh", env!("CARGO_BIN_EXE_softalign"), "--threads", "1"]).args(arguments);
    limited.current_dir(folder.path(""));
    common::outcome(limited)
}

#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_fills_up_at_the_first_checkpoint_is_no_dead_end() {
    let folder = ModelDir::with_pairs();
    folder.train("room", &["--max-epochs", "1"]).worked();
    // Room for the model, and not for what training goes on from.
    let [model, resume] = ["model", "resume"].map(|name| folder.read(&format!("room/{name}.safetensors")).len());
    assert!(resume > 2 * model);
    let train = ["train", "--train", "pairs.tsv", "--out", "out", "--max-epochs", "1"];
    let train = [&train[..], &QUICK].concat();
    with_files_up_to(&folder, 2 * model, &train).refused_with(1, &["out/resume.safetensors", "cannot write"]);
    assert!(!folder.contents().keys().any(|name| name.contains(".tmp")), "{:?}", folder.contents().keys());
    folder.run(&train).worked();
    assert!(folder.read("out/model.safetensors") == folder.read("room/model.safetensors"));
}

#[test]
fn what_a_run_without_a_checkpoint_left_is_not_taken_for_the_next_ones() {
    let folder = ModelDir::with_pairs();
    let characters =
        ["train", "--train", "pairs.tsv", "--max-epochs", "1", "--quiet", "--preset", "tiny", "--units", "char"];
    folder.run(&[&characters[..], &["--out", "fresh"]].concat()).worked();
    // A run with words and a joint vocabulary was killed before its first checkpoint, another one while it wrote.
    folder.train("out", &["--max-epochs", "1", "--joint-vocabulary"]).worked();
    for name in ["model.safetensors", "resume.safetensors"] {
        std::fs::remove_file(folder.path("out").join(name)).unwrap();
    }
    for name in [".model.safetensors.4194305.tmp", ".log.jsonl.17.tmp", ".notes.txt.17.tmp", "notes.txt"] {
        folder.write(&format!("out/{name}"), "half");
    }
    std::fs::create_dir(folder.path("out/.previous-2.17.tmp")).unwrap();
    folder.write("out/.previous-2.17.tmp/model.safetensors", "half");
    folder.run(&[&characters[..], &["--out", "out"]].concat()).worked();
    let names = |out: &str| -> Vec<String> {
        let all = folder.contents().into_keys();
        all.filter_map(|name| name.strip_prefix(&format!("{out}/")).map(str::to_owned)).collect()
    };
    let left: Vec<String> = names("out").into_iter().filter(|name| !names("fresh").contains(name)).collect();
    assert_eq!(left, [".notes.txt.17.tmp", "notes.txt"], "not of this run, and not ours to remove");
    assert_eq!(folder.text("out/log.jsonl").lines().count(), folder.text("fresh/log.jsonl").lines().count());
}

#[test]
fn a_model_is_moved_aside_whole() {
    let folder = ModelDir::with_model();
    std::fs::rename(folder.path("model"), folder.path("checkpoints")).unwrap();
    let model = |below: &str| -> Vec<(String, Vec<u8>)> {
        let all = folder.contents().into_iter();
        let of = all.filter_map(|(name, bytes)| Some((name.strip_prefix(below)?.to_owned(), bytes)));
        of.filter(|(name, _)| !name.is_empty() && !name.contains('/')).collect()
    };
    let first = model("checkpoints/");
    // A process that was killed while it moved left this.
    std::fs::create_dir(folder.path("checkpoints/.previous.4194305.tmp")).unwrap();
    folder.write("checkpoints/.previous.4194305.tmp/model.safetensors", &first[0].1);
    let arguments = ["train", "--train", "pairs.tsv", "--max-epochs", "1"];
    let train = || folder.run(&[&arguments[..], &QUICK].concat());
    train().worked();
    assert!(model("checkpoints/previous/") == first);
    let second = model("checkpoints/");
    train().worked();
    assert!(model("checkpoints/previous/") == first && model("checkpoints/previous-2/") == second);
    assert!(!folder.contents().keys().any(|name| name.contains(".tmp")), "{:?}", folder.contents().keys());
}

/// A training that goes on until it is killed, with its folder taken.
struct Busy(std::process::Child);

impl Busy {
    fn training(folder: &ModelDir, out: &str) -> Self {
        let arguments = ["train", "--train", "pairs.tsv", "--max-epochs", "1000000", "--patience", "1000000"];
        let child = folder.command(&[&arguments[..], &QUICK, &["--out", out]].concat()).spawn().unwrap();
        let busy = Self(child);
        let taken =
            || std::fs::read_to_string(folder.path(out).join("training.lock")).is_ok_and(|text| !text.is_empty());
        for _ in 0..600 {
            if taken() && folder.path(out).join("model.safetensors").exists() {
                return busy;
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        panic!("the training does not begin");
    }

    /// Waits for the end that must come, and returns the exit code with all of standard error.
    #[cfg(unix)]
    fn end(&mut self) -> (Option<i32>, String) {
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

impl Drop for Busy {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn two_trainings_do_not_share_a_folder() {
    let folder = ModelDir::with_pairs();
    let mut busy = Busy::training(&folder, "checkpoints");
    let process = format!("process {} on ", busy.0.id());
    let parts = ["checkpoints: ", &process, "--out"];
    let train = [&["train", "--train", "pairs.tsv", "--max-epochs", "1"][..], &QUICK].concat();
    // Without --out the first one's files would be moved away.
    folder.run(&train).refused_with(1, &parts);
    folder.run(&[&train[..], &["--out", "checkpoints"]].concat()).refused_with(1, &parts);
    let resume = ["train", "--resume", "--out", "checkpoints", "--quiet", "--max-epochs", "1"];
    folder.run(&resume).refused_with(1, &parts);
    folder.run(&["translate", "the red fox"]).worked();
    assert!(!folder.path("checkpoints/previous").exists());
    busy.kill();
    assert!(folder.path("checkpoints/training.lock").exists(), "a killed process cannot clear up");
    folder.run(&resume).worked();
    assert!(!folder.path("checkpoints/training.lock").exists());
}

#[cfg(unix)]
#[test]
fn stops_when_its_directory_is_moved_or_another_training_takes_the_path() {
    let folder = ModelDir::with_pairs();
    let mut first = Busy::training(&folder, "m");
    std::fs::rename(folder.path("m"), folder.path("moved")).unwrap();
    folder.train("m", &["--max-epochs", "2", "--seed", "7"]).worked();
    folder.train("alone", &["--max-epochs", "2", "--seed", "7"]).worked();
    let (code, stderr) = first.end();
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.contains("error: m: this directory") && stderr.contains("moved, removed or replaced"), "{stderr}");
    for name in ["model.safetensors", "target.tokenizer.json"] {
        assert!(folder.read(&format!("m/{name}")) == folder.read(&format!("alone/{name}")), "{name}");
    }
    assert_eq!(folder.text("m/log.jsonl").lines().count(), folder.text("alone/log.jsonl").lines().count());
    folder.run(&["translate", "--model", "moved", "the red fox"]).worked();
}

#[cfg(unix)]
#[test]
fn stops_when_its_directory_is_removed() {
    let folder = ModelDir::with_pairs();
    let mut training = Busy::training(&folder, "m");
    std::fs::remove_file(folder.path("m/training.lock")).unwrap();
    let (code, stderr) = training.end();
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.contains("error: m: "), "{stderr}");
}

#[cfg(unix)]
#[test]
fn writes_through_no_symbolic_link_of_a_directory() {
    use std::os::unix::fs::symlink;
    let folder = ModelDir::with_model();
    std::fs::create_dir_all(folder.path("outside/.step-3.1.tmp")).unwrap();
    folder.write("file", "outside");
    let resume = ["train", "--out", "model", "--resume", "--quiet", "--max-epochs", "11"];
    let log = folder.read("model/log.jsonl");
    for (name, target) in [("training.lock", "../file"), ("kept", "../outside")] {
        std::fs::create_dir_all(folder.path("new")).unwrap();
        for out in ["model", "new"] {
            symlink(target, folder.path(out).join(name)).unwrap();
        }
        folder.run(&resume).refused_with(1, &["model", name, "is a symbolic link"]);
        folder.train("new", &["--max-epochs", "1", "--keep-best", "1"]).refused_with(1, &["new"]);
        for out in ["model", "new"] {
            std::fs::remove_file(folder.path(out).join(name)).unwrap();
        }
        assert_eq!(folder.text("file"), "outside");
        assert!(folder.path("outside/.step-3.1.tmp").exists(), "{name}");
    }
    // The log is rewritten beside the link before the first line is added, and takes its place.
    folder.write("file", &log);
    std::fs::remove_file(folder.path("model/log.jsonl")).unwrap();
    symlink("../file", folder.path("model/log.jsonl")).unwrap();
    folder.run(&resume).worked();
    assert!(folder.read("file") == log && folder.text("model/log.jsonl").len() > log.len());
}

#[test]
fn keeps_another_programs_model_in_checkpoints_whole() {
    let folder = ModelDir::with_pairs();
    std::fs::create_dir(folder.path("checkpoints")).unwrap();
    for name in ["config.json", "tokenizer.json", "model.safetensors", "generation_config.json"] {
        folder.write(&format!("checkpoints/{name}"), "{\"architectures\": [\"MarianMTModel\"]}");
    }
    let before = folder.contents();
    for options in [&[][..], &["--out", "checkpoints"]] {
        let train = [&["train", "--train", "pairs.tsv", "--max-epochs", "1"][..], &QUICK, options].concat();
        folder.run(&train).refused_with(1, &["checkpoints: holds files of another program", "--out"]);
        assert!(folder.contents() == before);
    }
}
