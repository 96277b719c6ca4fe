//! Lines as they arrive: from a file as many as are wanted, from a pipe those that came before it paused.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use anyhow::{Context, Result};

use super::line_reader::{LONGEST_LINE, LineReader, is_standard_input};

/// Bytes of lines that are handed over together, about.
const PACKET: usize = 1 << 16;
/// Packets that wait to be taken, at most.
const WAITING: usize = 4;
/// Bytes of lines that are taken at once, about.
const MOST_BYTES: usize = 8 << 20;
/// For how long nothing comes when a pipe pauses.
const PAUSE: Duration = Duration::from_millis(5);

/// Lines that a thread of their own reads.
pub struct LineStream {
    packets: Receiver<Result<Vec<String>>>,
    /// Lines that were handed over and not yet taken.
    pending: VecDeque<String>,
    /// For how long nothing comes before what came is given out.
    pause: Duration,
}

impl LineStream {
    /// Opens a file; the path `-` is standard input.
    ///
    /// # Errors
    /// The path, with the system's reason.
    pub fn open(path: &Path) -> Result<Self> {
        let reader = LineReader::open(path, LONGEST_LINE)?;
        // A file never pauses, however busy the machine is.
        let pause = if path.is_file() && !is_standard_input(path) { Duration::MAX } else { PAUSE };
        let (sender, packets) = sync_channel(WAITING);
        std::thread::Builder::new()
            .name("lines".to_owned())
            .spawn(move || hand_over(reader, &sender))
            .with_context(|| format!("{}: cannot read this beside the work", super::line_reader::name(path)))?;
        Ok(Self { packets, pending: VecDeque::new(), pause })
    }

    /// Waits for lines and takes those that have come, `most` at most; none at the end.
    ///
    /// # Errors
    /// The file cannot be read, or a line is not UTF-8. Lines before it that were not taken yet are lost.
    pub fn next_chunk(&mut self, most: usize) -> Result<Vec<String>> {
        let (mut lines, mut bytes) = (Vec::new(), 0);
        while lines.len() < most && bytes < MOST_BYTES {
            if self.pending.is_empty() {
                let packet = if lines.is_empty() {
                    self.packets.recv().map_err(|_| RecvTimeoutError::Disconnected)
                } else {
                    self.packets.recv_timeout(self.pause)
                };
                match packet {
                    Ok(packet) => self.pending.extend(packet?),
                    Err(_) => break,
                }
            }
            while let Some(line) = self.pending.pop_front() {
                bytes += line.len();
                lines.push(line);
                if lines.len() == most || bytes >= MOST_BYTES {
                    break;
                }
            }
        }
        Ok(lines)
    }

    /// Waits for exactly so many lines; fewer at the end.
    ///
    /// # Errors
    /// As [`Self::next_chunk`].
    pub fn exactly(&mut self, count: usize) -> Result<Vec<String>> {
        let mut lines = Vec::with_capacity(count);
        while lines.len() < count {
            let more = self.next_chunk(count - lines.len())?;
            if more.is_empty() {
                break;
            }
            lines.extend(more);
        }
        Ok(lines)
    }

    /// Reads on to the end; gives how many lines that were.
    ///
    /// # Errors
    /// As [`Self::next_chunk`].
    pub fn count_rest(&mut self) -> Result<usize> {
        let mut count = 0;
        loop {
            match self.next_chunk(usize::MAX)?.len() {
                0 => return Ok(count),
                more => count += more,
            }
        }
    }
}

/// Reads to the end, or until nobody wants more. Whatever has been read is handed over before the reader may have to wait.
fn hand_over(mut reader: LineReader, sender: &SyncSender<Result<Vec<String>>>) {
    let (mut packet, mut bytes) = (Vec::new(), 0);
    while let Some(line) = reader.next() {
        let whole = match line {
            Ok(line) => {
                bytes += line.len();
                packet.push(line);
                bytes >= PACKET || !reader.holds_a_line()
            }
            Err(error) => {
                // What came before is handed over first.
                let _ = sender.send(Ok(std::mem::take(&mut packet))).and_then(|()| sender.send(Err(error)));
                return;
            }
        };
        if whole {
            bytes = 0;
            if sender.send(Ok(std::mem::take(&mut packet))).is_err() {
                return;
            }
        }
    }
    if !packet.is_empty() {
        let _ = sender.send(Ok(packet));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(text: &str) -> LineStream {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        std::fs::write(&path, text).unwrap();
        LineStream::open(&path).unwrap()
    }

    #[test]
    fn of_a_file_as_many_are_taken_as_are_wanted() {
        let text: String = (0..30_000).map(|number| format!("line {number}\n")).collect();
        let mut lines = stream(&text);
        assert_eq!(lines.next_chunk(7).unwrap().len(), 7);
        let more = lines.exactly(20_000).unwrap();
        assert_eq!((more.len(), more[0].as_str(), more[19_999].as_str()), (20_000, "line 7", "line 20006"));
        assert_eq!(lines.count_rest().unwrap(), 9993);
        assert!(lines.next_chunk(5).unwrap().is_empty() && lines.exactly(5).unwrap().is_empty());
    }

    #[test]
    fn many_bytes_are_taken_in_parts() {
        let text = format!("{}\n", "a".repeat(1000)).repeat(20_000);
        let mut lines = stream(&text);
        let first = lines.next_chunk(usize::MAX).unwrap().len();
        assert!((8000..9000).contains(&first), "{first}");
        assert_eq!(first + lines.count_rest().unwrap(), 20_000);
    }

    #[test]
    fn an_error_comes_as_such() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        std::fs::write(&path, b"a\nb\xff\nc\n").unwrap();
        let message = LineStream::open(&path).unwrap().next_chunk(9).unwrap_err().to_string();
        assert!(message.contains("lines:2: not UTF-8"), "{message}");
        assert!(LineStream::open(&folder.path().join("nothing")).is_err());
        assert!(stream("").next_chunk(3).unwrap().is_empty());
    }
}
