//! `evaluate`: hypotheses of other systems, confidence intervals and significance tests.

use crate::common::{Outcome, PAIRS, TestDir, model_path, tsv};

/// A directory with pairs and a file of hypotheses per system, every `wrong`th with a wrong verb.
fn dir_with(systems: &[(&str, usize)]) -> TestDir {
    let dir = TestDir::new();
    let pairs: Vec<(&str, &str)> = PAIRS.iter().cycle().take(60).copied().collect();
    dir.write("pairs.tsv", tsv(&pairs));
    for (name, wrong) in systems {
        let line = |(number, (_, target)): (usize, &(&str, &str))| {
            let changed = target.replace("kanta", "volas").replace("dorma", "volas");
            format!("{}\n", if (number + 1) % wrong == 0 { changed } else { (*target).to_owned() })
        };
        dir.write(name, pairs.iter().enumerate().map(line).collect::<String>());
    }
    dir
}

fn evaluate(dir: &TestDir, options: &[&str]) -> Outcome {
    dir.run(&[&["evaluate", "--pairs", "pairs.tsv", "--quiet"], options].concat())
}

#[test]
fn reads_lines_like_translate() {
    let dir = TestDir::new();
    let shipped = concat!(env!("CARGO_MANIFEST_DIR"), "/checkpoints");
    let sources = ["They bought a black hat. He sings.  She sleeps. They sing.", "Mr. {name} sleeps at https://a.b."];
    dir.write("pairs.tsv", sources.map(|source| format!("{source}\tIls ont acheté un chapeau noir.\n")).concat());
    evaluate(&dir, &["--model", shipped, "--save", "own.txt"]).worked();
    let options = ["translate", "--model", shipped, "--placeholders", "none", "--quiet"];
    let found = dir.run(&[&options[..], &sources].concat());
    assert_eq!(dir.text("own.txt"), found.worked());
    assert_eq!(found.worked().lines().next().unwrap().matches('.').count(), 4, "no sentence is lost");
}

#[test]
fn scores_given_hypotheses_like_its_own() {
    let dir = dir_with(&[]);
    let own = evaluate(&dir, &["--model", model_path(), "--save", "own.txt", "--json"]).json();
    let found = dir.run(&["translate", "--model", model_path(), "--input", "sources", "--quiet"]);
    assert_eq!(found.code, Some(1), "the input does not exist yet");
    dir.write(
        "sources",
        dir.text("pairs.tsv").lines().map(|line| format!("{}\n", line.split_once('\t').unwrap().0)).collect::<String>(),
    );
    let found = dir.run(&["translate", "--model", model_path(), "--input", "sources", "--quiet"]);
    assert_eq!(found.worked(), dir.text("own.txt"));
    let file = evaluate(&dir, &["--hypotheses", "own.txt", "--json", "--by-length"]).json();
    for key in ["bleu", "chrf", "ter", "exact_match", "word_error_rate", "pairs", "signature"] {
        assert_eq!(own[key], file[key], "{key}");
    }
    assert!(own["perplexity"].is_number() && file.get("perplexity").is_none() && file.get("confidence").is_none());
    assert!(file["signature"].as_str().unwrap().starts_with("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2."));
    let text = evaluate(&dir, &["--hypotheses", "own.txt", "--by-length"]);
    assert!(text.worked().contains("\nTER ") && !text.worked().contains("perplexity"), "{text:?}");
}

