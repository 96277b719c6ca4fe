//! Links the words of sentence pairs with the statistical aligner alone, as fast_align does.
//!
//!     cargo run --release --example align -- data/test.tsv

use softalign::{Aligner, Result};

fn main() -> Result<()> {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: align PAIRS.tsv");
        std::process::exit(2);
    };
    let pairs = softalign::read_pairs(path)?;
    for linked in Aligner::fit(&pairs)?.align(&pairs)? {
        println!("{}", linked.pharaoh());
    }
    Ok(())
}
