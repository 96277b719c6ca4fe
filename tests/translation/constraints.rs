//! Constraints of `softalign translate`: prefixes, required and avoided phrases, terms; sampling and length penalties.

use crate::common::{Outcome, TestDir, model_path};

fn translate(arguments: &[&str], input: &str) -> Outcome {
    TestDir::new().run_with_input(&[&["translate", "--model", model_path()], arguments].concat(), input)
}

#[test]
fn translation_begins_with_the_target_prefix() {
    let text = translate(&["--prefix", "grisa ku "], "the red fox sleeps\nthe old owl runs\n\n");
    let lines: Vec<&str> = text.worked().lines().collect();
    assert!(lines[0].starts_with("grisa ku ") && lines[1].starts_with("grisa ku ") && lines[2].is_empty(), "{text:?}");
    // Each line has its own prefix; an empty or missing one constrains nothing.
    let own = translate(&["--prefixes"], "the red fox sleeps\tvela\nthe red fox sleeps\t\nthe red fox sleeps\n");
    let lines: Vec<&str> = own.worked().lines().collect();
    assert!(lines[0].starts_with("vela ") && lines[1..] == ["rufo mi dorma .", "rufo mi dorma ."], "{own:?}");
    let linked = translate(&["--prefixes", "--format", "pharaoh"], "the red fox\tvela\n");
    assert_eq!(linked.worked().lines().count(), 1);
}

#[test]
fn required_and_avoided_phrases_are_respected() {
    let with = |arguments: &[&str]| translate(arguments, "the red fox sleeps\n").worked().trim_end().to_owned();
    for beam in ["1", "5"] {
        let text = with(&["--beam", beam, "--require", "kanta", "--require", "ku"]);
        assert!(text.split(' ').any(|word| word == "kanta") && text.split(' ').any(|word| word == "ku"), "{text}");
        let text = with(&["--beam", beam, "--avoid", "rufo mi", "--avoid", "dorma"]);
        assert!(!text.contains("rufo mi") && !text.contains("dorma"), "{text}");
    }
    assert_eq!(
        with(&["--avoid", "rufo ku", "--avoid", "mi ."]),
        "rufo mi dorma .",
        "avoiding absent phrases changes nothing"
    );
    let twice = translate(&["--no-repeat", "1", "--prefix", "ku ku"], "the red owl sings\n");
    let mut words: Vec<&str> = twice.worked().split_whitespace().skip(1).collect();
    let count = words.len();
    words.sort_unstable();
    words.dedup();
    assert_eq!(words.len(), count, "only the prefix may repeat a word: {twice:?}");
}

#[test]
fn phrase_contained_in_another_is_produced_once() {
    let with = |arguments: &[&str]| translate(arguments, "the red fox sleeps\n").worked().trim_end().to_owned();
    let contained = with(&["--require", "ku", "--require", "grisa ku", "--require", "grisa ku"]);
    assert!(contained.contains("grisa ku"), "{contained}");
    assert_eq!(contained, with(&["--require", "grisa ku"]));
    let apart = with(&["--require", "ku", "--require", "mi"]);
    assert!(apart.contains("ku") && apart.contains("mi"), "{apart}");
}

#[test]
fn unknown_prefix_names_its_line() {
    let dir = TestDir::new();
    dir.write("begun.tsv", "the red fox sleeps\tvela\nthe red fox sleeps\tzebro\n");
    let arguments = ["translate", "--model", model_path(), "--prefixes"];
    let named = dir.run(&[&arguments[..], &["--input", "begun.tsv"]].concat());
    assert_eq!((named.code, named.stdout.lines().nth(1)), (Some(1), Some("")), "{named:?}");
    assert!(named.stderr.starts_with("warning: begun.tsv:2: \"zebro\": the model has no tokens"), "{named:?}");
    let piped = dir.run_with_input(&arguments, "the red fox sleeps\tzebro\n");
    piped.refused_with(1, &["standard input:1: \"zebro\": the model has no tokens"]);
    for layout in [&["--csv"][..], &["--header"], &["--columns", "1,2"]] {
        let refused = dir.run(&[&arguments[..], layout, &["the fox"]].concat());
        refused.refused_with(2, &["describe files, not sentences"]);
    }
}

