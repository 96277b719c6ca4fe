//! Sufficient statistics: per-segment counts that are summed over a corpus before a score is taken.

/// Additive counts from which a corpus score is computed.
pub trait SufficientStats: Copy + Default + Send + Sync {
    /// Adds the statistics of other segments.
    fn add(&mut self, other: &Self);

    /// Corpus score in percent.
    #[must_use]
    fn score(&self) -> f64;
}

/// Pairs each hypothesis with its reference.
pub(super) fn segments<'a>(
    hypotheses: &'a [impl AsRef<str>],
    references: &'a [impl AsRef<str>],
) -> impl Iterator<Item = (&'a str, &'a str)> {
    debug_assert_eq!(hypotheses.len(), references.len(), "every hypothesis needs exactly one reference");
    hypotheses.iter().zip(references).map(|(hypothesis, reference)| (hypothesis.as_ref(), reference.as_ref()))
}

/// Returns the statistics of a corpus, given a function that returns those of a segment.
pub(super) fn corpus_stats<S: SufficientStats>(
    hypotheses: &[impl AsRef<str>],
    references: &[impl AsRef<str>],
    of_segment: impl Fn(&str, &str) -> S,
) -> S {
    let mut stats = S::default();
    segments(hypotheses, references).for_each(|(a, b)| stats.add(&of_segment(a, b)));
    stats
}

/// `part / whole`; 0 if `whole` is 0.
pub(super) fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 {
        return 0.0;
    }
    as_float(part) / as_float(whole)
}

#[allow(clippy::cast_precision_loss, reason = "counts of tokens stay far below 2^53")]
pub(super) fn as_float(count: usize) -> f64 {
    count as f64
}
