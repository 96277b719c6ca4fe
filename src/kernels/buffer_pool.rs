//! Working memory that is used again.
//!
//! A training step asks for the same large free as the one before it. Fresh ones would have to be fetched from the
//! operating system and cleared page by page, so a block that is done with goes back to a shelf that all threads share.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};

static POOL: Mutex<BufferPool> = Mutex::new(BufferPool { free: Vec::new(), capacity: 0, in_use: 0, peak: 0 });

/// Blocks that nobody works in, with the count of all, in numbers.
///
/// Batches come in many shapes, and a large block may serve a small wish. Were no block ever given up, each rare
/// coincidence of wishes would leave the shelf larger for good.
struct BufferPool {
    /// The one that has lain longest first.
    free: Vec<Vec<f32>>,
    /// The capacity of all free, on the shelf or in use.
    capacity: usize,
    /// What those in use were asked for.
    in_use: usize,
    /// The peak that was ever in_use together.
    peak: usize,
}

impl BufferPool {
    fn global() -> MutexGuard<'static, Self> {
        POOL.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The smallest block that holds `length` numbers, a new one where none does.
    fn take(&mut self, length: usize) -> Vec<f32> {
        self.in_use += length;
        self.peak = self.peak.max(self.in_use);
        let fitting = self.free.iter().enumerate().filter(|(_, block)| block.capacity() >= length);
        if let Some((index, _)) = fitting.min_by_key(|(_, block)| block.capacity()) {
            return self.free.remove(index);
        }
        let block = Vec::with_capacity(length);
        self.capacity += block.capacity();
        self.evict();
        block
    }

    /// Takes back a block that was asked for with as many numbers as it now has.
    fn put(&mut self, block: Vec<f32>) {
        self.in_use -= block.len();
        self.free.push(block);
        self.evict();
    }

    /// Gives up free until all hold at peak a quarter more than was ever in_use together. With less to spare, a fifth of
    /// a training's free would be new ones.
    fn evict(&mut self) {
        while self.capacity > self.peak + self.peak / 4 && !self.free.is_empty() {
            self.capacity -= self.free.remove(0).capacity();
        }
    }
}

/// A block of numbers that returns to the shelf when it is dropped.
#[derive(Debug, Default)]
pub struct Buffer(Vec<f32>);

impl Buffer {
    /// `length` numbers of any value: for those who write before they read.
    pub fn scratch(length: usize) -> Self {
        let mut values = BufferPool::global().take(length);
        values.resize(length, 0.0);
        Self(values)
    }

    /// `length` zeros.
    pub fn zeros(length: usize) -> Self {
        let mut values = BufferPool::global().take(length);
        values.clear();
        values.resize(length, 0.0);
        Self(values)
    }

    /// Changes the length where it is another; what it holds is then any value.
    pub fn resize_scratch(&mut self, length: usize) {
        if self.0.len() != length {
            *self = Self::scratch(length);
        }
    }

    /// A copy of some numbers.
    pub fn from_slice(values: &[f32]) -> Self {
        let mut copy = BufferPool::global().take(values.len());
        copy.clear();
        copy.extend_from_slice(values);
        Self(copy)
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.0.capacity() > 0 {
            BufferPool::global().put(std::mem::take(&mut self.0));
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
    fn the_shelf_holds_little_more_than_was_wanted_together() {
        let mut shelf = BufferPool { free: Vec::new(), capacity: 0, in_use: 0, peak: 0 };
        // Each round asks for little, some of it in free that are larger than any before.
        for round in 1..200 {
            let lengths: [usize; 5] = std::array::from_fn(|index| if round % 5 == index { 1000 + round } else { 10 });
            let free = lengths.map(|length| {
                let mut block = shelf.take(length);
                block.resize(length, 0.0);
                block
            });
            for block in free {
                shelf.put(block);
            }
            let capacity: usize = shelf.free.iter().map(Vec::capacity).sum();
            assert_eq!((shelf.capacity, shelf.in_use), (capacity, 0));
            assert!(capacity <= shelf.peak + shelf.peak / 4, "round {round}: {capacity} for {}", shelf.peak);
        }
    }

    #[test]
    fn what_comes_back_is_as_asked() {
        for length in [0, 1, 70_001, 3] {
            let mut buffer = Buffer::scratch(length);
            assert_eq!(buffer.len(), length);
            buffer.fill(7.0);
        }
        assert!(Buffer::zeros(70_000).iter().all(|&value| value == 0.0));
        assert_eq!(&*Buffer::from_slice(&[1.0, 2.0]), [1.0, 2.0]);
    }
}
