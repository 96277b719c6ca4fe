//! Self-contained HTML page to explore alignments, without network access.
//!
//! The static parts in `page/` are the same in every file; the pairs are a JSON block that the browser never executes.
//! Weights are whole thousandths, rounded down, so that comparison with a threshold in thousandths gives the links of
//! [`LinkScores::links`]. The Content-Security-Policy allows only the page's own style and script, by their hashes, and the
//! script inserts words as text only: no word can become markup.

mod training_page;

use std::io::{Result, Write};

use serde::Serialize;
use sha2::{Digest, Sha256};

pub use training_page::{AttentionFrame, FramePair, write_training_page};

use super::{Item, Renderer, TokenAlignment};
use crate::alignment::{Alignment, Doubts, Gold, Link, LinkScores};

/// Page template; `{{…}}` marks the other parts.
const TEMPLATE: &str = include_str!("../page/page.html");
const STYLE: &str = include_str!("../page/page.css");
/// Script of the page, which build.rs bundles from the modules that `page/page.js` imports.
const SCRIPT: &str = include_str!(concat!(env!("OUT_DIR"), "/page.js"));

/// Writes the page: the template's head, the pairs as they arrive, then the script.
pub struct Html {
    title: String,
    threshold: f32,
    items: usize,
}

/// Data before the first pair.
#[derive(Serialize)]
struct PageHeader<'a> {
    title: &'a str,
    threshold: u16,
}

/// Pair as the page draws it. Weights and link scores are whole thousandths.
#[derive(Serialize)]
pub struct PairData<'a> {
    id: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    rank: Option<usize>,
    /// Source and target, unless spaces separate their words.
    #[serde(skip_serializing_if = "Option::is_none")]
    texts: Option<[&'a str; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    translation: Option<&'a str>,
    #[serde(flatten)]
    words: MatrixData<'a>,
    /// Log-probability; `null` unless finite.
    score: f64,
    #[serde(flatten)]
    doubts: Option<&'a Doubts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gold: Option<GoldLinks>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<TokenMatrixData<'a>>,
}

#[derive(Serialize)]
struct MatrixData<'a> {
    source: &'a [String],
    target: &'a [String],
    #[serde(flatten)]
    cells: CellData,
}

#[derive(Serialize)]
struct CellData {
    /// `[target × (source + 1)]` in thousandths, row-major; the last column is the source's end.
    weights: Vec<u16>,
    /// Cell indices `target × sources + source`, each followed by its link score in thousandths.
    link_scores: Vec<usize>,
}

#[derive(Serialize)]
struct TokenMatrixData<'a> {
    #[serde(flatten)]
    matrix: MatrixData<'a>,
    source_words: &'a [usize],
    target_words: &'a [usize],
}

/// Links as `[s, t, s, t, …]`; `possible` excludes the sure ones.
#[derive(Serialize)]
struct GoldLinks {
    sure: Vec<usize>,
    possible: Vec<usize>,
}

impl Html {
    /// Creates a page with a title, such as the names of the input files. It opens with the links of `threshold`.
    pub fn new(title: String, threshold: f32) -> Self {
        Self { title, threshold, items: 0 }
    }

    fn begin(&self, out: &mut dyn Write) -> Result<()> {
        out.write_all(page_head().as_bytes())?;
        let data = html_safe_json(&PageHeader { title: &self.title, threshold: thousandths(self.threshold) })?;
        let open = data.strip_suffix('}').unwrap_or(&data);
        write!(out, "{open},\"pairs\":[")
    }
}

impl Renderer for Html {
    fn item(&mut self, out: &mut dyn Write, item: &Item) -> Result<()> {
        if self.items == 0 {
            self.begin(out)?;
        }
        out.write_all(if self.items == 0 { b"\n" } else { b",\n" })?;
        self.items += 1;
        out.write_all(html_safe_json(&PairData::from(item))?.as_bytes())
    }

    fn finish(&mut self, out: &mut dyn Write) -> Result<()> {
        if self.items == 0 {
            self.begin(out)?;
        }
        out.write_all(b"\n]}")?;
        out.write_all(template_halves().1.replace("{{script}}", SCRIPT).as_bytes())
    }
}

impl<'a> From<&Item<'a>> for PairData<'a> {
    fn from(item: &Item<'a>) -> Self {
        let words = [item.alignment.source(), item.alignment.target()];
        let are_spaced = item.texts.iter().zip(words).all(|(text, words)| text.split_whitespace().eq(words));
        Self {
            id: item.id,
            rank: item.rank,
            texts: (!are_spaced).then_some(item.texts),
            translation: item.translation,
            words: MatrixData::new(item.alignment, item.link_scores),
            score: (item.score * 1e4).round() / 1e4,
            doubts: item.doubts,
            gold: item.gold.map(GoldLinks::from),
            tokens: item.tokens.map(TokenMatrixData::from),
        }
    }
}

