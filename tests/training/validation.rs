//! Choice of validation pairs, and the notes about it.

use crate::common::{self, TestDir, tsv};

/// Thirty distinct pairs, each `copies` times.
fn thirty_pairs(copies: usize) -> String {
    let lines: String = (0..30).map(|number| format!("a {number}\tb {number}\n")).collect();
    lines.repeat(copies)
}

/// Standard error of a short training into `out`.
fn train_stderr(dir: &TestDir, options: &[&str]) -> String {
    let options =
        [&["train", "--out", "out", "--tokenization", "char", "--preset", "tiny", "--max-epochs", "1"], options];
    let outcome = dir.run(&options.concat());
    outcome.worked();
    outcome.stderr
}

#[test]
fn equal_pairs_are_never_split_across_training_and_validation() {
    let dir = TestDir::new();
    dir.write("pairs.tsv", thirty_pairs(4));
    let stderr = train_stderr(&dir, &["--train", "pairs.tsv"]);
    assert!(stderr.contains("90 of 120 pairs repeat another source"), "{stderr}");
    // A twentieth of the thirty distinct pairs, once; its copies are left out of training.
    assert!(stderr.contains("116 training pairs, 1 validation pairs"), "{stderr}");
    let dir = TestDir::new();
    dir.write("pairs.tsv", thirty_pairs(1));
    assert!(!train_stderr(&dir, &["--train", "pairs.tsv"]).contains("another"));
}

/// The last lines of a training.
#[test]
fn ends_with_a_summary_and_the_next_commands() {
    let dir = TestDir::new();
    dir.write("pairs.tsv", thirty_pairs(1));
    let few = train_stderr(&dir, &["--train", "pairs.tsv"]);
    assert!(few.contains("how good the model is on other text is unknown, since too few pairs were held out"), "{few}");
    assert!(few.ends_with("softalign serve --model out\n"), "{few}");
    dir.write("valid.tsv", thirty_pairs(1));
    std::fs::remove_dir_all(dir.path("out")).unwrap();
    let options = ["train", "--train", "pairs.tsv", "--valid", "valid.tsv", "--out", "out", "--metric", "chrf"];
    let quick = ["--preset", "tiny", "--max-epochs", "30", "--learning-rate", "0.01", "--batch-sentences", "4"];
    let stderr = dir.run(&[&options[..], &quick].concat()).stderr;
    let summary: Vec<&str> = stderr.lines().skip_while(|line| !line.contains("expect on other text")).collect();
    for (line, expected) in summary.iter().zip([
        "by the same translators: chrF ",
        "of 100 translations equal their reference",
        "would help most: ",
        "next:",
        "    softalign translate --model out 'a ",
        "    softalign serve --model out",
    ]) {
        assert!(line.contains(expected), "{expected}: {stderr}");
    }
    assert!(
        summary.len() == 6 && summary[0].contains("95 % confidence") && summary[0].contains("30 pairs"),
        "{stderr}"
    );
}

#[test]
fn useless_models_are_called_useless() {
    let dir = TestDir::with_pairs();
    dir.write("valid.tsv", common::tsv(&common::PAIRS));
    let options = ["train", "--train", "pairs.tsv", "--valid", "valid.tsv", "--out", "out", "--preset", "tiny"];
    let learning = ["--max-epochs", "4", "--learning-rate", "1e-7"];
    let outcome = dir.run(&[&options[..], &learning].concat());
    outcome.worked();
    assert!(outcome.stderr.contains("this model is useless"), "{}", outcome.stderr);
    assert_eq!(outcome.stderr.matches("← best").count(), 1, "equal but for noise: {}", outcome.stderr);
    // With a learning rate of 1, the loss rises within a few steps.
    let diverging = ["--max-epochs", "40", "--learning-rate", "1", "--warmup-steps", "1", "--out", "diverged", "-q"];
    let outcome = dir.run(&[&options[..5], &options[7..], &diverging].concat());
    outcome.refused_with(1, &["training diverges", "try a --learning-rate below 0.5"]);
}

