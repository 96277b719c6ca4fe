//! One error line where memory runs out, instead of an abort.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

#[global_allocator]
static ALLOCATOR: Reporting = Reporting;

/// The system's allocator, which ends the program with exit code 1 where it has no more memory.
struct Reporting;

// SAFETY: all requests go to the system's allocator as they are, and what it returns is returned unless it is null.
unsafe impl GlobalAlloc for Reporting {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps to the contract.
        checked(unsafe { System.alloc(layout) }, layout.size())
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps to the contract.
        checked(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    #[inline]
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller keeps to the contract.
        checked(unsafe { System.realloc(pointer, layout, size) }, size)
    }

    #[inline]
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps to the contract.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[inline]
fn checked(pointer: *mut u8, size: usize) -> *mut u8 {
    if pointer.is_null() {
        end(size)
    }
    pointer
}

/// Says how much memory could not be allocated, and ends the program. Nothing here may allocate, or wait for a lock that
/// this thread may hold.
#[cold]
#[inline(never)]
fn end(size: usize) -> ! {
    static ENDING: AtomicBool = AtomicBool::new(false);
    while ENDING.swap(true, Ordering::Relaxed) {
        // SAFETY: the call has no preconditions. Another thread is ending the program.
        unsafe { libc::pause() };
    }
    let mut line = [0; 256];
    let mut rest = &mut line[..];
    let _ = writeln!(
        rest,
        "error: out of memory: {size} more bytes could not be allocated; allow the program more memory, or give it fewer \
         --threads or smaller files"
    );
    let left = rest.len();
    let written = &line[..line.len() - left];
    // SAFETY: the pointer and the length are those of a slice.
    unsafe { libc::write(libc::STDERR_FILENO, written.as_ptr().cast(), written.len()) };
    // SAFETY: the call has no preconditions.
    unsafe { libc::_exit(1) }
}
