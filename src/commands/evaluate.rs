//! `softalign evaluate`

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use candle_core::Device;

use super::by_length::{self, ClassMeasures, Lengths, Measures, Outcome};
use super::console::Console;
use super::evaluation::{Compared, Evaluation, Judgement, Place, WordErrors, show};
use super::gold::read_gold;
use super::lines::{OddLines, warn_of_parts};
use super::linking::{Stored, check_links, linker};
use super::named::{HYPOTHESES, MODELS, Named};
use super::output::{Output, apart, is_standard_output};
use super::pairs::given_pairs;
use super::reading::translator;
use super::search::strategy;
use super::sureness::SegmentCounts;
use crate::alignment::{Gold, OffsetCounts, ThresholdSearch};
use crate::cli::EvaluateArgs;
use crate::error::UsageError;
use crate::metrics::signature;
use crate::render::SCHEMA;
use crate::text::{
    LineNumbers, Normalisation, Pair, PairFiles, SHIPPED_GOLD, SHIPPED_TEST, Words, file_name, read_line_for_each,
};
use crate::translator::{LinkedPair, Linker, Sentence, Strategy, Translator};

/// Characters of a translation and of a reference that are measured, at most: time grows with the product of both.
const MEASURED: usize = 20_000;

/// What is measured of a text.
fn measured(text: &str) -> &str {
    text.char_indices().nth(MEASURED).map_or(text, |(end, _)| &text[..end])
}

/// Warns of a file's lines of which only the beginning is measured.
fn warn_of_unmeasured<'t>(file: &str, texts: impl Iterator<Item = (usize, &'t str)>, console: &Console) {
    let lines = texts.filter(|(_, text)| measured(text).len() < text.len()).map(|(line, _)| line);
    warn_of_parts(file, lines, &format!("longer than {MEASURED} characters; only the beginning was measured"), console);
}

/// What translations are compared with.
struct References<'p> {
    texts: Vec<Cow<'p, str>>,
    /// Whether capitals have become small letters.
    lowercase: bool,
}

/// What every model is measured on, and how.
struct Exam<'p> {
    files: &'p PairFiles,
    pairs: &'p [Pair],
    numbers: LineNumbers,
    gold: Option<Vec<Gold>>,
    lengths: Option<Lengths>,
    strategy: Strategy,
    search_threshold: bool,
}

/// What is measured.
enum Candidate {
    /// A model, or several together.
    Model(Named, Box<Translator>, Box<Linker>),
    /// Translations made elsewhere.
    Hypotheses(Named, Vec<String>),
}

/// What the options name to read, each of them checked.
struct Inputs {
    files: PairFiles,
    gold: Option<PathBuf>,
    models: Vec<Named>,
    hypotheses: Vec<Named>,
}

/// Where results go beside standard output.
struct Outputs {
    figure: Option<Output>,
    save: Option<Output>,
}

pub fn run(args: &EvaluateArgs, device: &Device, console: &Console) -> Result<()> {
    let strategy = strategy(&args.search, None, 1)?;
    check_links(&args.links, false)?;
    let inputs = Inputs::new(args)?;
    let mut outputs = Outputs::open(args, &inputs)?;
    let (pairs, numbers) = inputs.pairs(console)?;
    let by_length = args.by_length || args.figure.is_some();
    let lengths = by_length.then(|| Lengths::of(&pairs)).transpose().with_context(|| inputs.files.to_string())?;
    // All is read before the first is measured: what is wrong with one of them is said at once.
    let candidates = inputs.candidates(args, &pairs, device, console)?;
    let read_gold = |path: &PathBuf| read_gold(path, &pairs, common_words(&candidates)?, usize::from(args.gold_base));
    let gold = inputs.gold.as_ref().map(read_gold).transpose()?;
    warn_of_unlike_references(&candidates, console);
    let exam = Exam {
        files: &inputs.files,
        pairs: &pairs,
        numbers,
        gold,
        lengths,
        strategy,
        search_threshold: args.search_threshold,
    };
    let compared = exam.compare(candidates, args, outputs.save.as_mut(), console)?;
    // Each result is given even where another one finds no place.
    outputs.finish(&compared).and(show(&compared, args.json))
}

