//! Models on disk: damage is noticed, nothing is lost, the same seed gives the same bytes, and training goes on
//! exactly.

mod common;

use common::{Folder, PAIRS, QUICK, tsv};
use serde_json::Value;

/// A safetensors file: its header, and the bytes of its tensors.
struct Tensors {
    header: Value,
    data: Vec<u8>,
}

impl Tensors {
    fn read(bytes: &[u8]) -> Self {
        let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        let header = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
        Self { header, data: bytes[8 + length..].to_vec() }
    }

    fn write(&self) -> Vec<u8> {
        let mut header = self.header.to_string().into_bytes();
        header.resize(header.len().next_multiple_of(8), b' ');
        [&(header.len() as u64).to_le_bytes()[..], &header, &self.data].concat()
    }

    /// All but the metadata, which holds times.
    fn without_metadata(mut self) -> (Value, Vec<u8>) {
        self.header.as_object_mut().unwrap().remove("__metadata__");
        (self.header, self.data)
    }
}

fn text_replaced(folder: &Folder, name: &str, from: &str, to: &str) {
    let text = folder.text(name);
    assert!(text.contains(from), "{name} has no {from}");
    folder.write(name, text.replace(from, to));
}

/// Every command that needs a model refuses this one with these words.
#[track_caller]
fn refused_by_all(folder: &Folder, parts: &[&str]) {
    for arguments in [
        &["translate", "--model", "model", "the red fox"][..],
        &["align", "--model", "model", "--pairs", "pairs.tsv"],
        &["evaluate", "--model", "model", "--pairs", "pairs.tsv"],
        &["inspect", "model"],
    ] {
        folder.run(arguments).refused_with(1, parts);
    }
}

#[test]
fn a_missing_file_is_named() {
    for name in ["config.json", "source.tokenizer.json", "target.tokenizer.json", "model.safetensors"] {
        let folder = Folder::with_model();
        std::fs::remove_file(folder.path("model").join(name)).unwrap();
        refused_by_all(&folder, &["model", name]);
    }
}

#[test]
fn damaged_parameters_are_noticed() {
    let folder = Folder::with_model();
    let good = folder.read("model/model.safetensors");
    let noise: Vec<u8> = (0..5000u32).map(|index| (index.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    for bytes in [&good[..good.len() - 1], &good[..good.len() / 2], &good[..100], &good[..7], &[], &noise] {
        folder.write("model/model.safetensors", bytes);
        refused_by_all(&folder, &["model/model.safetensors", "damaged"]);
    }
}

#[test]
fn a_foreign_or_damaged_config_is_noticed() {
    let folder = Folder::with_model();
    for (text, parts) in [
        (&b"the fox"[..], &["no JSON"][..]),
        (b"", &["no JSON"]),
        (b"[]", &["format_version"]),
        (b"{\"model_type\": \"other\"}", &["format_version", "softalign"]),
        (b"{\"format_version\": 1}", &["missing"]),
        (b"{\"format_version\": 999}", &["999", "newer"]),
        (b"\xff\xfe{", &["cannot read"]),
    ] {
        folder.write("model/config.json", text);
        refused_by_all(&folder, &[&["model/config.json"], parts].concat());
    }
}

#[test]
fn changed_settings_do_not_go_with_the_parameters() {
    for (from, to) in [
        ("\"hidden_size\": 32", "\"hidden_size\": 64"),
        ("\"embedding_size\": 32", "\"embedding_size\": 16"),
        ("\"layers\": 1", "\"layers\": 2"),
    ] {
        println!("{to}");
        let folder = Folder::with_model();
        text_replaced(&folder, "model/config.json", from, to);
        refused_by_all(&folder, &["model/model.safetensors", "config.json"]);
    }
}

#[test]
fn sizes_that_cannot_be_are_refused_before_anything_is_made() {
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
            let folder = Folder::with_model();
            let mut config: Value = serde_json::from_str(&folder.text("model/config.json")).unwrap();
            config["architecture"][name] = serde_json::from_str(value).unwrap();
            folder.write("model/config.json", config.to_string());
            folder.run(&["inspect", "model"]).refused_with(1, &["model/config.json"]);
            let resume = ["train", "--out", "model", "--resume", "--quiet", "--max-epochs", "20"];
            folder.run(&resume).refused_with(1, &["model/config.json"]);
        }
    }
}

/// Changes what a resume file says of where training stood.
fn progress_changed(folder: &Folder, name: &str, value: Value) {
    let mut tensors = Tensors::read(&folder.read("model/resume.safetensors"));
    let metadata = &mut tensors.header["__metadata__"]["progress"];
    let mut progress: Value = serde_json::from_str(metadata.as_str().unwrap()).unwrap();
    assert!(progress.get(name).is_some(), "{name}");
    progress[name] = value;
    *metadata = Value::from(progress.to_string());
    folder.write("model/resume.safetensors", tensors.write());
}

