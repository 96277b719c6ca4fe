//! Being asked to stop: Ctrl-C, and what batch systems and closed connections send.

use std::fmt;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

#[cfg(unix)]
use crate::checkpoint::remove_growing;

#[cfg(unix)]
const ASKING: [i32; 3] = [SIGINT, SIGTERM, signal_hook::consts::SIGHUP];
#[cfg(not(unix))]
const ASKING: [i32; 2] = [SIGINT, SIGTERM];

/// How often a signal is looked for, so that it is answered at once.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// The signals that ask this process to stop.
pub struct Signals {
    /// The number of the last one, or 0.
    last: Arc<AtomicUsize>,
    /// Whether the next one ends the program at once.
    asked: Arc<AtomicBool>,
    /// Whether steps are taken, of which the present one is ended.
    takes_steps: Arc<AtomicBool>,
}

impl Signals {
    /// From now on the first one only asks; a second one ends the program at once. One that this process was started to
    /// ignore, as `nohup` has it, stays ignored. Where no handler can be had, a signal does what it does; the last
    /// checkpoint is there all the same.
    pub fn listen() -> Self {
        let (last, asked) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        for signal in ASKING.into_iter().filter(|&signal| !is_ignored(signal)) {
            // In this order, so that the first one finds the condition not met yet.
            let _ = flag::register_conditional_shutdown(signal, 128 + signal, asked.clone());
            let _ = flag::register(signal, asked.clone());
            let _ = flag::register_usize(signal, last.clone(), signal as usize);
        }
        let takes_steps = Arc::new(AtomicBool::new(false));
        let (seen, in_steps) = (Arc::clone(&last), Arc::clone(&takes_steps));
        let telling = move || {
            while seen.load(Ordering::Relaxed) == 0 {
                std::thread::sleep(LOOK_EVERY);
            }
            let when = if in_steps.load(Ordering::Relaxed) { " after this step" } else { "" };
            let _ = writeln!(std::io::stderr(), "\nstopping{when}; once more stops at once");
        };
        // Where no thread can be had, the signal is heeded all the same.
        let _ = std::thread::Builder::new().spawn(telling);
        Self { last, asked, takes_steps }
    }

    /// From now on nothing is left half done, so that even the first one ends the program at once.
    pub fn end_steps(&self) {
        self.asked.store(true, Ordering::Relaxed);
    }

    /// From now on there is a step to be ended first.
    pub fn begin_steps(&self) {
        self.takes_steps.store(true, Ordering::Relaxed);
    }

    /// Whether one has come.
    pub fn asked(&self) -> Option<Interrupted> {
        let signal = self.last.load(Ordering::Relaxed);
        (signal > 0).then_some(Interrupted { signal: signal as u8 })
    }
}

/// From now on a signal that ends this program first takes away what is half written.
#[cfg(unix)]
pub fn install_handlers() {
    let heeded = ASKING.into_iter().filter(|&signal| !is_ignored(signal));
    // Without a handler the next run clears away what this one leaves.
    let Ok(mut signals) = signal_hook::iterator::Signals::new(heeded) else { return };
    let ending = move || {
        if let Some(signal) = signals.forever().next() {
            remove_growing();
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    };
    let _ = std::thread::Builder::new().spawn(ending);
}

#[cfg(not(unix))]
pub fn install_handlers() {}

/// Whether a signal does nothing to this process.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: without a new action the call only writes the present one, and for that the pointer is valid.
    let asked = unsafe { libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) };
    // SAFETY: all zeros are a valid value too, should the call have written nothing.
    asked == 0 && unsafe { action.assume_init() }.sa_sigaction == libc::SIG_IGN
}

#[cfg(not(unix))]
fn is_ignored(_signal: i32) -> bool {
    false
}

/// Work that ended in good order because a signal asked for it. The exit code tells the shell, as it does of programs that
/// a signal has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted {
    signal: u8,
}

impl Interrupted {
    /// 128 and the signal's number.
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
