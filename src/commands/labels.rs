//! What is compared, by the options that name it: models, or files of translations.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::error::UsageError;

/// A model's folder or a file, with the name that results show it under.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labelled {
    /// No two of a command have the same.
    pub name: String,
    /// The folder or file.
    pub path: PathBuf,
}

/// What may be named.
#[derive(Clone, Copy)]
pub struct LabelSpec {
    /// The option.
    pub option: &'static str,
    /// What its value is called in help.
    pub value: &'static str,
    /// What that is, in words.
    pub kind: &'static str,
}

/// Models' folders.
pub const MODELS: LabelSpec = LabelSpec { option: "--model", value: "DIR", kind: "folder" };
/// Files of translations.
pub const HYPOTHESES: LabelSpec = LabelSpec { option: "--hypotheses", value: "FILE", kind: "file" };

impl LabelSpec {
    /// Those given as `PATH` or `NAME=PATH`. What is there is taken as it is, so a path may hold `=`. Without a name it is
    /// called by its own, the last part of its path, or by the whole path where another one is called so; those that are still
    /// called the same are numbered.
    ///
    /// # Errors
    /// If a name or a path is empty, or nothing that a text with `=` could mean is there.
    pub fn named(self, given: &[PathBuf]) -> Result<Vec<Labelled>> {
        let parts: Vec<(Option<&str>, &Path)> = given.iter().map(|given| self.parts(given)).collect::<Result<_>>()?;
        let short: Vec<String> =
            parts.iter().map(|(name, path)| name.map_or_else(|| own_name(path), str::to_owned)).collect();
        let mut all: Vec<Labelled> = Vec::with_capacity(given.len());
        for ((name, path), short_name) in parts.into_iter().zip(&short) {
            let alone = short.iter().filter(|other| *other == short_name).count() == 1;
            let name = if alone || name.is_some() { short_name.clone() } else { path.display().to_string() };
            let name = unlike(&all, name);
            all.push(Labelled { name, path: path.to_owned() });
        }
        Ok(all)
    }

    /// The name, if there is one, and the path.
    fn parts(self, given: &Path) -> Result<(Option<&str>, &Path)> {
        let Some(text) = given.to_str().filter(|text| text.contains('=') && !given.exists()) else {
            return Ok((None, given));
        };
        let splits = text.match_indices('=').map(|(place, _)| (&text[..place], &text[place + 1..]));
        for (name, path) in splits.clone() {
            if !name.trim().is_empty() && !path.is_empty() && Path::new(path).exists() {
                return Ok((Some(name.trim()), Path::new(path)));
            }
        }
        let Self { option, value, kind } = self;
        if text.trim_start().starts_with('=') || text.ends_with('=') {
            bail!(UsageError(format!("{option} {text}: write NAME={value}, both of them")));
        }
        bail!("{text}: no such {kind}, neither as it stands nor as NAME={value}")
    }
}

/// The last part of a path.
fn own_name(path: &Path) -> String {
    // A path such as `..` ends in no name; the folder behind it has one.
    let real = if path.file_name().is_none() { std::fs::canonicalize(path).ok() } else { None };
    let named = real.as_deref().unwrap_or(path).file_name();
    named.map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// The name, with a number if another one has it already.
fn unlike(all: &[Labelled], name: String) -> String {
    let taken = |name: &str| all.iter().any(|one| one.name == name);
    let numbered = (2..=all.len() + 1).map(|number| format!("{name} ({number})"));
    std::iter::once(name.clone()).chain(numbered).find(|name| !taken(name)).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn models(given: &[&str]) -> Vec<[String; 2]> {
        let given: Vec<PathBuf> = given.iter().map(PathBuf::from).collect();
        let models = MODELS.named(&given).unwrap();
        models.into_iter().map(|model| [model.name, model.path.display().to_string()]).collect()
    }

    fn names(given: &[&str]) -> Vec<String> {
        models(given).into_iter().map(|[name, _]| name).collect()
    }

    #[test]
    fn a_model_is_called_by_its_folder_unless_it_has_a_name() {
        assert_eq!(models(&["runs/m4/"]), [["m4", "runs/m4/"]]);
        assert_eq!(models(&["four heads=src", "src/cli"]), [["four heads", "src"], ["cli", "src/cli"]]);
        assert_eq!(models(&["temperature=0.5=src"]), [["temperature=0.5", "src"]], "a name may hold = as well");
    }

    #[test]
    fn models_of_one_name_are_told_apart() {
        assert_eq!(names(&["a/m", "b/m", "c"]), ["a/m", "b/m", "c"]);
        assert_eq!(names(&["a/m", "m=src"]), ["a/m", "m"]);
        assert_eq!(names(&["m=src", "m=src", "m=src/cli"]), ["m", "m (2)", "m (3)"]);
        assert_eq!(names(&["src", "src"]), ["src", "src (2)"]);
    }

    #[test]
    fn what_means_nothing_is_refused() {
        let refused = |given: &str| MODELS.named(&[PathBuf::from(given)]).unwrap_err();
        for given in ["=src", "name=", "="] {
            assert!(refused(given).is::<UsageError>(), "{given}");
        }
        let message = refused("runs/rate=0.01/seed=1").to_string();
        assert!(message.starts_with("runs/rate=0.01/seed=1: "), "{message}");
    }
}
