//! `softalign translate --markup` and `--placeholders`.

use crate::common::{self, Outcome, TestDir, model_path};

fn translate(arguments: &[&str], input: &str) -> Outcome {
    TestDir::new().run_with_input(&[&["translate", "--model", model_path()], arguments].concat(), input)
}

#[test]
fn tags_and_placeholders_come_back() {
    let text =
        "<p>the <b>red</b> fox sleeps</p>\n\n<br>\n<i>the old owl</i> runs {x} &amp; the fox sleeps\nthe red fox\n";
    let translated = translate(&["--markup", "html"], text);
    let lines: Vec<&str> = translated.worked().lines().collect();
    assert_eq!(lines.len(), 5, "{translated:?}");
    assert!(lines[0].starts_with("<p>") && lines[0].contains("<b>") && lines[0].ends_with("</p>"), "{lines:?}");
    assert_eq!(lines[1..3], ["", "<br>"]);
    assert!(["<i>", "</i>", "{x}"].iter().all(|part| lines[3].matches(part).count() == 1), "{lines:?}");
    let plain = translate(&["--markup", "html"], "<b>the red fox sleeps</b>\n");
    assert_eq!(plain.worked(), "<b>rufo mi dorma .</b>\n");
}

#[test]
fn text_without_markup_is_translated_as_ever() {
    let text = "the red fox sleeps\n the  old owl runs\n\nthe red owl\n";
    let as_ever = translate(&["--placeholders", "none"], text);
    assert_eq!(translate(&[], text).worked(), as_ever.worked());
    let sampled = |more: &[&str]| translate(&[&["--sample", "--n-best", "2"], more].concat(), text).worked().to_owned();
    assert_eq!(sampled(&[]), sampled(&["--placeholders", "none"]));
}

#[test]
fn samples_do_not_depend_on_other_texts() {
    let first = "<p>the red fox sleeps</p><p>the old owl runs</p><p>the old owl runs</p>";
    let sampled = |input: &str| {
        let options = ["--markup", "html", "--sample", "--temperature", "3", "--seed", "4"];
        translate(&options, input).worked().lines().next().unwrap().to_owned()
    };
    let alone = sampled(&format!("{first}\n"));
    assert_eq!(sampled(&format!("{first}\n<p>a</p><p>the red fox</p>\n")), alone);
    let parts: Vec<&str> = alone.split("</p>").collect();
    assert_ne!(parts[1], parts[2], "sentences of a text draw on their own: {alone}");
}

#[test]
fn placeholders_are_known_or_given() {
    let translated = |arguments: &[&str]| translate(arguments, "the dos red fox {x} sleeps\n").worked().to_owned();
    assert!(translated(&[]).contains(" {x} ") && !translated(&[]).contains("dos"));
    assert!(translated(&["--placeholders", "dos"]).contains("dos"));
    assert!(!translated(&["--placeholders", "none"]).contains("{x}"));
    let first = translate(&[], "{x}, %s\n{x}: the red fox sleeps\n");
    assert_eq!(first.worked(), "{x}, %s\n{x}: rufo mi dorma .\n");
    translate(&["--placeholders", "("], "a\n").refused_with(2, &["--placeholders (: unclosed group"]);
    assert_eq!(translate(&["--markup", "xml"], "a\n").code, Some(2));
}

#[test]
fn tokens_of_the_model_stay_in_the_text() {
    let dir = TestDir::with_pairs();
    dir.write("pairs.tsv", dir.text("pairs.tsv") + "the {x} sleeps\t{x} dorma .\nthe {x} sings\t{x} kanta .\n");
    dir.train("model", &["--protected-tokens", "{x} <2fr>"]).worked();
    let run = |more: &[&str]| dir.run_with_input(&[&["translate", "--model", "model"], more].concat(), "the {x} fox\n");
    assert_eq!(run(&[]).worked(), run(&["--placeholders", "none"]).worked());
    assert!(run(&["--placeholders", r"\{x\}"]).worked().contains("{x}"));
}

