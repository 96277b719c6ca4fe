//! Links between the words of given pairs, by all that is known of them: a model's attention, a statistical aligner, a
//! model of the other direction.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use anyhow::{Result, bail, ensure};
use rayon::prelude::*;

use super::{ForcedAlignment, Translator};
use crate::aligner::{self, Posteriors, WordAligner};
use crate::alignment::{Alignment, Link, LinkFormat, LinkScores, NoiseFeatures, Symmetrization, linked_sources};
use crate::checkpoint::ModelDir;
use crate::error::{UsageError, usage};
use crate::reporter::{Reporter, Silent};
use crate::text::{NormalForm, Pair, WordSplitting, word_spans};

/// What a statistical aligner's word counts where attention's counts 1: it knows both sentences, while attention has to
/// look before the next word is said.
const STATISTICAL: f32 = 2.0;

/// Belief that makes a link, where nothing else is asked for. It is low because both directions have to agree.
const ENOUGH: f32 = 0.15;
/// Belief that makes a link where attention, which scatters, has no say.
const ENOUGH_BY_STATISTICS: f32 = 0.1;
/// Belief that makes a link where there is nothing but attention.
const ENOUGH_BY_ATTENTION: f32 = 0.35;
/// What makes a link beside the heaviest word where each direction links by itself.
const MUCH: f32 = 0.4;

/// Words of a sentence that a statistical aligner links where no model reads the sentence; what goes beyond is cut off,
/// since time and memory grow with the square of the length.
pub const MOST_WORDS: usize = 2000;

/// Evidence that links are made from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinksFrom {
    /// Attention, and the statistical aligner that was learned with the model, if there is one.
    #[default]
    Auto,
    /// Attention alone.
    Attention,
    /// A saved statistical aligner alone.
    Hmm,
    /// A statistical aligner that is learned from the given pairs alone; no model is needed.
    Pairs,
}

impl LinksFrom {
    /// Returns true if attention is among the evidence.
    pub fn uses_attention(self) -> bool {
        matches!(self, Self::Auto | Self::Attention)
    }
}

/// Place of a statistical aligner that was saved without, or is used without, the translator of its model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AlignerSource {
    /// The directory of the model that it was learned with, to which it must belong.
    Model(PathBuf),
    /// Any directory that holds one.
    Directory(PathBuf),
}

impl AlignerSource {
    fn path(&self) -> &Path {
        let (Self::Model(path) | Self::Directory(path)) = self;
        path
    }

    fn load(&self) -> Result<Option<Arc<WordAligner>>> {
        let folder = ModelDir::new(self.path());
        let aligner = match self {
            Self::Directory(_) => Some(folder.load_aligner_alone()?),
            Self::Model(_) => folder.load_aligner(&folder.load()?)?,
        };
        Ok(aligner.map(Arc::new))
    }
}

/// Options of linking. By default words are linked by attention and the model's statistical aligner.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkOptions {
    /// Evidence that links are made from.
    pub links_from: LinksFrom,
    /// Place of the saved statistical aligner; none for the translator's own.
    pub aligner: Option<AlignerSource>,
    /// Directory of a model that translates the other way, whose attention has to agree.
    pub reverse_model: Option<PathBuf>,
    /// Heuristic that symmetrizes the links of both directions; none links by their common score.
    pub symmetrization: Option<Symmetrization>,
    /// Least score of a link; none for the usual.
    pub threshold: Option<f32>,
    /// Splitting into words; none for the usual. A translator knows its own.
    pub words: Option<WordSplitting>,
    /// Links the model's tokens instead of words.
    pub by_units: bool,
}

