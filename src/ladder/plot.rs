//! The picture of the ladder, as SVG.

use std::fmt::Write;

use super::TableRow;

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 600.0;
/// The frame of the curves in the picture; the legend is to the right of it.
const LEFT: f64 = 90.0;
const RIGHT: f64 = 690.0;
const TOP: f64 = 50.0;
const BOTTOM: f64 = 540.0;

/// The shortest time that is drawn, in seconds: clocks are not precise enough below it.
const SHORTEST: f64 = 1e-7;

/// Colours that differ clearly on white, one for each method in turn.
const COLOURS: [&str; 16] = [
    "#7f7f7f", "#bcbd22", "#8c564b", "#d62728", "#ff7f0e", "#e7298a", "#9467bd", "#c5a200",
    "#17becf", "#1f77b4", "#08306b", "#2ca02c", "#006d2c", "#e377c2", "#7a0177", "#000000",
];

/// Two curves lie on each other where they are closer than this, in units of the picture.
const CLOSE: f64 = 4.0;

/// How far beside each other such curves are drawn.
const ASIDE: f64 = 5.0;

/// Draws time against board size as an SVG picture, time on a logarithmic scale: one curve for
/// each method and style, in the order of their first rows.
pub fn plot(rows: &[TableRow]) -> String {
    let mut curves = curves(rows);
    let scale = Scale::new(rows);
    part(&mut curves, &scale);
    let mut svg = String::new();
    // Writing to a string cannot fail.
    let _ = draw(&mut svg, &curves, &scale);
    svg
}

/// The rows of one method in one style, by ascending size.
struct Curve<'a> {
    title: String,
    rows: Vec<&'a TableRow>,
    colour: &'static str,
    /// The pattern of the line, `None` for a solid one.
    dashes: Option<&'static str>,
    /// How far to the right it is drawn, because an earlier curve lies in its place.
    aside: f64,
}

impl Curve<'_> {
    /// Whether at least half of the points that both have are in the same place.
    fn lies_on(&self, other: &Self, scale: &Scale) -> bool {
        let mut distances = Vec::new();
        for row in &self.rows {
            let same = other.rows.iter().find(|there| there.n == row.n);
            distances.extend(same.map(|there| scale.y(row.seconds) - scale.y(there.seconds)));
        }
        let close = distances
            .iter()
            .filter(|distance| distance.abs() < CLOSE)
            .count();
        close > 0 && 2 * close >= distances.len()
    }
}

