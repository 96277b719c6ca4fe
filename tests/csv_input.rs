//! Sentence pairs as spreadsheets export them: what is recognised, what is said, and what reads them right.

mod common;

use common::{ModelDir, Outcome, PAIRS, QUICK, json, model_path, tsv};

fn links(folder: &ModelDir, file: &str, options: &[&str]) -> Outcome {
    folder.run(&[&["align", "--model", model_path(), "--format", "pharaoh", "--pairs", file], options].concat())
}

/// [`PAIRS`] as an export has them: a header, a column of numbers first, each sentence in quotes.
fn export(separator: &str) -> String {
    let line = |(number, (source, target)): (usize, &(&str, &str))| {
        format!("{number}{separator}\"{source}\"{separator}\"{target}\"\r\n")
    };
    let lines: String = PAIRS.iter().enumerate().map(line).collect();
    format!("{}\r\n{lines}", ["id", "English", "translation"].join(separator))
}

#[test]
fn an_export_is_read_as_the_plain_pairs_are() {
    let folder = ModelDir::with_pairs();
    let plain = links(&folder, "pairs.tsv", &[]);
    for separator in ["\t", ",", ";"] {
        folder.write("export.csv", export(separator));
        let exported = links(&folder, "export.csv", &["--csv", "--header", "--columns", "2,3"]);
        assert_eq!(exported.worked(), plain.worked(), "{separator:?}");
        assert_eq!(exported.stderr, "", "{separator:?}");
        let by_names = links(&folder, "export.csv", &["--csv", "--columns", "english,Translation"]);
        assert_eq!((by_names.worked(), by_names.stderr.as_str()), (plain.worked(), ""), "{separator:?}");
    }
    // As a stream, whose later parts have no header.
    let many: String = (0..30).map(|_| tsv(&PAIRS).replace('\n', "\tCC-BY\n")).collect();
    folder.write("named.tsv", format!("en\tfr\tlicence\n{many}"));
    assert_eq!(links(&folder, "named.tsv", &["--columns", "en,fr"]).worked(), plain.worked().repeat(30));
    folder.write("with-source.txt", "English\nthe fox\n");
    folder.write("with-target.txt", "French\nmi .\n");
    let sides = ["align", "--model", model_path(), "--source", "with-source.txt", "--target", "with-target.txt"];
    let outcome = folder.run(&[&sides[..], &["--format", "jsonl", "--header"]].concat());
    assert_eq!((outcome.worked().lines().count(), outcome.stderr.as_str()), (1, ""));
}

#[test]
fn what_looks_like_a_spreadsheet_is_told_of() {
    let folder = ModelDir::new();
    folder.write("header.tsv", format!("English\tFrench\n{}", tsv(&PAIRS)));
    folder.write("quotes.tsv", "the fox\tmi .\n\"the \"\"red\"\" owl\"\tku .\n");
    for (file, option) in [("header.tsv", "--header"), ("quotes.tsv", "--csv")] {
        let told = links(&folder, file, &[]);
        told.worked();
        assert!(told.stderr.starts_with(&format!("warning: {file}: ")), "{told:?}");
        assert!(told.stderr.contains(option) && told.stderr.lines().count() == 1, "{told:?}");
        let train =
            ["train", "--preset", "tiny", "--max-epochs", "1", "--train", file, "--out", file.trim_end_matches(".tsv")];
        let train = folder.run(&train);
        train.worked();
        assert!(train.stderr.contains(&format!("warning: {file}: ")), "{train:?}");
    }
}

#[test]
fn what_cannot_be_read_as_it_is_says_how_it_can() {
    let folder = ModelDir::new();
    let utf_16: Vec<u8> = tsv(&PAIRS).encode_utf16().flat_map(u16::to_le_bytes).collect();
    folder.write("utf16.tsv", [&b"\xff\xfe"[..], &utf_16].concat());
    folder.write("commas.csv", "the fox,mi .\nthe owl,ku .\n");
    folder.write("three.tsv", "the fox\tmi .\tCC-BY\n");
    folder.write("open.csv", "the fox,mi .\n\"the owl,ku .\n");
    links(&folder, "utf16.tsv", &[]).refused_with(1, &["utf16.tsv: ", "UTF-16", "UTF-8"]);
    links(&folder, "commas.csv", &[]).refused_with(1, &["commas.csv:1: ", "CSV", "--csv"]);
    links(&folder, "three.tsv", &[]).refused_with(1, &["three.tsv:1: ", "--columns 1,2"]);
    links(&folder, "three.tsv", &["--columns", "1,4"]).refused_with(1, &["three.tsv:1: ", "no column 4"]);
    links(&folder, "three.tsv", &["--columns", "en,mi ."])
        .refused_with(1, &["three.tsv:1: no column is called \"en\"; this line has: the fox, mi ., CC-BY"]);
    links(&folder, "open.csv", &["--csv"]).refused_with(1, &["open.csv:2: ", "quote"]);
    for columns in ["1", "1,1", "0,1", "a,a", "a,", "1,2,3"] {
        assert_eq!(links(&folder, "three.tsv", &["--columns", columns]).code, Some(2), "{columns}");
    }
    let sides = ["align", "--model", model_path(), "--source", "three.tsv", "--target", "commas.csv", "--csv"];
    folder.run(&sides).refused_with(2, &["--csv"]);
}