impl LinkOptions {
    /// Checks that the options go together.
    ///
    /// # Errors
    /// A [`UsageError`] names an option by its name on the command line.
    pub fn check(&self) -> Result<()> {
        if let Some(threshold) = self.threshold.filter(|threshold| !(0.0..=1.0).contains(threshold)) {
            return usage(format!("--threshold must be between 0 and 1, not {threshold}"));
        }
        if !self.links_from.uses_attention() && (self.by_units || self.reverse_model.is_some()) {
            return usage("--subwords and --reverse-model need attention: leave out --links-from");
        }
        if self.links_from == LinksFrom::Attention && self.reverse_model.is_none() {
            self.check_directions(false)?;
        }
        Ok(())
    }

    /// Refuses symmetrization of a single direction.
    fn check_directions(&self, both: bool) -> Result<()> {
        ensure!(
            self.symmetrization.is_none() || both,
            UsageError("--symmetrize needs two directions: give --reverse-model as well".to_owned())
        );
        Ok(())
    }

    /// Loads the reverse model of a translator, if there is one.
    fn load_reverse(&self, translator: &Translator) -> Result<Option<Translator>> {
        let Some(path) = &self.reverse_model else { return Ok(None) };
        let reverse = Translator::load_on(path, translator.device())?.with_words(self.words);
        check_reverse(translator, &reverse, self.by_units)?;
        Ok(Some(reverse))
    }

    /// Loads or learns the statistical aligner, if it is part of the evidence.
    fn statistical_aligner(
        &self,
        translator: Option<&Translator>,
        pairs: &[Pair],
        reporter: &dyn Reporter,
    ) -> Result<Option<Arc<WordAligner>>> {
        let saved = || match &self.aligner {
            Some(source) => source.load(),
            None => translator.map_or(Ok(None), Translator::aligner),
        };
        match self.links_from {
            LinksFrom::Attention => Ok(None),
            LinksFrom::Auto if self.by_units => Ok(None),
            LinksFrom::Auto => saved(),
            LinksFrom::Hmm => match saved()? {
                Some(aligner) => Ok(Some(aligner)),
                None => self.missing_aligner(translator),
            },
            LinksFrom::Pairs => {
                let form = translator.map_or(NormalForm::Nfc, |translator| translator.config().text.normalization.form);
                Ok(Some(Arc::new(learn_aligner(pairs, form, reporter))))
            }
        }
    }

    fn missing_aligner<T>(&self, translator: Option<&Translator>) -> Result<T> {
        let Some(path) = self.aligner.as_ref().map(AlignerSource::path).or(translator.map(Translator::path)) else {
            return usage("--links-from hmm needs a model or --aligner");
        };
        bail!(
            "{}: no statistical aligner here (aligner.safetensors is missing); train the model anew (one with a side of \
             characters has none), or learn from the pairs themselves by --links-from pairs",
            path.display()
        )
    }
}

/// Refuses a model that does not translate back, as far as vocabularies tell.
fn check_reverse(translator: &Translator, reverse: &Translator, by_units: bool) -> Result<()> {
    const MIN_LIKENESS: f64 = 0.25;
    let path = reverse.path().display();
    let (model, reverse) = (translator.checkpoint(), reverse.checkpoint());
    if by_units && !model.has_units_turned(reverse)? {
        return usage(format!(
            "{path}: cuts text into other units than the model, so that --subwords cannot link by both"
        ));
    }
    for (verb, theirs, side, ours) in
        [("reads", &reverse.source, "target", &model.target), ("writes", &reverse.target, "source", &model.source)]
    {
        if ours.likeness(theirs).is_some_and(|likeness| likeness < MIN_LIKENESS) {
            return usage(format!(
                "--reverse-model {path}: it {verb} another language than the model's {side}; name one that translates the \
                 other way"
            ));
        }
    }
    Ok(())
}

