//! Termination signals: SIGINT (Ctrl-C), SIGTERM (batch systems), SIGHUP (closed connections).

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

#[cfg(unix)]
use crate::checkpoint::remove_pending;

#[cfg(unix)]
const TERMINATION: [i32; 3] = [SIGINT, SIGTERM, signal_hook::consts::SIGHUP];
#[cfg(not(unix))]
const TERMINATION: [i32; 2] = [SIGINT, SIGTERM];

/// Interval between checks for a signal.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Termination signals received by this process.
pub struct Signals {
    /// Number of the last signal, or 0.
    last: Arc<AtomicUsize>,
    /// True if the next signal ends the program immediately.
    asked: Arc<AtomicBool>,
    /// True while training steps run; the current one is completed.
    takes_steps: Arc<AtomicBool>,
}

impl Signals {
    /// Installs handlers: the first signal requests a stop, the second ends the program immediately. Signals that the parent
    /// process ignores (`nohup`) stay ignored. If a handler cannot be installed, the signal keeps its default action.
    /// `announce` prints the message that the work is stopping.
    pub fn listen(announce: impl Fn(&str) + Send + 'static) -> Self {
        let (last, asked) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        for signal in TERMINATION.into_iter().filter(|&signal| !is_ignored(signal)) {
            // Registered in this order, so that the first signal finds the condition false.
            let _ = flag::register_conditional_shutdown(signal, 128 + signal, asked.clone());
            let _ = flag::register(signal, asked.clone());
            let _ = flag::register_usize(signal, last.clone(), signal as usize);
        }
        let takes_steps = Arc::new(AtomicBool::new(false));
        let (seen, in_steps) = (Arc::clone(&last), Arc::clone(&takes_steps));
        // Without this thread, only the message is missing.
        let _ = std::thread::Builder::new().spawn(move || {
            while seen.load(Ordering::Relaxed) == 0 {
                std::thread::sleep(POLL_INTERVAL);
            }
            let when = if in_steps.load(Ordering::Relaxed) { " after this step" } else { "" };
            announce(&format!("stopping{when}; a second signal stops immediately"));
        });
        Self { last, asked, takes_steps }
    }

    /// Makes the next signal end the program immediately.
    pub fn end_steps(&self) {
        self.asked.store(true, Ordering::Relaxed);
    }

    /// Declares that training steps run from now on.
    pub fn begin_steps(&self) {
        self.takes_steps.store(true, Ordering::Relaxed);
    }

    /// Returns the signal that was received, if any.
    pub fn asked(&self) -> Option<Interrupted> {
        let signal = self.last.load(Ordering::Relaxed);
        (signal > 0).then_some(Interrupted { signal: signal as u8 })
    }
}

/// Makes termination signals remove unfinished files first.
#[cfg(unix)]
pub fn install_handlers() {
    let handled = TERMINATION.into_iter().filter(|&signal| !is_ignored(signal));
    // Without a handler, the next run removes the files.
    let Ok(mut signals) = signal_hook::iterator::Signals::new(handled) else { return };
    let _ = std::thread::Builder::new().spawn(move || {
        if let Some(signal) = signals.forever().next() {
            remove_pending();
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    });
}

#[cfg(not(unix))]
pub fn install_handlers() {}

/// Returns true if this process ignores a signal.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: with a null new action, the call only writes the current action through a valid pointer.
    let status = unsafe { libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) };
    // SAFETY: the zero-initialized value is valid even if the call wrote nothing.
    status == 0 && unsafe { action.assume_init() }.sa_sigaction == libc::SIG_IGN
}

#[cfg(not(unix))]
fn is_ignored(_signal: i32) -> bool {
    false
}

/// Error of work that a signal stopped in good order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted {
    signal: u8,
}

impl Interrupted {
    /// Returns 128 + signal, the shell's convention.
    pub fn exit_code(self) -> u8 {
        128 + self.signal
    }
}

impl fmt::Display for Interrupted {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "stopped by signal {}", self.signal)
    }
}

impl std::error::Error for Interrupted {}
