//! Attention pooling: Nadaraya–Watson kernel regression (1964).
//!
//! ```text
//! y = 2 sin x + x + noise                            100 points, x in 0..4, noise of standard deviation 0.5
//! f(q) = Σ_j α_j y_j        α = softmax_j(ln K((q − x_j) w))        keys x_j, values y_j, w = 1 / width
//! ```
//!
//! For the Gaussian kernel, α is softmax(−½ (q − x_j)² w²). The width is learned by gradient descent on leave-one-out
//! errors: with each point among its own keys, the narrowest kernel would win. It starts at 1 and stays there for the boxcar
//! and the constant kernel, whose derivative is zero. Errors are measured against the noiseless curve, which training never
//! sees.
//!
//! ```sh
//! cargo run --release --example kernel_regression [-- FIGURE.svg]
//! ```

mod common;

use std::fmt::Write as _;
use std::fs::File;
use std::io::{Write as _, stdout};
use std::path::PathBuf;

use anyhow::Result;
use candle_core::{Device::Cpu, Tensor};
use clap::Parser;
use softalign::attention::{Kernel, KernelShape, Pooled, pool};
use softalign::random::SeededRng;
use softalign::training::learn_kernel_width;

const KERNELS: [KernelShape; 4] =
    [KernelShape::Gaussian, KernelShape::Boxcar, KernelShape::Epanechnikov, KernelShape::Constant];
const WIDTHS: [f32; 5] = [0.1, 0.2, 0.5, 1.0, 2.0];
const POINTS: usize = 100;
const NOISE: f64 = 0.5;
/// Queries from 0 to 4, both included.
const QUERIES: usize = 81;
/// Height of a panel and side of the attention matrix: two pixels per query.
const SIDE: f32 = 2.0 * QUERIES as f32;
/// Weight from which cells have the full shade.
const DARKEST: f32 = 0.2;

/// Fits a noisy curve with attention; prints errors and draws curves and attention.
#[derive(Parser)]
struct Arguments {
    /// The figure to write
    #[arg(default_value = "kernel_regression.svg")]
    figure: PathBuf,
    #[command(flatten)]
    run: common::Run,
}

fn main() -> Result<()> {
    let Arguments { figure, run: common::Run { quick, seed } } = common::arguments();
    let path = figure.display();
    let mut file = File::create(&figure).unwrap_or_else(|error| common::refuse(format!("{path}: {error}")));
    let points = Points::sample(seed);
    writeln!(stdout(), "{POINTS} points of y = 2 sin x + x + noise of standard deviation {NOISE}, seed {seed}")?;
    writeln!(stdout(), "root mean square errors against the noiseless curve, by width\n")?;
    writeln!(stdout(), "{:12}{}   learned", "", WIDTHS.map(|width| format!("{width:7}")).concat())?;
    let mut panels = String::new();
    for (index, shape) in KERNELS.into_iter().enumerate() {
        let (left, top) = (50 + index % 2 * 510, 45 + index / 2 * 245);
        let pair = points.fit(shape, if quick { 100 } else { 1000 })?;
        writeln!(panels, "<g transform='translate({left} {top})'>\n{pair}</g>")?;
    }
    let frame = include_str!("kernel_regression/frame.svg");
    file.write_all(frame.replace("<!-- panels -->\n", &panels).as_bytes())?;
    writeln!(stdout(), "\ncurves and attention: {path}")?;
    Ok(())
}

fn truth(x: f32) -> f32 {
    2.0 * x.sin() + x
}

fn query(index: usize) -> f32 {
    4.0 * index as f32 / (QUERIES - 1) as f32
}

/// Root mean square error of a curve at the queries.
fn error(curve: &[f32]) -> f32 {
    let squares: f32 = curve.iter().enumerate().map(|(index, y)| (y - truth(query(index))).powi(2)).sum();
    (squares / QUERIES as f32).sqrt()
}

/// Training points, sorted by x.
struct Points {
    x: Vec<f32>,
    y: Vec<f32>,
}

impl Points {
    fn sample(seed: u64) -> Self {
        let mut rng = SeededRng::new(seed, "points", 0);
        let mut x: Vec<f32> = (0..POINTS).map(|_| 4.0 * rng.uniform() as f32).collect();
        x.sort_by(f32::total_cmp);
        let y = x.iter().map(|&x| truth(x) + (NOISE * rng.normal()) as f32).collect();
        Self { x, y }
    }

