//! Settings of a server.

use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr;

/// Settings of a server.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// Models in the order of the page. Directories with the same name are an ensemble.
    pub models: Vec<ModelSpec>,
    /// Address to listen on.
    pub host: IpAddr,
    /// Port to listen on; 0 is a free one.
    pub port: u16,
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