impl Inputs {
    /// Checks that the options go together.
    fn new(args: &EvaluateArgs) -> Result<Self> {
        let (models, hypotheses) = match &args.hypotheses[..] {
            [] => (MODELS.named(&args.model)?, Vec::new()),
            given => (Vec::new(), HYPOTHESES.named(given)?),
        };
        let given = given_pairs(&args.pairs, models.first().map(|model| model.path.as_path()));
        let gold = match (&args.gold, &given) {
            (None, None) if args.hypotheses.is_empty() => Some(PathBuf::from(SHIPPED_GOLD)),
            (gold, _) => gold.clone(),
        };
        if args.search_threshold && gold.is_none() {
            bail!(UsageError("--search-threshold needs gold alignments: name them with --gold".to_owned()));
        }
        let measured = if args.ensemble { 1 } else { models.len() + hypotheses.len() };
        if args.compare && measured < 2 {
            bail!(UsageError("--compare needs several: give --model or --hypotheses more than once".to_owned()));
        }
        if args.save.is_some() && measured > 1 {
            bail!(UsageError("--save is for one model: the translations of several would be mixed".to_owned()));
        }
        Ok(Self { files: given.unwrap_or_else(|| PairFiles::shipped(SHIPPED_TEST)), gold, models, hypotheses })
    }

    /// All files that are read, but for models.
    fn paths(&self) -> impl Iterator<Item = &Path> {
        let hypotheses = self.hypotheses.iter().map(|one| one.path.as_path());
        self.files.paths().into_iter().chain(self.gold.as_deref()).chain(hypotheses)
    }

    fn pairs(&self, console: &Console) -> Result<(Vec<Pair>, LineNumbers)> {
        let (pairs, numbers) = self.files.read_numbered("--pairs")?;
        console.warn_all(self.files.spreadsheet_warnings(&pairs));
        ensure!(!pairs.is_empty(), "{}: no sentence pair in it", self.files);
        let references = pairs.iter().enumerate().map(|(place, pair)| (numbers.of(place), pair.target.as_str()));
        warn_of_unmeasured(&self.files.to_string(), references, console);
        Ok((pairs, numbers))
    }

    /// Reads what is to be measured on these pairs.
    fn candidates(
        &self,
        args: &EvaluateArgs,
        pairs: &[Pair],
        device: &Device,
        console: &Console,
    ) -> Result<Vec<Candidate>> {
        let mut candidates = Vec::new();
        let together = if args.ensemble { self.models.len() } else { 1 };
        for models in self.models.chunks(together.max(1)) {
            let folders: Vec<PathBuf> = models.iter().map(|model| model.path.clone()).collect();
            let translator = translator(&folders, &args.attention, &args.links, device)?;
            let stored = Stored::With(&folders[0]);
            let linker = linker(&args.links, stored, Some(&translator), false, pairs, device, console)?;
            candidates.push(Candidate::Model(models[0].clone(), Box::new(translator), Box::new(linker)));
        }
        let name = format!("pairs of {}", self.files);
        for named in &self.hypotheses {
            let lines = read_line_for_each(&named.path, pairs.len(), &name)?;
            warn_of_unmeasured(&file_name(&named.path), (1..).zip(lines.iter().map(String::as_str)), console);
            let lines = lines.iter().map(|line| measured(line).to_owned()).collect();
            candidates.push(Candidate::Hypotheses(named.clone(), lines));
        }
        Ok(candidates)
    }
}

impl Outputs {
    /// Opens them, before the long work; none of them is a file that is read.
    fn open(args: &EvaluateArgs, inputs: &Inputs) -> Result<Self> {
        if args.save.as_deref().is_some_and(is_standard_output) {
            bail!(UsageError("--save needs a file: standard output has the scores".to_owned()));
        }
        let written = [("--figure", &args.figure), ("--save", &args.save)];
        let written = written.into_iter().filter_map(|(option, path)| Some((option, path.as_deref()?)));
        apart(inputs.paths(), written)?;
        let figure = args.figure.as_deref().map(open_figure).transpose()?;
        Ok(Self { figure, save: args.save.as_deref().map(Output::open).transpose()? })
    }

    /// Gives them their names, each even where the other finds no place.
    fn finish(self, compared: &[Compared]) -> Result<()> {
        let saved = self.save.map_or(Ok(()), Output::finish);
        let drawn = self.figure.map_or(Ok(()), |figure| draw(figure, compared));
        saved.and(drawn)
    }
}

impl Candidate {
    fn name(&self) -> &str {
        let (Self::Model(Named { name, .. }, ..) | Self::Hypotheses(Named { name, .. }, _)) = self;
        name
    }

    /// What is made of the references first: what the model makes of its own text.
    fn normalisation(&self) -> Normalisation {
        match self {
            Self::Model(_, translator, _) => translator.config().text.normalisation,
            Self::Hypotheses(..) => Normalisation::NONE,
        }
    }

