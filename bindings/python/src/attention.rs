//! Attention pooling of arrays.

use candle_core::{Device, Tensor};
use numpy::ndarray::Array3;
use numpy::{IntoPyArray, PyArray3, PyReadonlyArray3};
use pyo3::prelude::*;
use softalign::attention::{Additive, Cosine, Dot, Kernel, KernelShape, Pooled, ScaledScore, Score, Uniform};

use crate::error::{argument_error, exception};

/// Returns the list of Σ_j α_j v_j, `[batch, m, v]`, and α, `[batch, m, length]`, for queries `[batch, m, d]`, keys `[batch, length, d]`
/// and values `[batch, length, v]`. `parameter` is the score's own: v of the additive score `[d]`, the cosine's factor, or a
/// kernel's width. Positions where `mask`, `[batch, length]`, is 0 have no weight.
#[pyfunction]
#[pyo3(signature = (queries, keys, values, score, parameter=None, mask=None, temperature=1.0))]
#[allow(clippy::too_many_arguments, reason = "keyword arguments of a Python function")]
pub fn pool<'py>(
    py: Python<'py>,
    queries: PyReadonlyArray3<f32>,
    keys: PyReadonlyArray3<f32>,
    values: PyReadonlyArray3<f32>,
    score: &str,
    parameter: Option<Vec<f32>>,
    mask: Option<PyReadonlyArray3<f32>>,
    temperature: f64,
) -> PyResult<[Bound<'py, PyArray3<f32>>; 2]> {
    let size = queries.as_array().shape()[2];
    let pooled = || -> anyhow::Result<_> {
        let score = ScaledScore { score: named(score, parameter, size)?, temperature };
        let [queries, keys, values] = [tensor(&queries)?, tensor(&keys)?, tensor(&values)?];
        let mask = mask.map(|mask| anyhow::Ok(tensor(&mask)?.squeeze(1)?)).transpose()?;
        let Pooled { values, weights } = softalign::attention::pool(&score, &queries, &keys, &values, mask.as_ref())?;
        Ok([array(&values)?, array(&weights)?])
    };
    let pooled = pooled().map_err(|error| exception(py, error))?;
    Ok(pooled.map(|array| array.into_pyarray(py)))
}

/// Learns the width of a kernel on leave-one-out errors.
#[pyfunction]
pub fn learn_width(py: Python, kernel: &str, keys: Vec<f32>, values: Vec<f32>, steps: usize) -> PyResult<f32> {
    let Some(shape) = kernel_shape(kernel) else {
        return Err(argument_error(py, format!("{kernel:?} is no kernel with a width to learn")));
    };
    let learned = py.detach(|| softalign::training::learn_kernel_width(shape, &keys, &values, steps));
    learned.map_err(|error| exception(py, error))
}

/// Returns the score of this name with its parameter.
fn named(name: &str, parameter: Option<Vec<f32>>, size: usize) -> anyhow::Result<Box<dyn Score>> {
    let parameter = |default: Vec<f32>| Tensor::new(parameter.unwrap_or(default), &Device::Cpu);
    Ok(match name {
        "additive" => Box::new(Additive { v: parameter(vec![1.0; size])?.unsqueeze(0)? }),
        "dot" => Box::new(Dot),
        "scaled-dot" => Box::new(ScaledScore { score: Dot, temperature: (size as f64).sqrt() }),
        "cosine" => Box::new(Cosine { sharpness: parameter(vec![1.0])? }),
        "mean" => Box::new(Uniform),
        kernel => match kernel_shape(kernel) {
            Some(shape) => Box::new(Kernel { shape, inverse_width: parameter(vec![1.0])?.recip()? }),
            None => anyhow::bail!(softalign::error::UsageError::new(format!(
                "score must be additive, dot, scaled-dot, general, cosine, mean or a kernel, not {name:?}"
            ))),
        },
    })
}

fn kernel_shape(name: &str) -> Option<KernelShape> {
    Some(match name {
        "gaussian" => KernelShape::Gaussian,
        "boxcar" => KernelShape::Boxcar,
        "epanechnikov" => KernelShape::Epanechnikov,
        "constant" => KernelShape::Constant,
        _ => return None,
    })
}

fn tensor(array: &PyReadonlyArray3<f32>) -> anyhow::Result<Tensor> {
    let array = array.as_array();
    let shape = array.dim();
    Ok(Tensor::from_iter(array.iter().copied(), &Device::Cpu)?.reshape(shape)?)
}

fn array(tensor: &Tensor) -> anyhow::Result<Array3<f32>> {
    Ok(Array3::from_shape_vec(tensor.dims3()?, tensor.flatten_all()?.to_vec1()?)?)
}
