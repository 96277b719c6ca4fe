//! `evaluate`: translations made elsewhere, how sure scores are, and systems beside each other.

mod common;

use common::{ModelDir, Outcome, PAIRS, model_path, tsv};

/// The pairs, and translations of which each `wrong`th has another verb.
fn folder_with(systems: &[(&str, usize)]) -> ModelDir {
    let folder = ModelDir::new();
    let pairs: Vec<(&str, &str)> = PAIRS.iter().cycle().take(60).copied().collect();
    folder.write("pairs.tsv", tsv(&pairs));
    for (name, wrong) in systems {
        let line = |(number, (_, target)): (usize, &(&str, &str))| {
            let changed = target.replace("kanta", "volas").replace("dorma", "volas");
            format!("{}\n", if (number + 1) % wrong == 0 { changed } else { (*target).to_owned() })
        };
        folder.write(name, pairs.iter().enumerate().map(line).collect::<String>());
    }
    folder
}

fn evaluate(folder: &ModelDir, options: &[&str]) -> Outcome {
    folder.run(&[&["evaluate", "--pairs", "pairs.tsv", "--quiet"], options].concat())
}

#[test]
fn translations_made_elsewhere_have_the_scores_of_those_made_here() {
    let folder = folder_with(&[]);
    let own = evaluate(&folder, &["--model", model_path(), "--save", "own.txt", "--json"]).json();
    let found = folder.run(&["translate", "--model", model_path(), "--input", "sources", "--quiet"]);
    assert_eq!(found.code, Some(1), "there is no such file");
    folder.write(
        "sources",
        folder
            .text("pairs.tsv")
            .lines()
            .map(|line| format!("{}\n", line.split_once('\t').unwrap().0))
            .collect::<String>(),
    );
    let found = folder.run(&["translate", "--model", model_path(), "--input", "sources", "--quiet"]);
    assert_eq!(found.worked(), folder.text("own.txt"));
    let file = evaluate(&folder, &["--hypotheses", "own.txt", "--json", "--by-length"]).json();
    for key in ["bleu", "chrf", "ter", "exact_match", "word_error_rate", "pairs", "signature"] {
        assert_eq!(own[key], file[key], "{key}");
    }
    assert!(own["perplexity"].is_number() && file.get("perplexity").is_none() && file.get("confidence").is_none());
    assert!(file["signature"].as_str().unwrap().starts_with("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2."));
    let said = evaluate(&folder, &["--hypotheses", "own.txt", "--by-length"]);
    assert!(said.worked().contains("\nTER ") && !said.worked().contains("perplexity"), "{said:?}");
}

#[test]
fn sureness_is_told_and_the_seed_decides_it() {
    let folder = folder_with(&[("bad", 2), ("good", 10)]);
    let both = ["--hypotheses", "bad", "--hypotheses", "better=good", "--compare", "--confidence", "--json"];
    let all = evaluate(&folder, &both).json();
    let [first, second] = [0, 1].map(|place| &all["models"][place]);
    assert!(first["name"] == "bad" && first.get("significance").is_none() && first["hypotheses"] == "bad");
    assert!(second["name"] == "better" && second.get("model_dir").is_none());
    for score in ["bleu", "chrf", "ter"] {
        let sure = &second["confidence"][score];
        let [mean, half] = ["mean", "half_width"].map(|key| sure[key].as_f64().unwrap());
        assert!(half > 0.0 && (mean - second[score].as_f64().unwrap()).abs() < half, "{score}: {sure}");
        let chance = &second["significance"][score];
        for test in ["bootstrap", "randomization"] {
            assert!((0.0..0.02).contains(&chance[test].as_f64().unwrap()), "{score}: {chance}");
        }
    }
    assert_eq!(all, evaluate(&folder, &both).json());
    let other = evaluate(&folder, &[&both[..], &["--seed", "2"]].concat()).json();
    assert_ne!(all["models"][0]["confidence"], other["models"][0]["confidence"]);
    let said = evaluate(&folder, &both[..6]);
    assert!(said.worked().contains("better beside bad\nBLEU ") && said.worked().contains(" ± "), "{said:?}");
}

#[test]
fn models_are_compared_too() {
    let folder = folder_with(&[]);
    let model = model_path();
    let all = evaluate(&folder, &["--model", model, "--model", model, "--compare", "--json"]).json();
    let second = &all["models"][1];
    assert!(second["model_dir"] == model && second["significance"]["bleu"]["randomization"].is_number(), "{second}");
}

#[test]
fn what_is_read_in_part_and_what_is_single_words_is_seen_behind_header_and_tag() {
    let folder = ModelDir::new();
    folder.write("long.tsv", format!("source\ttarget\nthe red fox\trufo mi\n{}\tku\n", "fox ".repeat(501).trim_end()));
    let long = folder.run(&["evaluate", "--model", model_path(), "--pairs", "long.tsv", "--header", "--quiet"]);
    long.worked();
    assert!(long.stderr.contains("line 3: longer than"), "{long:?}");
    folder.write("words.tsv", "fox\tmi\nowl\tku\n");
    let words = ["evaluate", "--model", model_path(), "--pairs", "words.tsv", "--tag-source", "the", "--json"];
    assert!(folder.run(&words).json()["wer"].is_number());
}

#[test]
fn what_cannot_be_compared_is_refused_in_one_line() {
    let folder = folder_with(&[("some", 3)]);
    folder.write("short", "a\n");
    evaluate(&folder, &["--hypotheses", "short"]).refused_with(1, &["short: 1 lines", "pairs.tsv", "60 pairs"]);
    evaluate(&folder, &["--hypotheses", "none"]).refused_with(1, &["none"]);
    evaluate(&folder, &["--hypotheses", "x=none"]).refused_with(1, &["x=none: no such file"]);
    evaluate(&folder, &["--hypotheses", "some", "--compare"]).refused_with(2, &["--compare needs several"]);
    let model = model_path();
    evaluate(&folder, &["--model", model, "--model", model, "--save", "x"]).refused_with(2, &["--save is for one"]);
    evaluate(&folder, &["--model", model, "--save", "-"]).refused_with(2, &["--save needs a file"]);
    evaluate(&folder, &["--model", model, "--save", "pairs.tsv"])
        .refused_with(2, &["--save pairs.tsv", "read as well"]);
    let mixed = evaluate(&folder, &["--model", model, "--hypotheses", "some"]);
    assert!(mixed.code == Some(2) && mixed.stderr.contains("cannot be used with"), "{mixed:?}");
    assert!(!folder.contents().contains_key("x"));
}
