//! A server process and a small HTTP client.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ExitStatus};
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::common::{TestDir, json};

/// Limit of any wait.
pub const TIMEOUT: Duration = Duration::from_secs(60);

/// The model in the repository, with its languages.
pub const SHIPPED: &str = concat!("en-fr=", env!("CARGO_MANIFEST_DIR"), "/checkpoints");

/// Running `softalign serve`, ended when dropped.
pub struct Served {
    child: Child,
    /// Address as `host:port`.
    pub address: String,
    /// Its standard error.
    pub log: Arc<Mutex<String>>,
}

impl Served {
    /// Starts the program with the shipped model and more options, and waits until it listens.
    pub fn start(options: &[&str]) -> Self {
        Self::start_in(&TestDir::new(), &[&["--model", SHIPPED], options].concat())
    }

    /// Starts the program in a directory.
    pub fn start_in(dir: &TestDir, options: &[&str]) -> Self {
        let mut command = dir.command(&[&["serve", "--port", "0"], options].concat());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap());
        let mut first = String::new();
        lines.read_line(&mut first).unwrap();
        let address = first.trim().rsplit_once("http://").unwrap_or_else(|| panic!("no address: {first}")).1;
        let address = address.trim_end_matches('/').to_owned();
        let log = Arc::new(Mutex::new(first));
        let written = Arc::clone(&log);
        std::thread::spawn(move || lines.lines().for_each(|line| *written.lock().unwrap() += &(line.unwrap() + "\n")));
        Self { child, address, log }
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        stream
    }

    /// Sends a request with more headers and reads its answer.
    pub fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        send(&self.address, method, path, headers, body)
    }

    pub fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], b"")
    }

    /// Posts JSON.
    pub fn post(&self, path: &str, body: &Value) -> Answer {
        self.send("POST", path, &[("Content-Type", "application/json")], body.to_string().as_bytes())
    }

    /// Uploads a file for translation from English to French, with more fields of the form.
    pub fn upload(&self, name: &str, file: &[u8], fields: &[(&str, &str)]) -> Answer {
        let kind = [("Content-Type", "multipart/form-data; boundary=xyz")];
        self.send("POST", "/translate_file", &kind, &form(name, file, fields))
    }

    /// Translates a file and downloads the translation.
    #[track_caller]
    pub fn translate_file(&self, name: &str, file: &[u8]) -> Answer {
        let answer = self.upload(name, file, &[("source", "en"), ("target", "fr")]).worked();
        let address = answer["translatedFileUrl"].as_str().unwrap().to_owned();
        let path = address.strip_prefix(&format!("http://{}", self.address)).unwrap();
        let file = self.get(path);
        assert_eq!(file.status, 200, "{file:?}");
        file
    }

    /// Posts JSON and returns the answer's JSON, asserting success.
    #[track_caller]
    pub fn ask(&self, path: &str, body: &Value) -> Value {
        self.post(path, body).worked()
    }

    pub fn signal(&self, signal: &str) {
        let id = self.child.id().to_string();
        assert!(std::process::Command::new("kill").args([signal, &id]).status().unwrap().success());
    }

    /// Waits until the program exits.
    #[track_caller]
    pub fn wait(&mut self) -> ExitStatus {
        let began = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(began.elapsed() < TIMEOUT, "still running");
            sleep(Duration::from_millis(20));
        }
    }

    /// Waits until standard error contains a text.
    #[track_caller]
    pub fn wait_for_log(&self, text: &str) {
        let began = Instant::now();
        while !self.log.lock().unwrap().contains(text) {
            assert!(began.elapsed() < TIMEOUT, "{text:?} is missing: {}", self.log.lock().unwrap());
            sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Answer of the server.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    /// Headers with names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: String,
    /// The body of an answer that is no text.
    pub bytes: Vec<u8>,
}

impl Answer {
    /// Reads an answer up to the end of the connection; `None` if there is none.
    pub fn read(mut stream: TcpStream) -> Option<Self> {
        let mut bytes = Vec::new();
        // A connection may be reset after the answer.
        let _ = stream.read_to_end(&mut bytes);
        let end = bytes.windows(4).position(|end| end == b"\r\n\r\n")?;
        let head = String::from_utf8(bytes[..end].to_vec()).expect("heads are UTF-8");
        let bytes = bytes.split_off(end + 4);
        let mut lines = head.lines();
        let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
        let header = |line: &str| line.split_once(": ").map(|(name, value)| (name.to_lowercase(), value.to_owned()));
        let headers: Vec<(String, String)> = lines.filter_map(header).collect();
        let is_chunked = headers.iter().any(|(name, value)| name == "transfer-encoding" && value == "chunked");
        let body = if is_chunked { without_chunks(&bytes) } else { String::from_utf8_lossy(&bytes).into_owned() };
        Some(Self { status, headers, body, bytes })
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// Asserts success and returns the JSON.
    #[track_caller]
    pub fn worked(&self) -> Value {
        assert_eq!(self.status, 200, "{self:?}");
        json(&self.body)
    }

    /// Asserts an error in JSON with this status whose text contains the parts.
    #[track_caller]
    pub fn refused(&self, status: u16, parts: &[&str]) {
        assert_eq!(self.status, status, "{self:?}");
        assert_eq!(self.header("content-type"), Some("application/json"), "{self:?}");
        let error = json(&self.body)["error"].as_str().expect("an error has a text").to_owned();
        assert!(parts.iter().all(|part| error.contains(part)), "{parts:?} missing: {error}");
        assert!(!error.contains("::") && !error.contains("Some("), "internal term: {error}");
    }
}

/// Returns the data of chunks. An answer that was cut off ends with `[cut off]`.
fn without_chunks(mut chunks: &[u8]) -> String {
    let mut data = Vec::new();
    loop {
        let end = chunks.windows(2).position(|two| two == b"\r\n");
        let length = end.and_then(|end| usize::from_str_radix(std::str::from_utf8(&chunks[..end]).ok()?, 16).ok());
        let (Some(end), Some(length)) = (end, length) else { break };
        chunks = &chunks[end + 2..];
        if length == 0 {
            return String::from_utf8(data).unwrap();
        }
        if chunks.len() < length + 2 {
            break;
        }
        data.extend_from_slice(&chunks[..length]);
        chunks = &chunks[length + 2..];
    }
    String::from_utf8_lossy(&data).into_owned() + "[cut off]"
}

/// Returns the body of a form with a file.
pub fn form(name: &str, file: &[u8], fields: &[(&str, &str)]) -> Vec<u8> {
    let mut body = Vec::new();
    for (field, value) in fields {
        let head = format!("--xyz\r\nContent-Disposition: form-data; name=\"{field}\"\r\n\r\n{value}\r\n");
        body.extend(head.bytes());
    }
    let head = format!("--xyz\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n");
    body.extend(head.bytes().chain(file.iter().copied()).chain(*b"\r\n--xyz--\r\n"));
    body
}

/// Sends a request on a connection of its own and reads the answer.
pub fn send(address: &str, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
    if !headers.iter().any(|(name, _)| *name == "Host") {
        head += &format!("Host: {address}\r\n");
    }
    headers.iter().for_each(|(name, value)| head += &format!("{name}: {value}\r\n"));
    if method == "POST" {
        head += &format!("Content-Length: {}\r\n", body.len());
    }
    stream.write_all(&[head.as_bytes(), b"\r\n", body].concat()).unwrap();
    Answer::read(stream).expect("an answer")
}
