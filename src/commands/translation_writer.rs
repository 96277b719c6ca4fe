//! Output of translations as text or as alignments.

use anyhow::Result;

use super::console::Console;
use super::output_file::Output;
use super::render_options::{has_colors, heatmap, renderer};
use super::translation_setup::consequence;
use super::unreadable::Unreadable;
use crate::alignment::LinkFormat;
use crate::cli::TranslateArgs;
use crate::render::{AlignmentFormat, Item, RenderOptions, Renderer, shaded};
use crate::text::{Pair, RowSyntax};
use crate::translator::{
    LineWarnings, Linker, PreparedTranslator, Sentence, Translation, Translator, UnknownSentences,
};

/// Writer of translations.
pub struct TranslationWriter {
    n_best: u16,
    unknown: UnknownSentences,
    /// Adds the alignment of tokens beside that of words.
    with_tokens: bool,
    output: Output,
    /// Syntax of translations in CSV.
    syntax: Option<RowSyntax>,
    /// Alignments, unless the output is text.
    alignments: Option<AlignmentWriter>,
    /// Model that estimates the quality of each word, if text is shaded by it.
    shading: Option<Translator>,
}

/// Writer of alignments of translations.
struct AlignmentWriter {
    linker: Linker,
    renderer: Box<dyn Renderer>,
    /// True if texts have their tags.
    has_markup: bool,
}

impl TranslationWriter {
    /// Returns a writer of alignments in this format, or of text without one.
    ///
    /// # Errors
    /// The linker cannot be built, or the format is not for a terminal.
    pub fn new(
        args: &TranslateArgs,
        format: Option<AlignmentFormat>,
        translator: &PreparedTranslator,
        output: Output,
        console: &Console,
    ) -> Result<Self> {
        let with_tokens = format == Some(AlignmentFormat::Html) && !args.tokens;
        let writer = Self {
            n_best: args.n_best,
            unknown: args.options.unknown,
            with_tokens,
            output,
            syntax: None,
            alignments: None,
            shading: None,
        };
        let Some(format) = format else { return Ok(writer) };
        let linker = translator.linker(console)?;
        let options = RenderOptions {
            title: "translations".to_owned(),
            figures: args.figures.style(),
            probabilities: false,
            notation: LinkFormat::default(),
            n_best: args.n_best > 1,
            min_link_score: linker.min_link_score(),
            heatmap: heatmap(writer.output.is_terminal()),
            languages: translator.translator().config().data.languages.clone(),
        };
        let renderer = renderer(format, options, &writer.output)?;
        let has_markup = format != AlignmentFormat::Tmx;
        Ok(Self { alignments: Some(AlignmentWriter { linker, renderer, has_markup }), ..writer })
    }

    /// Sets the syntax in which each translation is a row of its own; by default they are lines of text.
    #[must_use]
    pub fn written_as(self, syntax: Option<RowSyntax>) -> Self {
        Self { syntax, ..self }
    }

    /// Shades words by their confidence if the output is text in a terminal with colors.
    #[must_use]
    pub fn shaded_by(self, translator: &Translator) -> Self {
        let is_shown = self.output.is_terminal() && has_colors(true);
        Self { shading: is_shown.then(|| translator.clone()), ..self }
    }

    /// Writes the translations of a chunk whose first sentence has index `first`, and flushes.
    ///
    /// # Errors
    /// Writing fails.
    pub fn write(
        &mut self,
        first: usize,
        sentences: &[Sentence],
        translations: &[Vec<Translation>],
        unreadable: &Unreadable,
    ) -> Result<()> {
        if let Some(AlignmentWriter { linker, renderer, has_markup }) = &mut self.alignments {
            for linked in linker.link_translations(translations, sentences)? {
                let id = first + linked.sentence;
                if !unreadable.is_skipped(id) {
                    let mut item = Item { id, error: unreadable.message(id), ..linked.item(self.with_tokens) };
                    if let Some(Pair { source, target }) =
                        linked.translation.without_markup.as_ref().filter(|_| !*has_markup)
                    {
                        item.texts = [source, target];
                    }
                    self.output.with(|out| renderer.item(out, &item))?;
                }
            }
        } else {
            for (id, found) in (first..).zip(translations) {
                if !unreadable.is_skipped(id) {
                    found.iter().try_for_each(|translation| self.write_text(id, translation))?;
                }
            }
        }
        self.output.flush()
    }

    /// Writes a translation of the sentence with index `id` as text: a line, or a row of n-best lists with index and score.
    fn write_text(&mut self, id: usize, translation: &Translation) -> Result<()> {
        let Translation { text, score, alignment, .. } = translation;
        if let Some(syntax) = self.syntax {
            return self.output.with(|out| writeln!(out, "{}", syntax.row(&[text])));
        }
        let estimate = self.shading.as_ref().map_or(Ok(None), |translator| translator.estimate_quality(alignment))?;
        let text = match estimate {
            Some(estimate) => shaded(text, alignment.target_words(), &estimate),
            None => self.output.shown(text).into_owned(),
        };
        let n_best = self.n_best;
        self.output.with(|out| match n_best {
            1 => writeln!(out, "{text}"),
            // The separator may not occur within a field.
            _ => writeln!(out, "{id} ||| {} ||| {score:.4}", text.replace("|||", "¦¦¦")),
        })
    }

    /// True if the output has alignments.
    pub fn has_alignments(&self) -> bool {
        self.alignments.is_some()
    }

    /// Writes a translated document.
    ///
    /// # Errors
    /// Writing fails.
    pub fn write_document(&mut self, document: &[u8]) -> Result<()> {
        self.output.with(|out| out.write_all(document))
    }

    /// Prints warnings about lines with incomplete or unreliable results.
    pub fn report(&self, warnings: &LineWarnings, console: &Console) {
        warnings.report_truncated(console);
        warnings.report_unknown(consequence(self.unknown), console);
        warnings.report_in_target_language(console);
        warnings.report_doubtful("--format jsonl has the reasons for each", console);
        warnings.report_unmet(console);
        warnings.report_unknown_features(console);
    }

    /// Links words by another translator from now on.
    ///
    /// # Errors
    /// The linker cannot be built.
    pub fn set_translator(&mut self, translator: &PreparedTranslator, console: &Console) -> Result<()> {
        if let Some(alignments) = &mut self.alignments {
            alignments.linker = translator.linker(console)?;
        }
        if let Some(shading) = &mut self.shading {
            *shading = translator.translator().clone();
        }
        Ok(())
    }

    /// Completes the output.
    ///
    /// # Errors
    /// Writing fails.
    pub fn finish(mut self) -> Result<()> {
        if let Some(mut alignments) = self.alignments {
            self.output.with(|out| alignments.renderer.finish(out))?;
        }
        self.output.finish()
    }
}
