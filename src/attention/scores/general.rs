//! General (bilinear) score (Luong et al. 2015, section 3.1): the dot product with projected keys.
//!
//! ```text
//! e_j = s M h_j = s · k_j            k_j = W_k h_j, so that W_k is M
//! ```
//!
//! Each of several heads compares its own slice of s.

use candle_core::{Result, Tensor};

use super::dot;
use super::spec::{self, HeadSlice, Projections, ScoreSpec};
use crate::attention::score_traits::Score;

pub(super) struct GeneralDef;

impl spec::ScoreDef for GeneralDef {
    const SPEC: ScoreSpec = ScoreSpec::projections(Projections::Keys);
    type Cpu<'a> = dot::CpuDot;

    fn reference(param: Option<&Tensor>, head: HeadSlice) -> Result<Box<dyn Score>> {
        <dot::DotDef as spec::ScoreDef>::reference(param, head)
    }

    fn cpu(param: &[f32]) -> dot::CpuDot {
        <dot::DotDef as spec::ScoreDef>::cpu(param)
    }
}
