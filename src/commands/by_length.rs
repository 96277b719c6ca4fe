//! Scores by the length of the source, as a table, as JSON and as a figure.

use std::io::Write;

use anyhow::{Result, ensure};
use serde::Serialize;

use crate::alignment::{AerCounts, AlignmentMetrics, Gold, Link};
use crate::metrics::{LengthBucket, Scores, length_buckets, perplexity, translation_edit_rate};
use crate::render::readable;
use crate::render::{Axis, Bracket, BracketCounts, Figure, Series};
use crate::text::{Pair, Words, word_spans};

/// What a model made of one pair.
#[derive(Clone, Copy)]
pub struct Outcome<'a> {
    /// The model's translation.
    pub translation: &'a str,
    /// That of the pair.
    pub reference: &'a str,
    /// Log-probability of the reference, in nats, and its units, its end included; where there is a model.
    pub likelihood: Option<(f64, usize)>,
    /// The links found and those that there should be, where these are known.
    pub links: Option<(&'a [Link], &'a Gold)>,
}

/// How good translations of some pairs are.
#[derive(Serialize)]
pub struct Measures {
    pub pairs: usize,
    #[serde(flatten)]
    pub scores: Scores,
    /// Translation edit rate, in percent.
    pub ter: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub perplexity: Option<f64>,
}

impl Measures {
    /// Of all these together.
    pub fn of(outcomes: &[Outcome]) -> Self {
        let translations: Vec<&str> = outcomes.iter().map(|outcome| outcome.translation).collect();
        let references: Vec<&str> = outcomes.iter().map(|outcome| outcome.reference).collect();
        let likelihoods: Option<Vec<(f64, usize)>> = outcomes.iter().map(|outcome| outcome.likelihood).collect();
        let sums = |all: Vec<(f64, usize)>| all.into_iter().fold((0.0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        Self {
            pairs: outcomes.len(),
            scores: Scores::compute(&translations, &references),
            ter: translation_edit_rate(&translations, &references),
            perplexity: likelihoods.map(sums).map(|(log_probability, units)| perplexity(-log_probability, units)),
        }
    }
}

/// How good translations of sources of some lengths are.
#[derive(Serialize)]
pub struct ClassMeasures {
    #[serde(flatten)]
    class: LengthBucket,
    /// Words of a source, as the mean over the class.
    mean_length: f64,
    #[serde(flatten)]
    measures: Measures,
    #[serde(flatten)]
    agreement: Option<AlignmentMetrics>,
}

/// Pairs sorted into classes by the number of words in their sources.
pub struct Lengths {
    /// Words of each pair's source.
    words: Vec<usize>,
    classes: Vec<LengthBucket>,
}

impl Lengths {
    /// Classes chosen from the pairs, the same for every model.
    ///
    /// # Errors
    /// If there is no word in any source.
    pub fn of(pairs: &[Pair]) -> Result<Self> {
        // The text's own words, whatever is linked.
        let words: Vec<usize> = pairs.iter().map(|pair| word_spans(&pair.source, Words::Whitespace).len()).collect();
        ensure!(words.iter().any(|&length| length > 0), "no source has a word, so there are no scores by length");
        Ok(Self { classes: length_buckets(&words), words })
    }

    /// The measures of each class; one outcome for each pair.
    pub fn measures(&self, outcomes: &[Outcome]) -> Vec<ClassMeasures> {
        self.classes.iter().map(|&class| self.measures_of(class, outcomes)).collect()
    }

    fn measures_of(&self, class: LengthBucket, outcomes: &[Outcome]) -> ClassMeasures {
        let members = self.words.iter().zip(outcomes).filter(|(words, _)| class.contains(**words));
        let (words, outcomes): (Vec<usize>, Vec<Outcome>) = members.unzip();
        ClassMeasures {
            class,
            mean_length: words.iter().sum::<usize>() as f64 / words.len().max(1) as f64,
            measures: Measures::of(&outcomes),
            agreement: agreement(&outcomes),
        }
    }
}

/// How well links agree with those that there should be; none where these are not known.
fn agreement(outcomes: &[Outcome]) -> Option<AlignmentMetrics> {
    let mut counts = AerCounts::default();
    for outcome in outcomes {
        let (links, gold) = outcome.links?;
        counts.add(links, gold);
    }
    Some(counts.metrics())
}

/// Writes the table for one model.
///
/// # Errors
/// The writer's own.
pub fn print(out: &mut dyn Write, classes: &[ClassMeasures]) -> std::io::Result<()> {
    let perplexity = if classes.iter().any(|class| class.measures.perplexity.is_some()) { "  perplexity" } else { "" };
    let aer = if classes.iter().any(|class| class.agreement.is_some()) { "     AER" } else { "" };
    writeln!(out, "source words      pairs     BLEU     chrF  exact match{perplexity}{aer}")?;
    for ClassMeasures { class, measures, agreement, .. } in classes {
        let Measures { pairs, scores, .. } = measures;
        write!(out, "{:<14} {pairs:>8} {:>8.2} {:>8.2}", named(*class), scores.bleu, scores.chrf)?;
        write!(out, " {:>10.2} %", scores.exact_match)?;
        if let Some(perplexity) = measures.perplexity {
            write!(out, " {:>11}", readable(perplexity, 2))?;
        }
        if let Some(agreement) = agreement {
            write!(out, " {:>7.3}", agreement.aer)?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// A class by its ends, or by its one length.
fn named(class: LengthBucket) -> String {
    if class.from == class.to { class.to.to_string() } else { format!("{}-{}", class.from, class.to) }
}

/// BLEU by length, a line for each model, which comes with its name; the numbers of pairs stand below.
pub fn figure(models: &[(&str, &[ClassMeasures])]) -> Figure {
    let point = |class: &ClassMeasures| [class.mean_length, class.measures.scores.bleu];
    let line = |(name, classes): &(&str, &[ClassMeasures])| Series {
        name: (*name).to_owned(),
        points: classes.iter().map(point).collect(),
    };
    let span =
        |class: &ClassMeasures| Bracket { from: class.class.from, to: class.class.to, count: class.measures.pairs };
    let classes = models.first().map_or(&[][..], |(_, classes)| classes);
    Figure {
        x: Axis { label: "words in the source".to_owned(), whole: true },
        y: Axis { label: "BLEU".to_owned(), whole: false },
        series: models.iter().map(line).collect(),
        counts: Some(BracketCounts { label: "pairs".to_owned(), brackets: classes.iter().map(span).collect() }),
    }
}
