//! The statistical aligner.

use std::path::PathBuf;

use anyhow::{Result, bail};
use pyo3::prelude::*;
use softalign::Pair;
use softalign::reporter::Reporter;
use softalign::text::TableFormat;
use softalign::translator::{LineWarnings, LinkOptions, LinkedPair, Linker};

use crate::alignment::Alignment;
use crate::arguments::{Options, Pairs};
use crate::call::{Caller, run};
use crate::error::exception;

/// Number of pairs that are linked between two looks for an interruption.
const CHUNK: usize = 4096;

/// Statistical aligner of `softalign.Aligner`.
#[pyclass(frozen)]
pub struct Aligner {
    aligner: softalign::Aligner,
}

#[pymethods]
impl Aligner {
    /// Trains an aligner on pairs, with the links of `prior` as a prior.
    #[staticmethod]
    fn fit(py: Python, pairs: Pairs, prior: Option<&Bound<Self>>, listener: &Bound<PyAny>) -> PyResult<Self> {
        let pairs = pairs.read(py, &TableFormat::default())?;
        let prior = prior.map(Bound::get);
        let aligner = run(py, Some(listener), |_| {
            let aligner = match prior {
                None => softalign::Aligner::fit(&pairs),
                Some(Self { aligner }) => aligner.fit_more(&pairs),
            };
            aligner.map_err(softalign::Error::into_inner)
        })?;
        Ok(Self { aligner })
    }

    #[staticmethod]
    fn load(py: Python, directory: PathBuf) -> PyResult<Self> {
        let aligner = py.detach(|| softalign::Aligner::load(directory));
        Ok(Self { aligner: aligner.map_err(|error| exception(py, error.into_inner()))? })
    }

    fn save(&self, py: Python, directory: PathBuf) -> PyResult<()> {
        py.detach(|| self.aligner.save(directory)).map_err(|error| exception(py, error.into_inner()))
    }

    fn align(&self, py: Python, pairs: Pairs, options: &str, listener: &Bound<PyAny>) -> PyResult<Vec<Alignment>> {
        let pairs = pairs.read(py, &TableFormat::default())?;
        let options: LinkOptions = Options::parse(py, options, "_")?.structure(py)?;
        let linked = run(py, Some(listener), |caller| {
            let linker = self.aligner.linker(&options)?;
            link(&linker, &pairs, caller)
        })?;
        Ok(alignments(pairs, linked))
    }
}

/// Links pairs, and warns of those that are truncated.
///
/// # Errors
/// A model fails, or the call is interrupted.
pub fn link(linker: &Linker, pairs: &[Pair], caller: &Caller) -> Result<Vec<LinkedPair>> {
    let mut stage = caller.stage("aligning", Some(pairs.len()));
    let mut linked = Vec::with_capacity(pairs.len());
    for chunk in pairs.chunks(CHUNK) {
        if caller.cancellation().is_cancelled() {
            bail!("interrupted");
        }
        linked.extend(linker.link(chunk, &mut |count| stage.advance(count))?);
    }
    drop(stage);
    let mut warnings = LineWarnings::default();
    linked.iter().enumerate().for_each(|(id, one)| warnings.add_linked(id, one));
    warnings.report_truncated(caller);
    Ok(linked)
}

/// Returns the alignments of pairs with their links.
pub fn alignments(pairs: Vec<Pair>, linked: Vec<LinkedPair>) -> Vec<Alignment> {
    let of_pair = |(pair, linked): (Pair, LinkedPair)| Alignment::of_pair([pair.source, pair.target], linked);
    pairs.into_iter().zip(linked).map(of_pair).collect()
}
