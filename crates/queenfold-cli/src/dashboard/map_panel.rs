//! A map: one cell for each task, or for several neighbours.

use std::collections::BTreeSet;

use super::canvas::{self, Canvas, Line, Rect, Span};
use super::theme::Theme;
use queenfold::actors::TaskMap;
use queenfold::words::grouped;

/// What a cell of a map tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// Nothing of it is done.
    Empty,
    /// Some of it is done here.
    Partly,
    /// All of it is done.
    Full,
    /// Some of it was there before.
    SomeBefore,
    /// All of it was there before.
    Before,
    /// Somebody works on it.
    Active,
    /// Something was wrong with it.
    Wrong,
}

/// The widest cell, in columns.
const WIDEST: usize = 8;

/// What the kinds of cells mean.
const LEGEND: [&[(Cell, &str)]; 5] = [
    &[(Cell::Full, "counted"), (Cell::Partly, "partly")],
    &[(Cell::Active, "now")],
    &[(Cell::Empty, "left")],
    &[(Cell::Wrong, "differed")],
    &[(Cell::Before, "earlier"), (Cell::SomeBefore, "partly")],
];

/// How wide so many cells can be.
fn width(cells: usize, columns: usize, lines: usize) -> usize {
    (1..=WIDEST.min(columns))
        .rev()
        .find(|width| cells.div_ceil(columns / width) <= lines)
        .unwrap_or(1)
}

/// Draws the tasks of a run, as wide as there is room for. Of the legend only what occurs is shown.
pub fn draw_tasks(canvas: &mut Canvas, theme: Theme, area: Rect, map: &TaskMap) {
    if area.height < 3 || area.width < 3 || map.each == 0 || map.counted.is_empty() {
        return;
    }
    let columns = usize::from(area.width - 2);
    let rows = usize::from(area.height - 2);
    let (each, cells) = cells(map, columns * rows);
    let width = width(cells.len(), columns, rows);
    let lines = cells.chunks(columns / width).map(|row| {
        let spans = row.iter().map(|cell| {
            let (glyph, style) = theme.cell(*cell);
            Span::styled(glyph.repeat(width), style)
        });
        spans.collect::<Line>()
    });
    let mut key = vec![Span::raw(" ")];
    for kinds in LEGEND {
        if !kinds.iter().any(|(kind, _)| cells.contains(kind)) {
            continue;
        }
        let before = key.len();
        for (kind, meaning) in kinds {
            let (glyph, style) = theme.cell(*kind);
            key.push(Span::styled(glyph, style));
            key.push(Span::styled(format!(" {meaning}  "), theme.label()));
        }
        if canvas::width(&key) > columns {
            key.truncate(before);
        }
    }
    let title = match each {
        1 => format!(" {} tasks, a cell each ", grouped(map.tasks)),
        _ => format!(" {} tasks, {} a cell ", grouped(map.tasks), grouped(each)),
    };
    let inside = canvas.frame(theme, area, &title, &key);
    canvas.lines(inside, &lines.collect::<Vec<_>>());
}

/// How many tasks a cell stands for, and at most `room` cells. A live map may come from a stranger.
fn cells(map: &TaskMap, room: usize) -> (u64, Vec<Cell>) {
    let together = map.counted.len().div_ceil(room).max(1);
    let each = map.each.saturating_mul(together as u64);
    let sum = |of: &[u64]| {
        of.iter()
            .fold(0_u64, |sum, tasks| sum.saturating_add(*tasks))
    };
    let cells = map
        .counted
        .chunks(together)
        .enumerate()
        .map(|(at, counted)| {
            let first = at * together;
            let is_among = |marked: &BTreeSet<u64>| {
                let mut among = marked.range(first as u64..(first + counted.len()) as u64);
                among.next().is_some()
            };
            let before = map.before.get(first..first + counted.len());
            let (counted, before) = (sum(counted), before.map_or(0, sum));
            let all = map.tasks.saturating_sub(each.saturating_mul(at as u64));
            let all = all.min(each);
            let done = counted.saturating_add(before);
            match () {
                () if is_among(&map.differed) => Cell::Wrong,
                () if is_among(&map.counting) => Cell::Active,
                () if done == 0 => Cell::Empty,
                () if before > counted && done >= all => Cell::Before,
                () if before > counted => Cell::SomeBefore,
                () if done >= all => Cell::Full,
                () => Cell::Partly,
            }
        });
    (each, cells.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_say_what_is_done_of_them_and_by_whom() {
        let map = TaskMap {
            tasks: 15,
            each: 2,
            before: vec![0, 2, 1, 0, 0, 0, 0, 0],
            counted: vec![0, 0, 0, 2, 1, 2, 2, 1],
            counting: BTreeSet::from([4]),
            differed: BTreeSet::from([5]),
        };
        let expected = [
            Cell::Empty,
            Cell::Before,
            Cell::SomeBefore,
            Cell::Full,
            Cell::Active,
            Cell::Wrong,
            Cell::Full,
            // The last cell has one task.
            Cell::Full,
        ];
        assert_eq!(cells(&map, 8), (2, expected.to_vec()));
        let expected = [Cell::SomeBefore, Cell::Partly];
        let none = BTreeSet::new();
        let plain = TaskMap {
            counting: none.clone(),
            differed: none,
            before: vec![0, 2, 1, 0, 0, 0, 0, 0],
            counted: vec![0, 0, 0, 0, 1, 2, 2, 1],
            ..map
        };
        assert_eq!(cells(&plain, 2), (8, expected.to_vec()));
        // What a stranger wrote.
        let torn = TaskMap {
            before: vec![u64::MAX],
            counted: vec![u64::MAX; 3],
            tasks: 0,
            ..plain
        };
        assert_eq!(cells(&torn, 100).1.len(), 3);
    }
}