#[test]
fn an_empty_line_is_a_pair_of_nothing() {
    let folder = ModelDir::new();
    folder.write("pairs.tsv", "the red fox\trufo mi\n\nthe owl\tku\n");
    let lines: Vec<bool> = links(&folder, "pairs.tsv", &[]).worked().lines().map(str::is_empty).collect();
    assert_eq!(lines, [false, true, false]);
}

#[test]
fn a_training_on_an_export_goes_on_with_it() {
    let folder = ModelDir::new();
    folder.write("export.csv", export(","));
    let layout = ["--csv", "--header", "--columns", "2,3"];
    let train = ["train", "--train", "export.csv", "--out", "out", "--max-epochs", "1"];
    folder.run(&[&train[..], &layout, &QUICK].concat()).worked();
    assert!(folder.text("out/config.json").contains("\"csv\": true"), "{}", folder.text("out/config.json"));
    folder.run(&["train", "--out", "out", "--resume", "--max-epochs", "2", "--quiet"]).worked();
    let named = ["--csv", "--columns", "English,translation", "--max-epochs", "1"];
    folder.run(&[&["train", "--train", "export.csv", "--out", "named"], &named[..], &QUICK].concat()).worked();
    folder.run(&["train", "--out", "named", "--resume", "--max-epochs", "2", "--quiet"]).worked();
    assert_eq!(folder.read("named/model.safetensors"), folder.read("out/model.safetensors"));
    folder.run(&["train", "--out", "out", "--resume", "--csv"]).refused_with(2, &["--csv", "--resume"]);
}

#[test]
fn lines_are_those_where_pairs_begin() {
    let folder = ModelDir::new();
    let long = "fox ".repeat(510);
    folder.write("a.csv", format!("en,la\n\"the\nfox\",\"mi\nku\"\nred,red\n{long},mi\n"));
    let clean =
        folder.run(&["clean", "--pairs", "a.csv", "--csv", "--header", "--rejected", "-", "--max-words", "999"]);
    assert_eq!(clean.worked(), "5\tidentical\tred\tred\n");
    let model = ["--pairs", "a.csv", "--csv", "--header", "--model", model_path()];
    for command in [&["align", "--format", "pharaoh"][..], &["evaluate"], &["score"]] {
        let outcome = folder.run(&[command, &model].concat());
        assert!(outcome.stderr.contains("line 6: longer than 500 units"), "{command:?} {outcome:?}");
    }
    let listed = folder.run(&[&["align", "--noisy", "--format", "jsonl"][..], &model].concat());
    let mut lines: Vec<u64> = listed.worked().lines().map(|line| json(line)["line"].as_u64().unwrap()).collect();
    lines.sort_unstable();
    assert_eq!(lines, [2, 5, 6]);
}

/// Commas and semicolons stand in prose, with a space behind; a first line may be cut otherwise than the others.
#[test]
fn prose_is_not_cut() {
    let folder = ModelDir::new();
    for (text, pairs) in [
        ("English,French,\na; b,c\nd; e,f\n", "a; b\tc\nd; e\tf\n"),
        ("Yes, I do;Oui\n", "Yes, I do\tOui\n"),
        ("a; b,c\n", "a; b\tc\n"),
    ] {
        folder.write("a.csv", text);
        let header: &[&str] = if text.starts_with("English") { &["--header"] } else { &[] };
        let clean = ["clean", "--pairs", "a.csv", "--csv", "--columns", "1,2", "--output", "-"];
        assert_eq!(folder.run(&[&clean[..], header].concat()).worked(), pairs, "{text}");
    }
}

#[test]
fn warns_of_spaces_before_quotes() {
    let folder = ModelDir::new();
    folder.write("spaced.csv", "\"the fox\", \"mi .\"\n\"the owl\", \"ku .\"\n");
    folder.write("tight.csv", "\"the fox\",\"mi .\"\n\"the owl\",\"ku .\"\n");
    let outcome = links(&folder, "spaced.csv", &["--csv"]);
    outcome.worked();
    assert!(outcome.stderr.starts_with("warning: spaced.csv: ") && outcome.stderr.contains("spaces"), "{outcome:?}");
    assert_eq!(links(&folder, "tight.csv", &["--csv"]).stderr, "");
}

#[test]
fn takes_the_separator_that_excel_states() {
    let folder = ModelDir::new();
    folder.write("plain.tsv", "the fox, red\tmi .\n");
    folder.write("stated.csv", "\u{feff}sep=;\r\nthe fox, red;mi .\r\n");
    let stated = links(&folder, "stated.csv", &["--csv"]);
    assert_eq!((stated.worked(), stated.stderr.as_str()), (links(&folder, "plain.tsv", &[]).worked(), ""));
    folder.write("tabs.tsv", "sep=\t\nthe fox\tmi .\n");
    assert!(links(&folder, "tabs.tsv", &[]).stderr.contains("--csv"));
}
