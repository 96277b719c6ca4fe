//! Inputs of an evaluation, and the check that the options suit them.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::attention::InferenceOverrides;
use crate::cli::{EvaluateArgs, ExplicitArgs, OF_LINKS, OF_MODELS, OF_TRANSLATIONS};
use crate::commands::console::Console;
use crate::commands::labels::{HYPOTHESES, LINKS, Labelled, MODELS};
use crate::commands::pair_files::{given_pairs, standard_input};
use crate::error::{usage, usage_of};
use crate::text::{PairFiles, SHIPPED_GOLD, SHIPPED_TEST, is_standard, standard_input_has_data};
use crate::translator::{DecodeOptions, LinkOptions, LinksFrom};

/// Checked inputs of an evaluation.
pub struct EvaluationInputs {
    /// Pairs; `None` if files of links are compared with a gold file alone.
    pub files: Option<PairFiles>,
    /// True if no pairs are named, so that the shipped test set is used.
    pub is_shipped: bool,
    /// File of gold alignments.
    pub gold: Option<PathBuf>,
    /// Model directories.
    pub models: Vec<Labelled>,
    /// Files of translations.
    pub hypotheses: Vec<Labelled>,
    /// Files of links.
    pub links: Vec<Labelled>,
    /// True if a statistical aligner links the pairs without a model.
    pub aligner_alone: bool,
}

impl EvaluationInputs {
    /// Checks the options and returns the inputs that they name, or else the shipped ones.
    ///
    /// # Errors
    /// An option is invalid or does not suit the inputs ([`UsageError`](crate::error::UsageError)), or a path does not exist.
    pub fn new(given: &ExplicitArgs<EvaluateArgs>, console: &Console) -> Result<Self> {
        let args = &given.args;
        args.search.request()?;
        args.links.check()?;
        let (hypotheses, links) = (HYPOTHESES.parse(&args.hypotheses)?, LINKS.parse(&args.link_files)?);
        let from_pairs = args.links.links_from == LinksFrom::Pairs;
        let names_model = given.names().contains(&"model");
        let without_model = !hypotheses.is_empty() || !links.is_empty() || (from_pairs && !names_model);
        let models = if without_model { Vec::new() } else { MODELS.parse(&args.model)? };
        let needs_pairs = !hypotheses.is_empty() || links.is_empty() || args.gold.is_none();
        let mut inputs = Self {
            files: None,
            is_shipped: false,
            gold: args.gold.clone(),
            models,
            hypotheses,
            links,
            aligner_alone: without_model && from_pairs,
        };
        inputs.files = inputs.pairs(args, needs_pairs, console)?;
        if inputs.files.is_none() {
            if inputs.gold.is_none() && (inputs.hypotheses.is_empty() || !inputs.links.is_empty() || from_pairs) {
                inputs.gold = Some(PathBuf::from(SHIPPED_GOLD));
            }
            inputs.is_shipped = needs_pairs;
            inputs.files = needs_pairs.then(|| PairFiles::shipped(SHIPPED_TEST));
        }
        inputs.check(given)?;
        Ok(inputs)
    }

    /// Returns the pairs that are named, or those of standard input if pairs are needed and nothing else reads it.
    fn pairs(&self, args: &EvaluateArgs, needs_pairs: bool, console: &Console) -> Result<Option<PairFiles>> {
        let model = self.models.first().map(|model| model.path.as_path());
        if let [path] = &args.pairs.positional[..]
            && !self.hypotheses.is_empty()
            && !(is_standard(path) || path.exists())
        {
            return usage(format!(
                "{}: no such file; expected the pairs (source TAB reference) that --hypotheses are compared with; repeat \
                 --hypotheses for each file of translations",
                path.display()
            ));
        }
        let named = given_pairs(&args.pairs, model)?;
        let mut others = self.hypotheses.iter().chain(&self.links).map(|one| &one.path).chain(&args.gold);
        if named.is_some() || !needs_pairs || !standard_input_has_data() || others.any(|path| is_standard(path)) {
            return Ok(named);
        }
        console.note("reading sentence pairs from standard input");
        standard_input(&args.pairs, model).map(Some)
    }

