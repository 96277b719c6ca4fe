//! What users ask of translations in words, as demands in a model's units.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use anyhow::{Result, ensure};

use super::{LONGEST, Sentence};
use crate::search::{AvoidedPhrase, DecodingConstraints, MOST_REQUIRED_UNITS, RequiredPhrase};
use crate::text::{
    LONGEST_LINE, NormalForm, Normalization, Pair, Segmentation, SurfaceForms, UNKNOWN, Vocabulary, WordSplitting,
    has_phrase, word_spans,
};

/// What translations have to begin with, to contain and not to contain.
#[derive(Clone, Debug, Default)]
pub struct Constraints {
    /// What each begins with; with white space at the end whole words.
    pub prefix: Option<String>,
    /// Words or phrases that each contains.
    pub required: Vec<String>,
    /// Words or phrases that none contains.
    pub avoided: Vec<String>,
    /// Translations of terms, which are required where a term stands in the source.
    pub terms: Terminology,
}

impl Constraints {
    /// The same as the target's text is read, with which what is said is compared.
    #[must_use]
    pub fn normalised(self, normalization: Normalization) -> Self {
        let normal = |text: String| normalization.apply(&text).into_owned();
        Self {
            prefix: self.prefix.map(normal),
            required: self.required.into_iter().map(normal).collect(),
            avoided: self.avoided.into_iter().map(normal).collect(),
            terms: self.terms.normalised(normalization),
        }
    }

    /// True if these ask for nothing.
    pub fn is_empty(&self) -> bool {
        let Self { prefix, required, avoided, terms } = self;
        prefix.is_none() && required.is_empty() && avoided.is_empty() && terms.by_first_word.is_empty()
    }

    /// A phrase that is both to be said and to be avoided, if there is one.
    pub fn contradiction(&self) -> Option<&str> {
        let said = || self.required.iter().chain(&self.prefix).map(String::as_str).chain(self.terms.translations());
        let avoided = self.avoided.iter().map(|phrase| phrase.trim());
        avoided.into_iter().find(|phrase| said().any(|text| has_phrase(text, phrase)))
    }
}

/// Terms with what they are to be translated by.
#[derive(Clone, Debug, Default)]
pub struct Terminology {
    /// By the first word of a term its words, those of most words first, and its translation.
    by_first_word: HashMap<String, Vec<(Vec<String>, String)>>,
}

impl Terminology {
    /// From pairs of a term and its translation; of equal terms the first one counts.
    pub fn of(pairs: Vec<Pair>) -> Self {
        let mut by_first_word: HashMap<String, Vec<(Vec<String>, String)>> = HashMap::new();
        for Pair { source, target } in pairs {
            let words: Vec<String> = words(&source).map(alike).collect();
            if let Some(first) = words.first() {
                by_first_word.entry(first.clone()).or_default().push((words, target.trim().to_owned()));
            }
        }
        by_first_word.values_mut().for_each(|terms| terms.sort_by_key(|(words, _)| std::cmp::Reverse(words.len())));
        Self { by_first_word }
    }

    fn translations(&self) -> impl Iterator<Item = &str> {
        self.by_first_word.values().flatten().map(|(_, translation)| translation.as_str())
    }

    /// The same with translations as the target's text is read.
    fn normalised(mut self, normalization: Normalization) -> Self {
        for (_, translation) in self.by_first_word.values_mut().flatten() {
            *translation = normalization.apply(translation).into_owned();
        }
        self
    }

    /// Those whose translation a model can say, and the others' translations.
    fn sayable(self, target: &Vocabulary) -> Result<(Self, Vec<String>)> {
        let (mut kept, mut skipped_terms) = (Self::default(), Vec::new());
        for (first, terms) in self.by_first_word {
            for (words, translation) in terms {
                if is_known(&target.encode(&translation)?) {
                    kept.by_first_word.entry(first.clone()).or_default().push((words, translation));
                } else {
                    skipped_terms.push(translation);
                }
            }
        }
        skipped_terms.sort();
        Ok((kept, skipped_terms))
    }

