//! Where the names of the curves stand in the picture of the ladder: at their ends, and not on each other.

use std::cmp::Reverse;

/// Curves that end in this part of the width, at the right, have their names in the column.
const NEAR: i32 = 8;

/// A point in pixels, from the upper left.
pub type Pixel = (i32, i32);

/// The height of a line of text, and the width of one of its characters.
const LINE: i32 = 15;
const CHARACTER: i32 = 7;

/// How far from its curve a name stands.
const GAP: i32 = 9;

/// The part of the picture that has the curves.
#[derive(Clone, Copy, Debug)]
pub struct Plot {
    /// Its left edge.
    pub left: i32,
    /// Its right edge: names right of it have a column of their own.
    pub right: i32,
    /// Its upper edge.
    pub top: i32,
    /// Its lower edge.
    pub bottom: i32,
}

/// A name: where it stands, and what its curve is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The middle of the text's height, at the side that is nearer to the curve.
    pub at: Pixel,
    /// On which side of the curve it stands.
    pub side: Side,
    /// The end of the curve. A line leads to it if the name is elsewhere.
    pub end: Pixel,
}

/// Where a name stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Left of the end of its curve.
    Left,
    /// Right of it.
    Right,
    /// In the column right of the plot.
    Column,
}

impl Label {
    /// Whether a line has to lead from the curve to its name.
    pub const fn needs_leader(&self) -> bool {
        matches!(self.side, Side::Column) || (self.at.1 - self.end.1).abs() > LINE / 2
    }
}

/// Places the names of these curves: of those that end near the right edge in a column there, of the others beside their
/// ends or, if something is there already, above or below. Each curve has its points and the length of its name.
pub fn place(curves: &[(Vec<Pixel>, usize)], plot: Plot) -> Vec<Label> {
    let ends: Vec<_> = curves
        .iter()
        .map(|(points, _)| points.last().copied().unwrap_or_default())
        .collect();
    let last = ends.iter().map(|end| end.0).max().unwrap_or_default();
    let from = last - (plot.right - plot.left) / NEAR;
    let column: Vec<_> = (0..ends.len()).filter(|at| ends[*at].0 >= from).collect();
    let heights = spread(
        &column.iter().map(|at| ends[*at].1).collect::<Vec<_>>(),
        plot,
    );
    let mut labels: Vec<_> = ends
        .iter()
        .map(|end| Label {
            at: *end,
            side: Side::Column,
            end: *end,
        })
        .collect();
    for (&at, height) in column.iter().zip(heights) {
        labels[at].at = (plot.right + 4 * GAP, height);
    }
    // Where several curves end side by side, their names stand in the order of the ends: the lowest first.
    let mut beside: Vec<_> = (0..ends.len()).filter(|at| !column.contains(at)).collect();
    let first = |at: usize| {
        let mut group = (0..ends.len()).filter(|other| is_side_by_side(ends[*other], ends[at]));
        group.next().unwrap_or(at)
    };
    beside.sort_by_key(|at| (first(*at), Reverse(ends[*at].1)));
    let mut taken: Vec<(Area, Pixel)> = Vec::new();
    for at in beside {
        let end = ends[at];
        let width = CHARACTER * curves[at].1 as i32;
        let (area, place) = free_area(end, width, curves, &taken, plot);
        taken.push((area, end));
        labels[at].at = place;
        labels[at].side = match place.0 < end.0 {
            true => Side::Left,
            false => Side::Right,
        };
    }
    labels
}

/// Whether two curves end so that a name beside one of the ends is beside the other, too, but for its height.
const fn is_side_by_side(one: Pixel, other: Pixel) -> bool {
    (one.0 - other.0).abs() <= GAP
}

/// A rectangle that a name takes.
#[derive(Clone, Copy, Debug)]
struct Area {
    left: i32,
    right: i32,
    middle: i32,
}

impl Area {
    /// Beside a point, to its right if `width` is positive.
    fn beside((x, middle): Pixel, width: i32) -> Self {
        Self {
            left: x.min(x + width),
            right: x.max(x + width),
            middle,
        }
    }

    const fn overlaps(&self, other: &Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && (self.middle - other.middle).abs() < LINE
    }

    /// Whether a curve runs through it.
    fn is_crossed_by(&self, points: &[Pixel]) -> bool {
        let on = |x: f64, y: f64| {
            x > f64::from(self.left)
                && x < f64::from(self.right)
                && (y - f64::from(self.middle)).abs() < f64::from(LINE / 2)
        };
        points.windows(2).any(|ends| {
            let [(x, y), (to_x, to_y)] =
                [ends[0], ends[1]].map(|(x, y)| (f64::from(x), f64::from(y)));
            // As many steps as pixels, or it could jump over the text.
            let steps = (to_x - x).abs().max((to_y - y).abs()).ceil().max(1.0);
            (0..=steps as i32).any(|step| {
                let share = f64::from(step) / steps;
                on(x + share * (to_x - x), y + share * (to_y - y))
            })
        })
    }
}

