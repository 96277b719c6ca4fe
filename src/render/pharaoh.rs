//! Pharaoh's format: `s-t` for each link, 0-indexed, one line a sentence.

use std::io::{Result, Write};

use super::{Item, Renderer};
use crate::alignment::pharaoh;

/// See the module.
pub struct Pharaoh;

impl Renderer for Pharaoh {
    fn item(&mut self, out: &mut dyn Write, item: &Item) -> Result<()> {
        writeln!(out, "{}", pharaoh(item.links))
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn snapshot() {
        let text = String::from_utf8(super::super::samples::render(&mut super::Pharaoh)).unwrap();
        assert_eq!(text, "0-0 1-2 2-1\n\n");
    }
}
