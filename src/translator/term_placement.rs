//! Terms in place of the model's own words.

use std::collections::HashMap;
use std::ops::Range;

use crate::search::RequiredPhrase;

/// Minimum mean attention on a term of a target word that its translation replaces.
const MIN_ATTENTION: f64 = 0.3;
/// Minimum mean attention of the word's neighbors that it replaces, too.
const MIN_NEIGHBOR_ATTENTION: f64 = 0.5;

/// Target word.
struct Word {
    units: Range<usize>,
    /// Mean attention on a term.
    attention: f64,
    /// Word of the term with the most attention.
    source_word: usize,
}

/// Places terms that a hypothesis lacks where its attention is on them. Returns the text of each unit that changes, and
/// the number of terms that have a place. `attention` has a row for each target unit, `word_of_unit` its word;
/// `starts_with_space` tells whether its text does.
pub(super) fn place_terms(
    terms: &[&RequiredPhrase],
    attention: &[Vec<f32>],
    word_of_unit: &[usize],
    starts_with_space: impl Fn(usize) -> bool,
) -> (HashMap<usize, String>, usize) {
    let mut texts = HashMap::new();
    let mut placed = 0;
    for term in terms {
        let units = replaced_units(&target_words(term, attention, word_of_unit));
        let Some(first) = units.clone().next() else { continue };
        placed += 1;
        texts.extend(units.map(|unit| (unit, String::new())));
        let space = if starts_with_space(first) { " " } else { "" };
        texts.insert(first, format!("{space}{}", term.text));
    }
    (texts, placed)
}

fn target_words(term: &RequiredPhrase, attention: &[Vec<f32>], word_of_unit: &[usize]) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    for word in word_of_unit.chunk_by(|a, b| a == b) {
        let start = words.last().map_or(0, |word| word.units.end);
        let units = start..start + word.len();
        let mut sums = vec![0.0; term.term.len()];
        for row in &attention[units.clone()] {
            sums.iter_mut().zip(term.attention_on_term(row)).for_each(|(sum, on_word)| *sum += on_word);
        }
        let source_word = (0..sums.len()).max_by(|&a, &b| sums[a].total_cmp(&sums[b])).unwrap_or_default();
        words.push(Word { attention: sums.iter().sum::<f64>() / units.len() as f64, units, source_word });
    }
    words
}

/// Range of the units that a term replaces, possibly empty: those of the word with the most attention on it and of its
/// neighbors with enough. A word before it that attends to the same word of the term can be its article, and stays.
fn replaced_units(words: &[Word]) -> Range<usize> {
    // The first one of equals.
    let most = (0..words.len()).min_by(|&a, &b| words[b].attention.total_cmp(&words[a].attention));
    let Some(most) = most.filter(|&most| words[most].attention >= MIN_ATTENTION) else { return 0..0 };
    let is_attended = |word: &&Word| word.attention >= MIN_NEIGHBOR_ATTENTION;
    let is_before = |word: &&Word| is_attended(word) && word.source_word != words[most].source_word;
    let before = words[..most].iter().rev().take_while(is_before).count();
    let after = words[most + 1..].iter().take_while(is_attended).count();
    words[most - before].units.start..words[most + after].units.end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn term(words: &[(usize, usize)]) -> RequiredPhrase {
        let term = words.iter().map(|&(start, end)| start..end).collect();
        RequiredPhrase { text: "cuisine".to_owned(), units: vec![9], term }
    }

    #[test]
    fn term_replaces_the_words_that_attend_to_it() {
        // la grand|e salle de bain .
        let attention = [0.8, 0.1, 0.1, 0.9, 0.6, 0.7, 0.0].map(|on_term: f32| vec![1.0 - on_term, on_term]);
        let place = |terms: &[&RequiredPhrase]| place_terms(terms, &attention, &[0, 1, 1, 2, 3, 4, 5], |unit| unit > 0);
        let replaced = [(3, " cuisine".to_owned()), (4, String::new()), (5, String::new())];
        assert_eq!(place(&[&term(&[(1, 2)])]), (HashMap::from(replaced), 1));
        assert_eq!(place(&[&term(&[(5, 6)])]), (HashMap::new(), 0));
        assert_eq!(place(&[]), (HashMap::new(), 0));
    }

    #[test]
    fn term_of_several_words_replaces_all_but_an_article() {
        // un chapeau noir, attending to black, hat, black
        let attention = [[0.8, 0.1], [0.1, 0.8], [1.0, 0.0]].map(Vec::from);
        let place = |term: &RequiredPhrase, range: Range<usize>| {
            place_terms(&[term], &attention[range.clone()], &[0, 1, 2][range], |_| false)
        };
        let (texts, _) = place(&term(&[(0, 1), (1, 2)]), 1..3);
        assert_eq!(texts, HashMap::from([(0, "cuisine".to_owned()), (1, String::new())]));
        let (texts, _) = place(&term(&[(1, 2)]), 0..3);
        assert_eq!(texts, HashMap::from([(1, "cuisine".to_owned())]));
        let article = [vec![0.9], vec![1.0]];
        let (texts, _) = place_terms(&[&term(&[(0, 1)])], &article, &[0, 1], |_| false);
        assert_eq!(texts, HashMap::from([(1, "cuisine".to_owned())]));
    }
}