/// Moves curves aside that would lie on earlier ones.
fn part(curves: &mut [Curve<'_>], scale: &Scale) {
    for index in 1..curves.len() {
        let (earlier, rest) = curves.split_at_mut(index);
        let curve = &mut rest[0];
        let taken = earlier.iter().filter(|other| curve.lies_on(other, scale));
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

/// Converts board sizes and times to places in the picture.
struct Scale {
    first: f64,
    last: f64,
    /// Powers of ten of the lowest and highest line.
    low: i32,
    high: i32,
}

impl Scale {
    fn new(rows: &[TableRow]) -> Self {
        let sizes = rows.iter().map(|row| f64::from(row.n.get()));
        let (first, last) = sizes.fold((f64::MAX, 1.0), |(first, last): (f64, f64), n| {
            (first.min(n), last.max(n))
        });
        let first = first.min(last);
        let exponents = rows.iter().map(|row| row.seconds.max(SHORTEST).log10());
        let (low, high) = exponents.fold((i32::MAX, i32::MIN), |(low, high), exponent| {
            (
                low.min(exponent.floor() as i32),
                high.max(exponent.ceil() as i32),
            )
        });
        let (low, high) = if rows.is_empty() { (0, 1) } else { (low, high) };
        Self {
            first,
            last,
            low,
            high: high.max(low + 1),
        }
    }

    fn x(&self, n: f64) -> f64 {
        let span = (self.last - self.first).max(1.0);
        LEFT + 20.0 + (n - self.first) / span * (RIGHT - LEFT - 40.0)
    }

    fn y(&self, seconds: f64) -> f64 {
        let exponent = seconds.max(SHORTEST).log10();
        let span = f64::from(self.high - self.low);
        BOTTOM - (exponent - f64::from(self.low)) / span * (BOTTOM - TOP)
    }
}

fn draw(svg: &mut String, curves: &[Curve<'_>], scale: &Scale) -> std::fmt::Result {
    writeln!(
        svg,
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="13">"#
    )?;
    writeln!(
        svg,
        r#"<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>"#
    )?;
    writeln!(
        svg,
        r#"<text x="{LEFT}" y="28" font-size="17">Time against board size, by method</text>"#
    )?;
    if curves.iter().any(|curve| curve.aside > 0.0) {
        writeln!(
            svg,
            r#"<text x="{LEFT}" y="43" font-size="11">Lines that would lie on each other are drawn side by side.</text>"#
        )?;
    }
    axes(svg, scale)?;
    for (index, curve) in curves.iter().enumerate() {
        draw_curve(svg, curve, scale)?;
        legend(svg, curve, index)?;
    }
    writeln!(svg, "</svg>")
}

fn axes(svg: &mut String, scale: &Scale) -> std::fmt::Result {
    for exponent in scale.low..=scale.high {
        let y = scale.y(10_f64.powi(exponent));
        writeln!(
            svg,
            r##"<path d="M{LEFT} {y:.1}H{RIGHT}" stroke="#dddddd"/><text x="{:.1}" y="{:.1}" text-anchor="end">{}</text>"##,
            LEFT - 8.0,
            y + 4.0,
            time(exponent)
        )?;
    }
    for n in scale.first as u32..=scale.last as u32 {
        let x = scale.x(f64::from(n));
        writeln!(
            svg,
            r##"<path d="M{x:.1} {TOP}V{BOTTOM}" stroke="#eeeeee"/><text x="{x:.1}" y="{:.1}" text-anchor="middle">{n}</text>"##,
            BOTTOM + 20.0
        )?;
    }
    writeln!(
        svg,
        r#"<text x="{:.1}" y="{:.1}" text-anchor="middle">board size (queens)</text>"#,
        (LEFT + RIGHT) / 2.0,
        BOTTOM + 42.0
    )?;
    let (x, y) = (20.0, (TOP + BOTTOM) / 2.0);
    writeln!(
        svg,
        r#"<text x="{x:.1}" y="{y:.1}" text-anchor="middle" transform="rotate(-90 {x:.1} {y:.1})">time of one count (each line: ten times as long)</text>"#
    )
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

fn draw_curve(svg: &mut String, curve: &Curve<'_>, scale: &Scale) -> std::fmt::Result {
    let Curve { colour, .. } = curve;
    let points: Vec<_> = curve
        .rows
        .iter()
        .map(|row| {
            let x = scale.x(f64::from(row.n.get())) + curve.aside;
            (x, scale.y(row.seconds))
        })
        .collect();
    let path: Vec<_> = points
        .iter()
        .map(|(x, y)| format!("{x:.1},{y:.1}"))
        .collect();
    writeln!(
        svg,
        r#"<polyline points="{}" fill="none" stroke="{colour}" stroke-width="2"{}/>"#,
        path.join(" "),
        dash_attribute(curve)
    )?;
    for (x, y) in points {
        writeln!(
            svg,
            r#"<circle cx="{x:.1}" cy="{y:.1}" r="3" fill="{colour}"/>"#
        )?;
    }
    Ok(())
}

fn legend(svg: &mut String, curve: &Curve<'_>, index: usize) -> std::fmt::Result {
    let y = TOP + 10.0 + 18.0 * index as f64;
    writeln!(
        svg,
        r#"<path d="M{:.1} {y:.1}h24" stroke="{}" stroke-width="2"{}/><text x="{:.1}" y="{:.1}">{}</text>"#,
        RIGHT + 16.0,
        curve.colour,
        dash_attribute(curve),
        RIGHT + 48.0,
        y + 4.0,
        escaped(&curve.title)
    )
}

/// One pattern for each style or engine. A method without a choice has the solid line of the recursive style.
fn dashes(style: Option<&str>) -> Option<&'static str> {
    match style {
        Some("iterative" | "chain") => Some("6 4"),
        Some("gpu") => Some("2 3"),
        Some("emulated") => Some("10 3 2 3"),
        _ => None,
    }
}

fn dash_attribute(curve: &Curve<'_>) -> String {
    curve.dashes.map_or_else(String::new, |pattern| {
        format!(r#" stroke-dasharray="{pattern}""#)
    })
}

/// The text escaped for XML: a caller may give a row any name.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        // XML cannot express these.
        .replace(|c: char| c.is_control(), "\u{fffd}")
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

    #[test]
    fn each_method_and_style_is_a_curve_and_ten_times_the_time_is_one_line_up() {
        let rows = [
            row(8, "bitmap", Some("recursive"), 0.01),
            row(9, "bitmap", Some("recursive"), 0.1),
            row(8, "bitmap", Some("iterative"), 1.0),
            row(8, "<b>", None, 0.001),
        ];
        let svg = plot(&rows);
        assert_eq!(svg.matches("<polyline").count(), 3);
        assert_eq!(
            svg.matches("stroke-dasharray").count(),
            2,
            "one curve, one legend"
        );
        assert!(svg.contains(">bitmap, iterative<") && svg.contains(">&lt;b&gt;<"));
        let scale = Scale::new(&rows);
        let step = scale.y(0.01) - scale.y(0.1);
        assert!((scale.y(0.1) - scale.y(1.0) - step).abs() < 1e-9 && step > 0.0);
    }

    #[test]
    fn both_axes_have_a_title() {
        let svg = plot(&[row(8, "bitmap", None, 0.1)]);
        assert!(svg.contains(">board size (queens)<") && svg.contains(">time of one count "));
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
        let scale = Scale::new(&rows);
        part(&mut curves, &scale);
        let aside: Vec<_> = curves.iter().map(|curve| curve.aside).collect();
        assert_eq!(aside, [0.0, ASIDE, 2.0 * ASIDE, 0.0]);
        let says = |rows: &[TableRow]| plot(rows).contains("drawn side by side");
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
            .chain(["join", "chain"].map(|engine| row(8, PROGRAM, Some(engine), 0.1)))
            .collect();
        let curves = curves(&rows);
        assert_eq!(curves.len(), rows.len());
        let looks: BTreeSet<_> = curves.iter().map(|c| (c.colour, c.dashes)).collect();
        assert_eq!(looks.len(), curves.len(), "{looks:?}");
        let colours: BTreeSet<_> = curves.iter().map(|c| c.colour).collect();
        assert_eq!(
            colours.len(),
            METHODS.len() + 1,
            "a colour means one method"
        );
    }

    #[test]
    fn names_are_text_and_not_markup() {
        let svg = plot(&[row(8, "</text>\0<a b=\"c\">&", None, 0.1)]);
        assert!(
            svg.contains(">&lt;/text&gt;\u{fffd}&lt;a b=&quot;c&quot;&gt;&amp;<"),
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
            let svg = plot(&rows);
            assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}
