//! Documents that are archives of XML files, as word processors write them.

use std::collections::BTreeMap;

use anyhow::{Result, anyhow, ensure};

use super::archive::{Package, is_archive};
use super::document::Document;
use super::input::Input;
use super::pair_reader::FormatError;
use super::text_document::{TextDocument, check_count};

/// Document in an archive.
struct PackageDocument {
    package: Package,
    parts: Vec<Part>,
}

/// File of the archive that has texts.
struct Part {
    name: String,
    document: TextDocument,
}

/// Opens a document. The files for which `has_texts` is true are parsed. `format` is the name of the format for messages.
///
/// # Errors
/// The file cannot be read, is no such archive, or has none of these files.
pub(super) fn open_package(
    mut input: Input,
    format: &str,
    has_texts: fn(&str) -> bool,
    parse: fn(&str) -> Result<TextDocument, FormatError>,
) -> Result<Box<dyn Document>> {
    let name = input.name().to_owned();
    ensure!(is_archive(input.start()), "{name}: not {format}; open it and save it again");
    let max_bytes = input.max_bytes();
    let bytes = input.into_bytes()?;
    let package = Package::new(bytes, &name, max_bytes);
    let mut parts = Vec::new();
    for (part, text) in package.texts(has_texts)? {
        let document = parse(&text).map_err(|error| anyhow!("{name}: {part} in it: line {error}"))?;
        parts.push(Part { name: part, document });
    }
    ensure!(!parts.is_empty(), "{name}: not {format}; open it and save it again");
    Ok(Box::new(PackageDocument { package, parts }))
}

impl Document for PackageDocument {
    fn texts(&self) -> Vec<&str> {
        self.parts.iter().flat_map(|part| part.document.texts()).collect()
    }

    fn lines(&self) -> Vec<usize> {
        (1..=self.texts().len()).collect()
    }

    fn with_translations(&self, translations: &[String]) -> Result<Vec<u8>> {
        check_count(self.texts().len(), translations)?;
        let mut texts = BTreeMap::new();
        let mut rest = translations;
        for Part { name, document } in &self.parts {
            let (own, others) = rest.split_at(document.segments().len());
            texts.insert(&**name, document.translated(own));
            rest = others;
        }
        self.package.with_texts(&texts)
    }

    fn is_binary(&self) -> bool {
        true
    }
}
