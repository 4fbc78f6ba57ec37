//! The curves of the picture of the ladder: which rows are one, which stand out, and how each looks.

use plotters::style::RGBColor;

use crate::ladder::{PROGRAM, TableRow, growth};

/// At most so many curves stand out; the others are grey.
pub const MOST: usize = 8;

/// What stands out if there are more curves: the steps that change how the time grows, the bit masks on which the others
/// are built, and the engines. The style is that of an engine; of a method the first style is meant.
const FEATURED: [(&str, Option<&str>); MOST] = [
    ("tuples", None),
    ("permutations", None),
    ("backtrack", None),
    ("bitmap", None),
    ("symmetry", None),
    ("colour", None),
    (PROGRAM, Some("chain")),
    (PROGRAM, Some("colour")),
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
    /// The lengths of dashes and of the gaps between them, `None` for a solid line.
    pub dashes: Option<(i32, i32)>,
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
    /// A point, of a curve that does not stand out.
    Dot,
}

const fn look(
    light: (u8, u8, u8),
    dark: (u8, u8, u8),
    marker: Marker,
    dashes: Option<(i32, i32)>,
) -> Look {
    Look {
        light: RGBColor(light.0, light.1, light.2),
        dark: RGBColor(dark.0, dark.1, dark.2),
        marker,
        dashes,
    }
}

/// One look for each curve that stands out. No two have the same marker, and neighbours differ in their dashes.
pub const LOOKS: [Look; MOST] = [
    look(
        (0x1a, 0x1a, 0x1a),
        (0xf2, 0xf2, 0xf2),
        Marker::Circle(true),
        None,
    ),
    look(
        (0x00, 0x72, 0xb2),
        (0x5a, 0xb4, 0xf0),
        Marker::Square(true),
        Some((9, 4)),
    ),
    look(
        (0xc8, 0x4e, 0x00),
        (0xff, 0x9a, 0x4d),
        Marker::Triangle(true),
        Some((3, 3)),
    ),
    look(
        (0x00, 0x7a, 0x59),
        (0x35, 0xd4, 0xa8),
        Marker::Diamond,
        None,
    ),
    look(
        (0xa8, 0x2f, 0x76),
        (0xf2, 0x8c, 0xc6),
        Marker::Cross,
        Some((14, 4)),
    ),
    look(
        (0x7a, 0x5c, 0x00),
        (0xe6, 0xc2, 0x29),
        Marker::Square(false),
        Some((3, 3)),
    ),
    look(
        (0x63, 0x3c, 0xb0),
        (0xb7, 0x9c, 0xf5),
        Marker::Triangle(false),
        Some((9, 4)),
    ),
    look(
        (0xa0, 0x10, 0x10),
        (0xff, 0x7b, 0x7b),
        Marker::Circle(false),
        None,
    ),
];

/// The look of all others.
pub const GREY: Look = look((0xa6, 0xa6, 0xa6), (0x72, 0x72, 0x72), Marker::Dot, None);

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
    /// Whether it is one of those that stand out.
    pub fn stands_out(&self) -> bool {
        self.look != GREY
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
    let mut curves: Vec<(&TableRow, Curve<'_>)> = Vec::new();
    for row in rows {
        let same = |(first, _): &&mut (&TableRow, _)| {
            first.method == row.method && first.style == row.style
        };
        if let Some((_, curve)) = curves.iter_mut().find(same) {
            curve.rows.push(row);
            continue;
        }
        let curve = Curve {
            name: name(row, rows),
            rows: vec![row],
            look: GREY,
        };
        curves.push((row, curve));
    }
    let mut order: Vec<usize> = Vec::new();
    for (method, style) in FEATURED {
        let is_it = |(first, _): &(&TableRow, _)| {
            first.method == method && (style.is_none() || first.style.as_deref() == style)
        };
        order.extend(curves.iter().position(is_it));
    }
    let others: Vec<_> = (0..curves.len()).filter(|at| !order.contains(at)).collect();
    order.extend(others);
    let mut chosen: Vec<_> = order.into_iter().take(MOST).collect();
    chosen.sort_unstable();
    for (at, look) in chosen.into_iter().zip(LOOKS) {
        curves[at].1.look = look;
    }
    let mut curves: Vec<_> = curves.into_iter().map(|(_, curve)| curve).collect();
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
    use crate::ladder::METHODS;

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
    fn eight_curves_stand_out_and_no_two_of_them_look_alike() {
        let all = METHODS.iter().map(|method| method.about());
        let rows: Vec<_> = all
            .flat_map(|about| {
                about
                    .styles
                    .iter()
                    .map(|style| row(about.name, style.name()))
            })
            .chain(["colour", "chain"].map(|engine| row(PROGRAM, Some(engine))))
            .collect();
        let curves = curves(&rows);
        assert_eq!(curves.len(), rows.len());
        let out: Vec<_> = curves.iter().filter(|curve| curve.stands_out()).collect();
        let names: Vec<_> = out.iter().map(|curve| &*curve.name).collect();
        assert_eq!(
            names,
            [
                "tuples, recursive",
                "permutations, recursive",
                "backtrack, recursive",
                "bitmap, recursive",
                "symmetry, recursive",
                "colour",
                "engine colour",
                "engine chain"
            ]
        );
        // Without colours, the markers tell them apart.
        let markers: BTreeSet<_> = out.iter().map(|c| format!("{:?}", c.look.marker)).collect();
        assert_eq!(markers.len(), MOST, "{markers:?}");
        for colour in [|look: &Look| look.light, |look: &Look| look.dark] {
            let colours: BTreeSet<_> = out
                .iter()
                .map(|c| format!("{:?}", colour(&c.look)))
                .collect();
            assert_eq!(colours.len(), MOST);
        }
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
    fn few_curves_all_stand_out() {
        let rows = ["mirror", "orbits", "flags"].map(|method| row(method, Some("iterative")));
        let curves = curves(&rows);
        assert!(curves.iter().all(Curve::stands_out));
        assert_eq!(curves[0].label(), "mirror");
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
