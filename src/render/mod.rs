//! Output formats of alignments, line charts and TensorBoard events: one file per format, data in, bytes out.

mod bidi;
mod escape;
mod figure;
mod format;
mod heatmap;
mod html;
mod json;
mod nematus;
mod npz;
mod numbers;
mod pair_lists;
mod pharaoh;
mod shading;
mod svg;
mod tensorboard;
mod tmx;
mod tsv;

use std::io::{Result, Write};

pub use escape::{escape_controls, escape_controls_by_line, table_cell};
pub use figure::{Axis, Bracket, BracketCounts, Figure, Mark, Scale, Series, write_stacked};
pub use format::{AlignmentFormat, RenderOptions};
pub use heatmap::Heatmap;
pub use html::{
    AttentionFrame, FramePair, Html, PairData, csp_hash, html_safe_json, normalize_line_endings, write_training_page,
};
pub use json::{Json, JsonError, JsonItem, SCHEMA};
pub use nematus::Nematus;
pub use npz::Npz;
pub use numbers::{clock, readable};
pub use pair_lists::{ListFormat, write_lexicon, write_noisy_pairs};
pub use pharaoh::Pharaoh;
pub use shading::shaded;
pub use svg::{Svg, SvgSize, SvgStyle, SvgView};
pub use tensorboard::{event_file_header, scalars_event};
pub use tmx::Tmx;
pub use tsv::Tsv;

use crate::alignment::{Alignment, Doubts, Gold, Link, LinkScores, QualityEstimate};

/// Sentence pair with everything that a format may show.
pub struct Item<'a> {
    /// Position of the sentence in the input, from 0.
    pub id: usize,
    /// Rank in the n-best list, from 1; `None` if the target was given.
    pub rank: Option<usize>,
    /// Source and target text.
    pub texts: [&'a str; 2],
    /// Translation; `None` if the target was given.
    pub translation: Option<&'a str>,
    /// Word-level attention.
    pub alignment: &'a Alignment,
    /// Link scores.
    pub link_scores: &'a LinkScores,
    /// Links.
    pub links: &'a [Link],
    /// Mean log-probability of a target token, in nats.
    pub score: f64,
    /// Share of unknown source tokens; `None` without a model.
    pub unknown: Option<f64>,
    /// Estimated quality of the target, if the model is calibrated.
    pub estimate: Option<&'a QualityEstimate>,
    /// Reasons to doubt the translation; `None` if the target was given.
    pub doubts: Option<&'a Doubts>,
    /// Gold alignment, if known.
    pub gold: Option<&'a Gold>,
    /// Token-level attention, for formats that show both.
    pub tokens: Option<TokenAlignment<'a>>,
    /// Error message if the input line could not be read; the item is then empty.
    pub error: Option<&'a str>,
}

/// Attention between the model's subword tokens, with the word of each token.
#[derive(Clone, Copy)]
pub struct TokenAlignment<'a> {
    /// Attention `[target tokens × source tokens]`.
    pub alignment: &'a Alignment,
    /// Index of each source token's word in [`Item::alignment`].
    pub source_words: &'a [usize],
    /// Index of each target token's word in [`Item::alignment`].
    pub target_words: &'a [usize],
}

/// Output format. Items are written in order; the document is complete after `finish`.
pub trait Renderer {
    /// Writes one item.
    fn item(&mut self, out: &mut dyn Write, item: &Item) -> Result<()>;

    /// Completes the document.
    fn finish(&mut self, _out: &mut dyn Write) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod samples {
    use super::*;

    /// Words of a text, separated by spaces.
    pub fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    /// Renders two sentences, the second of which has an empty target.
    pub fn render(renderer: &mut dyn Renderer) -> Vec<u8> {
        let rows = [vec![0.9, 0.05, 0.02, 0.03], vec![0.0, 0.25, 0.75, 0.0], vec![0.004, 0.846, 0.1, 0.05]];
        let first = Alignment::from_rows(words("the black \"cat\""), words("le chat noir"), &rows);
        let second = Alignment::from_rows(words("नमस्ते 世界"), vec![], &[]);
        let mut out = Vec::new();
        for (id, alignment) in [first, second].iter().enumerate() {
            let scores = LinkScores::from_attention(alignment);
            let links = scores.links(0.5);
            renderer.item(&mut out, &item(id, alignment, &scores, &links)).unwrap();
        }
        renderer.finish(&mut out).unwrap();
        out
    }

    /// Pair whose target was given.
    pub fn item<'a>(id: usize, alignment: &'a Alignment, link_scores: &'a LinkScores, links: &'a [Link]) -> Item<'a> {
        Item {
            id,
            rank: None,
            texts: ["the \u{a0}black \"cat\"", "le chat  noir"],
            translation: None,
            alignment,
            link_scores,
            links,
            score: -0.25,
            unknown: None,
            estimate: None,
            doubts: None,
            gold: None,
            tokens: None,
            error: None,
        }
    }
}
