//! What a translation has to keep to: how it begins, what it must contain and must not, and what must not come twice.
//!
//! Phrases that it must contain are lexical constraints as Post & Vilar (2018), "Fast Lexically Constrained Decoding with
//! Dynamic Beam Allocation for Neural Machine Translation", have them: each hypothesis knows how much of them it has.

use std::ops::Range;
use std::sync::Arc;

use crate::text::{END, SurfaceForms};

/// Phrases that can be asked for at once.
pub const MOST_REQUIRED: usize = 64;
/// Units of required phrases that can be asked for at once. The beam is wider by as many, so that the time of a step grows
/// with their square.
pub const MOST_REQUIRED_UNITS: usize = 256;

/// What the translation of one sentence has to keep to; by default nothing.
#[derive(Clone, Debug, Default)]
pub struct DecodingConstraints {
    /// Units that it begins with.
    pub prefix: Vec<u32>,
    /// Whether the prefix ends with a whole word.
    pub prefix_ends_word: bool,
    /// Phrases that it contains; of more than [`MOST_REQUIRED`] the others are left out.
    pub required: Vec<RequiredPhrase>,
    /// Phrases that were left out before.
    pub left_out: usize,
    /// Phrases that it does not contain, as whole words.
    pub avoided: Arc<[AvoidedPhrase]>,
    /// How units are spelt, for the three things above.
    pub spelling: Arc<SurfaceForms>,
}

/// A phrase that must be said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequiredPhrase {
    /// Its units, of which there is one at least.
    pub units: Vec<u32>,
    /// The source units that it translates: it had better begin when attention is on them. None if it may stand anywhere.
    pub of: Option<Range<usize>>,
}

/// The least attention that the source of a required phrase counts as having: what saying it elsewhere costs is bounded.
const LEAST_ATTENTION: f64 = 0.02;

/// A phrase that must not be said.
#[derive(Clone, Debug)]
pub struct AvoidedPhrase {
    text: String,
    /// The units that may be its last.
    endings: Vec<u32>,
}

impl AvoidedPhrase {
    /// A phrase as it would stand in the text, without space around it.
    pub fn new(text: &str, spelling: &SurfaceForms) -> Self {
        Self { text: text.to_owned(), endings: spelling.endings(text) }
    }
}

/// How far a hypothesis is with what is demanded of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConstraintState {
    /// Units that it has.
    length: usize,
    /// The required phrases that it contains, a bit for each.
    met: u64,
    /// The required phrase that it is in the middle of, and how many units it has of it.
    under_way: Option<(usize, usize)>,
    /// Whether no unit may come that would make the last word longer.
    word_has_ended: bool,
}

impl DecodingConstraints {
    /// Whether nothing is demanded.
    pub fn is_none(&self) -> bool {
        self.prefix.is_empty() && self.required.is_empty() && self.avoided.is_empty()
    }

    /// Units that the demands make a translation longer by, at most.
    pub fn units(&self) -> usize {
        self.prefix.len() + self.required_units()
    }

    /// Units of all required phrases.
    pub fn required_units(&self) -> usize {
        self.required().iter().map(|phrase| phrase.units.len()).sum()
    }

    /// How many required phrases a hypothesis has not.
    pub fn unmet_constraints(&self, progress: &ConstraintState) -> usize {
        self.required().len() - progress.met.count_ones() as usize
    }

    /// How many phrases are beyond those that can be watched over.
    pub fn left_out(&self) -> usize {
        self.left_out + self.required.len() - self.required().len()
    }

    /// The same without the phrases from the first one on that takes more than [`MOST_REQUIRED_UNITS`] together with those
    /// before it.
    #[must_use]
    pub fn within_units(mut self) -> Self {
        let mut units = 0;
        let fits = |phrase: &&RequiredPhrase| {
            units += phrase.units.len();
            units <= MOST_REQUIRED_UNITS
        };
        let kept = self.required.iter().take_while(fits).count();
        self.left_out += self.required.len() - kept;
        self.required.truncate(kept);
        self
    }

    /// How many units of required phrases a hypothesis has: the number of its bank.
    pub fn bank(&self, progress: &ConstraintState) -> usize {
        let met = self.required().iter().enumerate().filter(|&(phrase, _)| progress.has(phrase));
        met.map(|(_, phrase)| phrase.units.len()).sum::<usize>() + progress.under_way.map_or(0, |(_, units)| units)
    }

    /// The units by which a hypothesis would come closer to what is required.
    pub fn proposals(&self, progress: &ConstraintState) -> Vec<u32> {
        if progress.length < self.prefix.len() {
            return Vec::new();
        }
        let mut units: Vec<u32> = self.continued(progress).map(|(_, unit)| unit).collect();
        units.sort_unstable();
        units.dedup();
        units
    }