/// What links given pairs. Where attention has no say there must be a statistical aligner.
#[derive(Default)]
pub struct Linker {
    /// Whether attention has a say.
    pub attention: bool,
    /// Whether attention looks at the same words whatever is written, so that it says nothing of links.
    pub fixed: bool,
    /// Where attention comes from, for pairs that no model has read yet.
    pub translator: Option<Translator>,
    /// A statistical aligner, if it has a say.
    pub statistical: Option<Arc<WordAligner>>,
    /// A model that translates the other way, if there is one.
    pub reverse: Option<Translator>,
    /// How the directions' links become one set; none to link by common belief.
    pub symmetrization: Option<Symmetrization>,
    /// Links are made from this much on; none for the usual.
    pub threshold: Option<f32>,
    /// What is linked of the source and of the target.
    pub words: [WordSplitting; 2],
    /// Whether the model's units are linked instead of words.
    pub by_units: bool,
}

/// A pair with its links.
pub struct LinkedPair {
    /// The pair as the model read it, where one did.
    pub aligned: Option<ForcedAlignment>,
    /// Attention between what is linked; without a model, the statistical aligner's p(t comes from s), what a row lacks
    /// of 1 being the share of nothing.
    pub alignment: Alignment,
    /// How much is believed in each link.
    pub link_scores: LinkScores,
    /// The links.
    pub links: Vec<Link>,
    /// Mean log-probability of a target unit, or without a model of a target word, in nats.
    pub score: f64,
    /// Whether a side was longer than what is read, and only its beginning was.
    pub cut: bool,
}

impl LinkedPair {
    /// The links from another threshold on, as they would be without a way to make one set of two directions' links.
    pub fn links_from(&self, threshold: f32) -> Vec<Link> {
        self.link_scores.links(threshold)
    }

    /// What speaks for or against the pair being a translation.
    pub fn signs(&self) -> NoiseFeatures {
        let linked = |of: fn(&Link) -> usize| self.links.iter().map(of).collect::<BTreeSet<usize>>().len();
        let words = [self.alignment.source().len(), self.alignment.target().len()];
        NoiseFeatures::new(self.score, words, [linked(|link| link.source), linked(|link| link.target)])
    }
}

impl LinkedPair {
    /// Returns the links as fast_align and Moses write them: `s-t` with words counted from 0, in order.
    pub fn pharaoh(&self) -> String {
        LinkFormat::default().format_line(&self.links)
    }
}

impl Linker {
    /// Returns the default linker of a model: attention with the statistical aligner that was learned beside it, if any.
    ///
    /// # Errors
    /// The aligner's file is damaged.
    pub fn of_model(translator: &Translator) -> Result<Self> {
        Self::with_options(&LinkOptions::default(), Some(translator), &[], &Silent)
    }

    /// Returns the linker that the options describe, for a translator if there is one. A statistical aligner that is to be
    /// learned is learned from `pairs`.
    ///
    /// # Errors
    /// The options do not go together or with the model; a model or an aligner cannot be read.
    pub fn with_options(
        options: &LinkOptions,
        translator: Option<&Translator>,
        pairs: &[Pair],
        reporter: &dyn Reporter,
    ) -> Result<Self> {
        options.check()?;
        let attention = options.links_from.uses_attention();
        let Some(translator) = translator else {
            if attention {
                return usage("links from attention need a model");
            }
            let statistical = options.statistical_aligner(None, pairs, reporter)?;
            return Ok(Self {
                statistical,
                symmetrization: options.symmetrization,
                threshold: options.threshold,
                words: [options.words.unwrap_or_default(); 2],
                ..Self::default()
            });
        };
        let mechanism = &translator.config().architecture.attention;
        if mechanism.is_fixed() && options.links_from == LinksFrom::Attention {
            return usage(format!(
                "{}: a model without attention ({mechanism}) links nothing; leave out --links-from, or learn from the \
                 pairs themselves by --links-from pairs",
                translator.path().display()
            ));
        }
        let reverse = options.load_reverse(translator)?;
        let statistical = options.statistical_aligner(Some(translator), pairs, reporter)?;
        options.check_directions(statistical.is_some() || reverse.is_some())?;
        Ok(Self {
            attention,
            fixed: mechanism.is_fixed(),
            translator: attention.then(|| translator.clone()),
            statistical,
            reverse,
            symmetrization: options.symmetrization,
            threshold: options.threshold,
            words: translator.words(),
            by_units: options.by_units,
        })
    }

