//! The operations that the model's time goes into, each in a file that opens with its equations.
//!
//! They know tensors and nothing of text, vocabularies or training.

pub mod adam;
pub mod attention;
pub mod cross_entropy;
pub mod gru;
