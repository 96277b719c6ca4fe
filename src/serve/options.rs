//! Settings of a server.

use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr;

use crate::translator::PrecisionOption;

/// Settings of a server.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// Models in the order of the page. Directories with the same name are an ensemble.
    pub models: Vec<ModelSpec>,
    /// Address to listen on.
    pub host: IpAddr,
    /// Port to listen on; 0 is a free one.
    pub port: u16,
    /// Origins of other pages that may use the server, and names under which it may be reached.
    pub allow_origin: Vec<AllowedOrigin>,
    /// Limits of requests.
    pub limits: RequestLimits,
    /// File of keys, one per line, one of which every request of work needs.
    pub api_keys: Option<PathBuf>,
    /// Precision of matrix products in search on the CPU.
    pub precision: PrecisionOption,
    /// Loads models anew when their directories change.
    pub watch: bool,
    /// File that corrected pairs are appended to.
    pub collect: Option<PathBuf>,
}

/// Limits of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestLimits {
    /// Maximum characters of all texts of a request.
    pub characters: usize,
    /// Maximum number of texts of a request, and of lines in them.
    pub texts: usize,
    /// Maximum number of requests of work in a minute for each client, if limited.
    pub requests_per_minute: Option<u32>,
    /// Maximum memory of all requests beyond the models, in bytes.
    pub memory: usize,
}

impl Default for RequestLimits {
    fn default() -> Self {
        Self { characters: 200_000, texts: 2_000, requests_per_minute: None, memory: 1 << 30 }
    }
}

/// Model to serve: a directory with a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelSpec {
    /// Name in requests, by default that of the directory.
    pub name: String,
    /// Model directory.
    pub directory: PathBuf,
}

impl FromStr for ModelSpec {
    type Err = String;

    /// Parses `[NAME=]DIR`.
    fn from_str(text: &str) -> Result<Self, String> {
        let (name, directory) = match text.split_once('=') {
            Some((name, directory)) => (name.to_owned(), PathBuf::from(directory)),
            None => {
                let directory = PathBuf::from(text);
                let name = directory.file_name().map(|name| name.to_string_lossy().into_owned());
                (name.unwrap_or_else(|| text.to_owned()), directory)
            }
        };
        if name.is_empty() || directory.as_os_str().is_empty() {
            return Err("expected DIR or NAME=DIR".to_owned());
        }
        Ok(Self { name, directory })
    }
}

/// Origin of pages: `scheme://host[:port]`, as browsers write it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedOrigin(String);

impl FromStr for AllowedOrigin {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let lower = text.trim_end_matches('/').to_ascii_lowercase();
        let host = lower.strip_prefix("http://").or_else(|| lower.strip_prefix("https://")).unwrap_or_default();
        let is_host =
            !host.is_empty() && !host.contains(['/', '?', '#', '@', '*', ',']) && !host.contains(char::is_whitespace);
        if is_host { Ok(Self(lower)) } else { Err("expected an origin such as https://example.org".to_owned()) }
    }
}

impl AllowedOrigin {
    /// The origin.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its host, with the port if there is one.
    pub fn host(&self) -> &str {
        self.0.split_once("://").map_or("", |(_, host)| host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_models_with_and_without_names() {
        let spec = |name: &str, directory: &str| ModelSpec { name: name.to_owned(), directory: directory.into() };
        assert_eq!("en-fr=a/b".parse(), Ok(spec("en-fr", "a/b")));
        assert_eq!("a/b/".parse(), Ok(spec("b", "a/b/")));
        assert_eq!(".".parse(), Ok(spec(".", ".")));
        assert_eq!("x=y=z".parse(), Ok(spec("x", "y=z")));
        assert!(["", "=", "=a", "a="].into_iter().all(|text| text.parse::<ModelSpec>().is_err()));
    }

    #[test]
    fn parses_origins_only() {
        let origin: AllowedOrigin = "https://Example.org:8443/".parse().unwrap();
        assert_eq!((origin.as_str(), origin.host()), ("https://example.org:8443", "example.org:8443"));
        for text in ["*", "example.org", "https://", "https://a/b", "https://*", "ftp://a", "https://a b"] {
            assert!(text.parse::<AllowedOrigin>().is_err(), "{text}");
        }
    }
}
