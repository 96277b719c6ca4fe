//! Contents of a safetensors file.

use serde_json::Value;

/// A safetensors file: its header, and the bytes of its tensors.
pub struct Tensors {
    pub header: Value,
    pub data: Vec<u8>,
}

impl Tensors {
    pub fn read(bytes: &[u8]) -> Self {
        let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        let header = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
        Self { header, data: bytes[8 + length..].to_vec() }
    }

    pub fn write(&self) -> Vec<u8> {
        let mut header = self.header.to_string().into_bytes();
        header.resize(header.len().next_multiple_of(8), b' ');
        [&(header.len() as u64).to_le_bytes()[..], &header, &self.data].concat()
    }

    /// Header and data without the metadata, which contains timestamps.
    pub fn without_metadata(mut self) -> (Value, Vec<u8>) {
        self.header.as_object_mut().unwrap().remove("__metadata__");
        (self.header, self.data)
    }
}
