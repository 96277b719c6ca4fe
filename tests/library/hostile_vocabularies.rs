//! Damaged and hostile tokenizer files: each is refused or gives a usable vocabulary, without panics or excessive memory and
//! time.
//!
//! `SOFTALIGN_MUTATIONS=100000 cargo test --release --test library hostile_vocabularies` tries 100,000 mutations of each
//! kind of token.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::{Value, json};
use softalign::random::SeededRng;
use softalign::text::{NormalForm, Normalization, ProtectedTokens, Tokenization, Vocabulary, WordSplitting};

/// Default number of mutations of each tokenization.
const MUTATIONS: usize = 250;

const KINDS: [Tokenization; 3] = [Tokenization::Bpe, Tokenization::Word, Tokenization::Char];

const TEXTS: [&str; 6] = [
    "the red fox sleeps .",
    "the grey owls sleep , and the red foxes sing .",
    "l'été n'est pas l'hiver",
    "3:45 p.m. 👩‍👩‍👧 \u{1b}[2J",
    "</s> <unk> <pad> ▁",
    "नमस्ते दुनिया שלום עולם",
];

/// Default normalization of models, with lowercasing.
const NORMALIZATION: Normalization = Normalization { form: NormalForm::Nfc, lowercase: true };

fn trained_json(tokenization: Tokenization) -> String {
    let texts = TEXTS.into_iter().chain(TEXTS);
    Vocabulary::train(texts, tokenization, NORMALIZATION, 300).unwrap().to_json().unwrap()
}

/// Parses a tokenizer file and uses the vocabulary. Returns true if the file is accepted.
fn try_to_use(json: &str, tokenization: Tokenization) -> bool {
    let Ok(vocabulary) = Vocabulary::from_json(json, tokenization, NORMALIZATION, &ProtectedTokens::default()) else {
        return false;
    };
    let size = vocabulary.size() as u32;
    for text in TEXTS {
        let segmentation = vocabulary.segment(text, WordSplitting::Whitespace).unwrap();
        assert!(segmentation.ids.iter().all(|&id| id < size), "id out of range");
        assert!(segmentation.ids.len() <= 2 * text.len() + 1, "too many tokens");
        assert!(!vocabulary.decode(&segmentation.ids).contains('\n'), "line feed in the decoded text");
    }
    assert!(!vocabulary.decode(&(0..size).collect::<Vec<u32>>()).contains('\n'), "line feed in the decoded text");
    true
}

fn mutations() -> usize {
    std::env::var("SOFTALIGN_MUTATIONS").map_or(MUTATIONS, |count| count.parse().unwrap())
}

/// Replaces, inserts or removes one byte; `None` if the result is not UTF-8.
fn mutate(json: &str, rng: &mut SeededRng) -> Option<String> {
    // Characters of the JSON syntax and of numbers.
    const SYNTAX: &[u8] = b"0123456789-+.eE\"\\{}[]:, \nntfu<>/";
    let mut bytes = json.as_bytes().to_vec();
    let index = rng.below(bytes.len());
    let byte = if rng.below(2) == 0 { rng.below(256) as u8 } else { SYNTAX[rng.below(SYNTAX.len())] };
    match rng.below(4) {
        0 => bytes.insert(index, byte),
        1 => drop(bytes.remove(index)),
        _ => bytes[index] = byte,
    }
    String::from_utf8(bytes).ok()
}

#[test]
fn survives_any_single_byte_change() {
    for tokenization in KINDS {
        let json = trained_json(tokenization);
        let mut rng = SeededRng::new(1, "mutations", tokenization as u64);
        let (mut accepted, mut refused) = (0, 0);
        for mutation in 0..mutations() {
            let Some(damaged) = mutate(&json, &mut rng) else { continue };
            match catch_unwind(AssertUnwindSafe(|| try_to_use(&damaged, tokenization))) {
                Ok(true) => accepted += 1,
                Ok(false) => refused += 1,
                Err(_) => panic!("{tokenization:?}, mutation {mutation} panics"),
            }
        }
        // A change within a token's text may give another valid token.
        assert!(accepted > 0 && refused > accepted, "{tokenization:?}: {accepted} accepted, {refused} refused");
    }
}

/// Collects JSON pointers to a value and everything inside it.
fn collect_pointers(value: &Value, pointer: &str, all: &mut Vec<String>) {
    all.push(pointer.to_owned());
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                collect_pointers(value, &format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1")), all);
            }
        }
        Value::Array(values) => {
            for (index, value) in values.iter().enumerate() {
                collect_pointers(value, &format!("{pointer}/{index}"), all);
            }
        }
        _ => {}
    }
}

