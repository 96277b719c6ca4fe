//! The page over time: the same pairs after each of some steps of training, with a slider between them.

use std::io::{Result, Write};

use serde::Serialize;

use super::{Cells, around_data, inert, opening, script, thousandths};
use crate::alignment::{Alignment, LinkScores};

/// What attention did after a step of training.
pub struct Moment {
    /// Optimiser steps taken by then.
    pub step: u64,
    /// The same pairs each time.
    pub pairs: Vec<Seen>,
}

/// A pair as the model saw it then.
pub struct Seen {
    /// Attention when the reference is forced, by words.
    pub alignment: Alignment,
    /// Mean log-probability of a unit of the reference, in nats.
    pub score: f64,
    /// What the model itself made of the source.
    pub translation: String,
}

#[derive(Serialize)]
struct Data<'a> {
    title: &'a str,
    threshold: u16,
    steps: Vec<u64>,
    pairs: Vec<LearntPair<'a>>,
}

#[derive(Serialize)]
struct LearntPair<'a> {
    id: usize,
    source: &'a [String],
    target: &'a [String],
    /// In the order of the steps; the page shows one of them.
    moments: Vec<State<'a>>,
}

#[derive(Serialize)]
struct State<'a> {
    #[serde(flatten)]
    cells: Cells,
    score: f64,
    said: &'a str,
}

impl<'a> From<&'a Seen> for State<'a> {
    fn from(seen: &'a Seen) -> Self {
        Self {
            cells: Cells::new(&seen.alignment, &LinkScores::from_attention(&seen.alignment)),
            score: (seen.score * 1e4).round() / 1e4,
            said: &seen.translation,
        }
    }
}

/// Writes the page. It opens with the last of the moments, which come in order, and with the links that the threshold
/// gives.
///
/// # Errors
/// The writer's own.
pub fn write_learning(out: &mut dyn Write, title: &str, threshold: f32, moments: &[Moment]) -> Result<()> {
    let steps: Vec<u64> = moments.iter().map(|moment| moment.step).collect();
    out.write_all(opening().as_bytes())?;
    let pairs = moments.last().map_or(0, |last| last.pairs.len());
    let pair = |id: usize| -> Option<LearntPair> {
        let seen = || moments.iter().filter_map(move |moment| moment.pairs.get(id));
        let alignment = &seen().next_back()?.alignment;
        let moments = seen().map(State::from).collect();
        Some(LearntPair { id, source: alignment.source(), target: alignment.target(), moments })
    };
    let pairs = (0..pairs).filter_map(pair).collect();
    let data = Data { title, threshold: thousandths(threshold), steps, pairs };
    out.write_all(inert(&data)?.as_bytes())?;
    out.write_all(around_data().1.replace("{{script}}", &script()).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snapshot_of_the_data() {
        let moment = |step, weight: f32| {
            let words = |word: &str| vec![word.to_owned()];
            let alignment = Alignment::from_rows(words("<a>"), words("b"), &[vec![weight, 1.0 - weight]]);
            Moment { step, pairs: vec![Seen { alignment, score: -2.0, translation: "c".to_owned() }] }
        };
        let mut out = Vec::new();
        write_learning(&mut out, "learnt", 0.35, &[moment(10, 0.25), moment(20, 0.75)]).unwrap();
        let page = String::from_utf8(out).unwrap();
        let (_, rest) = page.split_once("id=\"data\">").unwrap();
        let expected = concat!(
            r#"{"title":"learnt","threshold":350,"steps":[10,20],"pairs":[{"id":0,"#,
            r#""source":["\u003ca\u003e"],"target":["b"],"#,
            r#""moments":[{"weights":[250,750],"beliefs":[0,755],"score":-2.0,"said":"c"},"#,
            r#"{"weights":[750,250],"beliefs":[0,894],"score":-2.0,"said":"c"}]}]}"#,
        );
        assert_eq!(rest.split_once("</script>").unwrap().0, expected);
        assert!(page.ends_with("</html>\n") && !page.contains("{{"));
    }

    #[test]
    fn without_a_moment_the_page_is_whole() {
        let mut out = Vec::new();
        write_learning(&mut out, "learnt", 0.35, &[]).unwrap();
        let page = String::from_utf8(out).unwrap();
        assert!(page.contains(r#""steps":[],"pairs":[]}"#) && page.ends_with("</html>\n"));
    }
}
