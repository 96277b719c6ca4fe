//! Pharaoh format: 0-indexed links `s-t`, one line per sentence; with link scores `s-t:p`. Lines of n-best lists start with
//! the sentence's index: `0 ||| s-t s-t`.

use std::io::{Result, Write};

use super::{Item, Renderer};
use crate::alignment::LinkFormat;

/// Renders a line of links per sentence.
#[derive(Default)]
pub struct Pharaoh {
    /// Writes link scores.
    pub probabilities: bool,
    /// Writes the sentence's index, for n-best lists.
    pub numbered: bool,
    /// Format of a link.
    pub link_format: LinkFormat,
}

impl Renderer for Pharaoh {
    fn item(&mut self, out: &mut dyn Write, item: &Item) -> Result<()> {
        if self.numbered {
            write!(out, "{} ||| ", item.id)?;
        }
        if !self.probabilities {
            return writeln!(out, "{}", self.link_format.format_line(item.links));
        }
        let links: Vec<String> = item
            .links
            .iter()
            .map(|&link| format!("{}:{:.4}", self.link_format.format_link(link), item.link_scores.score(link)))
            .collect();
        writeln!(out, "{}", links.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;

    #[test]
    fn matches_snapshot() {
        let text = String::from_utf8(samples::render(&mut Pharaoh::default())).unwrap();
        assert_eq!(text, "0-0 1-2 2-1\n\n");
        let text = samples::render(&mut Pharaoh { probabilities: true, ..Pharaoh::default() });
        assert_eq!(String::from_utf8(text).unwrap(), "0-0:0.9547 1-2:0.7939 2-1:0.8255\n\n");
        let text = samples::render(&mut Pharaoh { numbered: true, ..Pharaoh::default() });
        assert_eq!(String::from_utf8(text).unwrap(), "0 ||| 0-0 1-2 2-1\n1 ||| \n");
    }
}
