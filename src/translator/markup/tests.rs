//! Tests of taking out and putting back, with given and with random links.

use std::collections::BTreeMap;

use super::html::{TokenKind, character_reference, tokens};
use super::*;
use crate::alignment::{Link, LinkFormat};
use crate::random::SeededRng;
use crate::text::{WordSplitting, word_spans};

fn linked<'a>(sentence: &str, text: &'a str, links: &'a [Link]) -> LinkedText<'a> {
    let source_words = word_spans(sentence, WordSplitting::Terms);
    LinkedText { text, source_words, target_words: word_spans(text, WordSplitting::Terms), links }
}

/// Renders a text of one sentence with this translation and these links.
#[track_caller]
fn translated(text: &str, options: &MarkupOptions, sentence: &str, translation: &str, links: &str) -> String {
    let marked = MarkedUp::parse(text, options);
    assert_eq!(marked.sentences().collect::<Vec<_>>(), [sentence]);
    let links = LinkFormat::default().parse_line(links).unwrap();
    marked.render(&[linked(sentence, translation, &links)]).unwrap()
}

#[track_caller]
fn html(text: &str, sentence: &str, translation: &str, links: &str) -> String {
    translated(text, &MarkupOptions::html(), sentence, translation, links)
}

#[track_caller]
fn plain(text: &str, sentence: &str, translation: &str, links: &str) -> String {
    translated(text, &MarkupOptions::default(), sentence, translation, links)
}

/// Returns the text in which each sentence is its own translation, word by word.
fn copied(text: &str, options: &MarkupOptions) -> String {
    let marked = MarkedUp::parse(text, options);
    let sentences: Vec<String> = marked.sentences().map(str::to_owned).collect();
    let mut links: Vec<Vec<Link>> = Vec::new();
    for sentence in &sentences {
        let words = word_spans(sentence, WordSplitting::Terms).len();
        links.push((0..words).map(|word| Link { source: word, target: word }).collect());
    }
    let copies: Vec<LinkedText> =
        sentences.iter().zip(&links).map(|(sentence, links)| linked(sentence, sentence, links)).collect();
    marked.render(&copies).unwrap()
}

#[test]
fn tags_follow_the_links() {
    let text = "The <b>black</b> dog <i>sleeps</i>.";
    let rendered = html(text, "The black dog sleeps.", "Le chien noir dort.", "0-0 1-2 2-1 3-3 4-4");
    assert_eq!(rendered, "Le chien <b>noir</b> <i>dort</i>.");
    let crossing = html("<a href='x'>red <b>car</b></a> <i>here</i>", "red car here", "hier Auto rot", "0-2 1-1 2-0");
    assert_eq!(crossing, "<i>hier</i> <a href='x'><b>Auto</b> rot</a>");
}

#[test]
fn an_element_stays_in_one_piece() {
    let rendered = html("He does <b>not</b> sleep.", "He does not sleep.", "Il ne dort pas.", "0-0 2-1 2-3 3-2 4-4");
    assert_eq!(rendered, "Il <b>ne dort pas</b>.");
    let beside = html("<b>a</b> <i>b</i>", "a b", "x y z", "0-0 0-2 1-1");
    assert_eq!(beside, "<b>x</b> <i>y</i> z", "the words of another element divide it");
    assert_eq!(html("<b>d</b><i>o</i><a id=1>g</a>", "dog", "Hund", "0-0"), "<b>Hund</b><i></i><a id=1></a>");
}

#[test]
fn silent_links_keep_the_order() {
    let rendered = html("<b>a</b> <i>b</i> c{x} d", "a b c d", "w x y z", "");
    assert_eq!(rendered, "<b>w</b> <i>x</i> y {x} z");
    let between = html("one <b>two</b> three", "one two three", "eins zwei drei", "0-0 2-2");
    assert_eq!(between, "eins <b>zwei</b> drei", "unlinked words between linked ones");
    assert_eq!(html("one <b>two</b> three", "one two three", "eins drei", "0-0 2-1"), "eins<b></b> drei");
    assert_eq!(html("one <b>two</b>", "one two", "", ""), "<b></b>");
}

