//! Models and statistical aligners that options of links name: loading, training and checks.

use std::sync::{Arc, Mutex};

use anyhow::{Result, bail};

use super::{AlignerSource, LinkOptions, LinksFrom, Translator};
use crate::aligner::{self, WordAligner};
use crate::attention::InferenceOverrides;
use crate::checkpoint::ModelDir;
use crate::error::usage_of;
use crate::reporter::{Reporter, Stage};
use crate::text::{NormalForm, Pair};

impl AlignerSource {
    /// Loads the aligner; none if a model has none.
    fn load(&self) -> Result<Option<Arc<WordAligner>>> {
        let dir = ModelDir::new(self.path());
        let aligner = match self {
            Self::Directory(_) => Some(dir.load_aligner_alone()?),
            Self::Model(_) => dir.load_aligner(&dir.load()?)?,
        };
        Ok(aligner.map(Arc::new))
    }
}

impl LinkOptions {
    /// Loads the reverse model, if there is one.
    pub(super) fn load_reverse(&self, translator: &Translator) -> Result<Option<Translator>> {
        let Some(path) = &self.reverse_model else { return Ok(None) };
        let reverse = Translator::load_on(path, translator.device())?
            .with_overrides(&InferenceOverrides::default(), self.words)?;
        check_reverse(translator, &reverse, self.by_tokens)?;
        Ok(Some(reverse))
    }

    /// Loads or trains the statistical aligner, if it is used. It is trained on `pairs`.
    pub(super) fn statistical_aligner(
        &self,
        translator: Option<&Translator>,
        pairs: &[Pair],
        reporter: &dyn Reporter,
    ) -> Result<Option<Arc<WordAligner>>> {
        match self.links_from {
            LinksFrom::Attention => Ok(None),
            LinksFrom::Auto if self.by_tokens => Ok(None),
            LinksFrom::Auto => self.saved_aligner(translator),
            LinksFrom::Hmm => match self.saved_aligner(translator)? {
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

    /// Loads the aligner that the options name, or else the translator's, if it has one.
    fn saved_aligner(&self, translator: Option<&Translator>) -> Result<Option<Arc<WordAligner>>> {
        match &self.aligner {
            Some(source) => source.load(),
            None => translator.map_or(Ok(None), Translator::aligner),
        }
    }

    /// Fails since there is no saved aligner.
    fn missing_aligner<T>(&self, translator: Option<&Translator>) -> Result<T> {
        let Some(path) = self.aligner.as_ref().map(AlignerSource::path).or(translator.map(Translator::path)) else {
            return usage_of("links-from", "hmm needs a model or --aligner");
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
        return usage_of(
            "reverse-model",
            format!("{path}: --tokens needs the same vocabularies as the model, swapped"),
        );
    }
    for (their_side, theirs, our_side, ours) in
        [("source", &reverse.source, "target", &model.target), ("target", &reverse.target, "source", &model.source)]
    {
        if ours.likeness(theirs).is_some_and(|likeness| likeness < MIN_LIKENESS) {
            return usage_of(
                "reverse-model",
                format!(
                    "{path}: its {their_side} language differs from the model's {our_side} language; name a \
                 model that translates the other way"
                ),
            );
        }
    }
    Ok(())
}

/// Trains a statistical aligner on pairs whose words are compared in normalization `form`, or in that of the prior.
pub fn learn_aligner(
    pairs: &[Pair],
    form: NormalForm,
    prior: Option<&WordAligner>,
    reporter: &dyn Reporter,
) -> WordAligner {
    let stage = Mutex::new(reporter.stage("learning word alignments", Some(aligner::EM_ITERATIONS * pairs.len())));
    match prior {
        None => aligner::train(pairs, form, &|count| advance(&stage, count)),
        Some(prior) => aligner::train_with_prior(pairs, prior, &|count| advance(&stage, count)),
    }
}

/// Adds finished items to a stage that several threads share.
fn advance(stage: &Mutex<Box<dyn Stage + '_>>, count: usize) {
    if let Ok(mut stage) = stage.lock() {
        stage.advance(count);
    }
}
