//! Unicode normalization: equivalent text trains the same model and gets the same tokens and links, while words keep the
//! form of the input.

use crate::common::{self, QUICK, TestDir, json};
use serde_json::Value;
use softalign::random::SeededRng;
use softalign::text::{NormalForm, Normalization, Tokenization, Vocabulary, WordSplitting};

const NFC: Normalization = Normalization { form: NormalForm::Nfc, lowercase: false };
const NFKC: Normalization = Normalization { form: NormalForm::Nfkc, lowercase: false };
const ALL: [Normalization; 5] = [
    Normalization::NONE,
    NFC,
    NFKC,
    Normalization { lowercase: true, ..NFC },
    Normalization { lowercase: true, ..NFKC },
];
const KINDS: [Tokenization; 3] = [Tokenization::Bpe, Tokenization::Word, Tokenization::Char];

/// Texts that NFD, NFKC or lowercasing change.
const TEXTS: [&str; 12] = [
    "",
    " ",
    "Élise a été là .",
    "e\u{301}te\u{301} cafe\u{301}",
    "\u{1112}\u{1161}\u{11ab}\u{1100}\u{1173}\u{11af} 한글",
    "ﬁne ﬂat ½ ² … ﷺ \u{a8}x x\u{a8}",
    "İstanbul'da H\u{331} ΟΔΟΣ",
    "\u{301}a \u{301} \u{301}b =\u{338}",
    "a\u{301}\u{323} a\u{323}\u{301} ậ",
    "हिन्दी क़लम \u{958} जगत्",
    "ｗｉｄｅ　ｶﾞ Å \u{212b}",
    "👩‍👩‍👧 👍🏽 ▁ </s>",
];

fn train_vocabulary(tokenization: Tokenization, normalization: Normalization) -> Vocabulary {
    Vocabulary::train(TEXTS.into_iter().chain(TEXTS), tokenization, normalization, 500).unwrap()
}

/// Asserts that each token belongs to a word, that each word has a token (unless a token spans several marks), and that words
/// are substrings of the text.
#[track_caller]
fn check_words(vocabulary: &Vocabulary, text: &str) {
    for words in [WordSplitting::Whitespace, WordSplitting::Punctuation, vocabulary.tokenization().words()] {
        let segmented = vocabulary.segment(text, words).unwrap();
        assert_eq!(segmented.ids, vocabulary.encode(text).unwrap());
        assert!(segmented.word_of_token.is_sorted(), "{text:?}");
        let mut seen = segmented.word_of_token.clone();
        seen.dedup();
        let complete = seen == (0..segmented.words.len()).collect::<Vec<_>>();
        assert!(
            complete || matches!(words, WordSplitting::Punctuation | WordSplitting::Script),
            "{text:?} {words:?} {}",
            vocabulary.normalization()
        );
        let joined: String =
            segmented.words.iter().flat_map(|word| word.chars()).filter(|one| !one.is_whitespace()).collect();
        assert_eq!(joined, text.split_whitespace().collect::<String>(), "{words:?}");
        let mut rest = text;
        for word in &segmented.words {
            rest = &rest[rest.find(word.as_str()).expect("a word of the text") + word.len()..];
        }
    }
}

#[test]
fn words_are_those_of_the_input() {
    for normalization in ALL {
        for tokenization in KINDS {
            let vocabulary = train_vocabulary(tokenization, normalization);
            for text in TEXTS {
                check_words(&vocabulary, text);
                let decoded = vocabulary.decode(&vocabulary.encode(text).unwrap());
                assert_eq!(
                    decoded,
                    normalization.apply(&text.trim().replace('▁', "\u{fffd}")),
                    "{tokenization:?} {normalization}"
                );
            }
        }
    }
    let words =
        |text| train_vocabulary(Tokenization::Char, NFC).segment(text, WordSplitting::Characters).unwrap().words;
    assert_eq!(words("e\u{301}t"), ["e\u{301}", "t"]);
    assert_eq!(words("\u{1112}\u{1161}\u{11ab}"), ["\u{1112}\u{1161}\u{11ab}"]);
    let unknown = train_vocabulary(Tokenization::Char, NFC).segment("o\u{308}", WordSplitting::Characters).unwrap();
    assert_eq!(unknown.tokens, ["o\u{308}"], "unknown tokens keep the form of the text");
}

