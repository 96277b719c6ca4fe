//! NumPy arrays that share memory with Rust.

use numpy::ndarray::{ArrayView1, ArrayView2};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Returns a read-only array `[rows, columns]` over values that `owner` keeps unchanged for as long as it lives.
///
/// # Errors
/// The shape does not fit the number of values.
pub fn shared_matrix<'py>(
    owner: &Bound<'py, PyAny>,
    values: &[f32],
    shape: [usize; 2],
) -> PyResult<Bound<'py, PyArray2<f32>>> {
    let view = ArrayView2::from_shape(shape, values).map_err(|error| PyValueError::new_err(error.to_string()))?;
    // SAFETY: the values belong to `owner`, which the array keeps alive, and nothing changes them.
    let array = unsafe { PyArray2::borrow_from_array(&view, owner.clone()) };
    array.readwrite().make_nonwriteable();
    Ok(array)
}

/// Returns a read-only array over values that `owner` keeps unchanged for as long as it lives.
pub fn shared_vector<'py>(owner: &Bound<'py, PyAny>, values: &[f32]) -> Bound<'py, PyArray1<f32>> {
    // SAFETY: the values belong to `owner`, which the array keeps alive, and nothing changes them.
    let array = unsafe { PyArray1::borrow_from_array(&ArrayView1::from(values), owner.clone()) };
    array.readwrite().make_nonwriteable();
    array
}
