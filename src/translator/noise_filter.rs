//! Noise filtering of parallel corpora, by rules and by noise scores of linked words.

use std::collections::HashSet;

use anyhow::{Result, ensure};

use super::{LinkOptions, LinkedPair, Linker, LinksFrom, Translator};
use crate::alignment::{NoiseFeatures, noise_scores, rank_by_noise};
use crate::error::UsageError;
use crate::reporter::Reporter;
use crate::text::{FilterLimits, NoiseKind, Pair, defects};

/// Number of pairs linked at a time.
const CHUNK: usize = 2000;

/// Filter of noisy sentence pairs.
#[derive(Clone, Debug)]
pub struct NoiseFilter {
    /// Limits of the rules.
    pub limits: FilterLimits,
    /// Kinds of noise that do not exclude a pair.
    pub accepted: HashSet<NoiseKind>,
    /// Percentage of the pairs passing the rules to exclude as the noisiest.
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
            UsageError::of("max-proportion", format!("must be at least 1, not {proportion}"))
        );
        if let Some(percent) = self.noisy {
            ensure!(
                (0.0..=100.0).contains(&percent),
                UsageError::of("noisy", format!("must be between 0 and 100, not {percent}"))
            );
        }
        Ok(())
    }

    /// Returns the percentage of suspicious pairs to exclude, unless these are accepted.
    pub fn suspicious_percent(&self) -> Option<f64> {
        self.noisy.filter(|_| !self.accepted.contains(&NoiseKind::Suspicious))
    }

    /// Returns the reason to exclude each pair, if there is one. The rules apply to `untagged`, the pairs without tags.
    /// Noise scores come from the translator, or else from a statistical aligner trained on the pairs that pass the rules.
    ///
    /// # Errors
    /// As [`Self::check`], or the translator fails.
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
            let indices: Vec<usize> = (0..pairs.len()).filter(|&index| found[index].is_none()).collect();
            let rest: Vec<Pair> = indices.iter().map(|&index| pairs[index].clone()).collect();
            for index in noisiest(&rest, percent, translator, reporter)? {
                found[indices[index]] = Some(NoiseKind::Suspicious);
            }
        }
        Ok(found)
    }
}

/// Returns the indices of the noisiest `percent` of the pairs.
fn noisiest(
    pairs: &[Pair],
    percent: f64,
    translator: Option<&Translator>,
    reporter: &dyn Reporter,
) -> Result<Vec<usize>> {
    let links_from = if translator.is_some() { LinksFrom::Auto } else { LinksFrom::Pairs };
    let options = LinkOptions { links_from, ..LinkOptions::default() };
    let linker = Linker::with_options(&options, translator, pairs, reporter)?;
    let mut stage = reporter.stage("linking", Some(pairs.len()));
    let mut features: Vec<NoiseFeatures> = Vec::with_capacity(pairs.len());
    for chunk in pairs.chunks(CHUNK) {
        features.extend(linker.link(chunk, &mut |count| stage.advance(count))?.iter().map(LinkedPair::noise_features));
    }
    let mut ranked = rank_by_noise(&noise_scores(&features));
    ranked.truncate((percent / 100.0 * pairs.len() as f64).round() as usize);
    Ok(ranked)
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
    fn excludes_the_pair_that_is_no_translation() {
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
        assert_eq!(found.iter().flatten().count(), 2, "5 % of the other 19 pairs is one");
        let accepting = NoiseFilter { accepted: HashSet::from([NoiseKind::Suspicious]), ..filter() };
        assert_eq!(accepting.apply(&pairs, &pairs, None, &Silent).unwrap().iter().flatten().count(), 1);
    }

    #[test]
    fn names_limits_out_of_range() {
        let proportion = NoiseFilter { limits: FilterLimits { words: 1, proportion: 0.5 }, ..filter() };
        assert_eq!(proportion.check().unwrap_err().to_string(), "--max-proportion must be at least 1, not 0.5");
        let percent = NoiseFilter { noisy: Some(101.0), ..filter() };
        assert_eq!(percent.check().unwrap_err().to_string(), "--noisy must be between 0 and 100, not 101");
    }
}
