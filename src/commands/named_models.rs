//! Models that are compared, by the options that name them.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::usage::UsageError;

/// A model's folder with the name that results show it under.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedModel {
    /// No two models of a command have the same.
    pub name: String,
    /// The folder.
    pub folder: PathBuf,
}

/// Models given as `DIR` or `NAME=DIR`. A folder that is there is taken as it is, so its path may hold `=`. Without a name
/// a model is called by its folder's own name, or by its path where another model is called so; models that are still
/// called the same are numbered.
///
/// # Errors
/// If a name or a folder is empty, or nothing that a text with `=` could mean is there.
pub fn named_models(given: &[PathBuf]) -> Result<Vec<NamedModel>> {
    let parts: Vec<(Option<&str>, &Path)> = given.iter().map(|given| named(given)).collect::<Result<_>>()?;
    let short: Vec<String> =
        parts.iter().map(|(name, folder)| name.map_or_else(|| own_name(folder), str::to_owned)).collect();
    let mut models: Vec<NamedModel> = Vec::with_capacity(given.len());
    for ((name, folder), short_name) in parts.into_iter().zip(&short) {
        let alone = short.iter().filter(|other| *other == short_name).count() == 1;
        let name = if alone || name.is_some() { short_name.clone() } else { folder.display().to_string() };
        let name = unlike(&models, name);
        models.push(NamedModel { name, folder: folder.to_owned() });
    }
    Ok(models)
}

/// The name, if there is one, and the folder.
fn named(given: &Path) -> Result<(Option<&str>, &Path)> {
    let Some(text) = given.to_str().filter(|text| text.contains('=') && !given.exists()) else {
        return Ok((None, given));
    };
    let splits = text.match_indices('=').map(|(place, _)| (&text[..place], &text[place + 1..]));
    for (name, folder) in splits.clone() {
        if !name.trim().is_empty() && !folder.is_empty() && Path::new(folder).exists() {
            return Ok((Some(name.trim()), Path::new(folder)));
        }
    }
    if text.trim_start().starts_with('=') || text.ends_with('=') {
        bail!(UsageError(format!("--model {text}: write NAME=DIR, both of them")));
    }
    bail!("{text}: no such folder, neither as it stands nor as NAME=DIR")
}

/// The last part of a folder's path.
fn own_name(folder: &Path) -> String {
    // A path such as `..` ends in no name; the folder behind it has one.
    let real = if folder.file_name().is_none() { std::fs::canonicalize(folder).ok() } else { None };
    let path = real.as_deref().unwrap_or(folder);
    path.file_name().map_or_else(|| folder.display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// The name, with a number if another model has it already.
fn unlike(models: &[NamedModel], name: String) -> String {
    let taken = |name: &str| models.iter().any(|model| model.name == name);
    let numbered = (2..=models.len() + 1).map(|number| format!("{name} ({number})"));
    std::iter::once(name.clone()).chain(numbered).find(|name| !taken(name)).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn models(given: &[&str]) -> Vec<[String; 2]> {
        let given: Vec<PathBuf> = given.iter().map(PathBuf::from).collect();
        let models = named_models(&given).unwrap();
        models.into_iter().map(|model| [model.name, model.folder.display().to_string()]).collect()
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
        let refused = |given: &str| named_models(&[PathBuf::from(given)]).unwrap_err();
        for given in ["=src", "name=", "="] {
            assert!(refused(given).is::<UsageError>(), "{given}");
        }
        let message = refused("runs/rate=0.01/seed=1").to_string();
        assert!(message.starts_with("runs/rate=0.01/seed=1: "), "{message}");
    }
}
