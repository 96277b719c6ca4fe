//! Headers of tables, and the choice between more than two columns.

use super::Pair;
use super::language_names::is_language_name;
use super::table_records::Record;

/// Names of columns of sentence pairs in lower case, some codes of languages and names in the languages themselves.
const COLUMN_NAMES: &str = " source target src tgt trg input output original translation translations sentence sentences text \
    texts word words phrase phrases form lemma lexeme headword meaning pronunciation phonemes phones ipa transcription \
    transliteration gloss features tags lang language side column en fr de es it pt nl ru ar he hi zh ja ko tr pl cs sv fi el fa sw cy \
    français deutsch español italiano português nederlands català galego euskara cymraeg gaeilge brezhoneg dansk norsk \
    svenska suomi íslenska polski čeština slovenčina slovenščina hrvatski magyar română русский українська български \
    ελληνικά türkçe esperanto العربية עברית فارسی 中文 日本語 한국어 ";

/// True if a pair looks like a header: every word is a common column name.
pub fn is_header(pair: &Pair) -> bool {
    is_column_name(&pair.source) && is_column_name(&pair.target)
}

/// True if every word of a cell is a common column name.
pub(super) fn is_column_name(cell: &str) -> bool {
    let mut words = cell.split(|character: char| !character.is_alphabetic()).filter(|word| !word.is_empty()).peekable();
    words.peek().is_some() && words.all(is_word_of_column_names)
}

fn is_word_of_column_names(word: &str) -> bool {
    let word = word.to_lowercase();
    COLUMN_NAMES.contains(&format!(" {word} ")) || is_language_name(&word)
}

/// True if the first record is a header by its form: a column has numbers, but not in the first record.
pub(super) fn has_name_above_numbers(records: &[Record]) -> bool {
    let Some((first, rest)) = records.split_first().filter(|(_, rest)| rest.len() > 1) else { return false };
    (0..first.cells.len()).any(|column| {
        let mut below = rest.iter().map(|record| record.cells.get(column));
        first.cells[column].contains(char::is_alphabetic) && below.all(|cell| cell.is_some_and(|cell| is_number(cell)))
    })
}

fn is_number(cell: &str) -> bool {
    !cell.is_empty() && cell.trim().bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the columns of a table for a message, each with its name or number and its first cell, and a proposal for
/// `--columns` if two columns look like text. `records` begin with the first one, which is a header if `has_header` says so
/// or it looks like one.
pub(super) fn describe_columns(records: &[Record], has_header: bool) -> String {
    let count = records[0].cells.len();
    let texts = text_columns(records);
    let known: Vec<usize> = texts.iter().copied().filter(|&column| is_column_name(&records[0].cells[column])).collect();
    let proposed = if known.len() < 2 { &texts } else { &known };
    let has_header = has_header || known.len() > 1 || has_name_above_numbers(records);
    let first = records.get(usize::from(has_header)).unwrap_or(&records[0]);
    let mut names = Vec::with_capacity(count);
    for (index, name) in records[0].cells.iter().map(|cell| cell.trim()).enumerate() {
        let is_name = has_header && is_usable_name(name);
        names.push(if is_name { name.to_owned() } else { (index + 1).to_string() });
    }
    let proposal = match proposed[..] {
        [source, target, ..] => format!(", such as --columns {},{}", names[source], names[target]),
        _ => String::new(),
    };
    let cells = first.cells.iter().map(String::as_str).chain(std::iter::repeat(""));
    let with_cells = names.iter().zip(cells).map(|(name, cell)| format!("{name} \"{}\"", shortened(cell)));
    let mut list = with_cells.collect::<Vec<_>>().join(", ");
    if list.len() > MAX_LIST {
        list = names.iter().take(MAX_NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
        list += if names.len() > MAX_NAMED { ", …" } else { "" };
    }
    format!("choose two{proposal}; the columns are {list}")
}

/// Maximum number of bytes of a list of columns with their first cells in a message; a longer one has only names.
const MAX_LIST: usize = 160;
/// Maximum number of columns that a message names.
const MAX_NAMED: usize = 20;

/// Returns the indices of the columns that look like text.
pub(super) fn text_columns(records: &[Record]) -> Vec<usize> {
    let count = records.first().map_or(0, |first| first.cells.len());
    (0..count).filter(|&column| is_text(records, column)).collect()
}

/// True if a column looks like text to translate and not like numbers, identifiers or a remark that all lines share.
fn is_text(records: &[Record], column: usize) -> bool {
    let cells: Vec<&str> =
        records.iter().skip(1).filter_map(|record| Some(record.cells.get(column)?.as_str())).collect();
    let cells = if cells.is_empty() { vec![records[0].cells[column].as_str()] } else { cells };
    let varies = cells.len() < 2 || cells.iter().any(|cell| *cell != cells[0]);
    varies && 2 * cells.iter().filter(|cell| has_letters_without_digits(cell)).count() > cells.len()
}

fn has_letters_without_digits(cell: &str) -> bool {
    cell.contains(char::is_alphabetic) && !cell.contains(|character: char| character.is_ascii_digit())
}

/// True if `--columns` can select a column by this name.
fn is_usable_name(name: &str) -> bool {
    !name.is_empty() && name.chars().count() <= 20 && !name.contains([',', ' ']) && name.parse::<usize>().is_err()
}

/// Returns the beginning of a cell for a message.
fn shortened(cell: &str) -> String {
    const MAX_SHOWN: usize = 15;
    match cell.trim().char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", &cell.trim()[..end]),
        None => cell.trim().to_owned(),
    }
}
