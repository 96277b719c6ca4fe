//! Worker threads of calls.
//!
//! A call takes a pool that is idle, so that calls of several Python threads do not run each other's work while they wait.
//! The pools of a process that forked stay with it: in the child their threads do not exist.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// Largest number of threads, as on the command line.
const MAX_THREADS: usize = 1024;

/// Idle pools of a process.
struct Pools {
    process: u32,
    /// Threads of each pool; 0 stands for all cores.
    threads: usize,
    idle: Vec<ThreadPool>,
}

static POOLS: Mutex<Pools> = Mutex::new(Pools { process: 0, threads: 0, idle: Vec::new() });

/// Locks the pools of this process.
fn pools() -> MutexGuard<'static, Pools> {
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if pools.process != process {
        // Dropping them would wait for threads that only the parent has.
        std::mem::take(&mut pools.idle).into_iter().for_each(std::mem::forget);
        pools.process = process;
    }
    pools
}

/// Lends a pool to `work` and takes it back.
///
/// # Errors
/// The threads cannot be started.
pub fn with_pool<T>(work: impl FnOnce(&ThreadPool) -> T) -> anyhow::Result<T> {
    let (idle, threads) = {
        let mut pools = pools();
        (pools.idle.pop(), pools.threads)
    };
    let pool = match idle {
        Some(pool) => pool,
        None => ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| {
            anyhow::anyhow!("cannot start the worker threads: {error}; choose fewer by softalign.set_threads")
        })?,
    };
    let result = work(&pool);
    let mut pools = pools();
    if pools.threads == threads {
        pools.idle.push(pool);
    }
    Ok(result)
}

/// Sets the number of threads that each call uses.
#[pyfunction]
pub fn set_threads(threads: usize) -> PyResult<()> {
    if !(1..=MAX_THREADS).contains(&threads) {
        return Err(PyValueError::new_err(format!("threads must be between 1 and {MAX_THREADS}, not {threads}")));
    }
    let mut pools = pools();
    if pools.threads != threads {
        pools.threads = threads;
        pools.idle.clear();
    }
    Ok(())
}
