//! First contact of processes on several machines: process 0 sends the same bytes to all others.

use std::collections::BTreeSet;
use std::io::{ErrorKind, Read, Result as IoResult, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// Pause between attempts to connect.
const PAUSE: Duration = Duration::from_millis(50);
/// Time for a connected process to say its rank.
const GREETING_LIMIT: Duration = Duration::from_secs(5);
/// First bytes of a process that connects, before its rank.
const GREETING: [u8; 8] = *b"softalgn";

/// A process among those that train together, in the terms of PyTorch's `torchrun`, and the place where they meet.
#[derive(Clone, Debug)]
pub struct Rendezvous {
    /// Number of the process, from 0.
    pub rank: usize,
    /// Number of processes.
    pub world_size: usize,
    /// Host and port of process 0.
    pub address: String,
}

impl Rendezvous {
    /// Returns process 0's bytes, which only it passes. All processes must start within `limit`.
    ///
    /// # Errors
    /// A process does not start, no connection is possible, or two processes have the same rank.
    pub fn exchange<const N: usize>(&self, bytes: Option<[u8; N]>, limit: Duration) -> Result<[u8; N]> {
        let deadline = Instant::now() + limit;
        match bytes {
            Some(bytes) => {
                self.send(&bytes, deadline).with_context(|| format!("process 0 listens at {}", self.address))?;
                Ok(bytes)
            }
            None => self
                .receive(deadline)
                .with_context(|| format!("process {} connects to process 0 at {}", self.rank, self.address)),
        }
    }

    fn send(&self, bytes: &[u8], deadline: Instant) -> Result<()> {
        let listener = TcpListener::bind(&self.address).context("choose another MASTER_PORT")?;
        listener.set_nonblocking(true)?;
        let mut missing: BTreeSet<usize> = (1..self.world_size).collect();
        while !missing.is_empty() {
            match listener.accept() {
                Ok((mut stream, _)) => {
                    // Others than the processes may try this port.
                    let Ok(Some(rank)) = read_rank(&mut stream) else { continue };
                    if !missing.remove(&rank) {
                        bail!("a second process, or one too many, has the rank {rank} (of {})", self.world_size);
                    }
                    stream.write_all(bytes)?;
                }
                Err(error) if error.kind() != ErrorKind::WouldBlock => return Err(error.into()),
                Err(_) if Instant::now() > deadline => bail!("the processes {missing:?} did not start"),
                Err(_) => std::thread::sleep(PAUSE),
            }
        }
        Ok(())
    }

    fn receive<const N: usize>(&self, deadline: Instant) -> Result<[u8; N]> {
        let mut stream = loop {
            match TcpStream::connect(&self.address) {
                Ok(stream) => break stream,
                Err(error) if Instant::now() > deadline => return Err(error.into()),
                Err(_) => std::thread::sleep(PAUSE),
            }
        };
        stream.write_all(&GREETING)?;
        stream.write_all(&(self.rank as u64).to_le_bytes())?;
        let mut bytes = [0; N];
        stream.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

/// Reads the rank of a process that has connected; `None` if another program has.
fn read_rank(stream: &mut TcpStream) -> IoResult<Option<usize>> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(GREETING_LIMIT))?;
    let [mut greeting, mut rank] = [[0; 8]; 2];
    stream.read_exact(&mut greeting)?;
    stream.read_exact(&mut rank)?;
    Ok((greeting == GREETING).then_some(u64::from_le_bytes(rank) as usize))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(20);

    /// Returns a free address.
    fn address() -> String {
        TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
    }

    fn exchange(address: &str, [rank, world_size]: [usize; 2], limit: Duration) -> Result<[u8; 3]> {
        let address = address.to_owned();
        Rendezvous { rank, world_size, address }.exchange((rank == 0).then_some(*b"abc"), limit)
    }

    #[test]
    fn all_processes_receive_the_bytes() {
        let address = address();
        std::thread::scope(|scope| {
            // The last one starts first, and a stranger connects.
            let others = [2, 1].map(|rank| {
                let address = &address;
                scope.spawn(move || exchange(address, [rank, 3], LIMIT))
            });
            let stranger = scope.spawn(|| {
                let mut stream = loop {
                    match TcpStream::connect(&address) {
                        Ok(stream) => break stream,
                        Err(_) => std::thread::sleep(PAUSE),
                    }
                };
                stream.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
            });
            std::thread::sleep(2 * PAUSE);
            assert_eq!(exchange(&address, [0, 3], LIMIT).unwrap(), *b"abc");
            assert!(others.into_iter().all(|other| other.join().unwrap().unwrap() == *b"abc"));
            drop(stranger);
        });
    }

    #[test]
    fn a_missing_process_is_named() {
        let address = address();
        let error = exchange(&address, [0, 2], Duration::ZERO).unwrap_err();
        assert_eq!(format!("{error:#}"), format!("process 0 listens at {address}: the processes {{1}} did not start"));
        let error = exchange(&address, [1, 2], Duration::ZERO).unwrap_err();
        assert!(format!("{error:#}").starts_with(&format!("process 1 connects to process 0 at {address}: ")));
    }

    #[test]
    fn a_rank_that_is_taken_is_refused() {
        for (rank, size) in [(1, 3), (7, 3)] {
            let address = address();
            std::thread::scope(|scope| {
                for rank in [1, rank] {
                    let address = &address;
                    scope.spawn(move || exchange(address, [rank, size], LIMIT));
                }
                let error = exchange(&address, [0, size], LIMIT).unwrap_err();
                assert!(format!("{error:#}").contains(&format!("has the rank {rank} ")), "{error:#}");
            });
        }
    }
}