#[test]
fn bleu_follows_the_script_of_the_references() {
    let dir = TestDir::new();
    for (name, references, hypotheses) in [
        ("zh", ["我们昨天看了一本书。", "他不在家里。"], "我们昨天读了一本书。\n他不在家里。\n"),
        ("char", ["猫が好きです。", "さようなら、また明日。"], "猫が好きだ。\nさようなら、また明日。\n"),
        ("13a", ["猫 が 好き です 。", "さようなら 、 また 明日 。"], "猫 が 好き だ 。\nさようなら 、 また 明日 。\n"),
    ] {
        dir.write("pairs.tsv", tsv(&references.map(|reference| ("some words", reference))));
        dir.write("hypotheses", hypotheses);
        let given = ["--hypotheses", "hypotheses", "--confidence", "--by-length", "--json"];
        let found = evaluate(&dir, &given).json();
        assert!(found["signature"].as_str().unwrap().contains(&format!("|tok:{name}|")), "{found}");
        assert!(found["bleu"].as_f64().unwrap() > 50.0 && found["by_length"][0]["bleu"] == found["bleu"], "{found}");
        assert!(found["word_error_rate"].as_f64().unwrap() < 20.0, "{found}");
        let other = evaluate(&dir, &[&given[..], &["--tokenize", "none"]].concat()).json();
        assert!(other["signature"].as_str().unwrap().contains("|tok:none|"), "{other}");
        // Nothing else separates words of the last text.
        let expected = if name == "13a" { found["confidence"]["bleu"]["mean"].clone() } else { 0.0.into() };
        assert_eq!(other["confidence"]["bleu"]["mean"], expected, "{other}");
    }
    let links = ["--links-from", "pairs", "--gold", "pairs.tsv", "--tokenize", "zh"];
    evaluate(&dir, &links).refused_with(2, &["--tokenize needs translations"]);
}

#[test]
fn confidence_intervals_depend_on_the_seed_alone() {
    let dir = dir_with(&[("bad", 2), ("good", 10)]);
    let both = ["--hypotheses", "bad", "--hypotheses", "better=good", "--compare", "--confidence", "--json"];
    let all = evaluate(&dir, &both).json();
    let [first, second] = [0, 1].map(|index| &all["models"][index]);
    assert!(first["name"] == "bad" && first.get("significance").is_none() && first["hypotheses"] == "bad");
    assert!(second["name"] == "better" && second.get("model_dir").is_none());
    for score in ["bleu", "chrf", "ter"] {
        let interval = &second["confidence"][score];
        let [mean, half] = ["mean", "half_width"].map(|key| interval[key].as_f64().unwrap());
        assert!(half > 0.0 && (mean - second[score].as_f64().unwrap()).abs() < half, "{score}: {interval}");
        let p_values = &second["significance"][score];
        for test in ["bootstrap", "randomization"] {
            assert!((0.0..0.02).contains(&p_values[test].as_f64().unwrap()), "{score}: {p_values}");
        }
    }
    assert_eq!(all, evaluate(&dir, &both).json());
    let other = evaluate(&dir, &[&both[..], &["--seed", "2"]].concat()).json();
    assert_ne!(all["models"][0]["confidence"], other["models"][0]["confidence"]);
    let text = evaluate(&dir, &both[..6]);
    assert!(text.worked().contains("better against bad\nBLEU ") && text.worked().contains(" ± "), "{text:?}");
    let bleu = text.worked().lines().filter(|line| line.starts_with("BLEU ") && line.contains("p = 0.0")).count();
    assert!(bleu == 1 && text.worked().contains("   significant\n"), "{text:?}");
    let explained = text.worked().split("\n\n").last().unwrap();
    assert!(explained.starts_with("p is the probability ") && explained.contains("approximate"), "{text:?}");
}

#[test]
fn compares_models_with_significance() {
    let dir = dir_with(&[]);
    let model = model_path();
    let all = evaluate(&dir, &["--model", model, "--model", model, "--compare", "--json"]).json();
    let second = &all["models"][1];
    assert!(second["model_dir"] == model && second["significance"]["bleu"]["randomization"].is_number(), "{second}");
}

#[test]
fn truncation_and_single_words_are_detected_behind_header_and_tag() {
    let dir = TestDir::new();
    dir.write("long.tsv", format!("source\ttarget\nthe red fox\trufo mi\n{}\tku\n", "fox ".repeat(501).trim_end()));
    let long = dir.run(&["evaluate", "--model", model_path(), "--pairs", "long.tsv", "--header", "--quiet"]);
    long.worked();
    assert!(long.stderr.contains("line 3: longer than"), "{long:?}");
    dir.write("words.tsv", "fox\tmi\nowl\tku\n");
    let words = ["evaluate", "--model", model_path(), "--pairs", "words.tsv", "--tag-source", "the", "--json"];
    assert!(dir.run(&words).json()["wer"].is_number());
}

