//! Global allocator that reports exhausted memory in one error line, instead of aborting.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

#[global_allocator]
static ALLOCATOR: Reporting = Reporting;

/// System allocator; on failure, the program exits with code 1.
struct Reporting;

// SAFETY: all requests are forwarded to the system allocator unchanged, and its non-null results are returned.
unsafe impl GlobalAlloc for Reporting {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller upholds the contract.
        checked(unsafe { System.alloc(layout) }, layout.size())
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller upholds the contract.
        checked(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    #[inline]
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller upholds the contract.
        checked(unsafe { System.realloc(pointer, layout, size) }, size)
    }

    #[inline]
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller upholds the contract.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[inline]
fn checked(pointer: *mut u8, size: usize) -> *mut u8 {
    if pointer.is_null() {
        report_and_exit(size)
    }
    pointer
}

/// Reports the failed allocation and exits. Must not allocate, nor wait for a lock that this thread may hold.
#[cold]
#[inline(never)]
fn report_and_exit(size: usize) -> ! {
    static EXITING: AtomicBool = AtomicBool::new(false);
    while EXITING.swap(true, Ordering::Relaxed) {
        // SAFETY: the call has no preconditions. Another thread is exiting.
        unsafe { libc::pause() };
    }
    let mut line = [0; 256];
    let mut rest = &mut line[..];
    let _ = writeln!(
        rest,
        "error: out of memory: cannot allocate {size} more bytes; raise the memory limit, or use fewer --threads or \
         smaller files"
    );
    let left = rest.len();
    let written = &line[..line.len() - left];
    // SAFETY: the pointer and the length are those of a slice.
    unsafe { libc::write(libc::STDERR_FILENO, written.as_ptr().cast(), written.len()) };
    // SAFETY: the call has no preconditions.
    unsafe { libc::_exit(1) }
}