/// The place nearest to the end of a curve at which its name covers nothing, left of the end or right of it, and above the
/// names that are `taken` by curves with an end below this one. Names may stand a line above the plot.
fn free_area(
    end: Pixel,
    width: i32,
    curves: &[(Vec<Pixel>, usize)],
    taken: &[(Area, Pixel)],
    plot: Plot,
) -> (Area, Pixel) {
    // The heights that are given with the ends of curves that end beside this one.
    let side_by_side = |of: &mut dyn Iterator<Item = (Pixel, i32)>| -> Vec<i32> {
        let of = of.filter(|(other, _)| *other != end && is_side_by_side(*other, end));
        of.map(|(_, height)| height).collect()
    };
    let below = side_by_side(&mut taken.iter().map(|(area, end)| (*end, area.middle)));
    let ends = curves.iter().filter_map(|(points, _)| points.last());
    let ends = side_by_side(&mut ends.map(|other| (*other, other.1)));
    let left = |y| (Area::beside((end.0 - GAP, y), -width), (end.0 - GAP, y));
    let right = |y| (Area::beside((end.0 + GAP, y), width), (end.0 + GAP, y));
    let is_free = |(area, (_, y)): &(Area, Pixel)| {
        (plot.top - LINE..=plot.bottom - LINE / 2).contains(y)
            && (plot.left..=plot.right).contains(&area.left)
            && (plot.left..=plot.right).contains(&area.right)
            && !taken.iter().any(|(other, _)| area.overlaps(other))
            && below.iter().all(|name| y < name)
            // Or it would seem to be the name of the other one.
            && ends.iter().all(|other| (other - y).abs() >= LINE)
            && !curves.iter().any(|(points, _)| area.is_crossed_by(points))
    };
    let distances = (0..plot.bottom - plot.top).step_by(4);
    let heights = distances.flat_map(|distance| [end.1 - distance, end.1 + distance]);
    let mut places = heights.flat_map(|y| [left(y), right(y)]);
    places.find(is_free).unwrap_or_else(|| left(end.1))
}

/// Heights for a column of names that would like to be at `wanted`: in the same order, and a line apart if there is room.
fn spread(wanted: &[i32], plot: Plot) -> Vec<i32> {
    let mut order: Vec<_> = (0..wanted.len()).collect();
    order.sort_by_key(|at| wanted[*at]);
    let room = (plot.bottom - plot.top) / wanted.len().max(1) as i32;
    let apart = LINE.min(room);
    // Groups of names that touch each other: how many they are, and where the first of them would like to be on average.
    let mut groups: Vec<(i32, i32)> = Vec::new();
    for &at in &order {
        let mut group = (1, wanted[at]);
        while let Some(&(count, first)) = groups.last().filter(|(n, y)| y + n * apart > group.1) {
            let sum = count * first + group.0 * (group.1 - count * apart);
            group = (count + group.0, sum / (count + group.0));
            groups.pop();
        }
        groups.push(group);
    }
    let groups = groups.into_iter();
    let mut spread = groups.flat_map(|(count, first)| (0..count).map(move |at| first + at * apart));
    let mut heights = wanted.to_vec();
    let (mut least, mut left) = (plot.top + apart / 2, order.len() as i32);
    for at in order {
        left -= 1;
        let most = plot.bottom - apart / 2 - left * apart;
        heights[at] = spread.next().unwrap_or_default().min(most).max(least);
        least = heights[at] + apart;
    }
    heights
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLOT: Plot = Plot {
        left: 0,
        right: 600,
        top: 0,
        bottom: 300,
    };

    #[test]
    fn names_in_the_column_keep_their_order_and_a_line_between_them() {
        let heights = spread(&[100, 102, 101, 250, 299, 298], PLOT);
        let mut sorted = [
            heights[0], heights[2], heights[1], heights[3], heights[5], heights[4],
        ];
        assert!(sorted.is_sorted(), "{heights:?}");
        assert!(
            sorted.windows(2).all(|pair| pair[1] - pair[0] >= LINE),
            "{heights:?}"
        );
        // Near where they would like to be, and alone exactly there.
        assert_eq!((heights[2], heights[3]), (101, 250));
        sorted.reverse();
        assert!(sorted[0] <= 300);
        // More than there is room for stay inside all the same.
        let many = spread(&[150; 60], PLOT);
        assert!(many.iter().all(|height| (0..=300).contains(height)));
    }

    #[test]
    fn a_name_beside_its_curve_covers_neither_a_name_nor_a_curve() {
        let curves = [
            (vec![(0, 290), (200, 100)], 20),
            // It ends at the same height: its name would lie on the first curve.
            (vec![(0, 300), (260, 100)], 20),
            // Where its name would be right of it.
            (vec![(0, 120), (600, 90)], 20),
        ];
        let labels = place(&curves, PLOT);
        assert_eq!(labels[0].at, (200 - GAP, 100));
        assert!(!labels[0].needs_leader());
        assert_eq!(labels[0].side, Side::Left);
        assert!(labels[1].side != Side::Column);
        assert!(labels[1].at.1 != 100 && labels[1].needs_leader());
        assert_eq!(labels[2].side, Side::Column);
        let areas = [0, 1].map(|at: usize| {
            let width = match labels[at].side {
                Side::Left => -20 * CHARACTER,
                _ => 20 * CHARACTER,
            };
            Area::beside(labels[at].at, width)
        });
        assert!(!areas[0].overlaps(&areas[1]));
        for area in areas {
            assert!(!curves.iter().any(|(points, _)| area.is_crossed_by(points)));
        }
    }

    #[test]
    fn names_of_curves_that_end_side_by_side_stand_in_the_order_of_their_ends() {
        let curves: Vec<_> = [150, 100, 110, 104]
            .map(|y| (vec![(0, 290), (200, y)], 10))
            .into_iter()
            .chain([(vec![(0, 290), (600, 90)], 10)])
            .collect();
        let labels = place(&curves, PLOT);
        let heights = [1, 3, 2, 0].map(|at: usize| labels[at].at.1);
        assert!(heights.is_sorted_by(|a, b| a < b), "{labels:?}");
    }

    #[test]
    fn a_name_that_would_leave_the_plot_stands_right_of_its_curve() {
        let curves = [
            (vec![(10, 200), (60, 100)], 20),
            (vec![(10, 290), (600, 50)], 20),
        ];
        let label = &place(&curves, PLOT)[0];
        assert_eq!((label.at, label.side), ((60 + GAP, 100), Side::Right));
    }
}
