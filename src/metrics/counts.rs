//! Segments counted one beside the other, and counts as shares.

/// What a corpus score is made of: counts that are summed over segments before they become one number.
pub trait Counts: Copy + Default + Send + Sync {
    /// Those of one segment.
    #[must_use]
    fn of(hypothesis: &str, reference: &str) -> Self;

    /// Adds those of another segment, or of many.
    fn add(&mut self, other: &Self);

    /// The score, in percent.
    #[must_use]
    fn score(&self) -> f64;
}

/// Walks hypotheses and references side by side.
pub(super) fn segments<'a>(
    hypotheses: &'a [impl AsRef<str>],
    references: &'a [impl AsRef<str>],
) -> impl Iterator<Item = (&'a str, &'a str)> {
    debug_assert_eq!(hypotheses.len(), references.len(), "every hypothesis needs exactly one reference");
    hypotheses.iter().zip(references).map(|(hypothesis, reference)| (hypothesis.as_ref(), reference.as_ref()))
}

/// `part` of `whole` as a share between 0 and 1; nothing of nothing is 0.
pub(super) fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 {
        return 0.0;
    }
    as_float(part) / as_float(whole)
}

#[allow(clippy::cast_precision_loss, reason = "counts of tokens stay far below 2^53")]
pub(super) fn as_float(count: usize) -> f64 {
    count as f64
}
