//! Settings that `train` derives from the data and the time budget.

use crate::common::{PAIRS, TestDir, json, tsv};
use serde_json::{Value, json as value};

const FEW_STEPS: [&str; 4] = ["--max-epochs", "1", "--hidden-size", "16"];

fn config(dir: &TestDir, out: &str) -> Value {
    json(&dir.text(&format!("{out}/config.json")))
}

/// Trains on a text; returns config.json and the notes on standard error.
fn resolve(text: &str, options: &[&str]) -> (Value, String) {
    let dir = TestDir::new();
    dir.write("pairs.tsv", text);
    let outcome = dir.run(&[&["train", "--train", "pairs.tsv", "--out", "model"], options].concat());
    outcome.worked();
    (config(&dir, "model"), outcome.stderr)
}

#[test]
fn tokens_follow_each_sides_lines() {
    let spoken = "abby\ta b i\nabandonner\ta b ɑ̃ d ɔ n e\nabidjan\ta b i d ʒ ɑ̃\n";
    let tokens = |text: &str, options: &[&str]| {
        let (config, notes) = resolve(text, &[&FEW_STEPS, options].concat());
        let [source, target] = ["source_tokenization", "target_tokenization"].map(|side| config["text"][side].clone());
        (source.as_str().unwrap().to_owned(), target.as_str().unwrap().to_owned(), notes)
    };
    let (source, target, notes) = tokens(spoken, &[]);
    assert_eq!((&source[..], &target[..]), ("char", "word"));
    assert!(notes.contains("3 pairs of single words and symbols such as phones\n"), "{notes}");
    assert!(!notes.contains("are few"), "{notes}");
    let (source, target, _) = tokens("walk\twalked\nsing\tsang\n", &[]);
    assert_eq!((&source[..], &target[..]), ("char", "char"));
    let (source, target, notes) = tokens(&tsv(&PAIRS), &[]);
    assert_eq!((&source[..], &target[..]), ("bpe", "bpe"));
    assert!(notes.contains("pairs of sentences of 4.0 and 4.0 words on average\n"), "{notes}");
    assert!(notes.contains("few pairs (12): expect"), "{notes}");
    let (few_words, _) = resolve(&tsv(&PAIRS), &FEW_STEPS);
    assert_eq!(few_words["training"]["concat_pairs"], 0.2);
    let (letters, _) = resolve(&tsv(&PAIRS), &[&FEW_STEPS[..], &["--tokenization", "char"]].concat());
    assert_eq!(letters["training"]["concat_pairs"], Value::Null, "character tokens have no concatenated pairs");
    let (source, target, _) = tokens(spoken, &["--target-tokenization", "char"]);
    assert_eq!((&source[..], &target[..]), ("char", "char"));
    let wrong = ["train", "--train", "pairs.tsv", "--out", "model", "--joint-vocabulary"];
    let dir = TestDir::new();
    dir.write("pairs.tsv", spoken);
    dir.run(&wrong).refused_with(2, &["--joint-vocabulary", "same tokenization"]);
    assert!(!dir.path("model").exists(), "a refused training creates no directory");
}

#[test]
fn scripts_without_spaces_have_sentences() {
    let dir = TestDir::new();
    let pairs: String = ["猫", "犬", "私", "鳥", "魚"]
        .iter()
        .flat_map(|one| {
            ["はここにいるようです", "がとても好きなのです", "がそこにいましたよね"]
                .map(|end| format!("I see a {one} {end} now.\t{one}{end}。\n"))
        })
        .collect();
    dir.write("pairs.tsv", pairs);
    let train = ["train", "--train", "pairs.tsv", "--valid", "pairs.tsv", "--out", "model"];
    let trained = dir.run(&[&train[..], &FEW_STEPS].concat());
    trained.worked();
    assert!(trained.stderr.contains("  BLEU ") && !trained.stderr.contains("  WER "), "{}", trained.stderr);
    let config = config(&dir, "model");
    assert_eq!(
        (&config["text"]["target_tokenization"], &config["training"]["metric"]),
        (&"bpe".into(), &"bleu".into())
    );
    let evaluate = ["evaluate", "--model", "model", "--pairs", "pairs.tsv", "--json"];
    let scores = dir.run(&evaluate).json();
    assert!(scores["signature"].as_str().unwrap().contains("|tok:char|") && scores["word_error_rate"].is_number());
    // Tokens of several characters have links of each.
    let target = |words: &[&str]| {
        let align = ["align", "--model", "model", "a cat", "猫です。", "--format", "json", "--threshold", "0"];
        dir.run(&[&align[..], words].concat()).json()[0].clone()
    };
    let linked = target(&[]);
    assert_eq!(linked["target"], serde_json::json!(["猫", "で", "す", "。"]));
    let rows = linked["attention"].as_array().unwrap();
    let sums: Vec<f64> =
        rows.iter().map(|row| row.as_array().unwrap().iter().filter_map(Value::as_f64).sum()).collect();
    assert!(sums.len() == 4 && sums.iter().all(|sum| *sum > 0.0), "{linked}");
    assert_eq!(target(&["--words", "whitespace"])["target"], serde_json::json!(["猫です。"]));
    assert_eq!(target(&["--words", "characters"])["source"], serde_json::json!(["a", "c", "a", "t"]));
}

