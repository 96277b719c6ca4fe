//! Requests that are broken, huge or slow, and pages of other origins.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
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
    let nested = format!("{{\"text\": {}1{}}}", "[".repeat(10_000), "]".repeat(10_000));
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
            threads.spawn(|| server.post("/v1/translate", &request(300, 2_000)).refused(400, &["256 phrases"]));
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
        (json!({"text": "a", "terms": [{"source": "a", "target": long}]}), "terms: a translation can have 256"),
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
    let mut two_hosts = server.connect();
    two_hosts.write_all(b"GET /health HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n").unwrap();
    Answer::read(two_hosts).unwrap().refused(400, &["several Host"]);
    assert_alive(&server);
}

#[test]
fn old_and_simple_clients_are_answered() {
    let server = Served::start(&[]);
    // HAProxy's check.
    let mut check = server.connect();
    check.write_all(b"GET /health HTTP/1.0\r\n\r\n").unwrap();
    Answer::read(check).unwrap().worked();
    // The client ends its side of the connection, as `nc -N` does, before the answer is known.
    for (path, body) in [
        ("/v1/translate", json!({"text": vec!["They bought a black hat yesterday."; 40]})),
        ("/v1/steps", json!({"text": "Is her father buying the new bottles this week?"})),
    ] {
        let body = body.to_string();
        let mut half_closed = server.connect();
        let head =
            format!("POST {path} HTTP/1.1\r\nHost: {}\r\nContent-Length: {}\r\n\r\n", server.address, body.len());
        half_closed.write_all((head + &body).as_bytes()).unwrap();
        half_closed.shutdown(Shutdown::Write).unwrap();
        let answer = Answer::read(half_closed).expect("an answer");
        assert!(answer.status == 200 && answer.body.contains("translation"), "{answer:?}");
    }
}

#[test]
fn broken_chunks_are_not_too_large() {
    let server = Served::start(&[]);
    for chunks in ["zz\r\n{}\r\n0\r\n\r\n", "5\r\n{}\r\n0\r\n\r\n", "ffffffffffffffffffff\r\n{}\r\n"] {
        for path in ["/v1/translate", "/translate"] {
            let mut stream = server.connect();
            let head = format!(
                "POST {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n",
                server.address
            );
            stream.write_all((head + chunks).as_bytes()).unwrap();
            stream.shutdown(Shutdown::Write).unwrap();
            Answer::read(stream).expect("an answer").refused(400, &["chunks"]);
        }
    }
}

#[test]
fn the_limit_of_characters_can_be_reached_in_every_encoding() {
    let server = Served::start(&["--char-limit", "30000"]);
    let form = |character: &str, count: usize| format!("source=en&target=fr&q={}", character.repeat(count));
    let json = |character: &str, count: usize| {
        format!(r#"{{"source": "en", "target": "fr", "q": "{}"}}"#, character.repeat(count))
    };
    let bodies = [
        ("application/x-www-form-urlencoded", form("%E6%BC%A2", 30_000), form("%E6%BC%A2", 30_001)),
        ("application/x-www-form-urlencoded", form("%F0%9F%98%80", 30_000), form("%F0%9F%98%80", 30_001)),
        ("application/json", json(r"\ud83d\ude00", 30_000), json(r"\ud83d\ude00", 30_001)),
    ];
    for (kind, longest, longer) in bodies {
        let send = |body: &str| server.send("POST", "/detect", &[("Content-Type", kind)], body.as_bytes());
        send(&longest).worked();
        send(&longer).refused(413, &["30000 characters"]);
    }
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
    let extension = "moz-extension://0f2b-6c";
    let server = Served::start(&["--allow-origin", "https://app.example.org", "--allow-origin", extension]);
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
    assert_eq!(post(&[("Origin", extension)]).header("access-control-allow-origin"), Some(extension));
    post(&[("Host", "0f2b-6c")]).refused(403, &["name of the server"]);
    let refused = TestDir::new().run(&["serve", "--port", "0", "--model", SHIPPED, "--allow-origin", "*"]);
    assert!(refused.code == Some(2) && refused.stderr.contains("https://example.org"), "{refused:?}");
}
