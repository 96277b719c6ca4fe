//! Damaged and hostile tokenizer files: each is refused, or is a vocabulary that can be used. None panics, none takes more
//! memory or time than its size calls for.
//!
//! `SOFTALIGN_MUTATIONS=100000 cargo test --release --test hostile_vocabularies` tries so many of each kind of unit.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::{Value, json};
use softalign::random::SeededRng;
use softalign::text::{NormalForm, Normalization, ProtectedTokens, Units, Vocabulary, WordSplitting};

/// Mutations of each kind of unit where nothing else is asked for.
const MUTATIONS: usize = 250;

const KINDS: [Units; 3] = [Units::Bpe, Units::Word, Units::Char];

const TEXTS: [&str; 6] = [
    "the red fox sleeps .",
    "the grey owls sleep , and the red foxes sing .",
    "l'été n'est pas l'hiver",
    "3:45 p.m. 👩‍👩‍👧 \u{1b}[2J",
    "</s> <unk> <pad> ▁",
    "नमस्ते दुनिया שלום עולם",
];

/// What models have where nothing else is asked for, but for the lower case.
const NORMALISATION: Normalization = Normalization { form: NormalForm::Nfc, lowercase: true };

fn learnt(units: Units) -> String {
    let texts = TEXTS.into_iter().chain(TEXTS);
    Vocabulary::train(texts, units, NORMALISATION, 300).unwrap().to_json().unwrap()
}

/// Reads a file and, if it is taken, uses it; tells whether it is taken.
fn try_to_use(json: &str, units: Units) -> bool {
    let Ok(vocabulary) = Vocabulary::from_json(json, units, NORMALISATION, &ProtectedTokens::default()) else {
        return false;
    };
    let size = vocabulary.size() as u32;
    for text in TEXTS {
        let segmentation = vocabulary.segment(text, WordSplitting::Whitespace).unwrap();
        assert!(segmentation.ids.iter().all(|&id| id < size), "an id beyond the size");
        assert!(segmentation.ids.len() <= 2 * text.len() + 1, "a text grows");
        assert!(!vocabulary.decode(&segmentation.ids).contains('\n'), "more than a line");
    }
    assert!(!vocabulary.decode(&(0..size).collect::<Vec<u32>>()).contains('\n'), "more than a line");
    true
}

fn mutations() -> usize {
    std::env::var("SOFTALIGN_MUTATIONS").map_or(MUTATIONS, |count| count.parse().unwrap())
}

/// One byte changed, put in or taken out; none if that is no text any more.
fn mutated(json: &str, stream: &mut SeededRng) -> Option<String> {
    // Most of what matters is written with these.
    const TELLING: &[u8] = b"0123456789-+.eE\"\\{}[]:, \nntfu<>/";
    let mut bytes = json.as_bytes().to_vec();
    let place = stream.below(bytes.len());
    let byte = if stream.below(2) == 0 { stream.below(256) as u8 } else { TELLING[stream.below(TELLING.len())] };
    match stream.below(4) {
        0 => bytes.insert(place, byte),
        1 => drop(bytes.remove(place)),
        _ => bytes[place] = byte,
    }
    String::from_utf8(bytes).ok()
}

#[test]
fn survives_any_single_byte_change() {
    for units in KINDS {
        let json = learnt(units);
        let mut stream = SeededRng::new(1, "mutations", units as u64);
        let (mut taken, mut refused) = (0, 0);
        for mutation in 0..mutations() {
            let Some(damaged) = mutated(&json, &mut stream) else { continue };
            match catch_unwind(AssertUnwindSafe(|| try_to_use(&damaged, units))) {
                Ok(true) => taken += 1,
                Ok(false) => refused += 1,
                Err(_) => panic!("{units:?}, mutation {mutation}: a panic"),
            }
        }
        // Damage within a unit's text makes another unit, which may be fine.
        assert!(taken > 0 && refused > taken, "{units:?}: {taken} taken, {refused} refused");
    }
}