    /// How much belief makes a link.
    pub fn min_link_score(&self) -> f32 {
        let others = self.statistical.is_some() || self.reverse.is_some();
        self.threshold.unwrap_or(match (self.attention && !self.fixed, others) {
            (true, true) => ENOUGH,
            (true, false) => ENOUGH_BY_ATTENTION,
            (false, _) => ENOUGH_BY_STATISTICS,
        })
    }

    /// Links pairs.
    ///
    /// # Errors
    /// The models' own.
    pub fn link(&self, pairs: &[Pair], on_progress: &mut dyn FnMut(usize)) -> Result<Vec<LinkedPair>> {
        let Some(translator) = &self.translator else {
            let linked = pairs.par_iter().map(|pair| self.by_statistics(pair)).collect();
            on_progress(pairs.len());
            return Ok(linked);
        };
        self.link_read(translator.align_batch(pairs, on_progress)?, pairs)
    }

    /// Links pairs that a model has read or written. `pairs` are their texts, in the same order.
    ///
    /// # Errors
    /// The reverse model's own.
    pub fn link_read(&self, aligned: Vec<ForcedAlignment>, pairs: &[Pair]) -> Result<Vec<LinkedPair>> {
        let turned = |pair: &Pair| Pair { source: pair.target.clone(), target: pair.source.clone() };
        let reversed = match &self.reverse {
            Some(reverse) => {
                let turned: Vec<Pair> = pairs.iter().map(turned).collect();
                reverse.align_batch(&turned, &mut |_| {})?.into_iter().map(Some).collect()
            }
            None => vec![None; aligned.len()],
        };
        Ok(aligned.into_par_iter().zip(reversed).map(|(aligned, reversed)| self.by_model(aligned, reversed)).collect())
    }

    fn by_statistics(&self, pair: &Pair) -> LinkedPair {
        let spans = [word_spans(&pair.source, self.words[0]), word_spans(&pair.target, self.words[1])];
        let cut = spans.iter().any(|spans| spans.len() > MOST_WORDS);
        let words = |text: &str, spans: &[Range<usize>]| -> Vec<String> {
            spans.iter().take(MOST_WORDS).map(|span| text[span.clone()].to_owned()).collect()
        };
        let (source, target) = (words(&pair.source, &spans[0]), words(&pair.target, &spans[1]));
        let found = self.posteriors(&source, &target);
        let row = |target: usize| {
            let shares = &found.forward[target * source.len()..][..source.len()];
            let nothing = (1.0 - shares.iter().sum::<f32>()).max(0.0);
            shares.iter().copied().chain([nothing]).collect()
        };
        let rows: Vec<Vec<f32>> = (0..target.len()).map(row).collect();
        let score = found.log_probability / target.len().max(1) as f64;
        let alignment = Alignment::from_rows(source, target, &rows);
        let (link_scores, links) = self.common(&alignment, &found.forward, &found.backward);
        LinkedPair { aligned: None, alignment, link_scores, links, score, cut }
    }

    fn by_model(&self, aligned: ForcedAlignment, reversed: Option<ForcedAlignment>) -> LinkedPair {
        let of =
            |aligned: &ForcedAlignment| if self.by_units { aligned.by_units().clone() } else { aligned.by_words() };
        let alignment = of(&aligned);
        let reversed = reversed.as_ref().map(of);
        let score = aligned.mean_log_probability();
        let (link_scores, links) = match self.directions(&alignment, reversed.as_ref()) {
            None => {
                let link_scores = LinkScores::from_attention(&alignment);
                // Whoever else there may be knows nothing of this pair.
                let links = link_scores.links(self.threshold.unwrap_or(ENOUGH_BY_ATTENTION));
                (link_scores, links)
            }
            Some([forward, backward]) => self.common(&alignment, &forward, &backward),
        };
        LinkedPair { cut: aligned.cut, aligned: Some(aligned), alignment, link_scores, links, score }
    }

