//! Quality of a trained model in plain words: what to expect on other text, and what would improve it.

use anyhow::Result;

use super::unseen_words::{UnseenShares, UnseenWords, words};
use crate::metrics::{
    BleuStats, BleuTokenizer, ChrfStats, EditStats, SufficientStats, confidence, perplexity, unedited,
};
use crate::text::{FilterLimits, NoiseKind, Pair, are_single_words, defects};
use crate::training::{Metric, is_guessing};
use crate::translator::{ForcedScore, Translation, Translator};

/// Number of training pairs that the model is measured on for comparison.
const KNOWN_PAIRS: usize = 500;
/// Number of training pairs whose damage is counted.
const CHECKED_PAIRS: usize = 10_000;
/// Longest accepted length ratio of a pair, as for `clean`.
const MAX_PROPORTION: f64 = 3.0;
/// Minimum number of held-out pairs that say anything about other text.
const MIN_HELD_OUT: usize = 10;
/// Quantile of the normal distribution that bounds 95 % of it.
const QUANTILE: f64 = 1.96;
/// Difference of the losses on new and on known pairs above which more pairs help more than more training, in nats per token.
const MEMORIZED: f64 = 0.5;
/// Share of damaged training pairs above which cleaning helps.
const DAMAGED: f64 = 0.02;
/// Share of running words that were not seen in training, above which they are worth a word.
const MANY_UNSEEN: f64 = 0.01;

/// Part of the training pairs that explains the quality of the model.
pub(super) struct TrainingExtract {
    /// Some of the pairs.
    known: Vec<Pair>,
    unseen: UnseenWords,
    /// Share of the pairs that look damaged.
    damaged: f64,
}

/// End of a training, as far as it tells about the model's quality.
pub(super) struct TrainingEnd {
    /// Metric that chose the model.
    pub metric: Metric,
    /// Advantage of the chosen model on the pairs that chose it, in points of the metric.
    pub selection_bias: f64,
    /// Perplexity of guessing on the held-out pairs.
    pub unigram_perplexity: f64,
    /// The last validation has the lowest loss.
    pub is_improving: bool,
    /// The time limit ended it.
    pub is_out_of_time: bool,
}

/// Quality of a trained model, measured by pairs that it was not trained on.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelQuality {
    /// Metric that chose the model.
    metric: Metric,
    /// Score on other text, in percent.
    estimate: Estimate,
    /// Correction contained in it.
    selection_bias: f64,
    pairs: usize,
    /// Number of translations that equal their reference.
    equal: usize,
    /// Share of the translations' words that a minimum of edits keeps.
    right_words: f64,
    /// True if the sides are single words.
    single_words: bool,
    /// Share of the references' words that translations lack and that no training pair has; none in characters.
    unseen_among_missing: Option<f64>,
    /// None in characters.
    unseen_sources: Option<UnseenShares>,
    /// Perplexities of held-out pairs, of training pairs, and of guessing.
    perplexity: Perplexities,
    damaged: f64,
    is_improving: bool,
    is_out_of_time: bool,
}

/// Score with the limits of its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Estimate {
    score: f64,
    low: f64,
    high: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Perplexities {
    new: f64,
    known: f64,
    guessing: f64,
}

impl TrainingExtract {
    /// Extracts what is needed of the training pairs to compare them with the held-out ones.
    pub fn new(training: &[Pair], held_out: &[Pair]) -> Self {
        let limits = FilterLimits { words: usize::MAX, proportion: MAX_PROPORTION };
        let accepted = [NoiseKind::Duplicate].into();
        let checked = evenly_spaced(training, CHECKED_PAIRS);
        let damaged = defects(&checked, limits, &accepted).iter().filter(|defect| defect.is_some()).count();
        Self {
            known: evenly_spaced(training, KNOWN_PAIRS),
            unseen: UnseenWords::new(training, held_out),
            damaged: damaged as f64 / checked.len().max(1) as f64,
        }
    }
}

/// Returns at most `count` of the pairs, evenly spaced.
fn evenly_spaced(pairs: &[Pair], count: usize) -> Vec<Pair> {
    let count = count.min(pairs.len());
    (0..count).map(|number| pairs[number * pairs.len() / count].clone()).collect()
}

