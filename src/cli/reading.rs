//! How a model's attention is used.

use clap::Args;

/// How attention is used, where not as it was trained.
#[derive(Clone, Copy, Debug, Args)]
pub struct ReadingArgs {
    /// Let the largest weight of attention take all.
    #[arg(long, help_heading = "Attention")]
    pub hard_attention: bool,

    /// Divide attention's energies by this, instead of by what training did: below 1 sharper, above 1 more even.
    #[arg(long, value_name = "T", allow_negative_numbers = true, help_heading = "Attention")]
    pub attention_temperature: Option<f64>,

    /// Show the weights of this head, counted from 1, instead of the mean of all.
    #[arg(long, value_name = "K", help_heading = "Attention")]
    pub head: Option<usize>,
}
