//! Translation in a few lines: [`Translator`]'s methods for programs, and [`Aligner`].

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use candle_core::Device;

use super::{DecodeOptions, ForcedScore, LinkedPair, Linker, Sentence, Translation, Translator, learn_aligner};
use crate::aligner::WordAligner;
use crate::checkpoint::ModelDir;
use crate::error::{Result, usage};
use crate::render::Heatmap;
use crate::reporter::Silent;
use crate::text::{NormalForm, Pair};

impl Translator {
    /// Loads a model from its directory, for the CPU.
    ///
    /// # Errors
    /// The directory holds no model, or a damaged one.
    pub fn load(directory: impl AsRef<Path>) -> Result<Self> {
        Ok(Self::load_on(directory.as_ref(), &Device::Cpu)?)
    }

    /// Loads several models that translate together: the mean of their probabilities counts at each step.
    ///
    /// # Errors
    /// As [`Self::load`]; there is no directory; the models' vocabularies differ.
    pub fn load_ensemble<D: AsRef<Path>>(directories: &[D]) -> Result<Self> {
        Ok(Self::load_ensemble_on(directories, &Device::Cpu)?)
    }

    /// Translates one sentence by beam search.
    ///
    /// ```no_run
    /// let translator = softalign::Translator::load("checkpoints")?;
    /// let translation = translator.translate("They bought a hat.")?;
    /// println!("{}\n{translation}", translation.text); // the heatmap of its attention
    /// # Ok::<(), softalign::Error>(())
    /// ```
    ///
    /// # Errors
    /// The model's scores are not finite.
    pub fn translate(&self, sentence: &str) -> Result<Translation> {
        let mut found = self.translate_with(&[sentence], &DecodeOptions::default())?;
        Ok(found.swap_remove(0).swap_remove(0))
    }

    /// Translates sentences. Returns for each the translations, the best first, at least one.
    ///
    /// # Errors
    /// An option is out of range, or the model has no tokens for a constraint.
    pub fn translate_with<S: AsRef<str>>(
        &self,
        sentences: &[S],
        options: &DecodeOptions,
    ) -> Result<Vec<Vec<Translation>>> {
        let sentences: Vec<Sentence> = sentences.iter().map(|sentence| Sentence::from(sentence.as_ref())).collect();
        Ok(self.decode(&sentences, options, &mut |_| {})?)
    }

    /// Links the words of sentence pairs, by attention and the statistical aligner that was learned with the model.
    ///
    /// # Errors
    /// The aligner's file is damaged, or the model's scores are not finite.
    pub fn align(&self, pairs: &[Pair]) -> Result<Vec<LinkedPair>> {
        Ok(Linker::of_model(self)?.link(pairs, &mut |_| {})?)
    }

    /// Translates sentences as the options ask. `on_progress` is told how many more are done.
    ///
    /// # Errors
    /// As [`Self::translate_with`].
    pub(crate) fn decode(
        &self,
        sentences: &[Sentence],
        options: &DecodeOptions,
        on_progress: &mut (dyn FnMut(usize) + Send),
    ) -> anyhow::Result<Vec<Vec<Translation>>> {
        let request = options.request()?;
        let constraints = options.constraints().normalised(self.config().text.normalization);
        if constraints.is_empty() {
            return self.translate_batch(sentences, &request, on_progress);
        }
        self.clone().with_constraints(constraints)?.translate_batch(sentences, &request, on_progress)
    }

    /// Returns the log-probabilities of the pairs' targets, given their sources.
    ///
    /// # Errors
    /// The model's scores are not finite.
    pub fn score(&self, pairs: &[Pair]) -> Result<Vec<ForcedScore>> {
        Ok(self.score_batch(pairs, &mut |_| {})?)
    }
}

/// Displays the attention between words as a heatmap: target words down, source words across, weights in percent.
impl fmt::Display for Translation {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let mut text = Vec::new();
        Heatmap::new(false, None).matrix(&mut text, &self.alignment.by_words()).map_err(|_| fmt::Error)?;
        formatter.write_str(&String::from_utf8_lossy(&text))
    }
}

