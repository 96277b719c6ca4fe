//! `train --keep-best` and `--keep-last`: further complete models of a run.

use crate::common::{PAIRS, QUICK, TestDir, json, tsv};

/// Options of a run with seven validations.
const RUN: [&str; 6] = ["--max-epochs", "7", "--metric", "perplexity", "--schedule", "plateau"];

fn train(dir: &TestDir, out: &str, options: &[&str]) {
    dir.train(out, &[&RUN[..], options].concat()).worked();
}

/// Steps of the log's validations with one of their scores.
fn validations(dir: &TestDir, out: &str, score: &str) -> Vec<(u64, f64)> {
    let lines = dir.text(&format!("{out}/log.jsonl"));
    let lines = lines.lines().map(json);
    let validations = lines.filter(|line| line["event"] == "validation");
    validations.map(|line| (line["step"].as_u64().unwrap(), line[score].as_f64().unwrap())).collect()
}

/// Sorted names of the directories in `kept`.
fn kept(dir: &TestDir, out: &str) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(dir.path(&format!("{out}/kept")))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn names(steps: impl IntoIterator<Item = u64>) -> Vec<String> {
    steps.into_iter().map(|step| format!("step-{step:06}")).collect()
}

/// All files below `kept`, with empty contents for config.json, whose command line names the directory.
fn kept_bytes(dir: &TestDir, out: &str) -> Vec<(String, Vec<u8>)> {
    let below = format!("{out}/kept/");
    let all = dir.contents().into_iter();
    let files = all.filter_map(|(name, bytes)| Some((name.strip_prefix(&below)?.to_owned(), bytes)));
    files.map(|(name, bytes)| if name.ends_with("config.json") { (name, Vec::new()) } else { (name, bytes) }).collect()
}

#[test]
fn keep_best_writes_whole_models_that_average() {
    let dir = TestDir::with_pairs();
    train(&dir, "out", &["--keep-best", "3", "--guided-alignment=0.3"]);
    let mut best = validations(&dir, "out", "perplexity");
    assert_eq!(best.len(), 7);
    best.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut steps: Vec<u64> = best[..3].iter().map(|(step, _)| *step).collect();
    steps.sort_unstable();
    let models = names(steps);
    assert_eq!(kept(&dir, "out"), models);
    let best_path = format!("out/kept/step-{:06}", best[0].0);
    assert!(dir.read("out/model.safetensors") == dir.read(&format!("{best_path}/model.safetensors")));
    let paths: Vec<String> = models.iter().map(|name| format!("out/kept/{name}")).collect();
    for path in &paths {
        dir.run(&["translate", "--model", path, "the red fox sleeps"]).worked();
        dir.run(&["align", "--model", path, "--pairs", "pairs.tsv", "--format", "pharaoh"]).worked();
        dir.run(&["inspect", path]).worked();
        // A kept model has no resumable state, and training does not overwrite it.
        dir.train(path, &[]).refused_with(1, &[path, "holds a model"]);
        #[cfg(unix)]
        for name in ["config.json", "source.tokenizer.json", "aligner.safetensors", "lexicon.safetensors"] {
            use std::os::unix::fs::MetadataExt;
            let inode = |model: &str| std::fs::metadata(dir.path(model).join(name)).unwrap().ino();
            assert_eq!(inode(path), inode("out"), "{name} is not a hard link");
        }
    }
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    dir.run(&[&["average"], &paths[..], &["--out", "mean"]].concat()).worked();
    let evaluate = dir.run(&["evaluate", "--model", "mean", "--pairs", "pairs.tsv", "--json"]);
    assert!(evaluate.json()["perplexity"].is_number());
    let inspected = dir.run(&["inspect", "out"]);
    assert!(inspected.worked().contains(&format!("file            kept/{}/model.safetensors", models[0])));
}

#[test]
fn keep_last_writes_the_last_validations() {
    let dir = TestDir::with_pairs();
    let done =
        dir.run(&[&["train", "--train=pairs.tsv", "--out=out"], &QUICK[..18], &RUN, &["--keep-last=2"]].concat());
    done.worked();
    assert!(done.stderr.contains("is in out, the last 2 in out/kept"), "{}", done.stderr);
    let steps = validations(&dir, "out", "loss").into_iter().map(|(step, _)| step);
    assert_eq!(kept(&dir, "out"), names(steps.skip(5)));
}