#[test]
fn formats_have_the_text_with_tags_and_the_words_without() {
    let text = "<p>the <b>red</b> fox</p><p>the owl {x}</p>\n\n";
    let json = translate(&["--markup", "html", "--format", "json", "--n-best", "2"], text).json();
    let first = &json[0];
    assert_eq!(first["source_text"], text.trim_end());
    assert_eq!(first["source"], common::json(r#"["the", "red", "fox", "the", "owl"]"#));
    let translation = first["translation"].as_str().unwrap();
    assert!(["<p>", "<b>", "{x}"].iter().all(|part| translation.contains(part)), "{translation}");
    let [targets, rows] = ["target", "attention"].map(|key| first[key].as_array().unwrap().len());
    assert_eq!(targets, rows);
    let lists = translate(&["--markup", "html", "--n-best", "2"], text);
    assert!(lists.worked().lines().all(|line| line.starts_with("0 ||| <p>") || line.starts_with("1 ||| ")));
    let pharaoh = translate(&["--markup", "html", "--format", "pharaoh"], text);
    assert_eq!(pharaoh.worked().lines().count(), 2);
    for format in ["align", "tsv", "svg", "nematus", "jsonl"] {
        translate(&["--markup", "html", "--format", format], text).worked();
    }
}

#[test]
fn tables_and_constraints_take_markup() {
    let dir = TestDir::new();
    dir.write("table.csv", "id;text\n1;the <b>red</b> fox\n2;{x}\n");
    let table = dir.run(&["translate", "--model", model_path(), "--markup", "html", "--input", "table.csv"]);
    let rows: Vec<&str> = table.worked().lines().collect();
    assert!(rows[1].starts_with("1;the <b>red</b> fox;") && rows[1].matches("<b>").count() == 2, "{rows:?}");
    assert_eq!(rows[2], "2;{x};{x}");
    let constrained = ["--markup", "html", "--prefix", "grisa ", "--require", "kanta", "--avoid", "dorma"];
    let text = translate(&constrained, "<i>the red fox</i> sleeps {x}\n");
    let line = text.worked().replace("<i>", "").replace("</i>", "");
    assert!(line.starts_with("grisa ") && line.contains("kanta") && !line.contains("dorma"), "{text:?}");
    let prefixed = translate(&["--markup", "html", "--prefixes"], "<i>the red fox</i>\tvela\n");
    assert!(prefixed.worked().replace("<i>", "").starts_with("vela"), "{prefixed:?}");
}

#[test]
fn html_file_is_one_document() {
    let dir = TestDir::new();
    let page = "<html>\n<head><style>b { }</style></head>\n<body><p>the <b>red\n fox</b> sleeps</p>\n<!-- no -->\n</body></html>\n";
    dir.write("page.html", page);
    let arguments = ["translate", "--model", model_path(), "--markup", "html", "--input", "page.html"];
    let translated = dir.run(&arguments);
    let start = "<html>\n<head><style>b { }</style></head>\n<body><p>";
    let end = "</p>\n<!-- no -->\n</body></html>\n";
    let text = translated.worked();
    assert!(text.starts_with(start) && text.ends_with(end) && text.matches("</b>").count() == 1, "{text}");
    assert!(text.replace("<b>", "").replace("</b>", "").contains("<p>rufo mi dorma .</p>"), "{text}");
    dir.run(&[&arguments[..], &["--output", "out.html"]].concat()).worked();
    assert_eq!(dir.text("out.html"), text);
    dir.write("empty.html", "");
    dir.run(&["translate", "--model", model_path(), "--markup", "html", "--input", "empty.html"]).worked();
    dir.write("bad.html", b"\xff<p>");
    let refused = dir.run(&["translate", "--model", model_path(), "--markup", "html", "--input", "bad.html"]);
    refused.refused_with(1, &["bad.html: not UTF-8"]);
    dir.run(&["translate", "--markup", "html", "--input", "none.html"]).refused_with(1, &["none.html: cannot read"]);
}

#[test]
fn broken_markup_is_translated_line_by_line() {
    let text = "<b>the red fox\nthe fox</b>\n<\n&\n<!-- the\n<b <i>\n</b></b>\n&lt;b&gt; the fox\n<script>the fox\n";
    let translated = translate(&["--markup", "html"], text);
    let lines: Vec<&str> = translated.worked().lines().collect();
    assert_eq!(lines.len(), 9, "{lines:?}");
    assert!(lines[0].starts_with("<b>") && lines[1].ends_with("</b>"), "{lines:?}");
    assert_eq!(
        [lines[2], lines[3], lines[4], lines[6], lines[8]],
        ["<", "&", "<!-- the", "</b></b>", "<script>the fox"]
    );
}

/// Translates a sentence by the shipped model.
fn translate_shipped(arguments: &[&str], sentence: &str) -> Outcome {
    let model = concat!(env!("CARGO_MANIFEST_DIR"), "/checkpoints");
    TestDir::new().run(&[&["translate", "--model", model], arguments, &[sentence]].concat())
}

#[test]
fn prefixes_and_required_phrases_place_placeholders() {
    for (arguments, sentence, start) in [
        (&["--prefix", "Ils {n} "][..], "They bought {n} a black hat.", "Ils {n} "),
        (&["--prefix", "Ils {n} "], "{n} They bought a black hat.", "Ils {n} "),
        (&["--prefix", "Ils {N}"], "They bought a black hat ({N}).", "Ils {N} "),
        (&["--prefix", "{n}, ils "], "They bought a black hat {n}.", "{n}, ils "),
        (&["--prefix", "Ils %s "], "They bought %s a black hat for %d.", "Ils %s "),
        (&["--prefix", "Ils {a}{b} "], "They bought {a}{b} a black hat.", "Ils {a}{b} "),
        (&["--prefix", "Ils ", "--require", "un {n} chapeau"], "They bought a black hat {n}.", "Ils "),
        (&["--require", "{n}"], "They bought a black hat {n}.", "Ils "),
        (&["--markup", "html", "--prefix", "Ils {n} "], "They bought <b>a {n} black</b> hat.", "Ils {n} "),
    ] {
        let translated = translate_shipped(arguments, sentence);
        let text = translated.worked();
        let has_warnings = translated.stderr.lines().any(|line| !line.contains("doubtful"));
        assert!(text.starts_with(start) && !has_warnings, "{arguments:?}: {translated:?}");
        for part in ["{n}", "{N}", "%s", "%d", "{a}", "{b}", "<b>", "</b>"] {
            assert_eq!(text.matches(part).count(), sentence.matches(part).count(), "{arguments:?}: {text}");
        }
        let phrase = arguments.iter().skip_while(|one| **one != "--require").nth(1);
        assert!(phrase.is_none_or(|phrase| text.contains(phrase)), "{arguments:?}: {text}");
    }
    let own = TestDir::new().run_with_input(
        &["translate", "--model", model_path(), "--prefixes"],
        "the red {x} fox sleeps\tvela {x}\nthe red fox {y} sleeps\t{y} vela\n",
    );
    let lines: Vec<&str> = own.worked().lines().collect();
    assert!(lines[0].starts_with("vela {x} ") && lines[1].starts_with("{y} vela "), "{own:?}");
}

#[test]
fn missing_placeholders_of_constraints_are_named() {
    let lacking = translate_shipped(&["--prefix", "Ils {n} "], "They bought a black hat.");
    assert!(lacking.worked().starts_with("Ils ") && lacking.stderr.contains("required phrases"), "{lacking:?}");
    translate_shipped(&["--prefix", "Ils {n} ", "--placeholders", "none"], "They bought {n}.")
        .refused_with(1, &["Ils {n}", "no tokens"]);
}

#[test]
fn documents_name_their_lines_and_leave_no_element_empty() {
    let dir = TestDir::new();
    let long = "the red fox sleeps ".repeat(150);
    let page = format!(
        "<p>the red\n<b>fox</b></p>\n<p>{long}<b>the owl</b> {{x}} <a href='#'>the <i>old</i> owl</a><img src='1'></p>\n\
         <p>the owl</p>\n<p>日本 語 日本 語</p>\n<p><b></b>{long} <!-- c --></p>\n"
    );
    dir.write("page.html", page);
    let translated =
        dir.run(&["translate", "--model", model_path(), "--markup", "html", "--input", "page.html", "--require", "ku"]);
    let text = translated.worked();
    assert!(translated.stderr.contains("lines 3 and 6: longer than 500 tokens"), "{}", translated.stderr);
    assert!(translated.stderr.contains("line 5: mostly unknown"), "{}", translated.stderr);
    assert_eq!(text.matches("<b>").count(), 2, "{text}");
    assert_eq!(text.matches("<b></b>").count(), 1, "that of the source: {text}");
    assert!(!text.contains("<a ") && !text.contains("<i>"), "{text}");
    for part in ["{x}", "<img src='1'>", "<!-- c -->"] {
        assert_eq!(text.matches(part).count(), 1, "{text}");
    }
    // A copy has all of it.
    let copied = format!("<p>{}<b>日本</b> 語 <a href='#'>日本</a></p>", "日本 語 ".repeat(300));
    let copy = dir.run(&["translate", "--model", model_path(), "--markup", "html", "--unknown", "copy", &copied]);
    assert_eq!(copy.worked().trim_end(), copied);
}
