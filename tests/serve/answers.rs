//! Answers of our own API and of OpenNMT-py's, which equal what the command line writes.

use serde_json::{Value, json};

use super::client::{SHIPPED, Served};
use super::common::TestDir;

const SENTENCES: [&str; 5] = [
    "She sleeps.",
    "They bought a black hat yesterday.",
    "",
    "Where does the old man live?",
    "Zwölf Boxkämpfer jagen Ω.",
];

/// Output of a command with the shipped model.
fn command(arguments: &[&str]) -> String {
    let model = SHIPPED.split_once('=').unwrap().1;
    let (name, rest) = arguments.split_first().unwrap();
    TestDir::new().run(&[&[*name, "--model", model, "--quiet"], rest].concat()).worked().to_owned()
}

#[test]
fn translations_equal_those_of_the_command() {
    let server = Served::start(&[]);
    let cases: [(Value, &[&str]); 9] = [
        (json!({}), &[]),
        (json!({"n_best": 3, "beam": 10}), &["--n-best", "3", "--beam", "10"]),
        (
            json!({"sample": true, "seed": 7, "top_k": 10, "n_best": 2}),
            &["--sample", "--seed", "7", "--top-k", "10", "--n-best", "2"],
        ),
        (json!({"markup": "html", "placeholders": "none"}), &["--markup", "html", "--placeholders", "none"]),
        (json!({"mbr": 8, "temperature": 0.7}), &["--mbr", "8", "--temperature", "0.7"]),
        (
            json!({"prefix": "Elle ", "avoid": ["dort"], "length_formula": "wu"}),
            &["--prefix", "Elle ", "--avoid", "dort", "--length-formula", "wu"],
        ),
        (json!({"require": ["chapeau"], "no_repeat": 2}), &["--require", "chapeau", "--no-repeat", "2"]),
        (
            json!({"hard_attention": true, "words": "punctuation", "threshold": 0.5}),
            &["--hard-attention", "--words", "punctuation", "--threshold", "0.5"],
        ),
        (
            json!({"tokens": true, "unknown": "copy", "links_from": "attention", "attention_temperature": 2.0}),
            &["--tokens", "--unknown", "copy", "--links-from", "attention", "--attention-temperature", "2"],
        ),
    ];
    for (options, arguments) in cases {
        let mut request = options.clone();
        request["text"] = json!(SENTENCES);
        request["attention"] = json!(true);
        let answer = server.post("/v1/translate", &request);
        assert_eq!(answer.status, 200, "{options}: {answer:?}");
        assert_eq!(
            answer.body,
            command(&[&["translate", "--format", "json"], arguments, &SENTENCES].concat()),
            "{options}"
        );
    }
    let one = server.post("/v1/translate", &json!({"text": "She sleeps.", "model": "en-fr"}));
    assert_eq!(one.body, command(&["translate", "--format", "json", "She sleeps."]));
    assert_eq!(server.ask("/v1/translate", &json!({"text": []})), json!([]));
}

#[test]
fn alignments_and_scores_equal_those_of_the_command() {
    let server = Served::start(&[]);
    let dir = TestDir::new();
    let pairs = [("She sleeps.", "Elle dort."), ("A hat.", "Un chapeau noir."), ("", ""), ("one", "")];
    dir.write("pairs.tsv", super::common::tsv(&pairs));
    let path = dir.path("pairs.tsv");
    let path = path.to_str().unwrap();
    let given: Vec<Value> = pairs.iter().map(|(source, target)| json!({"source": source, "target": target})).collect();
    for (options, arguments) in [
        (json!({}), &[][..]),
        (json!({"links_from": "hmm", "direction": "forward"}), &["--links-from", "hmm", "--direction", "forward"]),
        (json!({"symmetrize": "grow-diag-final-and"}), &["--symmetrize", "grow-diag-final-and"]),
    ] {
        let mut request = options.clone();
        request["pairs"] = json!(given);
        request["attention"] = json!(true);
        let answer = server.post("/v1/align", &request);
        assert_eq!(answer.body, command(&[&["align", "--format", "json", path], arguments].concat()), "{options}");
    }
    let scored = server.ask("/v1/score", &json!({"pairs": given}));
    let lines: Vec<Value> = command(&["score", "--json", path]).lines().map(super::common::json).collect();
    assert_eq!(scored, json!(lines));
}

#[test]
fn answers_as_opennmt() {
    let server = Served::start(&[]);
    let source = "She sleeps.\n\nThey bought a black hat yesterday.";
    let request = json!([{"src": source, "id": 100}, {"src": "He sings.", "id": 100}]);
    let answer = server.ask("/translator/translate", &request);
    let texts: Vec<String> = ["She sleeps.", "They bought a black hat yesterday.", "He sings."]
        .map(|text| command(&["translate", text]))
        .into();
    let [first, second, third] = [0, 1, 2].map(|index| texts[index].trim_end());
    assert_eq!(answer[0][0]["src"], source);
    assert_eq!(answer[0][0]["tgt"], format!("{first}\n\n{second}"));
    assert_eq!(
        answer[0][0]["align"],
        json!([
            "0-0 1-1",
            "",
            command(&["translate", "--format", "pharaoh", "They bought a black hat yesterday."]).trim_end()
        ])
    );
    assert_eq!((&answer[0][1]["tgt"], &answer[0][1]["n_best"]), (&json!(third), &json!(1)));
    assert!(answer[0][1]["pred_score"].as_f64().unwrap() < 0.0);
    assert_eq!(server.ask("/translator/translate", &json!([])), json!([[]]));
    assert_eq!(server.get("/translator/models").worked(), json!([{"model_id": 0, "model": "en-fr", "loaded": true}]));
    let scores = answer[0][1]["align_score"][0].as_str().unwrap();
    assert!(scores.starts_with("0-0.") && scores.split(' ').count() == 2, "{scores}");
    let by_text = server.ask("/translator/translate", &json!([{"src": "She sleeps.", "id": "100"}]));
    assert_eq!(by_text[0][0]["tgt"], json!(first));
    let mixed = json!([{"src": "a", "id": 0}, {"src": "b", "id": 1}]);
    server.post("/translator/translate", &mixed).refused(400, &["same model"]);
    server.post("/translator/translate", &json!([{"src": "a", "id": "de-en"}])).refused(400, &["en-fr"]);
}

