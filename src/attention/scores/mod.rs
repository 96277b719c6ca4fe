//! The scores that a translator may have, each in a file of its own, and the enum that picks one.
//!
//! A score is one file with its equation, its plain form, its fast form and a [`Family`] that says what it needs, and
//! one line below.

mod additive;
mod cosine;
mod dot;
mod general;
mod kernel;
mod last;
mod mean;
mod scaled_dot;
mod spec;

use candle_core::{Result, Tensor};
use serde::{Deserialize, Serialize};

use super::cpu::pooling::{AttentionStep, AttentionStepBack};
use super::score_traits::{Score, SentenceScore};
use spec::{Family, Needs};

pub use additive::Additive;
pub use cosine::Cosine;
pub use dot::Dot;
pub use kernel::{Kernel, KernelShape};
pub use mean::Even;
pub(super) use spec::{Own, Part, Projections};

macro_rules! scores {
    ($($(#[$marked:meta])* $name:ident = $family:ty, $called:literal, $about:literal);+ $(;)?) => {
        /// What the translator compares queries with keys by.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        pub enum ScoreName {
            $($(#[$marked])* #[doc = $about] #[serde(rename = $called)] $name),+
        }

        impl ScoreName {
            /// All there are.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// What users call it.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$name => $called),+
                }
            }

            /// What it is, in a few words.
            pub fn about(self) -> &'static str {
                match self {
                    $(Self::$name => $about),+
                }
            }

            pub(super) fn needs(self) -> Needs {
                match self {
                    $(Self::$name => <$family>::NEEDS),+
                }
            }

            /// The plain form for one of several heads; `own` is the score's own parameter, where it has one.
            pub(super) fn plain(self, own: Option<&Tensor>, head: Part) -> Result<Box<dyn Score>> {
                match self {
                    $(Self::$name => <$family>::plain(own, head)),+
                }
            }

            /// Runs something that is compiled anew for each fast form; `own` holds the score's own numbers, those of all
            /// heads.
            fn visit<V: Visit>(self, own: &[f32], visit: V) {
                match self {
                    $(Self::$name => visit.with(<$family>::sentence(own))),+
                }
            }
        }
    };
}

scores! {
    #[default]
    Additive = additive::Family, "additive", "v tanh(W q + U k), Bahdanau et al. 2014";
    Dot = dot::Family, "dot", "q k, Luong et al. 2015";
    ScaledDot = scaled_dot::Family, "scaled-dot", "q k / √d, Vaswani et al. 2017";
    General = general::Family, "general", "q M k, Luong et al. 2015";
    Cosine = cosine::Family, "cosine", "The cosine of q and k times a learnt number, Graves et al. 2014";
    Mean = mean::Family, "mean", "No attention: always the mean of all annotations";
    Last = last::Family, "last", "No attention: always what either direction of the encoder read last";
}

/// Work on the fast form of some score.
trait Visit {
    fn with<S: SentenceScore>(self, score: S);
}

impl<R: Iterator<Item = usize>> Visit for AttentionStep<'_, R> {
    fn with<S: SentenceScore>(self, score: S) {
        self.take(score);
    }
}

impl Visit for AttentionStepBack<'_> {
    fn with<S: SentenceScore>(self, score: S) {
        self.take(score);
    }
}

impl ScoreName {
    /// Whether it looks at the same places whatever is asked.
    pub fn is_fixed(self) -> bool {
        self.needs().fixed
    }

    /// Takes one step of attention; `own` holds the score's own numbers, those of all heads.
    pub fn attend<R: Iterator<Item = usize>>(self, own: &[f32], step: AttentionStep<R>) {
        self.visit(own, step);
    }

    /// Takes a step back.
    pub fn attend_back(self, own: &[f32], step: AttentionStepBack) {
        self.visit(own, step);
    }
}
