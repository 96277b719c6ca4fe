//! Calibration of probabilities by logistic regression (Platt 1999, "Probabilistic Outputs for Support Vector Machines"),
//! and its error (Naeini, Cooper & Hauskrecht 2015, "Obtaining Well Calibrated Probabilities Using Bayesian Binning").

use serde::{Deserialize, Serialize};

/// Iterations of Newton's method, which converges in fewer.
const ITERATIONS: usize = 50;
/// L2 regularization of the weights, which keeps them finite where the features separate the outcomes.
const RIDGE: f64 = 1e-3;
/// Number of bins of the calibration error.
const BINS: usize = 10;

/// Logistic regression: p(right) = σ(b + Σᵢ wᵢ xᵢ).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogisticRegression {
    /// b
    pub bias: f64,
    /// w: one weight for each feature
    pub weights: Vec<f64>,
}

impl LogisticRegression {
    /// Fits the regression to outcomes between 0 and 1 by maximum likelihood, under the condition that each weight has the sign
    /// of its entry in `signs` or is 0. None if there are no two different outcomes.
    pub fn fit(features: &[Vec<f64>], outcomes: &[f64], signs: &[f64]) -> Option<Self> {
        let mut features = features.to_vec();
        loop {
            let fitted = Self::fit_freely(&features, outcomes)?;
            let wrong = fitted.weights.iter().zip(signs).map(|(weight, sign)| weight * sign);
            let Some((worst, _)) =
                wrong.enumerate().filter(|(_, product)| *product < 0.0).min_by(|(_, a), (_, b)| a.total_cmp(b))
            else {
                return Some(fitted);
            };
            // A feature that is 0 everywhere has the weight 0.
            features.iter_mut().for_each(|features| features[worst] = 0.0);
        }
    }

    fn fit_freely(features: &[Vec<f64>], outcomes: &[f64]) -> Option<Self> {
        let first = *outcomes.first()?;
        if outcomes.iter().all(|&outcome| outcome == first) {
            return None;
        }
        let mut parameters = vec![0.0; features[0].len() + 1];
        for _ in 0..ITERATIONS {
            let (gradient, hessian) = derivatives(&parameters, features, outcomes);
            let step = solve(hessian, gradient)?;
            parameters.iter_mut().zip(&step).for_each(|(parameter, step)| *parameter -= step);
        }
        let are_finite = parameters.iter().all(|parameter| parameter.is_finite());
        are_finite.then(|| Self { bias: parameters[0], weights: parameters[1..].to_vec() })
    }

