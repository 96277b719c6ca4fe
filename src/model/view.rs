//! Borrowed view of a model.

use super::{Architecture, UnitLexicon};
use crate::parameters::Parameters;

/// Borrowed view of a model, for either backend.
#[derive(Clone, Copy)]
pub struct ModelView<'a> {
    /// Sizes and variants.
    pub architecture: &'a Architecture,
    /// Lexicon that biases the output, if any.
    pub lexicon: Option<&'a UnitLexicon>,
    /// Learned parameters.
    pub parameters: &'a Parameters,
}
