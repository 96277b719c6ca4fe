//! What several commands share in their help.

/// The heading of what all commands have.
pub const COMMON: &str = "Common options";
/// The variable that names a model's folder where the command line does not.
pub const MODEL: &str = "SOFTALIGN_MODEL";
