//! Damaged and hostile input of every kind: real files, changed at random and on purpose. Each is refused with a reason or
//! can be used; none panics, aborts or takes for ever.
//!
//! Quick by default. More: `SOFTALIGN_MUTATIONS=1000 cargo test --release --test mutations -- --nocapture` tries so many of
//! each file and text, and says how many came out how.

mod common;

#[path = "common/corrupt.rs"]
mod corrupt;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use common::{PAIRS, TestDir};
use corrupt::{use_arguments, use_bytes, use_config, use_corpus, use_gold, use_model_dir, use_text, vocabulary};
use serde_json::{Value, json};
use softalign::checkpoint::ModelDir;
use softalign::random::SeededRng;
use softalign::text::{Column, TableFormat, WordSplitting};

/// Mutations of each file and each kind of text where nothing else is asked for.
const MUTATIONS: usize = 40;
/// Far more than anything here takes.
const FOR_EVER: Duration = Duration::from_secs(120);

const PAIR: [&str; 2] = [PAIRS[0].0, PAIRS[0].1];

fn mutations() -> usize {
    std::env::var("SOFTALIGN_MUTATIONS").map_or(MUTATIONS, |count| count.parse().unwrap())
}

/// Ends the process where something takes for ever.
struct Watch(Arc<AtomicBool>);

impl Watch {
    fn over(what: String) -> Self {
        let done = Arc::new(AtomicBool::new(false));
        let watched = done.clone();
        std::thread::spawn(move || {
            let began = Instant::now();
            while !watched.load(Ordering::Relaxed) {
                if began.elapsed() > FOR_EVER {
                    eprintln!("{what} takes for ever");
                    std::process::abort();
                }
                std::thread::sleep(Duration::from_millis(200));
            }
        });
        Self(done)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Some bytes changed, put in, taken out, doubled or cut off.
fn changed_bytes(bytes: &[u8], stream: &mut SeededRng) -> Vec<u8> {
    const TELLING: &[u8] = b"0123456789-+.eE\"\\{}[]:, \t\n\r\0\x1b\xff\xc3";
    let mut bytes = bytes.to_vec();
    for _ in 0..=stream.below(4) {
        if bytes.is_empty() {
            return bytes;
        }
        let place = stream.below(bytes.len());
        let byte = if stream.below(2) == 0 { stream.below(256) as u8 } else { TELLING[stream.below(TELLING.len())] };
        match stream.below(8) {
            0 => bytes.insert(place, byte),
            1 => drop(bytes.remove(place)),
            2 => bytes.truncate(place),
            3 => {
                let end = (place + 1 + stream.below(64)).min(bytes.len());
                let piece = bytes[place..end].to_vec();
                bytes.splice(place..place, piece);
            }
            _ => bytes[place] = byte,
        }
    }
    bytes
}

/// A value somewhere in JSON replaced by one that nobody expects there, or a key taken out or renamed.
fn changed_json(text: &str, stream: &mut SeededRng) -> Option<String> {
    let mut value: Value = serde_json::from_str(text).ok()?;
    let unexpected = [
        json!(null),
        json!(true),
        json!(-1),
        json!(0),
        json!(1e300),
        json!(5e-324),
        json!(-0.5),
        json!(9_007_199_254_740_993u64),
        json!(u64::MAX),
        json!(""),
        json!("\u{1b}[2J\n\u{202e}"),
        json!("a".repeat(70_000)),
        json!([]),
        json!({}),
        json!([[[[[[[[1]]]]]]]]),
        json!([0, -1, 1e300]),
    ];
    let mut at = &mut value;
    loop {
        let deeper = match at {
            Value::Object(entries) if !entries.is_empty() => entries.len(),
            Value::Array(items) if !items.is_empty() => items.len(),
            _ => 0,
        };
        if deeper == 0 || stream.below(4) == 0 {
            break;
        }
        let place = stream.below(deeper);
        at = match at {
            Value::Object(entries) => entries.values_mut().nth(place)?,
            Value::Array(items) => items.get_mut(place)?,
            _ => return None,
        };
    }
    match at {
        // JSON within JSON: the metadata of safetensors.
        Value::String(inner) if inner.starts_with('{') && stream.below(4) > 0 => *inner = changed_json(inner, stream)?,
        Value::Object(entries) if !entries.is_empty() && stream.below(2) == 0 => {
            let key = entries.keys().nth(stream.below(entries.len()))?.clone();
            let taken = entries.remove(&key)?;
            if stream.below(2) == 0 {
                entries.insert(format!("{key}x"), taken);
            }
        }
        at => *at = unexpected[stream.below(unexpected.len())].clone(),
    }
    Some(value.to_string())
}

/// The header of a safetensors file changed as JSON, or its length, or numbers behind it.
fn changed_tensors(bytes: &[u8], stream: &mut SeededRng) -> Option<Vec<u8>> {
    let length = u64::from_le_bytes(bytes.get(..8)?.try_into().ok()?) as usize;
    let (header, data) = (std::str::from_utf8(bytes.get(8..8 + length)?).ok()?, bytes.get(8 + length..)?);
    match stream.below(4) {
        0 => {
            let lengths = [0, 1, 7, length as u64 - 1, length as u64 + 1, u64::from(u32::MAX), u64::MAX, 100_000_000];
            Some([&lengths[stream.below(lengths.len())].to_le_bytes()[..], &bytes[8..]].concat())
        }
        1 => {
            let mut data = data.to_vec();
            let numbers = [f32::NAN, f32::INFINITY, -1e38, 1e-42, -1.0, 2.0];
            for _ in 0..=stream.below(3) {
                let place = 4 * stream.below((data.len() / 4).max(1));
                let number = numbers[stream.below(numbers.len())].to_le_bytes();
                data.get_mut(place..place + 4)?.copy_from_slice(&number);
            }
            Some([&bytes[..8 + length], &data].concat())
        }
        _ => {
            let header = changed_json(header, stream)?;
            Some([&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), data].concat())
        }
    }
}

/// A line of a file of JSON values changed as JSON.
fn changed_line(text: &str, stream: &mut SeededRng) -> Option<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let line = stream.below(lines.len().max(1));
    let changed = changed_json(lines.get(line)?, stream)?;
    lines[line] = changed;
    Some(lines.join("\n") + "\n")
}

