//! Damaged and hostile input: real files with random mutations, and crafted files. Each is refused with an error or
//! accepted; none panics, aborts or hangs.
//!
//! `SOFTALIGN_MUTATIONS=1000 cargo test --release --test files mutations -- --nocapture` tries 1000 mutations of each file
//! and text instead of a few, and prints how many were accepted and refused.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::common::{PAIRS, TestDir};
use crate::corrupt::{use_arguments, use_bytes, use_config, use_corpus, use_gold, use_model_dir, use_text, vocabulary};
use serde_json::{Value, json};
use softalign::checkpoint::ModelDir;
use softalign::random::SeededRng;
use softalign::text::{Column, TableFormat, WordSplitting};

/// Default number of mutations of each file and each text.
const MUTATIONS: usize = 40;
/// Limit of one mutation, far above what any takes.
const TIMEOUT: Duration = Duration::from_secs(120);

const PAIR: [&str; 2] = [PAIRS[0].0, PAIRS[0].1];

fn mutations() -> usize {
    std::env::var("SOFTALIGN_MUTATIONS").map_or(MUTATIONS, |count| count.parse().unwrap())
}

/// Aborts the process after [`TIMEOUT`] unless dropped.
struct Watchdog(Arc<AtomicBool>);

impl Watchdog {
    fn start(label: String) -> Self {
        let done = Arc::new(AtomicBool::new(false));
        let watched = done.clone();
        std::thread::spawn(move || {
            let start = Instant::now();
            while !watched.load(Ordering::Relaxed) {
                if start.elapsed() > TIMEOUT {
                    eprintln!("{label}: timed out");
                    std::process::abort();
                }
                std::thread::sleep(Duration::from_millis(200));
            }
        });
        Self(done)
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Randomly replaces, inserts, removes, repeats or truncates bytes.
fn mutate_bytes(bytes: &[u8], rng: &mut SeededRng) -> Vec<u8> {
    const SYNTAX: &[u8] = b"0123456789-+.eE\"\\{}[]:, \t\n\r\0\x1b\xff\xc3";
    let mut bytes = bytes.to_vec();
    for _ in 0..=rng.below(4) {
        if bytes.is_empty() {
            return bytes;
        }
        let index = rng.below(bytes.len());
        let byte = if rng.below(2) == 0 { rng.below(256) as u8 } else { SYNTAX[rng.below(SYNTAX.len())] };
        match rng.below(8) {
            0 => bytes.insert(index, byte),
            1 => drop(bytes.remove(index)),
            2 => bytes.truncate(index),
            3 => {
                let end = (index + 1 + rng.below(64)).min(bytes.len());
                let piece = bytes[index..end].to_vec();
                bytes.splice(index..index, piece);
            }
            _ => bytes[index] = byte,
        }
    }
    bytes
}

/// Replaces a random JSON value by an unexpected one, or removes or renames a key.
fn mutate_json(text: &str, rng: &mut SeededRng) -> Option<String> {
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
        if deeper == 0 || rng.below(4) == 0 {
            break;
        }
        let index = rng.below(deeper);
        at = match at {
            Value::Object(entries) => entries.values_mut().nth(index)?,
            Value::Array(items) => items.get_mut(index)?,
            _ => return None,
        };
    }
    match at {
        // Metadata of safetensors: JSON inside a string.
        Value::String(inner) if inner.starts_with('{') && rng.below(4) > 0 => *inner = mutate_json(inner, rng)?,
        Value::Object(entries) if !entries.is_empty() && rng.below(2) == 0 => {
            let key = entries.keys().nth(rng.below(entries.len()))?.clone();
            let removed = entries.remove(&key)?;
            if rng.below(2) == 0 {
                entries.insert(format!("{key}x"), removed);
            }
        }
        at => *at = unexpected[rng.below(unexpected.len())].clone(),
    }
    Some(value.to_string())
}

/// Mutates the header of a safetensors file, its length, or tensor values.
fn mutate_safetensors(bytes: &[u8], rng: &mut SeededRng) -> Option<Vec<u8>> {
    let length = u64::from_le_bytes(bytes.get(..8)?.try_into().ok()?) as usize;
    let (header, data) = (std::str::from_utf8(bytes.get(8..8 + length)?).ok()?, bytes.get(8 + length..)?);
    match rng.below(4) {
        0 => {
            let lengths = [0, 1, 7, length as u64 - 1, length as u64 + 1, u64::from(u32::MAX), u64::MAX, 100_000_000];
            Some([&lengths[rng.below(lengths.len())].to_le_bytes()[..], &bytes[8..]].concat())
        }
        1 => {
            let mut data = data.to_vec();
            let numbers = [f32::NAN, f32::INFINITY, -1e38, 1e-42, -1.0, 2.0];
            for _ in 0..=rng.below(3) {
                let index = 4 * rng.below((data.len() / 4).max(1));
                let number = numbers[rng.below(numbers.len())].to_le_bytes();
                data.get_mut(index..index + 4)?.copy_from_slice(&number);
            }
            Some([&bytes[..8 + length], &data].concat())
        }
        _ => {
            let header = mutate_json(header, rng)?;
            Some([&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), data].concat())
        }
    }
}

