//! LibreTranslate's API, keys and limits.

use serde_json::{Value, json};

use super::client::{SHIPPED, Served};
use super::common::{PAIRS, TestDir, model_path};

#[test]
fn answers_as_libretranslate() {
    let server = Served::start(&[]);
    let languages = json!([
        {"code": "en", "name": "English", "targets": ["fr"]},
        {"code": "fr", "name": "French", "targets": []}
    ]);
    assert_eq!(server.get("/languages").worked(), languages);
    let request = |q: Value| json!({"q": q, "source": "en", "target": "fr"});
    assert_eq!(server.ask("/translate", &request(json!("She sleeps."))), json!({"translatedText": "Elle dort."}));
    let list = server.ask("/translate", &request(json!(["She sleeps.", "He sings."])));
    assert_eq!(list, json!({"translatedText": ["Elle dort.", "Il chante."]}));
    let lines = server.ask("/translate", &request(json!("  She sleeps.\n\n\tHe sings.\r\n")));
    assert_eq!(lines, json!({"translatedText": "  Elle dort.\n\n\tIl chante.\r\n"}));
    assert_eq!(server.ask("/translate", &request(json!(" \n"))), json!({"translatedText": " \n"}));
    assert_eq!(
        server.ask("/translate", &request(json!(["", "She sleeps."]))),
        json!({"translatedText": ["", "Elle dort."]})
    );
}

#[test]
fn keeps_tags_and_placeholders() {
    let server = Served::start(&[]);
    let html = "<p>She <b>sleeps</b>.</p>\n<p>They bought a <a href='#'>black</a> hat.<br></p>";
    let request =
        json!({"q": [html, "<b></b>"], "source": "auto", "target": "fr", "format": "html", "alternatives": 1});
    let answer = server.ask("/translate", &request);
    let expected = "<p>Elle <b>dort</b>.</p>\n<p>Ils ont acheté un chapeau <a href='#'>noir</a>.<br></p>";
    assert_eq!(answer["translatedText"], json!([expected, "<b></b>"]));
    assert!(answer["alternatives"][0][0].as_str().unwrap().contains("<a href='#'>"), "{answer}");
    let placeholder =
        server.ask("/translate", &json!({"q": "She bought {count} hats.", "source": "en", "target": "fr"}));
    assert!(placeholder["translatedText"].as_str().unwrap().contains("{count}"), "{placeholder}");
}

#[test]
fn languages_are_recorded_when_a_model_is_trained() {
    let dir = TestDir::with_pairs();
    let sides: [Vec<&str>; 2] = [PAIRS.iter().map(|pair| pair.0).collect(), PAIRS.iter().map(|pair| pair.1).collect()];
    dir.write("train.eo", sides[0].join("\n") + "\n");
    dir.write("train.en", sides[1].join("\n") + "\n");
    let train = |out: &str, options: &[&str]| {
        let parallel = ["train", "--source", "train.eo", "--target", "train.en", "--out", out, "--preset", "tiny"];
        dir.run(&[&parallel[..], &["--max-epochs", "1", "--quiet"], options].concat()).worked();
    };
    train("by-name", &[]);
    train("given", &["--languages", "pt-BR-de"]);
    dir.train("unknown", &["--max-epochs", "1"]).worked();
    let init = ["train", "pairs.tsv", "--init-from", "by-name", "--max-epochs", "1", "--out", "from-base", "--quiet"];
    dir.run(&init).worked();
    for (model, languages) in [
        ("by-name", "Esperanto to English (eo-en)"),
        ("given", "Portuguese to German (pt-BR-de)"),
        ("from-base", "Esperanto to English (eo-en)"),
    ] {
        let shown = dir.run(&["inspect", model]);
        assert!(shown.worked().contains(languages), "{shown:?}");
        let config = super::common::json(dir.run(&["inspect", model, "--json"]).worked());
        assert!(languages.contains(config["config"]["data"]["languages"].as_str().unwrap()));
    }
    assert!(!dir.run(&["inspect", "unknown"]).worked().contains("languages"));
    dir.run(&["train", "--languages", "english-french"]).refused_with(2, &["en-fr"]);
    // Its options train the same model again.
    dir.run(&["train", "--config", "given/config.json", "--out", "again"]).worked();
    assert!(dir.run(&["inspect", "again"]).worked().contains("(pt-BR-de)"));
    let server = Served::start_in(&dir, &["--model", "by-name"]);
    server.ask("/translate", &json!({"q": "a", "source": "eo", "target": "en"}));
}

