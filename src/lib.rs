//! softalign trains small translators with attention on your own sentence pairs, translates with them, and shows which
//! source words each target word came from.
//!
//! Train, translate and look at the attention:
//!
//! ```
//! # let pairs: Vec<softalign::Pair> = [("the fox sleeps", "mi dorma"), ("the owl sleeps", "ku dorma")]
//! #     .map(|(source, target)| softalign::Pair::new(source, target)).into();
//! # let directory = tempfile::tempdir()?;
//! # let directory = directory.path().join("my-model");
//! use softalign::{ModelConfig, RunLimits, TrainConfig, Trainer, Translator};
//!
//! # /*
//! let pairs = softalign::read_pairs("pairs.tsv")?;
//! # */
//! let config = TrainConfig {
//!     model: ModelConfig { hidden_size: Some(16), ..ModelConfig::default() },
//!     limits: RunLimits { max_epochs: Some(2), ..RunLimits::default() },
//!     ..TrainConfig::default()
//! };
//! Trainer::new(config).fit(&pairs, &directory)?;
//!
//! let translator = Translator::load(&directory)?;
//! let translation = translator.translate("the fox sleeps")?;
//! println!("{}\n{translation}", translation.text);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Search with other options, for several sentences at once:
//!
//! ```no_run
//! use softalign::{DecodeOptions, Translator};
//!
//! let translator = Translator::load("my-model")?;
//! let found = translator.translate_with(&["She sleeps.", "He sings."], &DecodeOptions::beam(10).n_best(3))?;
//! # Ok::<(), softalign::Error>(())
//! ```
//!
//! Link the words of sentence pairs, with a model or with the statistical aligner alone ([`Aligner`]):
//!
//! ```no_run
//! # use softalign::Translator;
//! let pairs = softalign::read_pairs("pairs.tsv")?;
//! for linked in Translator::load("my-model")?.align(&pairs)? {
//!     println!("{}", linked.pharaoh());
//! }
//! # Ok::<(), softalign::Error>(())
//! ```
//!
//! # The model
//!
//! The model is RNNsearch (Bahdanau, Cho & Bengio 2014), by default with Nematus' conditional decoder, which queries
//! attention after consuming the previous word (Sennrich et al. 2017). For a source x_1..x_S and a target y_1..y_T, with
//! row vectors, `[a ; b]` for concatenation and each direction of the encoder half as wide as the decoder:
//!
//! ```text
//! annotations     h_j = [ →GRU(E_x[x_j]) ; ←GRU(E_x[x_j]) ]              model/*/encoder.rs       kernels/*/gru.rs
//! initial state   s_0 = tanh(W_init · m + b),  m = mean_j h_j or ←h_1     model/*/decoder.rs
//! query           u_t = GRU'(E_y[y_{t-1}], s_{t-1}), in the paper s_{t-1} model/*/decoder_loop.rs  kernels/*/gru.rs
//! energy          e_tj = a(u_t, h_j), in the paper                        attention/scores/
//!                 vᵀ tanh(W_q u_t + W_k h_j)                              attention/scores/additive.rs
//! weights         α_t = softmax_j(e_t / temperature), 0 on padding        attention/*/pooling.rs
//! context         c_t = Σ_j α_tj h_j, or several heads concatenated       attention/*/pooling.rs, forward.rs
//! state           s_t = GRU(c_t, u_t), in the paper                       model/*/decoder_loop.rs  kernels/*/gru.rs
//!                 GRU([E_y[y_{t-1}] ; c_t], s_{t-1})
//! readout         r_t = tanh(W_r [s_t ; E_y[y_{t-1}] ; c_t] + b_r)       model/*/output_layer.rs
//! output          p(y_t) = softmax(E_out r_t + b + λ_t)                  model/*/output_layer.rs  kernels/*/cross_entropy.rs
//! lexical bias    λ_t = ln(1 + Σ_j α_tj L[x_j] / ε), 0 without a lexicon  model/*/lexical_bias.rs
//! ```
//!
//! `*` stands for two directories with the same file names: `reference/` computes in candle's operations, which is the
//! specification, the test oracle and the GPU path; `cpu/` computes on slices with hand-written derivatives. A model
//! chooses its backend when it is built; docs/development/backends.md lists both sides of every equation. `parameters/`
//! holds the learned parameters by name. Data flows one way:
//!
//! ```text
//! text → batches → model → loss → optimizer → checkpoint
//! text → search  → translation with alignment → renderer
//! ```
//!
//! Each module may use only those above it in this list; `tests/layering/` checks that, and that the files of a module
//! have no cyclic dependencies.

#![warn(clippy::print_stderr, clippy::print_stdout, clippy::unwrap_used)]

pub use candle_core::Device;
pub use error::{Error, ErrorKind, Result};
pub use evaluation::{Evaluation, Evaluator};
pub use kernels::gpu;
pub use text::{Pair, read_pairs};
pub use trainer::Trainer;
pub use training::{ModelConfig, RunConfig, RunLimits, TrainConfig};
pub use translator::{Aligner, DecodeOptions, TranslateOptions, Translator};

pub mod error;
pub mod random;
pub mod reporter;

pub mod formats;
pub mod text;

pub mod communicator;

#[doc(hidden)]
pub mod kernels;

pub mod aligner;
pub mod alignment;

pub mod parameters;

pub mod attention;
pub mod model;

pub mod search;

pub mod metrics;

pub mod training;

pub mod checkpoint;

pub mod render;

pub mod translator;

pub mod export;

pub mod trainer;

pub mod evaluation;

#[cfg(feature = "serve")]
pub mod serve;

#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "cli")]
pub mod commands;

/// Documentation whose examples are compiled by `cargo test --doc`.
#[cfg(doctest)]
mod documentation {
    #[doc = include_str!("../README.md")]
    struct Readme;

    #[doc = include_str!("../docs/reference/library.md")]
    struct Library;
}
