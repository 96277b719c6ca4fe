//! Trains a model on a TSV file of sentence pairs and shows a translation with its attention.
//!
//!     cargo run --release --example train -- pairs.tsv my-model "She sleeps."

use softalign::reporter::Reporter;
use softalign::training::{Event, Observer};
use softalign::{Result, TrainConfig, Trainer};

/// Prints messages and validations to standard error.
struct Progress;

impl Reporter for Progress {
    fn note(&self, line: &str) {
        eprintln!("{line}");
    }
}

impl Observer for Progress {
    fn event(&self, event: &Event) {
        if let Event::Validation { progress, report, best } = event {
            let mark = if *best { "  best" } else { "" };
            eprintln!("step {}  loss {:.3}  BLEU {:.1}{mark}", progress.step, report.loss, report.scores.bleu);
        }
    }
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [pairs, directory, sentence] = &arguments[..] else {
        eprintln!("usage: train PAIRS.tsv DIRECTORY SENTENCE");
        std::process::exit(2);
    };
    let pairs = softalign::read_pairs(pairs)?;
    let translator = Trainer::new(TrainConfig::default()).observer(&Progress).fit(&pairs, directory)?;
    let translation = translator.translate(sentence)?;
    println!("{}\n{translation}", translation.text);
    Ok(())
}
