//! Surroundings of a training.

use candle_core::Device;

use crate::communicator::{Communicator, SingleProcess};
use crate::training::Observer;

/// Device, processes and observer of a training.
#[derive(Clone, Copy)]
pub struct RunContext<'a> {
    /// Device that computes.
    pub device: &'a Device,
    /// Processes that train together.
    pub communicator: &'a dyn Communicator,
    /// Receiver of messages and events, which can stop the training.
    pub observer: &'a dyn Observer,
}

impl<'a> RunContext<'a> {
    /// Returns the context of a training in one process.
    pub fn new(device: &'a Device, observer: &'a dyn Observer) -> Self {
        Self { device, communicator: &SingleProcess, observer }
    }
}
