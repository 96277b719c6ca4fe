//! Memory retained after processing text, counted by the allocator.

use std::alloc::{GlobalAlloc, Layout, System};
use std::path::Path;
use std::sync::atomic::{AtomicIsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use candle_core::Device;
use softalign::random::SeededRng;
use softalign::text::{Normalization, Pair, Tokenization, Vocabulary};
use softalign::translator::Sentence;
use softalign::{DecodeOptions, TranslateOptions, Translator};

/// The system allocator, counting bytes and blocks in use.
struct Counting {
    bytes: AtomicIsize,
    blocks: AtomicIsize,
}

#[global_allocator]
static MEMORY: Counting = Counting { bytes: AtomicIsize::new(0), blocks: AtomicIsize::new(0) };

// SAFETY: delegates to the system allocator; counting does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.bytes.fetch_add(layout.size() as isize, Ordering::Relaxed);
        self.blocks.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller upholds the contract of `System`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        self.bytes.fetch_sub(layout.size() as isize, Ordering::Relaxed);
        self.blocks.fetch_sub(1, Ordering::Relaxed);
        // SAFETY: the caller upholds the contract of `System`.
        unsafe { System.dealloc(block, layout) }
    }
}

impl Counting {
    /// Bytes and blocks in use.
    fn in_use(&self) -> [isize; 2] {
        [&self.bytes, &self.blocks].map(|count| count.load(Ordering::Relaxed))
    }
}

/// Serializes tests, since the counters are global.
fn exclusive() -> MutexGuard<'static, ()> {
    static LOCK: Mutex<()> = Mutex::new(());
    LOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns a random word.
fn random_word(letters: usize, rng: &mut SeededRng) -> String {
    (0..letters).map(|_| char::from(b'a' + rng.below(26) as u8)).collect()
}

#[test]
fn memory_stays_bounded_with_new_words() {
    const LIMIT: isize = 16 << 20;
    let _lock = exclusive();
    let mut rng = SeededRng::new(1, "words", 0);
    for tokenization in [Tokenization::Bpe, Tokenization::Word, Tokenization::Char] {
        let training: Vec<String> = (0..20).map(|_| random_word(250, &mut rng)).collect();
        let texts = training.iter().chain(&training).map(String::as_str);
        let vocabulary = Vocabulary::train(texts, tokenization, Normalization::default(), 300).unwrap();
        let [before, _] = MEMORY.in_use();
        for _ in 0..10_000 {
            vocabulary.encode(&random_word(250, &mut rng)).unwrap();
        }
        let retained = MEMORY.in_use()[0] - before;
        assert!(retained < LIMIT, "{tokenization:?}: 10,000 words retain {} MiB", retained >> 20);
    }
}

/// Processes a stream in chunks and asserts that its second half hardly needs more bytes or blocks than the first, because
/// working memory is reused.
fn assert_bounded(label: &str, mut process: impl FnMut(&[Pair])) {
    const HALF: usize = 60;
    let known: Vec<Pair> = include_str!("../data/test.tsv").lines().filter_map(pair).take(50).collect();
    let mut rng = SeededRng::new(1, "chunks", 0);
    let mut half = || {
        let mut peak = [0, 0];
        for _ in 0..HALF {
            let vary = |pair: &Pair| match rng.below(10) {
                0 => Pair {
                    source: format!("{} {}", pair.source, random_word(50, &mut rng)),
                    target: pair.target.clone(),
                },
                1 => Pair { source: pair.source.clone(), target: pair.source.repeat(1 + rng.below(4)) },
                _ => pair.clone(),
            };
            let chunk: Vec<Pair> = known.iter().map(vary).collect();
            process(&chunk);
            let now = MEMORY.in_use();
            peak = std::array::from_fn(|index| now[index].max(peak[index]));
        }
        peak
    };
    let [[bytes, blocks], [bytes_after, blocks_after]] = [half(), half()];
    assert!(bytes_after < bytes + bytes / 4, "{label}: {} KiB in use, then {}", bytes >> 10, bytes_after >> 10);
    let lines = (HALF * known.len()) as isize;
    assert!(blocks_after < blocks + lines / 2, "{label}: {blocks} blocks, {blocks_after} after {lines} more lines");
}

fn pair(line: &str) -> Option<Pair> {
    let (source, target) = line.split_once('\t')?;
    Some(Pair { source: source.to_owned(), target: target.to_owned() })
}

#[test]
fn streaming_releases_its_memory() {
    let _lock = exclusive();
    let translator = Translator::load_on(Path::new("checkpoints"), &Device::Cpu).unwrap();
    let prepared = translator.prepare(&TranslateOptions::of_plain_text(DecodeOptions::default())).unwrap();
    assert_bounded("translate", |pairs| {
        let sentences: Vec<Sentence> = pairs.iter().map(|pair| pair.source.as_str().into()).collect();
        prepared.translate_batch(&sentences, 0, &mut |_| {}).unwrap();
    });
    assert_bounded("align", |pairs| {
        translator.align_batch(pairs, &mut |_| {}).unwrap();
    });
}