/// Indices and scores in thousandths of all cells with a positive score.
fn sparse_scores(scores: &LinkScores) -> Vec<usize> {
    let thousandths = scores.values().iter().map(|&score| usize::from(thousandths(score)));
    thousandths.enumerate().filter(|&(_, score)| score > 0).flat_map(|(cell, score)| [cell, score]).collect()
}

impl<'a> MatrixData<'a> {
    fn new(alignment: &'a Alignment, scores: &LinkScores) -> Self {
        Self { source: alignment.source(), target: alignment.target(), cells: CellData::new(alignment, scores) }
    }
}

impl CellData {
    fn new(alignment: &Alignment, scores: &LinkScores) -> Self {
        let mut weights = Vec::with_capacity(alignment.weights().len() + alignment.target().len());
        for (row, &end) in alignment.rows().zip(alignment.end_weights()) {
            weights.extend(row.iter().map(|&weight| thousandths(weight)));
            weights.push(thousandths(end));
        }
        Self { weights, link_scores: sparse_scores(scores) }
    }
}

impl<'a> From<TokenAlignment<'a>> for TokenMatrixData<'a> {
    fn from(tokens: TokenAlignment<'a>) -> Self {
        let matrix = MatrixData::new(tokens.alignment, &LinkScores::from_attention(tokens.alignment));
        Self { matrix, source_words: tokens.source_words, target_words: tokens.target_words }
    }
}

impl From<&Gold> for GoldLinks {
    fn from(gold: &Gold) -> Self {
        Self { sure: flat(gold.sure.iter()), possible: flat(gold.possible.difference(&gold.sure)) }
    }
}

/// Links as `[s, t, s, t, …]`.
fn flat<'a>(links: impl Iterator<Item = &'a Link>) -> Vec<usize> {
    links.flat_map(|link| [link.source, link.target]).collect()
}

/// Weight in whole thousandths, rounded down; 0 for NaN.
fn thousandths(weight: f32) -> u16 {
    (weight * 1000.0).clamp(0.0, 1000.0) as u16
}

/// Page up to its data.
fn page_head() -> String {
    let style = normalize_line_endings(STYLE);
    let policy = format!(
        "default-src 'none'; style-src '{}'; script-src '{}'; base-uri 'none'; form-action 'none'",
        csp_hash(&style),
        csp_hash(SCRIPT)
    );
    template_halves().0.replace("{{policy}}", &policy).replace("{{style}}", &style)
}

/// Template before and after the data.
fn template_halves() -> (&'static str, &'static str) {
    TEMPLATE.split_once("{{data}}").unwrap_or((TEMPLATE, ""))
}

/// JSON with all characters special to HTML or JavaScript escaped; they occur only in strings, where escapes are
/// equivalent.
pub fn html_safe_json(value: &impl Serialize) -> Result<String> {
    let json = serde_json::to_string(value)?;
    let mut text = String::with_capacity(json.len());
    for character in json.chars() {
        match character {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => text.push_str(&format!("\\u{:04x}", u32::from(character))),
            _ => text.push(character),
        }
    }
    Ok(text)
}

