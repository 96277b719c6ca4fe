//! Packing of parameters for products.

use std::ops::Range;
use std::sync::Arc;

use crate::kernels::matrix::{PackedWeight, Precision};
use crate::parameters::ParameterViews;

/// Parameters of a model, with the way to pack them.
#[derive(Clone, Copy)]
pub struct Packer<'p, 'a> {
    /// Parameters by name.
    pub parameters: &'p ParameterViews<'a>,
    /// Precision of products.
    pub precision: Precision,
    /// True if backward passes follow.
    pub derivatives: bool,
}

impl Packer<'_, '_> {
    /// Packs a matrix.
    pub fn matrix(&self, name: &str) -> Arc<PackedWeight> {
        self.parameters.pack(name, self.precision, self.derivatives)
    }

    /// Packs some columns of a matrix.
    pub fn columns(&self, name: &str, columns: Range<usize>) -> Arc<PackedWeight> {
        self.parameters.pack_columns(name, columns, self.precision, self.derivatives)
    }
}
