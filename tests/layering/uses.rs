//! Uses between files, found by a minimal parser of Rust paths and `use` declarations.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

use crate::tokens::{Token, tokens};

/// One use of an item by a file, through a `use` declaration or a path in its code.
#[derive(Clone, Debug)]
pub struct Use {
    /// Path of the file's module from the crate root, such as `aligner::em`; empty for the root.
    pub module: String,
    /// Path of the used item from the crate root, or starting with the name of another crate.
    pub path: String,
    pub of_this_crate: bool,
    /// True under `#[cfg(test)]`.
    pub in_tests: bool,
    /// File and line.
    pub location: String,
}

impl Use {
    /// The used top-level module or external crate.
    pub fn top_level(&self) -> &str {
        top_level(&self.path)
    }
}

/// The first segment of a path.
pub fn top_level(path: &str) -> &str {
    path.split("::").next().unwrap_or_default()
}

/// Modules of a crate and their uses.
pub struct Sources {
    modules: BTreeSet<String>,
    /// Imported paths of each module by local name.
    imports: BTreeMap<String, BTreeMap<String, String>>,
    pub uses: Vec<Use>,
}

impl Sources {
    /// Reads all Rust files below a directory.
    pub fn below(dir: &Path) -> Self {
        let files = source_files(dir, "");
        Self::new(&files.iter().map(|(file, text)| (file.as_str(), text.as_str())).collect::<Vec<_>>())
    }

    /// Parses files given as path below `src` and text.
    pub fn new(files: &[(&str, &str)]) -> Self {
        let mut sources = Self {
            modules: files.iter().map(|(file, _)| module_of(file)).collect(),
            imports: BTreeMap::new(),
            uses: Vec::new(),
        };
        for (file, text) in files {
            sources.read(file, text);
        }
        sources
    }

    /// Modules with a file of their own.
    pub fn modules(&self) -> impl Iterator<Item = &str> {
        self.modules.iter().map(String::as_str)
    }

    /// Uses of this crate's items by the files of a top-level module.
    pub fn uses_by(&self, name: &str) -> impl Iterator<Item = &Use> {
        self.uses.iter().filter(move |used| used.of_this_crate && top_level(&used.module) == name)
    }

    /// The module that defines the item of a path; re-exports are followed.
    pub fn definer(&self, path: &str) -> String {
        let (mut at, mut rest) = (String::new(), path);
        while !rest.is_empty() {
            let (name, after) = rest.split_once("::").unwrap_or((rest, ""));
            let below = joined(&at, name);
            if self.modules.contains(&below) {
                (at, rest) = (below, after);
            } else {
                let reexported = self.imports.get(&at).and_then(|imports| imports.get(name));
                return reexported.map_or(at, |path| self.definer(&joined(path, after)));
            }
        }
        at
    }

    fn read(&mut self, file: &str, text: &str) {
        let (module, tokens) = (module_of(file), tokens(text));
        let (mentions, tests) = (mentions(&tokens), test_items(&tokens));
        let in_tests = |mention: &Mention| tests.iter().any(|tests| tests.contains(&mention.token));
        let mut imports = BTreeMap::new();
        let mut reexports = BTreeMap::new();
        for mention in &mentions {
            let in_tests = in_tests(mention);
            let found = self.absolute(&module, &imports, &mention.segments, in_tests);
            let of_this_crate = found.is_some();
            let path = found.unwrap_or_else(|| mention.segments.join("::"));
            let location = format!("src/{file}:{}", tokens[mention.token].line);
            let used = Use { module: module.clone(), path: path.clone(), of_this_crate, in_tests, location };
            match mention.imported_as {
                Some(name) if of_this_crate => {
                    let from_below = path.strip_prefix(&module).is_some_and(|rest| rest.starts_with("::"));
                    imports.insert(name.to_owned(), path);
                    if mention.reexported && from_below {
                        reexports.insert(name, used);
                    } else {
                        self.uses.push(used);
                    }
                }
                None if mention.segments.len() == 1 => {}
                _ => self.uses.push(used),
            }
        }
        // A re-export from a submodule counts as a use only if the file also names the item.
        for mention in mentions.iter().filter(|mention| mention.imported_as.is_none() && !in_tests(mention)) {
            self.uses.extend(reexports.remove(mention.segments[0]));
        }
        self.imports.insert(module, imports);
    }

    /// Resolves a path from the crate root; `None` for items of other crates or of the file itself.
    fn absolute(
        &self,
        module: &str,
        imports: &BTreeMap<String, String>,
        segments: &[&str],
        in_tests: bool,
    ) -> Option<String> {
        // Tests are in a submodule of the file's module.
        let mut base: Vec<&str> = module.split("::").filter(|name| !name.is_empty()).collect();
        base.extend(in_tests.then_some("tests"));
        let (&head, mut rest) = segments.split_first()?;
        match head {
            "crate" => base.clear(),
            "softalign" if module == "main" => base.clear(),
            "self" => {}
            "super" => {
                base.pop();
                while let Some((&"super", after)) = rest.split_first() {
                    base.pop();
                    rest = after;
                }
            }
            _ if self.modules.contains(&joined(module, head)) => return Some(joined(module, &segments.join("::"))),
            _ => return imports.get(head).map(|path| joined(path, &rest.join("::"))),
        }
        Some(joined(&base.join("::"), &rest.join("::")))
    }
}

