//! Text as people write it: pasted from phones and pages, in capitals, with several sentences in a line. With the shipped model.

use crate::common::{TestDir, json};

const SHIPPED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/checkpoints");

/// Translates lines, each of which has one translation.
fn translations(lines: &[&str], options: &[&str]) -> Vec<String> {
    let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let outcome = TestDir::new().run_with_input(&[&["translate", "--model", SHIPPED], options].concat(), input);
    let found: Vec<String> = outcome.worked().split('\n').map(str::to_owned).collect();
    assert_eq!(found.len(), lines.len() + 1, "one line in is one line out: {found:?}");
    found[..lines.len()].to_vec()
}

#[test]
fn variants_of_characters_are_read_alike() {
    for (plain, variants) in [
        (
            "She doesn't sleep.",
            &["She doesn\u{2019}t sleep.", "She doesn\u{2bc}t sleep.", "She doesn\u{ff07}t sleep."][..],
        ),
        ("I am hungry.", &["I am hungry. ", " \u{a0}I am hungry.", "I am hungry.\u{2003}", "I  am   hungry."]),
        (
            "They bought a black hat.",
            &[
                "They bought a black\u{a0}hat.",
                "They bought\u{202f}a\u{3000}black hat.",
                "\u{feff}They bought a black hat.",
                "They bought a bl\u{ad}ack hat.",
                "They bought\u{200b} a black h\u{2060}at.\u{200e}",
                "\u{ff34}\u{ff48}\u{ff45}\u{ff59} bought a black hat\u{ff0e}",
            ],
        ),
    ] {
        let expected = translations(&[plain], &[]);
        assert_eq!(translations(variants, &[]), vec![expected[0].clone(); variants.len()], "{plain}");
    }
}

#[test]
fn translations_have_the_case_of_the_source() {
    let found = translations(&["SHE SLEEPS.", "IT IS MONDAY, AND ANNA IS HUNGRY.", "She saw a Dog yesterday."], &[]);
    let lower = translations(&["She sleeps.", "It is Monday, and Anna is hungry.", "She saw a dog yesterday."], &[]);
    assert_eq!(found, [lower[0].to_uppercase(), lower[1].to_uppercase(), lower[2].clone()]);
    let [title, plain] = ["They Bought a Black Hat Yesterday.", "They bought a black hat yesterday."];
    let found = translations(&[title, plain], &[]);
    assert_eq!(found[0], "Ils ont Acheté un Chapeau Noir Hier.");
    assert_eq!(found[0].to_lowercase(), found[1].to_lowercase());
}

#[test]
fn capitals_beside_other_text_are_read_in_their_usual_case() {
    let found = translations(&["SHE SLEEPS. I am hungry.", "I am hungry. SHE SLEEPS.", "She sleeps VERY well."], &[]);
    assert_eq!(found[0], "ELLE DORT. J'ai faim.");
    assert_eq!(found[1], "J'ai faim. ELLE DORT.");
    let plain = translations(&["She sleeps very well."], &[]);
    assert_eq!(found[2].to_lowercase(), plain[0].to_lowercase());
    assert!(found[2].chars().filter(|one| one.is_uppercase()).count() > 2, "{found:?}");
}

#[test]
fn each_sentence_of_a_line_is_translated() {
    let sentences = ["She sleeps.", "They bought a black hat.", "He sings.", "She doesn't sleep."];
    let alone = translations(&sentences, &[]);
    let line = "She sleeps.  They bought a black hat. He sings.\u{2003}She doesn't sleep.";
    let expected = format!("{}  {} {}\u{2003}{}", alone[0], alone[1], alone[2], alone[3]);
    assert_eq!(translations(&[line], &[]), [expected.as_str()]);
    let html = format!("<p>{line}</p>");
    assert_eq!(translations(&[&html], &["--markup", "html"]), [format!("<p>{expected}</p>")]);
    // A phrase is required in the line, not in each of its sentences.
    let required = translations(&[line], &["--require", "chapeau"]);
    assert_eq!(required[0].matches("chapeau").count(), 1, "{required:?}");
    assert_eq!(translations(&["One. Two."], &["--no-sentence-splitting"]).len(), 1);
}

