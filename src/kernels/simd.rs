//! Vectorized elementary functions and runtime dispatch to the processor's vector instructions.
//!
//! The functions are arithmetic without data-dependent branches. Inside [`vectorized`] the compiler turns loops over
//! them into the widest vector instructions that the processor supports at run time. Products and sums are never
//! contracted, so results are bit-identical on every processor. (Matrix products do use fused multiply-adds where
//! available.)

use std::ffi::OsString;
use std::sync::atomic::{AtomicU8, Ordering};

use pulp::{Simd, WithSimd};

/// Vector instruction sets that loops are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SimdLevel {
    /// The target's baseline, SSE2 on x86-64.
    Baseline,
    /// AVX2 with FMA on x86-64, NEON on aarch64.
    Avx2OrNeon,
    /// AVX-512 on x86-64.
    Avx512,
}

static MAX_LEVEL: AtomicU8 = AtomicU8::new(SimdLevel::Avx512 as u8);

/// Sets the highest level used from now on, process-wide, so that tests cover processors without wider vectors.
pub fn limit_simd(level: SimdLevel) {
    MAX_LEVEL.store(level as u8, Ordering::Relaxed);
}

/// Environment variable for [`limit_simd_by_environment`].
pub const SIMD_VARIABLE: &str = "SOFTALIGN_SIMD";

/// Limits the level as the environment variable `SOFTALIGN_SIMD` says: `baseline`, `avx2`, `neon` or `avx512`; all are allowed
/// without it. For measurements, and to find faults.
///
/// # Errors
/// The variable has another value, which is returned.
pub fn limit_simd_by_environment() -> Result<(), OsString> {
    let Some(name) = std::env::var_os(SIMD_VARIABLE).filter(|name| !name.is_empty()) else {
        return Ok(());
    };
    limit_simd(match name.to_str() {
        Some("baseline") => SimdLevel::Baseline,
        Some("avx2" | "neon") => SimdLevel::Avx2OrNeon,
        Some("avx512") => SimdLevel::Avx512,
        _ => return Err(name),
    });
    Ok(())
}

/// True if [`limit_simd`] allows AVX-512 and what is newer.
pub fn allows_avx512() -> bool {
    MAX_LEVEL.load(Ordering::Relaxed) >= SimdLevel::Avx512 as u8
}

/// True if [`limit_simd`] allows AVX2 or NEON.
fn allows_avx2_or_neon() -> bool {
    MAX_LEVEL.load(Ordering::Relaxed) >= SimdLevel::Avx2OrNeon as u8
}

/// Returns the name of the instruction set that [`dispatch`] uses on this processor.
pub fn instruction_set() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    return match (pulp::x86::V4::try_new(), pulp::x86::V3::try_new()) {
        (Some(_), _) if allows_avx512() => "AVX-512",
        (_, Some(_)) if allows_avx2_or_neon() => "AVX2",
        _ => "SSE2",
    };
    #[cfg(not(target_arch = "x86_64"))]
    return if cfg!(target_arch = "aarch64") && allows_avx2_or_neon() { "NEON" } else { "scalar" };
}

/// Runs an operation with the best instruction set that the processor supports and [`limit_simd`] allows.
#[inline(always)]
pub fn dispatch<Op: WithSimd>(operation: Op) -> Op::Output {
    #[cfg(target_arch = "x86_64")]
    {
        if allows_avx512()
            && let Some(simd) = pulp::x86::V4::try_new()
        {
            return Simd::vectorize(simd, operation);
        }
        if allows_avx2_or_neon()
            && let Some(simd) = pulp::x86::V3::try_new()
        {
            return Simd::vectorize(simd, operation);
        }
        pulp::Scalar::new().vectorize(operation)
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        if allows_avx2_or_neon() {
            return pulp::Arch::new().dispatch(operation);
        }
        pulp::Scalar::new().vectorize(operation)
    }
}

