//! The interactive translator: sentences are typed, with line editing and a history, and answered.

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

const GREETING: &str = "A sentence gives its translation; :help says what else there is, Ctrl-D ends.";
const HELP: &str = ":align, :a  the alignment of the last translation
:help, :h   this
:quit, :q   ends, as Ctrl-D does
Arrows up and down go through what was typed, Ctrl-R searches it, Ctrl-C
drops a line. What begins with a colon and a letter is a command; with a
space before the colon it is a sentence.";

/// What somebody typed.
enum ReplInput<'a> {
    Nothing,
    Sentence(&'a str),
    Align,
    Help,
    Quit,
    /// A command that there is not.
    Unknown(&'a str),
}

impl<'a> ReplInput<'a> {
    fn of(line: &'a str) -> Self {
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

/// Answers what is typed until its end.
///
/// # Errors
/// The terminal's, the model's and the output's own.
pub fn converse(
    translator: &Translator,
    request: &Request,
    form: &SentenceLines,
    results: &mut TranslationWriter,
    console: &Console,
) -> Result<()> {
    console.note(GREETING);
    // The terminal itself, so that results alone go where results go.
    let config = Config::builder().behavior(Behavior::PreferTerm).auto_add_history(true).build();
    let mut editor: Editor<(), MemHistory> = Editor::with_history(config, MemHistory::new())?;
    let mut conversation = Conversation { translator, request, form, results, console, said: 0, last: None };
    loop {
        match editor.readline("> ") {
            Ok(typed) => {
                // What is pasted may be several lines.
                for line in typed.lines() {
                    if conversation.answer(line)?.is_break() {
                        return Ok(());
                    }
                }
            }
            Err(ReadlineError::Interrupted) => {}
            Err(ReadlineError::Eof) => return Ok(()),
            Err(ReadlineError::Io(error)) if error.kind() == ErrorKind::InvalidData => {
                console.warn("this was not UTF-8; set the terminal to UTF-8");
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// What a conversation goes on with.
struct Conversation<'a, 'r> {
    translator: &'a Translator,
    request: &'a Request,
    form: &'a SentenceLines<'a>,
    results: &'a mut TranslationWriter<'r>,
    console: &'a Console,
    /// Sentences so far.
    said: usize,
    last: Option<Translation>,
}

impl Conversation<'_, '_> {
    /// Answers a line; breaks where it was the last.
    fn answer(&mut self, line: &str) -> Result<ControlFlow<()>> {
        let console = self.console;
        match ReplInput::of(line) {
            ReplInput::Nothing => {}
            ReplInput::Quit => return Ok(ControlFlow::Break(())),
            ReplInput::Help => console.say(HELP),
            ReplInput::Unknown(command) => console.say(format!("there is no {command}; :help lists what there is")),
            ReplInput::Align => match &self.last {
                None => console.say("nothing has been translated yet"),
                Some(translation) => console.say(self.results.drawn(translation)?.trim_end_matches('\n')),
            },
            ReplInput::Sentence(sentence) => self.translate(sentence)?,
        }
        Ok(ControlFlow::Continue(()))
    }

    fn translate(&mut self, sentence: &str) -> Result<()> {
        let sentence = self.form.read(sentence.to_owned());
        if let Err(reason) = self.translator.check_beginning(&sentence) {
            self.console.say(format!("{reason:#}"));
            return Ok(());
        }
        let sentence = [sentence];
        let request = self.request.from_sentence(self.said);
        let mut found = self.translator.translate_batch(&sentence, &request, &mut |_| {})?;
        let mut warnings = LineWarnings::default();
        warnings.add_translation(self.said, &found[0][0]);
        self.results.tell(&warnings, self.console);
        self.results.write(self.said, &sentence, &found)?;
        self.said += 1;
        self.last = Some(found.remove(0).remove(0));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_told_from_sentences() {
        let is = |line: &str, expected: fn(&ReplInput) -> bool| assert!(expected(&ReplInput::of(line)), "{line:?}");
        is(":a", |said| matches!(said, ReplInput::Align));
        is(":help ", |said| matches!(said, ReplInput::Help));
        is(":quit", |said| matches!(said, ReplInput::Quit));
        is(":quti now", |said| matches!(said, ReplInput::Unknown(":quti")));
        is(" :quit", |said| matches!(said, ReplInput::Sentence(":quit")));
        is(": what?", |said| matches!(said, ReplInput::Sentence(": what?")));
        is(":)", |said| matches!(said, ReplInput::Sentence(":)")));
        is("  ", |said| matches!(said, ReplInput::Nothing));
    }
}
