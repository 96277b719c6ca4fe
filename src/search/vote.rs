//! Majority vote over whole translations.

use candle_core::Result;

use super::{BeamOptions, Hypothesis, Search, Source, search_all};
use crate::model::RnnSearch;

/// Searches with each model alone, and lets the models vote: the translation that most of them find best comes first, among those
/// with as many votes the one with the highest score. The score that is returned is the share of the models, from 0 to 1.
///
/// # Errors
/// As [`search_all`].
pub(super) fn search_by_vote(
    models: &[&RnnSearch],
    sources: &[Source],
    options: BeamOptions,
    on_progress: &mut (dyn FnMut(usize) + Send),
) -> Result<Vec<Vec<Hypothesis>>> {
    let mut ballots: Vec<Ballot> = sources.iter().map(|_| Ballot::new(options.best)).collect();
    for (index, model) in models.iter().enumerate() {
        let is_last = index + 1 == models.len();
        let found = search_all(&[model], sources, &Search::Beam(options), &mut |sentences| {
            if is_last {
                on_progress(sentences);
            }
        })?;
        for (ballot, hypotheses) in ballots.iter_mut().zip(found) {
            ballot.add(hypotheses);
        }
    }
    Ok(ballots.into_iter().map(|ballot| ballot.counted(models.len())).collect())
}

/// Translations of a sentence by several models, those with most votes first.
struct Ballot {
    candidates: Vec<Candidate>,
    /// Number of translations without a vote that are kept.
    best: usize,
}

/// Translation that a model found.
struct Candidate {
    /// That of the model with the highest score.
    hypothesis: Hypothesis,
    /// Number of the models that find it best.
    votes: usize,
}

impl Ballot {
    fn new(best: usize) -> Self {
        Self { candidates: Vec::new(), best }
    }

    /// Adds the hypotheses of a model, best first.
    fn add(&mut self, hypotheses: Vec<Hypothesis>) {
        for (rank, hypothesis) in hypotheses.into_iter().enumerate() {
            let votes = usize::from(rank == 0);
            match self.candidates.iter_mut().find(|other| other.hypothesis.tokens == hypothesis.tokens) {
                None => self.candidates.push(Candidate { hypothesis, votes }),
                Some(candidate) => {
                    candidate.votes += votes;
                    if hypothesis.score > candidate.hypothesis.score {
                        candidate.hypothesis = hypothesis;
                    }
                }
            }
        }
        self.candidates.sort_by(|a, b| b.votes.cmp(&a.votes).then(b.hypothesis.score.total_cmp(&a.hypothesis.score)));
        let voted = self.candidates.iter().filter(|candidate| candidate.votes > 0).count();
        self.candidates.truncate(self.best.saturating_add(voted));
    }

    /// Returns the best hypotheses. Their scores become the share of the models.
    fn counted(self, models: usize) -> Vec<Hypothesis> {
        let mut ranked = Vec::with_capacity(self.candidates.len().min(self.best));
        for Candidate { hypothesis, votes } in self.candidates.into_iter().take(self.best) {
            // A score that is not finite tells that a model failed.
            let share = votes as f64 / models as f64;
            let score = if hypothesis.score.is_finite() { share } else { hypothesis.score };
            ranked.push(Hypothesis { score, ..hypothesis });
        }
        ranked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranked(of_models: &[&[(u32, f64)]], best: usize) -> Vec<(u32, f64)> {
        let mut ballot = Ballot::new(best);
        for model in of_models {
            let hypotheses =
                model.iter().map(|&(token, score)| Hypothesis { tokens: vec![token], score, ..Hypothesis::empty() });
            ballot.add(hypotheses.collect());
        }
        let counted = ballot.counted(of_models.len());
        counted.into_iter().map(|hypothesis| (hypothesis.tokens[0], hypothesis.score)).collect()
    }

    #[test]
    fn most_votes_win() {
        let models: [&[_]; 4] = [&[(7, -0.1)], &[(8, -3.0), (7, -3.1)], &[(8, -2.0)], &[(9, -0.5)]];
        assert_eq!(ranked(&models, 1), [(8, 0.5)]);
        assert_eq!(ranked(&models, 9), [(8, 0.5), (7, 0.25), (9, 0.25)]);
    }

    #[test]
    fn highest_score_decides_among_equals() {
        assert_eq!(ranked(&[&[(7, -2.0), (9, -0.1)], &[(8, -1.0)]], 9), [(8, 0.5), (7, 0.5), (9, 0.0)]);
    }

    #[test]
    fn failed_models_are_told() {
        let found = ranked(&[&[(7, f64::NEG_INFINITY)], &[(8, -1.0)]], 9);
        assert_eq!(found, [(8, 0.5), (7, f64::NEG_INFINITY)]);
    }
}
