//! The parameters of one model, by PyTorch's names and layouts.

use std::collections::BTreeMap;

use candle_core::{CpuStorage, DType, Device, Result, Shape, Storage, Tensor, Var, bail};

use super::{Plan, Slices};
use crate::kernels::gru::GruWeights;
use crate::kernels::values::all_finite;
use crate::random::SeededRng;

/// Tensors by name.
#[derive(Clone, Debug)]
pub struct Parameters {
    tensors: BTreeMap<String, Tensor>,
}

impl Parameters {
    /// Draws initial parameters; each from a stream of its own, so that none depends on another's size.
    pub fn initialise(plan: &Plan, seed: u64, device: &Device) -> Result<Self> {
        let draw = |planned: &super::plan::Planned| {
            let values = planned.start.draw(&planned.shape, &mut SeededRng::new(seed, &planned.name, 0));
            Ok((planned.name.clone(), Tensor::from_vec(values, planned.shape.as_slice(), device)?))
        };
        Ok(Self { tensors: plan.iter().map(draw).collect::<Result<_>>()? })
    }

    /// Takes parameters from elsewhere, checking that each is there, has its shape and holds finite numbers.
    ///
    /// # Errors
    /// Names the first parameter that is missing, surplus, misshapen or not finite.
    pub fn from_tensors(plan: &Plan, mut found: BTreeMap<String, Tensor>) -> Result<Self> {
        let mut tensors = BTreeMap::new();
        for planned in plan.iter() {
            let (name, shape) = (&planned.name, &planned.shape);
            let Some(tensor) = found.remove(name) else { bail!("parameter {name} is missing") };
            if tensor.shape() != &Shape::from(shape.clone()) {
                bail!("parameter {name} has shape {:?} where the settings ask for {shape:?}", tensor.dims());
            }
            if !all_finite(&tensor)? {
                bail!("parameter {name} holds numbers that are not finite");
            }
            tensors.insert(name.clone(), tensor);
        }
        match found.keys().next() {
            Some(surplus) => bail!("parameter {surplus} does not belong to this model"),
            None => Ok(Self { tensors }),
        }
    }

    /// The mean of several models' parameters, which have the same names and shapes.
    ///
    /// # Errors
    /// They have not.
    pub fn mean(models: &[&Self]) -> Result<Self> {
        let Some((first, others)) = models.split_first() else { bail!("no parameters to take the mean of") };
        let share = 1.0 / models.len() as f64;
        let mut tensors = BTreeMap::new();
        for (name, tensor) in &first.tensors {
            let mut sum = tensor.affine(share, 0.0)?;
            for other in others {
                sum = (sum + other.get(name)?.affine(share, 0.0)?)?;
            }
            tensors.insert(name.clone(), sum);
        }
        Ok(Self { tensors })
    }

    /// The cosine between two models' parameters, all in one row: near 0 of those that began apart, near 1 of those that one
    /// training went through one after the other.
    ///
    /// # Errors
    /// The names or shapes are others.
    pub fn cosine(&self, other: &Self) -> Result<f64> {
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

    /// The values of other parameters under the same names. Where `origins` names rows for a parameter, each of its rows is
    /// the other's of that number, or one of these where there is none.
    ///
    /// # Errors
    /// The other ones lack a name, or have rows of other sizes.
    pub fn carrying<'o>(&self, other: &Self, origins: impl Fn(&str) -> Option<&'o [Option<u32>]>) -> Result<Self> {
        let mut tensors = BTreeMap::new();
        for (name, own) in &self.tensors {
            let carried = other.get(name)?;
            let carried = match origins(name) {
                None => carried,
                Some(origins) => {
                    let others = carried.dim(0)? as u32;
                    let rows: Vec<u32> = (others..).zip(origins).map(|(own, origin)| origin.unwrap_or(own)).collect();
                    let rows = Tensor::new(rows, own.device())?;
                    Tensor::cat(&[&carried, own], 0)?.index_select(&rows, 0)?
                }
            };
            tensors.insert(name.clone(), carried);
        }
        Ok(Self { tensors })
    }

    /// The same values as variables, whose operations are recorded for back-propagation.
    pub fn tracked(&self) -> Result<Self> {
        let mut tensors = BTreeMap::new();
        for (name, tensor) in &self.tensors {
            tensors.insert(name.clone(), Var::from_tensor(tensor)?.into_inner());
        }
        Ok(Self { tensors })
    }

    /// The same values in places of their own.
    pub fn copied(&self) -> Result<Self> {
        let copy = |(name, tensor): (&String, &Tensor)| Ok((name.clone(), tensor.detach().copy()?));
        Ok(Self { tensors: self.tensors.iter().map(copy).collect::<Result<_>>()? })
    }

