//! Word alignment by the program: sources of links, symmetrization, output formats, and lexicons built from links.

use std::collections::BTreeSet;
use std::path::Path;

use crate::common::{PAIRS, QUICK, TestDir, json, model_path, outcome, tsv};
use serde_json::Value;

/// A pair of the trained languages, and one unusual line of each kind.
const INPUT: &str = "the red fox sings\trufo mi kanta .\n\t\nfox\t\nan unseen word\tnokonata\n";

fn align(dir: &TestDir, options: &[&str]) -> String {
    dir.write("input.tsv", INPUT);
    let base = ["align", "--model", model_path(), "--pairs", "input.tsv"];
    dir.run(&[&base, options].concat()).worked().to_owned()
}

#[test]
fn every_link_source_gives_one_line_per_pair() {
    let dir = TestDir::new();
    dir.write("train.tsv", tsv(&PAIRS));
    for links in ["auto", "attention", "hmm"] {
        let lines = align(&dir, &["--links-from", links, "--format", "pharaoh"]);
        assert_eq!(lines.lines().count(), 4, "{links}: {lines}");
        assert!(!lines.lines().next().unwrap().is_empty(), "{links}: {lines}");
        assert_eq!(lines.lines().nth(1), Some(""));
    }
    let alone = ["align", "--links-from", "pairs", "--pairs", "train.tsv", "--format", "pharaoh"];
    let lines = dir.run(&alone).worked().to_owned();
    assert_eq!(lines.lines().count(), PAIRS.len());
    assert!(lines.lines().all(|line| !line.is_empty()), "no model is needed: {lines}");
}

/// A directory with models of both directions and their pairs.
fn both_directions() -> TestDir {
    let dir = TestDir::with_model();
    dir.write("reversed.tsv", tsv(&PAIRS.map(|(source, target)| (target, source))));
    let train = ["train", "--train", "reversed.tsv", "--out", "reverse", "--max-epochs", "10", "--patience", "100"];
    dir.run(&[&train[..], &QUICK].concat()).worked();
    dir
}

/// Links from attention alone, one set per line.
fn by_attention(dir: &TestDir, options: &[&str]) -> Vec<BTreeSet<(usize, usize)>> {
    let align = ["align", "--links-from", "attention", "--format", "pharaoh"];
    let outcome = dir.run(&[&align, options].concat());
    let link = |link: &str| link.split_once('-').map(|(s, t)| (s.parse().unwrap(), t.parse().unwrap())).unwrap();
    outcome.worked().lines().map(|line| line.split(' ').filter(|link| !link.is_empty()).map(link).collect()).collect()
}

#[test]
fn symmetrizes_both_directions() {
    let dir = both_directions();
    let symmetrized = |way| {
        let models = ["--model", "model", "--reverse-model", "reverse", "--pairs", "pairs.tsv"];
        by_attention(&dir, &[&models[..], &["--symmetrize", way]].concat())
    };
    let ways = ["intersection", "grow-diag", "grow-diag-final-and", "grow-diag-final", "union"].map(symmetrized);
    for (smaller, larger) in ways.iter().zip(&ways[1..]) {
        assert!(
            smaller.iter().zip(larger).all(|(smaller, larger)| smaller.is_subset(larger)),
            "{smaller:?} {larger:?}"
        );
    }
    let counts = ways.each_ref().map(|way| way.iter().map(BTreeSet::len).sum::<usize>());
    assert!(0 < counts[0] && counts[0] < counts[1] && counts[0] < counts[4], "{counts:?}");
    // Exchanging the models transposes the links.
    let exchanged = ["--model", "reverse", "--reverse-model", "model", "--pairs", "reversed.tsv"];
    for (way, index) in [("intersection", 0), ("union", 4)] {
        let links = by_attention(&dir, &[&exchanged[..], &["--symmetrize", way]].concat());
        let transposed: Vec<BTreeSet<_>> =
            links.iter().map(|links| links.iter().map(|&(s, t)| (t, s)).collect()).collect();
        assert_eq!(transposed, ways[index], "{way}");
    }
}

