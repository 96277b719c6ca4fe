//! JSON lines: an object with both texts on each line, as data sets are distributed: `{"translation": {"en": …, "fr": …}}`,
//! `{"source": …, "target": …}`, or any two keys with texts.

use std::fmt;

use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::bounded_lines::BoundedLines;
use super::file_format::FileFormat;
use super::input::ByteReader;
use super::pair_reader::{FormatError, PairReader};

/// Keys of the two texts, where an object has others too.
const KEYS: [[&str; 2]; 4] = [["source", "target"], ["src", "tgt"], ["src", "trg"], ["source_text", "target_text"]];

/// Key of an object that has a text for each language.
const TRANSLATION: &str = "translation";

/// JSON lines.
pub(super) static JSON_LINES: FileFormat = FileFormat {
    name: "JSON lines",
    extensions: &["jsonl", "ndjson", "json"],
    is_start: is_object,
    pairs: Some(|input, sides| Ok(Box::new(JsonPairs::new(input.into_reader(), sides)))),
    ..FileFormat::UNKNOWN
};

/// True if a file begins with an object that has two texts.
fn is_object(start: &str) -> bool {
    let line = start.lines().next().filter(|line| line.starts_with('{'));
    line.and_then(|line| serde_json::from_str::<Object>(line).ok()).is_some_and(|object| object.keys().is_ok())
}

/// Pairs of a file of JSON lines.
struct JsonPairs {
    lines: BoundedLines,
    /// Keys of source and target, once they are known.
    keys: Option<[String; 2]>,
    /// True if the keys were given.
    given: bool,
}

impl PairReader for JsonPairs {
    fn next_pair(&mut self) -> Result<Option<[String; 2]>, FormatError> {
        let Some(line) = self.lines.next_line()? else { return Ok(None) };
        let number = self.lines.number();
        self.parse(&line).map(Some).map_err(|reason| FormatError::of_pair(number, reason))
    }

    fn languages(&self) -> Option<[String; 2]> {
        self.keys.clone().filter(|keys| !KEYS.iter().any(|known| known == keys))
    }
}

impl JsonPairs {
    fn new(reader: ByteReader, sides: Option<&[String; 2]>) -> Self {
        Self { lines: BoundedLines::new(reader), keys: sides.cloned(), given: sides.is_some() }
    }

    /// Returns the pair of a line; an empty line is a pair of empty texts.
    fn parse(&mut self, line: &str) -> Result<[String; 2], String> {
        if line.trim().is_empty() {
            return Ok([String::new(), String::new()]);
        }
        if line.trim_start().starts_with('[') {
            return Err("a JSON array; write one object per line, as by jq -c '.[]'".to_owned());
        }
        let object: Object = serde_json::from_str(line).map_err(|error| format!("not a JSON object: {error}"))?;
        let keys = match &self.keys {
            Some(keys) => keys.clone(),
            None => object.keys()?,
        };
        let found = [object.text(&keys[0]), object.text(&keys[1])];
        let [Some(source), Some(target)] = found else {
            let missing = if found[0].is_none() { &keys[0] } else { &keys[1] };
            let names = object.names().join(", ");
            return Err(format!("no text is called \"{missing}\"; this object has: {names}"));
        };
        let pair = [source, target].map(|text| text.replace(['\n', '\r', '\t'], " "));
        if !self.given {
            self.keys = Some(keys);
        }
        Ok(pair)
    }
}

/// Entries of an object in their order.
struct Object(Vec<(String, Field)>);

/// Value of an entry.
#[derive(Deserialize)]
#[serde(untagged)]
enum Field {
    Text(String),
    Object(Object),
    Other(IgnoredAny),
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;

        impl<'de> Visitor<'de> for Entries {
            type Value = Object;

            fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Object(entries))
            }
        }

        deserializer.deserialize_map(Entries)
    }
}

impl Object {
    /// Texts with their keys, those of a nested translation in its place.
    fn texts(&self) -> Vec<(&str, &str)> {
        if let Some((_, Field::Object(texts))) = self.0.iter().find(|(key, _)| key == TRANSLATION) {
            return texts.own_texts();
        }
        self.own_texts()
    }

    fn own_texts(&self) -> Vec<(&str, &str)> {
        let mut texts = Vec::new();
        for (key, value) in &self.0 {
            if let Field::Text(text) = value {
                texts.push((&**key, &**text));
            }
        }
        texts
    }

