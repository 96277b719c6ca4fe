//! Batches of many clients, clients that go away, reloads and shutdown.

use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use serde_json::json;

use super::client::{Answer, SHIPPED, Served, send};
use super::common::{PAIRS, TestDir, tsv};

/// Sentences that differ and are translated as single words of the shipped model's language.
const WORDS: [&str; 8] = ["hat", "dog", "house", "book", "garden", "friend", "car", "bread"];

fn sentence(client: usize, index: usize) -> String {
    format!("She bought a {} and a {}.", WORDS[client % 8], WORDS[(client / 8 + index) % 8])
}

#[test]
fn many_clients_share_batches() {
    let server = Served::start(&[]);
    let dir = TestDir::new();
    let all: Vec<String> = (0..64).flat_map(|client| (0..4).map(move |index| sentence(client, index))).collect();
    dir.write("sentences.txt", all.join("\n") + "\n");
    let model = SHIPPED.split_once('=').unwrap().1;
    let expected = dir.run(&["translate", "--model", model, "--input", "sentences.txt", "--quiet"]);
    let expected: Vec<&str> = expected.worked().lines().collect();
    scope(|threads| {
        for client in 0..64 {
            let (server, expected) = (&server, &expected);
            threads.spawn(move || {
                for index in 0..4 {
                    let request = json!({"q": sentence(client, index), "source": "en", "target": "fr"});
                    assert_eq!(server.ask("/translate", &request)["translatedText"], expected[4 * client + index]);
                }
            });
        }
    });
    let metrics = server.get("/metrics").body;
    let value = |name: &str| -> f64 {
        let line = metrics.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{name}: {metrics}"));
        line.rsplit_once(' ').unwrap().1.parse().unwrap()
    };
    assert_eq!(value("softalign_sentences_total"), 256.0);
    assert!(value("softalign_batch_sentences_count") < 200.0, "requests were not translated together: {metrics}");
}

#[test]
fn work_of_clients_that_go_away_ends() {
    let server = Served::start(&[]);
    let body =
        json!({"text": vec!["They bought a black hat yesterday and went home with it."; 500], "beam": 300}).to_string();
    for path in ["/v1/translate"; 3] {
        let mut stream = server.connect();
        let head =
            format!("POST {path} HTTP/1.1\r\nHost: {}\r\nContent-Length: {}\r\n\r\n", server.address, body.len());
        stream.write_all((head + &body).as_bytes()).unwrap();
        let mut status = [0; 12];
        stream.read_exact(&mut status).unwrap();
        assert_eq!(&status, b"HTTP/1.1 200", "the work begins before the client goes away");
    }
    let began = Instant::now();
    server.ask("/v1/translate", &json!({"text": "She sleeps."}));
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
}

#[test]
fn large_requests_do_not_hold_up_small_ones() {
    let server = Served::start(&[]);
    let is_done = AtomicBool::new(false);
    scope(|threads| {
        threads.spawn(|| {
            let large = json!({"text": vec!["They bought a black hat yesterday."; 2000], "beam": 20});
            assert_eq!(server.ask("/v1/translate", &large).as_array().unwrap().len(), 2000);
            is_done.store(true, Ordering::Relaxed);
        });
        sleep(Duration::from_millis(300));
        server.ask("/v1/translate", &json!({"text": "She sleeps."}));
        assert!(!is_done.load(Ordering::Relaxed), "the small request came after the large one");
    });
}

