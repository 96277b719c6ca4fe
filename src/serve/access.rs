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
use axum::http::{header, request};
use sha2::{Digest, Sha256};

use super::error::ApiError;

/// Time in which requests of a client are counted.
const WINDOW: Duration = Duration::from_secs(60);
/// Number of clients from which on those of past windows are forgotten.
const MANY_CLIENTS: usize = 10_000;

/// Address of the client, an extension of each request.
#[derive(Clone, Copy, Debug)]
pub struct ClientAddress(pub IpAddr);

/// Client of a request.
pub struct Caller {
    address: IpAddr,
    /// Key of the header `Authorization: Bearer KEY`.
    key: Option<String>,
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut request::Parts, _: &S) -> Result<Self, Infallible> {
        let address = parts.extensions.get::<ClientAddress>().map_or(Ipv4Addr::UNSPECIFIED.into(), |client| client.0);
        let authorization = parts.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let key = authorization.and_then(|value| value.strip_prefix("Bearer ")).map(|key| key.trim().to_owned());
        Ok(Self { address, key })
    }
}

/// Client whose requests are counted: one with a key, or else an address. Hosts of IPv6 have a whole network.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Client {
    Key([u8; 32]),
    V4([u8; 4]),
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
    keys: RwLock<Vec<[u8; 32]>>,
    requests_per_minute: Option<u32>,
    /// Start of the window and requests in it.
    counts: Mutex<HashMap<Client, (Instant, u32)>>,
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

    /// Counts a request of work and admits it. The key is that of the body or of the header.
    ///
    /// # Errors
    /// The key is missing or unknown (403), or the client had too many requests in this minute (429).
    pub fn admit(&self, caller: &Caller, key: Option<&str>) -> Result<(), ApiError> {
        let key = key.or(caller.key.as_deref());
        let client = match key {
            Some(key) if self.needs_key() => Client::Key(self.known_key(key)?),
            None if self.needs_key() => {
                return Err(ApiError::forbidden(
                    "a key is needed: send api_key, or the header Authorization: Bearer KEY",
                ));
            }
            _ => Client::from(caller.address),
        };
        match self.requests_per_minute {
            Some(most) => self.count(client, most),
            None => Ok(()),
        }
    }

    /// Returns the digest of a key. Its comparison with the known ones takes the same time for all keys.
    fn known_key(&self, key: &str) -> Result<[u8; 32], ApiError> {
        let digest: [u8; 32] = Sha256::digest(key).into();
        let differences = |known: &[u8; 32]| known.iter().zip(&digest).fold(0, |all, (a, b)| black_box(all | (a ^ b)));
        let keys = self.keys.read().unwrap_or_else(PoisonError::into_inner);
        let is_known = keys.iter().fold(false, |found, known| black_box(found | (differences(known) == 0)));
        if is_known { Ok(digest) } else { Err(ApiError::forbidden("this key is not known here")) }
    }

    fn count(&self, client: Client, most: u32) -> Result<(), ApiError> {
        let now = Instant::now();
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.len() >= MANY_CLIENTS {
            counts.retain(|_, (start, _)| now - *start < WINDOW);
        }
        let (start, count) = counts.entry(client).or_insert((now, 0));
        if now - *start >= WINDOW {
            (*start, *count) = (now, 0);
        }
        if *count >= most {
            return Err(ApiError::too_many(most, WINDOW - (now - *start)));
        }
        *count += 1;
        Ok(())
    }
}

/// Reads the digests of keys: one per line, without blank lines and those that begin with `#`.
fn read_keys(file: &Path) -> Result<Vec<[u8; 32]>> {
    let text = std::fs::read_to_string(file).with_context(|| format!("{}: cannot read the keys", file.display()))?;
    let keys = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let keys: Vec<[u8; 32]> = keys.map(|key| Sha256::digest(key).into()).collect();
    ensure!(!keys.is_empty(), "{}: there is no key here; write one per line", file.display());
    Ok(keys)
}
