//! BLEU, chrF and the 13a tokenisation against scores that sacrebleu computed
//! (`scripts/reference_metrics.py`).

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use serde::Deserialize;
use softalign::metrics::{bleu, chrf, tokenize_13a};

#[derive(Deserialize)]
struct Corpus {
    name: String,
    hypotheses: Vec<String>,
    references: Vec<String>,
    bleu: f64,
    precisions: [f64; 4],
    brevity_penalty: f64,
    chrf: f64,
    tokenized: Vec<String>,
}

fn corpora() -> Vec<Corpus> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference/metrics.json");
    let corpora: Vec<Corpus> = serde_json::from_reader(BufReader::new(File::open(path).unwrap())).unwrap();
    assert!(!corpora.is_empty());
    corpora
}

fn assert_close(actual: f64, expected: f64, what: &str) {
    let tolerance = 1e-6 * expected.abs().max(1.0);
    assert!((actual - expected).abs() <= tolerance, "{what}: {actual} instead of {expected}");
}

#[test]
fn tokens_are_those_of_sacrebleu() {
    for corpus in corpora() {
        assert_eq!(corpus.hypotheses.len(), corpus.tokenized.len());
        for (hypothesis, tokenized) in corpus.hypotheses.iter().zip(&corpus.tokenized) {
            assert_eq!(&tokenize_13a(hypothesis), tokenized, "{}", corpus.name);
        }
    }
}

#[test]
fn bleu_is_that_of_sacrebleu() {
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
fn chrf_is_that_of_sacrebleu() {
    for corpus in corpora() {
        let found = chrf(&corpus.hypotheses, &corpus.references);
        assert_close(found, corpus.chrf, &format!("chrF of {}", corpus.name));
    }
}
