//! Training with auxiliary models: back-translation of monolingual text, and teachers.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::{self, PAIRS, TestDir, json};
use softalign::reporter::Reporter;
use softalign::text::Pair;
use softalign::training::Observer;
use softalign::{ModelConfig, RunConfig, RunLimits, TrainConfig, Trainer};

/// Targets without sources. The second one is that of a pair, the third is blank, the last repeats the first.
const MONOLINGUAL: &str = "grisa mi kura .\nrufo mi dorma .\n\nvela ku dorma .\ngrisa mi kura .\n";

/// Files of a training with a reverse model and two teachers.
const FILES: [&str; 6] = [
    "model.safetensors",
    "auxiliary/reverse/model.safetensors",
    "auxiliary/back-translations.source",
    "auxiliary/back-translations.target",
    "auxiliary/teacher-2/model.safetensors",
    "auxiliary/teacher-2.target",
];

/// Observer that stops at the given query whether to stop, and at each later one.
struct StopAt(usize, AtomicUsize);

impl Reporter for StopAt {}

impl Observer for StopAt {
    fn should_stop(&self) -> bool {
        self.1.fetch_add(1, Ordering::Relaxed) >= self.0
    }
}

fn trainer() -> Trainer<'static> {
    let config = TrainConfig {
        model: ModelConfig { hidden_size: Some(8), ..ModelConfig::default() },
        run: RunConfig { teachers: Some(2), ..RunConfig::default() },
        limits: RunLimits { max_epochs: Some(2), ..RunLimits::default() },
    };
    let lines: Vec<String> = MONOLINGUAL.lines().map(str::to_owned).collect();
    Trainer::new(config).monolingual_target(&lines)
}

fn pairs() -> Vec<Pair> {
    PAIRS.iter().map(|(source, target)| Pair::new(*source, *target)).collect()
}

fn contents(model: &Path) -> Vec<Vec<u8>> {
    FILES.iter().map(|name| std::fs::read(model.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))).collect()
}

#[test]
fn interrupted_run_resumes_to_the_same_model() {
    let parent = tempfile::tempdir().unwrap();
    let whole = parent.path().join("whole");
    let count = StopAt(usize::MAX, AtomicUsize::default());
    trainer().observer(&count).fit(&pairs(), &whole).unwrap();
    let expected = contents(&whole);
    let queries = count.1.into_inner();
    for stop in (0..queries).step_by(queries.div_ceil(12)) {
        let out = parent.path().join(format!("stopped-{stop}"));
        let first = trainer().observer(&StopAt(stop, AtomicUsize::default())).fit(&pairs(), &out).map(drop);
        if out.join("auxiliary/plan.json").exists() {
            trainer().resume(&pairs(), &out).unwrap();
        } else {
            first.unwrap_err();
            trainer().fit(&pairs(), &out).unwrap();
        }
        assert!(contents(&out) == expected, "stopped at query {stop} of {queries}");
    }
}

