//! Messages of errors, which speak of fields of requests, not of options of the command or types of the program.

use serde_json::{Value, json};

use super::client::Served;
use super::common::model_path;

/// Terms that only this program's developers and users of its command know.
const INTERNAL: [&str; 14] = [
    "--", "struct ", "enum ", "untagged", "usize", "u64", "u32", "f64", "f32", "sequence", "::", "Some(", "visitor",
    "variant",
];

#[track_caller]
fn assert_speaks_of_fields(server: &Served, path: &str, request: &str, part: &str) {
    let answer = server.send("POST", path, &[("Content-Type", "application/json")], request.as_bytes());
    let shown: String = request.chars().take(200).collect();
    assert!((400..500).contains(&answer.status), "{path} {shown}: {answer:?}");
    let error = super::common::json(&answer.body)["error"].as_str().expect("an error has a text").to_owned();
    assert!(error.contains(part), "{path} {shown}: {part:?} is missing: {error}");
    for term in INTERNAL {
        // The name of the kind "unknown variant" is JSON's too.
        let error = error.replace("unknown variant", "");
        assert!(!error.contains(term), "{path} {shown}: {term:?}: {error}");
    }
    assert!(!error.contains('\n'), "{error:?}");
}

/// Values of every type of JSON.
fn values() -> [Value; 9] {
    [json!(null), json!(true), json!(-1), json!(1.5), json!(1e300), json!("x"), json!([]), json!([1]), json!({"a": 1})]
}

/// Properties of a schema and of those that it is made of.
fn properties(spec: &Value, schema: &Value, found: &mut Vec<String>) {
    if let Some(name) = schema["$ref"].as_str() {
        return properties(spec, &spec["components"]["schemas"][name.rsplit('/').next().unwrap()], found);
    }
    found.extend(schema["properties"].as_object().into_iter().flat_map(|all| all.keys().cloned()));
    for part in schema["allOf"].as_array().into_iter().flatten() {
        properties(spec, part, found);
    }
}

#[test]
fn wrong_values_of_every_field_are_named_in_terms_of_json() {
    let server = Served::start(&[]);
    let spec = server.get("/spec").worked();
    let pairs = json!([{"source": "a", "target": "b"}]);
    let requests = [
        ("/v1/translate", json!({"text": "a"})),
        ("/v1/align", json!({"pairs": pairs})),
        ("/v1/score", json!({"pairs": pairs})),
        ("/v1/steps", json!({"text": "a"})),
        ("/v1/pairs", json!({"source": "a", "target": "b"})),
        ("/translate", json!({"q": "a", "source": "en", "target": "fr"})),
        ("/detect", json!({"q": "a"})),
        ("/suggest", json!({"q": "a", "s": "b", "source": "en", "target": "fr"})),
    ];
    let mut tried = 0;
    for (path, base) in requests {
        let schema = &spec["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"];
        let mut fields = Vec::new();
        properties(&spec, schema, &mut fields);
        assert!(fields.len() >= base.as_object().unwrap().len(), "{path}: {fields:?}");
        for field in fields {
            for value in values() {
                let mut request = base.clone();
                request[&field] = value.clone();
                let answer = server.post(path, &request);
                assert!(answer.status < 500, "{path} {request}: {answer:?}");
                if answer.status >= 400 {
                    let of_type =
                        ["invalid type", "invalid value", "expected"].iter().any(|part| answer.body.contains(part));
                    assert_speaks_of_fields(&server, path, &request.to_string(), if of_type { &field } else { "" });
                    tried += 1;
                }
            }
        }
        for value in values() {
            assert_speaks_of_fields(&server, path, &value.to_string(), "");
        }
    }
    assert!(tried > 200, "{tried}");
}

