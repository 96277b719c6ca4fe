//! Word features as tokens (`--features`), and tokens that are never split (`--protected-tokens`).

use crate::common::{QUICK, TestDir, json};
use serde_json::Value;

/// Lemma, form and features of an artificial language whose endings encode tense and number.
fn inflections() -> String {
    let lemmas = ["dorm", "kant", "kur", "salt", "rid", "plor", "lern", "skrib"];
    let tags = [("V;PRS;SG", "as"), ("V;PST;SG", "is"), ("V;FUT;SG", "os"), ("V;PRS;PL", "asn"), ("V;PST;PL", "isn")];
    let line = |lemma: &str, (tag, end): (&str, &str)| format!("{lemma}i\t{lemma}{end}\t{tag}\n");
    lemmas.iter().flat_map(|lemma| tags.map(|tag| line(lemma, tag))).collect()
}

fn trained() -> TestDir {
    let dir = TestDir::new();
    dir.write("forms.tsv", inflections());
    let arguments = ["train", "--train", "forms.tsv", "--valid", "forms.tsv", "--features", "3", "--out", "model"];
    let tokens = ["--tokenization", "char", "--max-epochs", "12"];
    dir.run(&[&arguments[..], &QUICK[2..], &tokens].concat()).worked();
    dir
}

#[test]
fn inflects_words_by_their_features() {
    let dir = trained();
    let config = json(&dir.text("model/config.json"));
    let tags = ["⟨FUT⟩", "⟨PRS⟩", "⟨PST⟩", "⟨PL⟩", "⟨SG⟩", "⟨V⟩"];
    assert_eq!(config["text"]["source_protected_tokens"], Value::from(tags.to_vec()));
    assert!(config["text"].get("target_protected_tokens").is_none() && config["data"]["layout"]["features"] == 3);
    let translate = |arguments: &[&str], input: &str| {
        dir.run_with_input(&[&["translate", "--model", "model"], arguments].concat(), input).worked().to_owned()
    };
    // Features determine the form; they are read from the column the model saved, or from --features.
    let lines = "kanti\tV;PST;SG\nkanti\tV;FUT;SG\nsalti\tV;PRS;PL\n\n";
    assert_eq!(translate(&[], lines), "kantis\nkantos\nsaltasn\n\n");
    assert_eq!(translate(&["--features", "3"], "kanti\tx\tV PST SG\n"), "kantis\n");
    let alone = ["kanti\tV;PST;SG"];
    assert_eq!(translate(&alone, ""), "kantis\n");
    // `align` and `evaluate` take the columns of the training files from the model.
    let aligned = dir.run(&["align", "--model", "model", "--pairs", "forms.tsv", "--format", "jsonl"]);
    let first = json(aligned.worked().lines().next().unwrap());
    assert_eq!(first["source"], Value::from(["⟨V⟩", "⟨PRS⟩", "⟨SG⟩", "d", "o", "r", "m", "i"].to_vec()));
    let evaluated = dir.run(&["evaluate", "--model", "model", "--pairs", "forms.tsv", "--json"]);
    let scores = evaluated.json();
    assert!(scores["exact_match"].as_f64().unwrap() > 90.0, "{scores}");
    // Explicit columns, and separate files for source and target, give the same scores.
    let column = |all: &[usize]| -> String {
        let cells =
            |line: &str| all.iter().map(|&cell| line.split('\t').nth(cell).unwrap()).collect::<Vec<_>>().join("\t");
        inflections().lines().map(|line| cells(line) + "\n").collect()
    };
    dir.write("lemmas.txt", column(&[0, 2]));
    dir.write("forms.txt", column(&[1]));
    let sides = ["--source", "lemmas.txt", "--target", "forms.txt"];
    for pairs in [&["--pairs", "forms.tsv", "--columns", "1,2"][..], &sides] {
        let again = dir.run(&[&["evaluate", "--model", "model", "--json"], pairs].concat());
        assert_eq!(again.json(), scores, "{pairs:?}");
    }
    assert_eq!(dir.run(&[&["score", "--model", "model"][..], &sides].concat()).worked().lines().count(), 40);
    assert_eq!(dir.run(&[&["align", "--model", "model"][..], &sides].concat()).code, Some(0));
    assert_eq!(dir.run(&["score", "--model", "model", "--pairs", "forms.tsv"]).worked().lines().count(), 40);
    // Unknown words are copied without their features.
    let unknown = translate(&["--unknown", "copy", "--format", "jsonl"], "ЖЖЖЖЖЖЖЖ\tV;PST\n");
    assert_eq!(
        (&json(&unknown)["source_text"], &json(&unknown)["translation"]),
        (&"ЖЖЖЖЖЖЖЖ".into(), &"ЖЖЖЖЖЖЖЖ".into())
    );
}