#[test]
fn words_and_links_keep_the_text_of_the_user() {
    let text = "SHE DOESN\u{2019}T SLEEP. They bought a\u{a0}black hat. He sings.";
    let outcome = TestDir::new().run(&["translate", "--model", SHIPPED, "--format", "jsonl", text]);
    let found = json(outcome.worked().trim_end());
    assert_eq!(found["source"], serde_json::json!(text.split_whitespace().collect::<Vec<_>>()));
    let target: Vec<&str> = found["target"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    assert_eq!(target.join(" "), found["translation"].as_str().unwrap());
    assert_eq!(target[..4], ["ELLE", "NE", "DORT", "PAS."]);
    let links = found["links"].as_array().unwrap();
    let linked = |source: usize| links.iter().filter(|link| link[0] == source).count();
    assert!((0..10).all(|word| linked(word) > 0), "{found}");
}

#[test]
fn lone_unknown_characters_count_as_unknown() {
    let outcome = TestDir::new().run(&["translate", "--model", SHIPPED, "--unknown", "copy", "\u{41f}"]);
    assert_eq!(outcome.worked(), "\u{41f}\n");
}

/// Numbers, names and signs that the training data lack.
#[test]
fn what_is_to_be_copied_comes_out_as_it_went_in() {
    for (line, expected) in [
        ("He has 244890 cats.", "Il a 244890 chats."),
        ("I saw Zuzana.", "J'ai vu Zuzana."),
        ("Zuzana sleeps.", "Zuzana dort."),
        ("I like dogs 🐶", "J'aime les chiens 🐶"),
        ("She lives in Москва.", "Elle habite à Москва."),
        ("1", "1"),
        ("9:15", "9:15"),
        ("П", "П"),
        ("🐶", "🐶"),
        ("Kathy Dannels", "Kathy Dannels"),
    ] {
        assert_eq!(translations(&[line], &[]), [expected]);
    }
    let mixed = "I saw Zuzana and Grzegorz, 3 of 1,204 dogs for $9.50 at 18:45 → 🐶.";
    let found = &translations(&[mixed], &[])[0];
    for copied in ["Zuzana", "Grzegorz", "3", "1,204", "$9.50", "18:45", "→", "🐶"] {
        assert!(found.contains(copied), "{copied} is not in {found}");
    }
    assert_eq!(translations(&["HE HAS 244890 CATS."], &[]), ["IL A 244890 CHATS."]);
}

/// Words and links are those of the text with the copied words.
#[test]
fn copied_words_are_linked() {
    let outcome = TestDir::new().run_with_input(
        &["translate", "--model", SHIPPED, "--format", "jsonl"],
        "I saw Zuzana.\nHe has 244890 cats.\n",
    );
    let mut lines = outcome.worked().lines().map(json);
    for (source, target, link) in [
        (&["I", "saw", "Zuzana."][..], &["J'ai", "vu", "Zuzana."][..], [2, 2]),
        (&["He", "has", "244890", "cats."], &["Il", "a", "244890", "chats."], [2, 2]),
    ] {
        let line = lines.next().unwrap();
        assert_eq!((&line["source"], &line["target"]), (&source.into(), &target.into()));
        assert!(line["links"].as_array().unwrap().contains(&link.as_slice().into()), "{line}");
    }
}

/// A text that consists of what is copied takes no time out of proportion.
#[test]
fn many_numbers_are_copied() {
    let line: String = (0..2000).map(|number| format!("{number}, a{number} ")).collect();
    assert!(translations(&[&line], &["--beam", "1"])[0].starts_with(|one: char| one.is_alphanumeric()));
}
