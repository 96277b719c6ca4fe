//! The examples, run with `--quick`.

use std::path::PathBuf;
use std::process::{Command, Output};

/// Runs an example that Cargo built next to this test.
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
    // The error at the learned width precedes "at".
    let learned_error = |kernel: &str| -> f64 {
        let line = table.lines().find(|line| line.starts_with(kernel)).unwrap();
        line.split(" at ").next().unwrap().split_whitespace().next_back().unwrap().parse().unwrap()
    };
    let constant = learned_error("Constant");
    for kernel in ["Gaussian", "Boxcar", "Epanechnikov"] {
        assert!(learned_error(kernel) < 0.5 * constant, "{table}");
    }
    let svg = std::fs::read_to_string(figure).unwrap();
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "incomplete figure");
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
    let output = worked(example("word_language", &["--quick"]));
    let line = output.lines().find(|line| line.starts_with("accuracy on held-out words")).unwrap();
    let shares: Vec<f64> = line.split(['%', ' ']).filter_map(|part| part.parse().ok()).collect();
    assert!(shares.len() == 2 && shares[0] > shares[1] + 10.0, "{line}");
    assert_eq!(output.matches("</s>").count(), 10, "ten words with the weights of their letters: {output}");
}

#[test]
fn attention_separates_true_pairs() {
    let output = worked(example("true_pairs", &["--quick"]));
    let accuracy = |kind: &str| -> f64 {
        let line = output.lines().find(|line| line.starts_with(kind)).unwrap();
        line.trim_end_matches('%').split_whitespace().next_back().unwrap().parse().unwrap()
    };
    // A constant answer has accuracies that sum to 100.
    assert!(accuracy("true") + accuracy("another sentence") > 140.0, "{output}");
    assert_eq!(output.matches("█").count().min(1), 1, "large weights: {output}");
}