/// Every place of a JSON value, as pointers.
fn places(value: &Value, place: &str, all: &mut Vec<String>) {
    all.push(place.to_owned());
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                places(value, &format!("{place}/{}", name.replace('~', "~0").replace('/', "~1")), all);
            }
        }
        Value::Array(values) => {
            for (index, value) in values.iter().enumerate() {
                places(value, &format!("{place}/{index}"), all);
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
    for units in KINDS {
        let file: Value = serde_json::from_str(&learnt(units)).unwrap();
        let mut all = Vec::new();
        places(&file, "", &mut all);
        // Of the long lists some are enough.
        let rules =
            all.iter().filter(|place| !place.starts_with("/model/vocab/") && !place.starts_with("/model/merges/"));
        let some = all.iter().filter(|place| place.starts_with("/model/")).step_by(all.len() / 40);
        for place in rules.chain(some) {
            for other in &others {
                let mut changed = file.clone();
                *changed.pointer_mut(place).unwrap() = other.clone();
                // A vocabulary without merges is one too.
                if changed == file || (place == "/model/merges" && other == &json!([])) {
                    continue;
                }
                let used = catch_unwind(AssertUnwindSafe(|| try_to_use(&changed.to_string(), units)));
                assert!(used.is_ok(), "{units:?} {place} {other}: a panic");
                assert!(!used.unwrap(), "{units:?} {place} {other}: taken");
            }
        }
    }
}

/// A file with some change is refused.
#[track_caller]
fn change(units: Units, change: &dyn Fn(&mut Value)) {
    let mut file: Value = serde_json::from_str(&learnt(units)).unwrap();
    change(&mut file);
    assert!(!try_to_use(&file.to_string(), units), "{units:?}");
}

#[test]
fn refuses_hostile_vocabularies() {
    let size = |file: &Value| file["model"]["vocab"].as_object().unwrap().len();
    for units in KINDS {
        change(units, &|file| {
            file["padding"] = json!({"strategy": {"Fixed": 1_000_000_000}, "direction": "Right",
                "pad_to_multiple_of": null, "pad_id": 0, "pad_type_id": 0, "pad_token": "<pad>"});
        });
        change(units, &|file| {
            file["truncation"] =
                json!({"direction": "Right", "max_length": 0, "strategy": "LongestFirst", "stride": 0});
        });
        change(units, &|file| {
            let double = json!({"type": "Replace", "pattern": {"String": "a"}, "content": "aa"});
            file["normalizer"] = json!({"type": "Sequence", "normalizers": vec![double; 40]});
        });
        let normalizers = |changed: &dyn Fn(&mut Vec<Value>)| {
            change(units, &|file| changed(file["normalizer"]["normalizers"].as_array_mut().unwrap()));
        };
        normalizers(&|rules| drop(rules.remove(0)));
        normalizers(&|rules| drop(rules.remove(1)));
        normalizers(&|rules| rules.swap(0, 1));
        normalizers(&|rules| rules.insert(0, json!({"type": "NFC"})));
        for other in ["NFD", "NFKC", "NFKD", "StripAccents", "Nmt"] {
            normalizers(&|rules| rules[0] = json!({"type": other}));
        }
        normalizers(&|rules| rules[0] = json!({"type": "Sequence", "normalizers": [{"type": "NFC"}]}));
        change(units, &|file| file["model"]["vocab"]["\n"] = json!(size(file)));
        change(units, &|file| file["model"]["vocab"]["new"] = json!(size(file) + 1));
        change(units, &|file| file["model"]["vocab"]["new"] = json!(4));
        change(units, &|file| file["model"]["vocab"]["new"] = json!(2_147_483_647));
        change(units, &|file| {
            file["added_tokens"][3]["id"] = json!(2_147_483_647);
        });
        change(units, &|file| {
            file["added_tokens"].as_array_mut().unwrap().push(json!({"id": 4, "content": "the", "special": true}));
        });
    }
    change(Units::Bpe, &|file| file["model"]["merges"][0] = json!(["the", "nowhere"]));
    change(Units::Bpe, &|file| file["model"]["merges"][0] = json!(["s l", "p"]));
    change(Units::Bpe, &|file| file["model"]["dropout"] = json!(0.5));
    change(Units::Word, &|file| file["model"]["type"] = json!("BPE"));
    for text in ["", "null", "[]", "{}", "{\"model\": 1}", &"[".repeat(100_000), &"{\"a\":".repeat(100_000)] {
        assert!(KINDS.iter().all(|&units| !try_to_use(text, units)));
    }
}