/// Normalizes line endings as browsers do before hashing, whatever the checkout has.
pub fn normalize_line_endings(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// Content-Security-Policy hash of an inline style or script: its SHA-256 in base 64.
pub fn csp_hash(text: &str) -> String {
    format!("sha256-{}", base64(&Sha256::digest(text)))
}

/// Bytes as text in base 64.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let bits = (0..3).fold(0, |bits, index| bits << 8 | u32::from(chunk.get(index).copied().unwrap_or(0)));
        for digit in 0..4 {
            let value = (bits >> (18 - 6 * digit)) as usize % 64;
            text.push(if digit <= chunk.len() { char::from(DIGITS[value]) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::samples::{self, words};
    use super::*;
    use crate::alignment::parse_gold_line;

    /// Data block of a page.
    fn data(page: &str) -> &str {
        let (_, rest) = page.split_once("<script type=\"application/json\" id=\"data\">").unwrap();
        rest.split_once("</script>").unwrap().0
    }

    fn page(items: &[Item]) -> String {
        let mut html = Html::new("a & b".to_owned(), 0.4);
        let mut out = Vec::new();
        for item in items {
            html.item(&mut out, item).unwrap();
        }
        html.finish(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn matches_data_snapshot() {
        let text = String::from_utf8(samples::render(&mut Html::new("pairs.tsv".to_owned(), 0.4))).unwrap();
        let expected = r#"{"title":"pairs.tsv","threshold":400,"pairs":[
{"id":0,"source":["the","black","\"cat\""],"target":["le","chat","noir"],"weights":[900,50,20,30,0,250,750,0,4,846,100,50],"link_scores":[0,954,1,34,2,20,4,182,5,825,6,5,7,793,8,141],"score":-0.25},
{"id":1,"texts":["the  black \"cat\"","le chat  noir"],"source":["नमस्ते","世界"],"target":[],"weights":[],"link_scores":[],"score":-0.25}
]}"#;
        assert_eq!(data(&text), expected);
    }

    #[test]
    fn writes_gold_links_and_tokens() {
        let rows = [vec![0.5, 0.25, 0.25], vec![0.125, 0.125, 0.75]];
        let tokens = Alignment::from_rows(words("a b"), words("c d"), &rows);
        let alignment = tokens.merge(words("ab"), &[0, 0], words("c d"), &[0, 1]);
        let gold = parse_gold_line("0-0 0?1").unwrap();
        let scores = LinkScores::from_attention(&alignment);
        let item = Item {
            rank: Some(2),
            translation: Some("c d"),
            gold: Some(&gold),
            texts: ["ab", "c d"],
            tokens: Some(TokenAlignment { alignment: &tokens, source_words: &[0, 0], target_words: &[0, 1] }),
            ..samples::item(7, &alignment, &scores, &[])
        };
        let expected = r#"{"title":"a \u0026 b","threshold":400,"pairs":[
{"id":7,"rank":2,"translation":"c d","source":["ab"],"target":["c","d"],"weights":[750,250,250,750],"link_scores":[0,919,1,568],"score":-0.25,"gold":{"sure":[0,0],"possible":[0,1]},"tokens":{"source":["a","b"],"target":["c","d"],"weights":[500,250,250,125,125,750],"link_scores":[0,582,1,461,2,222,3,351],"source_words":[0,0],"target_words":[0,1]}}
]}"#;
        assert_eq!(data(&page(&[item])), expected);
    }

    #[test]
    fn escapes_markup_in_words() {
        let hostile = [
            "</script><script>alert(1)</script>",
            "<!--<script>",
            "<img src=x onerror=alert(1)>",
            "a\u{2028}b&lt;\u{2029}",
        ];
        let source: Vec<String> = hostile.map(str::to_owned).to_vec();
        let alignment = Alignment::from_rows(source.clone(), vec![], &[]);
        let empty = page(&[]);
        let scores = LinkScores::from_attention(&alignment);
        let item = Item { translation: Some(hostile[0]), ..samples::item(0, &alignment, &scores, &[]) };
        let page = page(&[item]);
        let data = data(&page);
        assert!(!data.contains(['<', '>', '&', '\u{2028}', '\u{2029}']), "{data}");
        assert_eq!(page.matches('<').count(), empty.matches('<').count());
        let read: serde_json::Value = serde_json::from_str(data).unwrap();
        assert_eq!(read["pairs"][0]["source"], serde_json::json!(source));
        assert_eq!(read["pairs"][0]["translation"], hostile[0]);
    }

    #[test]
    fn writes_non_finite_values_as_valid_json() {
        let alignment = Alignment::from_rows(words("a"), words("b"), &[vec![f32::NAN, f32::INFINITY]]);
        let scores = LinkScores::from_attention(&alignment);
        let item = Item { score: f64::NEG_INFINITY, ..samples::item(0, &alignment, &scores, &[]) };
        let page = page(&[item]);
        let read: serde_json::Value = serde_json::from_str(data(&page)).unwrap();
        assert_eq!(read["pairs"][0]["weights"], serde_json::json!([0, 1000]));
        assert!(read["pairs"][0]["score"].is_null());
    }

    #[test]
    fn thousandths_preserve_links_at_a_threshold() {
        let row: Vec<f32> = (0..=1000).map(|step| step as f32 / 1000.0 + 0.0004).collect();
        for threshold in [1u16, 125, 333, 400, 999] {
            let limit = f32::from(threshold) / 1000.0;
            assert!(row.iter().all(|&weight| (weight >= limit) == (thousandths(weight) >= threshold)), "{threshold}");
        }
    }

    #[test]
    fn writes_a_complete_page_without_pairs() {
        let page = page(&[]);
        assert_eq!(data(&page), "{\"title\":\"a \\u0026 b\",\"threshold\":400,\"pairs\":[\n]}");
        assert!(page.ends_with("</html>\n"));
        assert!(!page.contains("{{"), "every placeholder is filled");
    }

    #[test]
    fn policy_matches_hashes_of_style_and_script() {
        let page = page(&[]);
        for (start, end, kind) in
            [("<style>", "</style>", "style-src"), ("<script type=\"module\">", "</script>", "script-src")]
        {
            let (_, rest) = page.split_once(start).unwrap();
            let (text, _) = rest.split_once(end).unwrap();
            assert!(page.contains(&format!("{kind} '{}'", csp_hash(text))), "{kind}");
        }
        let addresses = page.replace("http://www.w3.org/2000/svg", "").matches("://").count();
        assert!(addresses == 0 && !page.contains("innerHTML"));
    }

    #[test]
    fn pads_base_64() {
        let written = ["", "f", "fo", "foo", "foob"].map(|text| base64(text.as_bytes()));
        assert_eq!(written, ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg=="]);
    }
}
