//! Working memory that is used again.
//!
//! A training step asks for the same large blocks as the one before it. Fresh ones would have to be fetched from the
//! operating system and cleared page by page, so a block that is done with goes back to a shelf that all threads share.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, PoisonError};

static SHELF: Mutex<Vec<Vec<f32>>> = Mutex::new(Vec::new());

/// A block of numbers that returns to the shelf when it is dropped.
#[derive(Debug, Default)]
pub struct Buffer(Vec<f32>);

impl Buffer {
    /// `length` numbers of any value: for those who write before they read.
    pub fn any(length: usize) -> Self {
        let mut values = take(length);
        values.resize(length, 0.0);
        Self(values)
    }

    /// `length` zeros.
    pub fn zeros(length: usize) -> Self {
        let mut values = take(length);
        values.clear();
        values.resize(length, 0.0);
        Self(values)
    }

    /// Changes the length where it is another; what it holds is then any value.
    pub fn make(&mut self, length: usize) {
        if self.0.len() != length {
            *self = Self::any(length);
        }
    }

    /// A copy of some numbers.
    pub fn copy_of(values: &[f32]) -> Self {
        let mut copy = take(values.len());
        copy.clear();
        copy.extend_from_slice(values);
        Self(copy)
    }
}

/// The smallest block on the shelf that holds `length` numbers. Where none does, the largest makes way for a new one,
/// so that the shelf never holds more blocks than were once in use together.
fn take(length: usize) -> Vec<f32> {
    let mut shelf = SHELF.lock().unwrap_or_else(PoisonError::into_inner);
    let fits = |block: &&Vec<f32>| block.capacity() >= length;
    let smallest = shelf.iter().filter(fits).map(Vec::capacity).min();
    match smallest.or_else(|| shelf.iter().map(Vec::capacity).max()) {
        Some(capacity) => {
            let place = shelf.iter().position(|block| block.capacity() == capacity).unwrap_or_default();
            let block = shelf.swap_remove(place);
            if capacity >= length { block } else { Vec::with_capacity(length) }
        }
        None => Vec::with_capacity(length),
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.0.capacity() > 0 {
            SHELF.lock().unwrap_or_else(PoisonError::into_inner).push(std::mem::take(&mut self.0));
        }
    }
}

impl Deref for Buffer {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        &self.0
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [f32] {
        &mut self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_back_is_as_asked() {
        for length in [0, 1, 70_001, 3] {
            let mut buffer = Buffer::any(length);
            assert_eq!(buffer.len(), length);
            buffer.fill(7.0);
        }
        assert!(Buffer::zeros(70_000).iter().all(|&value| value == 0.0));
        assert_eq!(&*Buffer::copy_of(&[1.0, 2.0]), [1.0, 2.0]);
    }
}
