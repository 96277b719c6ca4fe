//! Word links of sentence pairs from posterior attention, a statistical aligner and a reverse model.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use anyhow::{Result, bail};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{ForcedAlignment, Translator};
use crate::aligner::{self, Posteriors, WordAligner};
use crate::alignment::{
    Alignment, Link, LinkFormat, LinkScores, NoiseFeatures, QualityEstimate, Symmetrization, attention_directions,
    linked_sources,
};
use crate::attention::InferenceOverrides;
use crate::checkpoint::ModelDir;
use crate::error::usage;
use crate::reporter::{Reporter, Silent};
use crate::text::{NormalForm, Pair, WordSplitting, word_spans};

/// Default threshold.
const THRESHOLD: f32 = 0.3;
/// Default threshold of the statistical aligner alone. It is low because the aligner is sure of most of its links.
const ALIGNER_THRESHOLD: f32 = 0.1;
/// Default threshold of attention alone.
const ATTENTION_THRESHOLD: f32 = 0.45;
/// Default threshold of a single direction for symmetrization.
const DIRECTION_THRESHOLD: f32 = 0.4;

/// Maximum words of a side that a statistical aligner links without a model. Time and memory are quadratic in the length.
pub const MAX_LINKED_WORDS: usize = 2000;

/// Source of link scores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub enum LinksFrom {
    /// Posterior attention, combined with the model's statistical aligner if there is one.
    #[default]
    Auto,
    /// Posterior attention only.
    Attention,
    /// The model's statistical aligner (HMM) only.
    Hmm,
    /// A statistical aligner trained on the given pairs only; needs no model.
    Pairs,
}

impl LinksFrom {
    /// True if attention is used.
    pub fn uses_attention(self) -> bool {
        matches!(self, Self::Auto | Self::Attention)
    }
}

/// Direction of links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub enum LinkDirection {
    /// Each target word with its most probable source word, or with none.
    Forward,
    /// Each source word with its most probable target word, or with none.
    Backward,
    /// Words that both directions link.
    #[default]
    Both,
}

/// Directory of a saved statistical aligner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AlignerSource {
    /// Model directory, whose model must match the aligner.
    Model(PathBuf),
    /// Any directory with an aligner.
    Directory(PathBuf),
}

impl AlignerSource {
    fn path(&self) -> &Path {
        let (Self::Model(path) | Self::Directory(path)) = self;
        path
    }

    fn load(&self) -> Result<Option<Arc<WordAligner>>> {
        let dir = ModelDir::new(self.path());
        let aligner = match self {
            Self::Directory(_) => Some(dir.load_aligner_alone()?),
            Self::Model(_) => dir.load_aligner(&dir.load()?)?,
        };
        Ok(aligner.map(Arc::new))
    }
}

/// Options of linking.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub struct LinkOptions {
    /// Source of word links; translate takes only auto and attention.
    #[cfg_attr(feature = "cli", arg(help_heading = "Links", long, value_enum, default_value_t = LinksFrom::Auto))]
    pub links_from: LinksFrom,

    /// Model of the opposite direction; both models must support a link.
    #[cfg_attr(feature = "cli", arg(help_heading = "Links", long, value_name = "DIR"))]
    #[serde(skip)]
    pub reverse_model: Option<PathBuf>,

    /// Symmetrize the links of both directions, instead of thresholding their joint scores.
    #[cfg_attr(
        feature = "cli",
        arg(help_heading = "Links", id = "symmetrize", long = "symmetrize", value_enum, value_name = "WAY")
    )]
    #[serde(rename = "symmetrize")]
    pub symmetrization: Option<Symmetrization>,

    /// Minimum score of a link [default: 0.3; 0.1 without attention; 0.45 with attention only; 0.4 with --symmetrize or
    /// --direction].
    #[cfg_attr(feature = "cli", arg(help_heading = "Links", long, value_name = "W"))]
    pub threshold: Option<f32>,

    /// Word splitting [default: whitespace; single characters on a side with char or letter tokens].
    #[cfg_attr(feature = "cli", arg(help_heading = "Links", long, value_enum))]
    pub words: Option<WordSplitting>,

    /// Saved statistical aligner; by default the translator's.
    #[cfg_attr(feature = "cli", arg(skip))]
    #[serde(skip)]
    pub aligner: Option<AlignerSource>,

    /// Directory of an aligner or a model whose aligner is the prior of the one trained on the given pairs.
    #[cfg_attr(feature = "cli", arg(skip))]
    #[serde(skip)]
    pub prior: Option<PathBuf>,

    /// Direction of the links.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub direction: LinkDirection,

    /// Links tokens instead of words.
    #[cfg_attr(feature = "cli", arg(skip))]
    #[serde(rename = "tokens")]
    pub by_tokens: bool,
}

