//! Soft alignments in the format of Nematus.
//!
//! A line `id ||| target ||| score ||| source ||| source-length target-length` per sentence, then a row of weights for each
//! target word and `</s>`, with a column for each source word and `</s>`; both lengths include `</s>`. An empty line ends
//! each sentence.

use std::io::{Result, Write};

use super::{Item, Renderer};

/// Renders a block of weights per sentence.
pub struct Nematus;

impl Renderer for Nematus {
    fn item(&mut self, out: &mut dyn Write, item: &Item) -> Result<()> {
        let (source, target) = (item.alignment.source(), item.alignment.target());
        let [source_text, target_text] = [source, target].map(|words| words.join(" ").replace('|', "¦"));
        let sizes = format!("{} {}", source.len() + 1, target.len() + 1);
        writeln!(out, "{} ||| {target_text} ||| {:.6} ||| {source_text} ||| {sizes}", item.id, item.score)?;
        for (row, &end) in item.alignment.rows().zip(item.alignment.end_weights()) {
            write_row(out, row, end)?;
        }
        write_row(out, item.alignment.last_row(), item.alignment.last_end_weight())?;
        writeln!(out)
    }
}

fn write_row(out: &mut dyn Write, row: &[f32], end: f32) -> Result<()> {
    for weight in row {
        write!(out, "{weight:.6} ")?;
    }
    writeln!(out, "{end:.6}")
}

#[cfg(test)]
mod tests {
    #[test]
    fn matches_snapshot() {
        let text = String::from_utf8(super::super::samples::render(&mut super::Nematus)).unwrap();
        let expected = "\
0 ||| le chat noir ||| -0.250000 ||| the black \"cat\" ||| 4 4
0.900000 0.050000 0.020000 0.030000
0.000000 0.250000 0.750000 0.000000
0.004000 0.846000 0.100000 0.050000
0.000000 0.000000 0.000000 1.000000

1 |||  ||| -0.250000 ||| नमस्ते 世界 ||| 3 1
0.000000 0.000000 1.000000

";
        assert_eq!(text, expected);
    }
}