    /// Returns the probability for features, of which there are as many as weights.
    pub fn predict(&self, features: &[f64]) -> f64 {
        sigmoid(self.bias + self.weights.iter().zip(features).map(|(weight, feature)| weight * feature).sum::<f64>())
    }
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// Gradient and Hessian of the regularized negative log-likelihood. The first parameter is the bias.
fn derivatives(parameters: &[f64], features: &[Vec<f64>], outcomes: &[f64]) -> (Vec<f64>, Vec<Vec<f64>>) {
    let size = parameters.len();
    let (mut gradient, mut hessian) = (vec![0.0; size], vec![vec![0.0; size]; size]);
    for index in 1..size {
        gradient[index] = RIDGE * parameters[index];
        hessian[index][index] = RIDGE;
    }
    for (features, outcome) in features.iter().zip(outcomes) {
        let inputs: Vec<f64> = std::iter::once(1.0).chain(features.iter().copied()).collect();
        let predicted = sigmoid(inputs.iter().zip(parameters).map(|(input, weight)| input * weight).sum());
        let variance = predicted * (1.0 - predicted);
        for (row, input) in inputs.iter().enumerate() {
            gradient[row] += (predicted - outcome) * input;
            hessian[row].iter_mut().zip(&inputs).for_each(|(value, other)| *value += variance * input * other);
        }
    }
    (gradient, hessian)
}

/// Solves A x = b by Gaussian elimination with partial pivoting. None if A is singular.
fn solve(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Option<Vec<f64>> {
    let size = right.len();
    for column in 0..size {
        let pivot = (column..size).max_by(|&a, &b| matrix[a][column].abs().total_cmp(&matrix[b][column].abs()))?;
        matrix.swap(column, pivot);
        right.swap(column, pivot);
        if matrix[column][column] == 0.0 {
            return None;
        }
        for row in column + 1..size {
            let factor = matrix[row][column] / matrix[column][column];
            let (above, below) = matrix.split_at_mut(row);
            below[0].iter_mut().zip(&above[column]).for_each(|(value, pivot)| *value -= factor * pivot);
            right[row] -= factor * right[column];
        }
    }
    for column in (0..size).rev() {
        let known: f64 = (column + 1..size).map(|other| matrix[column][other] * right[other]).sum();
        right[column] = (right[column] - known) / matrix[column][column];
    }
    Some(right)
}

/// Expected calibration error: the mean difference between confidence and outcome over ten bins of equal width, weighted by
/// their sizes. 0 without predictions.
pub fn expected_calibration_error(confidences: &[f64], outcomes: &[f64]) -> f64 {
    let (mut confidence_sums, mut outcome_sums) = ([0.0; BINS], [0.0; BINS]);
    for (confidence, outcome) in confidences.iter().zip(outcomes) {
        let bin = ((confidence * BINS as f64) as usize).min(BINS - 1);
        confidence_sums[bin] += confidence;
        outcome_sums[bin] += outcome;
    }
    let differences =
        confidence_sums.iter().zip(&outcome_sums).map(|(confidence, outcome)| (confidence - outcome).abs());
    differences.sum::<f64>() / confidences.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SeededRng;

    #[test]
    fn regression_recovers_its_parameters() {
        let truth = LogisticRegression { bias: 0.5, weights: vec![1.5, -2.0] };
        let mut rng = SeededRng::new(1, "test", 0);
        let features: Vec<Vec<f64>> = (0..20_000).map(|_| vec![rng.normal(), rng.normal()]).collect();
        let drawn: Vec<f64> =
            features.iter().map(|features| f64::from(u8::from(rng.uniform() < truth.predict(features)))).collect();
        let found = LogisticRegression::fit(&features, &drawn, &[1.0, -1.0]).unwrap();
        assert!((found.bias - 0.5).abs() < 0.08, "{found:?}");
        assert!((found.weights[0] - 1.5).abs() < 0.08 && (found.weights[1] + 2.0).abs() < 0.08, "{found:?}");
        // Outcomes may be shares.
        let shares: Vec<f64> = features.iter().map(|features| truth.predict(features)).collect();
        let found = LogisticRegression::fit(&features, &shares, &[1.0, -1.0]).unwrap();
        assert!((found.bias - 0.5).abs() < 1e-3 && (found.weights[1] + 2.0).abs() < 1e-3, "{found:?}");
        // A weight with the wrong sign is 0.
        let found = LogisticRegression::fit(&features, &shares, &[1.0, 1.0]).unwrap();
        assert!(found.weights[0] > 0.5 && found.weights[1] == 0.0, "{found:?}");
    }

    #[test]
    fn degenerate_outcomes_have_finite_or_no_parameters() {
        assert_eq!(LogisticRegression::fit(&[], &[], &[]), None);
        assert_eq!(LogisticRegression::fit(&[vec![1.0], vec![2.0]], &[1.0, 1.0], &[1.0]), None);
        let separable = LogisticRegression::fit(&[vec![1.0], vec![2.0]], &[0.0, 1.0], &[1.0]).unwrap();
        assert!(separable.predict(&[2.0]) > 0.9 && separable.predict(&[1.0]) < 0.1, "{separable:?}");
        let constant = LogisticRegression::fit(&[vec![0.0], vec![0.0], vec![0.0]], &[0.0, 1.0, 1.0], &[1.0]).unwrap();
        assert!((constant.predict(&[0.0]) - 2.0 / 3.0).abs() < 1e-6, "{constant:?}");
    }

    #[test]
    fn calibration_error_is_the_mean_difference_within_bins() {
        assert_eq!(expected_calibration_error(&[], &[]), 0.0);
        assert_eq!(expected_calibration_error(&[1.0, 1.0], &[1.0, 1.0]), 0.0);
        assert!((expected_calibration_error(&[0.9, 0.91, 0.2, 0.25], &[1.0, 0.0, 0.0, 1.0]) - 0.34).abs() < 1e-9);
    }
}