#[test]
fn inflection_is_recognized_and_copies_letters() {
    let dir = TestDir::new();
    let verbs = ["dormi", "kanti", "saltmi", "plori", "lerni", "skribi"];
    let persons = [("NOM(1,SG)", "mi"), ("NOM(2,SG)", "vi"), ("NOM(3,PL;HON(2))", "ili")];
    let line =
        |verb: &str, (person, pronoun)| format!("{verb}\tV;PRS;{person}\t{}as {pronoun}\n", &verb[..verb.len() - 1]);
    let forms: String = verbs.iter().flat_map(|verb| persons.map(|person| line(verb, person))).collect();
    dir.write("forms.tsv", forms.repeat(8));
    let train = ["train", "--train", "forms.tsv", "--columns", "1,3", "--features", "2"];
    let sizes = ["--hidden-size", "64", "--embedding-size", "32", "--batch-sentences", "8", "--dropout", "0.1"];
    let options = ["--out", "model", "--max-epochs", "20", "--learning-rate", "0.01"];
    let outcome = dir.run(&[&train[..], &sizes, &options].concat());
    outcome.worked();
    assert!(outcome.stderr.contains("144 pairs of single words;"), "{}", outcome.stderr);
    let config = json(&dir.text("model/config.json"));
    let tags = ["⟨HON⟩", "⟨NOM⟩", "⟨PRS⟩", "⟨PL⟩", "⟨SG⟩", "⟨1⟩", "⟨2⟩", "⟨3⟩", "⟨V⟩"];
    assert_eq!(config["text"]["source_protected_tokens"], Value::from(tags.to_vec()));
    let (text, training) = (&config["text"], &config["training"]);
    assert_eq!((&text["source_tokenization"], &text["target_tokenization"]), (&"char".into(), &"char".into()));
    assert_eq!((&training["hallucination"], &config["architecture"]["lexicon"]), (&0.5.into(), &true.into()));
    // A letter that is in no training word.
    let found = dir.run_with_input(&["translate", "--model", "model"], "Ĵanti\tV;PRS;NOM(1,SG)\n");
    assert_eq!(found.worked(), "Ĵantas mi\n");
    let without = ["--hallucination", "0", "--show-config"];
    assert_eq!(dir.run(&[&train[..], &without].concat()).json()["hallucination"], 0.0);
    let words = ["--hallucination", "0.5", "--tokenization", "word", "--out", "words"];
    dir.run(&[&train[..], &words].concat())
        .refused_with(2, &["--hallucination needs characters as tokens on both sides"]);
    let share = ["--hallucination", "1", "--out", "words"];
    dir.run(&[&train[..], &share].concat()).refused_with(2, &["--hallucination must be at least 0 and below 1"]);
}

#[test]
fn asks_for_missing_features_and_warns_of_unknown_ones() {
    let dir = trained();
    let translate = |arguments: &[&str], input: &str| {
        dir.run_with_input(&[&["translate", "--model", "model"], arguments].concat(), input)
    };
    let missing =
        "no column 2 here for the features; write the sentence, TAB and its features, out of FUT, PL, PRS, PST, SG, V";
    translate(&["kanti"], "").refused_with(1, &["sentence 1: ", missing]);
    translate(&[], "kanti\n").refused_with(1, &["standard input:1: ", missing]);
    for line in ["kanti V;PST;SG", "kanti V PST SG"] {
        let advice = line.replacen(' ', " TAB ", 1);
        translate(&[line], "").refused_with(1, &["separate them with a tab: ", &advice]);
    }
    // Later lines have their results.
    let outcome = translate(&[], "kanti\tV;PST;SG\nkanti\nkanti\tV PST SG\n");
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(1), "kantis\n\nkantis\n"));
    assert!(outcome.stderr.starts_with(&format!("warning: standard input:2: {missing}")), "{outcome:?}");
    // A form may have no features; they may be written in front of it.
    assert_eq!(translate(&[], "kanti\t\n⟨V⟩⟨PST⟩⟨SG⟩kanti\n\n").worked().lines().count(), 3);
    let outcome = translate(&["--tag-source", "<x>"], "kanti\tV;SBJV\nkanti\tV;PST;SG\nkanti\tv;SG\n");
    assert_eq!(outcome.worked().lines().count(), 3);
    let warning =
        "warning: lines 1 and 3: features unknown to the model (SBJV, v); it knows FUT, PL, PRS, PST, SG, V\n";
    assert!(outcome.stderr.contains(warning), "{outcome:?}");
    dir.write("pairs.tsv", "kanti\tkantis\tV;PST;SG\nkanti\tkantis\tV;PERF;SG\n");
    for command in ["align", "score"] {
        let outcome = dir.run(&[command, "--model", "model", "--pairs", "pairs.tsv"]);
        assert!(outcome.code == Some(0) && outcome.stderr.contains("line 2: features unknown to the model (PERF)"));
    }
    // Pairs among the arguments have features, too.
    let score = |source: &str| dir.run(&["score", "--model", "model", source, "kantis"]);
    dir.write("pairs.tsv", "kanti\tkantis\tV;PST;SG\n");
    let of_file = dir.run(&["score", "--model", "model", "--pairs", "pairs.tsv"]);
    assert_eq!(score("kanti\tV;PST;SG").worked(), of_file.worked());
    score("kanti").refused_with(1, &["no column 2 here for the features"]);
    dir.write("found", "0 ||| kantis\n");
    dir.write("bare", "kanti\n");
    let rerank = ["score", "--model", "model", "--input", "bare", "--rerank", "found"];
    dir.run(&rerank).refused_with(1, &["bare:1: ", missing]);
}

