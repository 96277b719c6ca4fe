//! Alignments of sentence pairs, and their output formats.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use anyhow::Result;
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use softalign::Translator;
use softalign::alignment::{Alignment as Matrix, Link, LinkScores};
use softalign::checkpoint::write_atomically;
use softalign::render::{AlignmentFormat, Heatmap, Item, RenderOptions, SvgSize, SvgStyle, SvgView};
use softalign::reporter::Silent;
use softalign::translator::{ForcedAlignment, LinkOptions, LinkedPair, Linker};

use crate::arrays::{shared_matrix, shared_vector};
use crate::call::run;
use crate::error::{argument_error, exception};

/// Attention and links between the words of a sentence pair.
///
/// In a notebook it shows itself as a heatmap beside its links, in a terminal as a heatmap of text.
///
/// Parameters
/// ----------
/// source, target : list of str
///     Words of both sides.
/// attention : array_like of float32, shape (target, source)
///     Weights of each target word on the source words.
/// eos : array_like of float32, shape (target,), optional
///     Weights on the source's end of sentence; by default what is missing from 1 in each row.
/// links : list of (int, int), optional
///     Linked words, each as the index of the source word and that of the target word; by default those that the
///     attention supports.
/// score : float, optional
///     Mean log-probability of a target token, in nats.
/// texts : (str, str), optional
///     Source and target text; by default the words with spaces between them.
///
/// Raises
/// ------
/// softalign.ArgumentError
///     The shapes do not match, or a link is outside the pair.
///
/// Examples
/// --------
/// >>> a = softalign.Alignment(["a", "cat"], ["un", "chat"], [[0.9, 0.1], [0.2, 0.8]])
/// >>> a.links
/// [(0, 0), (1, 1)]
#[pyclass(frozen, module = "softalign")]
pub struct Alignment {
    texts: [String; 2],
    /// True if the target is a translation, not given.
    is_translation: bool,
    /// Forced alignment whose links are made when they are asked for.
    unlinked: Option<(ForcedAlignment, Arc<LazyLinker>)>,
    linked: OnceLock<LinkedPair>,
}

/// Linker of a model that is made on first use, since it reads the model's aligner.
pub struct LazyLinker {
    translator: Translator,
    options: LinkOptions,
    linker: OnceLock<Linker>,
}

impl LazyLinker {
    /// Returns the linker of these options.
    pub fn new(translator: Translator, options: LinkOptions) -> Self {
        Self { translator, options, linker: OnceLock::new() }
    }

    /// Returns the linker.
    ///
    /// # Errors
    /// The options do not suit the model, or a file cannot be read.
    pub fn get(&self) -> Result<&Linker> {
        if let Some(linker) = self.linker.get() {
            return Ok(linker);
        }
        let linker = Linker::with_options(&self.options, Some(&self.translator), &[], &Silent)?;
        Ok(self.linker.get_or_init(|| linker))
    }
}

impl Alignment {
    /// Alignment of a translation, whose links are made when they are asked for.
    pub fn of_translation(texts: [String; 2], aligned: ForcedAlignment, linker: Arc<LazyLinker>) -> Self {
        Self { texts, is_translation: true, unlinked: Some((aligned, linker)), linked: OnceLock::new() }
    }

    /// Alignment of a pair that is linked.
    pub fn of_pair(texts: [String; 2], linked: LinkedPair) -> Self {
        Self { texts, is_translation: false, unlinked: None, linked: OnceLock::from(linked) }
    }

    /// Returns the pair with its links.
    fn linked(&self, py: Python) -> PyResult<&LinkedPair> {
        if let (None, Some((aligned, linker))) = (self.linked.get(), &self.unlinked) {
            let [source, target] = &self.texts;
            let pair = softalign::Pair::new(source, target);
            let mut linked = run(py, None, |_| linker.get()?.link_aligned(vec![aligned.clone()], &[pair]))?;
            if let Some(linked) = linked.pop() {
                // Another thread may have linked it meanwhile, in the same way.
                let _ = self.linked.set(linked);
            }
        }
        self.linked.get().ok_or_else(|| exception(py, anyhow::anyhow!("an alignment without links")))
    }

    /// Returns the links that are given, or those that the attention supports.
    fn given_links(
        py: Python,
        links: Option<Vec<(usize, usize)>>,
        alignment: &Matrix,
        scores: &LinkScores,
    ) -> PyResult<Vec<Link>> {
        let Some(links) = links else {
            return Ok(scores.links(Linker { attention: true, ..Linker::default() }.min_link_score()));
        };
        let mut links: Vec<Link> = links.into_iter().map(|(source, target)| Link { source, target }).collect();
        links.sort_unstable();
        links.dedup();
        let size = [alignment.source().len(), alignment.target().len()];
        match links.iter().find(|link| !link.in_bounds(size)) {
            None => Ok(links),
            Some(Link { source, target }) => Err(argument_error(
                py,
                format!("links: ({source}, {target}) is outside {} source and {} target words", size[0], size[1]),
            )),
        }
    }
}

