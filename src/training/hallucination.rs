//! Hallucinated pairs for the inflection of unknown words (Anastasopoulos & Neubig 2019, "Pushing the Limits of
//! Low-Resource Morphological Inflection").
//!
//! The longest substring that lemma and form share is their stem. Its beginning is replaced, on both sides, by the beginning
//! of another lemma: with *spielen*, *lernen, lernte* becomes *spernen, spernte*. The paper inserts random letters instead.
//! The end of the stem stays, since vowel harmony and inflection class depend on it.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::random::SeededRng;
use crate::text::{Example, Vocabulary};

/// Minimum number of tokens at the end of a stem that stay.
const KEPT: usize = 3;

/// Hallucination of training pairs.
pub(super) struct Hallucination {
    /// Probability that a pair is replaced by a hallucinated one.
    share: f64,
    /// Target token with the text of each source token, if there is one.
    target_tokens: Vec<Option<u32>>,
    /// Pairs by the first token of their source, which is the part of speech if sources begin with features.
    donors: BTreeMap<u32, Vec<usize>>,
}

/// Token of a source that the target can have.
struct Letter {
    source: u32,
    target: u32,
}

/// A run of tokens that both sides share.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Stem {
    source: usize,
    target: usize,
    length: usize,
}

impl Hallucination {
    /// Returns the hallucination of a share of the examples.
    pub fn new(share: f64, examples: &[Example], [source, target]: [&Vocabulary; 2]) -> Self {
        let target_tokens = source.copies(target);
        let mut donors: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (index, example) in examples.iter().enumerate() {
            if let Some(&first) = example.source.first() {
                donors.entry(first).or_default().push(index);
            }
        }
        Self { share, target_tokens, donors }
    }

    /// Returns the pair, or a hallucinated one in its place. A pair without a stem of more than [`KEPT`] tokens stays.
    pub fn apply(&self, pair: &Example, examples: &[Example], rng: &mut SeededRng) -> Example {
        if rng.uniform() >= self.share {
            return pair.clone();
        }
        let stem = self.stem(pair);
        let Some(donors) = pair.source.first().and_then(|first| self.donors.get(first)) else { return pair.clone() };
        let letters = self.letters(&examples[donors[rng.below(donors.len())]]);
        if stem.length <= KEPT || letters.len() <= KEPT {
            return pair.clone();
        }
        let beginning = &letters[..1 + rng.below(letters.len() - 2)];
        let replaced = 1 + rng.below(stem.length - KEPT);
        let source: Vec<u32> = beginning.iter().map(|letter| letter.source).collect();
        let target: Vec<u32> = beginning.iter().map(|letter| letter.target).collect();
        Example::new(
            spliced(&pair.source, stem.source..stem.source + replaced, &source),
            spliced(&pair.target, stem.target..stem.target + replaced, &target),
        )
    }

    /// Returns the tokens of the source that the target can have.
    fn letters(&self, pair: &Example) -> Vec<Letter> {
        let mut letters = Vec::with_capacity(pair.source.len());
        for &source in &pair.source {
            if let Some(target) = self.target_tokens[source as usize] {
                letters.push(Letter { source, target });
            }
        }
        letters
    }

    /// Returns the longest common substring, the first if several are equally long.
    fn stem(&self, pair: &Example) -> Stem {
        let mut longest = Stem::default();
        // Length of the common substring that ends at each target token and the last source token.
        let mut lengths = vec![0; pair.target.len() + 1];
        for (i, &token) in pair.source.iter().enumerate() {
            let token = self.target_tokens[token as usize];
            for (j, &target) in pair.target.iter().enumerate().rev() {
                lengths[j + 1] = if token == Some(target) { lengths[j] + 1 } else { 0 };
                let length = lengths[j + 1];
                if length > longest.length {
                    longest = Stem { source: i + 1 - length, target: j + 1 - length, length };
                }
            }
        }
        longest
    }
}

