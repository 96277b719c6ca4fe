//! Bundles the scripts of the HTML pages, and records the commit for `softalign --version`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Entry module of each page, and the file in OUT_DIR that its script is written to.
const PAGES: [(&str, &str); 5] = [
    ("src/render/page/page.js", "page.js"),
    ("src/serve/page/serve.js", "serve.js"),
    ("src/export/page/export.js", "export.js"),
    ("src/export/page/plain.js", "plain.js"),
    ("src/export/engine/worker.js", "engine.js"),
];

fn main() {
    // The log of HEAD changes with every commit and checkout.
    for path in ["build.rs", ".git/logs/HEAD"] {
        if Path::new(path).exists() {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    if let Err(error) = write_scripts() {
        println!("cargo::error={error}");
    }
    let commit = Command::new("git").args(["rev-parse", "--short=9", "HEAD"]).output().ok();
    let commit = commit.filter(|output| output.status.success() && Path::new(".git").exists());
    let commit =
        commit.map_or_else(|| "unknown".to_owned(), |output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    println!("cargo::rustc-env=SOFTALIGN_COMMIT={commit}");
}

fn write_scripts() -> Result<(), String> {
    let directory = env::var("OUT_DIR").map_err(|error| format!("OUT_DIR: {error}"))?;
    for (entry, output) in PAGES {
        let bundle = Bundle::from_entry(Path::new(entry))?;
        for path in bundle.modules.keys() {
            println!("cargo::rerun-if-changed={}", path.display());
        }
        fs::write(Path::new(&directory).join(output), bundle.script).map_err(|error| format!("{output}: {error}"))?;
    }
    Ok(())
}

/// One script made of the ES modules that an entry module imports, directly or through others: each after those it imports.
///
/// It understands `import { a, b } from "./x.js";`, on one or several lines, and `export` before `function`, `async function`,
/// `const` and `class`. Statements of the top level begin in the first column. In the script the modules share one scope, so
/// that no two may declare the same name at their top level.
#[derive(Default)]
pub struct Bundle {
    /// The modules' code without imports and exports.
    pub script: String,
    /// The names that each module declares at its top level, with true if exported; none while the module is read.
    modules: BTreeMap<PathBuf, Option<BTreeMap<String, bool>>>,
}

impl Bundle {
    /// Bundles an entry module.
    ///
    /// # Errors
    /// Fails for a module that cannot be read, another form of import or export, a name that is imported but not exported or
    /// declared by two modules, and modules that import each other.
    pub fn from_entry(path: &Path) -> Result<Self, String> {
        let mut bundle = Self::default();
        bundle.add(path)?;
        Ok(bundle)
    }

    /// Adds a module after those it imports, unless it is there.
    fn add(&mut self, path: &Path) -> Result<(), String> {
        let module = path.display();
        match self.modules.get(path) {
            Some(Some(_)) => return Ok(()),
            Some(None) => return Err(format!("{module} imports itself, directly or through others")),
            None => self.modules.insert(path.to_owned(), None),
        };
        let text = fs::read_to_string(path).map_err(|error| format!("{module}: {error}"))?;
        let (mut names, mut code) = (BTreeMap::new(), String::new());
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            if after_word(line, "import").is_some() {
                let mut import = line.to_owned();
                while !import.ends_with(';') {
                    import.push_str(lines.next().ok_or_else(|| format!("{module}: an import without an end"))?);
                }
                self.import(path, &import)?;
                continue;
            }
            let exported = after_word(line, "export");
            let statement = exported.map_or(line, str::trim_start);
            match declared_name(statement) {
                Some(name) if !(name.is_empty() || exported.is_some() && statement.starts_with("let")) => {
                    names.insert(name.to_owned(), exported.is_some());
                }
                None if exported.is_none() => {}
                _ => return Err(format!("{module}: unsupported: {line}")),
            }
            code.push_str(statement);
            code.push('\n');
        }
        for (known, declared) in &self.modules {
            if let Some(name) = declared.iter().flatten().map(|(name, _)| name).find(|name| names.contains_key(*name)) {
                return Err(format!("{name} is declared in {} and in {module}", known.display()));
            }
        }
        self.script.push_str(&code);
        self.modules.insert(path.to_owned(), Some(names));
        Ok(())
    }

    /// Adds the module that a module imports from, and checks that it exports what is imported.
    fn import(&mut self, importer: &Path, import: &str) -> Result<(), String> {
        let inner = import.strip_prefix("import {").and_then(|rest| rest.strip_suffix("\";"));
        let Some((names, file)) = inner.and_then(|inner| inner.split_once("} from \".")) else {
            return Err(format!("{}: unsupported: {import}", importer.display()));
        };
        let mut path = importer.with_file_name("");
        for part in format!(".{file}").split('/') {
            match part {
                "." => {}
                ".." => {
                    path.pop();
                }
                part => path.push(part),
            }
        }
        self.add(&path)?;
        let exports = self.modules[&path].iter().flatten().filter(|(_, exported)| **exported);
        let exports: Vec<&str> = exports.map(|(name, _)| name.as_str()).collect();
        match names.split(',').map(str::trim).find(|name| !name.is_empty() && !exports.contains(name)) {
            Some(name) => Err(format!("{}: {} does not export {name}", importer.display(), path.display())),
            None => Ok(()),
        }
    }
}

/// Rest of a line that begins with a word.
fn after_word<'l>(line: &'l str, word: &str) -> Option<&'l str> {
    line.strip_prefix(word).filter(|rest| !rest.starts_with(is_of_name))
}

/// Name that a statement declares, or none for other statements; empty for a pattern of several.
fn declared_name(statement: &str) -> Option<&str> {
    let kinds = ["async function", "function", "const", "let", "class"];
    let rest = kinds.iter().find_map(|kind| after_word(statement, kind))?.trim_start();
    Some(&rest[..rest.find(|character: char| !is_of_name(character)).unwrap_or(rest.len())])
}

fn is_of_name(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '$')
}