#[test]
fn words_and_their_symbols_have_exact_hard_attention() {
    let spoken = "abby\ta b i\nabandonner\ta b ɑ̃ d ɔ n e\nabidjan\ta b i d ʒ ɑ̃\n";
    let choice = |text: &str, options: &[&str]| {
        let (config, _) = resolve(text, &[&FEW_STEPS, options].concat());
        config["architecture"]["attention"]["choice"].as_str().unwrap_or("soft").to_owned()
    };
    assert_eq!(choice(spoken, &[]), "exact");
    assert_eq!(choice(spoken, &["--hard-attention", "off"]), "soft");
    assert_eq!(choice(spoken, &["--hard-attention"]), "sampled");
    // What exact attention cannot be combined with.
    assert_eq!(choice(spoken, &["--heads", "2"]), "soft");
    assert_eq!(choice(spoken, &["--attention", "mean"]), "soft");
    for other in ["a b i\tabby\na b ɑ̃\taban\n", "walk\twalked\nsing\tsang\n", &tsv(&PAIRS)] {
        assert_eq!(choice(other, &[]), "soft", "{other}");
    }
    let dir = TestDir::new();
    dir.write("pairs.tsv", spoken);
    dir.run(&[&["train", "pairs.tsv", "--out", "soft", "--hard-attention", "off"], &FEW_STEPS[..]].concat()).worked();
    dir.run(&["train", "pairs.tsv", "--init-from", "soft", "--out", "tuned", "--max-epochs", "1"]).worked();
    let tuned = config(&dir, "tuned");
    assert_eq!(tuned["architecture"]["attention"]["choice"], Value::Null, "soft, as in the base model");
}

/// Words of two Korean syllables and their sounds, a tab between them.
fn korean_pairs() -> String {
    let (consonants, vowels) = (["k", "kk", "n", "t", "tt", "r", "m"], ["a", "ae", "ya", "yae", "eo", "e"]);
    let syllables: Vec<(char, String)> = (0..consonants.len() * vowels.len())
        .map(|index| {
            let (first, second) = (index / vowels.len(), index % vowels.len());
            let syllable = char::from_u32('가' as u32 + (first * 21 + second) as u32 * 28 + 1).unwrap();
            (syllable, format!("{} {} k", consonants[first], vowels[second]))
        })
        .collect();
    let pair = |[(a, sounds_a), (b, sounds_b)]: [&(char, String); 2]| format!("{a}{b}\t{sounds_a} {sounds_b}\n");
    (0..syllables.len())
        .map(|index| pair([index, (index + 5) % syllables.len()].map(|index| &syllables[index])))
        .collect()
}

#[test]
fn korean_syllables_are_read_as_letters_and_written_as_syllables() {
    let dir = TestDir::new();
    dir.write("pairs.tsv", korean_pairs());
    let train = |out: &str, options: &[&str]| {
        dir.run(&[&["train", "--train", "pairs.tsv", "--out", out], &FEW_STEPS[..], options].concat()).worked();
        let text = &config(&dir, out)["text"];
        ["source_tokenization", "target_tokenization"].map(|side| text[side].as_str().unwrap().to_owned())
    };
    assert_eq!(train("spoken", &[]), ["letter", "word"]);
    assert_eq!(train("syllables", &["--source-tokenization", "char"]), ["char", "word"]);
    assert_eq!(train("written", &["--columns", "2,1"]), ["word", "letter"]);
    let written = dir.run(&["translate", "--model", "written", "--prefix", "각낵", "k a k"]);
    assert!(written.worked().starts_with("각낵"), "{written:?}");
    let aligned = dir.run(&["align", "--model", "spoken", "--pairs", "pairs.tsv", "--format", "jsonl", "--only", "1"]);
    let line = json(aligned.worked().lines().next().unwrap());
    assert_eq!(
        (&line["source"], line["target"].as_array().unwrap().len()),
        (&serde_json::json!(["각", "겍"]), 6),
        "{line}"
    );
}

