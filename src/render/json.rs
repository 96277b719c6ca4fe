//! JSON: an array of one object per sentence, or JSON Lines.
//!
//! Rows of `attention` are target words, columns source words; each row and its entry of `eos`, the weight on the source's
//! end of sentence, sum to 1.

use std::io::{Result, Write};

use serde::Serialize;

use super::{Item, Renderer};
use crate::alignment::{Doubts, QualityEstimate};

/// Schema version of JSON results. It increases when a key changes its meaning or is removed; keys may be added anytime.
pub const SCHEMA: u32 = 1;

/// Renders one object per sentence, in an array or as JSON Lines.
#[derive(Default)]
pub struct Json {
    items: usize,
    lines: bool,
    omits_attention: bool,
}

impl Json {
    /// Creates a renderer of JSON Lines.
    pub fn lines() -> Self {
        Self { lines: true, ..Self::default() }
    }

    /// Sets whether the objects have attention weights; by default they do.
    #[must_use]
    pub fn with_attention(self, has_attention: bool) -> Self {
        Self { omits_attention: !has_attention, ..self }
    }
}

/// Object of a sentence or a pair.
#[derive(Serialize)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "serve", schema(as = Alignment))]
pub struct JsonItem<'a> {
    /// Version of the schema.
    schema: u32,
    /// Position in the request or the input, from 0.
    id: usize,
    /// Rank among the translations of a sentence, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    rank: Option<usize>,
    /// Translation; absent if the target was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    translation: Option<&'a str>,
    /// Source text.
    source_text: &'a str,
    /// Target text; absent if it is the translation.
    #[serde(skip_serializing_if = "Option::is_none")]
    target_text: Option<&'a str>,
    /// Source words.
    source: &'a [String],
    /// Target words.
    target: &'a [String],
    /// Attention weights: a row for each target word, a column for each source word.
    #[serde(skip_serializing_if = "Option::is_none")]
    attention: Option<Vec<&'a [f32]>>,
    /// Weight on the source's end of sentence for each target word.
    #[serde(skip_serializing_if = "Option::is_none")]
    eos: Option<&'a [f32]>,
    /// Links: index of the source word, index of the target word.
    links: Vec<[usize; 2]>,
    /// Score of each link.
    link_scores: Vec<f32>,
    /// Score of the translation, or mean log-probability of a target token.
    score: f64,
    /// Share of source tokens that are unknown to the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    unknown: Option<f64>,
    /// Estimated quality of the translation, if the model is calibrated.
    #[serde(flatten)]
    estimate: Option<&'a QualityEstimate>,
    /// Reasons to doubt the translation.
    #[serde(flatten)]
    doubts: Option<&'a Doubts>,
}

/// Object of an input line that could not be read.
#[derive(Serialize)]
pub struct JsonError<'a> {
    schema: u32,
    id: usize,
    error: &'a str,
}

impl<'a> JsonError<'a> {
    /// Returns the object of line `id`, from 0.
    pub fn new(id: usize, error: &'a str) -> Self {
        Self { schema: SCHEMA, id, error }
    }
}

impl<'a> From<&Item<'a>> for JsonItem<'a> {
    fn from(item: &Item<'a>) -> Self {
        let [source_text, target_text] = item.texts;
        Self {
            schema: SCHEMA,
            id: item.id,
            rank: item.rank,
            translation: item.translation,
            source_text,
            target_text: item.translation.is_none().then_some(target_text),
            source: item.alignment.source(),
            target: item.alignment.target(),
            attention: Some(item.alignment.rows().collect()),
            eos: Some(item.alignment.end_weights()),
            links: item.links.iter().map(|link| [link.source, link.target]).collect(),
            link_scores: item.links.iter().map(|link| item.link_scores.score(*link)).collect(),
            score: item.score,
            unknown: item.unknown,
            estimate: item.estimate,
            doubts: item.doubts,
        }
    }
}

impl Renderer for Json {
    fn item(&mut self, out: &mut dyn Write, item: &Item) -> Result<()> {
        if !self.lines {
            out.write_all(if self.items == 0 { b"[\n" } else { b",\n" })?;
        }
        self.items += 1;
        match item.error {
            Some(error) => serde_json::to_writer(&mut *out, &JsonError::new(item.id, error))?,
            None if self.omits_attention => {
                serde_json::to_writer(&mut *out, &JsonItem { attention: None, eos: None, ..JsonItem::from(item) })?;
            }
            None => serde_json::to_writer(&mut *out, &JsonItem::from(item))?,
        }
        if self.lines { out.write_all(b"\n") } else { Ok(()) }
    }

    fn finish(&mut self, out: &mut dyn Write) -> Result<()> {
        if self.lines {
            return Ok(());
        }
        out.write_all(if self.items == 0 { b"[]\n" } else { b"\n]\n" })
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;

    #[test]
    fn matches_snapshot() {
        let text = String::from_utf8(samples::render(&mut Json::default())).unwrap();
        let expected = r#"[
{"schema":1,"id":0,"source_text":"the  black \"cat\"","target_text":"le chat  noir","source":["the","black","\"cat\""],"target":["le","chat","noir"],"attention":[[0.9,0.05,0.02],[0.0,0.25,0.75],[0.004,0.846,0.1]],"eos":[0.03,0.0,0.05],"links":[[0,0],[1,2],[2,1]],"link_scores":[0.9546858,0.7939467,0.82546103],"score":-0.25},
{"schema":1,"id":1,"source_text":"the  black \"cat\"","target_text":"le chat  noir","source":["नमस्ते","世界"],"target":[],"attention":[],"eos":[],"links":[],"link_scores":[],"score":-0.25}
]
"#;
        assert_eq!(text, expected);
    }

    #[test]
    fn json_lines_have_the_same_objects() {
        let array = String::from_utf8(samples::render(&mut Json::default())).unwrap();
        let lines = String::from_utf8(samples::render(&mut Json::lines())).unwrap();
        let objects = array.strip_prefix("[\n").unwrap().strip_suffix("\n]\n").unwrap();
        assert_eq!(lines, objects.replace("},\n{", "}\n{") + "\n");
    }

    #[test]
    fn writes_an_empty_array_without_items() {
        let mut out = Vec::new();
        Json::default().finish(&mut out).unwrap();
        assert_eq!(out, b"[]\n");
    }
}
