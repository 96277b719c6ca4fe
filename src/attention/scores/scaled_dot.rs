//! The dot product at a temperature of √d (Vaswani et al. 2017, section 3.2.1), so that its spread does not grow with
//! the vectors.
//!
//! ```text
//! e_j = q · k_j / √d
//! ```

use candle_core::{Result, Tensor};

use super::dot;
use super::spec::{self, Needs, Part};
use crate::attention::score_traits::Score;

pub(super) struct Family;

impl spec::Family for Family {
    const NEEDS: Needs = Needs { temperature: |size| (size as f64).sqrt(), ..<dot::Family as spec::Family>::NEEDS };
    type Sentence<'a> = dot::Sentence;

    fn plain(own: Option<&Tensor>, head: Part) -> Result<Box<dyn Score>> {
        <dot::Family as spec::Family>::plain(own, head)
    }

    fn sentence(own: &[f32]) -> dot::Sentence {
        <dot::Family as spec::Family>::sentence(own)
    }
}
