//! Memory that requests use: bounded by `--memory-limit`, and divided among their parts.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bytes of one permit of the bodies' semaphore.
const PERMIT: usize = 1024;
/// Divisor of the memory that gives the share for the bodies of requests, and for the texts in them.
const BODIES: usize = 8;
/// Number of copies of a body in memory: its bytes, the texts in it, and their sentences.
const COPIES: usize = 4;
/// Divisor of the memory that gives the share for the documents that are translated.
const DOCUMENTS: usize = 8;
/// Bytes of a document in memory for each byte of its unpacked text: its elements, its segments, and their markup.
const DOCUMENT_BYTES: usize = 64;
/// Divisor of the memory that gives the most bytes of an uploaded file.
const UPLOAD: usize = 64;
/// Divisor of the memory that gives the share for files to download, which is part of that for answers.
const FILES: usize = 16;
/// Divisor of the memory that gives the share for answers that clients have not read yet.
const ANSWERS: usize = 4;
/// Divisor of the memory that gives the share that stays free for the answers of slices which run.
const RUNNING: usize = 32;
/// Divisor of the memory that gives the share for connections.
const CONNECTIONS: usize = 4;
/// Bytes of a connection: headers, a small body, the texts in it, and the state.
const CONNECTION: usize = 96 * 1024;
/// Divisor of the memory that gives the share for one slice of work.
const SLICE: usize = 8;
/// Bytes of its answer that a client may leave unread before its work pauses.
const UNREAD: usize = 1 << 20;

/// Memory of the requests. A quarter each is for bodies and documents, for answers, for connections, and for two slices of work.
pub struct RequestMemory {
    limit: usize,
    bodies: Arc<Semaphore>,
    documents: Arc<Semaphore>,
    unread: Arc<AtomicUsize>,
}

impl RequestMemory {
    /// Returns a memory of `limit` bytes.
    pub fn new(limit: usize) -> Self {
        let [bodies, documents] = [BODIES, DOCUMENTS].map(|divisor| {
            let permits = (limit / divisor / PERMIT).min(Semaphore::MAX_PERMITS);
            Arc::new(Semaphore::new(permits))
        });
        Self { limit, bodies, documents, unread: Arc::default() }
    }

    /// Maximum bytes of all requests together.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Maximum number of connections.
    pub fn connections(&self) -> u32 {
        u32::try_from(self.limit / CONNECTIONS / CONNECTION).unwrap_or(u32::MAX)
    }

    /// Maximum bytes of one slice of work.
    pub fn slice(&self) -> usize {
        self.limit / SLICE
    }

    /// Maximum bytes of the body of a request.
    pub fn body(&self) -> usize {
        self.limit / BODIES / COPIES
    }

    /// Maximum bytes of an uploaded file.
    pub fn upload(&self) -> usize {
        self.limit / UPLOAD
    }

    /// Maximum bytes of the text of a document, unpacked.
    pub fn document(&self) -> usize {
        self.limit / DOCUMENTS / DOCUMENT_BYTES
    }

    /// Bytes of all answers that clients may leave unread before work pauses.
    fn answers(&self) -> usize {
        self.limit / ANSWERS - self.limit / RUNNING - self.files()
    }

    /// Maximum bytes of all files to download.
    pub fn files(&self) -> usize {
        self.limit / FILES
    }

    /// Waits until memory for a document whose text has so many bytes is free, and reserves it.
    pub async fn reserve_document(&self, bytes: usize) -> Option<MemoryPermit> {
        let permits = u32::try_from(bytes.saturating_mul(DOCUMENT_BYTES) / PERMIT).ok()?;
        Arc::clone(&self.documents).acquire_many_owned(permits).await.ok()
    }

    /// Waits until memory for so many bytes of a body is free, and reserves it in addition to an earlier reservation.
    pub async fn reserve_body(&self, bytes: usize, before: Option<MemoryPermit>) -> Option<MemoryPermit> {
        let permits = u32::try_from(bytes.saturating_mul(COPIES).div_ceil(PERMIT)).ok()?;
        let mut permit = Arc::clone(&self.bodies).acquire_many_owned(permits).await.ok()?;
        if let Some(before) = before {
            permit.merge(before);
        }
        Some(permit)
    }

    /// Returns the count of the unread bytes of one answer.
    pub fn answer(self: &Arc<Self>) -> UnreadBytes {
        UnreadBytes { memory: Arc::clone(self), own: Arc::default() }
    }
}

/// Memory reserved for a body or a document, which is free again once this is dropped.
pub type MemoryPermit = OwnedSemaphorePermit;

/// Memory reserved for the body of a request until it is answered: an extension of the request.
#[derive(Clone, Default)]
pub struct BodyMemory(Arc<Mutex<Option<MemoryPermit>>>);

impl BodyMemory {
    /// Keeps the reservation of a body, if it needs one.
    pub fn keep(&self, permit: Option<MemoryPermit>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = permit;
    }
}

/// Unread bytes of an answer, which count among those of all answers.
#[derive(Clone)]
pub struct UnreadBytes {
    memory: Arc<RequestMemory>,
    own: Arc<AtomicUsize>,
}

impl UnreadBytes {
    /// Counts bytes until the guard is dropped.
    pub fn add(&self, bytes: usize) -> UnreadGuard {
        self.own.fetch_add(bytes, Ordering::Relaxed);
        self.memory.unread.fetch_add(bytes, Ordering::Relaxed);
        UnreadGuard { of: self.clone(), bytes }
    }

    /// True if the client should read before more is computed.
    pub fn are_too_many(&self) -> bool {
        let all = self.memory.unread.load(Ordering::Relaxed);
        self.own.load(Ordering::Relaxed) > UNREAD || all > self.memory.answers()
    }
}

/// Count of bytes of an answer as unread, until it is dropped.
pub struct UnreadGuard {
    of: UnreadBytes,
    bytes: usize,
}

impl Drop for UnreadGuard {
    fn drop(&mut self) {
        self.of.own.fetch_sub(self.bytes, Ordering::Relaxed);
        self.of.memory.unread.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}