/// Mutates one line of a JSONL file.
fn mutate_jsonl(text: &str, rng: &mut SeededRng) -> Option<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let line = rng.below(lines.len().max(1));
    lines[line] = mutate_json(lines.get(line)?, rng)?;
    Some(lines.join("\n") + "\n")
}

fn mutate(name: &str, bytes: &[u8], rng: &mut SeededRng) -> Vec<u8> {
    let structured = match std::str::from_utf8(bytes) {
        _ if rng.below(3) == 0 => None,
        Ok(text) if name.ends_with(".json") => mutate_json(text, rng).map(String::into_bytes),
        Ok(text) if name.ends_with(".jsonl") => mutate_jsonl(text, rng).map(String::into_bytes),
        _ if name.ends_with(".safetensors") => mutate_safetensors(bytes, rng),
        _ => None,
    };
    structured.unwrap_or_else(|| mutate_bytes(bytes, rng))
}

/// A model directory with all optional files.
fn trained_model() -> TestDir {
    let test_dir = TestDir::with_pairs();
    let options = ["--guided-alignment", "0.1", "--keep-attention", "--max-epochs", "2"];
    test_dir.train("model", &options).worked();
    test_dir
}

/// Files of the model directory, by path.
fn files(test_dir: &TestDir) -> BTreeMap<String, Vec<u8>> {
    let is_file = |name: &str| name.starts_with("model/") && !name.ends_with('/') && !name.ends_with(".html");
    test_dir.contents().into_iter().filter(|(name, _)| is_file(name)).collect()
}

/// Runs `try_one` on `count` random mutations and prints how many it accepted and refused.
fn try_mutations(label: &str, count: usize, mut try_one: impl FnMut(&mut SeededRng) -> bool) {
    let (mut accepted, mut refused) = (0, 0);
    for number in 0..count as u64 {
        let _watchdog = Watchdog::start(format!("{label}, mutation {number}"));
        let mut rng = SeededRng::new(7, label, number);
        match catch_unwind(AssertUnwindSafe(|| try_one(&mut rng))) {
            Ok(true) => accepted += 1,
            Ok(false) => refused += 1,
            Err(_) => panic!("{label}, mutation {number} panics"),
        }
    }
    println!("{label}: {accepted} accepted, {refused} refused");
}

#[test]
fn damaged_directories_never_panic() {
    let test_dir = trained_model();
    let dir = ModelDir::new(&test_dir.path("model"));
    assert!(use_model_dir(&dir, PAIR));
    let files = files(&test_dir);
    for (name, bytes) in &files {
        try_mutations(name, mutations(), |rng| {
            test_dir.write(name, mutate(name, bytes, rng));
            use_model_dir(&dir, PAIR)
        });
        test_dir.write(name, bytes);
    }
    assert!(use_model_dir(&dir, PAIR), "the restored directory works");
}

