//! Attention options of the program: every score, several heads, temperatures and hard attention.

use crate::common::tensors::Tensors;
use crate::common::{PAIRS, TestDir, json, tsv};
use serde_json::Value;

/// Every kind of attention: options of `train` and the description `inspect` prints.
const KINDS: [(&[&str], &str); 13] = [
    (&["--attention", "additive"], "additive"),
    (&["--attention", "dot"], "dot"),
    (&["--attention", "scaled-dot"], "scaled-dot"),
    (&["--attention", "general"], "general"),
    (&["--attention", "cosine"], "cosine"),
    (&["--attention", "mean"], "mean"),
    (&["--attention", "last"], "last"),
    (&["--heads", "4"], "additive, 4 heads"),
    (&["--attention", "cosine", "--heads", "2"], "cosine, 2 heads"),
    (
        &["--attention", "scaled-dot", "--heads", "4", "--attention-temperature", "0.5"],
        "scaled-dot, 4 heads, temperature 0.5",
    ),
    (&["--hard-attention"], "additive, hard (sampled in training, straight-through derivative)"),
    (&["--hard-attention", "exact"], "additive, hard (marginalized exactly)"),
    (&["--hard-attention", "exact", "--guided-alignment", "0.1"], "additive, hard (marginalized exactly)"),
];

/// Attention of every aligned pair: a row per target token, with the weight of `</s>` last.
fn aligned(dir: &TestDir, options: &[&str]) -> Vec<Vec<Vec<f64>>> {
    let arguments = ["align", "--model", "model", "--pairs", "pairs.tsv", "--format", "jsonl", "--quiet"];
    let outcome = dir.run(&[&arguments, options].concat());
    let number = |weight: &Value| weight.as_f64().unwrap();
    let rows = |line: &str| {
        let pair = json(line);
        let rows = pair["attention"].as_array().unwrap().iter().zip(pair["eos"].as_array().unwrap());
        rows.map(|(row, end)| row.as_array().unwrap().iter().chain([end]).map(number).collect()).collect()
    };
    outcome.worked().lines().map(rows).collect()
}

fn all(pairs: &[Vec<Vec<f64>>]) -> impl Iterator<Item = &Vec<f64>> {
    pairs.iter().flatten()
}

fn with_model(options: &[&str]) -> TestDir {
    let dir = TestDir::with_pairs();
    dir.train("model", &[&["--max-epochs", "3", "--schedule", "plateau"], options].concat()).worked();
    dir
}

#[test]
fn every_score_trains_resumes_and_is_inspected() {
    for (options, name) in KINDS {
        println!("{name}");
        let dir = with_model(options);
        dir.train("stopped", &[&["--max-epochs", "2", "--schedule", "plateau"], options].concat()).worked();
        dir.run(&["train", "--out", "stopped", "--resume", "--max-epochs", "3", "--quiet"]).worked();
        for file in ["model.safetensors", "resume.safetensors"] {
            let [whole, resumed] =
                ["model", "stopped"].map(|run| Tensors::read(&dir.read(&format!("{run}/{file}"))).data);
            assert!(whole == resumed, "{file} of the resumed run differs");
        }
        let inspected = dir.run(&["inspect", "model"]);
        let line = inspected.worked().lines().find(|line| line.starts_with("attention ")).unwrap();
        assert_eq!(line.split_once(' ').unwrap().1.trim(), format!("{name}; conditional decoder"));
        let translated = dir.run(&["translate", "--model", "model", "the red fox sleeps"]);
        assert_eq!(translated.worked().lines().count(), 1);
        let evaluated = dir.run(&["evaluate", "--model", "model", "--pairs", "pairs.tsv", "--json", "--quiet"]);
        assert!(json(evaluated.worked())["perplexity"].as_f64().unwrap() < 60.0);
        for row in all(&aligned(&dir, &[])) {
            assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-5 && row.iter().all(|&weight| weight >= 0.0), "{row:?}");
        }
    }
}

#[test]
fn attention_diagnostics_are_reported_where_meaningful() {
    for (options, has_entropy, has_attention) in [
        (&["--attention", "dot"][..], true, true),
        (&["--hard-attention"], false, true),
        (&["--attention", "mean"], false, false),
    ] {
        let dir = with_model(options);
        let log = dir.text("model/log.jsonl");
        let validation = log.lines().map(json).find(|line| line["event"] == "validation").unwrap();
        assert_eq!(validation["attention"].is_object(), has_attention, "{options:?}");
        assert_eq!(validation["attention"]["entropy"].is_number(), has_entropy, "{options:?}");
        assert_eq!(validation["attention"]["coverage"].is_number(), has_attention, "{options:?}");
    }
}

