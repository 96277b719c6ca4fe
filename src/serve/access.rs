//! Keys and the number of requests of each client.

use std::collections::HashMap;
use std::convert::Infallible;
use std::hint::black_box;
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use axum::extract::FromRequestParts;
use axum::http::{Extensions, request};
use sha2::{Digest, Sha256};

use super::error::ApiError;

/// Time in which requests of a client are counted.
const WINDOW: Duration = Duration::from_secs(60);
/// Maximum number of requests of an address in the window whose key is missing or unknown.
const MAX_WITHOUT_KEY: u32 = 60;
/// Number of counted clients from which on those of past windows are forgotten.
const MANY_CLIENTS: usize = 10_000;

/// SHA-256 of a key.
type KeyDigest = [u8; 32];

/// Address of the client, an extension of each request.
#[derive(Clone, Copy, Debug)]
pub struct ClientAddress(pub IpAddr);

impl ClientAddress {
    /// Returns the address in the extensions of a request.
    pub fn of(extensions: &Extensions) -> IpAddr {
        extensions.get::<Self>().map_or(Ipv4Addr::UNSPECIFIED.into(), |client| client.0)
    }
}

/// Known key in the head of a request, an extension of it.
#[derive(Clone, Copy)]
pub struct KnownKey(KeyDigest);

/// Client of a request.
pub struct Caller {
    address: IpAddr,
    /// Known key in the head of the request.
    key: Option<KnownKey>,
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut request::Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self { address: ClientAddress::of(&parts.extensions), key: parts.extensions.get().copied() })
    }
}

/// Client whose requests are counted: one with a key, or else an address. Hosts of IPv6 have a whole network each.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Client {
    /// Client with this key.
    Key(KeyDigest),
    /// Address of IPv4.
    V4([u8; 4]),
    /// First half of an address of IPv6.
    V6Network([u8; 8]),
}

impl From<IpAddr> for Client {
    fn from(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => Self::V4(address.octets()),
            IpAddr::V6(address) => {
                let mut network = [0; 8];
                network.copy_from_slice(&address.octets()[..8]);
                Self::V6Network(network)
            }
        }
    }
}

/// Decision about who may have work done.
pub struct Access {
    file: Option<PathBuf>,
    /// Digests of the keys, if a key is needed.
    keys: RwLock<Vec<KeyDigest>>,
    requests_per_minute: Option<u32>,
    counts: Mutex<HashMap<Client, RequestCount>>,
}

/// Requests of a client in a window of time.
struct RequestCount {
    /// Start of the window.
    start: Instant,
    requests: u32,
}

impl Access {
    /// Reads the file of keys, if there is one.
    ///
    /// # Errors
    /// The file cannot be read, or has no key.
    pub fn new(file: Option<&Path>, requests_per_minute: Option<u32>) -> Result<Self> {
        let keys = file.map(read_keys).transpose()?.unwrap_or_default();
        Ok(Self {
            file: file.map(Path::to_owned),
            keys: RwLock::new(keys),
            requests_per_minute,
            counts: Mutex::default(),
        })
    }

    /// Reads the file of keys again.
    ///
    /// # Errors
    /// The file cannot be read, or has no key; the former keys stay.
    pub fn reload(&self) -> Result<()> {
        if let Some(file) = &self.file {
            *self.keys.write().unwrap_or_else(PoisonError::into_inner) = read_keys(file)?;
        }
        Ok(())
    }

    /// True if work needs a key.
    pub fn needs_key(&self) -> bool {
        self.file.is_some()
    }

    /// Counts a request of work and admits it. `key` is that of the body, which counts if the head has none. Returns its client.
    ///
    /// # Errors
    /// The key is missing or unknown (403), or the client had too many requests in this minute (429).
    pub fn admit(&self, caller: &Caller, key: Option<&str>) -> Result<Client, ApiError> {
        let known = match caller.key {
            None if self.needs_key() => Some(self.check(key.filter(|key| !key.is_empty()), caller.address)?),
            known => known,
        };
        let client = known.map_or_else(|| Client::from(caller.address), |KnownKey(key)| Client::Key(key));
        if let Some(most) = self.requests_per_minute {
            self.count(client, most)
                .map_err(|wait| ApiError::too_many(&format!("a client can send {most} requests in a minute"), wait))?;
        }
        Ok(client)
    }

    /// Recognizes a key.
    ///
    /// # Errors
    /// The key is missing or unknown (403), for the address once too often (429). Such an address is not locked out: behind a
    /// proxy, clients with known keys have it too.
    pub fn check(&self, key: Option<&str>, address: IpAddr) -> Result<KnownKey, ApiError> {
        if let Some(known) = key.and_then(|key| self.known_key(key)) {
            return Ok(known);
        }
        let most = self.requests_per_minute.map_or(MAX_WITHOUT_KEY, |most| most.min(MAX_WITHOUT_KEY));
        self.count(address.into(), most).map_err(|wait| {
            ApiError::too_many(&format!("an address can send {most} requests without a known key in a minute"), wait)
        })?;
        Err(ApiError::forbidden(match key {
            Some(_) => "this key is not known here",
            None => "a key is needed: send api_key, or the header Authorization: Bearer KEY",
        }))
    }

    /// Returns a key if it is known. Its comparison with the known ones takes the same time for all keys.
    fn known_key(&self, key: &str) -> Option<KnownKey> {
        let digest: KeyDigest = Sha256::digest(key).into();
        let keys = self.keys.read().unwrap_or_else(PoisonError::into_inner);
        keys.iter().fold(false, |found, known| black_box(found | is_equal(known, &digest))).then_some(KnownKey(digest))
    }

    /// Counts a request of a client.
    ///
    /// # Errors
    /// The client had `most` requests in this window; the error is the time until the next one.
    fn count(&self, client: Client, most: u32) -> Result<(), Duration> {
        let now = Instant::now();
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.len() >= MANY_CLIENTS {
            counts.retain(|_, count| now - count.start < WINDOW);
        }
        let count = counts.entry(client).or_insert(RequestCount { start: now, requests: 0 });
        if now - count.start >= WINDOW {
            *count = RequestCount { start: now, requests: 0 };
        }
        if count.requests >= most {
            return Err(WINDOW - (now - count.start));
        }
        count.requests += 1;
        Ok(())
    }
}

/// Compares digests in the same time for all of them.
fn is_equal(one: &KeyDigest, other: &KeyDigest) -> bool {
    one.iter().zip(other).fold(0, |all, (a, b)| black_box(all | (a ^ b))) == 0
}

/// Reads the digests of keys: one per line. `#` at the start of a line or after a space begins a comment.
fn read_keys(file: &Path) -> Result<Vec<KeyDigest>> {
    let text = std::fs::read_to_string(file).with_context(|| format!("{}: cannot read the keys", file.display()))?;
    let mut keys = Vec::new();
    for (line, number) in text.trim_start_matches('\u{feff}').lines().zip(1..) {
        let key = without_comment(line).trim();
        ensure!(
            key.bytes().all(|byte| byte.is_ascii_graphic()),
            "{}:{number}: a key can have ASCII letters, digits and punctuation, which headers carry, and no spaces",
            file.display()
        );
        if !key.is_empty() {
            keys.push(Sha256::digest(key).into());
        }
    }
    ensure!(!keys.is_empty(), "{}: there is no key here; write one per line", file.display());
    Ok(keys)
}

fn without_comment(line: &str) -> &str {
    let mut signs = line.match_indices('#').map(|(index, _)| index);
    let start = signs.find(|&index| index == 0 || line[..index].ends_with(char::is_whitespace));
    start.map_or(line, |start| &line[..start])
}
