//! Translated files that wait to be downloaded: for a while, within a share of the memory, under names that cannot be guessed.

use std::collections::{HashMap, VecDeque};
use std::fmt::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::body::Bytes;

use super::access::Client;
use super::error::ApiError;

/// Time in which a file can be downloaded.
pub const LIFETIME: Duration = Duration::from_secs(600);
/// Maximum number of files.
const MAX_FILES: usize = 1_000;
/// Random bytes of the name under which a file is stored.
const TOKEN_BYTES: usize = 16;

/// Files to download. When there is no place for a further one, the client with the most bytes loses its oldest file.
pub struct FileStore {
    max_bytes: usize,
    stored: Mutex<Stored>,
}

#[derive(Default)]
struct Stored {
    /// Files in the order of their arrival.
    files: VecDeque<StoredFile>,
    /// Contents of former files that are still being sent.
    leaving: Vec<Bytes>,
}

/// File of a client.
#[derive(Clone)]
pub struct StoredFile {
    /// Name for its user.
    pub name: String,
    /// Content.
    pub bytes: Bytes,
    token: String,
    client: Client,
    added: Instant,
}

impl FileStore {
    /// Returns a store of at most `max_bytes` bytes.
    pub fn new(max_bytes: usize) -> Self {
        Self { max_bytes, stored: Mutex::default() }
    }

    /// Stores a file for [`LIFETIME`]. Returns the token by which [`Self::get`] finds it.
    ///
    /// # Errors
    /// It is larger than the store (413), or there is no place (503).
    pub fn add(&self, client: Client, name: String, bytes: Bytes) -> Result<String, ApiError> {
        if bytes.len() > self.max_bytes {
            return Err(ApiError::too_large("the translated file is too large; split it"));
        }
        let token = random_token()?;
        let mut stored = self.lock();
        while stored.files.len() >= MAX_FILES || stored.bytes() + bytes.len() > self.max_bytes {
            if !stored.remove_one() {
                return Err(ApiError::busy());
            }
        }
        stored.files.push_back(StoredFile { name, bytes, token: token.clone(), client, added: Instant::now() });
        Ok(token)
    }

    /// Returns the file with this token; none once its time is over.
    pub fn get(&self, token: &str) -> Option<StoredFile> {
        self.lock().files.iter().find(|file| file.token == token).cloned()
    }

    /// Removes the files whose time is over.
    pub fn remove_expired(&self) {
        drop(self.lock());
    }

    /// Locks the files, without those whose time is over.
    fn lock(&self) -> MutexGuard<'_, Stored> {
        let mut stored = self.stored.lock().unwrap_or_else(PoisonError::into_inner);
        while stored.files.front().is_some_and(|file| file.added.elapsed() >= LIFETIME) {
            stored.remove(0);
        }
        stored.leaving.retain(|bytes| !bytes.is_unique());
        stored
    }
}

impl Stored {
    /// Bytes of all files, and of those that are still being sent.
    fn bytes(&self) -> usize {
        let files = self.files.iter().map(|file| &file.bytes);
        files.chain(&self.leaving).map(Bytes::len).sum()
    }

    /// Removes the oldest file of the client with the most bytes. Returns false if there is no file.
    fn remove_one(&mut self) -> bool {
        let mut sizes: HashMap<Client, usize> = HashMap::new();
        for StoredFile { client, bytes, .. } in &self.files {
            *sizes.entry(*client).or_default() += bytes.len();
        }
        let largest = sizes.into_iter().max_by_key(|(_, bytes)| *bytes).map(|(client, _)| client);
        let oldest = self.files.iter().position(|file| Some(file.client) == largest);
        oldest.map(|index| self.remove(index)).is_some()
    }

    fn remove(&mut self, index: usize) {
        let removed = self.files.remove(index).map(|file| file.bytes);
        self.leaving.extend(removed.filter(|bytes| !bytes.is_unique()));
    }
}

/// Returns a name that cannot be guessed.
fn random_token() -> Result<String, ApiError> {
    let mut bytes = [0; TOKEN_BYTES];
    getrandom::fill(&mut bytes).map_err(|_| ApiError::internal())?;
    let mut token = String::new();
    for byte in bytes {
        // Texts take any number of bytes.
        let _ = write!(token, "{byte:02x}");
    }
    Ok(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(store: &FileStore, client: u8, bytes: usize) -> String {
        store.add(Client::V4([client; 4]), "a.txt".to_owned(), vec![b'a'; bytes].into()).unwrap()
    }

    #[test]
    fn whoever_has_most_loses_the_oldest_file() {
        let store = FileStore::new(100);
        let one = add(&store, 1, 30);
        let many = [add(&store, 2, 20), add(&store, 2, 20), add(&store, 2, 20)];
        let last = add(&store, 3, 40);
        assert!(many[..2].iter().all(|token| store.get(token).is_none()));
        for (token, bytes) in [(&one, 30), (&many[2], 20), (&last, 40)] {
            assert_eq!(store.get(token).unwrap().bytes.len(), bytes);
        }
        assert!(store.add(Client::V4([4; 4]), String::new(), vec![0; 101].into()).is_err());
        assert!(one.len() == 32 && one != last);
    }

    #[test]
    fn files_that_are_being_sent_take_their_place() {
        let store = FileStore::new(100);
        let token = add(&store, 1, 60);
        let sent = store.get(&token).unwrap();
        assert!(store.add(Client::V4([2; 4]), String::new(), vec![0; 60].into()).is_err());
        assert!(store.get(&token).is_none());
        drop(sent);
        add(&store, 2, 60);
    }
}
