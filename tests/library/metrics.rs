//! BLEU with its tokenizations, chrF, TER, confidence intervals and significance tests against sacrebleu
//! (`scripts/reference_metrics.py`).

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use serde::Deserialize;
use softalign::metrics::{
    BleuStats, BleuTokenizer, ChrfStats, SufficientStats, TerStats, bleu, chrf, chrf_pp, confidence, signature,
    significance, translation_edit_rate,
};

#[derive(Deserialize)]
struct ReferenceCorpus {
    name: String,
    hypotheses: Vec<String>,
    references: Vec<String>,
    tokenizers: BTreeMap<String, ReferenceBleu>,
    chrf: f64,
    chrf_pp: f64,
    ter: f64,
}

/// BLEU by one tokenization.
#[derive(Deserialize)]
struct ReferenceBleu {
    bleu: f64,
    precisions: [f64; 4],
    brevity_penalty: f64,
    tokenized: Vec<String>,
    signature: String,
}

impl ReferenceCorpus {
    /// Returns BLEU by each tokenization.
    fn by_tokenizer(&self) -> impl Iterator<Item = (BleuTokenizer, &ReferenceBleu)> {
        assert_eq!(self.tokenizers.len(), BleuTokenizer::ALL.len());
        self.tokenizers.iter().map(|(name, bleu)| (name.parse().unwrap(), bleu))
    }
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
        for (tokenizer, expected) in corpus.by_tokenizer() {
            let tokenized: Vec<String> = corpus.hypotheses.iter().map(|text| tokenizer.tokenize(text)).collect();
            assert_eq!(tokenized, expected.tokenized, "{} by {tokenizer}", corpus.name);
            assert_eq!(signature(false, tokenizer), expected.signature);
        }
    }
}

#[test]
fn bleu_matches_sacrebleu() {
    for corpus in corpora() {
        for (tokenizer, expected) in corpus.by_tokenizer() {
            let name = format!("{} by {tokenizer}", corpus.name);
            let found = bleu(&corpus.hypotheses, &corpus.references, tokenizer);
            assert_close(found.score, expected.bleu, &format!("BLEU of {name}"));
            assert_close(found.brevity_penalty, expected.brevity_penalty, &format!("brevity penalty of {name}"));
            for (order, (actual, expected)) in (1..).zip(found.precisions.into_iter().zip(expected.precisions)) {
                assert_close(actual, expected, &format!("{order}-grams of {name}"));
            }
        }
    }
}

#[test]
fn chrf_matches_sacrebleu() {
    for corpus in corpora() {
        let found = chrf(&corpus.hypotheses, &corpus.references);
        assert_close(found, corpus.chrf, &format!("chrF of {}", corpus.name));
        let found = chrf_pp(&corpus.hypotheses, &corpus.references);
        assert_close(found, corpus.chrf_pp, &format!("chrF++ of {}", corpus.name));
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
    let of_bleu = |text: &str, reference: &str| BleuStats::of_segment(text, reference, BleuTokenizer::V13a);
    check_significance(&systems, of_bleu, &systems.bleu, "BLEU");
    check_significance(&systems, ChrfStats::of_segment, &systems.chrf, "chrF");
    check_significance(&systems, TerStats::of_segment, &systems.ter, "TER");
}

fn check_significance<C: SufficientStats>(
    systems: &Systems,
    of_segment: fn(&str, &str) -> C,
    expected: &ReferenceStats,
    label: &str,
) {
    let stats = |texts: &[String]| -> Vec<C> {
        texts.iter().zip(&systems.references).map(|(text, reference)| of_segment(text, reference)).collect()
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