impl ModelQuality {
    /// Measures a model by its translations of held-out pairs. None if there are too few.
    ///
    /// # Errors
    /// The model's scores are not finite.
    pub(super) fn measure(
        translator: &Translator,
        held_out: &[Pair],
        translations: &[Translation],
        extract: &TrainingExtract,
        end: &TrainingEnd,
    ) -> Result<Option<Self>> {
        if held_out.len() < MIN_HELD_OUT {
            return Ok(None);
        }
        let text = &translator.config().text;
        let references: Vec<String> =
            held_out.iter().map(|pair| text.normalization.apply(&pair.target).into_owned()).collect();
        let segments: Vec<Segment> = translations
            .iter()
            .zip(&references)
            .map(|(translation, reference)| Segment { translation: &translation.text, reference })
            .collect();
        let is_in_words = !text.has_character_tokens();
        let single_words =
            are_single_words(held_out.iter().map(|pair| text.source_protected_tokens.remove_from(&pair.source)));
        Ok(Some(Self {
            metric: end.metric,
            estimate: estimate(&segments, single_words, end),
            selection_bias: end.selection_bias,
            pairs: held_out.len(),
            equal: segments.iter().filter(|segment| segment.translation == segment.reference).count(),
            right_words: right_words(&segments),
            single_words,
            unseen_among_missing: is_in_words.then(|| unseen_among_missing(&segments, &extract.unseen)),
            unseen_sources: is_in_words
                .then(|| extract.unseen.source_shares(held_out.iter().map(|pair| &*pair.source))),
            perplexity: Perplexities {
                new: corpus_perplexity(&translator.score_batch(held_out, &mut |_| {})?),
                known: corpus_perplexity(&translator.score_batch(&extract.known, &mut |_| {})?),
                guessing: end.unigram_perplexity,
            },
            damaged: extract.damaged,
            is_improving: end.is_improving,
            is_out_of_time: end.is_out_of_time,
        }))
    }
}

/// Translation with its reference.
struct Segment<'a> {
    translation: &'a str,
    reference: &'a str,
}

/// Estimates the score on other text. `single_words` is true if every source is a single word.
fn estimate(segments: &[Segment], single_words: bool, end: &TrainingEnd) -> Estimate {
    let references: Vec<&str> = segments.iter().map(|segment| segment.reference).collect();
    let tokenizer = BleuTokenizer::for_references(&references);
    let estimate = match end.metric {
        Metric::Bleu | Metric::Perplexity => {
            interval(segments, |text, reference| BleuStats::of_segment(text, reference, tokenizer)).as_ratio()
        }
        Metric::Chrf => interval(segments, ChrfStats::of_segment),
        Metric::ExactMatch => interval(segments, EditStats::of_whole).complement(),
        Metric::Wer if single_words => interval(segments, EditStats::of_whole),
        Metric::Wer => interval(segments, EditStats::of_words),
    };
    let bias = if end.metric == Metric::Wer { -end.selection_bias } else { end.selection_bias };
    estimate.lowered_by(bias)
}

/// Returns the score of translations with its 95 % confidence interval: that of the bootstrap, widened for few segments as
/// Student's t distribution is wider than the normal one.
fn interval<C: SufficientStats>(segments: &[Segment], stats: impl Fn(&str, &str) -> C) -> Estimate {
    let stats: Vec<C> = segments.iter().map(|segment| stats(segment.translation, segment.reference)).collect();
    let mut sum = C::default();
    stats.iter().for_each(|segment| sum.add(segment));
    let half_width = confidence(&stats, 1).half_width * small_sample_factor(stats.len());
    let score = sum.score();
    Estimate { score, low: score - half_width, high: score + half_width }
}

/// Returns the ratio of the intervals by Student's t and by the normal distribution, times that of the standard deviations
/// with and without Bessel's correction. t by the first terms of its Cornish-Fisher expansion.
fn small_sample_factor(segments: usize) -> f64 {
    let (z, freedom) = (QUANTILE, segments.max(2) as f64 - 1.0);
    let t = z
        + (z.powi(3) + z) / (4.0 * freedom)
        + (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * freedom.powi(2));
    t / z * ((freedom + 1.0) / freedom).sqrt()
}

impl Estimate {
    /// Makes the interval symmetric in the score's logarithm: BLEU is a geometric mean, and from few segments it is more often far
    /// too low than far too high.
    fn as_ratio(self) -> Self {
        if self.score <= 0.0 {
            return self;
        }
        let ratio = ((self.high - self.score) / self.score).exp();
        Self { score: self.score, low: self.score / ratio, high: self.score * ratio }
    }

    /// Moves the score and its interval, within 0 and 100.
    fn lowered_by(self, points: f64) -> Self {
        let Self { score, low, high } = self;
        Self {
            score: (score - points).clamp(0.0, 100.0),
            low: (low - points).clamp(0.0, 100.0),
            high: (high - points).clamp(0.0, 100.0),
        }
    }

