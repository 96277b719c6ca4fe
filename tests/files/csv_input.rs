//! Sentence pairs exported by spreadsheets: options that read them, and warnings that suggest these options.

use crate::common::{Outcome, PAIRS, QUICK, TestDir, json, model_path, tsv};

fn links(dir: &TestDir, file: &str, options: &[&str]) -> Outcome {
    dir.run(&[&["align", "--model", model_path(), "--format", "pharaoh", "--pairs", file], options].concat())
}

/// [`PAIRS`] with a header, a leading column of numbers, and quoted sentences.
fn export(separator: &str) -> String {
    let line = |(number, (source, target)): (usize, &(&str, &str))| {
        format!("{number}{separator}\"{source}\"{separator}\"{target}\"\r\n")
    };
    let lines: String = PAIRS.iter().enumerate().map(line).collect();
    format!("{}\r\n{lines}", ["id", "English", "translation"].join(separator))
}

#[test]
fn csv_reads_as_the_same_pairs_as_tsv() {
    let dir = TestDir::with_pairs();
    let plain = links(&dir, "pairs.tsv", &[]);
    for separator in ["\t", ",", ";"] {
        dir.write("export.csv", export(separator));
        let exported = links(&dir, "export.csv", &["--csv", "--header", "--columns", "2,3"]);
        assert_eq!(exported.worked(), plain.worked(), "{separator:?}");
        assert_eq!(exported.stderr, "", "{separator:?}");
        let by_names = links(&dir, "export.csv", &["--csv", "--columns", "english,Translation"]);
        assert_eq!((by_names.worked(), by_names.stderr.as_str()), (plain.worked(), ""), "{separator:?}");
    }
    // Long enough to be read in several chunks; only the first has the header.
    let many: String = (0..30).map(|_| tsv(&PAIRS).replace('\n', "\tCC-BY\n")).collect();
    dir.write("named.tsv", format!("en\tfr\tlicence\n{many}"));
    assert_eq!(links(&dir, "named.tsv", &["--columns", "en,fr"]).worked(), plain.worked().repeat(30));
    dir.write("with-source.txt", "English\nthe fox\n");
    dir.write("with-target.txt", "French\nmi .\n");
    let sides = ["align", "--model", model_path(), "--source", "with-source.txt", "--target", "with-target.txt"];
    let outcome = dir.run(&[&sides[..], &["--format", "jsonl", "--header"]].concat());
    assert_eq!((outcome.worked().lines().count(), outcome.stderr.as_str()), (1, ""));
}

#[test]
fn warns_of_files_that_look_like_spreadsheets() {
    let dir = TestDir::new();
    dir.write("header.tsv", format!("English\tFrench\n{}", tsv(&PAIRS)));
    dir.write("quotes.tsv", "the fox\tmi .\n\"the \"\"red\"\" owl\"\tku .\n");
    for (file, option) in [("header.tsv", "--header"), ("quotes.tsv", "--csv")] {
        let aligned = links(&dir, file, &[]);
        aligned.worked();
        assert!(aligned.stderr.starts_with(&format!("warning: {file}: ")), "{aligned:?}");
        assert!(aligned.stderr.contains(option) && aligned.stderr.lines().count() == 1, "{aligned:?}");
        let train =
            ["train", "--preset", "tiny", "--max-epochs", "1", "--train", file, "--out", file.trim_end_matches(".tsv")];
        let train = dir.run(&train);
        train.worked();
        assert!(train.stderr.contains(&format!("warning: {file}: ")), "{train:?}");
    }
}

#[test]
fn unreadable_tables_name_the_options_that_help() {
    let dir = TestDir::new();
    let utf_16: Vec<u8> = tsv(&PAIRS).encode_utf16().flat_map(u16::to_le_bytes).collect();
    dir.write("utf16.tsv", [&b"\xff\xfe"[..], &utf_16].concat());
    dir.write("commas.txt", "the fox,mi .\nthe owl,ku .\n");
    dir.write("three.tsv", "the fox\tmi .\tCC-BY\n");
    dir.write("open.csv", "the fox,mi .\n\"the owl,ku .\n");
    links(&dir, "utf16.tsv", &[]).refused_with(1, &["utf16.tsv: ", "UTF-16", "UTF-8"]);
    links(&dir, "commas.txt", &[]).refused_with(1, &["commas.txt:1: ", "CSV", "--csv"]);
    links(&dir, "three.tsv", &[]).refused_with(1, &["three.tsv:1: ", "--columns 1,2"]);
    links(&dir, "three.tsv", &["--columns", "1,4"]).refused_with(1, &["three.tsv:1: ", "no column 4"]);
    links(&dir, "three.tsv", &["--columns", "en,mi ."])
        .refused_with(1, &["three.tsv:1: no column is called \"en\"; this line has: the fox, mi ., CC-BY"]);
    links(&dir, "open.csv", &["--csv"]).refused_with(1, &["open.csv:2: ", "quote"]);
    for columns in ["1", "1,1", "0,1", "a,a", "a,", "1,2,3"] {
        assert_eq!(links(&dir, "three.tsv", &["--columns", columns]).code, Some(2), "{columns}");
    }
    let sides = ["align", "--model", model_path(), "--source", "three.tsv", "--target", "commas.txt", "--csv"];
    dir.run(&sides).refused_with(2, &["--csv"]);
}