/// A statistical word aligner, learned from sentence pairs alone.
///
/// ```
/// use softalign::{Aligner, Pair};
///
/// let pairs = [("a b", "x y"), ("b c", "y z"), ("a", "x"), ("c", "z")].map(|(s, t)| Pair::new(s, t));
/// let aligner = Aligner::fit(&pairs)?;
/// let linked = aligner.align(&pairs)?;
/// assert_eq!(linked[0].pharaoh(), "0-0 1-1");
/// # Ok::<(), softalign::Error>(())
/// ```
pub struct Aligner {
    linker: Linker,
}

impl Aligner {
    /// Learns an aligner from pairs.
    ///
    /// # Errors
    /// There is no pair.
    pub fn fit(pairs: &[Pair]) -> Result<Self> {
        if pairs.is_empty() {
            return Ok(usage("an aligner needs sentence pairs to learn from")?);
        }
        Ok(Self::new(learn_aligner(pairs, NormalForm::Nfc, &Silent)))
    }

    /// Loads the aligner of a directory: one that [`Self::save`] wrote, or that of a model.
    ///
    /// # Errors
    /// The directory holds no aligner, or a damaged one.
    pub fn load(directory: impl AsRef<Path>) -> Result<Self> {
        Ok(Self::new(ModelDir::new(directory.as_ref()).load_aligner_alone()?))
    }

    /// Saves the aligner to a directory.
    ///
    /// # Errors
    /// The directory holds a model, or cannot be written.
    pub fn save(&self, directory: impl AsRef<Path>) -> Result<()> {
        let Some(aligner) = &self.linker.statistical else { return Ok(()) };
        Ok(ModelDir::new(directory.as_ref()).save_aligner_alone(aligner)?)
    }

    /// Links the words of pairs, which need not be those that the aligner was learned from.
    ///
    /// # Errors
    /// None at present.
    pub fn align(&self, pairs: &[Pair]) -> Result<Vec<LinkedPair>> {
        Ok(self.linker.link(pairs, &mut |_| {})?)
    }

    fn new(aligner: WordAligner) -> Self {
        Self { linker: Linker { statistical: Some(Arc::new(aligner)), ..Linker::default() } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn translators_and_aligners_are_shared_among_threads() {
        fn shared<T: Send + Sync>() {}
        shared::<Translator>();
        shared::<Aligner>();
    }

    #[test]
    fn reads_the_aligner_of_a_model_once() {
        let directory = tempfile::tempdir().unwrap();
        for entry in std::fs::read_dir("checkpoints").unwrap() {
            let path = entry.unwrap().path();
            std::fs::copy(&path, directory.path().join(path.file_name().unwrap())).unwrap();
        }
        let translator = Translator::load(directory.path()).unwrap();
        let first = translator.aligner().unwrap().unwrap();
        std::fs::remove_file(directory.path().join("aligner.safetensors")).unwrap();
        let again = translator.clone().aligner().unwrap().unwrap();
        assert!(Arc::ptr_eq(&first, &again), "clones share it");
    }

    #[test]
    fn refuses_options_out_of_range_by_name() {
        for (options, name) in [
            (DecodeOptions::beam(0), "--beam"),
            (DecodeOptions::greedy().n_best(0), "--n-best"),
            (DecodeOptions { top_p: 1.5, ..DecodeOptions::sample(1) }, "--top-p"),
            (DecodeOptions { temperature: 0.5, ..DecodeOptions::greedy() }, "--temperature"),
            (DecodeOptions { mbr: Some(2), ..DecodeOptions::greedy().n_best(3) }, "--n-best"),
            (DecodeOptions::greedy().avoid(" "), "--avoid"),
        ] {
            let message = options.request().unwrap_err().to_string();
            assert!(message.contains(name), "{message}");
        }
    }
}
