//! Settings of a server, and their values on the command line.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
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
    /// Notes each request: its time, address, method and path, and the status, bytes and milliseconds of its answer.
    pub access_log: bool,
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

/// Origin of pages: `scheme://host[:port]`, as browsers send it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedOrigin {
    origin: String,
    /// Name of a web server, without its port.
    name: Option<String>,
}

impl FromStr for AllowedOrigin {
    type Err = String;

    /// Parses an origin of web pages, without the port that its scheme has by default, or one of an extension or application,
    /// such as `moz-extension://ID` or `tauri://localhost`.
    fn from_str(text: &str) -> Result<Self, String> {
        let lower = text.strip_suffix('/').unwrap_or(text).to_ascii_lowercase();
        let (scheme, authority) = lower.split_once("://").ok_or(EXPECTED_ORIGIN)?;
        if !lower.is_ascii() {
            return Err(
                "write it in ASCII, as browsers send it: https://xn--exmple-cua.org for https://ex\u{e4}mple.org"
                    .to_owned(),
            );
        }
        let default_port = match scheme {
            "http" => Some(80),
            "https" => Some(443),
            _ => None,
        };
        let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
        if !is_scheme || SCHEMES_WITHOUT_PAGES.contains(&scheme) {
            return Err(EXPECTED_ORIGIN.to_owned());
        }
        let Authority { host, port } = Authority::parse(authority).ok_or(EXPECTED_ORIGIN)?;
        let host = host_as_sent(host, default_port.is_some()).ok_or(EXPECTED_ORIGIN)?;
        let shown = port.filter(|port| Some(*port) != default_port).map(|port| format!(":{port}"));
        let origin = format!("{scheme}://{host}{}", shown.unwrap_or_default());
        Ok(Self { origin, name: default_port.map(|_| host) })
    }
}

const EXPECTED_ORIGIN: &str = "expected an origin such as https://example.org or moz-extension://ID";

/// Schemes whose pages have no origin, and those of no pages.
const SCHEMES_WITHOUT_PAGES: [&str; 8] = ["about", "blob", "data", "file", "ftp", "javascript", "ws", "wss"];

/// Host of an origin, with its port if it has one.
struct Authority<'a> {
    host: &'a str,
    port: Option<u16>,
}

impl<'a> Authority<'a> {
    /// Splits `host[:port]`. `None` if the port is no number of one.
    fn parse(text: &'a str) -> Option<Self> {
        match text.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => {
                let is_number = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
                Some(Self { host, port: Some(port.parse().ok().filter(|_| is_number)?) })
            }
            _ => Some(Self { host: text, port: None }),
        }
    }
}

/// Returns a host as browsers write it. `None` if it is not valid.
fn host_as_sent(host: &str, is_web: bool) -> Option<String> {
    if let Some(address) = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        return Some(format!("[{}]", address.parse::<Ipv6Addr>().ok()?));
    }
    let is_name = !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
    // Browsers take a name that ends with a number for an address.
    let is_number = host.rsplit('.').next()?.bytes().all(|byte| byte.is_ascii_digit());
    let is_address = !is_web || !is_number || host.parse::<Ipv4Addr>().is_ok();
    (is_name && is_address).then(|| host.to_owned())
}

impl AllowedOrigin {
    /// Origin as browsers send it: `scheme://host[:port]`.
    pub fn as_str(&self) -> &str {
        &self.origin
    }

    /// Name of the web server whose pages these are, without its port. Extensions and applications have none.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(name: &str, directory: &str) -> ModelSpec {
        ModelSpec { name: name.to_owned(), directory: directory.into() }
    }

    #[test]
    fn parses_models_with_and_without_names() {
        assert_eq!("en-fr=a/b".parse(), Ok(spec("en-fr", "a/b")));
        assert_eq!("a/b/".parse(), Ok(spec("b", "a/b/")));
        assert_eq!(".".parse(), Ok(spec(".", ".")));
        assert_eq!("x=y=z".parse(), Ok(spec("x", "y=z")));
        assert!(["", "=", "=a", "a="].into_iter().all(|text| text.parse::<ModelSpec>().is_err()));
    }

    #[test]
    fn origins_are_those_that_browsers_send() {
        for (text, origin, name) in [
            ("https://Example.org:8443/", "https://example.org:8443", Some("example.org")),
            ("https://x:443", "https://x", Some("x")),
            ("http://x:80", "http://x", Some("x")),
            ("http://x:443", "http://x:443", Some("x")),
            ("http://[0:0::1]:80", "http://[::1]", Some("[::1]")),
            ("http://10.0.0.1:8080", "http://10.0.0.1:8080", Some("10.0.0.1")),
            ("https://xn--exmple-cua.org", "https://xn--exmple-cua.org", Some("xn--exmple-cua.org")),
            ("moz-extension://0f2b-6c", "moz-extension://0f2b-6c", None),
            ("chrome-extension://abcdefghijklmnop", "chrome-extension://abcdefghijklmnop", None),
            ("app://obsidian.md", "app://obsidian.md", None),
            ("tauri://localhost", "tauri://localhost", None),
        ] {
            let parsed: AllowedOrigin = text.parse().unwrap_or_else(|reason| panic!("{text}: {reason}"));
            assert_eq!((parsed.as_str(), parsed.name()), (origin, name), "{text}");
        }
        for text in [
            "*",
            "example.org",
            "null",
            "https://",
            "https:///",
            "https://a/b",
            "https://*",
            "https://*.a",
            "https://a b",
            "https://a?b",
            "https://a@b",
            "https://a:",
            "https://a:99999",
            "https://a:+1",
            "https://a:1:2",
            "https://1.2.3",
            "https://[::1",
            "https://[x]",
            "https://ex\u{e4}mple.org",
            "ftp://a",
            "file:///a",
            "1://a",
        ] {
            assert!(text.parse::<AllowedOrigin>().is_err(), "{text}");
        }
    }
}
