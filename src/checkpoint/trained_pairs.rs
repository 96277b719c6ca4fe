//! Hashes of a model's training pairs, by which an evaluation on them is recognized.

use std::collections::HashMap;

use anyhow::{Context, Result};
use bytemuck::cast_slice;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};

use super::identity::{Checkpoint, fingerprint_metadata};
use super::model_dir::{ModelDir, TRAINED_PAIRS};
use super::safetensors_io::{Header, array};
use crate::text::{Normalization, Pair};

/// The only array of the file.
const HASHES: &str = "hashes";

/// Set of pairs as sorted hashes of 32 bits, four bytes for each pair. Of a million pairs, another pair seems to be among them
/// with a probability of 0.0002.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrainedPairs(Vec<u32>);

impl TrainedPairs {
    /// Returns the set of these pairs, which are compared after normalization.
    pub fn new(pairs: &[Pair], normalization: Normalization) -> Self {
        Self::sorted(pairs.iter().map(|pair| hash(&pair.normalized(normalization))).collect())
    }

    fn sorted(mut hashes: Vec<u32>) -> Self {
        hashes.sort_unstable();
        hashes.dedup();
        Self(hashes)
    }

    /// Returns the union of two sets.
    #[must_use]
    pub fn with(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        Self::sorted(self.0)
    }

    /// Returns the number of these pairs that are in the set.
    pub fn count(&self, pairs: &[Pair], normalization: Normalization) -> usize {
        let hashes = pairs.iter().map(|pair| hash(&pair.normalized(normalization)));
        hashes.filter(|hash| self.0.binary_search(hash).is_ok()).count()
    }
}

/// FNV-1a of both sides, of which the upper half is kept.
fn hash(pair: &Pair) -> u32 {
    let bytes = pair.source.trim().bytes().chain([b'\t']).chain(pair.target.trim().bytes());
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in bytes {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    (hash >> 32) as u32
}

impl ModelDir {
    /// Writes the set of training pairs.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save_trained_pairs(&self, checkpoint: &Checkpoint, pairs: &TrainedPairs) -> Result<()> {
        let view = TensorView::new(Dtype::U32, vec![pairs.0.len()], cast_slice(&pairs.0))?;
        let metadata = HashMap::from([fingerprint_metadata(checkpoint)?]);
        self.write_bytes(TRAINED_PAIRS, &safetensors::serialize([(HASHES, view)], Some(metadata))?)
    }

    /// Reads the set of training pairs. Models of earlier versions have none.
    ///
    /// # Errors
    /// The file is damaged or belongs to another config.json.
    pub fn load_trained_pairs(&self, checkpoint: &Checkpoint) -> Result<Option<TrainedPairs>> {
        if !self.has(TRAINED_PAIRS) {
            return Ok(None);
        }
        let bytes = self.read_bytes(TRAINED_PAIRS)?;
        let damaged = format!("{}: damaged, or not a safetensors file", self.path().join(TRAINED_PAIRS).display());
        let header = Header::read(&mut &bytes[..], bytes.len() as u64).context(damaged.clone())?;
        self.check_fingerprint(TRAINED_PAIRS, checkpoint, &header.metadata)?;
        let hashes = SafeTensors::deserialize(&bytes).map_err(anyhow::Error::from);
        let hashes = hashes.and_then(|file| array(&file, HASHES, Dtype::U32)).context(damaged)?;
        Ok(Some(TrainedPairs::sorted(hashes)))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::text::read_pairs;

    #[test]
    fn counts_pairs_of_the_set() {
        let trained = [["a b", "c"], ["a", "b c"], ["e\u{301}", "f"]].map(|[source, target]| Pair::new(source, target));
        let set = TrainedPairs::new(&trained, Normalization::NONE);
        assert_eq!(set.count(&trained, Normalization::NONE), 3);
        let others = [["a b ", " c"], ["a", "b"], ["c", "a b"], ["a b", "c d"]]
            .map(|[source, target]| Pair::new(source, target));
        assert_eq!(set.count(&others, Normalization::NONE), 1);
        let more = TrainedPairs::new(&others, Normalization::NONE);
        assert_eq!(set.with(more).count(&others, Normalization::NONE), 4);
    }

    #[test]
    fn the_shipped_model_knows_the_shipped_training_pairs() {
        let directory = ModelDir::new(Path::new("checkpoints"));
        let checkpoint = directory.load().unwrap();
        let normalization = checkpoint.config.text.normalization;
        let shipped = TrainedPairs::new(&read_pairs("data/train.tsv").unwrap(), normalization);
        if std::env::var_os("WRITE_PAIRS").is_some() {
            directory.save_trained_pairs(&checkpoint, &shipped).unwrap();
        }
        assert_eq!(directory.load_trained_pairs(&checkpoint).unwrap(), Some(shipped));
    }
}