    /// Evaluates all widths and a learned one, prints a line of the table and draws a panel.
    fn fit(&self, shape: KernelShape, steps: usize) -> Result<String> {
        let with = |width: f32| self.regress(&Kernel { shape, inverse_width: Tensor::new(&[1.0 / width], &Cpu)? });
        let by_width = WIDTHS.iter().map(|&width| Ok(with(width)?.0)).collect::<Result<Vec<_>>>()?;
        let width = learn_kernel_width(shape, &self.x, &self.y, steps)?;
        let (learned, weights) = with(width)?;
        let name = format!("{shape:?}");
        let errors: String = by_width.iter().map(|curve| format!("{:7.3}", error(curve))).collect();
        writeln!(stdout(), "{name:12}{errors}{:7.3} at {width:.2}", error(&learned))?;
        let curves =
            self.curves([("narrow", &by_width[0]), ("wide", &by_width[WIDTHS.len() - 1]), ("learned", &learned)])?;
        let heading = format!("<text class='heading' y='-10'>{name}, width {width:.2}</text>");
        Ok(format!("{heading}\n{curves}<g transform='translate(293)'>\n{}</g>\n", self.attention(&weights)?))
    }

    /// Returns f at the queries, `[QUERIES]`, and the weights, `[QUERIES][POINTS]`.
    fn regress(&self, score: &Kernel) -> Result<(Vec<f32>, Vec<Vec<f32>>)> {
        let queries = Tensor::from_iter((0..QUERIES).map(query), &Cpu)?.reshape((1, QUERIES, 1))?;
        let [keys, values] = [&self.x, &self.y].map(|line| Tensor::from_slice(line, (1, POINTS, 1), &Cpu));
        let Pooled { values, weights } = pool(score, &queries, &keys?, &values?, None)?;
        Ok((values.flatten_all()?.to_vec1()?, weights.squeeze(0)?.to_vec2()?))
    }

    /// Draws curves, points and the noiseless curve.
    fn curves(&self, curves: [(&str, &Vec<f32>); 3]) -> Result<String> {
        let mut svg = axes(243.0, [-1.0, 5.5], ["x", "y"])?;
        let at = |x: f32, y: f32| format!("{:.1} {:.1}", x / 4.0 * 243.0, (5.5 - y) / 6.5 * SIDE);
        let dots: String = self.x.iter().zip(&self.y).map(|(&x, &y)| format!("M{}h0", at(x, y))).collect();
        writeln!(svg, "<path class='point' d='{dots}'/>")?;
        let truth: Vec<f32> = (0..QUERIES).map(|index| truth(query(index))).collect();
        for (class, curve) in [("truth", &truth)].into_iter().chain(curves) {
            let line: Vec<String> = curve.iter().enumerate().map(|(index, &y)| at(query(index), y)).collect();
            writeln!(svg, "<path class='{class}' d='M{}'/>", line.join("L"))?;
        }
        Ok(svg)
    }

    /// Draws weights as shades: a row per query from the bottom up; a key's column extends halfway to its neighbors.
    fn attention(&self, weights: &[Vec<f32>]) -> Result<String> {
        let between = self.x.windows(2).map(|pair| (pair[0] + pair[1]) / 2.0);
        let edges: Vec<f32> = [0.0].into_iter().chain(between).chain([4.0]).map(|x| x / 4.0 * SIDE).collect();
        let mut shades = vec![String::new(); 11];
        for (row, weights) in weights.iter().enumerate() {
            let shade = |weight: &f32| (10.0 * (weight / DARKEST).min(1.0).sqrt()).round() as usize;
            let mut start = 0;
            for run in weights.iter().map(shade).collect::<Vec<_>>().chunk_by(|a, b| a == b) {
                let (left, right) = (edges[start], edges[start + run.len()]);
                write!(shades[run[0]], "M{left:.1} {}H{right:.1}v2H{left:.1}z", 2 * (QUERIES - 1 - row))?;
                start += run.len();
            }
        }
        let mut svg = axes(SIDE, [0.0, 4.0], ["key", "query"])?;
        for (shade, cells) in shades.iter().enumerate().skip(1) {
            writeln!(svg, "<path class='weight' fill-opacity='{}' d='{cells}'/>", shade as f32 / 10.0)?;
        }
        Ok(svg)
    }
}

/// Draws axes with ticks from 0 to 4.
fn axes(width: f32, [low, high]: [f32; 2], [across, up]: [&str; 2]) -> Result<String> {
    let mut svg = format!("<path class='axis' d='M0 0V{SIDE}H{width}'/>\n");
    for tick in 0..=4 {
        let (x, y) = (tick as f32 / 4.0 * width, (high - tick as f32) / (high - low) * SIDE);
        write!(svg, "<text text-anchor='middle' x='{x}' y='{}'>{tick}</text>", SIDE + 16.0)?;
        writeln!(svg, "<text text-anchor='end' x='-6' y='{}'>{tick}</text>", y + 4.0)?;
    }
    writeln!(svg, "<text text-anchor='middle' x='{}' y='{}'>{across}</text>", width / 2.0, SIDE + 32.0)?;
    writeln!(svg, "<text text-anchor='middle' transform='translate(-24 {}) rotate(-90)'>{up}</text>", SIDE / 2.0)?;
    Ok(svg)
}
