//! Names of compared systems: `NAME=PATH` in options.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::error::UsageError;

/// Path with its name in the results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labelled {
    /// Unique name.
    pub name: String,
    /// Directory or file.
    pub path: PathBuf,
}

/// Option that takes `[NAME=]PATH`.
#[derive(Clone, Copy)]
pub struct LabelSpec {
    /// Name of the option.
    pub option: &'static str,
    /// Name of the value in the help.
    pub value: &'static str,
    /// Kind of path, for messages.
    pub kind: &'static str,
}

/// Model directories.
pub const MODELS: LabelSpec = LabelSpec { option: "--model", value: "DIR", kind: "directory" };
/// Files of translations.
pub const HYPOTHESES: LabelSpec = LabelSpec { option: "--hypotheses", value: "FILE", kind: "file" };
/// Files of links.
pub const LINKS: LabelSpec = LabelSpec { option: "--links", value: "FILE", kind: "file" };

/// Value of an option that takes `[NAME=]PATH`, in parts.
struct LabelParts<'a> {
    name: Option<&'a str>,
    path: &'a Path,
}

impl LabelParts<'_> {
    /// Returns the given name, or the last component of the path.
    fn short_name(&self) -> String {
        self.name.map_or_else(|| base_name(self.path), str::to_owned)
    }
}

impl LabelSpec {
    /// Parses `PATH` or `NAME=PATH`. An existing path may contain `=`. The default name is the last component of the path, or
    /// the whole path if that is ambiguous; remaining duplicates are numbered.
    ///
    /// # Errors
    /// A name or path is empty, or a path does not exist.
    pub fn parse(self, given: &[PathBuf]) -> Result<Vec<Labelled>> {
        let parts: Vec<LabelParts> = given.iter().map(|given| self.parts(given)).collect::<Result<_>>()?;
        let short: Vec<String> = parts.iter().map(LabelParts::short_name).collect();
        let mut all: Vec<Labelled> = Vec::with_capacity(given.len());
        for (LabelParts { name, path }, short_name) in parts.into_iter().zip(&short) {
            let alone = short.iter().filter(|other| *other == short_name).count() == 1;
            let name = if alone || name.is_some() { short_name.clone() } else { path.display().to_string() };
            let name = unique(&all, name);
            all.push(Labelled { name, path: path.to_owned() });
        }
        Ok(all)
    }

    /// Splits a value into name, if any, and path.
    fn parts(self, given: &Path) -> Result<LabelParts<'_>> {
        let Some(text) = given.to_str().filter(|text| text.contains('=') && !given.exists()) else {
            return Ok(LabelParts { name: None, path: given });
        };
        for (place, _) in text.match_indices('=') {
            let (name, path) = (text[..place].trim(), Path::new(&text[place + 1..]));
            if !name.is_empty() && path.exists() {
                return Ok(LabelParts { name: Some(name), path });
            }
        }
        let Self { option, value, kind } = self;
        if text.trim_start().starts_with('=') || text.ends_with('=') {
            bail!(UsageError::new(format!("{option} {text}: expected NAME={value}")));
        }
        bail!("{text}: no such {kind}, neither as a path nor as NAME={value}")
    }
}

/// Returns the last component of a path.
fn base_name(path: &Path) -> String {
    // A path such as `..` has a name only when resolved.
    let real = if path.file_name().is_none() { std::fs::canonicalize(path).ok() } else { None };
    let named = real.as_deref().unwrap_or(path).file_name();
    named.map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// Returns the name, numbered if it is taken.
fn unique(all: &[Labelled], name: String) -> String {
    let numbered = (2..=all.len() + 1).map(|number| format!("{name} ({number})"));
    let mut names = std::iter::once(name.clone()).chain(numbered);
    names.find(|name| all.iter().all(|one| one.name != *name)).unwrap_or_else(|| name.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn models(given: &[&str]) -> Vec<[String; 2]> {
        let given: Vec<PathBuf> = given.iter().map(PathBuf::from).collect();
        let models = MODELS.parse(&given).unwrap();
        models.into_iter().map(|model| [model.name, model.path.display().to_string()]).collect()
    }

    fn refused(given: &str) -> anyhow::Error {
        MODELS.parse(&[PathBuf::from(given)]).unwrap_err()
    }

    fn names(given: &[&str]) -> Vec<String> {
        models(given).into_iter().map(|[name, _]| name).collect()
    }

    #[test]
    fn default_name_is_the_directory() {
        assert_eq!(models(&["runs/m4/"]), [["m4", "runs/m4/"]]);
        assert_eq!(models(&["four heads=src", "src/cli"]), [["four heads", "src"], ["cli", "src/cli"]]);
        assert_eq!(models(&["temperature=0.5=src"]), [["temperature=0.5", "src"]], "a name may hold = as well");
    }

    #[test]
    fn duplicate_names_are_disambiguated() {
        assert_eq!(names(&["a/m", "b/m", "c"]), ["a/m", "b/m", "c"]);
        assert_eq!(names(&["a/m", "m=src"]), ["a/m", "m"]);
        assert_eq!(names(&["m=src", "m=src", "m=src/cli"]), ["m", "m (2)", "m (3)"]);
        assert_eq!(names(&["src", "src"]), ["src", "src (2)"]);
    }

    #[test]
    fn rejects_empty_and_missing_paths() {
        for given in ["=src", "name=", "="] {
            assert!(refused(given).is::<UsageError>(), "{given}");
        }
        let message = refused("runs/rate=0.01/seed=1").to_string();
        assert!(message.starts_with("runs/rate=0.01/seed=1: "), "{message}");
    }
}