#[pymethods]
impl Alignment {
    #[new]
    #[pyo3(signature = (source, target, attention, eos=None, links=None, score=None, texts=None))]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments of a Python function")]
    fn new(
        py: Python,
        source: Vec<String>,
        target: Vec<String>,
        attention: &Bound<PyAny>,
        eos: Option<&Bound<PyAny>>,
        links: Option<Vec<(usize, usize)>>,
        score: Option<f64>,
        texts: Option<[String; 2]>,
    ) -> PyResult<Self> {
        let attention = rows(attention, [target.len(), source.len()])?;
        let eos = match eos {
            Some(eos) => weights(eos, target.len())?,
            None => attention.iter().map(|row| (1.0 - row.iter().sum::<f32>()).max(0.0)).collect(),
        };
        let rows: Vec<Vec<f32>> = attention.into_iter().zip(eos).map(|(row, end)| [row, vec![end]].concat()).collect();
        let texts = texts.unwrap_or_else(|| [source.join(" "), target.join(" ")]);
        let alignment = Matrix::from_rows(source, target, &rows);
        let link_scores = LinkScores::from_attention(&alignment);
        let links = Self::given_links(py, links, &alignment, &link_scores)?;
        Ok(Self::of_pair(
            texts,
            LinkedPair {
                aligned: None,
                alignment,
                link_scores,
                links,
                score: score.unwrap_or(f64::NAN),
                cut: false,
                estimate: None,
            },
        ))
    }

    /// Source words.
    #[getter]
    fn source(&self, py: Python) -> PyResult<Vec<String>> {
        Ok(self.linked(py)?.alignment.source().to_vec())
    }

    /// Target words.
    #[getter]
    fn target(&self, py: Python) -> PyResult<Vec<String>> {
        Ok(self.linked(py)?.alignment.target().to_vec())
    }

