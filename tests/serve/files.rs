//! Files that are uploaded, translated and downloaded.

use std::io::{Cursor, Read, Write};
use std::thread::{scope, sleep};
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::client::{SHIPPED, Served, form};
use super::common::TestDir;

const LANGUAGES: [(&str, &str); 2] = [("source", "en"), ("target", "fr")];
const DOCX: &str =
    "<w:document xmlns:w=\"w\"><w:body><w:p><w:r><w:t>She sleeps.</w:t></w:r></w:p></w:body></w:document>";

fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        let is_picture = name.ends_with(".png");
        let method = if is_picture { CompressionMethod::Stored } else { CompressionMethod::Deflated };
        writer.start_file(*name, SimpleFileOptions::default().compression_method(method)).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

#[test]
fn every_format_comes_back_in_its_own() {
    let server = Served::start(&[]);
    for (name, file, expected) in [
        ("a.txt", "She sleeps.\n\n  12\n", "Elle dort.\n\n  12\n"),
        ("a.md", "# She sleeps.\n\n`code`\n", "# Elle dort.\n\n`code`\n"),
        ("a.HTML", "<p>She <b>sleeps</b>.</p>\n", "<p>Elle <b>dort</b>.</p>\n"),
        ("a.po", "msgid \"She sleeps.\"\nmsgstr \"\"\n", "msgid \"She sleeps.\"\nmsgstr \"Elle dort.\"\n"),
        ("a.srt", "1\n00:00:01,000 --> 00:00:02,000\nShe sleeps.\n", "1\n00:00:01,000 --> 00:00:02,000\nElle dort.\n"),
        (
            "a.xlf",
            "<xliff><trans-unit><source>She sleeps.</source></trans-unit></xliff>",
            "<xliff><trans-unit><source>She sleeps.</source><target>Elle dort.</target></trans-unit></xliff>",
        ),
    ] {
        let translated = server.translate_file(name, file.as_bytes());
        assert_eq!(translated.body, expected);
        let extension = name.rsplit('.').next().unwrap();
        let disposition = format!("attachment; filename=\"a_fr.{extension}\"; filename*=UTF-8''a_fr.{extension}");
        for (header, value) in [
            ("content-type", "application/octet-stream"),
            ("content-disposition", &*disposition),
            ("x-content-type-options", "nosniff"),
        ] {
            assert_eq!(translated.header(header), Some(value));
        }
        assert!(translated.header("content-security-policy").unwrap().contains("default-src 'none'"));
    }
    let picture: &[u8] = &[7; 1000];
    let docx =
        server.translate_file("Über uns.docx", &archive(&[("word/document.xml", DOCX.as_bytes()), ("a.png", picture)]));
    assert!(docx.header("content-disposition").unwrap().ends_with("UTF-8''%C3%9Cber%20uns_fr.docx"));
    let mut archive = ZipArchive::new(Cursor::new(docx.bytes)).unwrap();
    let mut read = |name: &str| {
        let mut content = Vec::new();
        archive.by_name(name).unwrap().read_to_end(&mut content).unwrap();
        content
    };
    assert_eq!(read("a.png"), picture);
    assert!(String::from_utf8(read("word/document.xml")).unwrap().contains("Elle dort."));
    let settings = server.get("/frontend/settings").worked();
    assert_eq!(settings["filesTranslation"], json!(true));
    let formats = settings["supportedFilesFormat"].as_array().unwrap();
    for extension in [".txt", ".md", ".html", ".po", ".srt", ".xlf", ".docx", ".odt"] {
        assert!(formats.contains(&json!(extension)), "{extension}: {formats:?}");
    }
    assert!(!formats.contains(&json!(".tmx")));
}

