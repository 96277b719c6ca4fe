//! Kernels for NVIDIA GPUs, compiled when a process first uses one, and products by cuBLAS.
//!
//! They replace those operations of [`super::reference`] that would otherwise start many small kernels: whole recurrences, the
//! decoder's loop, cross-entropy, dropout, lookups and the optimizer. [`WithDerivative`] puts a result and its hand-written
//! derivative into candle's graph. Tensors are contiguous and f32; a kernel writes into a tensor that nobody else has yet.

mod device;
mod operations;
mod with_derivative;

use std::sync::OnceLock;

use candle_core::cuda_backend::cudarc::cublas::result::{sgemm, sgemm_strided_batched};
use candle_core::cuda_backend::cudarc::cublas::sys::cublasOperation_t;
use candle_core::cuda_backend::cudarc::driver::{DevicePtr, LaunchConfig, PushKernelArg};
use candle_core::cuda_backend::cudarc::nvrtc::{CompileOptions, compile_ptx_with_opts};
use candle_core::{CudaDevice, DType, Device, Error, Result, Shape, Storage, Tensor, bail};

pub use device::open;
pub use operations::{AttentionInputs, GruStepGrads, GruStepInputs};
pub use operations::{
    adam_step, attention_backward, attention_forward, cross_entropy, dropout, gru_backward, gru_forward, gru_sequence,
    select_rows, sum_of_columns, sum_of_squares, update_ema, weight_gradient,
};
pub use with_derivative::with_derivative;

const SOURCE: &str = include_str!("kernels.cu");

/// Threads of a block.
const THREADS: usize = 256;

/// Argument of a kernel.
#[derive(Clone, Copy)]
enum Argument<'a> {
    Tensor(&'a Tensor),
    /// A pointer that is null if the tensor is absent.
    Optional(Option<&'a Tensor>),
    Integer(usize),
    Bits(u32),
    Number(f64),
}

/// Value as the kernel receives it.
enum Value {
    Address(u64),
    Integer(u32),
    Number(f32),
}

impl Argument<'_> {
    fn value(&self) -> Result<Value> {
        Ok(match *self {
            Self::Tensor(tensor) | Self::Optional(Some(tensor)) => Value::Address(address(tensor)?),
            Self::Optional(None) => Value::Address(0),
            Self::Integer(integer) => Value::Integer(u32::try_from(integer).map_err(Error::wrap)?),
            Self::Bits(bits) => Value::Integer(bits),
            Self::Number(number) => Value::Number(number as f32),
        })
    }
}

/// Blocks and threads of a launch, and bytes of shared memory per block.
struct Grid {
    blocks: usize,
    /// Threads of a block in two dimensions.
    threads: [usize; 2],
    shared_bytes: usize,
}

impl Grid {
    /// One thread per item.
    fn over(items: usize) -> Self {
        Self::blocks(items.div_ceil(THREADS))
    }

    fn blocks(blocks: usize) -> Self {
        Self { blocks, threads: [THREADS, 1], shared_bytes: 0 }
    }
}

/// Matrix of a product, as stored or transposed.
#[derive(Clone, Copy)]
pub struct Factor<'a> {
    matrix: &'a Tensor,
    transposed: bool,
}

/// A matrix as stored.
pub fn plain(matrix: &Tensor) -> Factor<'_> {
    Factor { matrix, transposed: false }
}

/// A matrix transposed.
pub fn transposed(matrix: &Tensor) -> Factor<'_> {
    Factor { matrix, transposed: true }
}

impl Factor<'_> {
    /// Rows and columns, after transposition; leading dimensions count as rows.
    fn dims(&self) -> Result<[usize; 2]> {
        let columns = self.matrix.dim(candle_core::D::Minus1)?;
        let rows = self.matrix.elem_count() / columns.max(1);
        Ok(if self.transposed { [columns, rows] } else { [rows, columns] })
    }

    /// Columns of the matrix as stored.
    fn stored_width(&self) -> Result<i32> {
        Ok(self.matrix.dim(candle_core::D::Minus1)? as i32)
    }

    fn operation(&self) -> cublasOperation_t {
        if self.transposed { cublasOperation_t::CUBLAS_OP_T } else { cublasOperation_t::CUBLAS_OP_N }
    }
}

fn cuda_device(tensor: &Tensor) -> Result<&CudaDevice> {
    match tensor.device() {
        Device::Cuda(device) => Ok(device),
        _ => bail!("the tensor is not on a GPU"),
    }
}

/// Address of a contiguous tensor's first value.
fn address(tensor: &Tensor) -> Result<u64> {
    let (storage, layout) = tensor.storage_and_layout();
    let (Storage::Cuda(storage), Some((start, _))) = (&*storage, layout.contiguous_offsets()) else {
        bail!("not a contiguous tensor on a GPU: {layout:?}")
    };
    let stream = storage.device.cuda_stream();
    let address = match tensor.dtype() {
        DType::F32 => storage.as_cuda_slice::<f32>()?.device_ptr(&stream).0,
        DType::U32 => storage.as_cuda_slice::<u32>()?.device_ptr(&stream).0,
        other => bail!("no kernel takes {other:?}"),
    };
    // Both types have 4 bytes.
    Ok(address + 4 * start as u64)
}

