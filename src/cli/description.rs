//! What the command line's own description is good for beside taking arguments apart: completions and manual pages.

use clap::{Command, CommandFactory};
use clap_mangen::Man;

use super::Cli;
use super::shell::{CompletionsArgs, ManArgs};

impl CompletionsArgs {
    /// What the shell is to read.
    pub fn script(&self) -> Vec<u8> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "softalign", &mut script);
        script
    }
}

impl ManArgs {
    /// The page that is asked for.
    ///
    /// # Errors
    /// There is no such command: says which there are.
    pub fn page(&self) -> Result<Vec<u8>, String> {
        let name = self.command.as_ref().map_or("softalign.1".to_owned(), |command| format!("softalign-{command}.1"));
        let pages = Self::pages();
        let names: Vec<&str> =
            pages.iter().filter_map(|(file, _)| file.strip_prefix("softalign-")?.strip_suffix(".1")).collect();
        let missing = format!("there are manual pages for {}", names.join(", "));
        pages.into_iter().find(|(file, _)| *file == name).map(|(_, page)| page).ok_or(missing)
    }

    /// All pages by the names of their files: the program's, and one for each command.
    pub fn pages() -> Vec<(String, Vec<u8>)> {
        let mut cli = Cli::command().disable_help_subcommand(true);
        cli.build();
        let page = |command: &Command| {
            let man = Man::new(command.clone());
            let mut page = Vec::new();
            man.render(&mut page).expect("memory can be written to");
            (man.get_filename(), page)
        };
        std::iter::once(&cli).chain(cli.get_subcommands()).map(page).collect()
    }
}
