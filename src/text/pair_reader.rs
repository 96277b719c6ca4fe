//! Sentence pairs and the files they come from.
//!
//! Two layouts: one TSV file with a pair a line, or two files of as many lines each. Every error names the file and the
//! line.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail, ensure};

use super::line_reader::{name, read_lines};
use super::line_stream::LineStream;
use super::{Pair, TableFormat};

/// Reads sentence pairs from a file with `source TAB target` on every line.
///
/// # Errors
/// The file cannot be read, or a line is not UTF-8, or has no tab or more than one.
pub fn read_tsv(path: &Path) -> Result<Vec<Pair>> {
    read_laid_out(path, &TableFormat::default())
}

/// Reads sentence pairs from a file that is laid out in some way.
///
/// # Errors
/// The file cannot be read, or a line is not UTF-8, or no pair.
pub fn read_laid_out(path: &Path, layout: &TableFormat) -> Result<Vec<Pair>> {
    Ok(read_numbered(path, layout)?.0)
}

/// The same, and where each pair stands.
///
/// # Errors
/// As [`read_laid_out`].
pub fn read_numbered(path: &Path, layout: &TableFormat) -> Result<(Vec<Pair>, LineNumbers)> {
    let pairs = layout.pairs(&read_lines(path)?, 0).map_err(|reason| anyhow!("{}:{reason}", name(path)))?;
    if layout.csv {
        let (each, pairs) = pairs.into_iter().unzip();
        return Ok((pairs, LineNumbers { each, before: 0 }));
    }
    Ok((pairs.into_iter().map(|(_, pair)| pair).collect(), LineNumbers::after(usize::from(layout.header))))
}

/// The line of its file in which each pair begins, counted from 1.
#[derive(Clone, Debug, Default)]
pub struct LineNumbers {
    /// Of pairs that may begin anywhere; else they follow line by line.
    each: Vec<usize>,
    /// Lines before the first pair.
    before: usize,
}

impl LineNumbers {
    /// A line for each pair, after so many that are none.
    pub fn after(before: usize) -> Self {
        Self { each: Vec::new(), before }
    }

    /// That of a pair by its place among all, counted from 0.
    pub fn of(&self, place: usize) -> usize {
        self.each.get(place).copied().unwrap_or(self.before + place + 1)
    }
}

/// Reads sentence pairs from two files whose lines belong together. A tab inside a line is ordinary text here, unless
/// features stand behind it.
///
/// # Errors
/// A file cannot be read, or a line is not UTF-8, or the files differ in length.
pub fn read_parallel(source: &Path, target: &Path, layout: &TableFormat) -> Result<Vec<Pair>> {
    let sources = read_lines(source)?;
    let targets = read_lines(target)?;
    check_lengths([source, target], [sources.len(), targets.len()])?;
    joined([source, target], [sources, targets], layout, 0)
}

/// The pairs of lines, before which the files have `before` others.
fn joined(
    paths: [&Path; 2],
    [mut sources, mut targets]: [Vec<String>; 2],
    layout: &TableFormat,
    mut before: usize,
) -> Result<Vec<Pair>> {
    if layout.header && before == 0 {
        before = sources.len().min(1);
        sources.drain(..before);
        targets.drain(..before);
    }
    let sources = layout.sources(sources, before).map_err(|reason| anyhow!("{}:{reason}", name(paths[0])))?;
    Ok(sources.into_iter().zip(targets).map(|(source, target)| Pair { source, target }).collect())
}

fn check_lengths(paths: [&Path; 2], lengths: [usize; 2]) -> Result<()> {
    ensure!(
        lengths[0] == lengths[1],
        "{} has {} lines and {} has {}; the two files must have as many lines each, line by line translations",
        name(paths[0]),
        lengths[0],
        name(paths[1]),
        lengths[1]
    );
    Ok(())
}

/// Pairs as they arrive.
pub struct PairStream {
    from: Origin,
    /// Lines read so far.
    read: usize,
    /// What is put before each source.
    tag: Option<String>,
    numbers: LineNumbers,
}

/// Where pairs come from.
enum Origin {
    Memory(std::vec::IntoIter<Pair>),
    Tsv { lines: LineStream, path: PathBuf, layout: TableFormat },
    Parallel { lines: [LineStream; 2], paths: [PathBuf; 2], layout: TableFormat },
}

impl PairStream {
    /// Pairs that are all there.
    pub fn of(pairs: Vec<Pair>, numbers: LineNumbers) -> Self {
        Self { from: Origin::Memory(pairs.into_iter()), read: 0, tag: None, numbers }
    }

    /// Where the pairs stand.
    pub fn numbers(&self) -> &LineNumbers {
        &self.numbers
    }

