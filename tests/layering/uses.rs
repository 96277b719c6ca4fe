//! Which file uses which: a reader of just so much Rust as the order of layers needs.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

use crate::tokens::{Token, tokens};

/// What one file names of another place: by a `use`, or by a path in its code.
#[derive(Clone, Debug)]
pub struct Use {
    /// The module that the file is, from the crate's root: `aligner::learn`; the root itself is ``.
    pub module: String,
    /// What is named, from the crate's root, or with the name of another crate in front.
    pub path: String,
    pub of_this_crate: bool,
    /// Whether it stands under `#[cfg(test)]`.
    pub in_tests: bool,
    /// File and line.
    pub place: String,
}

impl Use {
    /// The first name of the path: a room, or another crate.
    pub fn room(&self) -> &str {
        room(&self.path)
    }
}

/// The first name of a path.
pub fn room(path: &str) -> &str {
    path.split("::").next().unwrap_or_default()
}

/// The files of a crate.
pub struct Sources {
    modules: BTreeSet<String>,
    /// What each module imports, by its name there.
    names: BTreeMap<String, BTreeMap<String, String>>,
    pub uses: Vec<Use>,
}

impl Sources {
    /// From the files below a folder.
    pub fn below(dir: &Path) -> Self {
        let files = source_files(dir, "");
        Self::of(&files.iter().map(|(file, text)| (file.as_str(), text.as_str())).collect::<Vec<_>>())
    }

    /// From files by their path below `src`, with their text.
    pub fn of(files: &[(&str, &str)]) -> Self {
        let mut sources = Self {
            modules: files.iter().map(|(file, _)| module_of(file)).collect(),
            names: BTreeMap::new(),
            uses: Vec::new(),
        };
        for (file, text) in files {
            sources.read(file, text);
        }
        sources
    }

    /// The modules that are files.
    pub fn modules(&self) -> impl Iterator<Item = &str> {
        self.modules.iter().map(String::as_str)
    }

    /// What the files of a room use of this crate.
    pub fn uses_of_room(&self, name: &str) -> impl Iterator<Item = &Use> {
        self.uses.iter().filter(move |used| used.of_this_crate && room(&used.module) == name)
    }

    /// The file that defines what a path names: re-exports are followed.
    pub fn definer(&self, path: &str) -> String {
        let (mut at, mut rest) = (String::new(), path);
        while !rest.is_empty() {
            let (name, after) = rest.split_once("::").unwrap_or((rest, ""));
            let below = joined(&at, name);
            if self.modules.contains(&below) {
                (at, rest) = (below, after);
            } else {
                let passed_on = self.names.get(&at).and_then(|names| names.get(name));
                return passed_on.map_or(at, |path| self.definer(&joined(path, after)));
            }
        }
        at
    }

    fn read(&mut self, file: &str, text: &str) {
        let (module, tokens) = (module_of(file), tokens(text));
        let (mentions, tests) = (mentions(&tokens), test_items(&tokens));
        let in_tests = |mention: &Mention| tests.iter().any(|tests| tests.contains(&mention.token));
        let mut names = BTreeMap::new();
        let mut handed_on = BTreeMap::new();
        for mention in &mentions {
            let in_tests = in_tests(mention);
            let found = self.absolute(&module, &names, &mention.segments, in_tests);
            let of_this_crate = found.is_some();
            let path = found.unwrap_or_else(|| mention.segments.join("::"));
            let place = format!("src/{file}:{}", tokens[mention.token].line);
            let used = Use { module: module.clone(), path: path.clone(), of_this_crate, in_tests, place };
            match mention.imported_as {
                Some(name) if of_this_crate => {
                    let from_below = path.strip_prefix(&module).is_some_and(|rest| rest.starts_with("::"));
                    names.insert(name.to_owned(), path);
                    if mention.handed_on && from_below {
                        handed_on.insert(name, used);
                    } else {
                        self.uses.push(used);
                    }
                }
                None if mention.segments.len() == 1 => {}
                _ => self.uses.push(used),
            }
        }
        // What a file hands on from the files below it is used only if the file itself names it too.
        for mention in mentions.iter().filter(|mention| mention.imported_as.is_none() && !in_tests(mention)) {
            self.uses.extend(handed_on.remove(mention.segments[0]));
        }
        self.names.insert(module, names);
    }

    /// A path from the crate's root; none if it leads to another crate or to something of the file's own.
    fn absolute(
        &self,
        module: &str,
        names: &BTreeMap<String, String>,
        segments: &[&str],
        in_tests: bool,
    ) -> Option<String> {
        // Tests are a module of their own inside the file.
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
            _ => return names.get(head).map(|path| joined(path, &rest.join("::"))),
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

/// Rust files below a folder: their path from there on, and their text.
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

/// A path as it is written.
struct Mention<'a> {
    segments: Vec<&'a str>,
    /// By which name a `use` makes it known, if it stands in one.
    imported_as: Option<&'a str>,
    /// Whether it stands in a `pub use`.
    handed_on: bool,
    /// Its first token, by number.
    token: usize,
}

/// All paths of a file: those of `use` first, since a path of the code may begin with a name from there.
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
            paths.push(Mention { segments: path(tokens, &mut at), imported_as: None, handed_on: false, token });
        } else {
            at += 1;
        }
    }
    imports.extend(paths);
    imports
}

/// What a `use` names from a token on, which is moved behind it: `a::b`, `a::{b, c::d}`, `a as b`, `a::*`.
fn use_tree<'a>(
    tokens: &[Token<'a>],
    at: &mut usize,
    before: &[&'a str],
    handed_on: bool,
    found: &mut Vec<Mention<'a>>,
) {
    let token = *at;
    let mut segments = [before, &path(tokens, at)].concat();
    if tokens[*at].text == "{" {
        *at += 1;
        while tokens[*at].text != "}" {
            match tokens[*at].text {
                "," => *at += 1,
                _ => use_tree(tokens, at, &segments, handed_on, found),
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
    found.push(Mention { segments, imported_as, handed_on, token });
}

/// The names `a::b::c` from a token on, which is moved behind them and behind a `::` that no name follows.
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

/// The tokens of items under `#[cfg(test)]`.
fn test_items(tokens: &[Token]) -> Vec<Range<usize>> {
    const MARK: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let is_mark = |tokens: &[Token]| tokens.iter().map(|token| token.text).eq(MARK);
    let begins = tokens.windows(MARK.len()).enumerate().filter(|(_, window)| is_mark(window));
    begins.map(|(begin, _)| begin..end_of_item(tokens, begin + MARK.len())).collect()
}

/// Where an item ends: at its semicolon, or at the brace that closes it.
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