    /// p(t comes from s) and p(s comes from t), `[target × source]`, by all who know; none if nobody knows the second.
    fn directions(&self, alignment: &Alignment, reversed: Option<&Alignment>) -> Option<[Vec<f32>; 2]> {
        let [sources, targets] = [alignment.source().len(), alignment.target().len()];
        // Where a side was cut, the other direction may have read other words.
        let alike = |reversed: &&Alignment| [reversed.target().len(), reversed.source().len()] == [sources, targets];
        let reversed = reversed.filter(alike).map(|reversed| turned(reversed.weights(), targets));
        let attention = (!self.fixed).then(|| alignment.weights());
        match (&self.statistical, reversed) {
            (None, None) if self.fixed => Some([(); 2].map(|()| vec![0.0; sources * targets])),
            (None, None) => None,
            (None, Some(reversed)) => Some([attention.map_or_else(|| reversed.clone(), <[f32]>::to_vec), reversed]),
            (Some(_), reversed) => {
                let found = self.posteriors(alignment.source(), alignment.target());
                let both = |statistical: Vec<f32>, attention: Option<&[f32]>| match attention {
                    Some(attention) => mixed(&statistical, attention),
                    None => statistical,
                };
                Some([both(found.forward, attention), both(found.backward, reversed.as_deref())])
            }
        }
    }

    fn posteriors(&self, source: &[String], target: &[String]) -> Posteriors {
        match &self.statistical {
            Some(statistical) => statistical.posteriors(source, target),
            None => Posteriors::zeros(source.len(), target.len()),
        }
    }

    /// LinkScores and links by both directions' shares.
    fn common(&self, alignment: &Alignment, forward: &[f32], backward: &[f32]) -> (LinkScores, Vec<Link>) {
        let [sources, targets] = [alignment.source().len(), alignment.target().len()];
        let link_scores = LinkScores::from_directions(sources, forward, backward);
        let links = match self.symmetrization {
            None => link_scores.links(self.min_link_score()),
            Some(way) => {
                let threshold = self.threshold.unwrap_or(MUCH);
                let backward = links_of_rows(&turned(backward, sources), targets, threshold);
                let turned = |link: Link| Link { source: link.target, target: link.source };
                let backward: Vec<Link> = backward.into_iter().map(turned).collect();
                way.links(&links_of_rows(forward, sources, threshold), &backward)
            }
        };
        (link_scores, links)
    }
}

/// The links of each row's word; what a row lacks of 1 is the share of nothing.
fn links_of_rows(values: &[f32], columns: usize, threshold: f32) -> Vec<Link> {
    let rows = values.chunks_exact(columns.max(1)).enumerate();
    let links = rows.flat_map(|(target, row)| {
        linked_sources(row, 1.0 - row.iter().sum::<f32>(), threshold).map(move |source| Link { source, target })
    });
    links.collect()
}

/// A matrix of rows of `columns` numbers, column by column.
fn turned(values: &[f32], columns: usize) -> Vec<f32> {
    let rows = values.len() / columns.max(1);
    (0..values.len()).map(|cell| values[cell % rows * columns + cell / rows]).collect()
}

fn mixed(statistical: &[f32], attention: &[f32]) -> Vec<f32> {
    let mix = |(statistical, attention): (&f32, &f32)| (STATISTICAL * statistical + attention) / (STATISTICAL + 1.0);
    statistical.iter().zip(attention).map(mix).collect()
}

/// Learns the statistical aligner from pairs. Words are the same if they are so in a normalization `form`.
pub fn learn_aligner(pairs: &[Pair], form: NormalForm, reporter: &dyn Reporter) -> WordAligner {
    let stage = Mutex::new(reporter.stage("learning word alignments", Some(aligner::EM_ITERATIONS * pairs.len())));
    aligner::train(pairs, form, &|count| {
        if let Ok(mut stage) = stage.lock() {
            stage.advance(count);
        }
    })
}