#[test]
fn presets_order_by_size_and_length() {
    let size = |preset: &str| {
        let (config, _) = resolve(&tsv(&PAIRS), &["--preset", preset, "--max-epochs", "1"]);
        config["architecture"]["hidden_size"].as_u64().unwrap()
    };
    assert_eq!(["fast", "auto", "best"].map(size), [128, 256, 384]);
}

#[test]
fn plans_epochs_for_a_time_budget() {
    let dir = TestDir::with_pairs();
    let train = ["train", "--train", "pairs.tsv", "--out", "model", "--max-minutes", "0.05", "--max-epochs", "1000000"];
    let quick =
        ["--hidden-size", "16", "--embedding-size", "16", "--batch-sentences", "1", "--validate-every", "10000"];
    let outcome = dir.run(&[&train[..], &quick[..]].concat());
    outcome.worked();
    assert!(outcome.stderr.contains("0.05 minutes, or 1000000 epochs"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("time limit reached; --resume with more --max-minutes"), "{}", outcome.stderr);
    let log = dir.text("model/log.jsonl");
    let steps: Vec<Value> = log.lines().map(json).collect();
    let steps: Vec<&Value> = steps.iter().filter(|line| line["event"] == "progress").collect();
    let values = |key: &str| -> Vec<f64> { steps.iter().map(|step| step[key].as_f64().unwrap()).collect() };
    let (done, rates) = (values("done"), values("learning_rate"));
    assert!(done.is_sorted() && done[0] > 0.0, "{done:?}");
    let peak = (0..rates.len()).max_by(|&a, &b| rates[a].total_cmp(&rates[b])).unwrap();
    let after_warm_up = &rates[peak..];
    assert!(after_warm_up.is_sorted_by(|a, b| a >= b) && after_warm_up.last() < after_warm_up.first(), "{rates:?}");
    let seconds = json(&dir.text("model/resume.json"))["seconds"].as_f64().unwrap();
    assert!(seconds >= 3.0, "stopped before its 0.05 minutes: {seconds}");
    // The budget is spent; a larger one lets training resume.
    let again = dir.run(&["train", "--out", "model", "--resume", "--quiet"]);
    again.worked();
    let before = dir.text("model/resume.json");
    dir.run(&["train", "--out", "model", "--resume", "--quiet", "--max-minutes", "0.1"]).worked();
    let steps = |text: &str| json(text)["step"].as_u64().unwrap();
    assert!(steps(&dir.text("model/resume.json")) > steps(&before) + 1);
}

#[test]
fn finds_the_largest_model_for_a_time_budget() {
    let dir = TestDir::with_pairs();
    let train = ["train", "--train", "pairs.tsv", "--out", "model", "--quiet", "--max-minutes"];
    dir.run(&[&train[..], &["0.001"]].concat()).worked();
    assert_eq!(config(&dir, "model")["architecture"]["hidden_size"], 128, "the smallest size");
    dir.run(&["translate", "--model", "model", "the red fox sleeps"]).worked();
}

/// A pair in forty has a curly apostrophe, a name and a number.
#[test]
fn finds_rare_variants_and_words_to_copy() {
    let mut text: String =
        (0..40).map(|number| format!("it's {number} with Ann or 7\tc'est {number} avec Ann ou 7\n")).collect();
    text.push_str("it\u{2019}s\u{a0}Ann\tc\u{2019}est Ann\n");
    let (config, stderr) = resolve(&text, &FEW_STEPS);
    for side in ["sources", "targets"] {
        assert!(stderr.contains(&format!("{side}: ’ (U+2019, once) is read as ', which is more frequent")), "{stderr}");
    }
    assert!(stderr.contains("sources: (U+00A0, once) is read as a space, which is more frequent"), "{stderr}");
    let copied = &config["text"]["copied"];
    assert_eq!((&copied["numbers"], &copied["names"]), (&value!(["7"]), &value!(["Ann"])));
    let known = ["copies_numbers", "copies_names"].map(|key| &copied[key]);
    assert_eq!(known, [&value!(true); 2]);
}
