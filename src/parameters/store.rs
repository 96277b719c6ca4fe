//! Parameters of one model, with PyTorch's names and layouts.

use std::collections::BTreeMap;
use std::sync::Arc;

use candle_core::{CpuStorage, DType, Device, Result, Shape, Storage, Tensor, Var, bail};
use rayon::prelude::*;

use super::derived::DerivedValues;
use super::{ParameterSpec, ParameterViews};
use crate::kernels::Backend;
use crate::kernels::reference::gru::GruWeights;
use crate::kernels::tensor_mut::all_finite;
use crate::random::SeededRng;

/// Tensors by name.
#[derive(Clone, Debug)]
pub struct Parameters {
    tensors: BTreeMap<String, Tensor>,
    /// Values computed from them, if they are kept.
    derived: Option<Arc<DerivedValues>>,
}

impl Parameters {
    fn new(tensors: BTreeMap<String, Tensor>) -> Self {
        Self { tensors, derived: None }
    }

    /// Initializes parameters at random. Each has its own random generator, so that none depends on another's size.
    ///
    /// # Errors
    /// The device is out of memory.
    pub fn initialize(spec: &ParameterSpec, seed: u64, device: &Device) -> Result<Self> {
        let mut tensors = BTreeMap::new();
        for entry in spec.iter() {
            let values = entry.init.draw(&entry.shape, &mut SeededRng::new(seed, &entry.name, 0));
            tensors.insert(entry.name.clone(), Tensor::from_vec(values, entry.shape.as_slice(), device)?);
        }
        Ok(Self::new(tensors))
    }

    /// Builds parameters from loaded tensors after checking names, shapes and values.
    ///
    /// # Errors
    /// Names the first parameter that is missing, unexpected, of the wrong shape or not finite.
    pub fn from_tensors(spec: &ParameterSpec, mut found: BTreeMap<String, Tensor>) -> Result<Self> {
        let mut tensors = BTreeMap::new();
        for entry in spec.iter() {
            let (name, shape) = (&entry.name, &entry.shape);
            let Some(tensor) = found.remove(name) else { bail!("parameter {name} is missing") };
            if tensor.shape() != &Shape::from(shape.clone()) {
                bail!("parameter {name} has shape {:?}, expected {shape:?}", tensor.dims());
            }
            tensors.insert(name.clone(), tensor);
        }
        if let Some(surplus) = found.keys().next() {
            bail!("parameter {surplus} does not belong to this model");
        }
        let error = tensors.par_iter().find_map_first(|(name, tensor)| match all_finite(tensor) {
            Ok(true) => None,
            Ok(false) => Some(candle_core::Error::msg(format!("parameter {name} has values that are not finite"))),
            Err(error) => Some(error),
        });
        error.map_or_else(|| Ok(Self::new(tensors)), Err)
    }

    /// Mean of several models' parameters.
    ///
    /// # Errors
    /// There is no model, or names or shapes differ.
    pub fn mean(models: &[&Self]) -> Result<Self> {
        let Some((first, others)) = models.split_first() else { bail!("no models to average") };
        let weight = 1.0 / models.len() as f64;
        let mut tensors = BTreeMap::new();
        for (name, tensor) in &first.tensors {
            let mut sum = tensor.affine(weight, 0.0)?;
            for other in others {
                sum = (sum + other.get(name)?.affine(weight, 0.0)?)?;
            }
            tensors.insert(name.clone(), sum);
        }
        Ok(Self::new(tensors))
    }

    /// Cosine similarity of two models' parameters, flattened: near 0 for independent initializations, near 1 for
    /// checkpoints of the same run.
    ///
    /// # Errors
    /// Names or shapes differ.
    pub fn cosine_similarity(&self, other: &Self) -> Result<f64> {
        let (mut product, mut squares) = (0.0, [0.0; 2]);
        for (name, tensor) in &self.tensors {
            let [ours, theirs] = [tensor.flatten_all()?, other.get(name)?.flatten_all()?];
            product += inner_product(&ours, &theirs)?;
            squares[0] += inner_product(&ours, &ours)?;
            squares[1] += inner_product(&theirs, &theirs)?;
        }
        Ok(product / (squares[0] * squares[1]).sqrt().max(f64::MIN_POSITIVE))
    }

