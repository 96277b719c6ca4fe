//! `evaluate --by-length`, its figure, and evaluation of several models.

use crate::common::{Outcome, PAIRS, TestDir, model_path, tsv};
use serde_json::Value;

/// Pairs of 1 to 9 words, 12 of each length.
fn ragged() -> String {
    let line = |(index, length): (usize, usize)| {
        let words = |side: fn(&(&'static str, &'static str)) -> &'static str| {
            let all: Vec<&str> =
                PAIRS.iter().cycle().skip(index).flat_map(|pair| side(pair).split(' ')).take(length).collect();
            all.join(" ")
        };
        format!("{}\t{}\n", words(|pair| pair.0), words(|pair| pair.1))
    };
    (1..=9).flat_map(|length| (0..12).map(move |index| (index, length))).map(line).collect()
}

fn dir() -> TestDir {
    let dir = TestDir::with_model();
    dir.write("ragged.tsv", ragged());
    dir
}

fn evaluate(dir: &TestDir, options: &[&str]) -> Outcome {
    dir.run(&[&["evaluate", "--pairs", "ragged.tsv", "--beam", "1", "--quiet"], options].concat())
}

/// Bounds and number of pairs of each length bucket.
fn buckets(scores: &Value) -> Vec<[u64; 3]> {
    let bounds = |bucket: &Value| ["from", "to", "pairs"].map(|key| bucket[key].as_u64().unwrap());
    scores["by_length"].as_array().unwrap().iter().map(bounds).collect()
}

/// Returns the number of elements of an SVG document, and asserts that its tags are well-formed.
fn elements(document: &str) -> usize {
    let (mut open, mut count) = (Vec::new(), 0);
    for tag in document.split('<').skip(1) {
        let (tag, text) = tag.split_once('>').unwrap_or_else(|| panic!("<{tag} is not closed"));
        assert!(!text.contains('"') && tag.matches('"').count() % 2 == 0, "<{tag}>{text}");
        let name = tag.split_whitespace().next().unwrap_or_default();
        match name.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name)),
            None if tag.ends_with('/') => count += 1,
            None => {
                open.push(name);
                count += 1;
            }
        }
    }
    assert!(open.is_empty(), "{open:?} are not closed");
    count
}

#[test]
fn each_pair_falls_into_one_bucket() {
    let dir = dir();
    dir.write("ragged.gold", "0-0\n".repeat(108));
    for gold in [&[][..], &["--gold", "ragged.gold"]] {
        let model = [&["--model", "model"], gold].concat();
        let plain = evaluate(&dir, &[&model[..], &["--json"]].concat());
        let by_length = evaluate(&dir, &[&model[..], &["--json", "--by-length"]].concat());
        let whole = plain.worked().trim_end().strip_suffix('}').unwrap();
        assert!(by_length.worked().starts_with(&format!("{whole},\"by_length\":[{{\"from\":1,")), "{by_length:?}");
        let scores = by_length.json();
        let buckets = buckets(&scores);
        assert_eq!(buckets, [[1, 2, 24], [3, 4, 24], [5, 6, 24], [7, 8, 24], [9, 10, 12]]);
        for bucket in scores["by_length"].as_array().unwrap() {
            for key in ["bleu", "chrf", "exact_match", "perplexity", "mean_length"] {
                assert!(bucket[key].as_f64().unwrap() >= 0.0, "{key}: {bucket}");
            }
            assert_eq!(bucket.get("aer").is_some(), !gold.is_empty(), "{bucket}");
        }
        let text = evaluate(&dir, &model);
        let table = evaluate(&dir, &[&model[..], &["--by-length"]].concat());
        let table = table.worked().strip_prefix(&format!("{}\n", text.worked())).unwrap();
        let lines: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(lines.len(), 6, "{table}");
        assert_eq!(lines[1][..2], ["1-2", "24"]);
        assert_eq!(lines[0].last() == Some(&"AER"), !gold.is_empty());
    }
}

