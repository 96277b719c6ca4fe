//! Parameters borrowed as slices.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::Range;
use std::sync::Arc;

use super::derived::DerivedValues;
use crate::kernels::matrix::{MatrixView, PackedWeight, Precision};

/// All parameters of a model by name, with their dimensions.
#[derive(Clone)]
pub struct ParameterViews<'a> {
    slices: BTreeMap<&'a str, ParameterView<'a>>,
    derived: Option<&'a DerivedValues>,
}

/// Parameter as a slice.
#[derive(Clone, Copy)]
struct ParameterView<'a> {
    dimensions: &'a [usize],
    /// Row-major.
    values: &'a [f32],
}

impl<'a> ParameterViews<'a> {
    pub(super) fn new(derived: Option<&'a DerivedValues>) -> Self {
        Self { slices: BTreeMap::new(), derived }
    }

    pub(super) fn insert(&mut self, name: &'a str, dimensions: &'a [usize], values: &'a [f32]) {
        self.slices.insert(name, ParameterView { dimensions, values });
    }

    /// Returns a parameter's values. The name must be in the spec that the parameters were checked against.
    pub fn get(&self, name: &str) -> &'a [f32] {
        self.slices[name].values
    }

    /// Returns a two-dimensional parameter.
    pub fn matrix(&self, name: &str) -> MatrixView<'a> {
        let ParameterView { dimensions, values } = self.slices[name];
        MatrixView::new(values, dimensions[0], dimensions[1])
    }

    /// Returns the value of `compute`. Parameters that keep derived values ([`super::Parameters::keeping_derived`]) keep it under
    /// this name.
    pub fn derived<T: Any + Send + Sync>(&self, name: impl Display, compute: impl FnOnce() -> T) -> Arc<T> {
        match self.derived {
            Some(derived) => derived.get(name.to_string(), compute),
            None => Arc::new(compute()),
        }
    }

    /// Packs a two-dimensional parameter for forward passes; `derivatives` adds backward passes.
    pub fn pack(&self, name: &str, precision: Precision, derivatives: bool) -> Arc<PackedWeight> {
        self.pack_columns(name, 0..self.matrix(name).column_count(), precision, derivatives)
    }

    /// Packs some columns of a two-dimensional parameter.
    pub fn pack_columns(
        &self,
        name: &str,
        columns: Range<usize>,
        precision: Precision,
        derivatives: bool,
    ) -> Arc<PackedWeight> {
        let weight = self.matrix(name).columns(columns.start, columns.len());
        let purpose = if derivatives { "both passes" } else { "forward pass" };
        self.derived(format_args!("{name}, columns {columns:?}, {precision:?}, {purpose}"), || {
            PackedWeight::new(weight, precision, derivatives)
        })
    }
}