#[test]
fn words_survive_any_text() {
    const PARTS: [&str; 26] = [
        "a", "E", "İ", "é", "\u{301}", "\u{323}", "\u{344}", "\u{345}", "\u{338}", "\u{1100}", "\u{1161}", "\u{11a8}",
        "각", "ﬁ", "\u{a8}", "ﷺ", "\u{fdfa}", "\u{958}", "\u{93c}", "\u{3099}", "か", " ", "\u{3000}", ".", "≠",
        "\u{f73}",
    ];
    let mut rng = SeededRng::new(1, "texts", 0);
    let vocabularies: Vec<Vocabulary> = ALL
        .into_iter()
        .flat_map(|normalization| KINDS.map(|tokenization| train_vocabulary(tokenization, normalization)))
        .collect();
    for _ in 0..400 {
        let text: String = (0..1 + rng.below(12)).map(|_| PARTS[rng.below(PARTS.len())]).collect();
        vocabularies.iter().for_each(|vocabulary| check_words(vocabulary, &text));
        let composed = NormalForm::Nfc.apply(&text);
        for vocabulary in vocabularies.iter().filter(|one| one.normalization().form != NormalForm::None) {
            assert_eq!(vocabulary.encode(&text).unwrap(), vocabulary.encode(&composed).unwrap(), "{text:?}");
            let words = |text: &str| vocabulary.segment(text, WordSplitting::Punctuation).unwrap().word_of_token;
            assert_eq!(words(&text), words(&composed), "{text:?}");
        }
    }
}

/// Parallel sentences with accents.
const PAIRS: [(&str, &str); 8] = [
    ("Le chat est là", "Kočka spí ."),
    ("Le thé est là", "Čaj spí ."),
    ("un chat crée", "kočka dělá ."),
    ("un élève crée", "žák dělá ."),
    ("Le élève est là", "Žák spí ."),
    ("un thé est là", "čaj spí ."),
    ("Le chat crée", "Kočka dělá ."),
    ("un chat est là", "kočka spí ."),
];

/// Decomposes the accents of the test data.
fn decompose(text: &str) -> String {
    const DECOMPOSED: [(&str, &str); 10] = [
        ("é", "e\u{301}"),
        ("è", "e\u{300}"),
        ("à", "a\u{300}"),
        ("í", "i\u{301}"),
        ("á", "a\u{301}"),
        ("ě", "e\u{30c}"),
        ("č", "c\u{30c}"),
        ("Č", "C\u{30c}"),
        ("ž", "z\u{30c}"),
        ("Ž", "Z\u{30c}"),
    ];
    DECOMPOSED.into_iter().fold(text.to_owned(), |text, (whole, parts)| text.replace(whole, parts))
}

/// A directory with composed, decomposed and mixed pairs, enough of them to hold some out.
fn dir() -> TestDir {
    let dir = TestDir::new();
    let numbered = |number: usize| PAIRS.map(|(source, target)| format!("{source} {number}\t{target} {number}\n"));
    let composed: String = (0..5).flat_map(numbered).collect();
    let mixed = composed.lines().enumerate().map(|(number, line)| match number % 3 {
        0 => decompose(line) + "\n",
        _ => format!("{line}\n"),
    });
    dir.write("mixed.tsv", mixed.collect::<String>());
    dir.write("decomposed.tsv", decompose(&composed));
    dir.write("pairs.tsv", composed);
    dir
}

fn train(dir: &TestDir, pairs: &str, out: &str, options: &[&str]) {
    let arguments = ["train", "--train", pairs, "--out", out];
    dir.run(&[&arguments, &QUICK[..], options].concat()).worked();
}

