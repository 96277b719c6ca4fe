//! `train --keep-best` and `--keep-last`: models of a run beside the best one, each a whole model.

mod common;

use common::{ModelDir, PAIRS, QUICK, json, tsv};

/// Seven validations of which the last is not always the best.
const RUN: [&str; 6] = ["--max-epochs", "7", "--metric", "perplexity", "--schedule", "plateau"];

fn train(folder: &ModelDir, out: &str, options: &[&str]) {
    folder.train(out, &[&RUN[..], options].concat()).worked();
}

/// The log's validations: steps with a figure.
fn validations(folder: &ModelDir, out: &str, figure: &str) -> Vec<(u64, f64)> {
    let lines = folder.text(&format!("{out}/log.jsonl"));
    let lines = lines.lines().map(json);
    let validations = lines.filter(|line| line["event"] == "validation");
    validations.map(|line| (line["step"].as_u64().unwrap(), line[figure].as_f64().unwrap())).collect()
}

/// The names below `kept`, in order.
fn kept(folder: &ModelDir, out: &str) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder.path(&format!("{out}/kept")))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn names(steps: impl IntoIterator<Item = u64>) -> Vec<String> {
    steps.into_iter().map(|step| format!("step-{step:06}")).collect()
}

/// Everything below a folder's `kept`, config.json's command line aside, which names the folder.
fn kept_bytes(folder: &ModelDir, out: &str) -> Vec<(String, Vec<u8>)> {
    let below = format!("{out}/kept/");
    let all = folder.contents().into_iter();
    let of = all.filter_map(|(name, bytes)| Some((name.strip_prefix(&below)?.to_owned(), bytes)));
    of.map(|(name, bytes)| if name.ends_with("config.json") { (name, Vec::new()) } else { (name, bytes) }).collect()
}

#[test]
fn the_best_are_whole_models_and_have_a_mean() {
    let folder = ModelDir::with_pairs();
    train(&folder, "out", &["--keep-best", "3", "--guided-alignment=0.3"]);
    let mut best = validations(&folder, "out", "perplexity");
    assert_eq!(best.len(), 7);
    best.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut steps: Vec<u64> = best[..3].iter().map(|(step, _)| *step).collect();
    steps.sort_unstable();
    let models = names(steps);
    assert_eq!(kept(&folder, "out"), models);
    let of_best = format!("out/kept/step-{:06}", best[0].0);
    assert!(folder.read("out/model.safetensors") == folder.read(&format!("{of_best}/model.safetensors")));
    let paths: Vec<String> = models.iter().map(|name| format!("out/kept/{name}")).collect();
    for path in &paths {
        folder.run(&["translate", "--model", path, "the red fox sleeps"]).worked();
        folder.run(&["align", "--model", path, "--pairs", "pairs.tsv", "--format", "pharaoh"]).worked();
        folder.run(&["inspect", path]).worked();
        // One of those that are kept is no training that could go on, and nothing is trained over it.
        folder.train(path, &[]).refused_with(1, &[path, "holds a model"]);
        #[cfg(unix)]
        for name in ["config.json", "source.tokenizer.json", "aligner.safetensors", "lexicon.safetensors"] {
            use std::os::unix::fs::MetadataExt;
            let of = |folder_of: &str| std::fs::metadata(folder.path(folder_of).join(name)).unwrap().ino();
            assert_eq!(of(path), of("out"), "{name} is there twice");
        }
    }
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    folder.run(&[&["average"], &paths[..], &["--out", "mean"]].concat()).worked();
    let evaluate = folder.run(&["evaluate", "--model", "mean", "--pairs", "pairs.tsv", "--json"]);
    assert!(evaluate.json()["perplexity"].is_number());
    let inspected = folder.run(&["inspect", "out"]);
    assert!(inspected.worked().contains(&format!("file            kept/{}/model.safetensors", models[0])));
}

#[test]
fn the_last_are_those_of_the_last_validations() {
    let folder = ModelDir::with_pairs();
    let done =
        folder.run(&[&["train", "--train=pairs.tsv", "--out=out"], &QUICK[..18], &RUN, &["--keep-last=2"]].concat());
    done.worked();
    assert!(done.stderr.contains("is in out, the last 2 in out/kept"), "{}", done.stderr);
    let steps = validations(&folder, "out", "loss").into_iter().map(|(step, _)| step);
    assert_eq!(kept(&folder, "out"), names(steps.skip(5)));
}

