//! The file of corrected pairs: replaced, protected and absent.

use std::net::TcpListener;

use serde_json::json;

use super::client::{SHIPPED, Served};
use super::common::TestDir;

/// Saves a pair and returns its line.
#[track_caller]
fn save(server: &Served, source: &str) -> String {
    let saved = server.ask("/v1/pairs", &json!({"source": source, "target": "b"}));
    assert_eq!(saved, json!({"saved": true}));
    format!("{source}\tb\n")
}

#[test]
fn pairs_are_saved_under_the_name_of_the_file() {
    let dir = TestDir::new();
    let server = Served::start_in(&dir, &["--model", SHIPPED, "--collect", "pairs.tsv"]);
    assert_eq!(dir.text("pairs.tsv"), "");
    let first = save(&server, "first");
    // Rotation moves the file away.
    std::fs::rename(dir.path("pairs.tsv"), dir.path("pairs.tsv.1")).unwrap();
    let second = save(&server, "second");
    assert_eq!([dir.text("pairs.tsv.1"), dir.text("pairs.tsv")], [first, second.clone()]);
    // `sed -i` replaces the file by another one; an editor may leave out the end of the last line.
    dir.write("edited", "second\tedited");
    std::fs::rename(dir.path("edited"), dir.path("pairs.tsv")).unwrap();
    let third = save(&server, "third");
    assert_eq!(dir.text("pairs.tsv"), format!("second\tedited\n{third}"));
    std::fs::remove_file(dir.path("pairs.tsv")).unwrap();
    let fourth = save(&server, "fourth");
    assert_eq!(dir.text("pairs.tsv"), fourth);
    // Without a place there is no confirmation.
    std::fs::remove_file(dir.path("pairs.tsv")).unwrap();
    std::fs::create_dir(dir.path("pairs.tsv")).unwrap();
    server.post("/v1/pairs", &json!({"source": "a", "target": "b"})).refused(500, &["cannot append"]);
}

#[test]
fn files_that_the_server_reads_are_no_place_for_pairs() {
    let dir = TestDir::with_model();
    dir.write("keys", "a-key\n");
    let before = dir.contents();
    let refused = |path: &str| {
        let options = ["serve", "--port", "0", "--model", "en-fr=model", "--api-keys", "keys", "--collect", path];
        dir.run(&options).refused_with(2, &["--collect", path, "belongs to a model or has keys"]);
    };
    let files = ["config.json", "model.safetensors", "tokenizer.json", "source.tokenizer.json", "aligner.safetensors"];
    for name in files.into_iter().chain(["lexicon.safetensors", "log.jsonl"]) {
        refused(&format!("model/{name}"));
    }
    for path in ["keys", "./keys", "model/../keys"] {
        refused(path);
    }
    assert_eq!(dir.contents(), before);
    #[cfg(unix)]
    for (index, read) in ["keys", "model/config.json"].into_iter().enumerate() {
        let (hard, soft) = (format!("hard-{index}"), format!("soft-{index}"));
        std::fs::hard_link(dir.path(read), dir.path(&hard)).unwrap();
        std::os::unix::fs::symlink(dir.path(read), dir.path(&soft)).unwrap();
        refused(&hard);
        refused(&soft);
    }
    assert_eq!(dir.text("keys"), "a-key\n");
    // Other files beside a model are the user's.
    let server = Served::start_in(&dir, &["--model", "en-fr=model", "--collect", "model/pairs.tsv"]);
    save(&server, "a");
    // A link that appears later does not lead pairs into the files either.
    #[cfg(unix)]
    {
        std::fs::remove_file(dir.path("model/pairs.tsv")).unwrap();
        std::os::unix::fs::symlink("config.json", dir.path("model/pairs.tsv")).unwrap();
        let config = dir.text("model/config.json");
        server.post("/v1/pairs", &json!({"source": "a", "target": "b"})).refused(500, &["cannot append"]);
        assert_eq!(dir.text("model/config.json"), config);
    }
}

#[test]
fn servers_that_cannot_start_leave_no_file() {
    let dir = TestDir::new();
    dir.write("keys", "");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    for options in [
        &["--port", &port, "--model", SHIPPED][..],
        &["--port", "0", "--model", "none"],
        &["--port", "0", "--model", SHIPPED, "--model", "none"],
        &["--port", "0", "--model", SHIPPED, "--api-keys", "keys"],
        &["--port", "0", "--model", SHIPPED, "--api-keys", "none"],
    ] {
        dir.run(&[&["serve", "--collect", "pairs.tsv"], options].concat()).refused(1);
        assert!(!dir.path("pairs.tsv").exists(), "{options:?}");
    }
}