#[test]
fn placeholders_keep_their_spacing() {
    let links = "0-0 1-1 2-2 3-3 4-4";
    assert_eq!(
        plain("Hello {name}, you win!", "Hello, you win!", "Salut, tu gagnes !", links),
        "Salut {name}, tu gagnes !"
    );
    assert_eq!(plain("Hello {name}!", "Hello!", "Salut!", "0-0 1-1"), "Salut {name}!");
    assert_eq!(plain("It costs ${x} now", "It costs now", "Es kostet jetzt", links), "Es kostet ${x} jetzt");
    assert_eq!(plain("He (see {url}) runs", "He (see) runs", "Er (siehe) rennt", links), "Er (siehe {url}) rennt");
    assert_eq!(
        plain("The file \"{x}\" is here", "The file is here", "Die Datei ist da", links),
        "Die Datei \"{x}\" ist da"
    );
    assert_eq!(plain("From {a}-{b} on", "From on", "Ab dann", "0-0 1-1"), "Ab {a}-{b} dann");
    assert_eq!(plain("a foo{x}bar b", "a foo bar b", "a phou barre b", links), "a phou{x}barre b");
    assert_eq!(plain("  {name}, you  win {x} ", "you  win", "tu gagnes", "0-0 1-1"), "  {name}, tu gagnes {x} ");
    assert_eq!(plain("Write to a@b.c.", "Write to.", "Écris à.", "0-0 1-1 2-2"), "Écris à a@b.c.");
}

#[test]
fn unnumbered_placeholders_keep_their_order() {
    let rendered = plain("Mail %s about %d dogs", "Mail about dogs", "Hunde über Post", "0-2 1-1 2-0");
    assert_eq!(rendered, "%s Hunde %d über Post");
    let numbered = plain("Mail %1$s about %2$d dogs", "Mail about dogs", "Hunde über Post", "0-2 1-1 2-0");
    assert_eq!(numbered, "%2$d Hunde %1$s über Post");
}

#[test]
fn placeholders_come_back_once_whatever_stands_beside_them() {
    const KINDS: [&str; 10] = ["{x}", "{{x}}", "${x}", "%s", "%d", "%1$s", "%(a)s", "%%", "http://a.b/c", "a.b@c.org"];
    const OTHERS: [&str; 8] = ["", " ", "v", "é", "7", "_", "第", "页"];
    let options = MarkupOptions::default();
    let neighbors: Vec<&str> = OTHERS.into_iter().chain(KINDS).collect();
    for (round, kind) in (0..).zip(KINDS) {
        let mut random = SeededRng::new(9, "beside", round);
        for before in &neighbors {
            for after in &neighbors {
                let text = format!("the {before}{kind}{after} fox");
                let marked = MarkedUp::parse(&text, &options);
                let sentence = marked.sentences().next().unwrap();
                let (translation, links) = random_translation(&mut random, sentence);
                let rendered = marked.render(&[linked(sentence, &translation, &links)]).unwrap();
                assert_eq!(rendered.matches(kind).count(), text.matches(kind).count(), "{text} became {rendered}");
            }
        }
    }
}

#[test]
fn text_without_markup_is_plain() {
    for text in ["", " ", " a  b ", "<b>a</b> & 1 < 2", "42", "a\tb", "."] {
        let marked = MarkedUp::parse(text, &MarkupOptions::default());
        assert!(marked.is_plain(), "{text:?}");
        assert_eq!(marked.sentences().collect::<Vec<_>>(), [text]);
        assert_eq!(marked.render(&[linked(text, "&  x <", &[])]).unwrap(), "&  x <");
    }
    let options = MarkupOptions { placeholders: Placeholders::none(), ..MarkupOptions::default() };
    assert!(MarkedUp::parse("{x} %s", &options).is_plain());
}

#[test]
fn blocks_end_sentences_and_all_else_stays() {
    let text = "<!DOCTYPE html>\n<html lang=en>\n <head><title>A title</title><style>p{}</style></head>\n<body><h1>One  \
        <b>big</b>\n thing</h1><p>Two<br>Three <code>x &lt; y</code> four<hr/><ul><li>Five</li><li> 6 </li></ul>\
        <script>if (a<b) {}</script><!-- seven --></p>\n<pre>  eight </pre></body></html>\n";
    let marked = MarkedUp::parse(text, &MarkupOptions::html());
    let expected = ["A title", "One big thing", "Two", "Three four", "Five"];
    assert_eq!(marked.sentences().collect::<Vec<_>>(), expected);
    let same = text.replace("One  <b>big</b>\n thing", "One <b>big</b> thing");
    assert_eq!(copied(text, &MarkupOptions::html()), same);
}