#[test]
fn overrides_temperature_and_hard_attention_of_a_trained_model() {
    let dir = with_model(&["--attention", "scaled-dot", "--heads", "2"]);
    let largest = |options: &[&str]| {
        let pairs = aligned(&dir, options);
        let rows: Vec<f64> = all(&pairs).map(|row| row.iter().copied().fold(0.0, f64::max)).collect();
        rows.iter().sum::<f64>() / rows.len() as f64
    };
    let (default, sharp, uniform) =
        (largest(&[]), largest(&["--attention-temperature", "0.01"]), largest(&["--attention-temperature", "1000"]));
    assert!(sharp > default && default > uniform && (uniform - 0.2).abs() < 0.01, "{sharp} {default} {uniform}");
    let hard = aligned(&dir, &["--hard-attention", "--head", "2"]);
    assert!(all(&hard).all(|row| row.iter().all(|&weight| weight == 0.0 || weight == 1.0)), "{hard:?}");
    let hard = largest(&["--hard-attention"]);
    assert!((0.5..=1.0).contains(&hard), "mean of two hard heads: {hard}");
    for command in [
        &["translate", "--model", "model", "the red fox"][..],
        &["evaluate", "--model", "model", "--pairs", "pairs.tsv"],
    ] {
        dir.run(&[command, &["--hard-attention", "--attention-temperature", "0.7", "--quiet"]].concat()).worked();
    }
}

#[test]
fn exact_hard_attention_reports_posteriors_and_needs_one_head() {
    let dir = with_model(&["--hard-attention", "exact"]);
    // A translator with attention on one token at a time still works.
    let hard = aligned(&dir, &["--hard-attention"]);
    assert!(all(&hard).all(|row| row.iter().all(|&weight| weight == 0.0 || weight == 1.0)), "{hard:?}");
    assert!(all(&aligned(&dir, &[])).any(|row| row.iter().any(|&weight| weight > 0.0 && weight < 1.0)));
    let train = ["train", "pairs.tsv", "--out", "other", "--hard-attention", "exact"];
    dir.run(&[&train[..], &["--heads", "2"]].concat()).refused_with(2, &["hard-attention exact needs one head, not 2"]);
    dir.run(&[&train[..], &["--attention", "mean"]].concat()).refused_with(2, &["hard-attention needs a score"]);
}

#[test]
fn exports_each_head() {
    let dir = with_model(&["--heads", "2"]);
    let [mean, first, second] = [&[][..], &["--head", "1"], &["--head", "2"]]
        .map(|options| aligned(&dir, options).into_iter().flatten().flatten());
    let mut differ = false;
    for ((mean, first), second) in mean.zip(first).zip(second) {
        assert!((mean - (first + second) / 2.0).abs() < 1e-6, "{mean} {first} {second}");
        differ |= (first - second).abs() > 1e-3;
    }
    assert!(differ, "both heads are equal");
}

#[test]
fn refuses_attention_links_without_attention() {
    let dir = with_model(&["--attention", "mean"]);
    for row in all(&aligned(&dir, &[])) {
        assert!(row.iter().all(|weight| (weight - 0.2).abs() < 1e-6), "{row:?}");
    }
    let align = ["align", "--model", "model", "--pairs", "pairs.tsv", "--format", "pharaoh", "--quiet"];
    let by_default = dir.run(&align);
    let by_statistics = dir.run(&[&align[..], &["--links-from", "hmm"]].concat());
    assert_eq!(by_default.worked(), by_statistics.worked());
    dir.run(&[&align[..], &["--links-from", "attention"]].concat())
        .refused_with(2, &["model", "without attention (mean)", "--links-from"]);
    // Without an aligner there are no links.
    std::fs::remove_file(dir.path("model/aligner.safetensors")).unwrap();
    assert_eq!(dir.run(&align).worked(), "\n".repeat(PAIRS.len()));
}

#[test]
fn refuses_invalid_attention_options() {
    let dir = TestDir::with_pairs();
    let refused: [(&[&str], &[&str]); 14] = [
        (&["--attention", "soft"], &["soft", "additive", "scaled-dot"]),
        (&["--heads", "0"], &["--heads must be at least 1"]),
        (&["--heads", "3"], &["--heads must divide the hidden size", "32"]),
        (&["--attention-temperature", "0"], &["--attention-temperature must be above 0, not 0"]),
        (&["--attention-temperature", "-1"], &["--attention-temperature must be above 0, not -1"]),
        (&["--attention-temperature", "nan"], &["--attention-temperature must be above 0, not NaN"]),
        (&["--attention-temperature", "inf"], &["--attention-temperature must be above 0, not inf"]),
        (&["--attention", "mean", "--heads", "2"], &["--heads", "score", "mean"]),
        (&["--attention", "last", "--attention-temperature", "2"], &["--attention-temperature", "score"]),
        (&["--attention", "mean", "--hard-attention"], &["--hard-attention", "score"]),
        (&["--attention", "last", "--guided-alignment=0.2"], &["--guided-alignment", "learned attention", "last"]),
        (&["--heads", "many"], &["--heads", "many"]),
        (&["--attention-temperature", "warm"], &["--attention-temperature", "warm"]),
        (&["--attention"], &["--attention"]),
    ];
    for (options, parts) in refused {
        let outcome = dir.train("out", options);
        assert_eq!(outcome.code, Some(2), "{outcome:?}");
        for part in parts {
            assert!(outcome.stderr.contains(part), "{part:?} is missing: {}", outcome.stderr);
        }
        assert!(!dir.path("out/config.json").exists());
    }
}

