//! Processes that train one model together, each of which runs the same command: on CPUs, those that `mpirun` started; on
//! GPUs, those that the environment describes as for PyTorch.

use std::time::Duration;

use anyhow::Result;
#[cfg(feature = "nccl")]
use anyhow::{Context, anyhow};
use candle_core::Device;

use crate::cli::{Cli, Command, DeviceName};
#[cfg(feature = "mpi")]
use crate::communicator::MpiCommunicator;
use crate::communicator::{Communicator, SingleProcess};
#[cfg(feature = "nccl")]
use crate::communicator::{NcclCommunicator, Rendezvous};
use crate::error::usage;

/// Numbers of processes: Open MPI's, and that of MPICH and its relatives.
const MPI_SIZE_VARIABLES: [&str; 2] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"];

/// Number of processes with GPUs: PyTorch's.
const WORLD_SIZE: &str = "WORLD_SIZE";

/// torchrun's default for MASTER_PORT.
#[cfg(feature = "nccl")]
const DEFAULT_PORT: usize = 29_500;

/// Time that the first process has to report an error of all before the others do.
const REPORT_DELAY: Duration = Duration::from_secs(2);

/// The processes of this command.
pub enum Processes {
    /// A single process.
    Single,
    /// Processes that `mpirun` started.
    #[cfg(feature = "mpi")]
    Mpi(MpiCommunicator),
    /// A process for each GPU.
    #[cfg(feature = "nccl")]
    Nccl(NcclCommunicator),
}

impl Processes {
    /// Joins the other processes of a training. Other commands run in each process by itself.
    ///
    /// # Errors
    /// There are others, but this program was built without MPI or NCCL ([`UsageError`](crate::error::UsageError)); a
    /// process or GPU is missing.
    pub fn start(cli: &Cli) -> Result<Self> {
        if !matches!(cli.command, Command::Train(_)) {
            return Ok(Self::Single);
        }
        let by_mpi = MPI_SIZE_VARIABLES.iter().find_map(|name| number(name)).filter(|&size| size > 1);
        let with_gpus = number(WORLD_SIZE).filter(|&size| size > 1);
        match (cli.device, by_mpi, with_gpus) {
            (DeviceName::Cpu, Some(size), _) => Self::join_mpi(size),
            (DeviceName::Cuda, _, Some(size)) => Self::join_gpus(size),
            (DeviceName::Cuda, Some(size), None) => usage(format!(
                "mpirun started {size} processes, which train on CPUs: start those with GPUs by torchrun or \
                 scripts/train_on_gpus.sh"
            )),
            (DeviceName::Cpu, None, _) | (DeviceName::Cuda, None, None) => Ok(Self::Single),
        }
    }

    #[cfg(feature = "mpi")]
    fn join_mpi(_size: usize) -> Result<Self> {
        Ok(MpiCommunicator::start().map_or(Self::Single, Self::Mpi))
    }

    #[cfg(not(feature = "mpi"))]
    fn join_mpi(size: usize) -> Result<Self> {
        usage(format!(
            "mpirun started {size} processes, but this program was built without MPI: build it with --features mpi"
        ))
    }

    #[cfg(feature = "nccl")]
    fn join_gpus(world_size: usize) -> Result<Self> {
        let rank = number("RANK").filter(|&rank| rank < world_size);
        let rank = rank.ok_or_else(|| anyhow!("the variable RANK must be less than {WORLD_SIZE}, {world_size}"))?;
        let gpu = number("LOCAL_RANK").unwrap_or(rank);
        let device = crate::gpu(gpu).with_context(|| format!("process {rank} has no GPU {gpu}"))?;
        let host = std::env::var("MASTER_ADDR").unwrap_or_else(|_| "localhost".to_owned());
        // torchrun itself listens at MASTER_PORT.
        let port = number("MASTER_PORT").unwrap_or(DEFAULT_PORT) + 1;
        let place = Rendezvous { rank, world_size, address: format!("{host}:{port}") };
        Ok(Self::Nccl(NcclCommunicator::start(&place, &device)?))
    }

    #[cfg(not(feature = "nccl"))]
    fn join_gpus(world_size: usize) -> Result<Self> {
        usage(format!(
            "{WORLD_SIZE} is {world_size}, but this program was built without NCCL: build it with --features nccl, or \
             unset {WORLD_SIZE}"
        ))
    }

    /// Returns the GPU of this process, if it is one of several with GPUs.
    pub fn gpu(&self) -> Option<&Device> {
        match self {
            #[cfg(feature = "nccl")]
            Self::Nccl(communicator) => Some(communicator.device()),
            _ => None,
        }
    }

    /// Returns what training communicates by.
    pub fn communicator(&self) -> &dyn Communicator {
        match self {
            Self::Single => &SingleProcess,
            #[cfg(feature = "mpi")]
            Self::Mpi(communicator) => communicator,
            #[cfg(feature = "nccl")]
            Self::Nccl(communicator) => communicator,
        }
    }

    /// True for the process that reports.
    pub fn is_first(&self) -> bool {
        self.communicator().rank() == 0
    }

    /// Waits before an error of another process than the first is reported, since most are errors of all.
    pub fn wait_to_report(&self) {
        if !self.is_first() {
            std::thread::sleep(REPORT_DELAY);
        }
    }

    /// Ends the other processes if this one failed, since they would wait for it.
    pub fn end(self, exit_code: u8) -> u8 {
        match self {
            #[cfg(feature = "mpi")]
            Self::Mpi(communicator) if matches!(exit_code, 1 | 2) => communicator.abort(exit_code),
            _ => exit_code,
        }
    }
}

fn number(variable: &str) -> Option<usize> {
    std::env::var(variable).ok()?.parse().ok()
}
