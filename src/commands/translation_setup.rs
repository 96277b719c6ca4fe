//! Everything that the options of `softalign translate` define before the first sentence.

use anyhow::Result;
use candle_core::Device;

use super::console::Console;
use super::input_format::SentenceLines;
use super::load_model::translator;
use super::search::{constrained, glossary_format, request};
use crate::cli::{TranslateArgs, UnknownLines};
use crate::text::read_table;
use crate::translator::{Dictionary, MarkupOptions, Request, Sentence, Translation, Translator};

/// Translator with its search and the format of its input.
pub struct TranslationSetup {
    pub translator: Translator,
    pub request: Request,
    pub form: SentenceLines,
    pub markup: MarkupOptions,
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
        let translator = translator(&args.model, &args.attention, args.links.words, args.precision, device)?
            .with_dictionary(dictionary)
            .with_unknown_copied(args.unknown == UnknownLines::Copy);
        let markup = translator.markup_options_with(args.markup, args.placeholders.as_deref())?;
        let translator = constrained(translator, &args.constraints, &args.layout, &markup.placeholders, console)?;
        Ok(Self { translator, request, form, markup })
    }

    /// Translates sentences with the placeholders and tags that the options describe.
    ///
    /// # Errors
    /// The model fails.
    pub fn translate(
        &self,
        sentences: &[Sentence],
        first: usize,
        on_progress: &mut (dyn FnMut(usize) + Send),
    ) -> Result<Vec<Vec<Translation>>> {
        let request = self.request.from_sentence(first);
        self.translator.translate_batch_marked_up(sentences, &self.markup, &request, on_progress)
    }
}