#[test]
fn refuses_overrides_that_the_model_does_not_support() {
    let dir = with_model(&["--heads", "2"]);
    let align = ["align", "--model", "model", "--pairs", "pairs.tsv", "--quiet"];
    let refused: [(&[&str], &[&str]); 7] = [
        (&["--attention-temperature", "1e-40"], &["--attention-temperature must be at least 1e-30", "not 1e-40"]),
        (&["--head", "3"], &["--head must be between 1 and 2", "not 3"]),
        (&["--head", "0"], &["--head must be between 1 and 2", "not 0"]),
        (&["--attention-temperature", "0"], &["--attention-temperature must be above 0"]),
        (&["--attention-temperature", "-2"], &["--attention-temperature must be above 0"]),
        (&["--links-from", "hmm", "--head", "1"], &["--head", "--links-from"]),
        (&["--links-from", "pairs", "--hard-attention"], &["--hard-attention", "--links-from"]),
    ];
    for (options, parts) in refused {
        dir.run(&[&align[..], options].concat()).refused_with(2, parts);
    }
    for (from, to, parts) in [
        ("\"score\": \"additive\"", "\"score\": \"telepathic\"", &["telepathic", "additive"][..]),
        ("\"heads\": 2", "\"heads\": 5", &["heads must divide"]),
        ("\"temperature\": 1.0", "\"temperature\": 0.0", &["attention-temperature must be above 0"]),
        ("\"choice\": \"soft\"", "\"choice\": \"hasty\"", &["hasty"]),
    ] {
        let config = dir.text("model/config.json");
        assert!(config.contains(from), "{config}");
        dir.write("model/config.json", config.replace(from, to));
        dir.run(&align).refused_with(1, &[&["model/config.json"], parts].concat());
        dir.write("model/config.json", config);
    }
}

#[test]
fn trains_both_decoders_and_records_which() {
    let size = |options: &[&str]| {
        let dir = with_model(options);
        let inspected = dir.run(&["inspect", "model"]);
        let line = inspected.worked().lines().find(|line| line.starts_with("attention ")).unwrap().to_owned();
        (line, dir.read("model/model.safetensors").len(), json(&dir.text("model/config.json")))
    };
    let (conditional, larger, config) = size(&[]);
    assert!(conditional.ends_with("additive; conditional decoder"), "{conditional}");
    assert_eq!(config["architecture"]["decoder"], "conditional");
    let (bahdanau, smaller, config) = size(&["--decoder", "bahdanau"]);
    assert!(bahdanau.ends_with("additive; bahdanau decoder") && smaller < larger, "{bahdanau}");
    assert_eq!(config["architecture"]["decoder"], Value::Null, "the original decoder is not written");
}

#[test]
fn default_attention_is_not_written_to_config() {
    let dir = with_model(&[]);
    assert_eq!(json(&dir.text("model/config.json"))["architecture"]["attention"], Value::Null);
    let chosen = with_model(&["--attention", "additive", "--heads", "1", "--attention-temperature", "1"]);
    assert!(chosen.read("model/model.safetensors") == dir.read("model/model.safetensors"));
}

#[test]
fn guided_alignment_trains_every_score() {
    let dir = TestDir::new();
    dir.write("pairs.tsv", tsv(&PAIRS).repeat(20));
    for (kind, options) in
        [&["--attention", "general"][..], &["--heads", "4"], &["--hard-attention"]].iter().enumerate()
    {
        // From so few pairs the aligner learns only the diagonal; unguided attention is one word ahead of it.
        let diagonal_weight = |guidance: &str| {
            let out = format!("model-{kind}{guidance}");
            dir.train(&out, &[&["--max-epochs", "1", guidance], *options].concat()).worked();
            let align = ["align", "--model", &out, "--pairs", "pairs.tsv", "--format", "jsonl", "--quiet"];
            let weight = |line: &str| json(line)["attention"][0][0].as_f64().unwrap();
            dir.run(&align).worked().lines().map(weight).sum::<f64>() / 240.0
        };
        let [free, guided] = ["--guided-alignment=0", "--guided-alignment=2"].map(diagonal_weight);
        assert!(guided > 0.8 && free < 0.5, "{options:?}: {free} {guided}");
    }
}