impl LinkOptions {
    /// Checks that the options are valid and compatible.
    ///
    /// # Errors
    /// A [`UsageError`](crate::error::UsageError) names an option by its name on the command line.
    pub fn check(&self) -> Result<()> {
        if let Some(threshold) = self.threshold.filter(|threshold| !(0.0..=1.0).contains(threshold)) {
            return usage(format!("--threshold must be between 0 and 1, not {threshold}"));
        }
        if !self.links_from.uses_attention() && (self.by_tokens || self.reverse_model.is_some()) {
            return usage("--tokens and --reverse-model need attention: omit --links-from");
        }
        if self.prior.is_some() && self.links_from != LinksFrom::Pairs {
            return usage("--prior needs --links-from pairs");
        }
        if self.direction != LinkDirection::Both && self.symmetrization.is_some() {
            return usage("--symmetrize needs both directions: omit --direction");
        }
        Ok(())
    }

    /// Loads the reverse model, if there is one.
    fn load_reverse(&self, translator: &Translator) -> Result<Option<Translator>> {
        let Some(path) = &self.reverse_model else { return Ok(None) };
        let reverse = Translator::load_on(path, translator.device())?
            .with_overrides(&InferenceOverrides::default(), self.words)?;
        check_reverse(translator, &reverse, self.by_tokens)?;
        Ok(Some(reverse))
    }

    /// Loads or trains the statistical aligner, if it is used.
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
            LinksFrom::Auto if self.by_tokens => Ok(None),
            LinksFrom::Auto => saved(),
            LinksFrom::Hmm => match saved()? {
                Some(aligner) => Ok(Some(aligner)),
                None => self.missing_aligner(translator),
            },
            LinksFrom::Pairs => {
                let prior = self.prior.as_ref().map(|path| ModelDir::new(path).load_aligner_alone()).transpose()?;
                let form = translator.map_or(NormalForm::Nfc, |translator| translator.config().text.normalization.form);
                Ok(Some(Arc::new(learn_aligner(pairs, form, prior.as_ref(), reporter))))
            }
        }
    }

    fn missing_aligner<T>(&self, translator: Option<&Translator>) -> Result<T> {
        let Some(path) = self.aligner.as_ref().map(AlignerSource::path).or(translator.map(Translator::path)) else {
            return usage("--links-from hmm needs a model or --aligner");
        };
        bail!(
            "{}: no statistical aligner here (aligner.safetensors is missing); use --links-from pairs, or train the model \
             again, unless one of its sides is split into characters",
            path.display()
        )
    }
}

/// Rejects a reverse model whose vocabularies do not match those of the model.
fn check_reverse(translator: &Translator, reverse: &Translator, by_tokens: bool) -> Result<()> {
    const MIN_LIKENESS: f64 = 0.25;
    let path = reverse.path().display();
    let (model, reverse) = (translator.checkpoint(), reverse.checkpoint());
    if by_tokens && !model.has_swapped_vocabulary(reverse)? {
        return usage(format!("--reverse-model {path}: --tokens needs the same vocabularies as the model, swapped"));
    }
    for (their_side, theirs, our_side, ours) in
        [("source", &reverse.source, "target", &model.target), ("target", &reverse.target, "source", &model.source)]
    {
        if ours.likeness(theirs).is_some_and(|likeness| likeness < MIN_LIKENESS) {
            return usage(format!(
                "--reverse-model {path}: its {their_side} language differs from the model's {our_side} language; name a \
                 model that translates the other way"
            ));
        }
    }
    Ok(())
}

