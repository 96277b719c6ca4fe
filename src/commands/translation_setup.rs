//! Everything that the options of `softalign translate` define before the first sentence.

use anyhow::Result;
use candle_core::Device;

use super::console::Console;
use super::input_format::SentenceLines;
use super::load_model::translator;
use super::search::{constrained, glossary_format, request};
use crate::cli::{TranslateArgs, UnknownLines};
use crate::text::read_table;
use crate::translator::{Dictionary, Request, Translator};

/// Translator with its search and the format of its input.
pub struct TranslationSetup {
    pub translator: Translator,
    pub request: Request,
    pub form: SentenceLines,
}

impl TranslationSetup {
    /// Loads what the options name.
    ///
    /// # Errors
    /// An option is invalid, or a model or a file cannot be read.
    pub fn new(args: &TranslateArgs, device: &Device, console: &Console) -> Result<Self> {
        let request = request(&args.search, &args.constraints, args.n_best)?;
        let form = SentenceLines::new(&args.layout, args.tag_source.as_deref(), &args.model[0])?
            .with_prefixes(args.constraints.prefixes);
        let dictionary = match &args.dictionary {
            Some(path) => Some(Dictionary::from_pairs(read_table(path, &glossary_format(&args.layout))?)),
            None => args.replace_unknown.then(Dictionary::default),
        };
        let translator = translator(&args.model, &args.attention, args.links.words, device)?
            .with_dictionary(dictionary)
            .with_unknown_copied(args.unknown == UnknownLines::Copy);
        let translator = constrained(translator, &args.constraints, &args.layout, console)?;
        Ok(Self { translator, request, form })
    }
}
