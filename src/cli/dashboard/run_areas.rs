//! Where the parts of the screen of a run stand.

use ratatui::layout::{Constraint, Layout, Rect};

use super::areas::{Areas, Wanted, lines};

/// From so many columns on, the map stands beside the speed.
const WIDE: u16 = 100;

impl Areas {
    /// On a screen of this size. What is less important goes first: events, the map, the speed, figures.
    pub fn of_run(screen: Rect, wanted: &Wanted) -> Self {
        let room = Self::room(screen, wanted);
        let rows = lines(wanted.rows);
        // The table needs three lines at least, and is worth more than the last figures.
        let table = rows.min(3);
        let figures = lines(wanted.figures)
            .min(room.saturating_sub(table).max(1))
            .min(room);
        let mut room = room - figures;
        let mut take = |least: u16| match room >= least + table {
            true => {
                room -= least;
                least
            }
            false => 0,
        };
        let is_beside = screen.width >= WIDE && wanted.cells > 0;
        let mut speed = take(6);
        let has_map = wanted.cells > 0 && !is_beside;
        let mut map = if has_map { take(4) } else { 0 };
        let mut events = if wanted.below > 0 { take(3) } else { 0 };
        let table = rows.min(room);
        room -= table;
        let mut more = |height: &mut u16, most: u16| {
            if *height > 0 {
                let more = most.saturating_sub(*height).min(room);
                *height += more;
                room -= more;
            }
        };
        let all_events = lines(wanted.below + 2);
        more(&mut events, all_events.min(6));
        let inside = match is_beside {
            true => beside(screen)[1].width,
            false => screen.width,
        };
        let per_line = usize::from(inside.saturating_sub(2).max(1));
        // With one line less than that, cells would share a place.
        let whole_map = lines(wanted.cells.div_ceil(per_line) + 2);
        more(&mut map, whole_map.min(14));
        more(&mut speed, 16);
        more(&mut events, all_events);
        more(&mut map, whole_map);
        more(&mut speed, screen.height);
        let mut areas = Self::of(screen, wanted, [figures, speed, map, events]);
        if is_beside {
            [areas.speed, areas.map] = beside(areas.speed);
        }
        areas
    }
}

/// The speed and the map in one band.
fn beside(band: Rect) -> [Rect; 2] {
    Layout::horizontal([Constraint::Percentage(50), Constraint::Min(0)]).areas(band)
}
