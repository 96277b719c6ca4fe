//! Output formats by options and file names.

use std::path::Path;

use anyhow::Result;
use colorchoice::ColorChoice;

use super::output_file::Output;
use crate::cli::{FigureArgs, TranslationFormat, joined_options_of};
use crate::error::{usage, usage_of};
use crate::render::{AlignmentFormat, Heatmap, RenderOptions, Renderer, SvgStyle, SvgView};

/// Extensions of figures and documents that need another program, with the way to get there.
const CONVERTED: [(&str, &str); 4] = [
    ("pdf", "write an .svg file and convert it with rsvg-convert"),
    ("png", "write an .svg file and convert it with rsvg-convert"),
    ("xlsx", "write a .tsv file and open it in the spreadsheet"),
    ("docx", "write an .svg or .html file and insert it"),
];

/// Returns the format of alignments: `--format`, else by the extension of the output file, else text.
///
/// # Errors
/// The extension contradicts `--format` or stands for a format that cannot be written ([`UsageError`]).
pub fn alignment_format(format: Option<AlignmentFormat>, output: &Path) -> Result<AlignmentFormat> {
    check_extension(output, format)?;
    Ok(format.or_else(|| AlignmentFormat::from_extension(output)).unwrap_or(AlignmentFormat::Text))
}

/// Returns the format of translations like [`alignment_format`]; `None` is text without alignments. A .tsv file may hold text.
///
/// # Errors
/// Those of [`alignment_format`].
pub fn translation_format(format: Option<TranslationFormat>, output: &Path) -> Result<Option<AlignmentFormat>> {
    match format {
        Some(TranslationFormat::Text) if AlignmentFormat::from_extension(output) == Some(AlignmentFormat::Tsv) => {
            Ok(None)
        }
        Some(format) => {
            check_extension(output, Some(format.alignment_format().unwrap_or(AlignmentFormat::Text)))?;
            Ok(format.alignment_format())
        }
        None => {
            check_extension(output, None)?;
            Ok(AlignmentFormat::from_extension(output).filter(|&format| format != AlignmentFormat::Tsv))
        }
    }
}

fn check_extension(output: &Path, format: Option<AlignmentFormat>) -> Result<()> {
    let extension = output.extension().map(|extension| extension.to_string_lossy().to_lowercase()).unwrap_or_default();
    if let Some((_, advice)) = CONVERTED.iter().find(|(other, _)| *other == extension) {
        return usage(format!("{}: .{extension} cannot be written; {advice}", output.display()));
    }
    if extension == "csv" && format == Some(AlignmentFormat::Tsv) {
        return usage(format!("{}: --format tsv writes no CSV; choose a file name ending in .tsv", output.display()));
    }
    let (Some(format), Some(implied)) = (format, AlignmentFormat::from_extension(output)) else { return Ok(()) };
    // A .json file may hold one object per line.
    if format != implied && (implied, format) != (AlignmentFormat::Json, AlignmentFormat::Jsonl) {
        return usage(format!("{}: .{extension} contradicts --format; change one of them", output.display()));
    }
    Ok(())
}

/// Returns the renderer of a format.
///
/// # Errors
/// The format is not meant for a terminal, and the output is one ([`UsageError`](crate::error::UsageError)).
pub fn renderer(format: AlignmentFormat, options: RenderOptions, output: &Output) -> Result<Box<dyn Renderer>> {
    if output.is_terminal() && matches!(format, AlignmentFormat::Npz | AlignmentFormat::Html) {
        return usage("this format is not for a terminal; choose a file with --output");
    }
    Ok(format.renderer(options))
}

/// Rejects the options of figures for other formats.
pub fn check_figures(style: SvgStyle, format: Option<AlignmentFormat>) -> Result<()> {
    if style != SvgStyle::default() && format != Some(AlignmentFormat::Svg) {
        return usage(format!("{} need --format svg", joined_options_of::<FigureArgs>()));
    }
    if style.numbers && style.view == SvgView::Links {
        return usage_of("numbers", "needs --view matrix");
    }
    Ok(())
}

/// Returns a heatmap renderer with the color setting and, in a terminal, its width.
pub fn heatmap(terminal: bool) -> Heatmap {
    let size = if terminal { terminal_size::terminal_size() } else { None };
    Heatmap::new(has_colors(terminal), size.map(|(width, _)| usize::from(width.0)))
}

/// True if output to a terminal or elsewhere has ANSI escapes.
pub fn has_colors(terminal: bool) -> bool {
    match ColorChoice::global() {
        ColorChoice::Always | ColorChoice::AlwaysAnsi => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
    }
}
