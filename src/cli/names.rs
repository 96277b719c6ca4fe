//! Names that several commands use.

/// Help heading of the options that all commands have.
pub const GLOBAL: &str = "Global options";
/// Environment variable with the default of `--model`.
pub const MODEL_VARIABLE: &str = "SOFTALIGN_MODEL";
