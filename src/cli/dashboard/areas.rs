//! Where the parts of a screen stand, from the top to the bottom.

use ratatui::layout::{Constraint, Layout, Rect};

/// The areas of the parts. One for which there is no room has no height.
pub struct Areas {
    /// What is counted, and the state.
    pub title: Rect,
    /// The share done.
    pub share: Rect,
    /// Figures.
    pub figures: Rect,
    /// The picture of the speed.
    pub speed: Rect,
    /// The map of the tasks or shards.
    pub map: Rect,
    /// The table of workers, hosts or running shards.
    pub table: Rect,
    /// What happened, or the hosts.
    pub below: Rect,
    /// How to go on, and the keys.
    pub footer: Rect,
}

/// How many lines the parts would fill.
pub struct Wanted {
    /// Figures.
    pub figures: usize,
    /// The footer.
    pub footer: usize,
    /// Cells of the map, which are no lines.
    pub cells: usize,
    /// Rows of the table, with its header.
    pub rows: usize,
    /// What is below the table, without its frame.
    pub below: usize,
}

/// So many lines.
pub fn lines(count: usize) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}

impl Areas {
    /// The lines of a screen that are left for all but title, share and footer.
    pub fn room(screen: Rect, wanted: &Wanted) -> u16 {
        screen.height.saturating_sub(2 + lines(wanted.footer))
    }

    /// With these heights of figures, speed, map and what is below the table; the table has the rest.
    pub fn of(screen: Rect, wanted: &Wanted, heights: [u16; 4]) -> Self {
        let [figures, speed, map, below] = heights.map(Constraint::Length);
        let [title, share, figures, speed, map, table, below, footer] = Layout::vertical([
            Constraint::Length(1),
            Constraint::Length(1),
            figures,
            speed,
            map,
            Constraint::Min(0),
            below,
            Constraint::Length(lines(wanted.footer)),
        ])
        .areas(screen);
        Self {
            title,
            share,
            figures,
            speed,
            map,
            table,
            below,
            footer,
        }
    }
}