    /// Takes the values of `other`. If `origins` returns rows for a parameter, row `i` of the result is row
    /// `origins[i]` of `other`, or row `i` of `self` for `None`.
    ///
    /// # Errors
    /// `other` lacks a parameter, or has rows of another size.
    pub fn remap_rows<'o>(&self, other: &Self, origins: impl Fn(&str) -> Option<&'o [Option<u32>]>) -> Result<Self> {
        let mut tensors = BTreeMap::new();
        for (name, own) in &self.tensors {
            let copied = other.get(name)?;
            let copied = match origins(name) {
                None => copied,
                Some(origins) => {
                    let others = copied.dim(0)? as u32;
                    let rows: Vec<u32> = (others..).zip(origins).map(|(own, origin)| origin.unwrap_or(own)).collect();
                    let rows = Tensor::new(rows, own.device())?;
                    Tensor::cat(&[&copied, own], 0)?.index_select(&rows, 0)?
                }
            };
            tensors.insert(name.clone(), copied);
        }
        Ok(Self::new(tensors))
    }

    /// Copies the parameters as variables, whose operations candle records for back-propagation.
    ///
    /// # Errors
    /// The device is out of memory.
    pub fn with_grad(&self) -> Result<Self> {
        let mut tensors = BTreeMap::new();
        for (name, tensor) in &self.tensors {
            tensors.insert(name.clone(), Var::from_tensor(tensor)?.into_inner());
        }
        Ok(Self::new(tensors))
    }

    /// Copies the values into new tensors.
    ///
    /// # Errors
    /// The device is out of memory.
    pub fn deep_copy(&self) -> Result<Self> {
        let mut tensors = BTreeMap::new();
        for (name, tensor) in &self.tensors {
            tensors.insert(name.clone(), tensor.detach().copy()?);
        }
        Ok(Self::new(tensors))
    }

    /// Returns the same parameters, which will not change, and keeps what search computes from them, such as packed weights.
    #[must_use]
    pub fn keeping_derived(self) -> Self {
        Self { derived: Some(Arc::default()), ..self }
    }

    /// Iterates mutably over all parameters by name, in alphabetical order.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&String, &mut Tensor)> {
        self.derived = None;
        self.tensors.iter_mut()
    }

    /// Iterates over all parameters by name, in alphabetical order.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &Tensor)> {
        self.tensors.iter()
    }

    /// Returns the parameter `name`.
    ///
    /// # Errors
    /// There is no such parameter.
    pub fn get(&self, name: &str) -> Result<Tensor> {
        match self.tensors.get(name) {
            Some(tensor) => Ok(tensor.clone()),
            None => bail!("no parameter {name}"),
        }
    }

    /// Returns the backend for the device that holds the parameters.
    pub fn backend(&self) -> Backend {
        self.tensors.values().next().map_or(Backend::Cpu, |tensor| Backend::for_device(tensor.device()))
    }

    /// Returns the four parameters of a GRU cell; `name` maps PyTorch's parameter names to full ones.
    ///
    /// # Errors
    /// One of them is missing.
    pub fn gru(&self, name: impl Fn(&str) -> String) -> Result<GruWeights> {
        Ok(GruWeights {
            weight_ih: self.get(&name("weight_ih"))?,
            weight_hh: self.get(&name("weight_hh"))?,
            bias_ih: self.get(&name("bias_ih"))?,
            bias_hh: self.get(&name("bias_hh"))?,
        })
    }

    /// Passes all parameters of several models to `work` as slices.
    ///
    /// # Errors
    /// A parameter is not a contiguous f32 tensor on the CPU, or `work` fails.
    pub fn with_views<R>(models: &[&Self], work: impl FnOnce(&[ParameterViews]) -> Result<R>) -> Result<R> {
        let guards: Vec<Vec<_>> = models
            .iter()
            .map(|model| model.tensors.values().map(|tensor| tensor.storage_and_layout()).collect())
            .collect();
        let mut all = Vec::with_capacity(models.len());
        for (model, guards) in models.iter().zip(&guards) {
            let mut views = ParameterViews::new(model.derived.as_deref());
            for ((name, tensor), (storage, layout)) in model.tensors.iter().zip(guards) {
                match (&**storage, layout.contiguous_offsets()) {
                    (Storage::Cpu(CpuStorage::F32(values)), Some((start, end))) => {
                        views.insert(name, tensor.dims(), &values[start..end]);
                    }
                    _ => bail!("parameter {name} is not a contiguous f32 tensor on the CPU"),
                }
            }
            all.push(views);
        }
        work(&all)
    }
}

