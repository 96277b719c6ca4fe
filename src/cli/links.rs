//! How words are linked, and the formats of alignments.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::alignment::Symmetrisation;
use crate::text::Words;
use crate::translator::{LinkOptions, LinksFrom};

/// How words are linked.
#[derive(Clone, Debug, Default, Args)]
pub struct LinkArgs {
    /// What links are made from; in translate attention has a part in it always.
    #[arg(long, value_enum, default_value_t = LinksFrom::Auto, help_heading = "Links")]
    pub links_from: LinksFrom,

    /// A model that translates the other way: links need the consent of both.
    #[arg(long, value_name = "DIR", help_heading = "Links")]
    pub reverse_model: Option<PathBuf>,

    /// Link by each direction and make one set of both, instead of linking what both believe in together.
    #[arg(long, value_enum, value_name = "WAY", help_heading = "Links")]
    pub symmetrize: Option<Symmetrisation>,

    /// Link from this much belief on [default: 0.15; 0.1 without attention; 0.35 by attention alone; 0.4 for
    /// --symmetrize].
    #[arg(long, value_name = "W", help_heading = "Links")]
    pub threshold: Option<f32>,

    /// What counts as a word [default: whitespace; each character on a side that the model cuts into characters].
    #[arg(long, value_enum, help_heading = "Links")]
    pub words: Option<Words>,
}

impl LinkArgs {
    /// Returns these arguments as options of the library, that link words.
    pub fn options(&self) -> LinkOptions {
        LinkOptions {
            links_from: self.links_from,
            reverse_model: self.reverse_model.clone(),
            symmetrization: self.symmetrize,
            threshold: self.threshold,
            words: self.words,
            ..LinkOptions::default()
        }
    }
}

/// What a figure shows of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum View {
    /// The weights as a heatmap, with a dot on each link.
    Matrix,
    /// The links as curves between the words.
    Links,
}

/// Formats of `softalign align`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AlignmentFormat {
    /// A heatmap for the terminal.
    Text,
    /// An array of objects with words, weights and links.
    Json,
    /// Links as s-t, one line a pair, 0-indexed; s-t:p with --probs.
    Pharaoh,
    /// NumPy arrays of weights, one a pair.
    Npz,
    /// The objects of json, one a line.
    Jsonl,
    /// A table with a line for each two words that have to do with each other.
    Tsv,
    /// Weights in the text format of Nematus and its viewers.
    Nematus,
    /// One page to explore the alignments in a browser; needs no network.
    Html,
    /// Figures for a paper, one below the other; see --view.
    Svg,
}

/// Formats of `softalign translate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TranslationFormat {
    /// The translation; with --n-best, lines of: number ||| translation ||| score.
    Text,
    /// Each translation with its alignment as a heatmap.
    Align,
    /// An array of objects with translation, alignment and score.
    Json,
    /// The same objects, one a line.
    Jsonl,
    /// The alignment's links as s-t, one line a translation.
    Pharaoh,
    /// NumPy arrays of weights, one a translation.
    Npz,
    /// A table with a line for each two words that have to do with each other.
    Tsv,
    /// One page for a browser, that shows all translations with their alignments.
    Html,
    /// One figure for each translation, fit for a paper; see --view.
    Svg,
    /// Weights in the text format of Nematus and its viewers.
    Nematus,
}

impl TranslationFormat {
    /// The format of alignments that this is; none if it shows translations alone.
    pub fn of_alignments(self) -> Option<AlignmentFormat> {
        Some(match self {
            Self::Text => return None,
            Self::Align => AlignmentFormat::Text,
            Self::Json => AlignmentFormat::Json,
            Self::Jsonl => AlignmentFormat::Jsonl,
            Self::Pharaoh => AlignmentFormat::Pharaoh,
            Self::Npz => AlignmentFormat::Npz,
            Self::Tsv => AlignmentFormat::Tsv,
            Self::Html => AlignmentFormat::Html,
            Self::Svg => AlignmentFormat::Svg,
            Self::Nematus => AlignmentFormat::Nematus,
        })
    }
}