/// Label and options of a training, and the files that must be equal for equivalent texts.
const EQUIVALENT: [(&str, &[&str], &[&str]); 2] = [
    (
        "bpe",
        &[
            "--source-tokenization=bpe",
            "--target-tokenization=bpe",
            "--bpe-dropout",
            "0.2",
            "--guided-alignment",
            "--max-epochs",
            "2",
        ],
        &["model.safetensors", "source.tokenizer.json", "aligner.safetensors", "lexicon.safetensors"],
    ),
    (
        "char",
        &[
            "--source-tokenization=char",
            "--target-tokenization=char",
            "--normalize",
            "nfkc",
            "--lowercase",
            "--max-epochs",
            "2",
        ],
        &["model.safetensors", "source.tokenizer.json"],
    ),
];

#[test]
fn equivalent_text_trains_the_same_model() {
    let dir = dir();
    for (label, options, files) in EQUIVALENT {
        for pairs in ["pairs", "decomposed", "mixed"] {
            train(&dir, &format!("{pairs}.tsv"), &format!("{pairs}-{label}"), options);
        }
        for (file, other) in files.iter().flat_map(|file| [(file, "decomposed"), (file, "mixed")]) {
            let [one, other] = ["pairs", other].map(|pairs| dir.read(&format!("{pairs}-{label}/{file}")));
            assert!(one == other, "{label}: {file} differs");
        }
    }
    assert!(!dir.path("pairs-char/aligner.safetensors").exists(), "character models have no aligner");
}

#[test]
fn equivalent_text_has_the_same_links_and_translations() {
    let dir = dir();
    let (label, options, _) = EQUIVALENT[0];
    train(&dir, "pairs.tsv", label, options);
    let (label, options, _) = EQUIVALENT[1];
    train(&dir, "pairs.tsv", label, options);
    let align =
        |pairs: &str, options: &[&str]| dir.run(&[&["align", "--pairs", pairs], options].concat()).worked().to_owned();
    for links in [
        &["--model", "bpe", "--format", "pharaoh"][..],
        &["--model", "char", "--format", "pharaoh"],
        &["--model", "bpe", "--format", "pharaoh", "--words", "punctuation"],
        &["--links-from", "pairs", "--format", "pharaoh"],
    ] {
        assert_eq!(align("pairs.tsv", links), align("decomposed.tsv", links), "{links:?}");
    }
    // Words and translations keep the form of the input.
    let text = align("decomposed.tsv", &["--model", "bpe", "--format", "jsonl"]);
    let first = json(text.lines().next().unwrap());
    assert_eq!(first["source"][3], "la\u{300}");
    assert_eq!(first["target"][0], "Koc\u{30c}ka");
    let translate = |text: &str| dir.run(&["translate", "--model", "bpe", text]).worked().to_owned();
    assert_eq!(translate("un e\u{301}le\u{300}ve"), translate("un élève"));
    // A saved aligner links text in either form.
    let save = ["--links-from", "pairs", "--save-aligner", "kept", "--format", "pharaoh"];
    assert_eq!(align("decomposed.tsv", &save), align("pairs.tsv", &["--aligner", "kept", "--format", "pharaoh"]));
}

#[test]
fn constraints_are_normalized_like_the_model() {
    let dir = dir();
    train(&dir, "pairs.tsv", "model", &["--lowercase", "--max-epochs", "20", "--patience", "100"]);
    let translate = |options: &[&str]| {
        dir.run(&[&["translate", "--model", "model", "le chat là"], options].concat()).worked().to_owned()
    };
    let text = translate(&[]);
    let word = text.split_whitespace().find(|word| !word.is_ascii()).expect("a word with an accent");
    for avoided in [word, &word.to_uppercase(), &decompose(word)] {
        let other = translate(&["--avoid", avoided]);
        assert!(other.split_whitespace().all(|other| other != word), "{avoided}: {other}");
    }
    dir.write("terms.tsv", format!("{}\t{}\n", decompose("LÀ"), decompose(&word.to_uppercase())));
    let text = translate(&["--terms", "terms.tsv", "--avoid", "Pes"]);
    assert!(text.contains(word), "{text}");
    let contradiction = ["--require", word, "--avoid", &decompose(&word.to_uppercase())];
    let refused = dir.run(&[&["translate", "--model", "model", "le chat"], &contradiction[..]].concat());
    refused.refused_with(2, &["forbids what --prefix, --require or --terms ask for"]);
}

