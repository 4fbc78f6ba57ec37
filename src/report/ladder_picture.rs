//! The picture of the ladder, as SVG: how long each method takes, against the size of the board.

use std::error::Error;

use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::drawing::{Drawn, INK, label, plain};
use crate::ladder::TableRow;
use crate::telemetry::printable;

/// The whole picture, and the part to the right that the legend takes.
const SIZE: (u32, u32) = (960, 600);
const LEGEND: u32 = 240;

/// The shortest time that is drawn, in seconds: clocks are not precise enough below it.
const SHORTEST: f64 = 1e-7;

/// Colours that differ clearly on white, one for each method in turn.
const COLOURS: [RGBColor; 17] = [
    RGBColor(0x7f, 0x7f, 0x7f),
    RGBColor(0xbc, 0xbd, 0x22),
    RGBColor(0x8c, 0x56, 0x4b),
    RGBColor(0xd6, 0x27, 0x28),
    RGBColor(0xff, 0x7f, 0x0e),
    RGBColor(0xe7, 0x29, 0x8a),
    RGBColor(0x94, 0x67, 0xbd),
    RGBColor(0xc5, 0xa2, 0x00),
    RGBColor(0x17, 0xbe, 0xcf),
    RGBColor(0x1f, 0x77, 0xb4),
    RGBColor(0x08, 0x30, 0x6b),
    RGBColor(0x2c, 0xa0, 0x2c),
    RGBColor(0x00, 0x6d, 0x2c),
    RGBColor(0xe3, 0x77, 0xc2),
    RGBColor(0x7a, 0x01, 0x77),
    RGBColor(0x00, 0x80, 0x80),
    RGBColor(0x00, 0x00, 0x00),
];

/// Two curves lie on each other where they are closer than this share of the height.
const CLOSE: f64 = 0.008;

/// How far beside each other such curves are drawn, as a share of the width.
const ASIDE: f64 = 0.008;

/// Draws time against board size, time on a logarithmic scale: one curve for each method and style, in the
/// order of their first rows.
///
/// # Errors
/// The crate that draws fails.
pub fn ladder_picture(rows: &[TableRow]) -> Drawn {
    let range = Range::of(rows);
    let mut curves = curves(rows);
    part(&mut curves, &range);
    let mut svg = String::new();
    {
        let picture = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        picture.fill(&WHITE)?;
        let picture = picture.margin(6, 0, 0, 0);
        let title = "Time against board size, by method";
        let picture = picture.titled(title, ("sans-serif", 19).into_font().color(&BLACK))?;
        let (left, right) = picture.split_horizontally(SIZE.0 - LEGEND);
        draw_curves(&left, &curves, &range)?;
        draw_legend(&right, &curves)?;
        picture.present()?;
    }
    Ok(svg)
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

fn draw_curves(area: &Area<'_>, curves: &[Curve<'_>], range: &Range) -> Result<(), Box<dyn Error>> {
    let x = (range.first - 0.3)..(range.last + 0.3);
    // A little more, or rounding would take the first and the last line away.
    let y = (10_f64.powi(range.low) * 0.999)..(10_f64.powi(range.high) * 1.001);
    let mut chart = ChartBuilder::on(area)
        .margin(8)
        .x_label_area_size(44)
        .y_label_area_size(80)
        .build_cartesian_2d(x, y.log_scale())?;
    plain(&mut chart.configure_mesh())
        .x_desc("board size (queens)")
        .x_labels((range.last - range.first + 1.0) as usize)
        .x_label_formatter(&|n| format!("{n:.0}"))
        .y_desc("time of one count")
        .y_labels((range.high - range.low + 1) as usize)
        .y_label_formatter(&|seconds| time(seconds.log10().round() as i32))
        .draw()?;
    for curve in curves {
        let points = curve.rows.iter().map(|row| {
            let n = f64::from(row.n.get()) + curve.aside * range.sizes();
            (n, row.seconds.max(SHORTEST))
        });
        let dots = points.clone();
        chart.draw_series(dots.map(|point| Circle::new(point, 3, curve.colour.filled())))?;
        match curve.dashes {
            None => chart.draw_series(LineSeries::new(points, curve.line()))?,
            Some((dash, gap)) => {
                chart.draw_series(DashedLineSeries::new(points, dash, gap, curve.line()))?
            }
        };
    }
    Ok(())
}