#[test]
fn back_translates_new_sentences_and_teaches() {
    let parent = tempfile::tempdir().unwrap();
    let out = parent.path().join("out");
    trainer().fit(&pairs(), &out).unwrap();
    let text = |name: &str| std::fs::read_to_string(out.join(name)).unwrap();
    assert_eq!(text("auxiliary/back-translations.target"), "grisa mi kura .\nvela ku dorma .\n");
    assert_eq!(text("auxiliary/back-translations.source").lines().count(), 2);
    let sources: String = PAIRS.iter().map(|(source, _)| format!("{source}\n")).collect();
    assert_eq!(text("auxiliary/teacher-1.source"), sources);
    let data = &json(&text("config.json"))["data"];
    let tagged = json(r#"{"name": "back-translations", "weight": 1.0, "tag": "<bt>"}"#);
    assert_eq!(data["synthetic"][0], tagged);
    assert_eq!(data["synthetic"].as_array().unwrap().len(), 3);
    assert!(text("source.tokenizer.json").contains("<bt>"), "the tag is a token of the vocabulary");
    let [reverse, teacher] = ["reverse", "teacher-2"].map(|name| json(&text(&format!("auxiliary/{name}/config.json"))));
    assert_eq!((&reverse["training"]["seed"], &teacher["training"]["seed"]), (&1.into(), &4.into()));
}

/// The options of the program: the same training by a command, and what cannot be combined.
#[test]
fn command_trains_and_refuses_what_does_not_fit() {
    let dir = TestDir::with_pairs();
    dir.write("mono.txt", MONOLINGUAL);
    let train = ["train", "pairs.tsv", "--hidden-size", "8", "--max-epochs", "1", "--out", "out"];
    let with = |options: &[&str]| dir.run(&[&train[..], options].concat());
    dir.write("links", "0-0\n".repeat(PAIRS.len()));
    let mono = ["--monolingual-target", "mono.txt"];
    with(&[&mono[..], &["--guide", "links"]].concat()).refused_with(2, &["--guide cannot be used with --monolingual"]);
    with(&["--teachers", "1", "--guide", "links"]).refused_with(2, &["--guide cannot be used with --teachers"]);
    with(&[&mono[..], &["--tag-source", "<2x>"]].concat()).refused_with(2, &["--features or --tag-source"]);
    with(&["--teachers", "21"]).refused_with(2, &["--teachers must be between 0 and 20"]);
    with(&["--monolingual-target", "missing"]).refused_with(1, &["missing: "]);
    dir.write("old.txt", "rufo mi dorma .\n");
    with(&["--monolingual-target", "old.txt"]).refused_with(1, &["no sentence that is not also a target"]);
    dir.run(&["train", "pairs.tsv", "--teachers", "1"]).refused_with(2, &["--teachers needs a directory", "--out"]);
    let piped = |file: &str, options: &[&str]| {
        dir.run_with_input(&[&["train", file, "--out", "out"], options].concat(), common::tsv(&PAIRS))
    };
    piped("-", &["--teachers", "1"]).refused_with(2, &["--teachers needs regular files: standard input can be read"]);
    if cfg!(unix) {
        piped("/dev/stdin", &mono)
            .refused_with(2, &["--monolingual-target needs regular files: /dev/stdin can be read"]);
    }
    // Nothing of these runs is left.
    assert!(!dir.path("out").exists());
    let run = with(&[&mono[..], &["--teachers", "1"]].concat());
    run.worked();
    for line in
        ["auxiliary model 1 of 2: reverse", "left out 3 of 5", "teacher 1  epoch 1, ", "with the synthetic ones"]
    {
        assert!(run.stderr.contains(line), "{line}: {}", run.stderr);
    }
    with(&mono).refused_with(1, &["out: holds a model"]);
    let largest = ["--seed", "18446744073709551615", "--teachers", "1", "--quiet"];
    dir.run(&[&train[..6], &largest, &["--out", "largest"]].concat()).worked();
    std::fs::remove_file(dir.path("out/auxiliary/back-translations.source")).unwrap();
    let resume = ["train", "--resume", "--out", "out", "--max-epochs", "2"];
    dir.run(&resume).refused_with(1, &["the synthetic pairs of back-translations are missing", "out"]);
}

#[test]
fn resume_needs_the_same_sentences() {
    let dir = TestDir::with_pairs();
    dir.write("mono.txt", MONOLINGUAL);
    let train = ["train", "pairs.tsv", "--monolingual-target", "mono.txt", "--hidden-size", "8", "--max-epochs", "1"];
    dir.run(&[&train[..], &["--out", "out"]].concat()).worked();
    // As if the program had been killed before the last training.
    for name in ["model.safetensors", "resume.safetensors"] {
        std::fs::remove_file(dir.path(&format!("out/{name}"))).unwrap();
    }
    dir.run(&[&train[..], &["--out", "out"]].concat()).refused_with(1, &["holds an unfinished training; continue"]);
    dir.write("mono.txt", "another .\n");
    dir.run(&["train", "--resume", "--out", "out"]).refused_with(1, &["not the sentences that training in out began"]);
    dir.write("mono.txt", MONOLINGUAL);
    dir.run(&["train", "--resume", "--out", "out"]).worked();
    // A finished model is not replaced by a training from the start.
    std::fs::remove_file(dir.path("out/resume.safetensors")).unwrap();
    let before = dir.contents();
    let resumed = dir.run(&["train", "--resume", "--out", "out"]);
    resumed.refused_with(1, &["out: no resumable training state", "another model with --out"]);
    assert!(dir.contents() == before);
    std::fs::remove_file(dir.path("out/model.safetensors")).unwrap();
    dir.write("out/auxiliary/plan.json", "{");
    dir.run(&["train", "--resume", "--out", "out"]).refused_with(1, &["plan.json: damaged"]);
}

/// What auxiliary training left damaged is made again once it is removed, as the message says.
#[test]
fn damaged_auxiliary_files_are_made_again() {
    let dir = TestDir::with_pairs();
    dir.write("mono.txt", MONOLINGUAL);
    let train = ["train", "pairs.tsv", "--monolingual-target", "mono.txt", "--hidden-size", "8", "--max-epochs", "1"];
    let train = [&train[..], &["--teachers", "1", "--out", "out"]].concat();
    dir.run(&train).worked();
    let model = dir.read("out/model.safetensors");
    let resume = ["train", "--resume", "--out", "out", "--quiet"];
    for (damaged, removed) in [
        ("back-translations.source", &["back-translations.source", "back-translations.target"][..]),
        ("teacher-1.target", &["teacher-1.source", "teacher-1.target"]),
        ("reverse/resume.safetensors", &["reverse", "back-translations.source"]),
        ("reverse/config.json", &["reverse", "back-translations.source"]),
    ] {
        for name in ["model.safetensors", "resume.safetensors"] {
            std::fs::remove_file(dir.path(&format!("out/{name}"))).unwrap();
        }
        dir.write(&format!("out/auxiliary/{damaged}"), b"\xff");
        // The model is needed again only for its corpus.
        if damaged.contains('/') {
            std::fs::remove_file(dir.path(&format!("out/auxiliary/{}", removed[1]))).unwrap();
        }
        let refused = dir.run(&resume);
        refused.refused_with(1, &["out/auxiliary/", "damaged; remove", "--resume"]);
        assert!(!refused.stderr.contains("another model"), "{damaged}: {}", refused.stderr);
        for name in removed {
            let path = dir.path(&format!("out/auxiliary/{name}"));
            if path.is_dir() {
                std::fs::remove_dir_all(path).unwrap();
            } else if path.exists() {
                std::fs::remove_file(path).unwrap();
            }
        }
        dir.run(&resume).worked();
        assert!(dir.read("out/model.safetensors") == model, "{damaged}");
    }
    for name in ["model.safetensors", "resume.safetensors"] {
        std::fs::remove_file(dir.path(&format!("out/{name}"))).unwrap();
    }
    dir.write("out/auxiliary/plan.json", "{");
    dir.run(&resume).refused_with(1, &["plan.json: damaged", "remove this file and train without --resume"]);
    std::fs::remove_file(dir.path("out/auxiliary/plan.json")).unwrap();
    let reverse = dir.read("out/auxiliary/reverse/model.safetensors");
    dir.run(&[&train[..], &["--quiet"]].concat()).worked();
    assert!(dir.read("out/model.safetensors") == model);
    assert!(dir.read("out/auxiliary/reverse/model.safetensors") == reverse);
}

/// The plan knows the pairs whose attention is recorded, without their file.
#[test]
fn resumed_training_records_attention() {
    let dir = TestDir::with_pairs();
    dir.write("mine.tsv", "the owl sleeps\tku dorma\n");
    let train = ["train", "pairs.tsv", "--teachers", "1", "--attention-pairs", "mine.tsv", "--hidden-size", "8"];
    dir.run(&[&train[..], &["--max-epochs", "1", "--out", "out"]].concat()).worked();
    let attention = dir.text("out/attention.jsonl");
    for name in ["model.safetensors", "resume.safetensors", "attention.jsonl"] {
        std::fs::remove_file(dir.path(&format!("out/{name}"))).unwrap();
    }
    dir.write("mine.tsv", "");
    dir.run(&["train", "--resume", "--out", "out"]).worked();
    assert_eq!(dir.text("out/attention.jsonl"), attention);
}

/// Numbers of edited files cause errors, not a crash.
#[test]
fn resume_rejects_implausible_numbers() {
    let dir = TestDir::with_pairs();
    let train = ["train", "pairs.tsv:2", "--teachers", "1", "--hidden-size", "8", "--max-epochs", "1", "--out", "out"];
    dir.run(&train).worked();
    let refused = |file: &str, place: &str, number: &str, parts: &[&str]| {
        let whole = dir.text(file);
        let mut edited = json(&whole);
        *edited.pointer_mut(place).unwrap() = json(number);
        dir.write(file, edited.to_string());
        dir.run(&["train", "--resume", "--out", "out", "--max-epochs", "2", "--quiet"]).refused_with(1, parts);
        dir.write(file, whole);
    };
    let (weight, plan) = ("/data/sources/0/weight", "out/auxiliary/plan.json");
    refused("out/config.json", weight, "1e308", &["weight 1e308 of training pairs is out of range", "config.json"]);
    refused("out/config.json", "/data/synthetic/0/weight", "-1", &["weight -1e0 of training pairs is out of range"]);
    refused("out/config.json", weight, "3", &["config.json: edited since training began: sources is"]);
    for name in ["model.safetensors", "resume.safetensors"] {
        std::fs::remove_file(dir.path(&format!("out/{name}"))).unwrap();
    }
    refused(plan, weight, "18446744073709551615", &["plan.json: its weight 1.8446744073709552e19"]);
    for seconds in ["-1", "1e308"] {
        refused(plan, "/seconds", seconds, &["plan.json: its training time of", "out of range"]);
    }
}

/// A model directory may come from somebody else: nothing outside it is written.
#[cfg(unix)]
#[test]
fn unfinished_translations_are_no_symbolic_link() {
    let dir = TestDir::with_pairs();
    dir.write("outside", "kept");
    std::fs::create_dir_all(dir.path("out/auxiliary")).unwrap();
    std::os::unix::fs::symlink("../../outside", dir.path("out/auxiliary/teacher-1.unfinished")).unwrap();
    let train = ["train", "pairs.tsv", "--teachers", "1", "--hidden-size", "8", "--max-epochs", "1", "--quiet"];
    let refused = dir.run(&[&train[..], &["--out", "out"]].concat());
    refused.refused_with(1, &["teacher-1.unfinished is a symbolic link"]);
    assert_eq!(dir.text("outside"), "kept");
}

/// Results of commands replace no file that a model or its training needs.
#[test]
fn outputs_do_not_overwrite_auxiliary_files() {
    let dir = TestDir::with_model();
    std::fs::create_dir(dir.path("model/auxiliary")).unwrap();
    dir.write("model/auxiliary/plan.json", "{}");
    let translate = |output: &str| dir.run(&["translate", "--model", "model", "--output", output, "the red fox"]);
    for part in ["auxiliary/plan.json", "auxiliary/teacher-1.target", "training.lock", "model.safetensors"] {
        translate(&format!("model/{part}")).refused_with(2, &["part of a model; choose another"]);
    }
    std::fs::create_dir(dir.path("auxiliary")).unwrap();
    for free in ["auxiliary/plan.json", "training.lock", "model/translations.txt"] {
        translate(free).worked();
    }
}

/// Translations that take too long leave the model itself its part of the time limit.
#[test]
fn time_limit_leaves_the_model_its_part() {
    let dir = TestDir::with_pairs();
    dir.write("mono.txt", (0..50_000).map(|number| format!("grisa mi {number} .\n")).collect::<String>());
    let train = ["train", "pairs.tsv", "--monolingual-target", "mono.txt", "--out", "out", "--tokenization", "word"];
    let quick = ["--hidden-size", "8", "--max-epochs", "1000000", "--validate-every", "1000000"];
    let run = dir.run(&[&train[..], &quick, &["--max-minutes", "0.05"]].concat());
    run.worked();
    assert!(run.stderr.contains("of 50000 sentences"), "{}", run.stderr);
    let lines = |side: &str| dir.text(&format!("out/auxiliary/back-translations.{side}")).lines().count();
    assert!(lines("source") == lines("target") && lines("source") < 50_000);
    let state = json(&dir.text("out/resume.json"));
    assert!(state["auxiliary_seconds"].as_f64().unwrap() > 0.7 && state["step"].as_u64().unwrap() > 1, "{state}");
}

/// A default training archives a model in `checkpoints` with its auxiliary models.
#[test]
fn archive_holds_auxiliary_models() {
    let dir = TestDir::with_pairs();
    let quick = ["--hidden-size", "8", "--max-epochs", "1", "--quiet"];
    let train = ["train", "pairs.tsv"];
    dir.run(&[&train[..], &quick, &["--teachers", "1", "--out", "checkpoints"]].concat()).worked();
    dir.run(&[&train[..], &quick].concat()).worked();
    assert!(dir.path("checkpoints/previous/auxiliary/teacher-1/model.safetensors").exists());
    assert!(!dir.path("checkpoints/auxiliary").exists());
}

/// Distinct sentence pairs.
fn numbered_pairs(count: usize) -> String {
    let words = ["red", "old", "tall", "cold", "new", "dark", "long", "wet", "loud", "kind"];
    let mut lines = String::new();
    for number in 0..count {
        let [hundreds, tens, ones] = [number / 100, number / 10, number].map(|place| words[place % 10]);
        lines += &format!("the {hundreds} dog and the {tens} cat see a {ones} bird .\t");
        lines += &format!("la {hundreds}a hunda ku la {tens}a kata vida {ones}a birda .\n");
    }
    lines
}

#[test]
fn long_time_limits_are_spent_on_teachers() {
    let dir = TestDir::with_model();
    dir.write("many.tsv", numbered_pairs(1000));
    dir.write("few.tsv", numbered_pairs(900));
    let teachers = |file: &str, options: &[&str]| {
        let train = ["train", file, "--hidden-size", "8", "--out", "out", "--show-config"];
        dir.run(&[&train[..], options].concat()).json()["teachers"].clone()
    };
    let hours = ["--max-minutes", "6000"];
    assert_eq!(teachers("many.tsv", &hours), 3);
    assert_eq!(teachers("many.tsv", &[&hours[..], &["--teachers", "0"]].concat()), 0);
    for (file, options) in [
        ("few.tsv", &hours[..]),
        ("many.tsv", &[]),
        ("many.tsv", &["--max-minutes", "0.0001"]),
        ("many.tsv", &["--max-minutes", "6000", "--tokenization", "char"]),
    ] {
        assert_eq!(teachers(file, options), 0, "{file} {options:?}");
    }
    let train = ["train", "many.tsv", "--hidden-size", "8", "--max-epochs", "1", "--out", "out"];
    let run = dir.run(&[&train[..], &hours].concat());
    run.worked();
    for line in ["6000 minutes are enough for 3 teachers and the model itself", "auxiliary model 3 of 3"] {
        assert!(run.stderr.contains(line), "{line}: {}", run.stderr);
    }
}