/// Covers damage that translation does not read: logs, saved attention and resumable training state.
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
    let test_dir = trained_model();
    let files = files(&test_dir);
    std::fs::create_dir(test_dir.path("sound")).unwrap();
    for (name, bytes) in &files {
        test_dir.write(&name.replace("model/", "sound/"), bytes);
    }
    // No command reads these.
    let read = |name: &&String| !name.ends_with(".svg") && !name.ends_with("resume.json");
    for name in files.keys().filter(read) {
        try_mutations(&format!("commands with {name}"), mutations().div_ceil(10), |rng| {
            for (name, bytes) in &files {
                test_dir.write(name, bytes);
            }
            for made in ["mean", "next"] {
                let _ = std::fs::remove_dir_all(test_dir.path(made));
            }
            test_dir.write(name, mutate(name, &files[name], rng));
            let worked = COMMANDS.map(|command| {
                let outcome = test_dir.run(&command.split(' ').chain(["--quiet"]).collect::<Vec<_>>());
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
    let test_dir = trained_model();
    let dir = ModelDir::new(&test_dir.path("model"));
    let files = files(&test_dir);
    let contents = crafted_contents();
    for name in files.keys() {
        let path = test_dir.path(name);
        let attack = |label: &str, prepare: &dyn Fn()| {
            let _watchdog = Watchdog::start(format!("{name}: {label}"));
            println!("{name}: {label}");
            prepare();
            use_model_dir(&dir, PAIR);
        };
        for (label, bytes) in &contents {
            attack(label, &|| test_dir.write(name, bytes));
        }
        for (other, bytes) in files.iter().filter(|(other, _)| *other != name) {
            attack(&format!("contents of {other}"), &|| test_dir.write(name, bytes));
        }
        attack("first half", &|| test_dir.write(name, &files[name][..files[name].len() / 2]));
        attack("twice", &|| test_dir.write(name, files[name].repeat(2)));
        attack("missing", &|| std::fs::remove_file(&path).unwrap());
        attack("directory", &|| std::fs::create_dir(&path).unwrap());
        std::fs::remove_dir(&path).unwrap();
        #[cfg(unix)]
        {
            attack("circular link", &|| std::os::unix::fs::symlink(&path, &path).unwrap());
            std::fs::remove_file(&path).unwrap();
        }
        test_dir.write(name, &files[name]);
    }
    assert!(use_model_dir(&dir, PAIR), "the restored directory works");
}

#[test]
fn no_input_text_panics() {
    let test_dir = TestDir::with_pairs();
    let corpus = [
        "the red fox\trufo mi\n\n\t\na\tb\tc\n\"q\"\"\tx\"\ty\n",
        "a,b\n\"c, \"\"d\"\"\",\"e\nf\"\n;\n",
        "\u{feff}source;target\n1;2\r\n",
        "日本語\tשלום\u{202e}\n\u{0}\t\u{1b}[2J\n",
    ];
    let path = test_dir.path("mutated");
    for (number, text) in corpus.into_iter().enumerate() {
        try_mutations(&format!("corpus {number}"), mutations(), |rng| {
            std::fs::write(&path, mutate_bytes(text.as_bytes(), rng)).unwrap();
            let columns = (rng.below(2) == 0).then(|| [1 + rng.below(3), 1 + rng.below(3)].map(Column::Number));
            let features = (rng.below(2) == 0).then(|| Column::Number(1 + rng.below(4)));
            let layout = TableFormat { csv: rng.below(2) == 0, header: rng.below(2) == 0, columns, features };
            use_config(&String::from_utf8_lossy(&std::fs::read(&path).unwrap()));
            use_corpus(&path, &layout, 1 + rng.below(4))
        });
    }
    for (number, text) in ["0-0 1-1 2?3 4p5", "10-2 3-", "", "1–2 ١-٢"].into_iter().enumerate() {
        try_mutations(&format!("gold {number}"), mutations(), |rng| {
            use_gold(&String::from_utf8_lossy(&mutate_bytes(text.as_bytes(), rng)))
        });
    }
    let arguments =
        ["--columns=1,2", "--only=1,2", "--max-minutes=5", "--guided-alignment=0.5", "--threads=2", "--n-best=3"];
    for (argument, command) in arguments.into_iter().zip(["train", "align", "train", "train", "translate", "translate"])
    {
        try_mutations(argument, mutations(), |rng| {
            let (name, value) = argument.split_once('=').unwrap();
            let mutated = mutate_bytes(value.as_bytes(), rng);
            let argument = format!("{name}={}", String::from_utf8_lossy(&mutated));
            use_arguments([command, &argument])
        });
    }
}

/// Inputs found by the fuzzer, one hexadecimal line each; `scripts/fuzz.sh --seeds` writes them.
#[test]
fn fuzzer_findings_stay_fixed() {
    let test_dir = TestDir::new();
    let vocabulary = vocabulary();
    let seeds = include_str!("../fuzz/seeds.txt");
    for (number, line) in seeds.lines().enumerate() {
        let _watchdog = Watchdog::start(format!("seed {}", number + 1));
        let byte = |index: usize| u8::from_str_radix(&line[index..index + 2], 16).unwrap();
        let bytes: Vec<u8> = (0..line.len()).step_by(2).map(byte).collect();
        use_bytes(&vocabulary, &bytes, &test_dir.path("seed"));
    }
    assert!(seeds.lines().count() > 100);
}

#[test]
fn any_text_survives_encoding_and_decoding() {
    let test_dir = trained_model();
    let checkpoint = ModelDir::new(&test_dir.path("model")).load().unwrap();
    for (number, text) in ["the red fox sleeps", "é ▁ </s> <unk>", "नमस्ते\u{200d}\u{301} 🦊"].into_iter().enumerate()
    {
        try_mutations(&format!("text {number}"), mutations(), |rng| {
            let text = String::from_utf8_lossy(&mutate_bytes(text.as_bytes(), rng)).replace('\n', " ");
            use_text(&checkpoint.source, &text);
            let segmented = checkpoint.source.segment(&text, WordSplitting::Whitespace).unwrap();
            let known = segmented.unknown_share() == 0.0 && !text.contains(['▁', '<']);
            if known && text == text.split_whitespace().collect::<Vec<_>>().join(" ") {
                assert_eq!(checkpoint.source.decode(&segmented.ids), text);
            }
            true
        });
    }
}
