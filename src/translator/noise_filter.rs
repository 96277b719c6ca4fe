//! Noise filtering of parallel corpora: by rules of the text, and by how little the words of a pair belong together.

use std::collections::HashSet;

use anyhow::{Result, ensure};

use super::{LinkOptions, LinkedPair, Linker, LinksFrom, Translator};
use crate::alignment::{NoiseFeatures, noise_scores, rank_by_noise};
use crate::error::UsageError;
use crate::reporter::Reporter;
use crate::text::{FilterLimits, NoiseKind, Pair, defects};

/// Pairs that are linked at a time.
const CHUNK: usize = 2000;

/// Filter of noisy sentence pairs.
#[derive(Clone, Debug)]
pub struct NoiseFilter {
    /// Limits of the rules.
    pub limits: FilterLimits,
    /// Kinds of noise that are no reason to leave a pair out.
    pub accepted: HashSet<NoiseKind>,
    /// Share of the pairs that pass the rules that is left out as well, in percent: the most suspicious ones.
    pub noisy: Option<f64>,
}

impl NoiseFilter {
    /// Checks the limits.
    ///
    /// # Errors
    /// A [`UsageError`] names the option by its name on the command line.
    pub fn check(&self) -> Result<()> {
        let proportion = self.limits.proportion;
        ensure!(
            proportion >= 1.0 && proportion.is_finite(),
            UsageError(format!("--max-proportion must be at least 1, not {proportion}"))
        );
        if let Some(percent) = self.noisy {
            ensure!(
                (0.0..=100.0).contains(&percent),
                UsageError(format!("--noisy must be between 0 and 100, not {percent}"))
            );
        }
        Ok(())
    }

    /// Returns the percentage of suspicious pairs to leave out, if these are not accepted.
    pub fn suspicious_percent(&self) -> Option<f64> {
        self.noisy.filter(|_| !self.accepted.contains(&NoiseKind::Suspicious))
    }

    /// Returns the reason to leave out each pair, if there is one. `untagged` are the pairs without their tags, which are no
    /// words. Suspicious are pairs to the translator, or to a statistical aligner that is learned from the others.
    ///
    /// # Errors
    /// Those of [`Self::check`], and the translator's own.
    pub fn apply(
        &self,
        pairs: &[Pair],
        untagged: &[Pair],
        translator: Option<&Translator>,
        reporter: &dyn Reporter,
    ) -> Result<Vec<Option<NoiseKind>>> {
        self.check()?;
        let mut found = defects(untagged, self.limits, &self.accepted);
        if let Some(percent) = self.suspicious_percent() {
            let places: Vec<usize> = (0..pairs.len()).filter(|&place| found[place].is_none()).collect();
            let rest: Vec<Pair> = places.iter().map(|&place| pairs[place].clone()).collect();
            for place in most_suspicious(&rest, percent, translator, reporter)? {
                found[places[place]] = Some(NoiseKind::Suspicious);
            }
        }
        Ok(found)
    }
}

/// Returns the places of so many percent of the pairs.
fn most_suspicious(
    pairs: &[Pair],
    percent: f64,
    translator: Option<&Translator>,
    reporter: &dyn Reporter,
) -> Result<Vec<usize>> {
    let links_from = if translator.is_some() { LinksFrom::Auto } else { LinksFrom::Pairs };
    let options = LinkOptions { links_from, ..LinkOptions::default() };
    let linker = Linker::with_options(&options, translator, pairs, reporter)?;
    let mut stage = reporter.stage("linking", Some(pairs.len()));
    let mut signs: Vec<NoiseFeatures> = Vec::with_capacity(pairs.len());
    for chunk in pairs.chunks(CHUNK) {
        signs.extend(linker.link(chunk, &mut |count| stage.advance(count))?.iter().map(LinkedPair::signs));
    }
    let mut places = rank_by_noise(&noise_scores(&signs));
    places.truncate((percent / 100.0 * pairs.len() as f64).round() as usize);
    Ok(places)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reporter::Silent;

    fn filter() -> NoiseFilter {
        let limits = FilterLimits { words: 20, proportion: 3.0 };
        NoiseFilter { limits, accepted: HashSet::new(), noisy: Some(5.0) }
    }

    #[test]
    fn leaves_out_the_pair_whose_words_do_not_belong_together() {
        let words = [("fox", "fuks"), ("owl", "ugle"), ("cat", "katt"), ("dog", "hund"), ("cow", "ku")];
        let mut pairs = Vec::new();
        for (a, b) in words {
            for (c, d) in words.iter().filter(|(c, _)| *c != a) {
                pairs.push(Pair::new(format!("the {a} sees the {c}"), format!("en {b} ser en {d}")));
            }
        }
        pairs[7].target = "noe helt annet enn det".to_owned();
        pairs[3].target = String::new();
        let found = filter().apply(&pairs, &pairs, None, &Silent).unwrap();
        assert_eq!(found[3], Some(NoiseKind::Empty));
        assert_eq!(found[7], Some(NoiseKind::Suspicious));
        assert_eq!(found.iter().flatten().count(), 2, "five percent of the other 19 are one");
        let accepting = NoiseFilter { accepted: HashSet::from([NoiseKind::Suspicious]), ..filter() };
        assert_eq!(accepting.apply(&pairs, &pairs, None, &Silent).unwrap().iter().flatten().count(), 1);
    }

    #[test]
    fn refuses_limits_out_of_range_by_name() {
        let proportion = NoiseFilter { limits: FilterLimits { words: 1, proportion: 0.5 }, ..filter() };
        assert_eq!(proportion.check().unwrap_err().to_string(), "--max-proportion must be at least 1, not 0.5");
        let percent = NoiseFilter { noisy: Some(101.0), ..filter() };
        assert_eq!(percent.check().unwrap_err().to_string(), "--noisy must be between 0 and 100, not 101");
    }
}
