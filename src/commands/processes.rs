//! Processes that `mpirun` started, each of which runs the same command.

use std::time::Duration;

use crate::cli::Command;
#[cfg(feature = "mpi")]
use crate::communicator::MpiCommunicator;
use crate::communicator::{Communicator, SingleProcess};

/// Numbers of processes: Open MPI's, and that of MPICH and its relatives.
const SIZE_VARIABLES: [&str; 2] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"];

/// Time that the first process has to report an error of all before the others do.
const REPORT_DELAY: Duration = Duration::from_secs(2);

/// The processes of this command.
pub enum Processes {
    /// This one only.
    Single,
    /// All that `mpirun` started.
    #[cfg(feature = "mpi")]
    Mpi(MpiCommunicator),
}

impl Processes {
    /// Joins the other processes of a training. Other commands run in each process by itself.
    ///
    /// # Errors
    /// There are others, but this program was built without MPI ([`UsageError`](crate::error::UsageError)).
    pub fn start(command: &Command) -> anyhow::Result<Self> {
        let size = SIZE_VARIABLES.iter().find_map(|name| std::env::var(name).ok()?.parse::<usize>().ok());
        match (command, size) {
            (Command::Train(_), Some(size)) if size > 1 => Self::join(size),
            _ => Ok(Self::Single),
        }
    }

    #[cfg(feature = "mpi")]
    fn join(_size: usize) -> anyhow::Result<Self> {
        Ok(MpiCommunicator::start().map_or(Self::Single, Self::Mpi))
    }

    #[cfg(not(feature = "mpi"))]
    fn join(size: usize) -> anyhow::Result<Self> {
        crate::error::usage(format!(
            "mpirun started {size} processes, but this program was built without MPI: build it with --features mpi"
        ))
    }

    /// Returns what training communicates by.
    pub fn communicator(&self) -> &dyn Communicator {
        match self {
            Self::Single => &SingleProcess,
            #[cfg(feature = "mpi")]
            Self::Mpi(communicator) => communicator,
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
