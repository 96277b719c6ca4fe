//! What is written of translations: texts, or alignments in any format.

use anyhow::Result;

use super::console::Console;
use super::output_file::Output;
use super::render_options::{RenderOptions, heatmap, item, renderer};
use crate::alignment::LinkFormat;
use crate::cli::{TranslateArgs, TranslationFormat};
use crate::render::{Item, Renderer};
use crate::text::Pair;
use crate::translator::{LineWarnings, LinkOptions, LinkedPair, Linker, Sentence, Translation, Translator};

/// What is written of translations.
pub struct TranslationWriter<'a> {
    args: &'a TranslateArgs,
    output: Output,
    /// What links words and what writes them, if alignments are asked for.
    alignments: Option<(Linker, Box<dyn Renderer>)>,
}

impl<'a> TranslationWriter<'a> {
    /// By the options, of what this translator says.
    ///
    /// # Errors
    /// What links words cannot be had.
    pub fn new(args: &'a TranslateArgs, translator: &Translator, output: Output, console: &Console) -> Result<Self> {
        let Some(format) = args.format.alignment_format() else { return Ok(Self { args, output, alignments: None }) };
        let links = LinkOptions { by_units: args.subwords, ..args.links.options() };
        let linker = Linker::with_options(&links, Some(translator), &[], console)?;
        let title = "translations".to_owned();
        let manner = RenderOptions {
            format,
            title,
            view: args.view,
            probabilities: false,
            notation: LinkFormat::default(),
            n_best: args.n_best > 1,
        };
        let renderer = renderer(manner, &linker, &output);
        Ok(Self { args, output, alignments: Some((linker, renderer)) })
    }

    /// Adds the translations of sentences, the first of which has number `first`, and hands them over.
    ///
    /// # Errors
    /// The output's own.
    pub fn write(&mut self, first: usize, sentences: &[Sentence], translations: &[Vec<Translation>]) -> Result<()> {
        let Some((linker, renderer)) = &mut self.alignments else {
            write_texts(&mut self.output, translations, first, self.args.n_best)?;
            return self.output.flush();
        };
        for written in written(translations, sentences, first, linker)? {
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

    /// Tells of lines of which the results are not what one would think.
    pub fn tell(&self, warnings: &LineWarnings, console: &Console) {
        warnings.report_truncated(console);
        warnings.report_unknown(self.args.unknown.consequence(), console);
        warnings.report_unmet(console);
    }

    /// A translation's alignment, for whoever asks between results.
    ///
    /// # Errors
    /// It cannot be drawn.
    pub fn drawn(&self, translation: &Translation) -> Result<String> {
        let mut drawn = Vec::new();
        heatmap(&self.output).matrix(&mut drawn, &translation.alignment.by_words())?;
        Ok(String::from_utf8(drawn)?)
    }

    /// Hands over what is left.
    ///
    /// # Errors
    /// The output's own.
    pub fn finish(mut self) -> Result<()> {
        if let Some((_, mut renderer)) = self.alignments {
            self.output.with(|out| renderer.finish(out))?;
        }
        self.output.finish()
    }
}

/// A translation with its links.
struct TranslationJson<'a> {
    id: usize,
    rank: usize,
    translation: &'a Translation,
    linked: LinkedPair,
}

/// The translations of sentences, the first of which has number `first`, with their links.
fn written<'a>(
    translations: &'a [Vec<Translation>],
    sentences: &[Sentence],
    first: usize,
    linker: &Linker,
) -> Result<Vec<TranslationJson<'a>>> {
    let all = || translations.iter().enumerate().flat_map(|(index, found)| found.iter().map(move |one| (index, one)));
    let pair =
        |(index, one): (usize, &Translation)| Pair { source: sentences[index].text.clone(), target: one.text.clone() };
    let pairs: Vec<Pair> = all().map(pair).collect();
    let linked = linker.link_read(all().map(|(_, one)| one.alignment.clone()).collect(), &pairs)?;
    let ranks = translations.iter().flat_map(|found| 1..=found.len());
    let written = all().zip(ranks).zip(linked);
    Ok(written
        .map(|(((index, translation), rank), linked)| TranslationJson { id: first + index, rank, translation, linked })
        .collect())
}

/// Writes translations alone, a line each; where several of a sentence are asked for, with its number and their scores.
/// The first sentence has number `first`.
fn write_texts(output: &mut Output, translations: &[Vec<Translation>], first: usize, n_best: u16) -> Result<()> {
    for (id, found) in (first..).zip(translations) {
        for Translation { text, score, .. } in found {
            let text = output.shown(text).into_owned();
            output.with(|out| match n_best {
                1 => writeln!(out, "{text}"),
                // What separates cells cannot stand in one.
                _ => writeln!(out, "{id} ||| {} ||| {score:.4}", text.replace("|||", "¦¦¦")),
            })?;
        }
    }
    Ok(())
}
