//! The curves of the picture of the ladder: which rows are one, and how each looks.

use plotters::style::RGBColor;

use crate::ladder::{METHODS, PROGRAM, TableRow, growth};

/// How many colours there are.
const COLOURS: usize = 8;

/// The methods with broad curves, each with the look of its place in [`LOOKS`]: the steps that change how the time grows,
/// the bit masks on which the others are built, and the engines, which have a style.
const BROAD: [(&str, Option<&str>); COLOURS] = [
    ("tuples", None),
    ("permutations", None),
    ("backtrack", None),
    ("bitmap", None),
    ("symmetry", None),
    ("colour", None),
    (PROGRAM, Some("colour")),
    (PROGRAM, Some("chain")),
];

/// How a curve looks: on white, on black, and without colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// On white. In the SVG, [`dark`](Self::dark) takes its place where the reader wants a dark page.
    pub light: RGBColor,
    /// On black.
    pub dark: RGBColor,
    /// What stands at each point.
    pub marker: Marker,
    /// How broad its line is.
    pub width: u32,
}

/// A small shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marker {
    /// A circle, filled or not.
    Circle(bool),
    /// A square, filled or not.
    Square(bool),
    /// A triangle, filled or not.
    Triangle(bool),
    /// A square on its corner, filled.
    Diamond,
    /// Two strokes.
    Cross,
}

const fn look(light: (u8, u8, u8), dark: (u8, u8, u8), marker: Marker) -> Look {
    Look {
        light: RGBColor(light.0, light.1, light.2),
        dark: RGBColor(dark.0, dark.1, dark.2),
        marker,
        width: 2,
    }
}

/// The looks of broad curves. No two have the same colour or the same marker.
pub const LOOKS: [Look; COLOURS] = [
    look((0x1a, 0x1a, 0x1a), (0xf2, 0xf2, 0xf2), Marker::Circle(true)),
    look((0x00, 0x72, 0xb2), (0x5a, 0xb4, 0xf0), Marker::Square(true)),
    look(
        (0xc8, 0x4e, 0x00),
        (0xff, 0x9a, 0x4d),
        Marker::Triangle(true),
    ),
    look((0x00, 0x7a, 0x59), (0x35, 0xd4, 0xa8), Marker::Diamond),
    look((0xa8, 0x2f, 0x76), (0xf2, 0x8c, 0xc6), Marker::Cross),
    look(
        (0x7a, 0x5c, 0x00),
        (0xe6, 0xc2, 0x29),
        Marker::Square(false),
    ),
    look(
        (0x63, 0x3c, 0xb0),
        (0xb7, 0x9c, 0xf5),
        Marker::Triangle(false),
    ),
    look(
        (0xa0, 0x10, 0x10),
        (0xff, 0x7b, 0x7b),
        Marker::Circle(false),
    ),
];

/// The look of a method or engine, the same in every picture. Those that are not [`BROAD`] take the colours again, each
/// with the marker of another.
fn look_of(row: &TableRow) -> Look {
    let is_broad = |&(method, style): &(&str, Option<&str>)| {
        row.method == method && (style.is_none() || row.style.as_deref() == style)
    };
    if let Some(at) = BROAD.iter().position(is_broad) {
        return LOOKS[at];
    }
    let names = METHODS.iter().map(|method| method.about().name);
    let mut thin = names.filter(|name| !BROAD.contains(&(name, None)));
    let at = thin.position(|name| row.method == name);
    let at = at.unwrap_or(METHODS.len());
    // Curves that are near each other differ in colour.
    let colour = at + 4;
    Look {
        marker: LOOKS[(colour + 3 + at / COLOURS) % COLOURS].marker,
        width: 1,
        ..LOOKS[colour % COLOURS]
    }
}

/// The rows of one method in one style, by ascending size.
pub struct Curve<'a> {
    /// Its name for readers.
    pub name: String,
    /// Its points.
    pub rows: Vec<&'a TableRow>,
    /// How it looks.
    pub look: Look,
}

impl Curve<'_> {
    /// The lengths of the dashes of its style and of the gaps between them; `None` for a solid line.
    pub fn dashes(&self) -> Option<(i32, i32)> {
        match self.rows.first()?.style.as_deref()? {
            "iterative" => Some((9, 4)),
            "gpu" => Some((3, 3)),
            _ => None,
        }
    }

    /// Its name, and by how much the time grows with a queen at its end.
    pub fn label(&self) -> String {
        let times: Vec<_> = self
            .rows
            .iter()
            .map(|row| (row.n.get(), row.cost()))
            .collect();
        match growth(&times) {
            Some(factor) if factor < 9.95 => format!("{}, × {factor:.1} a queen", self.name),
            Some(factor) => format!("{}, × {factor:.0} a queen", self.name),
            None => self.name.clone(),
        }
    }
}

