//! What counts as the same word.

/// A word without regard to capitals and to the punctuation around it, so that `hier.` is the word `hier`; punctuation
/// alone stays as it is.
pub fn normalised(word: &str) -> String {
    let bare = word.trim_matches(|character: char| !character.is_alphanumeric());
    (if bare.is_empty() { word } else { bare }).to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_meet_in_their_normal_form() {
        for (word, expected) in [("Hier.", "hier"), ("«L'été»", "l'été"), (".", "."), ("...", "..."), ("", "")] {
            assert_eq!(normalised(word), expected);
        }
    }
}
