//! Connections whose clients stop reading, or send no more while they wait for an answer.

use std::io::{Error, ErrorKind, Result};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

/// Limits to the time that a connection waits for its client.
#[derive(Clone, Copy)]
pub struct WaitLimits {
    /// Time that a write may wait.
    pub write: Duration,
    /// Time for an answer to a client that has ended its side of the connection. Most such clients are gone, which looks the
    /// same.
    pub half_closed: Duration,
}

/// Connection that fails once nothing could be written for a time, and that seems open for a time to a client that has ended
/// its side before it was answered.
pub struct LimitedStream {
    stream: TcpStream,
    limits: WaitLimits,
    /// True while a request is answered.
    is_answering: Arc<AtomicBool>,
    /// Timer of a write that waits.
    stalled: Option<Pin<Box<Sleep>>>,
    /// Timer of a client that has ended its side.
    half_closed: Option<Pin<Box<Sleep>>>,
}

impl LimitedStream {
    /// Returns a connection with limits.
    pub fn new(stream: TcpStream, limits: WaitLimits, is_answering: Arc<AtomicBool>) -> Self {
        Self { stream, limits, is_answering, stalled: None, half_closed: None }
    }

    fn limited<T>(&mut self, context: &mut Context, written: Poll<Result<T>>) -> Poll<Result<T>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let limit = self.limits.write;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(limit)));
        ready!(stalled.as_mut().poll(context));
        Poll::Ready(Err(Error::from(ErrorKind::TimedOut)))
    }
}

impl AsyncRead for LimitedStream {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context, buffer: &mut ReadBuf) -> Poll<Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        let is_end = buffer.filled().len() == before && buffer.remaining() > 0;
        if is_end && self.is_answering.load(Ordering::Relaxed) {
            let limit = self.limits.half_closed;
            let half_closed = self.half_closed.get_or_insert_with(|| Box::pin(sleep(limit)));
            ready!(half_closed.as_mut().poll(context));
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for LimitedStream {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context, bytes: &[u8]) -> Poll<Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.limited(context, written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
