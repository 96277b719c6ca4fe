//! Tables that commands write are read back equal by other commands under the names of their files.

use crate::common::{PAIRS, TestDir, model_path};
use softalign::Pair;
use softalign::random::SeededRng;
use softalign::text::{Column, PairFiles, RowSyntax, SentenceTable, TableFormat, TableRows, TableWriter};

/// Pieces of cells that readers could misread.
const PIECES: [&str; 17] =
    ["a", "English", "7", " ", "\"", "\"\"", ",", ", ", ";", "\t", "|||", "\n", "\r\n", "\u{feff}", "sep=", "é", "'"];
const NAMES: [&str; 2] = ["pairs.csv", "pairs.tsv"];

fn random_cell(rng: &mut SeededRng) -> String {
    (0..rng.below(6)).map(|_| PIECES[rng.below(PIECES.len())]).collect()
}

/// Cell as it is read: line breaks are spaces, and tabs as well where they separate cells.
fn as_read(name: &str, cell: &str) -> String {
    let in_one_line = cell.replace(['\n', '\r'], " ");
    if name.ends_with(".csv") { in_one_line } else { in_one_line.replace('\t', " ") }
}

#[test]
fn random_pairs_are_read_as_they_were_written() {
    let dir = TestDir::new();
    for seed in 0..3_000 {
        let rng = &mut SeededRng::new(seed, "pairs", 0);
        let rows: Vec<[String; 2]> = (0..=rng.below(4)).map(|_| [random_cell(rng), random_cell(rng)]).collect();
        for name in NAMES {
            let mut table = TableWriter::new(name.as_ref(), &["source", "target"]);
            let mut bytes = Vec::new();
            rows.iter().for_each(|row| table.row(&mut bytes, row).unwrap());
            dir.write(name, &bytes);
            let context = format!("seed {seed}: {:?}", String::from_utf8(bytes).unwrap());
            let expected: Vec<Pair> =
                rows.iter().map(|[source, target]| Pair::new(as_read(name, source), as_read(name, target))).collect();
            let read = PairFiles::tsv(&dir.path(name), &TableFormat::default()).read("--pairs");
            assert_eq!(read.unwrap(), expected, "{context}");
            let column = Column::Number(1);
            let (table, rows) = SentenceTable::open(&dir.path(name), &TableFormat::default(), Some(&column)).unwrap();
            let rows = match rows {
                TableRows::Csv(rows) => rows,
                TableRows::Lines(mut lines) => lines.next_chunk(9).into_iter().map(Result::unwrap).collect(),
            };
            for (row, pair) in rows.iter().zip(&expected) {
                let source = table.cells(row).split('\t').next().unwrap().to_owned();
                assert_eq!(source, pair.source.replace('\t', " "), "{context}");
            }
            assert_eq!(rows.len(), expected.len(), "{context}");
        }
    }
}

#[test]
fn csv_with_features_and_single_columns_has_a_header_that_readers_skip() {
    let dir = TestDir::new();
    let mut table = TableWriter::new("a.csv".as_ref(), &["source", "target", "features"]);
    let mut bytes = Vec::new();
    table.row(&mut bytes, &["walk", "walked", "V;PST"]).unwrap();
    dir.write("a.csv", &bytes);
    let layout = TableFormat { features: Some(Column::Number(3)), ..TableFormat::default() };
    let read = PairFiles::tsv(&dir.path("a.csv"), &layout).read("--pairs").unwrap();
    assert_eq!(read, [Pair::new("⟨V⟩⟨PST⟩walk", "walked")]);
    assert_eq!(RowSyntax::of_file("x.CSV".as_ref()).row(&["a, \"b\""]), "\"a, \"\"b\"\"\"");
}

/// Pairs that `clean` accepts, with quotes, separators and outer spaces.
fn difficult_pairs() -> String {
    let mut lines = String::from("\"Hi,\" she said.\t« Salut » ; dit-elle.\n");
    for (number, (source, target)) in PAIRS.iter().enumerate() {
        lines += &format!(" {source}, \"{number}\"\t{target}; '{number}' \n");
    }
    lines
}

