//! TMX 1.4: a translation memory of the sentences and their translations, which programs of translators read.

use std::io::{Result, Write};

use super::{Item, Renderer};
use crate::formats::TmxWriter;
use crate::text::Languages;

/// Renders a unit for each pair with text on both sides.
pub struct Tmx {
    writer: TmxWriter,
}

impl Tmx {
    /// Returns a memory in these languages; without them, codes for private use tell the sides apart.
    pub fn new(languages: Option<Languages>) -> Self {
        let codes = languages.map(|Languages { source, target }| [source, target]);
        Self { writer: TmxWriter::new(codes) }
    }
}

impl Renderer for Tmx {
    fn item(&mut self, out: &mut dyn Write, item: &Item) -> Result<()> {
        self.writer.unit(out, item.texts)
    }

    fn finish(&mut self, out: &mut dyn Write) -> Result<()> {
        self.writer.finish(out)
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;

    #[test]
    fn matches_snapshot() {
        let mut tmx = Tmx::new("en-fr".parse().ok());
        let text = String::from_utf8(samples::render(&mut tmx)).unwrap();
        let version = env!("CARGO_PKG_VERSION");
        let unit = "<tu><tuv xml:lang=\"en\"><seg>the \u{a0}black \"cat\"</seg></tuv><tuv xml:lang=\"fr\"><seg>le chat  noir</seg></tuv></tu>\n";
        let expected = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<tmx version=\"1.4\">\n<header creationtool=\"softalign\" \
             creationtoolversion=\"{version}\" segtype=\"sentence\" o-tmf=\"softalign\" adminlang=\"en\" srclang=\"en\" \
             datatype=\"plaintext\"/>\n<body>\n{unit}{unit}</body>\n</tmx>\n"
        );
        assert_eq!(text, expected);
    }
}