#[test]
fn selects_feature_columns_by_name() {
    let dir = TestDir::new();
    let named: String = inflections()
        .lines()
        .map(|line| {
            let cells: Vec<&str> = line.split('\t').collect();
            format!("{}\t{}\t{}\n", cells[2], cells[1], cells[0])
        })
        .collect();
    dir.write("forms.tsv", format!("Tags\tform\tlemma\n{named}"));
    let layout = ["--columns", "lemma,form", "--features", "tags"];
    let arguments = ["train", "--train", "forms.tsv", "--out", "model", "--tokenization", "char", "--max-epochs", "1"];
    dir.run(&[&arguments[..], &QUICK[2..], &layout].concat()).worked();
    // The model saves the columns by name, and resuming uses them.
    dir.run(&["train", "--out", "model", "--resume", "--max-epochs", "2", "--quiet"]).worked();
    let evaluated = dir.run(&["evaluate", "--model", "model", "--pairs", "forms.tsv", "--json"]);
    assert!(evaluated.worked().contains("exact_match"), "{evaluated:?}");
    assert_eq!(
        dir.run(&["align", "--model", "model", "--pairs", "forms.tsv", "--format", "pharaoh"]).worked().lines().count(),
        40
    );
}

#[test]
fn refuses_missing_or_ambiguous_columns() {
    let dir = trained();
    let train = |layout: &[&str]| dir.run(&[&["train", "--train", "forms.tsv", "--out", "new"], layout].concat());
    train(&["--features", "4"]).refused_with(1, &["forms.tsv:1: no column 4 here, only 3"]);
    train(&["--features", "2"]).refused_with(1, &["column 2 is both a side and the features"]);
    train(&["--columns", "lemma,form", "--features", "tags"]).refused_with(1, &["no column is called \"lemma\""]);
    assert_eq!(train(&["--features", "0"]).code, Some(2));
    let translate = |column: &str| dir.run(&["translate", "--model", "model", "--features", column, "kanti"]);
    translate("1").refused_with(2, &["--features must be a column number of at least 2"]);
    translate("tags").refused_with(2, &["--features must be a column number of at least 2"]);
    let sides = ["align", "--model", "model", "--source", "forms.tsv", "--target", "other.tsv", "--features", "1"];
    dir.run(&sides).refused_with(2, &["--features must be a column number of at least 2"]);
}

