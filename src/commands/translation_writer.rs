//! Output of translations as text or as alignments.

use anyhow::Result;

use super::console::Console;
use super::output_file::Output;
use super::render_options::{RenderOptions, heatmap, item, renderer};
use crate::alignment::LinkFormat;
use crate::cli::{TranslateArgs, TranslationFormat};
use crate::render::{Item, Renderer};
use crate::text::Pair;
use crate::translator::{LineWarnings, LinkOptions, LinkedPair, Linker, Sentence, Translation, Translator};

/// Writer of translations.
pub struct TranslationWriter<'a> {
    args: &'a TranslateArgs,
    output: Output,
    /// Linker and renderer, unless the output is text.
    alignments: Option<(Linker, Box<dyn Renderer>)>,
}

impl<'a> TranslationWriter<'a> {
    /// Returns the writer that the options describe.
    ///
    /// # Errors
    /// The linker cannot be built.
    pub fn new(args: &'a TranslateArgs, translator: &Translator, output: Output, console: &Console) -> Result<Self> {
        let Some(format) = args.format.alignment_format() else { return Ok(Self { args, output, alignments: None }) };
        let links = LinkOptions { by_units: args.subwords, ..args.links.options() };
        let linker = Linker::with_options(&links, Some(translator), &[], console)?;
        let title = "translations".to_owned();
        let options = RenderOptions {
            format,
            title,
            view: args.view,
            probabilities: false,
            notation: LinkFormat::default(),
            n_best: args.n_best > 1,
        };
        let renderer = renderer(options, &linker, &output);
        Ok(Self { args, output, alignments: Some((linker, renderer)) })
    }

    /// Writes the translations of a chunk whose first sentence has index `first`, and flushes.
    ///
    /// # Errors
    /// Writing fails.
    pub fn write(&mut self, first: usize, sentences: &[Sentence], translations: &[Vec<Translation>]) -> Result<()> {
        let Some((linker, renderer)) = &mut self.alignments else {
            write_texts(&mut self.output, translations, first, self.args.n_best)?;
            return self.output.flush();
        };
        for written in link_translations(translations, sentences, first, linker)? {
            let texts = [sentences[written.id - first].given(), &*written.translation.text];
            let units = self.args.format == TranslationFormat::Html && !self.args.subwords;
            let item = Item {
                rank: Some(written.rank),
                translation: Some(&written.translation.text),
                score: written.translation.score,
                ..item(written.id, texts, &written.linked, units)
            };
            self.output.with(|out| renderer.item(out, &item))?;
        }
        self.output.flush()
    }

    /// Prints warnings about lines with incomplete or unreliable results.
    pub fn report(&self, warnings: &LineWarnings, console: &Console) {
        warnings.report_truncated(console);
        warnings.report_unknown(self.args.unknown.consequence(), console);
        warnings.report_unmet(console);
    }

    /// Returns the heatmap of a translation.
    ///
    /// # Errors
    /// It cannot be drawn.
    pub fn heatmap(&self, translation: &Translation) -> Result<String> {
        let mut drawn = Vec::new();
        heatmap(&self.output).matrix(&mut drawn, &translation.alignment.by_words())?;
        Ok(String::from_utf8(drawn)?)
    }

    /// Completes the output.
    ///
    /// # Errors
    /// Writing fails.
    pub fn finish(mut self) -> Result<()> {
        if let Some((_, mut renderer)) = self.alignments {
            self.output.with(|out| renderer.finish(out))?;
        }
        self.output.finish()
    }
}

/// Translation with its links.
struct LinkedTranslation<'a> {
    id: usize,
    rank: usize,
    translation: &'a Translation,
    linked: LinkedPair,
}

/// Links the translations of a chunk whose first sentence has index `first`.
fn link_translations<'a>(
    translations: &'a [Vec<Translation>],
    sentences: &[Sentence],
    first: usize,
    linker: &Linker,
) -> Result<Vec<LinkedTranslation<'a>>> {
    let all = || translations.iter().enumerate().flat_map(|(index, found)| found.iter().map(move |one| (index, one)));
    let pair =
        |(index, one): (usize, &Translation)| Pair { source: sentences[index].text.clone(), target: one.text.clone() };
    let pairs: Vec<Pair> = all().map(pair).collect();
    let linked = linker.link_aligned(all().map(|(_, one)| one.alignment.clone()).collect(), &pairs)?;
    let ranks = translations.iter().flat_map(|found| 1..=found.len());
    let written = all().zip(ranks).zip(linked);
    Ok(written
        .map(|(((index, translation), rank), linked)| LinkedTranslation {
            id: first + index,
            rank,
            translation,
            linked,
        })
        .collect())
}

/// Writes translations as text, one per line, n-best lists with sentence index and score. The first sentence has index `first`.
fn write_texts(output: &mut Output, translations: &[Vec<Translation>], first: usize, n_best: u16) -> Result<()> {
    for (id, found) in (first..).zip(translations) {
        for Translation { text, score, .. } in found {
            let text = output.shown(text).into_owned();
            output.with(|out| match n_best {
                1 => writeln!(out, "{text}"),
                // The separator may not occur within a field.
                _ => writeln!(out, "{id} ||| {} ||| {score:.4}", text.replace("|||", "¦¦¦")),
            })?;
        }
    }
    Ok(())
}