    /// Turns an error rate into the rate of right ones.
    fn complement(self) -> Self {
        Self { score: 100.0 - self.score, low: 100.0 - self.high, high: 100.0 - self.low }
    }
}

/// Returns the share of the translations' words that a minimum number of edits to the reference keeps.
fn right_words(segments: &[Segment]) -> f64 {
    let (mut right, mut all) = (0, 0);
    for Segment { translation, reference } in segments {
        let kept = unedited(&words(translation), &words(reference));
        right += kept.iter().filter(|&&kept| kept).count();
        all += kept.len();
    }
    right as f64 / all.max(1) as f64
}

/// Returns the share, among the references' words that the translations lack, of those that no training pair has.
fn unseen_among_missing(segments: &[Segment], unseen: &UnseenWords) -> f64 {
    let (mut missing, mut never_seen) = (0, 0);
    for Segment { translation, reference } in segments {
        let mut said = words(translation);
        for word in words(reference) {
            match said.iter().position(|other| *other == word) {
                Some(position) => {
                    said.swap_remove(position);
                }
                None => {
                    missing += 1;
                    never_seen += usize::from(unseen.is_unseen_target(&word));
                }
            }
        }
    }
    never_seen as f64 / missing.max(1) as f64
}

fn corpus_perplexity(scores: &[ForcedScore]) -> f64 {
    let log_probability: f64 = scores.iter().map(ForcedScore::log_probability).sum();
    perplexity(-log_probability, scores.iter().map(|score| score.tokens).sum())
}

impl ModelQuality {
    /// True if the model learned nothing: it knows no more than how frequent words are.
    pub fn is_useless(&self) -> bool {
        is_guessing(self.perplexity.new, self.perplexity.guessing)
    }

    /// Describes what to expect on other text, and what would improve it, line by line.
    pub fn lines(&self) -> Vec<String> {
        if self.is_useless() {
            return vec![format!(
                "this model is useless: it is no better than guessing by the frequency of words (perplexity {:.0} against \
                 {:.0}); train longer, on more pairs, or with another --learning-rate",
                self.perplexity.new, self.perplexity.guessing
            )];
        }
        let mut lines = vec![self.expectation(), self.meaning()];
        lines.extend(self.unknown_words());
        lines.push(self.advice());
        if self.damaged >= DAMAGED {
            lines.push(format!(
                "also helps: cleaning; {:.0} % of the training pairs look damaged, and softalign clean lists them",
                100.0 * self.damaged
            ));
        }
        lines
    }

    /// Describes the score with its interval.
    fn expectation(&self) -> String {
        let Estimate { score, low, high } = self.estimate;
        let (before, after) = match self.metric {
            Metric::Bleu | Metric::Perplexity => ("BLEU ", ""),
            Metric::Chrf => ("chrF ", ""),
            Metric::ExactMatch => ("", " % right"),
            Metric::Wer => ("", " % of the words wrong"),
        };
        let corrected = if self.selection_bias < 0.05 {
            String::new()
        } else {
            format!(", less {:.1} because they also chose the model", self.selection_bias)
        };
        let text = if self.single_words { "other words" } else { "other text of this kind, by the same translators" };
        format!(
            "expect on {text}: {before}{score:.1}{after} (95 % confidence: {low:.1} to {high:.1}), measured on {} pairs held out \
             from training{corrected}",
            self.pairs
        )
    }

    /// Says what the score means.
    fn meaning(&self) -> String {
        let equal =
            format!("{:.0} of 100 translations equal their reference", 100.0 * self.equal as f64 / self.pairs as f64);
        if self.single_words {
            return format!("that means: {equal}");
        }
        let right = format!("{:.0} of 100 words are right and in their place", 100.0 * self.right_words);
        let usable = match self.metric {
            Metric::Bleu | Metric::Perplexity => match self.estimate.score {
                ..10.0 => "; single words come through, rarely the sense",
                10.0..20.0 => "; the topic comes through, the sense often does not",
                20.0..30.0 => "; the gist comes through, with many errors",
                30.0..50.0 => "; mostly understandable, to be corrected before use",
                _ => "; mostly good and fluent",
            },
            _ => "",
        };
        format!("that means: {right}; {equal}{usable}")
    }

    /// Says how many errors are words that were never seen.
    fn unknown_words(&self) -> Option<String> {
        let share = self.unseen_among_missing.filter(|&share| share >= MANY_UNSEEN)?;
        Some(format!("{:.0} of 100 words that the translations lack are in none of the training pairs", 100.0 * share))
    }