    fn place(self) -> (String, Place) {
        match self {
            Self::Model(Named { name, path }, ..) => (name, Place::Folder(path)),
            Self::Hypotheses(Named { name, path }, _) => (name, Place::Hypotheses(path)),
        }
    }
}

/// Tells that models are measured by references that are not the same.
fn warn_of_unlike_references(candidates: &[Candidate], console: &Console) {
    let Some(first) = candidates.first().map(Candidate::normalisation) else { return };
    if let Some(other) = candidates.iter().find(|other| other.normalisation() != first) {
        console.warn(format!(
            "references are compared as each model writes, {first} for one and {} for another: their scores do not compare",
            other.normalisation()
        ));
    }
}

/// What counts as a word for every model, so that one gold file can be held against them all.
fn common_words(candidates: &[Candidate]) -> Result<[Words; 2]> {
    let mut words = candidates.iter().filter_map(|candidate| match candidate {
        Candidate::Model(_, translator, _) => Some(translator.words()),
        Candidate::Hypotheses(..) => None,
    });
    let first = words.next().unwrap_or_default();
    if words.any(|other| other != first) {
        let message = "some of these models are of characters, which are then what is linked: give --words as well";
        bail!(UsageError(message.to_owned()));
    }
    Ok(first)
}

/// The file that the figure goes to.
fn open_figure(path: &Path) -> Result<Output> {
    if is_standard_output(path) {
        bail!(UsageError("--figure needs a file: standard output has the scores".to_owned()));
    }
    if let Some(extension) = path.extension().filter(|extension| !extension.eq_ignore_ascii_case("svg")) {
        let extension = extension.display();
        bail!(UsageError(format!("--figure writes SVG, not .{extension}: name a file that ends in .svg")));
    }
    Output::open(path)
}

fn draw(mut output: Output, compared: &[Compared]) -> Result<()> {
    let mut models: Vec<(&str, &[ClassMeasures])> = Vec::with_capacity(compared.len());
    for model in compared {
        models.push((&model.name, model.evaluation.by_length.as_deref().unwrap_or_default()));
    }
    output.with(|out| by_length::figure(&models).write(out))?;
    output.finish()
}

