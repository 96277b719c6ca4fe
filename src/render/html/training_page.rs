//! Page of attention over training: the same pairs at several steps, with a slider.

use std::io::{Result, Write};

use serde::Serialize;

use super::{CellData, SCRIPT, html_safe_json, page_head, template_halves, thousandths};
use crate::alignment::{Alignment, LinkScores};

/// Attention at one training step.
pub struct AttentionFrame {
    /// Optimizer step.
    pub step: u64,
    /// Pairs, the same in every frame.
    pub pairs: Vec<FramePair>,
}

/// Sentence pair in a frame.
pub struct FramePair {
    /// Word-level attention under forced decoding of the reference.
    pub alignment: Alignment,
    /// Mean log-probability of a reference token, in nats.
    pub score: f64,
    /// Model's translation of the source.
    pub translation: String,
}

#[derive(Serialize)]
struct PageData<'a> {
    title: &'a str,
    threshold: u16,
    steps: Vec<u64>,
    pairs: Vec<PairFrames<'a>>,
}

#[derive(Serialize)]
struct PairFrames<'a> {
    id: usize,
    source: &'a [String],
    target: &'a [String],
    /// One per step, of which the page shows one.
    frames: Vec<FrameData<'a>>,
}

#[derive(Serialize)]
struct FrameData<'a> {
    #[serde(flatten)]
    cells: CellData,
    score: f64,
    #[serde(rename = "said")]
    translation: &'a str,
}

impl<'a> From<&'a FramePair> for FrameData<'a> {
    fn from(pair: &'a FramePair) -> Self {
        Self {
            cells: CellData::new(&pair.alignment, &LinkScores::from_attention(&pair.alignment)),
            score: (pair.score * 1e4).round() / 1e4,
            translation: &pair.translation,
        }
    }
}

impl<'a> PairFrames<'a> {
    /// Collects a pair from the frames that have it; `None` if there are none.
    fn new(id: usize, frames: &'a [AttentionFrame]) -> Option<Self> {
        let pairs: Vec<&FramePair> = frames.iter().filter_map(|frame| frame.pairs.get(id)).collect();
        let alignment = &pairs.last()?.alignment;
        let frames = pairs.iter().map(|&pair| FrameData::from(pair)).collect();
        Some(Self { id, source: alignment.source(), target: alignment.target(), frames })
    }
}

/// Writes the page of frames ordered by step. It opens with the last frame and the links of `threshold`.
///
/// # Errors
/// Propagates errors of the writer.
pub fn write_training_page(out: &mut dyn Write, title: &str, threshold: f32, frames: &[AttentionFrame]) -> Result<()> {
    let steps: Vec<u64> = frames.iter().map(|frame| frame.step).collect();
    out.write_all(page_head().as_bytes())?;
    let pairs = frames.last().map_or(0, |last| last.pairs.len());
    let pairs = (0..pairs).filter_map(|id| PairFrames::new(id, frames)).collect();
    let data = PageData { title, threshold: thousandths(threshold), steps, pairs };
    out.write_all(html_safe_json(&data)?.as_bytes())?;
    out.write_all(template_halves().1.replace("{{script}}", SCRIPT).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::super::super::samples::words;
    use super::*;

    #[test]
    fn matches_data_snapshot() {
        let frames = [(10, 0.25), (20, 0.75)].map(|(step, weight)| {
            let alignment = Alignment::from_rows(words("<a>"), words("b"), &[vec![weight, 1.0 - weight]]);
            AttentionFrame { step, pairs: vec![FramePair { alignment, score: -2.0, translation: "c".to_owned() }] }
        });
        let mut out = Vec::new();
        write_training_page(&mut out, "learnt", 0.35, &frames).unwrap();
        let page = String::from_utf8(out).unwrap();
        let (_, rest) = page.split_once("id=\"data\">").unwrap();
        let expected = concat!(
            r#"{"title":"learnt","threshold":350,"steps":[10,20],"pairs":[{"id":0,"#,
            r#""source":["\u003ca\u003e"],"target":["b"],"#,
            r#""frames":[{"weights":[250,750],"link_scores":[0,755],"score":-2.0,"said":"c"},"#,
            r#"{"weights":[750,250],"link_scores":[0,894],"score":-2.0,"said":"c"}]}]}"#,
        );
        assert_eq!(rest.split_once("</script>").unwrap().0, expected);
        assert!(page.ends_with("</html>\n") && !page.contains("{{"));
    }

    #[test]
    fn writes_a_complete_page_without_frames() {
        let mut out = Vec::new();
        write_training_page(&mut out, "learnt", 0.35, &[]).unwrap();
        let page = String::from_utf8(out).unwrap();
        assert!(page.contains(r#""steps":[],"pairs":[]}"#) && page.ends_with("</html>\n"));
    }
}
