//! Requests that would cost too much, answers that are sent while they are computed, and turns of requests.

use std::io::{Read, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::{Answer, Served};

const SENTENCE: &str = "They bought a black hat yesterday.";

fn long_text(sentences: usize) -> String {
    vec!["they bought a black hat yesterday"; sentences].join(", ")
}

#[test]
fn work_beyond_the_budget_is_refused_before_it_begins() {
    let server = Served::start(&[]);
    let letters = "a ".repeat(490);
    let long = long_text(80);
    let required = ["un chapeau noir", "la vieille maison", "le chien dort", "une robe rouge", "les enfants chantent"];
    let cases: [(&str, Value, &[&str]); 11] = [
        ("/v1/translate", json!({"text": letters, "beam": 20, "n_best": 20}), &["memory", "n_best"]),
        ("/v1/translate", json!({"text": letters, "beam": 1000, "n_best": 1000}), &["memory", "beam"]),
        ("/v1/translate", json!({"text": letters, "sample": true, "n_best": 1000}), &["n_best"]),
        ("/v1/translate", json!({"text": long, "length_factor": 100.0}), &["length_factor"]),
        ("/v1/translate", json!({"text": long, "mbr": 1000}), &["mbr"]),
        // Each required token widens the beam.
        ("/v1/translate", json!({"text": long, "beam": 30, "require": required}), &["memory", "require"]),
        ("/v1/translate", json!({"text": vec![&long; 60], "beam": 45}), &["times as long", "beam"]),
        ("/v1/translate", json!({"text": vec![&long; 30], "attention": true}), &["omit attention"]),
        (
            "/v1/align",
            json!({"pairs": vec![json!({"source": long, "target": long}); 30], "attention": true}),
            &["omit attention"],
        ),
        ("/translate", json!({"q": long, "source": "en", "target": "fr", "alternatives": 50}), &["alternatives"]),
        (
            "/v1/translate",
            json!({"text": vec![SENTENCE; 1001], "n_best": 2}),
            &["2000 translations, not 2002", "n_best"],
        ),
    ];
    for (path, request, parts) in cases {
        let began = Instant::now();
        server.post(path, &request).refused(413, parts);
        assert!(began.elapsed() < Duration::from_secs(20), "{path}: {:?}", began.elapsed());
    }
}

#[test]
fn blocks_of_html_count_as_texts() {
    let server = Served::start(&["--batch-limit", "20"]);
    let blocks = |count: usize| format!("<p>{SENTENCE}</p>").repeat(count);
    for (count, alternatives) in [(21, 0), (11, 1)] {
        let html = json!({"text": blocks(count), "markup": "html", "n_best": alternatives + 1});
        server.post("/v1/translate", &html).refused(413, &["20 translations"]);
        let q =
            json!({"q": blocks(count), "source": "en", "target": "fr", "format": "html", "alternatives": alternatives});
        server.post("/translate", &q).refused(413, &["20 translations"]);
    }
    let html = server.ask("/v1/translate", &json!({"text": blocks(20), "markup": "html"}));
    assert_eq!(html[0]["translation"].as_str().unwrap().matches("<p>").count(), 20);
}

#[test]
fn attention_is_sent_for_one_short_text_or_when_asked_for() {
    let server = Served::start(&[]);
    let long = long_text(30);
    let cases = [
        (json!({"text": SENTENCE}), true),
        (json!({"text": SENTENCE, "attention": false}), false),
        (json!({"text": [SENTENCE, SENTENCE]}), false),
        (json!({"text": [SENTENCE, SENTENCE], "attention": true}), true),
        (json!({"text": SENTENCE, "beam": 50, "n_best": 50}), true),
        (json!({"text": long}), false),
        (json!({"text": long, "attention": true}), true),
        (json!({"text": format!("<p>{SENTENCE}</p>"), "markup": "html"}), true),
        (json!({"text": format!("<p>{SENTENCE}</p>").repeat(20), "markup": "html"}), false),
    ];
    for (request, has_attention) in cases {
        for item in server.ask("/v1/translate", &request).as_array().unwrap() {
            assert_eq!(item["attention"].is_array(), has_attention, "{request}");
            assert_eq!(item["eos"].is_array(), has_attention, "{request}");
            assert!(item["links"].is_array());
        }
    }
    let pair = json!({"source": SENTENCE, "target": "Ils ont acheté un chapeau noir hier."});
    for (request, has_attention) in [(json!({"pairs": [pair]}), true), (json!({"pairs": [pair, pair]}), false)] {
        assert_eq!(server.ask("/v1/align", &request)[0]["attention"].is_array(), has_attention);
    }
}

#[test]
fn long_answers_equal_those_in_parts() {
    let server = Served::start(&[]);
    let texts: Vec<String> = (0..300).map(|index| format!("She bought {index} hats and a dog.")).collect();
    for options in [json!({}), json!({"sample": true, "seed": 3}), json!({"n_best": 2})] {
        let ask = |texts: &[String]| {
            let mut request = options.clone();
            request["text"] = json!(texts);
            server.ask("/v1/translate", &request).as_array().unwrap().clone()
        };
        let all = ask(&texts);
        let each = options["n_best"].as_u64().unwrap_or(1) as usize;
        assert_eq!(all.len(), texts.len() * each);
        for (index, item) in all.iter().enumerate() {
            assert_eq!(item["id"], index / each, "{options}");
        }
        assert_eq!(all[..20 * each], ask(&texts[..20]), "{options}");
    }
    let pairs: Vec<Value> = texts.iter().map(|text| json!({"source": text, "target": "Elle a un chien."})).collect();
    for path in ["/v1/align", "/v1/score"] {
        let all = server.ask(path, &json!({"pairs": pairs}));
        let parts = server.ask(path, &json!({"pairs": pairs[..7]}));
        assert_eq!(all.as_array().unwrap()[..7], parts.as_array().unwrap()[..], "{path}");
        assert_eq!(all.as_array().unwrap().len(), pairs.len());
    }
}

#[test]
fn documents_of_many_blocks_equal_those_of_few() {
    let server = Served::start(&[]);
    let block = |index: usize| format!("<p>She bought <b>{index} black hats</b> and a <i>dog</i>.</p>\n");
    let translate = |blocks: std::ops::Range<usize>| {
        let html: String = blocks.map(block).collect();
        server.ask("/v1/translate", &json!({"text": html, "markup": "html"}))[0]["translation"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let parts: Vec<String> = (0..6).map(|part| translate(part * 50..(part + 1) * 50)).collect();
    assert_eq!(translate(0..300), parts.concat());
}

#[test]
fn short_requests_pass_long_ones_on_every_path() {
    let server = Served::start(&[]);
    let long = long_text(60);
    let pairs: Vec<Value> = (0..40).map(|_| json!({"source": long, "target": long})).collect();
    let html: String = (0..12).map(|_| format!("<p>{long} <b>black</b></p>")).collect();
    let heavy = [
        ("/v1/translate", json!({"text": vec![&long; 12]})),
        ("/v1/translate", json!({"text": html, "markup": "html"})),
        ("/v1/align", json!({"pairs": pairs})),
        ("/v1/score", json!({"pairs": pairs})),
        ("/translate", json!({"q": vec![SENTENCE; 19], "source": "en", "target": "fr", "alternatives": 100})),
    ];
    let done = AtomicUsize::new(0);
    scope(|threads| {
        for (path, request) in &heavy {
            threads.spawn(|| {
                server.ask(path, request);
                done.fetch_add(1, Ordering::Relaxed);
            });
        }
        sleep(Duration::from_millis(500));
        server.ask("/translate", &json!({"q": "She sleeps.", "source": "en", "target": "fr"}));
        assert!(done.load(Ordering::Relaxed) < heavy.len(), "the short request came after the long ones");
    });
}

#[test]
fn links_and_answers_end_with_their_client() {
    let mut server = Served::start(&[]);
    let long = long_text(60);
    let pairs: Vec<Value> = (0..45).map(|_| json!({"source": long, "target": long})).collect();
    let body = json!({"pairs": pairs, "links_from": "hmm"}).to_string();
    for _ in 0..4 {
        let mut stream = server.connect();
        let head =
            format!("POST /v1/align HTTP/1.1\r\nHost: {}\r\nContent-Length: {}\r\n\r\n", server.address, body.len());
        stream.write_all((head + &body).as_bytes()).unwrap();
        // The first part of the answer is there while the others are computed.
        stream.read_exact(&mut [0; 64]).unwrap();
    }
    server.ask("/v1/align", &json!({"pairs": [pairs[0]]}));
    server.signal("-TERM");
    let began = Instant::now();
    assert!(server.wait().success() && began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
}

#[test]
fn clients_that_do_not_read_do_not_stop_others() {
    let server = Served::start(&[]);
    let body = json!({"text": vec![long_text(20); 60], "attention": true}).to_string();
    let mut unread = Vec::new();
    for _ in 0..10 {
        let mut stream = server.connect();
        let head = format!(
            "POST /v1/translate HTTP/1.1\r\nHost: {}\r\nContent-Length: {}\r\n\r\n",
            server.address,
            body.len()
        );
        stream.write_all((head + &body).as_bytes()).unwrap();
        unread.push(stream);
    }
    let texts = vec![SENTENCE; 300];
    assert_eq!(server.ask("/v1/translate", &json!({"text": texts})).as_array().unwrap().len(), 300);
    // What was not read is still there.
    let mut answer = String::new();
    let mut stream = unread.swap_remove(0);
    stream.read_to_string(&mut answer).err();
    assert!(answer.starts_with("HTTP/1.1 200"), "{}", answer.chars().take(100).collect::<String>());
}

#[test]
fn bodies_of_many_small_parts_are_refused() {
    let server = Served::start(&[]);
    let elements = format!("{{\"text\": [{}\"\"]}}", "\"\",".repeat(500_000));
    server.send("POST", "/v1/translate", &[], elements.as_bytes()).refused(413, &["parts"]);
    let form = "q=a&".repeat(300_000);
    let kind = [("Content-Type", "application/x-www-form-urlencoded")];
    server.send("POST", "/translate", &kind, form.as_bytes()).refused(413, &["parts"]);
    // Commas in a text are no parts.
    let commas = json!({"q": ", ".repeat(40_000), "source": "en", "target": "fr"});
    server.post("/translate", &commas).worked();
}

#[test]
fn says_what_memory_requests_may_take() {
    let server = Served::start(&["--memory-limit", "256"]);
    server.wait_for_log("at most 256 MiB");
    server.post("/v1/translate", &json!({"text": long_text(60), "beam": 30})).refused(413, &["memory", "beam"]);
    let answer: Answer = server.post("/v1/translate", &json!({"text": SENTENCE}));
    assert_eq!(answer.status, 200);
}