    fn text(&self, key: &str) -> Option<&str> {
        self.texts().into_iter().find(|(name, _)| name.eq_ignore_ascii_case(key)).map(|(_, text)| text)
    }

    fn names(&self) -> Vec<&str> {
        self.texts().into_iter().map(|(key, _)| key).collect()
    }

    /// Returns the keys of both texts: those that are usual, or the only two.
    ///
    /// # Errors
    /// There are others.
    fn keys(&self) -> Result<[String; 2], String> {
        let names = self.names();
        let usual = KEYS.into_iter().find(|keys| keys.iter().all(|key| names.contains(key)));
        match (usual, &names[..]) {
            (Some(keys), _) => Ok(keys.map(str::to_owned)),
            (None, [source, target]) => Ok([source, target].map(|key| (*key).to_owned())),
            (None, []) => Err("no texts in this object; expected such as {\"source\": …, \"target\": …}".to_owned()),
            (None, [one]) => Err(format!("only \"{one}\" is a text here, but a pair has two")),
            (None, names) => {
                let (all, first) = (names.join(", "), names[..2].join(","));
                Err(format!("texts called {all}: choose two, such as --columns {first}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::input::reader_of;
    use super::super::pair_reader::all_pairs;
    use super::*;

    fn reader(text: &str, sides: Option<[&str; 2]>) -> JsonPairs {
        let sides = sides.map(|sides| sides.map(str::to_owned));
        JsonPairs::new(reader_of(text), sides.as_ref())
    }

    fn pairs(text: &str, sides: Option<[&str; 2]>) -> Result<Vec<[String; 2]>, FormatError> {
        all_pairs(&mut reader(text, sides))
    }

    #[test]
    fn reads_the_usual_objects() {
        for text in [
            r#"{"translation": {"en": "the\ncat", "fr": "le chat"}}"#,
            r#"{"id": [1], "translation": {"z": "the cat", "a": "le chat"}}"#,
            r#"{"id": "7", "source": "the cat", "target": "le chat"}"#,
            r#"{"en": "the cat", "id": 3, "fr": "le chat"}"#,
            "\u{feff}{\"src\": \"the\\tcat\", \"tgt\": \"le chat\"}",
        ] {
            assert_eq!(pairs(text, None).unwrap(), [["the cat", "le chat"]], "{text}");
        }
        assert_eq!(pairs("{\"z\": \"a\", \"b\": \"c\"}\n\n", None).unwrap(), [["a", "c"], ["", ""]]);
    }

    #[test]
    fn takes_keys_that_are_named() {
        let text = r#"{"id": "1", "en": "cat", "de": "Katze", "fr": "chat"}"#;
        assert_eq!(pairs(text, Some(["FR", "de"])).unwrap(), [["chat", "Katze"]]);
        let error = pairs(text, None).unwrap_err().reason;
        assert_eq!(error, "texts called id, en, de, fr: choose two, such as --columns id,en");
        let nested = r#"{"translation": {"de": "Katze", "en": "cat", "fr": "chat"}}"#;
        assert_eq!(pairs(nested, Some(["en", "fr"])).unwrap(), [["cat", "chat"]]);
    }

    #[test]
    fn goes_on_after_a_line_that_is_no_pair() {
        let mut reader =
            reader("{\"en\": \"a\", \"fr\": \"b\"}\n{\"en\": \"c\"}\n{\n{\"fr\": \"f\", \"en\": \"e\"}\n", None);
        assert_eq!(reader.next_pair().unwrap().unwrap(), ["a", "b"]);
        assert_eq!(reader.languages(), Some(["en", "fr"].map(str::to_owned)));
        let error = reader.next_pair().unwrap_err();
        assert_eq!((error.line, error.is_last), (2, false));
        assert_eq!(error.reason, "no text is called \"fr\"; this object has: en");
        assert!(reader.next_pair().unwrap_err().reason.starts_with("not a JSON object: "));
        assert_eq!(reader.next_pair().unwrap().unwrap(), ["e", "f"]);
        assert_eq!(reader.next_pair(), Ok(None));
    }

    #[test]
    fn names_an_array() {
        assert!(pairs("[{\"en\": \"a\"}]", None).unwrap_err().reason.contains("jq"));
    }
}
