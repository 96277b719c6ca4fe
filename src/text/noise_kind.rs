//! Noise in a parallel corpus that the text alone reveals.

use std::collections::{HashMap, HashSet};

use unicode_script::{Script, UnicodeScript};

use super::{NormalForm, Pair, WordSplitting, word_spans};

/// Minimum share of a side's letters for a script to be one of the side's scripts.
const MIN_SCRIPT_SHARE: f64 = 0.1;
/// Characters added to both sides before their lengths are compared, since length ratios of short pairs vary more.
const LENGTH_SMOOTHING: f64 = 10.0;

/// Reason to omit a pair. If several apply, the first of these counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum NoiseKind {
    /// A side has no words.
    Empty,
    /// A side has more words than --max-words.
    Long,
    /// Both sides are identical and have letters.
    Identical,
    /// The pair occurred before.
    Duplicate,
    /// A side is mostly in a script that is unusual for that side.
    Script,
    /// The length ratio of the sides exceeds --max-proportion.
    Proportion,
    /// The words align worse than those of other pairs; see --noisy.
    Suspicious,
}

impl NoiseKind {
    /// All kinds, by precedence.
    pub const ALL: [Self; 7] =
        [Self::Empty, Self::Long, Self::Identical, Self::Duplicate, Self::Script, Self::Proportion, Self::Suspicious];

    /// Returns the name.
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

/// Thresholds of the noise filter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FilterLimits {
    /// Maximum number of words of a side.
    pub words: usize,
    /// Maximum factor between the length ratio of a pair, in characters, and that of the corpus.
    pub proportion: f64,
}

/// Returns the first kind of noise of each pair, other than those `accepted`. Texts are compared in NFC.
pub fn defects(pairs: &[Pair], limits: FilterLimits, accepted: &HashSet<NoiseKind>) -> Vec<Option<NoiseKind>> {
    let side_scripts = [
        scripts(pairs.iter().map(|pair| pair.source.as_str())),
        scripts(pairs.iter().map(|pair| pair.target.as_str())),
    ];
    let total_source: f64 = pairs.iter().map(|pair| characters(&pair.source)).sum();
    let total_target: f64 = pairs.iter().map(|pair| characters(&pair.target)).sum();
    let corpus_ratio = total_target.max(1.0) / total_source.max(1.0);
    let mut seen = HashSet::new();
    let mut defects = Vec::with_capacity(pairs.len());
    for pair in pairs {
        let [source, target] = [&pair.source, &pair.target].map(|text| NormalForm::Nfc.apply(text));
        let words = [&source, &target].map(|text| word_spans(text, WordSplitting::Script).len());
        let is_duplicate = !seen.insert((source.trim().to_owned(), target.trim().to_owned()));
        let deviation = ((characters(&target) + LENGTH_SMOOTHING)
            / (corpus_ratio * characters(&source) + LENGTH_SMOOTHING))
            .ln()
            .abs();
        let mut kinds = NoiseKind::ALL.into_iter().filter(|kind| !accepted.contains(kind));
        defects.push(kinds.find(|kind| match kind {
            NoiseKind::Empty => words.contains(&0),
            NoiseKind::Long => words.iter().any(|&words| words > limits.words),
            NoiseKind::Identical => source.trim() == target.trim() && source.chars().any(char::is_alphabetic),
            NoiseKind::Duplicate => is_duplicate,
            NoiseKind::Script => is_foreign(&source, &side_scripts[0]) || is_foreign(&target, &side_scripts[1]),
            NoiseKind::Proportion => deviation > limits.proportion.ln(),
            NoiseKind::Suspicious => false,
        }));
    }
    defects
}

/// Returns the number of characters other than white space.
fn characters(text: &str) -> f64 {
    NormalForm::Nfc.apply(text).chars().filter(|character| !character.is_whitespace()).count() as f64
}

/// Returns the scripts of at least [`MIN_SCRIPT_SHARE`] of the letters.
fn scripts<'t>(texts: impl Iterator<Item = &'t str>) -> HashSet<Script> {
    let mut counts: HashMap<Script, usize> = HashMap::new();
    texts.flat_map(str::chars).filter_map(script).for_each(|script| *counts.entry(script).or_default() += 1);
    let all: usize = counts.values().sum();
    counts
        .into_iter()
        .filter(|(_, count)| *count as f64 >= MIN_SCRIPT_SHARE * all as f64)
        .map(|(script, _)| script)
        .collect()
}

/// True if more than half of the letters are in other scripts.
fn is_foreign(text: &str, own: &HashSet<Script>) -> bool {
    let (mut letters, mut foreign) = (0, 0);
    for script in text.chars().filter_map(script) {
        letters += 1;
        foreign += usize::from(!own.contains(&script));
    }
    2 * foreign > letters
}

/// Returns the script of a letter; none for characters of many scripts, such as digits and punctuation. Kana count as
/// Han, since Japanese mixes them.
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
        let pairs: Vec<Pair> = pairs.iter().map(|&(source, target)| Pair::new(source, target)).collect();
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
    fn reports_first_kind_of_each_pair() {
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
    fn counts_characters_of_scripts_without_spaces() {
        let [short, long] = [("猫が好きだ", "cats"), ("彼は猫が好きだ", "cats")].map(|pair| found(&[pair], &[]));
        assert_eq!((short, long), (vec![None], vec![Some(NoiseKind::Long)]));
    }

    #[test]
    fn accepts_scripts_common_on_their_side() {
        let japanese =
            [("猫が好き", "I like cats"), ("カメラ", "a camera"), ("はい", "yes indeed"), ("дом", "a house")];
        assert_eq!(found(&japanese, &[])[..3], [None; 3]);
        assert_eq!(found(&[("12 % !", "12 %")], &[]), [None]);
    }
}