#[test]
fn bucket_scores_equal_scores_of_its_pairs_alone() {
    let dir = dir();
    let all = evaluate(&dir, &["--model", "model", "--json", "--by-length"]).json();
    let five_or_six = |line: &&str| (5..=6).contains(&line.split('\t').next().unwrap().split(' ').count());
    let alone: Vec<String> = ragged().lines().filter(five_or_six).map(|line| format!("{line}\n")).collect();
    dir.write("ragged.tsv", alone.concat());
    let alone = evaluate(&dir, &["--model", "model", "--json"]).json();
    for key in ["pairs", "bleu", "chrf", "exact_match", "word_error_rate", "character_error_rate"] {
        assert_eq!(all["by_length"][2][key], alone[key], "{key}");
    }
    let perplexities = [&all["by_length"][2], &alone].map(|scores| scores["perplexity"].as_f64().unwrap());
    assert!((perplexities[0] / perplexities[1] - 1.0).abs() < 1e-5, "{perplexities:?}");
}

#[test]
fn few_pairs_form_one_bucket() {
    let dir = TestDir::with_pairs();
    let evaluate = ["evaluate", "--pairs", "pairs.tsv", "--model", model_path(), "--json", "--by-length", "--figure"];
    let scores = dir.run(&[&evaluate[..], &["one.svg"]].concat());
    assert_eq!(buckets(&scores.json()), [[4, 4, 12]]);
    elements(&dir.text("one.svg"));
}

#[test]
fn measures_several_models_on_the_same_pairs() {
    let dir = dir();
    dir.train("other", &["--max-epochs", "1"]).worked();
    let models = ["--model", "four heads=model", "--model", "other", "--by-length"];
    let compared = evaluate(&dir, &[&models[..], &["--json"]].concat()).json();
    let compared = compared["models"].as_array().unwrap();
    assert_eq!(compared.len(), 2);
    for (entry, (name, path)) in compared.iter().zip([("four heads", "model"), ("other", "other")]) {
        assert_eq!((&entry["name"], &entry["model_dir"]), (&name.into(), &path.into()));
        let mut alone = evaluate(&dir, &["--model", path, "--json", "--by-length"]).json();
        alone["name"] = name.into();
        alone["model_dir"] = path.into();
        assert_eq!(*entry, alone);
    }
    assert_eq!(buckets(&compared[0]), buckets(&compared[1]));
    assert_ne!(compared[0]["bleu"], compared[1]["bleu"]);

    let table = evaluate(&dir, &["--model", "four heads=model", "--model", "other"]).worked().to_owned();
    let [names, rows @ ..] = &table.lines().collect::<Vec<_>>()[..] else { panic!("{table}") };
    assert_eq!(
        names.split("  ").filter(|name| !name.is_empty()).map(str::trim).collect::<Vec<_>>(),
        ["four heads", "other"]
    );
    let blocks = ["model", "other"].map(|path| evaluate(&dir, &["--model", path]).worked().to_owned());
    for (row, (first, second)) in rows.iter().zip(blocks[0].lines().zip(blocks[1].lines())) {
        let cell = |line: &str| line[14..].trim().to_owned();
        assert_eq!(row[..14], first[..14], "{table}");
        let both = cell(row).split_whitespace().collect::<Vec<_>>().join(" ");
        // The signature is that of both systems.
        let expected =
            if first.starts_with("BLEU is") { cell(first) } else { format!("{} {}", cell(first), cell(second)) };
        assert_eq!(both, expected, "{table}");
    }
}

#[test]
fn label_changes_nothing_for_one_model() {
    let dir = dir();
    let named = evaluate(&dir, &["--model", "m & m=model", "--json"]);
    assert_eq!(named.worked(), evaluate(&dir, &["--model", "model", "--json"]).worked());
}

#[test]
fn accepts_directories_with_an_equals_sign() {
    let dir = dir();
    std::fs::rename(dir.path("model"), dir.path("rate=0.1")).unwrap();
    evaluate(&dir, &["--model", "rate=0.1", "--figure", "length.svg"]).worked();
    assert!(dir.text("length.svg").contains(">rate=0.1</text>"));
    evaluate(&dir, &["--model", "high rate=rate=0.1", "--figure", "length.svg"]).worked();
    assert!(dir.text("length.svg").contains(">high rate</text>"));
    evaluate(&dir, &["--model", "rate=0.2"]).refused_with(1, &["rate=0.2", "no such directory"]);
    evaluate(&dir, &["--model", "=rate=0.1"]).refused_with(2, &["=rate=0.1", "NAME=DIR"]);
}