#[test]
fn options_that_contradict_each_other_are_fields() {
    let server = Served::start(&["--model", &format!("toy={}", model_path()), "--char-limit", "500"]);
    let long = "a".repeat(501);
    for (path, request, part) in [
        ("/v1/translate", json!({"text": "a", "beam": 0}), "beam must be between 1 and 1000"),
        ("/v1/translate", json!({"text": "a", "temperature": 0.5}), "temperature needs sample"),
        ("/v1/translate", json!({"text": "a", "top_k": 5}), "top_k"),
        ("/v1/translate", json!({"text": "a", "sample": true, "mbr": 2}), "omit sample"),
        ("/v1/translate", json!({"text": "a", "mbr": 0}), "mbr"),
        ("/v1/translate", json!({"text": "a", "n_best": 0}), "n_best"),
        ("/v1/translate", json!({"text": "a", "length_penalty": -1}), "length_penalty"),
        ("/v1/translate", json!({"text": "a", "coverage_penalty": -1}), "coverage_penalty"),
        ("/v1/translate", json!({"text": "a", "length_factor": 101}), "length_factor"),
        ("/v1/translate", json!({"text": "a", "sample": true, "require": ["chat"]}), "require needs beam search"),
        ("/v1/translate", json!({"text": "a", "mbr": 2, "terms": [{"source": "a", "target": "un"}]}), "terms needs"),
        ("/v1/translate", json!({"text": "a", "require": ["un chat"], "avoid": ["chat"]}), "avoid"),
        ("/v1/translate", json!({"text": "a", "require": [" "]}), "require needs a word"),
        ("/v1/translate", json!({"text": "a", "avoid": [""]}), "avoid"),
        ("/v1/translate", json!({"text": "a", "avoid": vec!["x"; 257]}), "avoid can have 256"),
        ("/v1/translate", json!({"text": "a", "prefix": "\u{6f22}"}), "prefix"),
        (
            "/v1/translate",
            json!({"text": "a", "terms": [{"source": "a", "target": "a".repeat(300)}]}),
            "terms: a translation",
        ),
        ("/v1/translate", json!({"text": "a", "terms": [{"source": "a"}]}), "terms: missing field `target`"),
        ("/v1/translate", json!({"text": "a", "placeholders": "("}), "placeholders (:"),
        ("/v1/translate", json!({"text": "a", "threshold": 2.0}), "threshold must be between"),
        ("/v1/translate", json!({"text": "a", "attention_temperature": 0}), "attention_temperature"),
        ("/v1/translate", json!({"text": "a", "head": 7}), "head must be between"),
        ("/v1/translate", json!({"text": "a", "links_from": "hmm"}), "links_from must be"),
        ("/v1/translate", json!({"text": "a", "links_from": "pairs"}), "links_from"),
        ("/v1/translate", json!({"text": "a", "markup": "rtf"}), "markup"),
        ("/v1/translate", json!({"text": "a", "model": "none"}), "model"),
        ("/v1/translate", json!({"text": "a", "beem": 3}), "`beem`"),
        ("/v1/translate", json!({"text": [1]}), "text: expected a text or a list of texts"),
        ("/v1/translate", json!({"text": long}), "500 characters"),
        ("/v1/align", json!({"pairs": [{"source": "a", "target": 1}]}), "pairs[0].target"),
        ("/v1/align", json!({"pairs": [], "symmetrize": "union", "direction": "forward"}), "direction"),
        ("/v1/align", json!({"pairs": [], "model": "toy", "links_from": "pairs"}), "links_from pairs"),
        ("/v1/steps", json!({"text": "a", "sample": true}), "sample"),
        ("/v1/steps", json!({"text": "a", "beam": 21}), "beam"),
        ("/v1/steps", json!({"text": "a", "intervention": {"step": 0, "weights": [[1.0]]}}), "attention weights"),
        ("/translate", json!({"q": 1, "source": "en", "target": "fr"}), "q: expected a text or a list of texts"),
        (
            "/translate",
            json!({"q": "a", "source": "en", "target": "fr", "alternatives": "many"}),
            "alternatives: expected",
        ),
        ("/translate", json!({"q": "a", "source": "en", "target": "fr", "alternatives": -1}), "alternatives: expected"),
        ("/translate", json!({"q": "a", "source": "en", "target": "fr", "format": "pdf"}), "format"),
        ("/suggest", json!({"q": "a", "s": "b", "source": "en", "target": "fr"}), "disabled"),
        ("/v1/pairs", json!({"source": "a", "target": "b"}), "does not collect"),
        ("/translator/translate", json!([{"src": 1}]), "[0].src"),
        (
            "/translator/translate",
            json!([{"src": "a", "id": 1.5}]),
            "[0].id: expected the number or the name of a model",
        ),
        ("/translator/translate", json!({"src": "a"}), "expected a list"),
    ] {
        assert_speaks_of_fields(&server, path, &request.to_string(), part);
    }
}
