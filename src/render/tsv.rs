//! TSV with a line per word pair that is linked or has a weight of at least 0.001.

use std::collections::BTreeSet;
use std::io::{Result, Write};

use super::{Item, Renderer};
use crate::alignment::Link;

/// Minimum weight of unlinked word pairs.
const MIN_WEIGHT: f32 = 0.001;

/// Header after the sentence's columns. Positions count from 0.
const HEADER: &str = "source\ttarget\tsource_word\ttarget_word\tweight\tlink\tlink_score";

/// Renders a table of word pairs.
#[derive(Default)]
pub struct Tsv {
    begun: bool,
    /// Writes a rank column, for n-best lists.
    ranked: bool,
}

impl Tsv {
    /// Creates a table with a rank column.
    pub fn ranked() -> Self {
        Self { ranked: true, ..Self::default() }
    }

    fn begin(&mut self, out: &mut dyn Write) -> Result<()> {
        if !std::mem::replace(&mut self.begun, true) {
            writeln!(out, "sentence\t{}{HEADER}", if self.ranked { "rank\t" } else { "" })?;
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
                if !link && *weight < MIN_WEIGHT {
                    continue;
                }
                let score = item.link_scores.get(source, target);
                let words =
                    [&item.alignment.source()[source], &item.alignment.target()[target]].map(|word| escape_field(word));
                let link = u8::from(link);
                let cells = format!("{}\t{rank}{source}\t{target}\t{}\t{}", item.id, words[0], words[1]);
                writeln!(out, "{cells}\t{weight:.4}\t{link}\t{score:.4}")?;
            }
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn Write) -> Result<()> {
        self.begin(out)
    }
}

/// Escapes characters that would break the table.
fn escape_field(word: &str) -> String {
    word.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r")
}

#[cfg(test)]
mod tests {
    use super::super::samples::{self, words};
    use super::*;
    use crate::alignment::{Alignment, LinkScores};

    #[test]
    fn matches_snapshot() {
        let text = String::from_utf8(samples::render(&mut Tsv::default())).unwrap();
        let expected = "\
sentence\tsource\ttarget\tsource_word\ttarget_word\tweight\tlink\tlink_score
0\t0\t0\tthe\tle\t0.9000\t1\t0.9547
0\t1\t0\tblack\tle\t0.0500\t0\t0.0345
0\t2\t0\t\"cat\"\tle\t0.0200\t0\t0.0208
0\t1\t1\tblack\tchat\t0.2500\t0\t0.1828
0\t2\t1\t\"cat\"\tchat\t0.7500\t1\t0.8255
0\t0\t2\tthe\tnoir\t0.0040\t0\t0.0058
0\t1\t2\tblack\tnoir\t0.8460\t1\t0.7939
0\t2\t2\t\"cat\"\tnoir\t0.1000\t0\t0.1413
";
        assert_eq!(text, expected);
    }

    #[test]
    fn escapes_tabs_and_line_breaks() {
        assert_eq!(escape_field("a\tb\\\n"), "a\\tb\\\\\\n");
        let mut out = Vec::new();
        Tsv::default().finish(&mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), format!("sentence\t{HEADER}\n"));
    }

    #[test]
    fn writes_ranks_of_translations() {
        let alignment = Alignment::from_rows(words("a"), words("a"), &[vec![1.0, 0.0]]);
        let scores = LinkScores::from_attention(&alignment);
        let (mut tsv, mut out) = (Tsv::ranked(), Vec::new());
        tsv.item(&mut out, &Item { rank: Some(2), ..samples::item(7, &alignment, &scores, &[]) }).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.starts_with(&format!("sentence\trank\t{HEADER}\n7\t2\t0\t0\ta\ta\t")), "{text}");
    }
}
