//! The order of the layers that `src/lib.rs` draws: each module uses only those above it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// For each module, from the bottom up, the modules that it may use beside itself.
const MAY_USE: [(&str, &[&str]); 15] = [
    ("alignment", &[]),
    ("random", &[]),
    ("text", &["alignment", "random"]),
    ("aligner", &["alignment", "random", "text"]),
    ("kernels", &["alignment", "random", "text"]),
    ("model", &["alignment", "random", "text", "kernels"]),
    ("search", &["alignment", "random", "text", "kernels", "model"]),
    ("metrics", &["alignment", "random", "text", "kernels", "model"]),
    ("training", &["alignment", "random", "text", "aligner", "kernels", "model", "search", "metrics"]),
    ("checkpoint", &["alignment", "random", "text", "aligner", "kernels", "model", "search", "metrics", "training"]),
    (
        "translator",
        &["alignment", "random", "text", "aligner", "kernels", "model", "search", "metrics", "training", "checkpoint"],
    ),
    ("render", &["alignment"]),
    ("cli", &["alignment", "text", "model", "training"]),
    (
        "commands",
        &[
            "alignment",
            "random",
            "text",
            "aligner",
            "kernels",
            "model",
            "search",
            "metrics",
            "training",
            "checkpoint",
            "translator",
            "render",
            "cli",
        ],
    ),
    ("main", &["cli", "commands"]),
];

/// Names that a line uses from the crate: `crate::x`, `softalign::x` (in main) and grouped imports `crate::{x, y::Z}`.
fn used_modules(line: &str) -> Vec<String> {
    let code = line.split("//").next().unwrap_or_default();
    let mut used = Vec::new();
    for root in ["crate::", "softalign::"] {
        for (start, _) in code.match_indices(root) {
            let whole_word = !code[..start].ends_with(|before: char| before.is_alphanumeric() || "_$".contains(before));
            let rest = &code[start + root.len()..];
            match rest.strip_prefix('{') {
                _ if !whole_word => {}
                Some(group) => used.extend(first_names(group)),
                None => used.push(name_at_start(rest)),
            }
        }
    }
    used
}

fn name_at_start(text: &str) -> String {
    text.chars().take_while(|character| character.is_alphanumeric() || *character == '_').collect()
}

/// The first names of a group's entries; of nested groups only the outer name counts.
fn first_names(group: &str) -> Vec<String> {
    let (mut names, mut depth, mut entry_begins) = (Vec::new(), 0, true);
    for (index, character) in group.char_indices() {
        match character {
            '}' if depth == 0 => break,
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => entry_begins = true,
            _ if entry_begins && !character.is_whitespace() => {
                names.push(name_at_start(&group[index..]));
                entry_begins = false;
            }
            _ => {}
        }
    }
    names
}

/// What is wrong with a file's uses, one line each.
fn forbidden_uses(module: &str, place: &str, text: &str) -> Vec<String> {
    let may_use: BTreeMap<&str, &[&str]> = MAY_USE.into_iter().collect();
    let Some(allowed) = may_use.get(module) else {
        return vec![format!("{place}: module {module} has no place in the order of layers")];
    };
    let mut wrong = Vec::new();
    let mut tests = false;
    // A `use` may run over several lines; they are joined up to its end.
    let mut statement = String::new();
    for (number, line) in (1..).zip(text.lines()) {
        tests |= line.trim() == "#[cfg(test)]";
        statement.push_str(line.split("//").next().unwrap_or_default());
        let open = statement.matches('{').count() > statement.matches('}').count();
        if statement.contains("crate::{") && open {
            continue;
        }
        for used in used_modules(&std::mem::take(&mut statement)) {
            let known = may_use.contains_key(used.as_str());
            let fine = used == module || allowed.contains(&used.as_str()) || (tests && used == "random");
            if known && !fine {
                let may = if allowed.is_empty() { "nothing".to_owned() } else { allowed.join(", ") };
                wrong.push(format!("{place}:{number}: {module} uses {used}, but may use only {may}"));
            }
        }
    }
    wrong
}

fn source_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(source_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

#[test]
fn every_module_uses_only_the_layers_below_it() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut wrong, mut seen) = (Vec::new(), Vec::new());
    for path in source_files(&sources) {
        let place = path.strip_prefix(&sources).unwrap();
        let module = place.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs").to_owned();
        if module == "lib" {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        wrong.extend(forbidden_uses(&module, &format!("src/{}", place.display()), &text));
        seen.push(module);
    }
    for (module, _) in MAY_USE {
        assert!(seen.iter().any(|name| name == module), "src has no {module}; does the order of layers still hold?");
    }
    assert!(wrong.is_empty(), "these lines break the order of layers:\n{}", wrong.join("\n"));
}

#[test]
fn a_forbidden_use_is_found_however_it_is_written() {
    for text in [
        "use crate::commands::run;",
        "pub use crate::{text::Pair, translator::{Translator, LONGEST}};",
        "use crate::{\n    text::Pair,\n    checkpoint::Folder,\n};",
        "fn f() { let x = crate::training::Trainer::new(); }",
        "#[cfg(test)]\nmod tests {\n    use crate::cli::Cli;\n}",
    ] {
        let wrong = forbidden_uses("model", "src/model/x.rs", text);
        assert_eq!(wrong.len(), 1, "{text}: {wrong:?}");
        assert!(wrong[0].contains("may use only"), "{wrong:?}");
    }
    assert_eq!(forbidden_uses("search", "x", "use crate::metrics;").len(), 1, "modules of one layer");
    assert_eq!(forbidden_uses("alignment", "x", "use crate::random;").len(), 1);
    assert_eq!(forbidden_uses("novelty", "x", "").len(), 1, "a module without a place");
}

#[test]
fn what_is_allowed_is_let_through() {
    for (module, text) in [
        ("model", "use crate::kernels::{attention, gru};\nuse crate::model::Parameters;"),
        ("model", "pub(crate) fn f() {} // crate::commands is only mentioned"),
        ("metrics", "#[cfg(test)]\nmod tests { use crate::random::Stream; }"),
        ("alignment", "#[cfg(test)]\nmod tests { use crate::random::Stream; }"),
        ("model", "use my_crate::commands::x;"),
        ("main", "fn main() { softalign::commands::run(&softalign::cli::Cli::parse()) }"),
    ] {
        assert_eq!(forbidden_uses(module, "x", text), Vec::<String>::new(), "{text}");
    }
}
