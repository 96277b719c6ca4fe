//! `/v1/steps`, and the files of the page.

use std::io::{BufRead, BufReader, Write};
use std::time::Instant;

use serde_json::{Value, json};

use super::client::{Answer, Served, TIMEOUT};
use super::common::json as parsed;

const SENTENCE: &str = "Is her father buying the new bottles this week?";

/// Names and data of the events of an answer.
#[track_caller]
fn events(answer: &Answer) -> Vec<(String, Value)> {
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.header("content-type"), Some("text/event-stream"));
    let named = answer.body.lines().filter_map(|line| line.strip_prefix("event: "));
    let data = answer.body.lines().filter_map(|line| line.strip_prefix("data: "));
    named.map(str::to_owned).zip(data.map(parsed)).collect()
}

/// Data of the result of a request that works.
#[track_caller]
fn result(server: &Served, request: &Value) -> Value {
    let mut events = events(&server.post("/v1/steps", request));
    let (name, data) = events.pop().unwrap();
    assert_eq!(name, "result");
    assert!(events.iter().all(|(name, _)| name == "step"));
    data
}

#[test]
fn sends_each_step_and_the_result_of_translate() {
    let server = Served::start(&[]);
    for options in [json!({}), json!({"beam": 1}), json!({"hard_attention": true, "length_penalty": 0.5})] {
        let mut request = options.clone();
        request["text"] = json!(SENTENCE);
        let mut events = events(&server.post("/v1/steps", &request));
        let (_, result) = events.pop().unwrap();
        assert_eq!(json!([result["alignment"]]), server.ask("/v1/translate", &request), "{options}");
        let steps = result["trace"]["steps"].as_array().unwrap();
        assert!(events.len() + 1 >= steps.len() - 1, "{} events, {} steps", events.len(), steps.len());
        let source = &events[0].1["source"];
        assert_eq!(source["words"], result["trace"]["source"]["words"]);
        let mut rows = 0;
        for (number, (name, step)) in events.iter().enumerate() {
            assert_eq!((name.as_str(), &step["step"]), ("step", &json!(number + 1)));
            assert!(number == 0 || step["source"].is_null(), "the source is sent once");
            let first = step["first_changed"].as_u64().unwrap() as usize;
            assert!(first <= rows);
            rows = first + step["attention"].as_array().unwrap().len();
            assert_eq!(rows, step["target"]["tokens"].as_array().unwrap().len());
        }
        let beam = result["trace"]["beam"].as_array().unwrap();
        assert_eq!(beam.iter().filter(|node| node["best"] == json!(true)).count(), steps.len());
        assert!(result["drawing"]["tokens"]["source_words"].is_array());
    }
}

#[test]
fn steers_by_tokens_and_by_attention() {
    let server = Served::start(&[]);
    let plain = result(&server, &json!({"text": SENTENCE}));
    let steps = plain["trace"]["steps"].as_array().unwrap();
    let ids: Vec<&Value> = steps.iter().map(|step| &step["id"]).collect();
    let other = &steps[5]["candidates"][1]["id"];
    let prefix = [&ids[..5], &[other]].concat();
    let steered = result(&server, &json!({"text": SENTENCE, "prefix_tokens": prefix}));
    assert_eq!(&steered["trace"]["steps"][5]["id"], other);
    assert_ne!(steered["alignment"]["translation"], plain["alignment"]["translation"]);
    // All attention on "bottles" gives its translation.
    let mut weights = vec![0; plain["trace"]["source"]["tokens"].as_array().unwrap().len() + 1];
    weights[6] = 1;
    let intervention = json!({"step": 5, "weights": [weights]});
    let moved = result(
        &server,
        &json!({"text": SENTENCE, "prefix_tokens": &ids[..5], "intervention": intervention, "beam": 1}),
    );
    assert_eq!(moved["trace"]["steps"][5]["text"], " bouteilles");
    let own = json!({"step": 5, "weights": steps[5]["heads"]});
    let same = result(&server, &json!({"text": SENTENCE, "intervention": own, "candidates": 3}));
    assert_eq!(same["alignment"]["translation"], plain["alignment"]["translation"]);
    assert_eq!(same["trace"]["steps"][0]["candidates"].as_array().unwrap().len(), 3);
}

