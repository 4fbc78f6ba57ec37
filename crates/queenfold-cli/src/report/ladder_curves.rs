//! The curves of the picture of the ladder: which rows are one, and how each looks.

use crate::ladder::{METHODS, PROGRAM, TableRow, growth};

/// How a curve looks, with colours and without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Its colour.
    pub colour: &'static str,
    /// What stands at each point: a path that begins there, and whether it is filled.
    pub marker: (&'static str, bool),
    /// How broad its line is: 1 or 2.
    pub width: u32,
}

const fn broad(colour: &'static str, marker: &'static str, is_full: bool) -> Look {
    Look {
        colour,
        marker: (marker, is_full),
        width: 2,
    }
}

const SQUARE: &str = "m-4-4h8v8h-8z";
const TRIANGLE: &str = "m0-5l5 9h-10z";
const DIAMOND: &str = "m0-6l6 6-6 6-6-6z";
const CROSS: &str = "m-5-5l10 10m-10 0l10-10";
const CIRCLE: &str = "m-4 0a4 4 0 0 0 8 0a4 4 0 0 0-8 0z";
const DISC: &str = "m-3 0a3 3 0 0 0 6 0a3 3 0 0 0-6 0z";

/// The methods with broad curves: the steps that change how the time grows, the bit masks on which the others are built,
/// and the engines, which have a style. No two have the same colour or the same marker.
const BROAD: [(&str, Option<&str>, Look); 8] = [
    ("tuples", None, broad("#1a1a1a", DISC, true)),
    ("permutations", None, broad("#0072b2", SQUARE, true)),
    ("backtrack", None, broad("#c84e00", TRIANGLE, true)),
    ("bitmap", None, broad("#007a59", DIAMOND, true)),
    ("symmetry", None, broad("#a82f76", CROSS, false)),
    ("colour", None, broad("#7a5c00", SQUARE, false)),
    (PROGRAM, Some("colour"), broad("#633cb0", TRIANGLE, false)),
    (PROGRAM, Some("chain"), broad("#a01010", CIRCLE, false)),
];

/// The colour of the others.
const GREY: &str = "#767676";

/// The markers of the others: filled ones, then hollow ones.
const THIN: [&str; 6] = [DISC, TRIANGLE, SQUARE, DIAMOND, CIRCLE, CROSS];

/// The look of a method or engine, the same in every picture.
fn look_of(row: &TableRow) -> Look {
    let mut broad = BROAD.iter();
    let broad = broad.find(|(method, style, _)| {
        row.method == *method && (style.is_none() || row.style.as_deref() == *style)
    });
    if let Some((.., look)) = broad {
        return *look;
    }
    let names = METHODS.iter().map(|method| method.name);
    let mut thin = names.filter(|name| BROAD.iter().all(|(broad, ..)| broad != name));
    let at = thin.position(|name| row.method == name);
    let at = at.unwrap_or(METHODS.len());
    Look {
        colour: GREY,
        marker: (THIN[at % THIN.len()], at < THIN.len()),
        width: 1,
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
    /// The dashes of its style, as an attribute; nothing for a solid line.
    pub fn dashes(&self) -> &'static str {
        let style = self.rows.first().and_then(|row| row.style.as_deref());
        match style {
            Some("iterative") => "stroke-dasharray=\"9 4\"",
            Some("gpu") => "stroke-dasharray=\"3 3\"",
            _ => "",
        }
    }

    /// Its name, and by how much the nodes grow with a queen at its end. Times of small boards would say what
    /// a start costs.
    pub fn label(&self) -> String {
        let nodes = self.rows.iter();
        let nodes: Vec<_> = nodes.map(|row| (row.n.get(), row.nodes as f64)).collect();
        match growth(&nodes) {
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
    use crate::report::ladder_picture;
    use queenfold::board::Size;

    fn row(method: &str, style: Option<&str>) -> TableRow {
        ladder_picture::tests::row(8, method, style, 0.1)
    }

    #[test]
    fn a_method_looks_the_same_in_every_picture_and_unlike_every_other() {
        let all = METHODS.iter();
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
        let looks = curves.iter().map(|curve| curve.look);
        let looks: BTreeSet<_> = looks.map(|look| (look.colour, look.marker)).collect();
        assert_eq!(looks.len(), rows.len(), "{looks:?}");
        // Without colours, the markers tell the broad ones apart.
        let markers: BTreeSet<_> = BROAD.iter().map(|(.., look)| look.marker).collect();
        assert_eq!(markers.len(), BROAD.len(), "{markers:?}");
    }

    #[test]
    fn a_label_says_how_the_nodes_grow_whatever_the_time() {
        let of = |n, nodes| TableRow {
            nodes,
            n: Size::new(n).unwrap(),
            ..row("bitmap", None)
        };
        let rows = [of(9, 7), of(8, 1), of(10, 49)];
        assert_eq!(curves(&rows)[0].label(), "bitmap, × 7.0 a queen");
        let rows = [of(8, 1), of(9, 24)];
        assert_eq!(curves(&rows)[0].label(), "bitmap, × 24 a queen");
    }
}
