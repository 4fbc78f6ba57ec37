//! A drawing with axes, as SVG.

use std::fmt::Write;
use std::ops::Range;

use super::ladder_curves::Look;
use super::markup::text;

/// Text and axes.
const INK: &str = "#333333";
/// Lines of the grid.
const GRID: &str = "#DDDDDD";
/// What is measured.
pub const MEASURED: &str = "#1F77B4";
/// What was expected.
pub const EXPECTED: &str = "#D62728";
/// Pauses.
pub const PAUSED: &str = "#FFBB33";
/// Times without a process.
pub const STOPPED: &str = "#BBBBBB";

/// A point in pixels, from the upper left.
pub type Pixel = (i32, i32);

/// A point by the axes.
pub type Point = (f64, f64);

/// A drawing that grows.
pub struct Chart {
    svg: String,
    /// From the left of the plot to the right.
    across: Range<i32>,
    /// From the top of the plot to the bottom.
    down: Range<i32>,
    x: Range<f64>,
    y: Range<f64>,
}

impl Chart {
    /// An empty plot, which the axes `x` and `y` divide. `head` is what the drawing begins with.
    pub fn new(head: &str, [across, down]: [Range<i32>; 2], [x, y]: [Range<f64>; 2]) -> Self {
        Self {
            svg: format!("{head}<g font-size=\"11.3\" fill=\"{INK}\">\n"),
            across,
            down,
            x,
            y,
        }
    }

    /// Where a point is.
    pub fn at(&self, (x, y): Point) -> Pixel {
        let along = |value: f64, axis: &Range<f64>, pixels: &Range<i32>| {
            let share = (value - axis.start) / (axis.end - axis.start);
            (share * f64::from(pixels.end - pixels.start)).round() as i32
        };
        let right = along(x, &self.x, &self.across);
        (
            self.across.start + right,
            self.down.end - along(y, &self.y, &self.down),
        )
    }

    /// Draws the lower axis, and a line of the grid above each mark.
    pub fn x_axis(&mut self, title: &str, marks: impl IntoIterator<Item = (f64, String)>) {
        let (x, y) = (self.x.clone(), self.y.clone());
        let below = self.down.end;
        for (value, label) in marks {
            self.line(&[(value, y.start), (value, y.end)], GRID, "");
            let (at, _) = self.at((value, y.start));
            self.text((at, below + 20), "middle", "", &label);
        }
        self.line(&[(x.start, y.start), (x.end, y.start)], INK, "");
        let middle = (self.across.start + self.across.end) / 2;
        self.text((middle, below + 40), "middle", "", title);
    }

    /// Draws the left axis, and a line of the grid beside each mark.
    pub fn y_axis(&mut self, title: &str, marks: impl IntoIterator<Item = (f64, String)>) {
        let (x, y) = (self.x.clone(), self.y.clone());
        for (value, label) in marks {
            self.line(&[(x.start, value), (x.end, value)], GRID, "");
            let (left, at) = self.at((x.start, value));
            self.text((left - 10, at + 4), "end", "", &label);
        }
        self.line(&[(x.start, y.start), (x.start, y.end)], INK, "");
        let middle = (self.down.start + self.down.end) / 2;
        let turned = format!("transform=\"rotate(270 18 {middle})\"");
        self.text((18, middle), "middle", &turned, title);
    }

    /// Draws a line through these points. `look` has more attributes.
    pub fn line(&mut self, points: &[Point], colour: &str, look: &str) {
        self.path(points, &format!("fill=\"none\" stroke=\"{colour}\" {look}"));
    }

    /// Fills what these points enclose.
    pub fn fill(&mut self, points: &[Point], colour: &str, opacity: f64) {
        let look = format!("fill=\"{colour}\" fill-opacity=\"{opacity:.2}\"");
        self.path(points, &look);
    }

    fn path(&mut self, points: &[Point], look: &str) {
        let pixels = points.iter().map(|point| self.at(*point));
        let pixels: Vec<_> = pixels.map(|(x, y)| format!("{x},{y}")).collect();
        let pixels = pixels.join(" ");
        let _ = writeln!(self.svg, "<polyline points=\"{pixels}\" {look}/>");
    }

    /// Writes a text on one line: `anchor` is the part of it that is at `x`.
    pub fn text(&mut self, (x, y): Pixel, anchor: &str, look: &str, of: &str) {
        let of = text(of);
        let _ = writeln!(
            self.svg,
            "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\" {look}>{of}</text>"
        );
    }

    /// Draws the marker of a curve.
    pub fn mark(&mut self, (x, y): Pixel, look: Look) {
        let (form, is_full) = look.marker;
        let fill = if is_full { look.colour } else { "#fff" };
        let _ = writeln!(
            self.svg,
            "<path d=\"M{x} {y}{form}\" fill=\"{fill}\" stroke=\"{}\" stroke-width=\"2\"/>",
            look.colour
        );
    }

    /// The drawing.
    pub fn finish(self) -> String {
        self.svg + "</g>\n</svg>\n"
    }
}

/// Round values from 0 to `end`, at most so many beside that, each as a label: whole, or with one digit.
pub fn marks(end: f64, most: f64) -> impl Iterator<Item = (f64, String)> {
    let least = end / most;
    let power = 10_f64.powf(least.log10().floor());
    let steps = [1.0, 2.0, 5.0].map(|step| step * power);
    let step = steps.into_iter().find(|step| *step >= least);
    let step = step.unwrap_or(10.0 * power);
    let values = (0..=(end / step) as u32).map(move |at| f64::from(at) * step);
    values.map(|value| {
        let label = format!("{value:.1}");
        (value, label.strip_suffix(".0").unwrap_or(&label).to_owned())
    })
}