    /// The terms among the words of a sentence, from left to right and the longest first, each with its translation.
    fn among(&self, words: &[String]) -> Vec<(Range<usize>, &str)> {
        let sentence: Vec<String> = words.iter().map(|word| alike(word)).collect();
        let mut found = Vec::new();
        let mut place = 0;
        while let Some(word) = sentence.get(place) {
            let terms = self.by_first_word.get(word).map_or(&[][..], Vec::as_slice);
            let term = terms.iter().find(|(words, _)| sentence[place..].starts_with(words));
            let end = place + term.map_or(1, |(words, _)| words.len());
            found.extend(term.map(|(_, translation)| (place..end, translation.as_str())));
            place = end;
        }
        found
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    word_spans(text, WordSplitting::Terms).into_iter().map(|span| &text[span])
}

/// What equal words of terms and sentences have in common: capitals and small letters are the same, and forms of Unicode.
fn alike(word: &str) -> String {
    Normalization { form: NormalForm::Nfc, lowercase: true }.apply(word).into_owned()
}

fn is_known(units: &[u32]) -> bool {
    !units.is_empty() && !units.contains(&UNKNOWN)
}

/// Constraints that a model can keep to.
#[derive(Clone)]
pub struct CompiledConstraints {
    prefix: Option<String>,
    required: Vec<RequiredPhrase>,
    avoided: Arc<[AvoidedPhrase]>,
    /// The same as text.
    avoided_texts: Vec<String>,
    terms: Terminology,
    spelling: Arc<SurfaceForms>,
    /// Translations of terms that the model has no units for, and that are not asked of it.
    pub skipped_terms: Vec<String>,
}

impl CompiledConstraints {
    /// Constraints in the units of a model's target.
    ///
    /// # Errors
    /// The model has no unit for something that is to be said.
    pub fn new(constraints: Constraints, target: &Vocabulary) -> Result<Self> {
        let spelling = Arc::new(target.spelling());
        let require = |phrase: &String| Ok(RequiredPhrase { units: sayable(phrase.trim(), target)?, of: None });
        let required: Vec<RequiredPhrase> = constraints.required.iter().map(require).collect::<Result<_>>()?;
        let units: usize = required.iter().map(|phrase| phrase.units.len()).sum();
        ensure!(
            units <= MOST_REQUIRED_UNITS,
            "--require: its phrases are {units} units of this model together, and {MOST_REQUIRED_UNITS} can be asked for"
        );
        let avoided = constraints.avoided.iter().map(|phrase| AvoidedPhrase::new(phrase.trim(), &spelling)).collect();
        let (terms, skipped_terms) = constraints.terms.sayable(target)?;
        let avoided_texts = constraints.avoided.iter().map(|phrase| phrase.trim().to_owned()).collect();
        Ok(Self { prefix: constraints.prefix, required, avoided, avoided_texts, terms, spelling, skipped_terms })
    }

    /// Says whether a sentence has a beginning that the model has units for, or none.
    ///
    /// # Errors
    /// It has none for something in it.
    pub fn check_beginning(&self, sentence: &Sentence, target: &Vocabulary) -> Result<()> {
        sentence.begins.as_ref().map_or(Ok(()), |begins| beginning(begins, target).map(drop))
    }

    /// Whether a text that no units spell holds what is to be avoided.
    pub fn avoids(&self, text: &str) -> bool {
        self.avoided_texts.iter().any(|phrase| has_phrase(text, phrase))
    }

    /// What the translation of a sentence has to keep to, which may have a beginning of its own.
    ///
    /// # Errors
    /// The model has no unit for something in the beginning.
    pub fn constraints(&self, sentence: &Sentence, [source, target]: [&Vocabulary; 2]) -> Result<DecodingConstraints> {
        let prefix = sentence.begins.as_ref().or(self.prefix.as_ref()).map_or("", String::as_str);
        let mut required = self.required.clone();
        required.extend(self.required_terms(sentence, [source, target])?);
        let required = self.once(required);
        Ok(DecodingConstraints {
            prefix: beginning(prefix, target)?,
            prefix_ends_word: prefix.ends_with(char::is_whitespace),
            required,
            left_out: 0,
            avoided: Arc::clone(&self.avoided),
            spelling: Arc::clone(&self.spelling),
        }
        .within_units())
    }

    /// Phrases without those that are said with another one: equal ones, and what stands in it as whole words.
    fn once(&self, phrases: Vec<RequiredPhrase>) -> Vec<RequiredPhrase> {
        let said_with = |place: usize, other: usize| {
            let (units, longer) = (&phrases[place].units, &phrases[other].units);
            let ends = longer.windows(units.len()).enumerate().filter(|(_, run)| *run == &units[..]);
            let mut after = ends.map(|(start, _)| longer.get(start + units.len()));
            let is_whole = after.any(|unit| unit.is_none_or(|&unit| !self.spelling.continues_word(unit)));
            is_whole && (longer.len() > units.len() || other < place)
        };
        let needed = |&place: &usize| !(0..phrases.len()).any(|other| other != place && said_with(place, other));
        (0..phrases.len()).filter(needed).map(|place| phrases[place].clone()).collect()
    }