#[test]
fn sentences_of_a_text_follow_each_other() {
    let text = "She sleeps. They bought a black hat. He sings.";
    let server = Served::start(&[]);
    let mut events = events(&server.post("/v1/steps", &json!({"text": text})));
    let (_, plain) = events.pop().unwrap();
    assert_eq!(json!([plain["alignment"]]), server.ask("/v1/translate", &json!({"text": text})));
    let trace = &plain["trace"];
    let steps = trace["steps"].as_array().unwrap();
    let sides = ["source", "target"].map(|side| trace[side]["tokens"].as_array().unwrap());
    assert_eq!(sides[0].len(), plain["drawing"]["tokens"]["source"].as_array().unwrap().len());
    assert_eq!(sides[1].len(), plain["drawing"]["tokens"]["target"].as_array().unwrap().len());
    let sentences = trace["sentences"].as_array().unwrap();
    assert_eq!((sentences.len(), steps.len()), (3, sides[1].len() + 3));
    for sentence in sentences {
        let [first, end] = [0, 1].map(|side| sentence["steps"][side].as_u64().unwrap() as usize);
        let source = [0, 1].map(|side| sentence["source"][side].as_u64().unwrap() as usize);
        assert_eq!(steps[end - 1]["token"], "</s>");
        for step in &steps[first..end] {
            let row: Vec<f64> = step["attention"].as_array().unwrap().iter().map(|one| one.as_f64().unwrap()).collect();
            assert_eq!(row.len(), sides[0].len() + 1);
            let own: f64 = row[source[0]..source[1]].iter().sum();
            assert!((own + row[sides[0].len()] - 1.0).abs() < 1e-4, "{row:?}");
        }
    }
    // Each event has the sentences before it, and the source of all comes first.
    assert_eq!(events[0].1["source"]["words"], trace["source"]["words"]);
    assert!(events[1..].iter().all(|(_, step)| step["source"].is_null()));
    assert!(events.last().unwrap().1["text"].as_str().unwrap().starts_with("Elle dort. Ils ont"));
    // The beam is one tree, whose best path has all steps.
    let beam = trace["beam"].as_array().unwrap();
    let mut node = beam.iter().rposition(|node| node["best"] == json!(true));
    let mut path = Vec::new();
    while let Some(index) = node {
        path.insert(0, &beam[index]["id"]);
        node = beam[index]["parent"].as_u64().map(|parent| parent as usize);
    }
    let ids: Vec<&Value> = steps.iter().map(|step| &step["id"]).collect();
    assert_eq!(path, ids);
    // Another token of the second sentence changes only that one.
    let first = sentences[1]["steps"][0].as_u64().unwrap() as usize;
    let other = &steps[first]["candidates"][1]["id"];
    let prefix = [&ids[..first], &[other]].concat();
    let steered = result(&server, &json!({"text": text, "prefix_tokens": prefix}));
    assert_eq!(&steered["trace"]["steps"][first]["id"], other);
    let translation = steered["alignment"]["translation"].as_str().unwrap();
    assert!(translation.starts_with("Elle dort. ") && translation.ends_with(" Il chante."), "{translation}");
    // All attention on "black", where "hat" would be translated.
    let black = trace["source"]["words"].as_array().unwrap().iter().position(|word| word == "black").unwrap();
    let words = trace["source"]["word_of_token"].as_array().unwrap();
    let mut weights: Vec<u8> = words.iter().map(|word| u8::from(*word == json!(black))).collect();
    weights.push(0);
    let step = steps.iter().position(|step| step["text"] == " chapeau").unwrap();
    let intervention = json!({"step": step, "weights": [weights]});
    let request = json!({"text": text, "prefix_tokens": &ids[..step], "intervention": intervention, "beam": 1});
    let moved = result(&server, &request);
    assert_eq!(moved["trace"]["steps"][step]["text"], " noir");
    // Attention on another sentence is none of this one.
    let elsewhere: Vec<u8> = (0..weights.len()).map(|index| u8::from(index == 0)).collect();
    let intervention = json!({"step": step, "weights": [elsewhere]});
    let request = json!({"text": text, "prefix_tokens": &ids[..step], "intervention": intervention});
    server.post("/v1/steps", &request).refused(400, &["in the sentence of the step"]);
    let beyond = json!({"text": "She sleeps.", "prefix_tokens": &ids[..step]});
    server.post("/v1/steps", &beyond).refused(400, &["after the end of the text"]);
}

