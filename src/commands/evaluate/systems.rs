//! Systems of an evaluation: models, files of translations and files of links, read before the first one is evaluated.

use std::path::{Path, PathBuf};

use anyhow::Result;
use candle_core::Device;

use super::inputs::EvaluationInputs;
use crate::alignment::{Gold, Link};
use crate::cli::EvaluateArgs;
use crate::commands::console::Console;
use crate::commands::labels::Labelled;
use crate::commands::load_model::translator;
use crate::error::usage;
use crate::evaluation::{
    System, SystemOrigin, UNKNOWN_SIZE, pair_sizes, read_gold, read_links, warn_of_truncated_scoring,
};
use crate::text::{PairFiles, ReadablePairs, WordSplitting, file_name, read_row_for_each};
use crate::translator::Linker;

/// Systems to evaluate.
pub struct Systems {
    /// Systems in the order of the report.
    pub named: Vec<NamedSystem>,
    /// Gold alignment of each pair, if links are evaluated.
    pub gold: Option<Vec<Gold>>,
}

/// System with its name in the results: translations, links or both.
pub struct NamedSystem {
    /// Name in the results.
    pub name: String,
    /// Directory or file that the system was read from; none if only an aligner links the pairs.
    pub origin: Option<SystemOrigin>,
    /// Model or translations; none if links are evaluated alone.
    pub system: Option<System>,
    /// Links of each pair, from a file.
    pub links: Option<Vec<Vec<Link>>>,
}

impl NamedSystem {
    fn new(name: &str, origin: Option<SystemOrigin>, system: Option<System>) -> Self {
        Self { name: name.to_owned(), origin, system, links: None }
    }
}

/// Reader of systems for the pairs of files.
pub struct SystemReader<'a> {
    /// Options.
    pub args: &'a EvaluateArgs,
    /// Files of the pairs.
    pub files: &'a PairFiles,
    /// Pairs that can be read.
    pub readable: &'a ReadablePairs,
    /// Device of the models.
    pub device: &'a Device,
    /// Console for warnings.
    pub console: &'a Console,
}

impl SystemReader<'_> {
    /// Loads the models, and reads the translations, links and gold alignments. Warns of systems that are not comparable.
    ///
    /// # Errors
    /// A model or a file cannot be read, or does not fit the pairs; models link different words.
    pub fn read(&self, inputs: &EvaluationInputs) -> Result<Systems> {
        let mut named = self.read_systems(inputs)?;
        let mut gold = None;
        if let Some(path) = &inputs.gold {
            let sizes = self.sizes(common_words(&named, self.args)?);
            gold = Some(self.readable.select(read_gold(path, &sizes, self.args.gold_base)?));
            for (system, file) in named.iter_mut().zip(&inputs.links) {
                system.links = Some(self.readable.select(read_links(&file.path, Some(&sizes))?));
            }
        }
        warn_of_unlike_references(&named, self.console);
        Ok(Systems { named, gold })
    }

    /// Loads models and reads translations. If there are none, files of links are systems of their own.
    fn read_systems(&self, inputs: &EvaluationInputs) -> Result<Vec<NamedSystem>> {
        let mut systems = Vec::new();
        let together = if self.args.ensemble { inputs.models.len() } else { 1 };
        for models in inputs.models.chunks(together.max(1)) {
            let Labelled { name, path } = &models[0];
            let origin = SystemOrigin::ModelDir(path.clone());
            systems.push(NamedSystem::new(name, Some(origin), Some(self.load_model(models)?)));
        }
        for Labelled { name, path } in &inputs.hypotheses {
            let system = System::Hypotheses(self.read_hypotheses(path)?);
            systems.push(NamedSystem::new(name, Some(SystemOrigin::Hypotheses(path.clone())), Some(system)));
        }
        if systems.is_empty() {
            for Labelled { name, path } in &inputs.links {
                systems.push(NamedSystem::new(name, Some(SystemOrigin::Links(path.clone())), None));
            }
        }
        if systems.is_empty() {
            systems.push(NamedSystem::new("pairs", None, None));
        }
        Ok(systems)
    }

    /// Loads a model or an ensemble with its linker.
    fn load_model(&self, models: &[Labelled]) -> Result<System> {
        let directories: Vec<PathBuf> = models.iter().map(|model| model.path.clone()).collect();
        let translator = translator(&directories, &self.args.attention, self.args.links.words, self.device)?;
        let linker = Linker::with_options(&self.args.links, Some(&translator), &self.readable.pairs, self.console)?;
        Ok(System::Model(Box::new(translator), Box::new(linker)))
    }

    /// Reads translations, one per line, or in the columns of the pairs as `--save` writes them.
    fn read_hypotheses(&self, path: &Path) -> Result<Vec<String>> {
        let Self { files, readable, console, .. } = *self;
        let lines = readable.select(read_row_for_each(path, readable.total(), &format!("pairs of {files}"))?);
        let lines = match files.targets_of_rows(&readable.pairs, &lines) {
            Some(targets) => targets.into_iter().map(str::to_owned).collect(),
            None => lines,
        };
        if let Some(index) = lines.iter().position(|line| line.contains('\t')) {
            console.warn(format!(
                "{}:{}: the tab is read as part of the translation, because the other columns are not those of {files}",
                file_name(path),
                readable.indices[index] + 1
            ));
        }
        let texts = readable.indices.iter().map(|index| index + 1).zip(lines.iter().map(String::as_str));
        warn_of_truncated_scoring(&file_name(path), texts, console);
        Ok(lines)
    }

    /// Returns the numbers of source and target words of all pairs of the files, unknown ones of unreadable pairs.
    fn sizes(&self, words: [WordSplitting; 2]) -> Vec<[usize; 2]> {
        let mut sizes = vec![UNKNOWN_SIZE; self.readable.total()];
        for (&index, size) in self.readable.indices.iter().zip(pair_sizes(&self.readable.pairs, words)) {
            sizes[index] = size;
        }
        sizes
    }
}

/// Returns the word splitting that all models share, which a gold file requires.
fn common_words(systems: &[NamedSystem], args: &EvaluateArgs) -> Result<[WordSplitting; 2]> {
    let mut words = systems.iter().filter_map(|one| match &one.system {
        Some(System::Model(translator, _)) => Some(translator.words()),
        _ => None,
    });
    let first = words.next().unwrap_or([args.links.words.unwrap_or_default(); 2]);
    if words.any(|other| other != first) {
        return usage("only some of these models link characters: choose the same for all with --words");
    }
    Ok(first)
}

/// Warns if the systems normalize references differently.
fn warn_of_unlike_references(systems: &[NamedSystem], console: &Console) {
    let mut normalizations = systems.iter().filter_map(|one| Some(one.system.as_ref()?.normalization()));
    let Some(first) = normalizations.next() else { return };
    if let Some(other) = normalizations.find(|&other| other != first) {
        console.warn(format!(
            "references are normalized as each model's text, {first} and {other}: the scores are not comparable"
        ));
    }
}
