//! Search and constraints that the options describe.

use std::path::Path;

use anyhow::{Result, ensure};

use super::console::Console;
use crate::cli::{ConstraintArgs, LayoutArgs};
use crate::text::{Pair, TableFormat, file_name, read_numbered};
use crate::translator::{Constraints, DecodeOptions, MAX_PHRASE, Placeholders, Request, Terminology, Translator};

/// Returns the search that the options describe, all of them checked.
pub fn request(args: &DecodeOptions, constraints: &ConstraintArgs, n_best: u16) -> Result<Request> {
    let (require, avoid) = (constraints.require.clone(), constraints.avoid.clone());
    DecodeOptions { require, avoid, n_best: usize::from(n_best), ..args.clone() }.request()
}

/// Returns the translator with constraints on sentences with these placeholders. Warns of terms whose translations contain
/// unknown characters.
///
/// # Errors
/// The constraints contradict each other, or the terms cannot be read.
pub fn constrained(
    translator: Translator,
    args: &ConstraintArgs,
    layout: &LayoutArgs,
    placeholders: &Placeholders,
    console: &Console,
) -> Result<Translator> {
    let terms = match &args.terms {
        Some(path) => Terminology::from_pairs(read_terms(path, &glossary_format(layout))?),
        None => Terminology::default(),
    };
    let constraints = Constraints {
        prefix: args.prefix.clone(),
        required: args.require.clone(),
        avoided: args.avoid.clone(),
        terms,
        placeholders: Some(placeholders.clone()),
    };
    let constraints = constraints.normalized(translator.config().text.normalization);
    let translator = translator.with_constraints(constraints)?;
    let skipped_terms = translator.skipped_terms();
    if let (Some(first), Some(path)) = (skipped_terms.first(), &args.terms) {
        console.warn(format!(
            "{}: {} translations, such as {first:?}, contain characters unknown to the model; these terms are ignored",
            path.display(),
            skipped_terms.len()
        ));
    }
    Ok(translator)
}

/// Reads terms with their translations and checks their lengths.
fn read_terms(path: &Path, layout: &TableFormat) -> Result<Vec<Pair>> {
    let (pairs, numbers) = read_numbered(path, layout)?;
    for (place, pair) in pairs.iter().enumerate() {
        ensure!(
            pair.target.trim().is_empty() == pair.source.trim().is_empty(),
            "{}:{}: expected a term and its translation",
            file_name(path),
            numbers.of(place)
        );
        for (what, text) in [("term", &pair.source), ("translation", &pair.target)] {
            let length = text.chars().count();
            ensure!(
                length <= MAX_PHRASE,
                "{}:{}: a {what} can have {MAX_PHRASE} characters, not {length}",
                file_name(path),
                numbers.of(place)
            );
        }
    }
    Ok(pairs)
}

/// Returns the format of glossaries and dictionaries, which have no features.
pub fn glossary_format(args: &LayoutArgs) -> TableFormat {
    TableFormat { features: None, ..args.layout() }
}