#[test]
fn terms_are_placed_at_their_source_position() {
    let dir = TestDir::new();
    dir.write("terms.tsv", "fox\tku\nold owl\tgrisa mi\nzebra\tzebro\n");
    let run = |input: &str| dir.run_with_input(&["translate", "--model", model_path(), "--terms", "terms.tsv"], input);
    let text = run("the red Fox sleeps\nthe red owl sleeps\nthe old owl runs\n");
    let lines: Vec<&str> = text.worked().lines().collect();
    assert_eq!(lines[..2], ["rufo ku dorma ."; 2], "{text:?}");
    assert!(lines[2].contains("grisa mi"), "{text:?}");
    let reason = "1 translations, such as \"zebro\", contain characters unknown to the model; these terms are ignored";
    assert_eq!(text.stderr, format!("warning: terms.tsv: {reason}\n"));
}

/// Translates a sentence by the shipped model, which has subwords.
fn translate_in_subwords(arguments: &[&str]) -> String {
    translate_shipped(arguments, "They bought a black hat yesterday.")
}

fn translate_shipped(arguments: &[&str], sentence: &str) -> String {
    let model = concat!(env!("CARGO_MANIFEST_DIR"), "/checkpoints");
    let run = TestDir::new().run(&[&["translate", "--model", model], arguments, &[sentence]].concat());
    run.worked().trim_end().to_owned()
}

#[test]
fn avoided_word_leaves_whole_words() {
    let corpus = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/data/train.tsv")).unwrap();
    let words: std::collections::HashSet<&str> = corpus.split_whitespace().collect();
    for beam in ["1", "5"] {
        let text = translate_in_subwords(&["--beam", beam, "--avoid", "noir"]);
        assert!(text.split(' ').all(|word| words.contains(word) && word != "noir"), "{text}");
        let begun =
            translate_in_subwords(&["--beam", beam, "--prefix", "Ils ont acheté un chap", "--avoid", "chapeau"]);
        assert!(begun.split(' ').all(|word| word != "chapeau") && begun.ends_with('.'), "{begun}");
    }
}

#[test]
fn known_words_take_the_place_of_avoided_ones() {
    let corpus = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/data/train.tsv")).unwrap();
    let words = |text: &str| -> Vec<String> {
        text.split(|character: char| !character.is_alphanumeric()).map(str::to_lowercase).collect()
    };
    let known: std::collections::HashSet<String> = words(&corpus).into_iter().collect();
    for (sentence, avoided) in [
        ("Peter brought him the cherry.", "cerise"),
        ("She smiled at her.", "souri"),
        ("You are not English.", "êtes"),
        ("The lesson began at a quarter to four.", "leçon"),
        ("His sister will bring a bottle of lemonade.", "apportera"),
    ] {
        assert!(words(&translate_shipped(&[], sentence)).contains(&avoided.to_owned()), "{sentence}");
        let text = translate_shipped(&["--avoid", avoided], sentence);
        assert!(words(&text).iter().all(|word| known.contains(word) && word != avoided), "{text}");
    }
}

#[test]
fn term_never_seen_in_training_stands_at_its_place() {
    let dir = TestDir::new();
    dir.write("terms.tsv", "hat\tcasquette\n");
    let terms = dir.path("terms.tsv");
    for beam in ["1", "5"] {
        let text = translate_in_subwords(&["--beam", beam, "--terms", terms.to_str().unwrap()]);
        let [before, after] = text.split("casquette").collect::<Vec<_>>()[..] else { panic!("{text}") };
        assert!(before.ends_with(" un ") && after.ends_with(" hier.") && !text.contains("chapeau"), "{text}");
    }
}

#[test]
fn required_term_is_there_once() {
    let dir = TestDir::new();
    dir.write("terms.tsv", "hat\tcasquette\ndress\tjupe\nbook\tlivre\n");
    let terms = dir.path("terms.tsv");
    for (sentence, word) in [
        ("They bought a black hat yesterday.", "casquette"),
        ("He sold his hat.", "casquette"),
        ("She bought a dress yesterday.", "jupe"),
        ("The dress is red.", "jupe"),
        ("He reads a book.", "livre"),
    ] {
        let terms = ["--terms", terms.to_str().unwrap()];
        for options in [&terms[..], &["--require", word], &[&terms[..], &["--require", word]].concat()] {
            let text = translate_shipped(options, sentence);
            assert_eq!(text.split([' ', '.', '\'']).filter(|one| *one == word).count(), 1, "{options:?}: {text}");
        }
    }
}