#[test]
fn direction_is_that_of_the_languages_or_of_a_model() {
    let server = Served::start(&["--model", &SHIPPED.replace("en-fr=", "other=")]);
    let download = |fields: &[(&str, &str)]| {
        let answer = server.upload("a.txt", b"She sleeps.\n", fields).worked();
        let address = answer["translatedFileUrl"].as_str().unwrap().to_owned();
        server.get(address.strip_prefix(&format!("http://{}", server.address)).unwrap()).body
    };
    assert_eq!(download(&[("source", "auto"), ("target", "fr")]), "Elle dort.\n");
    assert_eq!(download(&[("source", "auto"), ("target", "en")]), "She sleeps.\n");
    assert_eq!(download(&[("model", "other")]), "Elle dort.\n");
    let cases: [(&[(&str, &str)], &str); 5] = [
        (&[("source", "en")], "missing target"),
        (&[("target", "fr")], "missing source"),
        (&[("source", "en"), ("target", "xx")], "xx is not supported"),
        (&[("source", "fr"), ("target", "en")], "not available"),
        (&[("model", "none")], "no model of this name"),
    ];
    for (fields, part) in cases {
        server.upload("a.txt", b"a", fields).refused(400, &[part]);
    }
}

#[test]
fn what_is_no_document_is_named() {
    let server = Served::start(&[]);
    let kind = [("Content-Type", "multipart/form-data; boundary=xyz")];
    let empty = b"--xyz\r\nContent-Disposition: form-data; name=\"source\"\r\n\r\nen\r\n--xyz--\r\n";
    server.send("POST", "/translate_file", &kind, empty).refused(400, &["missing file"]);
    server.send("POST", "/translate_file", &kind, b"no form").refused(400, &["form is not valid"]);
    let cases: [(&str, &[u8], &str); 9] = [
        ("a.txt", b"%PDF-1.7", "this is a PDF"),
        ("a.docx", b"text", "not a Word document"),
        ("a.docx", b"PK\x03\x04 and no more", "damaged document"),
        ("a.tmx", b"<tmx></tmx>", "translate cannot"),
        ("a.exe", b"text", "this format is not supported; these are: "),
        ("a", b"text", "this format is not supported"),
        ("a.txt", b"\xff\xff", "not UTF-8"),
        ("a.xlf", b"<xliff><a>", "1: the file ends within an element"),
        ("../../x/a.po", b"hello", "a.po:1: no line of a PO file"),
    ];
    for (name, file, part) in cases {
        server.upload(name, file, &LANGUAGES).refused(400, &[part]);
    }
}

#[test]
fn names_are_safe_and_unknown_files_are_not_found() {
    let server = Served::start(&["--allow-origin", "https://example.org"]);
    let file = server.translate_file("..\\x/\u{202e}a; b.md", b"She sleeps.\n");
    assert_eq!(
        file.header("content-disposition"),
        Some("attachment; filename=\"a__b_fr.md\"; filename*=UTF-8''a%3B%20b_fr.md")
    );
    for path in ["/download_file/", "/download_file/..", "/download_file/0123456789abcdef0123456789abcdef.a.md"] {
        assert_eq!(server.get(path).status, 404, "{path}");
    }
    let headers = [
        ("Content-Type", "multipart/form-data; boundary=xyz"),
        ("Host", "example.org"),
        ("X-Forwarded-Prefix", "/mt/"),
    ];
    let answer = server.send("POST", "/translate_file", &headers, &form("a.txt", b"She sleeps.", &LANGUAGES)).worked();
    let address = answer["translatedFileUrl"].as_str().unwrap();
    assert!(address.starts_with("https://example.org/mt/download_file/"), "{address}");
    assert_eq!(address.rsplit('/').next().unwrap().len(), 32 + ".a_fr.txt".len());
}

#[test]
fn keys_are_needed_in_the_head_or_the_form() {
    let dir = TestDir::new();
    dir.write("keys", "secret\n");
    let server = Served::start_in(&dir, &["--model", SHIPPED, "--api-keys", "keys"]);
    server.upload("a.txt", b"a", &LANGUAGES).refused(403, &["key"]);
    let with_key = [&LANGUAGES[..], &[("api_key", "secret")]].concat();
    server.upload("a.txt", b"She sleeps.", &with_key).worked();
}