/// The curves of these rows, in the order of their first rows.
pub fn curves(rows: &[TableRow]) -> Vec<Curve<'_>> {
    let mut curves: Vec<Curve<'_>> = Vec::new();
    for row in rows {
        let same = |curve: &&mut Curve<'_>| {
            curve.rows[0].method == row.method && curve.rows[0].style == row.style
        };
        if let Some(curve) = curves.iter_mut().find(same) {
            curve.rows.push(row);
            continue;
        }
        curves.push(Curve {
            name: name(row, rows),
            rows: vec![row],
            look: look_of(row),
        });
    }
    for curve in &mut curves {
        curve.rows.sort_by_key(|row| row.n);
    }
    curves
}

/// The name of a curve: the method, with its style where the rows have several of them.
fn name(row: &TableRow, rows: &[TableRow]) -> String {
    match &row.style {
        Some(engine) if row.method == PROGRAM => format!("engine {engine}"),
        Some(_)
            if rows
                .iter()
                .any(|other| other.method == row.method && other.style != row.style) =>
        {
            row.title()
        }
        _ => row.method.clone(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::board::Size;

    /// A row of eight queens.
    fn row(method: &str, style: Option<&str>) -> TableRow {
        TableRow {
            n: Size::new(8).unwrap(),
            method: method.into(),
            style: style.map(Into::into),
            total: 92,
            unique: None,
            classes: None,
            nodes: 0,
            seconds: 0.1,
            cpu_seconds: None,
            note: None,
        }
    }

    #[test]
    fn a_method_looks_the_same_in_every_picture_and_unlike_every_other() {
        let all = METHODS.iter().map(|method| method.about());
        let rows: Vec<_> = all
            .map(|about| row(about.name, about.styles[0].name()))
            .chain(["colour", "chain"].map(|engine| row(PROGRAM, Some(engine))))
            .collect();
        let curves = curves(&rows);
        for (row, curve) in rows.iter().zip(&curves) {
            let alone = std::slice::from_ref(row);
            assert_eq!(self::curves(alone)[0].look, curve.look, "{}", curve.name);
        }
        // In another style it has other dashes.
        let styles = ["recursive", "iterative"].map(|style| row("bitmap", Some(style)));
        let [one, other] = &self::curves(&styles)[..] else {
            panic!("two curves");
        };
        assert_eq!(one.look, other.look);
        assert_ne!(one.dashes(), other.dashes());
        for colour in [|look: &Look| look.light, |look: &Look| look.dark] {
            let looks = curves.iter().map(|curve| curve.look);
            let looks: BTreeSet<_> = looks
                .map(|look| format!("{:?} {:?}", colour(&look), look.marker))
                .collect();
            assert_eq!(looks.len(), rows.len(), "{looks:?}");
        }
        // Without colours, the markers tell the broad ones apart.
        let markers: BTreeSet<_> = LOOKS.iter().map(|l| format!("{:?}", l.marker)).collect();
        assert_eq!(markers.len(), COLOURS, "{markers:?}");
    }

    /// The contrast of WCAG 2 with white or black.
    fn contrast(RGBColor(r, g, b): RGBColor, ground: f64) -> f64 {
        let linear = |part: u8| match f64::from(part) / 255.0 {
            part @ ..=0.04 => part / 12.92,
            part => ((part + 0.055) / 1.055).powf(2.4),
        };
        let light = 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
        (light.max(ground) + 0.05) / (light.min(ground) + 0.05)
    }

    #[test]
    fn names_in_the_colours_of_their_curves_can_be_read_on_both_grounds() {
        for look in LOOKS {
            assert!(contrast(look.light, 1.0) > 4.5, "{look:?}");
            assert!(contrast(look.dark, 0.008) > 4.5, "{look:?}");
        }
    }

    #[test]
    fn a_label_says_how_the_time_grows() {
        let of = |n, seconds| TableRow {
            n: Size::new(n).unwrap(),
            seconds,
            ..row("bitmap", None)
        };
        let rows = [of(9, 7.0), of(8, 1.0), of(10, 49.0)];
        assert_eq!(curves(&rows)[0].label(), "bitmap, × 7.0 a queen");
        let rows = [of(8, 1.0), of(9, 24.0)];
        assert_eq!(curves(&rows)[0].label(), "bitmap, × 24 a queen");
    }
}