/// Runs a loop compiled for the instruction set that [`dispatch`] selects.
#[inline(always)]
pub fn vectorized<R>(work: impl FnOnce() -> R) -> R {
    dispatch(work)
}

/// eˣ within 2 ulp for −87 ≤ x ≤ 88; clamped to e⁻⁸⁷ or e⁸⁸ outside; NaN for NaN.
///
/// x = k ln 2 + r with |r| ≤ ½ ln 2; a polynomial gives eʳ, and k is added to the exponent bits.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    // Adding 1.5 · 2²³ rounds to an integer and leaves it in the low bits.
    const ROUND: f32 = 12_582_912.0;
    // ln 2 in two parts; the first has few enough bits for an exact product with k.
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    let x = x.clamp(-87.0, 88.0);
    let rounded = x * std::f32::consts::LOG2_E + ROUND;
    let k = rounded - ROUND;
    let r = (x - k * LN_2_HIGH) - k * LN_2_LOW;
    // Chebyshev fit of eʳ, degree 6, relative error 2.6e-9.
    let mut p = 0.001_394_858_1;
    p = p * r + 0.008_375_129;
    p = p * r + 0.041_666_217;
    p = p * r + 0.166_664_15;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    p * f32::from_bits((rounded.to_bits() << 23).wrapping_add(1.0f32.to_bits()))
}

/// tanh x within 7 ulp everywhere, never beyond ±1; NaN for NaN.
///
/// x P(x²) / Q(x²), both of degree 4: a minimax fit of the relative error (2.1e-8) on |x| ≤ 9.02, beyond which tanh
/// rounds to 1.
#[inline(always)]
pub fn tanh(x: f32) -> f32 {
    const END: f32 = 9.02;
    let x = x.clamp(-END, END);
    let square = x * x;
    let mut p = 1.331_732_1e-8;
    p = p * square + 2.058_225_8e-5;
    p = p * square + 0.003_493_963_3;
    p = p * square + 0.133_796_59;
    p = p * square + 1.0;
    let mut q = 7.761_312_3e-7;
    q = q * square + 0.000_328_297_38;
    q = q * square + 0.025_870_806;
    q = q * square + 0.467_129_74;
    q = q * square + 1.0;
    (x * p / q).clamp(-1.0, 1.0)
}

/// 1 / (1 + e⁻ˣ) = ½ + ½ tanh ½x, within 4e-7.
#[inline(always)]
pub fn sigmoid(x: f32) -> f32 {
    0.5 + 0.5 * tanh(0.5 * x)
}

/// 2⁻⁶³: magnitudes below this are flushed to zero in matrix products, so that no product of two numbers is denormal.
pub const FLUSH_THRESHOLD: f32 = 1.0 / (1u64 << 63) as f32;

/// x, or 0 if |x| < [`FLUSH_THRESHOLD`]; NaN for NaN.
#[inline(always)]
pub fn flush_denormal(x: f32) -> f32 {
    if x.abs() < FLUSH_THRESHOLD { 0.0 } else { x }
}

/// Copies `from` to `to` through [`flush_denormal`], up to the shorter length.
#[inline(always)]
pub fn copy_flush_denormals(to: &mut [f32], from: &[f32]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to = flush_denormal(*from));
}

/// Partial sums of a reduction, one per lane of the widest vector, so that no addition waits for another.
pub const LANES: usize = 16;

/// Σ f(a, b) over two slices of equal length, in an order that depends on the length alone.
#[inline(always)]
pub fn sum_over(a: &[f32], b: &[f32], f: impl Fn(f32, f32) -> f32) -> f32 {
    let mut lanes = [0.0f32; LANES];
    let (a_chunks, a_rest) = a.as_chunks::<LANES>();
    let (b_chunks, b_rest) = b.as_chunks::<LANES>();
    for (a, b) in a_chunks.iter().zip(b_chunks) {
        for lane in 0..LANES {
            lanes[lane] += f(a[lane], b[lane]);
        }
    }
    for (lane, (a, b)) in lanes.iter_mut().zip(a_rest.iter().zip(b_rest)) {
        *lane += f(*a, *b);
    }
    sum_of_lanes(lanes)
}

