//! What a training validates on, and what it says of it.

mod common;

use common::{TestDir, tsv};

/// Thirty different pairs, each `copies` times.
fn thirty(copies: usize) -> String {
    let lines: String = (0..30).map(|number| format!("a {number}\tb {number}\n")).collect();
    lines.repeat(copies)
}

/// What a short training into `out` says.
fn said(dir: &TestDir, options: &[&str]) -> String {
    let options = [&["train", "--out", "out", "--units", "char", "--preset", "tiny", "--max-epochs", "1"], options];
    let outcome = dir.run(&options.concat());
    outcome.worked();
    outcome.stderr
}

#[test]
fn equal_pairs_are_never_split_across_training_and_validation() {
    let dir = TestDir::new();
    dir.write("pairs.tsv", thirty(4));
    let said = said(&dir, &["--train", "pairs.tsv"]);
    assert!(said.contains("90 of 120 pairs repeat another one's source"), "{said}");
    // A twentieth of the thirty different ones, once, of which no copy is left.
    assert!(said.contains("116 training pairs, 1 validation pairs"), "{said}");
    let dir = TestDir::new();
    dir.write("pairs.tsv", thirty(1));
    assert!(!self::said(&dir, &["--train", "pairs.tsv"]).contains("another"));
}

/// A sentence with several translations is either learnt or validated on, whichever of them it has.
#[test]
fn equal_sources_are_never_split_across_training_and_validation() {
    let dir = TestDir::new();
    let others: String = (0..30).map(|number| format!("a {number}\tc {number}\n")).collect();
    dir.write("pairs.tsv", thirty(1) + &others);
    let said = said(&dir, &["--train", "pairs.tsv"]);
    assert!(said.contains("30 of 60 pairs repeat another one's source"), "{said}");
    assert!(said.contains("58 training pairs, 1 validation pairs"), "{said}");
}

#[test]
fn warns_when_validating_on_training_pairs() {
    let dir = TestDir::new();
    dir.write("pairs.tsv", tsv(&[("a b", "b a"), ("a", "b"), ("a", "b")]).repeat(40));
    let said = said(&dir, &["--train", "pairs.tsv"]);
    assert!(said.contains("warning: of 2 different sources none can be spared"), "{said}");
    assert!(dir.run(&["inspect", "out"]).worked().contains("validated on    the training pairs themselves"));
}

/// What nobody has translated yet validates nothing.
#[test]
fn does_not_hold_out_pairs_with_an_empty_side() {
    let dir = TestDir::new();
    let untranslated: String = (0..20).map(|number| format!("a {number}\t\n")).collect();
    let some: String = thirty(1).lines().take(19).map(|line| format!("{line}\n")).collect();
    dir.write("pairs.tsv", untranslated.clone() + &some);
    let few = said(&dir, &["--train", "pairs.tsv"]);
    assert!(few.contains("of 19 different sources none can be spared"), "{few}");
    std::fs::remove_dir_all(dir.path("out")).unwrap();
    dir.write("pairs.tsv", untranslated + &thirty(1));
    let enough = said(&dir, &["--train", "pairs.tsv"]);
    assert!(enough.contains("29 training pairs, 1 validation pairs"), "{enough}");
}

#[test]
fn warns_of_overlap() {
    let dir = TestDir::new();
    dir.write("pairs.tsv", thirty(1));
    dir.write("valid.tsv", "a 3\tb 3\na 31\tb 31\n");
    let said = said(&dir, &["--train", "pairs.tsv", "--valid", "valid.tsv"]);
    assert!(said.contains("warning: 1 of 2 validation pairs are among the training pairs"), "{said}");
    assert!(dir.run(&["inspect", "out"]).worked().contains("validated on    valid.tsv"));
}

#[test]
fn reports_guided_alignment() {
    let dir = TestDir::with_pairs();
    for (weight, words) in [("0.3", "taught the statistical aligner's links, with weight 0.3"), ("0", "left to itself")]
    {
        let taught = format!("--guided-alignment={weight}");
        let options = ["train", "--train", "pairs.tsv", "--out", weight, "--preset", "tiny", "--max-epochs", "1"];
        let outcome = dir.run(&[&options[..], &[&taught]].concat());
        outcome.worked();
        assert!(outcome.stderr.contains(&format!("attention is {words}")), "{}", outcome.stderr);
        assert!(dir.run(&["inspect", weight]).worked().contains(&format!("attention {words}")));
    }
}