/// Linker of sentence pairs. Without attention there must be a statistical aligner.
#[derive(Clone, Default)]
pub struct Linker {
    /// True if attention is used.
    pub attention: bool,
    /// True if attention does not depend on the query and cannot link.
    pub fixed: bool,
    /// Model that aligns pairs, if attention is used.
    pub translator: Option<Translator>,
    /// Statistical aligner, if it is used.
    pub statistical: Option<Arc<WordAligner>>,
    /// Model of the opposite direction, if there is one.
    pub reverse: Option<Translator>,
    /// Symmetrization heuristic; by default the directions' scores are combined.
    pub symmetrization: Option<Symmetrization>,
    /// Direction of the links.
    pub direction: LinkDirection,
    /// Minimum score of a link, if given.
    pub threshold: Option<f32>,
    /// Word splitting of the source and of the target.
    pub words: [WordSplitting; 2],
    /// True to link tokens instead of words.
    pub by_tokens: bool,
}

/// Sentence pair with its links.
pub struct LinkedPair {
    /// Forced alignment, if a model read the pair.
    pub aligned: Option<ForcedAlignment>,
    /// Attention between words or tokens; without a model, the aligner's p(t from s), with the probability of null last.
    pub alignment: Alignment,
    /// Score of each possible link.
    pub link_scores: LinkScores,
    /// Links.
    pub links: Vec<Link>,
    /// Mean log-probability of a target token, or without a model of a target word, in nats.
    pub score: f64,
    /// True if a side was truncated.
    pub cut: bool,
    /// Estimated quality of the target, if the model is calibrated.
    pub estimate: Option<QualityEstimate>,
}

impl LinkedPair {
    /// Returns the links whose score reaches a threshold, without symmetrization.
    pub fn links_above(&self, threshold: f32) -> Vec<Link> {
        self.link_scores.links(threshold)
    }

    /// Returns the noise features of the pair.
    pub fn noise_features(&self) -> NoiseFeatures {
        let linked = |side: fn(&Link) -> usize| self.links.iter().map(side).collect::<BTreeSet<usize>>().len();
        let words = [self.alignment.source().len(), self.alignment.target().len()];
        NoiseFeatures::new(self.score, words, [linked(|link| link.source), linked(|link| link.target)])
    }

    /// Returns the links in the format of fast_align and Moses: `s-t` with words counted from 0, in order.
    pub fn pharaoh(&self) -> String {
        LinkFormat::default().format_line(&self.links)
    }
}

impl Linker {
    /// Returns the linker of a model with default options.
    ///
    /// # Errors
    /// The aligner's file is damaged.
    pub fn from_model(translator: &Translator) -> Result<Self> {
        Self::with_options(&LinkOptions::default(), Some(translator), &[], &Silent)
    }