/// Σ aᵢ bᵢ over two tensors of one dimension.
fn inner_product(a: &Tensor, b: &Tensor) -> Result<f64> {
    (a * b)?.to_dtype(DType::F64)?.sum_all()?.to_scalar::<f64>()
}

#[cfg(test)]
mod tests {
    use super::super::Init;
    use super::*;
    use crate::kernels::matrix::{PackedWeight, Precision, WriteMode};

    fn full(value: f32, shape: (usize, usize)) -> Tensor {
        Tensor::full(value, shape, &Device::Cpu).unwrap()
    }

    /// A parameter `rows` of a shape and a single number `whole`.
    fn rows_and_whole(values: [f32; 2], shape: (usize, usize)) -> Parameters {
        let tensors = [("rows", full(values[0], shape)), ("whole", full(values[1], (1, 1)))];
        Parameters::new(BTreeMap::from(tensors.map(|(name, tensor)| (name.to_owned(), tensor))))
    }

    #[test]
    fn remap_rows_copies_rows_with_an_origin() {
        let (own, base) = (rows_and_whole([1.0, 2.0], (3, 2)), rows_and_whole([3.0, 4.0], (2, 2)));
        let origins = [Some(1), None, Some(0)];
        let copied = own.remap_rows(&base, |name| (name == "rows").then_some(&origins[..])).unwrap();
        assert_eq!(copied.get("rows").unwrap().to_vec2::<f32>().unwrap(), [[3.0; 2], [1.0; 2], [3.0; 2]]);
        assert_eq!(copied.get("whole").unwrap().to_vec2::<f32>().unwrap(), [[4.0]]);
        assert!(own.remap_rows(&rows_and_whole([3.0, 4.0], (2, 5)), |_| Some(&origins)).is_err());
    }

    #[test]
    fn from_tensors_names_the_first_invalid_parameter() {
        let mut spec = ParameterSpec::default();
        spec.add("energy.weight", &[1, 5], Init::Glorot);
        spec.linear("readout", 4, 3);
        let parameters = Parameters::initialize(&spec, 1, &Device::Cpu).unwrap();
        let count: usize = parameters.iter().map(|(_, tensor)| tensor.elem_count()).sum();
        assert_eq!((count, spec.count()), (5 + 12 + 4, 21));
        let valid = parameters.tensors;
        Parameters::from_tensors(&spec, valid.clone()).unwrap();
        let [mut missing, mut not_finite, mut surplus, mut wrong_shape] = [(); 4].map(|()| valid.clone());
        missing.remove("energy.weight");
        not_finite.insert("energy.weight".to_owned(), full(f32::NAN, (1, 5)));
        surplus.insert("x".to_owned(), full(0.0, (1, 5)));
        wrong_shape.insert("readout.bias".to_owned(), full(0.0, (1, 5)));
        for (tensors, expected) in [
            (missing, "energy.weight is missing"),
            (not_finite, "not finite"),
            (surplus, "does not belong"),
            (wrong_shape, "[1, 5], expected [4]"),
        ] {
            let message = Parameters::from_tensors(&spec, tensors).unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
        }
    }

    fn packed(parameters: &Parameters) -> Arc<PackedWeight> {
        Parameters::with_views(&[parameters], |views| Ok(views[0].pack("readout.weight", Precision::F32, false)))
            .unwrap()
    }

    #[test]
    fn keeps_packed_weights_until_parameters_change() {
        let mut spec = ParameterSpec::default();
        spec.linear("readout", 4, 3);
        let parameters = Parameters::initialize(&spec, 1, &Device::Cpu).unwrap();
        assert!(!Arc::ptr_eq(&packed(&parameters), &packed(&parameters)));
        let mut kept = parameters.keeping_derived();
        let first = packed(&kept);
        assert!(Arc::ptr_eq(&first, &packed(&kept)) && Arc::ptr_eq(&first, &packed(&kept.clone())));
        kept.iter_mut().for_each(|(_, tensor)| *tensor = tensor.zeros_like().unwrap());
        let mut product = [1.0; 4];
        packed(&kept).forward(&mut product, 4, &[1.0; 3], WriteMode::Overwrite);
        assert_eq!(product, [0.0; 4]);
    }
}