impl Exam<'_> {
    /// Measures all candidates, and their distance from the first where that is asked for.
    fn compare(
        &self,
        candidates: Vec<Candidate>,
        args: &EvaluateArgs,
        mut save: Option<&mut Output>,
        console: &Console,
    ) -> Result<Vec<Compared>> {
        let measured = candidates.len();
        let mut compared: Vec<Compared> = Vec::with_capacity(measured);
        let mut baseline: Option<SegmentCounts> = None;
        for candidate in candidates {
            if measured > 1 {
                console.note(candidate.name());
            }
            let references = self.references(candidate.normalisation(), console);
            let (mut evaluation, translations) = self.evaluate(&candidate, &references, console)?;
            if let Some(save) = &mut save {
                save.with(|out| translations.iter().try_for_each(|line| writeln!(out, "{line}")))?;
            }
            let mut significance = None;
            if args.confidence || args.compare {
                let counts = SegmentCounts::of(&translations, &references.texts);
                evaluation.confidence = args.confidence.then(|| counts.confidence(args.search.seed));
                match &baseline {
                    Some(first) if args.compare => significance = Some(counts.significance(first, args.search.seed)),
                    Some(_) => {}
                    None => baseline = Some(counts),
                }
            }
            let (name, place) = candidate.place();
            compared.push(Compared { name, place, evaluation, significance });
        }
        Ok(compared)
    }

    /// The references as those of a model are compared that normalises so; tells where that changes any.
    fn references(&self, normalisation: Normalisation, console: &Console) -> References<'_> {
        let texts: Vec<Cow<str>> = self.pairs.iter().map(|pair| normalisation.apply(measured(&pair.target))).collect();
        let changed = texts.iter().filter(|reference| matches!(reference, Cow::Owned(_))).count();
        if changed > 0 {
            console.note(format!(
                "references are compared as this model writes ({normalisation}); {changed} of {} were written otherwise",
                texts.len()
            ));
        }
        References { texts, lowercase: normalisation.lowercase }
    }

    /// Measures a candidate by references; gives its translations too.
    fn evaluate(
        &self,
        candidate: &Candidate,
        references: &References,
        console: &Console,
    ) -> Result<(Evaluation, Vec<String>)> {
        match candidate {
            Candidate::Model(named, translator, linker) => {
                let (evaluation, translations) = self.evaluate_model(translator, linker, references, console)?;
                ensure!(
                    evaluation.measures.perplexity.is_none_or(f64::is_finite),
                    "{}: the perplexity is beyond all numbers, since this model's parameters are too large; train it anew",
                    named.path.display()
                );
                if let Some(judgement) = &evaluation.judgement {
                    warn_of_shift(judgement, console);
                }
                Ok((evaluation, translations))
            }
            Candidate::Hypotheses(_, lines) => Ok((self.judged(lines, references, None, None), lines.clone())),
        }
    }

    fn evaluate_model(
        &self,
        translator: &Translator,
        linker: &Linker,
        references: &References,
        console: &Console,
    ) -> Result<(Evaluation, Vec<String>)> {
        let pairs = self.pairs;
        let sentences: Vec<Sentence> = pairs.iter().map(|pair| Sentence::from(&pair.source)).collect();
        let mut bar = console.bar("translating", pairs.len());
        let found = translator.translate_batch(&sentences, &self.strategy, &mut |count| bar.advance(count))?;
        let translations: Vec<String> = found.into_iter().map(|mut found| found.swap_remove(0).text).collect();
        drop(bar);
        let mut bar = console.bar("aligning", pairs.len());
        let aligned = translator.align_batch(pairs, &mut |count| bar.advance(count))?;
        drop(bar);
        let mut odd = OddLines::of(&self.numbers);
        aligned.iter().enumerate().for_each(|(id, one)| odd.see(id, one));
        odd.tell_parts(console);
        let likelihoods: Vec<(f64, usize)> =
            aligned.iter().map(|aligned| (aligned.log_probability, aligned.length)).collect();
        let linked =
            if linker.attention { linker.link_read(aligned, pairs)? } else { linker.link(pairs, &mut |_| {})? };
        Ok((self.judged(&translations, references, Some(&likelihoods), Some(&linked)), translations))
    }

    /// Measures translations, with what a model says of the references and which words it links.
    fn judged(
        &self,
        translations: &[String],
        references: &References,
        likelihoods: Option<&[(f64, usize)]>,
        linked: Option<&[LinkedPair]>,
    ) -> Evaluation {
        let judged = self.gold.as_deref().zip(linked);
        let outcome = |index: usize| Outcome {
            translation: &translations[index],
            reference: &references.texts[index],
            likelihood: likelihoods.map(|likelihoods| likelihoods[index]),
            links: judged.map(|(gold, linked)| (&linked[index].links[..], &gold[index])),
        };
        let outcomes: Vec<Outcome> = (0..self.pairs.len()).map(outcome).collect();
        let measures = Measures::of(&outcomes);
        let given: Vec<Pair> = self.pairs.iter().map(|pair| self.files.as_given(pair).0).collect();
        Evaluation {
            schema: SCHEMA,
            signature: signature(references.lowercase),
            of_words: WordErrors::of(&given, &measures.scores),
            measures,
            judgement: judged.map(|(gold, linked)| judge(linked, gold, self.search_threshold)),
            confidence: None,
            by_length: self.lengths.as_ref().map(|lengths| lengths.measures(&outcomes)),
        }
    }
}

/// Holds links against those of the gold file.
fn judge(linked: &[LinkedPair], gold: &[Gold], search: bool) -> Judgement {
    let mut counts = OffsetCounts::default();
    let mut thresholds = ThresholdSearch::default();
    for (linked, gold) in linked.iter().zip(gold) {
        let size = [linked.alignment.source().len(), linked.alignment.target().len()];
        counts.add(&linked.links, size, gold);
        if search {
            thresholds.add(|threshold| linked.links_from(threshold), gold);
        }
    }
    Judgement {
        agreement: counts.unmoved().metrics(),
        shift: counts.significant_offset(),
        best: if search { thresholds.best() } else { None },
    }
}

/// Tells that links a word further would fit much better, and what can be the matter.
fn warn_of_shift(judgement: &Judgement, console: &Console) {
    let Some(shift) = judgement.shift else { return };
    let word = |side, step: isize| match step {
        0 => None,
        ..0 => Some(format!("one {side} word earlier")),
        1.. => Some(format!("one {side} word later")),
    };
    let both = shift.source != 0 && shift.target != 0;
    let steps: Vec<String> =
        [word("source", shift.source), word("target", shift.target)].into_iter().flatten().collect();
    console.warn(format!(
        "links {} would have AER {:.3} instead of {:.3}; {}",
        steps.join(" and "),
        shift.aer,
        judgement.agreement.aer,
        if both {
            "does the gold file count words from another number? See --gold-base"
        } else {
            "attention may have settled one word off: train longer or with --guided-alignment; or see --gold-base"
        }
    ));
}