    /// Weights of each target word on the source words: read-only array of float32, shape (target, source).
    ///
    /// Each row and its entry of `eos` sum to 1. The array shares the alignment's memory.
    #[getter]
    fn attention<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let alignment = &slf.get().linked(slf.py())?.alignment;
        shared_matrix(slf, alignment.weights(), [alignment.target().len(), alignment.source().len()])
    }

    /// Weights of each target word on the source's end of sentence: read-only array of float32, shape (target,).
    #[getter]
    fn eos<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray1<f32>>> {
        Ok(shared_vector(slf, slf.get().linked(slf.py())?.alignment.end_weights()))
    }

    /// Linked words: list of (source index, target index), in order.
    #[getter]
    fn links(&self, py: Python) -> PyResult<Vec<(usize, usize)>> {
        Ok(self.linked(py)?.links.iter().map(|link| (link.source, link.target)).collect())
    }

    /// Scores from 0 to 1 of all possible links: read-only array of float32, shape (target, source).
    #[getter]
    fn link_scores<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let LinkedPair { alignment, link_scores, .. } = slf.get().linked(slf.py())?;
        shared_matrix(slf, link_scores.values(), [alignment.target().len(), alignment.source().len()])
    }

    /// Mean log-probability of a target token, in nats; without a model, that of a target word under the aligner.
    #[getter]
    fn score(&self, py: Python) -> PyResult<f64> {
        Ok(self.linked(py)?.score)
    }

    /// Share of source tokens that the model does not know, or None without a model.
    #[getter]
    fn unknown(&self, py: Python) -> PyResult<Option<f64>> {
        Ok(self.linked(py)?.aligned.as_ref().map(ForcedAlignment::unknown_share))
    }

    /// Calibrated probability that the target is right, or the expected share of right words if sources are sentences; `None`
    /// without a calibrated model.
    #[getter]
    fn confidence(&self, py: Python) -> PyResult<Option<f64>> {
        Ok(self.linked(py)?.estimate.as_ref().map(|estimate| estimate.confidence))
    }

    /// Calibrated probability that each target word is right; `None` without a calibrated model.
    #[getter]
    fn word_confidence(&self, py: Python) -> PyResult<Option<Vec<f64>>> {
        Ok(self.linked(py)?.estimate.as_ref().map(|estimate| estimate.word_confidence.clone()))
    }

    /// Indices of target words that are neither in the training data nor in the source; `None` without a calibrated model.
    #[getter]
    fn nonwords(&self, py: Python) -> PyResult<Option<Vec<usize>>> {
        Ok(self.linked(py)?.estimate.as_ref().map(|estimate| estimate.nonwords.clone()))
    }

    /// Source and target text.
    #[getter]
    fn texts(&self) -> (String, String) {
        let [source, target] = self.texts.clone();
        (source, target)
    }

    /// Links in the format of fast_align and Moses, as in ``0-0 1-2``.
    fn pharaoh(&self, py: Python) -> PyResult<String> {
        Ok(self.linked(py)?.pharaoh())
    }

    /// Figure as SVG.
    ///
    /// Parameters
    /// ----------
    /// view : {"matrix", "links"}
    ///     A heatmap, or curves between linked words.
    /// numbers : bool
    ///     Write the weights into the cells, in percent.
    /// width : float, optional
    ///     Width in pixels.
    /// font_size : float, optional
    ///     Size of the font in pixels, instead of `width`.
    #[pyo3(signature = (view="matrix", *, numbers=false, width=None, font_size=None))]
    fn svg(
        &self,
        py: Python,
        view: &str,
        numbers: bool,
        width: Option<f64>,
        font_size: Option<f64>,
    ) -> PyResult<String> {
        let style = svg_style(py, view, numbers, width, font_size)?;
        text(self.rendered(py, AlignmentFormat::Svg, options(style))?)
    }

    /// Saves the alignment to a file, whose extension says the format: .html, .json, .jsonl, .npz, .svg or .tsv.
    ///
    /// Keyword arguments are those of `svg`.
    #[pyo3(signature = (path, **options))]
    fn save(slf: &Bound<Self>, path: &Bound<PyAny>, options: Option<&Bound<pyo3::types::PyDict>>) -> PyResult<()> {
        let py = slf.py();
        py.import("softalign._alignments")?.getattr("save")?.call(([slf], path), options)?;
        Ok(())
    }

    /// Table of the weights as a pandas DataFrame: a row for each target word, a column for each source word and for
    /// the source's end. Needs pandas.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("softalign._alignments")?.call_method1("to_pandas", (slf,))
    }

    /// Draws the heatmap on matplotlib axes, by default new ones, and returns them. Needs matplotlib.
    #[pyo3(signature = (ax=None))]
    fn plot<'py>(slf: &Bound<'py, Self>, ax: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("softalign._alignments")?.call_method1("plot", (slf, ax))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let py = slf.py();
        let LinkedPair { links, score, .. } = slf.get().linked(py)?;
        let links: Vec<(usize, usize)> = links.iter().map(|link| (link.source, link.target)).collect();
        let (source, target) = (slf.get().source(py)?, slf.get().target(py)?);
        let [attention, eos] = [Self::attention(slf)?.into_any(), Self::eos(slf)?.into_any()];
        let copied = |array: Bound<'py, PyAny>| array.call_method0("copy");
        let arguments = (source, target, copied(attention)?, copied(eos)?, links, score, slf.get().texts());
        Ok((slf.get_type().into_any(), arguments.into_pyobject(py)?.into_any()))
    }

    fn __repr__(&self, py: Python) -> PyResult<String> {
        let text = text(self.rendered(py, AlignmentFormat::Text, options(SvgStyle::default()))?)?;
        Ok(text.trim_end().to_owned())
    }

    fn _repr_html_(&self, py: Python) -> PyResult<String> {
        let figure = |view| {
            let style = SvgStyle { view, for_page: true, ..SvgStyle::default() };
            text(self.rendered(py, AlignmentFormat::Svg, options(style))?)
        };
        Ok(format!(
            "<div style=\"display:flex;flex-wrap:wrap;gap:24px;align-items:center\">{}{}</div>",
            figure(SvgView::Matrix)?,
            figure(SvgView::Links)?
        ))
    }
}

impl Alignment {
    /// Returns the alignment in a format.
    fn rendered(&self, py: Python, format: AlignmentFormat, options: RenderOptions) -> PyResult<Vec<u8>> {
        render_all(py, &[self], format, options)
    }

    /// Returns the alignment for renderers.
    fn item(&self, py: Python, id: usize) -> PyResult<Item<'_>> {
        let [source, target] = &self.texts;
        let item = self.linked(py)?.item(id, [source, target], false);
        Ok(Item { translation: self.is_translation.then_some(target), ..item })
    }
}

