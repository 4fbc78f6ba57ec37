//! The picture of the ladder, as SVG: how long each method takes, against the size of the board.

use std::cmp::Ordering;

use super::chart::Chart;
use super::ladder_curves::{Curve, curves};
use crate::ladder::TableRow;

/// What every picture begins with.
pub const LADDER_MARK: &str = "<svg width=\"960\" height=\"600\" viewBox=\"0 0 960 600\" \
     xmlns=\"http://www.w3.org/2000/svg\">\n<style>@media (prefers-color-scheme:dark){";

/// What follows there: on a dark page white is black, and a colour is a lighter one of its hue.
const DARK: &str = "svg{filter:invert(.91) hue-rotate(180deg)}}text{font-family:sans-serif}</style>\n\
     <rect width=\"960\" height=\"600\" fill=\"#fff\"/>\n";

/// The shortest time that is drawn, in seconds: clocks are not precise enough below it.
const SHORTEST: f64 = 1e-7;

/// The power of ten seconds that a row took.
fn exponent(row: &TableRow) -> f64 {
    row.cost().max(SHORTEST).log10()
}

/// Draws time against board size, time on a logarithmic scale: one curve for each method and style. A viewer that wants dark
/// pages shows it light on black.
pub fn ladder_picture(rows: &[TableRow]) -> String {
    let mut curves = curves(rows);
    let sizes = rows.iter().map(|row| row.n.get());
    let (first, last) = (sizes.clone().min().unwrap_or(1), sizes.max().unwrap_or(1));
    let exponents = rows.iter().map(exponent);
    let low = exponents.clone().map(|of| of.floor() as i32).min();
    let high = exponents.map(|of| of.ceil() as i32).max();
    let low = low.unwrap_or(0);
    let high = high.unwrap_or(1).max(low + 1);
    let x = f64::from(first) - 0.3..f64::from(last) + 0.3;
    let y = f64::from(low)..f64::from(high);
    let head = [LADDER_MARK, DARK].concat();
    let mut chart = Chart::new(&head, [88..700, 52..548], [x, y]);
    let sizes = (first..=last).map(|n| (n.into(), n.to_string()));
    chart.x_axis("board size (queens)", sizes);
    let times = (low..=high).map(|exponent| (exponent.into(), time(exponent)));
    chart.y_axis("CPU time, each line ten times the one below", times);
    let title = "Time of one count, by board size and method";
    chart.text((394, 28), "middle", "font-size=\"16\"", title);
    // Broad lines above the others.
    for width in [1, 2] {
        for curve in curves.iter().filter(|curve| curve.look.width == width) {
            draw_curve(&mut chart, curve);
        }
    }
    draw_names(&mut chart, &mut curves);
    for (y, note) in [
        (521, "× 7 a queen: one queen more"),
        (538, "has 7 times as many nodes"),
    ] {
        chart.text((718, y), "start", "", note);
    }
    chart.finish()
}

fn draw_curve(chart: &mut Chart, curve: &Curve<'_>) {
    let points = curve
        .rows
        .iter()
        .map(|row| (row.n.get().into(), exponent(row)));
    let points: Vec<_> = points.collect();
    let look = format!("stroke-width=\"{}\" {}", curve.look.width, curve.dashes());
    chart.line(&points, curve.look.colour, &look);
    for point in points {
        chart.mark(chart.at(point), curve.look);
    }
}

/// Writes the names beside the plot, each behind the marker of its curve, in the order in which the curves end: those that
/// are too slow for larger boards first.
fn draw_names(chart: &mut Chart, curves: &mut [Curve<'_>]) {
    let end = |curve: &Curve<'_>| curve.rows.last().map(|row| (row.n, -exponent(row)));
    curves.sort_by(|one, other| end(one).partial_cmp(&end(other)).unwrap_or(Ordering::Equal));
    let line = (446 / curves.len().max(1) as i32).clamp(1, 20);
    for (y, curve) in (62..).step_by(line as usize).zip(curves) {
        chart.mark((724, y), curve.look);
        let look = format!("fill=\"{}\"", curve.look.colour);
        chart.text((736, y + 4), "start", &look, &curve.label());
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
            nodes: (seconds * 1e3) as u128,
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
        let svg = ladder_picture(&rows);
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
        let svg = ladder_picture(&[row(8, "a", None, 0.1), row(9, "a", None, 1.0)]);
        let (start, _) = svg.split_once("Time of one count").unwrap();
        let title = &start[start.rfind("<text").unwrap()..];
        assert!(title.contains("text-anchor=\"middle\""), "{title}");
    }

    #[test]
    fn names_are_text_and_not_markup() {
        let svg = ladder_picture(&[row(8, "</text>\0<a b=\"c\">&", None, 0.1)]);
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
            let svg = ladder_picture(&rows);
            assert!(svg.starts_with(LADDER_MARK) && svg.ends_with("</svg>\n"));
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}
