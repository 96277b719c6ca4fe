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
//! use softalign::{TrainConfig, Trainer, Translator};
//!
//! # /*
//! let pairs = softalign::read_pairs("pairs.tsv")?;
//! # */
//! let config = TrainConfig { max_epochs: Some(2), hidden_size: Some(16), ..TrainConfig::default() };
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
//! The model is RNNsearch (Bahdanau, Cho & Bengio 2014), by default with Nematus' conditional decoder, whose question to
//! the source knows the last word (Sennrich et al. 2017). For a source x_1..x_S and a target y_1..y_T, with row vectors,
//! `[a ; b]` for concatenation and each direction of the encoder half as wide as the decoder:
//!
//! ```text
//! annotations     h_j = [ →GRU(E_x[x_j]) ; ←GRU(E_x[x_j]) ]              model/encoder.rs     kernels/gru
//! initial state   s_0 = tanh(W_init · m + b),  m = mean_j h_j or ←h_1     attention/layer.rs, model/decoder.rs
//! what asks       u_t = GRU'(E_y[y_{t-1}], s_{t-1}), in the paper s_{t-1} model/decoder.rs     kernels/gru
//! energy          e_tj = a(u_t, h_j), in the paper                        attention/scores/
//!                 vᵀ tanh(W_q u_t + W_k h_j)                              attention/scores/additive.rs
//! weights         α_t = softmax_j(e_t / temperature), padding masked      attention/pooling.rs
//! context         c_t = Σ_j α_tj h_j, or of several heads, joined         attention/pooling.rs, layer.rs
//! state           s_t = GRU(c_t, u_t), in the paper                       model/decoder.rs     kernels/gru
//!                 GRU([E_y[y_{t-1}] ; c_t], s_{t-1})
//! readout         r_t = tanh(W_r [s_t ; E_y[y_{t-1}] ; c_t] + b_r)       model/decoder.rs
//! output          p(y_t) = softmax(E_out r_t + b + λ_t)                  model/rnn_search.rs  kernels/cross_entropy
//! known before    λ_t = ln(1 + Σ_j α_tj L[x_j] / ε), 0 without a lexicon  model/unit_lexicon.rs
//! ```
//!
//! `attention/` is attention as the field means it: queries, keys and values, pooled by a score. These places say their
//! equations in candle's operations; `attention/fused/`, `model/fused/` and the kernels say the same on plain slices with
//! derivatives written by hand, which is what runs on a CPU. `parameters/` holds what is learnt, by names. Data flows one
//! way:
//!
//! ```text
//! text → batches → model → loss → optimiser → checkpoint
//! text → search  → translation with alignment → renderer
//! ```
//!
//! Each module may use only those that stand above it here; `tests/layering/` reads what each file uses
//! and sees to it, and to there being no circle of files inside a module.

#![warn(clippy::print_stderr, clippy::print_stdout, clippy::unwrap_used)]

pub use candle_core::Device;
pub use error::{Error, ErrorKind, Result};
pub use evaluation::{Evaluation, Evaluator};
pub use text::{Pair, read_pairs};
pub use trainer::Trainer;
pub use training::TrainConfig;
pub use translator::{Aligner, DecodeOptions, Translator};

pub mod error;
pub mod random;
pub mod reporter;
pub mod text;

pub mod aligner;
pub mod alignment;

pub mod kernels;
pub mod parameters;

pub mod attention;
pub mod model;

pub mod search;

pub mod metrics;

pub mod training;

pub mod checkpoint;

pub mod render;

pub mod translator;

pub mod trainer;

pub mod evaluation;

#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "cli")]
pub mod commands;