#[test]
fn survives_any_replaced_json_value() {
    let others = [
        json!(null),
        json!(-1),
        json!(0),
        json!(2_147_483_647),
        json!(4_294_967_296u64),
        json!(1e300),
        json!(true),
        json!(""),
        json!("\n"),
        json!("(a*)*"),
        json!([]),
        json!({}),
    ];
    for tokenization in KINDS {
        let file: Value = serde_json::from_str(&trained_json(tokenization)).unwrap();
        let mut all = Vec::new();
        collect_pointers(&file, "", &mut all);
        // A sample of the long lists is enough.
        let rules = all
            .iter()
            .filter(|pointer| !pointer.starts_with("/model/vocab/") && !pointer.starts_with("/model/merges/"));
        let sampled = all.iter().filter(|pointer| pointer.starts_with("/model/")).step_by(all.len() / 40);
        for pointer in rules.chain(sampled) {
            for other in &others {
                let mut changed = file.clone();
                *changed.pointer_mut(pointer).unwrap() = other.clone();
                // A vocabulary without merges is valid.
                if changed == file || (pointer == "/model/merges" && other == &json!([])) {
                    continue;
                }
                let used = catch_unwind(AssertUnwindSafe(|| try_to_use(&changed.to_string(), tokenization)));
                assert!(used.is_ok(), "{tokenization:?} {pointer} {other} panics");
                assert!(!used.unwrap(), "{tokenization:?} {pointer} {other}: accepted");
            }
        }
    }
}

/// Asserts that a changed file is refused.
#[track_caller]
fn assert_refused(tokenization: Tokenization, change: &dyn Fn(&mut Value)) {
    let mut file: Value = serde_json::from_str(&trained_json(tokenization)).unwrap();
    change(&mut file);
    assert!(!try_to_use(&file.to_string(), tokenization), "{tokenization:?}");
}

#[test]
fn refuses_hostile_vocabularies() {
    let size = |file: &Value| file["model"]["vocab"].as_object().unwrap().len();
    for tokenization in KINDS {
        assert_refused(tokenization, &|file| {
            file["padding"] = json!({"strategy": {"Fixed": 1_000_000_000}, "direction": "Right",
                "pad_to_multiple_of": null, "pad_id": 0, "pad_type_id": 0, "pad_token": "<pad>"});
        });
        assert_refused(tokenization, &|file| {
            file["truncation"] =
                json!({"direction": "Right", "max_length": 0, "strategy": "LongestFirst", "stride": 0});
        });
        assert_refused(tokenization, &|file| {
            let double = json!({"type": "Replace", "pattern": {"String": "a"}, "content": "aa"});
            file["normalizer"] = json!({"type": "Sequence", "normalizers": vec![double; 40]});
        });
        let normalizers = |changed: &dyn Fn(&mut Vec<Value>)| {
            assert_refused(tokenization, &|file| changed(file["normalizer"]["normalizers"].as_array_mut().unwrap()));
        };
        normalizers(&|rules| drop(rules.remove(0)));
        normalizers(&|rules| drop(rules.remove(1)));
        normalizers(&|rules| rules.swap(0, 1));
        normalizers(&|rules| rules.insert(0, json!({"type": "NFC"})));
        for other in ["NFD", "NFKC", "NFKD", "StripAccents", "Nmt"] {
            normalizers(&|rules| rules[0] = json!({"type": other}));
        }
        normalizers(&|rules| rules[0] = json!({"type": "Sequence", "normalizers": [{"type": "NFC"}]}));
        assert_refused(tokenization, &|file| file["model"]["vocab"]["\n"] = json!(size(file)));
        assert_refused(tokenization, &|file| file["model"]["vocab"]["new"] = json!(size(file) + 1));
        assert_refused(tokenization, &|file| file["model"]["vocab"]["new"] = json!(4));
        assert_refused(tokenization, &|file| file["model"]["vocab"]["new"] = json!(2_147_483_647));
        assert_refused(tokenization, &|file| {
            file["added_tokens"][3]["id"] = json!(2_147_483_647);
        });
        assert_refused(tokenization, &|file| {
            file["added_tokens"].as_array_mut().unwrap().push(json!({"id": 4, "content": "the", "special": true}));
        });
    }
    assert_refused(Tokenization::Bpe, &|file| file["model"]["merges"][0] = json!(["the", "nowhere"]));
    assert_refused(Tokenization::Bpe, &|file| file["model"]["merges"][0] = json!(["s l", "p"]));
    assert_refused(Tokenization::Bpe, &|file| file["model"]["dropout"] = json!(0.5));
    assert_refused(Tokenization::Word, &|file| file["model"]["type"] = json!("BPE"));
    for text in ["", "null", "[]", "{}", "{\"model\": 1}", &"[".repeat(100_000), &"{\"a\":".repeat(100_000)] {
        assert!(KINDS.iter().all(|&tokenization| !try_to_use(text, tokenization)));
    }
}