#[test]
fn tests_error_rates_of_single_words() {
    let dir = TestDir::new();
    let words = |target: &str| (0..40).map(|number| format!("w{number}\t{target} o x\n")).collect::<String>();
    dir.write("pairs.tsv", words("f"));
    dir.write("right", words("f"));
    dir.write("wrong", words("g"));
    let both = ["--hypotheses", "right", "--hypotheses", "wrong", "--compare", "--confidence"];
    let second = &evaluate(&dir, &[&both[..], &["--json"]].concat()).json()["models"][1];
    assert_eq!((&second["wer"], &second["confidence"]["wer"]["half_width"]), (&100.0.into(), &0.0.into()));
    assert!(second["significance"]["per"]["randomization"].as_f64().unwrap() < 0.01, "{second}");
    let text = evaluate(&dir, &both).worked().to_owned();
    assert!(text.contains("\nwrong against right\nWER             +100.00   p = 0.0001   significant\nPER "), "{text}");
    assert!(!text.contains("BLEU"), "{text}");
}

#[test]
fn saves_single_words_as_shared_tasks_want_them() {
    let dir = TestDir::new();
    let saved = |options: &[&str]| {
        evaluate(&dir, &[&["--model", model_path(), "--save", "saved"], options].concat()).worked();
        dir.text("saved")
    };
    let target = |line: &str, column: usize| line.split('\t').nth(column).unwrap().to_owned();
    dir.write("pairs.tsv", "fox\tmi\nowl\tku\n");
    let words = saved(&[]);
    let lines: Vec<&str> = words.lines().collect();
    assert!(lines.len() == 2 && lines[0].starts_with("fox\t") && lines[1].starts_with("owl\t"), "{words}");
    let translations = format!("{}\n{}\n", target(lines[0], 1), target(lines[1], 1));
    // The file is evaluated as one of translations alone is.
    dir.write("plain", &translations);
    let [rows, plain] = ["saved", "plain"].map(|file| evaluate(&dir, &["--hypotheses", file, "--json"]).json());
    assert_eq!(rows, plain);

    dir.write("pairs.tsv", "fox\tV;PST\tmi\nthe owl\tV;SG\tku\n");
    let inflected = saved(&["--columns", "1,3", "--features", "2"]);
    let lines: Vec<&str> = inflected.lines().collect();
    assert!(lines[0].starts_with("fox\tV;PST\t") && lines[1].starts_with("the owl\tV;SG\t"), "{inflected}");
    dir.write("pairs.tsv", "fox\tmi\tV;PST\n");
    let last = saved(&["--features", "3"]);
    assert!(last.starts_with("fox\t") && last.ends_with("\tV;PST\n"), "{last}");

    dir.write("pairs.tsv", "the fox\tmi\n");
    assert!(!saved(&[]).contains('\t'), "sentences are saved alone");
    dir.write("odd", "a fox\tmi\n");
    let odd = dir.run(&["evaluate", "--pairs", "pairs.tsv", "--hypotheses", "odd"]);
    odd.worked();
    assert!(odd.stderr.contains("warning: odd:1: the tab is read as part of the translation"), "{odd:?}");
}

