//! Standard error: notes, warnings, errors and progress bars.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// What the user sees beside the results.
pub struct Console {
    quiet: bool,
    terminal: bool,
}

impl Console {
    /// A console; `quiet` lets only errors through.
    pub fn new(quiet: bool) -> Self {
        Self { quiet, terminal: std::io::stderr().is_terminal() }
    }

    /// Whether notes are shown.
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Whether standard error is a terminal.
    pub fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// A line for the user's information. If standard error is gone, so is the line.
    pub fn note(&self, line: impl AsRef<str>) {
        if !self.quiet {
            let _ = writeln!(std::io::stderr(), "{}", line.as_ref());
        }
    }

    /// A line about something that may be wrong.
    pub fn warn(&self, line: impl AsRef<str>) {
        self.note(format!("warning: {}", line.as_ref()));
    }

    /// The one line that says what failed.
    pub fn error(&self, error: &anyhow::Error) {
        let line = format!("{error:#}").replace('\n', " ");
        let _ = writeln!(std::io::stderr(), "error: {line}");
    }

    /// A bar over `length` things, named by what is done with them. Where there is no terminal, nothing is drawn.
    pub fn bar(&self, what: &'static str, length: usize) -> Bar {
        let target =
            if self.quiet || !self.terminal { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(Some(length as u64), target);
        bar.set_style(style("{prefix} {wide_bar} {human_pos}/{human_len} {per_sec}, {eta} left"));
        bar.set_prefix(what);
        Bar { bar, lines: !self.quiet && !self.terminal, what, last: Instant::now(), done: 0, length }
    }
}

/// A bar's style from a template that is known to be right.
pub fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("━━─")
}

/// A progress bar, or a plain line now and then.
pub struct Bar {
    bar: ProgressBar,
    lines: bool,
    what: &'static str,
    last: Instant,
    done: usize,
    length: usize,
}

impl Bar {
    /// So many more things are done.
    pub fn advance(&mut self, count: usize) {
        self.done += count;
        self.bar.inc(count as u64);
        if self.lines && self.last.elapsed() >= Duration::from_secs(10) {
            self.last = Instant::now();
            let _ = writeln!(std::io::stderr(), "{}: {} of {}", self.what, self.done, self.length);
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
