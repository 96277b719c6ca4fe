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
        let draw = |entry: &super::spec::ParameterEntry| {
            let values = entry.init.draw(&entry.shape, &mut SeededRng::new(seed, &entry.name, 0));
            Ok((entry.name.clone(), Tensor::from_vec(values, entry.shape.as_slice(), device)?))
        };
        spec.iter().map(draw).collect::<Result<_>>().map(Self::new)
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
        let wrong = |(name, tensor): (&String, &Tensor)| match all_finite(tensor) {
            Ok(true) => None,
            Ok(false) => Some(candle_core::Error::msg(format!("parameter {name} has values that are not finite"))),
            Err(error) => Some(error),
        };
        tensors.par_iter().find_map_first(wrong).map_or_else(|| Ok(Self::new(tensors)), Err)
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
            let sum = |a: &Tensor, b: &Tensor| (a * b)?.to_dtype(DType::F64)?.sum_all()?.to_scalar::<f64>();
            product += sum(&ours, &theirs)?;
            squares[0] += sum(&ours, &ours)?;
            squares[1] += sum(&theirs, &theirs)?;
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
        let copy = |(name, tensor): (&String, &Tensor)| Ok((name.clone(), tensor.detach().copy()?));
        self.tensors.iter().map(copy).collect::<Result<_>>().map(Self::new)
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
        let part = |part: &str| self.get(&name(part));
        Ok(GruWeights {
            weight_ih: part("weight_ih")?,
            weight_hh: part("weight_hh")?,
            bias_ih: part("bias_ih")?,
            bias_hh: part("bias_hh")?,
        })
    }

    /// Passes all parameters of several models to `work` as slices.
    ///
    /// # Errors
    /// A parameter is not a contiguous f32 tensor on the CPU, or `work` fails.
    pub fn with_views<R>(models: &[&Self], work: impl FnOnce(&[ParameterViews]) -> Result<R>) -> Result<R> {
        let guard = |(name, tensor)| {
            let (name, tensor): (&String, &Tensor) = (name, tensor);
            (name.as_str(), tensor.dims(), tensor.storage_and_layout())
        };
        let guards: Vec<Vec<_>> = models.iter().map(|model| model.tensors.iter().map(guard).collect()).collect();
        let mut all = Vec::with_capacity(models.len());
        for (model, guards) in models.iter().zip(&guards) {
            let mut views = ParameterViews::new(model.derived.as_deref());
            for (name, dimensions, (storage, layout)) in guards {
                match (&**storage, layout.contiguous_offsets()) {
                    (Storage::Cpu(CpuStorage::F32(values)), Some((start, end))) => {
                        views.insert(name, dimensions, &values[start..end]);
                    }
                    _ => bail!("parameter {name} is not a contiguous f32 tensor on the CPU"),
                }
            }
            all.push(views);
        }
        work(&all)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Init;
    use super::*;
    use crate::kernels::matrix::{Precision, WriteMode};

    #[test]
    fn remap_rows_copies_rows_with_an_origin() {
        let parameters = |values: [f32; 2], shape: (usize, usize)| {
            let full = |value, shape| Tensor::full(value, shape, &Device::Cpu).unwrap();
            let tensors = [("rows", full(values[0], shape)), ("whole", full(values[1], (1, 1)))];
            Parameters::new(BTreeMap::from(tensors.map(|(name, tensor)| (name.to_owned(), tensor))))
        };
        let (own, base) = (parameters([1.0, 2.0], (3, 2)), parameters([3.0, 4.0], (2, 2)));
        let origins = [Some(1), None, Some(0)];
        let copied = own.remap_rows(&base, |name| (name == "rows").then_some(&origins[..])).unwrap();
        assert_eq!(copied.get("rows").unwrap().to_vec2::<f32>().unwrap(), [[3.0; 2], [1.0; 2], [3.0; 2]]);
        assert_eq!(copied.get("whole").unwrap().to_vec2::<f32>().unwrap(), [[4.0]]);
        assert!(own.remap_rows(&parameters([3.0, 4.0], (2, 5)), |_| Some(&origins)).is_err());
    }

    #[test]
    fn from_tensors_names_the_first_invalid_parameter() {
        let mut spec = ParameterSpec::default();
        spec.add("energy.weight", &[1, 5], Init::Glorot);
        spec.linear("readout", 4, 3);
        let parameters = Parameters::initialize(&spec, 1, &Device::Cpu).unwrap();
        let count: usize = parameters.iter().map(|(_, tensor)| tensor.elem_count()).sum();
        assert_eq!((count, spec.count()), (5 + 12 + 4, 21));
        let attempt = |change: &dyn Fn(&mut BTreeMap<String, Tensor>)| {
            let mut tensors = parameters.tensors.clone();
            change(&mut tensors);
            Parameters::from_tensors(&spec, tensors).map(|_| ()).map_err(|error| error.to_string())
        };
        attempt(&|_| {}).unwrap();
        let tensor = |value: f32| Tensor::full(value, (1, 5), &Device::Cpu).unwrap();
        let name = "energy.weight".to_owned();
        assert!(attempt(&|map| drop(map.remove(&name))).unwrap_err().contains("energy.weight is missing"));
        assert!(attempt(&|map| drop(map.insert(name.clone(), tensor(f32::NAN)))).unwrap_err().contains("not finite"));
        assert!(attempt(&|map| drop(map.insert("x".into(), tensor(0.0)))).unwrap_err().contains("does not belong"));
        let wrong_shape = attempt(&|map| drop(map.insert("readout.bias".into(), tensor(0.0)))).unwrap_err();
        assert!(wrong_shape.contains("[1, 5], expected [4]"), "{wrong_shape}");
    }

    #[test]
    fn keeps_packed_weights_until_parameters_change() {
        let mut spec = ParameterSpec::default();
        spec.linear("readout", 4, 3);
        let packed = |parameters: &Parameters| {
            let pack = |views: &[ParameterViews]| Ok(views[0].pack("readout.weight", Precision::F32, false));
            Parameters::with_views(&[parameters], pack).unwrap()
        };
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
