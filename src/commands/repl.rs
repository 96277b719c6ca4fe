//! Interactive translator with line editing and history.

use std::io::ErrorKind;
use std::ops::ControlFlow;

use anyhow::Result;
use rustyline::error::ReadlineError;
use rustyline::history::MemHistory;
use rustyline::{Behavior, Config, Editor};

use super::console::Console;
use super::input_format::SentenceLines;
use super::translation_writer::TranslationWriter;
use crate::translator::{LineWarnings, Request, Translation, Translator};

const GREETING: &str = "Type a sentence to translate it, :help for help, Ctrl-D to quit.";
const HELP: &str = ":align, :a  show the alignment of the last translation
:help, :h   show this help
:quit, :q   quit, like Ctrl-D
The up and down keys recall earlier lines, Ctrl-R searches them, Ctrl-C
clears the line. Lines that start with a colon and a letter are commands;
put a space before the colon to translate one.";

/// Parsed input line.
enum ReplInput<'a> {
    Nothing,
    Sentence(&'a str),
    Align,
    Help,
    Quit,
    /// Unknown command.
    Unknown(&'a str),
}

impl<'a> ReplInput<'a> {
    fn parse(line: &'a str) -> Self {
        let command = line.strip_prefix(':').filter(|rest| rest.starts_with(char::is_alphabetic));
        match (command.map(str::trim_end), line.trim()) {
            (Some("align" | "a"), _) => Self::Align,
            (Some("help" | "h"), _) => Self::Help,
            (Some("quit" | "q"), _) => Self::Quit,
            (Some(_), text) => Self::Unknown(text.split_whitespace().next().unwrap_or(text)),
            (None, "") => Self::Nothing,
            (None, sentence) => Self::Sentence(sentence),
        }
    }
}

/// Translates what the user types until the end of input.
///
/// # Errors
/// The terminal, the model or the output fails.
pub fn run_repl(
    translator: &Translator,
    request: &Request,
    form: &SentenceLines,
    results: &mut TranslationWriter,
    console: &Console,
) -> Result<()> {
    console.note(GREETING);
    // The prompt goes to the terminal, results go to the output.
    let config = Config::builder().behavior(Behavior::PreferTerm).auto_add_history(true).build();
    let mut editor: Editor<(), MemHistory> = Editor::with_history(config, MemHistory::new())?;
    let mut repl = Repl { translator, request, form, results, console, count: 0, last: None };
    loop {
        match editor.readline("> ") {
            Ok(typed) => {
                // Pasted text may have several lines.
                for line in typed.lines() {
                    if repl.answer(line)?.is_break() {
                        return Ok(());
                    }
                }
            }
            Err(ReadlineError::Interrupted) => {}
            Err(ReadlineError::Eof) => return Ok(()),
            Err(ReadlineError::Io(error)) if error.kind() == ErrorKind::InvalidData => {
                console.warn("the input is not UTF-8; set the terminal to UTF-8");
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// State of the interactive translator.
struct Repl<'a, 'r> {
    translator: &'a Translator,
    request: &'a Request,
    form: &'a SentenceLines<'a>,
    results: &'a mut TranslationWriter<'r>,
    console: &'a Console,
    /// Number of translated sentences.
    count: usize,
    last: Option<Translation>,
}

impl Repl<'_, '_> {
    /// Executes a line; breaks after `:quit`.
    fn answer(&mut self, line: &str) -> Result<ControlFlow<()>> {
        let console = self.console;
        match ReplInput::parse(line) {
            ReplInput::Nothing => {}
            ReplInput::Quit => return Ok(ControlFlow::Break(())),
            ReplInput::Help => console.say(HELP),
            ReplInput::Unknown(command) => console.say(format!("unknown command {command}; :help lists the commands")),
            ReplInput::Align => match &self.last {
                None => console.say("nothing has been translated yet"),
                Some(translation) => console.say(self.results.heatmap(translation)?.trim_end_matches('\n')),
            },
            ReplInput::Sentence(sentence) => self.translate(sentence)?,
        }
        Ok(ControlFlow::Continue(()))
    }

    fn translate(&mut self, sentence: &str) -> Result<()> {
        let sentence = self.form.read(sentence.to_owned());
        if let Err(reason) = self.translator.check_target_prefix(&sentence) {
            self.console.say(format!("{reason:#}"));
            return Ok(());
        }
        let sentence = [sentence];
        let request = self.request.from_sentence(self.count);
        let mut found = self.translator.translate_batch(&sentence, &request, &mut |_| {})?;
        let mut warnings = LineWarnings::default();
        warnings.add_translation(self.count, &found[0][0]);
        self.results.report(&warnings, self.console);
        self.results.write(self.count, &sentence, &found)?;
        self.count += 1;
        self.last = Some(found.remove(0).remove(0));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distinguishes_commands_from_sentences() {
        let is = |line: &str, expected: fn(&ReplInput) -> bool| assert!(expected(&ReplInput::parse(line)), "{line:?}");
        is(":a", |input| matches!(input, ReplInput::Align));
        is(":help ", |input| matches!(input, ReplInput::Help));
        is(":quit", |input| matches!(input, ReplInput::Quit));
        is(":quti now", |input| matches!(input, ReplInput::Unknown(":quti")));
        is(" :quit", |input| matches!(input, ReplInput::Sentence(":quit")));
        is(": what?", |input| matches!(input, ReplInput::Sentence(": what?")));
        is(":)", |input| matches!(input, ReplInput::Sentence(":)")));
        is("  ", |input| matches!(input, ReplInput::Nothing));
    }
}
