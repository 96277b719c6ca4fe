//! Streams of lines: as many as requested from a file, those that arrived before a pause from a pipe.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use anyhow::{Context, Result};

use super::is_standard;
use super::line_reader::{LONGEST_LINE, LineReader, name};

/// Approximate size of packets from the reader thread.
const PACKET_BYTES: usize = 1 << 16;
const MAX_PENDING_PACKETS: usize = 4;
/// Approximate maximum size of a chunk.
const MAX_CHUNK_BYTES: usize = 8 << 20;
/// Time without input after which a pipe counts as paused.
const PAUSE: Duration = Duration::from_millis(5);

/// Lines that a background thread reads.
pub struct LineStream {
    packets: Receiver<Vec<Result<String>>>,
    /// Lines received but not yet returned.
    pending: VecDeque<Result<String>>,
    /// Time without input after which received lines are returned.
    pause: Duration,
}

impl LineStream {
    /// Opens a file; the path `-` is standard input.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn open(path: &Path) -> Result<Self> {
        let reader = LineReader::open(path, LONGEST_LINE)?;
        // A file never pauses, even on a busy machine.
        let pause = if path.is_file() && !is_standard(path) { Duration::MAX } else { PAUSE };
        let (sender, packets) = sync_channel(MAX_PENDING_PACKETS);
        std::thread::Builder::new()
            .name("lines".to_owned())
            .spawn(move || send_lines(reader, &sender))
            .with_context(|| format!("{}: cannot start a thread to read this file", name(path)))?;
        Ok(Self { packets, pending: VecDeque::new(), pause })
    }

    /// Waits for lines and returns those available, at most `max_lines`; none at the end. A line that is not UTF-8 is a
    /// [`LineError`](super::LineError). Another error, if the file cannot be read, is the last item of the stream.
    pub fn next_chunk(&mut self, max_lines: usize) -> Vec<Result<String>> {
        let (mut lines, mut bytes) = (Vec::new(), 0);
        while lines.len() < max_lines && bytes < MAX_CHUNK_BYTES {
            if self.pending.is_empty() {
                let packet = if lines.is_empty() {
                    self.packets.recv().map_err(|_| RecvTimeoutError::Disconnected)
                } else {
                    self.packets.recv_timeout(self.pause)
                };
                match packet {
                    Ok(packet) => self.pending.extend(packet),
                    Err(_) => break,
                }
            }
            while let Some(line) = self.pending.pop_front() {
                bytes += length(&line);
                lines.push(line);
                if lines.len() == max_lines || bytes >= MAX_CHUNK_BYTES {
                    break;
                }
            }
        }
        lines
    }

    /// Waits for the next `count` lines and returns them as [`Self::next_chunk`] does; fewer at the end.
    pub fn next_n(&mut self, count: usize) -> Vec<Result<String>> {
        let mut lines = Vec::with_capacity(count);
        while lines.len() < count {
            let more = self.next_chunk(count - lines.len());
            if more.is_empty() {
                break;
            }
            lines.extend(more);
        }
        lines
    }

    /// Reads to the end and returns the number of lines read.
    pub fn count_rest(&mut self) -> usize {
        let mut count = 0;
        loop {
            match self.next_chunk(usize::MAX).len() {
                0 => return count,
                more => count += more,
            }
        }
    }
}

fn length(line: &Result<String>) -> usize {
    line.as_ref().map_or(0, String::len)
}

/// Sends lines until the end, or until the receiver is dropped. All lines read are sent before the reader may block.
fn send_lines(mut reader: LineReader, sender: &SyncSender<Vec<Result<String>>>) {
    let (mut packet, mut bytes) = (Vec::new(), 0);
    while let Some(line) = reader.next() {
        bytes += length(&line);
        packet.push(line);
        if bytes >= PACKET_BYTES || !reader.has_buffered_line() {
            bytes = 0;
            if sender.send(std::mem::take(&mut packet)).is_err() {
                return;
            }
        }
    }
    if !packet.is_empty() {
        let _ = sender.send(packet);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(text: &str) -> LineStream {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lines");
        std::fs::write(&path, text).unwrap();
        LineStream::open(&path).unwrap()
    }

    #[test]
    fn file_yields_as_many_lines_as_requested() {
        let text: String = (0..30_000).map(|number| format!("line {number}\n")).collect();
        let mut lines = stream(&text);
        assert_eq!(lines.next_chunk(7).len(), 7);
        let more: Vec<String> = lines.next_n(20_000).into_iter().collect::<Result<_>>().unwrap();
        assert_eq!((more.len(), more[0].as_str(), more[19_999].as_str()), (20_000, "line 7", "line 20006"));
        assert_eq!(lines.count_rest(), 9993);
        assert!(lines.next_chunk(5).is_empty() && lines.next_n(5).is_empty());
    }

    #[test]
    fn limits_bytes_of_a_chunk() {
        let text = format!("{}\n", "a".repeat(1000)).repeat(20_000);
        let mut lines = stream(&text);
        let first = lines.next_chunk(usize::MAX).len();
        assert!((8000..9000).contains(&first), "{first}");
        assert_eq!(first + lines.count_rest(), 20_000);
    }

    #[test]
    fn names_unreadable_lines_among_the_others() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lines");
        std::fs::write(&path, b"a\nb\xff\nc\n").unwrap();
        let lines = LineStream::open(&path).unwrap().next_chunk(9);
        let message = lines[1].as_ref().unwrap_err().to_string();
        assert!(message.contains("lines:2: not UTF-8"), "{message}");
        assert_eq!((lines.len(), lines[2].as_ref().unwrap().as_str()), (3, "c"), "the lines after it are read");
        assert!(LineStream::open(&dir.path().join("nothing")).is_err());
        assert!(stream("").next_chunk(3).is_empty());
    }
}
