//! The order of the layers that `src/lib.rs` draws: each room uses only those above it, and inside a room no two files
//! use each other.

mod tokens;
mod uses;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;

use uses::{Sources, Use, room};

/// For each room, from the bottom up, the rooms that it uses beside itself: no others, and no fewer. What stands under
/// `#[cfg(test)]` may use [`FOR_TESTS`] as well.
const USES: [(&str, &[&str]); 22] = [
    ("error", &[]),
    ("random", &[]),
    ("reporter", &[]),
    ("text", &["error", "random"]),
    ("aligner", &["text"]),
    ("alignment", &["text"]),
    ("kernels", &[]),
    ("parameters", &["kernels", "random"]),
    ("attention", &["kernels", "parameters", "text"]),
    ("model", &["attention", "kernels", "parameters", "random", "text"]),
    ("search", &["kernels", "model", "random", "text"]),
    ("metrics", &["random"]),
    (
        "training",
        &[
            "aligner",
            "alignment",
            "attention",
            "error",
            "kernels",
            "metrics",
            "model",
            "parameters",
            "random",
            "reporter",
            "search",
            "text",
        ],
    ),
    ("checkpoint", &["aligner", "model", "parameters", "reporter", "text", "training"]),
    ("render", &["alignment"]),
    (
        "translator",
        &[
            "aligner",
            "alignment",
            "attention",
            "checkpoint",
            "error",
            "metrics",
            "model",
            "random",
            "render",
            "reporter",
            "search",
            "text",
        ],
    ),
    (
        "trainer",
        &[
            "aligner",
            "alignment",
            "checkpoint",
            "error",
            "model",
            "parameters",
            "random",
            "render",
            "reporter",
            "text",
            "training",
            "translator",
        ],
    ),
    ("evaluation", &["alignment", "error", "metrics", "render", "reporter", "text", "translator"]),
    (
        "cli",
        &[
            "alignment",
            "attention",
            "checkpoint",
            "metrics",
            "model",
            "render",
            "search",
            "text",
            "trainer",
            "training",
            "translator",
        ],
    ),
    (
        "commands",
        &[
            "aligner",
            "alignment",
            "attention",
            "checkpoint",
            "cli",
            "error",
            "evaluation",
            "metrics",
            "render",
            "reporter",
            "search",
            "text",
            "trainer",
            "training",
            "translator",
        ],
    ),
    ("out_of_memory", &[]),
    ("main", &["cli", "commands"]),
];

/// A room that unit tests draw their data from.
const FOR_TESTS: &str = "random";

/// Other people's crates that must not spread, with the rooms that know them.
const KNOWN_TO: [(&str, &[&str]); 2] = [("clap", &["cli", "main", "trainer", "training"]), ("tokenizers", &["text"])];

/// What is wrong with the order of the rooms, one line each.
fn out_of_order(sources: &Sources, order: &[(&str, &[&str])]) -> Vec<String> {
    let rooms: BTreeSet<&str> = sources.modules().map(room).filter(|room| !room.is_empty()).collect();
    let named: BTreeSet<&str> = order.iter().map(|(room, _)| *room).collect();
    let homeless = rooms.difference(&named).map(|room| format!("{room} has no place in the order of layers"));
    let gone = named.difference(&rooms).map(|room| format!("src has no {room}; does the order of layers still hold?"));
    let mut wrong: Vec<String> = homeless.chain(gone).collect();
    for (place, (room, allowed)) in order.iter().enumerate() {
        let lower: Vec<&str> = order[..place].iter().map(|(lower, _)| *lower).collect();
        let uses: Vec<&Use> = sources.uses_of_room(room).filter(|used| named.contains(used.room())).collect();
        wrong.extend(wrong_uses(room, allowed, &uses));
        for other in *allowed {
            if !lower.contains(other) {
                wrong.push(format!("{room} may use {other}, which does not stand before it"));
            }
            if !uses.iter().any(|used| !used.in_tests && used.room() == *other) {
                wrong.push(format!("{room} may use {other}, but does not: take it out of the list"));
            }
        }
    }
    wrong
}

/// The first use of each other room in each file that is not allowed, one line each.
fn wrong_uses(room: &str, allowed: &[&str], uses: &[&Use]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut wrong = Vec::new();
    for used in uses {
        let other = used.room();
        let fine = other == room || allowed.contains(&other) || (used.in_tests && other == FOR_TESTS);
        if !fine && seen.insert((&used.module, other)) {
            let may = if allowed.is_empty() { "nothing".to_owned() } else { allowed.join(", ") };
            wrong.push(format!("{}: {room} uses {}, but may use only {may}", used.place, used.path));
        }
    }
    wrong
}