    fn required_terms(&self, sentence: &Sentence, [source, target]: [&Vocabulary; 2]) -> Result<Vec<RequiredPhrase>> {
        if self.terms.by_first_word.is_empty() {
            return Ok(Vec::new());
        }
        let (given, before) = sentence.segment_given(source, WordSplitting::Terms)?;
        let Segmentation { words, word_of_unit, .. } = given.cut_to(LONGEST);
        let required = |(of_words, translation): (Range<usize>, &str)| {
            let unit = |word: usize| before + word_of_unit.partition_point(|&of_unit| of_unit < word);
            let units = unit(of_words.start)..unit(of_words.end);
            Ok(RequiredPhrase { units: target.encode(translation)?, of: Some(units) })
        };
        self.terms.among(&words).into_iter().map(required).collect()
    }
}

/// The units of what a translation begins with.
fn beginning(prefix: &str, target: &Vocabulary) -> Result<Vec<u32>> {
    if prefix.trim().is_empty() {
        return Ok(Vec::new());
    }
    let prefix = &prefix.trim()[..prefix.trim().floor_char_boundary(LONGEST_LINE)];
    let length = target.encode(prefix)?.len();
    ensure!(
        length <= LONGEST,
        "{:?} is too long: a translation can begin with {LONGEST} units of this model, and these are {length}",
        shortened(prefix)
    );
    sayable(prefix, target)
}

fn sayable(text: &str, target: &Vocabulary) -> Result<Vec<u32>> {
    let units = target.encode(text)?;
    ensure!(
        is_known(&units),
        "{:?} is to be said, but the model has no units for it: it was in none of its training pairs",
        shortened(text)
    );
    Ok(units)
}

/// A text as messages quote it.
fn shortened(text: &str) -> Cow<'_, str> {
    const QUOTED: usize = 60;
    match text.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(pairs: &[(&str, &str)]) -> Terminology {
        let pair = |&(source, target): &(&str, &str)| Pair { source: source.to_owned(), target: target.to_owned() };
        Terminology::of(pairs.iter().map(pair).collect())
    }

    #[test]
    fn terms_are_found_as_words_the_longest_first() {
        let terms = terms(&[
            ("new", "neu"),
            ("New  York", "N. Y."),
            ("york", "Eber"),
            ("new", "jung"),
            ("", "nichts"),
            ("Cafe\u{301}", "Bar"),
        ]);
        let among = |sentence: &str| -> Vec<(Range<usize>, String)> {
            let words: Vec<String> = words(sentence).map(str::to_owned).collect();
            terms.among(&words).into_iter().map(|(place, translation)| (place, translation.to_owned())).collect()
        };
        assert_eq!(among("In new york, new things."), [(1..3, "N. Y.".to_owned()), (4..5, "neu".to_owned())]);
        assert_eq!(among("(New) Yorkshire York"), [(1..2, "neu".to_owned()), (4..5, "Eber".to_owned())]);
        assert_eq!(among("caf\u{e9} CAFE\u{301}"), [(0..1, "Bar".to_owned()), (1..2, "Bar".to_owned())]);
        assert!(among("newer").is_empty() && among("").is_empty());
    }

    #[test]
    fn contradictions_are_found() {
        let constraints = |prefix: Option<&str>, required: &[&str], avoided: &[&str]| {
            let all = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
            let prefix = prefix.map(str::to_owned);
            Constraints { prefix, required: all(required), avoided: all(avoided), terms: Terminology::default() }
        };
        assert_eq!(constraints(None, &["a b"], &["x", "b "]).contradiction(), Some("b"));
        assert_eq!(constraints(Some("é a"), &[], &["é"]).contradiction(), Some("é"));
        assert_eq!(constraints(Some("ab"), &["ba c"], &["b", "x"]).contradiction(), None);
        let of_terms = Constraints { terms: terms(&[("a", "une robe")]), ..constraints(None, &[], &["robe"]) };
        assert_eq!(of_terms.contradiction(), Some("robe"));
    }
}
