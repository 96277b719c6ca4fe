//! JSON names of the option `hard-attention`, which are those of the command line.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::attention::AttentionMode;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Name {
    Off,
    Sampled,
    Exact,
}

/// Writes the name of a mode.
pub fn serialize<S: Serializer>(mode: &Option<AttentionMode>, serializer: S) -> Result<S::Ok, S::Error> {
    let name = mode.map(|mode| match mode {
        AttentionMode::Soft | AttentionMode::Hardest => Name::Off,
        AttentionMode::Sampled => Name::Sampled,
        AttentionMode::Exact => Name::Exact,
    });
    name.serialize(serializer)
}

/// Reads the name of a mode.
///
/// # Errors
/// There is no such mode.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<AttentionMode>, D::Error> {
    let name = Option::<Name>::deserialize(deserializer)?;
    Ok(name.map(|name| match name {
        Name::Off => AttentionMode::Soft,
        Name::Sampled => AttentionMode::Sampled,
        Name::Exact => AttentionMode::Exact,
    }))
}
