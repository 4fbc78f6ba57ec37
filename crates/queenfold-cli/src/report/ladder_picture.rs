//! The picture of the ladder, as SVG: how long each method takes, against the size of the board.

use std::error::Error;
use std::ops::Range;

use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::drawing::{Drawn, INK, plain};
use super::ladder_curves::{Curve, Look, Marker, curves};
use crate::ladder::TableRow;
use crate::telemetry::printable;

/// The whole picture, and the part at the right that has the names of curves.
const SIZE: (u32, u32) = (960, 600);

/// What every picture begins with.
pub const LADDER_MARK: &str = "<svg width=\"960\" height=\"600\" viewBox=\"0 0 960 600\" \
     xmlns=\"http://www.w3.org/2000/svg\">\n<style>@media (prefers-color-scheme:dark){";

/// What follows there: on a dark page white is black, and a colour is a lighter one of its hue.
const DARK: &str = "svg{filter:invert(.91) hue-rotate(180deg)}}</style>\n";
const NAMES: u32 = 260;

/// The height of the title.
const TITLE: u32 = 52;

/// The shortest time that is drawn, in seconds: clocks are not precise enough below it.
const SHORTEST: f64 = 1e-7;

/// Draws time against board size, time on a logarithmic scale: one curve for each method and style. A viewer that wants dark pages shows it light on black.
///
/// # Errors
/// The crate that draws fails.
pub fn ladder_picture(rows: &[TableRow]) -> Drawn {
    let range = Axes::of(rows);
    let curves = curves(rows);
    let mut svg = String::new();
    {
        let picture = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        picture.fill(&WHITE)?;
        let (_, below) = picture.split_vertically(TITLE);
        let (left, _) = below.split_horizontally(SIZE.0 - NAMES);
        let (plot, points) = draw_axes(&left, &curves, &range)?;
        let title = ("sans-serif", 19).into_font().color(&INK);
        let title = title.pos(Pos::new(HPos::Center, VPos::Center));
        let middle = (plot.0.start + plot.0.end) / 2;
        picture.draw(&Text::new(
            "Time of one count, by board size and method",
            (middle, 22),
            title,
        ))?;
        // Broad lines above the others.
        for width in [1, 2] {
            for (curve, points) in curves.iter().zip(&points) {
                if curve.look.width == width {
                    draw_curve(&picture, curve, points)?;
                }
            }
        }
        draw_names(&picture, &curves, &points, &plot)?;
        if range.last > range.first {
            draw_notes(&picture, &plot)?;
        }
        picture.present()?;
    }
    let (_, drawing) = svg.split_once('\n').unwrap_or_default();
    Ok([LADDER_MARK, DARK, drawing].concat())
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// A point in pixels, from the upper left.
type Pixel = (i32, i32);

/// Where the part of the picture is that has the curves: from the left to the right, from the top to the bottom.
type Plot = (Range<i32>, Range<i32>);

/// Where the plot is, and the points of each curve.
type Places = (Plot, Vec<Vec<Pixel>>);

/// Draws the axes. Returns where the plot is, and the points of the curves.
fn draw_axes(
    area: &Area<'_>,
    curves: &[Curve<'_>],
    range: &Axes,
) -> Result<Places, Box<dyn Error>> {
    let x = (range.first - 0.3)..(range.last + 0.3);
    // A little more, or rounding would take the first and the last line away.
    let y = (10_f64.powi(range.low) * 0.999)..(10_f64.powi(range.high) * 1.001);
    let mut chart = ChartBuilder::on(area)
        .margin_left(8)
        .margin_bottom(8)
        .x_label_area_size(44)
        .y_label_area_size(80)
        .build_cartesian_2d(x, y.log_scale())?;
    plain(&mut chart.configure_mesh())
        .x_desc("board size (queens)")
        .x_labels((range.last - range.first + 1.0) as usize)
        .x_label_formatter(&|n| format!("{n:.0}"))
        .y_desc("CPU time, each line ten times the one below")
        .y_labels((range.high - range.low + 1) as usize)
        .y_label_formatter(&|seconds| time(seconds.log10().round() as i32))
        .draw()?;
    let plot = chart.plotting_area();
    let place =
        |row: &&TableRow| plot.map_coordinate(&(row.n.get().into(), row.cost().max(SHORTEST)));
    let points = curves
        .iter()
        .map(|curve| curve.rows.iter().map(place).collect());
    Ok((plot.get_pixel_range(), points.collect()))
}

fn draw_curve(
    picture: &Area<'_>,
    curve: &Curve<'_>,
    points: &[Pixel],
) -> Result<(), Box<dyn Error>> {
    let look = curve.look;
    let line = look.colour.stroke_width(look.width);
    let path = points.to_vec();
    match curve.dashes() {
        None => picture.draw(&PathElement::new(path, line))?,
        Some((dash, gap)) => picture.draw(&DashedPathElement::new(path, dash, gap, line))?,
    }
    for point in points {
        draw_marker(picture, look, *point)?;
    }
    Ok(())
}

fn draw_marker(picture: &Area<'_>, look: Look, (x, y): Pixel) -> Result<(), Box<dyn Error>> {
    let at = |corners: &[Pixel]| -> Vec<Pixel> {
        corners
            .iter()
            .map(|(right, down)| (x + right, y + down))
            .collect()
    };
    let shape = |corners: &[Pixel], is_full: bool| -> Result<(), Box<dyn Error>> {
        let fill = if is_full { look.colour } else { WHITE };
        picture.draw(&Polygon::new(at(corners), fill.filled()))?;
        let around = [corners, &corners[..1]].concat();
        Ok(picture.draw(&PathElement::new(at(&around), look.colour.stroke_width(2)))?)
    };
    match look.marker {
        Marker::Circle(true) => picture.draw(&Circle::new((x, y), 4, look.colour.filled()))?,
        Marker::Circle(false) => {
            picture.draw(&Circle::new((x, y), 4, WHITE.filled()))?;
            picture.draw(&Circle::new((x, y), 4, look.colour.stroke_width(2)))?;
        }
        Marker::Square(is_full) => shape(&[(-4, -4), (4, -4), (4, 4), (-4, 4)], is_full)?,
        Marker::Triangle(is_full) => shape(&[(0, -5), (5, 4), (-5, 4)], is_full)?,
        Marker::Diamond => shape(&[(0, -6), (6, 0), (0, 6), (-6, 0)], true)?,
        Marker::Cross => {
            for [from, to] in [[(-5, -5), (5, 5)], [(-5, 5), (5, -5)]] {
                let stroke = look.colour.stroke_width(2);
                picture.draw(&PathElement::new(at(&[from, to]), stroke))?;
            }
        }
    }
    Ok(())
}

/// Writes the names beside the plot, each behind the marker of its curve, in the order in which the curves end: those that
/// are too slow for larger boards first.
fn draw_names(
    picture: &Area<'_>,
    curves: &[Curve<'_>],
    points: &[Vec<Pixel>],
    (across, down): &Plot,
) -> Result<(), Box<dyn Error>> {
    let mut order: Vec<_> = (0..curves.len()).collect();
    order.sort_by_key(|at| points[*at].last());
    let room = down.end - down.start - 50;
    let line = (room / curves.len().max(1) as i32).min(20);
    for (place, at) in (0..).zip(order) {
        let (x, y) = (across.end + 24, down.start + 10 + place * line);
        let curve = &curves[at];
        draw_marker(picture, curve.look, (x, y))?;
        let style = ("sans-serif", 13).into_font().color(&curve.look.colour);
        let style = style.pos(Pos::new(HPos::Left, VPos::Center));
        picture.draw(&Text::new(printable(&curve.label()), (x + 12, y), style))?;
    }
    Ok(())
}

/// Says below the names what is in them.
fn draw_notes(picture: &Area<'_>, (across, down): &Plot) -> Result<(), Box<dyn Error>> {
    let notes = ["× 7 a queen: one queen more", "takes 7 times as long"];
    let style = ("sans-serif", 13).into_font().color(&INK);
    for (line, note) in (0..).zip(notes) {
        let at = (across.end + 18, down.end - 40 + 17 * line);
        picture.draw(&Text::new(note, at, style.clone()))?;
    }
    Ok(())
}

/// What the axes show: board sizes, and powers of ten seconds.
struct Axes {
    first: f64,
    last: f64,
    low: i32,
    high: i32,
}

impl Axes {
    fn of(rows: &[TableRow]) -> Self {
        let sizes = rows.iter().map(|row| f64::from(row.n.get()));
        let (first, last) = sizes.fold((f64::MAX, 1.0), |(first, last): (f64, f64), n| {
            (first.min(n), last.max(n))
        });
        let exponents = rows.iter().map(|row| row.cost().max(SHORTEST).log10());
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

#[cfg(test)]
pub mod tests {
    use super::*;
    use queenfold::board::Size;

    pub fn row(n: u32, method: &str, style: Option<&str>, seconds: f64) -> TableRow {
        TableRow {
            n: Size::new(n).unwrap(),
            method: method.into(),
            style: style.map(Into::into),
            total: 0,
            unique: None,
            classes: None,
            nodes: 0,
            seconds: 1e3,
            cpu_seconds: Some(seconds),
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
    fn each_method_and_style_is_a_curve_with_its_name_and_its_growth() {
        let rows = [
            row(8, "bitmap", Some("recursive"), 0.01),
            row(9, "bitmap", Some("recursive"), 0.1),
            row(8, "bitmap", Some("iterative"), 1.0),
            row(8, "<b>", None, 0.001),
        ];
        let svg = ladder_picture(&rows).unwrap();
        let texts = texts(&svg);
        for text in [
            "bitmap, recursive, × 10 a queen",
            "bitmap, iterative",
            "&lt;b&gt;",
            "8",
            "9",
            "1 ms",
            "10 ms",
            "100 ms",
            "1 s",
            "board size (queens)",
        ] {
            assert_eq!(
                texts.iter().filter(|t| **t == text).count(),
                1,
                "{text}: {texts:?}"
            );
        }
    }

    #[test]
    fn the_title_is_in_the_middle_of_the_plot() {
        let svg = ladder_picture(&[row(8, "a", None, 0.1), row(9, "a", None, 1.0)]).unwrap();
        let (start, _) = svg.split_once("Time of one count").unwrap();
        let title = &start[start.rfind("<text").unwrap()..];
        assert!(title.contains("text-anchor=\"middle\""), "{title}");
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
            assert!(svg.starts_with(LADDER_MARK) && svg.ends_with("</svg>\n"));
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}