/// A term without a place changes nothing, and a warning says so.
#[test]
fn terms_leave_other_constraints_and_each_other() {
    let dir = TestDir::new();
    dir.write("book.tsv", "be\tlivre\n");
    dir.write("two.tsv", "will\tva\nbe\tsoit\n");
    let model = concat!(env!("CARGO_MANIFEST_DIR"), "/checkpoints");
    let translate = |arguments: &[&str]| {
        let run = dir.run(&[&["translate", "--model", model], arguments, &["Emma will be eight years old."]].concat());
        (run.worked().trim_end().to_owned(), run.stderr.contains("no translation contains all required phrases"))
    };
    let (free, _) = translate(&["--terms", "book.tsv"]);
    assert_eq!(free, "Emma livre huit ans.");
    for constraint in [["--prefix", "Emma aura "], ["--require", "aura"], ["--avoid", "livre huit"]] {
        let (text, is_unmet) = translate(&[&constraint[..], &["--terms", "book.tsv"]].concat());
        assert!(is_unmet, "{constraint:?}: {text}");
        assert_eq!(text, "Emma aura huit ans.", "{constraint:?}");
    }
    let (text, is_unmet) = translate(&["--terms", "two.tsv"]);
    let has = |word: &str| text.split(' ').any(|one| one == word);
    assert!(has("va") != has("soit") && is_unmet, "two terms in the place of one word: {text}");
}

#[test]
fn samples_are_reproducible_and_differ_by_seed_and_line() {
    let sample = |arguments: &[&str], input: &str| {
        translate(&[&["--sample", "--temperature", "3"], arguments].concat(), input).worked().to_owned()
    };
    let twice = "the red fox sleeps\nthe red fox sleeps\n";
    let sampled = sample(&["--n-best", "8"], twice);
    assert_eq!(sampled, sample(&["--n-best", "8", "--threads", "1"], twice));
    assert_ne!(sampled, sample(&["--n-best", "8", "--seed", "2"], twice));
    let texts = |id: &str| -> Vec<&str> { sampled.lines().filter_map(|line| line.strip_prefix(id)).collect() };
    assert_eq!((texts("0 |||").len(), texts("1 |||").len()), (8, 8));
    assert_ne!(texts("0 |||"), texts("1 |||"));
    assert_eq!(sample(&["--top-k", "1"], twice), "rufo mi dorma .\nrufo mi dorma .\n");
    assert_eq!(sample(&["--top-p", "0.01"], twice), "rufo mi dorma .\nrufo mi dorma .\n");
    assert!(sample(&["--prefix", "vela"], twice).lines().all(|line| line.starts_with("vela")));
}

#[test]
fn mbr_selects_the_consensus_sample() {
    let input = "the red fox sleeps\n\nthe grey owl runs\n";
    let best = translate(&["--mbr", "20", "--n-best", "3"], input);
    let lines: Vec<&str> = best.worked().lines().collect();
    assert!(lines[0].starts_with("0 ||| rufo mi dorma . ||| "), "{best:?}");
    let scores: Vec<f64> = lines.iter().map(|line| line.rsplit(' ').next().unwrap().parse().unwrap()).collect();
    assert!(scores.iter().all(|score| (0.0..=100.0).contains(score)), "{best:?}");
    assert!(
        lines.iter().any(|line| line.starts_with("1 |||  |||")),
        "an empty line has its empty translation: {best:?}"
    );
    let evaluated =
        TestDir::with_pairs().run(&["evaluate", "--model", model_path(), "--pairs", "pairs.tsv", "--mbr", "10"]);
    assert!(evaluated.worked().contains("BLEU"), "{evaluated:?}");
}

#[test]
fn length_penalty_follows_the_chosen_formula() {
    let score = |formula: &str, penalty: &str| {
        let formula = ["--length-formula", formula, "--length-penalty", penalty];
        let others = ["--coverage-penalty", "0", "--brevity-penalty", "0", "--format", "jsonl"];
        let text = translate(&[&formula[..], &others].concat(), "the red fox sleeps\n");
        let best = text.json();
        assert_eq!(best["translation"], "rufo mi dorma .");
        best["score"].as_f64().unwrap()
    };
    // Four words and the end symbol.
    let (sum, length) = (score("power", "0"), 5.0f64);
    for (found, expected) in [
        (score("power", "2"), sum / length.powi(2)),
        (score("wu", "2"), sum / ((5.0 + length) / 6.0).powi(2)),
        (score("reward", "0.5"), sum + 0.5 * length),
    ] {
        assert!((found - expected).abs() < 1e-4, "{found} {expected}");
    }
}