#[test]
fn models_are_loaded_anew_without_a_failed_request() {
    let dir = TestDir::new();
    dir.write("pairs.tsv", tsv(&PAIRS));
    dir.train("a", &["--max-epochs", "10", "--patience", "100"]).worked();
    let reversed: Vec<(&str, &str)> = PAIRS.iter().map(|(source, target)| (*target, *source)).collect();
    dir.write("pairs.tsv", tsv(&reversed));
    dir.train("b", &["--max-epochs", "10", "--patience", "100"]).worked();
    let server = Served::start_in(&dir, &["--model", "x=a", "--watch"]);
    let (source, target) = PAIRS[0];
    let translate = |text: &str| server.ask("/v1/translate", &json!({"text": text}))[0]["translation"].clone();
    assert_eq!(translate(source), target);
    let is_done = AtomicBool::new(false);
    scope(|threads| {
        for _ in 0..4 {
            threads.spawn(|| {
                while !is_done.load(Ordering::Relaxed) {
                    server.ask("/v1/translate", &json!({"text": [source, target]}));
                }
            });
        }
        let replace = |name: &str| std::fs::rename(dir.path("b").join(name), dir.path("a").join(name)).unwrap();
        let names: Vec<_> = std::fs::read_dir(dir.path("b")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.iter().for_each(|name| replace(name.to_str().unwrap()));
        server.wait_for_log("x: loaded anew");
        is_done.store(true, Ordering::Relaxed);
    });
    assert_eq!(translate(target), source);
    // A model that cannot be loaded leaves the former one in place.
    std::fs::write(dir.path("a").join("config.json"), "{").unwrap();
    server.signal("-HUP");
    server.wait_for_log("the former model stays");
    assert_eq!(translate(target), source);
}

#[test]
fn signals_end_the_server_in_good_order() {
    for signal in ["-TERM", "-INT"] {
        let mut server = Served::start(&[]);
        let _idle = server.connect();
        let address = server.address.clone();
        let running = std::thread::spawn(move || {
            let body = json!({"text": vec!["They bought a black hat yesterday."; 100]}).to_string();
            send(&address, "POST", "/v1/translate", &[], body.as_bytes())
        });
        sleep(Duration::from_millis(100));
        server.signal(signal);
        let began = Instant::now();
        let status = server.wait();
        assert!(
            status.success() && began.elapsed() < Duration::from_secs(10),
            "{status:?} after {:?}",
            began.elapsed()
        );
        assert_eq!(running.join().unwrap().worked().as_array().unwrap().len(), 100);
    }
}

#[test]
fn endless_work_does_not_keep_the_server_from_ending() {
    let mut server = Served::start(&["--threads", "1"]);
    let body = json!({"text": vec!["They bought a black hat yesterday and went home."; 200], "beam": 900}).to_string();
    let mut stream = server.connect();
    let head =
        format!("POST /v1/translate HTTP/1.1\r\nHost: {}\r\nContent-Length: {}\r\n\r\n", server.address, body.len());
    stream.write_all((head + &body).as_bytes()).unwrap();
    sleep(Duration::from_millis(500));
    server.signal("-TERM");
    let began = Instant::now();
    assert!(server.wait().success() && began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    let answer = Answer::read(stream).unwrap();
    assert!(answer.status == 503 || answer.body.ends_with("[cut off]"), "an answer that was cut off looks complete");
}

#[test]
fn requests_are_logged_without_texts_of_users() {
    let mut server = Served::start(&["--access-log"]);
    server.ask("/v1/translate", &json!({"text": "She sleeps."}));
    server.post("/translate?q=secret&source=en&target=xx", &json!({})).refused(400, &[]);
    server.get("/nowhere").refused(404, &[]);
    let _open = server.connect();
    server.wait_for_log("/nowhere");
    let log = server.log.lock().unwrap().clone();
    let lines: Vec<Vec<&str>> = log.lines().skip(2).map(|line| line.split(' ').collect()).collect();
    let seen: Vec<&[&str]> = lines.iter().map(|line| &line[1..5]).collect();
    let expected: [&[&str]; 3] = [
        &["127.0.0.1", "POST", "/v1/translate", "200"],
        &["127.0.0.1", "POST", "/translate", "400"],
        &["127.0.0.1", "GET", "/nowhere", "404"],
    ];
    assert_eq!(seen, expected, "{log}");
    for line in lines {
        assert!(line.len() == 7 && line[0].ends_with('Z') && line[5].parse::<usize>().unwrap() > 0, "{line:?}");
        assert!(line[6].parse::<f64>().unwrap() >= 0.0, "{line:?}");
    }
    server.signal("-TERM");
    assert!(server.wait().success());
    let silent = Served::start(&[]);
    silent.get("/health").worked();
    silent.signal("-HUP");
    silent.wait_for_log("loaded anew");
    assert!(!silent.log.lock().unwrap().contains("/health"));
}

#[test]
fn says_why_it_cannot_start() {
    let dir = TestDir::new();
    let server = Served::start(&[]);
    let port = server.address.rsplit_once(':').unwrap().1;
    dir.run(&["serve", "--model", SHIPPED, "--port", port]).refused_with(1, &[port, "cannot listen"]);
    dir.run(&["serve", "--model", "none", "--port", "0"]).refused_with(1, &["none"]);
    let host = dir.run(&["serve", "--model", SHIPPED, "--host", "nowhere"]);
    assert_eq!(host.code, Some(2));
}
