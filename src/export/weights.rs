//! Formats of weights in an exported page.

use super::payload::Payload;

/// Format of the weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum WeightFormat {
    /// Integers from −63 to 63, with a scale for each row of a matrix; probabilities of lexicon and aligner in 16 bits.
    #[default]
    Int8,
    /// 16-bit floats.
    F16,
    /// 32-bit floats: the model as it was trained.
    F32,
}

/// Largest integer: seven bits with the sign. An eighth brings no BLEU, and a page a seventh larger.
const LARGEST_INTEGER: f32 = 63.0;

/// Adds a parameter `[rows, columns]`, or a vector, which stays in 32 bits.
pub fn add_parameter(payload: &mut Payload, name: &str, shape: &[usize], values: &[f32], format: WeightFormat) {
    match (format, shape) {
        (WeightFormat::Int8, &[_, columns]) => {
            let (mut rounded, mut scales) = (Vec::with_capacity(values.len()), Vec::new());
            for row in values.chunks_exact(columns) {
                let scale = row.iter().fold(0.0f32, |largest, value| largest.max(value.abs())) / LARGEST_INTEGER;
                scales.push(scale);
                rounded.extend(row.iter().map(|value| if scale > 0.0 { (value / scale).round() as i8 } else { 0 }));
            }
            payload.add(name, "i8", shape, &rounded);
            payload.add(format!("{name}.scale"), "f32", &[scales.len()], &scales);
        }
        (WeightFormat::F16, [_, _]) => add_halves(payload, name, shape, values),
        _ => payload.add(name, "f32", shape, values),
    }
}

/// Adds probabilities of lexicon or aligner, in 32 bits with such weights, else in 16.
pub fn add_probabilities(payload: &mut Payload, name: &str, values: &[f32], format: WeightFormat) {
    match format {
        WeightFormat::F32 => payload.add(name, "f32", &[values.len()], values),
        WeightFormat::Int8 | WeightFormat::F16 => add_halves(payload, name, &[values.len()], values),
    }
}

fn add_halves(payload: &mut Payload, name: &str, shape: &[usize], values: &[f32]) {
    let halves: Vec<u16> = values.iter().map(|&value| half_bits(value)).collect();
    payload.add(name, "f16", shape, &halves);
}

/// Bits of the nearest 16-bit float; numbers out of its range become the largest one.
fn half_bits(value: f32) -> u16 {
    const LARGEST: f32 = 65504.0;
    let sign = ((value.to_bits() >> 16) & 0x8000) as u16;
    let magnitude = value.abs().min(LARGEST);
    // Below 2^-14 numbers are multiples of 2^-24; above, adding half of the last place rounds, ties to even.
    if magnitude < 6.103_515_6e-5 {
        return sign | (magnitude * 16_777_216.0).round_ties_even() as u16;
    }
    let bits = magnitude.to_bits();
    let rounded = bits + 0xfff + ((bits >> 13) & 1);
    sign | ((rounded >> 13) - (112 << 10)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_floats_are_the_nearest() {
        for (value, bits) in [
            (0.0, 0x0000),
            (1.0, 0x3c00),
            (-2.0, 0xc000),
            (0.1, 0x2e66),
            (65504.0, 0x7bff),
            (1e9, 0x7bff),
            (6e-8, 0x0001),
            (6.1e-5, 0x03ff),
            (1.000_976_6, 0x3c01),
            (0.999_99, 0x3c00),
        ] {
            assert_eq!(half_bits(value), bits, "{value}");
        }
    }
}
