//! From the options of links to what links words, and what the user is told meanwhile.

use std::path::Path;

use anyhow::{Result, bail, ensure};
use candle_core::Device;

use super::console::Console;
use crate::aligner::WordAligner;
use crate::checkpoint::Folder;
use crate::cli::{LinkArgs, LinksFrom};
use crate::error::UsageError;
use crate::text::{NormalForm, Pair};
use crate::translator::{Linker, Translator, learn_aligner};

/// Refuses options of links that do not go together.
pub fn check_links(args: &LinkArgs, subwords: bool) -> Result<()> {
    if let Some(threshold) = args.threshold.filter(|threshold| !(0.0..=1.0).contains(threshold)) {
        bail!(UsageError(format!("--threshold must be between 0 and 1, not {threshold}")));
    }
    if !args.links_from.uses_attention() && (subwords || args.reverse_model.is_some()) {
        bail!(UsageError("--subwords and --reverse-model need attention: leave out --links-from".to_owned()));
    }
    if args.symmetrize.is_some() && args.links_from == LinksFrom::Attention && args.reverse_model.is_none() {
        bail!(UsageError("--symmetrize needs two directions: give --reverse-model as well".to_owned()));
    }
    Ok(())
}

/// Where a statistical aligner lies that was learnt before.
#[derive(Clone, Copy)]
pub enum Stored<'a> {
    /// With the model that it was learnt with.
    With(&'a Path),
    /// In a folder that need not hold its model.
    Alone(&'a Path),
}

impl Stored<'_> {
    fn path(&self) -> &Path {
        let (Self::With(path) | Self::Alone(path)) = self;
        path
    }

    fn load(self, translator: Option<&Translator>) -> Result<Option<WordAligner>> {
        let folder = Folder::new(self.path());
        match (self, translator) {
            (Self::Alone(_), _) => folder.load_aligner_alone().map(Some),
            (Self::With(_), Some(translator)) => folder.load_aligner(translator.checkpoint()),
            (Self::With(_), None) => folder.load_aligner(&folder.load()?),
        }
    }
}

/// What the options ask to be linked by, but for the model itself; `translator` is that, where there is one. `pairs` are
/// those that an aligner may be learnt from.
pub fn linker(
    args: &LinkArgs,
    stored: Stored,
    translator: Option<&Translator>,
    by_units: bool,
    pairs: &[Pair],
    device: &Device,
    console: &Console,
) -> Result<Linker> {
    let attention = translator.map(|translator| &translator.config().architecture.attention);
    let fixed = attention.filter(|attention| attention.is_fixed());
    if let (Some(attention), LinksFrom::Attention) = (fixed, args.links_from) {
        bail!(UsageError(format!(
            "{}: a model without attention ({attention}) links nothing; leave out --links-from, or learn from the pairs \
             themselves by --links-from pairs",
            stored.path().display()
        )));
    }
    let reverse = |path: &Path| {
        let reverse = Translator::load_on(path, device)?.with_words(args.words);
        translator.map_or(Ok(()), |translator| check_reverse(translator, &reverse, by_units, path))?;
        Ok::<_, anyhow::Error>(reverse)
    };
    let mut linker = Linker {
        attention: args.links_from.uses_attention(),
        fixed: fixed.is_some(),
        reverse: args.reverse_model.as_deref().map(reverse).transpose()?,
        symmetrization: args.symmetrize,
        threshold: args.threshold,
        words: translator.map_or([args.words.unwrap_or_default(); 2], Translator::words),
        by_units,
        ..Linker::default()
    };
    match args.links_from {
        LinksFrom::Pairs => {
            let form = translator.map_or(NormalForm::Nfc, |translator| translator.config().text.normalisation.form);
            linker.statistical = Some(learn_aligner(pairs, form, console));
        }
        LinksFrom::Hmm => {
            linker.statistical = stored.load(translator)?;
            ensure!(
                linker.statistical.is_some(),
                "{}: no statistical aligner here (aligner.safetensors is missing); train the model anew (one with \
                 a side of characters has none), or learn from the \
                 pairs themselves by --links-from pairs",
                stored.path().display()
            );
        }
        LinksFrom::Attention => {}
        LinksFrom::Auto if by_units => {}
        LinksFrom::Auto => linker.statistical = stored.load(translator)?,
    }
    let directions = linker.statistical.is_some() || linker.reverse.is_some();
    ensure!(
        args.symmetrize.is_none() || directions,
        UsageError("--symmetrize needs two directions: give --reverse-model as well".to_owned())
    );
    Ok(linker)
}

/// Refuses a model that does not translate back, as far as vocabularies tell.
fn check_reverse(translator: &Translator, reverse: &Translator, by_units: bool, path: &Path) -> Result<()> {
    const ALIKE: f64 = 0.25;
    let (model, reverse) = (translator.checkpoint(), reverse.checkpoint());
    if by_units && !model.has_units_turned(reverse)? {
        bail!(UsageError(format!(
            "{}: cuts text into other units than the model, so that --subwords cannot link by both",
            path.display()
        )));
    }
    for (verb, theirs, side, ours) in
        [("reads", &reverse.source, "target", &model.target), ("writes", &reverse.target, "source", &model.source)]
    {
        if ours.likeness(theirs).is_some_and(|likeness| likeness < ALIKE) {
            bail!(UsageError(format!(
                "--reverse-model {}: it {verb} another language than the model's {side}; name one that translates the other \
                 way",
                path.display()
            )));
        }
    }
    Ok(())
}