fn changed(name: &str, bytes: &[u8], stream: &mut SeededRng) -> Vec<u8> {
    let structured = match std::str::from_utf8(bytes) {
        _ if stream.below(3) == 0 => None,
        Ok(text) if name.ends_with(".json") => changed_json(text, stream).map(String::into_bytes),
        Ok(text) if name.ends_with(".jsonl") => changed_line(text, stream).map(String::into_bytes),
        _ if name.ends_with(".safetensors") => changed_tensors(bytes, stream),
        _ => None,
    };
    structured.unwrap_or_else(|| changed_bytes(bytes, stream))
}

/// A model's folder with all files that there may be.
fn trained_model() -> TestDir {
    let place = TestDir::with_pairs();
    let options = ["--guided-alignment", "0.1", "--keep-attention", "--max-epochs", "2"];
    place.train("model", &options).worked();
    place
}

/// The files of its folder.
fn files(place: &TestDir) -> BTreeMap<String, Vec<u8>> {
    let is_file = |name: &str| name.starts_with("model/") && !name.ends_with('/') && !name.ends_with(".html");
    place.contents().into_iter().filter(|(name, _)| is_file(name)).collect()
}

/// Runs `work` on each of some mutations; says how many were taken and how many refused.
fn each(what: &str, count: usize, mut work: impl FnMut(&mut SeededRng) -> bool) {
    let (mut taken, mut refused) = (0, 0);
    for number in 0..count as u64 {
        let _watch = Watch::over(format!("{what}, mutation {number}"));
        let mut stream = SeededRng::new(7, what, number);
        match catch_unwind(AssertUnwindSafe(|| work(&mut stream))) {
            Ok(true) => taken += 1,
            Ok(false) => refused += 1,
            Err(_) => panic!("{what}, mutation {number} panics"),
        }
    }
    println!("{what}: {taken} taken, {refused} refused");
}

