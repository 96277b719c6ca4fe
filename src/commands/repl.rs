//! Interactive translator with line editing and history.

use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use candle_core::Device;
use rustyline::error::ReadlineError;
use rustyline::history::MemHistory;
use rustyline::{Behavior, Config, Editor};

use super::console::Console;
use super::output_file::{Output, WrittenPath, ensure_distinct_paths};
use super::render_options::{alignment_format, heatmap};
use super::translation_setup::TranslationSetup;
use super::translation_writer::TranslationWriter;
use super::unreadable::Unreadable;
use crate::cli::TranslateArgs;
use crate::error::message_of;
use crate::text::OnError;
use crate::translator::{LineWarnings, Sentence, Translation};

const GREETING: &str = "Type a sentence to translate it, :help for help, Ctrl-D to quit.";
const HELP: &str = ":align, :a        show the alignment of the last translation
:save FILE        save that alignment (.svg, .html, .json, .tsv, .npz or text)
:beam N           set the beam size
:hard             switch hard attention on or off
:temperature T    set the softmax temperature of attention
:model DIR        translate with another model
:help, :h         show this help
:quit, :q         quit, like Ctrl-D
Dim words are probably wrong, underlined ones may be made up.
The up and down keys recall earlier lines, Ctrl-R searches them, Ctrl-C
clears the line. Lines that start with a colon and a letter are commands;
put a space before the colon to translate one.";

/// Parsed input line.
#[derive(Debug, PartialEq)]
enum ReplInput<'a> {
    Nothing,
    Sentence(&'a str),
    Command {
        name: &'a str,
        /// Rest of the line.
        argument: &'a str,
    },
}

impl<'a> ReplInput<'a> {
    fn parse(line: &'a str) -> Self {
        let command = line.strip_prefix(':').filter(|rest| rest.starts_with(char::is_alphabetic));
        match (command.map(str::trim_end), line.trim()) {
            (Some(command), _) => {
                let (name, argument) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
                Self::Command { name, argument: argument.trim() }
            }
            (None, "") => Self::Nothing,
            (None, sentence) => Self::Sentence(sentence),
        }
    }
}

/// Interactive translator.
pub struct Repl<'a> {
    /// Options, which commands change.
    args: TranslateArgs,
    setup: TranslationSetup,
    results: TranslationWriter,
    device: &'a Device,
    console: &'a Console,
    /// Number of translated sentences.
    count: usize,
    last: Option<TranslatedSentence>,
}

/// Sentence with its best translation.
struct TranslatedSentence {
    sentence: Sentence,
    translation: Translation,
}

impl<'a> Repl<'a> {
    /// Returns an interactive translator with these options.
    pub fn new(
        args: &TranslateArgs,
        setup: TranslationSetup,
        results: TranslationWriter,
        device: &'a Device,
        console: &'a Console,
    ) -> Self {
        Self { args: args.clone(), setup, results, device, console, count: 0, last: None }
    }

