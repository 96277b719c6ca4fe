//! Pools of reusable buffers, shared by all threads.
//!
//! Every training step needs the same large buffers as the step before. A fresh one would have to be mapped by the
//! operating system and zeroed page by page.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Element type of buffers, with a pool of its own.
pub trait PoolElement: Copy + Default + 'static {
    /// Free blocks of this type.
    fn pool() -> &'static Mutex<BufferPool<Self>>;
}

impl PoolElement for f32 {
    fn pool() -> &'static Mutex<BufferPool<Self>> {
        static POOL: Mutex<BufferPool<f32>> = Mutex::new(BufferPool::empty());
        &POOL
    }
}

/// Free blocks; sizes count elements. Without eviction every rare coincidence of requests would enlarge the pool
/// permanently, since batches vary in shape and a large block may serve a small request.
#[derive(Debug)]
pub struct BufferPool<T> {
    /// Free blocks, the longest unused first.
    free: Vec<Vec<T>>,
    /// Total capacity of all blocks, free or in use.
    capacity: usize,
    /// Total length requested of the blocks in use.
    in_use: usize,
    /// Maximum of `in_use` so far.
    peak: usize,
}

impl<T> BufferPool<T> {
    /// Pool without blocks.
    pub const fn empty() -> Self {
        Self { free: Vec::new(), capacity: 0, in_use: 0, peak: 0 }
    }

    /// Returns the smallest free block of at least `length` elements, or a new one.
    fn take(&mut self, length: usize) -> Vec<T> {
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

    /// Takes back a block, whose length is still the requested one.
    fn put(&mut self, block: Vec<T>) {
        self.in_use -= block.len();
        self.free.push(block);
        self.evict();
    }

    /// Bounds fragmentation: frees the longest unused blocks once the capacity exceeds 1.25 times the peak demand. At a
    /// tighter bound a fifth of the blocks of a training run would be new allocations.
    fn evict(&mut self) {
        while self.capacity > self.peak + self.peak / 4 && !self.free.is_empty() {
            self.capacity -= self.free.remove(0).capacity();
        }
    }
}

/// Elements in a block that returns to its pool on drop.
#[derive(Debug, Default)]
pub struct PooledBuffer<T: PoolElement>(Vec<T>);

/// Numbers in a block that returns to the pool on drop.
pub type Buffer = PooledBuffer<f32>;

fn lock<T: PoolElement>() -> MutexGuard<'static, BufferPool<T>> {
    T::pool().lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T: PoolElement> PooledBuffer<T> {
    /// `length` elements of unspecified value, to be overwritten before they are read.
    pub fn scratch(length: usize) -> Self {
        let mut values = lock::<T>().take(length);
        values.resize(length, T::default());
        Self(values)
    }
}

impl Buffer {
    /// `length` zeros.
    pub fn zeros(length: usize) -> Self {
        let mut zeros = Self::scratch(length);
        zeros.fill(0.0);
        zeros
    }

    /// Sets the length; if it changes, all values are unspecified.
    pub fn resize_scratch(&mut self, length: usize) {
        if self.0.len() != length {
            *self = Self::scratch(length);
        }
    }

    /// Copy of a slice.
    pub fn from_slice(values: &[f32]) -> Self {
        let mut copy = Self::scratch(values.len());
        copy.copy_from_slice(values);
        copy
    }
}

impl<T: PoolElement> Drop for PooledBuffer<T> {
    fn drop(&mut self) {
        if self.0.capacity() > 0 {
            lock::<T>().put(std::mem::take(&mut self.0));
        }
    }
}

impl<T: PoolElement> Deref for PooledBuffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T: PoolElement> DerefMut for PooledBuffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pool_keeps_at_most_a_quarter_beyond_peak_demand() {
        let mut pool = BufferPool::empty();
        // Each round requests little, some of it in blocks larger than any before.
        for round in 1..200 {
            let lengths: [usize; 5] = std::array::from_fn(|index| if round % 5 == index { 1000 + round } else { 10 });
            let free = lengths.map(|length| {
                let mut block = pool.take(length);
                block.resize(length, 0.0);
                block
            });
            for block in free {
                pool.put(block);
            }
            let capacity: usize = pool.free.iter().map(Vec::capacity).sum();
            assert_eq!((pool.capacity, pool.in_use), (capacity, 0));
            assert!(capacity <= pool.peak + pool.peak / 4, "round {round}: {capacity} for {}", pool.peak);
        }
    }

    #[test]
    fn buffers_have_the_requested_length_and_values() {
        for length in [0, 1, 70_001, 3] {
            let mut buffer = Buffer::scratch(length);
            assert_eq!(buffer.len(), length);
            buffer.fill(7.0);
        }
        assert!(Buffer::zeros(70_000).iter().all(|&value| value == 0.0));
        assert_eq!(&*Buffer::from_slice(&[1.0, 2.0]), [1.0, 2.0]);
    }
}