    /// All parameters by name, to be put elsewhere.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&String, &mut Tensor)> {
        self.tensors.iter_mut()
    }

    /// All parameters by name, in alphabetical order.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &Tensor)> {
        self.tensors.iter()
    }

    /// The parameter of that name.
    ///
    /// # Errors
    /// There is none.
    pub fn get(&self, name: &str) -> Result<Tensor> {
        match self.tensors.get(name) {
            Some(tensor) => Ok(tensor.clone()),
            None => bail!("no parameter {name}"),
        }
    }

    /// The four tensors of a recurrent cell; `name` makes the name of each part.
    pub fn gru(&self, name: impl Fn(&str) -> String) -> Result<GruWeights> {
        let part = |part: &str| self.get(&name(part));
        Ok(GruWeights {
            weight_ih: part("weight_ih")?,
            weight_hh: part("weight_hh")?,
            bias_ih: part("bias_ih")?,
            bias_hh: part("bias_hh")?,
        })
    }

    /// Lends all parameters of some models to `work`, as slices.
    ///
    /// # Errors
    /// A parameter does not lie on the CPU as one block of f32.
    pub fn lend<R>(models: &[&Self], work: impl FnOnce(&[Slices]) -> Result<R>) -> Result<R> {
        let guard = |(name, tensor)| {
            let (name, tensor): (&String, &Tensor) = (name, tensor);
            (name.as_str(), tensor.dims(), tensor.storage_and_layout())
        };
        let guards: Vec<Vec<_>> = models.iter().map(|model| model.tensors.iter().map(guard).collect()).collect();
        let mut all = Vec::with_capacity(models.len());
        for guards in &guards {
            let mut slices = Slices::default();
            for (name, dimensions, (storage, layout)) in guards {
                match (&**storage, layout.contiguous_offsets()) {
                    (Storage::Cpu(CpuStorage::F32(values)), Some((start, end))) => {
                        slices.insert(name, dimensions, &values[start..end]);
                    }
                    _ => bail!("parameter {name} does not lie on the CPU as one block of f32"),
                }
            }
            all.push(slices);
        }
        work(&all)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Start;
    use super::*;

    #[test]
    fn rows_are_carried_where_they_have_an_origin() {
        let parameters = |values: [f32; 2], shape: (usize, usize)| {
            let full = |value, shape| Tensor::full(value, shape, &Device::Cpu).unwrap();
            let tensors = [("rows", full(values[0], shape)), ("whole", full(values[1], (1, 1)))];
            Parameters { tensors: tensors.map(|(name, tensor)| (name.to_owned(), tensor)).into() }
        };
        let (drawn, old) = (parameters([1.0, 2.0], (3, 2)), parameters([3.0, 4.0], (2, 2)));
        let origins = [Some(1), None, Some(0)];
        let carried = drawn.carrying(&old, |name| (name == "rows").then_some(&origins[..])).unwrap();
        assert_eq!(carried.get("rows").unwrap().to_vec2::<f32>().unwrap(), [[3.0; 2], [1.0; 2], [3.0; 2]]);
        assert_eq!(carried.get("whole").unwrap().to_vec2::<f32>().unwrap(), [[4.0]]);
        assert!(drawn.carrying(&parameters([3.0, 4.0], (2, 5)), |_| Some(&origins)).is_err());
    }

    #[test]
    fn foreign_parameters_are_named() {
        let mut plan = Plan::default();
        plan.add("energy.weight", &[1, 5], Start::Glorot);
        plan.linear("readout", 4, 3);
        let parameters = Parameters::initialise(&plan, 1, &Device::Cpu).unwrap();
        let count: usize = parameters.iter().map(|(_, tensor)| tensor.elem_count()).sum();
        assert_eq!((count, plan.count()), (5 + 12 + 4, 21));
        let attempt = |change: &dyn Fn(&mut BTreeMap<String, Tensor>)| {
            let mut tensors = parameters.tensors.clone();
            change(&mut tensors);
            Parameters::from_tensors(&plan, tensors).map(|_| ()).map_err(|error| error.to_string())
        };
        attempt(&|_| {}).unwrap();
        let tensor = |value: f32| Tensor::full(value, (1, 5), &Device::Cpu).unwrap();
        let name = "energy.weight".to_owned();
        assert!(attempt(&|map| drop(map.remove(&name))).unwrap_err().contains("energy.weight is missing"));
        assert!(attempt(&|map| drop(map.insert(name.clone(), tensor(f32::NAN)))).unwrap_err().contains("not finite"));
        assert!(attempt(&|map| drop(map.insert("x".into(), tensor(0.0)))).unwrap_err().contains("does not belong"));
        let misshapen = attempt(&|map| drop(map.insert("readout.bias".into(), tensor(0.0)))).unwrap_err();
        assert!(misshapen.contains("[1, 5] where the settings ask for [4]"), "{misshapen}");
    }
}
