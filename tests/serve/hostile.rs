//! Requests that are broken, huge or slow, and pages of other origins.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::json;

use super::client::{Answer, SHIPPED, Served};
use super::common::TestDir;

/// Asserts that a short request is still answered soon.
#[track_caller]
fn assert_alive(server: &Served) {
    let began = Instant::now();
    assert_eq!(server.ask("/v1/translate", &json!({"text": "She sleeps."}))[0]["translation"], "Elle dort.");
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
}

#[test]
fn refuses_broken_bodies() {
    let server = Served::start(&[]);
    let nested = format!("{{\"text\": {}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let bodies: [&[u8]; 9] = [
        b"",
        b"{",
        b"null",
        b"{\"text\": \"a\"} trailing",
        b"{\"text\": \"\xff\xfe\"}",
        b"{\"text\": \"\\ud800\"}",
        b"{\"text\": \"a\", \"text\": \"b\"}",
        b"{\"text\": \"a\", \"beam\": 1e999}",
        nested.as_bytes(),
    ];
    for body in bodies {
        for path in ["/v1/translate", "/translate", "/translator/translate", "/detect", "/v1/pairs"] {
            let answer = server.send("POST", path, &[], body);
            answer.refused(400, &[]);
        }
    }
    assert_alive(&server);
}

#[test]
fn refuses_huge_requests() {
    let server = Served::start(&[]);
    let begin = |head: &str| {
        let mut stream = server.connect();
        stream.write_all(format!("{head}\r\n").as_bytes()).unwrap();
        stream
    };
    let host = format!("Host: {}\r\n", server.address);
    let gigabyte = begin(&format!("POST /v1/translate HTTP/1.1\r\n{host}Content-Length: 1000000000\r\n"));
    Answer::read(gigabyte).unwrap().refused(413, &["bytes"]);
    // A body without a length ends the same way.
    let mut chunked =
        begin(&format!("POST /v1/translate HTTP/1.1\r\n{host}Connection: close\r\nTransfer-Encoding: chunked\r\n"));
    let chunk = format!("10000\r\n{}\r\n", "a".repeat(0x10000));
    let sent = (0..1000).take_while(|_| chunked.write_all(chunk.as_bytes()).is_ok()).count();
    assert!(sent < 1000, "64 MB were taken");
    for head in [
        format!("GET / HTTP/1.1\r\n{host}X: {}\r\n", "a".repeat(1 << 20)),
        format!("GET /{} HTTP/1.1\r\n{host}", "a".repeat(1 << 20)),
    ] {
        let mut stream = server.connect();
        // The server may close the connection before all is sent.
        let _ = stream.write_all(format!("{head}\r\n").as_bytes());
        let answer = Answer::read(stream);
        assert!(answer.as_ref().is_none_or(|answer| [400, 414, 431].contains(&answer.status)), "{answer:?}");
    }
    let many = (0..5000).map(|index| format!("X-{index}: a\r\n")).collect::<String>();
    let mut stream = server.connect();
    let _ = stream.write_all(format!("GET / HTTP/1.1\r\n{host}{many}\r\n").as_bytes());
    assert!(Answer::read(stream).is_none_or(|answer| answer.status == 431));
    assert_alive(&server);
}

#[test]
fn answers_long_texts() {
    let server = Served::start(&[]);
    let word = "a".repeat(64 * 1024);
    let answer = server.ask("/translate", &json!({"q": word, "source": "en", "target": "fr"}));
    assert!(answer["translatedText"].is_string());
    server.post("/detect", &json!({"q": word})).worked();
    let clauses = "she sleeps, ".repeat(16_000);
    server.post("/translate", &json!({"q": clauses, "source": "en", "target": "fr"})).worked();
    let all = json!({"q": vec!["She sleeps."; 100_000], "source": "en", "target": "fr"});
    server.post("/translate", &all).refused(413, &[]);
    // All of a body that is too long is read before the connection closes, so that its client reads the answer.
    let long = json!({"q": "a".repeat(8 << 20), "source": "en", "target": "fr"});
    server.post("/translate", &long).refused(413, &["bytes"]);
    let lines = json!({"q": "She sleeps.\n".repeat(10_000), "source": "en", "target": "fr"});
    server.post("/translate", &lines).refused(413, &["2000 texts and lines"]);
    assert_alive(&server);
}

