//! The general score, a bilinear form (Luong et al. 2015, section 3.1).
//!
//! ```text
//! e_j = s M h_j = s · k_j            k_j = W_k h_j, so that W_k is M
//! ```
//!
//! With several heads each compares its own part of s.

use candle_core::{Result, Tensor};

use super::dot;
use super::spec::{self, Needs, Part, Projections};
use crate::attention::score_traits::Score;

pub(super) struct Family;

impl spec::Family for Family {
    const NEEDS: Needs = Needs::projections(Projections::Keys);
    type Sentence<'a> = dot::Sentence;

    fn plain(own: Option<&Tensor>, head: Part) -> Result<Box<dyn Score>> {
        <dot::Family as spec::Family>::plain(own, head)
    }

    fn sentence(own: &[f32]) -> dot::Sentence {
        <dot::Family as spec::Family>::sentence(own)
    }
}