#[test]
fn csv_files_are_recognized_and_their_headers_left_out() {
    let dir = TestDir::with_pairs();
    let plain = links(&dir, "pairs.tsv", &[]);
    dir.write("export.csv", export(";"));
    dir.write("two.csv", format!("English,Kanto\n{}", tsv(&PAIRS).replace('\t', ",")));
    dir.write("named.csv", format!("English,French\n{}", tsv(&PAIRS).replace('\t', ",")));
    let left_out = |file: &str| format!("{file}: the first line is a header and is left out\n");
    for (file, options, note) in [
        ("export.csv", &["--columns", "2,3"][..], left_out("export.csv")),
        ("named.csv", &[], left_out("named.csv")),
        ("two.csv", &["--header"], String::new()),
    ] {
        let aligned = links(&dir, file, options);
        assert_eq!((aligned.worked(), &aligned.stderr), (plain.worked(), &note), "{file}");
    }
    let train =
        [&["train", "export.csv", "--columns", "English,translation", "--out", "out", "--max-epochs", "1"], &QUICK[..]];
    dir.run(&train.concat()).worked();
    assert!(dir.text("out/config.json").contains("\"training_pairs\": 12"));
}

#[test]
fn hint_of_columns_names_them_and_proposes_text() {
    let dir = TestDir::new();
    dir.write("export.csv", export(","));
    let listed =
        ["export.csv:1: 3 columns", "--columns English,translation", "id \"0\"", "English \"the red fox sle…\""];
    links(&dir, "export.csv", &[]).refused_with(1, &listed);
    let tatoeba = |(number, (source, target)): (usize, &(&str, &str))| format!("{number}\t{source}\t{target}\tCC-BY\n");
    dir.write("tatoeba.tsv", PAIRS.iter().enumerate().map(tatoeba).collect::<String>());
    links(&dir, "tatoeba.tsv", &[]).refused_with(1, &["tatoeba.tsv:1: 4 columns", "--columns 2,3", "4 \"CC-BY\""]);
    dir.write("stray.tsv", format!("{}the fox\tmi\tx\n", tsv(&PAIRS)));
    dir.run(&["clean", "stray.tsv"]).refused_with(1, &["stray.tsv:13: 3 columns here"]);
}

#[test]
fn columns_apply_to_the_files_that_have_them() {
    let dir = TestDir::with_pairs();
    dir.write("export.csv", export(","));
    for (out, columns) in [("names", "English,translation"), ("numbers", "2,3")] {
        let train =
            ["train", "--train", "export.csv", "--columns", columns, "--valid", "pairs.tsv", "--max-epochs", "1"];
        let trained = dir.run(&[&train[..], &["--preset", "tiny", "--out", out]].concat());
        trained.worked();
        assert!(trained.stderr.contains("pairs.tsv: --columns does not fit"), "{trained:?}");
        dir.run(&["train", "--resume", "--out", out, "--max-epochs", "2", "-q"]).worked();
    }
    assert_eq!(dir.read("names/model.safetensors"), dir.read("numbers/model.safetensors"));
    links(&dir, "pairs.tsv", &["--columns", "2,3"]).refused_with(1, &["pairs.tsv:1: no column 3"]);
}

#[test]
fn sentences_are_in_the_column_that_options_name() {
    let dir = TestDir::new();
    let translate = |options: &[&str], input: &str| {
        dir.run_with_input(&[&["translate", "--model", model_path()], options].concat(), input)
    };
    assert_eq!(
        translate(&["--columns", "1"], "the red fox sleeps\tx\nthe red fox sleeps\n").worked(),
        "the red fox sleeps\tx\trufo mi dorma .\nthe red fox sleeps\t\trufo mi dorma .\n"
    );
    translate(&["--columns", "3"], "the red fox\tx\n").refused_with(1, &["input:1: no column 3 here, only 2"]);
    let prefixed = translate(&["--columns", "2", "--prefixes"], "7\tthe red fox sleeps\tvela\n");
    assert!(prefixed.worked().contains("\tvela "), "{prefixed:?}");
    dir.run(&["align", "--model", model_path(), "--columns", "2,3", "the fox", "mi"])
        .refused_with(2, &["describe files"]);
}

#[test]
fn empty_csv_line_is_an_empty_pair() {
    let dir = TestDir::new();
    dir.write("pairs.tsv", "the red fox\trufo mi\n\nthe owl\tku\n");
    let lines: Vec<bool> = links(&dir, "pairs.tsv", &[]).worked().lines().map(str::is_empty).collect();
    assert_eq!(lines, [false, true, false]);
}