/// Saves alignments to a file in the format of its extension. A previous file stays if a step fails.
#[pyfunction]
pub fn save(
    py: Python,
    alignments: Vec<Bound<Alignment>>,
    path: PathBuf,
    view: &str,
    numbers: bool,
    width: Option<f64>,
    font_size: Option<f64>,
) -> PyResult<()> {
    let Some(format) = format_of(&path) else {
        let extensions = ".html, .json, .jsonl, .npz, .svg, .tsv, .txt or .pharaoh";
        let message = format!("{}: the extension says the format; choose {extensions}", path.display());
        return Err(argument_error(py, message));
    };
    let title = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let options = RenderOptions { title, ..options(svg_style(py, view, numbers, width, font_size)?) };
    let alignments: Vec<&Alignment> = alignments.iter().map(Bound::get).collect();
    let bytes = render_all(py, &alignments, format, options)?;
    py.detach(|| write_atomically(&path, |file| Ok(file.write_all(&bytes)?))).map_err(|error| exception(py, error))
}

/// Returns the format that the extension of a file name stands for, as on the command line, where text goes to a terminal and
/// links to a pipe.
fn format_of(path: &Path) -> Option<AlignmentFormat> {
    match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "txt" => Some(AlignmentFormat::Text),
        "pharaoh" => Some(AlignmentFormat::Pharaoh),
        _ => AlignmentFormat::from_extension(path),
    }
}

fn render_all(py: Python, all: &[&Alignment], format: AlignmentFormat, options: RenderOptions) -> PyResult<Vec<u8>> {
    let mut renderer = format.renderer(options);
    let mut bytes = Vec::new();
    for (id, alignment) in all.iter().enumerate() {
        renderer.item(&mut bytes, &alignment.item(py, id)?)?;
    }
    renderer.finish(&mut bytes)?;
    Ok(bytes)
}

fn options(figures: SvgStyle) -> RenderOptions {
    RenderOptions {
        title: String::new(),
        figures,
        probabilities: false,
        notation: Default::default(),
        n_best: false,
        min_link_score: Linker { attention: true, ..Linker::default() }.min_link_score(),
        heatmap: Heatmap::new(false, None),
        languages: None,
    }
}

fn svg_style(py: Python, view: &str, numbers: bool, width: Option<f64>, font_size: Option<f64>) -> PyResult<SvgStyle> {
    let view = match view {
        "matrix" => SvgView::Matrix,
        "links" => SvgView::Links,
        _ => return Err(argument_error(py, format!("view must be matrix or links, not {view:?}"))),
    };
    let size = match (width, font_size) {
        (Some(_), Some(_)) => return Err(argument_error(py, "give width or font_size, not both")),
        (Some(size), None) => Some(("width", size, SvgSize::Width(size))),
        (None, Some(size)) => Some(("font_size", size, SvgSize::FontSize(size))),
        (None, None) => None,
    };
    if let Some((name, value, _)) = size.filter(|(_, value, _)| !(1.0..=100_000.0).contains(value)) {
        return Err(argument_error(py, format!("{name} must be between 1 and 100000 pixels, not {value}")));
    }
    Ok(SvgStyle { view, numbers, size: size.map(|(.., size)| size), ..SvgStyle::default() })
}

fn text(bytes: Vec<u8>) -> PyResult<String> {
    Ok(String::from_utf8(bytes)?)
}

/// Reads an array of this shape. No target words need no array of two dimensions.
fn rows(array: &Bound<PyAny>, shape: [usize; 2]) -> PyResult<Vec<Vec<f32>>> {
    let array = as_float32(array)?;
    let given: Vec<usize> = array.getattr("shape")?.extract()?;
    if given != shape && (given != [0] || shape[0] > 0) {
        let message = format!("attention: expected shape {shape:?} (target, source), not {given:?}");
        return Err(argument_error(array.py(), message));
    }
    if shape[0] == 0 {
        return Ok(Vec::new());
    }
    let matrix: PyReadonlyArray2<f32> = array.extract()?;
    let matrix = matrix.as_array();
    Ok(matrix.rows().into_iter().map(|row| row.to_vec()).collect())
}

/// Reads an array of this length.
fn weights(array: &Bound<PyAny>, length: usize) -> PyResult<Vec<f32>> {
    let array = as_float32(array)?;
    let given: Vec<usize> = array.getattr("shape")?.extract()?;
    if given != [length] {
        return Err(argument_error(array.py(), format!("eos: expected shape [{length}], not {given:?}")));
    }
    let vector: PyReadonlyArray1<f32> = array.extract()?;
    Ok(vector.as_array().to_vec())
}

fn as_float32<'py>(array: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let numpy = array.py().import("numpy")?;
    numpy.call_method1("asarray", (array, numpy.getattr("float32")?))
}
