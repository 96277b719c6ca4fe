//! Processes with one NVIDIA GPU each, which communicate through NCCL.

use std::time::Duration;

use candle_core::cuda_backend::CudaStorage;
use candle_core::cuda_backend::cudarc::nccl::result::NcclError;
use candle_core::cuda_backend::cudarc::nccl::{Comm, Id, ReduceOp};
use candle_core::{CpuStorage, Device, InplaceOp1, Layout, Result, Tensor, bail};

use super::{Communicator, Rendezvous};

/// Time within which all processes must start.
const START_LIMIT: Duration = Duration::from_secs(300);

/// All processes of a training on several GPUs.
pub struct NcclCommunicator {
    comm: Comm,
    device: Device,
}

impl NcclCommunicator {
    /// Waits for the other processes and connects their GPUs with `device`, the GPU of this one.
    ///
    /// # Errors
    /// A process is missing, no connection is possible, or two processes have the same GPU.
    pub fn start(place: &Rendezvous, device: &Device) -> anyhow::Result<Self> {
        let stream = device.as_cuda_device()?.cuda_stream();
        let own = match place.rank {
            0 => Some(Id::new().map_err(failure)?.internal().map(|byte| byte as u8)),
            _ => None,
        };
        let id = Id::uninit(place.exchange(own, START_LIMIT)?.map(|byte| byte as _));
        let comm = Comm::from_rank(stream, place.rank, place.world_size, id).map_err(failure)?;
        Ok(Self { comm, device: device.clone() })
    }

    /// Returns the GPU of this process.
    pub fn device(&self) -> &Device {
        &self.device
    }

    fn broadcast_bytes(&self, bytes: &[u8]) -> Result<Vec<u8>> {
        let bytes = Tensor::from_slice(bytes, bytes.len(), &self.device)?;
        bytes.inplace_op1(&Collective { comm: &self.comm, operation: Operation::Broadcast })?;
        bytes.to_vec1()
    }
}

impl Communicator for NcclCommunicator {
    fn rank(&self) -> usize {
        self.comm.rank()
    }

    fn size(&self) -> usize {
        self.comm.world_size()
    }

    fn all_reduce(&self, values: &Tensor) -> Result<()> {
        let sum = Collective { comm: &self.comm, operation: Operation::Sum };
        if values.device().is_cuda() {
            return values.inplace_op1(&sum);
        }
        let sums = values.to_device(&self.device)?;
        sums.inplace_op1(&sum)?;
        values.slice_set(&sums.to_device(values.device())?, 0, 0)
    }

    fn broadcast(&self, bytes: &mut Vec<u8>) -> Result<()> {
        let length = self.broadcast_bytes(&(bytes.len() as u64).to_le_bytes())?;
        let length = length.iter().rfold(0, |length, &byte| length << 8 | usize::from(byte));
        bytes.resize(length, 0);
        *bytes = self.broadcast_bytes(bytes)?;
        Ok(())
    }
}

enum Operation {
    /// Sums of f32 values.
    Sum,
    /// Bytes of process 0.
    Broadcast,
}

/// Collective operation in place on a contiguous tensor.
struct Collective<'a> {
    comm: &'a Comm,
    operation: Operation,
}

impl InplaceOp1 for Collective<'_> {
    fn name(&self) -> &'static str {
        "collective operation"
    }

    fn cpu_fwd(&self, _: &mut CpuStorage, _: &Layout) -> Result<()> {
        bail!("NCCL communicates what is on a GPU")
    }

    fn cuda_fwd(&self, storage: &mut CudaStorage, layout: &Layout) -> Result<()> {
        let Some((start, end)) = layout.contiguous_offsets() else { bail!("not a contiguous tensor: {layout:?}") };
        let done = match self.operation {
            Operation::Sum => {
                let mut values = storage.as_cuda_slice_mut::<f32>()?.slice_mut(start..end);
                self.comm.all_reduce_in_place(&mut values, &ReduceOp::Sum)
            }
            Operation::Broadcast => {
                let mut bytes = storage.as_cuda_slice_mut::<u8>()?.slice_mut(start..end);
                self.comm.broadcast_in_place(&mut bytes, 0)
            }
        };
        done.map(|_| ()).map_err(failure)
    }
}

fn failure(NcclError(code): NcclError) -> candle_core::Error {
    candle_core::Error::msg(format!("NCCL failed with {code:?}; NCCL_DEBUG=WARN shows more"))
}
