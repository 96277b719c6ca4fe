//! `softalign export`: a translator in one HTML file, which works without a server and a network.
//!
//! The page is that of the server; behind it stands an engine in JavaScript (`engine/`), whose files and names mirror those of
//! `text`, `model/reference`, `search` and `translator`. The model is a block of compressed bytes (`payload.rs`) in base 128.

mod base128;
mod payload;
mod weights;

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Result, ensure};
use candle_core::Device;
use serde::Serialize;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::aligner::{SerializedAligner, WordAligner};
use crate::attention::AttentionConfig;
use crate::checkpoint::{Checkpoint, ModelDir};
use crate::error::UsageError;
use crate::model::TokenLexicon;
use crate::parameters::Parameters;
use crate::render::{csp_hash, html_safe_json, normalize_line_endings};
use crate::text::Vocabulary;
use base128::base128;
use payload::Payload;
use weights::{add_parameter, add_probabilities};

pub use weights::WeightFormat;

/// Version of the model's format in a page.
const FORMAT: u32 = 1;
/// The server's page, which has the same elements.
const PAGE: &str = include_str!("../serve/page/index.html");
const STYLE: &str = concat!(
    include_str!("../render/page/page.css"),
    include_str!("../serve/page/serve.css"),
    include_str!("page/export.css")
);
/// Body of the page for translating alone, which has the same head.
const PLAIN_BODY: &str = include_str!("page/plain.html");
const PLAIN_STYLE: &str = include_str!("page/plain.css");
// build.rs bundles the scripts from their modules.
const SCRIPT: &str = include_str!(concat!(env!("OUT_DIR"), "/export.js"));
const PLAIN_SCRIPT: &str = include_str!(concat!(env!("OUT_DIR"), "/plain.js"));
const ENGINE: &str = include_str!(concat!(env!("OUT_DIR"), "/engine.js"));

/// Parts of the server's page and what takes their places.
const REPLACED: [(&str, &str); 3] = [
    (" The addresses at <a href=\"docs\">docs</a> work without it.", ""),
    (
        "<main>\n  <section class=\"panes\"",
        "<main>\n  <p class=\"hint\" id=\"intro\">Type a sentence: this page translates it, without a network. The lines show which words \
         of the sentence each word of the translation comes from; the thicker a line, the surer it is.</p>\n  <section class=\"panes\"",
    ),
    (
        "<footer><p>Everything happens on this machine. Programs use the <a href=\"docs\">APIs of this server</a>.</p></footer>",
        "<section id=\"about\" aria-label=\"About this translator\" hidden></section>\n<footer><p>The translator is in this file. \
         It needs no network, and nothing that you type leaves your device.</p></footer>",
    ),
];

/// Settings of a model's architecture and text that the engine knows.
const ARCHITECTURE: [&str; 11] = [
    "source_vocabulary",
    "target_vocabulary",
    "embedding_size",
    "hidden_size",
    "attention_size",
    "layers",
    "tied_output",
    "initial_state",
    "lexicon",
    "decoder",
    "attention",
];
const TEXT: [&str; 10] = [
    "normalization",
    "source_tokenization",
    "target_tokenization",
    "source_protected_tokens",
    "target_protected_tokens",
    "sentences",
    "truecaser",
    "copied",
    "joint_vocabulary",
    "max_length",
];

/// Page around the translator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum PageKind {
    /// The page of serve: links, matrix, steps, beam.
    #[default]
    Full,
    /// Text in, text out, in large letters; links of a word on touch.
    Plain,
}

/// Options of an exported page.
#[derive(Clone, Debug, Default)]
pub struct ExportOptions {
    /// Title of the page; by default the languages, or the name of the directory.
    pub title: Option<String>,
    /// Text about the translator in Markdown.
    pub about: Option<String>,
    /// Page around the translator.
    pub page: PageKind,
    /// Format of the weights.
    pub weights: WeightFormat,
}

/// Returns the page of the model in a directory.
///
/// # Errors
/// The model cannot be read, or has a part that the engine does not know.
pub fn exported_page(path: &Path, options: &ExportOptions) -> Result<String> {
    let dir = ModelDir::new(path);
    let (checkpoint, parameters) = dir.load_model(&Device::Cpu)?;
    let lexicon = dir.load_lexicon(&checkpoint)?;
    let aligner = dir.load_aligner(&checkpoint)?;
    let mut payload = Payload::default();
    add_parameters(&mut payload, &parameters, options.weights)?;
    if let Some(lexicon) = &lexicon {
        add_lexicon(&mut payload, lexicon, options.weights);
    }
    let mut header = header(path, &checkpoint)?;
    if let Some(aligner) = &aligner {
        header.insert("aligner".to_owned(), add_aligner(&mut payload, aligner, options.weights));
    }
    let title = options.title.clone().unwrap_or_else(|| default_title(path, &checkpoint));
    Ok(page(&title, &payload.compressed(header)?, options))
}

/// The languages, or the name of the directory.
fn default_title(path: &Path, checkpoint: &Checkpoint) -> String {
    match &checkpoint.config.data.languages {
        Some(languages) => languages.to_string(),
        None => path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned()),
    }
}

