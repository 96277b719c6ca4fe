//! Arguments of `softalign completions` and `softalign man`, and the files that they print.

use std::path::PathBuf;

use clap::{Args, Command};
use clap_complete::Shell;
use clap_mangen::Man;

/// Sections of every manual page, in roff.
const SECTIONS: &str = r#".SH "EXIT STATUS"
.TP
0
Success, also if the reader of standard output closed it.
.TP
1
The work failed; standard error says why.
.TP
2
The command line was wrong.
.TP
128 + N
Signal N stopped the program.
.SH ENVIRONMENT
.TP
SOFTALIGN_MODEL
Default of \-\-model.
.TP
NO_COLOR
Disables colors unless \-\-color is given.
.TP
SOFTALIGN_SIMD
Newest vector instructions to use: baseline, avx2, neon or avx512.
.SH FILES
.TP
checkpoints/
Default directory of the model: config.json, the tokenizers, model.safetensors, the aligner and the lexicon.
.TP
data/
The shipped corpus.
"#;

/// Arguments of `softalign completions`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  softalign completions bash > softalign.bash
  softalign completions zsh > ~/.zfunc/_softalign
  softalign completions fish > ~/.config/fish/completions/softalign.fish")]
pub struct CompletionsArgs {
    /// Shell.
    shell: Shell,
}

/// Arguments of `softalign man`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  softalign man | man -l -
  softalign man train | man -l -
  softalign man --out ~/.local/share/man/man1")]
pub struct ManArgs {
    /// Command whose page to print [default: the page of softalign itself].
    #[arg(value_name = "COMMAND")]
    command: Option<String>,

    /// Write all pages to this directory instead.
    #[arg(long, short = 'o', alias = "output", value_name = "DIR", conflicts_with = "command")]
    pub out: Option<PathBuf>,
}

impl CompletionsArgs {
    /// Returns the completion script for the shell, of a program with this command line.
    pub fn script(&self, mut cli: Command) -> Vec<u8> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut cli, "softalign", &mut script);
        script
    }
}

impl ManArgs {
    /// Returns the requested page.
    ///
    /// # Errors
    /// The command does not exist; the message lists those that do.
    pub fn page(&self, cli: Command) -> Result<Vec<u8>, String> {
        let name = self.command.as_ref().map_or("softalign.1".to_owned(), |command| format!("softalign-{command}.1"));
        let pages = Self::pages(cli);
        let names: Vec<&str> =
            pages.iter().filter_map(|(file, _)| file.strip_prefix("softalign-")?.strip_suffix(".1")).collect();
        let missing = format!("no manual page of this name; there are: {}", names.join(", "));
        pages.into_iter().find(|(file, _)| *file == name).map(|(_, page)| page).ok_or(missing)
    }

    /// Returns all pages with their file names: one of the program and one of each command.
    pub fn pages(cli: Command) -> Vec<(String, Vec<u8>)> {
        let mut cli = cli.disable_help_subcommand(true);
        cli.build();
        let mut pages = Vec::new();
        for command in std::iter::once(&cli).chain(cli.get_subcommands()) {
            let man = Man::new(command.clone());
            let mut page = Vec::new();
            man.render(&mut page).expect("memory can be written to");
            page.extend_from_slice(SECTIONS.as_bytes());
            pages.push((man.get_filename(), page));
        }
        pages
    }
}