    /// Returns the linker that the options describe. With [`LinksFrom::Pairs`], trains a statistical aligner on `pairs`.
    ///
    /// # Errors
    /// The options are invalid or do not fit the model; a model or an aligner cannot be read.
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
            return Ok(Self::without_model(options.statistical_aligner(None, pairs, reporter)?, options));
        };
        let mechanism = &translator.config().architecture.attention;
        if mechanism.is_fixed() && options.links_from == LinksFrom::Attention {
            return usage(format!(
                "{}: a model without attention ({mechanism}) has no links; omit --links-from or use --links-from pairs",
                translator.path().display()
            ));
        }
        let reverse = options.load_reverse(translator)?;
        let statistical = options.statistical_aligner(Some(translator), pairs, reporter)?;
        Ok(Self {
            attention,
            fixed: mechanism.is_fixed(),
            translator: attention.then(|| translator.clone()),
            statistical,
            reverse,
            symmetrization: options.symmetrization,
            direction: options.direction,
            threshold: options.threshold,
            words: translator.words(),
            by_tokens: options.by_tokens,
        })
    }

    /// Returns the linker of a statistical aligner, with options that were checked.
    pub(super) fn without_model(statistical: Option<Arc<WordAligner>>, options: &LinkOptions) -> Self {
        Self {
            statistical,
            symmetrization: options.symmetrization,
            direction: options.direction,
            threshold: options.threshold,
            words: [options.words.unwrap_or_default(); 2],
            ..Self::default()
        }
    }

    /// Minimum score of a link.
    pub fn min_link_score(&self) -> f32 {
        if self.direction != LinkDirection::Both {
            return self.direction_threshold();
        }
        let others = self.statistical.is_some() || self.reverse.is_some();
        self.threshold.unwrap_or(match (self.attention && !self.fixed, others) {
            (true, true) => THRESHOLD,
            (true, false) => ATTENTION_THRESHOLD,
            (false, _) => ALIGNER_THRESHOLD,
        })
    }

    /// Minimum probability of a further link of a word in a single direction.
    fn direction_threshold(&self) -> f32 {
        self.threshold.unwrap_or(DIRECTION_THRESHOLD)
    }

    /// Links pairs.
    ///
    /// # Errors
    /// A model fails.
    pub fn link(&self, pairs: &[Pair], on_progress: &mut dyn FnMut(usize)) -> Result<Vec<LinkedPair>> {
        let Some(translator) = &self.translator else {
            let linked = pairs.par_iter().map(|pair| self.link_by_aligner(pair)).collect();
            on_progress(pairs.len());
            return Ok(linked);
        };
        self.link_aligned(translator.align_batch(pairs, on_progress)?, pairs)
    }

    /// Links pairs with their forced alignments, in the same order. Posterior attention that they lack is computed.
    ///
    /// # Errors
    /// A model fails.
    pub fn link_aligned(&self, mut aligned: Vec<ForcedAlignment>, pairs: &[Pair]) -> Result<Vec<LinkedPair>> {
        if let Some(translator) = &self.translator {
            translator.add_posteriors(&mut aligned)?;
        }
        let swapped = |pair: &Pair| Pair { source: pair.target.clone(), target: pair.source.clone() };
        let reversed = match &self.reverse {
            Some(reverse) => {
                let swapped: Vec<Pair> = pairs.iter().map(swapped).collect();
                reverse.align_batch(&swapped, &mut |_| {})?.into_iter().map(Some).collect()
            }
            None => vec![None; aligned.len()],
        };
        let link = |(aligned, reversed)| self.link_by_attention(aligned, reversed);
        aligned.into_par_iter().zip(reversed).map(link).collect()
    }

    fn link_by_aligner(&self, pair: &Pair) -> LinkedPair {
        let spans = [word_spans(&pair.source, self.words[0]), word_spans(&pair.target, self.words[1])];
        let cut = spans.iter().any(|spans| spans.len() > MAX_LINKED_WORDS);
        let words = |text: &str, spans: &[Range<usize>]| -> Vec<String> {
            spans.iter().take(MAX_LINKED_WORDS).map(|span| text[span.clone()].to_owned()).collect()
        };
        let (source, target) = (words(&pair.source, &spans[0]), words(&pair.target, &spans[1]));
        let posteriors = self.posteriors(&source, &target);
        let row = |target: usize| {
            let row = &posteriors.forward[target * source.len()..][..source.len()];
            let null = (1.0 - row.iter().sum::<f32>()).max(0.0);
            row.iter().copied().chain([null]).collect()
        };
        let rows: Vec<Vec<f32>> = (0..target.len()).map(row).collect();
        let score = posteriors.log_probability / target.len().max(1) as f64;
        let alignment = Alignment::from_rows(source, target, &rows);
        let (link_scores, links) = self.combine(&alignment, &posteriors.forward, &posteriors.backward);
        LinkedPair { aligned: None, alignment, link_scores, links, score, cut, estimate: None }
    }

    fn link_by_attention(&self, aligned: ForcedAlignment, reversed: Option<ForcedAlignment>) -> Result<LinkedPair> {
        let posteriors_of = |aligned: &ForcedAlignment| {
            if self.by_tokens { aligned.posteriors_by_tokens().clone() } else { aligned.posteriors_by_words() }
        };
        let alignment = if self.by_tokens { aligned.by_tokens().clone() } else { aligned.by_words() };
        let reversed = reversed.as_ref().map(posteriors_of);
        let score = aligned.mean_log_probability();
        let [forward, backward] = self.directions(&posteriors_of(&aligned), reversed.as_ref());
        let (link_scores, links) = self.combine(&alignment, &forward, &backward);
        let translator = self.translator.as_ref().filter(|_| !self.by_tokens);
        let estimate = translator.map_or(Ok(None), |translator| translator.estimate_quality(&aligned))?;
        Ok(LinkedPair { cut: aligned.cut, aligned: Some(aligned), alignment, link_scores, links, score, estimate })
    }

    /// p(t from s) and p(s from t), both `[target × source]`: those of attention, of the statistical aligner, or their mean.
    fn directions(&self, attention: &Alignment, reversed: Option<&Alignment>) -> [Vec<f32>; 2] {
        let [sources, targets] = [attention.source().len(), attention.target().len()];
        // The directions may truncate differently.
        let fits = |reversed: &&Alignment| [reversed.target().len(), reversed.source().len()] == [sources, targets];
        let reversed = reversed.filter(fits).map(|reversed| transposed(reversed.weights(), targets));
        let attended = match reversed {
            _ if self.fixed => None,
            Some(reversed) => Some([attention.weights().to_vec(), reversed]),
            None => Some(attention_directions(attention)),
        };
        let statistical = self.statistical.as_ref().map(|statistical| {
            let Posteriors { forward, backward, .. } = statistical.posteriors(attention.source(), attention.target());
            [forward, backward]
        });
        match (attended, statistical) {
            (Some([forward, backward]), Some([one, other])) => [mean(&forward, &one), mean(&backward, &other)],
            (Some(directions), None) | (None, Some(directions)) => directions,
            (None, None) => [(); 2].map(|()| vec![0.0; sources * targets]),
        }
    }

    fn posteriors(&self, source: &[String], target: &[String]) -> Posteriors {
        match &self.statistical {
            Some(statistical) => statistical.posteriors(source, target),
            None => Posteriors::zeros(source.len(), target.len()),
        }
    }

    /// Link scores and links from both directions, or from the only one that is requested.
    fn combine(&self, alignment: &Alignment, forward: &[f32], backward: &[f32]) -> (LinkScores, Vec<Link>) {
        let [sources, targets] = [alignment.source().len(), alignment.target().len()];
        let threshold = self.direction_threshold();
        let forward_links = || links_of_rows(forward, sources, threshold);
        let backward_links = || {
            let links = links_of_rows(&transposed(backward, sources), targets, threshold).into_iter();
            links.map(|link| Link { source: link.target, target: link.source }).collect::<Vec<Link>>()
        };
        let scores = |one: &[f32], other: &[f32]| LinkScores::from_directions(sources, one, other);
        let sorted = |mut links: Vec<Link>| {
            links.sort_unstable();
            links
        };
        match (self.direction, self.symmetrization) {
            (LinkDirection::Forward, _) => (scores(forward, forward), sorted(forward_links())),
            (LinkDirection::Backward, _) => (scores(backward, backward), sorted(backward_links())),
            (LinkDirection::Both, Some(heuristic)) => {
                (scores(forward, backward), heuristic.links(&forward_links(), &backward_links()))
            }
            (LinkDirection::Both, None) => {
                let scores = scores(forward, backward);
                let links = scores.links(self.min_link_score());
                (scores, links)
            }
        }
    }
}