#[test]
fn names_wrong_options() {
    let server = Served::start(&[]);
    let cases = [
        (json!({"text": "a", "beam": 0}), "beam must be between 1 and 1000"),
        (json!({"text": "a", "beam": 1001}), "beam must be between 1 and 1000"),
        (json!({"text": "a", "beem": 3}), "unknown field `beem`"),
        (json!({"text": "a", "temperature": 0.5}), "temperature needs sample"),
        (json!({"text": "a", "model": "de-en"}), "there is: en-fr"),
        (json!({"text": "a", "head": 7}), "head must be between"),
        (json!({"text": "a", "threshold": 2.0}), "threshold must be between"),
        (json!({"text": "a", "links_from": "hmm"}), "links_from must be"),
        (json!({"text": "a", "placeholders": "("}), "placeholders (:"),
        (json!({"text": "a", "prefix": "漢"}), "no tokens for this text"),
        (json!({"text": "a", "require": ["漢"]}), "no tokens for this text"),
        (json!({"text": "a", "require": ["un chat"], "avoid": ["chat"]}), "avoid"),
        (json!({"text": "a", "reverse_model": "/etc"}), "unknown field `reverse_model`"),
        (json!({"text": "a", "length_penalty": -1}), "length_penalty"),
        (json!({"text": "a", "require": [" "]}), "require needs a word"),
        (json!({"text": "a", "sample": true, "require": ["chat"]}), "require needs beam search"),
        (json!({"text": "a", "mbr": 2, "terms": [{"source": "a", "target": "un"}]}), "terms needs beam search"),
        (json!({"text": "a", "sample": true, "mbr": 2}), "omit sample"),
        (json!({"text": 3}), "text: expected a text or a list of texts"),
        (json!({}), "missing field `text`"),
        (json!([]), "not valid"),
    ];
    for (request, part) in cases {
        server.post("/v1/translate", &request).refused(400, &[part]);
    }
    let pairs = json!([{"source": "a", "target": "b"}]);
    server.post("/v1/align", &json!({"pairs": pairs, "links_from": "pairs"})).refused(400, &["command line"]);
    server.post("/v1/align", &json!({"pairs": [{"source": "a"}]})).refused(400, &["target"]);
    server.post("/v1/score", &json!({"pairs": pairs, "beam": 3})).refused(400, &["beam"]);
}

#[test]
fn links_need_a_model_that_supports_them() {
    let dir = TestDir::with_model();
    std::fs::remove_file(dir.path("model/aligner.safetensors")).unwrap();
    let server = Served::start_in(&dir, &["--model", "x=model"]);
    for pairs in [json!([]), json!([{"source": "a", "target": "b"}])] {
        let answer = server.post("/v1/align", &json!({"pairs": pairs, "links_from": "hmm"}));
        answer.refused(400, &["no statistical aligner", "omit"]);
        assert!(!answer.body.contains("pairs") && !answer.body.contains(".safetensors"), "{answer:?}");
        server.ask("/v1/align", &json!({"pairs": pairs}));
    }
}

#[test]
fn describes_itself() {
    let server = Served::start(&[]);
    assert_eq!(server.get("/health").worked(), json!({"status": "ok"}));
    let page = server.get("/");
    assert!(page.status == 200 && page.body.to_lowercase().starts_with("<!doctype html>"), "{page:?}");
    for answer in [&page, &server.get("/nowhere"), &server.get("/docs")] {
        assert!(
            answer.header("content-security-policy").is_some_and(|policy| policy.starts_with("default-src 'none'"))
        );
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    }
    let description = server.get("/v1/models").worked();
    assert_eq!(description["models"][0]["pairs"], json!([{"source": "en", "target": "fr"}]));
    let spec = server.get("/spec").worked();
    let docs = server.get("/docs").body;
    for path in ["/v1/translate", "/translate", "/translator/translate", "/v1/pairs"] {
        assert!(spec["paths"][path]["post"].is_object() && docs.contains(path), "{path}");
    }
    let schema = spec["components"]["schemas"].to_string();
    assert!(schema.contains("coverage_penalty") && schema.contains("link_scores"), "options and answers are described");
    server.ask("/v1/translate", &json!({"text": SENTENCES}));
    let metrics = server.get("/metrics").body;
    assert!(metrics.contains("softalign_sentences_total{model=\"en-fr\"} 5"), "{metrics}");
    assert!(metrics.contains("softalign_requests_total{path=\"/v1/translate\",status=\"200\"} 1"), "{metrics}");
    server.get("/nowhere").refused(404, &["/docs"]);
    server.get("/v1/translate").refused(405, &["another method"]);
    server.send("GET", "/../Cargo.toml", &[], b"").refused(404, &[]);
}

#[test]
fn escaped_markup_of_a_document_stays_text() {
    let server = Served::start(&[]);
    let text = "<p>&lt;日 本&gt; 語 本 &amp; 日</p>";
    let answer = server.ask("/v1/translate", &json!({"text": [text], "markup": "html", "unknown": "copy"}));
    assert_eq!(answer[0]["translation"], text);
}
