//! The options of `completions` and `man`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

/// `softalign completions`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  softalign completions bash > softalign.bash
  softalign completions zsh > ~/.zfunc/_softalign
  softalign completions fish > ~/.config/fish/completions/softalign.fish")]
pub struct CompletionsArgs {
    /// The shell.
    pub(super) shell: Shell,
}

/// `softalign man`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  softalign man | man -l -
  softalign man train | man -l -
  softalign man --out ~/.local/share/man/man1")]
pub struct ManArgs {
    /// The command whose page is written to standard output; without one, the program's.
    #[arg(value_name = "COMMAND")]
    pub(super) command: Option<String>,

    /// Write all pages into this folder instead.
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    pub out: Option<PathBuf>,
}