/// Entries of the header that describe the model and its texts.
fn header(path: &Path, checkpoint: &Checkpoint) -> Result<Map<String, Value>> {
    let Checkpoint { config, source, target, .. } = checkpoint;
    let architecture = known(path, "architecture", &config.architecture, &ARCHITECTURE)?;
    let text = known(path, "text", &config.text, &TEXT)?;
    let AttentionConfig { heads, .. } = config.architecture.attention;
    let entries = json!({
        "format": FORMAT,
        "name": default_title(path, checkpoint),
        "architecture": architecture,
        "attention": config.architecture.attention.to_string(),
        "fixed": config.architecture.attention.is_fixed(),
        "heads": heads,
        "text": text,
        "confidence": config.confidence,
        "length_ratio": config.data.length_ratio,
        "vocabularies": [vocabulary(source), vocabulary(target)],
    });
    Ok(match entries {
        Value::Object(entries) => entries,
        _ => Map::new(),
    })
}

/// Returns settings as JSON; refuses those that the engine does not know.
fn known(path: &Path, part: &str, settings: &impl Serialize, names: &[&str]) -> Result<Value> {
    let settings = serde_json::to_value(settings)?;
    let unknown =
        settings.as_object().and_then(|settings| settings.keys().find(|name| !names.contains(&name.as_str())));
    if let Some(name) = unknown {
        return Err(UsageError::new(format!(
            "{}: cannot export this model: its page would not know \"{name}\" ({part} in config.json)",
            path.display()
        ))
        .into());
    }
    Ok(settings)
}

/// Tokens, merges and rules of a vocabulary, the characters of HTML references by their names, and the characters that it reads as
/// others: one string of pairs, each character followed by what is read and a line break.
fn vocabulary(vocabulary: &Vocabulary) -> Value {
    let mut replacements = String::new();
    let known = vocabulary.known_characters();
    for (character, read) in known.replacements() {
        replacements.push(character);
        replacements.push_str(&read);
        replacements.push('\n');
    }
    json!({
        "tokens": vocabulary.tokens(),
        "merges": vocabulary.merge_pairs(),
        "pattern": vocabulary.pattern(),
        "replacements": replacements,
        "references": known.named_references().into_iter().collect::<BTreeMap<&str, char>>(),
    })
}

fn add_parameters(payload: &mut Payload, parameters: &Parameters, format: WeightFormat) -> Result<()> {
    for (name, tensor) in parameters.iter() {
        let values = tensor.flatten_all()?.to_vec1::<f32>()?;
        ensure!(tensor.rank() <= 2, "{name} has more than two dimensions");
        add_parameter(payload, name, tensor.dims(), &values, format);
    }
    Ok(())
}

fn add_lexicon(payload: &mut Payload, lexicon: &TokenLexicon, format: WeightFormat) {
    let (links, probabilities) = lexicon.links();
    let rows = [("lexicon", links)].into_iter().chain(lexicon.unlinked().map(|rows| ("lexicon.unlinked", rows)));
    for (name, rows) in rows {
        payload.add(format!("{name}.starts"), "u32", &[rows.starts.len()], &rows.starts);
        payload.add(format!("{name}.tokens"), "u32", &[rows.tokens.len()], &rows.tokens);
    }
    add_probabilities(payload, "lexicon.probabilities", probabilities, format);
}

/// Adds the aligner's arrays, and returns its words.
fn add_aligner(payload: &mut Payload, aligner: &WordAligner, format: WeightFormat) -> Value {
    let SerializedAligner { form, words, entries, translations, null, counts, jumps } = aligner.to_serialized();
    for side in 0..2 {
        payload.add(format!("aligner.entries.{side}"), "u32", &[entries[side].len()], &entries[side]);
        add_probabilities(payload, &format!("aligner.translations.{side}"), &translations[side], format);
        add_probabilities(payload, &format!("aligner.null.{side}"), &null[side], format);
        payload.add(format!("aligner.counts.{side}"), "u32", &[counts[side].len()], &counts[side]);
        payload.add(format!("aligner.jumps.{side}"), "f64", &[jumps[side].len()], &jumps[side]);
    }
    json!({ "form": form, "words": words })
}

/// Returns the page around a compressed model.
fn page(title: &str, model: &[u8], options: &ExportOptions) -> String {
    let head = PAGE.find("<body").map_or(PAGE, |body| &PAGE[..body]);
    let (template, style, script) = match options.page {
        PageKind::Full => (PAGE.to_owned(), STYLE, SCRIPT),
        PageKind::Plain => (format!("{head}{PLAIN_BODY}"), PLAIN_STYLE, PLAIN_SCRIPT),
    };
    let [style, script, engine] = [style, script, ENGINE].map(normalize_line_endings);
    let policy = format!(
        "default-src 'none'; style-src '{}'; script-src '{}' '{}' blob:; worker-src blob:; img-src data:; base-uri 'none'; form-action 'none'",
        csp_hash(&style),
        csp_hash(&script),
        csp_hash(&engine)
    );
    let facts = json!({ "title": title, "about": options.about });
    let facts = html_safe_json(&facts).unwrap_or_default();
    let digest: String = Sha256::digest(model).iter().map(|byte| format!("{byte:02x}")).collect();
    let head = format!(
        "<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n<style>{style}</style>\n\
         <script type=\"module\">{script}</script>"
    );
    let data = format!(
        "<script type=\"application/json\" id=\"facts\">{facts}</script>\n\
         <script type=\"text/plain\" id=\"engine\">{engine}</script>\n\
         <script type=\"text/plain\" id=\"packed-model\" data-digest=\"{digest}\">{}</script>\n</body>",
        base128(model)
    );
    let linked = "<link rel=\"stylesheet\" href=\"page.css\">\n<script type=\"module\" src=\"page.js\"></script>";
    let mut page = normalize_line_endings(&template);
    for (old, new) in REPLACED.into_iter().chain([(linked, head.as_str()), ("</body>", data.as_str())]) {
        page = page.replace(old, new);
    }
    page
}