#[test]
fn a_run_in_parts_keeps_what_a_whole_one_keeps() {
    for options in [&["--keep-best", "2"][..], &["--keep-last", "2", "--validate-every", "5"]] {
        let folder = ModelDir::with_pairs();
        let parts = ["--schedule", "plateau", "--metric", "perplexity", "--max-epochs"];
        folder.train("whole", &[&parts[..], &["5"], options].concat()).worked();
        folder.train("parts", &[&parts[..], &["3"], options].concat()).worked();
        // The run before may not have got to keep what it had saved, or to remove what it no longer wanted.
        let newest = format!("parts/kept/{}", kept(&folder, "parts").pop().unwrap());
        std::fs::remove_dir_all(folder.path(&newest)).unwrap();
        for left in ["step-000001", "step-999999", ".step-000003.17.tmp"] {
            std::fs::create_dir(folder.path("parts/kept").join(left)).unwrap();
            folder.write(&format!("parts/kept/{left}/config.json"), "half");
        }
        folder.write("parts/kept/step-999999/model.safetensors", "of later");
        let resume = ["train", "--out", "parts", "--resume", "--quiet", "--max-epochs"];
        folder.run(&[&resume[..], &["3"]].concat()).worked();
        assert!(folder.path(&newest).join("model.safetensors").exists(), "{options:?}");
        folder.run(&[&resume[..], &["5"]].concat()).worked();
        assert_eq!(kept(&folder, "parts"), kept(&folder, "whole"), "{options:?}");
        assert!(kept_bytes(&folder, "parts") == kept_bytes(&folder, "whole"), "{options:?}");
        for name in kept(&folder, "parts") {
            let config = folder.read(&format!("parts/kept/{name}/config.json"));
            assert!(config == folder.read("parts/config.json"), "{options:?}: {name} has other settings");
        }
    }
}

/// It goes on where the disk did.
#[test]
fn what_could_not_be_kept_is_kept_by_the_next_run() {
    let folder = ModelDir::with_pairs();
    train(&folder, "whole", &["--keep-last", "2"]);
    folder
        .train("out", &["--max-epochs", "1", "--metric", "perplexity", "--schedule", "plateau", "--keep-last", "2"])
        .worked();
    std::fs::remove_dir_all(folder.path("out/kept")).unwrap();
    // No folder can be made here.
    folder.write("out/kept", "");
    let resume = ["train", "--out", "out", "--resume", "--quiet", "--max-epochs", "7"];
    folder.run(&resume).refused_with(1, &["out/kept/step-0000", "cannot keep the model"]);
    folder.run(&["translate", "--model", "out", "the red fox"]).worked();
    std::fs::remove_file(folder.path("out/kept")).unwrap();
    folder.run(&resume).worked();
    assert!(kept_bytes(&folder, "out") == kept_bytes(&folder, "whole"));
}

#[test]
fn what_was_kept_is_moved_aside_and_nothing_else_is_removed() {
    let folder = ModelDir::new();
    folder.write("pairs.tsv", tsv(&PAIRS));
    let train = [&["train", "--train", "pairs.tsv", "--max-epochs", "2"][..], &QUICK].concat();
    folder.run(&[&train[..], &["--keep-last", "2"]].concat()).worked();
    let before = kept_bytes(&folder, "checkpoints");
    folder.write("checkpoints/kept/notes.txt", "mine");
    let oldest = kept(&folder, "checkpoints").remove(1);
    folder.write(&format!("checkpoints/kept/{oldest}/translations.txt"), "mine");
    // Without the best model there is still something to lose.
    for name in ["model.safetensors", "resume.safetensors"] {
        std::fs::remove_file(folder.path("checkpoints").join(name)).unwrap();
    }
    folder.run(&[&train[..], &["--out", "checkpoints"]].concat()).refused_with(1, &["checkpoints: holds a model"]);
    folder.run(&train).worked();
    assert!(kept_bytes(&folder, "checkpoints/previous") == before);
    folder.run(&["translate", "--model", &format!("checkpoints/previous/kept/{oldest}"), "the red fox"]).worked();
    let left: Vec<String> = kept_bytes(&folder, "checkpoints").into_iter().map(|(name, _)| name).collect();
    assert_eq!(
        left,
        ["".to_owned(), "notes.txt".to_owned(), format!("{oldest}/"), format!("{oldest}/translations.txt")]
    );
}

#[test]
fn numbers_and_choices_that_make_no_sense_are_refused() {
    let folder = ModelDir::with_pairs();
    folder.train("out", &["--keep-best", "0"]).refused_with(2, &["--keep-best must be at least 1"]);
    folder.train("out", &["--keep-last", "0"]).refused_with(2, &["--keep-last must be at least 1"]);
    for options in [&["--keep-best", "2", "--keep-last", "2"][..], &["--keep-best", "-1"]] {
        assert_eq!(folder.train("out", options).code, Some(2), "{options:?}");
    }
    assert!(!folder.path("out").exists());
}
