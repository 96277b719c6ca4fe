//! Places of terms in a hypothesis that lacks them.

use std::ops::Range;

use crate::search::RequiredPhrase;

/// Minimum mean attention on a term of a target word that its translation replaces.
const MIN_ATTENTION: f64 = 0.3;
/// Minimum mean attention of the word's neighbors that it replaces, too.
const MIN_NEIGHBOR_ATTENTION: f64 = 0.5;

/// Word of a hypothesis.
struct Word {
    /// Indices of its tokens.
    tokens: Range<usize>,
    /// Mean attention of its tokens on the term.
    attention: f64,
    /// Word of the term with the most attention.
    source_word: usize,
    /// True if one of its tokens stays.
    is_kept: bool,
}

impl Word {
    /// True if the term replaces it together with a word beside it.
    fn is_replaced_neighbor(&self) -> bool {
        self.attention >= MIN_NEIGHBOR_ATTENTION && !self.is_kept
    }
}

/// Returns the range of the tokens of a hypothesis that a term replaces, possibly empty: those of the word with the most
/// attention on it and of its neighbors with enough. A word before it that attends to the same word of the term can be its
/// article, and stays; so do words with a token in `kept`. `attention` has a row `[source + 1]` for each target token,
/// `word_of_token` its word.
pub(super) fn replaced_tokens(
    term: &RequiredPhrase,
    attention: &[Vec<f32>],
    word_of_token: &[usize],
    kept: &[bool],
) -> Range<usize> {
    let words = target_words(term, attention, word_of_token, kept);
    let free = (0..words.len()).filter(|&word| !words[word].is_kept);
    // The first one of equals.
    let most = free.min_by(|&a, &b| words[b].attention.total_cmp(&words[a].attention));
    let Some(most) = most.filter(|&most| words[most].attention >= MIN_ATTENTION) else { return 0..0 };
    let attended = words[most].source_word;
    let words_before = words[..most].iter().rev();
    let before = words_before.take_while(|word| word.is_replaced_neighbor() && word.source_word != attended).count();
    let after = words[most + 1..].iter().take_while(|word| word.is_replaced_neighbor()).count();
    words[most - before].tokens.start..words[most + after].tokens.end
}

/// Returns the words of a hypothesis with their attention on a term.
fn target_words(term: &RequiredPhrase, attention: &[Vec<f32>], word_of_token: &[usize], kept: &[bool]) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    for word in word_of_token.chunk_by(|a, b| a == b) {
        let start = words.last().map_or(0, |word| word.tokens.end);
        let tokens = start..start + word.len();
        let mut sums = vec![0.0; term.term.len()];
        for row in &attention[tokens.clone()] {
            sums.iter_mut().zip(term.attention_on_term(row)).for_each(|(sum, on_word)| *sum += on_word);
        }
        let source_word = (0..sums.len()).max_by(|&a, &b| sums[a].total_cmp(&sums[b])).unwrap_or_default();
        let attention = sums.iter().sum::<f64>() / tokens.len() as f64;
        let is_kept = kept[tokens.clone()].contains(&true);
        words.push(Word { tokens, attention, source_word, is_kept });
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn term(words: &[(usize, usize)]) -> RequiredPhrase {
        let term = words.iter().map(|&(start, end)| start..end).collect();
        RequiredPhrase { text: "cuisine".to_owned(), tokens: vec![9], term }
    }

    #[test]
    fn term_replaces_the_words_that_attend_to_it() {
        // la grand|e salle de bain .
        let attention = [0.8, 0.1, 0.1, 0.9, 0.6, 0.7, 0.0].map(|on_term: f32| vec![1.0 - on_term, on_term]);
        let word_of_token = [0, 1, 1, 2, 3, 4, 5];
        for (source, kept, expected, reason) in [
            (1, &[0, 4][..], 3..4, "a kept neighbor stays"),
            (1, &[], 3..6, "the words with attention on it"),
            (5, &[], 0..0, "no word has attention on it"),
            (1, &[0, 3], 5..6, "the next best word, without the kept ones"),
            (0, &[0, 6], 1..3, "neither one nor half of a word"),
            (0, &[2, 6], 4..5, "no word of which half is kept"),
        ] {
            let kept = std::array::from_fn::<bool, 7, _>(|token| kept.contains(&token));
            let replaced = replaced_tokens(&term(&[(source, source + 1)]), &attention, &word_of_token, &kept);
            assert_eq!(replaced, expected, "{reason}");
        }
    }

    #[test]
    fn term_of_several_words_replaces_all_but_an_article() {
        // un chapeau noir, attending to black, hat, black
        let attention = [[0.8, 0.1], [0.1, 0.8], [1.0, 0.0]].map(Vec::from);
        assert_eq!(replaced_tokens(&term(&[(0, 1), (1, 2)]), &attention[1..], &[1, 2], &[false; 2]), 0..2);
        assert_eq!(replaced_tokens(&term(&[(1, 2)]), &attention, &[0, 1, 2], &[false; 3]), 1..2);
        let article = [vec![0.9], vec![1.0]];
        assert_eq!(replaced_tokens(&term(&[(0, 1)]), &article, &[0, 1], &[false; 2]), 1..2);
    }
}