fn joined(a: &str, b: &str) -> String {
    if a.is_empty() || b.is_empty() { format!("{a}{b}") } else { format!("{a}::{b}") }
}

fn module_of(file: &str) -> String {
    let path = file.trim_end_matches(".rs").replace('/', "::");
    let path = path.strip_suffix("mod").map_or(path.as_str(), |dir| dir.trim_end_matches("::"));
    if path == "lib" { String::new() } else { path.to_owned() }
}

/// Relative paths and text of the Rust files below a directory.
fn source_files(dir: &Path, before: &str) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("{before}{}", path.file_name().unwrap().to_str().unwrap());
        if path.is_dir() {
            files.extend(source_files(&path, &format!("{name}/")));
        } else if name.ends_with(".rs") {
            files.push((name, std::fs::read_to_string(&path).unwrap()));
        }
    }
    files.sort();
    files
}

/// A path as written.
struct Mention<'a> {
    segments: Vec<&'a str>,
    /// Local name introduced by a `use`.
    imported_as: Option<&'a str>,
    /// True in a `pub use`.
    reexported: bool,
    /// Index of its first token.
    token: usize,
}

/// All paths of a file, those of `use` first because other paths may start with an imported name.
fn mentions<'a>(tokens: &[Token<'a>]) -> Vec<Mention<'a>> {
    let (mut imports, mut paths) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < tokens.len() {
        let before = at.checked_sub(1).map_or("", |before| tokens[before].text);
        if tokens[at].text == "use" {
            at += 1;
            // `impl Trait + use<'a>` imports nothing.
            if tokens[at].text == "<" {
                continue;
            }
            // `pub` or `pub(crate)`
            use_tree(tokens, &mut at, &[], ["pub", ")"].contains(&before), &mut imports);
        } else if tokens[at].is_name() && !["::", ".", "$"].contains(&before) {
            let token = at;
            paths.push(Mention { segments: path(tokens, &mut at), imported_as: None, reexported: false, token });
        } else {
            at += 1;
        }
    }
    imports.extend(paths);
    imports
}

/// Parses the tree of a `use` and advances `at` past it: `a::b`, `a::{b, c::d}`, `a as b`, `a::*`.
fn use_tree<'a>(
    tokens: &[Token<'a>],
    at: &mut usize,
    before: &[&'a str],
    reexported: bool,
    found: &mut Vec<Mention<'a>>,
) {
    let token = *at;
    let mut segments = [before, &path(tokens, at)].concat();
    if tokens[*at].text == "{" {
        *at += 1;
        while tokens[*at].text != "}" {
            match tokens[*at].text {
                "," => *at += 1,
                _ => use_tree(tokens, at, &segments, reexported, found),
            }
        }
        *at += 1;
        return;
    }
    if segments.len() > 1 && segments.last() == Some(&"self") {
        segments.pop();
    }
    let mut imported_as = segments.last().copied();
    match tokens[*at].text {
        "as" => {
            imported_as = Some(tokens[*at + 1].text);
            *at += 2;
        }
        "*" => *at += 1,
        _ => {}
    }
    found.push(Mention { segments, imported_as, reexported, token });
}

/// Parses `a::b::c` and advances `at` past it and a trailing `::`.
fn path<'a>(tokens: &[Token<'a>], at: &mut usize) -> Vec<&'a str> {
    let mut segments = Vec::new();
    while tokens.get(*at).is_some_and(Token::is_name) {
        segments.push(tokens[*at].text);
        *at += 1;
        if tokens.get(*at).is_none_or(|token| token.text != "::") {
            break;
        }
        *at += 1;
    }
    segments
}

/// Token ranges of items under `#[cfg(test)]`.
fn test_items(tokens: &[Token]) -> Vec<Range<usize>> {
    const MARK: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let is_mark = |tokens: &[Token]| tokens.iter().map(|token| token.text).eq(MARK);
    let begins = tokens.windows(MARK.len()).enumerate().filter(|(_, window)| is_mark(window));
    begins.map(|(begin, _)| begin..end_of_item(tokens, begin + MARK.len())).collect()
}

/// Index after the semicolon or closing brace that ends an item.
fn end_of_item(tokens: &[Token], begin: usize) -> usize {
    let mut depth = 0;
    for (index, token) in tokens.iter().enumerate().skip(begin) {
        match token.text {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 && [";", "}"].contains(&token.text) {
            return index + 1;
        }
    }
    tokens.len()
}