#[test]
fn training_on_csv_resumes_with_its_layout() {
    let dir = TestDir::new();
    dir.write("export.csv", export(","));
    let layout = ["--csv", "--header", "--columns", "2,3"];
    let train = ["train", "--train", "export.csv", "--out", "out", "--max-epochs", "1"];
    dir.run(&[&train[..], &layout, &QUICK].concat()).worked();
    assert!(dir.text("out/config.json").contains("\"csv\": true"), "{}", dir.text("out/config.json"));
    dir.run(&["train", "--out", "out", "--resume", "--max-epochs", "2", "--quiet"]).worked();
    let named = ["--csv", "--columns", "English,translation", "--max-epochs", "1"];
    dir.run(&[&["train", "--train", "export.csv", "--out", "named"], &named[..], &QUICK].concat()).worked();
    dir.run(&["train", "--out", "named", "--resume", "--max-epochs", "2", "--quiet"]).worked();
    assert_eq!(dir.read("named/model.safetensors"), dir.read("out/model.safetensors"));
    let resume = ["train", "--out", "out", "--resume", "--train", "export.csv", "--csv", "--quiet"];
    dir.run(&[&resume[..], &["--columns", "1,2"]].concat()).refused_with(2, &["--columns cannot change with --resume"]);
    dir.run(&[&resume[..], &["--max-epochs", "3"]].concat()).worked();
}

#[test]
fn csv_line_numbers_are_those_of_record_starts() {
    let dir = TestDir::new();
    let long = "fox ".repeat(510);
    dir.write("a.csv", format!("en,la\n\"the\nfox\",\"mi\nku\"\nred,red\n{long},mi\n"));
    let clean = dir.run(&["clean", "--pairs", "a.csv", "--csv", "--header", "--rejected", "-", "--max-words", "999"]);
    assert_eq!(clean.worked(), "5\tidentical\tred\tred\n");
    let model = ["--pairs", "a.csv", "--csv", "--header", "--model", model_path()];
    for command in [&["align", "--format", "pharaoh"][..], &["evaluate"], &["score"]] {
        let outcome = dir.run(&[command, &model].concat());
        assert!(outcome.stderr.contains("line 6: longer than 500 tokens"), "{command:?} {outcome:?}");
    }
    let listed = dir.run(&[&["align", "--noisy", "--format", "jsonl"][..], &model].concat());
    let mut lines: Vec<u64> = listed.worked().lines().map(|line| json(line)["line"].as_u64().unwrap()).collect();
    lines.sort_unstable();
    assert_eq!(lines, [2, 5, 6]);
}

/// Commas and semicolons before a space are prose, and the header may use another separator than the records.
#[test]
fn does_not_mistake_prose_for_csv() {
    let dir = TestDir::new();
    for (text, pairs) in [
        ("English,French,\na; b,c\nd; e,f\n", "a; b\tc\nd; e\tf\n"),
        ("Yes, I do;Oui\n", "Yes, I do\tOui\n"),
        ("a; b,c\n", "a; b\tc\n"),
    ] {
        dir.write("a.csv", text);
        let header: &[&str] = if text.starts_with("English") { &["--header"] } else { &[] };
        let clean = ["clean", "--pairs", "a.csv", "--csv", "--columns", "1,2", "--output", "-"];
        assert_eq!(dir.run(&[&clean[..], header].concat()).worked(), pairs, "{text}");
    }
}

#[test]
fn warns_of_spaces_before_quotes() {
    let dir = TestDir::new();
    dir.write("spaced.csv", "\"the fox\", \"mi .\"\n\"the owl\", \"ku .\"\n");
    dir.write("tight.csv", "\"the fox\",\"mi .\"\n\"the owl\",\"ku .\"\n");
    let outcome = links(&dir, "spaced.csv", &["--csv"]);
    outcome.worked();
    assert!(outcome.stderr.starts_with("warning: spaced.csv: ") && outcome.stderr.contains("spaces"), "{outcome:?}");
    assert_eq!(links(&dir, "tight.csv", &["--csv"]).stderr, "");
}

#[test]
fn reads_the_separator_from_excels_sep_line() {
    let dir = TestDir::new();
    dir.write("plain.tsv", "the fox, red\tmi .\n");
    dir.write("stated.csv", "\u{feff}sep=;\r\nthe fox, red;mi .\r\n");
    let stated = links(&dir, "stated.csv", &["--csv"]);
    assert_eq!((stated.worked(), stated.stderr.as_str()), (links(&dir, "plain.tsv", &[]).worked(), ""));
    dir.write("tabs.tsv", "sep=\t\nthe fox\tmi .\n");
    assert!(links(&dir, "tabs.tsv", &[]).stderr.contains("--csv"));
}