/// Pairwise sum of all lanes.
#[inline(always)]
pub fn sum_of_lanes(mut lanes: [f32; LANES]) -> f32 {
    let mut width = LANES / 2;
    while width > 0 {
        for lane in 0..width {
            lanes[lane] += lanes[lane + width];
        }
        width /= 2;
    }
    lanes[0]
}

/// Σ aᵢ bᵢ
#[inline(always)]
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    sum_over(a, b, |a, b| a * b)
}

/// y ← y + f x
#[inline(always)]
pub fn add_scaled(y: &mut [f32], f: f32, x: &[f32]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += f * x;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Error in units in the last place of the true value.
    fn ulps(ours: f32, truth: f64) -> f64 {
        let magnitude = (truth as f32).abs().max(f32::MIN_POSITIVE);
        let unit = f64::from(f32::from_bits(magnitude.to_bits() + 1)) - f64::from(magnitude);
        (f64::from(ours) - truth).abs() / unit
    }

    /// Every 1,009th finite f32.
    fn sampled() -> impl Iterator<Item = f32> {
        (0..=u32::MAX).step_by(1009).map(f32::from_bits).filter(|x| x.is_finite())
    }

    #[test]
    fn functions_stay_within_their_stated_error() {
        let (mut worst_exp, mut worst_tanh, mut worst_sigmoid) = (0.0f64, 0.0f64, 0.0f64);
        for x in sampled() {
            let wide = f64::from(x);
            if (-87.0..=88.0).contains(&x) {
                worst_exp = worst_exp.max(ulps(exp(x), wide.exp()));
            }
            worst_tanh = worst_tanh.max(ulps(tanh(x), wide.tanh()));
            worst_sigmoid = worst_sigmoid.max((f64::from(sigmoid(x)) - 1.0 / (1.0 + (-wide).exp())).abs());
        }
        assert!(
            worst_exp <= 2.0 && worst_tanh <= 7.0 && worst_sigmoid < 4e-7,
            "{worst_exp} {worst_tanh} {worst_sigmoid}"
        );
    }

    #[test]
    fn functions_handle_infinities_and_nan() {
        assert_eq!([tanh(f32::INFINITY), tanh(f32::NEG_INFINITY), tanh(0.0)], [1.0, -1.0, 0.0]);
        assert!(tanh(-0.0).is_sign_negative());
        assert!(exp(f32::NAN).is_nan() && tanh(f32::NAN).is_nan() && sigmoid(f32::NAN).is_nan());
        assert!(exp(f32::INFINITY).is_finite() && exp(f32::NEG_INFINITY) < 1e-37);
        assert_eq!(sigmoid(f32::INFINITY), 1.0);
        assert!(sigmoid(f32::NEG_INFINITY) < 1e-37);
    }

    #[test]
    fn dispatch_changes_no_bit() {
        let input: Vec<f32> = (0..1000).map(|i| (i as f32 - 500.0) * 0.037).collect();
        let mut output = input.clone();
        vectorized(
            #[inline(always)]
            || output.iter_mut().for_each(|x| *x = tanh(*x)),
        );
        assert!(output.iter().zip(&input).all(|(y, &x)| y.to_bits() == tanh(x).to_bits()));
        assert_eq!(
            vectorized(
                #[inline(always)]
                || dot(&input, &output)
            )
            .to_bits(),
            dot(&input, &output).to_bits()
        );
    }

    #[test]
    fn dot_sums_slices_of_any_length() {
        for length in [0, 1, 15, 16, 17, 100] {
            let a: Vec<f32> = (0..length).map(|i| i as f32).collect();
            assert_eq!(dot(&a, &vec![2.0; length]), (length * length.saturating_sub(1)) as f32);
        }
    }
}