#[test]
fn broken_markup_stays() {
    for text in [
        "a <b>b",
        "a</b> b",
        "<b>a <i>b</b> c</i>",
        "<a><p>b</p></a>",
        "a &lt; b &amp; c",
        "&lt;b&gt;a",
        "</",
        "<",
        "<b><i></b></i>",
        "x <b></b> y",
        "<i><b>x</b></i>",
        "<!-- a",
        "<script>a",
        "<p>a<p>b",
        "<x:y z='<b>'>a</x:y>",
        "<b> </b>",
        "&nbsp;a&nbsp;",
        "<b>a</b> <b>b</b>",
        "a <img src=\"x>y\"> b",
    ] {
        assert_eq!(copied(text, &MarkupOptions::html()), text);
    }
    for (text, expected) in
        [("a < b & c", "a &lt; b &amp; c"), ("AT&T &eacute;", "AT&amp;T é"), ("a <b c", "a &lt;b c"), ("<b", "&lt;b")]
    {
        assert_eq!(copied(text, &MarkupOptions::html()), expected);
    }
}

#[test]
fn refuses_another_number_of_translations() {
    let marked = MarkedUp::parse("<p>a<p>b", &MarkupOptions::html());
    let message = marked.render(&[linked("a", "x", &[])]).unwrap_err().to_string();
    assert_eq!(message, "1 translations for 2 sentences");
}

#[test]
fn deep_and_long_markup_takes_linear_time() {
    const MANY: usize = 10_000;
    for text in [
        "<b>".repeat(MANY) + "a" + &"</b>".repeat(MANY),
        "<b>".repeat(60) + &"a <i>b</i> ".repeat(MANY) + &"</b>".repeat(60),
        "a {x} ".repeat(MANY),
        "<b>a ".repeat(MANY),
        "a</b> ".repeat(MANY),
        "<b></b>".repeat(MANY) + "a",
        "a&amp;".repeat(MANY),
        "\"{x}\"".repeat(MANY) + " a",
    ] {
        let copy = copied(&text, &MarkupOptions::html());
        assert_eq!(tags(&copy), tags(&text));
    }
}

/// Texts between the tags, decoded.
fn texts(text: &str) -> Vec<String> {
    let texts = tokens(text).into_iter().filter(|token| token.kind == TokenKind::Text);
    texts.map(|token| decoded(&text[token.range])).collect()
}

/// Text with characters in place of their references.
fn decoded(mut text: &str) -> String {
    let mut decoded = String::new();
    while let Some(character) = text.chars().next() {
        let reference = character_reference(text);
        let length = reference.as_ref().map_or(character.len_utf8(), |reference| reference.length);
        decoded.push_str(reference.as_ref().map_or(&text[..length], |reference| &*reference.characters));
        text = &text[length..];
    }
    decoded
}

/// Number of each tag, comment and placeholder.
fn tags(text: &str) -> BTreeMap<String, usize> {
    let markup = tokens(text).into_iter().filter(|token| token.kind != TokenKind::Text);
    let mut found: Vec<String> = markup.map(|token| text[token.range].to_owned()).collect();
    for text in texts(text) {
        found.extend(Placeholders::default().find(&text).into_iter().map(|range| text[range].to_owned()));
    }
    let mut counts = BTreeMap::new();
    for one in found {
        *counts.entry(one).or_default() += 1;
    }
    counts
}

/// Text without tags and placeholders.
fn text_alone(text: &str) -> String {
    texts(text).iter().map(|text| without_placeholders(text)).collect()
}

fn without_placeholders(text: &str) -> String {
    let (mut without, mut start) = (String::new(), 0);
    for found in Placeholders::default().find(text) {
        without.push_str(&text[start..found.start]);
        start = found.end;
    }
    without + &text[start..]
}

fn without_space(text: &str) -> String {
    text.split_whitespace().collect()
}

/// Fails unless each end tag closes the last open element.
#[track_caller]
fn assert_balanced(text: &str) {
    let mut open = Vec::new();
    for token in tokens(text) {
        match token.kind {
            TokenKind::Open(name) => open.push(name),
            TokenKind::Close(name) => assert_eq!(open.pop(), Some(name), "{text}"),
            _ => {}
        }
    }
    assert!(open.is_empty(), "{text}");
}

fn pick<'a>(random: &mut SeededRng, among: &[&'a str]) -> &'a str {
    among[random.below(among.len())]
}