    /// Pairs of a file that is laid out in some way. CSV, whose cells may be longer than a line, is read to its end first.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn laid_out(path: &Path, layout: &TableFormat) -> Result<Self> {
        if layout.csv {
            let (pairs, numbers) = read_numbered(path, layout)?;
            return Ok(Self::of(pairs, numbers));
        }
        let numbers = LineNumbers::after(usize::from(layout.header));
        let from = Origin::Tsv { lines: LineStream::open(path)?, path: path.to_owned(), layout: layout.clone() };
        Ok(Self { from, read: 0, tag: None, numbers })
    }

    /// Pairs of two files whose lines belong together.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn parallel(source: &Path, target: &Path, layout: &TableFormat) -> Result<Self> {
        let lines = [LineStream::open(source)?, LineStream::open(target)?];
        let from = Origin::Parallel { lines, paths: [source.to_owned(), target.to_owned()], layout: layout.clone() };
        Ok(Self { from, read: 0, tag: None, numbers: LineNumbers::after(usize::from(layout.header)) })
    }

    /// The same with a tag before each source.
    #[must_use]
    pub fn tagged(self, tag: Option<String>) -> Self {
        Self { tag, ..self }
    }

    /// Waits for pairs and takes those that have come, `most` at most; none at the end.
    ///
    /// # Errors
    /// A file cannot be read, or a line is not UTF-8, or no pair, or the files differ in length.
    pub fn next_chunk(&mut self, most: usize) -> Result<Vec<Pair>> {
        loop {
            let (pairs, lines) = self.lines(most)?;
            self.read += lines;
            // There may have been nothing but a header.
            if !pairs.is_empty() || lines == 0 {
                return Ok(pairs.into_iter().map(|pair| pair.tagged(self.tag.as_deref())).collect());
            }
        }
    }

    /// The pairs of some lines, and how many lines these are.
    fn lines(&mut self, most: usize) -> Result<(Vec<Pair>, usize)> {
        match &mut self.from {
            Origin::Memory(pairs) => {
                let pairs: Vec<Pair> = pairs.take(most).collect();
                let count = pairs.len();
                Ok((pairs, count))
            }
            Origin::Tsv { lines, path, layout } => {
                let lines = lines.next_chunk(most)?;
                let named = |reason| anyhow!("{}:{reason}", name(path));
                if self.read == 0 && layout.asks_for_names() {
                    *layout = layout.counted(&lines).map_err(named)?;
                }
                let pairs = layout.pairs(&lines, self.read).map_err(named)?;
                Ok((pairs.into_iter().map(|(_, pair)| pair).collect(), lines.len()))
            }
            Origin::Parallel { lines: [sources, targets], paths, layout } => {
                let source = sources.next_chunk(most)?;
                let target = if source.is_empty() { targets.next_chunk(1)? } else { targets.exactly(source.len())? };
                if source.len() != target.len() {
                    let before = [source.len() + self.read, target.len() + self.read];
                    let lengths = [before[0] + sources.count_rest()?, before[1] + targets.count_rest()?];
                    check_lengths([&paths[0], &paths[1]], lengths)?;
                    bail!("{} and {}: lines came and went", name(&paths[0]), name(&paths[1]));
                }
                let count = source.len();
                Ok((joined([&paths[0], &paths[1]], [source, target], layout, self.read)?, count))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mut stream: PairStream, most: usize) -> Result<Vec<[String; 2]>> {
        let mut found = Vec::new();
        loop {
            let pairs = stream.next_chunk(most)?;
            if pairs.is_empty() {
                return Ok(found);
            }
            assert!(pairs.len() <= most);
            found.extend(pairs.into_iter().map(|pair| [pair.source, pair.target]));
        }
    }

    #[test]
    fn streams_give_what_reading_gives() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let tsv: String = (0..5000).map(|number| format!("s{number}\tt{number}\n")).collect();
        std::fs::write(path("pairs.tsv"), &tsv).unwrap();
        for (side, column) in [("source", 0), ("target", 1)] {
            let lines: String =
                tsv.lines().map(|line| format!("{}\n", line.split('\t').nth(column).unwrap())).collect();
            std::fs::write(path(side), lines).unwrap();
        }
        for header in [false, true] {
            let layout = TableFormat { header, ..TableFormat::default() };
            let read: Vec<[String; 2]> = read_laid_out(&path("pairs.tsv"), &layout)
                .unwrap()
                .into_iter()
                .map(|pair| [pair.source, pair.target])
                .collect();
            for most in [1, 7, 5000, usize::MAX] {
                let tsv = PairStream::laid_out(&path("pairs.tsv"), &layout).unwrap();
                let parallel = PairStream::parallel(&path("source"), &path("target"), &layout).unwrap();
                assert!(all(tsv, most).unwrap() == read && all(parallel, most).unwrap() == read, "{most} {header}");
            }
        }
        let memory = PairStream::of(read_tsv(&path("pairs.tsv")).unwrap(), LineNumbers::default());
        assert_eq!(all(memory, 3).unwrap().len(), 5000);
    }

    #[test]
    fn errors_have_the_line_of_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("pairs.tsv"), "a\tb\nc\td\ne\n").unwrap();
        let error = all(PairStream::laid_out(&path("pairs.tsv"), &TableFormat::default()).unwrap(), 1).unwrap_err();
        assert!(error.to_string().contains("pairs.tsv:3: no tab"), "{error}");
        std::fs::write(path("long"), "a\nb\nc\n").unwrap();
        std::fs::write(path("short"), "a\nb\n").unwrap();
        for (sides, most) in
            [(["long", "short"], 1), (["long", "short"], 9), (["short", "long"], 1), (["short", "long"], 9)]
        {
            let stream = PairStream::parallel(&path(sides[0]), &path(sides[1]), &TableFormat::default()).unwrap();
            let error = all(stream, most).unwrap_err().to_string();
            let counts = |side: &str| format!("{side} has {}", if side == "long" { 3 } else { 2 });
            assert!(error.contains(&counts("long")[..10]) && error.contains(&counts("short")), "{error}");
        }
    }
}
