//! Models that are loaded anew while the server runs.

use std::fs;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, SystemTime};

use super::state::{ServedModel, Server};
use crate::error::message_of;
use crate::reporter::Reporter;

/// Interval at which the directories of models are looked at.
const INTERVAL: Duration = Duration::from_secs(1);

/// File of a model as it was last seen.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct FileState {
    path: PathBuf,
    bytes: u64,
    /// Time of the last change, if the system tells.
    modified: Option<SystemTime>,
}

/// Loads models anew when `asked` receives something, and with `watches` when their files change. Returns once `asked` is
/// closed. A model that cannot be loaded stays as it was.
pub fn run(server: &Server, watches: bool, asked: &Receiver<()>, reporter: &dyn Reporter) {
    let mut loaded: Vec<Vec<FileState>> = server.models().iter().map(|model| file_states(model)).collect();
    let mut seen = loaded.clone();
    loop {
        let is_asked = match asked.recv_timeout(INTERVAL) {
            Ok(()) => true,
            Err(RecvTimeoutError::Timeout) => false,
            Err(RecvTimeoutError::Disconnected) => return,
        };
        if is_asked && let Err(error) = server.access().reload() {
            reporter.warn(&format!("{}; the former keys stay", message_of(&error)));
        }
        if !is_asked && !watches {
            continue;
        }
        for (index, model) in server.models().iter().enumerate() {
            let now = file_states(model);
            // A training writes its files one after the other: they are read once they rest.
            let rests = std::mem::replace(&mut seen[index], now.clone()) == now;
            if is_asked || (rests && now != loaded[index]) {
                loaded[index] = now;
                reload(model, reporter);
            }
        }
    }
}

fn reload(model: &ServedModel, reporter: &dyn Reporter) {
    match model.reload() {
        Ok(()) => reporter.note(&format!("{}: loaded anew", model.name())),
        Err(error) => {
            reporter.warn(&format!("{}: not loaded anew: {}; the former model stays", model.name(), message_of(&error)))
        }
    }
}

/// Returns the files of a model or an ensemble, sorted.
fn file_states(model: &ServedModel) -> Vec<FileState> {
    let entries = model.directories().iter().filter_map(|directory| fs::read_dir(directory).ok()).flatten().flatten();
    let mut states: Vec<FileState> = entries.filter_map(|entry| file_state(entry.path())).collect();
    states.sort();
    states
}

/// Returns the state of a file, if it belongs to the model.
fn file_state(path: PathBuf) -> Option<FileState> {
    // Logs change at each validation, models do not.
    let is_model = path.extension().is_some_and(|extension| extension == "json" || extension == "safetensors");
    let is_training = path.file_stem().is_some_and(|name| name == "resume");
    let metadata = fs::metadata(&path).ok().filter(|_| is_model && !is_training)?;
    Some(FileState { path, bytes: metadata.len(), modified: metadata.modified().ok() })
}