#[test]
fn refuses_requests_that_do_not_fit() {
    let server = Served::start(&[]);
    let refused = |request: Value, parts: &[&str]| server.post("/v1/steps", &request).refused(400, parts);
    refused(json!({"text": "a", "model": "none"}), &["no model"]);
    refused(json!({"text": "a", "beam": 21}), &["beam", "20"]);
    refused(json!({"text": "a", "n_best": 21}), &["beam", "20"]);
    refused(json!({"text": "a", "candidates": 101}), &["candidates"]);
    refused(json!({"text": "a", "length_factor": 50.0}), &["length_factor"]);
    refused(json!({"text": "a", "sample": true}), &["sample"]);
    refused(json!({"text": "a", "prefix_tokens": [9_999_999]}), &["prefix"]);
    refused(json!({"text": "a", "intervention": {"step": 0, "weights": [[1.0]]}}), &["attention weights"]);
    refused(json!({"text": "a", "intervention": {"step": 0}}), &["weights"]);
    refused(json!({"text": "word ".repeat(201)}), &["200 tokens"]);
    refused(json!({"text": " ", "require": ["漢"]}), &["no tokens for this text"]);
    refused(json!({"text": "a", "prefix": "漢"}), &["no tokens for this text"]);
    refused(json!({"text": "a", "prefix": "le ".repeat(600)}), &["at most 500"]);
    refused(json!({"text": "a", "avoid": vec!["x"; 257]}), &["256 phrases"]);
    refused(json!({}), &["text"]);
    let blank = result(&server, &json!({"text": "  "}));
    assert_eq!(blank["trace"]["steps"], json!([]));
}

#[test]
fn client_that_leaves_ends_the_search() {
    let server = Served::start(&[]);
    // The longest search that is allowed takes seconds.
    let long = json!({"text": "zzz ".repeat(25), "beam": 20, "length_factor": 5.0}).to_string();
    for _ in 0..8 {
        let mut stream = server.connect();
        let head =
            format!("POST /v1/steps HTTP/1.1\r\nHost: {}\r\nContent-Length: {}\r\n\r\n", server.address, long.len());
        stream.write_all([head.as_bytes(), long.as_bytes()].concat().as_slice()).unwrap();
        let mut lines = BufReader::new(stream).lines();
        assert!(lines.any(|line| line.unwrap().starts_with("data: ")), "a step arrives before the search ends");
    }
    let began = Instant::now();
    let after = server.ask("/v1/translate", &json!({"text": "She sleeps."}));
    assert_eq!(after[0]["translation"], "Elle dort.");
    assert!(began.elapsed() < TIMEOUT / 4, "others wait for clients that left: {:?}", began.elapsed());
}

#[test]
fn page_is_one_document_with_its_own_style_and_script() {
    let server = Served::start(&[]);
    let page = server.get("/");
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.contains("script-src 'self'") && !policy.contains("unsafe"), "{policy}");
    for inline in ["<style", " style=", " onclick=", "<script>", "://"] {
        assert!(!page.body.contains(inline), "the page has {inline}");
    }
    for (path, kind) in [("/page.css", "text/css; charset=utf-8"), ("/page.js", "text/javascript; charset=utf-8")] {
        // Under a sub-path of a proxy, only relative addresses lead here.
        assert!(page.body.contains(&format!("\"{}\"", path.trim_start_matches('/'))));
        let file = server.get(path);
        assert_eq!((file.status, file.header("content-type")), (200, Some(kind)));
        let addresses = file.body.replace("http://www.w3.org/2000/svg", "").matches("://").count();
        assert!(addresses == 0 && !file.body.contains("innerHTML"), "{path}");
    }
    for path in ["/", "/docs", "/page.js"] {
        let text = server.get(path).body;
        for absolute in ["href=\"/", "src=\"/", "fetch(\"/", "post(\"/", "action=\"/"] {
            assert!(!text.contains(absolute), "{path} has {absolute}");
        }
    }
}
