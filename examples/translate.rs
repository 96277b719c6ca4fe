//! Translates sentences with a trained model and prints the three best translations of each.
//!
//!     cargo run --release --example translate -- checkpoints "They bought a hat." "Where is she?"

use softalign::{DecodeOptions, Result, Translator};

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [directory, sentences @ ..] = &arguments[..] else {
        eprintln!("usage: translate DIRECTORY SENTENCE...");
        std::process::exit(2);
    };
    let translator = Translator::load(directory)?;
    for (sentence, found) in
        sentences.iter().zip(translator.translate_with(sentences, &DecodeOptions::beam(10).n_best(3))?)
    {
        println!("{sentence}");
        for translation in found {
            println!("  {:.3}  {}", translation.score, translation.text);
        }
    }
    Ok(())
}
