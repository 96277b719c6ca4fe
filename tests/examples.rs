//! The examples, run as a user runs them, in their short form.

use std::path::PathBuf;
use std::process::{Command, Output};

/// An example that Cargo has built beside this test.
fn example(name: &str, arguments: &[&str]) -> Output {
    let test = std::env::current_exe().unwrap();
    let built = test.parent().unwrap().parent().unwrap().join("examples").join(name);
    Command::new(built).args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap()
}

fn worked(output: Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn kernel_regression_fits_the_curve_at_a_suitable_width() {
    let dir = tempfile::tempdir().unwrap();
    let figure: PathBuf = dir.path().join("figure.svg");
    let table = worked(example("kernel_regression", &["--quick", figure.to_str().unwrap()]));
    // The error at the learnt width stands before "at".
    let learnt = |kernel: &str| -> f64 {
        let line = table.lines().find(|line| line.starts_with(kernel)).unwrap();
        line.split(" at ").next().unwrap().split_whitespace().next_back().unwrap().parse().unwrap()
    };
    let constant = learnt("Constant");
    for kernel in ["Gaussian", "Boxcar", "Epanechnikov"] {
        assert!(learnt(kernel) < 0.5 * constant, "{table}");
    }
    let svg = std::fs::read_to_string(figure).unwrap();
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "no whole figure");
    for kernel in ["Gaussian, width", "Boxcar, width", "Epanechnikov, width", "Constant, width"] {
        assert_eq!(svg.matches(kernel).count(), 1, "{kernel}");
    }
}

#[test]
fn example_reports_a_wrong_argument_in_one_line() {
    let output = example("kernel_regression", &["--nonsense"]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.starts_with("error: ") && message.trim_end().lines().count() == 1, "{message}");
}

#[test]
fn classifies_the_language_of_words() {
    let said = worked(example("word_language", &["--quick"]));
    let line = said.lines().find(|line| line.starts_with("accuracy on words held out")).unwrap();
    let shares: Vec<f64> = line.split(['%', ' ']).filter_map(|part| part.parse().ok()).collect();
    assert!(shares.len() == 2 && shares[0] > shares[1] + 10.0, "{line}");
    assert_eq!(said.matches("</s>").count(), 10, "ten words with their letters' weights: {said}");
}

#[test]
fn attention_separates_true_pairs() {
    let said = worked(example("true_pairs", &["--quick"]));
    let right = |kind: &str| -> f64 {
        let line = said.lines().find(|line| line.starts_with(kind)).unwrap();
        line.trim_end_matches('%').split_whitespace().next_back().unwrap().parse().unwrap()
    };
    // Who always says "true" or always "false" gets one of them wrong.
    assert!(right("true") + right("another sentence") > 140.0, "{said}");
    assert_eq!(said.matches("█").count().min(1), 1, "weights that stand out: {said}");
}