#[test]
fn saved_layout_applies_to_its_own_files_alone() {
    let dir = trained();
    // Features may be written inline; `--links-from pairs` trains an aligner without the model.
    dir.write("lemmas", "⟨V⟩⟨PST⟩⟨SG⟩kanti\n");
    dir.write("forms", "kantis\n");
    dir.write("pairs.tsv", "kanti\tkantis\nsalti saltas\tsalti saltas\n");
    let sides = ["score", "--model", "model", "--source", "lemmas", "--target", "forms"];
    assert_eq!(dir.run(&sides).worked().lines().count(), 1);
    let pairs = ["align", "--links-from", "pairs", "--pairs", "pairs.tsv", "--format", "pharaoh"];
    assert_eq!(dir.run(&pairs).worked().lines().count(), 2);
    // A line without its feature column is reported.
    dir.write("bare", "kanti\n");
    let bare = ["score", "--model", "model", "--source", "bare", "--target", "forms"];
    dir.run(&bare).refused_with(1, &["bare:1: no column 2 here for the features"]);
    dir.write("named.tsv", "kanti\tkantis\n");
    let counted = ["score", "--model", "named", "--pairs", "named.tsv", "--columns", "1,2"];
    dir.write("all.tsv", format!("lemma\tform\ttags\n{}", inflections()));
    let train = ["train", "--train", "all.tsv", "--columns", "lemma,form", "--features", "tags", "--out", "named"];
    dir.run(&[&train[..], &["--tokenization", "char", "--max-epochs", "1"], &QUICK[2..]].concat()).worked();
    assert_eq!(dir.run(&counted).worked().lines().count(), 1);
    // A model trained on two files also reads TSV with the features in the third column, and prints sources without them.
    dir.write(
        "lines.txt",
        inflections()
            .lines()
            .map(|line| {
                let cells: Vec<&str> = line.split('\t').collect();
                format!("{}\t{}\n", cells[0], cells[2])
            })
            .collect::<String>(),
    );
    dir.write(
        "targets.txt",
        inflections().lines().map(|line| format!("{}\n", line.split('\t').nth(1).unwrap())).collect::<String>(),
    );
    let sides = ["--source", "lines.txt", "--target", "targets.txt", "--features", "2", "--out", "sides"];
    dir.run(&[&["train"], &sides[..], &["--tokenization", "char", "--max-epochs", "1"], &QUICK[2..]].concat()).worked();
    let scored = dir.run(&["score", "--model", "sides", "--pairs", "forms.tsv", "--json"]);
    assert_eq!(json(scored.worked().lines().next().unwrap())["source_text"], "dormi");
    // Reranking an n-best list reads features from the input lines.
    let line = "kanti\tV;PST;SG\n";
    dir.write("lines", line);
    let found =
        dir.run_with_input(&["translate", "--model", "model", "--n-best", "3", "--coverage-penalty", "0"], line);
    dir.write("found", found.worked());
    let ranked = dir.run(&["score", "--model", "model", "--input", "lines", "--rerank", "found"]);
    assert!(ranked.worked().starts_with("0 ||| kantis |||"), "{ranked:?}");
    let scored = |text: &str| -> f64 {
        let cells: Vec<&str> = text.lines().next().unwrap().split(" ||| ").collect();
        cells.last().unwrap().parse().unwrap()
    };
    assert!((scored(ranked.worked()) - scored(found.worked())).abs() < 1e-3, "{ranked:?} {found:?}");
}

#[test]
fn clean_leaves_good_pairs_unchanged() {
    let dir = TestDir::new();
    dir.write("forms.tsv", format!("{}\tx\tV\n", inflections()));
    let clean = ["clean", "--pairs", "forms.tsv", "--features", "3", "--tag-source", "<x>", "--output", "clean.tsv"];
    dir.run(&clean).worked();
    assert_eq!(dir.text("clean.tsv"), inflections());
}

#[test]
fn never_splits_protected_tokens() {
    let dir = TestDir::with_pairs();
    let options = ["--tokenization", "bpe", "--protected-tokens", "<2la> fox zebra", "--max-epochs", "1"];
    dir.run(&[&["train", "--train", "pairs.tsv", "--out", "model"], &QUICK[2..], &options].concat()).worked();
    let config = json(&dir.text("model/config.json"));
    assert_eq!(
        config["text"]["source_protected_tokens"],
        Value::from(["fox"].to_vec()),
        "tokens absent from the corpus are dropped"
    );
    let pairs = ["align", "--model", "model", "--pairs", "pairs.tsv", "--tokens", "--format", "jsonl"];
    let aligned = dir.run(&pairs);
    let tokens = json(aligned.worked().lines().next().unwrap());
    assert!(tokens["source"].as_array().unwrap().contains(&Value::from("▁fox")), "{tokens}");
    let refused = dir.run(&["train", "--train", "pairs.tsv", "--out", "new", "--protected-tokens", "a▁b"]);
    refused.refused_with(2, &["--protected-tokens", "cannot be a protected token"]);
    let refused = dir.run(&["train", "--train", "pairs.tsv", "--out", "new", "--tag-source", "to la"]);
    refused.refused_with(2, &["--tag-source", "cannot be a protected token"]);
    for [option, special] in [
        ["--protected-tokens", "</s>"],
        ["--tag-source", "<s>"],
        ["--protected-tokens", "＜unk＞"],
        ["--tag-source", "<pad>"],
    ] {
        let normalize = ["--normalize", "nfkc", "--tokenization", "char"];
        let train = ["train", "--train", "pairs.tsv", "--out", "new", option, special];
        dir.run(&[&train[..], &normalize].concat())
            .refused_with(2, &[option, "cannot be a protected token", "special"]);
    }
    // A vocabulary that is kept cannot gain a token for a new tag.
    let from = ["train", "--init-from", "model", "--init-vocabulary", "keep", "--train", "pairs.tsv", "--out", "new"];
    let refused = dir.run(&[&from[..], &["--tag-source", "<2it>"]].concat());
    refused.refused_with(2, &["--init-vocabulary keep: the model has no token for <2it>; extend"]);
    let config = dir.text("model/config.json").replace("\"fox\"", "\"</s>\"");
    dir.write("model/config.json", config);
    dir.run(&["translate", "--model", "model", "a"]).refused_with(1, &["config.json", "</s>", "special"]);
}
