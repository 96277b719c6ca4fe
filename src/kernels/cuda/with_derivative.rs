//! Results with hand-written derivatives in candle's graph.

use candle_core::backend::BackendStorage;
use candle_core::{CpuStorage, CudaStorage, CustomOp3, Layout, Result, Shape, Storage, Tensor, bail};

/// Derivatives with respect to the three inputs, given that of the result.
type Derivative = Box<dyn Fn(&Tensor) -> Result<[Option<Tensor>; 3]> + Send + Sync>;

struct WithDerivative {
    result: Tensor,
    derivative: Derivative,
}

impl CustomOp3 for WithDerivative {
    fn name(&self) -> &'static str {
        "with derivative"
    }

    fn cpu_fwd(
        &self,
        _: &CpuStorage,
        _: &Layout,
        _: &CpuStorage,
        _: &Layout,
        _: &CpuStorage,
        _: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        bail!("the result is on a GPU")
    }

    fn cuda_fwd(
        &self,
        _: &CudaStorage,
        _: &Layout,
        _: &CudaStorage,
        _: &Layout,
        _: &CudaStorage,
        _: &Layout,
    ) -> Result<(CudaStorage, Shape)> {
        match &*self.result.storage_and_layout().0 {
            Storage::Cuda(storage) => Ok((storage.try_clone(self.result.layout())?, self.result.shape().clone())),
            _ => bail!("the result is not on a GPU"),
        }
    }

    fn bwd(
        &self,
        _: &Tensor,
        _: &Tensor,
        _: &Tensor,
        _: &Tensor,
        d_result: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
        let [first, second, third] = (self.derivative)(&d_result.contiguous()?)?;
        Ok((first, second, third))
    }
}

/// A result that was computed from the detached inputs, with its derivatives with respect to each. An input that has no
/// derivative may be repeated.
///
/// # Errors
/// The device is out of memory.
pub fn with_derivative(
    inputs: [&Tensor; 3],
    result: Tensor,
    derivative: impl Fn(&Tensor) -> Result<[Option<Tensor>; 3]> + Send + Sync + 'static,
) -> Result<Tensor> {
    let operation = WithDerivative { result, derivative: Box::new(derivative) };
    inputs[0].apply_op3(inputs[1], inputs[2], operation)
}