/// A tensor whose values a kernel will write.
pub fn uninitialized(shape: impl Into<Shape>, device: &Device) -> Result<Tensor> {
    // SAFETY: callers pass the tensor to a kernel that writes every value before any is read.
    unsafe { Tensor::empty(shape, DType::F32, device) }
}

/// The kernels as PTX for a compute capability.
fn compile(capability: (i32, i32)) -> Result<String> {
    let architecture = format!("--gpu-architecture=compute_{}{}", capability.0, capability.1);
    let options = CompileOptions { options: vec![architecture], ..CompileOptions::default() };
    Ok(compile_ptx_with_opts(SOURCE, options).map_err(Error::wrap)?.to_src())
}

fn launch(device: &CudaDevice, kernel: &str, grid: Grid, arguments: &[Argument]) -> Result<()> {
    static PTX: OnceLock<String> = OnceLock::new();
    let ptx = match PTX.get() {
        Some(ptx) => ptx,
        None => {
            let capability = device.cuda_stream().context().compute_capability().map_err(Error::wrap)?;
            let compiled = compile(capability)?;
            PTX.get_or_init(|| compiled)
        }
    };
    if grid.blocks == 0 {
        return Ok(());
    }
    let function = device.get_or_load_custom_func(kernel, "softalign", ptx)?;
    let values: Vec<Value> = arguments.iter().map(Argument::value).collect::<Result<_>>()?;
    let mut builder = function.builder();
    for value in &values {
        match value {
            Value::Address(address) => builder.arg(address),
            Value::Integer(integer) => builder.arg(integer),
            Value::Number(number) => builder.arg(number),
        };
    }
    let config = LaunchConfig {
        grid_dim: (grid.blocks as u32, 1, 1),
        block_dim: (grid.threads[0] as u32, grid.threads[1] as u32, 1),
        shared_mem_bytes: grid.shared_bytes as u32,
    };
    // SAFETY: the callers in `operations` pass what the kernel's signature says, and tensors of the sizes it reads and writes.
    unsafe { builder.launch(config) }.map_err(Error::wrap)?;
    Ok(())
}

/// out ← A B + β out
///
/// # Errors
/// The shapes do not match.
pub fn product(a: Factor, b: Factor, beta: f32, out: &Tensor) -> Result<()> {
    let ([rows, inner], [also_inner, columns]) = (a.dims()?, b.dims()?);
    if inner != also_inner || out.elem_count() != rows * columns {
        bail!("a product of [{rows}, {inner}] and [{also_inner}, {columns}] is not {:?}", out.shape());
    }
    if out.elem_count() == 0 {
        return Ok(());
    }
    let (width_a, width_b) = (a.stored_width()?, b.stored_width()?);
    let (address_a, address_b, address_out) = (address(a.matrix)?, address(b.matrix)?, address(out)?);
    let blas = cuda_device(out)?.cublas_handle();
    // cuBLAS stores columns, so that it sees transposed matrices: outᵀ = Bᵀ Aᵀ.
    // SAFETY: the addresses are those of matrices with the sizes that were checked.
    unsafe {
        sgemm(
            *blas.handle(),
            b.operation(),
            a.operation(),
            columns as i32,
            rows as i32,
            inner as i32,
            &1.0,
            address_b as *const f32,
            width_b,
            address_a as *const f32,
            width_a,
            &beta,
            address_out as *mut f32,
            columns as i32,
        )
    }
    .map_err(Error::wrap)
}

/// Sums over steps of outer products, for each row of a batch: `[steps, batch, m]` and `[steps, batch, n]` to `[batch, m, n]`.
///
/// # Errors
/// The shapes do not match.
pub fn outer_products(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    let ((steps, batch, m), (_, _, n)) = (a.dims3()?, b.dims3()?);
    if b.dims3()? != (steps, batch, n) {
        bail!("{:?} and {:?} are not steps of one batch", a.shape(), b.shape());
    }
    let out = uninitialized((batch, m, n), a.device())?;
    if out.elem_count() == 0 {
        return Ok(out);
    }
    let (address_a, address_b, address_out) = (address(a)?, address(b)?, address(&out)?);
    let blas = cuda_device(a)?.cublas_handle();
    // SAFETY: as in `product`; row i of the batch begins i m and i n values after the first.
    unsafe {
        sgemm_strided_batched(
            *blas.handle(),
            cublasOperation_t::CUBLAS_OP_N,
            cublasOperation_t::CUBLAS_OP_T,
            n as i32,
            m as i32,
            steps as i32,
            &1.0,
            address_b as *const f32,
            (batch * n) as i32,
            n as i64,
            address_a as *const f32,
            (batch * m) as i32,
            m as i64,
            &0.0,
            address_out as *mut f32,
            n as i32,
            (m * n) as i64,
            batch as i32,
        )
    }
    .map_err(Error::wrap)?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Needs the compiler's library, not a GPU.
    #[test]
    fn kernels_compile() {
        let ptx = compile((7, 5)).unwrap();
        for line in SOURCE.lines().filter(|line| line.starts_with("extern")) {
            let name = line.split('(').next().unwrap().rsplit(' ').next().unwrap();
            assert!(ptx.contains(&format!(".entry {name}(")), "{name}");
        }
    }
}
