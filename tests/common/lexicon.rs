//! A lexicon for test models.

use softalign::model::{UnitLexicon, UnitRows};

/// A lexicon with zero to four translations per source unit; `sizes` are the source and target vocabulary sizes.
pub fn lexicon(sizes: [usize; 2]) -> UnitLexicon {
    let (mut starts, mut units, mut shares) = (vec![0], Vec::new(), Vec::new());
    for source in 0..sizes[0] {
        for entry in 0..source % 5 {
            units.push((entry * 5 + source % 4) as u32);
            shares.push(0.1 + 0.2 * entry as f32);
        }
        starts.push(units.len() as u32);
    }
    UnitLexicon::from_parts(UnitRows { starts, units }, shares, None, sizes).unwrap()
}
