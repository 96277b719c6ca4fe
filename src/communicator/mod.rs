//! Processes that train one model together (data parallelism), in the terms of MPI: each has a rank, and all of them call
//! the collective operations in the same order.

#[cfg(feature = "mpi")]
mod mpi;

use serde::Serialize;
use serde::de::DeserializeOwned;

#[cfg(feature = "mpi")]
pub use mpi::MpiCommunicator;

/// Group of processes with the collective operations that training needs.
pub trait Communicator {
    /// Number of this process, from 0.
    fn rank(&self) -> usize;

    /// Number of processes.
    fn size(&self) -> usize;

    /// Replaces values by their sums over all processes. All processes have the same sums, and each run has those of the run
    /// before.
    fn all_reduce(&self, values: &mut [f32]);

    /// Replaces bytes by those of process 0. Their number may differ.
    fn broadcast(&self, bytes: &mut Vec<u8>);
}

impl dyn Communicator + '_ {
    /// Waits until all processes are here.
    pub fn wait_for_all(&self) {
        self.all_reduce(&mut [0.0]);
    }

    /// Returns process 0's value.
    ///
    /// # Errors
    /// The value cannot be serialized.
    pub fn broadcast_value<T: Serialize + DeserializeOwned>(&self, value: T) -> serde_json::Result<T> {
        if self.size() == 1 {
            return Ok(value);
        }
        let mut bytes = serde_json::to_vec(&value)?;
        self.broadcast(&mut bytes);
        serde_json::from_slice(&bytes)
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

    fn all_reduce(&self, _: &mut [f32]) {}

    fn broadcast(&self, _: &mut Vec<u8>) {}
}
