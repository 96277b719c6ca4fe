//! What is kept of a text once it is done with, counted byte by byte.

use std::alloc::{GlobalAlloc, Layout, System};
use std::path::Path;
use std::sync::atomic::{AtomicIsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use candle_core::Device;
use softalign::random::SeededRng;
use softalign::search::BeamSearch;
use softalign::text::{Normalization, Pair, Units, Vocabulary};
use softalign::translator::{Sentence, Translator};

/// The system's allocator, which counts what is in use.
struct Counting {
    bytes: AtomicIsize,
    blocks: AtomicIsize,
}

#[global_allocator]
static MEMORY: Counting = Counting { bytes: AtomicIsize::new(0), blocks: AtomicIsize::new(0) };

// SAFETY: all is done by the system's own; counting it allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.bytes.fetch_add(layout.size() as isize, Ordering::Relaxed);
        self.blocks.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promises are handed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        self.bytes.fetch_sub(layout.size() as isize, Ordering::Relaxed);
        self.blocks.fetch_sub(1, Ordering::Relaxed);
        // SAFETY: the caller's promises are handed on.
        unsafe { System.dealloc(block, layout) }
    }
}

impl Counting {
    /// Bytes, and the blocks that they lie in.
    fn in_use(&self) -> [isize; 2] {
        [&self.bytes, &self.blocks].map(|count| count.load(Ordering::Relaxed))
    }
}

/// One test at a time: what they use is counted together.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Words that nobody has seen before, as a stream of codes or of another script is full of.
fn new_word(letters: usize, chance: &mut SeededRng) -> String {
    (0..letters).map(|_| char::from(b'a' + chance.below(26) as u8)).collect()
}

#[test]
fn memory_stays_bounded_with_new_words() {
    const MOST: isize = 16 << 20;
    let _alone = alone();
    let mut chance = SeededRng::new(1, "words", 0);
    for units in [Units::Bpe, Units::Word, Units::Char] {
        let learnt: Vec<String> = (0..20).map(|_| new_word(250, &mut chance)).collect();
        let texts = learnt.iter().chain(&learnt).map(String::as_str);
        let vocabulary = Vocabulary::train(texts, units, Normalization::default(), 300).unwrap();
        let [before, _] = MEMORY.in_use();
        for _ in 0..10_000 {
            vocabulary.encode(&new_word(250, &mut chance)).unwrap();
        }
        let kept = MEMORY.in_use()[0] - before;
        assert!(kept < MOST, "{units:?}: {} MiB of 10,000 words are kept", kept >> 20);
    }
}

/// Works on portions of a stream. Memory fills in the first half; from then on bytes stay about the same, since working memory
/// is used again, and hardly a block is added.
fn does_not_grow(what: &str, mut work: impl FnMut(&[Pair])) {
    const HALF: usize = 60;
    let known: Vec<Pair> = include_str!("../data/test.tsv").lines().filter_map(pair).take(50).collect();
    let mut chance = SeededRng::new(1, "portions", 0);
    let mut half = || {
        let mut most = [0, 0];
        for _ in 0..HALF {
            let odd = |pair: &Pair| match chance.below(10) {
                0 => Pair {
                    source: format!("{} {}", pair.source, new_word(50, &mut chance)),
                    target: pair.target.clone(),
                },
                1 => Pair { source: pair.source.clone(), target: pair.source.repeat(1 + chance.below(4)) },
                _ => pair.clone(),
            };
            let portion: Vec<Pair> = known.iter().map(odd).collect();
            work(&portion);
            let now = MEMORY.in_use();
            most = std::array::from_fn(|one| now[one].max(most[one]));
        }
        most
    };
    let [[bytes, blocks], [bytes_after, blocks_after]] = [half(), half()];
    assert!(bytes_after < bytes + bytes / 4, "{what}: {} KiB in use, then {}", bytes >> 10, bytes_after >> 10);
    let lines = (HALF * known.len()) as isize;
    assert!(blocks_after < blocks + lines / 2, "{what}: {blocks} blocks, and {blocks_after} after {lines} lines more");
}

fn pair(line: &str) -> Option<Pair> {
    let (source, target) = line.split_once('\t')?;
    Some(Pair { source: source.to_owned(), target: target.to_owned() })
}

#[test]
fn streaming_releases_its_memory() {
    let _alone = alone();
    let translator = Translator::load_on(Path::new("checkpoints"), &Device::Cpu).unwrap();
    does_not_grow("translate", |pairs| {
        let sentences: Vec<Sentence> = pairs.iter().map(|pair| pair.source.as_str().into()).collect();
        translator.translate_batch(&sentences, &BeamSearch::default().into(), &mut |_| {}).unwrap();
    });
    does_not_grow("align", |pairs| {
        translator.align_batch(pairs, &mut |_| {}).unwrap();
    });
}
