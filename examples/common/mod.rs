//! How every example takes its command line.

use std::fmt::Display;

use clap::Parser;

/// The arguments, or the help that was asked for.
pub fn arguments<A: Parser>() -> A {
    A::try_parse().unwrap_or_else(|error| if error.use_stderr() { refuse(error) } else { error.exit() })
}

/// One line on what is wrong with the command line, and exit code 2.
pub fn refuse(error: impl Display) -> ! {
    let message = error.to_string();
    let line = message.lines().next().unwrap_or_default();
    eprintln!("error: {}", line.trim_start_matches("error: "));
    std::process::exit(2)
}