/// `scripts/reference_symmetrization.py` generated the links with the algorithm of Moses' symal.
#[test]
fn symmetrizes_links_as_moses_does() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference/symmetrization.json");
    let cases = json(&std::fs::read_to_string(path).unwrap());
    let lines = |name: &str| -> Vec<&str> {
        cases.as_array().unwrap().iter().map(|case| case[name].as_str().unwrap()).collect()
    };
    let dir = TestDir::new();
    for direction in ["forward", "backward"] {
        dir.write(direction, lines(direction).join("\n") + "\n");
    }
    for way in ["intersection", "union", "grow-diag", "grow-diag-final", "grow-diag-final-and"] {
        let outcome = dir.run(&["symmetrize", "forward", "backward", "--way", way]);
        assert_eq!(outcome.worked().lines().collect::<Vec<_>>(), lines(way), "{way}");
    }
}

#[test]
fn reverse_model_changes_the_links() {
    let dir = both_directions();
    let model = ["--model", "model", "--pairs", "pairs.tsv"];
    let both = by_attention(&dir, &[&model[..], &["--reverse-model", "reverse"]].concat());
    assert_ne!(both, by_attention(&dir, &model));
    let forward = ["align", "--model", "model", "--pairs", "pairs.tsv", "--reverse-model", "model"];
    dir.run(&forward).refused_with(2, &["--reverse-model model", "other way"]);
}

#[test]
fn refuses_conflicting_link_options() {
    let dir = TestDir::with_pairs();
    for (options, part) in [
        (&["--links-from", "hmm", "--tokens"][..], "--links-from"),
        (&["--links-from", "pairs", "--reverse-model", "x"], "--links-from"),
        (&["--probs", "--format", "json"], "--probs"),
        (&["--threshold", "1.5"], "--threshold"),
        (&["--direction", "forward", "--symmetrize", "union"], "--direction"),
        (&["--prior", "x"], "--links-from pairs"),
    ] {
        let base = ["align", "--model", model_path(), "--pairs", "pairs.tsv"];
        dir.run(&[&base, options].concat()).refused_with(2, &[part]);
    }
    // With --tokens, the reverse model must have the same tokens.
    let tokens = ["align", "--model", model_path(), "--pairs", "pairs.tsv", "--format", "pharaoh", "--tokens"];
    let other = dir.run(&[&tokens[..], &["--reverse-model", model_path()]].concat());
    other.refused_with(2, &["--tokens needs the same vocabularies"]);
}

#[test]
fn links_carry_scores() {
    let dir = TestDir::new();
    let links = align(&dir, &["--format", "pharaoh", "--probs"]);
    assert!(links.split_whitespace().count() >= 3, "{links}");
    for link in links.split_whitespace() {
        let share: f64 = link.split_once(':').unwrap().1.parse().unwrap();
        assert!((0.3..=1.0).contains(&share), "{link}");
    }
    let object = json(align(&dir, &["--format", "jsonl"]).lines().next().unwrap());
    assert_eq!(object["links"].as_array().unwrap().len(), object["link_scores"].as_array().unwrap().len());
    let attention: Value =
        serde_json::from_str(align(&dir, &["--format", "jsonl", "--links-from", "attention"]).lines().next().unwrap())
            .unwrap();
    assert_eq!(object["attention"], attention["attention"], "attention does not depend on the source of links");
    assert_ne!(object["link_scores"], attention["link_scores"]);
}

#[test]
fn soft_alignments_have_the_stated_shape() {
    let text = align(&TestDir::new(), &["--format", "nematus"]);
    let blocks: Vec<&str> = text.split_terminator("\n\n").collect();
    assert_eq!(blocks.len(), 4, "{text}");
    for block in blocks {
        let (head, rows) = block.split_once('\n').unwrap();
        let sizes: Vec<usize> =
            head.rsplit(" ||| ").next().unwrap().split(' ').map(|size| size.parse().unwrap()).collect();
        let rows: Vec<Vec<f64>> =
            rows.lines().map(|row| row.split(' ').map(|weight| weight.parse().unwrap()).collect()).collect();
        assert_eq!(rows.len(), sizes[1], "{head}");
        for row in rows {
            assert_eq!(row.len(), sizes[0], "{head}");
            assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-4, "{head}");
        }
    }
}

