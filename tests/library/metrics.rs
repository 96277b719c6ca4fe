//! BLEU, chrF, TER, confidence intervals, significance tests and 13a tokenization against sacrebleu
//! (`scripts/reference_metrics.py`).

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use serde::Deserialize;
use softalign::metrics::{
    BleuStats, ChrfStats, FromSegment, TerStats, bleu, chrf, confidence, significance, tokenize_13a,
    translation_edit_rate,
};

#[derive(Deserialize)]
struct ReferenceCorpus {
    name: String,
    hypotheses: Vec<String>,
    references: Vec<String>,
    bleu: f64,
    precisions: [f64; 4],
    brevity_penalty: f64,
    chrf: f64,
    ter: f64,
    tokenized: Vec<String>,
}

fn corpora() -> Vec<ReferenceCorpus> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference/metrics.json");
    let corpora: Vec<ReferenceCorpus> = serde_json::from_reader(BufReader::new(File::open(path).unwrap())).unwrap();
    assert!(!corpora.is_empty());
    corpora
}

fn assert_close(actual: f64, expected: f64, label: &str) {
    let tolerance = 1e-6 * expected.abs().max(1.0);
    assert!((actual - expected).abs() <= tolerance, "{label}: {actual} instead of {expected}");
}

#[test]
fn tokenizes_like_sacrebleu() {
    for corpus in corpora() {
        assert_eq!(corpus.hypotheses.len(), corpus.tokenized.len());
        for (hypothesis, tokenized) in corpus.hypotheses.iter().zip(&corpus.tokenized) {
            assert_eq!(&tokenize_13a(hypothesis), tokenized, "{}", corpus.name);
        }
    }
}

#[test]
fn bleu_matches_sacrebleu() {
    for corpus in corpora() {
        let name = &corpus.name;
        let found = bleu(&corpus.hypotheses, &corpus.references);
        assert_close(found.score, corpus.bleu, &format!("BLEU of {name}"));
        assert_close(found.brevity_penalty, corpus.brevity_penalty, &format!("brevity penalty of {name}"));
        for (order, (actual, expected)) in (1..).zip(found.precisions.into_iter().zip(corpus.precisions)) {
            assert_close(actual, expected, &format!("{order}-grams of {name}"));
        }
    }
}

#[test]
fn chrf_matches_sacrebleu() {
    for corpus in corpora() {
        let found = chrf(&corpus.hypotheses, &corpus.references);
        assert_close(found, corpus.chrf, &format!("chrF of {}", corpus.name));
    }
}

#[test]
fn ter_matches_sacrebleu() {
    for corpus in corpora() {
        let found = translation_edit_rate(&corpus.hypotheses, &corpus.references);
        assert_close(found, corpus.ter, &format!("TER of {}", corpus.name));
    }
}

/// Hypotheses of two systems, and sacrebleu's comparison of `system` with `baseline`.
#[derive(Deserialize)]
struct Systems {
    references: Vec<String>,
    baseline: Vec<String>,
    system: Vec<String>,
    bleu: ReferenceStats,
    chrf: ReferenceStats,
    ter: ReferenceStats,
}

#[derive(Deserialize)]
struct ReferenceStats {
    mean: f64,
    half_width: f64,
    bootstrap: f64,
    randomization: f64,
}

/// Both programs draw a thousand random samples, so results differ by sampling noise.
#[test]
fn significance_matches_sacrebleu_within_sampling_noise() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference/significance.json");
    let systems: Systems = serde_json::from_reader(BufReader::new(File::open(path).unwrap())).unwrap();
    check_significance::<BleuStats>(&systems, &systems.bleu, "BLEU");
    check_significance::<ChrfStats>(&systems, &systems.chrf, "chrF");
    check_significance::<TerStats>(&systems, &systems.ter, "TER");
}

fn check_significance<C: FromSegment>(systems: &Systems, expected: &ReferenceStats, label: &str) {
    let stats = |texts: &[String]| -> Vec<C> {
        texts.iter().zip(&systems.references).map(|(text, reference)| C::from_segment(text, reference)).collect()
    };
    let (baseline, system) = (stats(&systems.baseline), stats(&systems.system));
    let interval = confidence(&system, 1);
    assert!((interval.mean - expected.mean).abs() < 0.1 * expected.half_width, "{label}: {interval:?}");
    let ratio = interval.half_width / expected.half_width;
    assert!((ratio - 1.0).abs() < 0.15, "{label}: {interval:?} {}", expected.half_width);
    let found = significance(&baseline, &system, 1);
    for (found, expected) in [(found.bootstrap, expected.bootstrap), (found.randomization, expected.randomization)] {
        let noise = (expected * (1.0 - expected) / 1000.0).sqrt();
        assert!((found - expected).abs() < 5.0 * noise + 0.002, "{label}: {found} instead of {expected}");
    }
}
