//! Expected lengths of translations.

use std::sync::Arc;

use crate::text::SurfaceForms;

/// Share of the mean length that every translation is expected to have.
const EXPECTED_SHARE: f64 = 0.8;

/// Length that every translation of a source is expected to have.
#[derive(Clone, Debug)]
pub struct ExpectedLength {
    /// Number of characters, above 0.
    characters: f64,
    /// Surface forms of the target tokens.
    surface_forms: Arc<SurfaceForms>,
}

impl ExpectedLength {
    /// Returns four fifths of the mean length of translations, in characters; none if it is 0.
    pub fn new(mean: f64, surface_forms: &Arc<SurfaceForms>) -> Option<Self> {
        let characters = EXPECTED_SHARE * mean;
        (characters > 0.0).then(|| Self { characters, surface_forms: Arc::clone(surface_forms) })
    }

    /// Returns the share of the length that a translation lacks, from 0 to 1.
    pub fn lacking_share(&self, tokens: impl IntoIterator<Item = u32>) -> f64 {
        (1.0 - self.surface_forms.characters(tokens) as f64 / self.characters).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::PhraseBoundaries;

    #[test]
    fn longer_translations_lack_nothing() {
        let texts = ["", "", "", "", " né", "s"].map(str::to_owned).to_vec();
        let forms = Arc::new(SurfaceForms::new(texts, PhraseBoundaries::Words));
        let expected = ExpectedLength::new(10.0, &forms).unwrap();
        for (tokens, lacking) in [(&[][..], 1.0), (&[4, 5, 2], 0.5), (&[4, 5, 4, 5], 0.0), (&[4, 4, 4], 0.0)] {
            assert_eq!(expected.lacking_share(tokens.iter().copied()), lacking);
        }
        assert!(ExpectedLength::new(0.0, &forms).is_none());
    }
}