#[test]
fn damaged_directories_never_panic() {
    let place = trained_model();
    let dir = ModelDir::new(&place.path("model"));
    assert!(use_model_dir(&dir, PAIR));
    let files = files(&place);
    for (name, bytes) in &files {
        each(name, mutations(), |stream| {
            place.write(name, changed(name, bytes, stream));
            use_model_dir(&dir, PAIR)
        });
        place.write(name, bytes);
    }
    assert!(use_model_dir(&dir, PAIR), "the restored directory works");
}

/// What those meet who do more with a damaged model than translate: curves of logs that are none, training that stood nowhere.
#[test]
fn no_command_panics_on_a_damaged_directory() {
    const COMMANDS: [&str; 7] = [
        "inspect model",
        "inspect model --json",
        "evaluate --pairs pairs.tsv --model model --json",
        "score --pairs pairs.tsv --model model",
        "average model sound --out mean",
        "train --init-from model --train pairs.tsv --out next --max-epochs 1",
        "train --resume --out model --max-epochs 3",
    ];
    let place = trained_model();
    let files = files(&place);
    std::fs::create_dir(place.path("sound")).unwrap();
    for (name, bytes) in &files {
        place.write(&name.replace("model/", "sound/"), bytes);
    }
    // No code reads these.
    let read = |name: &&String| !name.ends_with(".svg") && !name.ends_with("resume.json");
    for name in files.keys().filter(read) {
        each(&format!("commands with {name}"), mutations().div_ceil(10), |stream| {
            for (name, bytes) in &files {
                place.write(name, bytes);
            }
            for made in ["mean", "next"] {
                let _ = std::fs::remove_dir_all(place.path(made));
            }
            place.write(name, changed(name, &files[name], stream));
            let worked = COMMANDS.map(|command| {
                let outcome = place.run(&command.split(' ').chain(["--quiet"]).collect::<Vec<_>>());
                let ended = matches!(outcome.code, Some(0 | 1)) && !outcome.stderr.contains("panicked");
                assert!(ended, "{name}: {command}: {outcome:?}");
                outcome.code == Some(0)
            });
            worked.into_iter().all(|worked| worked)
        });
    }
}

/// Crafted contents of a file, each with its label.
fn crafted_contents() -> [(&'static str, Vec<u8>); 14] {
    [
        ("empty", vec![]),
        ("empty object", b"{}".to_vec()),
        ("empty array", b"[]".to_vec()),
        ("null", b"null".to_vec()),
        ("infinite number", b"1e999".to_vec()),
        ("broken UTF-8", b"\xff\xfe\"".to_vec()),
        ("empty lines", b"\n\n\n".to_vec()),
        ("deep nesting", format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000)).into()),
        ("long string", format!("{{\"a\":\"{}\"}}", "x".repeat(5_000_000)).into()),
        ("UTF-16", "\u{feff}{}".encode_utf16().flat_map(u16::to_le_bytes).collect()),
        ("zeros", vec![0; 4096]),
        ("ones", vec![0xff; 4096]),
        ("zip file", b"PK\x03\x04 a zip file".to_vec()),
        ("safetensors without tensors", b"\x08\0\0\0\0\0\0\0{}      ".to_vec()),
    ]
}

/// Covers missing, empty, foreign and exchanged files, directories in their place, and circular links.
#[test]
fn crafted_directories_never_panic() {
    let place = trained_model();
    let dir = ModelDir::new(&place.path("model"));
    let files = files(&place);
    let contents = crafted_contents();
    for name in files.keys() {
        let path = place.path(name);
        let attack = |label: &str, prepare: &dyn Fn()| {
            let _watch = Watch::over(format!("{name}: {label}"));
            println!("{name}: {label}");
            prepare();
            use_model_dir(&dir, PAIR);
        };
        for (label, bytes) in &contents {
            attack(label, &|| place.write(name, bytes));
        }
        for (other, bytes) in files.iter().filter(|(other, _)| *other != name) {
            attack(&format!("contents of {other}"), &|| place.write(name, bytes));
        }
        attack("first half", &|| place.write(name, &files[name][..files[name].len() / 2]));
        attack("twice", &|| place.write(name, files[name].repeat(2)));
        attack("missing", &|| std::fs::remove_file(&path).unwrap());
        attack("directory", &|| std::fs::create_dir(&path).unwrap());
        std::fs::remove_dir(&path).unwrap();
        #[cfg(unix)]
        {
            attack("circular link", &|| std::os::unix::fs::symlink(&path, &path).unwrap());
            std::fs::remove_file(&path).unwrap();
        }
        place.write(name, &files[name]);
    }
    assert!(use_model_dir(&dir, PAIR), "the restored directory works");
}

