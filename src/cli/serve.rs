//! Arguments of `softalign serve`.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::Args;

use super::names::MODEL_VARIABLE;
use crate::serve::{AllowedOrigin, ModelSpec, RequestLimits, ServeOptions};
use crate::translator::PrecisionOption;

const TRUST: &str = "Access and limits";

/// Arguments of `softalign serve`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  softalign serve
  softalign serve --model en-fr=my-model --port 8080
  softalign serve --model additive=m1 --model mean=m2
  curl http://127.0.0.1:4114/v1/translate -d '{\"text\": \"She sleeps.\"}'")]
pub struct ServeArgs {
    /// Model directory, with its name in requests before an equals sign [default name: that of the directory]. Repeat it to
    /// serve several models; directories with the same name are an ensemble.
    #[arg(
        long,
        value_name = "[NAME=]DIR",
        default_value = "en-fr=checkpoints",
        env = MODEL_VARIABLE,
        hide_env_values = true
    )]
    pub model: Vec<ModelSpec>,

    /// Address to listen on. The default is for programs on this machine only.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub host: IpAddr,

    /// Port to listen on; 0 takes a free one.
    #[arg(long, value_name = "N", default_value_t = 4114)]
    pub port: u16,

    /// Let pages of this origin use the server: scheme, name and port. It answers under that name too. Can be repeated.
    #[arg(long, value_name = "ORIGIN", help_heading = TRUST)]
    pub allow_origin: Vec<AllowedOrigin>,

    /// Do work only for requests with one of the keys in this file, one per line. SIGHUP reads it again.
    #[arg(long, value_name = "FILE", help_heading = TRUST)]
    pub api_keys: Option<PathBuf>,

    /// Maximum characters of a request.
    #[arg(long, value_name = "N", default_value_t = 200_000, help_heading = TRUST)]
    pub char_limit: usize,

    /// Maximum number of texts of a request, lines in them and blocks of HTML, times the translations of each.
    #[arg(long, value_name = "N", default_value_t = 2_000, help_heading = TRUST)]
    pub batch_limit: usize,

    /// Maximum number of requests of a client in a minute [default: no limit].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = TRUST)]
    pub req_limit: Option<u32>,

    /// Maximum memory of all requests together, in MiB beside the models. Requests that need more wait or are refused.
    #[arg(
        long,
        value_name = "MIB",
        default_value_t = 1024,
        value_parser = clap::value_parser!(u32).range(128..),
        help_heading = TRUST
    )]
    pub memory_limit: u32,

    /// Precision of matrix products in search on the CPU.
    #[arg(long, value_enum, default_value_t = PrecisionOption::F32)]
    pub precision: PrecisionOption,

    /// Load a model anew when its directory changes, as SIGHUP does for all.
    #[arg(long)]
    pub watch: bool,

    /// Append corrected pairs to this TSV file, which train takes.
    #[arg(long, value_name = "FILE.tsv")]
    pub collect: Option<PathBuf>,

    /// Write a line for each request to standard error: time, address, method, path, status, bytes and milliseconds.
    #[arg(long)]
    pub access_log: bool,
}

impl ServeArgs {
    /// Returns these arguments as options of the library.
    pub fn options(&self) -> ServeOptions {
        ServeOptions {
            models: self.model.clone(),
            host: self.host,
            port: self.port,
            allow_origin: self.allow_origin.clone(),
            limits: RequestLimits {
                characters: self.char_limit,
                texts: self.batch_limit,
                requests_per_minute: self.req_limit,
                memory: (self.memory_limit as usize) << 20,
            },
            api_keys: self.api_keys.clone(),
            precision: self.precision,
            watch: self.watch,
            collect: self.collect.clone(),
            access_log: self.access_log,
        }
    }
}