#[test]
fn figure_has_one_line_per_model() {
    let dir = dir();
    let names = ["a=model", "<b> & \"c\"=model", "model", "a=model"];
    for models in 1..=names.len() {
        let options: Vec<&str> = names[..models].iter().flat_map(|name| ["--model", name]).collect();
        let scores = evaluate(&dir, &[&options[..], &["--json", "--figure", "length.svg"]].concat()).json();
        let first = if models == 1 { &scores } else { &scores["models"][0] };
        assert_eq!(buckets(first).len(), 5, "--figure includes --by-length");
        let figure = dir.text("length.svg");
        elements(&figure);
        assert_eq!(figure.matches("stroke-linejoin").count(), models, "{figure}");
        for (index, name) in ["a", "&lt;b&gt; &amp; &quot;c&quot;", "model", "a (2)"].iter().enumerate() {
            assert_eq!(figure.contains(&format!(">{name}</text>")), index < models, "{name}");
        }
        assert_eq!(figure.matches(">24</text>").count(), 4);
        for never in ["<script", "href", "NaN", "inf"] {
            assert!(!figure.contains(never), "{never}");
        }
    }
    assert!(!dir.contents().keys().any(|name| name.ends_with(".tmp")), "{:?}", dir.contents().keys());
}

#[test]
fn refuses_invalid_figures_and_models_without_changing_files() {
    let dir = dir();
    for (figure, code, part) in [
        ("-", 2, "standard output"),
        ("figure.png", 2, "SVG"),
        ("missing/figure.svg", 1, "missing/figure.svg: cannot write"),
        ("model", 1, "model: cannot write"),
    ] {
        evaluate(&dir, &["--model", "model", "--figure", figure]).refused_with(code, &[part]);
    }
    dir.write("figure.svg", "old");
    let before = dir.contents();
    for models in [&["--model", "model", "--model", "missing"][..], &["--model", "a=missing"], &["--model", "model="]] {
        let code = if models.contains(&"model=") { 2 } else { 1 };
        evaluate(&dir, &[models, &["--figure", "figure.svg"]].concat()).refused(code);
    }
    dir.write("empty.tsv", "\t\n \ta\n");
    for option in [&["--by-length"][..], &["--figure", "figure.svg"]] {
        let empty = ["evaluate", "--pairs", "empty.tsv", "--model", "model"];
        dir.run(&[&empty[..], option].concat()).refused_with(1, &["empty.tsv", "no source has a word"]);
    }
    std::fs::remove_file(dir.path("empty.tsv")).unwrap();
    assert_eq!(dir.contents(), before, "files were changed");
}

#[cfg(target_os = "linux")]
#[test]
fn prints_scores_when_the_figure_cannot_be_written() {
    let dir = dir();
    let scores = evaluate(&dir, &["--model", "model", "--figure", "/dev/full"]);
    assert_eq!(scores.code, Some(1), "{scores:?}");
    assert!(scores.stdout.contains("\nsource words ") && scores.stderr.contains("/dev/full"), "{scores:?}");
    let arguments = ["evaluate", "--pairs", "ragged.tsv", "--model", "model", "--figure", "length.svg"];
    let mut child = dir.command(&arguments).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(Outcome::from(child.wait_with_output().unwrap()).code, Some(0));
    elements(&dir.text("length.svg"));
}

#[test]
fn buckets_unusual_sources() {
    let dir = TestDir::new();
    let unusual = ["", "\u{3000}", "👩‍👩‍👧 sings", "the\u{2028}fox", "</s> \u{1b}[31m", "赤いキツネが眠る"];
    let lines: Vec<(&str, &str)> = unusual.iter().cycle().take(60).map(|&source| (source, "mi .")).collect();
    dir.write("unusual.tsv", tsv(&lines));
    let scores = dir.run(&["evaluate", "--pairs", "unusual.tsv", "--model", model_path(), "--json", "--by-length"]);
    assert_eq!(buckets(&scores.json()), [[0, 1, 20], [2, 2, 30], [3, 8, 10]]);
}