#[test]
fn no_input_text_panics() {
    let place = TestDir::with_pairs();
    let corpus = [
        "the red fox\trufo mi\n\n\t\na\tb\tc\n\"q\"\"\tx\"\ty\n",
        "a,b\n\"c, \"\"d\"\"\",\"e\nf\"\n;\n",
        "\u{feff}source;target\n1;2\r\n",
        "日本語\tשלום\u{202e}\n\u{0}\t\u{1b}[2J\n",
    ];
    let path = place.path("mutated");
    for (number, text) in corpus.into_iter().enumerate() {
        each(&format!("corpus {number}"), mutations(), |stream| {
            std::fs::write(&path, changed_bytes(text.as_bytes(), stream)).unwrap();
            let columns =
                (stream.below(2) == 0).then(|| [1 + stream.below(3), 1 + stream.below(3)].map(Column::Number));
            let features = (stream.below(2) == 0).then(|| Column::Number(1 + stream.below(4)));
            let layout = TableFormat { csv: stream.below(2) == 0, header: stream.below(2) == 0, columns, features };
            use_config(&String::from_utf8_lossy(&std::fs::read(&path).unwrap()));
            use_corpus(&path, &layout, 1 + stream.below(4))
        });
    }
    for (number, text) in ["0-0 1-1 2?3 4p5", "10-2 3-", "", "1–2 ١-٢"].into_iter().enumerate() {
        each(&format!("gold {number}"), mutations(), |stream| {
            use_gold(&String::from_utf8_lossy(&changed_bytes(text.as_bytes(), stream)))
        });
    }
    let arguments =
        ["--columns=1,2", "--only=1,2", "--max-minutes=5", "--guided-alignment=0.5", "--threads=2", "--n-best=3"];
    for (argument, command) in arguments.into_iter().zip(["train", "align", "train", "train", "translate", "translate"])
    {
        each(argument, mutations(), |stream| {
            let (name, value) = argument.split_once('=').unwrap();
            let changed = changed_bytes(value.as_bytes(), stream);
            let argument = format!("{name}={}", String::from_utf8_lossy(&changed));
            use_arguments([command, &argument])
        });
    }
}

/// What a fuzzer led by coverage came upon, an input a line in hexadecimal digits (`scripts/fuzz.sh --seeds` writes them).
#[test]
fn fuzzer_findings_stay_fixed() {
    let place = TestDir::new();
    let vocabulary = vocabulary();
    let seeds = include_str!("fuzz/seeds.txt");
    for (number, line) in seeds.lines().enumerate() {
        let _watch = Watch::over(format!("seed {}", number + 1));
        let byte = |place: usize| u8::from_str_radix(&line[place..place + 2], 16).unwrap();
        let bytes: Vec<u8> = (0..line.len()).step_by(2).map(byte).collect();
        use_bytes(&vocabulary, &bytes, &place.path("seed"));
    }
    assert!(seeds.lines().count() > 100);
}

/// Any text becomes units, and those that the vocabulary covers become the text again.
#[test]
fn any_text_survives_encoding_and_decoding() {
    let place = trained_model();
    let checkpoint = ModelDir::new(&place.path("model")).load().unwrap();
    for (number, text) in ["the red fox sleeps", "é ▁ </s> <unk>", "नमस्ते\u{200d}\u{301} 🦊"].into_iter().enumerate()
    {
        each(&format!("text {number}"), mutations(), |stream| {
            let text = String::from_utf8_lossy(&changed_bytes(text.as_bytes(), stream)).replace('\n', " ");
            use_text(&checkpoint.source, &text);
            let cut = checkpoint.source.segment(&text, WordSplitting::Whitespace).unwrap();
            let known = cut.unknown_share() == 0.0 && !text.contains(['▁', '<']);
            if known && text == text.split_whitespace().collect::<Vec<_>>().join(" ") {
                assert_eq!(checkpoint.source.decode(&cut.ids), text);
            }
            true
        });
    }
}
