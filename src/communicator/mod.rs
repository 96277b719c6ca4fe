//! Processes that train one model together (data parallelism), in the terms of MPI: each has a rank, and all of them call
//! the collective operations in the same order.

#[cfg(feature = "mpi")]
mod mpi;
#[cfg(feature = "nccl")]
mod nccl;
#[cfg(any(feature = "nccl", test))]
mod rendezvous;

use candle_core::{DType, Device, Error, Result, Tensor};
use serde::Serialize;
use serde::de::DeserializeOwned;

#[cfg(feature = "mpi")]
pub use mpi::MpiCommunicator;
#[cfg(feature = "nccl")]
pub use nccl::NcclCommunicator;
#[cfg(feature = "nccl")]
pub use rendezvous::Rendezvous;

/// Group of processes with the collective operations that training needs.
pub trait Communicator {
    /// Number of this process, from 0.
    fn rank(&self) -> usize;

    /// Number of processes.
    fn size(&self) -> usize;

    /// Replaces the values of a contiguous f32 tensor by their sums over all processes. All processes have the same sums, and
    /// each run has those of the run before.
    ///
    /// # Errors
    /// Communication fails.
    fn all_reduce(&self, values: &Tensor) -> Result<()>;

    /// Replaces bytes by those of process 0. Their number may differ.
    ///
    /// # Errors
    /// Communication fails.
    fn broadcast(&self, bytes: &mut Vec<u8>) -> Result<()>;
}

impl dyn Communicator + '_ {
    /// Waits until all processes are here.
    ///
    /// # Errors
    /// Communication fails.
    pub fn wait_for_all(&self) -> Result<()> {
        self.all_reduce(&Tensor::zeros(1, DType::F32, &Device::Cpu)?)
    }

    /// Returns process 0's value.
    ///
    /// # Errors
    /// The value cannot be serialized, or communication fails.
    pub fn broadcast_value<T: Serialize + DeserializeOwned>(&self, value: T) -> Result<T> {
        if self.size() == 1 {
            return Ok(value);
        }
        let mut bytes = serde_json::to_vec(&value).map_err(Error::wrap)?;
        self.broadcast(&mut bytes)?;
        serde_json::from_slice(&bytes).map_err(Error::wrap)
    }
}

/// A process by itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct SingleProcess;

impl Communicator for SingleProcess {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        1
    }

    fn all_reduce(&self, _: &Tensor) -> Result<()> {
        Ok(())
    }

    fn broadcast(&self, _: &mut Vec<u8>) -> Result<()> {
        Ok(())
    }
}
