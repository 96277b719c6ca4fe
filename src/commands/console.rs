//! Standard error: notes, warnings, errors and progress bars. Control characters in names and sentences are escaped.

use std::io::{IsTerminal, Result as IoResult, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use console::{Term, measure_text_width};
use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle, TermLike};
use unicode_width::UnicodeWidthStr;

use crate::error::message_of;
use crate::render::{escape_controls, escape_controls_by_line};
use crate::reporter::{Reporter, Stage};
use crate::training::Observer;

/// Columns of the terminal's echo of Ctrl-C.
const ECHO_WIDTH: u16 = 2;

/// Standard error of the program.
pub struct Console {
    quiet: bool,
    terminal: bool,
    /// Columns of the terminal; none where there is no terminal.
    width: Option<usize>,
}

impl Console {
    /// Returns a console; `quiet` suppresses notes and most warnings.
    pub fn new(quiet: bool) -> Self {
        let width = terminal_size::terminal_size_of(std::io::stderr()).map(|(width, _)| usize::from(width.0));
        Self { quiet, terminal: std::io::stderr().is_terminal(), width }
    }

    /// Returns true if notes are suppressed.
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Returns true if standard error is a terminal.
    pub fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// Prints a line unless the console is quiet.
    pub fn note(&self, line: impl AsRef<str>) {
        if !self.quiet {
            self.say(line);
        }
    }

    /// Prints a line even if the console is quiet. A closed standard error is ignored.
    pub fn say(&self, line: impl AsRef<str>) {
        let text = escape_controls_by_line(line.as_ref());
        let mut lines = Vec::new();
        for line in text.split('\n') {
            lines.push(self.width.map_or_else(|| line.to_owned(), |width| wrapped(line, width)));
        }
        let _ = writeln!(std::io::stderr(), "{}", lines.join("\n"));
    }

    /// Prints rendered text, in which control characters are escaped already, as it is.
    pub fn show(&self, rendered: &[u8]) {
        let _ = std::io::stderr().write_all(rendered);
    }

    /// Prints a warning unless the console is quiet.
    pub fn warn(&self, line: impl AsRef<str>) {
        self.note(format!("warning: {}", line.as_ref()));
    }

    /// Prints several warnings.
    pub fn warn_all(&self, lines: impl IntoIterator<Item = String>) {
        lines.into_iter().for_each(|line| self.warn(line));
    }

    /// Prints the error that ends the program, in one line.
    pub fn error(&self, error: &anyhow::Error) {
        let _ = writeln!(std::io::stderr(), "error: {}", escape_controls(&message_of(error)));
    }

    /// Returns a progress bar of `length` items, if known. It is drawn only in a terminal.
    pub fn bar(&self, what: &'static str, length: impl Into<Option<usize>>) -> Bar {
        let length = length.into();
        let bar = ProgressBar::with_draw_target(length.map(|length| length as u64), self.target());
        let template = match length {
            Some(_) => "{prefix} {wide_bar} {human_pos}/{human_len} {rate}/s, {eta} left",
            None => "{prefix} {human_pos}, {rate}/s",
        };
        bar.set_style(style(template).with_key("rate", rounded_rate));
        bar.set_prefix(what);
        Bar { bar, lines: !self.quiet && !self.terminal, what, last: Instant::now(), done: 0, length }
    }

    /// Returns a spinner for work of unknown duration. It is drawn only in a terminal, until it is dropped.
    pub fn waiting(&self, what: &'static str) -> Spinner {
        let bar = ProgressBar::with_draw_target(None, self.target());
        bar.set_style(style("{prefix} {spinner} {elapsed}"));
        bar.set_prefix(what);
        bar.enable_steady_tick(Duration::from_millis(100));
        Spinner(bar)
    }

    /// Returns the place where bars are drawn: the terminal, or nowhere.
    pub fn target(&self) -> ProgressDrawTarget {
        if self.quiet || !self.terminal {
            return ProgressDrawTarget::hidden();
        }
        let terminal = BarTerminal { terminal: Term::buffered_stderr(), drawn: AtomicUsize::new(0) };
        ProgressDrawTarget::term_like(Box::new(terminal))
    }
}

/// Terminal of bars, which fill all but its last columns. The echo of Ctrl-C, `^C`, fits there; in a line of its own, it would
/// keep the bar from being erased.
#[derive(Debug)]
struct BarTerminal {
    terminal: Term,
    /// Columns of the line that was drawn.
    drawn: AtomicUsize,
}

impl TermLike for BarTerminal {
    fn width(&self) -> u16 {
        self.terminal.size().1.saturating_sub(ECHO_WIDTH + 1)
    }