#[test]
fn many_constraints_do_not_hold_up_others() {
    let server = Served::start(&[]);
    let request = |avoided: usize, terms: usize| {
        let avoid: Vec<String> = (0..avoided).map(|index| format!("q{index}z")).collect();
        let pair = |index| json!({"source": format!("s{index}"), "target": format!("t{index}x")});
        json!({"text": "She sleeps.", "avoid": avoid, "terms": (0..terms).map(pair).collect::<Vec<_>>()})
    };
    std::thread::scope(|threads| {
        for _ in 0..2 {
            threads.spawn(|| server.post("/v1/translate", &request(20_000, 20_000)).refused(400, &["256 phrases"]));
            threads.spawn(|| server.ask("/v1/translate", &request(256, 2_000)));
        }
        let began = Instant::now();
        assert_eq!(server.get("/health").status, 200);
        assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    });
    let long = "a".repeat(100_000);
    for (request, part) in [
        (request(0, 2_001), "2000 terms in a request, not 2001"),
        (json!({"text": "a", "prefix": long}), "prefix can have 5000 characters"),
        (json!({"text": "a", "placeholders": "a|".repeat(50_000)}), "placeholders can have 1000 characters"),
        (json!({"text": "a", "tag_source": long}), "tag_source can have 256 characters"),
        (json!({"text": "a", "terms": [{"source": "a", "target": long}]}), "--terms: a translation can have 256"),
    ] {
        server.post("/v1/translate", &request).refused(400, &[part]);
    }
    assert_alive(&server);
}

#[test]
fn refuses_what_is_not_http() {
    let server = Served::start(&[]);
    for bytes in
        [&b"\x16\x03\x01\x02\x00\x01\x00"[..], b"\0\0\0\0\r\n\r\n", b"GET\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"]
    {
        let mut stream = server.connect();
        stream.write_all(bytes).unwrap();
        let answer = Answer::read(stream);
        assert!(answer.as_ref().is_none_or(|answer| answer.status >= 400), "{answer:?}");
    }
    let mut without_host = server.connect();
    without_host.write_all(b"GET /health HTTP/1.1\r\nConnection: close\r\n\r\n").unwrap();
    Answer::read(without_host).unwrap().refused(400, &["Host"]);
    assert_alive(&server);
}

#[test]
fn slow_and_idle_clients_do_not_stop_others() {
    let server = Served::start(&[]);
    let idle: Vec<TcpStream> = (0..300).map(|_| server.connect()).collect();
    let mut slow = server.connect();
    slow.write_all(b"GET /health HT").unwrap();
    assert_alive(&server);
    let began = Instant::now();
    // One byte a second never completes the headers.
    let mut is_closed = false;
    while !is_closed && began.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(500));
        slow.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
        is_closed = matches!(slow.read(&mut [0; 64]), Ok(0)) || slow.write_all(b"T").is_err();
    }
    assert!(is_closed, "a client of one byte a second keeps its connection");
    let mut first = &idle[0];
    first.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    assert!(matches!(first.read(&mut [0; 64]), Ok(_) | Err(_)));
    assert_alive(&server);
}

#[test]
fn pages_of_other_origins_are_refused() {
    let server = Served::start(&["--allow-origin", "https://app.example.org"]);
    let port = server.address.rsplit_once(':').unwrap().1;
    let post = |headers: &[(&str, &str)]| server.send("POST", "/v1/translate", headers, br#"{"text": "a"}"#);
    post(&[("Host", "evil.example")]).refused(403, &["--allow-origin"]);
    post(&[("Origin", "http://evil.example")]).refused(403, &["origin"]);
    post(&[("Origin", "null")]).refused(403, &["origin"]);
    post(&[("Origin", &format!("http://{}", server.address))]).worked();
    post(&[("Host", &format!("localhost:{port}")), ("Origin", &format!("http://localhost:{port}"))]).worked();
    post(&[("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "no-cors")]).refused(403, &["origin"]);
    let allowed = post(&[("Origin", "https://app.example.org")]);
    assert_eq!((allowed.status, allowed.header("access-control-allow-origin")), (200, Some("https://app.example.org")));
    let preflight = |origin: &str| {
        let headers = [("Origin", origin), ("Access-Control-Request-Method", "POST")];
        server.send("OPTIONS", "/v1/translate", &headers, b"")
    };
    assert_eq!(preflight("https://app.example.org").status, 204);
    assert_eq!(preflight("http://evil.example").status, 403);
    let refused = TestDir::new().run(&["serve", "--port", "0", "--model", SHIPPED, "--allow-origin", "*"]);
    assert!(refused.code == Some(2) && refused.stderr.contains("https://example.org"), "{refused:?}");
}
