//! Files with a line for each pair of other files, such as translations or links.

use std::path::Path;

use anyhow::{Result, anyhow, bail, ensure};

use super::table_format::is_csv;
use super::table_records::csv_records;
use super::{LONGEST_LINE, file_name, is_truncated, read_lines};

/// Reads a file with one row for each of `pairs` pairs, which messages call `name`, with tabs between the cells. CSV may also have
/// a header.
///
/// # Errors
/// The file cannot be read, is invalid CSV, or has another number of rows.
pub fn read_row_for_each(path: &Path, pairs: usize, name: &str) -> Result<Vec<String>> {
    let mut rows = read_lines(path)?;
    if is_csv(path) {
        let records = csv_records(&rows).map_err(|reason| anyhow!("{}:{reason}", file_name(path)))?;
        let header = records.len().saturating_sub(pairs).min(1);
        rows = records.into_iter().skip(header).map(|record| record.cells.join("\t")).collect();
    }
    ensure_line_for_each(path, rows.len(), pairs, name)?;
    Ok(rows)
}

/// Rejects a file of `lines` lines that should have one for each of `pairs` pairs, which the message calls `name`.
///
/// # Errors
/// The numbers differ.
pub fn ensure_line_for_each(path: &Path, lines: usize, pairs: usize, name: &str) -> Result<()> {
    ensure!(lines == pairs, "{}: {lines} lines for {pairs} {name}; expected one line for each", path.display());
    Ok(())
}

/// Reads a file with one line of links for each of `pairs` pairs, which messages call `name`.
///
/// # Errors
/// The file cannot be read or has another number of lines; or a line is longer than [`LONGEST_LINE`].
pub fn read_links_for_each(path: &Path, pairs: usize, name: &str) -> Result<Vec<String>> {
    let lines = read_link_lines(path)?;
    ensure_line_for_each(path, lines.len(), pairs, name)?;
    Ok(lines)
}

/// Reads a file of links. Truncated lines would lack some.
///
/// # Errors
/// The file cannot be read, or a line is longer than [`LONGEST_LINE`].
pub fn read_link_lines(path: &Path) -> Result<Vec<String>> {
    let lines = read_lines(path)?;
    if let Some(index) = lines.iter().position(|line| is_truncated(line)) {
        bail!("{}:{}: line of links is longer than {LONGEST_LINE} bytes", path.display(), index + 1);
    }
    Ok(lines)
}