#[test]
fn a_progress_that_cannot_be_is_refused_with_its_file() {
    let most = Value::from(u64::MAX);
    for (name, value) in [
        ("position", Value::from(12)),
        ("position", Value::from(1_000_000)),
        ("position", most.clone()),
        ("seconds", Value::from(-1)),
        ("seconds", Value::from(1e300)),
        ("seconds", Value::Null),
        ("step", Value::from(0)),
        ("step", most.clone()),
        ("epoch", most.clone()),
        ("best_step", most.clone()),
        ("validations", most.clone()),
        ("stale", most),
        ("decays", Value::from(u32::MAX)),
    ] {
        println!("{name} {value}");
        let folder = Folder::with_model();
        progress_changed(&folder, name, value);
        let before = folder.contents();
        let resume = ["train", "--out", "model", "--resume", "--quiet", "--max-epochs", "20", "--patience", "1000"];
        folder.run(&resume).refused_with(1, &["model/resume.safetensors"]);
        assert!(folder.contents() == before);
    }
}

#[test]
fn parameters_and_moments_that_are_no_numbers_are_refused_with_their_file() {
    for name in ["parameter/readout.bias", "first_moment/readout.bias", "second_moment/readout.bias"] {
        for value in [f32::NAN, f32::NEG_INFINITY] {
            let folder = Folder::with_model();
            let mut tensors = Tensors::read(&folder.read("model/resume.safetensors"));
            let place = tensors.header[name]["data_offsets"][0].as_u64().unwrap() as usize;
            tensors.data[place..place + 4].copy_from_slice(&value.to_le_bytes());
            folder.write("model/resume.safetensors", tensors.write());
            let resume = ["train", "--out", "model", "--resume", "--quiet", "--max-epochs", "20"];
            folder.run(&resume).refused_with(1, &["model/resume.safetensors", "readout.bias", "not finite"]);
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_header_of_any_length_costs_no_more_than_its_file() {
    let folder = Folder::with_model();
    let mut header = Tensors::read(&folder.read("model/model.safetensors")).header.as_object().unwrap().clone();
    for number in 0..400_000 {
        let nothing = serde_json::json!({"dtype": "F32", "shape": [0], "data_offsets": [0, 0]});
        header.insert(format!("a tensor {number}"), nothing);
    }
    let bytes = Tensors { header: Value::Object(header), data: Vec::new() }.write();
    for name in ["model.safetensors", "aligner.safetensors"] {
        let folder = Folder::with_model();
        folder.write(&format!("model/{name}"), &bytes);
        let mut limited = std::process::Command::new("sh");
        limited.args(["-c", "ulimit -v 200000; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_softalign"), "--threads", "1"]);
        limited.args(["align", "--model", "model", "--pairs", "pairs.tsv"]).current_dir(folder.path(""));
        common::outcome(limited).refused_with(1, &[&format!("model/{name}"), "damaged"]);
    }
}

#[test]
fn changed_units_do_not_go_with_the_vocabularies() {
    for side in ["source", "target"] {
        for units in ["char", "bpe"] {
            let folder = Folder::with_model();
            let setting = |units: &str| format!("\"{side}_units\": \"{units}\"");
            text_replaced(&folder, "model/config.json", &setting("word"), &setting(units));
            refused_by_all(&folder, &[&format!("model/{side}.tokenizer.json"), "config.json"]);
        }
    }
}

#[test]
fn vocabularies_that_do_not_belong_are_noticed() {
    let folder = Folder::with_model();
    let vocabulary = folder.text("model/source.tokenizer.json");
    for (text, part) in [
        ("{}".to_owned(), "model/source.tokenizer.json"),
        ("the fox".to_owned(), "model/source.tokenizer.json"),
        (vocabulary.replace("fox", "fix"), "does not belong"),
        (vocabulary.replace("<pad>", "<gap>"), "model/source.tokenizer.json"),
        (folder.text("model/target.tokenizer.json"), "belong"),
    ] {
        folder.write("model/source.tokenizer.json", text);
        refused_by_all(&folder, &[part]);
    }
}

#[test]
fn numbers_that_are_none_are_noticed() {
    for value in [f32::NAN, f32::INFINITY] {
        let folder = Folder::with_model();
        let mut bytes = folder.read("model/model.safetensors");
        let last = bytes.len() - 4;
        bytes[last..].copy_from_slice(&value.to_le_bytes());
        folder.write("model/model.safetensors", bytes);
        refused_by_all(&folder, &["model/model.safetensors", "not finite"]);
    }
}

#[test]
fn parameters_too_large_to_compute_with_are_no_result() {
    for (name, value) in [("output.bias", f32::MAX), ("target_embedding.weight", 1e38)] {
        println!("{name}");
        let mut refused = 0;
        let folder = Folder::with_model();
        let mut tensors = Tensors::read(&folder.read("model/model.safetensors"));
        let [first, end] = [0, 1].map(|at| tensors.header[name]["data_offsets"][at].as_u64().unwrap() as usize);
        for (index, number) in tensors.data[first..end].chunks_exact_mut(4).enumerate() {
            // Both signs, so that what is summed up is neither infinity but no number.
            number.copy_from_slice(&(if index % 3 == 0 { -value } else { value }).to_le_bytes());
        }
        folder.write("model/model.safetensors", tensors.write());
        for arguments in [
            &["translate", "--model", "model", "the red fox"][..],
            &["translate", "--model", "model", "--format", "json", "--beam", "1", "the red fox"],
            &["align", "--model", "model", "--pairs", "pairs.tsv", "--format", "json"],
            &["evaluate", "--model", "model", "--pairs", "pairs.tsv", "--json"],
        ] {
            let outcome = folder.run(arguments);
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
fn parameters_of_a_wrong_shape_or_name_are_noticed() {
    let turned = |tensors: &mut Tensors| {
        let shape = tensors.header["source_embedding.weight"]["shape"].as_array_mut().unwrap();
        assert_ne!(shape[0], shape[1]);
        shape.reverse();
    };
    let renamed = |tensors: &mut Tensors| {
        let header = tensors.header.as_object_mut().unwrap();
        let moved = header.remove("source_embedding.weight").unwrap();
        header.insert("embedding.of.another.program".to_owned(), moved);
    };
    for change in [&turned as &dyn Fn(&mut Tensors), &renamed] {
        let folder = Folder::with_model();
        let mut tensors = Tensors::read(&folder.read("model/model.safetensors"));
        change(&mut tensors);
        folder.write("model/model.safetensors", tensors.write());
        refused_by_all(&folder, &["model/model.safetensors", "source_embedding.weight"]);
    }
}

#[test]
fn names_in_files_reach_no_terminal_as_they_are() {
    let folder = Folder::with_model();
    let mut tensors = Tensors::read(&folder.read("model/model.safetensors"));
    let end = tensors.data.len();
    let nothing = serde_json::json!({"dtype": "F32", "shape": [0], "data_offsets": [end, end]});
    tensors.header.as_object_mut().unwrap().insert("\u{1b}[2J\u{9b}\u{202e}".to_owned(), nothing);
    folder.write("model/model.safetensors", tensors.write());
    let surplus = folder.run(&["inspect", "model"]);
    surplus.refused_with(1, &["model/model.safetensors", "␛[2J\u{fffd}\u{fffd} does not belong"]);
    assert!(!surplus.stderr.contains(['\u{1b}', '\u{9b}', '\u{202e}']), "{surplus:?}");
    let folder = Folder::with_model();
    text_replaced(&folder, "model/config.json", "\"pairs.tsv\"", "\"\\u001b[2Jpairs.tsv\"");
    text_replaced(&folder, "model/config.json", "\"fingerprint\": \"", "\"fingerprint\": \"12345678901é");
    assert!(folder.run(&["inspect", "model"]).worked().contains("␛[2Jpairs.tsv: 12 pairs, sha256 12345678901é\n"));
}

#[test]
fn training_does_not_touch_a_folder_that_holds_a_model() {
    let folder = Folder::with_model();
    let before = folder.contents();
    folder.train("model", &[]).refused_with(1, &["model", "holds a model", "--resume"]);
    assert!(folder.contents() == before);
}

#[test]
fn training_keeps_out_of_a_folder_with_a_foreign_config() {
    let folder = Folder::with_pairs();
    std::fs::create_dir(folder.path("out")).unwrap();
    for foreign in [&b"{\"of\": \"another program\"}"[..], b"\xff\xfe{", b"{\"format_version\": 999}"] {
        folder.write("out/config.json", foreign);
        folder.train("out", &["--max-epochs", "1"]).refused_with(1, &["out: holds files of another program", "--out"]);
        assert_eq!(folder.read("out/config.json"), foreign);
    }
}

#[test]
fn files_of_others_with_names_of_ours_stay() {
    let folder = Folder::with_pairs();
    std::fs::create_dir(folder.path("out")).unwrap();
    for name in ["tokenizer.json", "log.jsonl", "training.svg"] {
        folder.write(&format!("out/{name}"), "another program's");
        let before = folder.contents();
        folder.train("out", &["--max-epochs", "1"]).refused_with(1, &["out: holds files of another program"]);
        assert!(folder.contents() == before, "{name}");
    }
}

#[test]
fn a_run_that_ended_before_its_first_checkpoint_can_be_begun_again() {
    let folder = Folder::with_model();
    for name in ["model.safetensors", "resume.safetensors", "resume.json", "log.jsonl"] {
        std::fs::remove_file(folder.path("model").join(name)).unwrap();
    }
    let resume = ["train", "--out", "model", "--resume", "--quiet", "--max-epochs", "1"];
    folder.run(&resume).refused_with(1, &["model", "resume.safetensors"]);
    folder.train("model", &["--max-epochs", "1"]).worked();
    folder.run(&["translate", "--model", "model", "the red fox"]).worked();
}

#[test]
fn a_model_whose_training_cannot_go_on_is_no_dead_end() {
    let folder = Folder::with_model();
    for name in ["resume.safetensors", "resume.json"] {
        std::fs::remove_file(folder.path("model").join(name)).unwrap();
    }
    let before = folder.contents();
    let trained = folder.train("model", &[]);
    trained.refused_with(1, &["model: holds a model", "resume.safetensors is missing", "another folder", "--out"]);
    assert!(!trained.stderr.contains("--resume"), "{}", trained.stderr);
    let resumed = folder.run(&["train", "--out", "model", "--resume", "--quiet"]);
    resumed.refused_with(1, &["model: nothing to go on with", "resume.safetensors", "another folder with --out"]);
    assert!(!resumed.stderr.contains("without --resume"), "{}", resumed.stderr);
    assert!(folder.contents() == before);
}

#[test]
fn a_best_model_that_was_not_written_any_more_is_written_by_the_resumed_run() {
    let folder = Folder::with_pairs();
    let train = |out: &str, epochs| folder.train(out, &["--schedule", "plateau", "--max-epochs", epochs]);
    train("whole", "3").worked();
    train("parts", "1").worked();
    std::fs::remove_file(folder.path("parts/model.safetensors")).unwrap();
    folder.train("parts", &[]).refused_with(1, &["parts", "--resume"]);
    folder.run(&["train", "--out", "parts", "--resume", "--quiet", "--max-epochs", "1"]).worked();
    folder.run(&["translate", "--model", "parts", "the red fox"]).worked();
    folder.run(&["train", "--out", "parts", "--resume", "--quiet", "--max-epochs", "3"]).worked();
    assert!(folder.read("parts/model.safetensors") == folder.read("whole/model.safetensors"));
}

/// A command line under the shell's limit of a file's size, so that a larger one cannot be written to its end.
#[cfg(target_os = "linux")]
fn with_files_up_to(folder: &Folder, bytes: usize, arguments: &[&str]) -> common::Outcome {
    let mut limited = std::process::Command::new("sh");
    let script = format!("trap '' XFSZ; ulimit -f {}; exec \"$@\"", bytes / 512);
    limited.args(["-c", &script, "sh", env!("CARGO_BIN_EXE_softalign"), "--threads", "1"]).args(arguments);
    limited.current_dir(folder.path(""));
    common::outcome(limited)
}

#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_fills_up_at_the_first_checkpoint_is_no_dead_end() {
    let folder = Folder::with_pairs();
    folder.train("room", &["--max-epochs", "1"]).worked();
    // Room for the model, and not for what training goes on from.
    let [model, resume] = ["model", "resume"].map(|name| folder.read(&format!("room/{name}.safetensors")).len());
    assert!(resume > 2 * model);
    let train = ["train", "--train", "pairs.tsv", "--out", "out", "--max-epochs", "1"];
    let train = [&train[..], &QUICK].concat();
    with_files_up_to(&folder, 2 * model, &train).refused_with(1, &["out/resume.safetensors", "cannot write"]);
    assert!(!folder.contents().keys().any(|name| name.contains(".tmp")), "{:?}", folder.contents().keys());
    folder.run(&train).worked();
    assert!(folder.read("out/model.safetensors") == folder.read("room/model.safetensors"));
}

#[test]
fn what_a_run_without_a_checkpoint_left_is_not_taken_for_the_next_ones() {
    let folder = Folder::with_pairs();
    let characters =
        ["train", "--train", "pairs.tsv", "--max-epochs", "1", "--quiet", "--preset", "tiny", "--units", "char"];
    folder.run(&[&characters[..], &["--out", "fresh"]].concat()).worked();
    // A run with words and a joint vocabulary was killed before its first checkpoint, another one while it wrote.
    folder.train("out", &["--max-epochs", "1", "--joint-vocabulary"]).worked();
    for name in ["model.safetensors", "resume.safetensors"] {
        std::fs::remove_file(folder.path("out").join(name)).unwrap();
    }
    for name in [".model.safetensors.4194305.tmp", ".log.jsonl.17.tmp", ".notes.txt.17.tmp", "notes.txt"] {
        folder.write(&format!("out/{name}"), "half");
    }
    std::fs::create_dir(folder.path("out/.previous-2.17.tmp")).unwrap();
    folder.write("out/.previous-2.17.tmp/model.safetensors", "half");
    folder.run(&[&characters[..], &["--out", "out"]].concat()).worked();
    let names = |out: &str| -> Vec<String> {
        let all = folder.contents().into_keys();
        all.filter_map(|name| name.strip_prefix(&format!("{out}/")).map(str::to_owned)).collect()
    };
    let left: Vec<String> = names("out").into_iter().filter(|name| !names("fresh").contains(name)).collect();
    assert_eq!(left, [".notes.txt.17.tmp", "notes.txt"], "not of this run, and not ours to remove");
    assert_eq!(folder.text("out/log.jsonl").lines().count(), folder.text("fresh/log.jsonl").lines().count());
}

#[test]
fn the_aligner_of_another_model_is_noticed() {
    let folder = Folder::with_model();
    folder.train("other", &["--max-epochs", "1", "--joint-vocabulary"]).worked();
    folder.write("model/aligner.safetensors", folder.read("other/aligner.safetensors"));
    let parts = ["model/aligner.safetensors", "does not belong"];
    let align = ["align", "--model", "model", "--pairs", "pairs.tsv"];
    folder.run(&align).refused_with(1, &parts);
    folder.run(&[&align[..], &["--links-from", "statistics"]].concat()).refused_with(1, &parts);
    folder.run(&[&align[..], &["--links-from", "attention"]].concat()).worked();
}

#[test]
fn a_lexicon_that_is_missing_damaged_or_of_another_model_is_noticed() {
    let folder = Folder::with_pairs();
    let guided = ["--guided-alignment=0.3", "--max-epochs", "1"];
    folder.train("model", &guided).worked();
    folder.train("other", &[&guided[..], &["--joint-vocabulary"]].concat()).worked();
    let whole = folder.read("model/lexicon.safetensors");
    let mut beyond = whole.clone();
    // The last number is a target unit.
    let end = beyond.len();
    beyond[end - 4..].copy_from_slice(&9999u32.to_le_bytes());
    let others = folder.read("other/lexicon.safetensors");
    for (bytes, reason) in [
        (&whole[..whole.len() / 2], "damaged, or no lexicon"),
        (&beyond[..], "beyond the vocabulary"),
        (&[], "damaged, or no lexicon"),
        (&others, "does not belong"),
    ] {
        folder.write("model/lexicon.safetensors", bytes);
        refused_by_all(&folder, &["model/lexicon.safetensors", reason]);
    }
    std::fs::remove_file(folder.path("model/lexicon.safetensors")).unwrap();
    refused_by_all(&folder, &["model/lexicon.safetensors", "cannot read"]);
    let resume = ["train", "--out", "model", "--resume", "--max-epochs", "2", "--quiet"];
    folder.run(&resume).refused_with(1, &["model/lexicon.safetensors", "cannot read"]);
    folder.write("model/lexicon.safetensors", whole);
    folder.run(&resume).worked();
}

#[test]
fn an_aligner_of_before_it_said_where_it_belongs_is_read() {
    let folder = Folder::with_model();
    let align = ["align", "--model", "model", "--pairs", "pairs.tsv", "--format", "json"];
    let now = folder.run(&align).worked().to_owned();
    let mut tensors = Tensors::read(&folder.read("model/aligner.safetensors"));
    assert!(tensors.header.as_object_mut().unwrap().remove("__metadata__").is_some());
    folder.write("model/aligner.safetensors", tensors.write());
    assert_eq!(folder.run(&align).worked(), now);
}

#[test]
fn a_model_is_moved_aside_whole() {
    let folder = Folder::with_model();
    std::fs::rename(folder.path("model"), folder.path("checkpoints")).unwrap();
    let model = |below: &str| -> Vec<(String, Vec<u8>)> {
        let all = folder.contents().into_iter();
        let of = all.filter_map(|(name, bytes)| Some((name.strip_prefix(below)?.to_owned(), bytes)));
        of.filter(|(name, _)| !name.is_empty() && !name.contains('/')).collect()
    };
    let first = model("checkpoints/");
    // A process that was killed while it moved left this.
    std::fs::create_dir(folder.path("checkpoints/.previous.4194305.tmp")).unwrap();
    folder.write("checkpoints/.previous.4194305.tmp/model.safetensors", &first[0].1);
    let arguments = ["train", "--train", "pairs.tsv", "--max-epochs", "1"];
    let train = || folder.run(&[&arguments[..], &QUICK].concat());
    train().worked();
    assert!(model("checkpoints/previous/") == first);
    let second = model("checkpoints/");
    train().worked();
    assert!(model("checkpoints/previous/") == first && model("checkpoints/previous-2/") == second);
    assert!(!folder.contents().keys().any(|name| name.contains(".tmp")), "{:?}", folder.contents().keys());
}

/// A training that goes on until it is killed, with its folder taken.
struct Busy(std::process::Child);

impl Busy {
    fn training(folder: &Folder, out: &str) -> Self {
        let arguments = ["train", "--train", "pairs.tsv", "--max-epochs", "1000000", "--patience", "1000000"];
        let child = folder.command(&[&arguments[..], &QUICK, &["--out", out]].concat()).spawn().unwrap();
        let busy = Self(child);
        let taken =
            || std::fs::read_to_string(folder.path(out).join("training.lock")).is_ok_and(|text| !text.is_empty());
        for _ in 0..600 {
            if taken() && folder.path(out).join("model.safetensors").exists() {
                return busy;
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        panic!("the training does not begin");
    }

    fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn two_trainings_do_not_share_a_folder() {
    let folder = Folder::with_pairs();
    let mut busy = Busy::training(&folder, "checkpoints");
    let process = format!("process {} on ", busy.0.id());
    let parts = ["checkpoints: ", &process, "--out"];
    let train = [&["train", "--train", "pairs.tsv", "--max-epochs", "1"][..], &QUICK].concat();
    // Without --out the first one's files would be moved away.
    folder.run(&train).refused_with(1, &parts);
    folder.run(&[&train[..], &["--out", "checkpoints"]].concat()).refused_with(1, &parts);
    let resume = ["train", "--resume", "--out", "checkpoints", "--quiet", "--max-epochs", "1"];
    folder.run(&resume).refused_with(1, &parts);
    folder.run(&["translate", "the red fox"]).worked();
    assert!(!folder.path("checkpoints/previous").exists());
    busy.kill();
    assert!(folder.path("checkpoints/training.lock").exists(), "a killed process cannot clear up");
    folder.run(&resume).worked();
    assert!(!folder.path("checkpoints/training.lock").exists());
}

#[test]
fn resuming_needs_something_to_go_on_with() {
    let folder = Folder::with_pairs();
    let resume = ["train", "--quiet", "--resume", "--out", "missing"];
    folder.run(&resume).refused_with(1, &["missing", "resume.safetensors"]);
    assert!(!folder.path("missing").exists());
}

#[test]
fn a_resume_that_is_refused_changes_nothing() {
    let folder = Folder::with_model();
    folder.write("other.tsv", tsv(&PAIRS[1..]));
    folder.write("broken.tsv", "no tab\n");
    let before = folder.contents();
    let resume = |options: &[&str]| {
        folder.run(&[&["train", "--quiet", "--out", "model", "--resume", "--max-epochs", "20"], options].concat())
    };
    resume(&["--train", "other.tsv"]).refused_with(1, &["other.tsv", "--resume"]);
    resume(&["--train", "broken.tsv"]).refused_with(1, &["broken.tsv:1"]);
    resume(&["--train", "missing.tsv"]).refused_with(1, &["missing.tsv"]);
    resume(&["--valid", "other.tsv"]).refused_with(1, &["--resume"]);
    for (option, value) in [("--hidden-size", "64"), ("--units", "char"), ("--seed", "3"), ("--learning-rate", "1")] {
        resume(&[option, value]).refused_with(2, &[option, "--resume"]);
    }
    assert!(folder.contents() == before);
}

#[test]
fn a_run_resumed_from_elsewhere_is_told_which_file_to_give() {
    let folder = Folder::with_pairs();
    folder.write("valid.tsv", tsv(&PAIRS[..3]));
    folder.write("a.txt", PAIRS.map(|(source, _)| format!("{source}\n")).concat());
    folder.write("b.txt", PAIRS.map(|(_, target)| format!("{target}\n")).concat());
    folder.train("model", &["--max-epochs", "1", "--valid", "valid.tsv"]).worked();
    let sides = ["train", "--source", "a.txt", "--target", "b.txt", "--max-epochs", "1", "--out", "sides"];
    folder.run(&[&sides[..], &QUICK].concat()).worked();
    std::fs::create_dir(folder.path("elsewhere")).unwrap();
    let resume = |options: &[&str]| {
        let resume = ["train", "--resume", "--quiet", "--max-epochs", "2", "--out"];
        let mut command = folder.command(&[&resume[..], options].concat());
        command.current_dir(folder.path("elsewhere"));
        common::outcome(command)
    };
    resume(&["../model"]).refused_with(1, &["../model: pairs.tsv: ", "not here", "--train"]);
    let training = ["../model", "--train", "../pairs.tsv"];
    resume(&training).refused_with(1, &["../model: valid.tsv: ", "not here", "--valid"]);
    resume(&[&training[..], &["--valid", "../valid.tsv"]].concat()).worked();
    resume(&["../sides"]).refused_with(1, &["a.txt: ", "--source and --target"]);
}

#[test]
fn a_damaged_resume_file_is_named_and_kept() {
    let folder = Folder::with_model();
    let good = folder.read("model/resume.safetensors");
    let other = folder.read("model/model.safetensors");
    for bytes in [&good[..good.len() / 2], &[], b"noise", &other] {
        folder.write("model/resume.safetensors", bytes);
        let before = folder.contents();
        let resume = ["train", "--quiet", "--out", "model", "--resume", "--max-epochs", "20"];
        folder.run(&resume).refused_with(1, &["model/resume.safetensors"]);
        assert!(folder.contents() == before);
    }
}

#[test]
fn a_resumed_run_that_has_nothing_left_to_do_is_no_failure() {
    let folder = Folder::with_model();
    let before = folder.read("model/model.safetensors");
    folder.run(&["train", "--quiet", "--out", "model", "--resume", "--max-epochs", "10"]).worked();
    assert!(folder.read("model/model.safetensors") == before);
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_seed_others() {
    let folder = Folder::with_pairs();
    for (out, seed) in [("a", "7"), ("b", "7"), ("c", "8")] {
        folder.train(out, &["--max-epochs", "2", "--seed", seed]).worked();
    }
    let [a, b, c] = ["a", "b", "c"].map(|out| folder.read(&format!("{out}/model.safetensors")));
    assert!(a == b, "the same seed, and yet another model");
    assert!(a != c, "another seed, and yet the same model");
    assert_eq!(config_of(&folder, "a"), config_of(&folder, "b"));
    for name in ["source.tokenizer.json", "target.tokenizer.json"] {
        assert_eq!(folder.text(&format!("a/{name}")), folder.text(&format!("b/{name}")));
    }
}

/// config.json but for how the training was begun, which names the folder.
fn config_of(folder: &Folder, out: &str) -> Value {
    let mut config: Value = serde_json::from_str(&folder.text(&format!("{out}/config.json"))).unwrap();
    let begun = config.as_object_mut().unwrap().remove("begun").unwrap();
    assert!(begun["command_line"].as_array().unwrap().contains(&Value::from(out)), "{begun}");
    assert_eq!(begun["threads"], 1);
    config
}

#[test]
fn two_epochs_and_two_more_are_four() {
    let folder = Folder::with_pairs();
    // Dropout, so that a resumed run must draw the numbers that the whole run draws.
    let settings = ["train", "--train", "pairs.tsv", "--quiet", "--preset", "tiny", "--dropout", "0.2"];
    // What is planned for four epochs is no plan for two.
    let settings =
        [&settings[..], &["--batch-sentences", "2", "--hidden-size", "32", "--schedule", "plateau"]].concat();
    let state = |out: &str| Tensors::read(&folder.read(&format!("{out}/resume.safetensors"))).without_metadata();
    folder.run(&[&settings[..], &["--out", "whole", "--max-epochs", "4"]].concat()).worked();
    folder.run(&[&settings[..], &["--out", "parts", "--max-epochs", "2"]].concat()).worked();
    assert!(state("parts") != state("whole"), "two epochs are not four");
    folder.run(&["train", "--out", "parts", "--resume", "--quiet", "--max-epochs", "4"]).worked();
    assert!(folder.read("parts/model.safetensors") == folder.read("whole/model.safetensors"));
    assert_eq!(config_of(&folder, "parts"), config_of(&folder, "whole"));
    assert!(state("parts") == state("whole"), "parameters or moments differ");
    let [parts, whole] = ["parts", "whole"].map(|out| folder.text(&format!("{out}/log.jsonl")).lines().count());
    assert_eq!(parts, whole);
}

#[test]
fn a_run_cut_short_within_an_epoch_goes_on_where_it_was() {
    let folder = Folder::with_pairs();
    let settings = ["--max-epochs", "3", "--schedule", "plateau"];
    folder.train("whole", &settings).worked();
    // So short a time ends the run after its first step.
    folder.train("parts", &[&settings[..], &["--max-minutes", "0.0000001"]].concat()).worked();
    let progress: Value = serde_json::from_str(&folder.text("parts/resume.json")).unwrap();
    assert_eq!((&progress["step"], &progress["epoch"]), (&Value::from(1), &Value::from(0)));
    folder.run(&["train", "--out", "parts", "--resume", "--quiet", "--max-minutes", "60"]).worked();
    let [parts, whole] = ["parts", "whole"]
        .map(|out| Tensors::read(&folder.read(&format!("{out}/resume.safetensors"))).without_metadata());
    assert!(parts == whole, "parameters or moments differ");
}

/// The first pairs of the shipped corpus.
fn shipped_pairs(count: usize) -> String {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/data/train.tsv")).unwrap();
    text.split_inclusive('\n').take(count).collect()
}

#[test]
fn a_resumed_run_is_guided_as_the_whole_one() {
    let folder = Folder::new();
    // So many that attention is guided without being asked for.
    folder.write("pairs.tsv", shipped_pairs(2200));
    let settings = ["train", "--train", "pairs.tsv", "--quiet", "--preset", "tiny", "--units", "word"];
    let sizes = ["--hidden-size", "16", "--embedding-size", "16", "--attention-size", "16", "--batch-sentences", "256"];
    let train = |out: &str, options: &[&str]| {
        folder.run(&[&settings[..], &sizes, &["--schedule", "plateau", "--out", out], options].concat()).worked();
    };
    let state = |out: &str| Tensors::read(&folder.read(&format!("{out}/resume.safetensors"))).without_metadata();
    train("whole", &["--max-epochs", "2"]);
    assert!(folder.text("whole/config.json").contains("\"guidance\": 0.1"));
    train("epochs", &["--max-epochs", "1"]);
    // So short a time ends the run after its first step.
    train("middle", &["--max-epochs", "2", "--max-minutes", "0.0000001"]);
    for out in ["epochs", "middle"] {
        folder
            .run(&["train", "--out", out, "--resume", "--quiet", "--max-epochs", "2", "--max-minutes", "60"])
            .worked();
        assert!(state(out) == state("whole"), "{out}: parameters or moments differ");
    }
}

#[test]
fn guided_training_without_its_aligner_does_not_go_on() {
    let folder = Folder::with_pairs();
    folder.train("out", &["--max-epochs", "1", "--guided-alignment=0.5"]).worked();
    std::fs::remove_file(folder.path("out/aligner.safetensors")).unwrap();
    let before = folder.contents();
    let resume = folder.run(&["train", "--out", "out", "--resume", "--quiet", "--max-epochs", "2"]);
    resume.refused_with(1, &["out: aligner.safetensors is missing", "--out"]);
    assert!(folder.contents() == before);
}

/// [`QUICK`] with other values for some of its options.
fn quick_but(changes: &[(&str, &'static str)]) -> Vec<&'static str> {
    let mut settings = QUICK.to_vec();
    for (option, value) in changes {
        let place = settings.iter().position(|known| known == option).unwrap();
        settings[place + 1] = value;
    }
    settings
}

#[test]
fn training_that_diverges_ends_with_the_reason_and_no_model() {
    // Once the loss breaks down within an epoch, once at the validation after its only step.
    for batch in ["1", "12"] {
        let folder = Folder::with_pairs();
        let settings = quick_but(&[("--learning-rate", "1e38"), ("--batch-sentences", batch)]);
        let arguments = ["train", "--train", "pairs.tsv", "--out", "out", "--max-epochs", "5"];
        folder.run(&[&arguments[..], &settings].concat()).refused_with(1, &["step", "--learning-rate"]);
        let kept = folder.contents();
        assert!(!kept.keys().any(|name| name.contains(".tmp")), "{:?}", kept.keys());
        assert!(
            !kept.contains_key("out/model.safetensors"),
            "batches of {batch}: a model with no finite loss was kept"
        );
    }
}

#[test]
fn training_that_diverges_later_keeps_the_last_good_checkpoint() {
    let folder = Folder::with_pairs();
    // One step with so small a rate that nothing is learned: whatever comes after looks no worse by its score.
    let settings = quick_but(&[("--learning-rate", "1e-12"), ("--batch-sentences", "12")]);
    let arguments = ["train", "--train", "pairs.tsv", "--out", "out", "--max-epochs", "1"];
    folder.run(&[&arguments[..], &settings].concat()).worked();
    text_replaced(&folder, "out/config.json", "\"learning_rate\": 1e-12", "\"learning_rate\": 1e38");
    let good = ["out/model.safetensors", "out/resume.safetensors"].map(|name| folder.read(name));
    let on = folder.run(&["train", "--out", "out", "--resume", "--quiet", "--max-epochs", "9"]);
    on.refused_with(1, &["--learning-rate"]);
    assert!(folder.read("out/model.safetensors") == good[0], "the good model was overwritten");
    assert!(folder.read("out/resume.safetensors") == good[1], "the good state was overwritten");
    folder.run(&["translate", "--model", "out", "the red fox"]).worked();
}

#[test]
fn the_best_model_of_pairs_too_short_for_bleu_is_not_the_first() {
    let folder = Folder::new();
    let short: Vec<(&str, &str)> =
        PAIRS.iter().map(|(source, target)| (*source, target.trim_end_matches(" ."))).collect();
    folder.write("pairs.tsv", tsv(&short));
    let settings = quick_but(&[("--batch-sentences", "4"), ("--hidden-size", "128"), ("--attention-size", "128")]);
    let arguments = ["train", "--train", "pairs.tsv", "--out", "out", "--max-epochs", "20", "--patience", "100"];
    folder.run(&[&arguments[..], &settings].concat()).worked();
    let scores = folder.run(&["evaluate", "--model", "out", "--pairs", "pairs.tsv", "--json"]);
    let scores: Value = serde_json::from_str(scores.worked()).unwrap();
    assert_eq!(scores["exact_match"], 100.0, "{scores}");
}