/// Uses of crates by rooms that should not know them, one line each.
fn spread_crates(sources: &Sources) -> Vec<String> {
    let mut wrong = Vec::new();
    for (name, rooms) in KNOWN_TO {
        let users = sources.uses.iter().filter(|used| !used.of_this_crate && used.room() == name);
        let foreign = users.filter(|used| !rooms.contains(&room(&used.module)));
        wrong.extend(foreign.map(|used| format!("{}: only {rooms:?} may use {name}", used.place)));
    }
    wrong
}

/// Which files of its own room each file uses outside of tests, with the place of the first use.
fn files_by_file(sources: &Sources) -> BTreeMap<String, BTreeMap<String, String>> {
    let mut graph: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for used in sources.uses.iter().filter(|used| used.of_this_crate && !used.in_tests) {
        let definer = sources.definer(&used.path);
        if definer != used.module && room(&definer) == room(&used.module) {
            graph.entry(used.module.clone()).or_default().entry(definer).or_insert_with(|| used.place.clone());
        }
    }
    graph
}

/// The shortest way from one file to another by uses, both included.
fn way(graph: &BTreeMap<String, BTreeMap<String, String>>, from: &str, to: &str) -> Option<Vec<String>> {
    let mut ways = VecDeque::from([vec![from.to_owned()]]);
    let mut seen = BTreeSet::new();
    while let Some(way) = ways.pop_front() {
        let last = way.last()?;
        if last == to {
            return Some(way);
        }
        for next in graph.get(last).into_iter().flat_map(BTreeMap::keys) {
            if seen.insert(next.clone()) {
                ways.push_back([&way[..], std::slice::from_ref(next)].concat());
            }
        }
    }
    None
}

/// Circles of files that use each other, one line each.
fn circles(sources: &Sources) -> Vec<String> {
    let graph = files_by_file(sources);
    let mut wrong = Vec::new();
    let mut seen: BTreeSet<BTreeSet<String>> = BTreeSet::new();
    for (from, used) in &graph {
        for (to, place) in used {
            let Some(back) = way(&graph, to, from) else { continue };
            if seen.insert(back.iter().cloned().collect()) {
                wrong.push(format!("{place}: {from} -> {}", back.join(" -> ")));
            }
        }
    }
    wrong
}

fn sources() -> Sources {
    Sources::below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"))
}

#[track_caller]
fn assert_none(wrong: &[String]) {
    assert!(wrong.is_empty(), "the order of layers does not hold:\n{}", wrong.join("\n"));
}

#[test]
fn every_room_uses_only_its_allowed_layers() {
    assert_none(&out_of_order(&sources(), &USES));
}

#[test]
fn crates_stay_in_their_rooms() {
    assert_none(&spread_crates(&sources()));
}

#[test]
fn files_of_a_room_form_no_cycle() {
    assert_none(&circles(&sources()));
}

/// Two rooms, of which the upper may use the lower, and does.
const ORDER: [(&str, &[&str]); 3] = [("lower", &[]), ("random", &[]), ("upper", &["lower"])];

fn with_upper(text: &str) -> Sources {
    Sources::of(&[
        ("lower.rs", ""),
        ("random.rs", ""),
        ("upper/mod.rs", "use crate::lower::A;"),
        ("upper/file.rs", text),
    ])
}

#[test]
fn finds_a_forbidden_use_in_any_form() {
    for text in [
        "use crate::random::SeededRng;",
        "pub use crate::{lower::Pair, random::{SeededRng, draw}};",
        "use crate::{\n    lower::Pair,\n    random as dice,\n};",
        "fn f() { let x = crate::random::SeededRng::new(); }",
        "use super::super::random::SeededRng;",
        "#[cfg(test)]\nfn f() {}\nuse crate::random::SeededRng;",
    ] {
        let wrong = out_of_order(&with_upper(text), &ORDER);
        assert_eq!(wrong.len(), 1, "{text}: {wrong:?}");
        assert!(wrong[0].contains("upper uses random") && wrong[0].contains("may use only lower"), "{wrong:?}");
    }
}

