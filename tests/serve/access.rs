//! Keys, checked before bodies are read, and counted.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::json;

use super::client::{SHIPPED, Served};
use super::common::TestDir;

fn with_keys(dir: &TestDir, options: &[&str]) -> Served {
    Served::start_in(dir, &[&["--model", SHIPPED, "--api-keys", "keys"], options].concat())
}

/// Sends the head of a request with a large body, and none of the body.
fn send_head(server: &Served, path: &str, headers: &str) -> TcpStream {
    let mut stream = server.connect();
    let head = format!("POST {path} HTTP/1.1\r\nHost: {}\r\nContent-Length: 100000\r\n{headers}\r\n", server.address);
    stream.write_all(head.as_bytes()).unwrap();
    stream
}

/// Asserts that a request without its body is refused. The server still waits for the body, to be read in full.
#[track_caller]
fn assert_head_refused(server: &Served, path: &str, headers: &str, part: &str) {
    let (mut stream, mut answer) = (send_head(server, path, headers), Vec::new());
    while !answer.ends_with(b"}") {
        let mut bytes = [0; 4096];
        let count = stream.read(&mut bytes).unwrap();
        assert!(count > 0, "{path}: {}", String::from_utf8_lossy(&answer));
        answer.extend(&bytes[..count]);
    }
    let answer = String::from_utf8(answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 403 ") && answer.contains(part), "{path}: {answer}");
}

#[test]
fn keys_in_the_head_decide_before_the_body_is_read() {
    let dir = TestDir::new();
    dir.write("keys", "a-key\n");
    let server = with_keys(&dir, &[]);
    let own = ["/v1/translate", "/v1/align", "/v1/score", "/v1/pairs", "/v1/steps", "/translator/translate"];
    let of_libretranslate = ["/translate", "/detect", "/suggest"];
    for path in own.into_iter().chain(of_libretranslate) {
        for expect in ["", "Expect: 100-continue\r\n"] {
            let wrong = format!("Authorization: Bearer wrong\r\n{expect}");
            assert_head_refused(&server, path, &wrong, "not known");
        }
    }
    for path in own {
        assert_head_refused(&server, path, "", "Bearer");
        assert_head_refused(&server, path, "Authorization: Basic eDp5\r\n", "Bearer");
    }
    for path in of_libretranslate {
        assert_head_refused(&server, &format!("{path}?api_key=wrong"), "", "not known");
        // Without a key in the head, the body may have it.
        let mut waiting = send_head(&server, path, "");
        waiting.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
        assert!(waiting.read(&mut [0]).is_err(), "{path}");
    }
    // A client that sends its body all the same reads the answer.
    let large = json!({"text": "a".repeat(500_000)});
    server.post("/v1/translate", &large).refused(403, &["Bearer"]);
}

#[test]
fn keys_are_understood_as_clients_send_them() {
    let dir = TestDir::new();
    dir.write("keys", "\u{feff}first\r\n# comment\n  second # of Anna\n\nthird#key\t#\n");
    let server = with_keys(&dir, &[]);
    let send = |path: &str, authorization: &str, body: serde_json::Value| {
        let headers = [("Authorization", authorization), ("Content-Type", "application/json")];
        server.send("POST", path, &headers, body.to_string().as_bytes())
    };
    let own = |authorization: &str| send("/v1/translate", authorization, json!({"text": "a"}));
    for key in ["first", "second", "third#key"] {
        own(&format!("Bearer {key}")).worked();
        own(&format!("bearer  {key} ")).worked();
        own(&format!("BEARER {key}")).worked();
    }
    for key in ["# comment", "#", "second # of Anna", "of Anna", "third", "\u{feff}first", "", "Bearer"] {
        assert_eq!(own(&format!("Bearer {key}")).status, 403, "{key}");
    }
    let request = |key: &str| json!({"q": "She sleeps.", "source": "en", "target": "fr", "api_key": key});
    // Clients without a setting for the key of the body send it empty.
    send("/translate", "Bearer first", request("")).worked();
    send("/translate", "Bearer first", request("wrong")).worked();
    send("/translate", "Bearer wrong", request("first")).refused(403, &["not known"]);
    send("/translate", "Basic eDp5", request("first")).worked();
    server.post("/translate?api_key=second", &request("")).worked();
    server.post("/translate", &request("")).refused(403, &["api_key"]);
    for (keys, message) in [
        ("clé\n", "keys:1: a key can have ASCII"),
        ("good\nhas space\n", "keys:2: a key can have ASCII"),
        ("\u{feff}# none\n", "no key"),
    ] {
        dir.write("keys", keys);
        let refused = dir.run(&["serve", "--port", "0", "--model", SHIPPED, "--api-keys", "keys"]);
        refused.refused_with(1, &[message]);
        assert!(!refused.stderr.contains("has space"), "the message shows a key");
    }
}

#[test]
fn wrong_and_missing_keys_are_counted() {
    let dir = TestDir::new();
    dir.write("keys", "a-key\n");
    let wrong = |server: &Served| {
        server.send("POST", "/v1/translate", &[("Authorization", "Bearer wrong")], b"{\"text\": \"a\"}")
    };
    let limited = with_keys(&dir, &["--req-limit", "5"]);
    for _ in 0..3 {
        wrong(&limited).refused(403, &["not known"]);
    }
    let in_body = json!({"q": "a", "source": "en", "target": "fr", "api_key": "wrong"});
    limited.post("/translate", &in_body).refused(403, &["not known"]);
    limited.post("/v1/translate", &json!({"text": "a"})).refused(403, &["Bearer"]);
    for answer in [wrong(&limited), limited.post("/translate", &in_body), limited.post("/v1/translate", &json!({}))] {
        answer.refused(429, &["5 requests without a known key"]);
        assert!(answer.header("retry-after").is_some());
    }
    // Other clients may have the same address.
    let known = || limited.send("POST", "/v1/translate", &[("Authorization", "Bearer a-key")], b"{\"text\": \"a\"}");
    (0..5).for_each(|_| drop(known().worked()));
    known().refused(429, &["5 requests in a minute"]);
    let unlimited = with_keys(&dir, &[]);
    let statuses: Vec<u16> = (0..70).map(|_| wrong(&unlimited).status).collect();
    assert_eq!((statuses.iter().filter(|status| **status == 403).count(), statuses[69]), (60, 429));
}