#[test]
fn refuses_contradictory_constraints() {
    for (arguments, code, parts) in [
        (&["--require", "ku", "--avoid", "ku"][..], 2, &["--avoid \"ku\"", "--require"][..]),
        (&["--prefix", "rufo ku", "--avoid", " ku "], 2, &["--avoid \"ku\"", "--prefix"]),
        (&["--require", " "], 2, &["--require needs a word"]),
        (&["--avoid", ""], 2, &["--avoid needs a word"]),
        (&["--require", "日本"], 1, &["\"日本\"", "no tokens"]),
        (&["--prefix", "日本"], 1, &["\"日本\"", "no tokens"]),
        (&["--temperature", "0", "--sample"], 2, &["--temperature must be above 0"]),
        (&["--temperature", "NaN", "--sample"], 2, &["--temperature must be above 0"]),
        (&["--length-formula", "reward", "--length-penalty", "1e308"], 2, &["--length-penalty", "1e300", "not 1e308"]),
        (&["--coverage-penalty", "1e308"], 2, &["--coverage-penalty", "1e300", "not 1e308"]),
        (&["--temperature", "2"], 2, &["--temperature", "--sample or --mbr"]),
        (&["--top-k", "2"], 2, &["--top-k", "--sample or --mbr"]),
        (&["--top-p", "0", "--sample"], 2, &["--top-p must be above 0"]),
        (&["--top-p", "1.5", "--sample"], 2, &["--top-p must be above 0"]),
        (&["--mbr", "3", "--n-best", "4"], 2, &["--n-best 4", "--mbr"]),
        (&["--terms", "gone.tsv"], 1, &["gone.tsv", "cannot read"]),
    ] {
        translate(arguments, "the red fox sleeps\n").refused_with(code, parts);
    }
    translate(&["--prefixes"], "the red fox\t日本\n").refused_with(1, &["\"日本\"", "no tokens"]);
    for arguments in [&["--sample", "--beam", "3"][..], &["--mbr", "4", "--require", "ku"], &["--no-repeat", "0"]] {
        assert_eq!(translate(arguments, "the red fox\n").code, Some(2), "{arguments:?}");
    }
}

#[test]
fn refuses_phrases_that_are_too_long() {
    let dir = TestDir::new();
    let (longest, too_long) = ("a".repeat(256), "a ".repeat(129));
    dir.write("sentence.txt", "the red fox sleeps\n");
    let run = |arguments: &[&str]| {
        dir.run(&[&["translate", "--model", model_path(), "--input", "sentence.txt"], arguments].concat())
    };
    run(&["--require", &too_long]).refused_with(2, &["--require: a phrase can have 256 characters, not 258"]);
    run(&["--avoid", &too_long]).refused_with(2, &["--avoid: a phrase can have 256 characters, not 258"]);
    assert_eq!(run(&["--avoid", &longest]).worked(), "rufo mi dorma .\n");
    dir.write("terms.tsv", format!("fox\tku\nowl\t{too_long}\n"));
    run(&["--terms", "terms.tsv"]).refused_with(1, &["terms.tsv:2: a translation can have 256 characters, not 258"]);
    dir.write("terms.tsv", "fox\tku\nowl\t\n");
    run(&["--terms", "terms.tsv"]).refused_with(1, &["terms.tsv:2: expected a term and its translation"]);
    dir.write("terms.tsv", format!("{too_long}\tku\n"));
    run(&["--terms", "terms.tsv"]).refused_with(1, &["terms.tsv:1: a term can have 256 characters, not 258"]);
}

#[test]
fn refuses_too_many_constrained_tokens() {
    let phrase = "ku mi ".repeat(20);
    let required = ["--require", &phrase].repeat(7);
    let found = translate(&required, "the red fox sleeps\n");
    found.refused_with(1, &["the phrases have 280 tokens in total; at most 256 are allowed"]);
}

#[test]
fn refuses_a_prefix_that_is_too_long() {
    let dir = TestDir::new();
    dir.write("config.json", format!("{{\"prefix\": \"{}\"}}", "ku mi ".repeat(500_000)));
    let arguments = ["translate", "--model", model_path(), "--config", "config.json"];
    let found = dir.run_with_input(&arguments, "the red fox sleeps\n");
    found.refused_with(1, &["tokens; at most 500 are allowed"]);
}