    /// Answers what the user types until the end of input.
    ///
    /// # Errors
    /// The terminal, the model or the output fails.
    pub fn run(mut self) -> Result<()> {
        self.console.note(GREETING);
        // The prompt goes to the terminal, results go to the output.
        let config = Config::builder().behavior(Behavior::PreferTerm).auto_add_history(true).build();
        let mut editor: Editor<(), MemHistory> = Editor::with_history(config, MemHistory::new())?;
        loop {
            match editor.readline("> ") {
                Ok(typed) => {
                    // Pasted text may have several lines.
                    for line in typed.lines() {
                        if self.answer(line)?.is_break() {
                            return self.results.finish();
                        }
                    }
                }
                Err(ReadlineError::Interrupted) => {}
                Err(ReadlineError::Eof) => return self.results.finish(),
                Err(ReadlineError::Io(error)) if error.kind() == ErrorKind::InvalidData => {
                    self.console.warn("the input is not UTF-8; set the terminal to UTF-8");
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Executes a line; breaks after `:quit`.
    fn answer(&mut self, line: &str) -> Result<ControlFlow<()>> {
        match ReplInput::parse(line) {
            ReplInput::Nothing => {}
            ReplInput::Sentence(sentence) => self.translate(sentence)?,
            ReplInput::Command { name: "quit" | "q", .. } => return Ok(ControlFlow::Break(())),
            ReplInput::Command { name, argument } => {
                if let Err(reason) = self.execute(name, argument) {
                    self.console.say(message_of(&reason));
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Executes a command other than `:quit`.
    fn execute(&mut self, name: &str, argument: &str) -> Result<()> {
        match name {
            "help" | "h" => self.console.say(HELP),
            "align" | "a" => self.align()?,
            "save" => self.save(argument)?,
            "beam" => {
                let beam = argument.parse().ok().filter(|beam| (1..=1000).contains(beam));
                let beam = beam.context(":beam needs a number from 1 to 1000")?;
                self.change(format!("beam size {beam}"), |args| {
                    let decoding = &mut args.options.decoding;
                    (decoding.beam, decoding.sample, decoding.mbr) = (beam, false, None);
                })?;
            }
            "hard" => {
                let hard = !self.args.options.attention.hard_attention;
                let state = if hard { "hard attention" } else { "soft attention" };
                self.change(state.to_owned(), |args| args.options.attention.hard_attention = hard)?;
            }
            "temperature" => {
                let temperature: f64 = argument.parse().context(":temperature needs a number, such as 0.5")?;
                self.change(format!("attention temperature {temperature}"), |args| {
                    args.options.attention.temperature = Some(temperature);
                })?;
            }
            "model" if argument.is_empty() => bail!(":model needs a directory"),
            "model" => self.change(format!("model {argument}"), |args| args.model = vec![argument.into()])?,
            _ => bail!("unknown command :{name}; :help lists the commands"),
        }
        Ok(())
    }

    /// Changes options; if they are invalid, the former ones stay.
    fn change(&mut self, message: String, change: impl FnOnce(&mut TranslateArgs)) -> Result<()> {
        let mut args = self.args.clone();
        change(&mut args);
        let setup = TranslationSetup::new(&args, self.device, self.console)?;
        self.results.set_translator(&setup.translator, self.console)?;
        (self.args, self.setup) = (args, setup);
        self.console.note(message);
        Ok(())
    }

    fn translate(&mut self, sentence: &str) -> Result<()> {
        let TranslationSetup { translator, form } = &self.setup;
        let sentence = match form.read_for(translator, sentence.to_owned()) {
            Ok(sentence) => [sentence],
            Err(reason) => {
                self.console.say(message_of(&reason));
                return Ok(());
            }
        };
        let mut found = translator.translate(&sentence, self.count, &mut |_| {})?;
        let mut warnings = LineWarnings::default();
        self.setup.warn(&mut warnings, self.count, &sentence[0], &found[0][0]);
        self.results.report(&warnings, self.console);
        self.results.write(self.count, &sentence, &found, &Unreadable::new(OnError::Fail))?;
        self.count += 1;
        let [sentence] = sentence;
        self.last = Some(TranslatedSentence { sentence, translation: found.remove(0).remove(0) });
        Ok(())
    }

    fn last(&self) -> Result<&TranslatedSentence> {
        self.last.as_ref().ok_or_else(|| anyhow!("nothing has been translated yet"))
    }

    fn align(&self) -> Result<()> {
        let mut drawn = Vec::new();
        let alignment = self.last()?.translation.alignment.by_words();
        heatmap(self.console.is_terminal()).matrix(&mut drawn, &alignment)?;
        self.console.show(&drawn);
        Ok(())
    }

    /// Writes the last translation to a file, in the format of its extension.
    fn save(&self, path: &str) -> Result<()> {
        let TranslatedSentence { sentence, translation } = self.last()?;
        if path.is_empty() {
            bail!(":save needs a file name, such as hat.svg");
        }
        let path = Path::new(path);
        let format = alignment_format(None, path)?;
        ensure_distinct_paths([], [WrittenPath::new("--output", &self.args.output), WrittenPath::new(":save", path)])?;
        let (args, output) = (&self.args, Output::open(path)?);
        let mut file = TranslationWriter::new(args, Some(format), &self.setup.translator, output, self.console)?;
        let readable = Unreadable::new(OnError::Fail);
        file.write(0, std::slice::from_ref(sentence), &[vec![translation.clone()]], &readable)?;
        file.finish()?;
        self.console.note(format!("saved {}", path.display()));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command<'a>(name: &'a str, argument: &'a str) -> ReplInput<'a> {
        ReplInput::Command { name, argument }
    }

    #[test]
    fn distinguishes_commands_from_sentences() {
        use ReplInput::{Nothing, Sentence};
        for (line, expected) in [
            (":a", command("a", "")),
            (":help ", command("help", "")),
            (":save  my file.svg", command("save", "my file.svg")),
            (" :quit", Sentence(":quit")),
            (": what?", Sentence(": what?")),
            (":)", Sentence(":)")),
            ("  ", Nothing),
        ] {
            assert_eq!(ReplInput::parse(line), expected);
        }
    }
}
