//! Sinusoidal positional encoding (Vaswani et al. 2017, section 3.5).
//!
//! ```text
//! P[p, 2i] = sin(p / 10000^(2i/d))            P[p, 2i+1] = cos(p / 10000^(2i/d))
//! ```
//!
//! For any k, P[p + k] is P[p] rotated by angles that depend on k alone.

use candle_core::{Device, Result, Tensor};

/// Encodings of the first `length` positions: `[length, size]`.
///
/// # Errors
/// `size` is odd.
pub fn sinusoids(length: usize, size: usize, device: &Device) -> Result<Tensor> {
    if !size.is_multiple_of(2) {
        candle_core::bail!("the size of positional encodings must be even, not {size}");
    }
    let mut values = Vec::with_capacity(length * size);
    for position in 0..length {
        for pair in 0..size / 2 {
            let angle = position as f64 / 10_000f64.powf(2.0 * pair as f64 / size as f64);
            values.extend([angle.sin(), angle.cos()].map(|value| value as f32));
        }
    }
    Tensor::from_vec(values, (length, size), device)
}

#[cfg(test)]
mod tests {
    use super::super::{Dot, ScaledScore, pool};
    use super::*;
    use crate::random::SeededRng;

    fn rows(tensor: &Tensor) -> Vec<Vec<f32>> {
        tensor.to_vec2().unwrap()
    }

    #[test]
    fn sinusoids_match_the_equation() {
        let places = rows(&sinusoids(3, 4, &Device::Cpu).unwrap());
        let expected =
            [[0.0, 1.0, 0.0, 1.0], [0.841_471, 0.540_302, 0.01, 0.99995], [0.909_297, -0.416_147, 0.019_999, 0.9998]];
        for (found, expected) in places.iter().zip(expected) {
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{found:?} {expected:?}");
        }
    }

    #[test]
    fn shift_is_a_rotation() {
        let (size, shift) = (8, 5);
        let places = rows(&sinusoids(40, size, &Device::Cpu).unwrap());
        let turn = &places[shift];
        for place in 0..40 - shift {
            for pair in 0..size / 2 {
                let [sine, cosine] = [places[place][2 * pair], places[place][2 * pair + 1]];
                let [turn_sine, turn_cosine] = [turn[2 * pair], turn[2 * pair + 1]];
                let expected = [sine * turn_cosine + cosine * turn_sine, cosine * turn_cosine - sine * turn_sine];
                let found = [places[place + shift][2 * pair], places[place + shift][2 * pair + 1]];
                assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-5), "{found:?} {expected:?}");
            }
        }
        assert!(sinusoids(3, 5, &Device::Cpu).is_err());
        assert_eq!(sinusoids(0, 4, &Device::Cpu).unwrap().dims(), [0, 4]);
    }

    /// Self-attention of a sequence `[length, d]`.
    fn attend(sequence: &Tensor) -> Vec<Vec<f32>> {
        let batch = sequence.unsqueeze(0).unwrap();
        let score = ScaledScore { score: Dot, temperature: 2.0 };
        rows(&pool(&score, &batch, &batch, &batch, None).unwrap().values.squeeze(0).unwrap())
    }

    #[test]
    fn attention_is_permutation_equivariant_without_positions() {
        let (length, size) = (6, 4);
        let mut stream = SeededRng::new(1, "sequence", 0);
        let values: Vec<f32> = (0..length * size).map(|_| stream.normal() as f32).collect();
        let sequence = Tensor::from_vec(values, (length, size), &Device::Cpu).unwrap();
        let order = [3u32, 0, 5, 1, 4, 2];
        let moved = sequence.index_select(&Tensor::new(&order, &Device::Cpu).unwrap(), 0).unwrap();
        let places = sinusoids(length, size, &Device::Cpu).unwrap();
        assert!(largest_difference(&attend(&sequence), &attend(&moved), order) < 1e-5);
        let placed = [sequence, moved].map(|sequence| attend(&(sequence + &places).unwrap()));
        assert!(largest_difference(&placed[0], &placed[1], order) > 0.1, "positions have no effect");
    }

    /// Largest difference between rows in another order and those that they come from.
    fn largest_difference(rows: &[Vec<f32>], moved: &[Vec<f32>], order: [u32; 6]) -> f32 {
        let pairs = moved.iter().zip(order).flat_map(|(row, from)| row.iter().zip(&rows[from as usize]));
        pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
    }
}
