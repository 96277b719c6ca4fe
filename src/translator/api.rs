//! Translation in a few lines: [`Translator`]'s methods for programs, and [`Aligner`].

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use candle_core::Device;

use super::{
    DecodeOptions, ForcedScore, LinkOptions, LinkedPair, Linker, Sentence, Translation, Translator, learn_aligner,
};
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

    /// Loads an ensemble, which uses the mean of the models' probabilities at each step.
    ///
    /// # Errors
    /// As [`Self::load`]; there is no directory; the vocabularies differ.
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

    /// Translates sentences without markup, whose placeholders are text. Returns at least one translation of each, best
    /// first. [`Self::prepare`] takes all options.
    ///
    /// # Errors
    /// An option is out of range, or a constraint contains tokens that the model does not know.
    pub fn translate_with<S: AsRef<str>>(
        &self,
        sentences: &[S],
        options: &DecodeOptions,
    ) -> Result<Vec<Vec<Translation>>> {
        let sentences: Vec<Sentence> = sentences.iter().map(|sentence| Sentence::from(sentence.as_ref())).collect();
        let prepared = self.prepared_for_plain_text(options.clone())?;
        Ok(prepared.translate(&sentences, 0, &mut |_| {})?)
    }

    /// Links the words of sentence pairs by posterior attention and the statistical aligner trained with the model.
    ///
    /// # Errors
    /// The aligner's file is damaged, or the model's scores are not finite.
    pub fn align(&self, pairs: &[Pair]) -> Result<Vec<LinkedPair>> {
        Ok(Linker::from_model(self)?.link(pairs, &mut |_| {})?)
    }

    /// Returns the log-probability of each target given its source.
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

/// Statistical word aligner, trained on sentence pairs alone.
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
    /// Trains an aligner on pairs.
    ///
    /// # Errors
    /// There is no pair.
    pub fn fit(pairs: &[Pair]) -> Result<Self> {
        Self::train(pairs, None)
    }

    /// Trains an aligner on pairs with the links that this aligner found in its own training as a prior. The new aligner
    /// knows the words of both.
    ///
    /// # Errors
    /// There is no pair.
    pub fn fit_more(&self, pairs: &[Pair]) -> Result<Self> {
        Self::train(pairs, self.linker.statistical.as_deref())
    }

    fn train(pairs: &[Pair], prior: Option<&WordAligner>) -> Result<Self> {
        if pairs.is_empty() {
            return Ok(usage("an aligner needs at least one sentence pair")?);
        }
        Ok(Self::new(learn_aligner(pairs, NormalForm::Nfc, prior, &Silent)))
    }

    /// Loads an aligner from a directory that [`Self::save`] wrote, or from a model directory.
    ///
    /// # Errors
    /// The directory holds no aligner, or a damaged one.
    pub fn load(directory: impl AsRef<Path>) -> Result<Self> {
        Ok(Self::new(ModelDir::new(directory.as_ref()).load_aligner_alone()?))
    }

    /// Saves the aligner to a directory, without word pairs of probability below 0.0001.
    ///
    /// # Errors
    /// The directory holds a model, or cannot be written.
    pub fn save(&self, directory: impl AsRef<Path>) -> Result<()> {
        let Some(aligner) = &self.linker.statistical else { return Ok(()) };
        Ok(ModelDir::new(directory.as_ref()).save_aligner_alone(aligner)?)
    }

    /// Links the words of pairs, which may be new to the aligner.
    ///
    /// # Errors
    /// None at present.
    pub fn align(&self, pairs: &[Pair]) -> Result<Vec<LinkedPair>> {
        Ok(self.linker.link(pairs, &mut |_| {})?)
    }

    /// Returns the linker of the aligner with these options, of which those that name a model or an aligner have no effect.
    ///
    /// # Errors
    /// An option is out of range, or options contradict each other.
    pub fn linker(&self, options: &LinkOptions) -> anyhow::Result<Linker> {
        options.check()?;
        Ok(Linker::without_model(self.linker.statistical.clone(), options))
    }

    fn new(aligner: WordAligner) -> Self {
        Self { linker: Linker { statistical: Some(Arc::new(aligner)), ..Linker::default() } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::translator::MarkedUp;

    #[test]
    fn translators_and_aligners_are_send_and_sync() {
        fn shared<T: Send + Sync>() {}
        shared::<Translator>();
        shared::<MarkedUp>();
        shared::<Aligner>();
    }

    #[test]
    fn reads_the_aligner_of_a_model_once() {
        let directory = tempfile::tempdir().unwrap();
        let paths = std::fs::read_dir("checkpoints").unwrap().map(|entry| entry.unwrap().path());
        // Training moves the former model to a directory in this one.
        for path in paths.filter(|path| path.is_file()) {
            std::fs::copy(&path, directory.path().join(path.file_name().unwrap())).unwrap();
        }
        let translator = Translator::load(directory.path()).unwrap();
        let first = translator.aligner().unwrap().unwrap();
        std::fs::remove_file(directory.path().join("aligner.safetensors")).unwrap();
        let again = translator.clone().aligner().unwrap().unwrap();
        assert!(Arc::ptr_eq(&first, &again), "clones share it");
    }

    #[test]
    fn names_options_out_of_range() {
        let long_term = Pair::new("cat", "a".repeat(257));
        for (options, name) in [
            (DecodeOptions::beam(0), "--beam"),
            (DecodeOptions::greedy().n_best(0), "--n-best"),
            (DecodeOptions { top_p: 1.5, ..DecodeOptions::sample(1) }, "--top-p"),
            (DecodeOptions { temperature: 0.5, ..DecodeOptions::greedy() }, "--temperature"),
            (DecodeOptions { mbr: Some(2), ..DecodeOptions::greedy().n_best(3) }, "--n-best"),
            (DecodeOptions::greedy().avoid(" "), "--avoid"),
            (DecodeOptions::sample(1).require("chat"), "--require needs beam search"),
            (DecodeOptions { mbr: Some(2), ..DecodeOptions::greedy().require("chat") }, "--require needs beam search"),
            (
                DecodeOptions { terms: vec![Pair::new("cat", "chat")], ..DecodeOptions::sample(1) },
                "--terms needs beam search",
            ),
            (DecodeOptions { mbr: Some(2), ..DecodeOptions::sample(1) }, "omit --sample"),
            (DecodeOptions { terms: vec![long_term], ..DecodeOptions::greedy() }, "--terms: a translation"),
        ] {
            let message = options.request().unwrap_err().to_string();
            assert!(message.contains(name), "{message}");
        }
    }
}
