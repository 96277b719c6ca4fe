//! Attention scores and the enum that selects one.
//!
//! A score's file has its equations, a [`ScoreSpec`], a [`Score`] for the reference backend and a [`CpuScore`] for the CPU
//! backend, with functions `reference` and `cpu` that construct them; one line below adds it to the enum.

mod additive;
mod cosine;
mod dot;
mod kernel;
mod last;
mod mean;
mod spec;

use candle_core::{Result, Tensor};
use serde::{Deserialize, Serialize};

use super::cpu::pooling::{AttentionBackward, AttentionForward};
use super::score_traits::{CpuScore, Score};
use spec::ScoreSpec;

pub use additive::Additive;
pub use cosine::Cosine;
pub use dot::Dot;
pub use kernel::{Kernel, KernelShape};
pub use mean::Uniform;
pub(super) use spec::{HeadSlice, Projections, ScoreParam};

macro_rules! scores {
    ($($(#[$attribute:meta])* $name:ident = $module:ident::$spec:ident, $label:literal, $about:literal);+ $(;)?) => {
        /// Attention score.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
        pub enum ScoreName {
            $($(#[$attribute])* #[doc = $about] #[serde(rename = $label)] #[cfg_attr(feature = "cli", value(name = $label))] $name),+
        }

        impl ScoreName {
            /// All scores.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// Name on the command line and in config.json.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$name => $label),+
                }
            }

            pub(super) fn spec(self) -> ScoreSpec {
                match self {
                    $(Self::$name => $module::$spec),+
                }
            }

            /// Returns the reference score for one of several heads; `param` is the score's own parameter, if any.
            pub(super) fn reference(self, param: Option<&Tensor>, head: HeadSlice) -> Result<Box<dyn Score>> {
                match self {
                    $(Self::$name => $module::reference(param, head)),+
                }
            }

            /// Runs `visit`, which is compiled for each CPU score; `param` holds the score's own parameter for all
            /// heads.
            fn visit<V: Visit>(self, param: &[f32], visit: V) {
                match self {
                    $(Self::$name => visit.visit($module::cpu(param))),+
                }
            }
        }
    };
}

scores! {
    #[default]
    // Names in JoeyNMT and OpenNMT.
    #[cfg_attr(feature = "cli", value(aliases = ["bahdanau", "mlp"]))]
    Additive = additive::SPEC, "additive", "v tanh(W q + U k), Bahdanau et al. 2014";
    Dot = dot::PLAIN, "dot", "q k, Luong et al. 2015";
    ScaledDot = dot::SCALED, "scaled-dot", "q k / √d, Vaswani et al. 2017";
    #[cfg_attr(feature = "cli", value(alias = "luong"))]
    General = dot::GENERAL, "general", "q M k, Luong et al. 2015";
    Cosine = cosine::SPEC, "cosine", "Cosine of q and k times a learned scalar, Graves et al. 2014";
    Mean = mean::SPEC, "mean", "No attention: mean of all annotations";
    Last = last::SPEC, "last", "No attention: final state of each encoder direction";
}

/// Work that is generic over the CPU score.
trait Visit {
    fn visit<S: CpuScore>(self, score: S);
}

impl<R: Iterator<Item = usize>> Visit for AttentionForward<'_, R> {
    fn visit<S: CpuScore>(self, score: S) {
        self.run(score);
    }
}

impl Visit for AttentionBackward<'_> {
    fn visit<S: CpuScore>(self, score: S) {
        self.run(score);
    }
}

impl ScoreName {
    /// Returns true if the weights do not depend on the query.
    pub fn is_fixed(self) -> bool {
        self.spec().fixed
    }

    /// Forward pass of one step of attention; `param` holds the score's own parameter for all heads.
    pub fn attention_forward<R: Iterator<Item = usize>>(self, param: &[f32], step: AttentionForward<R>) {
        self.visit(param, step);
    }

    /// Backward pass of one step of attention.
    pub fn attention_backward(self, param: &[f32], step: AttentionBackward) {
        self.visit(param, step);
    }
}