    /// Says what would help most.
    fn advice(&self) -> String {
        let Perplexities { new, known, .. } = self.perplexity;
        let perplexities = format!("perplexity {new:.1} on new pairs, {known:.1} on those it learned from");
        if self.is_out_of_time && self.is_improving {
            return format!(
                "would help most: more time (--resume with more --max-minutes), since the model still improved when it ran out; \
                 then more pairs ({perplexities})"
            );
        }
        if new.ln() - known.ln() < MEMORIZED {
            return format!(
                "would help most: longer training or a larger model (--max-epochs, --preset); the model could still learn its own \
                 pairs better ({perplexities})"
            );
        }
        let curve = match self.unseen_sources {
            Some(UnseenShares { all, half }) if all >= MANY_UNSEEN => format!(
                "; {:.1} % of the words to translate are in none of them, with half of the pairs {:.1} %, with twice as many \
                 probably {:.1} %",
                100.0 * all,
                100.0 * half,
                100.0 * all * all / half
            ),
            _ => String::new(),
        };
        let longer = if self.is_improving { "" } else { ", not longer training" };
        format!("would help most: more pairs{longer} ({perplexities}){curve}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quality() -> ModelQuality {
        ModelQuality {
            metric: Metric::Bleu,
            estimate: Estimate { score: 16.3, low: 12.9, high: 19.7 },
            selection_bias: 0.8,
            pairs: 100,
            equal: 4,
            right_words: 0.47,
            single_words: false,
            unseen_among_missing: Some(0.22),
            unseen_sources: Some(UnseenShares { all: 0.06, half: 0.08 }),
            perplexity: Perplexities { new: 21.0, known: 4.0, guessing: 400.0 },
            damaged: 0.0,
            is_improving: false,
            is_out_of_time: false,
        }
    }

    #[test]
    fn says_what_to_expect_and_what_would_help() {
        let lines = quality().lines();
        assert_eq!(lines.len(), 4, "{lines:?}");
        assert!(lines[0].contains("BLEU 16.3 (95 % confidence: 12.9 to 19.7)") && lines[0].contains("100 pairs"));
        assert!(lines[1].contains("47 of 100 words are right") && lines[1].contains("4 of 100 translations"));
        assert!(lines[2].starts_with("22 of 100 words"));
        assert!(
            lines[3].contains("more pairs, not longer training")
                && lines[3].contains("6.0 %")
                && lines[3].contains("4.5 %")
        );
    }

    #[test]
    fn advice_follows_from_what_was_measured() {
        let unfinished = Perplexities { known: 15.0, ..quality().perplexity };
        let timed = ModelQuality { is_improving: true, is_out_of_time: true, ..quality() };
        assert!(timed.advice().contains("--max-minutes"));
        assert!(ModelQuality { perplexity: unfinished, ..quality() }.advice().contains("larger model"));
        let damaged = ModelQuality { damaged: 0.1, ..quality() };
        assert!(damaged.lines().pop().unwrap().contains("10 % of the training pairs look damaged"));
        let useless = ModelQuality { perplexity: Perplexities { new: 390.0, ..unfinished }, ..quality() };
        assert!(useless.lines().len() == 1 && useless.lines()[0].contains("useless"));
        let words = ModelQuality { metric: Metric::ExactMatch, single_words: true, unseen_sources: None, ..quality() };
        assert!(words.lines()[0].starts_with("expect on other words: 16.3 % right"), "{:?}", words.lines());
    }

    #[test]
    fn intervals_of_bleu_reach_further_up_than_down() {
        let Estimate { score, low, high } = Estimate { score: 10.0, low: 6.0, high: 14.0 }.as_ratio();
        assert!(high - score > 4.0 && score - low < 4.0 && (high * low - score * score).abs() < 1e-9);
        let none = Estimate { score: 0.0, low: 0.0, high: 0.0 };
        assert_eq!(none.as_ratio(), none);
    }

    /// Quantiles of Student's t distribution for 9 and 99 degrees of freedom: 2.262 and 1.984.
    #[test]
    fn intervals_of_few_segments_are_wider() {
        for (segments, quantile) in [(10, 2.262), (100, 1.984)] {
            let bessel = (segments as f64 / (segments as f64 - 1.0)).sqrt();
            let expected = quantile / QUANTILE * bessel;
            assert!((small_sample_factor(segments) - expected).abs() < 0.003, "{segments}");
        }
    }
}