    fn height(&self) -> u16 {
        self.terminal.size().0
    }

    fn move_cursor_up(&self, lines: usize) -> IoResult<()> {
        self.terminal.move_cursor_up(lines)
    }

    fn move_cursor_down(&self, lines: usize) -> IoResult<()> {
        self.terminal.move_cursor_down(lines)
    }

    fn move_cursor_right(&self, columns: usize) -> IoResult<()> {
        self.terminal.move_cursor_right(columns)
    }

    fn move_cursor_left(&self, columns: usize) -> IoResult<()> {
        self.terminal.move_cursor_left(columns)
    }

    fn write_line(&self, text: &str) -> IoResult<()> {
        self.terminal.write_line(text)
    }

    fn write_str(&self, text: &str) -> IoResult<()> {
        self.drawn.fetch_add(measure_text_width(text), Ordering::Relaxed);
        self.terminal.write_str(text)
    }

    fn clear_line(&self) -> IoResult<()> {
        // A terminal that has become narrower breaks the line into several.
        let width = usize::from(self.terminal.size().1).max(1);
        let lines = self.drawn.swap(0, Ordering::Relaxed).div_ceil(width);
        for _ in 1..lines {
            self.terminal.clear_line()?;
            self.terminal.move_cursor_up(1)?;
        }
        self.terminal.clear_line()
    }

    fn flush(&self) -> IoResult<()> {
        self.terminal.flush()
    }
}

impl Reporter for Console {
    fn note(&self, line: &str) {
        Self::note(self, line);
    }

    fn warn(&self, line: &str) {
        Self::warn(self, line);
    }

    fn warn_incomplete(&self, line: &str) {
        self.say(format!("warning: {line}"));
    }

    fn stage(&self, name: &'static str, total: Option<usize>) -> Box<dyn Stage + '_> {
        match total {
            Some(_) => Box::new(self.bar(name, total)),
            None => Box::new(self.waiting(name)),
        }
    }
}

impl Observer for Console {}

impl Stage for Bar {
    fn advance(&mut self, count: usize) {
        Self::advance(self, count);
    }
}

impl Stage for Spinner {}

/// Wraps a line between words to the width of the terminal; continuation lines are indented.
fn wrapped(line: &str, width: usize) -> String {
    const INDENT: &str = "    ";
    let (mut text, mut used) = (String::new(), 0);
    for word in line.split_inclusive(' ') {
        let bare = word.trim_end_matches(' ').width();
        if used + bare > width && !text.trim().is_empty() {
            text.truncate(text.trim_end().len());
            text.push('\n');
            text.push_str(INDENT);
            used = INDENT.len();
        }
        text.push_str(word);
        used += word.width();
    }
    text
}

/// Spinner that disappears when dropped.
pub struct Spinner(ProgressBar);

impl Drop for Spinner {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// Returns the style of a progress bar.
pub fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("━━─")
}

/// Writes items per second, rounded.
fn rounded_rate(state: &ProgressState, out: &mut dyn std::fmt::Write) {
    let rate = state.per_sec();
    // Writing to the bar's buffer cannot fail.
    let _ = if rate < 10.0 { write!(out, "{rate:.1}") } else { write!(out, "{}", HumanCount(rate as u64)) };
}

/// Progress bar in a terminal, else a line every ten seconds.
pub struct Bar {
    bar: ProgressBar,
    lines: bool,
    what: &'static str,
    last: Instant,
    done: usize,
    length: Option<usize>,
}

impl Bar {
    /// Returns a handle, whose `suspend` hides the bar while results are written to the same terminal.
    pub fn handle(&self) -> ProgressBar {
        self.bar.clone()
    }

    /// Counts finished items.
    pub fn advance(&mut self, count: usize) {
        self.done += count;
        self.bar.inc(count as u64);
        if self.lines && self.last.elapsed() >= Duration::from_secs(10) {
            self.last = Instant::now();
            let of = self.length.map(|length| format!(" of {length}")).unwrap_or_default();
            let _ = writeln!(std::io::stderr(), "{}: {}{of}", self.what, self.done);
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wraps_lines_between_words() {
        assert_eq!(wrapped("a few words", 11), "a few words");
        assert_eq!(wrapped("a few words", 10), "a few\n    words");
        assert_eq!(wrapped("    indented words stay", 16), "    indented\n    words stay");
        assert_eq!(wrapped("averylongword and 世界世界", 10), "averylongword\n    and\n    世界世界");
        assert_eq!(wrapped("", 10), "");
    }
}