#[test]
fn accepts_allowed_uses() {
    for text in [
        "use crate::lower::{A, b::C};\nuse crate::upper::D;\nuse super::E;",
        "fn f() {} // crate::random is only mentioned",
        "const TEXT: &str = \"crate::random\";",
        "use my_crate::random::x;",
        "#[cfg(test)]\nmod tests { use crate::random::SeededRng; use super::*; }",
        "macro_rules! m { () => { $crate::random::SeededRng } }",
    ] {
        assert_eq!(out_of_order(&with_upper(text), &ORDER), Vec::<String>::new(), "{text}");
    }
    let main = Sources::of(&[("lower.rs", ""), ("main.rs", "fn main() { softalign::lower::run() }")]);
    assert_eq!(out_of_order(&main, &[("lower", &[]), ("main", &["lower"])]), Vec::<String>::new());
}

#[test]
fn allowed_list_has_no_unused_entry() {
    let said = |order: &[(&str, &[&str])], part: &str| {
        let wrong = out_of_order(&with_upper(""), order);
        assert!(wrong.len() == 1 && wrong[0].contains(part), "{part}: {wrong:?}");
    };
    said(&[ORDER[0], ORDER[1], ("upper", &["lower", "random"])], "upper may use random, but does not");
    said(&[ORDER[0], ("upper", &["lower"])], "random has no place");
    said(&[ORDER[0], ORDER[1], ORDER[2], ("cellar", &[])], "src has no cellar");
    said(&[ORDER[2], ORDER[0], ORDER[1]], "lower, which does not stand before it");
    let only_in_tests = with_upper("#[cfg(test)]\nmod tests { use crate::random::SeededRng; }");
    assert_eq!(out_of_order(&only_in_tests, &[ORDER[0], ORDER[1], ("upper", &["lower", "random"])]).len(), 1);
}

#[test]
fn finds_a_crate_outside_its_room() {
    for text in ["use clap::Args;", "#[derive(clap::ValueEnum)]\nenum E {}", "use {anyhow::Result, clap as c};"] {
        assert_eq!(spread_crates(&Sources::of(&[("text/mod.rs", text)])).len(), 1, "{text}");
        assert_eq!(spread_crates(&Sources::of(&[("cli/mod.rs", text)])).len(), 0, "{text}");
    }
}

#[test]
fn finds_any_cycle() {
    let facade = "mod b; mod c; pub use b::B; pub use c::C;";
    for files in [
        &[("a/mod.rs", facade), ("a/b.rs", "use super::c::C;"), ("a/c.rs", "use super::b::B;")][..],
        &[("a/mod.rs", facade), ("a/b.rs", "use super::C;"), ("a/c.rs", "use crate::a::{B};")],
        &[("a/mod.rs", facade), ("a/b.rs", "fn f() { super::c::C::new() }"), ("a/c.rs", "use super::B as X;")],
        &[("a/mod.rs", facade), ("a/b.rs", "use super::c;\nfn f() { c::g() }"), ("a/c.rs", "use super::b;")],
        &[
            ("a/mod.rs", facade),
            ("a/b.rs", "use super::C;"),
            ("a/c/mod.rs", "mod d; use d::D;"),
            ("a/c/d.rs", "use super::super::B;"),
        ],
        &[("a/mod.rs", "mod b; use b::B; struct A(B);"), ("a/b.rs", "use super::A;")],
        &[("a/mod.rs", "mod b; struct A; fn f() { b::g() }"), ("a/b.rs", "use super::A;")],
        &[("a/mod.rs", "mod b; pub use b::B; struct A(B);"), ("a/b.rs", "use super::A;")],
    ] {
        let found = circles(&Sources::of(files));
        assert_eq!(found.len(), 1, "{files:?}: {found:?}");
    }
}

#[test]
fn accepts_acyclic_uses() {
    let facade = "mod b; mod c; pub use b::B; pub use c::C; pub struct A;";
    for files in [
        &[("a/mod.rs", facade), ("a/b.rs", "use super::{A, C};"), ("a/c.rs", "use super::A;")][..],
        &[
            ("a/mod.rs", facade),
            ("a/b.rs", "use super::C;"),
            ("a/c.rs", "#[cfg(test)]\nmod tests { use super::super::B; }"),
        ],
        &[("a/mod.rs", facade), ("a/b.rs", "use super::C;"), ("a/c.rs", "/// As in [`super::B`]\nfn f() {}")],
    ] {
        assert_eq!(circles(&Sources::of(files)), Vec::<String>::new(), "{files:?}");
    }
}