/// Appends random nested markup.
fn random_markup(random: &mut SeededRng, depth: usize, output: &mut String) {
    for _ in 0..random.below(5) {
        match random.below(if depth < 4 { 8 } else { 5 }) {
            0 | 1 => output.push_str(pick(random, &["dog", "a cat", "Été", "don't", "x &amp; y", "1 &lt; 2", "日本"])),
            2 => output.push_str(pick(random, &[" ", "  ", "\n", "", ", ", ".", " (", ") ", "\"", "-"])),
            3 => output.push_str(pick(random, &["{x}", "%s", "%x", "{{ y }}", "a@b.org", "http://x.y/z", "${k}"])),
            4 => output.push_str(pick(random, &["<img src='1'>", "<!-- c -->", "<br>", "<wbr/>", "<code>f()</code>"])),
            _ => {
                let name = pick(random, &["b", "i", "a", "span", "x1"]);
                output.push_str(&format!("<{name} id={}>", random.below(3)));
                random_markup(random, depth + 1, output);
                output.push_str(&format!("</{name}>"));
            }
        }
    }
}

/// Returns a random translation of a sentence and random links.
fn random_translation(random: &mut SeededRng, sentence: &str) -> (String, Vec<Link>) {
    let mut text = String::new();
    for _ in 0..random.below(8) {
        text.push_str(pick(random, &["Hund", "die Katze", "l'été", "a & b", "<", "«", "。", "! ", ", ", "犬"]));
        text.push_str(pick(random, &[" ", " ", ""]));
    }
    let text = text.trim().to_owned();
    let size = [sentence, &text].map(|text| word_spans(text, WordSplitting::Terms).len());
    let count = if size.contains(&0) { 0 } else { random.below(2 * size[0] + 1) };
    let links = (0..count).map(|_| Link { source: random.below(size[0]), target: random.below(size[1]) });
    let links = links.collect();
    (text, links)
}

#[test]
fn random_markup_and_links_lose_nothing() {
    for round in 0..5_000 {
        let mut random = SeededRng::new(7, "markup", round);
        let mut text = String::new();
        random_markup(&mut random, 0, &mut text);
        let options = MarkupOptions { markup: Markup::Html, ..MarkupOptions::default() };
        let marked = MarkedUp::parse(&text, &options);
        let translations: Vec<(String, Vec<Link>)> =
            marked.sentences().map(|sentence| random_translation(&mut random, sentence)).collect();
        let sentences: Vec<&str> = marked.sentences().collect();
        let pairs = sentences.iter().zip(&translations);
        let linked: Vec<LinkedText> = pairs.map(|(sentence, (text, links))| linked(sentence, text, links)).collect();
        let rendered = marked.render(&linked).unwrap();
        assert_balanced(&rendered);
        assert_eq!(tags(&rendered), tags(&text), "{text}\n{rendered}");
        // What surrounds the sentences is theirs too: each sentence must occur once, in order.
        let alone = without_space(&text_alone(&rendered));
        let mut rest = alone.as_str();
        for (translation, _) in &translations {
            let wanted = without_space(translation);
            let found = if wanted.is_empty() { 0 } else { position_in_order(rest, &wanted, &text, &rendered) };
            rest = &rest[found..];
        }
    }
}

/// Returns the end of the first occurrence of the characters of a translation in order, other characters between them being
/// wrappers of placeholders alone.
#[track_caller]
fn position_in_order(alone: &str, wanted: &str, text: &str, rendered: &str) -> usize {
    let mut end = 0;
    for character in wanted.chars() {
        let offset = alone[end..].find(character);
        let offset = offset.unwrap_or_else(|| panic!("{wanted} is not in {rendered}, of {text}"));
        end += offset + character.len_utf8();
    }
    end
}

#[test]
fn random_bytes_do_no_harm() {
    const PARTS: [&str; 24] = [
        "<",
        ">",
        "</",
        "/>",
        "<b",
        "<b>",
        "</b>",
        "<!--",
        "-->",
        "&",
        "&amp;",
        ";",
        "\"",
        "'",
        "=",
        " ",
        "a",
        "é",
        "{",
        "}",
        "%s",
        "<p>",
        "translate=no",
        "<code>",
    ];
    for round in 0..5_000 {
        let mut random = SeededRng::new(8, "markup", round);
        let text: String = (0..random.below(30)).map(|_| pick(&mut random, &PARTS)).collect();
        for options in [MarkupOptions::html(), MarkupOptions::default()] {
            let marked = MarkedUp::parse(&text, &options);
            let translations: Vec<(String, Vec<Link>)> =
                marked.sentences().map(|sentence| random_translation(&mut random, sentence)).collect();
            let sentences: Vec<&str> = marked.sentences().collect();
            let pairs = sentences.iter().zip(&translations);
            let linked: Vec<LinkedText> =
                pairs.map(|(sentence, (text, links))| linked(sentence, text, links)).collect();
            let rendered = marked.render(&linked).unwrap();
            if options.markup == Markup::Html {
                assert_eq!(tags(&rendered), tags(&text), "{text}\n{rendered}");
            }
        }
    }
}