#[test]
fn links_characters_of_scripts_without_spaces() {
    let dir = TestDir::new();
    let pairs = [
        ("我喜欢猫", "I like cats"),
        ("我喜欢狗", "I like dogs"),
        ("他有猫", "he has cats"),
        ("他有狗", "he has dogs"),
    ];
    dir.write("pairs.tsv", tsv(&pairs));
    let linked = |options: &[&str]| {
        let base = ["align", "--links-from", "pairs", "--pairs", "pairs.tsv", "--format", "pharaoh"];
        dir.run(&[&base[..], options].concat()).worked().to_owned()
    };
    assert_eq!(linked(&[]), "0-0 1-1 2-1 3-2\n0-0 1-1 2-1 3-2\n0-0 1-1 2-2\n0-0 1-1 2-2\n");
    assert_eq!(linked(&["--words", "whitespace"]), "\n\n\n\n", "each sentence is another word");
    assert!(linked(&["--words", "characters"]).contains("-8"), "the target has nine letters");
    let page =
        dir.run(&["align", "--links-from", "pairs", "--pairs", "pairs.tsv", "--format", "html"]).worked().to_owned();
    assert!(page.contains(r#""texts":["我喜欢猫","I like cats"]"#), "the page lists the texts as they were given");
}

#[test]
fn separates_punctuation_on_request() {
    let dir = TestDir::new();
    dir.write("one.tsv", "the fox.\tmi.\n");
    let words = |words: &str| -> Value {
        let options = ["align", "--model", model_path(), "--pairs", "one.tsv", "--format", "jsonl", "--words", words];
        dir.run(&options).json()
    };
    assert_eq!(words("whitespace")["source"], serde_json::json!(["the", "fox."]));
    assert_eq!(words("punctuation")["source"], serde_json::json!(["the", "fox", "."]));
    assert_eq!(words("punctuation")["target"], serde_json::json!(["mi", "."]));
}

#[test]
fn extracts_a_lexicon_from_the_links() {
    let dir = TestDir::new();
    let words = [["fox", "owl", "mouse"], ["mi", "ku", "su"], ["sleeps", "sings", "runs"], ["dorma", "kanta", "kura"]];
    let pair = |number: usize| {
        let (animal, verb) = (number / 3, number % 3);
        format!("{} {}\t{} {}\n", words[0][animal], words[2][verb], words[1][animal], words[3][verb])
    };
    dir.write("pairs.tsv", (0..9).map(pair).collect::<String>());
    let options = ["--links-from", "pairs", "--format", "pharaoh", "--lexicon", "words.tsv"];
    dir.run(&[&["align", "--pairs", "pairs.tsv"], &options[..]].concat()).worked();
    let list = dir.text("words.tsv");
    let lines: Vec<Vec<&str>> = list.lines().map(|line| line.split('\t').collect()).collect();
    assert!(lines.iter().all(|line| line.len() == 7), "{list}");
    assert_eq!(lines[0][..3], ["word", "translation", "count"]);
    let fox = lines.iter().find(|line| line[0] == "fox").unwrap();
    assert_eq!((fox[1], fox[2]), ("mi", "3"), "{list}");
    assert!(fox[5].contains("fox") && fox[6].contains("mi"));
    let nowhere = ["align", "--model", model_path(), "--pairs", "pairs.tsv", "--lexicon", "missing/words.tsv"];
    dir.run(&nowhere).refused_with(1, &["missing/words.tsv"]);
}

/// English has articles, the other language has none and capitalizes nouns.
fn pairs_with_articles() -> String {
    let nouns = [("fox", "Mi"), ("owl", "Ku"), ("mouse", "Su"), ("cat", "Gato"), ("dog", "Pero")];
    let verbs = [("sleeps", "dorma"), ("sings", "kanta"), ("runs", "kura")];
    let places = [("on", "na"), ("behind", "za"), ("near", "u")];
    let pair = |number: usize| {
        let noun = |shift: usize| nouns[(number / shift + number / 45) % 5];
        let [noun, other, verb, place] = [noun(1), noun(3), verbs[number / 5 % 3], places[number / 15 % 3]];
        match number % 4 {
            0 => format!("A {} {}.\t{} {}.\n", noun.0, verb.0, noun.1, verb.1),
            1 => format!(
                "{}s {} {} a {}.\t{} {} {} {}.\n",
                noun.0, verb.0, place.0, other.0, noun.1, verb.1, place.1, other.1
            ),
            _ => format!(
                "A {} {} {} a {}.\t{} {} {} {}.\n",
                noun.0, verb.0, place.0, other.0, noun.1, verb.1, place.1, other.1
            ),
        }
    };
    (0..900).map(pair).collect()
}

#[test]
fn lexicon_has_no_translations_of_words_without_counterpart() {
    let dir = TestDir::new();
    dir.write("pairs.tsv", pairs_with_articles());
    let lexicon = |options: &[&str]| -> Vec<(String, String, usize)> {
        let base =
            ["align", "--links-from", "pairs", "--pairs", "pairs.tsv", "--format", "pharaoh", "--lexicon", "words"];
        dir.run(&[&base, options].concat()).worked();
        let list = dir.text("words");
        let cells = list.lines().skip(1).map(|line| line.split('\t').collect::<Vec<_>>());
        cells.map(|cells| (cells[0].to_owned(), cells[1].to_owned(), cells[2].parse().unwrap())).collect()
    };
    let by_count = lexicon(&[]);
    assert!(by_count.iter().all(|(word, ..)| !word.eq_ignore_ascii_case("a")), "{by_count:?}");
    assert!(by_count.is_sorted_by(|a, b| a.2 >= b.2), "{by_count:?}");
    for (word, translation) in [("on", "na"), ("fox", "Mi"), ("sleeps", "dorma")] {
        let found = by_count.iter().find(|entry| entry.0 == word).unwrap();
        assert_eq!(found.1, translation, "nouns keep their capitals: {by_count:?}");
    }
    let by_word = lexicon(&["--sort", "word", "--min-count", "100"]);
    assert!(!by_word.is_empty() && by_word.len() < by_count.len(), "{by_word:?}");
    assert!(by_word.is_sorted_by(|a, b| a.0 <= b.0) && by_word.iter().all(|entry| entry.2 >= 100), "{by_word:?}");
}

#[test]
fn prior_links_what_few_pairs_cannot() {
    let dir = TestDir::new();
    dir.write("pairs.tsv", pairs_with_articles());
    dir.write("few.tsv", "A unicorn sleeps near a dog.\tNokona dorma u Pero.\n");
    let align = |pairs: &str, options: &[&str]| {
        let base = ["align", "--pairs", pairs, "--format", "pharaoh", "--threshold", "0.4"];
        dir.run(&[&base, options].concat()).worked().to_owned()
    };
    align("pairs.tsv", &["--links-from", "pairs", "--save-aligner", "kept"]);
    let gold = "1-0 2-1 3-2 5-3\n";
    assert_ne!(align("few.tsv", &["--links-from", "pairs"]), gold);
    assert_eq!(align("few.tsv", &["--links-from", "pairs", "--prior", "kept", "--save-aligner", "more"]), gold);
    align("few.tsv", &["--links-from", "pairs", "--prior", model_path()]);
    let [before, after] = ["kept", "more"].map(|aligner| align("pairs.tsv", &["--aligner", aligner]));
    assert_eq!(before, after, "the new aligner knows the words of its prior");
}

#[test]
fn links_of_both_directions_symmetrize_to_those_of_align() {
    let dir = TestDir::new();
    dir.write("pairs.tsv", pairs_with_articles());
    let align = |options: &[&str]| {
        let base = ["align", "--links-from", "pairs", "--pairs", "pairs.tsv", "--format", "pharaoh"];
        dir.run(&[&base, options].concat()).worked().to_owned()
    };
    let [forward, backward] = ["forward", "backward"].map(|direction| {
        let links = align(&["--direction", direction]);
        dir.write(direction, &links);
        links
    });
    assert!(forward != backward && align(&["--direction", "both"]) == align(&[]));
    for way in ["intersection", "union", "grow-diag-final-and"] {
        let links = dir.run(&["symmetrize", "forward", "backward", "--way", way]).worked().to_owned();
        assert_eq!(links, align(&["--symmetrize", way]), "{way}");
    }
    let scores = align(&["--direction", "forward", "--probs"]);
    let without: Vec<&str> = scores.split_whitespace().map(|link| link.split_once(':').unwrap().0).collect();
    assert_eq!(without, forward.split_whitespace().collect::<Vec<_>>(), "the scores belong to the same links");
    let attention = ["align", "--model", model_path(), "--pairs", "pairs.tsv", "--links-from", "attention"];
    let by_attention = |direction| {
        dir.run(&[&attention[..], &["--format", "pharaoh", "--direction", direction]].concat()).worked().to_owned()
    };
    let [forward, backward] = ["forward", "backward"].map(by_attention);
    assert!(forward != backward && [&forward, &backward].iter().all(|links| links.split_whitespace().count() > 3));
}

#[test]
fn ranks_a_wrong_pair_as_noisy() {
    let dir = TestDir::new();
    let mut pairs = PAIRS.to_vec();
    pairs[4].1 = "grisa ku dorma dorma dorma dorma .";
    dir.write("pairs.tsv", tsv(&pairs));
    let options = ["align", "--model", model_path(), "--pairs", "pairs.tsv", "--noisy"];
    let list = dir.run(&options).worked().to_owned();
    let first = list.lines().nth(1).unwrap();
    assert!(first.starts_with("5\t") && first.contains("dorma dorma"), "{list}");
    assert_eq!(list.lines().count(), pairs.len() + 1);
    let as_json = |format: &str| dir.run(&[&options[..], &["--format", format]].concat()).worked().to_owned();
    let array = json(&as_json("json"));
    let lines: Vec<Value> = as_json("jsonl").lines().map(json).collect();
    assert_eq!(array.as_array(), Some(&lines));
    assert_eq!((&lines[0]["line"], &lines[0]["target"]), (&Value::from(5), &Value::from(pairs[4].1)));
    assert!(lines.iter().all(|pair| pair["suspicion"].is_number() && pair["score"].is_number()), "{lines:?}");
    dir.run(&[&options[..], &["--format", "svg"]].concat()).refused_with(2, &["--noisy", "json or jsonl"]);
}

#[test]
fn links_character_sides_by_characters() {
    let dir = TestDir::new();
    dir.write("pairs.tsv", "fox\tf o ks\nowl\tau l\n");
    dir.train("out", &["--source-tokenization", "char", "--max-epochs", "1"]).worked();
    let run = |command: &str, options: &[&str]| {
        dir.run(&[&[command, "--model", "out", "--pairs", "pairs.tsv"], options].concat())
    };
    let sources = |options: &[&str]| -> Value {
        let outcome = run("align", &[&["--format", "jsonl"], options].concat());
        let first = json(outcome.worked().lines().next().unwrap());
        serde_json::json!([first["source"], first["target"]])
    };
    assert_eq!(sources(&[]), serde_json::json!([["f", "o", "x"], ["f", "o", "ks"]]));
    assert_eq!(sources(&["--words", "whitespace"]), serde_json::json!([["fox"], ["f", "o", "ks"]]));
    dir.write("pairs.gold", "0-0 1-1 2-2\n2-1\n");
    run("evaluate", &["--gold", "pairs.gold"]).worked();
    run("evaluate", &["--gold", "pairs.gold", "--words", "whitespace"]).refused_with(1, &["pairs.gold:1", "1-1"]);
}

#[test]
fn writes_translations_in_every_format() {
    let dir = TestDir::new();
    // Two translations of the first line and one of the second, counted by a marker of each item.
    for (format, mark, items) in [
        ("align", "</s>", 3),
        ("json", "\"rank\":", 3),
        ("jsonl", "}\n", 3),
        ("pharaoh", "\n", 3),
        ("npz", "PK\u{1}\u{2}", 3 * 3),
        ("tsv", "sentence\trank\tsource\ttarget", 1),
        ("html", "\n{\"id\":", 3),
        ("svg", "\n<g transform=\"translate(0 ", 3 + 1),
        ("nematus", " ||| ", 4 * 3),
    ] {
        let options = ["translate", "--model", model_path(), "--format", format, "--n-best", "2", "--output", "out"];
        dir.run_with_input(&options, "the red fox sings\n\n").worked();
        let bytes = dir.read("out");
        let text = String::from_utf8_lossy(&bytes);
        assert_eq!(text.matches(mark).count(), items, "{format}: {text}");
        assert!(["pharaoh", "npz"].contains(&format) || text.contains("kanta"), "{format}: {text}");
    }
    dir.run(&["translate", "--model", model_path(), "--links-from", "pairs", "a"]).refused_with(2, &["--links-from"]);
}

#[test]
fn unknown_words_are_copied_or_looked_up() {
    let dir = TestDir::new();
    // A word-for-word language; the vocabulary excludes the words that occur twice only.
    let frequent = PAIRS
        .map(|(source, target)| format!("{}\t{}\n", source.trim_start_matches("the "), target.trim_end_matches(" .")));
    let rare = [("heron", "asalo"), ("snail", "toni"), ("mole", "be")].map(|(animal, name)| {
        format!("red {animal} sleeps\trufo {name} dorma\ngrey {animal} sings\tgrisa {name} kanta\n")
    });
    dir.write("pairs.tsv", [frequent.concat(), rare.concat()].concat());
    let settings = ["--vocabulary-size", "12", "--guided-alignment=1", "--max-epochs", "20", "--patience", "100"];
    dir.train("model", &settings).worked();
    dir.write("in.txt", "red heron sings\n\ngrey mole sleeps\nred fox sleeps\n");
    dir.write("words.tsv", "heron\tlupo\nfox\tvolpe\n");
    let run = |options: &[&str]| -> String {
        dir.run(&[&["translate", "--model", "model", "--input", "in.txt"], options].concat()).worked().to_owned()
    };
    assert_eq!(run(&[]), "rufo <unk> kanta\n\ngrisa <unk> dorma\nrufo mi dorma\n");
    assert_eq!(run(&["--replace-unknown"]), "rufo heron kanta\n\ngrisa mole dorma\nrufo mi dorma\n");
    assert_eq!(
        run(&["--replace-unknown", "--dictionary", "words.tsv"]),
        "rufo lupo kanta\n\ngrisa mole dorma\nrufo mi dorma\n"
    );
    // Avoided words are not copied.
    let avoided = run(&["--replace-unknown", "--avoid", "heron"]);
    assert!(avoided.starts_with("rufo <unk> kanta\n") && avoided.contains("grisa mole dorma"), "{avoided}");
}

#[test]
fn dictionary_applies_to_unknown_words_only() {
    let dir = TestDir::new();
    dir.write("words.tsv", "fox\tlupo\n");
    let base = ["translate", "--model", model_path(), "a", "--dictionary", "words.tsv"];
    let refused = dir.run(&base);
    assert!(refused.code == Some(2) && refused.stderr.contains("--replace-unknown"), "{refused:?}");
    dir.write("broken.tsv", "no tab\n");
    let base = ["translate", "--model", model_path(), "a", "--replace-unknown", "--dictionary", "broken.tsv"];
    dir.run(&base).refused_with(1, &["broken.tsv:1"]);
}

#[test]
fn reports_a_damaged_aligner() {
    let dir = TestDir::with_model();
    dir.write("model/aligner.safetensors", b"not this");
    let run = |options: &[&str]| dir.run(&[&["align", "--model", "model", "--pairs", "pairs.tsv"], options].concat());
    run(&[]).refused_with(1, &["aligner.safetensors"]);
    run(&["--links-from", "attention"]).worked();
    std::fs::remove_file(dir.path("model/aligner.safetensors")).unwrap();
    run(&["--links-from", "hmm"]).refused_with(1, &["aligner.safetensors", "--links-from pairs"]);
    run(&[]).worked();
}

#[test]
fn color_follows_the_option_and_the_terminal() {
    let dir = TestDir::with_pairs();
    let is_colored = |options: &[&str], no_color: bool| {
        let mut command = dir.command(&[&["align", "--model", model_path(), "--pairs", "pairs.tsv"], options].concat());
        if no_color {
            command.env("NO_COLOR", "1");
        }
        outcome(command).worked().contains('\u{1b}')
    };
    assert!(!is_colored(&[], false) && !is_colored(&["--color", "never"], false));
    assert!(is_colored(&["--color", "always"], false) && is_colored(&["--color", "always"], true));
}

#[test]
fn selected_pairs_keep_their_numbers() {
    let dir = TestDir::with_pairs();
    let run =
        |options: &[&str]| dir.run(&[&["align", "--model", model_path(), "--pairs", "pairs.tsv"], options].concat());
    let all = run(&["--format", "jsonl"]).worked().to_owned();
    let selected = run(&["--format", "jsonl", "--only", "12,3"]).worked().to_owned();
    let lines: Vec<&str> = all.lines().collect();
    assert_eq!(selected.lines().collect::<Vec<_>>(), [lines[2], lines[11]]);
    assert!(run(&["--only", "3"]).worked().starts_with(' '), "the heatmap starts in the first line");
    for number in ["0", "13"] {
        run(&["--only", number]).refused_with(2, &["--only", "from 1 to 12"]);
    }
    assert_eq!(run(&["--only", "3", "--noisy"]).code, Some(2));
}

#[test]
fn draws_links_as_curves() {
    let dir = TestDir::with_pairs();
    let run = |options: &[&str]| {
        dir.run(&[&["align", "--model", model_path(), "--pairs", "pairs.tsv", "--only", "1"], options].concat())
    };
    let drawn = run(&["--format", "svg", "--view", "links"]);
    let links = run(&["--format", "pharaoh"]).worked().split_whitespace().count();
    assert_eq!(drawn.worked().matches("<path ").count(), links);
    assert!(run(&["--format", "svg"]).worked().contains(">100 %</text>"), "the heatmap has a scale");
    run(&["--view", "links"]).refused_with(2, &["--view", "--format svg"]);
}

#[test]
fn page_title_is_the_file_name() {
    let dir = TestDir::with_pairs();
    let path = dir.path("pairs.tsv");
    let align = ["align", "--model", model_path(), "--format", "html", "--pairs"];
    let page = dir.run(&[&align[..], &[path.to_str().unwrap()]].concat());
    assert!(page.worked().contains("{\"title\":\"pairs.tsv\","));
    let page = dir.run_with_input(&[&align[..], &["-"]].concat(), tsv(&PAIRS[..1]));
    assert!(page.worked().contains("{\"title\":\"standard input\","));
}

#[test]
fn warns_of_pairs_in_other_languages() {
    let align = |source: &str, options: &[&str]| {
        let outcome = TestDir::new().run(&[&["align", source, "rufo mi dorma ."], options].concat());
        outcome.worked();
        outcome.stderr
    };
    let by_model = ["--model", model_path()];
    let warning = "3 of 5 source words are unknown to ";
    assert!(align("ein roter fox sleeps fest", &by_model).starts_with(&format!("warning: {warning}")));
    assert_eq!(align("the red fox sleeps fest", &by_model), "");
    assert_eq!(align("ein roter fox sleeps fest", &["--links-from", "pairs"]), "");
    assert_eq!(align("ein fuchs", &by_model), "", "too few words to tell");
}