#[test]
fn warns_once_of_mixed_normal_forms() {
    let dir = dir();
    let warnings = |pairs: &str, options: &[&str]| {
        let arguments = ["train", "--train", pairs, "--out", "model", "--max-epochs", "1", "--preset", "tiny"];
        let outcome = dir.run(&[&arguments, options].concat());
        outcome.worked();
        std::fs::remove_dir_all(dir.path("model")).unwrap();
        let lines = outcome.stderr.lines().filter(|line| line.contains("mixed Unicode normalization forms"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert!(warnings("pairs.tsv", &[]).is_empty() && warnings("decomposed.tsv", &[]).is_empty());
    let warning = "warning: mixed.tsv: mixed Unicode normalization forms, 28 of 80 texts are not in NFC; all are \
        normalized to NFC";
    assert_eq!(warnings("mixed.tsv", &[]), [warning]);
    let kept = warnings("mixed.tsv", &["--normalize", "none"]);
    assert!(kept.len() == 1 && kept[0].contains("the same word in two forms is two words"), "{kept:?}");
}

#[test]
fn model_keeps_its_normal_form() {
    let dir = dir();
    train(&dir, "pairs.tsv", "plain", &["--normalize", "none", "--max-epochs", "2"]);
    train(&dir, "pairs.tsv", "model", &["--max-epochs", "2"]);
    let inspect = |model: &str| dir.run(&["inspect", model]).worked().to_owned();
    assert!(inspect("plain").contains("normalization   none\n") && inspect("model").contains("normalization   NFC\n"));
    assert!(dir.read("plain/model.safetensors").len() == dir.read("model/model.safetensors").len());
    let resume = ["train", "--out", "model", "--resume", "--max-epochs", "3", "--quiet"];
    dir.run(&[&resume[..], &["--normalize", "nfkc"]].concat()).refused_with(2, &["--normalize", "--resume"]);
    dir.run(&[&resume[..], &["--lowercase"]].concat()).refused_with(2, &["--lowercase", "--resume"]);
    dir.run(&resume).worked();
    assert!(inspect("model").contains("normalization   NFC\n"));
    // Configurations of older models lack the normalization.
    let mut config = json(&dir.text("plain/config.json"));
    config["text"].as_object_mut().unwrap().remove("normalization").unwrap();
    let align = ["align", "--model", "plain", "--pairs", "mixed.tsv", "--format", "jsonl"];
    let aligned = dir.run(&align).worked().to_owned();
    dir.write("plain/config.json", config.to_string());
    assert_eq!(dir.run(&align).worked(), aligned);
    let both = ["translate", "--model", "plain", "--model", "model", "un chat"];
    dir.run(&both).refused_with(1, &["the vocabularies differ"]);
    // Files that contradict each other are refused.
    for form in ["nfc", "nfkc"] {
        config["text"]["normalization"] = serde_json::json!({"form": form, "lowercase": false});
        dir.write("plain/config.json", config.to_string());
        dir.run(&align).refused_with(1, &["source.tokenizer.json", "normalization"]);
    }
    config["text"]["normalization"] = serde_json::json!({"form": "nfd", "lowercase": false});
    dir.write("plain/config.json", config.to_string());
    dir.run(&align).refused_with(1, &["config.json", "nfd"]);
}

#[test]
fn references_are_normalized_like_the_model() {
    let dir = dir();
    train(&dir, "pairs.tsv", "small", &["--lowercase", "--max-epochs", "30"]);
    train(&dir, "pairs.tsv", "large", &["--max-epochs", "30"]);
    let evaluate = |model: &str, pairs: &str| {
        let outcome = dir.run(&["evaluate", "--model", model, "--pairs", pairs, "--json"]);
        (outcome.json(), outcome.stderr)
    };
    let (small, note) = evaluate("small", "decomposed.tsv");
    assert!(small["bleu"].as_f64().unwrap() > 90.0, "{small}");
    assert!(small["signature"].as_str().unwrap().contains("|case:lc|"));
    assert!(note.contains("like the model's text (NFC, lower case); 40 of 40 changed"), "{note}");
    assert_eq!(evaluate("small", "pairs.tsv").0, small, "scores do not depend on the form");
    let (large, note) = evaluate("large", "pairs.tsv");
    assert!(large["bleu"].as_f64().unwrap() > 90.0 && !note.contains("references"), "{large} {note}");
    assert!(large["signature"].as_str().unwrap().contains("|case:mixed|"));
    assert_eq!(evaluate("large", "decomposed.tsv").0, large);
    let both = ["evaluate", "--pairs", "pairs.tsv", "--model", "large", "--model", "small"];
    assert!(dir.run(&both).stderr.contains("NFC and NFC, lower case: the scores are not comparable"));
    let validated = dir.text("small/log.jsonl");
    let last = json(validated.lines().last().unwrap());
    assert!(last["bleu"].as_f64().unwrap() > 50.0, "{last}");
    let upper_case = dir.run(&["translate", "--model", "small", "LE CHAT EST LA\u{300} 3"]).worked().to_owned();
    assert_eq!(upper_case, dir.run(&["translate", "--model", "small", "le chat est là 3"]).worked());
}

#[test]
fn dictionary_lookup_ignores_the_normal_form() {
    let dir = TestDir::new();
    // The vocabulary excludes the words that occur twice only.
    let frequent = common::PAIRS
        .map(|(source, target)| format!("{}\t{}\n", source.trim_start_matches("the "), target.trim_end_matches(" .")));
    let rare = [("héron", "asalo"), ("élan", "toni")].map(|(animal, name)| {
        format!("red {animal} sleeps\trufo {name} dorma\ngrey {animal} sings\tgrisa {name} kanta\n")
    });
    dir.write("pairs.tsv", [frequent.concat(), rare.concat()].concat());
    let settings = ["--vocabulary-size", "12", "--guided-alignment=1", "--max-epochs", "20", "--patience", "100"];
    train(&dir, "pairs.tsv", "model", &settings);
    let translate = |text: &str, words: &str| {
        let arguments = ["translate", "--model", "model", "--replace-unknown", "--dictionary", words, text];
        dir.run(&arguments).worked().to_owned()
    };
    dir.write("composed.words", "héron\tlupo\n");
    dir.write("decomposed.words", decompose("héron\tlupo\n"));
    let text = "red héron sings";
    for words in ["composed.words", "decomposed.words"] {
        assert_eq!(translate(text, words), "rufo lupo kanta\n");
        assert_eq!(translate(&decompose(text), words), "rufo lupo kanta\n");
    }
    assert_eq!(
        translate("red e\u{301}lan sings", "decomposed.words"),
        "rufo e\u{301}lan kanta\n",
        "copied words keep the form of the input"
    );
}

#[test]
fn duplicates_are_found_across_normal_forms() {
    let dir = dir();
    dir.write("twice.tsv", dir.text("pairs.tsv") + &dir.text("decomposed.tsv"));
    let found = dir.run(&["clean", "--pairs", "twice.tsv"]);
    assert!(found.worked().contains("duplicate          40   50.0 %"), "{found:?}");
}

#[test]
fn punctuation_follows_unicode() {
    let dir = TestDir::new();
    dir.write("pairs.tsv", "«۲۰» ۱۹۹۰.\t༄བོད། 20€\nहिन्दी।\tx\u{303}ː, ܫܠܡܐ܀\n");
    let align =
        ["align", "--links-from", "pairs", "--words", "punctuation", "--pairs", "pairs.tsv", "--format", "jsonl"];
    let found = dir.run(&align);
    let lines: Vec<Value> = found.worked().lines().map(json).collect();
    assert_eq!(lines[0]["source"], serde_json::json!(["«", "۲۰", "»", "۱۹۹۰", "."]));
    assert_eq!(lines[0]["target"], serde_json::json!(["༄", "བོ", "ད", "།", "20", "€"]));
    assert_eq!(lines[1]["source"], serde_json::json!(["हिन्दी", "।"]));
    assert_eq!(lines[1]["target"], serde_json::json!(["x\u{303}ː", ",", "ܫܠܡܐ", "܀"]));
}