#[test]
fn large_files_and_bombs_are_refused() {
    let server = Served::start(&["--memory-limit", "128", "--char-limit", "2000"]);
    let (upload, document) = (2 << 20, 256 << 10);
    server.upload("a.txt", &vec![b'a'; upload + 1], &LANGUAGES).refused(413, &["bytes"]);
    server.upload("a.txt", "She sleeps.\n".repeat(400).as_bytes(), &LANGUAGES).refused(413, &["2000 characters"]);
    // As large as an archive may be, and nearly as large as the text in it may be.
    let text = format!("{DOCX}<!--{}-->", "x".repeat(document - 1000));
    let pictures = vec![b'x'; upload - 100_000];
    let large = archive(&[("word/document.xml", text.as_bytes()), ("a.png", &pictures[..])]);
    server.translate_file("a.docx", &large);
    let spaces = vec![b' '; 50 << 20];
    let bomb = archive(&[("word/document.xml", &spaces[..])]);
    server.upload("a.docx", &bomb, &LANGUAGES).refused(400, &["expands to more than"]);
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(&spaces).unwrap();
    server.upload("a.txt.gz", &gzip.finish().unwrap(), &LANGUAGES).refused(400, &["larger than"]);
    // Lies about its size.
    let mut lie = bomb.clone();
    let entry = lie.windows(4).position(|bytes| bytes == b"PK\x01\x02").unwrap();
    lie[entry + 24..entry + 28].copy_from_slice(&1000_u32.to_le_bytes());
    let refused = server.upload("a.docx", &lie, &LANGUAGES);
    assert_eq!(refused.status, 400, "{refused:?}");
    let entries: Vec<(String, &[u8])> = (0..10_001).map(|index| (format!("{index}"), &b""[..])).collect();
    let entries: Vec<(&str, &[u8])> = entries.iter().map(|(name, content)| (&**name, *content)).collect();
    server.upload("a.docx", &archive(&entries), &LANGUAGES).refused(400, &["files in this document"]);
}

#[test]
fn short_requests_have_their_turn_beside_files() {
    let server = Served::start(&["--threads", "1"]);
    let file = "They bought a black hat yesterday.\n".repeat(1000);
    scope(|scope| {
        let translated = scope.spawn(|| server.translate_file("a.txt", file.as_bytes()).body);
        sleep(Duration::from_millis(100));
        server.ask("/translate", &json!({"q": "She sleeps.", "source": "en", "target": "fr"}));
        assert!(!translated.is_finished());
        assert_eq!(translated.join().unwrap().lines().count(), 1000);
    });
}

#[test]
fn whoever_leaves_ends_the_work_on_their_file() {
    // Much more work than fits into the seconds in which a client may still be half there.
    let server = Served::start(&["--threads", "1", "--char-limit", "2000000"]);
    let line =
        "they bought a black hat yesterday, and the old man lives near the river with his dog, ".repeat(6) + "\n";
    let body = form("a.txt", line.repeat(1990).as_bytes(), &LANGUAGES);
    let head = format!(
        "POST /translate_file HTTP/1.1\r\nHost: {}\r\nContent-Type: multipart/form-data; boundary=xyz\r\n\
         Content-Length: {}\r\n\r\n",
        server.address,
        body.len()
    );
    let mut stream = server.connect();
    stream.write_all(&[head.as_bytes(), &body].concat()).unwrap();
    while sentences(&server) == 0.0 {
        sleep(Duration::from_millis(50));
    }
    drop(stream);
    let (mut done, mut before) = (sentences(&server), f64::NAN);
    while done != before {
        sleep(Duration::from_millis(1500));
        (before, done) = (done, sentences(&server));
    }
    assert!(done < 1990.0, "{done} sentences");
}

/// Number of sentences that the server has translated.
fn sentences(server: &Served) -> f64 {
    let metrics = server.get("/metrics").body;
    let counts = metrics.lines().filter(|line| line.starts_with("softalign_sentences_total"));
    counts.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum()
}