    /// What becomes of a hypothesis' progress with one more unit.
    pub fn after(&self, progress: &ConstraintState, unit: u32) -> ConstraintState {
        let mut next =
            ConstraintState { length: progress.length + 1, under_way: None, word_has_ended: false, ..*progress };
        let phrase = self.continued(progress).find(|&(_, wanted)| wanted == unit).map(|(phrase, _)| phrase);
        let begun = || self.unmet_phrases(progress).find(|&phrase| self.required[phrase].units[0] == unit);
        let units = match (phrase, progress.under_way) {
            (Some(phrase), Some((_, units))) => Some((phrase, units + 1)),
            _ => begun().map(|phrase| (phrase, 1)),
        };
        match units {
            Some((phrase, units)) if units == self.required[phrase].units.len() => {
                next.met |= 1 << phrase;
                next.word_has_ended = true;
            }
            units => next.under_way = units,
        }
        next.word_has_ended |= next.length == self.prefix.len() && self.prefix_ends_word;
        next
    }

    /// What it counts, in nats, that a required phrase begins while attention is not on what it translates: the logarithm of
    /// the share of attention that is; nothing where no phrase began between two progresses.
    pub fn placement_penalty(&self, before: &ConstraintState, after: &ConstraintState, attention: &[f32]) -> f64 {
        let begun = match after.under_way {
            Some((phrase, 1)) => Some(phrase),
            None => {
                self.unmet_phrases(before).find(|&phrase| after.has(phrase) && self.required[phrase].units.len() == 1)
            }
            Some(_) => None,
        };
        let of = begun.and_then(|phrase| attention.get(self.required[phrase].of.clone()?));
        of.map_or(0.0, |on| on.iter().map(|&alpha| f64::from(alpha)).sum::<f64>().clamp(LEAST_ATTENTION, 1.0).ln())
    }

    /// Which units a hypothesis may take next. `back` are its units, the last one first; no run of `no_repeat` of them may come
    /// twice.
    pub fn rule(
        &self,
        progress: &ConstraintState,
        back: impl Iterator<Item = u32>,
        no_repeat: Option<usize>,
    ) -> TokenMask<'_> {
        let mut rule = TokenMask {
            only: self.prefix.get(progress.length).copied(),
            barred: Vec::new(),
            wanted: self.proposals(progress),
            may_end: self.unmet_constraints(progress) == 0,
            last_word: if progress.word_has_ended { LastWord::Ended(&self.spelling) } else { LastWord::Free },
        };
        if rule.only.is_none() && (no_repeat.is_some() || !self.avoided.is_empty()) {
            let back: Vec<u32> = back.collect();
            self.avoid(&mut rule, progress, &back);
            // What is asked for may come twice.
            let repeated = no_repeat.map_or_else(Vec::new, |run| repeated(&back, run));
            rule.barred.extend(repeated.into_iter().filter(|unit| !rule.wanted.contains(unit)));
        }
        rule
    }

    fn required(&self) -> &[RequiredPhrase] {
        &self.required[..self.required.len().min(MOST_REQUIRED)]
    }

    fn unmet_phrases(&self, progress: &ConstraintState) -> impl Iterator<Item = usize> {
        (0..self.required().len()).filter(|&phrase| !progress.has(phrase))
    }

    /// The unmet phrases that can go on from where a hypothesis is, or begin, each with its next unit.
    fn continued(&self, progress: &ConstraintState) -> impl Iterator<Item = (usize, u32)> {
        let begun = progress.under_way.map_or(&[][..], |(phrase, units)| &self.required[phrase].units[..units]);
        self.unmet_phrases(progress).filter_map(move |phrase| {
            let rest = self.required[phrase].units.strip_prefix(begun)?;
            Some((phrase, *rest.first()?))
        })
    }

    /// Bars the units that would complete what is to be avoided; but not where a required word only begins like that, which
    /// then has to go on.
    fn avoid<'s>(&'s self, rule: &mut TokenMask<'s>, progress: &ConstraintState, back: &[u32]) {
        let Some(longest) = self.avoided.iter().map(|phrase| phrase.text.len()).max() else { return };
        let spelling = &*self.spelling;
        let mut text = self.tail(back, longest);
        let length = text.len();
        let begun: Vec<(u32, String)> =
            self.continued(progress).map(|(phrase, unit)| (unit, self.begun(phrase, progress))).collect();
        for phrase in self.avoided.iter() {
            if progress.under_way.is_some() && spelling.says(&text, length.saturating_sub(1), &phrase.text) {
                rule.last_word = LastWord::GoesOn(spelling);
            }
            for &unit in &phrase.endings {
                text.push_str(spelling.text(unit));
                let begins = |(wanted, begun): &(u32, String)| {
                    let whole = format!("{begun}{}", spelling.text(unit));
                    *wanted == unit && spelling.says(&whole, whole.len() - 1, &phrase.text)
                };
                if spelling.says(&text, length, &phrase.text) && !begun.iter().any(begins) {
                    rule.barred.push(unit);
                }
                text.truncate(length);
            }
        }
    }

    /// What a hypothesis ends with: as much as a text of so many bytes can be a part of, and the character before it.
    fn tail(&self, back: &[u32], longest: usize) -> String {
        let mut enough = 0;
        let tail = back.iter().take_while(|&&unit| {
            let goes_on = enough <= longest;
            enough += self.spelling.text(unit).len();
            goes_on
        });
        let tail: Vec<&str> = tail.map(|&unit| self.spelling.text(unit)).collect();
        tail.into_iter().rev().collect()
    }

    /// The text of a required phrase as far as a hypothesis has it.
    fn begun(&self, phrase: usize, progress: &ConstraintState) -> String {
        let units = progress.under_way.map_or(0, |(_, units)| units);
        self.required[phrase].units[..units].iter().map(|&unit| self.spelling.text(unit)).collect()
    }
}

