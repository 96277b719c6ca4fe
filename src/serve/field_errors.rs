//! Errors in the fields of requests, in the terms of JSON and by the names of the fields.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Maximum number of fields among which a wrong one is looked for.
const MAX_FIELDS: usize = 64;
/// Maximum bytes of fields among which a wrong one is looked for.
const MAX_SEARCHED: usize = 64 * 1024;

/// Terms of Rust in the expectations of errors, and those of JSON.
const TERMS: [(&str, &str); 16] = [
    ("a sequence", "a list"),
    ("sequence", "a list"),
    ("a map", "an object"),
    ("a string", "a text"),
    ("string or map", "a text"),
    ("a boolean", "true or false"),
    ("usize", "a whole number of at least 0"),
    ("u64", "a whole number of at least 0"),
    ("u32", "a whole number of at least 0"),
    ("u16", "a whole number of at least 0"),
    ("u8", "a whole number of at least 0"),
    ("i64", "a whole number"),
    ("i32", "a whole number"),
    ("f64", "a number"),
    ("f32", "a number"),
    ("unit", "null"),
];

/// Parses a body in JSON.
///
/// # Errors
/// A description of what is wrong, which names the field.
pub fn parse_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    serde_json::from_slice(bytes).map_err(|reason| match serde_json::from_slice::<Value>(bytes) {
        // A value drops repeated fields.
        Ok(value) => parse_value::<T>(value).err().unwrap_or_else(|| reason.to_string()),
        Err(_) => format!("the JSON is not valid: {reason}"),
    })
}

/// Parses fields.
///
/// # Errors
/// A description of what is wrong, which names the field.
pub fn parse_fields<T: DeserializeOwned>(fields: Map<String, Value>) -> Result<T, String> {
    parse_value(Value::Object(fields))
}

fn parse_value<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_path_to_error::deserialize(&value).map_err(|error| {
        let path = error.path().to_string();
        let reason = in_terms_of_json(&error.into_inner().to_string());
        match path.as_str() {
            "." | "?" if reason.starts_with("unknown field") => reason,
            // The place of an error in options, which are parsed once all fields are read, is not known.
            "." | "?" => match Some(value).filter(is_small).and_then(find_wrong::<T>) {
                Some(field) => format!("{field}: {reason}"),
                None if reason.starts_with("missing field") => reason,
                None => format!("the request is not valid: {reason}"),
            },
            path => format!("{path}: {reason}"),
        }
    })
}

/// True if the time to look for a wrong field is short.
fn is_small(value: &Value) -> bool {
    value.to_string().len() <= MAX_SEARCHED
}

/// Finds the field without which the others are valid, or wrong in another way.
fn find_wrong<T: DeserializeOwned>(mut fields: Value) -> Option<String> {
    let reason = T::deserialize(&fields).err()?.to_string();
    let names: Vec<String> = fields.as_object()?.keys().take(MAX_FIELDS).cloned().collect();
    for name in names {
        let value = fields.as_object_mut()?.remove(&name)?;
        match T::deserialize(&fields).err().map(|error| error.to_string()) {
            Some(other) if other == reason || other.starts_with("missing field") => {}
            _ => return Some(name),
        }
        fields.as_object_mut()?.insert(name, value);
    }
    None
}

/// Replaces the types of Rust in an error of the parser.
fn in_terms_of_json(reason: &str) -> String {
    let Some((found, expected)) = reason.rsplit_once(", expected ") else { return reason.to_owned() };
    let expected = match TERMS.iter().find(|(rust, _)| *rust == expected) {
        Some((_, json)) => json,
        None if expected.starts_with("struct ") => "an object",
        None if expected.starts_with("enum ") => "a text",
        None => expected,
    };
    let found = match found.strip_prefix("invalid type: ") {
        Some("sequence") => "invalid type: list",
        Some("map") => "invalid type: object",
        Some("unit value" | "Option value") => "invalid type: null",
        _ => found,
    };
    format!("{found}, expected {expected}")
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[test]
    fn errors_name_fields_in_terms_of_json() {
        #[derive(Debug, Deserialize)]
        struct Options {
            #[expect(dead_code)]
            beam: Option<usize>,
        }
        #[derive(Debug, Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Request {
            #[expect(dead_code)]
            text: String,
            #[serde(flatten)]
            _options: Options,
        }
        for (json, message) in [
            (
                r#"{"text": "a", "beam": "b"}"#,
                "beam: invalid type: string \"b\", expected a whole number of at least 0",
            ),
            (
                r#"{"text": "a", "beam": -1}"#,
                "beam: invalid value: integer `-1`, expected a whole number of at least 0",
            ),
            (r#"{"text": ["a"]}"#, "text: invalid type: list, expected a text"),
            (r#"{"beam": 1}"#, "missing field `text`"),
            ("[]", "the request is not valid: invalid type: list, expected an object"),
            (r#"{"text": "a", "text": "b"}"#, "duplicate field `text` at line 1 column 20"),
            ("{", "the JSON is not valid: EOF while parsing an object at line 1 column 1"),
        ] {
            assert_eq!(parse_json::<Request>(json.as_bytes()).unwrap_err(), message);
        }
        let fields = Map::from_iter([("text".to_owned(), "a".into()), ("beam".to_owned(), "b".into())]);
        assert!(parse_fields::<Request>(fields).unwrap_err().starts_with("beam: "));
    }
}