fn draw_legend(area: &Area<'_>, curves: &[Curve<'_>]) -> Result<(), Box<dyn Error>> {
    let text = label().pos(Pos::new(HPos::Left, VPos::Center));
    let mut y = 18;
    for curve in curves {
        let line = [(8, y), (34, y)];
        match curve.dashes {
            None => area.draw(&PathElement::new(line, curve.line()))?,
            Some((dash, gap)) => {
                area.draw(&DashedPathElement::new(line, dash, gap, curve.line()))?;
            }
        }
        area.draw(&Text::new(printable(&curve.title), (42, y), text.clone()))?;
        y += 19;
    }
    if curves.iter().any(|curve| curve.aside > 0.0) {
        for note in [
            "Lines that would lie on each other",
            "are drawn side by side.",
        ] {
            y += 16;
            area.draw(&Text::new(
                note,
                (8, y),
                ("sans-serif", 13).into_font().color(&INK),
            ))?;
        }
    }
    Ok(())
}

/// The rows of one method in one style, by ascending size.
struct Curve<'a> {
    title: String,
    rows: Vec<&'a TableRow>,
    colour: RGBColor,
    /// The lengths of dashes and of the gaps between them, `None` for a solid line.
    dashes: Option<(i32, i32)>,
    /// How far to the right it is drawn, as a share of the width, because an earlier curve lies in its place.
    aside: f64,
}

impl Curve<'_> {
    fn line(&self) -> ShapeStyle {
        self.colour.stroke_width(2)
    }

    /// Whether at least half of the points that both have are in the same place.
    fn lies_on(&self, other: &Self, range: &Range) -> bool {
        let mut distances = Vec::new();
        for row in &self.rows {
            let same = other.rows.iter().find(|there| there.n == row.n);
            distances.extend(same.map(|there| range.height(row) - range.height(there)));
        }
        let close = distances
            .iter()
            .filter(|distance| distance.abs() < CLOSE)
            .count();
        close > 0 && 2 * close >= distances.len()
    }
}

/// Moves curves aside that would lie on earlier ones.
fn part(curves: &mut [Curve<'_>], range: &Range) {
    for index in 1..curves.len() {
        let (earlier, rest) = curves.split_at_mut(index);
        let curve = &mut rest[0];
        let taken = earlier.iter().filter(|other| curve.lies_on(other, range));
        curve.aside = taken.map(|other| other.aside + ASIDE).fold(0.0, f64::max);
    }
}

fn curves(rows: &[TableRow]) -> Vec<Curve<'_>> {
    let mut curves: Vec<Curve<'_>> = Vec::new();
    let mut methods: Vec<&str> = Vec::new();
    for row in rows {
        let title = row.title();
        if let Some(curve) = curves.iter_mut().find(|curve| curve.title == title) {
            curve.rows.push(row);
            continue;
        }
        let known = methods.iter().position(|method| *method == row.method);
        let method = known.unwrap_or_else(|| {
            methods.push(&row.method);
            methods.len() - 1
        });
        curves.push(Curve {
            title,
            rows: vec![row],
            colour: COLOURS[method % COLOURS.len()],
            dashes: dashes(row.style.as_deref()),
            aside: 0.0,
        });
    }
    for curve in &mut curves {
        curve.rows.sort_by_key(|row| row.n);
    }
    curves
}

/// What the axes show: board sizes, and powers of ten seconds.
struct Range {
    first: f64,
    last: f64,
    low: i32,
    high: i32,
}

impl Range {
    fn of(rows: &[TableRow]) -> Self {
        let sizes = rows.iter().map(|row| f64::from(row.n.get()));
        let (first, last) = sizes.fold((f64::MAX, 1.0), |(first, last): (f64, f64), n| {
            (first.min(n), last.max(n))
        });
        let exponents = rows.iter().map(|row| row.seconds.max(SHORTEST).log10());
        let (low, high) = exponents.fold((i32::MAX, i32::MIN), |(low, high), exponent| {
            (
                low.min(exponent.floor() as i32),
                high.max(exponent.ceil() as i32),
            )
        });
        let (low, high) = if rows.is_empty() { (0, 1) } else { (low, high) };
        Self {
            first: first.min(last),
            last,
            low,
            high: high.max(low + 1),
        }
    }

    /// How many sizes the width stands for.
    fn sizes(&self) -> f64 {
        self.last - self.first + 0.6
    }

    /// How high a row is drawn, from 0 at the bottom to 1 at the top.
    fn height(&self, row: &TableRow) -> f64 {
        let exponent = row.seconds.max(SHORTEST).log10();
        (exponent - f64::from(self.low)) / f64::from(self.high - self.low)
    }
}

/// A power of ten seconds.
fn time(exponent: i32) -> String {
    match exponent {
        ..=-7 => format!("{} ns", 10_u64.pow((exponent + 9).max(0) as u32)),
        -6..=-4 => format!("{} µs", 10_u64.pow((exponent + 6) as u32)),
        -3..=-1 => format!("{} ms", 10_u64.pow((exponent + 3) as u32)),
        0..=3 => format!("{} s", 10_u64.pow(exponent as u32)),
        _ => format!("1e{exponent} s"),
    }
}

