//! TensorBoard event records (TensorFlow's TFRecord format).
//!
//! ```text
//! record    length: u64, crc(length): u32, event, crc(event): u32      little-endian; crc: CRC-32C, rotated and shifted
//! event     1 wall_time: double, 2 step: int64, and one of             in the encoding of protocol buffers
//!           3 file_version: string, 5 summary, 7 session_log
//! summary   1 value*: { 1 tag: string, 2 simple_value: float }
//! session   1 status: 1 at the start of a run, which voids events of this and later steps in other files
//! ```

/// Format version, the first record of every file.
const VERSION: &[u8] = b"brain.Event:2";
/// Constant added to a rotated checksum.
const MASK: u32 = 0xa282_ead8;
/// Bit-reversed polynomial of CRC-32C (Castagnoli).
const POLYNOMIAL: u32 = 0x82f6_3b78;
/// Lookup table of CRC-32C.
const CHECKSUMS: [u32; 256] = checksums();

/// Header of an event file, given the time in seconds since 1970 and the next training step.
pub fn event_file_header(wall_time: f64, step: u64) -> Vec<u8> {
    let version = event(wall_time, 0).bytes(3, VERSION);
    let start = event(wall_time, step).bytes(7, &Message::default().integer(1, 1).0);
    [record(&version.0), record(&start.0)].concat()
}

/// Event of tagged values at a step, given the time in seconds since 1970.
pub fn scalars_event(wall_time: f64, step: u64, values: &[(String, f64)]) -> Vec<u8> {
    let mut summary = Message::default();
    for (tag, value) in values {
        let value = Message::default().bytes(1, tag.as_bytes()).float(2, *value as f32);
        summary = summary.bytes(1, &value.0);
    }
    record(&event(wall_time, step).bytes(5, &summary.0).0)
}

fn event(wall_time: f64, step: u64) -> Message {
    Message::default().double(1, wall_time).integer(2, step)
}

/// Protocol buffers message.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    /// Appends a base-128 varint.
    fn varint(mut self, mut value: u64) -> Self {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
        self
    }

    fn integer(self, field: u64, value: u64) -> Self {
        self.varint(field << 3).varint(value)
    }

    fn double(self, field: u64, value: f64) -> Self {
        self.varint(field << 3 | 1).raw(&value.to_le_bytes())
    }

    fn bytes(self, field: u64, bytes: &[u8]) -> Self {
        self.varint(field << 3 | 2).varint(bytes.len() as u64).raw(bytes)
    }

    fn float(self, field: u64, value: f32) -> Self {
        self.varint(field << 3 | 5).raw(&value.to_le_bytes())
    }

    fn raw(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self
    }
}

/// Record: data with its length and the checksums of both.
fn record(data: &[u8]) -> Vec<u8> {
    let length = (data.len() as u64).to_le_bytes();
    [&length[..], &masked_checksum(&length), data, &masked_checksum(data)].concat()
}

/// Masked checksum as TensorFlow stores it, since CRCs of data that contains CRCs are weak.
fn masked_checksum(bytes: &[u8]) -> [u8; 4] {
    checksum(bytes).rotate_right(15).wrapping_add(MASK).to_le_bytes()
}

/// CRC-32C (RFC 3720, section 12.1).
fn checksum(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |sum, byte| CHECKSUMS[usize::from(sum as u8 ^ byte)] ^ sum >> 8)
}

const fn checksums() -> [u32; 256] {
    let mut sums = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut sum, mut bit) = (byte as u32, 0);
        while bit < 8 {
            sum = if sum & 1 == 1 { sum >> 1 ^ POLYNOMIAL } else { sum >> 1 };
            bit += 1;
        }
        sums[byte] = sum;
        byte += 1;
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_match_the_standard() {
        // RFC 3720, appendix B.4, and the usual digits.
        let counted: Vec<u8> = (0..32).collect();
        let reversed: Vec<u8> = (0..32).rev().collect();
        assert_eq!(checksum(b""), 0);
        assert_eq!(checksum(b"123456789"), 0xe306_9283);
        assert_eq!(checksum(&[0; 32]), 0x8a91_36aa);
        assert_eq!(checksum(&[0xff; 32]), 0x62a8_ab43);
        assert_eq!(checksum(&counted), 0x46dd_794e);
        assert_eq!(checksum(&reversed), 0x113f_db5c);
    }

    /// Splits a file into records and verifies their checksums.
    fn records(mut file: &[u8]) -> Vec<&[u8]> {
        let mut found = Vec::new();
        while !file.is_empty() {
            let length = u64::from_le_bytes(file[..8].try_into().unwrap()) as usize;
            assert_eq!(file[8..12], masked_checksum(&file[..8]));
            let data = &file[12..12 + length];
            assert_eq!(file[12 + length..16 + length], masked_checksum(data));
            found.push(data);
            file = &file[16 + length..];
        }
        found
    }

    /// Fields of a message by number; varints as 8 bytes, others as their bytes.
    fn fields(mut message: &[u8]) -> Vec<(u64, Vec<u8>)> {
        fn varint(message: &mut &[u8]) -> u64 {
            let mut value = 0;
            for index in 0.. {
                let (byte, rest) = message.split_first().unwrap();
                *message = rest;
                value |= u64::from(byte & 0x7f) << (7 * index);
                if byte & 0x80 == 0 {
                    break;
                }
            }
            value
        }
        let mut found = Vec::new();
        while !message.is_empty() {
            let key = varint(&mut message);
            let length = match key & 7 {
                0 => {
                    found.push((key >> 3, varint(&mut message).to_le_bytes().to_vec()));
                    continue;
                }
                1 => 8,
                2 => varint(&mut message) as usize,
                5 => 4,
                other => panic!("unknown wire type: {other}"),
            };
            found.push((key >> 3, message[..length].to_vec()));
            message = &message[length..];
        }
        found
    }

    #[test]
    fn round_trips_events() {
        let values = [("training/loss".to_owned(), 3.25), ("validation/bleu".to_owned(), -0.1)];
        let file = [event_file_header(1.5, 301), scalars_event(2.5, 300, &values)].concat();
        let events: Vec<_> = records(&file).into_iter().map(fields).collect();
        let [first_time, second_time] = [1.5f64, 2.5].map(|time| time.to_le_bytes().to_vec());
        let [zero, first_step, second_step] = [0u64, 301, 300].map(|step| step.to_le_bytes().to_vec());
        assert_eq!(events[0], [(1, first_time.clone()), (2, zero), (3, VERSION.to_vec())]);
        assert_eq!(events[1], [(1, first_time), (2, first_step), (7, vec![8, 1])]);
        assert_eq!(events[2][..2], [(1, second_time), (2, second_step)]);
        assert_eq!((events.len(), events[2].len(), events[2][2].0), (3, 3, 5));
        for ((tag, value), (field, message)) in values.iter().zip(fields(&events[2][2].1)) {
            assert_eq!(field, 1);
            let expected = [(1, tag.as_bytes().to_vec()), (2, (*value as f32).to_le_bytes().to_vec())];
            assert_eq!(fields(&message), expected);
        }
    }
}
