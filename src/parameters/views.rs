//! Parameters borrowed as slices.

use std::collections::BTreeMap;

use crate::kernels::matrix::MatrixView;

/// All parameters of a model by name, with their dimensions.
#[derive(Clone, Default)]
pub struct ParameterViews<'a>(BTreeMap<&'a str, (&'a [usize], &'a [f32])>);

impl<'a> ParameterViews<'a> {
    pub(super) fn insert(&mut self, name: &'a str, dimensions: &'a [usize], values: &'a [f32]) {
        self.0.insert(name, (dimensions, values));
    }

    /// Returns a parameter's values. The name must be in the spec that the parameters were checked against.
    pub fn get(&self, name: &str) -> &'a [f32] {
        self.0[name].1
    }

    /// Returns a two-dimensional parameter.
    pub fn matrix(&self, name: &str) -> MatrixView<'a> {
        let (dimensions, values) = self.0[name];
        MatrixView::new(values, dimensions[0], dimensions[1])
    }
}
