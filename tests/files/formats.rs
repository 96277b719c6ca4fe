//! Files of the trade through the program: pairs in every format are the same pairs, and documents come back in theirs.

use std::io::{Cursor, Write};

use crate::common::{Outcome, PAIRS, TestDir, model_path, tsv};
use flate2::Compression;
use flate2::write::GzEncoder;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn archive(files: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in files {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(text.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// Puts all pairs into a text: `unit` has those of a pair, with S and T for its sides.
fn units(start: &str, unit: &str, end: &str) -> String {
    let all = PAIRS.iter().map(|(source, target)| unit.replace("{S}", source).replace("{T}", target));
    format!("{start}{}{end}", all.collect::<String>())
}

/// One side of all pairs, a line each.
fn side(second: bool) -> String {
    PAIRS.iter().map(|(source, target)| format!("{}\n", if second { target } else { source })).collect()
}

/// Files with [`PAIRS`] in formats that have both sides.
fn files() -> Vec<(&'static str, Vec<u8>)> {
    let tmx = units(
        "<?xml version=\"1.0\"?>\n<tmx version=\"1.4\"><header srclang=\"en\"/><body>",
        "<tu><tuv xml:lang=\"en\"><seg>{S}<ph>x</ph></seg></tuv><tuv xml:lang=\"xx\"><seg>{T}</seg></tuv></tu>",
        "</body></tmx>\n",
    );
    let wide: Vec<u8> = format!("\u{feff}{tmx}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    let xliff = units(
        "<xliff version=\"1.2\"><file source-language=\"en\" target-language=\"xx\"><body>",
        "<trans-unit><source>{S}</source><target>{T}</target></trans-unit>",
        "</body></file></xliff>",
    );
    let second = units(
        "<xliff version=\"2.0\" srcLang=\"en\" trgLang=\"xx\"><file><unit>",
        "<segment><source>{S}</source><target>{T}</target></segment>",
        "</unit></file></xliff>",
    );
    let sources: String =
        (1..).zip(PAIRS).map(|(id, (source, _))| format!("<seg id=\"{id}\">{source}</seg>")).collect();
    let targets: String =
        (1..).zip(PAIRS).map(|(id, (_, target))| format!("<seg id=\"{id}\">{target}</seg>")).collect();
    let wmt = format!(
        "<dataset><doc><src lang=\"en\"><p>{sources}</p></src><ref lang=\"xx\"><p>{targets}</p></ref></doc></dataset>"
    );
    let [source, target] = [false, true].map(side);
    let opus = archive(&[("README", "r"), ("a.en-xx.en", &source), ("a.en-xx.xx", &target)]);
    vec![
        ("a.tmx", tmx.clone().into_bytes()),
        ("a.tmx.gz", gzip(tmx.as_bytes())),
        ("wide.tmx", wide),
        ("a.xlf", xliff.into_bytes()),
        ("second.xlf", second.into_bytes()),
        ("a.xml", wmt.into_bytes()),
        ("a.jsonl", units("", "{\"translation\": {\"en\": \"{S}\", \"xx\": \"{T}\"}}\n", "").into_bytes()),
        ("flat.jsonl", units("", "{\"source\": \"{S}\", \"target\": \"{T}\"}\n", "").into_bytes()),
        ("a.po", units("", "msgid \"{S}\"\nmsgstr \"{T}\"\n\n", "").into_bytes()),
        ("a.zip", opus),
        ("a.tsv.gz", gzip(tsv(&PAIRS).as_bytes())),
        ("a.csv.gz", gzip(units("", "\"{S}\",\"{T}\"\n", "").as_bytes())),
    ]
}

fn clean(dir: &TestDir, files: &[&str]) -> Outcome {
    dir.run(&[&["clean", "--quiet", "--output", "out.tsv"], files].concat())
}

#[test]
fn pairs_are_the_same_in_every_format() {
    let dir = TestDir::with_pairs();
    clean(&dir, &["pairs.tsv"]).worked();
    let expected = dir.text("out.tsv");
    assert_eq!(expected.lines().count(), PAIRS.len());
    for (name, bytes) in files() {
        dir.write(name, bytes);
        println!("{name}");
        clean(&dir, &[name]).worked();
        assert_eq!(dir.text("out.tsv"), expected, "{name}");
    }
    clean(&dir, &["--columns", "xx,en", "a.tmx"]).worked();
    let reversed: Vec<(&str, &str)> = PAIRS.iter().map(|(source, target)| (*target, *source)).collect();
    assert_eq!(dir.text("out.tsv"), tsv(&reversed));
    // Streams.
    let links = |file: &str, more: &[&str]| {
        let arguments = ["align", "--links-from", "pairs", "--format", "pharaoh", file];
        dir.run(&[&arguments, more].concat()).worked().to_owned()
    };
    assert_eq!(links("a.tmx", &["--columns", "en,xx"]), links("pairs.tsv", &[]));
    assert_eq!(links("a.tsv.gz", &[]), links("pairs.tsv", &[]));
    let scores = |file: &str| dir.run(&["score", "--model", model_path(), file]).worked().to_owned();
    assert_eq!(scores("a.tmx"), scores("pairs.tsv"));
    assert_eq!(scores("a.jsonl"), scores("pairs.tsv"));
}

#[test]
fn sides_are_lines_of_any_file() {
    let dir = TestDir::with_pairs();
    for (name, second, set) in [("a.en", false, "srcset"), ("a.xx", true, "refset")] {
        let text = side(second);
        let segments: String = text.lines().map(|line| format!("<seg id=\"1\"> {line} </seg>\n")).collect();
        dir.write(name, &text);
        dir.write(&format!("{name}.gz"), gzip(text.as_bytes()));
        dir.write(
            &format!("{name}.sgm"),
            format!("<{set} setid=\"t\" srclang=\"any\">\n<doc>\n{segments}</doc></{set}>\n"),
        );
    }
    clean(&dir, &["pairs.tsv"]).worked();
    let expected = dir.text("out.tsv");
    for extension in ["", ".gz", ".sgm"] {
        let [source, target] = ["a.en", "a.xx"].map(|name| format!("{name}{extension}"));
        clean(&dir, &["--source", &source, "--target", &target]).worked();
        assert_eq!(dir.text("out.tsv"), expected, "{extension}");
    }
    let translated =
        |input: &str| dir.run(&["translate", "--model", model_path(), "--input", input]).worked().to_owned();
    assert_eq!(translated("a.en.sgm"), translated("a.en"));
    assert_eq!(translated("a.en.gz"), translated("a.en"));
    let piped = dir.run_with_input(&["translate", "--model", model_path()], dir.read("a.en.gz"));
    assert_eq!(piped.worked(), translated("a.en"));
    let arguments = ["evaluate", "--source", "a.en.sgm", "--target", "a.xx.sgm", "--hypotheses", "a.xx.sgm", "--json"];
    assert_eq!(dir.run(&arguments).json()["bleu"], 100.0);
}

#[test]
fn trains_on_a_translation_memory() {
    let dir = TestDir::new();
    let (name, bytes) = files().swap_remove(0);
    dir.write(name, bytes);
    let arguments = ["train", "--quiet", "--preset", "tiny", "--max-epochs", "1", "--train", name, "--out", "model"];
    dir.run(&arguments).worked();
    assert!(dir.text("model/config.json").contains("a.tmx"));
}

#[test]
fn errors_name_file_place_and_remedy() {
    let dir = TestDir::new();
    let align = |name: &str, more: &[&str]| {
        let arguments = ["align", "--links-from", "pairs", "--on-error", "fail", name];
        dir.run(&[&arguments, more].concat())
    };
    dir.write("cut.tmx", "<tmx><header/><body>\n<tu><tuv xml:lang='en'><seg>a</seg></tuv>");
    align("cut.tmx", &[]).refused_with(1, &["cut.tmx:2", "cut"]);
    let unit = "<tu><tuv xml:lang='en'><seg>a</seg></tuv><tuv xml:lang='fr'><seg>b</seg></tuv>\
                <tuv xml:lang='de'><seg>c</seg></tuv></tu>";
    dir.write("three.tmx", format!("<tmx><header srclang='en'/><body>{unit}</body></tmx>"));
    align("three.tmx", &[]).refused_with(1, &["three.tmx:1", "en, fr, de", "--columns"]);
    align("three.tmx", &["--columns", "en,it"]).refused_with(1, &["it", "en, fr, de"]);
    align("three.tmx", &["--columns", "1,2"]).refused_with(2, &["three.tmx", "--columns must name", "en,fr"]);
    align("three.tmx", &["--columns", "de,fr"]).worked();
    dir.write("bad.jsonl", "{\"en\": \"a\", \"fr\": \"b\"}\n{\"en\": \"a\"}\n");
    align("bad.jsonl", &[]).refused_with(1, &["bad.jsonl:2", "\"fr\""]);
    let kept = dir.run(&["align", "--links-from", "pairs", "--format", "pharaoh", "--on-error", "skip", "bad.jsonl"]);
    assert_eq!(kept.worked().lines().count(), 1);
    dir.write("bad.po", "msgid \"a\nmsgstr \"b\"\n");
    align("bad.po", &[]).refused_with(1, &["bad.po:1", "quotes"]);
    dir.write("other.zip", archive(&[("a.txt", "x"), ("b.txt", "y")]));
    align("other.zip", &[]).refused_with(1, &["other.zip", "corpus.en and corpus.fr"]);
    dir.write("cut.gz", &gzip(b"a\tb\n")[..12]);
    align("cut.gz", &[]).refused_with(1, &["cut.gz", "cannot read"]);
}

#[test]
fn formats_that_are_not_read_are_named() {
    let dir = TestDir::new();
    dir.write("a.txt", b"%PDF-1.7\n");
    dir.write("b.txt", b"\x89PNG\r\n\x1a\n");
    dir.write("c.txt", b"{\\rtf1 x}");
    dir.write("d.txt", "the fox".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>());
    for (name, part) in [("a.txt", "a PDF"), ("b.txt", "an image"), ("c.txt", "RTF"), ("d.txt", "UTF-16")] {
        dir.run(&["translate", "--model", model_path(), "--input", name]).refused_with(1, &[name, part]);
        dir.run(&["align", "--links-from", "pairs", name]).refused_with(1, &[name, part]);
    }
    let (name, bytes) = files().swap_remove(0);
    dir.write(name, &bytes);
    dir.run(&["translate", "--model", model_path(), "--input", name]).refused_with(1, &["a.tmx: this is TMX"]);
    dir.run_with_input(&["translate", "--model", model_path()], &bytes)
        .refused_with(1, &["standard input: this is TMX"]);
    dir.write("a.docx", "no archive");
    dir.run(&["translate", "--model", model_path(), "--input", "a.docx"]).refused_with(1, &["a.docx: not a Word"]);
}

#[test]
fn compressed_files_cannot_fill_the_memory() {
    let dir = TestDir::new();
    dir.write("bomb.gz", gzip(&vec![b'a'; 40 << 20]));
    dir.run(&["align", "--links-from", "pairs", "bomb.gz"]).refused(1);
    dir.write("bomb.tmx.gz", gzip(format!("<tmx>{}", " ".repeat(40 << 20)).as_bytes()));
    dir.run(&["align", "--links-from", "pairs", "bomb.tmx.gz"]).refused_with(1, &["expands to more than 250 times"]);
    let entities = "<!DOCTYPE tmx [<!ENTITY a 'xxxx'><!ENTITY b '&a;&a;'><!ENTITY f SYSTEM 'file:///etc/passwd'>]>";
    let unit = "<tu><tuv xml:lang='en'><seg>&b;</seg></tuv><tuv xml:lang='fr'><seg>&f;</seg></tuv></tu>";
    dir.write("a.tmx", format!("{entities}<tmx><header/><body>{unit}</body></tmx>"));
    let read = dir.run(&["align", "--links-from", "pairs", "--format", "jsonl", "a.tmx"]).json();
    assert_eq!([&read["source_text"], &read["target_text"]], ["&b;", "&f;"]);
}

/// Translates a document, whose translation has the same name in another directory.
fn translated(dir: &TestDir, name: &str, document: impl AsRef<[u8]>, more: &[&str]) -> Vec<u8> {
    dir.write(name, document);
    let output = format!("translated-{name}");
    let arguments = ["translate", "--model", model_path(), "--input", name, "--output", &output];
    dir.run(&[&arguments, more].concat()).worked();
    dir.read(&output)
}

#[test]
fn documents_come_back_in_their_format() {
    let dir = TestDir::new();
    let text = |name: &str, document: &str| String::from_utf8(translated(&dir, name, document, &[])).unwrap();
    for (name, document, expected) in [
        ("a.html", "<p>the red\nfox sleeps</p>\n", "<p>rufo mi dorma .</p>\n"),
        ("a.md", "# the red fox sleeps\n\n- the old owl runs\n", "# rufo mi dorma .\n\n- vela ku kura .\n"),
        (
            "a.srt",
            "1\r\n00:00:01,000 --> 00:00:02,000\r\nthe red fox\r\nsleeps\r\n\r\n",
            "1\r\n00:00:01,000 --> 00:00:02,000\r\nrufo mi\r\ndorma .\r\n\r\n",
        ),
        (
            "a.vtt",
            "WEBVTT\n\nNOTE the fox\n\n00:01.000 --> 00:02.000\n- the red fox sleeps\n",
            "WEBVTT\n\nNOTE the fox\n\n00:01.000 --> 00:02.000\n- rufo mi dorma .\n",
        ),
        (
            "a.po",
            "msgid \"\"\nmsgstr \"Language: x\\n\"\n\nmsgid \"the red fox sleeps\"\nmsgstr \"\"\n\nmsgid \"a\"\nmsgstr \"b\"\n",
            "msgid \"\"\nmsgstr \"Language: x\\n\"\n\nmsgid \"the red fox sleeps\"\nmsgstr \"rufo mi dorma .\"\n\nmsgid \"a\"\nmsgstr \"b\"\n",
        ),
        (
            "a.xlf",
            "<xliff><trans-unit><source>the red fox sleeps</source></trans-unit></xliff>",
            "<xliff><trans-unit><source>the red fox sleeps</source><target>rufo mi dorma .</target></trans-unit></xliff>",
        ),
    ] {
        assert_eq!(text(name, document), expected, "{name}");
    }
    let bold = text("b.md", "the **red** fox sleeps `x`\n");
    assert!(bold.matches("**").count() == 2 && bold.contains("`x`"), "{bold}");
    let compressed = translated(&dir, "a.html.gz", gzip(b"<p>the red fox sleeps</p>"), &["--input-format", "html"]);
    assert_eq!(compressed, b"<p>rufo mi dorma .</p>");
}

#[test]
fn word_documents_come_back_in_their_archive() {
    let dir = TestDir::new();
    let body = |runs: &str| format!("<w:document xmlns:w=\"w\"><w:body><w:p>{runs}</w:p></w:body></w:document>");
    let given = body("<w:r><w:t xml:space=\"preserve\">the red fox </w:t></w:r><w:r><w:t>sleeps</w:t></w:r>");
    let docx = archive(&[("[Content_Types].xml", "<Types/>"), ("word/document.xml", &given)]);
    let written = translated(&dir, "a.docx", docx, &[]);
    let mut package = zip::ZipArchive::new(Cursor::new(written)).unwrap();
    let mut text = String::new();
    std::io::Read::read_to_string(&mut package.by_name("word/document.xml").unwrap(), &mut text).unwrap();
    assert_eq!(text, body("<w:r><w:t xml:space=\"preserve\">rufo mi dorma .</w:t></w:r>"));
    assert_eq!(package.len(), 2);
    let content = "<office:document xmlns:text=\"t\"><text:p>the red fox sleeps</text:p></office:document>";
    let odt = archive(&[("mimetype", "application/vnd.oasis.opendocument.text"), ("content.xml", content)]);
    let mut package = zip::ZipArchive::new(Cursor::new(translated(&dir, "a.odt", odt, &[]))).unwrap();
    text.clear();
    std::io::Read::read_to_string(&mut package.by_name("content.xml").unwrap(), &mut text).unwrap();
    assert_eq!(text, content.replace("the red fox sleeps", "rufo mi dorma ."));
}

#[test]
fn formats_of_documents_are_given_or_recognized() {
    let dir = TestDir::new();
    let run = |arguments: &[&str], input: &str| {
        dir.run_with_input(&[&["translate", "--model", model_path()], arguments].concat(), input)
    };
    let letter = "the red fox\nsleeps\n\nthe old owl\nruns\n";
    assert_eq!(run(&["--input-format", "text"], letter).worked(), "rufo mi\ndorma .\n\nvela ku\nkura .\n");
    assert_eq!(run(&[], letter).worked().lines().count(), 5, "lines, unless another format is given");
    dir.write("a.md", "the red fox sleeps\n\nthe old owl runs\n");
    let lines = run(&["--input", "a.md", "--input-format", "lines"], "");
    assert_eq!(lines.worked(), "rufo mi dorma .\n\nvela ku kura .\n");
    let json = run(&["--input", "a.md", "--format", "json"], "").json();
    assert_eq!((json.as_array().unwrap().len(), json[1]["translation"].as_str()), (2, Some("vela ku kura .")));
    run(&["--input", "a.md", "--n-best", "2"], "").refused_with(2, &["--n-best", "document"]);
    for output in ["b.docx", "b.pdf", "b.html.po"] {
        run(&["--input", "a.md", "--output", output], "").refused_with(2, &[output, "format of its input"]);
    }
    run(&["--input", "a.md", "--output", "b.txt"], "").worked();
    assert_eq!(dir.text("b.txt"), "rufo mi dorma .\n\nvela ku kura .\n");
    run(&["--input-format", "text", "the fox"], "").refused(2);
    run(&["--input-format", "html", "--output", "b.html"], "<p>the red fox sleeps</p>").worked();
    assert_eq!(dir.text("b.html"), "<p>rufo mi dorma .</p>");
    dir.write("subtitles.txt", "WEBVTT\n\n00:01.000 --> 00:02.000\nthe red fox sleeps\n");
    run(&["--input", "subtitles.txt", "--output", "b.vtt"], "").worked();
    assert!(dir.text("b.vtt").ends_with("-> 00:02.000\nrufo mi dorma .\n"));
    // Warnings name the lines of the file.
    let long = "the red fox sleeps ".repeat(150);
    dir.write("long.md", format!("# the fox\n\n- the owl\n- {long}\n"));
    let warned = run(&["--input", "long.md"], "");
    assert!(warned.stderr.contains("line 4: longer than 500 tokens"), "{}", warned.stderr);
}

#[test]
fn translation_memories_are_written() {
    let dir = TestDir::with_pairs();
    dir.run(&["align", "--links-from", "pairs", "pairs.tsv", "--output", "out.tmx"]).worked();
    clean(&dir, &["out.tmx"]).worked();
    let [written, given] = ["out.tmx", "pairs.tsv"].map(|name| {
        clean(&dir, &[name]).worked();
        dir.text("out.tsv")
    });
    assert_eq!(written, given);
    dir.write("a.md", "the *red* fox sleeps\n");
    dir.run(&["translate", "--model", model_path(), "--input", "a.md", "--output", "a.tmx"]).worked();
    let memory = dir.text("a.tmx");
    assert!(
        memory.contains("<seg>the red fox sleeps</seg>") && memory.contains("<seg>rufo mi dorma .</seg>"),
        "{memory}"
    );
}
