//! Models on disk: damage is detected, and failures keep the last good state.

use crate::common::tensors::Tensors;
use crate::common::{self, PAIRS, QUICK, TestDir, json, tsv};
use serde_json::Value;

fn replace_text(dir: &TestDir, name: &str, from: &str, to: &str) {
    let text = dir.text(name);
    assert!(text.contains(from), "{name} has no {from}");
    dir.write(name, text.replace(from, to));
}

/// Asserts that every command refuses the model with an error that contains these parts.
#[track_caller]
fn refused_by_all(dir: &TestDir, parts: &[&str]) {
    for arguments in [
        &["translate", "--model", "model", "the red fox"][..],
        &["align", "--model", "model", "--pairs", "pairs.tsv"],
        &["evaluate", "--model", "model", "--pairs", "pairs.tsv"],
        &["inspect", "model"],
    ] {
        dir.run(arguments).refused_with(1, parts);
    }
}

#[test]
fn every_command_names_a_missing_model_file() {
    for name in ["config.json", "source.tokenizer.json", "target.tokenizer.json", "model.safetensors"] {
        let dir = TestDir::with_model();
        std::fs::remove_file(dir.path("model").join(name)).unwrap();
        refused_by_all(&dir, &["model", name]);
    }
}

#[test]
fn detects_damaged_parameters() {
    let dir = TestDir::with_model();
    let good = dir.read("model/model.safetensors");
    let noise: Vec<u8> = (0..5000u32).map(|index| (index.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    for bytes in [&good[..good.len() - 1], &good[..good.len() / 2], &good[..100], &good[..7], &[], &noise] {
        dir.write("model/model.safetensors", bytes);
        refused_by_all(&dir, &["model/model.safetensors", "damaged"]);
    }
}

#[test]
fn detects_a_file_without_parameters() {
    let dir = TestDir::with_model();
    dir.write("model/model.safetensors", b"\x02\0\0\0\0\0\0\0{}");
    refused_by_all(&dir, &["model/model.safetensors", "does not belong"]);
}

#[test]
fn detects_a_foreign_or_damaged_config() {
    let dir = TestDir::with_model();
    for (text, parts) in [
        (&b"the fox"[..], &["not valid JSON"][..]),
        (b"", &["not valid JSON"]),
        (b"[]", &["format_version"]),
        (b"{\"model_type\": \"other\"}", &["format_version", "softalign"]),
        (b"{\"format_version\": 1}", &["missing"]),
        (b"{\"format_version\": 999}", &["999", "newer"]),
        (b"\xff\xfe{", &["cannot read"]),
    ] {
        dir.write("model/config.json", text);
        refused_by_all(&dir, &[&["model/config.json"], parts].concat());
    }
}

#[test]
fn detects_settings_that_do_not_match_the_parameters() {
    for (from, to) in [
        ("\"hidden_size\": 32", "\"hidden_size\": 64"),
        ("\"embedding_size\": 32", "\"embedding_size\": 16"),
        ("\"layers\": 1", "\"layers\": 2"),
    ] {
        println!("{to}");
        let dir = TestDir::with_model();
        replace_text(&dir, "model/config.json", from, to);
        refused_by_all(&dir, &["model/model.safetensors", "config.json"]);
    }
}

#[test]
fn refuses_impossible_sizes_before_allocating() {
    for (name, values) in [
        ("hidden_size", &["0", "1", "3", "255", "8194", "18446744073709551615", "-2", "1e3"][..]),
        ("embedding_size", &["0", "8193", "18446744073709551615"]),
        ("attention_size", &["0", "8193", "9223372036854775808"]),
        ("layers", &["0", "33", "1000000000", "18446744073709551615"]),
        ("source_vocabulary", &["0", "3", "10000001", "18446744073709551615"]),
        ("target_vocabulary", &["0", "3", "10000001", "18446744073709551615"]),
    ] {
        for value in values {
            println!("{name} {value}");
            let dir = TestDir::with_model();
            let mut config = json(&dir.text("model/config.json"));
            config["architecture"][name] = serde_json::from_str(value).unwrap();
            dir.write("model/config.json", config.to_string());
            dir.run(&["inspect", "model"]).refused_with(1, &["model/config.json"]);
            let resume = ["train", "--out", "model", "--resume", "--quiet", "--max-epochs", "20"];
            dir.run(&resume).refused_with(1, &["model/config.json"]);
        }
    }
}

/// Changes a value of the training state in resume.safetensors.
fn set_progress(dir: &TestDir, name: &str, value: Value) {
    let mut tensors = Tensors::read(&dir.read("model/resume.safetensors"));
    let metadata = &mut tensors.header["__metadata__"]["progress"];
    let mut progress = json(metadata.as_str().unwrap());
    assert!(progress.get(name).is_some(), "{name}");
    progress[name] = value;
    *metadata = Value::from(progress.to_string());
    dir.write("model/resume.safetensors", tensors.write());
}

#[test]
fn refuses_an_impossible_training_state_with_its_file() {
    let huge = Value::from(u64::MAX);
    for (name, value) in [
        ("position", Value::from(12)),
        ("position", Value::from(1_000_000)),
        ("position", huge.clone()),
        ("seconds", Value::from(-1)),
        ("seconds", Value::from(1e300)),
        ("seconds", Value::Null),
        ("step", Value::from(0)),
        ("step", huge.clone()),
        ("epoch", huge.clone()),
        ("best_step", huge.clone()),
        ("validations", huge.clone()),
        ("validations_since_best", huge),
        ("decays", Value::from(u32::MAX)),
    ] {
        println!("{name} {value}");
        let dir = TestDir::with_model();
        set_progress(&dir, name, value);
        let before = dir.contents();
        let resume = ["train", "--out", "model", "--resume", "--quiet", "--max-epochs", "20", "--patience", "1000"];
        dir.run(&resume).refused_with(1, &["model/resume.safetensors"]);
        assert!(dir.contents() == before);
    }
}

#[test]
fn refuses_non_finite_parameters_and_moments_with_their_file() {
    for name in ["parameter/readout.bias", "first_moment/readout.bias", "second_moment/readout.bias"] {
        for value in [f32::NAN, f32::NEG_INFINITY] {
            let dir = TestDir::with_model();
            let mut tensors = Tensors::read(&dir.read("model/resume.safetensors"));
            let offset = tensors.header[name]["data_offsets"][0].as_u64().unwrap() as usize;
            tensors.data[offset..offset + 4].copy_from_slice(&value.to_le_bytes());
            dir.write("model/resume.safetensors", tensors.write());
            let resume = ["train", "--out", "model", "--resume", "--quiet", "--max-epochs", "20"];
            dir.run(&resume).refused_with(1, &["model/resume.safetensors", "readout.bias", "not finite"]);
        }
    }
}

#[test]
fn refuses_moments_that_clipped_gradients_cannot_give() {
    for (name, value) in
        [("first_moment", 3e38f32), ("first_moment", -2.0), ("second_moment", 3e38), ("second_moment", -1e-3)]
    {
        let dir = TestDir::with_model();
        let mut tensors = Tensors::read(&dir.read("model/resume.safetensors"));
        let offset = tensors.header[format!("{name}/readout.bias")]["data_offsets"][0].as_u64().unwrap() as usize;
        tensors.data[offset..offset + 4].copy_from_slice(&value.to_le_bytes());
        dir.write("model/resume.safetensors", tensors.write());
        let before = dir.contents();
        let resume = ["train", "--out", "model", "--resume", "--quiet", "--max-epochs", "20"];
        dir.run(&resume).refused_with(1, &["model/resume.safetensors", "moment of readout.bias", "clipped"]);
        assert!(dir.contents() == before);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn claimed_header_length_allocates_no_more_than_the_file() {
    let dir = TestDir::with_model();
    let mut header = Tensors::read(&dir.read("model/model.safetensors")).header.as_object().unwrap().clone();
    for number in 0..400_000 {
        let empty = serde_json::json!({"dtype": "F32", "shape": [0], "data_offsets": [0, 0]});
        header.insert(format!("a tensor {number}"), empty);
    }
    let bytes = Tensors { header: Value::Object(header), data: Vec::new() }.write();
    for name in ["model.safetensors", "aligner.safetensors"] {
        let dir = TestDir::with_model();
        dir.write(&format!("model/{name}"), &bytes);
        let mut limited = std::process::Command::new("sh");
        // The program itself takes about 180 MB of address space.
        limited.args(["-c", "ulimit -v 220000; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_softalign"), "--threads", "1"]);
        limited.args(["align", "--model", "model", "--pairs", "pairs.tsv"]).current_dir(dir.path(""));
        common::outcome(limited).refused_with(1, &[&format!("model/{name}"), "damaged"]);
    }
}

#[test]
fn detects_tokens_that_do_not_match_the_vocabularies() {
    for side in ["source", "target"] {
        for tokenization in ["char", "bpe"] {
            let dir = TestDir::with_model();
            let setting = |tokenization: &str| format!("\"{side}_tokenization\": \"{tokenization}\"");
            replace_text(&dir, "model/config.json", &setting("word"), &setting(tokenization));
            refused_by_all(&dir, &[&format!("model/{side}.tokenizer.json"), "config.json"]);
        }
    }
}

#[test]
fn detects_vocabularies_of_another_model() {
    let dir = TestDir::with_model();
    let vocabulary = dir.text("model/source.tokenizer.json");
    for (text, part) in [
        ("{}".to_owned(), "model/source.tokenizer.json"),
        ("the fox".to_owned(), "model/source.tokenizer.json"),
        (vocabulary.replace("fox", "fix"), "does not belong"),
        (vocabulary.replace("<pad>", "<gap>"), "model/source.tokenizer.json"),
        (dir.text("model/target.tokenizer.json"), "belong"),
    ] {
        dir.write("model/source.tokenizer.json", text);
        refused_by_all(&dir, &[part]);
    }
}

#[test]
fn reads_a_vocabulary_that_another_program_formatted() {
    let dir = TestDir::with_model();
    let translated = dir.run(&["translate", "--model", "model", "the red fox"]);
    let vocabulary: Value = serde_json::from_str(&dir.text("model/source.tokenizer.json")).unwrap();
    dir.write("model/source.tokenizer.json", vocabulary.to_string());
    assert_eq!(dir.run(&["translate", "--model", "model", "the red fox"]).worked(), translated.worked());
}

#[test]
fn detects_non_finite_results() {
    for value in [f32::NAN, f32::INFINITY] {
        let dir = TestDir::with_model();
        let mut bytes = dir.read("model/model.safetensors");
        let last = bytes.len() - 4;
        bytes[last..].copy_from_slice(&value.to_le_bytes());
        dir.write("model/model.safetensors", bytes);
        refused_by_all(&dir, &["model/model.safetensors", "not finite"]);
    }
}

#[test]
fn detects_parameters_that_overflow() {
    for (name, value) in [("output.bias", f32::MAX), ("target_embedding.weight", 1e38)] {
        println!("{name}");
        let mut refused = 0;
        let dir = TestDir::with_model();
        let mut tensors = Tensors::read(&dir.read("model/model.safetensors"));
        let [first, end] = [0, 1].map(|at| tensors.header[name]["data_offsets"][at].as_u64().unwrap() as usize);
        for (index, number) in tensors.data[first..end].chunks_exact_mut(4).enumerate() {
            // Both signs, so that sums are NaN rather than infinite.
            number.copy_from_slice(&(if index % 3 == 0 { -value } else { value }).to_le_bytes());
        }
        dir.write("model/model.safetensors", tensors.write());
        dir.write("other.tsv", dir.text("pairs.tsv").replace("the ", "the red "));
        for arguments in [
            &["translate", "--model", "model", "the red fox"][..],
            &["translate", "--model", "model", "--format", "json", "--beam", "1", "the red fox"],
            &["align", "--model", "model", "--pairs", "pairs.tsv", "--format", "json"],
            &["evaluate", "--model", "model", "--pairs", "other.tsv", "--json"],
        ] {
            let outcome = dir.run(arguments);
            if outcome.code == Some(0) {
                let text = outcome.worked();
                assert!(!["null", "NaN", "inf"].iter().any(|none| text.contains(none)), "{arguments:?}: {text}");
            } else {
                outcome.refused_with(1, &["model: ", "too large"]);
                refused += 1;
            }
        }
        assert!(refused > 0, "{name}");
    }
}

#[test]
fn detects_parameters_of_wrong_shape_or_name() {
    let transposed = |tensors: &mut Tensors| {
        let shape = tensors.header["source_embedding.weight"]["shape"].as_array_mut().unwrap();
        assert_ne!(shape[0], shape[1]);
        shape.reverse();
    };
    let renamed = |tensors: &mut Tensors| {
        let header = tensors.header.as_object_mut().unwrap();
        let moved = header.remove("source_embedding.weight").unwrap();
        header.insert("embedding.of.another.program".to_owned(), moved);
    };
    for change in [&transposed as &dyn Fn(&mut Tensors), &renamed] {
        let dir = TestDir::with_model();
        let mut tensors = Tensors::read(&dir.read("model/model.safetensors"));
        change(&mut tensors);
        dir.write("model/model.safetensors", tensors.write());
        refused_by_all(&dir, &["model/model.safetensors", "source_embedding.weight"]);
    }
}

#[test]
fn escapes_names_read_from_files() {
    let dir = TestDir::with_model();
    let mut tensors = Tensors::read(&dir.read("model/model.safetensors"));
    let end = tensors.data.len();
    let empty = serde_json::json!({"dtype": "F32", "shape": [0], "data_offsets": [end, end]});
    tensors.header.as_object_mut().unwrap().insert("\u{1b}[2J\u{9b}\u{202e}".to_owned(), empty);
    dir.write("model/model.safetensors", tensors.write());
    let surplus = dir.run(&["inspect", "model"]);
    surplus.refused_with(1, &["model/model.safetensors", "␛[2J\u{fffd}\u{fffd} does not belong"]);
    assert!(!surplus.stderr.contains(['\u{1b}', '\u{9b}', '\u{202e}']), "{surplus:?}");
    let dir = TestDir::with_model();
    replace_text(&dir, "model/config.json", "\"pairs.tsv\"", "\"\\u001b[2Jpairs.tsv\"");
    replace_text(&dir, "model/config.json", "\"fingerprint\": \"", "\"fingerprint\": \"12345678901é");
    assert!(dir.run(&["inspect", "model"]).worked().contains("␛[2Jpairs.tsv: 12 pairs, sha256 12345678901é\n"));
}

#[test]
fn detects_the_aligner_of_another_model() {
    let dir = TestDir::with_model();
    dir.train("other", &["--max-epochs", "1", "--joint-vocabulary"]).worked();
    dir.write("model/aligner.safetensors", dir.read("other/aligner.safetensors"));
    let parts = ["model/aligner.safetensors", "does not belong"];
    let align = ["align", "--model", "model", "--pairs", "pairs.tsv"];
    dir.run(&align).refused_with(1, &parts);
    dir.run(&[&align[..], &["--links-from", "hmm"]].concat()).refused_with(1, &parts);
    dir.run(&[&align[..], &["--links-from", "attention"]].concat()).worked();
}

#[test]
fn detects_a_missing_damaged_or_foreign_lexicon() {
    let dir = TestDir::with_pairs();
    let guided = ["--guided-alignment=0.3", "--max-epochs", "1"];
    dir.train("model", &guided).worked();
    dir.train("other", &[&guided[..], &["--joint-vocabulary"]].concat()).worked();
    let whole = dir.read("model/lexicon.safetensors");
    let mut out_of_range = whole.clone();
    // The last number is a target token.
    let end = out_of_range.len();
    out_of_range[end - 4..].copy_from_slice(&9999u32.to_le_bytes());
    let others = dir.read("other/lexicon.safetensors");
    for (bytes, reason) in [
        (&whole[..whole.len() / 2], "damaged, or not a softalign lexicon"),
        (&out_of_range[..], "outside the vocabulary"),
        (&[], "damaged, or not a softalign lexicon"),
        (&others, "does not belong"),
    ] {
        dir.write("model/lexicon.safetensors", bytes);
        refused_by_all(&dir, &["model/lexicon.safetensors", reason]);
    }
    std::fs::remove_file(dir.path("model/lexicon.safetensors")).unwrap();
    refused_by_all(&dir, &["model/lexicon.safetensors", "cannot read"]);
    let resume = ["train", "--out", "model", "--resume", "--max-epochs", "2", "--quiet"];
    dir.run(&resume).refused_with(1, &["model/lexicon.safetensors", "cannot read"]);
    dir.write("model/lexicon.safetensors", whole);
    dir.run(&resume).worked();
}

#[test]
fn reads_an_aligner_without_a_fingerprint() {
    let dir = TestDir::with_model();
    let align = ["align", "--model", "model", "--pairs", "pairs.tsv", "--format", "json"];
    let now = dir.run(&align).worked().to_owned();
    let mut tensors = Tensors::read(&dir.read("model/aligner.safetensors"));
    assert!(tensors.header.as_object_mut().unwrap().remove("__metadata__").is_some());
    dir.write("model/aligner.safetensors", tensors.write());
    assert_eq!(dir.run(&align).worked(), now);
}

/// [`QUICK`] with some values replaced.
fn quick_with(changes: &[(&str, &'static str)]) -> Vec<&'static str> {
    let mut settings = QUICK.to_vec();
    for (option, value) in changes {
        let index = settings.iter().position(|known| known == option).unwrap();
        settings[index + 1] = value;
    }
    settings
}

#[test]
fn diverging_from_the_start_writes_no_model() {
    // Divergence within an epoch, and at the validation after its only step.
    for batch in ["1", "12"] {
        let dir = TestDir::with_pairs();
        let settings = quick_with(&[("--learning-rate", "1e38"), ("--batch-sentences", batch)]);
        let arguments = ["train", "--train", "pairs.tsv", "--out", "out", "--max-epochs", "5"];
        dir.run(&[&arguments[..], &settings].concat()).refused_with(1, &["step", "--learning-rate"]);
        let kept = dir.contents();
        assert!(!kept.keys().any(|name| name.contains(".tmp")), "{:?}", kept.keys());
        assert!(
            !kept.contains_key("out/model.safetensors"),
            "batches of {batch}: a model with no finite loss was kept"
        );
    }
}

#[test]
fn diverging_later_keeps_the_last_good_checkpoint() {
    let dir = TestDir::with_pairs();
    // One step with a tiny learning rate, so that no later validation scores worse.
    let settings = quick_with(&[("--learning-rate", "1e-12"), ("--batch-sentences", "12")]);
    let arguments = ["train", "--train", "pairs.tsv", "--out", "out", "--max-epochs", "1"];
    dir.run(&[&arguments[..], &settings].concat()).worked();
    replace_text(&dir, "out/config.json", "\"learning_rate\": 1e-12", "\"learning_rate\": 1e38");
    let mut state = Tensors::read(&dir.read("out/resume.safetensors"));
    state.header["__metadata__"].as_object_mut().unwrap().remove("settings").expect("the settings it was saved under");
    dir.write("out/resume.safetensors", state.write());
    let good = ["out/model.safetensors", "out/resume.safetensors"].map(|name| dir.read(name));
    let resumed = dir.run(&["train", "--out", "out", "--resume", "--quiet", "--max-epochs", "9"]);
    resumed.refused_with(1, &["--learning-rate"]);
    assert!(dir.read("out/model.safetensors") == good[0], "the good model was overwritten");
    assert!(dir.read("out/resume.safetensors") == good[1], "the good state was overwritten");
    dir.run(&["translate", "--model", "out", "the red fox"]).worked();
}

#[test]
fn best_model_is_selected_even_if_pairs_are_too_short_for_bleu() {
    let dir = TestDir::new();
    let short: Vec<(&str, &str)> =
        PAIRS.iter().map(|(source, target)| (*source, target.trim_end_matches(" ."))).collect();
    dir.write("pairs.tsv", tsv(&short));
    let settings = quick_with(&[("--batch-sentences", "4"), ("--hidden-size", "128"), ("--attention-size", "128")]);
    let arguments = ["train", "--train", "pairs.tsv", "--out", "out", "--max-epochs", "20", "--patience", "100"];
    dir.run(&[&arguments[..], &settings].concat()).worked();
    let scores = dir.run(&["evaluate", "--model", "out", "--pairs", "pairs.tsv", "--json"]);
    let scores = scores.json();
    assert_eq!(scores["exact_match"], 100.0, "{scores}");
}
