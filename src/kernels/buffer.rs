//! Working memory that is used again.
//!
//! A training step asks for the same large blocks as the one before it. Fresh ones would have to be fetched from the
//! operating system and cleared page by page, so a block that is done with goes back to a shelf that all threads share.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};

static SHELF: Mutex<Shelf> = Mutex::new(Shelf { blocks: Vec::new(), held: 0, wanted: 0, most: 0 });

/// Blocks that nobody works in, with the count of all, in numbers.
///
/// Batches come in many shapes, and a large block may serve a small wish. Were no block ever given up, each rare
/// coincidence of wishes would leave the shelf larger for good.
struct Shelf {
    /// The one that has lain longest first.
    blocks: Vec<Vec<f32>>,
    /// The capacity of all blocks, on the shelf or in use.
    held: usize,
    /// What those in use were asked for.
    wanted: usize,
    /// The most that was ever wanted together.
    most: usize,
}

impl Shelf {
    fn of_all_threads() -> MutexGuard<'static, Self> {
        SHELF.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The smallest block that holds `length` numbers, a new one where none does.
    fn take(&mut self, length: usize) -> Vec<f32> {
        self.wanted += length;
        self.most = self.most.max(self.wanted);
        let fitting = self.blocks.iter().enumerate().filter(|(_, block)| block.capacity() >= length);
        if let Some((place, _)) = fitting.min_by_key(|(_, block)| block.capacity()) {
            return self.blocks.remove(place);
        }
        let block = Vec::with_capacity(length);
        self.held += block.capacity();
        self.give_up();
        block
    }

    /// Takes back a block that was asked for with as many numbers as it now has.
    fn put(&mut self, block: Vec<f32>) {
        self.wanted -= block.len();
        self.blocks.push(block);
        self.give_up();
    }

    /// Gives up blocks until all hold at most a quarter more than was ever wanted together. With less to spare, a fifth of
    /// a training's blocks would be new ones.
    fn give_up(&mut self) {
        while self.held > self.most + self.most / 4 && !self.blocks.is_empty() {
            self.held -= self.blocks.remove(0).capacity();
        }
    }
}

/// A block of numbers that returns to the shelf when it is dropped.
#[derive(Debug, Default)]
pub struct Buffer(Vec<f32>);

impl Buffer {
    /// `length` numbers of any value: for those who write before they read.
    pub fn any(length: usize) -> Self {
        let mut values = Shelf::of_all_threads().take(length);
        values.resize(length, 0.0);
        Self(values)
    }

    /// `length` zeros.
    pub fn zeros(length: usize) -> Self {
        let mut values = Shelf::of_all_threads().take(length);
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
        let mut copy = Shelf::of_all_threads().take(values.len());
        copy.clear();
        copy.extend_from_slice(values);
        Self(copy)
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.0.capacity() > 0 {
            Shelf::of_all_threads().put(std::mem::take(&mut self.0));
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
        let mut shelf = Shelf { blocks: Vec::new(), held: 0, wanted: 0, most: 0 };
        // Each round asks for little, some of it in blocks that are larger than any before.
        for round in 1..200 {
            let lengths: [usize; 5] = std::array::from_fn(|place| if round % 5 == place { 1000 + round } else { 10 });
            let blocks = lengths.map(|length| {
                let mut block = shelf.take(length);
                block.resize(length, 0.0);
                block
            });
            for block in blocks {
                shelf.put(block);
            }
            let capacity: usize = shelf.blocks.iter().map(Vec::capacity).sum();
            assert_eq!((shelf.held, shelf.wanted), (capacity, 0));
            assert!(capacity <= shelf.most + shelf.most / 4, "round {round}: {capacity} for {}", shelf.most);
        }
    }

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
