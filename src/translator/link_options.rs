//! Options of word links.

use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::alignment::Symmetrization;
use crate::error::{usage, usage_of};
use crate::text::WordSplitting;

/// Source of link scores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub enum LinksFrom {
    /// Posterior attention, combined with the model's statistical aligner if there is one.
    #[default]
    Auto,
    /// Posterior attention only.
    Attention,
    /// The model's statistical aligner (HMM) only.
    Hmm,
    /// A statistical aligner trained on the given pairs only; needs no model.
    Pairs,
}

impl LinksFrom {
    /// True if attention is used.
    pub fn uses_attention(self) -> bool {
        matches!(self, Self::Auto | Self::Attention)
    }
}

/// Direction of links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub enum LinkDirection {
    /// Each target word with its most probable source word, or with none.
    Forward,
    /// Each source word with its most probable target word, or with none.
    Backward,
    /// Words that both directions link.
    #[default]
    Both,
}

/// Directory of a saved statistical aligner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AlignerSource {
    /// Model directory, whose model must match the aligner.
    Model(PathBuf),
    /// Any directory with an aligner.
    Directory(PathBuf),
}

impl AlignerSource {
    /// The directory.
    pub(super) fn path(&self) -> &Path {
        let (Self::Model(path) | Self::Directory(path)) = self;
        path
    }
}

/// Options of linking.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub struct LinkOptions {
    /// Source of word links; translate takes only auto and attention.
    #[cfg_attr(feature = "cli", arg(help_heading = "Links", long, value_enum, default_value_t = LinksFrom::Auto))]
    pub links_from: LinksFrom,

    /// Model of the opposite direction; both models must support a link.
    #[cfg_attr(feature = "cli", arg(help_heading = "Links", long, value_name = "DIR"))]
    #[serde(skip)]
    pub reverse_model: Option<PathBuf>,

    /// Symmetrize the links of both directions, instead of thresholding their joint scores.
    #[cfg_attr(
        feature = "cli",
        arg(help_heading = "Links", id = "symmetrize", long = "symmetrize", value_enum, value_name = "WAY")
    )]
    #[serde(rename = "symmetrize")]
    pub symmetrization: Option<Symmetrization>,

    /// Minimum score of a link [default: 0.3; 0.1 without attention; 0.45 with attention only; 0.4 with --symmetrize or
    /// --direction].
    #[cfg_attr(feature = "cli", arg(help_heading = "Links", long, value_name = "W"))]
    pub threshold: Option<f32>,

    /// Word splitting [default: script; characters on a side with char or letter tokens].
    #[cfg_attr(feature = "cli", arg(help_heading = "Links", long, value_enum))]
    pub words: Option<WordSplitting>,

    /// Saved statistical aligner; by default the translator's.
    #[cfg_attr(feature = "cli", arg(skip))]
    #[serde(skip)]
    pub aligner: Option<AlignerSource>,

    /// Directory of an aligner or a model whose aligner is the prior of the one trained on the given pairs.
    #[cfg_attr(feature = "cli", arg(skip))]
    #[serde(skip)]
    pub prior: Option<PathBuf>,

    /// Direction of the links.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub direction: LinkDirection,

    /// Links tokens instead of words.
    #[cfg_attr(feature = "cli", arg(skip))]
    #[serde(rename = "tokens")]
    pub by_tokens: bool,
}

impl LinkOptions {
    /// Checks that the options are valid and compatible.
    ///
    /// # Errors
    /// A [`UsageError`](crate::error::UsageError) names an option by its name on the command line.
    pub fn check(&self) -> Result<()> {
        if let Some(threshold) = self.threshold.filter(|threshold| !(0.0..=1.0).contains(threshold)) {
            return usage_of("threshold", format!("must be between 0 and 1, not {threshold}"));
        }
        if !self.links_from.uses_attention() && (self.by_tokens || self.reverse_model.is_some()) {
            return usage("--tokens and --reverse-model need attention: omit --links-from");
        }
        if self.prior.is_some() && self.links_from != LinksFrom::Pairs {
            return usage_of("prior", "needs --links-from pairs");
        }
        if self.direction != LinkDirection::Both && self.symmetrization.is_some() {
            return usage_of("symmetrize", "needs both directions: omit --direction");
        }
        Ok(())
    }
}
