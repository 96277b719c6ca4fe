//! Everything that the options of `softalign translate` define before the first sentence.

use std::path::Path;

use anyhow::{Result, ensure};
use candle_core::Device;

use super::console::Console;
use super::input_format::SentenceLines;
use crate::cli::{LayoutArgs, TranslateArgs};
use crate::text::{Pair, TableFormat, file_name, read_numbered, read_table};
use crate::translator::{
    DecodeOptions, LineWarnings, LinkOptions, MAX_PHRASE, PreparedTranslator, Sentence, TranslateOptions, Translation,
    Translator, UnknownSentences,
};

/// Translator with the format of its input.
pub struct TranslationSetup {
    pub translator: PreparedTranslator,
    pub form: SentenceLines,
}

impl TranslationSetup {
    /// Loads what the options name. Warns of terms whose translations contain unknown characters.
    ///
    /// # Errors
    /// An option is invalid, or a model or a file cannot be read.
    pub fn new(args: &TranslateArgs, device: &Device, console: &Console) -> Result<Self> {
        decode_options(args).request()?;
        let form = SentenceLines::new(&args.layout, args.tag_source.as_deref(), &args.model[0])?
            .with_prefixes(args.constraints.prefixes);
        let options = translate_options(args)?;
        let translator = Translator::load_ensemble_on(&args.model, device)?.prepared(&options)?;
        let skipped_terms = translator.skipped_terms();
        if let (Some(first), Some(path)) = (skipped_terms.first(), &args.constraints.terms) {
            console.warn(format!(
                "{}: {} translations, such as \"{first}\", contain characters unknown to the model; these terms are ignored",
                path.display(),
                skipped_terms.len()
            ));
        }
        Ok(Self { translator, form })
    }

    /// Adds the warnings about a sentence and its best translation. `id` is the index of the sentence.
    pub fn warn(&self, warnings: &mut LineWarnings, id: usize, sentence: &Sentence, best: &Translation) {
        let translator = self.translator.translator();
        warnings.add_translation(id, best);
        warnings.add_source(id, &sentence.text[sentence.prefix_len..], translator);
        if let Some(source) = self.form.with_features(sentence) {
            warnings.add_features(id, source, translator);
        }
    }
}

/// Returns the end of the warning about sentences that are mostly unknown to the model.
pub fn consequence(unknown: UnknownSentences) -> &'static str {
    match unknown {
        UnknownSentences::Translate => "the translation is unreliable; --unknown copy copies such lines unchanged",
        UnknownSentences::Copy => "copied unchanged",
    }
}

/// Returns the options of decoding, without terms, which are in a file.
fn decode_options(args: &TranslateArgs) -> DecodeOptions {
    DecodeOptions {
        n_best: usize::from(args.n_best),
        prefix: args.constraints.prefix.clone(),
        require: args.constraints.require.clone(),
        avoid: args.constraints.avoid.clone(),
        ..args.options.decoding.clone()
    }
}

/// Returns the options of translations, with the terms and the dictionary of their files.
fn translate_options(args: &TranslateArgs) -> Result<TranslateOptions> {
    let format = glossary_format(&args.layout);
    let mut decoding = decode_options(args);
    if let Some(path) = &args.constraints.terms {
        decoding.terms = read_terms(path, &format)?;
    }
    let dictionary = args.dictionary.as_ref().map(|path| read_table(path, &format)).transpose()?;
    let links = LinkOptions { by_tokens: args.tokens, ..args.options.links.clone() };
    Ok(TranslateOptions { decoding, links, dictionary, ..args.options.clone() })
}

/// Reads terms with their translations and checks their lengths.
fn read_terms(path: &Path, layout: &TableFormat) -> Result<Vec<Pair>> {
    let (pairs, numbers) = read_numbered(path, layout)?;
    for (place, pair) in pairs.iter().enumerate() {
        ensure!(
            pair.target.trim().is_empty() == pair.source.trim().is_empty(),
            "{}:{}: expected a term and its translation",
            file_name(path),
            numbers.of(place)
        );
        for (what, text) in [("term", &pair.source), ("translation", &pair.target)] {
            let length = text.chars().count();
            ensure!(
                length <= MAX_PHRASE,
                "{}:{}: a {what} can have {MAX_PHRASE} characters, not {length}",
                file_name(path),
                numbers.of(place)
            );
        }
    }
    Ok(pairs)
}

/// Returns the format of glossaries and dictionaries, which have no features.
fn glossary_format(args: &LayoutArgs) -> TableFormat {
    TableFormat { features: None, ..args.layout() }
}