#[test]
fn pairs_of_the_training_are_named() {
    let dir = TestDir::with_model();
    let evaluate = |pairs: &str| dir.run(&["evaluate", "--model", "model", "--pairs", pairs]);
    let again = evaluate("pairs.tsv");
    again.worked();
    assert!(again.stderr.contains(" pairs are among the training pairs of model: the scores"), "{again:?}");
    dir.write("new.tsv", tsv(&[("the fox sees the owl again", "rufo ku volas")]));
    assert!(!evaluate("new.tsv").stderr.contains("among the training pairs"));
    std::fs::remove_file(dir.path("model/trained_pairs.safetensors")).unwrap();
    let old = evaluate("pairs.tsv");
    assert!(
        !old.stderr.contains("among the training pairs") && !old.worked().is_empty(),
        "models of before have no list"
    );
    dir.write("model/trained_pairs.safetensors", "nonsense");
    evaluate("pairs.tsv").refused_with(1, &["model/trained_pairs.safetensors: damaged"]);
}

/// The shipped model translates from English to French.
#[test]
fn text_in_the_target_language_is_named() {
    let dir = TestDir::new();
    let shipped = concat!(env!("CARGO_MANIFEST_DIR"), "/checkpoints");
    let sides = [
        ["She sleeps in the garden.", "Elle dort dans le jardin."],
        ["We like this house.", "Nous aimons cette maison."],
    ];
    for [from, to] in [[0, 1], [1, 0]] {
        let rows = sides.map(|pair| format!("{}\t{}\n", pair[from], pair[to]));
        dir.write("pairs.tsv", rows.concat());
        let evaluated = dir.run(&["evaluate", "--model", shipped, "--pairs", "pairs.tsv"]);
        evaluated.worked();
        let is_swapped =
            evaluated.stderr.contains("seem to be swapped, since the model translates from English to French");
        assert_eq!(is_swapped, from == 1, "{evaluated:?}");
        let translated = dir.run(&["translate", "--model", shipped, sides[0][from], sides[1][from]]);
        translated.worked();
        let is_named = translated.stderr.contains("lines 1 and 2: in the target language already");
        assert_eq!(is_named, from == 1, "{translated:?}");
    }
}

#[test]
fn numbers_are_explained_in_eighty_columns() {
    let dir = dir_with(&[("bad", 2), ("good", 10)]);
    let fits = |text: &str| text.lines().all(|line| line.chars().count() <= 80);
    let explained = dir.run(&["evaluate", "--model", model_path(), "--pairs", "pairs.tsv"]);
    assert!(fits(explained.worked()) && explained.worked().contains("as in the references"), "{explained:?}");
    assert!(!evaluate(&dir, &["--model", model_path()]).worked().contains("as in the references"));
    let systems =
        ["1=bad", "2=good", "3=bad"].map(|system| format!("--hypotheses=models/of/a/long/afternoon/step-00{system}"));
    let table = evaluate(&dir, &systems.each_ref().map(String::as_str));
    assert!(fits(table.worked().split("BLEU is").next().unwrap()) && table.worked().contains("step-003"), "{table:?}");
}

#[test]
fn refuses_impossible_comparisons() {
    let dir = dir_with(&[("some", 3)]);
    dir.write("short", "a\n");
    evaluate(&dir, &["--hypotheses", "short"]).refused_with(1, &["short: 1 lines", "pairs.tsv", "60 pairs"]);
    evaluate(&dir, &["--hypotheses", "none"]).refused_with(1, &["none"]);
    evaluate(&dir, &["--hypotheses", "x=none"]).refused_with(1, &["x=none: no such file"]);
    evaluate(&dir, &["--hypotheses", "some", "--compare"]).refused_with(2, &["--compare needs several"]);
    let model = model_path();
    evaluate(&dir, &["--model", model, "--model", model, "--save", "x"]).refused_with(2, &["--save accepts only one"]);
    evaluate(&dir, &["--model", model, "--save", "-"]).refused_with(2, &["--save needs a file"]);
    evaluate(&dir, &["--model", model, "--save", "pairs.tsv"]).refused_with(2, &["--save pairs.tsv", "also input"]);
    let mixed = evaluate(&dir, &["--model", model, "--hypotheses", "some"]);
    assert!(mixed.code == Some(2) && mixed.stderr.contains("cannot be used with"), "{mixed:?}");
    assert!(!dir.contents().contains_key("x"));
}
