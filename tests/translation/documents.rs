//! Documents before and after translation, as a browser reads them: the same elements, whatever texts and models write.

use std::collections::BTreeMap;

use crate::common::{TestDir, model_path};
use html5ever::driver::ParseOpts;
use html5ever::parse_document;
use html5ever::tendril::TendrilSink;
use markup5ever_rcdom::{Handle, NodeData, RcDom};
use softalign::alignment::Link;
use softalign::random::SeededRng;
use softalign::text::{Pair, WordSplitting, word_spans};
use softalign::translator::{LinkedText, MarkedUp, Markup, MarkupOptions, UnknownSentences};
use softalign::{DecodeOptions, TranslateOptions, Translator};

/// Texts and elements of a document.
#[derive(Debug, Default, PartialEq)]
struct Reading {
    /// Number of each element, comment and other node than text, with its attributes.
    nodes: BTreeMap<String, usize>,
    text: String,
}

impl Reading {
    fn of(document: &str) -> Self {
        let dom = parse_document(RcDom::default(), ParseOpts::default()).one(document);
        let mut reading = Self::default();
        reading.add(&dom.document);
        reading
    }

    fn add(&mut self, node: &Handle) {
        let name = match &node.data {
            NodeData::Text { contents } => {
                self.text.push_str(&contents.borrow());
                return;
            }
            NodeData::Element { name, attrs, .. } => {
                let attributes = attrs.borrow();
                let attributes = attributes.iter().map(|one| format!(" {}={}", one.name.local, one.value));
                format!("{}{}", name.local, attributes.collect::<String>())
            }
            other => format!("{other:?}"),
        };
        *self.nodes.entry(name).or_default() += 1;
        node.children.borrow().iter().for_each(|child| self.add(child));
    }

    fn text_without_space(&self) -> String {
        self.text.split_whitespace().collect()
    }
}

fn pick<'a>(random: &mut SeededRng, among: &[&'a str]) -> &'a str {
    among[random.below(among.len())]
}

const ESCAPED: [&str; 14] = [
    "&lt;img src=x onerror=alert(1)&gt;",
    "&lt;b&gt;",
    "&lt;/p&gt;&lt;/b&gt;",
    "&#60;script&#x3e;alert(1)&lt;/script&gt;",
    "&lt;!-- a",
    "--&gt;",
    "&amp;lt;i&amp;gt;",
    "a&amp;b",
    "&lt;",
    "&amp;",
    "1 &lt; 2",
    "&lt;{x}&gt;",
    "&quot;%s&quot;",
    "http://x.org/?a&amp;b",
];

/// Appends a random text with escaped markup; with `depth`, in elements that deep.
fn escaped_markup(random: &mut SeededRng, depth: usize, output: &mut String) {
    for _ in 0..=random.below(5) {
        match random.below(if depth > 0 { 8 } else { 5 }) {
            0 | 1 => output.push_str(pick(random, &ESCAPED)),
            2 => output.push_str(pick(random, &["qwx", "Été", "日本", "zz y"])),
            3 => output.push_str(pick(random, &["{x}", "%s", "a@b.org", "%1$s%2$s", "第%d页"])),
            4 => output.push_str(pick(random, &[" ", ". ", " (", "-", "< ", "& "])),
            5 => output.push_str(pick(random, &["<img src='1'>", "<!-- <b> -->", "<br>", "<code>f&lt;()</code>"])),
            _ => {
                let name = pick(random, &["b", "i", "span", "x1"]);
                output.push_str(&format!("<{name} id='{}'>", random.below(3)));
                escaped_markup(random, depth - 1, output);
                output.push_str(&format!("</{name}>"));
            }
        }
    }
    // As text of its own, not the start of a tag with what follows.
    output.push(' ');
}

/// Random texts with escaped markup: some without a tag, some with tags, some in a block.
fn documents(purpose: &str, count: u64) -> Vec<String> {
    let document = |index| {
        let mut random = SeededRng::new(11, purpose, index);
        let mut inner = String::new();
        let depth = random.below(4);
        escaped_markup(&mut random, depth, &mut inner);
        if index % 3 == 0 { format!("<p>{inner}</p>\n<p>{inner}</p>") } else { inner }
    };
    (0..count).map(document).collect()
}

#[track_caller]
fn assert_same_elements(document: &str, translated: &str) -> [Reading; 2] {
    let readings = [document, translated].map(Reading::of);
    assert_eq!(readings[0].nodes, readings[1].nodes, "{document}\nbecame\n{translated}");
    readings
}

