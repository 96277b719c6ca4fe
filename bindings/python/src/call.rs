//! Calls of the library: without the interpreter's lock, on worker threads, interruptible.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use anyhow::Result;
use pyo3::prelude::*;
use serde_json::{Value, json};
use softalign::error::in_terms;
use softalign::reporter::{Reporter, Stage};
use softalign::search::Cancellation;
use softalign::training::{Event, Observer};

use crate::error::{described_panic, exception, keyword, silence_panics};
use crate::threads::with_pool;

/// Time after which a waiting call looks for signals, such as that of Ctrl-C.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Message from the work to the listener of a call.
enum Message {
    Note(String),
    Warning(String),
    /// Start of a stage, with its number of items if known.
    Begin(&'static str, Option<usize>),
    Advance(usize),
    End,
    Event(Value),
}

/// Reporter and observer of the work of a call. Its messages reach the listener, a Python object with the methods `note`,
/// `warning`, `begin`, `advance`, `end` and `event`, in the thread that called.
pub struct Caller {
    messages: Mutex<Sender<Message>>,
    cancellation: Cancellation,
}

impl Caller {
    /// Handle that is cancelled when the call is interrupted.
    pub fn cancellation(&self) -> &Cancellation {
        &self.cancellation
    }

    fn send(&self, message: Message) {
        if let Ok(messages) = self.messages.lock() {
            // Nobody listens any more once the call has been interrupted.
            let _ = messages.send(message);
        }
    }
}

impl Reporter for Caller {
    fn note(&self, line: &str) {
        self.send(Message::Note(in_terms(line, &keyword)));
    }

    fn warn(&self, line: &str) {
        self.send(Message::Warning(in_terms(line, &keyword)));
    }

    fn stage(&self, name: &'static str, total: Option<usize>) -> Box<dyn Stage + '_> {
        self.send(Message::Begin(name, total));
        Box::new(CallStage(self))
    }
}

struct CallStage<'a>(&'a Caller);

impl Stage for CallStage<'_> {
    fn advance(&mut self, count: usize) {
        self.0.send(Message::Advance(count));
    }
}

impl Drop for CallStage<'_> {
    fn drop(&mut self) {
        self.0.send(Message::End);
    }
}

impl Observer for Caller {
    fn event(&self, event: &Event) {
        let event = match event {
            Event::Model { name, .. } => json!({"event": "model", "name": name}),
            Event::Epoch { epoch, batches, done } => json!({"epoch": epoch, "batches": batches, "done": done}),
            Event::Step(report) => json!({"event": "step", "report": report}),
            Event::Validation { progress, report, best } => {
                json!({"event": "validation", "step": progress.step, "report": report, "best": best})
            }
            Event::Skipped { .. } | Event::Validating | Event::Shortened { .. } => return,
        };
        self.send(Message::Event(event));
    }

    fn should_stop(&self) -> bool {
        self.cancellation.is_cancelled()
    }
}

/// Runs work of the library and waits for it. If a signal or the listener raises an exception, the work is cancelled, ends
/// in good order, and the exception is raised.
///
/// # Errors
/// The exception of a signal or of the listener, an error of the work, or a panic in it.
pub fn run<T: Send>(
    py: Python,
    listener: Option<&Bound<PyAny>>,
    work: impl FnOnce(&Caller) -> Result<T> + Send,
) -> PyResult<T> {
    silence_panics();
    let listener = listener.map(|listener| listener.clone().unbind());
    let outcome = py.detach(|| {
        with_pool(|pool| {
            let (messages, received) = channel();
            let cancellation = Cancellation::default();
            let caller = Caller { messages: Mutex::new(messages), cancellation: cancellation.clone() };
            let mut outcome = None;
            let raised = pool.in_place_scope(|scope| {
                let outcome = &mut outcome;
                scope.spawn(move |_| {
                    *outcome = Some(catch_unwind(AssertUnwindSafe(|| work(&caller))));
                });
                deliver(&received, listener.as_ref(), &cancellation)
            });
            (outcome, raised)
        })
    });
    match outcome.map_err(|error| exception(py, error))? {
        (_, Err(raised)) => Err(raised),
        (Some(Ok(result)), Ok(())) => result.map_err(|error| exception(py, error)),
        (Some(Err(panic)), Ok(())) => Err(described_panic(py, panic.as_ref())),
        (None, Ok(())) => Err(described_panic(py, &"the work did not run")),
    }
}

/// Delivers messages until the work ends. After an exception, cancels the work and drops further messages.
fn deliver(received: &Receiver<Message>, listener: Option<&Py<PyAny>>, cancellation: &Cancellation) -> PyResult<()> {
    let mut raised = Ok(());
    loop {
        let message = match received.recv_timeout(POLL_INTERVAL) {
            Ok(message) => Some(message),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => return raised,
        };
        if raised.is_ok() {
            raised = Python::attach(|py| {
                py.check_signals()?;
                match (message, listener) {
                    (Some(message), Some(listener)) => message.deliver(listener.bind(py)),
                    _ => Ok(()),
                }
            });
            if raised.is_err() {
                cancellation.cancel();
            }
        }
    }
}

impl Message {
    fn deliver(self, listener: &Bound<PyAny>) -> PyResult<()> {
        match self {
            Self::Note(line) => listener.call_method1("note", (line,)),
            Self::Warning(line) => listener.call_method1("warning", (line,)),
            Self::Begin(name, total) => listener.call_method1("begin", (name, total)),
            Self::Advance(count) => listener.call_method1("advance", (count,)),
            Self::End => listener.call_method0("end"),
            Self::Event(event) => listener.call_method1("event", (event.to_string(),)),
        }
        .map(drop)
    }
}