/// One pattern for each style or engine. A method without a choice has the solid line of the recursive style.
fn dashes(style: Option<&str>) -> Option<(i32, i32)> {
    match style {
        Some("iterative" | "chain") => Some((6, 4)),
        Some("gpu") => Some((2, 3)),
        Some("emulated") => Some((12, 3)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::board::Size;
    use crate::ladder::{METHODS, PROGRAM};

    fn row(n: u32, method: &str, style: Option<&str>, seconds: f64) -> TableRow {
        TableRow {
            n: Size::new(n).unwrap(),
            method: method.into(),
            style: style.map(Into::into),
            total: 0,
            unique: None,
            classes: None,
            nodes: 0,
            seconds,
            note: None,
        }
    }

    /// The texts of a picture, in order.
    fn texts(svg: &str) -> Vec<&str> {
        let texts = svg.split("<text").skip(1);
        texts
            .filter_map(|text| Some(text.split_once('>')?.1.split_once("</text>")?.0.trim()))
            .collect()
    }

    #[test]
    fn each_method_and_style_is_a_curve_and_ten_times_the_time_is_one_line_up() {
        let rows = [
            row(8, "bitmap", Some("recursive"), 0.01),
            row(9, "bitmap", Some("recursive"), 0.1),
            row(8, "bitmap", Some("iterative"), 1.0),
            row(8, "<b>", None, 0.001),
        ];
        let svg = ladder_picture(&rows).unwrap();
        let texts = texts(&svg);
        for text in [
            "bitmap, recursive",
            "bitmap, iterative",
            "&lt;b&gt;",
            "8",
            "9",
            "1 ms",
            "10 ms",
            "100 ms",
            "1 s",
            "board size (queens)",
            "time of one count",
        ] {
            assert_eq!(
                texts.iter().filter(|t| **t == text).count(),
                1,
                "{text}: {texts:?}"
            );
        }
        assert_eq!(svg.matches("<circle").count(), rows.len());
        let range = Range::of(&rows);
        let step = range.height(&rows[1]) - range.height(&rows[0]);
        let steps = range.height(&rows[2]) - range.height(&rows[1]);
        assert!((steps - step).abs() < 1e-9 && step > 0.0);
    }

    #[test]
    fn curves_that_would_lie_on_each_other_are_drawn_side_by_side() {
        let times = |method, style, factor: f64| {
            let seconds = [0.01, 0.1, 1.0].map(|seconds| seconds * factor);
            (8..)
                .zip(seconds)
                .map(move |(n, seconds)| row(n, method, style, seconds))
        };
        let rows: Vec<_> = times("bitmap", Some("recursive"), 1.0)
            .chain(times("bitmap", Some("iterative"), 1.01))
            .chain(times("flags", None, 1.02))
            .chain(times("mirror", None, 3.0))
            .collect();
        let mut curves = curves(&rows);
        part(&mut curves, &Range::of(&rows));
        let aside: Vec<_> = curves.iter().map(|curve| curve.aside).collect();
        assert_eq!(aside, [0.0, ASIDE, 2.0 * ASIDE, 0.0]);
        let says = |rows: &[TableRow]| ladder_picture(rows).unwrap().contains("side by side");
        assert!(says(&rows) && !says(&rows[..3]));
    }

    #[test]
    fn no_two_curves_look_alike() {
        let rows: Vec<_> = METHODS
            .iter()
            .map(|method| method.about())
            .flat_map(|about| {
                let styles = about.styles.iter();
                styles.map(|style| row(8, about.name, style.name(), 0.1))
            })
            .chain(["colour", "chain"].map(|engine| row(8, PROGRAM, Some(engine), 0.1)))
            .collect();
        let curves = curves(&rows);
        assert_eq!(curves.len(), rows.len());
        let colour = |curve: &Curve<'_>| curve.colour.rgb();
        let looks: BTreeSet<_> = curves.iter().map(|c| (colour(c), c.dashes)).collect();
        assert_eq!(looks.len(), curves.len(), "{looks:?}");
        let colours: BTreeSet<_> = curves.iter().map(colour).collect();
        assert_eq!(
            colours.len(),
            METHODS.len() + 1,
            "a colour means one method"
        );
    }

    #[test]
    fn names_are_text_and_not_markup() {
        let svg = ladder_picture(&[row(8, "</text>\0<a b=\"c\">&", None, 0.1)]).unwrap();
        assert!(
            svg.contains("&lt;/text&gt;\\u{0}&lt;a b=&quot;c&quot;&gt;&amp;"),
            "{svg}"
        );
    }

    #[test]
    fn strange_rows_make_a_picture_all_the_same() {
        for rows in [
            vec![],
            vec![row(1, "a", None, 0.0)],
            vec![row(32, "a", None, 1e9), row(1, "a", None, 1e-12)],
        ] {
            let svg = ladder_picture(&rows).unwrap();
            assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}
