//! A lexicon for test models.

use softalign::model::{TokenLexicon, TokenRows};

/// A lexicon with zero to four translations per source token; `sizes` are the source and target vocabulary sizes.
pub fn lexicon(sizes: [usize; 2]) -> TokenLexicon {
    let (mut starts, mut tokens, mut shares) = (vec![0], Vec::new(), Vec::new());
    for source in 0..sizes[0] {
        for entry in 0..source % 5 {
            tokens.push((entry * 5 + source % 4) as u32);
            shares.push(0.1 + 0.2 * entry as f32);
        }
        starts.push(tokens.len() as u32);
    }
    TokenLexicon::from_parts(TokenRows { starts, tokens }, shares, None, sizes).unwrap()
}