#[test]
fn resumed_run_keeps_the_same_checkpoints() {
    for options in [&["--keep-best", "2"][..], &["--keep-last", "2", "--validate-every", "5"]] {
        let dir = TestDir::with_pairs();
        let parts = ["--schedule", "plateau", "--metric", "perplexity", "--max-epochs"];
        dir.train("whole", &[&parts[..], &["5"], options].concat()).worked();
        dir.train("parts", &[&parts[..], &["3"], options].concat()).worked();
        // A killed run may leave a model missing, an outdated one, or a partial one.
        let newest = format!("parts/kept/{}", kept(&dir, "parts").pop().unwrap());
        std::fs::remove_dir_all(dir.path(&newest)).unwrap();
        for left in ["step-000001", "step-999999", ".step-000003.17.tmp"] {
            std::fs::create_dir(dir.path("parts/kept").join(left)).unwrap();
            dir.write(&format!("parts/kept/{left}/config.json"), "half");
        }
        dir.write("parts/kept/step-999999/model.safetensors", "from a later step");
        let resume = ["train", "--out", "parts", "--resume", "--quiet", "--max-epochs"];
        dir.run(&[&resume[..], &["3"]].concat()).worked();
        assert!(dir.path(&newest).join("model.safetensors").exists(), "{options:?}");
        dir.run(&[&resume[..], &["5"]].concat()).worked();
        assert_eq!(kept(&dir, "parts"), kept(&dir, "whole"), "{options:?}");
        assert!(kept_bytes(&dir, "parts") == kept_bytes(&dir, "whole"), "{options:?}");
        for name in kept(&dir, "parts") {
            let config = dir.read(&format!("parts/kept/{name}/config.json"));
            assert!(config == dir.read("parts/config.json"), "{options:?}: {name} has other settings");
        }
    }
}

#[test]
fn resumed_run_keeps_models_that_could_not_be_written() {
    let dir = TestDir::with_pairs();
    train(&dir, "whole", &["--keep-last", "2"]);
    dir.train("out", &["--max-epochs", "1", "--metric", "perplexity", "--schedule", "plateau", "--keep-last", "2"])
        .worked();
    std::fs::remove_dir_all(dir.path("out/kept")).unwrap();
    // A file prevents creating the directory.
    dir.write("out/kept", "");
    let resume = ["train", "--out", "out", "--resume", "--quiet", "--max-epochs", "7"];
    dir.run(&resume).refused_with(1, &["out/kept/step-0000", "cannot keep the model"]);
    dir.run(&["translate", "--model", "out", "the red fox"]).worked();
    std::fs::remove_file(dir.path("out/kept")).unwrap();
    dir.run(&resume).worked();
    assert!(kept_bytes(&dir, "out") == kept_bytes(&dir, "whole"));
}

#[test]
fn archives_kept_models_and_removes_nothing_else() {
    let dir = TestDir::new();
    dir.write("pairs.tsv", tsv(&PAIRS));
    let train = [&["train", "--train", "pairs.tsv", "--max-epochs", "2"][..], &QUICK].concat();
    dir.run(&[&train[..], &["--keep-last", "2"]].concat()).worked();
    let before = kept_bytes(&dir, "checkpoints");
    dir.write("checkpoints/kept/notes.txt", "mine");
    let oldest = kept(&dir, "checkpoints").remove(1);
    dir.write(&format!("checkpoints/kept/{oldest}/translations.txt"), "mine");
    // Kept models are protected even without the best model.
    for name in ["model.safetensors", "resume.safetensors"] {
        std::fs::remove_file(dir.path("checkpoints").join(name)).unwrap();
    }
    dir.run(&[&train[..], &["--out", "checkpoints"]].concat()).refused_with(1, &["checkpoints: holds a model"]);
    dir.run(&train).worked();
    assert!(kept_bytes(&dir, "checkpoints/previous") == before);
    dir.run(&["translate", "--model", &format!("checkpoints/previous/kept/{oldest}"), "the red fox"]).worked();
    let left: Vec<String> = kept_bytes(&dir, "checkpoints").into_iter().map(|(name, _)| name).collect();
    assert_eq!(
        left,
        ["".to_owned(), "notes.txt".to_owned(), format!("{oldest}/"), format!("{oldest}/translations.txt")]
    );
}

#[test]
fn refuses_invalid_retention_options() {
    let dir = TestDir::with_pairs();
    dir.train("out", &["--keep-best", "0"]).refused_with(2, &["--keep-best must be at least 1"]);
    dir.train("out", &["--keep-last", "0"]).refused_with(2, &["--keep-last must be at least 1"]);
    for options in [&["--keep-best", "2", "--keep-last", "2"][..], &["--keep-best", "-1"]] {
        assert_eq!(dir.train("out", options).code, Some(2), "{options:?}");
    }
    assert!(!dir.path("out").exists());
}