/// A source with several translations belongs to one side with all of them.
#[test]
fn equal_sources_are_never_split_across_training_and_validation() {
    let dir = TestDir::new();
    let others: String = (0..30).map(|number| format!("a {number}\tc {number}\n")).collect();
    dir.write("pairs.tsv", thirty_pairs(1) + &others);
    let stderr = train_stderr(&dir, &["--train", "pairs.tsv"]);
    assert!(stderr.contains("30 of 60 pairs repeat another source"), "{stderr}");
    assert!(stderr.contains("58 training pairs, 1 validation pairs"), "{stderr}");
}

#[test]
fn warns_when_validating_on_training_pairs() {
    let dir = TestDir::new();
    dir.write("pairs.tsv", tsv(&[("a b", "b a"), ("a", "b"), ("a", "b")]).repeat(40));
    let stderr = train_stderr(&dir, &["--train", "pairs.tsv"]);
    assert!(stderr.contains("warning: only 2 distinct sources: validating on the training pairs"), "{stderr}");
    assert!(dir.run(&["inspect", "out"]).worked().contains("validated on    the training pairs"));
}

#[test]
fn does_not_hold_out_pairs_with_an_empty_side() {
    let dir = TestDir::new();
    let untranslated: String = (0..20).map(|number| format!("a {number}\t\n")).collect();
    let nineteen: String = thirty_pairs(1).lines().take(19).map(|line| format!("{line}\n")).collect();
    dir.write("pairs.tsv", untranslated.clone() + &nineteen);
    let few = train_stderr(&dir, &["--train", "pairs.tsv"]);
    assert!(few.contains("only 19 distinct sources: validating on the training pairs"), "{few}");
    std::fs::remove_dir_all(dir.path("out")).unwrap();
    dir.write("pairs.tsv", untranslated + &thirty_pairs(1));
    let enough = train_stderr(&dir, &["--train", "pairs.tsv"]);
    assert!(enough.contains("29 training pairs, 1 validation pairs"), "{enough}");
}

#[test]
fn warns_when_validation_overlaps_training() {
    let dir = TestDir::new();
    dir.write("pairs.tsv", thirty_pairs(1));
    dir.write("valid.tsv", "a 3\tb 3\na 31\tb 31\n");
    let stderr = train_stderr(&dir, &["--train", "pairs.tsv", "--valid", "valid.tsv"]);
    assert!(stderr.contains("warning: 1 of 2 validation pairs are among the training pairs"), "{stderr}");
    assert!(dir.run(&["inspect", "out"]).worked().contains("validated on    valid.tsv"));
}

#[test]
fn single_words_are_validated_by_word_error_rate() {
    let dir = TestDir::new();
    let words: String = (0..30).map(|number| format!("w{number}\tv w {number}\n")).collect();
    dir.write("pairs.tsv", &words);
    let stderr = train_stderr(&dir, &["--train", "pairs.tsv", "--metric", "wer", "--tag-source", "<x>"]);
    assert!(stderr.contains("  WER ") && stderr.contains("  PER ") && !stderr.contains("BLEU"), "{stderr}");
    assert!(dir.run(&["inspect", "out"]).worked().contains(": WER "));
    let log = dir.text("out/log.jsonl");
    let validation = common::json(log.lines().find(|line| line.contains("\"validation\"")).unwrap());
    assert!(validation["wer"].is_number() && validation.get("word_error_rate").is_none(), "{validation}");
}

#[test]
fn reports_guided_alignment() {
    let dir = TestDir::with_pairs();
    for (weight, words) in [("0.3", "guided by the statistical aligner's links, with weight 0.3"), ("0", "not guided")]
    {
        let option = format!("--guided-alignment={weight}");
        let options = ["train", "--train", "pairs.tsv", "--out", weight, "--preset", "tiny", "--max-epochs", "1"];
        let outcome = dir.run(&[&options[..], &[&option]].concat());
        outcome.worked();
        assert!(outcome.stderr.contains(&format!("attention is {words}")), "{}", outcome.stderr);
        assert!(dir.run(&["inspect", weight]).worked().contains(&format!("attention {words}")));
    }
}
