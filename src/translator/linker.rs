//! Linking of sentence pairs by posterior attention, a statistical aligner and a reverse model.

use std::ops::Range;
use std::sync::Arc;

use anyhow::Result;
use rayon::prelude::*;

use super::link_directions::LinkDirections;
use super::{ForcedAlignment, LinkDirection, LinkOptions, LinkedPair, LinksFrom, Translator};
use crate::aligner::{Posteriors, WordAligner};
use crate::alignment::{Alignment, Link, LinkScores, Symmetrization};
use crate::error::usage;
use crate::reporter::{Reporter, Silent};
use crate::text::{Pair, WordSplitting, word_spans};

/// Default minimum score of a link, between 0 and 1, by attention with a statistical aligner or a reverse model.
const THRESHOLD: f32 = 0.3;
/// Default minimum score of a link by the statistical aligner alone. It is low because the aligner is sure of most of its
/// links.
const ALIGNER_THRESHOLD: f32 = 0.1;
/// Default minimum score of a link by attention alone.
const ATTENTION_THRESHOLD: f32 = 0.45;
/// Default minimum probability of a link in a single direction, as for symmetrization.
const DIRECTION_THRESHOLD: f32 = 0.4;

/// Maximum words of a side that a statistical aligner links without a model. Time and memory are quadratic in the length.
pub const MAX_LINKED_WORDS: usize = 2000;

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

/// Scores of the possible links of a pair, with the links.
struct ScoredLinks {
    scores: LinkScores,
    links: Vec<Link>,
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

    /// Links pairs. `on_progress` receives the number of pairs of each finished batch.
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
        let mut reversed = vec![None; aligned.len()];
        if let Some(reverse) = &self.reverse {
            let swapped: Vec<Pair> = pairs.iter().map(|pair| Pair::new(&*pair.target, &*pair.source)).collect();
            reversed = reverse.align_batch(&swapped, &mut |_| {})?.into_iter().map(Some).collect();
        }
        let inputs = aligned.into_par_iter().zip(reversed);
        inputs.map(|(aligned, reversed)| self.link_by_attention(aligned, reversed)).collect()
    }

    /// Links the words of a pair, at most [`MAX_LINKED_WORDS`] of each side, by the statistical aligner alone.
    fn link_by_aligner(&self, pair: &Pair) -> LinkedPair {
        let spans = [word_spans(&pair.source, self.words[0]), word_spans(&pair.target, self.words[1])];
        let cut = spans.iter().any(|spans| spans.len() > MAX_LINKED_WORDS);
        let source = linked_words(&pair.source, &spans[0]);
        let target = linked_words(&pair.target, &spans[1]);
        let shape = [source.len(), target.len()];
        let Posteriors { forward, backward, log_probability } = match &self.statistical {
            Some(aligner) => aligner.posteriors(&source, &target),
            None => Posteriors::zeros(source.len(), target.len()),
        };
        let rows = rows_with_null(&forward, shape);
        let alignment = Alignment::from_rows(source, target, &rows);
        let ScoredLinks { scores, links } = self.combine(&LinkDirections::new(shape, forward, backward));
        let score = log_probability / shape[1].max(1) as f64;
        LinkedPair { aligned: None, alignment, link_scores: scores, links, score, cut, estimate: None }
    }

    /// Links a pair by its forced alignment, and by that of the swapped pair under the reverse model, if there is one.
    fn link_by_attention(&self, aligned: ForcedAlignment, reversed: Option<ForcedAlignment>) -> Result<LinkedPair> {
        let alignment = if self.by_tokens { aligned.by_tokens().clone() } else { aligned.by_words() };
        let reversed = reversed.as_ref().map(|reversed| self.posterior_attention(reversed));
        let directions = self.directions(&self.posterior_attention(&aligned), reversed.as_ref());
        let ScoredLinks { scores, links } = self.combine(&directions);
        let translator = self.translator.as_ref().filter(|_| !self.by_tokens);
        let estimate = translator.map_or(Ok(None), |translator| translator.estimate_quality(&aligned))?;
        Ok(LinkedPair {
            score: aligned.mean_log_probability(),
            cut: aligned.cut,
            aligned: Some(aligned),
            alignment,
            link_scores: scores,
            links,
            estimate,
        })
    }

    /// Returns the posterior attention between what is linked, words or tokens, `[target × source]`.
    fn posterior_attention(&self, aligned: &ForcedAlignment) -> Alignment {
        if self.by_tokens { aligned.posteriors_by_tokens().clone() } else { aligned.posteriors_by_words() }
    }

    /// Returns the directions of attention, of the statistical aligner, or the mean of both. `reversed` is the attention of
    /// the reverse model, `[source × target]`.
    fn directions(&self, attention: &Alignment, reversed: Option<&Alignment>) -> LinkDirections {
        let shape = [attention.source().len(), attention.target().len()];
        // The models may truncate differently.
        let reversed = reversed.filter(|reversed| [reversed.target().len(), reversed.source().len()] == shape);
        let attended = (!self.fixed).then(|| LinkDirections::of_attention(attention, reversed));
        let statistical = self.statistical.as_ref().map(|aligner| {
            let Posteriors { forward, backward, .. } = aligner.posteriors(attention.source(), attention.target());
            LinkDirections::new(shape, forward, backward)
        });
        match (attended, statistical) {
            (Some(attended), Some(statistical)) => attended.mean(&statistical),
            (Some(directions), None) | (None, Some(directions)) => directions,
            (None, None) => LinkDirections::zeros(shape),
        }
    }

    /// Returns scores and links from both directions, or from the only one that is requested.
    fn combine(&self, directions: &LinkDirections) -> ScoredLinks {
        let threshold = self.direction_threshold();
        match (self.direction, self.symmetrization) {
            (LinkDirection::Forward, _) => {
                ScoredLinks { scores: directions.forward_scores(), links: sorted(directions.forward_links(threshold)) }
            }
            (LinkDirection::Backward, _) => ScoredLinks {
                scores: directions.backward_scores(),
                links: sorted(directions.backward_links(threshold)),
            },
            (LinkDirection::Both, Some(heuristic)) => {
                let links =
                    heuristic.links(&directions.forward_links(threshold), &directions.backward_links(threshold));
                ScoredLinks { scores: directions.scores(), links }
            }
            (LinkDirection::Both, None) => {
                let scores = directions.scores();
                ScoredLinks { links: scores.links(self.min_link_score()), scores }
            }
        }
    }
}

fn sorted(mut links: Vec<Link>) -> Vec<Link> {
    links.sort_unstable();
    links
}

/// Returns the words of a text that are linked: at most the first [`MAX_LINKED_WORDS`].
fn linked_words(text: &str, spans: &[Range<usize>]) -> Vec<String> {
    spans.iter().take(MAX_LINKED_WORDS).map(|span| text[span.clone()].to_owned()).collect()
}

/// Returns the rows of a matrix `[target × source]` of p(t from s), each with the probability of null after it.
fn rows_with_null(forward: &[f32], [sources, targets]: [usize; 2]) -> Vec<Vec<f32>> {
    let mut rows = Vec::with_capacity(targets);
    for target in 0..targets {
        let row = &forward[target * sources..][..sources];
        let null = (1.0 - row.iter().sum::<f32>()).max(0.0);
        rows.push([row, &[null]].concat());
    }
    rows
}
