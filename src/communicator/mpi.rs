//! Processes started by MPI's `mpirun`.

use candle_core::{Result, Tensor};
use mpi::Threading;
use mpi::collective::SystemOperation;
use mpi::environment::Universe;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator as _, CommunicatorCollectives, Root};

use super::Communicator;
use crate::kernels::tensor_mut::with_slice_mut;

/// Values per message, 4 MiB: large enough for the network's full rate, and the buffer stays small.
const BUCKET: usize = 1 << 20;

/// All processes that one `mpirun` started. MPI ends when it is dropped.
pub struct MpiCommunicator {
    world: SimpleCommunicator,
    _universe: Universe,
}

impl MpiCommunicator {
    /// Starts MPI. Returns `None` if it was started before.
    pub fn start() -> Option<Self> {
        // Only the main thread communicates.
        let (universe, _) = mpi::initialize_with_threading(Threading::Funneled)?;
        Some(Self { world: universe.world(), _universe: universe })
    }

    /// Ends all processes with an exit code, also those that wait for this one.
    pub fn abort(&self, exit_code: u8) -> ! {
        self.world.abort(i32::from(exit_code))
    }
}

impl Communicator for MpiCommunicator {
    fn rank(&self) -> usize {
        self.world.rank() as usize
    }

    fn size(&self) -> usize {
        self.world.size() as usize
    }

    fn all_reduce(&self, values: &Tensor) -> Result<()> {
        let mut own = Vec::with_capacity(BUCKET.min(values.elem_count()));
        with_slice_mut(values, |values| {
            for bucket in values.chunks_mut(BUCKET) {
                own.clear();
                own.extend_from_slice(bucket);
                self.world.all_reduce_into(&own[..], bucket, SystemOperation::sum());
            }
            Ok(())
        })
    }

    fn broadcast(&self, bytes: &mut Vec<u8>) -> Result<()> {
        let root = self.world.process_at_rank(0);
        let mut length = bytes.len() as u64;
        root.broadcast_into(&mut length);
        bytes.resize(length as usize, 0);
        // MPI counts in 31 bits.
        bytes.chunks_mut(4 * BUCKET).for_each(|part| root.broadcast_into(part));
        Ok(())
    }
}
