//! What is wrong with pairs of a corpus, as far as their text alone tells.

use std::collections::{HashMap, HashSet};

use unicode_script::{Script, UnicodeScript};

use super::{NormalForm, Pair, WordSplitting, word_spans};

/// The share of a side's letters that makes a script one of the side's own.
const OWN_SCRIPT: f64 = 0.1;
/// Characters that are added to both sides before their lengths are compared: in short sentences a word more is no sign.
const SHORT: f64 = 10.0;

/// A reason to leave a pair out. Where there are several it is the first of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NoiseKind {
    /// A side has no words.
    Empty,
    /// A side has too many words.
    Long,
    /// Both sides are the same.
    Identical,
    /// The pair has been there before.
    Duplicate,
    /// A side is mostly in a script that is not the side's own.
    Script,
    /// One side is far longer beside the other than usual.
    Proportion,
    /// Its words belong together less than those of other pairs.
    Suspicious,
}

impl NoiseKind {
    /// All of them, in the order in which they count.
    pub const ALL: [Self; 7] =
        [Self::Empty, Self::Long, Self::Identical, Self::Duplicate, Self::Script, Self::Proportion, Self::Suspicious];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Long => "long",
            Self::Identical => "identical",
            Self::Duplicate => "duplicate",
            Self::Script => "script",
            Self::Proportion => "proportion",
            Self::Suspicious => "suspicious",
        }
    }
}

/// From where on something is wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FilterLimits {
    /// Words of a side, at most.
    pub words: usize,
    /// How many times longer a side may be beside the other than it is in the whole corpus, in characters.
    pub proportion: f64,
}

/// The first defect of each pair, but those that are `accepted`. Texts that are the same in NFC are the same.
pub fn defects(pairs: &[Pair], limits: FilterLimits, accepted: &HashSet<NoiseKind>) -> Vec<Option<NoiseKind>> {
    let own = [
        scripts(pairs.iter().map(|pair| pair.source.as_str())),
        scripts(pairs.iter().map(|pair| pair.target.as_str())),
    ];
    let characters =
        |text: &str| NormalForm::Nfc.apply(text).chars().filter(|character| !character.is_whitespace()).count() as f64;
    let total = |side: fn(&Pair) -> &str| pairs.iter().map(|pair| characters(side(pair))).sum::<f64>().max(1.0);
    let usual = total(|pair| &pair.target) / total(|pair| &pair.source);
    let mut seen = HashSet::new();
    let defect = |pair: &Pair| {
        let [source, target] = [&pair.source, &pair.target].map(|text| NormalForm::Nfc.apply(text));
        let words = [&source, &target].map(|text| word_spans(text, WordSplitting::Whitespace).len());
        let known = !seen.insert((source.trim().to_owned(), target.trim().to_owned()));
        let unlike = ((characters(&target) + SHORT) / (usual * characters(&source) + SHORT)).ln().abs();
        let found = |defect: NoiseKind| match defect {
            NoiseKind::Empty => words.contains(&0),
            NoiseKind::Long => words.iter().any(|&words| words > limits.words),
            NoiseKind::Identical => source.trim() == target.trim() && source.chars().any(char::is_alphabetic),
            NoiseKind::Duplicate => known,
            NoiseKind::Script => is_foreign(&source, &own[0]) || is_foreign(&target, &own[1]),
            NoiseKind::Proportion => unlike > limits.proportion.ln(),
            NoiseKind::Suspicious => false,
        };
        NoiseKind::ALL.into_iter().find(|&defect| !accepted.contains(&defect) && found(defect))
    };
    pairs.iter().map(defect).collect()
}

/// The scripts that a good part of a side is written in.
fn scripts<'t>(texts: impl Iterator<Item = &'t str>) -> HashSet<Script> {
    let mut counts: HashMap<Script, usize> = HashMap::new();
    texts.flat_map(str::chars).filter_map(script).for_each(|script| *counts.entry(script).or_default() += 1);
    let all: usize = counts.values().sum();
    counts.into_iter().filter(|(_, count)| *count as f64 >= OWN_SCRIPT * all as f64).map(|(script, _)| script).collect()
}

/// Whether more than half of the letters are of other scripts.
fn is_foreign(text: &str, own: &HashSet<Script>) -> bool {
    let (mut letters, mut foreign) = (0, 0);
    for script in text.chars().filter_map(script) {
        letters += 1;
        foreign += usize::from(!own.contains(&script));
    }
    2 * foreign > letters
}

/// A letter's script; none of what stands in many, as digits and punctuation do. Those that make up Japanese count as one.
fn script(character: char) -> Option<Script> {
    match character.script() {
        Script::Common | Script::Inherited | Script::Unknown => None,
        Script::Hiragana | Script::Katakana => Some(Script::Han),
        script => Some(script),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: FilterLimits = FilterLimits { words: 6, proportion: 2.5 };

    fn found(pairs: &[(&str, &str)], accepted: &[NoiseKind]) -> Vec<Option<NoiseKind>> {
        let pair =
            |(source, target): &(&str, &str)| Pair { source: (*source).to_owned(), target: (*target).to_owned() };
        let pairs: Vec<Pair> = pairs.iter().map(pair).collect();
        defects(&pairs, LIMITS, &accepted.iter().copied().collect())
    }

    const PAIRS: [(&str, &str); 12] = [
        ("the fox sleeps now", "fuksen sover nu"),
        ("", "ingenting"),
        ("one two three four five six seven", "mange"),
        ("Berlin", "Berlin"),
        ("12", "12"),
        ("the fox sleeps now ", "fuksen sover nu"),
        ("лиса спит", "fuksen sover"),
        ("a fox", "en fuks som har sovet i skogen hele dagen"),
        ("the owl sings today", "ugla synger i dag"),
        ("a fox sees (лиса)", "fuksen ser (лиса)"),
        ("the old owl sleeps in the", "den gamle ugla sover i"),
        ("the grey owl sings", "den grå ugla synger"),
    ];

    #[test]
    fn each_pair_has_its_first_defect() {
        use NoiseKind::{Duplicate, Empty, Identical, Long, Proportion, Script};
        let expected = [
            None,
            Some(Empty),
            Some(Long),
            Some(Identical),
            None,
            Some(Duplicate),
            Some(Script),
            Some(Long),
            None,
            None,
            None,
            None,
        ];
        assert_eq!(found(&PAIRS, &[]), expected);
        assert_eq!(found(&PAIRS, &[Long, Identical])[7], Some(Proportion));
        assert_eq!(found(&PAIRS, &NoiseKind::ALL), [None; 12]);
        assert!(found(&[], &[]).is_empty());
    }

    #[test]
    fn scripts_are_those_of_a_good_part() {
        let japanese =
            [("猫が好き", "I like cats"), ("カメラ", "a camera"), ("はい", "yes indeed"), ("дом", "a house")];
        assert_eq!(found(&japanese, &[])[..3], [None; 3]);
        assert_eq!(found(&[("12 % !", "12 %")], &[]), [None]);
    }
}
