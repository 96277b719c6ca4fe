//! From the options of the search to its settings.

use std::path::Path;

use anyhow::{Result, bail, ensure};

use super::console::Console;
use crate::cli::{ConstraintArgs, LayoutArgs, SearchArgs};
use crate::error::UsageError;
use crate::search::{BeamSettings, Bounds, Chance, DrawSettings, LengthFormula, MOST_REQUIRED, Ranking, Search};
use crate::text::{Layout, Pair, file_name, read_numbered};
use crate::translator::{Choice, Constraints, Strategy, Terms, Translator};

/// The largest penalty that is multiplied with a length or a coverage: the product stays a finite number.
const LARGEST_FACTOR: f64 = 1e300;
/// Most characters of a phrase that is required or avoided, of a term and of its translation.
const LONGEST_PHRASE: usize = 256;

/// Refuses a length penalty that is none.
pub fn check_length_penalty(penalty: f64) -> Result<()> {
    refuse_unless(penalty.is_finite() && penalty >= 0.0, || {
        format!("--length-penalty must be at least 0, not {penalty}")
    })
}

/// How to search by the options, and how many translations of each sentence there are to be.
pub fn strategy(args: &SearchArgs, n_best: u16) -> Result<Strategy> {
    check_length_penalty(args.length_penalty)?;
    let (coverage_penalty, temperature, top_p) = (args.coverage_penalty, args.temperature, args.top_p);
    refuse_unless(coverage_penalty.is_finite() && coverage_penalty >= 0.0, || {
        format!("--coverage-penalty must be at least 0, not {coverage_penalty}")
    })?;
    refuse_unless(coverage_penalty <= LARGEST_FACTOR, || {
        format!("--coverage-penalty must be at most {LARGEST_FACTOR:?}, not {coverage_penalty:?}")
    })?;
    let rewarded = args.length_formula == LengthFormula::Reward;
    refuse_unless(!rewarded || args.length_penalty <= LARGEST_FACTOR, || {
        let penalty = args.length_penalty;
        format!("--length-penalty must be at most {LARGEST_FACTOR:?} with --length-formula reward, not {penalty:?}")
    })?;
    refuse_unless((0.0..=100.0).contains(&args.length_factor), || {
        format!("--length-factor must be between 0 and 100, not {}", args.length_factor)
    })?;
    refuse_unless(temperature.is_finite() && temperature > 0.0, || {
        format!("--temperature must be above 0, not {temperature}")
    })?;
    refuse_unless(top_p > 0.0 && top_p <= 1.0, || format!("--top-p must be above 0 and at most 1, not {top_p}"))?;
    let drawn = args.sample || args.mbr.is_some();
    let only_drawn =
        [("--temperature", temperature != 1.0), ("--top-k", args.top_k.is_some()), ("--top-p", top_p != 1.0)];
    if let Some((name, _)) = only_drawn.iter().find(|(_, given)| *given && !drawn) {
        bail!(UsageError(format!("{name} is for translations that are drawn: give --sample or --mbr as well")));
    }
    if let Some(draws) = args.mbr.filter(|&draws| draws < n_best) {
        bail!(UsageError(format!("--n-best {n_best} is more than the {draws} translations that --mbr draws")));
    }
    let ranking =
        Ranking { length_formula: args.length_formula, length_penalty: args.length_penalty, coverage_penalty };
    let bounds =
        Bounds { length_factor: args.length_factor, no_repeat: args.no_repeat.map(usize::from), ..Bounds::default() };
    let best = usize::from(n_best);
    if !drawn {
        let beam = usize::from(args.beam).max(best);
        // Where several are wanted, some may turn out to be the same text.
        let found = if best == 1 { 1 } else { beam };
        let search = Search::Beam(BeamSettings { beam, ranking, bounds, best: found });
        return Ok(Strategy { search, choice: Choice::Best(best) });
    }
    let chance = Chance { temperature, top_k: args.top_k.map(|most| most as usize), top_p };
    let draws = args.mbr.map_or(best, usize::from);
    let draws = DrawSettings { draws, chance, ranking, bounds, seed: args.seed, first: 0 };
    let choice = if args.mbr.is_some() { Choice::Consensus(best) } else { Choice::All };
    Ok(Strategy { search: Search::Draws(draws), choice })
}

/// A translator that keeps to what the options ask, which must not contradict itself; tells of terms that it cannot say.
pub fn constrained(
    translator: Translator,
    args: &ConstraintArgs,
    layout: &LayoutArgs,
    console: &Console,
) -> Result<Translator> {
    let terms = match &args.terms {
        Some(path) => Terms::of(read_terms(path, &of_two_columns(layout))?),
        None => Terms::default(),
    };
    let constraints =
        Constraints { prefix: args.prefix.clone(), required: args.require.clone(), avoided: args.avoid.clone(), terms }
            .normalised(translator.config().text.normalisation);
    if let Some(phrase) = constraints.contradiction() {
        bail!(UsageError(format!("--avoid {phrase:?} forbids what --prefix, --require or --terms ask for")));
    }
    let translator = translator.with_constraints(constraints)?;
    let unsayable = translator.unsayable();
    if let (Some(first), Some(path)) = (unsayable.first(), &args.terms) {
        console.warn(format!(
            "{}: the model has no units for {} of the translations, {first:?} for one; such terms are left out",
            path.display(),
            unsayable.len()
        ));
    }
    Ok(translator)
}

/// Terms and their translations, none of them too long.
fn read_terms(path: &Path, layout: &Layout) -> Result<Vec<Pair>> {
    let (pairs, numbers) = read_numbered(path, layout)?;
    for (place, pair) in pairs.iter().enumerate() {
        for (what, text) in [("term", &pair.source), ("translation", &pair.target)] {
            let length = text.chars().count();
            ensure!(
                length <= LONGEST_PHRASE,
                "{}:{}: a {what} can have {LONGEST_PHRASE} characters, not {length}",
                file_name(path),
                numbers.of(place)
            );
        }
    }
    Ok(pairs)
}

/// How files of words and their translations are laid out, where lines of text may have features.
pub fn of_two_columns(args: &LayoutArgs) -> Layout {
    Layout { features: None, ..args.layout() }
}

/// Refuses constraints that ask for nothing, or too much.
pub fn check_constraints(args: &ConstraintArgs) -> Result<()> {
    for (name, phrases) in [("--require", &args.require), ("--avoid", &args.avoid)] {
        refuse_unless(phrases.iter().all(|phrase| !phrase.trim().is_empty()), || {
            format!("{name} needs a word or a phrase")
        })?;
        let longest = phrases.iter().map(|phrase| phrase.chars().count()).max().unwrap_or_default();
        refuse_unless(longest <= LONGEST_PHRASE, || {
            format!("{name}: a phrase can have {LONGEST_PHRASE} characters, not {longest}")
        })?;
    }
    refuse_unless(args.require.len() <= MOST_REQUIRED, || {
        format!("--require can be given {MOST_REQUIRED} times, not {}", args.require.len())
    })?;
    Ok(())
}

fn refuse_unless(fine: bool, what: impl FnOnce() -> String) -> Result<()> {
    if !fine {
        bail!(UsageError(what()));
    }
    Ok(())
}
