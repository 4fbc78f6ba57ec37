//! What all drawings have in common: colours, fonts, axes, and a second view for narrow screens.

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

/// The same drawing for broad and for narrow screens: a page shows one of them.
#[derive(Clone, Debug)]
pub struct Views {
    /// For screens, windows and paper of at least 40 rem.
    pub broad: String,
    /// For those below.
    pub narrow: String,
}

/// The view that is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// See [`Views::broad`].
    Broad,
    /// See [`Views::narrow`].
    Narrow,
}

impl View {
    /// The width, in units of the drawing. A unit is about a pixel.
    pub const fn width(self) -> u32 {
        match self {
            Self::Broad => 860,
            Self::Narrow => 360,
        }
    }

    /// About how many labels the axis of time has.
    pub const fn labels(self) -> usize {
        match self {
            Self::Broad => 10,
            Self::Narrow => 4,
        }
    }

    /// The space for labels at the left.
    pub const fn left(self) -> u32 {
        match self {
            Self::Broad => 64,
            Self::Narrow => 52,
        }
    }

    /// How much of `all` there is place for.
    pub const fn part(self, all: usize) -> usize {
        match self {
            Self::Broad => all,
            Self::Narrow => all * 2 / 5,
        }
    }
}

/// Draws both views.
///
/// # Errors
/// Those of `draw`.
pub fn views(draw: impl Fn(View) -> Drawn) -> Result<Views, Box<dyn Error>> {
    // Fonts are those of the page.
    let draw = |view| draw(view).map(|svg| svg.replace("font-family=\"sans-serif\" ", ""));
    Ok(Views {
        broad: draw(View::Broad)?,
        narrow: draw(View::Narrow)?,
    })
}

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