#[test]
fn clean_pairs_come_back_equal() {
    let dir = TestDir::new();
    dir.write("given.tsv", difficult_pairs());
    let clean = |input: &str, output: &str| dir.run(&["clean", input, "--output", output]).worked().to_owned();
    let report = clean("given.tsv", "clean.tsv");
    assert!(dir.text("clean.tsv").starts_with("\"Hi,\" she said.\t"), "{report}");
    clean("given.tsv", "clean.csv");
    assert!(dir.text("clean.csv").contains("\"\"\"Hi,\"\" she said.\","), "{}", dir.text("clean.csv"));
    assert_eq!(clean("clean.csv", "again.tsv"), report.replace("1, 2, 3, …", "2, 3, 4, …"));
    assert_eq!(dir.text("again.tsv"), dir.text("clean.tsv"));
    let score = |file: &str| dir.run(&["score", "--model", model_path(), file]).worked().to_owned();
    assert_eq!(score("clean.csv"), score("clean.tsv"));
    dir.run(&["clean", "given.tsv", "--max-words", "4", "--rejected", "rest.csv"]).worked();
    assert!(dir.text("rest.csv").starts_with("line,reason,source,target\n"), "{}", dir.text("rest.csv"));
}

#[test]
fn parallel_files_are_not_csv() {
    let dir = TestDir::with_pairs();
    let clean = ["clean", "pairs.tsv", "--output", "a.csv", "--output-target", "b.txt"];
    dir.run(&clean).refused_with(2, &["a.csv: parallel files have lines, not CSV", "choose"]);
}

#[test]
fn translations_come_back_equal() {
    let dir = TestDir::new();
    dir.write("pairs.tsv", difficult_pairs());
    dir.write("sources.txt", "the red fox, sleeps\n\"the owl\" sings\n");
    let translate = |input: &str, output: &str| {
        dir.run(&["translate", "--model", model_path(), "--input", input, "--output", output]).worked();
    };
    for input in ["sources.txt", "pairs.csv"] {
        dir.run(&["clean", "pairs.tsv", "--output", "pairs.csv"]).worked();
        translate(input, "out.csv");
        translate(input, "out.tsv");
        // Rows and translations alone are the same tables in both syntaxes.
        let format = TableFormat { csv: true, ..TableFormat::default() };
        let column = Column::Number(1);
        let (table, rows) = SentenceTable::open(&dir.path("out.csv"), &format, Some(&column)).unwrap();
        let TableRows::Csv(rows) = rows else { panic!("not CSV") };
        let rows: String = rows.iter().map(|row| table.cells(row) + "\n").collect();
        let expected = dir.text("out.tsv");
        let expected = expected.strip_prefix("source\ttarget\ttranslation\n").unwrap_or(&expected);
        assert_eq!(rows, expected, "{input}");
    }
    let evaluate = |options: &[&str]| {
        dir.run(&[&["evaluate", "--pairs", "pairs.tsv", "--json"], options].concat()).json()["bleu"].clone()
    };
    let saved = ["out.csv", "out.txt"].map(|name| evaluate(&["--model", model_path(), "--save", name]));
    assert_eq!(saved[0], saved[1]);
    let read = ["out.csv", "out.txt"].map(|name| evaluate(&["--hypotheses", name]));
    assert_eq!(read, saved);
}

#[test]
fn lists_of_align_are_csv_by_name() {
    let dir = TestDir::with_pairs();
    let align = |options: &[&str]| dir.run(&[&["align", "pairs.tsv", "--links-from", "pairs"], options].concat());
    align(&["--lexicon", "lexicon.csv", "--output", "links"]).worked();
    assert!(dir.text("lexicon.csv").starts_with("word,translation,count,"), "{}", dir.text("lexicon.csv"));
    align(&["--noisy", "--output", "noisy.csv"]).worked();
    assert!(dir.text("noisy.csv").starts_with("line,suspicion,score,"), "{}", dir.text("noisy.csv"));
    align(&["--format", "tsv", "--output", "a.csv"]).refused_with(2, &["a.csv: --format tsv writes no CSV", ".tsv"]);
}
