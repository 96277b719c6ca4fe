//! Pharaoh's format: `s-t` for each link, 0-indexed, one line a sentence; with probabilities `s-t:p`, where p is how
//! much is believed in the link. Where a sentence has several lines, its number stands before each: `0 ||| s-t s-t`.

use std::io::{Result, Write};

use super::{Item, Renderer};
use crate::alignment::{Link, LinkFormat};

/// Writes a line of links for each sentence.
#[derive(Default)]
pub struct Pharaoh {
    /// Whether to write probabilities.
    pub probabilities: bool,
    /// Whether a sentence may have several lines, which then say whose they are.
    pub numbered: bool,
    /// How a link is written.
    pub notation: LinkFormat,
}

impl Renderer for Pharaoh {
    fn item(&mut self, out: &mut dyn Write, item: &Item) -> Result<()> {
        if self.numbered {
            write!(out, "{} ||| ", item.id)?;
        }
        if !self.probabilities {
            return writeln!(out, "{}", self.notation.format_line(item.links));
        }
        let written = |link: &Link| format!("{}:{:.4}", self.notation.format_link(*link), item.beliefs.score(*link));
        writeln!(out, "{}", item.links.iter().map(written).collect::<Vec<_>>().join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;

    #[test]
    fn snapshot() {
        let text = String::from_utf8(samples::render(&mut Pharaoh::default())).unwrap();
        assert_eq!(text, "0-0 1-2 2-1\n\n");
        let text = samples::render(&mut Pharaoh { probabilities: true, ..Pharaoh::default() });
        assert_eq!(String::from_utf8(text).unwrap(), "0-0:0.9522 1-2:0.7918 2-1:0.8206\n\n");
        let text = samples::render(&mut Pharaoh { numbered: true, ..Pharaoh::default() });
        assert_eq!(String::from_utf8(text).unwrap(), "0 ||| 0-0 1-2 2-1\n1 ||| \n");
    }
}