/// Words as a model might write them, markup among them.
fn model_output(random: &mut SeededRng) -> String {
    const WORDS: [&str; 9] =
        ["Hund", "<b>", "</p>", "a&b", "&lt;i&gt;", "<img src=x onerror=alert(1)>", "<!--", "<script>", "b>"];
    let mut text = String::new();
    for _ in 0..random.below(6) {
        text.push_str(pick(random, &WORDS));
        text.push_str(pick(random, &[" ", ""]));
    }
    text
}

#[test]
fn whatever_a_model_writes_is_text() {
    for (index, document) in (0..).zip(documents("written", 10_000)) {
        let random = &mut SeededRng::new(12, "written", index);
        let marked = MarkedUp::parse(&document, &MarkupOptions::html());
        let written: Vec<String> = marked.sentences().map(|_| model_output(random)).collect();
        // Words and links may be missing, or cover a part only.
        let words = |text: &str| {
            let mut words = word_spans(text, WordSplitting::Terms);
            words.truncate(if index % 2 == 0 { words.len() } else { index as usize % 4 });
            words
        };
        let links: Vec<Link> = (0..8).map(|word| Link { source: word, target: 7 - word }).collect();
        let linked = |(sentence, text)| LinkedText {
            text,
            source_words: words(sentence),
            target_words: words(text),
            links: &links,
        };
        let translations: Vec<LinkedText> =
            marked.sentences().zip(&written).map(|(sentence, text)| linked((sentence, text.as_str()))).collect();
        let [_, reading] = assert_same_elements(&document, &marked.render(&translations).unwrap());
        for text in written {
            let mut rest = reading.text.chars();
            assert!(text.chars().all(|one| one == ' ' || rest.any(|other| other == one)), "{text} in {document}");
        }
    }
}

#[test]
fn copied_text_is_text() {
    let documents = documents("copied", 10_000);
    let options = TranslateOptions {
        decoding: DecodeOptions::greedy(),
        markup: Markup::Html,
        unknown: UnknownSentences::Copy,
        ..TranslateOptions::default()
    };
    let translator = Translator::load(model_path()).unwrap().prepare(&options).unwrap();
    // Together and alone, since texts without any tag could be translated in another way.
    let mut found = translator.translate_all(&documents).unwrap();
    for index in 0..200 {
        let alone = translator.translate_all(&documents[index..=index]);
        assert_eq!(alone.unwrap()[0][0].text, found[index][0].text);
    }
    for (document, translations) in documents.iter().zip(found.drain(..)) {
        let [given, copied] = assert_same_elements(document, &translations[0].text);
        let letters = |reading: &Reading| {
            let mut letters: Vec<char> = reading.text_without_space().chars().collect();
            letters.sort_unstable();
            letters
        };
        assert_eq!(letters(&given), letters(&copied), "{document}\nbecame\n{}", translations[0].text);
    }
}

#[test]
fn replaced_and_learned_words_are_text() {
    let html = TranslateOptions { markup: Markup::Html, ..TranslateOptions::default() };
    let dictionary = Some(vec![Pair { source: "wolf".to_owned(), target: "<b>&lt;".to_owned() }]);
    let with_dictionary = TranslateOptions { dictionary, ..html.clone() };
    let translator = Translator::load(model_path()).unwrap().prepare(&with_dictionary).unwrap();
    let texts = ["the red wolf sleeps", "<p>the red wolf sleeps</p>", "the <i>red</i> wolf sleeps {x}"];
    let found = translator.translate_all(&texts).unwrap();
    for (text, translations) in texts.iter().zip(&found) {
        assert_same_elements(text, &translations[0].text);
    }

    let dir = TestDir::with_pairs();
    dir.write("pairs.tsv", dir.text("pairs.tsv").replace("dorma .", "<b> a&b <img> ."));
    dir.train("model", &[]).worked();
    let model = Translator::load(dir.path("model")).unwrap();
    let texts = ["the red fox sleeps", "<p>the red fox sleeps</p>", "the <i>red</i> fox sleeps"];
    let found = model.prepare(&html).unwrap().translate_all(&texts).unwrap();
    for (text, translations) in texts.iter().zip(&found) {
        let [_, reading] = assert_same_elements(text, &translations[0].text);
        assert!(reading.text.contains("a&b"), "{reading:?}");
    }
}
