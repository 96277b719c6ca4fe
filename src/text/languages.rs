//! Languages of sentence pairs, as names of files and columns tell them.

use std::fmt;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::format_pairs::FormatPairs;
use super::language_names::{code_of_name, language_name};
use super::table_records::{csv_records, plain_records};
use super::{Column, PairFiles, TableFormat, is_read_once};

/// Usual parts of the names of files that are codes of languages, too.
const USUAL_PARTS: [&str; 26] = [
    "all", "bak", "bpe", "csv", "dev", "doc", "hyp", "log", "low", "map", "max", "mid", "new", "old", "out", "raw",
    "ref", "src", "sub", "tgt", "tmp", "tok", "top", "trg", "tsv", "txt",
];
/// Maximum bytes of a header.
const MAX_HEADER: u64 = 64 * 1024;

/// Codes of the languages of sentence pairs in ISO 639, with a script or a region, such as `en` and `pt-BR`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Languages {
    /// Source language.
    pub source: String,
    /// Target language.
    pub target: String,
}

impl FromStr for Languages {
    type Err = String;

    /// Parses codes such as `en-fr` or `pt-BR-zh-Hant`.
    fn from_str(text: &str) -> Result<Self, String> {
        let codes = split_language_code(text).and_then(|(source, rest)| match split_language_code(rest) {
            Some((target, "")) if !text.ends_with('-') => Some([source, target]),
            _ => None,
        });
        match codes {
            Some([source, target]) => Ok(Self { source: source.to_owned(), target: target.to_owned() }),
            None => Err("expected two codes of languages, such as en-fr or pt-BR-de".to_owned()),
        }
    }
}

impl TryFrom<String> for Languages {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Languages> for String {
    fn from(languages: Languages) -> Self {
        languages.to_string()
    }
}

impl fmt::Display for Languages {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "{}-{}", self.source, self.target)
    }
}

impl Languages {
    /// Returns the languages that the names of files and their columns tell, if they do: `train.en` and `train.fr`,
    /// `en-fr.tsv`, or columns called `English` and `French`. The shipped corpus is English and French.
    pub fn of_files(files: &PairFiles) -> Option<Self> {
        let [source, target] = match files.paths()[..] {
            [path] if files.is_shipped() => return Self::of_table_name(path).or_else(|| "en-fr".parse().ok()),
            [path] => {
                return Self::of_format(path, files.layout())
                    .or_else(|| Self::of_columns(path, &files.layout().for_file(path)))
                    .or_else(|| Self::of_table_name(path));
            }
            [source, target] => [of_file_name(source)?, of_file_name(target)?],
            _ => return None,
        };
        Self::distinct(source, target)
    }

    fn distinct(source: String, target: String) -> Option<Self> {
        (source != target).then_some(Self { source, target })
    }

    /// Finds codes of known languages, such as `en-fr`, between the dots and underscores of a file name.
    fn of_table_name(path: &Path) -> Option<Self> {
        let mut found = name_parts(path, &['.', '_']).filter_map(|part| part.parse::<Self>().ok());
        found
            .find(|Self { source, target }| source != target && [source, target].into_iter().all(|code| is_known(code)))
    }

    /// Reads the languages that a file in a format of its own tells, such as TMX.
    fn of_format(path: &Path, layout: &TableFormat) -> Option<Self> {
        let mut pairs = FormatPairs::open(path, layout, true).ok()??;
        pairs.next()?.ok()?;
        let [source, target] = pairs.languages()?.map(|code| code_of_language(&code));
        Self::distinct(source?, target?)
    }

    /// Finds languages in the names of the columns of both sides.
    fn of_columns(path: &Path, layout: &TableFormat) -> Option<Self> {
        if !(layout.csv || layout.header || layout.has_named_columns()) || is_read_once(path) {
            return None;
        }
        let mut line = Vec::new();
        BufReader::new(File::open(path).ok()?.take(MAX_HEADER)).read_until(b'\n', &mut line).ok()?;
        let line = String::from_utf8(line).ok()?;
        let lines = [line.trim_start_matches('\u{feff}').trim_end_matches(['\r', '\n']).to_owned()];
        let header =
            if layout.csv { csv_records(&lines).ok()?.into_iter().next() } else { plain_records(&lines, 0).next() };
        let cells = header?.cells;
        let columns = layout.columns.clone().unwrap_or([Column::Number(1), Column::Number(2)]);
        let [source, target] = columns.map(|column| match column {
            Column::Number(number) => cells.get(number.checked_sub(1)?).and_then(|cell| code_of_language(cell)),
            Column::Name(name) => code_of_language(&name),
        });
        Self::distinct(source?, target?)
    }
}

/// Returns the parts of a file name between separators, the last first.
fn name_parts<'p>(path: &'p Path, separators: &'p [char]) -> impl Iterator<Item = &'p str> {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default().rsplit(separators)
}

