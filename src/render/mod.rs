//! Output formats of alignments, figures of lines, and TensorBoard's records: one file a format, data in, bytes out.

mod direction;
mod figure;
mod heatmap;
mod html;
mod json;
mod nematus;
mod npz;
mod pharaoh;
mod svg;
mod tensorboard;
mod tsv;
mod visible;

use std::io::{Result, Write};

pub use figure::{Axis, Counts, Figure, Series, Span, write_below_each_other};
pub use heatmap::Heatmap;
pub use html::{Html, Moment, Seen, write_learning};
pub use json::{Json, SCHEMA};
pub use nematus::Nematus;
pub use npz::Npz;
pub use pharaoh::Pharaoh;
pub use svg::{Svg, View};
pub use tensorboard::{event_file_head, event_of_scalars};
pub use tsv::Tsv;
pub use visible::{visible, visible_lines};

use crate::alignment::{Alignment, Gold, Link, LinkScores};

/// One sentence pair with all that a format may show.
pub struct Item<'a> {
    /// Position of the sentence in the input, from 0.
    pub id: usize,
    /// Rank of a translation among those of its sentence, from 1; none where the target was given.
    pub rank: Option<usize>,
    /// Both sides as they were read or written.
    pub texts: [&'a str; 2],
    /// The translation as it reads; none where the target was given.
    pub translation: Option<&'a str>,
    /// The weights.
    pub alignment: &'a Alignment,
    /// How much is believed in each link.
    pub beliefs: &'a LinkScores,
    /// The hard links.
    pub links: &'a [Link],
    /// Mean log-probability of a target unit, in nats.
    pub score: f64,
    /// Share of the source's units that the model does not know; none where no model read it.
    pub unknown: Option<f64>,
    /// The links that annotators saw between the same words, where they are known.
    pub gold: Option<&'a Gold>,
    /// The pair cut into the model's own units instead of words, where a format may show both.
    pub units: Option<Units<'a>>,
}

/// A sentence pair by the model's own subword units, with the word that each unit belongs to.
#[derive(Clone, Copy)]
pub struct Units<'a> {
    /// The weights, `[target units × source units]`.
    pub alignment: &'a Alignment,
    /// `[source units]`: for each unit, its word's position among the source words of [`Item::alignment`].
    pub source_words: &'a [usize],
    /// `[target units]`: for each unit, its word's position among the target words of [`Item::alignment`].
    pub target_words: &'a [usize],
}

/// A format. Items come in order; the document is whole after `finish`.
pub trait Renderer {
    /// Writes one item.
    fn item(&mut self, out: &mut dyn Write, item: &Item) -> Result<()>;

    /// Ends the document.
    fn finish(&mut self, _out: &mut dyn Write) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod samples {
    use super::*;

    /// Two sentences as every format's test shows them: a usual one, and one with an empty target.
    pub fn render(renderer: &mut dyn Renderer) -> Vec<u8> {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let rows = [vec![0.9, 0.05, 0.02, 0.03], vec![0.0, 0.25, 0.75, 0.0], vec![0.004, 0.846, 0.1, 0.05]];
        let first = Alignment::from_rows(words("the black \"cat\""), words("le chat noir"), &rows);
        let second = Alignment::from_rows(words("नमस्ते 世界"), vec![], &[]);
        let mut out = Vec::new();
        for (id, alignment) in [first, second].iter().enumerate() {
            let beliefs = LinkScores::from_attention(alignment);
            let links = beliefs.links(0.5);
            renderer.item(&mut out, &item(id, alignment, &beliefs, &links)).unwrap();
        }
        renderer.finish(&mut out).unwrap();
        out
    }

    /// A pair whose target was given.
    pub fn item<'a>(id: usize, alignment: &'a Alignment, beliefs: &'a LinkScores, links: &'a [Link]) -> Item<'a> {
        Item {
            id,
            rank: None,
            texts: ["the \u{a0}black \"cat\"", "le chat  noir"],
            translation: None,
            alignment,
            beliefs,
            links,
            score: -0.25,
            unknown: None,
            gold: None,
            units: None,
        }
    }
}
