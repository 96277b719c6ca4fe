//! Arguments of `softalign serve`.

use std::net::IpAddr;

use clap::Args;

use super::names::MODEL_VARIABLE;
use crate::serve::{ModelSpec, ServeOptions};

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
}

impl ServeArgs {
    /// Returns these arguments as options of the library.
    pub fn options(&self) -> ServeOptions {
        ServeOptions { models: self.model.clone(), host: self.host, port: self.port }
    }
}