    /// Rejects options that do not suit the systems.
    fn check(&self, given: &ExplicitArgs<EvaluateArgs>) -> Result<()> {
        self.check_options_of_models(given)?;
        self.check_options_of_links(given)?;
        let of_translations = given.names_in(OF_TRANSLATIONS);
        if let Some(option) = of_translations.first().filter(|_| self.models.is_empty() && self.hypotheses.is_empty()) {
            return usage_of(option, "needs translations: add --model or --hypotheses");
        }
        let pairs = self.files.as_ref().map(PairFiles::paths).unwrap_or_default();
        if let Some(both) = self.hypotheses.iter().find(|one| pairs == [one.path.as_path()]) {
            return usage_of(
                "hypotheses",
                format!("{}: this file cannot be both translations and pairs", both.path.display()),
            );
        }
        self.check_gold(&given.args)?;
        self.check_counts(&given.args)
    }

    /// Rejects options of translating if no model translates, and a seed if nothing is random.
    fn check_options_of_models(&self, given: &ExplicitArgs<EvaluateArgs>) -> Result<()> {
        let args = &given.args;
        let resamples = args.confidence || args.compare;
        let mut of_models =
            [given.names_in(OF_MODELS), given.names_of::<DecodeOptions>(), given.names_of::<InferenceOverrides>()]
                .concat();
        of_models.retain(|name| *name != "seed" || !resamples);
        if let Some(option) = of_models.first().filter(|_| self.models.is_empty()) {
            return usage_of(option, "needs --model; it cannot be used with translations or links alone");
        }
        if of_models.contains(&"seed") && !args.search.is_sampled() {
            return usage_of("seed", "needs --sample, --mbr, --confidence or --compare");
        }
        Ok(())
    }

    /// Rejects options of linking if neither a model nor an aligner links words.
    fn check_options_of_links(&self, given: &ExplicitArgs<EvaluateArgs>) -> Result<()> {
        let mut of_links = [given.names_in(OF_LINKS), given.names_of::<LinkOptions>()].concat();
        // A gold file is compared with the words of the pairs.
        of_links.retain(|name| *name != "words" || self.gold.is_none() || self.files.is_none());
        if let Some(option) = of_links.first().filter(|_| self.models.is_empty() && !self.aligner_alone) {
            return usage_of(option, "cannot be used with --hypotheses or --links; use --links-from pairs");
        }
        Ok(())
    }

    /// Rejects links without gold alignments, and these without links.
    fn check_gold(&self, args: &EvaluateArgs) -> Result<()> {
        if !self.hypotheses.is_empty() && !self.links.is_empty() && self.hypotheses.len() != self.links.len() {
            let counts = format!("{} --links for {} --hypotheses", self.links.len(), self.hypotheses.len());
            return usage(format!("{counts}: give one file of links for each file of translations"));
        }
        let has_links = !self.models.is_empty() || !self.links.is_empty() || self.aligner_alone;
        match &self.gold {
            None if !self.links.is_empty() => usage_of("links", "needs --gold"),
            None if self.aligner_alone => usage_of("links-from", "pairs needs --gold, or --model"),
            None if args.search_threshold => usage_of("search-threshold", "needs --gold"),
            Some(_) if !has_links => {
                usage_of("gold", "with --hypotheses needs links: add --links, or --links-from pairs")
            }
            _ => Ok(()),
        }
    }

    /// Rejects options that need several systems, or only one.
    fn check_counts(&self, args: &EvaluateArgs) -> Result<()> {
        let systems = if args.ensemble { 1 } else { self.models.len() + self.hypotheses.len() };
        if args.compare && systems < 2 {
            return usage_of("compare", "needs several systems: repeat --model or --hypotheses");
        }
        if args.save.is_some() && systems > 1 {
            return usage_of("save", "accepts only one model");
        }
        Ok(())
    }

    /// Returns all input files except models.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        let labelled = self.hypotheses.iter().chain(&self.links).map(|one| one.path.as_path());
        self.files.iter().flat_map(PairFiles::paths).chain(self.gold.as_deref()).chain(labelled)
    }
}
