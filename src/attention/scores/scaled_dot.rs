//! Scaled dot product score (Vaswani et al. 2017, section 3.2.1): the variance does not grow with the dimension.
//!
//! ```text
//! e_j = q · k_j / √d
//! ```

use candle_core::{Result, Tensor};

use super::dot;
use super::spec::{self, HeadSlice, ScoreSpec};
use crate::attention::score_traits::Score;

pub(super) struct ScaledDotDef;

impl spec::ScoreDef for ScaledDotDef {
    const SPEC: ScoreSpec =
        ScoreSpec { temperature: |size| (size as f64).sqrt(), ..<dot::DotDef as spec::ScoreDef>::SPEC };
    type Cpu<'a> = dot::CpuDot;

    fn reference(param: Option<&Tensor>, head: HeadSlice) -> Result<Box<dyn Score>> {
        <dot::DotDef as spec::ScoreDef>::reference(param, head)
    }

    fn cpu(param: &[f32]) -> dot::CpuDot {
        <dot::DotDef as spec::ScoreDef>::cpu(param)
    }
}
