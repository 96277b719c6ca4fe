//! Options of `softalign align`: their check, and those of linking.

use anyhow::Result;

use crate::alignment::LinkFormat;
use crate::checkpoint::ModelDir;
use crate::cli::{AlignArgs, ExplicitArgs, joined_options_of};
use crate::commands::load_model::reject_attention_options;
use crate::commands::output_file::{WrittenPath, ensure_distinct_paths};
use crate::commands::render_options::check_figures;
use crate::error::{usage, usage_of};
use crate::render::{AlignmentFormat, ListFormat};
use crate::text::PairFiles;
use crate::translator::{AlignerSource, LinkOptions, LinksFrom};

/// Rejects options that exclude each other.
///
/// # Errors
/// Some are present together ([`UsageError`](crate::error::UsageError)).
pub fn check(given: &ExplicitArgs<AlignArgs>, format: AlignmentFormat) -> Result<()> {
    let args = &given.args;
    let links = link_options(args);
    links.check()?;
    check_figures(args.figures.style(), Some(format))?;
    if args.probs && format != AlignmentFormat::Pharaoh {
        return usage_of("probs", "needs --format pharaoh; the other formats include scores");
    }
    if args.notation != LinkFormat::default() && format != AlignmentFormat::Pharaoh {
        return usage(format!("{} need --format pharaoh", joined_options_of::<LinkFormat>()));
    }
    if args.save_aligner.is_some() && links.links_from != LinksFrom::Pairs {
        return usage_of("save-aligner", "needs --links-from pairs");
    }
    if args.gold.is_some() && (format != AlignmentFormat::Html || args.tokens) {
        return usage_of("gold", "needs --format html without --tokens; to compute AER, use evaluate --gold");
    }
    if args.noisy && ListFormat::new(format).is_none() {
        return usage_of("noisy", "needs --format text, tsv, json or jsonl");
    }
    if !links.links_from.uses_attention() {
        let because_of = if args.aligner.is_some() { "aligner" } else { "links-from" };
        reject_attention_options(&args.attention, because_of)?;
    }
    if links.links_from == LinksFrom::Hmm && args.model.len() > 1 {
        return usage_of("links-from", "hmm uses the aligner of one model: name only one with --model");
    }
    if links.links_from == LinksFrom::Pairs && given.names().contains(&"model") {
        return usage_of("model", "cannot be used with --links-from pairs, which trains an aligner on the pairs alone");
    }
    Ok(())
}

/// Checks that output files differ from each other and from the input.
///
/// # Errors
/// A file is written twice, or read and written ([`UsageError`](crate::error::UsageError)).
pub fn check_paths(args: &AlignArgs, files: &PairFiles) -> Result<()> {
    // A saved aligner is read again.
    let aligner = args.save_aligner.as_deref().map(|path| ModelDir::new(path).aligner_path());
    let read = files.paths().into_iter().chain(args.gold.as_deref()).chain(aligner.as_deref());
    let output = WrittenPath::new("--output", &args.output);
    let lexicon = WrittenPath::given("--lexicon", args.lexicon.as_deref());
    ensure_distinct_paths(read, [Some(output), lexicon].into_iter().flatten())
}

/// Returns the options of linking, with the directory of a saved aligner if no model is used.
pub fn link_options(args: &AlignArgs) -> LinkOptions {
    let options = LinkOptions {
        by_tokens: args.tokens,
        direction: args.direction,
        prior: args.prior.clone(),
        ..args.links.clone()
    };
    match &args.aligner {
        Some(path) => {
            LinkOptions { links_from: LinksFrom::Hmm, aligner: Some(AlignerSource::Directory(path.clone())), ..options }
        }
        None if options.links_from == LinksFrom::Hmm => {
            LinkOptions { aligner: Some(AlignerSource::Model(args.model[0].clone())), ..options }
        }
        None => options,
    }
}
