//! What all drawings have in common: colours, fonts, axes.

use std::error::Error;

use plotters::chart::MeshStyle;
use plotters::coord::ranged1d::Ranged;
use plotters::prelude::*;

/// Text and axes.
pub const INK: RGBColor = RGBColor(0x33, 0x33, 0x33);
/// Lines of the grid.
pub const GRID: RGBColor = RGBColor(0xdd, 0xdd, 0xdd);
/// What is measured.
pub const MEASURED: RGBColor = RGBColor(0x1f, 0x77, 0xb4);
/// What was expected.
pub const EXPECTED: RGBColor = RGBColor(0xd6, 0x27, 0x28);
/// Pauses.
pub const PAUSED: RGBColor = RGBColor(0xff, 0xbb, 0x33);
/// Times without a process.
pub const STOPPED: RGBColor = RGBColor(0xbb, 0xbb, 0xbb);

/// A drawing as SVG.
pub type Drawn = Result<String, Box<dyn Error>>;

/// The text of axes and rows.
pub fn label() -> TextStyle<'static> {
    ("sans-serif", 14).into_font().color(&INK)
}

/// Axes and lines as every drawing has them.
pub fn plain<'m, 'a, 'b, X: Ranged, Y: Ranged, DB: DrawingBackend>(
    mesh: &'m mut MeshStyle<'a, 'b, X, Y, DB>,
) -> &'m mut MeshStyle<'a, 'b, X, Y, DB> {
    mesh.light_line_style(TRANSPARENT)
        .bold_line_style(GRID)
        .axis_style(INK)
        .label_style(label())
        .axis_desc_style(label())
}

/// A number of an axis: whole, or with one digit.
pub fn tidy(value: &f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}
