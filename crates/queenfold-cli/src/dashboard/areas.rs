//! Where the parts of a screen stand, from the top to the bottom.

use super::canvas::Rect;
use crate::telemetry::Snapshot;

/// From so many columns on, the map stands beside the speed.
const WIDE: u16 = 100;

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
    /// The map of the tasks.
    pub map: Rect,
    /// The table of workers.
    pub workers: Rect,
    /// What happened.
    pub events: Rect,
    /// How to go on, and the keys.
    pub footer: Rect,
}

/// So many lines.
fn lines(count: usize) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}

impl Areas {
    /// On a screen of this size, for so many lines of figures and of the footer, and what else the run has to show. What is
    /// less important goes first: events, the map, the speed, figures.
    pub fn of(screen: Rect, figures: usize, footer: usize, run: &Snapshot) -> Self {
        let footer = lines(footer);
        let room = screen.height.saturating_sub(2 + footer);
        let rows = lines(run.progress.workers.len() + 1);
        let (cells, events) = (run.tasks.counted.len(), run.incidents.len());
        // The table needs three lines at least, and is worth more than the last figures.
        let table = rows.min(3);
        let figures = lines(figures)
            .min(room.saturating_sub(table).max(1))
            .min(room);
        let mut room = room - figures;
        let is_beside = screen.width >= WIDE && cells > 0;
        let inside = match is_beside {
            true => beside(screen)[1].width,
            false => screen.width,
        };
        let per_line = usize::from(inside.saturating_sub(2).max(1));
        // With one line less than that, cells would share a place.
        let whole_map = lines(cells.div_ceil(per_line) + 2);
        let all_events = lines(events + 2);
        // The speed, the map and the events: first what each needs at least, or nothing.
        let least = [(6, true), (4, cells > 0 && !is_beside), (3, events > 0)];
        let mut heights = least.map(|(least, is_there)| {
            let fits = is_there && room >= least + table;
            let height = if fits { least } else { 0 };
            room -= height;
            height
        });
        room -= rows.min(room);
        for (part, most) in [
            (2, all_events.min(6)),
            (1, whole_map.min(14)),
            (0, 16),
            (2, all_events),
            (1, whole_map),
            (0, screen.height),
        ] {
            if heights[part] > 0 {
                let more = most.saturating_sub(heights[part]).min(room);
                heights[part] += more;
                room -= more;
            }
        }
        let [speed, map, events] = heights;
        let mut left = screen;
        let [title, share, figures, speed, map] =
            [1, 1, figures, speed, map].map(|height| left.take_top(height));
        let workers = left.take_top(left.height.saturating_sub(events + footer));
        let [events, footer] = [events, footer].map(|height| left.take_top(height));
        let [speed, map] = match is_beside {
            true => beside(speed),
            false => [speed, map],
        };
        Self {
            title,
            share,
            figures,
            speed,
            map,
            workers,
            events,
            footer,
        }
    }
}

/// The speed and the map in one band.
fn beside(band: Rect) -> [Rect; 2] {
    let mut right = band;
    let left = right.take_left(band.width / 2);
    [left, right]
}