impl ConstraintState {
    fn has(&self, phrase: usize) -> bool {
        self.met & (1 << phrase) != 0
    }
}

/// The units that would make a run of `run` units come a second time.
fn repeated(back: &[u32], run: usize) -> Vec<u32> {
    let Some(last) = back.get(..run.saturating_sub(1)) else { return Vec::new() };
    back.windows(run).filter(|units| &units[1..] == last).map(|units| units[0]).collect()
}

/// Which units may come next.
pub struct TokenMask<'a> {
    /// The only one that may.
    only: Option<u32>,
    barred: Vec<u32>,
    wanted: Vec<u32>,
    may_end: bool,
    last_word: LastWord<'a>,
}

/// Whether the last word may become longer, told by how units are spelt.
enum LastWord<'a> {
    /// It may or may not.
    Free,
    /// It has ended.
    Ended(&'a SurfaceForms),
    /// It has to go on, or it would be one that is to be avoided.
    GoesOn(&'a SurfaceForms),
}

impl LastWord<'_> {
    fn allows(&self, unit: u32) -> bool {
        match self {
            Self::Free => true,
            Self::Ended(spelling) => !spelling.continues_word(unit),
            Self::GoesOn(spelling) => spelling.continues_word(unit),
        }
    }
}

impl TokenMask<'_> {
    /// Whether a unit may come.
    pub fn allows(&self, unit: u32) -> bool {
        match self.only {
            Some(only) => unit == only,
            None => (self.may_end || unit != END) && !self.barred.contains(&unit) && self.last_word.allows(unit),
        }
    }

    /// Units that are looked at even if they are not probable.
    pub fn wanted(&self) -> impl Iterator<Item = u32> {
        self.wanted.iter().copied().filter(|&unit| self.allows(unit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn anywhere(phrases: &[&[u32]]) -> Vec<RequiredPhrase> {
        phrases.iter().map(|units| RequiredPhrase { units: units.to_vec(), of: None }).collect()
    }

    fn after(constraints: &DecodingConstraints, units: &[u32]) -> ConstraintState {
        units.iter().fold(ConstraintState::default(), |progress, &unit| constraints.after(&progress, unit))
    }

    #[test]
    fn progress_counts_whole_phrases_and_begun_ones() {
        let constraints = DecodingConstraints {
            required: anywhere(&[&[5, 6, 7], &[5, 6, 8], &[9]]),
            ..DecodingConstraints::default()
        };
        let state = |units: &[u32]| {
            let progress = after(&constraints, units);
            (constraints.bank(&progress), constraints.unmet_constraints(&progress), constraints.proposals(&progress))
        };
        assert_eq!(state(&[]), (0, 3, vec![5, 9]));
        assert_eq!(state(&[4]), (0, 3, vec![5, 9]));
        assert_eq!(state(&[5]), (1, 3, vec![6]));
        assert_eq!(state(&[5, 6]), (2, 3, vec![7, 8]));
        assert_eq!(state(&[5, 6, 8]), (3, 2, vec![5, 9]));
        assert_eq!(state(&[5, 6, 8, 5, 6]), (5, 2, vec![7]));
        assert_eq!(state(&[5, 6, 4]), (0, 3, vec![5, 9]), "a phrase that breaks off has not begun");
        assert_eq!(state(&[5, 6, 9]), (1, 2, vec![5]));
        assert_eq!(state(&[5, 5, 6]), (2, 3, vec![7, 8]));
        assert_eq!(state(&[9, 9, 5, 6, 7, 5, 6, 8]), (7, 0, vec![]));
    }

    #[test]
    fn phrases_beyond_the_most_units_are_left_out() {
        let long = vec![5; MOST_REQUIRED_UNITS / 2];
        let constraints =
            DecodingConstraints { required: anywhere(&[&long, &long, &[6], &[7]]), ..DecodingConstraints::default() }
                .within_units();
        assert_eq!((constraints.required_units(), constraints.left_out()), (MOST_REQUIRED_UNITS, 2));
    }

    #[test]
    fn a_phrase_begins_where_attention_is_on_what_it_translates() {
        let required = vec![
            RequiredPhrase { units: vec![5, 6], of: Some(1..3) },
            RequiredPhrase { units: vec![7], of: Some(0..1) },
            RequiredPhrase { units: vec![8], of: None },
        ];
        let constraints = DecodingConstraints { required, ..DecodingConstraints::default() };
        let placement_penalty = |units: &[u32], unit: u32| {
            let before = after(&constraints, units);
            constraints.placement_penalty(&before, &constraints.after(&before, unit), &[0.001, 0.2, 0.3, 0.5])
        };
        assert!((placement_penalty(&[], 5) - 0.5f64.ln()).abs() < 1e-6);
        assert!((placement_penalty(&[5, 6], 7) - 0.02f64.ln()).abs() < 1e-6);
        for (units, unit) in [(&[5][..], 6), (&[], 4), (&[], 8), (&[5, 6], 5), (&[5], 4)] {
            assert_eq!(placement_penalty(units, unit), 0.0, "{units:?} {unit}");
        }
    }

    #[test]
    fn it_ends_only_when_all_is_there() {
        let constraints = DecodingConstraints { required: anywhere(&[&[5]]), ..DecodingConstraints::default() };
        let rule = |units: &[u32]| constraints.rule(&after(&constraints, units), units.iter().rev().copied(), None);
        assert!(!rule(&[4]).allows(END) && rule(&[4, 5]).allows(END));
    }

    /// A required word may begin like one that is to be avoided, if it goes on; beside others it makes what is to be avoided.
    #[test]
    fn a_required_word_may_begin_with_an_avoided_one() {
        let spelling =
            Arc::new(SurfaceForms::new(["", "", "", "", " a", " b", " c", "d"].map(str::to_owned).to_vec(), true));
        let constraints = |required: &[&[u32]], avoided: &[&str]| DecodingConstraints {
            required: anywhere(required),
            avoided: avoided.iter().map(|text| AvoidedPhrase::new(text, &spelling)).collect(),
            spelling: Arc::clone(&spelling),
            ..DecodingConstraints::default()
        };
        let allowed = |constraints: &DecodingConstraints, units: &[u32]| -> Vec<u32> {
            let rule = constraints.rule(&after(constraints, units), units.iter().rev().copied(), None);
            (2..8).filter(|&unit| rule.allows(unit)).collect()
        };
        let longer = constraints(&[&[5, 7]], &["b"]);
        assert_eq!(allowed(&longer, &[4]), [3, 4, 5, 6, 7]);
        assert_eq!(allowed(&longer, &[4, 5]), [7], "it goes on");
        assert_eq!(allowed(&longer, &[4, 5, 7]), [2, 3, 4, 6], "once is enough");
        let beside = constraints(&[&[5]], &["a b"]);
        assert_eq!(allowed(&beside, &[4]), [3, 4, 6, 7]);
        assert_eq!(allowed(&beside, &[6]), [3, 4, 5, 6, 7]);
    }

    #[test]
    fn a_prefix_leaves_no_choice() {
        let constraints =
            DecodingConstraints { prefix: vec![5, 5], required: anywhere(&[&[6]]), ..DecodingConstraints::default() };
        let allowed = |units: &[u32]| -> Vec<u32> {
            let rule = constraints.rule(&after(&constraints, units), units.iter().rev().copied(), Some(1));
            assert!(rule.wanted().all(|unit| rule.allows(unit)));
            (2..8).filter(|&unit| rule.allows(unit)).collect()
        };
        assert_eq!(allowed(&[]), [5]);
        assert_eq!(allowed(&[5]), [5]);
        assert_eq!(allowed(&[5, 5]), [3, 4, 6, 7]);
        assert_eq!(allowed(&[5, 5, 6]), [2, 3, 4, 7]);
    }

    #[test]
    fn runs_do_not_come_twice() {
        assert_eq!(repeated(&[5, 4, 6, 5, 4], 2), [6], "of 4 5 6 4 5, 6 came after 5");
        assert_eq!(repeated(&[5, 4, 6, 5, 4], 3), [6]);
        assert!(repeated(&[5, 4, 6, 5, 4], 4).is_empty());
        assert_eq!(repeated(&[5, 4], 1), [5, 4]);
        assert!(repeated(&[], 1).is_empty() && repeated(&[], 3).is_empty() && repeated(&[5], 3).is_empty());
    }
}
