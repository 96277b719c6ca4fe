//! The layers documented in `src/lib.rs`: each top-level module uses only those listed before it, and the files of a module
//! form no cycle.

mod tokens;
mod uses;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;

use uses::{Sources, Use, top_level};

/// Top-level modules from the bottom up, each with exactly the other modules it uses. Code under `#[cfg(test)]` may also
/// use [`FOR_TESTS`].
const USES: [(&str, &[&str]); 26] = [
    ("error", &[]),
    ("random", &[]),
    ("reporter", &[]),
    ("formats", &["error"]),
    ("text", &["error", "formats", "random", "reporter"]),
    ("kernels", &[]),
    ("communicator", &["kernels"]),
    ("aligner", &["kernels", "text"]),
    ("alignment", &["text"]),
    ("parameters", &["kernels", "random"]),
    ("attention", &["error", "kernels", "parameters", "text"]),
    ("model", &["attention", "kernels", "parameters", "random", "text"]),
    ("search", &["kernels", "model", "random", "text"]),
    ("metrics", &["random", "text"]),
    (
        "training",
        &[
            "aligner",
            "alignment",
            "attention",
            "communicator",
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
    ("checkpoint", &["aligner", "error", "metrics", "model", "parameters", "reporter", "text", "training"]),
    ("render", &["alignment", "formats", "text"]),
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
            "training",
        ],
    ),
    ("export", &["aligner", "attention", "checkpoint", "error", "model", "parameters", "render", "text"]),
    (
        "trainer",
        &[
            "alignment",
            "checkpoint",
            "communicator",
            "error",
            "metrics",
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
        "serve",
        &[
            "alignment",
            "attention",
            "checkpoint",
            "error",
            "formats",
            "render",
            "reporter",
            "search",
            "text",
            "translator",
        ],
    ),
    (
        "cli",
        &[
            "alignment",
            "attention",
            "checkpoint",
            "error",
            "export",
            "formats",
            "kernels",
            "metrics",
            "render",
            "serve",
            "text",
            "trainer",
            "training",
            "translator",
        ],
    ),
    (
        "commands",
        &[
            "alignment",
            "attention",
            "checkpoint",
            "cli",
            "communicator",
            "error",
            "evaluation",
            "export",
            "formats",
            "metrics",
            "render",
            "reporter",
            "search",
            "serve",
            "text",
            "trainer",
            "training",
            "translator",
        ],
    ),
    ("out_of_memory", &[]),
    ("main", &["commands"]),
];

/// Module that unit tests generate data with.
const FOR_TESTS: &str = "random";

/// External crates restricted to the modules listed.
const RESTRICTED: [(&str, &[&str]); 2] = [
    (
        "clap",
        &[
            "alignment",
            "attention",
            "cli",
            "export",
            "formats",
            "main",
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
    ("tokenizers", &["text"]),
];

/// Violations of the order of layers, one line each.
fn layer_violations(sources: &Sources, order: &[(&str, &[&str])]) -> Vec<String> {
    let modules: BTreeSet<&str> = sources.modules().map(top_level).filter(|module| !module.is_empty()).collect();
    let listed: BTreeSet<&str> = order.iter().map(|(module, _)| *module).collect();
    let unlisted = modules.difference(&listed).map(|module| format!("{module} is missing from the list of layers"));
    let absent = listed.difference(&modules).map(|module| format!("src has no {module}, which the list contains"));
    let mut violations: Vec<String> = unlisted.chain(absent).collect();
    for (index, (module, allowed)) in order.iter().enumerate() {
        let lower: Vec<&str> = order[..index].iter().map(|(lower, _)| *lower).collect();
        let uses: Vec<&Use> = sources.uses_by(module).filter(|used| listed.contains(used.top_level())).collect();
        violations.extend(forbidden_uses(module, allowed, &uses));
        for other in *allowed {
            if !lower.contains(other) {
                violations.push(format!("{module} may use {other}, which is not listed before it"));
            }
            if !uses.iter().any(|used| !used.in_tests && used.top_level() == *other) {
                violations.push(format!("{module} may use {other}, but does not: remove it from the list"));
            }
        }
    }
    violations
}

/// The first forbidden use of each other module in each file, one line each.
fn forbidden_uses(module: &str, allowed: &[&str], uses: &[&Use]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut violations = Vec::new();
    for used in uses {
        let other = used.top_level();
        let permitted = other == module || allowed.contains(&other) || (used.in_tests && other == FOR_TESTS);
        if !permitted && seen.insert((&used.module, other)) {
            let may = if allowed.is_empty() { "nothing".to_owned() } else { allowed.join(", ") };
            violations.push(format!("{}: {module} uses {}, but may use only {may}", used.location, used.path));
        }
    }
    violations
}

/// Uses of restricted crates by other modules, one line each.
fn crate_violations(sources: &Sources) -> Vec<String> {
    let mut violations = Vec::new();
    for (name, modules) in RESTRICTED {
        let users = sources.uses.iter().filter(|used| !used.of_this_crate && used.top_level() == name);
        let forbidden = users.filter(|used| !modules.contains(&top_level(&used.module)));
        violations.extend(forbidden.map(|used| format!("{}: only {modules:?} may use {name}", used.location)));
    }
    violations
}

/// For each file, the files of its own top-level module it uses outside of tests, with the location of the first use.
fn files_by_file(sources: &Sources) -> BTreeMap<String, BTreeMap<String, String>> {
    let mut graph: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for used in sources.uses.iter().filter(|used| used.of_this_crate && !used.in_tests) {
        let definer = sources.definer(&used.path);
        if definer != used.module && top_level(&definer) == top_level(&used.module) {
            graph.entry(used.module.clone()).or_default().entry(definer).or_insert_with(|| used.location.clone());
        }
    }
    graph
}

/// The shortest path of uses from one file to another, both included.
fn shortest_path(graph: &BTreeMap<String, BTreeMap<String, String>>, from: &str, to: &str) -> Option<Vec<String>> {
    let mut paths = VecDeque::from([vec![from.to_owned()]]);
    let mut seen = BTreeSet::new();
    while let Some(path) = paths.pop_front() {
        let last = path.last()?;
        if last == to {
            return Some(path);
        }
        for next in graph.get(last).into_iter().flat_map(BTreeMap::keys) {
            if seen.insert(next.clone()) {
                paths.push_back([&path[..], std::slice::from_ref(next)].concat());
            }
        }
    }
    None
}

/// Cycles of files that use each other, one line each.
fn cycles(sources: &Sources) -> Vec<String> {
    let graph = files_by_file(sources);
    let mut violations = Vec::new();
    let mut seen: BTreeSet<BTreeSet<String>> = BTreeSet::new();
    for (from, used) in &graph {
        for (to, location) in used {
            let Some(back) = shortest_path(&graph, to, from) else { continue };
            if seen.insert(back.iter().cloned().collect()) {
                violations.push(format!("{location}: {from} -> {}", back.join(" -> ")));
            }
        }
    }
    violations
}

fn sources() -> Sources {
    Sources::below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"))
}

#[track_caller]
fn assert_none(violations: &[String]) {
    assert!(violations.is_empty(), "the order of layers is violated:\n{}", violations.join("\n"));
}

#[test]
fn modules_use_only_their_allowed_layers() {
    assert_none(&layer_violations(&sources(), &USES));
}

#[test]
fn restricted_crates_stay_in_their_modules() {
    assert_none(&crate_violations(&sources()));
}

#[test]
fn files_of_a_module_form_no_cycle() {
    assert_none(&cycles(&sources()));
}

/// Layers of the test sources: `upper` may use `lower`, and does.
const ORDER: [(&str, &[&str]); 3] = [("lower", &[]), ("random", &[]), ("upper", &["lower"])];

fn with_upper(text: &str) -> Sources {
    Sources::new(&[
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
        let violations = layer_violations(&with_upper(text), &ORDER);
        assert_eq!(violations.len(), 1, "{text}: {violations:?}");
        assert!(
            violations[0].contains("upper uses random") && violations[0].contains("may use only lower"),
            "{violations:?}"
        );
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
        assert_eq!(layer_violations(&with_upper(text), &ORDER), Vec::<String>::new(), "{text}");
    }
    let main = Sources::new(&[("lower.rs", ""), ("main.rs", "fn main() { softalign::lower::run() }")]);
    assert_eq!(layer_violations(&main, &[("lower", &[]), ("main", &["lower"])]), Vec::<String>::new());
}

#[test]
fn list_of_layers_must_match_the_sources() {
    let reports = |order: &[(&str, &[&str])], part: &str| {
        let violations = layer_violations(&with_upper(""), order);
        assert!(violations.len() == 1 && violations[0].contains(part), "{part}: {violations:?}");
    };
    reports(&[ORDER[0], ORDER[1], ("upper", &["lower", "random"])], "upper may use random, but does not");
    reports(&[ORDER[0], ("upper", &["lower"])], "random is missing");
    reports(&[ORDER[0], ORDER[1], ORDER[2], ("absent", &[])], "src has no absent");
    reports(&[ORDER[2], ORDER[0], ORDER[1]], "lower, which is not listed before it");
    let only_in_tests = with_upper("#[cfg(test)]\nmod tests { use crate::random::SeededRng; }");
    assert_eq!(layer_violations(&only_in_tests, &[ORDER[0], ORDER[1], ("upper", &["lower", "random"])]).len(), 1);
}

#[test]
fn finds_a_restricted_crate_outside_its_modules() {
    for text in ["use clap::Args;", "#[derive(clap::ValueEnum)]\nenum E {}", "use {anyhow::Result, clap as c};"] {
        assert_eq!(crate_violations(&Sources::new(&[("random/mod.rs", text)])).len(), 1, "{text}");
        assert_eq!(crate_violations(&Sources::new(&[("cli/mod.rs", text)])).len(), 0, "{text}");
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
        let found = cycles(&Sources::new(files));
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
        assert_eq!(cycles(&Sources::new(files)), Vec::<String>::new(), "{files:?}");
    }
}