#[test]
fn understands_forms() {
    let server = Served::start(&[]);
    let form = |body: &str| {
        server.send("POST", "/translate", &[("Content-Type", "application/x-www-form-urlencoded")], body.as_bytes())
    };
    assert_eq!(
        form("q=She+sleeps.%0AHe+sings.&source=en&target=fr&api_key=").worked(),
        json!({"translatedText": "Elle dort.\nIl chante."})
    );
    assert_eq!(
        form("q=She+sleeps.&source=auto&target=fr&format=text&alternatives=2").worked()["alternatives"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    form("source=en&target=fr").refused(400, &["missing q"]);
    form("q=a&source=en&target=fr&alternatives=many").refused(400, &["alternatives", "whole number"]);
    assert_eq!(
        form("q=She+sleeps.&source=en&target=fr&alternatives=").worked(),
        json!({"translatedText": "Elle dort."})
    );
    let expected = json!({"translatedText": "Elle dort."});
    let part =
        |name: &str, text: &str| format!("--x\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{text}\r\n");
    let parts = part("q", "She sleeps.") + &part("source", "en") + &part("target", "fr") + &part("alternatives", "");
    let multipart = |path: &str, body: &str| {
        server.send("POST", path, &[("Content-Type", "multipart/form-data; boundary=x")], body.as_bytes())
    };
    assert_eq!(multipart("/translate", &format!("{parts}--x--\r\n")).worked(), expected);
    multipart("/translate", "--x--\r\n").refused(400, &["missing q"]);
    multipart("/translate", &parts).refused(400, &["form is not valid"]);
    multipart("/translate", "no boundary").refused(400, &["form is not valid"]);
    // Parameters of the query stand for what the body lacks.
    for (path, kind, body) in [
        ("/translate?q=She+sleeps.&source=en&target=fr", "", ""),
        ("/translate?q=She%20sleeps.&source=en&target=fr", "application/x-www-form-urlencoded", ""),
        ("/translate?source=en&target=fr&q=b", "application/x-www-form-urlencoded", "q=She+sleeps."),
        ("/translate?source=en&target=fr", "application/json", r#"{"q": "She sleeps."}"#),
    ] {
        let headers = [("Content-Type", kind)];
        assert_eq!(server.send("POST", path, &headers, body.as_bytes()).worked(), expected, "{path}");
    }
    let text = json!({"q": "She sleeps.", "source": "en", "target": "fr", "alternatives": "2"});
    assert_eq!(server.ask("/translate", &text)["alternatives"].as_array().unwrap().len(), 2);
}

#[test]
fn text_in_the_target_language_is_answered_as_it_is() {
    let server = Served::start(&[]);
    let auto =
        |q: Value| server.ask("/translate", &json!({"q": q, "source": "auto", "target": "fr", "alternatives": 1}));
    for text in ["Elle dort.", "Ils ont acheté un chapeau noir hier.", "  Où habite le vieil homme ?\n"] {
        let detected = server.ask("/detect", &json!({"q": text}))[0].clone();
        assert_eq!(detected["language"], "fr", "{text}");
        let answer = auto(json!(text));
        assert_eq!((&answer["translatedText"], &answer["detectedLanguage"]), (&json!(text), &detected));
        assert_eq!(answer["alternatives"], json!([]));
    }
    let mixed = auto(json!(["She sleeps.", "Elle dort.", "He sings."]));
    assert_eq!(mixed["translatedText"], json!(["Elle dort.", "Elle dort.", "Il chante."]));
    for (index, language) in ["en", "fr", "en"].into_iter().enumerate() {
        assert_eq!(mixed["detectedLanguage"][index]["language"], language);
    }
    let same = json!({"q": "Elle dort.", "source": "fr", "target": "fr"});
    assert_eq!(server.ask("/translate", &same), json!({"translatedText": "Elle dort."}));
}

#[test]
fn models_know_the_languages_that_they_were_trained_on() {
    let directory = SHIPPED.split_once('=').unwrap().1;
    let server = Served::start_in(&TestDir::new(), &["--model", directory]);
    let request = json!({"q": "She sleeps.", "source": "en", "target": "fr"});
    assert_eq!(server.ask("/translate", &request), json!({"translatedText": "Elle dort."}));
    assert_eq!(server.get("/languages").worked()[0]["targets"], json!(["fr"]));
    let models = server.get("/v1/models").worked();
    assert_eq!(models["models"][0]["pairs"], json!([{"source": "en", "target": "fr"}]));
    let named = Served::start_in(&TestDir::new(), &["--model", &format!("de-nl={directory}")]);
    named.post("/translate", &request).refused(400, &["en is not supported"]);
    named.ask("/translate", &json!({"q": "She sleeps.", "source": "de", "target": "nl"}));
}

#[test]
fn gives_alternatives_and_detects_languages() {
    let server = Served::start(&[]);
    let answer =
        server.ask("/translate", &json!({"q": "She sleeps.", "source": "auto", "target": "fr", "alternatives": 2}));
    assert_eq!(answer["translatedText"], "Elle dort.");
    assert_eq!(answer["detectedLanguage"], json!({"confidence": 100.0, "language": "en"}));
    let alternatives = answer["alternatives"].as_array().unwrap();
    assert!(alternatives.len() == 2 && !alternatives.contains(&json!("Elle dort.")), "{answer}");
    let answer = server.ask(
        "/translate",
        &json!({"q": ["She sleeps.", "He sings."], "source": "auto", "target": "fr", "alternatives": 1}),
    );
    assert_eq!(answer["detectedLanguage"].as_array().unwrap().len(), 2);
    assert_eq!(answer["alternatives"].as_array().unwrap().len(), 2);
    for (text, language) in
        [("They bought a black hat yesterday.", "en"), ("Ils ont acheté un chapeau noir hier.", "fr")]
    {
        let found = server.ask("/detect", &json!({"q": text}));
        assert_eq!(found[0]["language"], language, "{found}");
    }
    assert!(server.ask("/detect", &json!({"q": "Ω"}))[0]["confidence"].as_f64().unwrap() <= 50.0);
}

#[test]
fn chooses_models_by_language() {
    let dir = TestDir::new();
    let toy = format!("eo-en={}", model_path());
    let server = Served::start_in(&dir, &["--model", SHIPPED, "--model", &toy]);
    let (source, target) = PAIRS[0];
    let answer = server.ask("/translate", &json!({"q": [source, source], "source": "eo", "target": "en"}));
    assert_eq!(answer["translatedText"], json!([target, target]));
    assert_eq!(
        server.ask("/translate", &json!({"q": "She sleeps.", "source": "auto", "target": "fr"}))["translatedText"],
        "Elle dort."
    );
    server
        .post("/translate", &json!({"q": "a", "source": "eo", "target": "fr"}))
        .refused(400, &["French (fr) is not available", "Esperanto (eo)"]);
    assert_eq!(server.ask("/translator/translate", &json!([{"src": source, "id": 1}]))[0][0]["tgt"], target);
    let message = dir.run(&["serve", "--port", "0", "--model", SHIPPED, "--model", &toy, "--collect", "a.tsv"]);
    message.refused_with(2, &["--collect", "separately"]);
}

#[test]
fn names_what_is_wrong() {
    let server = Served::start(&["--char-limit", "50", "--batch-limit", "3"]);
    for (request, status, part) in [
        (json!({"source": "en", "target": "fr"}), 400, "missing q"),
        (json!({"q": "", "source": "en", "target": "fr"}), 400, "missing q"),
        (json!({"q": [], "source": "en", "target": "fr"}), 400, "missing q"),
        (json!({"q": "a", "target": "fr"}), 400, "missing source"),
        (json!({"q": "a", "source": "en"}), 400, "missing target"),
        (json!({"q": "a", "source": "en", "target": "xx"}), 400, "xx is not supported"),
        (json!({"q": "a", "source": "fr", "target": "en"}), 400, "English (en) is not available"),
        (json!({"q": "a", "source": "en", "target": "fr", "format": "pdf"}), 400, "pdf format"),
        (json!({"q": "a", "source": "en", "target": "fr", "alternatives": 1000}), 400, "alternatives must be"),
        (json!({"q": "a".repeat(51), "source": "en", "target": "fr"}), 413, "50 characters"),
        (json!({"q": ["a", "b", "c", "d"], "source": "en", "target": "fr"}), 413, "3 texts"),
        (json!({"q": "a\nb\nc\nd", "source": "en", "target": "fr"}), 413, "3 texts and lines, not 4"),
    ] {
        server.post("/translate", &request).refused(status, &[part]);
    }
    server.post("/v1/translate", &json!({"text": "a", "n_best": 4})).worked();
    server.post("/v1/translate", &json!({"text": ["a", "b"], "n_best": 2})).refused(413, &["3 translations"]);
    let several =
        |q: Value, alternatives: usize| json!({"q": q, "source": "en", "target": "fr", "alternatives": alternatives});
    server.post("/translate", &several(json!("a"), 3)).worked();
    server.post("/translate", &several(json!(["a", "b"]), 1)).refused(413, &["3 translations", "alternatives"]);
    server.post("/translate", &several(json!("a\nb"), 1)).refused(413, &["3 translations", "alternatives"]);
    server
        .post("/v1/score", &json!({"pairs": [{"source": "a".repeat(30), "target": "b".repeat(30)}]}))
        .refused(413, &["50"]);
    server.post("/translate_file", &json!({})).refused(400, &["multipart"]);
    server.post("/suggest", &json!({"q": "a", "s": "b", "source": "en", "target": "fr"})).refused(403, &["disabled"]);
    let settings = server.get("/frontend/settings").worked();
    assert_eq!((&settings["charLimit"], &settings["keyRequired"]), (&json!(50), &json!(false)));
}

#[test]
fn work_needs_a_key_if_there_are_keys() {
    let dir = TestDir::new();
    dir.write("keys", "# staff\nfirst-key\n\n second-key \n");
    let server = Served::start_in(&dir, &["--model", SHIPPED, "--api-keys", "keys"]);
    let request = |key: Value| json!({"q": "She sleeps.", "source": "en", "target": "fr", "api_key": key});
    server.post("/translate", &request(Value::Null)).refused(403, &["api_key"]);
    server.post("/translate", &request(json!("first-ke"))).refused(403, &["not known"]);
    server.post("/translate", &request(json!(""))).refused(403, &["api_key"]);
    server.post("/translate", &request(json!("# staff"))).refused(403, &["not known"]);
    server.post("/translate", &request(json!("second-key"))).worked();
    let bearer = |key: &str| {
        server.send("POST", "/v1/translate", &[("Authorization", &format!("Bearer {key}"))], br#"{"text": "a"}"#)
    };
    bearer("first-key").worked();
    bearer("third-key").refused(403, &["not known"]);
    server.post("/v1/translate", &json!({"text": "a"})).refused(403, &["Bearer"]);
    server.post("/v1/pairs", &json!({"source": "a", "target": "b"})).refused(403, &["Bearer"]);
    assert_eq!(server.get("/languages").status, 200);
    dir.write("keys", "third-key\n");
    server.signal("-HUP");
    server.wait_for_log("loaded anew");
    bearer("third-key").worked();
    bearer("first-key").refused(403, &["not known"]);
    dir.write("keys", "# none\n");
    dir.run(&["serve", "--port", "0", "--model", SHIPPED, "--api-keys", "keys"]).refused_with(1, &["keys", "no key"]);
    dir.run(&["serve", "--port", "0", "--model", SHIPPED, "--api-keys", "none"])
        .refused_with(1, &["none", "cannot read"]);
}

#[test]
fn clients_have_a_number_of_requests_in_a_minute() {
    let server = Served::start(&["--req-limit", "3"]);
    let request = json!({"q": "She sleeps.", "source": "en", "target": "fr"});
    for _ in 0..3 {
        server.post("/translate", &request).worked();
    }
    let answer = server.post("/translate", &request);
    answer.refused(429, &["3 requests in a minute"]);
    let seconds: u64 = answer.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&seconds));
    server.post("/v1/translate", &json!({"text": "a"})).refused(429, &[]);
    assert_eq!(server.get("/health").status, 200, "what is no work is not counted");
}

#[test]
fn corrected_pairs_are_appended() {
    let dir = TestDir::new();
    dir.write("pairs.tsv", "half a line");
    let server = Served::start_in(&dir, &["--model", SHIPPED, "--collect", "pairs.tsv"]);
    assert_eq!(
        server.ask("/v1/pairs", &json!({"source": "She\tsleeps.\n", "target": " Elle\u{2028}dort. "})),
        json!({"saved": true})
    );
    let suggestion = json!({"q": "He sings.", "s": "Il chante.", "source": "en", "target": "fr"});
    assert_eq!(server.ask("/suggest", &suggestion), json!({"success": true}));
    server.post("/v1/pairs", &json!({"source": " \t", "target": "a"})).refused(400, &["both sides"]);
    server.post("/v1/pairs", &json!({"source": "a".repeat(10_001), "target": "a"})).refused(413, &["10000"]);
    server.post("/suggest", &json!({"q": "a", "s": "b", "source": "fr", "target": "en"})).refused(400, &["languages"]);
    let all: Vec<_> = (0..8)
        .map(|index| {
            let address = server.address.clone();
            std::thread::spawn(move || {
                let body =
                    json!({"source": format!("source {index}"), "target": format!("target {index}")}).to_string();
                super::client::send(&address, "POST", "/v1/pairs", &[], body.as_bytes()).worked();
            })
        })
        .collect();
    all.into_iter().for_each(|one| one.join().unwrap());
    let text = dir.text("pairs.tsv");
    assert!(
        text.starts_with("half a line\nShe sleeps.\tElle dort.\nHe sings.\tIl chante.\n") && text.ends_with('\n'),
        "{text:?}"
    );
    assert_eq!(text.lines().count(), 11);
    assert_eq!(text.lines().skip(1).filter(|line| line.split('\t').count() == 2).count(), 10);
    assert!(server.get("/frontend/settings").worked()["suggestions"] == true);
    let full = Served::start(&["--collect", "/dev/full"]);
    let answer = full.post("/v1/pairs", &json!({"source": "a", "target": "b"}));
    answer.refused(500, &["cannot append"]);
    assert!(!answer.body.contains("/dev/full"), "{answer:?}");
    let without = Served::start(&[]);
    without.post("/v1/pairs", &json!({"source": "a", "target": "b"})).refused(403, &["does not collect"]);
}