/// Links of each row; the rest of its probability is that of null.
fn links_of_rows(values: &[f32], columns: usize, threshold: f32) -> Vec<Link> {
    let rows = values.chunks_exact(columns.max(1)).enumerate();
    let links = rows.flat_map(|(target, row)| {
        linked_sources(row, 1.0 - row.iter().sum::<f32>(), threshold).map(move |source| Link { source, target })
    });
    links.collect()
}

fn transposed(values: &[f32], columns: usize) -> Vec<f32> {
    let rows = values.len() / columns.max(1);
    (0..values.len()).map(|cell| values[cell % rows * columns + cell / rows]).collect()
}

fn mean(one: &[f32], other: &[f32]) -> Vec<f32> {
    one.iter().zip(other).map(|(one, other)| (one + other) / 2.0).collect()
}

/// Trains a statistical aligner on pairs whose words are compared in normalization `form`, or in that of the prior.
pub fn learn_aligner(
    pairs: &[Pair],
    form: NormalForm,
    prior: Option<&WordAligner>,
    reporter: &dyn Reporter,
) -> WordAligner {
    let stage = Mutex::new(reporter.stage("learning word alignments", Some(aligner::EM_ITERATIONS * pairs.len())));
    let on_progress = |count| {
        if let Ok(mut stage) = stage.lock() {
            stage.advance(count);
        }
    };
    match prior {
        None => aligner::train(pairs, form, &on_progress),
        Some(prior) => aligner::train_with_prior(pairs, prior, &on_progress),
    }
}
