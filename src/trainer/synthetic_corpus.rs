//! Synthetic corpora: texts with their translations by a model.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};

use super::run_context::RunContext;
use crate::checkpoint::{ModelDir, SyntheticCorpus, open_own_file, write_atomically};
use crate::text::{PairFiles, TableFormat};
use crate::translator::{DecodeOptions, Sentence, TranslateOptions, Translator};

/// Number of sentences that are translated before their translations are saved.
const CHUNK: usize = 1024;

/// Files of synthetic training pairs in a model directory.
#[derive(Clone, Debug)]
pub(super) struct SyntheticFiles {
    pub files: PairFiles,
    pub corpus: SyntheticCorpus,
}

impl SyntheticFiles {
    /// Returns the files of a corpus in the model directory.
    pub fn new(model_dir: &ModelDir, corpus: SyntheticCorpus) -> Self {
        let [source, target] = model_dir.synthetic_paths(&corpus.name);
        let files = PairFiles::parallel(&source, &target, &TableFormat::default()).tagged(corpus.source.tag.clone());
        Self { files, corpus }
    }
}

/// Texts to translate.
pub(super) struct SyntheticTexts {
    pub texts: Vec<String>,
    /// True if the texts are target sentences.
    pub are_targets: bool,
    pub decoding: DecodeOptions,
    /// Description of the work.
    pub progress: &'static str,
}

impl SyntheticTexts {
    /// True if the corpus is complete.
    pub fn exist(&self, model_dir: &ModelDir, corpus: &str) -> bool {
        model_dir.synthetic_paths(corpus).iter().all(|path| path.exists())
    }

    /// Translates the texts and writes the corpus. Translations of an interrupted run are kept. Texts that are not translated
    /// before the deadline are left out. Returns false if the observer of `context` stops the work.
    ///
    /// # Errors
    /// The model cannot be loaded, or a file cannot be read or written.
    pub fn translate(
        &self,
        model_dir: &ModelDir,
        corpus: &str,
        model: &Path,
        deadline: Option<Instant>,
        context: RunContext,
    ) -> Result<bool> {
        let RunContext { device, observer, .. } = context;
        let mut finished = FinishedLines::open(model_dir.auxiliary_path().join(format!("{corpus}.unfinished")))?;
        let translator =
            Translator::load_on(model, device).with_context(|| ModelDir::new(model).retraining_advice())?;
        let prepared = translator.prepared(&TranslateOptions::of_plain_text(self.decoding.clone()))?;
        let mut stage = observer.stage(self.progress, Some(self.texts.len()));
        let first = finished.lines.len().min(self.texts.len());
        stage.advance(first);
        for (number, chunk) in self.texts[first..].chunks(CHUNK).enumerate() {
            if observer.should_stop() {
                return Ok(false);
            }
            if !finished.lines.is_empty() && deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                break;
            }
            let sentences: Vec<Sentence> = chunk.iter().map(Sentence::from).collect();
            let index = first + number * CHUNK;
            let translations = prepared.translate_batch(&sentences, index, &mut |count| stage.advance(count))?;
            finished.append(translations.iter().map(|found| in_one_line(&found[0].text)))?;
        }
        drop(stage);
        let (total, texts) = (self.texts.len(), &self.texts[..finished.lines.len().min(self.texts.len())]);
        if texts.len() < total {
            let (progress, count) = (self.progress, texts.len());
            observer
                .note(&format!("{progress}: its share of --max-minutes was enough for {count} of {total} sentences"));
        }
        let [source, target] = model_dir.synthetic_paths(corpus);
        let (of_texts, of_translations) = if self.are_targets { (target, source) } else { (source, target) };
        write_lines(&of_texts, texts)?;
        write_lines(&of_translations, &finished.lines)?;
        finished.remove();
        Ok(true)
    }
}

/// Translations on disk, one per line, of a corpus that is not complete.
struct FinishedLines {
    path: PathBuf,
    file: File,
    lines: Vec<String>,
}

impl FinishedLines {
    /// Opens the file. The end of a killed run, which may not be a whole line, is removed.
    fn open(path: PathBuf) -> Result<Self> {
        let file = open_own_file(OpenOptions::new().create(true).append(true), &path);
        let file = file.with_context(|| cannot_write(&path))?;
        let bytes = std::fs::read(&path).with_context(|| cannot_write(&path))?;
        let complete = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        file.set_len(complete as u64).with_context(|| cannot_write(&path))?;
        let lines = String::from_utf8_lossy(&bytes[..complete]).lines().map(str::to_owned).collect();
        Ok(Self { path, file, lines })
    }

    fn append(&mut self, lines: impl Iterator<Item = String>) -> Result<()> {
        let first = self.lines.len();
        self.lines.extend(lines);
        let text: String = self.lines[first..].iter().map(|line| format!("{line}\n")).collect();
        self.file.write_all(text.as_bytes()).with_context(|| cannot_write(&self.path))
    }

    /// Removes the file.
    fn remove(self) {
        // Left over, it does no harm.
        let _ = std::fs::remove_file(self.path);
    }
}

fn cannot_write(path: &Path) -> String {
    format!("{}: cannot write this file", path.display())
}

/// Returns the text with line breaks as spaces.
fn in_one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

fn write_lines(path: &Path, lines: &[String]) -> Result<()> {
    write_atomically(path, |file| {
        let mut file = BufWriter::new(file);
        lines.iter().try_for_each(|line| writeln!(file, "{}", in_one_line(line)))?;
        Ok(file.flush()?)
    })
}
