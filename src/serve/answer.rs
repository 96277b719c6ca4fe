//! Answers that are sent while they are computed.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures_core::Stream;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::error::ApiError;
use super::job::CancelOnDrop;
use super::memory::{RequestMemory, UnreadBytes, UnreadGuard};
use crate::search::Cancellation;

/// Part of an answer.
enum Part {
    Bytes { bytes: Vec<u8>, is_last: bool, guard: UnreadGuard },
    Failure(ApiError),
}

/// Answer that is sent while it is computed, and its writer.
pub struct AnswerChannel {
    /// Writer, for the work.
    pub writer: AnswerWriter,
    /// Answer, for the client.
    pub answer: Answer,
}

impl AnswerChannel {
    /// Returns the answer of new work, whose unread bytes are counted.
    pub fn new(memory: &Arc<RequestMemory>) -> Self {
        let cancellation = Cancellation::default();
        let (sender, parts) = unbounded_channel();
        let answer = Answer { parts, is_complete: false, _work: CancelOnDrop(cancellation.clone()) };
        Self { writer: AnswerWriter { parts: sender, unread: memory.answer(), cancellation }, answer }
    }
}

/// Writer of an answer in JSON.
pub struct AnswerWriter {
    parts: UnboundedSender<Part>,
    unread: UnreadBytes,
    cancellation: Cancellation,
}

impl AnswerWriter {
    /// Cancellation of the work, which its client causes by going away.
    pub fn cancellation(&self) -> &Cancellation {
        &self.cancellation
    }

    /// Sends a part of the answer. A client that went away needs none.
    pub fn send(&self, bytes: Vec<u8>, is_last: bool) {
        let guard = self.unread.add(bytes.len());
        let _ = self.parts.send(Part::Bytes { bytes, is_last, guard });
    }

    /// Ends the answer with an error.
    pub fn fail(&self, error: ApiError) {
        let _ = self.parts.send(Part::Failure(error));
    }

    /// True while the client has to read before more is computed.
    pub fn is_behind(&self) -> bool {
        self.unread.are_too_many()
    }
}

/// Bytes of a complete answer that is sent with its length.
const SMALL: usize = 64 * 1024;

/// Answer that is being computed. Its work ends when the answer is dropped.
pub struct Answer {
    parts: UnboundedReceiver<Part>,
    is_complete: bool,
    _work: CancelOnDrop,
}

impl Answer {
    /// Waits for the first part and returns the response, which sends the other parts as they come.
    ///
    /// # Errors
    /// The work failed before anything was sent; none if it was stopped.
    pub async fn response(mut self) -> Result<Response, Option<ApiError>> {
        let body = match self.parts.recv().await {
            None => return Err(None),
            Some(Part::Failure(error)) => return Err(Some(error)),
            Some(Part::Bytes { bytes, is_last: true, .. }) if bytes.len() <= SMALL => Body::from(bytes),
            Some(Part::Bytes { bytes, is_last, guard }) => {
                self.is_complete = is_last;
                Body::from_stream(AnswerStream { first: Some(bytes.into()), guard: Some(guard), answer: self })
            }
        };
        Ok(([(header::CONTENT_TYPE, "application/json")], body).into_response())
    }
}

/// Parts of an answer. An answer that is not complete ends with an error, which resets the connection.
struct AnswerStream {
    first: Option<Bytes>,
    /// Counts the part that was sent last as unread until the next one is asked for.
    guard: Option<UnreadGuard>,
    answer: Answer,
}

impl Stream for AnswerStream {
    type Item = io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context) -> Poll<Option<Self::Item>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(Ok(first)));
        }
        self.guard = None;
        if self.answer.is_complete {
            return Poll::Ready(None);
        }
        self.answer.parts.poll_recv(context).map(|part| match part {
            Some(Part::Bytes { bytes, is_last, guard }) => {
                self.answer.is_complete = is_last;
                self.guard = Some(guard);
                Some(Ok(bytes.into()))
            }
            Some(Part::Failure(_)) | None => Some(Err(io::Error::other("the work was stopped"))),
        })
    }
}