/// Returns the language of a file with one side: `train.en`, `english.txt`, `news.de-en.en`.
fn of_file_name(path: &Path) -> Option<String> {
    let parts = name_parts(path, &['.', '_']).chain(name_parts(path, &['.', '_', '-']));
    parts.filter(|part| !USUAL_PARTS.contains(part)).find_map(code_of_language)
}

/// Returns the code of a language that is known by this code or by its English name.
fn code_of_language(text: &str) -> Option<String> {
    let text = text.trim();
    let code = text.replace('_', "-");
    let is_code = split_language_code(&code).is_some_and(|(_, rest)| rest.is_empty()) && is_known(&code);
    if is_code { Some(code) } else { code_of_name(text).map(str::to_owned) }
}

/// True if the language of a code has a name.
fn is_known(code: &str) -> bool {
    language_name(code) != code
}

/// Splits a language code, with a script or a region, off the start of a text. Also returns what follows a hyphen.
pub fn split_language_code(text: &str) -> Option<(&str, &str)> {
    let mut parts = text.split('-');
    let language = parts.next().filter(|part| is_language(part))?;
    let variety = parts.next().filter(|part| is_region(part) || is_script(part));
    let end = language.len() + variety.map_or(0, |variety| 1 + variety.len());
    let rest = &text[end..];
    Some((&text[..end], rest.strip_prefix('-').unwrap_or(rest)))
}

fn is_language(part: &str) -> bool {
    (2..=3).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_lowercase())
}

fn is_region(part: &str) -> bool {
    part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_uppercase())
}

fn is_script(part: &str) -> bool {
    let (first, rest) = part.split_at_checked(1).unwrap_or_default();
    rest.len() == 3
        && first.bytes().all(|byte| byte.is_ascii_uppercase())
        && rest.bytes().all(|byte| byte.is_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &PairFiles) -> Option<String> {
        Languages::of_files(files).map(|languages| languages.to_string())
    }

    #[test]
    fn names_of_files_tell_languages() {
        for (source, target, languages) in [
            ("train.en", "train.fr", Some("en-fr")),
            ("a/train.pt-BR", "a/train.de", Some("pt-BR-de")),
            ("english.txt", "French.txt", Some("en-fr")),
            ("news.de-en.de", "news.de-en.en", Some("de-en")),
            ("corpus_en.txt", "corpus_fr.txt", Some("en-fr")),
            ("corpus-en.txt", "corpus-fr.txt", Some("en-fr")),
            ("my_source.txt", "my_target.txt", None),
            ("source.txt", "target.txt", None),
            ("val.es", "val.bzd", Some("es-bzd")),
            ("dev.src", "dev.ref", None),
            ("train.tok", "valid.tok", None),
            ("train.xx", "train.fr", None),
            ("train.en", "valid.en", None),
        ] {
            let files = PairFiles::parallel(Path::new(source), Path::new(target), &TableFormat::default());
            assert_eq!(found(&files).as_deref(), languages, "{source} {target}");
        }
        for (path, languages) in [
            ("en-fr.tsv", Some("en-fr")),
            ("data/opus.en-pt-BR.train.tsv", Some("en-pt-BR")),
            ("data/train.tsv", Some("en-fr")),
            ("my-model.tsv", None),
            ("en-en.tsv", None),
            ("-", None),
        ] {
            assert_eq!(
                found(&PairFiles::tsv(Path::new(path), &TableFormat::default())).as_deref(),
                languages,
                "{path}"
            );
        }
    }

    #[test]
    fn names_of_columns_tell_languages() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pairs.csv");
        let named = |name: &str| Column::Name(name.to_owned());
        let all = TableFormat::default();
        for (text, columns, languages) in [
            ("English,French\na,b\n", None, Some("en-fr")),
            ("\u{feff}English;French\r\na;b\n", None, Some("en-fr")),
            ("id,fr,en\n1,a,b\n", Some([Column::Number(3), Column::Number(2)]), Some("en-fr")),
            ("id,German,Swiss\n1,a,b\n", Some([named("German"), named("French")]), Some("de-fr")),
            ("source,target\na,b\n", None, None),
            ("a,b\n", None, None),
            ("", None, None),
        ] {
            std::fs::write(&path, text).unwrap();
            let layout = TableFormat { columns, ..all.clone() };
            assert_eq!(found(&PairFiles::tsv(&path, &layout)).as_deref(), languages, "{text}");
        }
    }

    #[test]
    fn codes_are_split_off() {
        for (text, languages) in [("en-fr", Some(["en", "fr"])), ("pt-BR-zh-Hant", Some(["pt-BR", "zh-Hant"]))] {
            let parsed: Option<Languages> = text.parse().ok();
            assert_eq!(parsed.map(|one| [one.source, one.target]), languages.map(|pair| pair.map(str::to_owned)));
        }
        for text in ["", "en", "-", "en-", "en--fr", "en-fr-de", "EN-FR", "e-f", "\u{fc}n\u{ef}", "en-fr-"] {
            assert!(text.parse::<Languages>().is_err(), "{text}");
        }
    }
}
