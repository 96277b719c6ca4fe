//! What is kept of a text once it is done with, counted byte by byte.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicIsize, Ordering};

use softalign::random::Stream;
use softalign::text::{Normalisation, Units, Vocabulary};

/// The system's allocator, which counts what is in use.
struct Counting(AtomicIsize);

#[global_allocator]
static MEMORY: Counting = Counting(AtomicIsize::new(0));

// SAFETY: all is done by the system's own; counting it allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.0.fetch_add(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the caller's promises are handed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        self.0.fetch_sub(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the caller's promises are handed on.
        unsafe { System.dealloc(block, layout) }
    }
}

/// Words that nobody has seen before, as a stream of codes or of another script is full of.
fn new_word(chance: &mut Stream) -> String {
    (0..250).map(|_| char::from(b'a' + chance.below(26) as u8)).collect()
}

#[test]
fn new_words_are_not_kept_for_ever() {
    const MOST: isize = 16 << 20;
    let mut chance = Stream::new(1, "words", 0);
    for units in [Units::Bpe, Units::Word, Units::Char] {
        let learnt: Vec<String> = (0..20).map(|_| new_word(&mut chance)).collect();
        let texts = learnt.iter().chain(&learnt).map(String::as_str);
        let vocabulary = Vocabulary::train(texts, units, Normalisation::default(), 300).unwrap();
        let before = MEMORY.0.load(Ordering::Relaxed);
        for _ in 0..10_000 {
            vocabulary.encode(&new_word(&mut chance)).unwrap();
        }
        let kept = MEMORY.0.load(Ordering::Relaxed) - before;
        assert!(kept < MOST, "{units:?}: {} MiB of 10,000 words are kept", kept >> 20);
    }
}
