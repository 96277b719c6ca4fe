//! Borrowed view of a model.

use super::{Architecture, TokenLexicon};
use crate::kernels::matrix::Precision;
use crate::parameters::Parameters;

/// Borrowed view of a model, for either backend.
#[derive(Clone, Copy)]
pub struct ModelView<'a> {
    /// Sizes and variants.
    pub architecture: &'a Architecture,
    /// Lexicon that biases the output, if any.
    pub lexicon: Option<&'a TokenLexicon>,
    /// Precision of products on the CPU.
    pub precision: Precision,
    /// Learned parameters.
    pub parameters: &'a Parameters,
}
