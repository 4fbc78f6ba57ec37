//! Where the parts of the screen of a job array stand.

use ratatui::layout::Rect;

use super::areas::{Areas, Wanted, lines};
use super::map_panel::lines as lines_of_map;

impl Areas {
    /// On a screen of this size. What is less important goes first: hosts, the map, the speed, figures.
    pub fn of_array(screen: Rect, wanted: &Wanted) -> Self {
        let room = Self::room(screen, wanted);
        let figures = lines(wanted.figures).min(room);
        let room = room - figures;
        let mut speed = if room >= 12 { 6 } else { 0 };
        let room = room - speed;
        // The table needs three lines at least, the map and the hosts one and a frame.
        let rows = lines(wanted.rows);
        let table = rows.min(3);
        let hosts = match lines(wanted.below) {
            hosts @ 1.. if room >= table + 6 => hosts.saturating_add(2).min(room - table - 3),
            _ => 0,
        };
        let room = room - hosts;
        let map = if room >= table + 3 {
            let most = room.saturating_sub(rows).clamp(3, 12);
            lines_of_map(wanted.cells, screen.width.saturating_sub(2), most - 2) + 2
        } else {
            0
        };
        if speed > 0 {
            speed += (room - map).saturating_sub(rows);
        }
        Self::of(screen, wanted, [figures, speed, map, hosts])
    }
}