/// Returns the tokens with those of a range replaced by others.
fn spliced(tokens: &[u32], range: Range<usize>, others: &[u32]) -> Vec<u32> {
    [&tokens[..range.start], others, &tokens[range.end..]].concat()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::text::{Normalization, ProtectedTokens, Tokenization};

    const PAIRS: [(&str, &str); 5] = [
        ("⟨V⟩⟨PST⟩murren", "murrte"),
        ("⟨V⟩⟨PST⟩aufpassen", "passte auf"),
        ("⟨V⟩⟨PTCP⟩radeln", "geradelt"),
        ("⟨N⟩⟨PL⟩Lampe", "Lampen"),
        ("⟨V⟩⟨PST⟩sein", "war"),
    ];

    fn vocabulary(texts: [&str; 5], protected: &[&str]) -> Arc<Vocabulary> {
        let learned = Vocabulary::train(texts.into_iter(), Tokenization::Char, Normalization::NONE, 99).unwrap();
        let protected = ProtectedTokens::new(protected.iter().map(|&token| token.to_owned())).unwrap();
        Arc::new(learned.with_protected_tokens(&protected))
    }

    fn vocabularies() -> [Arc<Vocabulary>; 2] {
        let lemmas = PAIRS.map(|(source, _)| source.rsplit('⟩').next().unwrap());
        let forms = PAIRS.map(|(_, form)| form);
        [vocabulary(lemmas, &["⟨V⟩", "⟨N⟩", "⟨PST⟩", "⟨PTCP⟩", "⟨PL⟩"]), vocabulary(forms, &[])]
    }

    /// Returns different hallucinations of a pair.
    fn hallucinated(index: usize) -> Vec<[String; 2]> {
        let [source, target] = vocabularies();
        let examples =
            PAIRS.map(|(lemma, form)| Example::new(source.encode(lemma).unwrap(), target.encode(form).unwrap()));
        let hallucination = Hallucination::new(1.0, &examples, [&source, &target]);
        let mut texts = Vec::new();
        for number in 0..200 {
            let new = hallucination.apply(&examples[index], &examples, &mut SeededRng::new(1, "test", number));
            texts.push([source.decode(&new.source), target.decode(&new.target)]);
        }
        texts.sort();
        texts.dedup();
        texts
    }

    #[test]
    fn beginning_of_the_stem_changes_alike_on_both_sides() {
        for (index, before, [source_end, target_end], target_before) in [
            (0, "⟨V⟩⟨PST⟩", ["urren", "urrte"], ""),
            (1, "⟨V⟩⟨PST⟩auf", ["assen", "asste auf"], ""),
            (2, "⟨V⟩⟨PTCP⟩", ["deln", "delt"], "ge"),
        ] {
            let texts = hallucinated(index);
            assert!(texts.len() > 5, "{texts:?}");
            for [lemma, form] in &texts {
                let beginning = lemma.strip_prefix(before).and_then(|lemma| lemma.strip_suffix(&source_end[1..]));
                let same = form.strip_prefix(target_before).and_then(|form| form.strip_suffix(&target_end[1..]));
                assert!(beginning.is_some() && beginning == same, "{lemma} {form}");
                assert!(!form.contains('L'), "only verbs give verbs their letters: {form}");
            }
        }
    }

    #[test]
    fn features_stay_out_of_targets_with_a_joint_vocabulary() {
        let [joint, _] = vocabularies();
        let form = joint.encode("murren").unwrap();
        let examples =
            ["⟨V⟩⟨PST⟩murren", "⟨V⟩⟨PTCP⟩radeln"].map(|lemma| Example::new(joint.encode(lemma).unwrap(), form.clone()));
        let hallucination = Hallucination::new(1.0, &examples, [&joint, &joint]);
        for number in 0..50 {
            let new = hallucination.apply(&examples[0], &examples, &mut SeededRng::new(1, "test", number));
            assert!(!joint.decode(&new.target).contains('⟨'), "{}", joint.decode(&new.target));
        }
    }

    #[test]
    fn pairs_without_a_stem_or_another_lemma_stay() {
        assert_eq!(hallucinated(4), [["⟨V⟩⟨PST⟩sein".to_owned(), "war".to_owned()]]);
        let [source, target] = vocabularies();
        let empty = Example::new(Vec::new(), Vec::new());
        let hallucination = Hallucination::new(1.0, std::slice::from_ref(&empty), [&source, &target]);
        assert!(hallucination.apply(&empty, std::slice::from_ref(&empty), &mut SeededRng::new(1, "test", 0)) == empty);
    }
}
