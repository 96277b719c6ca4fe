//! A table with a line for each pair of words that have to do with each other: a link, or at least a thousandth of
//! weight.

use std::collections::BTreeSet;
use std::io::{Result, Write};

use super::{Item, Renderer};
use crate::alignment::Link;

/// Weights below this are left out where there is no link.
const LEAST: f32 = 0.001;

/// The columns after the sentence's. Positions count from 0.
const HEAD: &str = "source\ttarget\tsource_word\ttarget_word\tweight\tlink\tbelief";

/// Writes the table, a line for each pair of words.
#[derive(Default)]
pub struct Tsv {
    begun: bool,
    /// Whether a sentence may have several translations, which a column then tells apart.
    ranked: bool,
}

impl Tsv {
    /// A table with a column for the ranks of translations.
    pub fn ranked() -> Self {
        Self { ranked: true, ..Self::default() }
    }

    fn begin(&mut self, out: &mut dyn Write) -> Result<()> {
        if !std::mem::replace(&mut self.begun, true) {
            writeln!(out, "sentence\t{}{HEAD}", if self.ranked { "rank\t" } else { "" })?;
        }
        Ok(())
    }
}

impl Renderer for Tsv {
    fn item(&mut self, out: &mut dyn Write, item: &Item) -> Result<()> {
        self.begin(out)?;
        let links: BTreeSet<Link> = item.links.iter().copied().collect();
        let rank = item.rank.filter(|_| self.ranked).map(|rank| format!("{rank}\t")).unwrap_or_default();
        for (target, row) in item.alignment.rows().enumerate() {
            for (source, weight) in row.iter().enumerate() {
                let link = links.contains(&Link { source, target });
                if !link && *weight < LEAST {
                    continue;
                }
                let belief = item.beliefs.get(source, target);
                let words =
                    [&item.alignment.source()[source], &item.alignment.target()[target]].map(|word| visible(word));
                let link = u8::from(link);
                let place = format!("{}\t{rank}{source}\t{target}\t{}\t{}", item.id, words[0], words[1]);
                writeln!(out, "{place}\t{weight:.4}\t{link}\t{belief:.4}")?;
            }
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn Write) -> Result<()> {
        self.begin(out)
    }
}

/// A unit as text without what would break the table.
fn visible(word: &str) -> String {
    word.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r")
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;
    use crate::alignment::{Alignment, LinkScores};

    #[test]
    fn snapshot() {
        let text = String::from_utf8(samples::render(&mut Tsv::default())).unwrap();
        let expected = "\
sentence\tsource\ttarget\tsource_word\ttarget_word\tweight\tlink\tbelief
0\t0\t0\tthe\tle\t0.9000\t1\t0.9522
0\t1\t0\tblack\tle\t0.0500\t0\t0.0389
0\t2\t0\t\"cat\"\tle\t0.0200\t0\t0.0216
0\t1\t1\tblack\tchat\t0.2500\t0\t0.1966
0\t2\t1\t\"cat\"\tchat\t0.7500\t1\t0.8206
0\t0\t2\tthe\tnoir\t0.0040\t0\t0.0051
0\t1\t2\tblack\tnoir\t0.8460\t1\t0.7918
0\t2\t2\t\"cat\"\tnoir\t0.1000\t0\t0.1302
";
        assert_eq!(text, expected);
    }

    #[test]
    fn nothing_breaks_the_table() {
        assert_eq!(visible("a\tb\\\n"), "a\\tb\\\\\\n");
        let mut out = Vec::new();
        Tsv::default().finish(&mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), format!("sentence\t{HEAD}\n"));
    }

    #[test]
    fn translations_of_one_sentence_are_told_apart() {
        let words = || vec!["a".to_owned()];
        let alignment = Alignment::from_rows(words(), words(), &[vec![1.0, 0.0]]);
        let beliefs = LinkScores::from_attention(&alignment);
        let (mut tsv, mut out) = (Tsv::ranked(), Vec::new());
        tsv.item(&mut out, &Item { rank: Some(2), ..samples::item(7, &alignment, &beliefs, &[]) }).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.starts_with(&format!("sentence\trank\t{HEAD}\n7\t2\t0\t0\ta\ta\t")), "{text}");
    }
}
